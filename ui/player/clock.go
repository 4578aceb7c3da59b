package player

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clock says which time of a recording it is now.
type clock struct {
	speed  float64 // seconds of the recording per second
	paused bool
	base   time.Time // in the recording…
	since  time.Time // …at this time of the wall clock
}

// at is the time in the recording.
func (c *clock) at(now time.Time) time.Time {
	if c.paused {
		return c.base
	}
	// A day at 3600 times the speed is far from the ends of a Duration; years are not.
	ahead := float64(now.Sub(c.since)) * c.speed
	return c.base.Add(time.Duration(max(0, min(ahead, math.MaxInt64/4))))
}

// until is how long to wait for a time in the recording; 0 when it is due.
func (c *clock) until(next, now time.Time) time.Duration {
	left := next.Sub(c.at(now))
	if left <= 0 {
		return 0
	}
	return time.Duration(math.Ceil(min(float64(left)/c.speed, math.MaxInt64/4)))
}

// set makes at the time in the recording.
func (c *clock) set(at, now time.Time) { c.base, c.since = at, now }

func (c *clock) change(speed float64, now time.Time) {
	c.set(c.at(now), now)
	c.speed = speed
}

func (c *clock) pause(now time.Time) {
	c.set(c.at(now), now)
	c.paused = true
}

func (c *clock) resume(now time.Time) {
	c.since, c.paused = now, false
}

// speeds that the keys go through.
var speeds = []float64{0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

// Faster is the next usual playback speed, or the one before.
func Faster(speed float64, by int) float64 {
	i, found := slices.BinarySearch(speeds, speed)
	if by > 0 && !found {
		i--
	}
	return speeds[max(0, min(i+by, len(speeds)-1))]
}

// ParseSpeed reads a playback speed: 1/4, 0.5, 60 or 60x.
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
		return 0, fmt.Errorf("%q is not a playback speed from 0.25 to 3600, such as 60", text)
	}
	return v, nil
}

// SpeedText is a playback speed as ParseSpeed reads it.
func SpeedText(v float64) string {
	if v < 1 {
		return fmt.Sprintf("1/%.3gx", 1/v)
	}
	return fmt.Sprintf("%.4gx", v)
}
