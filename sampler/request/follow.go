package request

import (
	"math"
	"slices"
	"time"

	"nvpeak/sampler"
)

// Of a thread whose context was set before anybody looked nothing tells the GPU but memory: the use of the right one moves by as
// much as the calls, reading by reading, and that of the others does not.

// moving is memory that was given at a seat or, negative, taken back.
type moving struct {
	from, at time.Time // when the call began, about, and when it was answered
	mib      float64
}

// follower is how well the readings of a GPU follow the calls of a seat.
type follower struct {
	last   reading // up to which they are compared
	figure share   // the same of the driver's figures for the process
	score  float64 // see compare
	judged float64 // how often readings told that, those of long ago less
	agreed int     // and it moved as the calls did
	fitted int     // or may have, beside others
	tried  int     // of the calls: see jumps
	jumped float64 // the logarithm of the odds that they are of the GPU
}

// share is what the driver says that the process has of a GPU, and what had moved until then, in MiB.
type share struct {
	known                bool
	at                   time.Time
	bytes, moved, beside float64
}

const (
	// movesLeast, in MiB, and less is lost in what the driver rounds to.
	movesLeast = 1
	grain      = 2 // the same
	// followsLeast, in MiB, stands out from what others do at that moment.
	followsLeast = 16
	// doubtful is the part of what has moved that may not have.
	doubtful = 1.0 / 16
	// maxMoving: those of a second, between two snapshots, of sixteen threads that make and give back twenty pieces a second each.
	maxMoving = 1024
	// showsWithin: readings are 20 ms apart, 40 on a busy machine, and 200 of a GPU that nobody uses.
	showsWithin = 250 * time.Millisecond
	// fading: what was compared long ago counts less.
	fading = 1 - 1.0/64
	// likely is the score from which on a GPU is taken for the seat's, and clearly how much it must have more than any other.
	likely, clearly = 2.5, 5
	// again: what happens once happens by chance, too, such as that somebody takes as much on another GPU. One call of 25 MiB does where the
	// driver's figure for the process says the same.
	again = 2
	// ruledOut is the score of a GPU that two calls say is not the seat's, whatever others did.
	ruledOut = -4.5
	// agrees is the least score of what moves as the calls do, rather than not.
	agrees = 1
	// alike: two GPUs of which one has less than so many times the score of the other, by reading, both follow.
	alike = 3
	// What the program says of the GPU is overruled by so much more: the environment that it began with may not be the one that it
	// has, but where several GPUs are busy some calls are followed by chance.
	overrule = 40
)

// inMiB is a number of bytes in MiB.
func inMiB(n sampler.Bytes) float64 { return float64(n) / float64(sampler.MiB) }

// move notes what moves at the seat, in MiB.
func (s *seat) move(c *Call, n float64) {
	s.moved, s.movedAt = s.moved+n, c.Time
	m := moving{c.Time.Add(-c.Took - cut), c.Time, n}
	if len(s.lately) == maxMoving {
		s.forgot, s.lately = s.lately[maxMoving-1].at, s.lately[:0]
	}
	s.lately = append(s.lately, m)
	if math.Abs(n) < movesLeast {
		return
	}
	if len(s.moves) == maxMoving {
		s.blind = s.moves[maxMoving-1].at
		s.moves = s.moves[:0]
	}
	s.moves = append(s.moves, m)
}

// lingers notes that what was given back from a time on was so as late as at another.
func (s *seat) lingers(began, at time.Time) {
	for _, list := range [][]moving{s.moves, s.lately} {
		for i := range list {
			if m := &list[i]; m.mib < 0 && m.at.Equal(began) {
				m.at = at
			}
		}
	}
}

// compare follows the readings until a time: of the GPUs where the driver lists the process or, where it lists none, of all.
func (t *Tracker) compare(p *process, s *seat, until time.Time) {
	if len(s.moves) == 0 {
		return
	}
	on, done := t.uses(p), until
	for key, g := range t.gpus {
		if len(on) > 0 && !slices.Contains(on, key) {
			delete(s.follow, key)
			continue
		}
		f := s.follows(key)
		if f.compare(s, g, t.astray(key), until); f.last.at.Before(done) && !f.last.at.IsZero() { // of one that is not read nothing is to come
			done = f.last.at
		}
	}
	past := func(m moving) bool { return !m.at.After(done) }
	for key, f := range s.follow {
		for _, m := range s.moves {
			if s.slow() && s.told == (sampler.GPUKey{}) && past(m) {
				f.jumps(s, m, t.gpus[key], t.astray(key))
			}
		}
	}
	s.moves = slices.DeleteFunc(s.moves, past)
	p.elect(s)
}

// compare goes from reading to reading, also to the last one until then, which stands unless the next one is another: it moved at some time between the two.
func (f *follower) compare(s *seat, g *gpu, others *strays, until time.Time) {
	if begin := s.moves[0].from; f.last.at.Before(begin) {
		f.last = g.at(begin) // nothing moved before
	}
	if f.last.at.Before(s.blind) {
		f.last = reading{}
	}
	later := 0 // readings since the last one compared
	for later < keptReadings && g.ago(later).at.After(f.last.at) {
		later++
	}
	for i := later - 1; i >= 0; i-- {
		if r := g.ago(i); r.at.Before(until) && r.at.After(s.blind) {
			f.next(s, g, others, r)
		}
	}
	if r := g.at(until); !r.at.IsZero() && !g.movedAfter(r) {
		r.at = until
		f.next(s, g, others, r)
	}
}

