package request

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// place finds the seat's GPU; the zero key: not known. guessed: only what its use does says so.
func (t *Tracker) place(p *process, s *seat) (at sampler.GPUKey, guessed bool) {
	on := slices.DeleteFunc(slices.Clone(t.uses(p)), func(key sampler.GPUKey) bool { return p.takenBy(s, key) })
	there := func(key sampler.GPUKey) bool {
		return key != sampler.GPUKey{} && !p.takenBy(s, key) && (len(on) == 0 || slices.Contains(on, key) || (p.late || len(p.made) > 1) && p.mayBeOn(s.key.device, key))
	}
	key := t.ordinals.Key(&p.who, s.key.device)
	if s.key.device < 0 {
		key = t.ordinals.Sole(&p.who)
	}
	if t.partly() { // a list with one GPU says nothing of the others, and many programs ask for as much at the same time
		switch {
		case key != sampler.GPUKey{} && (!t.watched[key] || there(key)):
			return key, false
		case slices.Contains(on, s.elected):
			return s.elected, true
		}
		return sampler.GPUKey{}, false
	}
	if s.key.device >= 0 && s.tally.granted == 0 && p.contextless(s.key.device) { // lists tell where it has contexts
		if key != (sampler.GPUKey{}) && t.numbersAsSaid(p, on) {
			return key, false
		}
		return sampler.GPUKey{}, false
	}
	if p.late && s.refusedContext() && key != (sampler.GPUKey{}) && !slices.Contains(on, key) && !slices.ContainsFunc(on, t.full) {
		if t.full(key) {
			return key, false
		}
		return sampler.GPUKey{}, false // not where there was room for it
	}
	only := len(on) == 1 && !t.listsAwaited(p) && p.shownOn(s.key.device, on[0]) && !(s.key.device < 0 && p.unseen && p.endsContexts())
	switch {
	case there(key) && !(there(s.elected) && s.against(key) >= overrule):
		return key, false
	case there(s.elected):
		return s.elected, !only || on[0] != s.elected
	case only:
		return on[0], false
	case len(on) == 0:
		return t.ordinals.Only(), false
	}
	return sampler.GPUKey{}, false
}

// refusedContext says whether nothing is known of a device but that a context was refused there.
func (s *seat) refusedContext() bool {
	r := s.tally.refusal
	return s.key.device >= 0 && s.tally.granted == 0 && r != nil && r.Bytes == 0
}

// full says whether a GPU has no room for a context.
func (t *Tracker) full(key sampler.GPUKey) bool {
	g := t.gpus[key]
	if g == nil || g.usable == 0 {
		return false
	}
	r := g.ago(0)
	return !r.at.IsZero() && g.usable.Less(r.used) < sampler.ContextMost
}

// contextless says whether a process has made contexts, and none of that device, as where that was refused.
func (p *process) contextless(device int) bool {
	return !p.late && len(p.made) > 0 && p.made[device].most == 0
}

// endsContexts says whether a process has ended contexts that it made: then a list, which is of one moment, may lack a GPU that it uses.
func (p *process) endsContexts() bool {
	for _, m := range p.made {
		if m.there < m.most {
			return true
		}
	}
	return false
}

// numbersAsSaid says whether the devices of which a process has made contexts are where its environment says, as far as it is listed.
func (t *Tracker) numbersAsSaid(p *process, on []sampler.GPUKey) bool {
	said := 0
	for device := range p.made {
		key := t.ordinals.Key(&p.who, device)
		if slices.Contains(on, key) {
			said++
		} else if len(on) > 0 && !p.mayBeOn(device, key) {
			return false
		}
	}
	return said == len(on) || len(on) == 0 || t.listsAwaited(p)
}

// listsDevices notes what a list of a GPU, which was made from a time on, says of the devices of processes: only one that was made while a process had a context of a
// device tells whether that is there. Who ends is gone from the lists before its contexts are known to be.
func (t *Tracker) listsDevices(key sampler.GPUKey, from time.Time, list []sampler.Process) {
	there := make(map[int]bool, len(list))
	for i := range list {
		there[list[i].PID] = true
	}
	for pid, p := range t.processes {
		if p.exit.Known() || p.gone {
			continue
		}
		for device, m := range p.made {
			if m.there == 0 || !m.since.Add(listTakes).Before(from) {
				continue
			}
			if m.lists == nil {
				m.lists = map[sampler.GPUKey]bool{}
				p.made[device] = m
			}
			m.lists[key] = there[pid]
		}
	}
}

// mayBeOn says whether a device of a process may be a GPU for all that its lists say, where they do not have the process now.
func (p *process) mayBeOn(device int, key sampler.GPUKey) bool {
	m := p.made[device]
	there, told := m.lists[key]
	return m.most > 0 && (there || !told)
}

// shownOn says whether the only GPU that lists a process can be that of a device: of several one may have had its context when no list was made.
func (p *process) shownOn(device int, key sampler.GPUKey) bool {
	m := p.made[device]
	return len(p.made) <= 1 || m.most == 0 || m.lists[key]
}

// listedBefore says whether the newest list of a GPU is from before a time.
func (t *Tracker) listedBefore(key sampler.GPUKey, at time.Time) bool {
	listed, ok := t.lists[key]
	return ok && listed.Before(at.Add(listTakes))
}

// toldBefore says whether the newest list of a GPU that can have a process is from before a time. Where the driver lists it no more, that
// is the last one that had it: those since are of when it had ended.
func (t *Tracker) toldBefore(p *process, key sampler.GPUKey, at time.Time) bool {
	if t.listedBefore(key, at) {
		return true
	}
	var last time.Time
	for _, listed := range p.listed {
		last = later(last, listed)
	}
	return len(t.listed[p.pid]) == 0 && !last.IsZero() && last.Before(at.Add(listTakes))
}

// listsAwaited says whether a process may use a GPU of which the newest list does not have it yet: it has made another context, or
// calls of its beginning were missed, with those that made contexts.
func (t *Tracker) listsAwaited(p *process) bool {
	if !p.late && len(p.made) <= 1 {
		return false
	}
	if p.late && t.firstLists {
		return true
	}
	since := p.lookedAt
	if !t.older[p.pid] && p.first.After(since) {
		since = p.first
	}
	for _, m := range p.made {
		if m.newest.After(since) {
			since = m.newest
		}
	}
	if since.IsZero() || t.last.Sub(since) >= listsCome {
		return false
	}
	for key := range t.watched {
		if t.toldBefore(p, key, since) {
			return true
		}
	}
	return false
}

// firstRound notes whether a snapshot is of the time in which the first lists come, one GPU after another: then it has who was there
// before on some of its GPUs only. One that gives no list is not waited for.
func (t *Tracker) firstRound(s *sampler.Snapshot) {
	t.firstLists = false
	if t.firstList.IsZero() || s.Time.Sub(t.firstList) >= listsCome {
		return
	}
	for key := range t.watched {
		at, ok := t.lists[key]
		t.firstLists = t.firstLists || !ok || at.After(s.Time)
	}
}

// takenBy says whether a seat is not on that GPU since another device of the process is: where the process begins to use a second one,
// the newest list may still have the first alone.
func (p *process) takenBy(s *seat, key sampler.GPUKey) bool {
	return key != sampler.GPUKey{} && slices.ContainsFunc(p.seats, func(o *seat) bool { return o.at == key && o.apart(s) })
}

// listsCome: lists are a second apart. A GPU that has none by then gives none.
const listsCome = 3 * time.Second / 2
