package plain

import (
	"encoding/json"
	"io"

	"nvpeak/sampler"
)

// JSON writes the snapshot as one line.
func JSON(w io.Writer, s *sampler.Snapshot) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(s)
}
