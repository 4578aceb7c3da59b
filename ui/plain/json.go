package plain

import (
	"bytes"
	"encoding/json"
	"io"

	"nvpeak/sampler"
)

// JSON writes the snapshot as one line.
func JSON(w io.Writer, s *sampler.Snapshot) error { return encode(w, s, "") }

// LineJSON writes any value as one line.
func LineJSON(w io.Writer, v any) error { return encode(w, v, "") }

// IndentedJSON writes an explanation or a report for scripts and people.
func IndentedJSON(w io.Writer, v any) error { return encode(w, v, " ") }

func encode(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(sampler.EscapeJSON(b.Bytes()))
	return err
}
