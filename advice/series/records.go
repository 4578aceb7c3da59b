package series

import "math"

// Record is a value that was higher than all before, and when the holder began to rise to it.
type Record struct {
	T, Top float64
	before bool // it was reached before watching began
}

// Records are the newest records of a holder. They need no level between them: a holder that empties its
// cache before each spike has none.
type Records struct {
	list  [recordsMany]Record
	count int     // of all records
	up    float64 // when the newest rose last
}

const (
	recordsKept = 3
	recordsSome = 4
	recordsMany = 5
	// recordLeast, of the GPU, is how much a record is above the one before; what goes on within recordGap
	// seconds is one rise.
	recordLeast = 0.004
	recordGap   = 10
	// Rises of records are alike when the least of them is half of the largest, and so are the times between
	// them. Of some 500 simulated healthy runs none rose so, by 0.8 to 6 % of the GPU, to where the next such
	// rise would not fit; 78 of 230 that died did.
	recordsAlike = 0.5
	recordsSmall = 0.008
	recordsApart = 20 // seconds
	recordsStale = 3  // times as long as usual without a record: it has stopped
	// Four rises in a row swell when each is larger than the one before by nearly the same factor: an array of which the size doubles, a
	// schedule of longer and longer inputs. One that is hardly larger is alike.
	swellsLeast = 1.05
	swellsMost  = 2.5
	swellsAlike = 1.3
	swellsStale = 2 // times the longest wait without a rise: a schedule has come to its end
)

// waysToRise are the ways in which the newest records may have risen alike: so many of them, by no more than that share of the GPU each, and how much
// alike. Three rises may be larger if they are equal, as of an evaluation that keeps one more output each time; four in a row as well if they are not: an
// evaluation that goes further each time, a resolution that doubles its grid; and larger still if they are alike.
var waysToRise = [...]struct {
	records      int
	large, alike float64
}{{recordsKept, 0.06, recordsAlike}, {recordsSome, 0.15, 0.9}, {recordsMany, 0.15, recordsAlike}, {recordsMany, 0.2, 0.75}}

// add takes what a holder had at most since the sample before. known: it held memory before it was watched.
func (r *Records) add(t, high, limit float64, known bool) {
	newest := r.back(0)
	switch {
	case r.count == 0 && known:
		r.put(Record{T: t, Top: high, before: true})
		r.up = t - recordGap - 1
		return
	case high <= newest.Top+recordLeast*limit && r.count > 0:
		return
	case r.count > 0 && t-r.up <= recordGap:
		r.list[(r.count-1)%recordsMany].Top = high
	default:
		r.put(Record{T: t, Top: high})
	}
	r.up = t
}

// Newest is when the last record rose, in seconds of the Watch's clock.
func (r *Records) Newest() float64 { return r.up }

// Known says whether all but the newest were reached before that time: the newest alone is more than was there.
func (r *Records) Known(before float64) bool { return r.count > 1 && r.back(1).T <= before }

// Before is the highest that was reached by rises that began before that time; 0: none that is kept.
func (r *Records) Before(t float64) float64 {
	for i := range min(r.count, recordsMany) {
		if one := r.back(i); one.T < t {
			return one.Top
		}
	}
	return 0
}

func (r *Records) put(one Record) {
	r.list[r.count%recordsMany] = one
	r.count++
}

// back returns the newest record but i; zero when there is none.
func (r *Records) back(i int) Record {
	if i >= min(r.count, recordsMany) {
		return Record{}
	}
	return r.list[(r.count-1-i)%recordsMany]
}

// Flight are the steps that the newest rises are, when the holder stands on the last; ok is false when
// there are none. They are two: fewer than Stairs needs, but nothing higher was ever there.
func (r *Records) Flight(now, limit, stands float64) (f Flight, ok bool) {
	if f, ok = r.swelling(now, limit); ok && stood(stands, r.back(0).Top, f.Newest) {
		return f, true
	}
	top, rise, period, ok := r.Rising(now, limit)
	if !ok || !stood(stands, top, rise) {
		return f, false
	}
	return Flight{Steps: recordsKept - 1, Size: rise, Interval: period, Since: r.back(1).T, Last: r.back(0).T, alike: true}, true
}

