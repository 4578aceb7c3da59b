package tape

import (
	"encoding/json"
	"reflect"
	"sort"

	"nvpeak/sampler/redact"
)

// redactor remembers what it made of a text: command lines come again and again.
type redactor struct{ seen map[string]string }

func (r *redactor) text(s string) string {
	clean, ok := r.seen[s]
	if !ok {
		if len(r.seen) > 4096 {
			clear(r.seen)
		}
		clean = redact.Text(s)
		r.seen[s] = clean
	}
	return clean
}

// fields are the parts of a snapshot that may hold secrets.
func (r *redactor) fields() override {
	text := func(b []byte, v reflect.Value) []byte { return appendText(b, r.text(v.String())) }
	return override{"command": text, "name": text, "environment": r.environment, "alerts": r.alerts}
}

func (r *redactor) environment(b []byte, v reflect.Value) []byte {
	env := v.Interface().(map[string]string)
	if env == nil {
		return append(b, "null"...)
	}
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = appendText(b, redact.Value(name, env[name]))
	}
	return append(b, '}')
}

// alerts are written without what their advice may repeat of a command line.
func (r *redactor) alerts(b []byte, v reflect.Value) []byte {
	j, err := json.Marshal(v.Interface())
	if err != nil { // a NaN in the numbers
		return append(b, "null"...)
	}
	return append(b, redact.JSON(j)...)
}
