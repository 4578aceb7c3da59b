package request

import (
	"time"

	"nvpeak/sampler"
)

// refusal is one that is looked after, and by whom it was made.
type refusal struct {
	sampler.Refusal
	memory Memory // that was refused
	tid    int
	last   time.Time // of its tries
	gave   time.Time // when memory was given back last
	// Until when some was given back before the last try, and not how much; zero: none was. What was read before that says too little.
	loosed time.Time
	got    sampler.Bytes // granted since
	// Memory was given back since, and not how much.
	trimmed bool
	context time.Time // see tally, as of then
	read    time.Time // when what Free is by was; zero: it is not known
	// Others gave memory back at about that time: what was free then is between two readings.
	unclear bool
	// Another thread's of which nothing had come when this one was refused; nil: there is none. What comes of this one is no answer to that.
	other *refusal
}

// retryWithin is how long after a refusal a request still belongs to it: a caching allocator
// asks again within milliseconds, one whose process computes meanwhile later.
const retryWithin = 2 * time.Second

// againWithin is the same for what is granted as soon after memory was given back: to give back many segments takes a driver seconds, and so does a
// program that catches the failure and collects its garbage.
const againWithin = 10 * time.Second

// refuse notes a refusal. One of the same thread that follows another at once, of as much or
// less, is a further try, unless as much was granted since, in smaller pieces.
func (t *tally) refuse(c *Call, n sampler.Bytes) {
	t.refused++
	if r := t.refusal; r != nil && r.tid == c.TID && t.taken(c.Time) {
		// This is a further try, and what was granted a part of it, of what had been given back.
		r.Outcome, r.last, r.context, r.got, r.Freed, r.trimmed = sampler.RefusalOpen, c.Time, t.context, 0, 0, false
	}
	if r := t.refusal; r != nil && r.Outcome == sampler.RefusalOpen && r.tid == c.TID && (n <= r.Bytes || r.besides(c)) && (n == 0 || r.got < n) && c.Time.Sub(r.last) <= retryWithin {
		r.Tries++
		if t.loosened.After(r.last) { // to make room for this one
			r.loosed = t.loosened
		}
		r.Smallest, r.last, r.context, r.got, r.Host = min(r.Smallest, n), c.Time, t.context, 0, 0
	} else {
		t.refusal = &refusal{memory: Functions[c.Function].Memory, tid: c.TID, last: c.Time, context: t.context, Refusal: sampler.Refusal{Time: c.Time, Bytes: n, Smallest: n, Function: Functions[c.Function].Name, Tries: 1}}
		if r != nil && r.Outcome == sampler.RefusalOpen && r.tid != c.TID && c.Time.Sub(r.last) <= retryWithin {
			r.other, t.refusal.other = nil, r
		}
	}
	t.refusal.loosed = later(t.refusal.loosed, t.gaveUntold)
	free, read := t.free(t.refusal) // of several tries after it gave its cache back, as a log says it
	t.refusal.frees(free, read, t.gpu.unsure(c.Time))
}

// besides says whether a call asks for memory that moves to the host, of which more than the GPU has may be asked for, in the place of some that does not.
func (r *refusal) besides(c *Call) bool {
	return Functions[c.Function].Memory == Managed && r.memory != Managed && r.Bytes > 0
}

// frees notes what was free, by what was read when; zero: nothing was. What is so about, as not all calls are seen, is not known where it would
// have done for what was refused, or was read so long before, on a machine that had no time to read.
func (r *refusal) frees(n sampler.Opt[sampler.Bytes], read time.Time, about bool) {
	age := sampler.Opt[int]{}
	if !read.IsZero() {
		age = sampler.Some(int(r.last.Sub(read).Milliseconds()))
	}
	if about && (r.Smallest > 0 && n.Or(0) >= r.Smallest || !read.IsZero() && r.last.Sub(read) > showsWithin) {
		n, age, read = sampler.Opt[sampler.Bytes]{}, sampler.Opt[int]{}, time.Time{}
	}
	r.Free, r.FreeAge, r.FreeAbout, r.read = n, age, about && n.Known(), read
}

// possible says whether no more was free than was refused: else a call was counted wrong that came near a reading, if there was one. Who is refused
// less than is free has come to a limit of its own.
func (r *refusal) possible(free sampler.Opt[sampler.Bytes]) bool {
	return r.Smallest == 0 || free.Or(0) < r.Smallest
}

// met notes that a request was met, and what that says of a refusal before.
func (t *tally) met(c *Call, n sampler.Bytes) {
	t.granted++
	r := t.answered(c.TID)
	if r == nil || r.tid != c.TID && c.Time.Add(-c.Took).Before(r.last) { // who had called by then does not answer it
		return
	}
	own, late, open := r.tid == c.TID, c.Time.Sub(r.last) > retryWithin, r.Outcome == sampler.RefusalOpen
	if !late {
		r.got += n
	}
	switch {
	case !open && !r.smallerFirst() && !r.spilled(), late && !(own && r.stillGives(c.Time)):
	case Functions[c.Function].Name != r.Function:
		if open && !late {
			t.other(c, n)
		}
	case r.hasGiven() && (n >= r.Smallest && n <= r.Bytes || open && own && r.rounded(n)):
		if r.piece() {
			t.pieceAt = c.Time
		} else {
			t.flushes++
		}
		t.comes(r, sampler.RefusalFlush, n)
	case open && own && !late && n > r.Bytes && r.hasGiven(): // nobody else made room for that: it does something else
		t.comes(r, sampler.RefusalSmaller, n)
	case !open, late, n > r.Bytes && !own: // what another thread asks for is no further try
	case n >= r.Smallest:
		t.comes(r, sampler.RefusalGranted, n)
	case own && n >= r.Smallest/smallerPart:
		t.comes(r, sampler.RefusalSmaller, n)
	}
}

