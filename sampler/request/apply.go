package request

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
)

const (
	// wait: a request whose GPU is not known yet is told with a later snapshot, at most so long after it.
	wait = 2 * time.Second
	// waitFirst is the same for the first requests of a process of which the first calls were missed: on which GPUs its threads are only readings
	// tell, for some in a second, where many do the same in four. As long as no more than waitFew of them wait.
	waitFirst = 5 * time.Second
	waitFew   = 512
	// silent: the last requests of who is gone may have to be told yet.
	silent = waitFirst + time.Second
)

// patience is how long requests of a process, the oldest from a time, wait for their GPU to be known.
func (p *process) patience(from time.Time) time.Duration {
	if p.late && !p.exit.Known() && p.waiting <= waitFew && from.Sub(p.first) < waitFirst {
		return waitFirst
	}
	return wait
}

// Apply fills in the requests of a snapshot's processes, and those since the one before. A process that the
// driver does not list yet gets a row.
func (t *Tracker) Apply(s *sampler.Snapshot) {
	t.hear()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.index(s)
	if !t.seeing {
		return
	}
	door := t.door
	door.LetGo = append([]string{}, t.door.LetGo...)
	door.Busy = t.busy(s.Time)
	s.Door = &door
	t.number(s)
	t.firstRound(s)
	t.strays = nil
	for _, g := range t.gpus {
		g.unheard, g.working = time.Time{}, time.Time{}
	}
	for _, p := range t.processes {
		if !p.gone {
			t.unhear(p)
		}
		t.works(p)
	}
	for _, p := range t.processes {
		if p.supposed && p.strange() {
			t.misses(p)
		}
		t.settle(p, s.Time)
		for _, seat := range p.seats {
			if key, guessed := t.place(p, seat); !p.gone || key != (sampler.GPUKey{}) { // of who is gone the driver lists no place any more
				seat.at, seat.guessed = key, guessed
			}
		}
		t.join(p)
		lived := s.Time
		if p.gone || p.exit.Known() {
			lived = p.last
		}
		for _, seat := range p.seats {
			seat.tally.measure(s.Time, lived)
			if seat.tally.freeAwaited(s.Time) {
				t.tellRefused() // a snapshot soon has it
			}
			seat.tally.settlePieces(s.Time, p.gone || p.exit.Known())
		}
	}
	door.Unseen = t.unseen
	t.tell(s)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		known := t.gpu(g.Key())
		known.correct(&g.Memory)
		if n := g.Memory.PlausibleTotal().Or(0).Less(g.Memory.Reserved.Or(0)); n > 0 { // else as it was
			known.usable = n
		}
		for j := range g.Processes {
			if p := t.processes[g.Processes[j].PID]; p != nil {
				t.fill(&g.Processes[j], p, g.Key(), s.Time)
			}
		}
		t.unlisted(g, s.Time)
	}
	t.unplaced(s)
}

// busy are the processes that are let go of.
func (t *Tracker) busy(now time.Time) (list []sampler.Busy) {
	maps.DeleteFunc(t.letGo, func(b sampler.Busy, until time.Time) bool { return !now.Before(until) || t.processes[b.PID] == nil })
	return slices.SortedFunc(maps.Keys(t.letGo), func(a, b sampler.Busy) int {
		return cmp.Or(a.PID-b.PID, strings.Compare(a.Function, b.Function))
	})
}

// number notes which GPUs are watched, and how programs number those that there are.
func (t *Tracker) number(s *sampler.Snapshot) {
	t.watched = make(map[sampler.GPUKey]bool, len(s.GPUs))
	for i := range s.GPUs {
		t.watched[s.GPUs[i].Key()] = true
	}
	if t.partly() {
		s = &t.machine
	}
	t.ordinals = sampler.NewOrdinals(s)
}

// leaves is how long it counts where the driver listed a process before: one that ends is gone from the lists one after another, as slowly as it
// gives its memory back, and the last of them is no sign that it uses one GPU.
const leaves = 10 * time.Second

