package watch

import (
	"cmp"
	"math"
	"time"

	"nvpeak/sampler"
)

// asking is what a process asked the driver for on one GPU, and what came of that.
type asking struct {
	heard   bool              // its requests are seen
	began   float64           // when the first was seen
	lead    float64           // how long it had used the GPU by then, in seconds, as far as is known
	row     *sampler.Requests // of the snapshot that is folded; nil: there is none
	asked   sampler.Requests  // newest; without its refusal
	refusal sampler.Refusal   // newest
	tried   float64           // when it was last refused; NaN: never
	by      int               // the thread that was, where parted; see sampler.Request
	parted  bool              // that is known
	first   float64           // when the first of those tries was
	handed  float64           // the same, if its work goes on in a process that it has begun since
	granted int               // by then
	live    sampler.Bytes     // then
	burst   burst
	after   sampler.Bytes // granted since, as far as requests are told one by one
	one     sampler.Bytes // the largest of those, but for what another thread was granted on another GPU
	times   int           // how many
	met     float64       // when something was granted last, after it was refused; as far as is known, not later
	folded  float64       // when it was folded last
	ended   float64       // when the process ended; 0: nobody saw it
	told    bool          // that in requests of the newest snapshot
	filled  bool          // it took pieces of one size until one was refused
	descent descent
	total   sampler.Bytes // of the GPU; 0: not known
	counted bool          // among those that nothing came of
	run     run
	pools   sampler.Bytes // largest request that was met from a pool, or may move to the host
	again   again
	flushed flushed
	open    recurring // refusals that nothing came of
	planned recurring // those after which it was content with less
	kin     []kin     // at its last try
	kinAt   float64   // when that was
	coped   recurring // those after which it was granted something else, and went on to the next
	hardest int       // the most tries of one of those two kinds
	between bool      // something was granted between two refusals of the newest snapshot
	away    bool      // it was granted memory of another GPU
}

const (
	// retrySeconds is how long after a refusal what is asked for belongs to it.
	retrySeconds = 2
	// deathSeconds is how long a program may take to end of a refused request: it writes a
	// traceback, uploads its logs and waits for its workers.
	deathSeconds = 30
	// plainSeconds is the same for one that asked once: it has no allocator that asks again, and checks
	// what it is answered.
	plainSeconds = 10
	// wentOnTimes and wentOnBytes: who is granted so much after a refusal goes on. Less is taken by
	// what writes the message.
	wentOnTimes = 3
	wentOnBytes = 32 * sampler.MiB
	// goesSeconds after a refusal who was granted anything since, however little, is no more taken to end of it.
	goesSeconds = 5
	// atOnceSeconds after a refusal who fails has failed of it, unless something in its place was granted. Processes are listed once
	// a second.
	atOnceSeconds = 2
	// unwindSeconds is how long what is granted after a refusal may belong to the program's end.
	unwindSeconds = 1
	// smallRequest: workspaces of libraries are no larger.
	smallRequest = 32 * sampler.MiB
)

// recurring counts what happened of late, and since when.
type recurring struct {
	times [8]float64
	n     int
}

func (r *recurring) add(at float64) { r.times[r.n%len(r.times)], r.n = at, r.n+1 }

// since is how often it happened from a time on, first and last.
func (r *recurring) since(from float64) (n int, first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, t := range r.times[:min(r.n, len(r.times))] {
		if t >= from {
			n, first, last = n+1, min(first, t), max(last, t)
		}
	}
	return n, first, last
}

// burst is what had been granted when nothing was for the last time.
type burst struct {
	granted int
	at      float64
}

// run is how often the same was granted in a row.
type run struct {
	bytes sampler.Bytes
	n     int
	since float64
	last  float64
	pause float64 // longest between two
}

func (r *run) add(n sampler.Bytes, at float64) {
	if n != r.bytes || at-r.last > fillPause {
		*r = run{bytes: n, since: at}
	}
	r.pause = max(r.pause, at-max(r.last, r.since))
	r.n, r.last = r.n+1, at
}

