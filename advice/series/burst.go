package series

import "slices"

// Bursts are the times when a series spikes: the batches of one validation are one burst, however many spikes they are.
type Bursts struct {
	Count  int
	Period float64 // seconds from one to the next, median; 0: not known
	Last   float64 // start of the newest
	Width  float64 // seconds, median
	Even   bool    // the intervals agree, as far as one can tell
	High   float64 // MiB that the highest spike gave back
	Most   float64 // MiB, the highest top
}

// burstGap: spikes that begin so many seconds after the end of the one before are of another burst. The steps of a loop
// come more often, so that they are one burst without an end.
const burstGap = 20

// Bursts of the spikes that are kept; ok is false when they are over, or when there are fewer than two.
func (s *Series) Bursts(now float64) (b Bursts, ok bool) {
	n := min(s.Count, MaxSpikes)
	for i := range n {
		b.High, b.Most = max(b.High, s.back(i).Height()), max(b.Most, s.back(i).Peak)
	}
	var starts, ends []float64 // newest first
	for i := range n {
		sp := s.back(i)
		switch last := len(starts) - 1; {
		case sp.Height() < alike*b.High:
		case last >= 0 && starts[last]-sp.End() < burstGap:
			starts[last] = sp.Start
		default:
			starts, ends = append(starts, sp.Start), append(ends, sp.End())
		}
	}
	if b.Count = len(starts); b.Count < SpikesNeeded {
		return b, false
	}
	var periods, widths []float64
	for i := range starts {
		widths = append(widths, ends[i]-starts[i])
		if i > 0 {
			periods = append(periods, starts[i-1]-starts[i])
		}
	}
	b.Even = slices.Max(periods) <= intervalSpread*slices.Min(periods)
	b.Last, b.Period, b.Width = starts[0], Median(periods), Median(widths)
	return b, now-b.Last <= staleSpikes*b.Period && b.Last >= s.gap
}

// Due is when the next burst is expected, in seconds from now: 0 while one lasts as long as they do, or when it is
// overdue by half of a period at most; ok is false when that is a guess.
func (b Bursts) Due(now float64) (seconds float64, ok bool) {
	if now < b.Last+b.Width {
		return 0, b.Even
	}
	due := b.Last + b.Period - now
	return max(due, 0), b.Even && due > -b.Period/2
}

// Brief says whether they are spikes and not phases of a program.
func (b Bursts) Brief() bool { return b.Width <= spikeShare*b.Period }
