package torchsnap

import "slices"

// trace is the history of one GPU, folded event by event.
type trace struct {
	events      int
	first, last int64 // time in µs
	live        int64 // since the first event; what was there before is not known yet
	reserved    int64 // the same for segments
	blocks      map[int64]liveBlock
	lines       map[int]*tracker // by line
	made        int64            // bytes in all
	rounds      rounds
	curve       curve
	recent      [recentMost]event
	ooms        int
	judged      *moment // the last refusal
	judgedAt    int     // events then
}

// liveBlock is an allocation that the history shows.
type liveBlock struct {
	size int64
	site int
}

// event is one entry, as it is kept.
type event struct {
	time   int64
	action string
	size   int64
	stack  value
}

// moment is the state that is judged.
type moment struct {
	events   int
	time     int64
	live     int64
	reserved int64
	free     int64 // -1: not known
	refused  int64 // 0: nothing was
	stack    value
	requests requests        // of the same stack before
	once     bool            // all of it may be a single step
	lines    map[int]tracker // without their levels
	recent   []event
}

const (
	recentMost = 12
	// liveMost is how many live allocations are attributed; more are counted.
	liveMost = 1_000_000
	// trackersMost are the lines of all GPUs that are followed.
	trackersMost = 20_000
	// momentsFree refusals are captured at once; then each as many events apart as there are lines.
	momentsFree = 64
)

// event folds an entry of the history of a GPU.
func (f *fold) event(n int, o *object) {
	f.found = true
	d := f.device(n)
	if d == nil {
		return
	}
	if d.trace == nil {
		d.trace = &trace{blocks: map[int64]liveBlock{}, lines: map[int]*tracker{}}
		if f.last != nil {
			f.last.trace.blocks = nil // histories come one after the other
		}
		f.last = d
	}
	t := d.trace
	e := event{time: o.fields[keyTime].int(), action: f.texts.of(o.fields[keyAction]), size: o.fields[keySize].size(), stack: o.fields[keyFrames]}
	f.framed = f.framed || e.stack.place() > 0
	t.add(f, &e, o)
}

func (t *trace) add(f *fold, e *event, o *object) {
	if t.events == 0 {
		t.first = e.time
	}
	t.last = max(t.last, e.time)
	t.recent[t.events%recentMost] = *e
	t.events++
	switch e.action {
	case "alloc":
		t.alloc(f, o.fields[keyAddr].int(), e)
	case "free_requested", "free_completed", "free":
		t.free(o.fields[keyAddr].int(), e.size, e.action == "free_completed")
	case "segment_alloc", "segment_map":
		t.reserved += e.size
	case "segment_free", "segment_unmap":
		t.reserved -= e.size
	case "oom":
		t.oom(f, e, o)
	}
	if t.curve.add(e.time, t.live, t.reserved) {
		for _, line := range t.lines {
			line.close(t.curve.closed)
		}
	}
	if t.curve.halved {
		for _, line := range t.lines {
			line.halve()
		}
	}
}

func (t *trace) alloc(f *fold, addr int64, e *event) {
	size, site := e.size, f.frames.siteOfValue(e.stack)
	if _, there := t.blocks[addr]; there {
		t.free(addr, size, false) // its end was not recorded
	}
	t.live += size
	t.made += size
	now, root := f.frames.passOfValue(e.stack)
	t.rounds.alloc(now, root)
	if t.blocks == nil || len(t.blocks) >= liveMost {
		return
	}
	line := t.lines[site]
	if line == nil && f.trackers >= trackersMost {
		return
	}
	t.blocks[addr] = liveBlock{size, site}
	if line == nil {
		f.trackers++
		line = newTracker(len(t.curve.points))
		line.born = t.events
		t.lines[site] = line
	}
	line.ran = line.ran || now == passModel
	line.parted = line.parted || f.frames.parted(e.stack)
	line.alloc(size, f.frames.wayOfValue(e.stack), e.stack)
}

// free ends an allocation. One that began before the history is known by its size only, and by its request.
func (t *trace) free(addr, size int64, completed bool) {
	b, known := t.blocks[addr]
	if !known {
		if !completed {
			t.live -= size
		}
		return
	}
	delete(t.blocks, addr)
	t.live -= b.size
	t.lines[b.site].free(b.size, t.events)
}

// oom captures the state at a refusal.
func (t *trace) oom(f *fold, e *event, o *object) {
	t.ooms++
	if t.ooms > momentsFree && t.events-t.judgedAt < len(t.lines) {
		return
	}
	t.judgedAt = t.events
	t.judged = t.moment(e.time)
	t.judged.refused, t.judged.stack, t.judged.free = e.size, e.stack, -1
	if line := t.lines[f.frames.siteOfValue(e.stack)]; line != nil {
		t.judged.requests = *line.requestsOf(e.stack)
	}
	if o.has(keyFree) {
		t.judged.free = o.fields[keyFree].size()
	}
}

// moment is the state of now.
func (t *trace) moment(now int64) *moment {
	m := &moment{events: t.events, time: now, live: t.live, reserved: t.reserved, free: -1, lines: map[int]tracker{}, once: !t.rounds.repeat(t.made, t.live)}
	for site, line := range t.lines {
		m.lines[site] = *line
	}
	for i := max(0, t.events-recentMost); i < t.events; i++ {
		m.recent = append(m.recent, t.recent[i%recentMost])
	}
	return m
}

// point is what was live over a stretch of events.
type point struct {
	from, to       int // events
	time           int64
	low, high      int64
	reserved, last int64
}

// curve is the course of the live bytes in at most curveMost stretches of equally many events.
type curve struct {
	points []point
	each   int  // events of a stretch
	events int  // so far
	open   bool // the last point is not complete
	closed int  // place of the stretch that was just completed
	halved bool // the stretches have just become twice as long
}

const curveMost = 256

// add says whether a stretch is complete.
func (c *curve) add(time, live, reserved int64) bool {
	c.halved = false
	c.each = max(c.each, 1)
	if !c.open {
		c.points = append(c.points, point{from: c.events, time: time, low: live, high: live})
		c.open = true
	}
	p := &c.points[len(c.points)-1]
	c.events++
	p.to, p.low, p.high, p.last, p.reserved = c.events, min(p.low, live), max(p.high, live), live, max(p.reserved, reserved)
	if c.events-p.from < c.each {
		return false
	}
	c.open = false
	c.closed = len(c.points) - 1
	if len(c.points) == curveMost {
		c.halve()
	}
	return true
}

func (c *curve) halve() {
	for i := 0; i < len(c.points); i += 2 {
		a, b := c.points[i], c.points[i+1]
		c.points[i/2] = point{from: a.from, to: b.to, time: a.time, low: min(a.low, b.low), high: max(a.high, b.high), last: b.last, reserved: max(a.reserved, b.reserved)}
	}
	c.points = slices.Clip(c.points[:len(c.points)/2])
	c.each *= 2
	c.halved = true
}