// hurries says whether nothing was done between them, until one was refused.
func (r *run) hurries(at float64) bool {
	return (at-r.since)/float64(max(r.n, 1)) <= hurrySeconds && max(r.pause, at-r.last) <= 2*hurrySeconds
}

// fills says whether as much was granted again and again within seconds before.
func (r *run) fills(n sampler.Bytes, at float64) bool {
	return r.n >= fillTimes && r.bytes == n && at-r.since <= fillSeconds
}

// foldAsking takes the requests of a snapshot, also of one whose figures are not believed: it may be the last
// that has a process.
func (g *gpu) foldAsking(now float64) {
	for i := range g.last.Processes {
		if p := g.asker(i); p != nil {
			p.asking.row, g.asks = g.last.Processes[i].Requests, true
			p.asking.total = g.last.Memory.PlausibleTotal().Or(0)
			p.asking.meetContext(now, g.at)
		}
	}
	if g.asks = g.asks || len(g.requests) > 0; !g.asks {
		return
	}
	var p *proc
	for i := range g.requests {
		r := &g.requests[i]
		if p == nil || p.pid != r.PID {
			p = g.withPID(r.PID)
		}
		switch at := min(now, now-g.at.Sub(r.Time).Seconds()); {
		case p == nil:
		case (r.GPU.Known() || g.sole) && r.GPU.Or(g.last.Index) == g.last.Index && (r.UUID == "" || r.UUID == g.last.UUID):
			p.asking.take(r, at)
		default:
			p.asking.elsewhere(r, at)
		}
	}
	g.requests = nil
	for _, p := range g.procs {
		if r := p.asking.row; r != nil && *r == (sampler.Requests{ExitStatus: r.ExitStatus, ExitTime: r.ExitTime}) { // it has ended, and that is all that is known
			p.asking.asked.ExitStatus, p.asking.row = r.ExitStatus, nil
			p.asking.ends(r, now, g.at)
			continue
		}
		if r := p.asking.row; r != nil {
			if was := &p.asking.asked; r.Granted+r.Refused < was.Granted+was.Refused {
				p.asking = asking{} // it runs another program
			}
			p.hasLead(r, now, g.at)
			p.asking.fold(r, now, g.at, g.free)
			p.asking.row = nil
		}
	}
	g.foldKin()
}

// asker is the process in a place of the newest list.
func (g *gpu) asker(i int) *proc {
	q := &g.last.Processes[i]
	switch {
	case q.Requests == nil || max(q.Requests.Live, q.Requests.Peak) >= sampler.MaxPlausible:
		return nil
	case i < len(g.procs) && g.procs[i].is(q):
		return g.procs[i]
	}
	return g.find(q)
}

// begin notes when the process was first seen to ask.
func (a *asking) begin(now float64) (first bool) {
	if a.heard {
		return false
	}
	a.heard, a.began, a.tried, a.handed = true, now, math.NaN(), math.NaN()
	return true
}

// hasLead notes how long a process that is folded for the first time has used the GPU: it may have been listed before the GPU
// of its requests was known, and of one whose first calls were missed only the start is known.
func (p *proc) hasLead(r *sampler.Requests, now float64, at time.Time) {
	a := &p.asking
	if a.asked != (sampler.Requests{}) {
		return
	}
	first, began := now, p.first
	if a.heard {
		first = a.began
	}
	if start, ok := p.start.Value(); ok && !r.Whole {
		began = min(began, now-at.Sub(start).Seconds())
	}
	a.lead = max(first-began, 0)
}

// age is how long the process had used the GPU at a time, in seconds.
func (a *asking) age(at float64) float64 { return at - a.began + a.lead }

// meetContext takes that a context was refused, which is none of the requests that are told one by one: what is granted after it may be in the
// same snapshot.
func (a *asking) meetContext(now float64, at time.Time) {
	if r := a.row.Refusal; r != nil && r.Bytes == 0 && (a.refusal.Tries == 0 || r.Time.After(a.refusal.Time)) {
		a.begin(now)
		a.tried, a.told, a.times, a.after, a.one, a.parted = min(now, now-at.Sub(r.Time).Seconds()), true, 0, 0, 0, false
	}
}

