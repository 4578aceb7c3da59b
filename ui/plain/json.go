package plain

import (
	"encoding/json"
	"io"

	"nvpeak/sampler"
)

// JSON writes the snapshot as one line.
func JSON(w io.Writer, s *sampler.Snapshot) error { return encode(w, s, "") }

// IndentedJSON writes an explanation or a report for scripts and people.
func IndentedJSON(w io.Writer, v any) error { return encode(w, v, " ") }

func encode(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}
