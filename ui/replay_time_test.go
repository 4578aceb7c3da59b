package ui

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// Whatever is pressed, the moment that is on never jumps but by a seek, never runs
// backwards, and what is due comes exactly when until says.
func TestPacing(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		now := time.Unix(1e9, 0)
		p := pacing{speed: 1}
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
	if faster(7, 1) != 10 || faster(7, -1) != 5 || faster(3600, 1) != 3600 || faster(0.25, -1) != 0.25 || faster(1, 1) != 2 {
		t.Error("the steps of the speed")
	}
	for _, v := range speeds {
		if got, err := ParseSpeed(speedText(v)); err != nil || got != v {
			t.Errorf("%v is shown as %s, read as %v %v", v, speedText(v), got, err)
		}
	}
}

func TestParseMoment(t *testing.T) {
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
		if got, err := ParseMoment(row.text, start, end, now); err != nil || !got.Equal(row.want) {
			t.Errorf("%q: %v %v, want %v", row.text, got, err, row.want)
		}
	}
	if got, _ := ParseMoment("03:00", start, end, day(22, 1, 0, 0)); !got.Equal(day(22, 3, 0, 0)) {
		t.Errorf("the nearest day: %v", got)
	}
	for _, text := range []string{"", "x", "25:00", "+", "+10", "101%", "-1%", "%", "nan%", "12:00:00:00", "\x1b[m"} {
		if got, err := ParseMoment(text, start, end, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Whatever is typed: no panic, and the moment is within the recording.
func FuzzParseMoment(f *testing.F) {
	for _, text := range []string{"03:00", "+9999999h", "-1h", "50%", "2026-11-21T01:02:03Z", "9999-12-31 00:00"} {
		f.Add(text, int64(0), int64(1000))
	}
	f.Fuzz(func(t *testing.T, text string, a, length int64) {
		start := time.Unix(a%(1<<36), 0)
		end := start.Add(time.Duration(max(length, 0)))
		got, err := ParseMoment(text, start, end, start)
		if err == nil && (got.Before(start) || got.After(end)) {
			t.Errorf("%q is %v, not in %v to %v", text, got, start, end)
		}
	})
}

// On a bar of any width every mark is drawn or hidden by a more important one, nothing is
// drawn outside, and the present moment is where it belongs.
func TestTimelineBar(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	start := time.Unix(1e9, 0)
	for range 2000 {
		length := time.Duration(rng.Int64N(int64(48 * time.Hour)))
		if rng.IntN(10) == 0 {
			length = 0
		}
		tl := &timeline{start: start, end: start.Add(length), at: start.Add(time.Duration(rng.Float64() * float64(length))), speed: speeds[rng.IntN(len(speeds))],
			paused: rng.IntN(2) == 0, read: rng.Float64()}
		for range rng.IntN(30) {
			tl.marks = append(tl.marks, mark{at: start.Add(time.Duration(rng.Float64() * float64(length))), kind: markKind(rng.IntN(len(markKinds)))})
		}
		slices.SortFunc(tl.marks, mark.compare)
		w := 1 + rng.IntN(200)
		c := newCanvas(w, 3)
		tl.draw(c, rect{0, 1, w, 1}, &view{glyphs: &theme.Unicode})
		lines := c.lines()
		if strings.TrimSpace(lines[0]+lines[2]) != "" {
			t.Fatalf("drawn outside its row: %q", lines)
		}
		if w < 60 {
			continue
		}
		for _, m := range tl.marks {
			if m.kind == markOOM && !strings.ContainsRune(strings.SplitN(lines[1], " ", 3)[2], 'x') {
				t.Fatalf("no x in %q", lines[1])
			}
		}
		last := -1
		for d := time.Duration(0); d <= length && length > 0; d += length/20 + 1 {
			col := tl.column(start.Add(d), w)
			if col < last || col >= w {
				t.Fatalf("column %d after %d of %d", col, last, w)
			}
			last = col
		}
	}
}

func TestMarksNear(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	list := []mark{{at(1), markStart, "a"}, {at(5), markAlert, "b"}, {at(5), markPeak, "c"}, {at(9), markOOM, "d"}}
	for _, row := range []struct {
		now, by int
		want    string
	}{{0, 1, "a"}, {1, 1, "bc"}, {4, 1, "bc"}, {5, 1, "d"}, {9, 1, ""}, {10, 1, ""}, {10, -1, "d"}, {9, -1, "bc"}, {5, -1, "a"}, {1, -1, ""}, {0, -1, ""}} {
		got := ""
		for _, m := range marksNear(list, at(row.now), row.by) {
			got += m.text
		}
		if got != row.want {
			t.Errorf("from %d by %d: %q, want %q", row.now, row.by, got, row.want)
		}
	}
	if marksNear(nil, at(1), 1) != nil || marksNear(nil, at(1), -1) != nil {
		t.Error("marks of nothing")
	}
}

// Changing the need changes the alerts of the moment that is shown, as if it had been
// known from the start.
func TestReplayNeed(t *testing.T) {
	snaps := play(t, "neighbour", 20*time.Minute)
	r, m := replaying(t, tapeOf(snaps), 100, 30, Options{})
	k := len(snaps) - 1
	r.seek(snaps[k].Time)
	scene(t, m)
	need := sampler.Some(78 * sampler.GiB)
	m.view.need = need
	r.setNeed(need)
	for r.busy() {
		scene(t, m)
	}
	live := model(nil, 100, 30, Options{Need: need, Interval: time.Second})
	live.take(snaps)
	if got, want := picture(m), picture(live); got != want {
		t.Error(difference(want, got))
	}
}

// A clock that was set back, several times, neither stops a replay nor catches a seek.
func TestReplayBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		var snaps []*sampler.Snapshot
		at := time.Now()
		for range 900 {
			at = at.Add(time.Second)
			if rng.IntN(100) == 0 {
				at = at.Add(-time.Duration(rng.IntN(7200)) * time.Second)
			}
			snaps = append(snaps, &sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Total: sampler.Some(sampler.GiB), Used: sampler.Some(sampler.MiB)}}}})
		}
		r, m := replaying(t, tapeOf(snaps), 80, 24, Options{})
		for range 30 {
			r.seek(snaps[rng.IntN(len(snaps))].Time)
			for r.busy() {
				scene(t, m)
			}
		}
		r.seek(r.start)
		r.SetSpeed(3600)
		r.toggle()
		began := time.Now()
		for !r.timeline().paused {
			scene(t, m)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("900 snapshots at 3600 times the speed took %v", took)
		}
	})
}
