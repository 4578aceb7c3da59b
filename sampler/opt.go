package sampler

import (
	"bytes"
	"encoding/json"
)

// Opt is a value that may be unknown. Its zero value is unknown; in JSON unknown is null.
type Opt[T comparable] struct {
	value T
	known bool
}

// Some is a known value.
func Some[T comparable](v T) Opt[T] { return Opt[T]{value: v, known: true} }

// Value returns the value and whether it is known.
func (o Opt[T]) Value() (T, bool) { return o.value, o.known }

// Known says whether there is a value.
func (o Opt[T]) Known() bool { return o.known }

// Or returns the value, or def when it is unknown.
func (o Opt[T]) Or(def T) T {
	if o.known {
		return o.value
	}
	return def
}

// Else returns o when it is known, alt otherwise.
func (o Opt[T]) Else(alt Opt[T]) Opt[T] {
	if o.known {
		return o
	}
	return alt
}

// Equal makes Opt comparable for tests without showing its fields.
func (o Opt[T]) Equal(p Opt[T]) bool {
	if o.known != p.known {
		return false
	}
	return !o.known || o.value == p.value
}

// Contradicts says whether both values are known and differ.
func (o Opt[T]) Contradicts(p Opt[T]) bool { return o.known && p.known && o.value != p.value }

// MarshalJSON writes the value, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value; null leaves it unknown.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(b, &o.value); err != nil {
		return err
	}
	o.known = true
	return nil
}