// swelling are the steps that the newest rises are where they get larger and larger.
func (r *Records) swelling(now, limit float64) (f Flight, ok bool) {
	if r.count < recordsMany {
		return f, false
	}
	const n = recordsMany - 1
	var rises, waits [n]float64
	short, long := math.Inf(1), 0.0
	for i := range n {
		late, early := r.back(i), r.back(i+1)
		rises[i] = late.Top - early.Top
		if !early.before { // else when it was reached is not known
			waits[i] = late.T - early.T
			short, long = min(short, waits[i]), max(long, waits[i])
		}
	}
	least, most := math.Inf(1), 0.0
	for i := range n - 1 {
		factor := rises[i] / rises[i+1]
		least, most = min(least, factor), max(most, factor)
	}
	period, paced := (r.back(0).T-r.back(n-1).T)/(n-1), short >= recordsAlike*long
	slower := slows(waits[:], most)
	if !paced && slower > 0 {
		period, paced = waits[0]*slower, true
	}
	swell := least >= swellsLeast && most <= swellsMost && most <= swellsAlike*least
	if !swell || !paced || short < recordsApart || rises[0] < recordsSmall*limit || now-r.back(0).T > swellsStale*max(long, waits[0]*slower) {
		return f, false
	}
	return Flight{Steps: n, Size: rises[0] * least, Newest: rises[0], Swell: least, Interval: period, Since: r.back(n - 1).T, Last: r.back(0).T, alike: true}, true
}

// slows is how many times as long as the one before each wait, the newest first, at least is, where each is longer by no more than rises swell: what is
// filled at an even rate takes twice as long to be full once it is twice as large. 0: they are not so.
func slows(waits []float64, swell float64) float64 {
	least := math.Inf(1)
	for i := range len(waits) - 1 {
		if waits[i+1] == 0 { // when that one was reached is not known
			break
		}
		slower := waits[i] / waits[i+1]
		if slower < 1/swellsAlike || slower > swellsAlike*swell {
			return 0
		}
		least = min(least, slower)
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return max(1, least)
}

// stood says whether a holder stands on its record, which is no spike then.
func stood(level, top, rise float64) bool { return level >= top-rise/2 }

// Rising says whether the newest records rose alike and are not long over: where the newest ended, the
// least of the rises and the time between them, of which the first is not known where the first record was
// reached before watching began.
func (r *Records) Rising(now, limit float64) (top, rise, period float64, ok bool) {
	for _, way := range waysToRise {
		if rise, period, ok = r.rising(now, limit, way.records, way.large, way.alike); ok {
			return r.back(0).Top, rise, period, true
		}
	}
	return 0, 0, 0, false
}

// rising looks at so many of the newest, of which none may be above the one before by more than that share of the limit, nor by less than the share
// alike of what another is.
func (r *Records) rising(now, limit float64, n int, large, alike float64) (least, period float64, ok bool) {
	if r.count < n {
		return 0, 0, false
	}
	short, least, most, long := math.Inf(1), math.Inf(1), 0.0, 0.0
	from := n - 1
	for i := range n - 1 {
		late, early := r.back(i), r.back(i+1)
		least, most = min(least, late.Top-early.Top), max(most, late.Top-early.Top)
		if early.before { // when it was reached is not known
			from = i
			break
		}
		short, long = min(short, late.T-early.T), max(long, late.T-early.T)
	}
	if least < alike*most || short < recordsAlike*long || least < recordsSmall*limit || most > large*limit || short < recordsApart || now-r.back(0).T > recordsStale*long {
		return 0, 0, false
	}
	return least, (r.back(0).T - r.back(from).T) / float64(from), true
}