// Sizes of the pieces that PyTorch's expandable segments are made of.
const (
	smallPiece = 2 * sampler.MiB
	largePiece = 20 * sampler.MiB
)

// piece says whether what was refused was one of many that are asked for in a row.
func (r *refusal) piece() bool {
	return r.Function == "cuMemCreate" && (r.Bytes == smallPiece || r.Bytes == largePiece)
}

// taken takes back that a piece was granted after memory was given back, where another is refused soon after: that was no near miss.
func (t *tally) taken(at time.Time) bool {
	soon := !t.pieceAt.IsZero() && at.Sub(t.pieceAt) <= retryWithin && t.refusal.Outcome == sampler.RefusalFlush
	t.settlePieces(at, false)
	t.pieceAt = time.Time{}
	return soon
}

// settlePieces counts a near miss of pieces when none was refused for a while after it, or none will be.
func (t *tally) settlePieces(now time.Time, over bool) {
	if !t.pieceAt.IsZero() && (over || now.Sub(t.pieceAt) > retryWithin) {
		t.flushes++
		t.pieceAt = time.Time{}
	}
}

// answered is the refusal that a grant to a thread may belong to: its own, if there is one, else the last. nil: there is none.
func (t *tally) answered(tid int) *refusal {
	if r := t.refusal; r != nil && r.tid != tid && r.other != nil && r.other.tid == tid {
		return r.other
	}
	return t.refusal
}

// hasGiven says whether memory was given back since.
func (r *refusal) hasGiven() bool { return r.Freed > 0 || r.trimmed }

// stillGives says whether some was just before a time.
func (r *refusal) stillGives(at time.Time) bool {
	return at.Sub(r.gave) <= retryWithin && at.Sub(r.last) <= againWithin
}

// gives notes that so much was given back.
func (r *refusal) gives(at time.Time, n sampler.Bytes) {
	if r.Outcome == sampler.RefusalOpen || r.spilled() {
		r.Freed += n
		r.gave = at
	}
}

// rounded says whether so much is what was refused, less by what it was rounded up before.
func (r *refusal) rounded(n sampler.Bytes) bool {
	return n < r.Smallest && n >= r.Smallest-r.Smallest/roundedPart
}

// smallerFirst says whether a program that gave memory back was granted less first: it may do all of a step again, with what was refused later.
func (r *refusal) smallerFirst() bool { return r.Outcome == sampler.RefusalSmaller && r.hasGiven() }

// spilled says whether memory of the host was granted in place of what was refused. What lay on the GPU may be moved there, to make room for it.
func (r *refusal) spilled() bool { return r.Outcome == sampler.RefusalOther && r.Host > 0 }

// comes notes what has come of the refusal, as so much was granted. If that is a small part of what another thread was refused before, that
// is still open, and the last refusal again.
func (t *tally) comes(r *refusal, outcome string, granted sampler.Bytes) {
	if r.Outcome = outcome; r != t.refusal {
		t.refusal.other = nil
		return
	}
	if o := t.refusal.other; o != nil && granted < o.Smallest/smallerPart {
		t.refusal = o
	}
}

// other notes that memory of another kind was granted, which may be in place of what was refused: no allocator asks
// again by another function.
func (t *tally) other(c *Call, n sampler.Bytes) {
	if r := t.refusal; r != nil && r.Outcome == sampler.RefusalOpen && r.inPlace(c, n) {
		t.comes(r, sampler.RefusalOther, n)
	}
}

// onHost notes the same of memory of the host, which may be granted in parts.
func (t *tally) onHost(c *Call, n sampler.Bytes) {
	r := t.refusal
	if r != nil && r.Bytes > 0 && (r.Outcome == sampler.RefusalOpen || r.Host > 0) && r.inPlace(c, n) {
		r.Host = min(r.Host+n, sampler.MaxPlausible)
	}
	t.other(c, n)
}

// inPlace says whether so much may be in the place of what was refused, or of a part of it.
func (r *refusal) inPlace(c *Call, n sampler.Bytes) bool {
	return r.tid == c.TID && n >= r.Smallest/smallerPart && c.Time.Sub(r.last) <= retryWithin
}

// smallerPart: what is granted after a refusal is its smaller plan when it is not a small
// fraction of it. BFC asks for 0.9 of what was refused; a plan with fewer layers on the GPU for a half or
// a quarter.
const smallerPart = 8

// roundedPart: who asks again for less by so small a part of it has rounded it otherwise. BFC takes a tenth off.
const roundedPart = 16
