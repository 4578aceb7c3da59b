package history

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// History is a fold over snapshots: what every screen plots. It takes at most 180 KiB per
// GPU and 10 KiB per process (1 KiB where the memory does not move), and forgets processes
// that are gone.
type History struct {
	gpus  map[sampler.GPUKey]*Series
	procs map[sampler.ProcessKey]*ProcessSeries
	last  time.Time
	gap   time.Duration   // longest time between two snapshots that is not a gap
	soon  time.Duration   // gap after the next snapshot
	tiers [len(tiers)]int // of a GPU

	archive bool // keeps everything…
	finest  int  // …at the resolutions from this tier on
}

// maxTracked bounds how many processes have a history, gone ones included; the living all
// have one. An archive goes back in time and has more.
const (
	maxTracked  = 512
	maxArchived = 4096
)

// Series is the history of one GPU.
type Series struct {
	UsedMin *Track
	plots   map[string]*Track // by Metric.Name, for those with Plot; memory by the window's maximum
}

// Plot is the track of a metric with a history, or nil.
func (s *Series) Plot(metric string) *Track { return s.plots[metric] }

// ProcessSeries is the memory history of one process.
type ProcessSeries struct {
	Used *Track
	seen time.Time
}

// New makes an empty history for snapshots that come every interval or so.
func New(interval time.Duration) *History {
	gap := gapFor(interval)
	return &History{gpus: map[sampler.GPUKey]*Series{}, procs: map[sampler.ProcessKey]*ProcessSeries{}, gap: gap, soon: gap, tiers: gpuTiers()}
}

// NewSmall makes one that takes at most 55 KiB per GPU, for there may be a thousand: ten minutes by the second, an
// hour by ten seconds, a day by the minute.
func NewSmall(interval time.Duration) *History {
	h := New(interval)
	h.tiers = processTiers
	return h
}

func gapFor(interval time.Duration) time.Duration { return max(3*interval, 5*time.Second) }

// SetInterval says how often snapshots come after the next one.
func (h *History) SetInterval(interval time.Duration) { h.soon = gapFor(interval) }

// GPU is the history of the GPU with that Key, or nil.
func (h *History) GPU(key sampler.GPUKey) *Series { return h.gpus[key] }

// Process is the history of that process, or nil.
func (h *History) Process(key sampler.ProcessKey) *ProcessSeries { return h.procs[key] }

// SeenSince counts the processes on some GPUs that were there at that second or later.
func (h *History) SeenSince(at time.Time, on func(sampler.GPUKey) bool) (n int) {
	for key, p := range h.procs {
		if p.seen.Unix() >= at.Unix() && on(key.GPU) {
			n++
		}
	}
	return n
}

// Add folds one snapshot in. The values of its windows count for the whole time since
// the snapshot before, unless that was so long ago (suspend) that there is a gap.
func (h *History) Add(s *sampler.Snapshot) {
	from, at := h.last, s.Time.Round(0) // wall time: the monotonic clock does not count a suspend
	if d := at.Sub(from); d > h.gap || d < 0 {
		from = at
	}
	h.last, h.gap = at, h.soon
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if !g.Silent() || g.Utilization.GPU.Known() { // of a GPU that does not tell its memory, the others are worth a plot
			h.series(g.Key()).add(from, at, g)
		}
		h.addProcesses(from, at, g)
	}
	if len(h.procs) > h.most(s) {
		h.forget(h.most(s) * 3 / 4)
	}
}

func (h *History) series(key sampler.GPUKey) *Series {
	s := h.gpus[key]
	if s == nil {
		s = &Series{UsedMin: h.track(true, h.tiers), plots: map[string]*Track{}}
		for _, m := range sampler.MetricTable() {
			if m.Plot {
				s.plots[m.Name] = h.track(false, h.tiers)
			}
		}
		h.gpus[key] = s
	}
	return s
}

func (h *History) track(byMin bool, keep [len(tiers)]int) *Track {
	if h.archive {
		return &Track{byMin: byMin, all: &unbounded{finest: h.finest}}
	}
	return newTrack(byMin, keep)
}

func (s *Series) add(from, at time.Time, g *sampler.GPU) {
	least, most := g.Memory.Used, g.Memory.Used
	if w := g.Memory.Window; w != nil && w.Readings > 0 {
		least, most = sampler.Some(w.Min), sampler.Some(w.Max)
	}
	for _, m := range sampler.MetricTable() {
		if !m.Plot {
			continue
		}
		v, ok := m.Of(g).Value()
		if m.Name == "memory.used" {
			b, known := most.Value()
			v, ok = b.MiB(), known
		}
		if ok {
			s.plots[m.Name].Add(from, at, v)
		}
	}
	if b, ok := least.Value(); ok {
		s.UsedMin.Add(from, at, b.MiB())
	}
}

func (h *History) addProcesses(from, at time.Time, g *sampler.GPU) {
	gpu := g.Key()
	for i := range g.Processes {
		v, ok := g.Processes[i].Memory.Value()
		if !ok {
			continue
		}
		key := g.Processes[i].Key(gpu)
		p := h.procs[key]
		if p == nil {
			p = &ProcessSeries{Used: h.track(false, processTiers)}
			h.procs[key] = p
		}
		p.Used.Add(from, at, v.MiB())
		p.seen = at
	}
}

// most is how many processes may have a history after the snapshot: some are gone even where
// very many live.
func (h *History) most(s *sampler.Snapshot) int {
	if h.archive {
		return maxArchived
	}
	living := 0
	for i := range s.GPUs {
		living += len(s.GPUs[i].Processes)
	}
	return max(maxTracked, living*3/2)
}

// forget drops the processes that were gone longest, a quarter at a time so that it is rare.
func (h *History) forget(keep int) {
	var gone []sampler.ProcessKey
	for k, p := range h.procs {
		if p.seen.Before(h.last) {
			gone = append(gone, k)
		}
	}
	slices.SortFunc(gone, func(a, b sampler.ProcessKey) int { return h.procs[a].seen.Compare(h.procs[b].seen) })
	for _, k := range gone[:min(len(gone), len(h.procs)-keep)] {
		delete(h.procs, k)
	}
}
