package request

import (
	"slices"
	"sync"
	"time"

	"nvpeak/sampler"
)

// Tracker folds calls into what processes have asked for. It takes calls in the order in which they
// were answered, and is safe for use by several goroutines.
type Tracker struct {
	host sampler.Host

	mu        sync.Mutex
	processes map[int]*process
	gpus      map[sampler.GPUKey]*gpu
	readUntil time.Time        // no readings of before are still to come
	machine   sampler.Snapshot // with all its GPUs, also those that are not watched
	watched   map[sampler.GPUKey]bool
	ordinals  sampler.Ordinals
	listed    map[int][]sampler.GPUKey                 // where the driver lists a process
	lists     map[sampler.GPUKey]time.Time             // when it did last
	had       map[sampler.GPUKey]map[int]sampler.Bytes // what it said then that they have
	last      time.Time                                // of those
	calls     []asked                                  // for the next snapshot
	ends      bool                                     // that is the last
	door      sampler.Door
	letGo     map[sampler.Busy]time.Time // until when a process is let go of
	seeing    bool                       // calls are seen
	catchUp   func()                     // see Ask
	underWay  func() []UnderWay          // the same
	older     map[int]bool               // processes that were there before
	// The first lists were still coming when the newest snapshot was made; and when the first of them came.
	firstLists bool
	firstList  time.Time
	strays     map[sampler.GPUKey]*strays // see astray; nil: they are to be found anew
	refused    chan struct{}
	unseen     int // processes whose first calls were missed, ever
}

// asked is a request whose GPU is not known before the snapshot that tells it.
type asked struct {
	sampler.Request
	seat *seat
}

const (
	maxProcesses = 1024
	maxBlocks    = 1 << 17 // of one process
)

// New makes an empty fold; host knows the processes.
func New(host sampler.Host) *Tracker {
	return &Tracker{host: host, processes: map[int]*process{}, gpus: map[sampler.GPUKey]*gpu{}, lists: map[sampler.GPUKey]time.Time{}, refused: make(chan struct{}, 1),
		had:   map[sampler.GPUKey]map[int]sampler.Bytes{},
		letGo: map[sampler.Busy]time.Time{}}
}

// Begin notes that calls are seen from now on; running are the processes that there are already.
func (t *Tracker) Begin(running map[int]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeing, t.older = true, running
}

// End notes that no more calls are seen: snapshots tell nothing of requests from then on.
func (t *Tracker) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeing, t.catchUp, t.underWay = false, nil, nil
}

// Ask sets who is asked for the calls of until then, before it matters which there have been; it returns once they have been passed on. And who
// is asked before that which calls are under way.
func (t *Tracker) Ask(catchUp func(), underWay func() []UnderWay) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp, t.underWay = catchUp, underWay
}

// hear passes on what calls there are. It is called without the lock, which that takes.
func (t *Tracker) hear() {
	t.mu.Lock()
	catchUp, underWay := t.catchUp, t.underWay
	t.mu.Unlock()
	if catchUp == nil {
		return
	}
	list := underWay() // first: those that are answered meanwhile are passed on
	catchUp()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.areUnderWay(list)
}

// Machine takes all GPUs of the machine, watched or not: who asks for memory on one that is not must not be told at another.
func (t *Tracker) Machine(devs []sampler.Device) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.machine = sampler.Snapshot{}
	for i := range devs {
		d := &devs[i]
		t.machine.GPUs = append(t.machine.GPUs, sampler.GPU{Index: d.Index, UUID: d.UUID, Name: d.Name, MIG: d.MIG})
	}
}

// partly says whether some GPUs are not watched.
func (t *Tracker) partly() bool { return len(t.machine.GPUs) > len(t.watched) }

// Meet looks who a process is that loads libcuda or begins to use it: by its first request it may be gone already.
func (t *Tracker) Meet(pid int) { t.host.Identify([]sampler.Process{{PID: pid}}) }

// Begins takes that a process begins to use the driver: none of its calls were missed before. Only the environment that it has now counts.
func (t *Tracker) Begins(pid int) {
	if h, ok := t.host.(interface{ Refresh(pid int) }); ok {
		h.Refresh(pid)
	}
	who := []sampler.Process{{PID: pid}}
	t.host.Identify(who)
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.process(pid); p != nil {
		p.begun, p.unsure = true, false
		if who[0].Environment != nil {
			p.said, p.who.Environment = who[0].Environment, who[0].Environment
		}
	}
}

