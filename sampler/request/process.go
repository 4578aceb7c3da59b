package request

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// process is what is known of the calls of one process.
type process struct {
	pid    int
	who    sampler.Process              // Visible: it is there
	gone   bool                         // its number is nobody's
	parted bool                         // and was so in a snapshot before
	listed map[sampler.GPUKey]time.Time // where the driver lists it, or did of late, and when last
	last   time.Time                    // of its calls
	late   bool                         // a part of its life was missed
	lost   time.Time                    // when it last gave back what no call tells: what it had by then, or a context
	// How many contexts a thread has ended of which nothing was known: each may have been the current one, and what lies below it is another one.
	uncovered map[int]int
	missed    bool                            // calls amid what was seen were
	lookedAt  time.Time                       // some of its calls before that are; zero: none
	first     time.Time                       // call that was heard
	unseen    bool                            // it has called before that
	loaded    time.Time                       // when its libcuda was looked at, if that was new
	begun     bool                            // its begin was seen
	said      map[string]string               // its environment then, which counts for all its life; nil: not known
	execed    time.Time                       // when it became another program, whose places the lists of before do not tell
	unsure    bool                            // it may have called before its libcuda was looked at
	fresh     bool                            // not for long, for it had just loaded that: see Loads
	supposed  bool                            // that it had not, as it made a context first
	imported  int                             // pieces that are there, of others or of its own once more
	importAt  time.Time                       // of the last of those
	pool      uint64                          // that the last call asked for memory; 0: none
	exit      sampler.Opt[int]                // how it has ended, as a shell tells it
	exited    time.Time                       // when
	asking    sampler.Bytes                   // for so much it was as it ended, all told: it may have been given that
	unplaced  bool                            // its end was told, and no GPU
	left      map[sampler.GPUKey]bool         // where its end was told, and it has asked for nothing
	peaks     map[sampler.GPUKey]sampler.Peak // that were told of it
	before    map[sampler.GPUKey]sampler.Peak // of the program that it was
	over      bool                            // it runs another program by now, which has asked for nothing yet
	handles   map[uint64]int
	streams   map[uint64]uint64 // the contexts that they are of
	blocks    map[where]*block
	mapped    map[uint64]mapping
	refused   int                  // the thread that was so last
	got       sampler.Bytes        // the most that it was granted at once since then; MaxPlausible: by that thread
	waiting   int                  // requests that wait for a snapshot
	primary   map[int]primary      // contexts, by device
	own       map[uint64]time.Time // contexts that it has made beside those, and when
	made      map[int]made         // contexts, by device
	seats     []*seat              // few: one for each device
	dropped   [64]dropped          // of late, a ring
	drops     int
	taken     [64]taken // of late, a ring
	takings   int
	endings   [8]ending // of late, a ring
	ended     int
	hides     bool   // it holds memory of which no call tells how much
	captures  int    // streams whose calls become parts of a graph
	steps     []step // of its tallies, oldest first, while stepping
	stepping  bool
	forgot    bool                      // there were more
	unheard   time.Time                 // until when it takes or gives memory by calls that are not looked at
	figures   map[sampler.GPUKey]figure // of the driver, from before it asked there
	shown     map[sampler.GPUKey]*showing
	showed    []*seat // of which those are
	underWay  []UnderWay
	slow      bool     // a call of it was
	givenUp   []uint64 // calls that it has left, by their number
}

// figure is what the driver said that a process has.
type figure struct {
	at    time.Time
	took  time.Duration // to read
	bytes sampler.Bytes
}

// where is what a block is known by: an address, or the handle of a piece.
type where struct {
	memory Memory
	at     uint64
}

// block is memory that is held.
type block struct {
	since   time.Time
	bytes   sampler.Bytes
	seat    *seat // nil: it was imported, and whose it is, is not known
	context uint64
	memory  Memory
	refs    int // its own, and one for each mapping
}

type mapping struct {
	piece, size uint64
}

const (
	maxHandles = 1024
	maxSeats   = 256
)

func newProcess(pid int) *process {
	return &process{pid: pid, handles: map[uint64]int{}, streams: map[uint64]uint64{}, blocks: map[where]*block{}, mapped: map[uint64]mapping{}, primary: map[int]primary{}, own: map[uint64]time.Time{}, made: map[int]made{}, listed: map[sampler.GPUKey]time.Time{}, figures: map[sampler.GPUKey]figure{}, left: map[sampler.GPUKey]bool{}, peaks: map[sampler.GPUKey]sampler.Peak{}}
}

