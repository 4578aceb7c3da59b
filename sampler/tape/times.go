package tape

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// timeForms are the forms of a time that are read, beside RFC 3339. Those without a
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
	if err != nil || !isTime(t) {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// isTime says whether a recording can be of that time: what is later than nanoseconds since 1970
// can count, in the year 2262, has no distance that can be told.
func isTime(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2262 }

// timeAfter reads a time that counts in seconds from base.
func timeAfter(base time.Time, v value) (time.Time, bool) {
	f, ok := v.float()
	if !ok || math.Abs(f) > 1e9 || base.IsZero() {
		return time.Time{}, false
	}
	return base.Add(milliseconds(f)), true
}

func milliseconds(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1000)) * time.Millisecond
}

func toMilli(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// appendMilli writes milliseconds as seconds: 12, 12.02, -0.5.
func appendMilli(b []byte, ms int64) []byte {
	if ms < 0 {
		b = append(b, '-')
		ms = -ms
	}
	b = strconv.AppendInt(b, ms/1000, 10)
	if ms %= 1000; ms == 0 {
		return b
	}
	b = append(b, '.', byte('0'+ms/100))
	if ms %= 100; ms == 0 {
		return b
	}
	b = append(b, byte('0'+ms/10))
	if ms %= 10; ms == 0 {
		return b
	}
	return append(b, byte('0'+ms))
}
