package ui

import (
	"math"
	"testing"
	"time"
)

// Labels are round and evenly spaced, and the axis ends at the value or little above.
func TestAxis(t *testing.T) {
	for _, row := range []struct {
		value float64
		rows  int
		want  string // labels from 0 on
	}{
		{47.5, 9, "0 16 32 48"}, {47.5, 8, "0 12 24 36 48"}, {47.5, 4, "0 24 48"}, {47.5, 3, "0 48"}, {79.6, 8, "0 20 40 60 80"}, {23.98, 12, "0 6 12 18 24"},
		{15.7, 10, "0 8 16"}, {139.8, 12, "0 35 70 105 140"}, {140.4, 12, "0 35 70 105 140"}, {10.75, 8, "0 3 6 9 12"}, {100, 8, "0 25 50 75 100"}, {110, 8, "0 30 60 90 120"},
		{700, 9, "0 240 480 720"}, {1, 9, "0 0.25 0.5 0.75 1"}, {0.5, 2, "0 0.5"}, {183, 12, "0 48 96 144 192"}, {94.5, 9, "0 32 64 96"},
	} {
		a := axisFor(row.value, row.rows)
		got := "0"
		for i := range a.labels {
			got += " " + a.label(float64(i+1)*a.step)
		}
		if got != row.want || a.top < row.value*0.997 {
			t.Errorf("%v in %d rows: %q (top %v), want %q", row.value, row.rows, got, a.top, row.want)
		}
	}
	for _, v := range []float64{0, -1, nan, 1e300, 1e-300} {
		axisFor(v, 10)
	}
}

// Labels are on rows equally far from each other, and little of a plot is above the last of them.
func TestAxisRows(t *testing.T) {
	for rows := 1; rows <= 60; rows++ {
		for _, value := range []float64{10.75, 15.7, 23.98, 31.5, 44.99, 47.5, 79.6, 80, 94.5, 139.8, 183, 100, 110, 300, 700} {
			a := axisFor(value, rows)
			if each := rows / a.labels; a.top < value*0.997 || rows-each*a.labels > max(1, rows/axisSpare) ||
				math.Abs(a.top/float64(rows)*float64(each)-a.step) > 1e-9*a.step {
				t.Errorf("%v in %d rows: %+v", value, rows, a)
			}
		}
	}
}

func TestTimeLabel(t *testing.T) {
	for d, want := range map[time.Duration]string{30 * time.Second: "-30s", time.Minute: "-1m", 150 * time.Second: "-2m30", 5 * time.Minute: "-5m",
		7*time.Minute + 30*time.Second: "-7m30", time.Hour: "-1h", 3 * time.Hour: "-3h", 90 * time.Minute: "-1h30", 24 * time.Hour: "-24h"} {
		if got := timeLabel(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// A time axis has labels from its begin to now, as many as there is room for, at times that read well.
func TestTimeStep(t *testing.T) {
	for _, row := range []struct {
		span    time.Duration
		columns int
		want    time.Duration
	}{
		{time.Minute, 100, 10 * time.Second}, {time.Minute, 30, 30 * time.Second}, {5 * time.Minute, 75, time.Minute}, {5 * time.Minute, 50, 150 * time.Second},
		{5 * time.Minute, 20, 5 * time.Minute}, {15 * time.Minute, 100, 150 * time.Second}, {time.Hour, 60, 15 * time.Minute}, {24 * time.Hour, 100, 4 * time.Hour},
		{24 * time.Hour, 45, 8 * time.Hour}, {6 * time.Hour, 60, 2 * time.Hour},
	} {
		if got := timeStep(row.span, row.columns); got != row.want {
			t.Errorf("%v on %d columns: a label each %v, want %v", row.span, row.columns, got, row.want)
		}
	}
}
