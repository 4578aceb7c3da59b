package history

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// noon begins the tests; it is not on a border of any step that matters.
var noon = time.Date(2026, 11, 20, 12, 0, 7, 300e6, time.UTC)

// added is one call of Add, for the naive model.
type added struct {
	from, at time.Time
	v        float64
}

// shownSpans are what the screen offers.
var shownSpans = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// wander makes additions about once a second with gaps and spikes until end.
func wander(rnd *rand.Rand, start time.Time, d time.Duration) (list []added) {
	at, from := start, start
	for at.Before(start.Add(d)) {
		v := 9000 + 100*rnd.Float64()
		switch rnd.IntN(300) {
		case 0:
			v += 40000 * rnd.Float64()
		case 1:
			at = at.Add(time.Duration(rnd.IntN(400)) * time.Second)
			from = at
		}
		list = append(list, added{from, at, v})
		from, at = at, at.Add(time.Second+time.Duration(rnd.IntN(60)-30)*time.Millisecond)
	}
	return list
}

// resolution is the step of the tier that Columns takes for such columns.
func resolution(step time.Duration, n int, tr *Track) time.Duration {
	for i := range tiers {
		if time.Duration(n)*step <= tiers[i].step*time.Duration(tr.rings[i].size) &&
			(i == len(tiers)-1 || step < 2*tiers[i+1].step) {
			return tiers[i].step
		}
	}
	return tiers[len(tiers)-1].step
}

// checkColumns compares columns with the list: a value is in the column of its time, and
// a column holds nothing larger than was added at most one step of the tier beside it.
func checkColumns(t *testing.T, tr *Track, list []added, end time.Time, step time.Duration, n int) {
	t.Helper()
	got := tr.Columns(end, step, n)
	if len(got) != n {
		t.Fatalf("%d columns of %v: got %d", n, step, len(got))
	}
	u := resolution(step, n, tr)
	first := end.UnixNano()/int64(step) - int64(n) + 1
	bound := make([]float64, n)
	for i := range bound {
		bound[i] = math.NaN()
	}
	over := func(a, b float64) bool { return b != b || a > b } // a is more extreme than b
	if tr.byMin {
		over = func(a, b float64) bool { return b != b || a < b }
	}
	kept := end.Add(-tiers[len(tiers)-1].step * time.Duration(tiers[len(tiers)-1].keep-1))
	for _, a := range list {
		if c := a.at.UnixNano()/int64(step) - first; c >= 0 && c < int64(n) && a.at.After(kept) {
			if v := float64(float32(a.v)); over(v, got[c]) {
				t.Fatalf("%d columns of %v: %g at %v is not in its column, which has %g", n, step, a.v, a.at, got[c])
			}
		}
		lo := max(a.from.Add(-u).UnixNano()/int64(step)-first, 0)
		hi := min(a.at.Add(u).UnixNano()/int64(step)-first, int64(n)-1)
		for c := lo; c <= hi; c++ {
			if over(a.v, bound[c]) {
				bound[c] = a.v
			}
		}
	}
	for c := range got {
		if got[c] == got[c] && (bound[c] != bound[c] || got[c] != float64(float32(bound[c])) && over(got[c], bound[c])) {
			t.Fatalf("%d columns of %v: column %d has %g, but only %g was added near it", n, step, c, got[c], bound[c])
		}
	}
}

// TestColumnsAgainstModel holds Track against a list of everything that was added.
func TestColumnsAgainstModel(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		length := []time.Duration{3 * time.Minute, 40 * time.Minute, 5 * time.Hour, 30 * time.Hour}[seed%4]
		list := wander(rnd, noon.Add(time.Duration(rnd.IntN(1e9))), length)
		for _, byMin := range []bool{false, true} {
			tr := newTrack(byMin, gpuTiers())
			small := newTrack(byMin, processTiers)
			for _, a := range list {
				tr.Add(a.from, a.at, a.v)
				small.Add(a.from, a.at, a.v)
			}
			end := list[len(list)-1].at
			for _, span := range shownSpans {
				for _, n := range []int{1, 7, 55, 75, 195, 400} {
					step := ColumnStep(span, n)
					checkColumns(t, tr, list, end, step, n)
					checkColumns(t, small, list, end, step, n)
				}
			}
		}
	}
}

// TestSpikeAtEverySpan looks for a spike of one addition while it grows old.
func TestSpikeAtEverySpan(t *testing.T) {
	const spike = 47 * 1024
	for _, keep := range [][len(tiers)]int{gpuTiers(), processTiers} {
		tr := newTrack(false, keep)
		at := noon
		add := func(v float64) { tr.Add(at, at.Add(time.Second), v); at = at.Add(time.Second) }
		add(spike)
		spikeAt := at
		for age := range 24 * 60 * 60 {
			if age%617 == 0 {
				for _, span := range shownSpans {
					for _, n := range []int{15, 75, 195} {
						step := ColumnStep(span, n)
						if at.Sub(spikeAt) >= span-step-time.Minute {
							continue // it may have left
						}
						if got := maxOf(tr.Columns(at, step, n)); got != spike {
							t.Fatalf("a spike %v ago, %d columns for %v: the highest is %g", at.Sub(spikeAt), n, span, got)
						}
					}
				}
			}
			add(9 * 1024)
		}
	}
}

