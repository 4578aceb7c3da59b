package report

import "time"

// Moment is when something was. That of a log without times is on a day of 1970, and null in JSON.
type Moment struct{ time.Time }

// Known says whether it is a time of day that anybody knows.
func (m Moment) Known() bool { return m.Local().Year() > 1970 }

// MarshalJSON is the time, or null.
func (m Moment) MarshalJSON() ([]byte, error) {
	if !m.Known() {
		return []byte("null"), nil
	}
	return m.Time.MarshalJSON()
}
