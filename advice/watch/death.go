package watch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Death is the end of a process that was refused memory and got none: a failure, whatever a log says.
type Death struct {
	Event    sampler.OOMEvent
	Incident explain.Incident // as it was when the process was listed last
	T        float64          // of the refusal, on the clock of the snapshots
	Time     time.Time        // the same
	Key      sampler.GPUKey
	GPU      int // index
	PID      int
	Unplaced bool // the GPU is not known

	number  int    // of the GPU, as the process counts, or else that of nvidia-smi
	label   string // of the GPU
	refusal sampler.Refusal
	guess   bool    // that it died of it
	signal  int     // that ended it, from outside; 0: none
	waited  float64 // seconds from the refusal to its end, at most
	start   sampler.Opt[time.Time]
	command string
	name    string
	user    string
	logged  bool // a log tells of it, too
}

const (
	// maxDeaths are remembered.
	maxDeaths = 64
	// tellsSeconds is how far from a refusal a log may tell of it: it is written by what dies, and read later.
	tellsSeconds = 120
	// alikeSeconds is how far from a refusal a text is printed that has its figures, and alikeFree by how much what was free may differ there:
	// it was read at another moment, and rounded.
	alikeSeconds = 10
	alikeFree    = 32 * sampler.MiB
	// unwinding: an allocator tells of a refusal within that time of the driver, and then a program gives back what it computed with.
	unwinding = 2 * time.Second
	// deathID tells the alert of a death apart from those of logs. That of a process that was
	// refused memory and goes on is the same: one incident.
	deathID = -1
)

// died says whether a process that ended did so of a refused request. How it ended tells, where that was seen: what ends
// well has coped, what gives up has not, whatever it asked for, unless it was granted something and lived on. Else it is told
// by what it asked for, and how long ago.
func (p *proc) died() bool {
	a := &p.asking
	end, after := a.end(), p.after()
	if !a.pending() && !(end == gaveUp && after <= atOnceSeconds && a.madeDoWithLittle()) || p.plansAgain() || a.movesToHost() || a.handed == a.tried {
		return false
	}
	if end == gaveUp && !a.faulted() && (a.probed() || a.tested(after) || a.descended(after)) {
		return false
	}
	if end == gaveUp && after <= atOnceSeconds {
		return !a.replaced() // other threads get memory until the last moment
	}
	if a.wentOn() {
		return false
	}
	within := float64(deathSeconds)
	switch end {
	case endedWell:
		return false
	case gaveUp:
		switch {
		case a.grantedSince():
			within = goesSeconds
		case a.refusal.Bytes == 0, a.refusal.Tries == 1 && !a.faulted(): // it has no allocator yet that asks again; a core dump takes its time
			within = plainSeconds
		}
		return after <= within
	case stopped:
		return a.stoppedFor(after)
	case endUnknown:
		if a.met-a.tried > unwindSeconds {
			return false
		}
	}
	if a.refusal.Tries == 1 {
		within = plainSeconds
	}
	return after <= within && !a.byDesign()
}

// waited is the most that may be: the end is at most a second after the process was listed last.
func (p *proc) waited() float64 {
	if p.asking.ended > 0 {
		return p.after()
	}
	return p.after() + 1
}

// after is how long after its last refusal the process ended, or was listed last, in seconds.
func (p *proc) after() float64 {
	if a := &p.asking; a.ended > 0 {
		return a.ended - a.tried
	}
	return p.seen - p.asking.tried
}

// guessed says whether a process that died of a refusal so many seconds before may have ended of something else: it was granted memory since, lived on
// for a while, or somebody else ended it.
func (a *asking) guessed(after float64) bool {
	return a.grantedSince() || after > goesSeconds || a.end() == stopped
}

// end is how a process ended.
type end int

const (
	endUnknown end = iota // nobody saw it
	endedWell
	gaveUp
	stopped // by a signal that somebody else sent
)

// end tells by the exit status. Signals that people and schedulers send say nothing of the process; those that it
// brings on itself do.
func (a *asking) end() end {
	switch status, known := a.asked.ExitStatus.Value(); {
	case !known:
		return endUnknown
	case status == 0:
		return endedWell
	case status <= 128 || status > 128+lastSignal || a.faulted():
		return gaveUp
	}
	return stopped
}

// faulted says whether it ended by a signal that it brought on itself.
func (a *asking) faulted() bool { return slices.Contains(ownSignals, a.asked.ExitStatus.Or(0)-128) }

