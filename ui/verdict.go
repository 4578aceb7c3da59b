package ui

import (
	"math"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// verdict is one sentence on a GPU: what is nearest to its end, or why nothing is.
func (v *view) verdict(g *sampler.GPU) piece {
	m := &g.Memory
	total, used := m.PlausibleTotal().Or(0), m.Used.Or(0)
	worst, known := m.WorstFree.Value()
	if !known || total == 0 || v.outlook == nil {
		return piece{}
	}
	if p, ok := v.filling(g); ok {
		return p
	}
	o, _ := v.outlook(g.Key())
	level := theme.Level(100-percent(worst, total), gpuLevels)
	say := func(role theme.Role, id string, pairs ...any) piece {
		return piece{role, v.words.Say("verdict."+id, pairs...)}
	}
	switch {
	case o.ByDesign != "" && percent(used, total) >= gpuLevels[0]:
		return say(theme.Dim, "by_design", "program", o.ByDesign, "free", worst.String())
	case o.Spike.Known() && o.Spike.Or(0) > used:
		usable, spike := total.Less(m.Reserved.Or(0)), o.Spike.Or(0)
		left := usable.Less(spike)
		p := say(pick(level == theme.Ok, theme.Dim, level), "peaks", "free", left.String())
		if spike > usable {
			p = say(theme.Critical, "short", "short", (spike - usable).String())
		}
		if due, ok := o.Due.Value(); ok {
			p.text += v.words.Say("verdict.next", "span", since(time.Duration(due*float64(time.Second))))
		}
		return p
	case len(g.Processes) == 0 && percent(used, total) < idlePercent:
		return say(theme.Dim, "idle", "free", m.PlausibleFree().Or(worst).String())
	}
	if still := v.stillFor(g); still >= time.Minute {
		return say(pick(level == theme.Ok, theme.Dim, level), "flat", "span", since(still), "free", worst.String())
	}
	return say(pick(level == theme.Ok, theme.Dim, level), "worst", "free", worst.String())
}

// idlePercent of its memory is what the driver and a desktop take.
const idlePercent = 3

// unusedColumns are those in which a GPU is looked at for whether it was used.
const unusedColumns = 30

// unused says whether nobody has held memory of a GPU over the time of the plots.
func (v *view) unused(g *sampler.GPU) bool {
	total, used := g.Memory.Total.Or(0), g.Memory.Used
	if len(g.Processes) > 0 || g.Error.Known() || !used.Known() || percent(used.Or(0), total) >= idlePercent || g.Utilization.GPU.Or(0) > 0 {
		return false
	}
	s := v.history.GPU(g.Key())
	if s == nil {
		return true
	}
	for _, x := range s.Plot("memory.used").Columns(v.now(), v.plot.span/unusedColumns, unusedColumns) {
		if x >= idlePercent/100.0*total.MiB() {
			return false
		}
	}
	return true
}

// filling is said of a GPU that an open alert sees filling up.
func (v *view) filling(g *sampler.GPU) (p piece, ok bool) {
	for _, a := range v.alerts {
		eta, known := a.ETA.Value()
		if a.Key != g.Key() || a.Kind != sampler.AlertGrowth || !known {
			continue
		}
		role := theme.Warning
		if a.Level == sampler.LevelCritical {
			role = theme.Critical
		}
		return piece{role, v.words.Say("verdict.filling", "span", since(time.Duration(eta*float64(time.Second))))}, true
	}
	return p, false
}

// stillSpans are the times for which use may have been the same, and stillShare of the GPU what is no move.
var stillSpans = []time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

const (
	stillShare   = 0.01
	stillColumns = 30
)

// stillFor is for how long use has not moved, as one of stillSpans; 0: it has. A GPU at work is done
// with after the first.
func (v *view) stillFor(g *sampler.GPU) (still time.Duration) {
	s := v.history.GPU(g.Key())
	if s == nil {
		return 0
	}
	used, room := s.Plot("memory.used"), stillShare*g.Memory.Total.Or(0).MiB()
	for _, span := range stillSpans {
		step := span / stillColumns
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range append(used.Columns(v.now(), step, stillColumns), s.UsedMin.Columns(v.now(), step, stillColumns)...) {
			low, high = min(low, x), max(high, x) // NaN, where it was not watched, stays NaN
		}
		if !(high-low <= room) {
			break
		}
		still = span
	}
	return still
}

// outlooks tells what the past of a GPU says of its next minutes.
type outlooks func(sampler.GPUKey) (watch.Outlook, bool)