func maxOf(values []float64) float64 {
	best := math.NaN()
	for _, v := range values {
		if v == v && (best != best || v > best) {
			best = v
		}
	}
	return best
}

// TestColumnsStayPut lets time go on: complete columns do not change, and the picture
// shifts by whole columns.
func TestColumnsStayPut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	for i, span := range shownSpans[:5] {
		n := []int{25, 75, 115, 195, 395}[(i+1)%5]
		step := ColumnStep(span, n)
		tr := newTrack(false, gpuTiers())
		list := wander(rnd, noon.Add(-7*time.Hour), 7*time.Hour+3*step)
		split := len(list) - int(3*step/time.Second)
		for _, a := range list[:split] {
			tr.Add(a.from, a.at, a.v)
		}
		end := list[split-1].at
		before := tr.Columns(end, step, n)
		for _, a := range list[split:] {
			tr.Add(a.from, a.at, a.v)
			after := tr.Columns(a.at, step, n)
			shift := int(a.at.UnixNano()/int64(step) - end.UnixNano()/int64(step))
			for i := 0; i+shift < n-1; i++ {
				x, y := after[i], before[i+shift]
				if x != y && (x == x || y == y) {
					t.Fatalf("span %v: column %d changed from %g to %g after %v", span, i, y, x, a.at.Sub(end))
				}
			}
			before, end = after, a.at
		}
	}
}

func TestColumnStep(t *testing.T) {
	for _, row := range []struct {
		span time.Duration
		n    int
		want time.Duration
	}{
		{time.Minute, 200, time.Second}, // never under a second
		{time.Minute, 60, time.Second},
		{time.Minute, 59, 2 * time.Second},
		{5 * time.Minute, 75, 4 * time.Second},
		{5 * time.Minute, 74, 5 * time.Second},
		{15 * time.Minute, 80, 20 * time.Second}, // whole steps of ten seconds
		{time.Hour, 75, 50 * time.Second},
		{time.Hour, 60, time.Minute},
		{time.Hour, 59, 2 * time.Minute}, // whole minutes
		{24 * time.Hour, 195, 8 * time.Minute},
		{time.Hour, 1, time.Hour},
		{90 * time.Second, 1, 2 * time.Minute},
		{time.Hour, 0, time.Hour},
		{time.Hour, -1, time.Hour},
	} {
		got := ColumnStep(row.span, row.n)
		if got != row.want {
			t.Errorf("ColumnStep(%v, %d) = %v, want %v", row.span, row.n, got, row.want)
		}
		if row.n > 0 && got*time.Duration(row.n) < row.span {
			t.Errorf("ColumnStep(%v, %d) = %v does not cover the span", row.span, row.n, got)
		}
	}
}

func TestColumnsOfNothing(t *testing.T) {
	tr := newTrack(false, gpuTiers())
	for _, v := range tr.Columns(noon, time.Second, 30) {
		if v == v {
			t.Fatalf("an empty track has the value %g", v)
		}
	}
	if got := tr.Columns(noon, time.Second, 0); len(got) != 0 {
		t.Errorf("no columns give %v", got)
	}
	tr.Add(noon, noon, 0)
	if got := tr.Columns(noon, time.Second, 3); got[2] != 0 || got[1] == got[1] {
		t.Errorf("one value of 0 gives %v", got)
	}
}

// TestGapStaysEmpty: nothing is drawn across time in which nothing was measured.
func TestGapStaysEmpty(t *testing.T) {
	tr := newTrack(false, gpuTiers())
	at := noon.Truncate(time.Minute)
	for i := range 120 {
		tr.Add(at.Add(time.Duration(i-1)*time.Second), at.Add(time.Duration(i)*time.Second), 5)
	}
	later := at.Add(2 * time.Hour)
	tr.Add(later, later, 6)
	for _, step := range []time.Duration{time.Second, 20 * time.Second, 2 * time.Minute} {
		n := int(3 * time.Hour / step)
		got, known := tr.Columns(later, step, n), 0
		for _, v := range got {
			if v == v {
				known++
			}
		}
		if want := int(2*time.Minute/step) + 1; known < want || known > want+1 {
			t.Errorf("columns of %v: %d are known, want %d and the last", step, known, want-1)
		}
	}
}