// Loads notes a process whose libcuda was not looked at before now, and that has loaded it so shortly before that it cannot have made a context yet. If the
// first call that is heard of it is its begin, or makes one, none was missed.
func (t *Tracker) Loads(pid int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.process(pid); p != nil {
		p.loaded = now
		p.fresh = !p.begun && p.first.IsZero() && !t.older[pid]
		p.unsure, p.late = p.fresh, p.late || !p.fresh
	}
}

// Late notes a process whose libcuda was not looked at before now. If it has begun since calls are seen, it has called that before unless its
// begin was seen, or is.
func (t *Tracker) Late(pid int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.process(pid); p != nil {
		p.late, p.loaded, p.fresh = true, now, false
		p.unsure = !p.begun && p.first.IsZero() && !t.older[pid]
	}
}

// Blind notes a process some of whose calls that move memory cannot be looked at.
func (t *Tracker) Blind(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.process(pid); p != nil {
		p.late, p.missed = true, true
	}
}

// LookedAt notes that some functions are looked at in a process only from a time on. Nothing of it is missed if it made no context before.
func (t *Tracker) LookedAt(pid int, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.process(pid); p != nil {
		p.lookedAt = at
		if !p.first.IsZero() && p.first.Before(at) {
			t.misses(p)
		}
	}
}

// misses notes that calls of a process were not seen, since it was not looked at yet.
func (t *Tracker) misses(p *process) {
	if !p.unseen {
		p.unseen = true
		t.unseen++
	}
	p.late, p.unsure, p.supposed = true, false, false
}

// SetDoor notes how calls are seen from now on. What was missed makes all that is known incomplete.
func (t *Tracker) SetDoor(d sampler.Door) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(d.LetGo) > len(t.door.LetGo) || d.Lost > t.door.Lost {
		for _, p := range t.processes {
			p.late, p.missed = true, true
		}
	}
	t.door = d
}

// LetGo notes that a function is not looked at in a process until some time.
func (t *Tracker) LetGo(pid, function int, until time.Time) {
	if function < 0 || function >= len(Functions) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.process(pid); p != nil {
		p.late = true
		if Functions[function].Effect == Streams {
			clear(p.streams) // others may be made in the place of those that have ended
		}
		t.letGo[sampler.Busy{PID: pid, Function: Functions[function].Name}] = until
		p.missed = p.missed || Functions[function].moves()
		if Functions[function].moves() && until.After(p.unheard) {
			p.unheard = until
			p.forgets(p.last)
			t.unhear(p)
		}
	}
}

// unhear notes on its GPUs that not all calls of a process are seen.
func (t *Tracker) unhear(p *process) {
	note := func(key sampler.GPUKey) {
		if g := t.gpu(key); p.unheard.After(g.unheard) {
			g.unheard = p.unheard
		}
	}
	for _, key := range t.listed[p.pid] {
		note(key)
	}
	for _, s := range p.seats {
		if s.at != (sampler.GPUKey{}) {
			note(s.at)
		}
	}
}

// Call takes one call.
func (t *Tracker) Call(c Call) {
	if c.Function < 0 || c.Function >= len(Functions) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.process(c.PID)
	if p == nil {
		return
	}
	p.last = c.Time
	if p.first.IsZero() {
		p.first = c.Time
	}
	p.answered(c.TID, c.Function)
	t.slow(p, c.Took)
	for _, s := range p.seats {
		s.tally.called(c.TID, c.Time.Add(-c.Took))
	}
	f := &Functions[c.Function]
	if p.unsure && p.fresh && f.context() {
		p.unsure, p.supposed = false, true
	}
	if p.unsure || c.Time.Before(p.lookedAt) || p.supposed && (p.unknown(&c, f) || p.strange()) {
		t.misses(p)
	}
	if p.pool = 0; f.Effect == Gives && f.Place == OfPool {
		p.pool = c.Context
	}
	switch f.Effect {
	case Gives:
		t.gives(p, &c, f)
	case Takes:
		if !p.takes(&c) {
			t.loses(p, c.Time, c.Time)
		}
	case Maps:
		p.maps(&c)
	case Unmaps:
		if !p.unmaps(&c) {
			t.loses(p, c.Time, c.Time)
		}
	case Retains:
		p.retain(&c)
	case Hides:
		if f.Place != OfNode || c.Other == nodeAllocates {
			p.hide()
		}
	case Imports:
		if c.Answer == success {
			p.imports(&c)
		}
	case Trims:
		p.trims(&c)
	case Captures:
		if c.Answer == success {
			p.captures++
		}
	case Captured:
		p.captures = max(p.captures-1, 0)
	case Names, Makes:
		t.names(p, &c, f)
	case Streams:
		if c.Answer == success {
			p.makesStream(c.Address, c.Context)
		}
	case Ends:
		device, known := c.Device, c.Device >= 0
		if !known {
			device, known = p.handles[c.Address]
		}
		if known {
			t.stirs(p, &c, device)
		} else {
			t.loses(p, c.Time, c.Time.Add(givingBack))
		}
		p.ends(&c)
	}
}

