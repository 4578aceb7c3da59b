package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pacing says which moment of a recording is on at which moment of life.
type pacing struct {
	speed  float64 // seconds of the recording per second
	paused bool
	base   time.Time // moment of the recording…
	since  time.Time // …that was on then
}

// at is the moment that is on now.
func (p *pacing) at(now time.Time) time.Time {
	if p.paused {
		return p.base
	}
	// A day at 3600 times the speed is far from the ends of a Duration; years are not.
	ahead := float64(now.Sub(p.since)) * p.speed
	return p.base.Add(time.Duration(max(0, min(ahead, math.MaxInt64/4))))
}

// until is how long a moment is still to come; 0 when it is due.
func (p *pacing) until(next, now time.Time) time.Duration {
	left := next.Sub(p.at(now))
	if left <= 0 {
		return 0
	}
	return time.Duration(math.Ceil(min(float64(left)/p.speed, math.MaxInt64/4)))
}

// set makes a moment the one that is on now.
func (p *pacing) set(at, now time.Time) { p.base, p.since = at, now }

func (p *pacing) change(speed float64, now time.Time) {
	p.set(p.at(now), now)
	p.speed = speed
}

func (p *pacing) pause(now time.Time) {
	p.set(p.at(now), now)
	p.paused = true
}

func (p *pacing) resume(now time.Time) {
	p.since, p.paused = now, false
}

// speeds that < and > go through.
var speeds = []float64{0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

// faster is the next speed in the list, or the one before.
func faster(speed float64, by int) float64 {
	i, found := slices.BinarySearch(speeds, speed)
	if by > 0 && !found {
		i--
	}
	return speeds[max(0, min(i+by, len(speeds)-1))]
}

// ParseSpeed reads 1/4, 0.5, 60 or 60x: 1/4 to 3600 times the speed of life.
func ParseSpeed(text string) (float64, error) {
	t := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(text), "x"), "×")
	v, err := strconv.ParseFloat(t, 64)
	if over, under, ok := strings.Cut(t, "/"); ok {
		var a, b float64
		a, err = strconv.ParseFloat(over, 64)
		if err == nil {
			b, err = strconv.ParseFloat(under, 64)
		}
		v = a / b
	}
	if err != nil || !(v >= speeds[0] && v <= speeds[len(speeds)-1]) {
		return 0, fmt.Errorf("%q is not a speed from 1/4 to 3600, such as 60", text)
	}
	return v, nil
}

func speedText(v float64) string {
	if v < 1 {
		return fmt.Sprintf("1/%.3gx", 1/v)
	}
	return fmt.Sprintf("%.4gx", v)
}

// MomentForms is what ParseMoment takes, for messages.
const MomentForms = "14:03:22, +10m, -1h, 50% or 2026-11-20T14:03:22Z"

// ParseMoment reads a moment of a recording: a time of day, a time from the present one
// on, a part of the whole, or a full time. A time of day that the recording has on several
// days is the one nearest to the present moment. What lies outside is moved to the end
// that is nearer.
func ParseMoment(text string, start, end, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	wrong := fmt.Errorf("%q is not a moment: %s", text, MomentForms)
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

// nearest is the moment with that time of day which is in the recording, if there is one,
// and nearest to now.
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
