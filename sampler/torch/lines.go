package torch

import (
	"cmp"
	"maps"
	"slices"

	"nvpeak/sampler"
	"nvpeak/sampler/torchsnap"
)

// lines is what a reporter tells of the source lines that hold the memory of a GPU: at a refusal, at the end of a step,
// or, where no steps are seen, at some time.
type lines struct {
	Number    figure     `json:"oom"` // of the refusal; 0: none
	Segments  figure     `json:"segments"`
	Blocks    figure     `json:"blocks"`
	Reserved  figure     `json:"reserved"`
	Allocated figure     `json:"allocated"`
	Requested figure     `json:"requested"`
	Awaiting  figure     `json:"awaiting"`
	Cached    figure     `json:"cached"`
	Split     figure     `json:"split"`
	Largest   figure     `json:"largest"`
	Floor     figure     `json:"floor"` // allocated at the end of the last step that was looked at
	Drift     figure     `json:"drift"` // what was added to that since, as far as the looks before tell
	Usual     figure     `json:"usual"` // the most that a step took above that
	Taken     figure     `json:"taken"` // steps so far
	BySteps   bool       `json:"by_steps"`
	Steps     []figure   `json:"steps"` // at which step, or second, a stretch of the levels began
	List      []heldLine `json:"list"`
	Site      site       `json:"site"`  // of the refused request
	Stack     []site     `json:"stack"` // innermost first
}

// site is a line of source.
type site struct {
	File       string `json:"f"`
	Line       figure `json:"l"`
	Function   string `json:"n"`
	Flags      figure `json:"k"`
	Validation string `json:"v"`
}

// heldLine is one with what it holds.
type heldLine struct {
	site
	Bytes  figure   `json:"b"`
	Blocks figure   `json:"c"`
	Pins   figure   `json:"p"` // free bytes of the segments that its blocks keep
	Rise   figure   `json:"r"` // since the end of the last step
	Levels []figure `json:"s"` // the least in each stretch
}

// What a reporter says of a stack.
const (
	flagOptimizer  = 1
	flagModule     = 2
	flagGeneration = 4
)

const (
	maxListed = 64
	maxLevels = 256
	maxStack  = 64
)

func (s *site) torch() sampler.TorchSite {
	flags := s.Flags.Or(0)
	return sampler.TorchSite{File: clean(s.File), Line: s.Line.count(), Function: clean(s.Function), Validation: clean(s.Validation),
		Optimizer: flags&flagOptimizer != 0, Module: flags&flagModule != 0, Generation: flags&flagGeneration != 0}
}

func clean(text string) string { return sampler.Clean(text[:min(len(text), maxText)]) }

// device is what the lines tell of a GPU, in the words of a snapshot.
func (l *lines) device(n int, refused *sampler.RefusedTensor) *sampler.TorchDevice {
	reserved := max(l.Reserved.Or(0), l.Allocated.Or(0))
	d := &sampler.TorchDevice{Device: n, Segments: l.Segments.count(), Blocks: l.Blocks.count(), Reserved: reserved,
		Allocated: min(l.Allocated.Or(0), reserved), Awaiting: min(l.Awaiting.Or(0), reserved), Cached: min(l.Cached.Or(0), reserved),
		Split: min(l.Split.Or(0), reserved), LargestFree: min(l.Largest.Or(0), reserved), Holders: []sampler.TorchHolder{}, Pins: []sampler.TorchHolder{}}
	d.Requested = min(l.Requested.Or(0), d.Allocated)
	d.Trace = &sampler.TorchTrace{Live: d.Allocated, Last: []sampler.TorchEvent{}, Curve: []sampler.TorchPoint{}, Lines: []sampler.TorchLine{}}
	if l.BySteps {
		d.Trace.Steps = l.Taken.count()
	}
	for i := range l.List[:min(len(l.List), maxListed)] {
		l.add(d, &l.List[i])
	}
	slices.SortStableFunc(d.Trace.Lines, func(a, b sampler.TorchLine) int { return cmp.Compare(b.Live, a.Live) })
	if refused == nil {
		return d
	}
	most := func(a, b sampler.TorchHolder) int { return cmp.Compare(b.Bytes, a.Bytes) }
	slices.SortStableFunc(d.Holders, most)
	slices.SortStableFunc(d.Pins, most)
	l.judge(d, refused)
	return d
}

