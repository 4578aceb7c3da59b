package trainlog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A stamp is read where its numbers are those of a date and a time, and its place is in the head of the line.
func TestStampBounds(t *testing.T) {
	at := func(h, m, s int) time.Time { return time.Date(2026, 11, 20, h, m, s, 0, time.UTC) }
	for line, want := range map[string]time.Time{
		"2026-11-20 00:00:00 x":         at(0, 0, 0),
		"2026-11-20 23:59:59 x":         at(23, 59, 59),
		"2026-11-20 23:59:60 x":         at(23, 59, 60),
		"2026-11-20 24:00:00 x":         {},
		"2026-11-20 23:60:00 x":         {},
		"2026-11-20 23:59:61 x":         {},
		"2026-00-20 10:00:00 x":         {},
		"2026-13-20 10:00:00 x":         {},
		"2026-11-00 10:00:00 x":         {},
		"2026-11-32 10:00:00 x":         {},
		"2026-12-31 10:00:00 x":         time.Date(2026, 12, 31, 10, 0, 0, 0, time.UTC),
		"2026-01-01 10:00:00 x":         time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-20 14:03:22 -0530 x":   at(19, 33, 22),
		"2026-11-20 14:03:22UTC x":      at(14, 3, 22),
		"0099-11-20 14:03:22 x":         time.Date(2099, 11, 20, 14, 3, 22, 0, time.UTC),
		"0100-11-20 14:03:22 x":         time.Date(100, 11, 20, 14, 3, 22, 0, time.UTC),
		"0000-11-20 14:03:22 x":         time.Date(0, 11, 20, 14, 3, 22, 0, time.UTC),
		"Zzz 20 14:03:22 x":             {},
		pad("2026-11-20 14:03:22", 160): at(14, 3, 22),
		pad("2026-11-20 14:03:22", 161): {},
	} {
		st, ok := new(stamps).of(line)
		if ok != !want.IsZero() || ok && !st.time.Equal(want) && !(st.time.Year() == 0 && want.Year() == 0) {
			t.Errorf("%q: %v (%v), want %v", line, st.time, ok, want)
		}
	}
}

// pad puts a text at the end of a line of that many bytes.
func pad(s string, n int) string { return strings.Repeat(" ", n-len(s)) + s }

// A clock is two digits, three times, with colons between: every other byte in it makes it none.
func TestClockAt(t *testing.T) {
	const clock = "14:03:22"
	for _, s := range []string{clock, "x" + clock, clock + "x", "00:00:00", "99:99:99"} {
		if !clockAt(s) {
			t.Errorf("no clock in %q", s)
		}
	}
	for i := range clock {
		for _, c := range []string{"/", ";", "x", ""} {
			if s := clock[:i] + c + clock[i+1:]; clockAt(s) {
				t.Errorf("a clock in %q", s)
			}
		}
	}
}

