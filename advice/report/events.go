package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// allEvents are the events of recording and log, with starts and ends of processes that
// only the snapshots show.
func (r *Reporter) allEvents() []Event {
	list := append([]Event{}, r.events...)
	for i := range r.fails {
		f := &r.fails[i]
		gpu := f.event.GPUIndex // as printed, which need not be the driver's number
		if n, ok := r.gpuOf(*f); ok {
			gpu = sampler.Some(n)
		}
		list = append(list, Event{T: f.t, Time: f.at, Kind: "oom", GPU: gpu, PID: f.event.PID, Text: r.failureText(f, gpu), From: f.from, OOM: &f.event})
	}
	told := map[string]bool{}
	for _, e := range r.events {
		told[fmt.Sprint(e.Kind, e.PID.Or(0))] = true
	}
	for i := range r.exits {
		x := &r.exits[i]
		if told[fmt.Sprint("process_end", x.PID)] || x.PID == 0 {
			continue
		}
		list = append(list, Event{T: x.T, Time: x.Time, Kind: "process_end", GPU: sampler.Some(x.GPU), PID: sampler.Some(x.PID),
			Text: strings.TrimSpace(sampler.Clean(x.process.Name)), From: "snapshots"})
	}
	for _, q := range r.procs {
		if q.First <= 0 || told[fmt.Sprint("process_start", q.PID)] {
			continue
		}
		list = append(list, Event{T: q.First, Time: r.start.Add(seconds(q.First)), Kind: "process_start", GPU: sampler.Some(q.GPU), PID: sampler.Some(q.PID),
			Text: sampler.Clean(q.Name), From: "snapshots"})
	}
	slices.SortStableFunc(list, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.PID.Or(0), b.PID.Or(0)))
	})
	return list[:min(len(list), maxReportEvents)]
}

// failureText is a failure in one line. The message of a log has the size; where that is the driver's, this has.
func (r *Reporter) failureText(f *failed, gpu sampler.Opt[int]) string {
	e := f.event
	if e.GPUIndex.Known() {
		e.GPUIndex = gpu
	}
	text := explain.Headline(e, r.words)
	size, ok := f.event.Requested.Value()
	free, known := f.event.GPUFree.Value()
	switch {
	case f.event.Kind != sampler.KindRefused:
	case !ok && f.event.Extra["piece_bytes"] == nil:
		return text + r.words.Say("report.context")
	case !ok:
		return text + r.words.Say("report.piece")
	case known:
		return text + r.words.Say("alert.oom.refused_free", "size", size.Needed(), "free", r.words.Rough(free.Few(), f.event.GPUFreeAbout))
	default:
		return text + r.words.Say("alert.oom.refused", "size", size.Needed())
	}
	return text
}

// placeMarks turns the marks of the log into phases and readings.
func (r *Reporter) placeMarks(out *Report) {
	open := -1 // index of the phase that goes on
	for _, m := range r.marks {
		at, ok := m.Time.Value()
		if !ok || r.count == 0 {
			continue
		}
		t := at.Sub(r.start).Seconds()
		if t < -60 || t > out.Duration+60 {
			continue
		}
		t = min(max(t, 0), out.Duration)
		if m.Kind == sampler.MarkStage || m.Kind == sampler.MarkStep {
			continue
		}
		if m.Kind == sampler.MarkAllocator {
			out.Readings = append(out.Readings, Allocator{T: t, GPU: m.GPU, Allocated: m.Allocated, Reserved: m.Reserved})
			continue
		}
		if open >= 0 && out.Phases[open].Kind == m.Kind && out.Phases[open].N == m.N {
			continue
		}
		if open >= 0 {
			out.Phases[open].End = t
		}
		if len(out.Phases) >= maxReportEvents {
			break
		}
		out.Phases = append(out.Phases, Phase{Kind: m.Kind, N: m.N, T: t, End: out.Duration})
		open = len(out.Phases) - 1
	}
	for i := range out.Phases {
		p := &out.Phases[i]
		top := math.NaN()
		for _, g := range out.GPUs {
			top = upper(top, highest(g.Plot, p.T, p.End))
		}
		p.Peak = rounded(top)
	}
	for i := range out.GPUs {
		out.GPUs[i].EpochGrowth = epochGrowth(out.GPUs[i].Plot, out.Phases)
	}
}

// highest is the most in a stretch of a plot; what was in force when it began counts.
func highest(plot []Point, from, to float64) float64 {
	top, before := math.NaN(), math.NaN()
	for _, q := range plot {
		switch {
		case q.T < from:
			before = q.High
		case q.T < to:
			top = upper(top, q.High)
		}
	}
	if math.IsNaN(top) {
		return before
	}
	return top
}

// epochGrowth is the robust slope of the peaks per epoch: a figure to compare runs by, not a judgment.
func epochGrowth(plot []Point, phases []Phase) sampler.Opt[float64] {
	var xs, ys []float64
	for _, p := range phases {
		n, ok := p.N.Value()
		if !ok || p.Kind == sampler.MarkSaving {
			continue
		}
		top := highest(plot, p.T, p.End)
		if math.IsNaN(top) {
			continue
		}
		if k := len(xs) - 1; k >= 0 && xs[k] == float64(n) {
			ys[k] = max(ys[k], top)
		} else {
			xs, ys = append(xs, float64(n)), append(ys, top)
		}
	}
	if len(xs) < 4 {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(math.Round(series.TheilSen(xs, ys, nil)))
}