// made is what is known of the contexts of a device.
type made struct {
	since       time.Time // it has had one all the time
	newest      time.Time
	there, most int                     // how many: now, and at one time
	lists       map[sampler.GPUKey]bool // does the driver list the process there, by the newest list that was made while it had one
}

// makes notes that a context of a device was made, or may have been, by a call that took so long; it takes memory of it.
func (p *process) makes(device int, at time.Time, took time.Duration) {
	m := p.made[device]
	if m.newest = at; m.there == 0 {
		m.since = at
	}
	m.there++
	m.most = max(m.most, m.there)
	p.made[device] = m
	for _, t := range p.talliesOf(device) {
		t.context = at
		t.exact.makes(at, took, t.live)
	}
}

// unmakes notes that a call ends one that was made at a time.
func (p *process) unmakes(device int, made time.Time, c *Call) {
	if m, ok := p.made[device]; ok {
		m.there = max(m.there-1, 0)
		p.made[device] = m
	}
	for _, t := range p.talliesOf(device) {
		t.context = c.Time
		t.exact.ends(c.Time, made, c.TID, t.live)
	}
}

// talliesOf are those that may be of the GPU of a device.
func (p *process) talliesOf(device int) []*tally {
	return p.tallies(func(s *seat) bool { return s.key.device == device || s.key.device < 0 })
}

// tallies are those of some seats, each once: several seats may have one.
func (p *process) tallies(of func(*seat) bool) (list []*tally) {
	for _, s := range p.seats {
		if of(s) && !slices.Contains(list, s.tally) {
			list = append(list, s.tally)
		}
	}
	return list
}

func anySeat(*seat) bool { return true }

// had takes the figure that the process had before it first asked in a seat, if it tells what there is by now.
func (p *process) had(s *seat) {
	f, known := p.figures[s.at]
	read, made, e := f.at.Add(-f.took), p.newestContext(s.key.device), &s.tally.exact
	switch {
	case known && made.After(read): // it had that besides
		e.contexts.within = f.bytes + sampler.ContextMost
	case known && !p.lost.After(read.Add(-unsure)): // else it may have what was given back since
		e.list(f.at, f.took, f.bytes, 0)
		delete(p.figures, s.at)
	case !known && p.late && !made.IsZero() && !p.lost.IsZero(): // or that with what it has given back since
		e.contexts.brief = max(e.contexts.brief, sampler.ContextMost)
	}
}

// key is where the memory of a call is; a piece is known by its handle, all else by an address.
func key(c *Call) where {
	w := where{at: c.Address}
	if Functions[c.Function].Memory == Piece {
		w.memory = Piece
	}
	return w
}

// onHost says whether a call asks for memory of the host, by its location or from a pool of such memory.
func (p *process) onHost(c *Call) bool {
	return c.Device == onHost || Functions[c.Function].Place == OfPool && p.handles[c.Context] == onHost
}

// seat is where a call asks: the device that it names, or that its context or pool belongs to; the context
// or pool itself where its device is not known, and the thread where even that is not. several: the process uses several GPUs.
func (p *process) seat(c *Call, several bool) *seat {
	k, home := seatKey{device: c.Device}, p.home(c, several)
	if d, ok := p.handles[home]; ok && k.device < 0 {
		k.device = d
	}
	if k.device < 0 {
		if k = (seatKey{device: -1, handle: home}); k.handle == 0 {
			k.tid, k.era = c.TID, c.Era+p.uncovered[c.TID]
		}
	}
	for _, s := range p.seats {
		if s.key == k {
			return s
		}
	}
	if len(p.seats) == maxSeats { // threads come and go
		return p.seats[maxSeats-1]
	}
	m := p.made[k.device]
	s := &seat{key: k, tally: &tally{context: p.newestContext(k.device), partly: p.hides}}
	// No figure before this has been taken; of those that are gone none will be.
	s.tally.exact.contexts.brief = sampler.Bytes(m.most-m.there) * sampler.ContextMost //nolint:gosec // a count
	p.seats = append(p.seats, s)
	p.keepsSteps()
	return s
}

// newestContext is when the process has made its last context of a device; where that is not known, of any.
func (p *process) newestContext(device int) (newest time.Time) {
	if device >= 0 {
		return p.made[device].newest
	}
	for _, m := range p.made {
		newest = later(newest, m.newest)
	}
	return newest
}