// lastSignal is the highest number of one; exit(-1) is above it, too.
const lastSignal = 64

// ownSignals are SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV.
var ownSignals = []int{4, 5, 6, 7, 8, 11}

// recordDeath looks whether a process that is listed no more died of a refused request.
func (g *gpu) recordDeath(p *proc) bool {
	if !p.died() {
		return false
	}
	g.dead = append(g.dead, p)
	return true
}

// deathOf is the failure that a refused request was.
func (w *Watch) deathOf(g *gpu, p *proc) Death {
	r := p.asking.refusal
	in := incidentOf(g, p)
	in.Lang, in.History.Free = w.lang, r.Free
	in.History.Others = p.asking.withKin(g.thereThen(p, in.History.Others))
	if free := g.lowest.last(p.seen, endingSeconds); !r.Free.Known() && p.asking.pools == 0 && free == free { // pools may have given back since
		in.History.Free = sampler.Some(series.Bytes(free))
	}
	in.History.Age = sampler.Some(ageOf(p, &w.clock))
	in.History.Alike = p.alike()
	in.History.Peers, in.History.PeerPeaks = peersOf(w.gpus, g, p)
	e := sampler.OOMEvent{Kind: sampler.KindRefused, MemoryKind: sampler.MemoryGPU, PID: sampler.Some(p.pid), Framework: p.process.Framework.Or(""),
		GPUTotal: g.last.Memory.PlausibleTotal(), GPUFree: r.Free, GPUFreeAbout: r.FreeAbout, OtherProcesses: []sampler.OtherProcess{}, Occurrences: r.Tries,
		Extra: map[string]any{"function": sampler.Clean(r.Function), "tries": r.Tries, "freed_bytes": r.Freed}}
	if held := p.heldRefused(); held > 0 {
		in.History.Process = sampler.Some(held)
		e.ProcessInUse = in.History.Process
	}
	if a := p.process.Allocator; a != nil {
		e.Allocated, e.ReservedUnallocated = sampler.Some(a.Allocated), sampler.Some(a.Reserved.Less(a.Allocated))
		if t := a.LastOOM; t != nil && t.Allocated.Known() && t.Time.Sub(r.Time).Abs() <= unwinding { // what it holds by now is what the failure left
			e.Allocated, e.ReservedUnallocated = t.Allocated, t.Unallocated()
		}
	}
	switch {
	case piece(&r):
		e.Extra["piece_bytes"] = r.Bytes
	case r.Bytes > 0:
		e.Requested = sampler.Some(r.Bytes) // who tries again with less wanted this
	}
	e.Refused = g.refusedOf(p, &e, w.clock.Last)
	in.Events = []sampler.OOMEvent{e}
	return Death{Event: e, Incident: in, number: w.numberOf(g, p), T: p.asking.tried, Time: r.Time, Key: g.key, GPU: g.last.Index, label: g.last.Label(), PID: p.pid, refusal: r, guess: p.asking.guessed(p.after()), signal: p.asking.signal(), waited: p.waited(),
		start: p.start, command: p.process.Command, name: p.process.Name, user: p.process.User}
}

// alike are the requests of the size that was refused, if it was granted those and nothing else before and gave none back.
func (p *proc) alike() *explain.Alike {
	a := &p.asking
	if a.run.bytes != a.refusal.Bytes || a.run.n == 0 || a.asked.Live < a.run.bytes*sampler.Bytes(a.run.n) {
		return nil
	}
	return &explain.Alike{Bytes: a.run.bytes, Count: a.run.n, Seconds: a.tried - a.run.since, Computed: p.worked}
}

// thereThen are those of a list who can have held what is told of them when a process was refused memory: they had begun by then, and
// where no reading says what was free, there was room for all beside what the process held.
func (g *gpu) thereThen(p *proc, list []explain.Neighbor) []explain.Neighbor {
	r := &p.asking.refusal
	list = slices.DeleteFunc(list, func(o explain.Neighbor) bool {
		q := g.withPID(o.PID)
		return q != nil && q.start.Known() && q.start.Or(r.Time).After(r.Time)
	})
	sum := p.heldRefused().MiB()
	for _, o := range list {
		sum += o.Bytes.MiB()
	}
	if total := g.last.Memory.PlausibleTotal(); !r.Free.Known() && sum > total.Or(sampler.MaxPlausible).MiB() {
		return nil
	}
	return list
}

