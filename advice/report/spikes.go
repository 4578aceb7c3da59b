package report

import (
	"cmp"
	"slices"

	"nvpeak/advice/series"
)

// foldSpikes follows what goes up and comes back. The spikes of a series can still change
// while they are new, so they are taken over late.
func (c *gpuFold) foldSpikes(now, low, high float64, gap bool) {
	s := &c.series
	if s.Samples == 0 {
		s.Start(now, true)
	}
	if gap {
		s.ForgetRecent()
	}
	s.Add(now, c.used/mib, low/mib, high/mib, c.total/mib)
	for s.Count-c.counted >= series.MaxSpikes-1 {
		c.takeSpike()
	}
}

// endSpikes takes over what is known and begins anew.
func (c *gpuFold) endSpikes(now float64) {
	c.takeSpikes()
	c.counted = 0
	c.series.Start(now, true)
}

// takeSpikes takes over all spikes of the series, the newest too.
func (c *gpuFold) takeSpikes() {
	for c.counted < c.series.Count {
		c.takeSpike()
	}
	c.fileSpike()
}

func (c *gpuFold) takeSpike() {
	s := c.series.Numbered(c.counted)
	c.counted++
	switch {
	case s.Height() <= 0:
	case c.newest != nil && c.newest.includes(s):
		c.newest.add(s)
	default:
		c.fileSpike()
		c.newest = &excursion{start: s.Start, end: s.End(), peak: s.Peak, after: s.Peak - s.Height(), given: s.Given()}
	}
}

// fileSpike lists the newest excursion: nothing joins it any more.
func (c *gpuFold) fileSpike() {
	if c.newest == nil {
		return
	}
	c.spikes = append(c.spikes, c.newest.spike())
	c.newest = nil
	c.filed++
	if len(c.spikes) >= 2*maxReportSpikes {
		c.keepLargest()
	}
}

func (c *gpuFold) keepLargest() {
	slices.SortStableFunc(c.spikes, func(a, b Spike) int { return cmp.Compare(b.Bytes, a.Bytes) })
	c.spikes = c.spikes[:min(len(c.spikes), maxReportSpikes)]
	slices.SortStableFunc(c.spikes, func(a, b Spike) int { return cmp.Compare(a.T, b.T) })
}

// excursion is the spikes of a series that belong together. The batches of one validation come
// down between their peaks, most of the way but not to where the validation began.
type excursion struct {
	start, end  float64
	peak, after float64 // after: the least that it came down to
	given       float64 // share of its rise that the newest spike gave back
}

const (
	// betweenPeaks: less time lies between two peaks of one excursion, and less than apart where all has come back.
	betweenPeaks = 5
	apart        = 2
	// returnedShare of its rise given back is where it began, as far as readings tell.
	returnedShare = 0.98
	// wholeShare of its rise given back is all of it. What gives back less is not over yet, and the
	// next peak may take as long to come as this one did.
	wholeShare = 0.85
	// longestExcursion: what lasts longer is how the program runs.
	longestExcursion = 3600
)

func (e *excursion) includes(s series.Spike) bool {
	gap, between := s.Start-e.end, float64(betweenPeaks)
	if e.given >= returnedShare {
		between = apart
	}
	return s.End()-e.start <= longestExcursion && (gap <= between || gap < e.end-e.start && e.given < wholeShare)
}

func (e *excursion) add(s series.Spike) {
	e.end, e.given = s.End(), s.Given()
	e.peak, e.after = max(e.peak, s.Peak), min(e.after, s.Peak-s.Height())
}

func (e *excursion) spike() Spike {
	return Spike{T: e.start, Bytes: series.Bytes(e.peak - e.after), Peak: series.Bytes(e.peak), Duration: e.end - e.start}
}