// add adds a line, with its growth.
func (l *lines) add(d *sampler.TorchDevice, one *heldLine) {
	held := min(one.Bytes.Or(0), d.Allocated)
	if held == 0 {
		return
	}
	d.Holders = append(d.Holders, sampler.TorchHolder{TorchSite: one.torch(), Bytes: held, Blocks: one.Blocks.count()})
	if pins := min(one.Pins.Or(0), d.Split); pins > 0 {
		d.Pins = append(d.Pins, sampler.TorchHolder{TorchSite: one.torch(), Bytes: pins, Blocks: one.Blocks.count()})
	}
	t := sampler.TorchLine{TorchSite: one.torch(), Live: held, Blocks: one.Blocks.count(), Rise: min(one.Rise.Or(0), held)}
	if n := min(len(one.Levels), len(l.Steps), maxLevels); n > 0 {
		levels := make([]int64, n)
		for i := range levels {
			levels[i] = int64(one.Levels[i].Or(0))
		}
		if t.Generation && !l.BySteps {
			levels = levels[:torchsnap.Fallen(levels)]
		}
		g := torchsnap.Grown(levels)
		t.Grown = min(sampler.Bytes(g.Gain), d.Reserved)
		if first, last := l.Steps[g.From].Or(0), l.Steps[n-1].Or(0); g.Gain > 0 && l.BySteps && last > first {
			t.Steps = g.Steps(float64(last - first))
			if !slices.IsSorted(levels[g.From:]) {
				t.Grown, t.Steps = sampler.Bytes(torchsnap.Gained(l.places(n)[g.From:], levels[g.From:])), int(last-first)
			}
			l.goOn(&t, last, held.Less(sampler.Bytes(levels[n-1])))
		}
	}
	t.Grown = min(t.Grown, d.Reserved)
	d.Trace.Lines = append(d.Trace.Lines, t)
}

// places are where the levels begin, in steps.
func (l *lines) places(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(l.Steps[i].Or(0))
	}
	return list
}

// goOn adds to the growth what came after the last stretch, as far as it went on alike.
func (l *lines) goOn(t *sampler.TorchLine, last, more sampler.Bytes) {
	each := t.Grown / sampler.Bytes(t.Steps)
	if steps := l.Taken.Or(0).Less(last); steps > 0 && steps < maxCount && more/2 <= each*(steps+1) {
		t.Grown, t.Steps = t.Grown+more, t.Steps+int(steps)
	}
}

// judge adds what was refused, and what the step took that it was in.
func (l *lines) judge(d *sampler.TorchDevice, refused *sampler.RefusedTensor) {
	t := d.Trace
	t.OOMs = max(1, l.Number.count())
	t.OOM = &sampler.TorchOOM{Requested: refused.Requested, Free: refused.GPUFree, Reserved: d.Reserved, Site: l.Site.torch(), Stack: []sampler.TorchSite{}}
	for i := range l.Stack[:min(len(l.Stack), maxStack)] {
		t.OOM.Stack = append(t.OOM.Stack, l.Stack[i].torch())
	}
	usual, measured := l.Usual.atMost(d.Reserved).Value()
	if floor, known := l.Floor.Value(); known && measured && l.BySteps && l.Drift.Known() {
		t.StepRise, t.StepUsual = (d.Allocated + refused.Requested).Less(floor+l.Drift.Or(0)), usual
	}
	t.Peak = d.Allocated
}

// newest are the lines of a process on one GPU.
type newest struct {
	refusal *lines // at the newest refusal
	step    *lines // at the end of a step
}

