package tape

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"nvpeak/sampler"
)

// codec is how one kind of field is written, compared and read. Reading never fails: what
// has the wrong type is absent.
type codec struct {
	equal  func(a, b reflect.Value) bool
	encode func(b []byte, v reflect.Value) []byte
	short  func(b []byte, v reflect.Value) []byte // for ticks, where it differs
	decode func(s *scanner, v reflect.Value)
}

// decimals are the digits behind the point that are kept of a field, 3 where it is not
// named: more would be noise that costs most of the file.
var decimals = map[string]int{"power_watts": 0, "cpu_percent": 0, "duty_percent": 2, "period_s": 6, "asked_period_s": 6}

// significant are the fields that are kept to three digits. Drivers take PCIe traffic
// over 20 ms, so more digits say nothing.
var significant = map[string]bool{"rx_bytes_per_second": true, "tx_bytes_per_second": true}

// scalarCodec has a row for every type of field that is written often. All others go
// through encoding/json, whole.
func scalarCodec(t reflect.Type, name string) (codec, bool) {
	digits, ok := decimals[name]
	if !ok {
		digits = 3
	}
	float := scalar[float64]{value.float, func(f float64) float64 { return round(f, digits) }, appendFloat, nil}
	whole := scalar[uint64]{value.uint, nil, appendUint, nil}
	if significant[name] {
		whole.round, whole.short = threeDigits, appendScaled
	}
	switch reflect.Zero(t).Interface().(type) {
	case int:
		return number.plain(), true
	case uint64:
		return whole.plain(), true
	case float64:
		return float.plain(), true
	case string:
		return text.plain(), true
	case bool:
		return boolean.plain(), true
	case sampler.Bytes:
		return amount.plain(), true
	case time.Time:
		return timestamp.plain(), true
	case sampler.Opt[int]:
		return number.opt(), true
	case sampler.Opt[uint64]:
		return whole.opt(), true
	case sampler.Opt[float64]:
		return float.opt(), true
	case sampler.Opt[string]:
		return text.opt(), true
	case sampler.Opt[sampler.Bytes]:
		return amount.opt(), true
	case sampler.Opt[time.Time]:
		return timestamp.opt(), true
	}
	return codec{}, false
}

// scalar is one type of value: how it is read, the precision it is kept in, how it is written.
type scalar[T comparable] struct {
	read  func(value) (T, bool)
	round func(T) T
	write func([]byte, T) []byte
	short func([]byte, T) []byte // nil: as write
}

var (
	number    = scalar[int]{readInt, nil, func(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }, nil}
	text      = scalar[string]{readText, nil, appendText, nil}
	boolean   = scalar[bool]{func(v value) (bool, bool) { return v.kind == 't', true }, nil, strconv.AppendBool, nil}
	amount    = scalar[sampler.Bytes]{readBytes, nil, func(b []byte, n sampler.Bytes) []byte { return appendUint(b, uint64(n)) }, nil}
	timestamp = scalar[time.Time]{readTime, toMilli, appendTime, nil}
)

func (c scalar[T]) keep(v T) T {
	if c.round == nil {
		return v
	}
	return c.round(v)
}

func (c scalar[T]) plain() codec {
	at := func(v reflect.Value) *T { return v.Addr().Interface().(*T) }
	return codec{
		equal:  func(a, b reflect.Value) bool { return *at(a) == *at(b) || c.keep(*at(a)) == c.keep(*at(b)) },
		encode: func(b []byte, v reflect.Value) []byte { return c.write(b, c.keep(*at(v))) },
		decode: func(s *scanner, v reflect.Value) { *at(v), _ = c.read(s.value()) },
	}
}

