package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Value is the value of a variable or key without its secrets: all of it goes if the name
// says so.
func Value(name, value string) string {
	if v := meant(name); v != nil {
		name = v.s.String()
	}
	c := classify(name)
	if c != plain && c != hook && value != "" && !ordinary(value, c, place{}) {
		return Mark
	}
	return Text(value)
}

// JSON is a JSON value without the secrets in its strings; its keys and all else stay as
// they are.
func JSON(j []byte) []byte {
	out := make([]byte, 0, len(j))
	key := ""
	for i := 0; i < len(j); {
		if j[i] != '"' {
			out = append(out, j[i])
			i++
			continue
		}
		end := stringEnd(j, i)
		raw := j[i:end]
		i = end
		var text string
		if json.Unmarshal(raw, &text) != nil {
			out = append(out, raw...)
			continue
		}
		if isKey(j[i:]) {
			key, out = text, append(out, raw...)
			continue
		}
		if clean := Value(key, text); clean != text {
			raw = quoted(clean)
		}
		key, out = "", append(out, raw...)
	}
	return out
}

// stringEnd is where the string ends that begins at i.
func stringEnd(j []byte, i int) int {
	for i++; i < len(j); i++ {
		switch j[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(j)
}

func isKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Copy is a copy of v without the secrets in its texts, however deep. Fields that are not
// exported are copied as they are.
func Copy[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	c := copier{clean: map[string]string{}}
	c.copyTo(out, reflect.ValueOf(&v).Elem())
	return out.Interface().(T)
}

// copier makes one copy.
type copier struct {
	clean map[string]string // texts without their secrets: what is explained of one failure is said of others, too
}

func (c *copier) text(s string) string {
	clean, known := c.clean[s]
	if !known {
		clean = Text(s)
		c.clean[s] = clean
	}
	return clean
}

func (c *copier) copyTo(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(c.text(from.String()))
	case reflect.Struct:
		to.Set(from)
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				c.copyTo(to.Field(i), from.Field(i))
			}
		}
	case reflect.Pointer, reflect.Interface:
		to.Set(from)
		if !from.IsNil() {
			inner := reflect.New(from.Elem().Type())
			c.copyTo(inner.Elem(), from.Elem())
			if from.Kind() == reflect.Interface {
				inner = inner.Elem()
			}
			to.Set(inner)
		}
	case reflect.Slice:
		to.Set(from)
		if !from.IsNil() && !inert(from.Type().Elem()) {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				c.copyTo(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		c.copyMap(to, from)
	default:
		to.Set(from)
	}
}

func (c *copier) copyMap(to, from reflect.Value) {
	to.Set(from)
	if from.IsNil() || inert(from.Type().Elem()) {
		return
	}
	to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	for it := from.MapRange(); it.Next(); {
		v := reflect.New(from.Type().Elem()).Elem()
		if v.Kind() == reflect.String && it.Key().Kind() == reflect.String {
			v.SetString(Value(it.Key().String(), it.Value().String()))
		} else {
			c.copyTo(v, it.Value())
		}
		to.SetMapIndex(it.Key(), v)
	}
}

// inert says of a type that it holds no text.
func inert(t reflect.Type) bool {
	return t.Kind() <= reflect.Complex128
}
