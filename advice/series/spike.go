package series

import "math"

// excursions is the part of a series that knows what went up and came back.
type excursions struct {
	edges  [maxEdges]edge // open, the outermost first
	open   int
	spikes [MaxSpikes]Spike // ring of the closed
	Count  int              // of spikes ever
	// Apart: a short peak is the beginning only of a spike that is longer, for a list of what there was. What comes next is better
	// told by where such peaks begin. Start keeps it.
	Apart    bool
	settling int // slot of the spike whose level afterwards is still being learnt; -1: none
}

const (
	maxEdges = 6
	// MaxSpikes is how many closed spikes are kept.
	MaxSpikes = 16
)

// edge is an excursion that has not come back yet.
type edge struct {
	start, base, peak float64
	level             float64 // most of the minute before; NaN: unknown
	free              float64 // settled free memory of the GPU when it began
}

// Spike is an excursion that came back.
type Spike struct {
	Start, end float64
	base       float64 // level before
	after      float64 // level it came back to
	Peak       float64
	level      float64 // most of the minute before; NaN: unknown
	free       float64 // settled free memory of the GPU when it began; NaN: unknown
	onset      float64 // seconds that the step lasted on which it stands and which came back with it
}

// Height is what the spike gave back, and what the next one therefore asks for.
func (s Spike) Height() float64 { return s.Peak - s.after }

// Given is the share of its rise that the spike gave back.
func (s Spike) Given() float64 { return s.Height() / max(1, s.Peak-s.base) }

// End is when the spike had come back.
func (s Spike) End() float64 { return s.end }

// Width of the spike in seconds.
func (s Spike) Width() float64 { return s.end - s.Start }

const (
	// EdgeShare is the least rise that counts as an excursion, of the GPU, beside 256 MiB and one
	// and a half times the usual movement: below, steps of one training loop would count.
	EdgeShare  = 0.02
	edgeLeast  = 256
	edgeJitter = 1.5
	// Of two excursions that end together the inner one is the spike when it is that much
	// of the whole,
	ownShare = 0.6
	// and stands on a step when that is this much of the whole.
	onsetShare = 0.2
	// An excursion is over when half of it has been given back.
	edgeBack = 0.49 // an array of twice the size leaves half of it
	// patience is how long an excursion may last before its level counts as the new
	// settled one, unless earlier spikes were wider.
	patienceSeconds = 60
	// maxWidthSeconds: what stays longer was a phase, not a spike.
	maxWidthSeconds = 3600
	// A peak of some seconds right before a spike is its beginning.
	onsetSeconds = 5
	// The level after a spike is learnt for that long, or for half of the spike's width:
	// what comes down slowly, or in parts, is given time.
	afterSeconds = 16
	afterShare   = 0.5
)

// excursion follows rises above the settled level and their return.
func (s *Series) excursion(t, value, high, limit float64) {
	if s.plateau < 0 || math.IsNaN(s.Floor) {
		return
	}
	s.learnAfter(t, value)
	step := max(limit*EdgeShare, edgeLeast, s.jitter*edgeJitter)
	if s.open > 0 {
		e := &s.edges[s.open-1]
		e.peak = max(e.peak, high)
	}
	// Above an excursion whose floor has come up a new one can begin.
	if high > s.Floor+step && (s.open == 0 || s.Floor >= s.edges[s.open-1].base+step) {
		s.openEdge(edge{start: t, base: s.Floor, peak: high, level: s.LastMinute(), free: math.NaN()})
	}
	for s.open > 0 {
		e := s.edges[s.open-1]
		if value > e.base+(e.peak-e.base)*(1-edgeBack) {
			break
		}
		s.open--
		s.closeEdge(e, t, value)
	}
}

// openEdge pushes an edge. When there are too many, two whose bases lie closest become
// one: the lower base and the earlier start stay.
func (s *Series) openEdge(e edge) {
	if s.open == maxEdges {
		closest := 1
		for i := 2; i < maxEdges; i++ {
			if s.edges[i].base-s.edges[i-1].base < s.edges[closest].base-s.edges[closest-1].base {
				closest = i
			}
		}
		copy(s.edges[closest:], s.edges[closest+1:])
		s.open--
	}
	s.edges[s.open] = e
	s.open++
}

