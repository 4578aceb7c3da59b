package sampler

import "time"

// Watermarks is a fold over snapshots that keeps the highest use of every GPU and process
// and the least free memory, since it began or since Reset. It fills them in where a
// snapshot has none of its own, so live, replayed and hand-written data look the same.
type Watermarks struct {
	gpus  map[GPUKey]*gpuMark
	procs map[ProcessKey]*procMark
}

type gpuMark struct {
	peak      Peak
	pid       Opt[int] // whose rise made it
	worstFree Opt[Bytes]
}

// maxMarks is how many processes have a peak before those that are gone are forgotten.
const maxMarks = 1024

// procMark keeps apart what the calls tell: as slow ones are answered they correct downwards, too, what they told of the whole life of the process.
type procMark struct {
	peak        Peak // by all else
	told        life
	calls       Peak // the newest
	toldOfCalls life
	seen        time.Time
}

// life is the highest that a source has told, which tells that of the whole life of a process.
type life struct {
	most Bytes
	old  Bytes // of that, what was told before Reset: it is none since
}

// since says whether a peak was reached after Reset.
func (l life) since(n Bytes) bool { return l.old == 0 || n > l.old }

// reset is what is left of a mark.
func (m *procMark) reset() procMark {
	return procMark{told: life{m.told.most, m.told.most}, toldOfCalls: life{m.toldOfCalls.most, m.toldOfCalls.most}, seen: m.seen}
}

// tells takes the driver's or the allocator's own peak, that of the calls, or a recorded one.
func (m *procMark) tells(p Peak) {
	if p.OfCalls() {
		l := &m.toldOfCalls
		l.most, l.old = p.Bytes, min(l.old, p.Bytes)
		m.calls = p
		return
	}
	m.told.most = max(m.told.most, p.Bytes)
	if p.Bytes >= m.peak.Bytes && m.told.since(p.Bytes) {
		m.peak = p
	}
}

// highest is the peak by all that is known; no source: there is none since Reset.
func (m *procMark) highest() Peak {
	if m.calls.Bytes >= m.peak.Bytes && m.toldOfCalls.since(m.calls.Bytes) && m.calls.Source != "" {
		return m.calls
	}
	return m.peak
}

// NewWatermarks makes an empty fold.
func NewWatermarks() *Watermarks {
	return &Watermarks{gpus: map[GPUKey]*gpuMark{}, procs: map[ProcessKey]*procMark{}}
}

// Reset forgets all peaks; they begin again with the next snapshot. What the driver, the allocator and the requests tell of the whole
// life of a process counts again once it is more than before.
func (w *Watermarks) Reset() {
	w.gpus = map[GPUKey]*gpuMark{}
	for _, m := range w.procs {
		*m = m.reset()
	}
}

// Clone is a copy that goes its own way.
func (w *Watermarks) Clone() *Watermarks {
	c := NewWatermarks()
	for k, m := range w.gpus {
		mark := *m
		c.gpus[k] = &mark
	}
	for k, m := range w.procs {
		mark := *m
		c.procs[k] = &mark
	}
	return c
}

// Process notes one reading of a process between two snapshots.
func (w *Watermarks) Process(key ProcessKey, used Bytes, at time.Time) {
	w.process(w.procs[key], key, used, at)
}

// process is Process where the mark of the process is known; nil: it has none yet. It returns the mark.
func (w *Watermarks) process(m *procMark, key ProcessKey, used Bytes, at time.Time) *procMark {
	if m == nil {
		m = &procMark{}
		w.procs[key] = m
	}
	m.seen = at
	if used > m.peak.Bytes || m.peak.Source == "" {
		m.peak = Peak{Bytes: used, Time: at, Source: PeakSampled}
	}
	return m
}

// Apply folds the snapshot in and fills its peaks and worst free memory.
func (w *Watermarks) Apply(s *Snapshot) {
	for i := range s.GPUs {
		w.gpu(s.Time, &s.GPUs[i])
		w.processes(s.Time, &s.GPUs[i])
	}
	w.prune(s.Time)
}

func (w *Watermarks) gpu(at time.Time, g *GPU) {
	key, mem := g.Key(), &g.Memory
	if win := mem.Window; win != nil { // first: it knows when the peak was reached
		w.window(key, mem, win)
	}
	m := w.mark(key)
	if used, ok := mem.Used.Value(); ok {
		m.note(used, at, mem.Free)
	}
	if p := mem.Peak; p != nil {
		m.note(p.Bytes, p.Time, mem.WorstFree)
	}
	if p := mem.Peak; p != nil && p.Source == PeakCalls && p.Bytes >= m.peak.Bytes {
		m.peak = *p
	}
	m.whose(mem)
	if m.peak.Source != "" {
		peak := m.peak
		mem.Peak, mem.PeakPID, mem.WorstFree = &peak, m.pid, m.worstFree
	}
}

func (w *Watermarks) mark(key GPUKey) *gpuMark {
	m := w.gpus[key]
	if m == nil {
		m = &gpuMark{}
		w.gpus[key] = m
	}
	return m
}

// window notes what the memory poller saw of a GPU.
func (w *Watermarks) window(key GPUKey, mem *Memory, win *Window) {
	if win.Readings > 0 {
		w.mark(key).note(win.Max, win.MaxTime, freeAt(mem, win.Max))
	}
}

func (m *gpuMark) note(used Bytes, at time.Time, free Opt[Bytes]) {
	if used > m.peak.Bytes || m.peak.Source == "" {
		m.peak, m.pid = Peak{Bytes: used, Time: at, Source: PeakSampled}, Opt[int]{}
	}
	if f, ok := free.Value(); ok && f <= m.worstFree.Or(f) {
		m.worstFree = free
	}
}

// whose notes who made the peak: the window may tell it a snapshot later, when a list was read.
func (m *gpuMark) whose(mem *Memory) {
	if p := mem.Peak; p != nil && p.Bytes == m.peak.Bytes {
		m.pid = m.pid.Else(mem.PeakPID)
	}
	if w := mem.Window; w != nil && w.RiseTime.Or(time.Time{}).Equal(m.peak.Time) {
		m.pid = w.RisePID
	}
}

// freeAt is what is free when used is in use: total - reserved - used.
func freeAt(m *Memory, used Bytes) Opt[Bytes] {
	total, ok := m.Total.Value()
	if !ok {
		return Opt[Bytes]{}
	}
	return Some(total.Less(m.Reserved.Or(0)).Less(used))
}

func (w *Watermarks) processes(at time.Time, g *GPU) {
	gpu := g.Key()
	for i := range g.Processes {
		p := &g.Processes[i]
		key := p.Key(gpu)
		m := w.procs[key]
		if used, ok := p.Memory.Value(); ok {
			m = w.process(m, key, used, at)
		}
		if m == nil {
			continue
		}
		if p.Peak != nil {
			m.tells(*p.Peak)
		}
		m.seen = at
		switch peak := m.highest(); {
		case peak.Source == "":
			p.Peak = nil
		case p.Peak == nil || *p.Peak != peak:
			p.Peak = &peak
		}
	}
}

// prune forgets processes that are gone, once there are many, so that a machine which
// starts a thousand jobs a day does not grow the monitor.
func (w *Watermarks) prune(at time.Time) {
	if len(w.procs) <= maxMarks {
		return
	}
	patience := time.Minute
	if len(w.procs) > 16*maxMarks { // a thousand in a second is no machine
		patience = 0
	}
	for k, m := range w.procs {
		if at.Sub(m.seen) > patience {
			delete(w.procs, k)
		}
	}
}