// uses are the GPUs where the driver lists a process, or did of late.
func (t *Tracker) uses(p *process) []sampler.GPUKey {
	list := slices.DeleteFunc(slices.Clone(t.listed[p.pid]), func(key sampler.GPUKey) bool { return t.ofBefore(p, key) })
	for key := range p.listed {
		if !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	return list
}

// lingers is how long after a process became another program the driver may still list it where it was: what it held is given back meanwhile.
const lingers = 500 * time.Millisecond

// ofBefore says whether the newest list of a GPU may be from before the process became another program.
func (t *Tracker) ofBefore(p *process, key sampler.GPUKey) bool {
	return !p.execed.IsZero() && t.listedBefore(key, p.execed.Add(lingers))
}

// index notes where the driver lists processes, and who is who. Those that are silent and gone are forgotten.
func (t *Tracker) index(s *sampler.Snapshot) {
	t.listed = map[int][]sampler.GPUKey{}
	for i := range s.GPUs {
		for j := range s.GPUs[i].Processes {
			q := &s.GPUs[i].Processes[j]
			t.listed[q.PID] = append(t.listed[q.PID], s.GPUs[i].Key())
			if p := t.processes[q.PID]; p != nil {
				if q.Visible {
					p.is(*q)
				}
				if !t.ofBefore(p, s.GPUs[i].Key()) {
					p.listed[s.GPUs[i].Key()] = t.listOf(s.GPUs[i].Key(), s.Time)
				}
			}
		}
	}
	for pid, p := range t.processes {
		maps.DeleteFunc(p.listed, func(_ sampler.GPUKey, at time.Time) bool { return s.Time.Sub(at) > leaves })
		if p.gone = p.over; len(t.listed[pid]) > 0 {
			continue
		}
		who := []sampler.Process{{PID: pid}}
		if !p.over {
			t.host.Identify(who)
		}
		if p.gone = !who[0].Visible; !p.gone {
			p.parted = false
			p.is(who[0])
		} else if !p.parted { // what it asked for since the snapshot before has to be told
			p.parted = true
		} else if s.Time.Sub(p.last) >= silent && s.Time.Sub(p.loaded) >= silent {
			if p.unsure { // all its life it was not looked at
				t.misses(p)
			}
			delete(t.processes, pid)
		}
	}
}

// listOf is when the newest list of a GPU is from; where no list has told that, the time of the snapshot that has it.
func (t *Tracker) listOf(key sampler.GPUKey, snapshot time.Time) time.Time {
	if at, ok := t.lists[key]; ok && at.Before(snapshot) {
		return at
	}
	return snapshot
}

// is notes who the process is.
func (p *process) is(who sampler.Process) {
	if p.who.Visible && who.Visible && !p.who.StartTime.Equal(who.StartTime) {
		*p = *newProcess(p.pid) // which begins under our eyes
	}
	p.who = who
	if p.said != nil {
		p.who.Environment = p.said // a list may be from before it became another program
	}
	p.who.Memory, p.who.Peak, p.who.SM = sampler.Opt[sampler.Bytes]{}, nil, sampler.Opt[int]{} // of the GPU where it is listed
	p.who.Allocator, p.who.Requests = nil, nil
}

// fill gives a process what it asked for on one GPU, and its exact peak.
func (t *Tracker) fill(row *sampler.Process, p *process, key sampler.GPUKey, now time.Time) {
	defer p.tells(row, key)
	y := p.on(key)
	if y == nil {
		if p.exit.Known() && !p.over { // what it has there it had before, or asked for unseen
			row.Requests, p.left[key] = &sampler.Requests{ExitStatus: p.exit, ExitTime: p.exited}, true
		}
		return
	}
	y.shown = y.granted + y.refused
	r := y.requests(now)
	r.Whole, r.Missed = p.whole(y), p.missed
	if y.ended = p.exit; !p.over { // it has not ended where it runs another program
		r.ExitStatus, r.ExitTime = p.exit, p.exited
	}
	if n, ok := y.exact.base.Value(); ok && p.late && !y.exact.apart && !y.pool { // the free memory of a pool must not look like some that is held
		if y.based = p.based(y, now); y.based {
			r.Live += n
		}
		r.Peak = max(r.Peak, y.exact.top)
	}
	row.Requests = r
	if peak, ok := t.peakOf(p, y, now); ok && (!y.partly || peak.Bytes >= row.Memory.Or(0)) && (row.Peak == nil || peak.Bytes >= row.Peak.Bytes) {
		row.Peak = &peak
	}
}

// whole says whether a tally of the process has all that it held.
func (p *process) whole(y *tally) bool {
	return !p.late && !p.unsure && !p.hides && !y.lower && !p.strays(y)
}

// guesses says whether a tally of the process has what may have been asked for on another GPU.
func (p *process) guesses(y *tally) bool {
	return slices.ContainsFunc(p.seats, func(s *seat) bool { return s.tally == y && s.guessed })
}

// strays says whether the process was given memory beside a tally of which it is not known on which GPU.
func (p *process) strays(y *tally) bool {
	return slices.ContainsFunc(p.seats, func(s *seat) bool { return s.at == sampler.GPUKey{} && s.tally != y && s.tally.granted > 0 })
}

// on is what a process asked for on a GPU; nil: nothing.
func (p *process) on(key sampler.GPUKey) *tally {
	for _, s := range p.seats {
		if s.at == key {
			return s.tally
		}
	}
	return nil
}

// unlisted gives a row to each process that has asked for memory on a GPU, or has ended after it was listed there, and is not. One that is over has a
// last one if it has asked since the snapshot before, or its end has become known: it may have died of that.
func (t *Tracker) unlisted(g *sampler.GPU, now time.Time) {
	if g.Silent() {
		return
	}
	for _, pid := range slices.Sorted(maps.Keys(t.processes)) {
		p := t.processes[pid]
		if !t.untold(p, g.Key(), now) || slices.ContainsFunc(g.Processes, func(q sampler.Process) bool { return q.PID == pid }) {
			continue
		}
		row := p.who
		row.Type = "compute"
		t.fill(&row, p, g.Key(), now)
		g.Processes = append(g.Processes, row)
	}
}

// untold says whether there is something to tell of a process on a GPU where the driver may not list it.
func (t *Tracker) untold(p *process, key sampler.GPUKey, now time.Time) bool {
	y := p.on(key)
	_, was := p.listed[key]
	switch {
	case y == nil:
		return was && p.exit.Known() && !p.over && !p.left[key]
	case p.gone || p.exit.Known(): // the driver may list it for ever
		return !y.told(p)
	}
	return y.live > 0 || len(t.listed[p.pid]) == 0 || y.waits(now)
}

// matters is how long after a refusal who was refused is watched where it holds nothing: it may end of that, or go on elsewhere.
const matters = 40 * time.Second

// waits says whether nothing has come of a refusal of late.
func (y *tally) waits(now time.Time) bool {
	return y.refusal != nil && y.refusal.Outcome == sampler.RefusalOpen && now.Sub(y.refusal.last) < matters
}

// inPlace: a grant on a GPU that is known of less than such a part of what was refused is none in its place: other threads go on for a moment (as the alerts have it,
// docs/limits.md).
const inPlace = 8

// unplaced tells once of each process that has ended after it was refused memory, on a GPU that nobody knows, or that is not watched while the
// process uses one that is: it may have died of that. Its requests are told by then.
func (t *Tracker) unplaced(s *sampler.Snapshot) {
	for _, pid := range slices.Sorted(maps.Keys(t.processes)) {
		p := t.processes[pid]
		if p.unplaced || p.over || !p.exit.Known() || p.waiting > 0 {
			continue
		}
		p.unplaced = true
		var last *seat
		others := false // of it are on GPUs that are known
		for _, s := range p.seats {
			others = others || s.at != sampler.GPUKey{}
			if r := s.tally.refusal; r != nil && (last == nil || r.last.After(last.tally.refusal.last)) {
				last = s
			}
		}
		if last == nil || others && p.got > last.tally.refusal.Bytes/inPlace { // what it was granted there nobody would count
			continue
		}
		known := last.at != sampler.GPUKey{}
		unwatched := t.machine.Find(last.at)
		if t.partly() { // one that is not known may be of a GPU that is not watched
			known = !known || t.watched[last.at] || unwatched == nil || !t.concerns(p)
		}
		if known {
			continue
		}
		row := p.who
		row.Type, row.Requests = "compute", last.tally.requests(s.Time)
		if unwatched != nil {
			row.Requests.Refusal.GPU = sampler.Some(unwatched.Index)
		}
		row.Requests.Whole, row.Requests.Missed, row.Requests.ExitStatus, row.Requests.ExitTime = p.whole(last.tally), p.missed, p.exit, p.exited
		s.Unplaced = append(s.Unplaced, row)
	}
}

// told says whether a snapshot has had all there is.
func (y *tally) told(p *process) bool { return y.shown == y.granted+y.refused && y.ended == p.exit }

// tell moves the requests since the snapshot before into this one, those of a process in their order. Those whose GPU may still be
// learned wait, and all of their process after them.
func (t *Tracker) tell(s *sampler.Snapshot) {
	kept := t.calls[:0]
	waits, patience := map[int]bool{}, map[int]time.Duration{}
	for _, c := range t.calls {
		var key sampler.GPUKey
		if p := t.processes[c.PID]; p != nil {
			key = c.seat.at
			if patience[c.PID] == 0 {
				patience[c.PID] = p.patience(c.Time)
			}
			waits[c.PID] = waits[c.PID] || key == sampler.GPUKey{} && !p.gone && !t.ends && s.Time.Sub(c.Time) < patience[c.PID]
			if waits[c.PID] {
				kept = append(kept, c)
				continue
			}
			p.waiting = max(p.waiting-1, 0) // it may be another one with that number
		}
		g := s.Find(key)
		if g == nil {
			g = t.machine.Find(key)
			known := t.processes[c.PID]
			if g != nil && known != nil && !t.concerns(known) {
				continue
			}
		}
		switch {
		case g != nil && key != sampler.GPUKey{}:
			c.GPU, c.UUID = sampler.Some(g.Index), g.UUID
		case t.partly():
			continue // of a GPU that is not watched, for all that is known
		}
		c.Time = milli(c.Time)
		s.Requests = append(s.Requests, c.Request)
	}
	clear(t.calls[len(kept):])
	t.calls = kept
}

// Ends implements sampler.Asking.
func (t *Tracker) Ends() bool {
	t.hear()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends = true
	return len(t.calls) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(t.processes)), func(p *process) bool {
		return slices.ContainsFunc(p.seats, func(s *seat) bool { return !s.tally.told(p) })
	})
}

// concerns says whether a process uses a GPU that is watched: then what it asks for on others matters, too, for by that it may go on.
func (t *Tracker) concerns(p *process) bool {
	return slices.ContainsFunc(t.listed[p.pid], func(key sampler.GPUKey) bool { return t.watched[key] }) ||
		slices.ContainsFunc(p.seats, func(s *seat) bool { return t.watched[s.at] })
}
