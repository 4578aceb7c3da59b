package torch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

func figureOf(n sampler.Bytes) figure { return figure{sampler.Some(n)} }

// Texts are as long as they may be, and no longer.
func TestLongTexts(t *testing.T) {
	for _, name := range []string{"run", "lacks", "torch", "why", "uuid", "pci", "visible", "order"} {
		for n, want := range map[int]bool{maxText: true, maxText + 1: false} {
			if _, err := parse(fmt.Appendf(nil, `{"v":1,"device":0,%q:%q}`, name, strings.Repeat("x", n))); (err == nil) != want {
				t.Errorf("%s of %d bytes is taken: %v", name, n, err == nil)
			}
		}
	}
}

// When a process is forgotten: the dead sooner than the silent.
func TestForgottenWhen(t *testing.T) {
	for name, row := range map[string]struct {
		gone bool
		age  time.Duration
		want bool // known
	}{
		"silent": {false, silent, true}, "silent for too long": {false, silent + 1, false},
		"dead": {true, fresh, true}, "dead for a while": {true, fresh + 1, false}, "it lives": {false, fresh + 1, true},
	} {
		host := people{7: {}}
		r, c := alone(host)
		r.take(7, line(0, 1, ""))
		c.now = noon.Add(row.age)
		if row.gone {
			delete(host, 7)
		}
		r.Apply(snapshotOf(1, c.now))
		if (len(r.processes) == 1) != row.want {
			t.Errorf("%s for %v: known %v", name, row.age, !row.want)
		}
	}
}

// Where there is one GPU a number that is none is that; what has no figures leaves the GPU to what has; a process whose
// environment cannot be read has told the variables itself.
func TestOneGPU(t *testing.T) {
	r, _ := alone(people{7: {}})
	r.take(7, line(1, 3, ""))
	s := snapshotOf(1, noon)
	if r.Apply(s); where(s, 7) != "0:3 " {
		t.Errorf("device 1 of one GPU: %q", where(s, 7))
	}
	r, _ = alone(people{7: {}})
	r.take(7, []byte(`{"v":1,"device":0,"uuid":"`+uuid(0)+`"}`))
	r.take(7, line(1, 4, `,"uuid":"`+uuid(0)+`"`))
	s = snapshotOf(2, noon)
	if r.Apply(s); where(s, 7) != "0:4 " {
		t.Errorf("without figures and with: %q", where(s, 7))
	}
	r, _ = alone(people{7: {}})
	r.take(7, line(0, 5, `,"visible":"2"`))
	s = snapshotOf(4, noon)
	if r.Apply(s); where(s, 7) != "2:5 " {
		t.Errorf("an environment that cannot be read: %q", where(s, 7))
	}
}

func TestUUIDs(t *testing.T) {
	const good = "01234567-89ab-cdef-ABCD-EF0123456789"
	for text, want := range map[string]bool{good: true, good[1:]: false, good + "0": false, "": false,
		strings.Replace(good, "-", "0", 1): false, strings.Replace(good, "0", "-", 1): false, strings.Replace(good, "a", "g", 1): false,
		strings.Repeat("0", 8) + "-0000-0000-0000-" + strings.Repeat("0", 12): false} {
		if isUUID(text) != want {
			t.Errorf("%q is one: %v", text, !want)
		}
	}
}