// closeEdge files an excursion that came back. One around a spike that came back just
// before is the same spike, coming down in parts; one around earlier spikes is a phase
// of the program and none.
func (s *Series) closeEdge(e edge, t, value float64) {
	if s.settling >= 0 {
		last := &s.spikes[s.settling]
		switch around := e.start <= last.Start; {
		case around && last.Start-e.start <= s.patience():
			switch whole := last.Peak - e.base; {
			case last.Peak-last.base < ownShare*whole:
				last.Start = e.start
			case last.base-e.base >= onsetShare*whole: // the inner one is the spike, on top of a step
				last.onset = max(last.onset, last.Start-e.start)
			}
			last.base, last.free, last.level = e.base, e.free, e.level
			last.end, last.after = t, min(value, last.after)
			last.Peak = max(last.Peak, e.peak)
			return
		case !around && e.start-last.end <= onsetSeconds && last.Width() <= onsetSeconds && !(s.Apart && t-e.start <= last.Width()+1):
			last.end, last.after, last.Peak = t, min(value, last.after), max(last.Peak, e.peak)
			return
		}
	}
	if t-e.start > maxWidthSeconds || s.Count > 0 && e.start <= s.back(0).Start {
		return
	}
	s.settling = s.Count % MaxSpikes
	s.spikes[s.settling] = Spike{Start: e.start, end: t, base: e.base, after: value,
		Peak: e.peak, level: e.level, free: e.free}
	s.Count++
}

// LastMinute is the most that the minute before the open bucket held; NaN: unknown.
func (s *Series) LastMinute() float64 {
	most := math.NaN()
	for j := s.bucket - 60/BucketSeconds; j < s.bucket; j++ {
		most = larger(most, s.highs.at(0, j))
	}
	return most
}

// Top is where the newest open excursion is at most; 0 without one.
func (s *Series) Top() float64 {
	if s.open == 0 {
		return 0
	}
	return s.edges[s.open-1].peak
}

// Baseline is the level that the holder keeps between its spikes: that before a young
// excursion, else the least of the last seconds.
func (s *Series) Baseline(t float64) float64 {
	for _, e := range s.edges[:s.open] {
		if t-e.start < max(baselineSeconds, baselineWidths*s.widest(), onsetTimes*s.onset()) {
			return e.base
		}
	}
	return s.Floor
}

const (
	// An excursion that has lasted for 20 s, three times as long as known spikes and twice as long as
	// the steps that led up to them is the new baseline.
	baselineSeconds = 20
	baselineWidths  = 3
	onsetTimes      = 2
)

// learnAfter lowers the level after the newest spike while it still falls. What falls when another
// excursion ends is the level after that one.
func (s *Series) learnAfter(t, value float64) {
	if s.settling < 0 {
		return
	}
	last := &s.spikes[s.settling]
	if t-last.end > max(afterSeconds, afterShare*last.Width()) {
		s.settling = -1
		return
	}
	if s.open == 0 || s.edges[s.open-1].start <= last.end {
		last.after = min(last.after, value)
	}
}

// NoteFree tells excursions that just began how much was free before them; free is asked
// only when there is such a one.
func (s *Series) NoteFree(free func() float64) {
	for i := range s.open {
		if e := &s.edges[i]; math.IsNaN(e.free) {
			e.free = free()
		}
	}
}

// Numbered is spike n of all that there ever were; only the last maxSpikes are kept.
func (s *Series) Numbered(n int) Spike { return s.spikes[n%MaxSpikes] }

// inExcursion says whether an open excursion may still come back: which one, the
// outermost of them.
func (s *Series) inExcursion(t float64) (outermost edge, yes bool) {
	patience := s.patience()
	for _, e := range s.edges[:s.open] {
		if t-e.start < patience {
			return e, true
		}
	}
	return edge{}, false
}

// patience is longer for a holder whose spikes are known to be wide.
func (s *Series) patience() float64 { return max(patienceSeconds, 2*s.widest()) }

// widest is the width of the widest of the last three spikes in seconds.
func (s *Series) widest() float64 {
	w := 0.0
	for i := range min(s.Count, 3) {
		w = max(w, s.back(i).Width())
	}
	return w
}

// onset is the longest of the steps on which the last three spikes stood, in seconds.
func (s *Series) onset() float64 {
	o := 0.0
	for i := range min(s.Count, 3) {
		o = max(o, s.back(i).onset)
	}
	return o
}

// back returns the spike i before the newest; i must be below min(count, maxSpikes).
func (s *Series) back(i int) Spike {
	return s.spikes[(s.Count-1-i)%MaxSpikes]
}