// unknown says whether a call is about a context, or memory, that was made or given by none that was heard.
func (p *process) unknown(c *Call, f *Function) bool {
	switch f.Effect {
	case Gives:
		_, ok := p.handles[c.Context]
		return !ok && c.Device == -1 && f.Memory != Host && f.Place != OfStream && f.Place != OfPool
	case Takes:
		return c.Address != 0 && f.Memory != Host && p.blocks[key(c)] == nil && !p.isMapped(c)
	}
	return false
}

// strange says whether the last call asked a pool that was made by none that was heard. If the driver has made it by itself, that is told by now: see Within.
func (p *process) strange() bool {
	_, known := p.handles[p.pool]
	return p.pool != 0 && !known
}

// names notes a context or a pool that was made, or a context that was not.
func (t *Tracker) names(p *process, c *Call, f *Function) {
	switch {
	case c.Answer == outOfMemory && f.context():
		t.refuse(t.asks(p, c), c, 0) // how much that would have taken is not known
	case c.Answer == success && len(p.handles) < maxHandles:
		device := c.Device
		if f.Place == OfPool { // the context of a green one is on its device
			var known bool
			if device, known = p.handles[c.Context]; !known {
				break
			}
		}
		p.handles[c.Address] = device
		if f.context() {
			t.stirs(p, c, c.Device)
			p.begins(c, f)
		}
	}
}

// process is the one of that pid, a new one if there is room for it.
func (t *Tracker) process(pid int) *process {
	p := t.processes[pid]
	var execed time.Time
	var before map[sampler.GPUKey]sampler.Peak
	if p != nil && p.over {
		delete(t.processes, pid)
		p, execed, before = nil, p.last, p.peaks
	}
	if p == nil && pid > 0 && len(t.processes) < maxProcesses {
		p = newProcess(pid)
		p.execed, p.before = execed, before
		p.missed = len(t.door.LetGo) > 0
		p.late = t.older[pid] || p.missed
		who := []sampler.Process{{PID: pid}}
		t.host.Identify(who) // at once, for it may not live long
		if p.who = who[0]; p.who.Ended {
			p.who.Visible, p.who.Ended = true, false // as it was when it asked
		}
		t.processes[pid] = p
	}
	return p
}

func (t *Tracker) gives(p *process, c *Call, f *Function) {
	n := sampler.Bytes(c.Size)
	held := min(n, sampler.MaxPlausible)
	onHost := f.Memory == Host || p.onHost(c)
	if onHost && c.Answer == success {
		for _, s := range p.seats {
			s.tally.onHost(c, held)
		}
	}
	if onHost || c.Answer != success && c.Answer != outOfMemory {
		return // not the GPU's memory, or wrong arguments
	}
	s := t.asks(p, c)
	s.tally.asked(c.Time, n)
	if c.Answer == success {
		p.hold(c, s, held)
		if p.got = max(p.got, held); c.TID == p.refused {
			p.got = sampler.MaxPlausible // that one goes on for sure
		}
	} else {
		t.refuse(s, c, n)
	}
	if !t.room(p, c) {
		t.door.Untold++
		return
	}
	p.waiting++
	thread := c.TID
	if thread == c.PID {
		thread = 0
	}
	t.calls = append(t.calls, asked{seat: s, Request: sampler.Request{Time: c.Time, PID: c.PID, TID: thread, Function: f.Name, Bytes: n, Answer: c.Answer,
		Took: int(c.Took.Milliseconds())}})
}

// asks is the seat of a call, on the GPU where it seems to be.
func (t *Tracker) asks(p *process, c *Call) *seat {
	s := p.seat(c, t.several(p))
	if s.tally.granted+s.tally.refused == 0 {
		s.at, s.guessed = t.place(p, s)
		t.join(p) // what comes of a refusal there is seen by its tally
		t.shares(p, s, c.Time.Add(-c.Took))
		if s.tally.granted+s.tally.refused == 0 {
			p.had(s)
		}
	}
	return s
}

