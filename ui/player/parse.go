package player

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// TimeForms is what ParseTime takes, for messages.
const TimeForms = "14:03:22, +10m, -1h, 50%, 2026-11-20T14:03:22Z"

// ParseTime reads a time in a recording: a time of day, one counted from now, a part of the
// whole, or a full time. A time of day that the recording has on several days is the one
// nearest to now. What lies outside is moved to the end that is nearer.
func ParseTime(text string, start, end, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	wrong := fmt.Errorf("%q is not a time in the recording: %s", text, TimeForms)
	if text == "" {
		return now, wrong
	}
	inside := func(t time.Time) time.Time {
		if t.Before(start) {
			return start
		}
		if t.After(end) {
			return end
		}
		return t
	}
	if part, ok := strings.CutSuffix(text, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return now, wrong
		}
		return inside(start.Add(time.Duration(v / 100 * float64(end.Sub(start))))), nil
	}
	if text[0] == '+' || text[0] == '-' {
		d, err := time.ParseDuration(text)
		if err != nil {
			return now, wrong
		}
		return inside(now.Add(d)), nil
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return inside(t), nil
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(form, text); err == nil {
			return inside(nearest(t, start, end, now)), nil
		}
	}
	return now, wrong
}

// nearest is the time with that time of day which is in the recording, if there is one, and
// nearest to now.
func nearest(clock, start, end, now time.Time) time.Time {
	h, m, s := clock.Clock()
	var best time.Time
	cost := func(t time.Time) time.Duration {
		d := t.Sub(now).Abs()
		if t.Before(start) || t.After(end) {
			d = min(d, math.MaxInt64/2) + math.MaxInt64/4
		}
		return d
	}
	look := func(day time.Time) {
		for d := -1; d <= 1; d++ {
			year, month, date := day.Date()
			t := time.Date(year, month, date+d, h, m, s, clock.Nanosecond(), now.Location())
			if best.IsZero() || cost(t) < cost(best) {
				best = t
			}
		}
	}
	look(now)
	look(start.In(now.Location()))
	look(end.In(now.Location()))
	return best
}