// heldRefused is what a process held when it was refused memory; 0: not known. What it has given back since was its own, and it may have asked for
// most after the driver's last figure, if there is one; that may be from before, or from after it gave back. Calls know, unless some were
// missed, or a pool keeps what is given back.
func (p *proc) heldRefused() sampler.Bytes {
	a := &p.asking
	m, _ := sampler.Plausible(p.process.Memory)
	freed := min(a.refusal.Freed, sampler.MaxPlausible)
	calls := a.asked.Live + freed
	if a.asked.Whole && a.pools == 0 && calls > 0 {
		return max(calls, min(max(m, series.Bytes(p.series.Value)), calls+sampler.ContextMost))
	}
	return max(m, a.asked.Live) + freed
}

// recordDeaths takes the deaths of a snapshot: each is a failure like one that a log tells of, unless one does. Who was refused memory on several GPUs
// died of the last refusal.
func (w *Watch) recordDeaths(s *sampler.Snapshot) {
	list := w.unplacedDeaths(s)
	for _, g := range w.gpus {
		for _, p := range g.dead {
			if !slices.ContainsFunc(w.movedOn, func(m moved) bool { return m.from == g.key && m.pid == p.pid }) {
				list = append(list, w.deathOf(g, p))
			}
		}
		g.dead = nil
	}
	for i := range list {
		same := func(o Death) bool { return o.same(&list[i]) }
		later := func(o Death) bool { return o.same(&list[i]) && o.Time.After(list[i].Time) }
		if !slices.ContainsFunc(w.deaths, same) && !slices.ContainsFunc(list, later) {
			w.recordOne(list[i])
		}
	}
}

// same says whether two deaths are that of one process.
func (d *Death) same(o *Death) bool {
	return d.PID == o.PID && d.start.Equal(o.start) && math.Abs(d.T-o.T) <= deathSeconds
}

// moved is a process that was refused memory on a GPU and went on on another.
type moved struct {
	from sampler.GPUKey
	pid  int
	at   float64 // when it ended
}

// foldMoved finds those of a snapshot that have ended, as long as the other GPU still has them: they came there after the refusal, and were
// granted what makes one go on. Who was refused a context is in no list of the GPU that refused it until it ends.
func (w *Watch) foldMoved(s *sampler.Snapshot) {
	w.movedOn = slices.DeleteFunc(w.movedOn, func(m moved) bool { return w.clock.Now-m.at > deathSeconds })
	for i := range s.GPUs {
		g := &s.GPUs[i]
		for j := range g.Processes {
			p := &g.Processes[j]
			if r := p.Requests; r != nil && r.ExitStatus.Known() && r.Refusal != nil && len(w.movedOn) < maxDeaths && s.Time.Sub(r.Refusal.Time).Seconds() > atOnceSeconds &&
				w.grantedElsewhere(g.Key(), p, w.clock.Now-s.Time.Sub(r.Refusal.Time).Seconds()) {
				w.movedOn = append(w.movedOn, moved{g.Key(), p.PID, w.clock.Now})
			}
		}
	}
}

// grantedElsewhere says whether a process has come to another GPU than that since a time, and was granted what makes one go on.
func (w *Watch) grantedElsewhere(than sampler.GPUKey, p *sampler.Process, since float64) bool {
	for _, g := range w.gpus {
		if g.key == than {
			continue
		}
		if q := g.find(p); q != nil && q.first >= since && !q.asking.pending() &&
			(q.asking.asked.Granted >= wentOnTimes || q.asking.asked.Live >= wentOnBytes) {
			return true
		}
	}
	return false
}

func (w *Watch) recordOne(d Death) {
	d.logged = w.tellDeath(d)
	if len(w.deaths) < maxDeaths {
		w.deaths = append(w.deaths, d)
	}
}

// tellDeath makes a failure of a death; true: there is one that a log has told of.
func (w *Watch) tellDeath(d Death) (logged bool) {
	for i := range w.failures {
		switch o := &w.failures[i]; {
		case !o.logged:
		case o.death.PID == 0 && o.tells(&d):
			w.tells(o, d, o.event)
			return true
		case o.death.same(&d): // the log was read before the process was gone
			w.tells(o, d, o.printed)
			return true
		}
	}
	w.addFailure(failure{event: d.Event, gpu: d.Key, placed: !d.Unplaced, at: w.clock.Now, death: d, dead: true, explained: explain.Explain(d.Incident)})
	if size, ok := sampler.Plausible(d.Event.Requested); !d.Unplaced && ok && size > 0 { // the least of a falling series would have done
		w.needs.refuse(refusal{bytes: cmp.Or(d.refusal.Smallest, size), gpu: d.Key, at: w.clock.Now, pid: d.PID, command: d.command})
	}
	return false
}

