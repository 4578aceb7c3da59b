package request

import (
	"slices"
	"time"
)

// A call that is under way may have moved memory or not. Most are answered before anybody asks; one that takes long is in a figure that the driver gives
// meanwhile, perhaps, and no peak can be made of that figure before it is answered.

// LongestUnderWay is how long a call may be so: a thread that has left a function by a jump, never to return, is so for ever.
const LongestUnderWay = 10 * time.Second

// UnderWay is a call that has not been answered yet.
type UnderWay struct {
	PID, TID int
	Function int // of Functions
	Began    time.Time
}

// areUnderWay takes the calls that are under way by now.
func (t *Tracker) areUnderWay(list []UnderWay) {
	for _, p := range t.processes {
		if len(p.underWay) > 0 {
			p.underWay = p.underWay[:0]
			p.waits()
		}
	}
	for _, u := range list {
		if p := t.processes[u.PID]; p != nil && u.moves() {
			p.underWay = append(p.underWay, u)
			p.waits()
		}
	}
}

// moves says whether the call may move memory of a GPU.
func (u *UnderWay) moves() bool {
	if u.Function < 0 || u.Function >= len(Functions) {
		return false
	}
	f := &Functions[u.Function]
	return f.moves() && f.Memory != Host || f.context()
}

// answered takes that a thread's call of a function is not under way any more.
func (p *process) answered(tid, function int) {
	if i := slices.IndexFunc(p.underWay, func(u UnderWay) bool { return u.TID == tid && u.Function == function }); i >= 0 {
		p.underWay = slices.Delete(p.underWay, i, i+1)
		p.waits()
	}
}

// waits tells the tallies what they have to wait for.
func (p *process) waits() {
	var oldest time.Time
	for _, u := range p.underWay {
		if oldest.IsZero() || u.Began.Before(oldest) {
			oldest = u.Began
		}
	}
	for _, s := range p.seats {
		e := &s.tally.exact
		e.oldest = oldest
		for i := range e.changes {
			c := &e.changes[i]
			c.slow = c.by != 0 && slices.ContainsFunc(p.underWay, func(u UnderWay) bool { return u.TID == c.by && Functions[u.Function].takesBack() })
		}
	}
}