// apart is how long a call that takes memory back, of which only the begin is told, may last.
const apart = time.Millisecond

// overlaps says whether another thread gave memory back during a call: which came first is not known then; and how much that was of a tally.
func (p *process) overlaps(c *Call, t *tally) (loose bool, n sampler.Bytes) {
	began := c.Time.Add(-c.Took - apart)
	for _, d := range p.dropped {
		if d.tid == c.TID || !d.at.After(began) {
			continue
		}
		if loose = true; d.tally == t {
			n += d.bytes
		}
	}
	return loose, n
}

// dropped is memory that a thread gave back.
type dropped struct {
	tid   int
	at    time.Time
	tally *tally
	bytes sampler.Bytes
}

// gaveUntil takes that what a call took was given back as late as that.
func (p *process) gaveUntil(x *taken, at time.Time) {
	for i := range p.dropped {
		if d := &p.dropped[i]; d.tally == x.block.seat.tally && d.at.Equal(x.began) {
			d.at = at
		}
	}
}

// hold notes memory that was given.
func (p *process) hold(c *Call, s *seat, n sampler.Bytes) {
	at := key(c)
	if old := p.blocks[at]; old != nil { // its end was missed
		p.late = true
		p.forget(c, at, old)
	}
	if len(p.blocks) == maxBlocks {
		p.late = true
		return
	}
	if !physical(Functions[c.Function].Memory) {
		s.tally.pools(c.Time)
	}
	if c.Time.Before(p.unheard) { // its end may be missed
		s.tally.met(c, n)
		return
	}
	if Functions[c.Function].Memory == Managed { // it is the GPU's only while it is used there
		s.tally.met(c, n)
		return
	}
	if p.captures > 0 && Functions[c.Function].Memory == Pool {
		p.hide() // the graph is given it, each time it runs
	}
	p.blocks[at] = &block{since: c.Time, bytes: n, seat: s, context: c.Context, memory: Functions[c.Function].Memory, refs: 1}
	loose, besides := p.overlaps(c, s.tally)
	s.tally.grant(c, n, loose, besides)
	p.step(s.tally)
	if physical(Functions[c.Function].Memory) {
		p.moves(c, s, int64(n)) //nolint:gosec // below MaxPlausible
	}
}

// forgets drops all that is known to be held, for its end may be missed: what was held by then stays in the peaks.
func (p *process) forgets(at time.Time) {
	clear(p.blocks)
	clear(p.mapped)
	for _, s := range p.seats {
		s.tally.forgets(at, 0, s.tally.live)
	}
}

// takes ends a block; known: how much that gives back is. Of one of before we came it is not known how large it was, nor where. What is mapped to that address is
// unmapped by a call of its own.
func (p *process) takes(c *Call) (known bool) {
	if p.isMapped(c) {
		return true
	}
	x := p.release(c, key(c))
	if !x.unsure && x.block == nil && p.late && c.Address != 0 && physical(Functions[c.Function].Memory) {
		x.unsure = true
		p.loses(c.Time)
	}
	return !x.unsure
}

// loses notes that something was given back of which nobody knows how much it was.
func (p *process) loses(at time.Time) {
	p.trimmed(at, func(*seat) bool { return true })
	clear(p.figures)
	for _, s := range p.seats {
		s.tally.exact.loses(at, 0, s.tally.live)
	}
}

func (p *process) drop(c *Call, at where, b *block) {
	delete(p.blocks, at)
	if b.seat == nil {
		p.imported--
		return
	}
	p.dropped[p.drops%len(p.dropped)] = dropped{c.TID, c.Time, b.seat.tally, b.bytes}
	p.drops++
	b.seat.tally.take(c.Time, c.TID, b.bytes)
	p.step(b.seat.tally)
	if physical(b.memory) {
		p.moves(c, b.seat, -int64(b.bytes)) //nolint:gosec // below MaxPlausible
	} else if b.memory == Pool {
		b.seat.tally.loosened = c.Time
	}
}

// moves notes memory of the GPU that was given or, negative, taken back. Of who is not heard in all only readings tell what it has.
func (p *process) moves(c *Call, s *seat, n int64) {
	if !c.Time.Before(p.unheard) {
		s.tally.moves(c, n, s)
	}
	s.move(c, float64(n)/float64(sampler.MiB))
}

// physical says whether memory of this kind is the GPU's, all of it and at once.
func physical(m Memory) bool { return m == Device || m == Piece }
