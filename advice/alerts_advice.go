package advice

import (
	"cmp"
	"fmt"
	"slices"

	"nvpeak/sampler"
)

// remedy is something to do about an alert.
type remedy struct {
	id, title, why, cost, source string
	do                           []string
	low, high                    float64 // MiB it gives back; 0: not known
}

// ranked numbers the remedies in their order.
func ranked(list ...remedy) []sampler.Advice {
	out := make([]sampler.Advice, 0, len(list))
	for i, r := range list {
		a := sampler.Advice{ID: r.id, Rank: i + 1, Title: r.title, Why: r.why, Do: r.do, Cost: r.cost, Source: r.source}
		if a.Do == nil {
			a.Do = []string{}
		}
		if r.high > 0 {
			a.Saves = sampler.Some(sampler.Range{Low: bytesOf(r.low), High: bytesOf(r.high)})
		}
		out = append(out, a)
	}
	return out
}

// stopOther is the cheapest remedy where there is somebody else.
func stopOther(p *proc) remedy {
	held := p.series.value
	return remedy{id: "stop_other_process",
		title: fmt.Sprintf("stop or move pid %d (%s)", p.pid, who(p.process)),
		why:   fmt.Sprintf("it holds %s here", size(held)),
		do:    []string{fmt.Sprintf("kill %d", p.pid)}, low: held, high: held,
		cost: "its work, unless it saves first",
	}
}

// who names a process: name and user.
func who(p *sampler.Process) string {
	name := clean(p.Name)
	if name == "" {
		name = "process"
	}
	if p.User != "" {
		return name + ", " + clean(p.User)
	}
	return name
}

// clean is a foreign text that may stand in a sentence: no control characters, at most 40
// characters.
func clean(s string) string {
	out := make([]rune, 0, 40)
	for _, r := range s {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufffd' ||
			r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			r = '?'
		}
		if len(out) == 40 {
			break
		}
		out = append(out, r)
	}
	return string(out)
}

// size is an amount of a series in words.
func size(m float64) string { return bytesOf(m).String() }

// spanOf is a time in words that do not pretend to be exact: "40 s", "4 min", "2.5 h".
func spanOf(seconds float64) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%.0f s", max(0, seconds))
	case seconds < 90*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	}
	return fmt.Sprintf("%.1f days", seconds/86400)
}

// sortBySize puts the largest first.
func sortBySize(list []*proc) {
	slices.SortStableFunc(list, func(a, b *proc) int { return cmp.Compare(b.series.value, a.series.value) })
}
