package tape

import (
	"strings"
	"time"
)

// timeForms are the forms of a moment that are read, beside RFC 3339. Those without a
// zone are taken as local time, as nvidia-smi and training logs print it.
var timeForms = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700",
}

func parseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		for _, form := range timeForms {
			// A fraction of a second after the last field is accepted without being named.
			if t, err = time.ParseInLocation(form, s, time.Local); err == nil {
				break
			}
		}
	}
	// Years that JSON cannot write are no times of a recording.
	return t.UTC(), err == nil && t.Year() >= 1970 && t.Year() < 10000
}
