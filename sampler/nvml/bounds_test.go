package nvml

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

var began = time.Unix(1000, 0)

// The last value stands in for ten seconds; then the GPU does not answer. Other errors pass as they are.
func TestTransientBounds(t *testing.T) {
	for after, want := range map[time.Duration]error{0: sampler.ErrTransient, silentFor: sampler.ErrTransient, silentFor + 1: sampler.ErrNotAnswering} {
		var m memoryState
		m.transient(began, sampler.ErrTransient) //nolint:errcheck // the first of a row
		if err := m.transient(began.Add(after), sampler.ErrTransient); !errors.Is(err, want) {
			t.Errorf("%v after the first failure: %v", after, err)
		}
		if err := m.transient(began.Add(after), sampler.ErrLost); err != sampler.ErrLost {
			t.Errorf("another error became %v", err)
		}
	}
}

// others is what a failed reading finds around it.
type others struct{ noneAnswers, handleIsVoid bool }

func (o others) gone() bool { return o.noneAnswers }
func (o others) void() bool { return o.handleIsVoid }

// What a failed reading means: a void handle and GPUs that all are gone end the connection, a refusal holds for four seconds.
func TestFailedReading(t *testing.T) {
	for name, row := range map[string]struct {
		ret      gonvml.Return
		answered bool
		others
		want    error
		refused bool
	}{
		"unknown":                        {gonvml.ERROR_UNKNOWN, true, others{}, sampler.ErrTransient, false},
		"unknown of every GPU":           {gonvml.ERROR_UNKNOWN, true, others{noneAnswers: true}, sampler.ErrReconnect, false},
		"shut off":                       {gonvml.ERROR_OPERATING_SYSTEM, true, others{}, sampler.ErrTransient, false},
		"shut off from the start":        {gonvml.ERROR_OPERATING_SYSTEM, false, others{}, sampler.ErrTransient, false},
		"every GPU shut off":             {gonvml.ERROR_OPERATING_SYSTEM, true, others{noneAnswers: true}, sampler.ErrReconnect, false},
		"uninitialized":                  {gonvml.ERROR_UNINITIALIZED, true, others{}, sampler.ErrTransient, false},
		"away for one GPU":               {gonvml.ERROR_DRIVER_NOT_LOADED, true, others{}, sampler.ErrTransient, false},
		"the driver is away":             {gonvml.ERROR_DRIVER_NOT_LOADED, true, others{noneAnswers: true}, sampler.ErrDriverNotLoaded, false},
		"unsupported":                    {gonvml.ERROR_NOT_SUPPORTED, false, others{noneAnswers: true}, sampler.ErrNotSupported, true},
		"an argument it took before":     {gonvml.ERROR_INVALID_ARGUMENT, true, others{}, sampler.ErrTransient, false},
		"the same, the handle is void":   {gonvml.ERROR_INVALID_ARGUMENT, true, others{handleIsVoid: true}, sampler.ErrReconnect, false},
		"an argument that it never took": {gonvml.ERROR_INVALID_ARGUMENT, false, others{handleIsVoid: true}, sampler.ErrNotSupported, true},
		"some other failure":             {gonvml.ERROR_TIMEOUT, false, others{noneAnswers: true}, sampler.ErrTransient, false},
	} {
		m := memoryState{answered: row.answered}
		err := m.failed(row.ret, row.others, func() time.Time { return began })
		if !errors.Is(err, row.want) || (m.refused != nil) != row.refused || row.refused && !m.again.Equal(began.Add(refusedFor)) {
			t.Errorf("%s: %v, refused %v until %v", name, err, m.refused, m.again)
		}
	}
}

// A peak counts where it can be, with the time when it was first told.
func TestPeakNotes(t *testing.T) {
	later := began.Add(time.Second)
	for name, row := range map[string]struct {
		bytes sampler.Bytes
		ok    bool
		want  driverPeak
	}{
		"another":     {7, true, driverPeak{7, later, later}},
		"the same":    {5, true, driverPeak{5, began, later}},
		"none yet":    {0, true, driverPeak{5, began, later}},
		"no answer":   {7, false, driverPeak{5, began, later}},
		"the largest": {sampler.MaxPlausible, true, driverPeak{sampler.MaxPlausible, later, later}},
		"cannot be":   {sampler.MaxPlausible + 1, true, driverPeak{5, began, later}},
	} {
		p := peakState{peaks: map[int]driverPeak{3: {5, began, began}}}
		if p.note(3, row.bytes, row.ok, later); p.peaks[3] != row.want {
			t.Errorf("%s: %+v", name, p.peaks[3])
		}
	}
	p := peakState{peaks: map[int]driverPeak{3: {5, began, began}, 4: {6, began, began}}}
	if p.keep([]sampler.Process{{PID: 4}, {PID: 5}}); len(p.peaks) != 2 || p.peaks[4].bytes != 6 || p.peaks[5].bytes != 0 {
		t.Errorf("kept %v", p.peaks)
	}
}