// ends notes when the process ended, of which its row may be told late.
func (a *asking) ends(r *sampler.Requests, now float64, at time.Time) {
	if !r.ExitTime.IsZero() {
		a.ended = min(now, now-at.Sub(r.ExitTime).Seconds())
	}
}

// elsewhere takes a request on another GPU, or on one that is not known: who is granted memory goes on, wherever that is. What another thread is
// granted there is in the place of nothing: programs that use several GPUs at once ask for the same on each.
func (a *asking) elsewhere(r *sampler.Request, at float64) {
	if r.Answer != 0 {
		return
	}
	one := a.one
	a.away = a.away || r.GPU.Known()
	if a.grant(r, at); a.parted && r.TID != a.by && r.GPU.Known() {
		a.one = one
	}
}

// amid says whether a thread had called for what it is granted before another was refused: that says nothing of what came of the refusal.
func (a *asking) amid(r *sampler.Request, at float64) bool {
	return a.parted && r.TID != a.by && at-float64(r.Took)/1000 < a.tried
}

// grant notes what was granted since the last refusal.
func (a *asking) grant(r *sampler.Request, at float64) {
	if at < a.tried || a.amid(r, at) {
		return
	}
	a.times, a.after, a.met = a.times+1, min(a.after+r.Bytes, sampler.MaxPlausible), at
	if at > a.tried || a.parted { // times have whole milliseconds: in that in which a context was refused the grant came first, and is in place of nothing
		a.one = max(a.one, r.Bytes)
	}
}

// take takes one request. Where its process is in no list any more, nothing else tells of it.
func (a *asking) take(r *sampler.Request, at float64) {
	a.begin(at)
	if r.Bytes >= sampler.MaxPlausible {
		return
	}
	if pooled(r.Function) {
		a.pools = max(a.pools, r.Bytes)
	}
	a.again.take(r, at)
	if r.Answer == 0 {
		if a.grant(r, at); a.amid(r, at) { // so it counts as if before
			a.granted, a.live = a.granted+1, min(a.live+r.Bytes, sampler.MaxPlausible)
		}
		a.run.add(r.Bytes, at)
		a.descent.granted = true
		a.flushed.answered(at)
		return
	}
	unlisted := a.row == nil
	if unlisted && (!a.pending() || at-a.tried > retrySeconds) {
		a.refusal, a.counted = sampler.Refusal{Time: r.Time, Bytes: r.Bytes, Function: r.Function}, false
		a.first = at
	}
	if unlisted {
		a.refusal.Tries++
		a.refusal.Smallest = r.Bytes
		a.granted, a.live = a.asked.Granted, a.asked.Live
	}
	a.filled = a.run.fills(r.Bytes, at)
	a.descent.refused(r.Bytes, at)
	a.between = a.between || a.told && a.times > 0
	a.tried, a.told, a.times, a.after, a.one, a.by, a.parted = at, true, 0, 0, 0, r.TID, true
	a.flushed.refused(at)
}

// fold takes what is known of all requests so far.
func (a *asking) fold(r *sampler.Requests, now float64, at time.Time, free float64) {
	first := a.begin(now)
	before := a.asked
	a.asked = *r
	a.asked.Refusal = nil
	a.ends(r, now, at)
	if r.Granted == before.Granted { // what it held before anybody looked has become known
		a.live += r.Live.Less(before.Live)
	}
	if r.Granted == before.Granted || first {
		a.burst = burst{granted: r.Granted, at: now}
	}
	if last := r.Refusal; last != nil && r.Refused-before.Refused > last.Tries+r.Flushes-before.Flushes && (a.between || !a.told && r.Granted > before.Granted) {
		a.planned.add(now) // others before it, of which something came at once
		a.hardest = max(a.hardest, 1)
	}
	switch more := r.Refused - r.Flushes - before.Refused + before.Flushes; {
	case r.Refusal != nil:
		a.foldRefusal(*r.Refusal, now, at)
	case more > 0 && !first: // nothing but the count is told
		a.foldRefusal(sampler.Refusal{Time: at, Bytes: r.LargestRecent, Tries: more}, now, at)
	}
	if r.Granted > max(before.Granted, a.granted) { // at some time since the last fold
		a.met = max(a.met, a.folded)
	}
	a.told, a.between, a.folded = false, false, now
	if n := r.Flushes - before.Flushes; n > 0 {
		a.foldFlushes(n, first, now, at)
	}
	a.flushed.settle(a, now)
	if !r.Whole && r.Live < a.again.base { // it has given back what nobody knows: is the request held?
		free = math.NaN()
	}
	a.again.fold(before.Live, r.Live, now, free)
	if a.pending() && !a.counted && now-a.tried > deathSeconds && !a.wentOn() {
		a.unresolved()
	}
}

