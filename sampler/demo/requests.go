package demo

import (
	"slices"
	"sync"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

// A refused is a request that is refused so many seconds into a run; how it goes on the curve tells.
type refused struct {
	at  float64
	mib sampler.Bytes
}

// Asking sees what the programs of a scenario ask for, folded as the calls of real ones are: each rise of a
// curve is a request that was granted, each fall memory that was given back. It begins with the first thing that it is told: what was
// before nobody has seen. nil: the scenario has none.
func (s *Source) Asking() sampler.Asking {
	if s.script.asks == 0 {
		return nil
	}
	a := &asking{Tracker: request.New(alive{s.Host()}), source: s, most: sampler.Bytes(s.script.asks) * sampler.MiB,
		gives: function("cuMemAlloc_v2"), takes: function("cuMemFree_v2")}
	for i := range s.devices {
		for _, who := range s.devices[i].moving {
			a.askers = append(a.askers, asker{actor: who})
		}
	}
	return a
}

// begin begins with the programs that run by then.
func (a *asking) begin(at time.Duration) {
	a.begun, a.played = true, at.Truncate(askEvery)
	running := map[int]bool{}
	for i := range a.askers {
		who := &a.askers[i]
		if m, alive := who.job.life.at(at.Seconds()); alive {
			running[who.pidOf(m.N)] = true
		}
	}
	a.Begin(running)
}

func function(name string) int {
	return slices.IndexFunc(request.Functions, func(f request.Function) bool { return f.Name == name })
}

// asking makes the calls up to the time of whatever it is told.
type asking struct {
	*request.Tracker
	source       *Source
	most         sampler.Bytes // in one piece
	gives, takes int

	mu     sync.Mutex
	begun  bool
	askers []asker
	played time.Duration // of the story
}

// asker is an actor and what it has been given in its run.
type asker struct {
	*actor
	run    uint64
	alive  bool
	held   sampler.Bytes
	blocks []sampler.Bytes
	told   float64 // refusals up to here
}

// askEvery is how finely the curves are looked at.
const askEvery = 20 * time.Millisecond

func (a *asking) Listed(gpu sampler.GPUKey, at time.Time, took time.Duration, procs []sampler.Process) {
	a.play(at)
	a.Tracker.Listed(gpu, at, took, procs)
}

func (a *asking) Reading(gpu sampler.GPUKey, at time.Time, used sampler.Bytes) {
	a.play(at.Add(askEvery / 2)) // as it may have been read a moment later
	a.Tracker.Reading(gpu, at, used)
}

func (a *asking) Apply(s *sampler.Snapshot) {
	a.play(s.Time)
	a.Tracker.Apply(s)
}

func (a *asking) play(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := until.Sub(a.source.epoch)
	if !a.begun {
		a.begin(end)
	}
	for a.played < end {
		a.played = min(a.played+askEvery, end)
		for i := range a.askers {
			a.step(&a.askers[i], a.played)
		}
	}
}

// step makes the calls of one program that are due. What it held when it was first seen it never asked for:
// the context, or all of it from before the story.
func (a *asking) step(p *asker, t time.Duration) {
	m, alive := p.job.life.at(t.Seconds())
	if !alive {
		p.alive = false
		return
	}
	if !p.alive || p.run != m.N {
		*p = asker{actor: p.actor, run: m.N, alive: true, held: bytes(p.memory(m))}
		if m.T < askEvery.Seconds() {
			p.held = bytes(p.memory(storyTime{N: m.N}))
		}
		p.told = m.T
	}
	at := a.source.epoch.Add(t - askEvery) // before a reading shows it
	for _, r := range p.job.refused {
		if r.at > p.told && r.at <= m.T {
			a.call(p, at, a.gives, 0, r.mib*sampler.MiB, 2)
		}
	}
	p.told = m.T
	now := bytes(p.memory(m))
	for p.held > now && len(p.blocks) > 0 {
		a.free(p, at, p.held-now)
	}
	for now > p.held {
		a.give(p, at, min(now-p.held, a.most))
	}
	p.held = now
}

func (a *asking) give(p *asker, at time.Time, n sampler.Bytes) {
	p.blocks, p.held = append(p.blocks, n), p.held+n
	a.call(p, at, a.gives, len(p.blocks), n, 0)
}

// free gives the newest block back, and asks anew for what is left of it.
func (a *asking) free(p *asker, at time.Time, n sampler.Bytes) {
	last := p.blocks[len(p.blocks)-1]
	a.call(p, at, a.takes, len(p.blocks), 0, 0)
	p.blocks, p.held = p.blocks[:len(p.blocks)-1], p.held-last
	if last > n {
		a.give(p, at, last-n)
	}
}

func (a *asking) call(p *asker, at time.Time, function, block int, n sampler.Bytes, answer int) {
	pid := p.pidOf(p.run)
	a.Call(request.Call{Time: at, PID: pid, TID: pid, Function: function, Size: uint64(n), Address: uint64(block) << 32, Device: p.gpu, Answer: answer})
}

// alive is the machine as the kernel knows it: who has ended is not there.
type alive struct{ *Host }

func (h alive) Identify(ps []sampler.Process) {
	h.Host.Identify(ps)
	t := h.source.now()
	for i := range ps {
		if a, run, found := h.source.find(ps[i].PID, t); found {
			if m, living := a.job.life.at(t); !living || m.N != run {
				ps[i] = sampler.Process{PID: ps[i].PID}
			}
		}
	}
}