// A sample counts for three seconds, by the driver's clock when it is new, then by ours.
func TestSampleBounds(t *testing.T) {
	const life = 3_000_000
	var s smState
	s.add([]sample{{1, 5 * life, 1}, {2, 4 * life, 2}, {3, 4*life - 1, 3}, {4, maxTime, 4}, {5, 5 * life, 100}, {6, 5 * life, 101}, {7, 5 * life, maxSM}, {8, 5 * life, maxSM + 1}}, began)
	for pid, want := range map[uint32]int{1: 1, 2: 2, 3: -1, 4: -1, 5: 100, 6: 100, 7: 100, 8: -1} {
		if got := s.percent(pid, began).Or(-1); got != want {
			t.Errorf("process %d: %d %%, want %d", pid, got, want)
		}
	}
	for after, want := range map[time.Duration]bool{sampleLife: true, sampleLife + 1: false} {
		if got := s.percent(1, began.Add(after)).Known(); got != want {
			t.Errorf("%v later: known %v", after, got)
		}
	}
	if s.add(nil, began.Add(sampleLife)); len(s.shares) != 5 {
		t.Errorf("%d shares are kept for their time", len(s.shares))
	}
	s.add([]sample{{1, maxTime - 1, 9}}, began)
	if s.since != maxTime-1 || s.percent(1, began).Or(0) != 9 {
		t.Errorf("since %d", s.since)
	}
}

// A process has an amount that it can have, the larger of two, and a pid that can be.
func TestMergeBounds(t *testing.T) {
	users := merge(nil, []listEntry{{1, 1000}, {2, 1001}, {math.MaxInt32, 1}, {math.MaxInt32 + 1, 1}, {5, 0}, {6, 9}}, computes, 1000)
	users = merge(users, []listEntry{{6, 8}}, draws, 1000)
	want := []struct {
		pid  uint32
		used int // -1: not known
	}{{1, 1000}, {2, -1}, {5, 0}, {6, 9}, {math.MaxInt32, 1}}
	if len(users) != len(want) {
		t.Fatalf("processes %+v", users)
	}
	for i, w := range want {
		got := -1
		if b, ok := users[i].memory.Value(); ok {
			got = int(b)
		}
		if users[i].pid != w.pid || got != w.used {
			t.Errorf("process %d: %+v, want %+v", i, users[i], w)
		}
	}
	for use, want := range map[usage]string{computes: "compute", draws: "graphics", computes | draws: "compute+graphics", sharesMPS: "mps", sharesMPS | draws: "mps", computes | sharesMPS: "mps"} {
		if got := use.word(); got != want {
			t.Errorf("%b is %q", use, got)
		}
	}
}

func TestMeminfoFields(t *testing.T) {
	for text, want := range map[string]int{"A: 5 kB": 5, "x\nA:  12 kB\n": 12, "xA: 5 kB": -1, "A:": -1, "A: kB": -1, "A:5": 5, "A: 5 6": 5, "A: 09": 9, "B: 5": -1, "A: 123456789012345678": 123456789012345, "A: /5": -1, "A: :5": -1} {
		got := -1
		if b, ok := meminfoField([]byte(text), "A:"); ok {
			got = int(b / sampler.KiB)
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for text, used := range map[string]int{"MemTotal: 10\nMemAvailable: 4": 6, "MemTotal: 10\nMemAvailable: 10": 0, "MemTotal: 10\nMemAvailable: 11": 0, "MemTotal: 0\nMemAvailable: 0": -1, "MemTotal: 10": -1, "MemAvailable: 4": -1} {
		got := -1
		if r, err := parseMeminfo([]byte(text)); err == nil {
			if got = int(r.Used / sampler.KiB); r.Used+r.Free != r.Total {
				t.Errorf("%q: %+v", text, r)
			}
		}
		if got != used {
			t.Errorf("%q: %d used, want %d", strings.ReplaceAll(text, "\n", ", "), got, used)
		}
	}
}

// After sixteen waits that were none there is a rest, twice as long each time.
func TestXIDRests(t *testing.T) {
	var w xidWatch
	for hasty, want := range map[int]time.Duration{0: 0, hastyMost - 1: 0, hastyMost: hastyRest, hastyMost + 1: 2 * hastyRest, hastyMost + 3: 8 * hastyRest, hastyMost + 99: min(hastyRest<<10, xidSlice)} {
		if w.hasty = hasty; w.rest() != want {
			t.Errorf("after %d: %v, want %v", hasty, w.rest(), want)
		}
	}
	w.hasty = 3
	if w.waited(hastyWait - 1); w.hasty != 4 {
		t.Errorf("a short wait: %d in a row", w.hasty)
	}
	if w.waited(hastyWait); w.hasty != 0 {
		t.Errorf("a wait: %d in a row", w.hasty)
	}
}

// A compute capability has two small numbers.
func TestCapability(t *testing.T) {
	for numbers, want := range map[[2]int]string{{1, 0}: "1.0", {9, 0}: "9.0", {999, 999}: "999.999", {0, 5}: "", {-1, 0}: "", {1000, 0}: "", {9, -1}: "", {9, 1000}: ""} {
		if got := capabilityOf(numbers[0], numbers[1]).Or(""); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