// What a row gets of an allocator: a peak that can be and is higher, and nothing of another process with the same pid.
func TestFill(t *testing.T) {
	const total = 80 * gib
	for name, row := range map[string]struct {
		peak, sampled sampler.Bytes // 0: none
		total         sampler.Opt[sampler.Bytes]
		source        string
	}{
		"none": {0, 0, sampler.Some(total), ""}, "alone": {1, 0, sampler.Some(total), sampler.PeakAllocator},
		"all there is": {total, 1, sampler.Some(total), sampler.PeakAllocator}, "more than there is": {total + 1, 1, sampler.Some(total), sampler.PeakSampled},
		"of nobody knows how much": {total + 1, 1, sampler.Opt[sampler.Bytes]{}, sampler.PeakAllocator},
		"higher":                   {6, 5, sampler.Some(total), sampler.PeakAllocator}, "as high": {5, 5, sampler.Some(total), sampler.PeakSampled},
	} {
		b := &board{Snapshot: &sampler.Snapshot{Time: noon}}
		q := sampler.Process{PID: 7}
		if row.sampled > 0 {
			q.Peak = &sampler.Peak{Bytes: row.sampled, Source: sampler.PeakSampled}
		}
		g := &sampler.GPU{Memory: sampler.Memory{Total: row.total}, Processes: []sampler.Process{q}}
		s := &seat{allocator: &sampler.Allocator{Reserved: 1}, allocatorAt: noon, peak: row.peak}
		source := ""
		if b.fill(g, &process{who: sampler.Process{PID: 7}}, s) && g.Processes[0].Peak != nil {
			source = g.Processes[0].Peak.Source
		}
		if source != row.source || !s.told {
			t.Errorf("%s: %q, want %q", name, source, row.source)
		}
	}
	b := &board{Snapshot: &sampler.Snapshot{Time: noon}}
	g := &sampler.GPU{Processes: []sampler.Process{{PID: 7, StartTime: sampler.Some(noon)}}}
	s := &seat{allocator: &sampler.Allocator{}, allocatorAt: noon}
	if b.fill(g, &process{who: sampler.Process{PID: 7, StartTime: sampler.Some(noon.Add(time.Minute))}}, s) || g.Processes[0].Allocator != nil || s.told {
		t.Error("another process with the same pid has it")
	}
	if b.fill(g, &process{who: sampler.Process{PID: 8}}, &seat{}) || len(g.Processes) != 1 {
		t.Error("something is told of nothing")
	}
	for reserved, want := range map[sampler.Bytes]bool{total: true, total + 1: false} {
		s := &seat{allocator: &sampler.Allocator{Reserved: reserved}, allocatorAt: noon, refused: &sampler.RefusedTensor{GPUFree: sampler.Some(reserved)}}
		a := s.reading(noon, sampler.Some(total))
		if (a != nil) != want {
			t.Errorf("%s reserved of %s is told: %v", reserved, sampler.Bytes(total), !want)
		}
		s.allocator.Reserved = 0
		if a := s.reading(noon, sampler.Some(total)); a.LastOOM.GPUFree.Known() != want {
			t.Errorf("%s free of %s is told: %v", reserved, sampler.Bytes(total), !want)
		}
	}
}

// What a line says of failures: whether it is a new one, and which of two lines on one has more to tell.
func TestTakesRefusals(t *testing.T) {
	var without oom
	refused := func(n, size sampler.Bytes, largest bool) *oom {
		o := &oom{Number: figureOf(n), Size: figureOf(size)}
		if largest {
			o.Largest, o.Split, o.Whole = figureOf(1), figureOf(1), figureOf(1)
		}
		return o
	}
	s := &seat{}
	for i, row := range []struct {
		message message
		refused bool
		told    bool // of what a snapshot has told before
	}{
		{message{Lines: &lines{}}, false, true},
		{message{}, false, true},
		{message{OOM: &without}, false, true}, // without a size
		{message{OOM: refused(1, 500, false)}, true, false},
		{message{OOM: refused(1, 500, false)}, false, true},
		{message{OOM: refused(1, 500, true)}, false, false}, // the details are worth another look
		{message{OOM: refused(1, 500, true)}, false, true},
		{message{OOM: refused(2, 500, false)}, true, false},
	} {
		s.told = true
		if got := s.take(&row.message, noon.Add(time.Duration(i)*time.Second)); got != row.refused || s.told != row.told {
			t.Errorf("line %d: new %v, told %v", i, got, s.told)
		}
	}
	if !s.refused.Time.Equal(noon.Add(7 * time.Second)) {
		t.Errorf("%+v", s.refused)
	}
	s = &seat{}
	for i := range 2 {
		s.take(&message{Allocated: figureOf(1), Reserved: figureOf(9)}, noon.Add(time.Duration(i)*time.Second))
	}
	if s.peak != 9 || !s.peakAt.Equal(noon) {
		t.Errorf("peak %d at %v, not when it was first", s.peak, s.peakAt)
	}
}

// Growth of a line by steps: where there are steps, where it grew, and beyond the last stretch as far as it goes on alike.
func TestGrowthBySteps(t *testing.T) {
	growing := func(n int, each sampler.Bytes) (levels, steps []figure) {
		for i := range n {
			levels, steps = append(levels, figureOf(sampler.Bytes(i)*each)), append(steps, figureOf(sampler.Bytes(10*i)))
		}
		return levels, steps
	}
	levels, steps := growing(20, 100)
	flat, _ := growing(20, 0)
	for i := range flat {
		flat[i] = figureOf(sampler.Bytes(i % 2 * 100))
	}
	same := make([]figure, 20)
	for name, row := range map[string]struct {
		levels, steps []figure
		by            bool
		grown         sampler.Bytes
		count         int
	}{
		"by steps": {levels, steps, true, 1900, 190}, "by time": {levels, steps, false, 1900, 0},
		"in one step": {levels, same, true, 1900, 0}, "up and down": {flat, steps, true, 0, 0},
	} {
		l := &lines{BySteps: row.by, Steps: row.steps, Taken: figureOf(190)}
		d := &sampler.TorchDevice{Reserved: 5000, Allocated: 5000, Trace: &sampler.TorchTrace{}}
		l.add(d, &heldLine{Bytes: figureOf(1900), Levels: row.levels})
		if got := d.Trace.Lines[0]; got.Grown != row.grown || got.Steps != row.count {
			t.Errorf("%s: grew by %d in %d steps, want %d in %d", name, got.Grown, got.Steps, row.grown, row.count)
		}
		if len(d.Pins) != 0 {
			t.Errorf("%s: it pins %+v", name, d.Pins)
		}
	}
	for name, row := range map[string]struct {
		taken, more, grown sampler.Bytes
		steps              int
	}{
		"no step more": {10, 5, 100, 10}, "4 steps": {14, 40, 140, 14}, "twice as much as before": {14, 100, 200, 14}, "more than that": {14, 102, 100, 10},
		"more steps than there can be": {10 + maxCount, 0, 100, 10}, "as many as there can be": {9 + maxCount, 0, 100, 9 + maxCount},
	} {
		line := sampler.TorchLine{Grown: 100, Steps: 10}
		(&lines{Taken: figureOf(row.taken)}).goOn(&line, 10, row.more)
		if line.Grown != row.grown || line.Steps != row.steps {
			t.Errorf("%s: %d in %d steps, want %d in %d", name, line.Grown, line.Steps, row.grown, row.steps)
		}
	}
}