func (n *newest) take(l *lines) {
	if l.Number.Or(0) > 0 {
		n.refusal = l
	} else {
		n.step = l
	}
}

// Tensor is the refused tensor that a failure is of, as the process has told it; nil: none has. Only processes of the
// command that was begun with Env count: those of other runs of the user are heard as well.
func (r *Receiver) Tensor(e *sampler.OOMEvent) *sampler.RefusedTensor {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seatOf(e, func(*seat) bool { return true })
	if s == nil {
		return nil
	}
	refused := *s.refused
	return &refused
}

// seatOf is where a failure was, of those that are of any use: the newest that fits.
func (r *Receiver) seatOf(e *sampler.OOMEvent, useful func(*seat) bool) (of *seat) {
	for pid, p := range r.processes {
		for n, s := range p.seats {
			fits := p.own && s.refused != nil && e.MemoryKind == sampler.MemoryGPU && s.refused.Of(e.Requested) &&
				!e.PID.Contradicts(sampler.Some(pid)) && !e.GPUIndex.Contradicts(sampler.Some(n))
			if fits && useful(s) && (of == nil || s.refused.Time.After(of.refused.Time)) {
				of = s
			}
		}
	}
	return of
}

// unseen is where a failure was that the process itself did not see, as under PyTorch 2.0: the only place that it can be.
func (r *Receiver) unseen(e *sampler.OOMEvent) (of *seat) {
	if e.Framework != "pytorch" || e.MemoryKind != sampler.MemoryGPU {
		return nil
	}
	for pid, p := range r.processes {
		for n, s := range p.seats {
			if !p.own || s.refused != nil || s.lines.step == nil || e.PID.Contradicts(sampler.Some(pid)) || e.GPUIndex.Contradicts(sampler.Some(n)) {
				continue
			}
			if of != nil {
				return nil
			}
			of = s
		}
	}
	return of
}

// Held is what the source lines of the process held that a failure is of; nil: nobody has told. Where there are
// several processes, or refusals, it is the one that fits.
func (r *Receiver) Held(e *sampler.OOMEvent) *sampler.TorchDevice {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.seatOf(e, func(s *seat) bool { return s.lines.refusal != nil || s.lines.step != nil })
	if of == nil {
		of = r.unseen(e)
	}
	switch {
	case of == nil:
		return nil
	case of.refused != nil && of.lines.refusal != nil && of.lines.refusal.Number.Or(0) == of.number:
		return of.lines.refusal.device(of.device, of.refused)
	case of.lines.step == nil:
		return nil
	}
	d := of.lines.step.device(of.device, nil) // it was looked at before: what grew is worth knowing, who held most is not
	d.Holders, d.Pins = []sampler.TorchHolder{}, []sampler.TorchHolder{}
	return d
}

// Told says whether anybody has told lines.
func (r *Receiver) Told() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}

// Lack is what a PyTorch does not tell: lines that were asked for, or figures.
type Lack struct {
	Version string // of PyTorch
	What    string // gone: it has no memory history; off: that does not begin; unseen: what is alive cannot be looked at; else it raised
	Why     string // what it raised; empty: nothing
}

// Misses says what PyTorch does not tell of its allocator in a process of the command that was begun with Env; the zero
// value: nothing is missing, or nobody has initialized CUDA. Its What is stats: memory_stats raised; odd: what that tells
// cannot be; slow: it takes Why seconds, and is asked seldom; late: it has not answered in Why seconds; observer: refused tensors are not told.
func (r *Receiver) Misses() Lack {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range slices.Sorted(maps.Keys(r.processes)) {
		switch p := r.processes[pid]; {
		case p.own && p.lack.What != "":
			return p.lack
		case p.own && p.over:
			return Lack{Version: p.lack.Version, What: "odd"}
		}
	}
	return Lack{}
}

// Lacks says why lines are not to be had; the zero value: they are, or nobody was asked.
func (r *Receiver) Lacks() Lack {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lacks
}
