package player

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever is pressed, the time in the recording never jumps but by a seek, never runs
// backwards, and what is due comes exactly when until says.
func TestClock(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		now := time.Unix(1e9, 0)
		p := clock{speed: 1}
		p.set(time.Unix(2e9, 0), now)
		at := p.at(now)
		for range 60 {
			switch rng.IntN(4) {
			case 0:
				p.change(speeds[rng.IntN(len(speeds))], now)
			case 1:
				p.pause(now)
			case 2:
				if p.paused {
					p.resume(now)
				}
			}
			if d := p.at(now).Sub(at).Abs(); d > time.Microsecond {
				t.Fatalf("a key moved it by %v", d)
			}
			next := p.at(now).Add(time.Duration(rng.Int64N(int64(time.Hour))))
			if wait := p.until(next, now); !p.paused {
				if due := p.at(now.Add(wait)); due.Before(next.Add(-time.Microsecond)) || wait > 0 && p.at(now.Add(wait-time.Microsecond)).After(next) {
					t.Fatalf("%v is due after %v, when it is %v", next, wait, due)
				}
			}
			step := time.Duration(rng.Int64N(int64(10 * time.Second)))
			before := p.at(now)
			now = now.Add(step)
			at = p.at(now)
			want := time.Duration(float64(step) * p.speed)
			if p.paused {
				want = 0
			}
			if d := (at.Sub(before) - want).Abs(); d > time.Millisecond {
				t.Fatalf("in %v at %gx it moved %v", step, p.speed, at.Sub(before))
			}
		}
	}
}

func TestSpeeds(t *testing.T) {
	for _, row := range []struct {
		text string
		want float64
	}{
		{"1/4", 0.25}, {"0.25", 0.25}, {"1", 1}, {"60", 60}, {"60x", 60}, {" 3600× ", 3600}, {"1 / 2", math.NaN()},
		{"", math.NaN()}, {"0", math.NaN()}, {"-1", math.NaN()}, {"3601", math.NaN()}, {"1/0", math.NaN()}, {"0/0", math.NaN()}, {"NaN", math.NaN()}, {"Inf", math.NaN()}, {"x", math.NaN()},
	} {
		got, err := ParseSpeed(row.text)
		if (err == nil) != (row.want == row.want) || err == nil && got != row.want {
			t.Errorf("%q: %v %v, want %v", row.text, got, err, row.want)
		}
	}
	if Faster(7, 1) != 10 || Faster(7, -1) != 5 || Faster(3600, 1) != 3600 || Faster(0.25, -1) != 0.25 || Faster(1, 1) != 2 {
		t.Error("the steps of the speed")
	}
	for _, v := range speeds {
		if got, err := ParseSpeed(SpeedText(v)); err != nil || got != v {
			t.Errorf("%v is shown as %s, read as %v %v", v, SpeedText(v), got, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("X", 2*3600)
	start := time.Date(2026, 11, 20, 22, 0, 0, 0, zone)
	end := start.Add(30 * time.Hour) // 22nd, 04:00
	now := start.Add(90 * time.Minute)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 11, d, h, m, s, 0, zone) }
	for _, row := range []struct {
		text string
		want time.Time
	}{
		{"23:15:30", day(20, 23, 15, 30)}, {"03:00", day(21, 3, 0, 0)}, {"04:00", day(21, 4, 0, 0)}, {"21:59:59", day(21, 21, 59, 59)},
		{"+10m", now.Add(10 * time.Minute)}, {"-1h", now.Add(-time.Hour)}, {"-5h", start}, {"+100h", end}, {"50%", start.Add(15 * time.Hour)}, {"0%", start}, {"100 %", end},
		{"2026-11-21T01:02:03Z", day(21, 3, 2, 3)}, {"2026-11-21 01:02:03", day(21, 1, 2, 3)}, {"2020-01-01 00:00", start}, {"2030-01-01 00:00", end},
		{" 03:00 ", day(21, 3, 0, 0)},
	} {
		if got, err := ParseTime(row.text, start, end, now); err != nil || !got.Equal(row.want) {
			t.Errorf("%q: %v %v, want %v", row.text, got, err, row.want)
		}
	}
	if got, _ := ParseTime("03:00", start, end, day(22, 1, 0, 0)); !got.Equal(day(22, 3, 0, 0)) {
		t.Errorf("the nearest day: %v", got)
	}
	for _, text := range []string{"", "x", "25:00", "+", "+10", "101%", "-1%", "%", "nan%", "12:00:00:00", "\x1b[m"} {
		if got, err := ParseTime(text, start, end, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Whatever is typed: no panic, and the time is within the recording.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"03:00", "+9999999h", "-1h", "50%", "2026-11-21T01:02:03Z", "9999-12-31 00:00"} {
		f.Add(text, int64(0), int64(1000))
	}
	f.Fuzz(func(t *testing.T, text string, a, length int64) {
		start := time.Unix(a%(1<<36), 0)
		end := start.Add(time.Duration(max(length, 0)))
		got, err := ParseTime(text, start, end, start)
		if err == nil && (got.Before(start) || got.After(end)) {
			t.Errorf("%q is %v, not in %v to %v", text, got, start, end)
		}
	})
}

func TestNear(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	list := []Mark{{at(1), MarkStart, "a"}, {at(5), MarkAlert, "b"}, {at(5), MarkPeak, "c"}, {at(9), MarkOOM, "d"}}
	for _, row := range []struct {
		now, by int
		want    string
	}{{0, 1, "a"}, {1, 1, "bc"}, {4, 1, "bc"}, {5, 1, "d"}, {9, 1, ""}, {10, 1, ""}, {10, -1, "d"}, {9, -1, "bc"}, {5, -1, "a"}, {1, -1, ""}, {0, -1, ""}} {
		got := ""
		for _, m := range near(list, at(row.now), row.by) {
			got += m.Text
		}
		if got != row.want {
			t.Errorf("from %d by %d: %q, want %q", row.now, row.by, got, row.want)
		}
	}
	if near(nil, at(1), 1) != nil || near(nil, at(1), -1) != nil {
		t.Error("marks of nothing")
	}
}