// What a step took is told where all that it is counted from is known.
func TestStepRise(t *testing.T) {
	whole := lines{Floor: figureOf(100), Drift: figureOf(10), Usual: figureOf(30), BySteps: true}
	for name, row := range map[string]struct {
		change func(*lines)
		rise   sampler.Bytes
	}{
		"all is known": {func(*lines) {}, 90}, "no floor": {func(l *lines) { l.Floor = figure{} }, 0}, "no drift": {func(l *lines) { l.Drift = figure{} }, 0},
		"not what is usual": {func(l *lines) { l.Usual = figure{} }, 0}, "no steps": {func(l *lines) { l.BySteps = false }, 0},
	} {
		l := whole
		row.change(&l)
		d := &sampler.TorchDevice{Reserved: 500, Allocated: 150, Trace: &sampler.TorchTrace{}}
		if l.judge(d, &sampler.RefusedTensor{Requested: 50}); d.Trace.StepRise != row.rise || row.rise > 0 != (d.Trace.StepUsual == 30) {
			t.Errorf("%s: %d, usual %d; want %d", name, d.Trace.StepRise, d.Trace.StepUsual, row.rise)
		}
	}
}

// A failure that a process did not see itself is of the only place that it can be of.
func TestUnseen(t *testing.T) {
	can := func() *seat { return &seat{lines: newest{step: &lines{}}} }
	event := sampler.OOMEvent{Framework: "pytorch", MemoryKind: sampler.MemoryGPU}
	for name, row := range map[string]struct {
		change func(*Receiver, *sampler.OOMEvent)
		want   bool
	}{
		"the only one":      {func(*Receiver, *sampler.OOMEvent) {}, true},
		"another framework": {func(_ *Receiver, e *sampler.OOMEvent) { e.Framework = "jax" }, false},
		"of the host":       {func(_ *Receiver, e *sampler.OOMEvent) { e.MemoryKind = sampler.MemoryHost }, false},
		"of another run":    {func(r *Receiver, _ *sampler.OOMEvent) { r.processes[7].own = false }, false},
		"it saw one itself": {func(r *Receiver, _ *sampler.OOMEvent) { r.processes[7].seats[0].refused = &sampler.RefusedTensor{} }, false},
		"no step was told":  {func(r *Receiver, _ *sampler.OOMEvent) { r.processes[7].seats[0].lines.step = nil }, false},
		"of its pid":        {func(_ *Receiver, e *sampler.OOMEvent) { e.PID = sampler.Some(7) }, true},
		"of another pid":    {func(_ *Receiver, e *sampler.OOMEvent) { e.PID = sampler.Some(8) }, false},
		"of its GPU":        {func(_ *Receiver, e *sampler.OOMEvent) { e.GPUIndex = sampler.Some(0) }, true},
		"of another GPU":    {func(_ *Receiver, e *sampler.OOMEvent) { e.GPUIndex = sampler.Some(1) }, false},
		"one of two":        {func(r *Receiver, _ *sampler.OOMEvent) { r.processes[7].seats[1] = can() }, false},
	} {
		r, _ := alone(people{})
		r.processes[7] = &process{own: true, seats: map[int]*seat{0: can()}}
		e := event
		row.change(r, &e)
		if got := r.unseen(&e); (got != nil) != row.want {
			t.Errorf("%s: found %v", name, got != nil)
		}
	}
}

// A directory of one's own that nobody else can enter, and nothing else.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	file, link, mine := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "mine")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(mine, 0o700), os.Symlink(mine, link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{file: errNotPrivate, link: errNotPrivate, mine: nil, filepath.Join(dir, "new"): nil} {
		if err := private(path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := os.Chmod(mine, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := private(mine); !errors.Is(err, errNotPrivate) {
		t.Errorf("others can enter: %v", err)
	}
}
