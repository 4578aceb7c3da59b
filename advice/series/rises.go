package series

// Rises are when a holder last rose, whether or not it was ever higher: from where it stands, also after it gave something back.
type Rises struct {
	stands float64 // where it does
	times  [risesKept]float64
	count  int
}

const (
	// risesKept, however near to one another, tell whether a growth has stopped; what rises more often than each risesOften seconds is
	// not over yet for a wait that is short all the same.
	risesKept  = 8
	risesOften = 5
)

// add takes the most and the least that a holder had since the sample before.
func (r *Rises) add(t, high, low, limit float64) {
	switch step := recordLeast * limit; {
	case high > r.stands+step:
		r.times[r.count%risesKept] = t
		r.count++
		r.stands = high
	case low < r.stands-step:
		r.stands = low
	}
}

// Over says whether a holder has not risen for three times as long as it ever took of late: what grew has stopped.
func (r *Rises) Over(now float64) bool {
	if r.count < risesKept {
		return false
	}
	back := func(i int) float64 { return r.times[(r.count-1-i)%risesKept] }
	long := float64(risesOften)
	for i := range risesKept - 1 {
		long = max(long, back(i)-back(i+1))
	}
	return now-back(0) > recordsStale*long
}