// follows is how well a GPU follows.
func (s *seat) follows(key sampler.GPUKey) *follower {
	if s.follow == nil {
		s.follow = map[sampler.GPUKey]*follower{}
	}
	if s.follow[key] == nil {
		s.follow[key] = &follower{}
	}
	return s.follow[key]
}

// next takes the next reading, if what may be in it or not, for its calls are so near, is little beside what has moved since the last. How much the use moved beside the calls,
// against how much it moved at all, is the odds that they have to do with one another. What others are known to have moved is not counted.
func (f *follower) next(s *seat, g *gpu, others *strays, r reading) {
	beside, near, known := g.beside(s, f.last.at, r.at)
	net := 0.0 // in MiB
	for _, m := range s.moves {
		if !r.at.Before(m.from) && r.at.Before(m.at.Add(included)) {
			near += math.Abs(m.mib)
		}
		if m.at.After(f.last.at) && !m.at.After(r.at) {
			net += m.mib
		}
	}
	if near > math.Abs(net)*doubtful {
		return
	}
	if !f.last.at.IsZero() && known {
		if parts, known := others.between(f.last.at, r.at, s, nil); known && len(parts) <= straysMost {
			f.count(inMiB(r.used)-inMiB(f.last.used)-beside, net, parts)
		}
	}
	f.last = r
}

// count takes that so much moved where the calls moved so much.
func (f *follower) count(moved, net float64, others []float64) {
	if math.Abs(net) < followsLeast {
		return
	}
	odds := math.Log(math.Hypot(least(moved, others), grain) / math.Hypot(least(moved-net, others), grain))
	f.judged = f.judged*fading + 1
	if f.score = f.score*fading + odds; odds >= agrees {
		f.agreed++
	}
	if least(moved-net, others) <= grain {
		f.fitted++
	}
}

// figure takes the driver's figure for a process on a GPU, which others do not move, but what was given back that it had before anybody looked does. Of several
// threads see show: about as much as one of them moves is what another has moved, by chance.
func (t *Tracker) figure(p *process, key sampler.GPUKey, at time.Time, n sampler.Bytes) {
	for _, s := range p.seats {
		if s.key.device >= 0 || !s.movedAt.Before(at.Add(-listTakes)) || s.slow() || len(p.unplacedSeats()) > 1 { // the list may have that or not
			continue
		}
		f, now := s.follows(key), p.share(s, key, at, n)
		if f.figure.known && !p.lost.After(f.figure.at) {
			f.count(now.bytes-f.figure.bytes-now.beside+f.figure.beside, now.moved-f.figure.moved, nil)
			p.elect(s)
		}
		f.figure = now
	}
}

// shares takes what the driver has said of a process before a seat first asked, at a time.
func (t *Tracker) shares(p *process, s *seat, at time.Time) {
	if s.key.device >= 0 || len(t.gpus) < 2 && !t.partly() {
		return
	}
	for key, had := range t.had {
		if n, ok := had[p.pid]; ok && t.lists[key].Before(at) {
			s.follows(key).figure = p.share(s, key, t.lists[key], n)
		}
	}
}

// share is what a process has of a GPU by now.
func (p *process) share(s *seat, key sampler.GPUKey, at time.Time, n sampler.Bytes) share {
	now := share{known: true, at: at, bytes: inMiB(n), moved: s.moved}
	for _, o := range p.seats {
		if o != s && o.at == key && !o.guessed {
			now.beside += o.moved
		}
	}
	return now
}

// elect finds the GPU of a seat by its readings; that of several threads with slow calls lists and jumps tell alone.
func (p *process) elect(s *seat) {
	if s.told != (sampler.GPUKey{}) {
		return
	}
	if s.slow() && slices.ContainsFunc(p.unplacedSeats(), func(o *seat) bool { return o != s }) {
		if s.told = s.jumpsAt(); s.told != (sampler.GPUKey{}) {
			s.elected = s.told
		}
		return
	}
	s.elect()
}

// elect finds the GPU whose use clearly follows the calls, as that of no other does: threads that do the same on several GPUs cannot
// be told apart. It stays so until another's clearly does.
func (s *seat) elect() {
	best, most := sampler.GPUKey{}, &follower{score: math.Inf(-1)}
	for key, f := range s.follow {
		if f.score > most.score {
			best, most = key, f
		}
	}
	follows := most.agreed >= again && most.score >= likely
	remains := most.agreed > 0 && most.fitted > again && most.score > 0 // and none of the others can be
	for key, f := range s.follow {
		if key != best {
			follows = follows && f.lessThan(most)
			remains = remains && f.score <= ruledOut
		}
	}
	if follows || remains {
		s.elected = best
	}
}

// slow says whether its calls take so long that threads which make them at the same time move memory in step for a while.
func (s *seat) slow() bool { return s.tally.exact.longest > listTakes }

// lessThan says whether a GPU follows clearly less than another: all told, and also by what one reading says, for of some GPUs few say anything, as
// where each of them falls on a call. One that nothing was told of may follow as well, unless it cannot be read.
func (f *follower) lessThan(o *follower) bool {
	if f.last.at.IsZero() && f.judged == 0 {
		return true
	}
	return f.judged >= 1 && f.score <= o.score-clearly && alike*f.score/f.judged <= o.score/o.judged
}

// against is by how much the GPU that the readings follow is more likely than the one that the program says.
func (s *seat) against(key sampler.GPUKey) float64 {
	f, said := s.follow[s.elected], s.follow[key]
	if f == nil {
		return 0
	}
	if said == nil {
		return f.score
	}
	return f.score - said.score
}