// several says whether a process uses more than one GPU, as far as is known.
func (t *Tracker) several(p *process) bool {
	return len(p.made) > 1 || len(t.listed[p.pid]) > 1 || len(p.listed) > 1 || slices.ContainsFunc(p.seats, func(s *seat) bool {
		return s.key.device >= 0 && s.key.device != p.seats[0].key.device
	})
}

// refuse notes a refusal, and tells of it.
func (t *Tracker) refuse(s *seat, c *Call, n sampler.Bytes) {
	s.tally.refuse(c, n)
	if p := t.processes[c.PID]; p != nil {
		p.refused, p.got = c.TID, 0
	}
	t.tellRefused()
}

// tellRefused asks for a snapshot that tells of a refusal.
func (t *Tracker) tellRefused() {
	select {
	case t.refused <- struct{}{}:
	default: // one is enough
	}
}

// Refused has something to receive when a request was refused.
func (t *Tracker) Refused() <-chan struct{} { return t.refused }

// Listed takes the driver's figures for the processes of one GPU.
func (t *Tracker) Listed(key sampler.GPUKey, at time.Time, took time.Duration, list []sampler.Process) {
	t.hear()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lists[key], t.last = at, at
	if t.firstList.IsZero() {
		t.firstList = at
	}
	t.listsDevices(key, at.Add(-took), list)
	had := make(map[int]sampler.Bytes, len(list))
	t.had[key] = had
	for i := range list {
		if n, ok := sampler.Plausible(list[i].Memory); ok {
			had[list[i].PID] = n
		}
		if p := t.processes[list[i].PID]; p != nil {
			n, ok := sampler.Plausible(list[i].Memory)
			if ok && (len(t.gpus) > 1 || t.partly()) {
				t.figure(p, key, at, n)
				p.lists(key, at, took, n)
			}
			switch y := p.on(key); {
			case !ok:
			case y != nil && y.context.After(at.Add(-took)): // it may have a part of that only, whenever it is told of
			case y != nil:
				y.exact.list(at, took, n, y.live)
			case !p.lost.After(at.Add(-took)): // else it may have what was given back since
				p.figures[key] = figure{at, took, n}
			}
		}
	}
}

// Reading takes the memory that is in use on a GPU.
func (t *Tracker) Reading(key sampler.GPUKey, at time.Time, used sampler.Bytes) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gpu(key).take(at, used)
}

// ReadUntil takes that there are no more readings of before.
func (t *Tracker) ReadUntil(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readUntil = at
	for _, g := range t.gpus {
		g.readUntil = at
	}
}

func (t *Tracker) gpu(key sampler.GPUKey) *gpu {
	g := t.gpus[key]
	if g == nil {
		g = &gpu{}
		t.gpus[key] = g
	}
	return g
}

// Alone says whether nobody but that process may have taken memory of a GPU where the driver listed it alone. One that has
// ended has taken none, and another one is listed there a little later than it asks.
func (t *Tracker) Alone(key sampler.GPUKey, pid int) bool {
	t.hear()
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.processes[pid]; p != nil && (p.over || p.gone || p.exit.Known()) {
		return false
	}
	for other, p := range t.processes {
		if other != pid && !p.gone && t.mayUse(p, key) {
			return false
		}
	}
	return true
}

// mayUse says whether a process may use a GPU where the driver does not list it yet: it has asked since.
func (t *Tracker) mayUse(p *process, key sampler.GPUKey) bool {
	if p.last.Before(t.lists[key].Add(-listTakes)) {
		return false
	}
	if len(t.listed[p.pid]) == 0 && !slices.ContainsFunc(p.seats, func(s *seat) bool { return s.at != sampler.GPUKey{} }) {
		return true // it is just beginning
	}
	for device := range p.made {
		if t.ordinals.Key(&p.who, device) == key {
			return true
		}
	}
	return slices.ContainsFunc(p.seats, func(s *seat) bool { return s.at == key })
}

// listTakes is how long the driver may take to list processes: what is made meanwhile may not be in it.
const listTakes = 20 * time.Millisecond

// PIDs are the processes that the driver lists.
func (t *Tracker) PIDs() map[int]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	pids := make(map[int]bool, len(t.listed))
	for pid := range t.listed {
		pids[pid] = true
	}
	return pids
}