// A stage is one of 4 to 64 parts, or of more of what is kept, and its numbers have six digits at most.
func TestStageBounds(t *testing.T) {
	for line, want := range map[string]bool{"level 1/4": true, "level 1/3": false, "part 64/64": true, "part 1/65": false, "level 1/65": true, "cache 999999/999999": true, "cache 1/1000000": false, "level 0/4": false,
		"level 4/4": true, "level 5/4": false, "level 1/": false, "level /4": false, "/ level 3/4": true, "part 1/400": false, "level 1/400": true, "level 100/4": false,
		pad("level 3/4", 160): true, pad("level 3/4", 161): false} {
		if _, ok := stageOf(line); ok != want {
			t.Errorf("%q: %v", line, ok)
		}
	}
	for line, want := range map[string]bool{"1/2": true, "12/34": true, "1 / 2": true, "123/4": false, "1/234": false, "cached 1/234": true, "Cache 123/4": true, "cache 1234567/8": false, "a/2": false, "1/b": false, "a/b 1/2": true, "1": false} {
		if got := hasStage(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// Of a long line the beginning is looked at.
func TestLongLines(t *testing.T) {
	for n, want := range map[int]int{markBytes: 1, markBytes + 1: 0} {
		if got := marksOf(pad(" epoch 3", n), true); len(got) != want {
			t.Errorf("a mark that ends at byte %d: %v", n, got)
		}
	}
	l, err := Scan(strings.NewReader(strings.Repeat("x", maxLine)+"y\n"), nil)
	if err != nil || len(l.marks) != 0 {
		t.Error(err, l.marks)
	}
	for n, want := range map[int]int{maxLine: maxLine, maxLine + 1: maxLine} {
		var heard Listener
		heard.Write([]byte(strings.Repeat("x", n))) //nolint:errcheck // never fails
		if len(heard.line) != want {
			t.Errorf("of %d bytes %d are kept", n, len(heard.line))
		}
	}
}

// A line without a date is of the day that the recording makes likely.
func TestResolve(t *testing.T) {
	for name, row := range map[string]struct{ line, start, want string }{
		"the same day":              {"[15:00:00] x", "2026-11-20 14:00:00", "2026-11-20 15:00:00"},
		"shortly before the start":  {"[13:00:00] x", "2026-11-20 14:00:00", "2026-11-20 13:00:00"},
		"twelve hours before":       {"[02:00:00] x", "2026-11-20 14:00:00", "2026-11-20 02:00:00"},
		"more, the next day":        {"[01:59:59] x", "2026-11-20 14:00:00", "2026-11-21 01:59:59"},
		"the same year":             {"Nov 20 14:00:00 x", "2026-11-20 14:00:00", "2026-11-20 14:00:00"},
		"the year before":           {"Dec 31 23:00:00 x", "2027-01-01 01:00:00", "2026-12-31 23:00:00"},
		"the next year":             {"Jan 01 01:00:00 x", "2026-12-31 23:00:00", "2027-01-01 01:00:00"},
		"half a year later":         {"Jul 02 00:00:00 x", "2026-01-01 00:00:00", "2026-07-02 00:00:00"},
		"more, and the year before": {"Jul 02 00:00:01 x", "2026-01-01 00:00:00", "2025-07-02 00:00:01"},
		"half a year before":        {"Jul 02 00:00:00 x", "2026-12-31 00:00:00", "2026-07-02 00:00:00"},
		"more, and the next":        {"Jul 01 23:59:59 x", "2026-12-31 00:00:00", "2027-07-01 23:59:59"},
	} {
		start, err := time.Parse(time.DateTime, row.start)
		if err != nil {
			t.Fatal(err)
		}
		st, _ := new(stamps).of(row.line)
		if got := (Recording{Start: start}).resolve(st, 0).Format(time.DateTime); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// The zone of a log is the local one unless more of the log lies in the recording in another.
func TestOffset(t *testing.T) {
	tokyo := time.FixedZone("", 9*3600)
	for name, row := range map[string]struct {
		log  string
		zone *time.Location
		want time.Duration
	}{
		"within":                 {"2026-11-20 14:10:00 a\n2026-11-20 15:00:00 b\n", time.UTC, 0},
		"two minutes before":     {"2026-11-20 13:58:00 a\n2026-11-20 16:02:00 b\n", time.UTC, 0},
		"in a far zone":          {"2026-11-20 23:10:00 a\n2026-11-21 00:00:00 b\n", tokyo, 9 * time.Hour},
		"in UTC, far from there": {"2026-11-20 14:10:00 a\n2026-11-20 15:00:00 b\n", tokyo, 0},
		"the westernmost":        {"2026-11-20 02:00:00 a\n2026-11-20 04:00:00 b\n", time.UTC, -12 * time.Hour},
		"the easternmost":        {"2026-11-21 04:00:00 a\n2026-11-21 06:00:00 b\n", time.UTC, 14 * time.Hour},
		"nowhere":                {"2026-11-25 14:10:00 a\n2026-11-25 15:00:00 b\n", tokyo, 9 * time.Hour},
		"with a zone of its own": {"2026-11-20T19:10:00+05:00 a\n2026-11-20T20:00:00+05:00 b\n", tokyo, 9 * time.Hour},
		"no times":               {"a\nb\n", tokyo, 9 * time.Hour},
	} {
		r := rec
		r.Zone = row.zone
		l, err := Scan(strings.NewReader(row.log), nil)
		if err != nil {
			t.Fatal(err)
		}
		offset, moved := l.offset(r)
		if _, local := rec.Start.In(row.zone).Zone(); offset != row.want || moved != (offset != time.Duration(local)*time.Second) {
			t.Errorf("%s: %v, moved %v, want %v", name, offset, moved, row.want)
		}
	}
	local := time.Local
	defer func() { time.Local = local }()
	time.Local = tokyo
	if offset, _ := new(Log).offset(Recording{Start: rec.Start}); offset != 9*time.Hour {
		t.Errorf("a log in no known zone is %v ahead of UTC, want that of the local zone", offset)
	}
}

// A log fits where its ends lie within two minutes of the recording, and its failures near to the end of a job.
func TestFits(t *testing.T) {
	r := rec
	r.Ends = []time.Time{rec.Start.Add(time.Hour)}
	for log, want := range map[string]float64{
		"2026-11-20 13:58:00 a\n2026-11-20 16:02:00 b\n":   2 + 0.5,
		"2026-11-20 13:57:59 a\n2026-11-20 16:02:00 b\n":   1 + 0.5,
		"2026-11-20 13:58:00 a\n2026-11-20 16:02:01 b\n":   1,
		"2026-11-20 14:10:00 a\n2026-11-20 15:01:59 b\n":   2 + 0.5 + 1,
		"2026-11-20 14:10:00 a\n2026-11-20 14:58:01 b\n":   2 + 0.5 + 1,
		"2026-11-20 14:10:00 a\n2026-11-20 15:02:00 b\n":   2 + 0.5,
		"2026-11-20 14:10:00 a\nb\n":                       2,
		"2026-11-20T14:10:00Z a\n2026-11-20T15:00:00Z b\n": 0,
	} {
		l, err := Scan(strings.NewReader(log), []int{2, 3})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.fits(r, 0); got != want {
			t.Errorf("%q: %v, want %v", log, got, want)
		}
	}
}

// When the clock was set, times of day are brought back to the clock of the recording; of a
// time that came twice the first is meant until the log has gone beyond it.
func TestSetClock(t *testing.T) {
	at := func(minute int) time.Time { return rec.Start.Add(time.Duration(minute) * time.Minute) }
	for name, row := range map[string]struct {
		sets      []Set
		day, want []int // minutes
	}{
		"never":              {nil, []int{10, 70}, []int{10, 70}},
		"set forward":        {[]Set{{at(60), time.Hour}}, []int{10, 59, 120, 130}, []int{10, 59, 60, 70}},
		"set back":           {[]Set{{at(60), -30 * time.Minute}}, []int{10, 40, 59, 30, 50, 70}, []int{10, 40, 59, 60, 80, 100}},
		"at the very moment": {[]Set{{at(60), -30 * time.Minute}}, []int{60, 30}, []int{90, 60}},
		"twice":              {[]Set{{at(30), time.Hour}, {at(60), 0}}, []int{10, 90, 119, 60, 100}, []int{10, 30, 59, 60, 100}},
	} {
		even := Recording{Sets: row.sets}.even()
		var got []int
		for _, minute := range row.day {
			got = append(got, int(even(at(minute)).Sub(rec.Start)/time.Minute))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
	even := Recording{Sets: []Set{{at(60), time.Hour}}}.even()
	for back, want := range map[time.Duration]time.Time{time.Second: at(60).Add(-time.Second), 2 * time.Second: at(120).Add(-2 * time.Second)} {
		if got := even(at(120).Add(-back)); !got.Equal(want) {
			t.Errorf("%v before the first time after a leap: %v, want %v", back, got, want)
		}
	}
}

// A stage is a mark when it is another than the one before with its label; of 64 labels the memory is cleared.
func TestStageMarks(t *testing.T) {
	var log strings.Builder
	for i := range 2 * maxStageLabels {
		fmt.Fprintf(&log, "part%cx%c 1/9\n", 'a'+i%16, 'a'+i%maxStageLabels/16)
	}
	l, err := Scan(strings.NewReader(log.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.marks) != maxStageLabels || len(l.stages) != maxStageLabels {
		t.Errorf("%d marks of %d labels", len(l.marks), len(l.stages))
	}
	l.add(mark{LogMark: sampler.LogMark{Kind: sampler.MarkStage, Label: "one more", N: sampler.Some(1)}})
	if len(l.stages) != 1 {
		t.Errorf("%d labels are remembered after too many", len(l.stages))
	}
}

// A phase that goes on is one mark; where phases alone are too many every other one goes, and the newest stays.
func TestPhaseMarks(t *testing.T) {
	var l Log
	epoch := func(n int) { l.add(mark{LogMark: sampler.LogMark{Kind: sampler.MarkEpoch, N: sampler.Some(n)}}) }
	for n := range maxMarks + 2 {
		epoch(n)
		epoch(n)
	}
	if len(l.marks) != maxMarks/2+2 || l.thinned != 0 {
		t.Errorf("%d marks, thinned %d times", len(l.marks), l.thinned)
	}
	for n := range 5 * maxMarks { // as a log with tiny epochs has
		epoch(n)
	}
	if last := l.marks[len(l.marks)-1]; len(l.marks) > maxMarks || last.N.Or(0) != 5*maxMarks-1 {
		t.Errorf("%d marks, the newest is %v", len(l.marks), last.N)
	}
}

// Readings of what is allocated are heard, epochs and stages, but not what is only reserved.
func TestWhatIsHeard(t *testing.T) {
	l := NewListener()
	l.Write([]byte("epoch 3\nreserved 3 GiB\nlevel 3/8\nallocated 2 GiB\n")) //nolint:errcheck // never fails
	var heard []string
	for len(l.Marks()) > 0 {
		heard = append(heard, (<-l.Marks()).Kind)
	}
	if !slices.Equal(heard, []string{sampler.MarkEpoch, sampler.MarkStage, sampler.MarkAllocator}) {
		t.Error(heard)
	}
}
