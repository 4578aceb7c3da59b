package nvml

import (
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

const (
	// staleFor is how old a value gets: after that it is asked for again, and where that fails, it is absent.
	staleFor = 3 * time.Second
	// slack lets a row that is due every 2 s be asked after 1.8 s: the caller's seconds are not exact.
	slack = 300 * time.Millisecond
	// backOffMost is the longest pause after failures of one row, backOffKnown of one that has answered before: it is
	// back soon after the driver is.
	backOffMost  = 30 * time.Second
	backOffKnown = 2 * time.Second
)

// backOff is the pause after another failure of what answered last at that time; zero: never.
func backOff(pause time.Duration, good time.Time) time.Duration {
	most := backOffKnown
	if good.IsZero() {
		most = backOffMost
	}
	return min(max(2*pause, time.Second), most)
}

// metricsState is what one GPU answered to the rows.
type metricsState struct {
	rows []rowState
	last time.Time // when they were read last
}

type rowState struct {
	set    setter // of the last answer; nil: none
	good   time.Time
	next   time.Time
	pause  time.Duration // after a failure; 0: it answered
	refuse bool          // it will never answer
}

// read asks the rows that are due and adds those that are not. What would be too old before the next turn, if that comes as
// soon as this one did, is due, too.
func (m *metricsState) read(h handle, rows []metric, now time.Time) (sampler.Metrics, error) {
	var out sampler.Metrics
	oldest := now.Add(-staleFor)
	if turn := now.Sub(m.last) - slack; !m.last.IsZero() && turn > 0 {
		oldest = oldest.Add(turn)
	}
	m.last = now
	for i := range rows {
		row, st := &rows[i], &m.rows[i]
		if ret := st.ask(row, h.Device, now, oldest); react(ret).ends() {
			m.forget()
			return sampler.Metrics{}, failure(row.name, ret)
		}
		if st.set != nil && (st.pause == 0 || !st.good.Before(oldest)) {
			st.set(&out)
			if out.Oldest.IsZero() || st.good.Before(out.Oldest) {
				out.Oldest = st.good
			}
		}
	}
	return out, nil
}

// forget drops what was read of a GPU that is lost: when it comes back, all is asked anew.
func (m *metricsState) forget() {
	for i := range m.rows {
		m.rows[i] = rowState{refuse: m.rows[i].refuse, good: m.rows[i].good}
	}
}

// ask makes the call of a row when it is due, or its value is from before oldest.
func (st *rowState) ask(row *metric, handle gonvml.Device, now, oldest time.Time) gonvml.Return {
	early := now.Before(st.next) && (st.pause > 0 || !st.good.Before(oldest))
	if st.refuse || early {
		return gonvml.SUCCESS
	}
	set, ret := row.read(handle)
	r := react(ret)
	switch {
	case ret == gonvml.SUCCESS:
		st.set, st.good, st.pause = set, now, 0
		st.next = now.Add(row.every - slack)
		if row.every == 0 {
			st.next = now
		}
		return ret
	case r.forever: // what it once could do it may do again
		st.set, st.refuse = nil, st.good.IsZero()
	case !r.stale:
		st.set = nil
	}
	st.pause = backOff(st.pause, st.good)
	st.next = now.Add(st.pause - slack)
	return ret
}