// foldRefusal takes the last refusal as it is now.
func (a *asking) foldRefusal(r sampler.Refusal, now float64, at time.Time) {
	was := a.refusal
	r.Tries, r.Smallest = max(r.Tries, 1), cmp.Or(r.Smallest, r.Bytes)
	another := was.Tries == 0 || !r.Time.Equal(was.Time)
	if another && a.pending() && !a.counted && !a.wentOn() {
		a.unresolved()
	}
	seen := min(now, now-at.Sub(r.Time).Seconds())
	if another && a.pending() && (a.wentOn() || r.Time.Sub(was.Time).Seconds() > retrySeconds && a.asked.Granted-a.times > a.granted) {
		a.coped.add(a.tried)
		a.hardest = max(a.hardest, was.Tries)
	}
	a.refusal = r
	if another {
		a.counted, a.first = false, seen
	}
	if another || r.Tries > was.Tries {
		if !a.told { // requests are not told one by one
			a.tried, a.times, a.after, a.one, a.parted = now, 0, 0, 0, false
			if another {
				a.tried = seen
			}
			a.filled = a.evenly(r.Bytes)
		}
		a.granted, a.live = a.asked.Granted-a.times, a.asked.Live
	}
	if r.MadeDo() && (another || was.Outcome != r.Outcome) {
		a.planned.add(seen)
		a.hardest = max(a.hardest, r.Tries)
	}
}

// evenly says whether all that was granted were pieces of one size, within seconds.
func (a *asking) evenly(n sampler.Bytes) bool {
	pieces := a.asked.Granted - a.burst.granted
	return pieces >= fillTimes && a.asked.Largest == n && a.tried-a.burst.at <= fillSeconds &&
		float64(a.asked.Peak) >= fillShare*float64(n)*float64(pieces)
}

// unresolved notes a refusal of which nothing came.
func (a *asking) unresolved() {
	a.counted = true
	if !a.byDesign() {
		a.open.add(a.tried)
	}
}

// pending says whether nothing has come of the last refusal.
func (a *asking) pending() bool {
	return a.refusal.Tries > 0 && a.refusal.Outcome == sampler.RefusalOpen
}

// littlePart: memory of the host that is a smaller part of what was refused is in its place only if the program goes on with that.
const littlePart = 2

// madeDoWithLittle says whether that is all that came of the last refusal.
func (a *asking) madeDoWithLittle() bool {
	r := &a.refusal
	return r.Outcome == sampler.RefusalOther && r.Host > 0 && r.Host < r.Smallest/littlePart
}

// wentOn says whether the process was granted memory after it was refused some.
func (a *asking) wentOn() bool {
	return a.times >= wentOnTimes || a.after >= wentOnBytes || a.asked.Granted-a.granted >= wentOnTimes ||
		a.asked.Live.Less(a.live) >= wentOnBytes
}

// inPlace: what is granted in the place of what was refused is no smaller a part of it.
const inPlace = 8

// replaced says whether something was granted since that may be in the place of what was refused, as on another GPU. How large a refused context
// would have been is not known: what is in its place is no workspace, and no piece of what another thread takes meanwhile.
func (a *asking) replaced() bool {
	return a.one > 0 && a.one >= cmp.Or(a.refusal.Smallest, sampler.ContextMost)/inPlace
}

// grantedSince says whether anything was granted since the last refusal, on any GPU.
func (a *asking) grantedSince() bool { return a.times > 0 || a.asked.Granted > a.granted }