// is says whether a log tells of the death: on that GPU, of about that time, of that process or size. Messages
// print the pid of their own namespace, and tensors, where an allocator asks for a segment.
func (d *Death) is(e sampler.OOMEvent, at float64, key sampler.GPUKey, placed bool) bool {
	if e.Recovered || e.MemoryKind == sampler.MemoryHost || math.Abs(at-d.T) > tellsSeconds || placed && !d.Unplaced && key != d.Key {
		return false
	}
	return e.PID.Or(0) == d.PID || MayTell(&e, &d.refusal)
}

// meant says whether a text tells of the death that names a GPU by a number: the process counts that one so, or the text has the figures of
// what it was refused. A program may have set what it sees itself, of which nothing is known then.
func (d *Death) meant(e sampler.OOMEvent, at float64) bool {
	return !d.Unplaced && d.is(e, at, sampler.GPUKey{}, false) && (d.number == e.GPUIndex.Or(-1) || d.alike(&e, at))
}

// alike says whether a text has the figures of what was refused, and was printed right then.
func (d *Death) alike(e *sampler.OOMEvent, at float64) bool {
	printed, known := sampler.Plausible(e.GPUFree)
	free, also := sampler.Plausible(d.Event.GPUFree)
	return asks(e, &d.refusal) && math.Abs(at-d.T) <= alikeSeconds && (!known || !also || max(printed, free)-min(printed, free) <= alikeFree)
}

// MayTell says whether a text can tell of a refusal, by the sizes of both.
func MayTell(e *sampler.OOMEvent, r *sampler.Refusal) bool {
	asked, known := sampler.Plausible(e.Requested)
	return !known || piece(r) || asks(e, r) || asked <= r.Bytes && cmp.Or(r.Smallest, r.Bytes) <= 2*asked+largeSegment
}

// nearer says whether a text more likely tells of this death than of another one: it names its process, or was
// printed closer to its refusal.
func (d *Death) nearer(o *Death, e *sampler.OOMEvent, at float64) bool {
	if own, known := e.PID.Value(); known && (d.PID == own) != (o.PID == own) {
		return d.PID == own
	}
	return math.Abs(d.T-at) < math.Abs(o.T-at)
}

// toldOf finds the death of which a log tells now, and makes that one failure of both. It is the nearest one, and none
// where a process that was not seen to end was refused memory nearer to it: what died is often listed still.
func (w *Watch) toldOf(e sampler.OOMEvent, g *gpu) bool {
	key, now := sampler.GPUKey{}, w.clock.Now
	if g != nil {
		key = g.key
	}
	var told *failure
	for i := range w.failures {
		o := &w.failures[i]
		if !o.logged && o.death.PID != 0 && o.death.is(e, now, key, g != nil) && (told == nil || o.death.nearer(&told.death, &e, now)) {
			told = o
		}
	}
	if told == nil {
		return false
	}
	if d, found := w.refusedTo(e, now, key, g != nil); found && d.refusal.Outcome == sampler.RefusalOpen && d.nearer(&told.death, &e, now) {
		return false
	}
	w.tells(told, told.death, e)
	for j := range w.deaths {
		if w.deaths[j].PID == told.death.PID && w.deaths[j].T == told.death.T {
			w.deaths[j].logged = true
		}
	}
	return true
}

// Deaths are those of which no log told, oldest first: also of processes that the newest snapshot does not list
// any more, or of which it tells how they ended, which for the alert is too early.
func (w *Watch) Deaths() []Death {
	list := slices.DeleteFunc(slices.Clone(w.deaths), func(d Death) bool { return d.logged })
	for _, g := range w.gpus {
		for _, p := range g.procs {
			if p.told || p.tick == g.tick && !p.asking.asked.ExitStatus.Known() || !p.died() {
				continue
			}
			d := w.deathOf(g, p)
			if !slices.ContainsFunc(w.deaths, func(o Death) bool { return o.same(&d) }) && !slices.ContainsFunc(list, func(o Death) bool { return o.same(&d) }) &&
				!slices.ContainsFunc(w.failures, func(o failure) bool { return o.logged && o.tells(&d) }) {
				list = append(list, d)
			}
		}
	}
	return list
}