// TestTimeBackwards sets the clock back: no panic, and no peak is lost.
func TestTimeBackwards(t *testing.T) {
	for _, back := range []time.Duration{time.Second, 30 * time.Second, 10 * time.Minute} {
		tr := newTrack(false, gpuTiers())
		at := noon
		for range 60 {
			tr.Add(at.Add(-time.Second), at, 5)
			at = at.Add(time.Second)
		}
		latest := at
		at = at.Add(-back)
		tr.Add(at, at, 47)
		for range 700 {
			at = at.Add(time.Second)
			tr.Add(at.Add(-time.Second), at, 5)
		}
		if at.Before(latest) {
			at = latest
		}
		for _, step := range []time.Duration{time.Second, 30 * time.Second} {
			if got := maxOf(tr.Columns(at, step, int(30*time.Minute/step))); got != 47 {
				t.Errorf("%v back, columns of %v: the highest is %g, want the peak 47", back, step, got)
			}
		}
	}
}

// TestAnyTime adds at times no clock should show.
func TestAnyTime(t *testing.T) {
	times := []time.Time{{}, time.Unix(0, 0), time.Unix(-1, 0), noon, time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2261, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}
	for _, a := range times {
		for _, b := range times {
			for _, end := range times {
				tr := newTrack(true, processTiers)
				tr.Add(a, b, 1)
				tr.Add(b, a, 2)
				if got := tr.Columns(end, time.Second, 40); len(got) != 40 {
					t.Fatalf("%d columns at %v", len(got), end)
				}
			}
		}
	}
}

// TestTrackMemory: a figure that does not move takes no memory.
func TestTrackMemory(t *testing.T) {
	tr := newTrack(false, gpuTiers())
	at := noon
	if n := testing.AllocsPerRun(5000, func() {
		at = at.Add(time.Second)
		tr.Add(at.Add(-time.Second), at, 5)
	}); n != 0 {
		t.Errorf("Add allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { tr.Columns(at, time.Minute, 200) }); n > 1 { // its result
		t.Errorf("Columns allocates %v times", n)
	}
}

func FuzzTrack(f *testing.F) {
	f.Add(int64(0), int64(1e9), 5.0, int64(2e9), int64(1e9), uint8(20))
	f.Add(noon.UnixNano(), noon.UnixNano()+1e9, math.Inf(1), noon.UnixNano(), int64(60e9), uint8(200))
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), math.NaN(), int64(-1), int64(1), uint8(0))
	f.Fuzz(func(t *testing.T, from, at int64, v float64, end, step int64, n uint8) {
		tr := newTrack(false, processTiers)
		tr.Add(time.Unix(0, from), time.Unix(0, at), v)
		tr.Add(time.Unix(0, at), time.Unix(0, from), v/2)
		s := max(time.Second, time.Duration(step)%(25*time.Hour)).Truncate(time.Second) // as ColumnStep gives
		if got := tr.Columns(time.Unix(0, end), s, int(n)); len(got) != int(n) {
			t.Errorf("%d columns, asked for %d", len(got), n)
		}
	})
}

// TestStillTrackIsSmall: the many processes whose memory never moves must not take what one
// that wanders does, nor those that lived for a moment.
func TestStillTrackIsSmall(t *testing.T) {
	own := func(tr *Track) (n int) {
		for i := range tr.rings {
			for _, b := range tr.rings[i].blocks {
				if b.each != nil {
					n++
				}
			}
		}
		return n
	}
	tr := newTrack(false, processTiers)
	at := noon
	tr.Add(at, at, 5)
	if n := own(tr); n > len(tiers) {
		t.Errorf("after one value %d blocks have slots of their own", n)
	}
	for range 2 * 24 * 3600 {
		at = at.Add(time.Second)
		tr.Add(at.Add(-time.Second), at, 5)
	}
	if n := own(tr); n > 0 {
		t.Errorf("two days of one value: %d blocks have slots of their own", n)
	}
	tr.Add(at, at.Add(time.Second), 6)
	if got := tr.Columns(at.Add(time.Second), time.Second, 3); got[0] != 5 || got[1] != 5 || got[2] != 6 {
		t.Errorf("the next value makes %v of them, want 5, 5 and 6", got)
	}
}

// What is kept is the most, or the least, and anything instead of nothing.
func TestOver(t *testing.T) {
	nan := float32(math.NaN())
	for _, row := range []struct {
		v, was      float32
		most, least bool
	}{{2, 1, true, false}, {1, 2, false, true}, {1, 1, false, false}, {1, nan, true, true}, {nan, 1, false, false}} {
		if most, least := over(row.v, row.was, false), over(row.v, row.was, true); most != row.most || least != row.least {
			t.Errorf("%v instead of %v: %v as the most, %v as the least", row.v, row.was, most, least)
		}
	}
}

// A block whose slots turn out all the same gives them back when it is complete.
func TestCompleteBlockFolds(t *testing.T) {
	r := newRing(4 * slotCount)
	for n := range int64(2*slotCount + 1) {
		r.put(4*slotCount+n, 5, false)
	}
	for i, own := range []bool{false, false, true, false} {
		if got := r.blocks[i].each != nil; got != own {
			t.Errorf("block %d has slots of its own: %v", i, got)
		}
	}
}
