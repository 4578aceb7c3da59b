package report

import (
	"math"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Comparison is one figure of two runs, before and after. Amounts are bytes, times seconds.
type Comparison struct {
	ID         string               `json:"id"`
	GPU        sampler.Opt[int]     `json:"gpu"` // absent: of the whole run
	Title      string               `json:"title"`
	Unit       string               `json:"unit"` // bytes, seconds, bytes_per_hour, count, per_hour
	Before     sampler.Opt[float64] `json:"before"`
	After      sampler.Opt[float64] `json:"after"`
	Difference sampler.Opt[float64] `json:"difference"` // after - before
	Percent    sampler.Opt[float64] `json:"percent"`    // of before; absent when that is 0
	Better     string               `json:"better"`     // yes, no, same; empty: neither is better
}

// comparisons is every figure that is compared. sign: -1 less is better, 1 more is, 0 neither.
var comparisons = []struct {
	id, unit string
	sign     float64
	of       func(*GPU) sampler.Opt[float64]
}{
	{"peak", "bytes", -1, func(g *GPU) sampler.Opt[float64] {
		if g.Peak == nil {
			return sampler.Opt[float64]{}
		}
		return sampler.Some(float64(g.Peak.Bytes))
	}},
	{"typical", "bytes", -1, func(g *GPU) sampler.Opt[float64] { return inFloat(g.Typical) }},
	{"worst_free", "bytes", 1, func(g *GPU) sampler.Opt[float64] { return inFloat(g.WorstFree) }},
	{"growth", "bytes_per_hour", -1, func(g *GPU) sampler.Opt[float64] { return g.Growth }},
	{"spikes", "count", 0, func(g *GPU) sampler.Opt[float64] { return sampler.Some(float64(g.SpikeCount)) }}, // of runs that lasted differently
	{"largest_spike", "bytes", -1, func(g *GPU) sampler.Opt[float64] {
		top := sampler.Bytes(0)
		for _, s := range g.Spikes {
			top = max(top, s.Bytes)
		}
		return sampler.Some(float64(top))
	}},
}

func inFloat(o sampler.Opt[sampler.Bytes]) sampler.Opt[float64] {
	if b, ok := o.Value(); ok {
		return sampler.Some(float64(b))
	}
	return sampler.Opt[float64]{}
}

// Compare sets two runs side by side: the GPUs of the same index, or the only ones, and
// the runs as a whole.
func Compare(before, after Report) []Comparison {
	words := lang.For(before.Lang)
	list := []Comparison{
		compare("duration", words.Say("compare.duration"), "seconds", 0, sampler.Some(before.Duration), sampler.Some(after.Duration)),
		compare("failures", words.Say("compare.failures"), "count", -1, sampler.Some(float64(deaths(before))), sampler.Some(float64(deaths(after)))),
		compare("alerts", words.Say("compare.alerts"), "count", -1, sampler.Some(float64(len(before.Alerts))), sampler.Some(float64(len(after.Alerts)))),
	}
	for i := range before.GPUs {
		a := &before.GPUs[i]
		b := partner(before, after, a)
		if b == nil {
			continue
		}
		for _, row := range comparisons {
			title := words.Say("compare." + row.id)
			if len(before.GPUs) > 1 || len(after.GPUs) > 1 || a.Index != b.Index {
				title = words.Say("compare.of_gpu", "gpu", a.Label, "title", title)
			}
			c := compare(row.id, title, row.unit, row.sign, row.of(a), row.of(b))
			c.GPU = sampler.Some(a.Index)
			list = append(list, c)
			if row.id == "spikes" {
				list = append(list, rate(c, before, after, words))
			}
		}
	}
	return list
}

// rate is a count by the hour, which runs of any length have in common. Less than one more or fewer in the shorter run is no
// difference, for where its end cuts is chance; of one too short for a single one nothing is said.
func rate(count Comparison, before, after Report, words lang.Catalog) Comparison {
	perHour := func(n sampler.Opt[float64], r Report) sampler.Opt[float64] {
		v, ok := n.Value()
		if !ok || r.Duration <= 0 {
			return sampler.Opt[float64]{}
		}
		return sampler.Some(math.Round(10*v*3600/r.Duration) / 10)
	}
	c := compare(count.ID+"_per_hour", words.Say("compare.per_hour", "title", count.Title), "per_hour", -1, perHour(count.Before, before), perHour(count.After, after))
	c.GPU = count.GPU
	if d, ok := c.Difference.Value(); ok {
		hours := min(before.Duration, after.Duration) / 3600
		switch most := max(c.Before.Or(0), c.After.Or(0)); {
		case most > 0 && most*hours < 1:
			c.Better = ""
		case math.Abs(d)*hours < 1:
			c.Better = "same"
		}
	}
	return c
}

// Alone are the GPUs of each of two runs that are compared with none of the other.
func Alone(before, after Report) (ofBefore, ofAfter []*GPU) {
	alone := func(these, others Report) (list []*GPU) {
		for i := range these.GPUs {
			if g := &these.GPUs[i]; partner(these, others, g) == nil {
				list = append(list, g)
			}
		}
		return list
	}
	return alone(before, after), alone(after, before)
}

// partner is the GPU of the other run to compare with.
func partner(before, after Report, a *GPU) *GPU {
	for i := range after.GPUs {
		if after.GPUs[i].Label == a.Label {
			return &after.GPUs[i]
		}
	}
	if len(before.GPUs) == 1 && len(after.GPUs) == 1 {
		return &after.GPUs[0]
	}
	return nil
}

// deaths counts the failures that a run did not survive: those with a message, or else
// those that its alerts inferred.
func deaths(r Report) int {
	told, inferred := 0, 0
	for _, e := range r.Events {
		if e.Kind == "oom" && (e.OOM == nil || !e.OOM.Recovered) {
			told++
		}
	}
	for _, a := range r.Alerts {
		if a.Kind == sampler.AlertOOM && a.Level != sampler.LevelNotice {
			inferred++
		}
	}
	return max(told, inferred)
}

func compare(id, title, unit string, sign float64, before, after sampler.Opt[float64]) Comparison {
	c := Comparison{ID: id, Title: title, Unit: unit, Before: before, After: after}
	a, ok := before.Value()
	b, known := after.Value()
	if !ok || !known {
		return c
	}
	c.Difference = sampler.Some(b - a)
	if a != 0 {
		c.Percent = sampler.Some(math.Round(1000*(b-a)/math.Abs(a)) / 10)
	}
	switch d := (b - a) * sign; {
	case sign == 0:
	case math.Abs(b-a) <= 0.005*math.Abs(a):
		c.Better = "same"
	case d > 0:
		c.Better = "yes"
	default:
		c.Better = "no"
	}
	return c
}
