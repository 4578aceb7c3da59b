package request

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// A call that is under way may have moved memory or not. Most are answered before anybody asks; one that takes long is in a figure that the driver gives
// meanwhile, perhaps, and no peak can be made of that figure before it is answered.

// UnderWay is a call that has not been answered yet.
type UnderWay struct {
	PID, TID int
	Function int    // of Functions
	Size     uint64 // bytes that it asks for
	Number   uint64 // of the call, see Call.Other
	Began    time.Time
	For      time.Duration // it is
}

// longestUnderWay is how long a call is waited for. A thread may have left it by a jump, or ended in it.
const longestUnderWay = 10 * time.Second

// areUnderWay takes the calls that are under way at a time.
func (t *Tracker) areUnderWay(list []UnderWay) {
	changed := map[*process]bool{} // each tells its tallies once, however many of its threads call
	for _, p := range t.processes {
		if len(p.underWay) > 0 {
			p.underWay, changed[p] = p.underWay[:0], true
		}
	}
	for _, u := range list {
		p := t.processes[u.PID]
		switch {
		case p == nil || !u.moves():
		case u.For < longestUnderWay:
			p.underWay, changed[p] = append(p.underWay, u), true
			t.slow(p, u.For)
		case slices.Contains(p.givenUp, u.Number):
		default:
			p.leaves(u, u.Began.Add(u.For))
		}
	}
	for p := range changed {
		p.waits()
	}
}

// Left takes that a thread has left a call without an answer, some time until now.
func (t *Tracker) Left(u UnderWay, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.processes[u.PID]; p != nil && !p.over && u.moves() {
		p.answered(u.TID, u.Function)
		p.leaves(u, at)
	}
}

// maxLeft calls of a process are known to be left.
const maxLeft = 64

// leaves takes that nobody will tell whether a call has given memory, or given it back.
func (p *process) leaves(u UnderWay, at time.Time) {
	if slices.Contains(p.givenUp, u.Number) {
		return
	}
	if len(p.givenUp) == maxLeft {
		p.givenUp = slices.Delete(p.givenUp, 0, 1)
	}
	p.givenUp = append(p.givenUp, u.Number)
	p.lost = later(p.lost, at)
	n := u.most()
	for i := range p.taken {
		if x := &p.taken[i]; x.call == u.Number && x.block != nil {
			n = x.block.bytes
		}
	}
	for _, y := range p.tallies(anySeat) {
		y.exact.left(at, at.Sub(u.Began), y.live, n)
	}
}

const (
	// slowCall takes so long that another one may have been under way as the process was looked at first: of that nothing is seen, neither begin nor answer.
	slowCall = 100 * time.Millisecond
	// entered is how long after that such a call may last.
	entered = time.Second
)

// slow takes that a call of a process lasts so long, or did. If that was looked at first in the middle of its life, the lists of about then may be from amid
// one that nobody has seen.
func (t *Tracker) slow(p *process, lasts time.Duration) {
	if !p.late || p.slow || lasts < slowCall {
		return
	}
	p.slow = true
	looked := p.loaded
	if t.older[p.pid] {
		looked = later(looked, t.firstList)
	}
	until := looked.Add(entered)
	for _, y := range p.tallies(anySeat) {
		y.exact.blurs(time.Time{}, until)
	}
	for key, f := range p.figures {
		if f.at.Before(until) {
			delete(p.figures, key)
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

// most is the most that it may give or, of what it gives back, give back if that is not known: a context with what it has.
func (u *UnderWay) most() sampler.Bytes {
	if f := &Functions[u.Function]; f.takesBack() || f.context() {
		return sampler.ContextMost
	}
	return min(sampler.Bytes(u.Size), sampler.MaxPlausible)
}

// answered takes that a thread's call of a function is not under way any more.
func (p *process) answered(tid, function int) {
	if i := slices.IndexFunc(p.underWay, func(u UnderWay) bool { return u.TID == tid && u.Function == function }); i >= 0 {
		p.underWay = slices.Delete(p.underWay, i, i+1)
		p.waits()
	}
}

// works notes on the GPUs that a process may use since when calls of it are under way there.
func (t *Tracker) works(p *process) {
	began := p.oldest()
	if began.IsZero() {
		return
	}
	on := t.uses(p)
	for key, g := range t.gpus {
		if (len(on) == 0 || slices.Contains(on, key) || p.on(key) != nil) && (g.working.IsZero() || began.Before(g.working)) {
			g.working = began
		}
	}
}

// oldest is when the first of the calls began that are under way; zero: none is.
func (p *process) oldest() (began time.Time) {
	for _, u := range p.underWay {
		if began.IsZero() || u.Began.Before(began) {
			began = u.Began
		}
	}
	return began
}

// waits tells the tallies what they have to wait for.
func (p *process) waits() {
	oldest := p.oldest()
	for _, y := range p.tallies(anySeat) {
		e := &y.exact
		e.oldest = oldest
		for i := range e.changes {
			c := &e.changes[i]
			c.slow = c.by != 0 && slices.ContainsFunc(p.underWay, func(u UnderWay) bool { return u.TID == c.by && Functions[u.Function].takesBack() })
		}
	}
}
