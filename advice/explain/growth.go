package explain

import "nvpeak/sampler"

// flat: the recording or the log shows no growth that could explain the failure.
func (f *facts) flat() bool {
	_, _, steady := f.growth()
	return len(f.stretches()) >= 3 && !steady || f.jumped()
}

// late: the run had fitted before. It did many steps or an epoch, or the recording shows it.
func (f *facts) late() bool {
	if f.context.FirstStep {
		return false
	}
	return f.context.Epoch.Or(0) >= 2 || f.context.Step.Or(0) >= 50 || len(f.stretches()) >= 3
}

// stretches are the peaks of the process over the run, oldest first: from the recording, or else
// the figures that the log itself prints.
func (f *facts) stretches() []sampler.Bytes {
	if f.history != nil && len(f.history.Peaks) > 0 {
		return f.history.Peaks
	}
	return f.context.GPUMemory
}

// growth is how the process grew over the stretches: steady says that most steps went up, that
// it had not levelled off, and that it was more than noise (4 % and 256 MiB).
func (f *facts) growth() (first, last float64, steady bool) {
	peaks := f.stretches()
	n := len(peaks)
	if n < 3 {
		return 0, 0, false
	}
	first, last = float64(peaks[0]), float64(peaks[n-1])
	up := 0
	for i := 1; i < n; i++ {
		if peaks[i] > peaks[i-1] {
			up++
		}
	}
	grown := last - first
	lateHalf := last - float64(peaks[n/2])
	return first, last, float64(up) >= 0.7*float64(n-1) && grown > 0.04*last && grown > 256<<20 && lateHalf > 0.2*grown
}

// jumped: just before the failure the process was far above its last peak, compared with how
// it usually grew (three times that and 3 % of the GPU). A leak creeps; a large batch jumps.
func (f *facts) jumped() bool {
	peaks := f.stretches()
	n := len(peaks)
	if n == 0 || !f.total.Known() {
		return false
	}
	now := f.reserved()
	if f.history != nil && len(f.history.Peaks) == n {
		now = f.process.Or(now)
	}
	usual := sampler.Bytes(0)
	if n > 1 {
		usual = peaks[n-1].Less(peaks[0]) / sampler.Bytes(n-1)
	}
	return (now+f.requested.Or(0)).Less(peaks[n-1]) > 3*usual+partOf(f.total.Or(0), 0.03) && n > 1
}

// grewUnallocated: the request would have fitted into what was free or reserved but unallocated,
// and the latter is most of what the process grew by.
func (f *facts) grewUnallocated() bool {
	h, unallocated, need := f.history, f.unallocated.Or(0), f.requested.Or(0)
	if h == nil || len(h.Peaks) < 2 || unallocated == 0 || need == 0 || need > unallocated+f.free.Or(0) {
		return false
	}
	grown := h.Peaks[len(h.Peaks)-1].Less(h.Peaks[0])
	return float64(unallocated) >= 0.5*float64(grown) && f.unallocatedShare() >= 0.05
}