func (c scalar[T]) opt() codec {
	at := func(v reflect.Value) *sampler.Opt[T] { return v.Addr().Interface().(*sampler.Opt[T]) }
	encode := func(write func([]byte, T) []byte) func([]byte, reflect.Value) []byte {
		if write == nil {
			write = c.write
		}
		return func(b []byte, v reflect.Value) []byte {
			if x, ok := at(v).Value(); ok {
				return write(b, c.keep(x))
			}
			return append(b, "null"...)
		}
	}
	return codec{
		equal: func(a, b reflect.Value) bool {
			x, ok := at(a).Value()
			y, ok2 := at(b).Value()
			return ok == ok2 && (!ok || x == y || c.keep(x) == c.keep(y))
		},
		encode: encode(c.write),
		short:  encode(c.short),
		decode: func(s *scanner, v reflect.Value) {
			*at(v) = sampler.Opt[T]{}
			if x, ok := c.read(s.value()); ok {
				*at(v) = sampler.Some(x)
			}
		},
	}
}

// wholeCodec writes and reads a value of that type with encoding/json, but for what every process has: that is read here, three times as fast.
func wholeCodec(t reflect.Type) codec {
	usual := usualForm(t)
	return codec{
		equal: func(a, b reflect.Value) bool {
			// Most snapshots share the slices and maps of the one before, or have none.
			if k := a.Kind(); (k == reflect.Slice || k == reflect.Map) && a.IsNil() == b.IsNil() && a.Len() == 0 && b.Len() == 0 {
				return true
			}
			return reflect.DeepEqual(a.Interface(), b.Interface())
		},
		encode: func(b []byte, v reflect.Value) []byte {
			j, err := json.Marshal(v.Interface())
			if err != nil { // a NaN in the numbers of an alert
				return append(b, "null"...)
			}
			return append(b, j...)
		},
		decode: func(s *scanner, v reflect.Value) {
			raw := s.skip()
			if raw != nil && usual != nil && s.whole(raw) && s.inside(raw, usual, v) {
				return
			}
			fresh := reflect.New(v.Type())
			if raw == nil || !s.whole(raw) || json.Unmarshal(raw, fresh.Interface()) != nil {
				fresh.Elem().SetZero()
			}
			v.Set(fresh.Elem())
		},
	}
}

func readInt(v value) (int, bool) {
	if n, ok := v.uint(); ok && n < math.MaxInt {
		return int(n), true
	}
	f, ok := v.float()
	return int(f), ok && math.Abs(f) < 1<<53
}

// readBytes takes amounts that can be; also "9.6GiB", as somebody might write by hand.
func readBytes(v value) (sampler.Bytes, bool) {
	n, ok := v.uint()
	if !ok && v.kind == '"' {
		b, err := sampler.ParseBytes(string(v.b))
		return b, err == nil
	}
	return sampler.Bytes(n), ok && sampler.Bytes(n) < sampler.MaxPlausible
}

func readText(v value) (string, bool) {
	if v.kind == 'n' {
		return "", false
	}
	return v.memo.text(v.b), v.kind == '"'
}

func readTime(v value) (time.Time, bool) {
	switch v.kind {
	case '"':
		return v.memo.time(v.b)
	case '0':
		f, ok := v.float()
		if f > 1e11 { // milliseconds since 1970
			f /= 1000
		}
		if ok && f >= 0 && f < 1e11 {
			t := time.UnixMilli(int64(math.Round(f * 1000))).UTC()
			return t, isTime(t)
		}
	}
	return time.Time{}, false
}

func round(f float64, digits int) float64 {
	scale := math.Pow10(digits)
	if r := math.Round(f*scale) / scale; r-r == 0 {
		return r
	}
	return 0
}

func appendUint(b []byte, n uint64) []byte   { return strconv.AppendUint(b, n, 10) }
func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }

func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			j, _ := json.Marshal(s)
			return append(b, j...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, "2006-01-02T15:04:05.999Z07:00")
	return append(b, '"')
}

func threeDigits(n uint64) uint64 {
	step := uint64(1)
	for n/step > 999 {
		step *= 10
	}
	return n / step * step
}

// appendScaled writes 158000000 as 158e6: rows of zeros compress badly between digits.
func appendScaled(b []byte, n uint64) []byte {
	zeros := 0
	for n >= 1000 && n%10 == 0 {
		n, zeros = n/10, zeros+1
	}
	b = appendUint(b, n)
	if zeros == 0 {
		return b
	}
	return strconv.AppendInt(append(b, 'e'), int64(zeros), 10)
}
