package watch

import (
	"math"
	"testing"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Equal steps that are never given back tell by their number and interval when one does not fit, from the first notice
// on: the slope through them begins with the flat time before them.
func TestTimeLeftOfSteps(t *testing.T) {
	const begin, interval, step, flat, total = 1000, 213, 614, 27128, 40960
	w := New(Options{})
	end := begin + interval*math.Floor((total-flat)/step)
	notice := math.NaN()
	for at := 0.0; at < end; at++ {
		used := flat + step*math.Floor(max(0, at-begin+interval)/interval)
		for _, a := range w.Add(snapshotOf(at, total, used, processOf(7, "python train.py", used))) {
			eta, known := a.ETA.Value()
			if lasted := math.Mod(at-begin, interval); a.Kind != sampler.AlertGrowth || !known || lasted < 3 { // a step counts when it has lasted
				continue
			}
			if math.IsNaN(notice) {
				notice = at
			}
			if math.Abs(eta-(end-at)) > 10 {
				t.Fatalf("at %v s it is said to last %v s, and lasts %v", at, eta, end-at)
			}
		}
	}
	if !(notice < 0.7*end) {
		t.Errorf("told of at %v of %v s", notice, end)
	}
}

// What the log says to be allocated may rise slower than what its allocator takes from the GPU for it, by steps: the time
// left is that of the steps.
func TestTimeLeftOfKeptSteps(t *testing.T) {
	const interval, step, total = 200, 600, 40000
	w := New(Options{})
	for at := 0.0; at < 3000; at++ {
		n := math.Floor(max(0, at-200) / interval)
		used := 25000 + step*n
		if int(at)%20 == 0 {
			w.Mark(sampler.LogMark{Kind: sampler.MarkAllocator, Allocated: sampler.Some(series.Bytes(15000 + 400*n))})
		}
		w.Add(snapshotOf(at, total, used, processOf(7, "python train.py", used)))
	}
	f := w.facts(w.gpus[0].at)
	f.gpu = w.gpus[0]
	p := f.gpu.procs[0]
	got, ok, _ := keptGrowth(&f, p, &p.logged, "alert.growth.logged")
	left := 200 + interval*math.Floor((total-25000)/step+1) - f.now
	if eta, known := got.eta.Value(); !ok || !known || math.Abs(eta-left) > 10 {
		t.Errorf("it is said to last %v s, and lasts %v: %v %+v", eta, left, ok, got)
	}
}

// Who climbs by steps from one emptied cache to the next ends as before, and only what it keeps beneath brings it to its end; unless it has come
// higher than it ever did.
func TestKeptBeneathTeeth(t *testing.T) {
	for name, row := range map[string]struct {
		top  float64 // MiB that the last tooth comes to
		want bool
	}{"as before": {10000, false}, "a little higher": {10900, false}, "much higher": {11100, true}} {
		const tooth, teeth = 200, 16
		f := fullOf(8000, processOf(7, "python etl.py", 0))
		p := f.gpu.procs[0]
		p.series.Start(0, true)
		p.dips = series.Dips{}
		for i := range tooth * teeth {
			at := float64(i)
			n, phase := math.Floor(at/tooth), math.Floor(math.Mod(at, tooth)/20)/10
			top := 10000.0
			if n == teeth-1 {
				top = row.top
			}
			low := 2000 + 30*n
			f.now = at
			used := low + (top-low)*phase/0.9
			p.series.Add(at, used, used, used, 16384)
			p.dips.Add(at, used, used, 16384)
		}
		_, ok, known := keptGrowth(f, p, &p.dips.Kept, "alert.growth.dips")
		if !known || ok != row.want {
			t.Errorf("%s: known %v, told %v", name, known, ok)
		}
	}
}

// While a finding is not there again its alert stays open, and its time goes on.
func TestTimeGoesOn(t *testing.T) {
	in := &incident{seen: 10, found: finding{eta: sampler.Some(100.0)}}
	for _, row := range []struct{ now, left float64 }{{10, 100}, {40, 70}, {110, 0}, {300, 0}} {
		if in.wait(row.now); in.now.ETA != sampler.Some(row.left) {
			t.Errorf("at %v s: %v, want %v", row.now, in.now.ETA, row.left)
		}
	}
	in = &incident{}
	if in.wait(50); in.now.ETA.Known() {
		t.Errorf("no time was known, and now it is %v", in.now.ETA)
	}
}

// When a leak of small tensors beside large ones ends is not said with less than 4 % of the GPU left.
func TestTimeLeftOfTheLast(t *testing.T) {
	for used, known := range map[float64]bool{19200: true, 19201: false} {
		f := fullOf(used, processOf(7, "python a.py", used))
		s := &f.gpu.procs[0].series
		for i := range 100 { // by 2 MiB, until now
			v := used - 198 + 2*float64(i)
			s.Add(f.now-99+float64(i), v, v, v, 20000)
		}
		s.Working = true
		f.gpu.tick++ // what was settled is asked anew
		growth := &series.Growth{Found: true, Trend: series.Trend{Until: 9999, Slope: 1, Early: 1, Late: 1, To: 5000}}
		if got, ok := growthOf(f, 7, s, growth); !ok || got.eta.Known() != known {
			t.Errorf("%v MiB of 20000: %v %+v", used, ok, got)
		}
	}
}

// Before a request fails, a leak of large tensors has 1.2 % of the GPU given back, at most a quarter of the room; one of
// small tensors beside large ones, on a busy GPU, has 5 %, at most three fifths of it.
func TestTimeLeftByPieces(t *testing.T) {
	for _, kind := range []struct {
		piece float64
		works bool
		rows  [][5]float64 // room, and the time to it: at least, near the end, likely, at most
	}{
		{2, true, [][5]float64{{1000, 900, 1240, 1600, 2200}, {4000, 3600, 4240, 5000, 5500}}},
		{30, true, [][5]float64{{800, 720, 1000, 1000, 1100}, {1000, 900, 1240, 1240, 1364}}},
		{2, false, [][5]float64{{1000, 900, 1240, 1240, 1364}}}, // it need not have large ones
	} {
		var s series.Series
		s.Start(0, true)
		s.Working = kind.works
		for i := range 200 {
			v := 5000 + kind.piece*float64(i)
			s.Add(float64(i), v, v, v, 20000)
		}
		for _, row := range kind.rows {
			low, near, likely, high := trendLeft(&s, series.Trend{Until: 100, Slope: 1, Early: 1, Late: 1}, row[0], 20000)
			if got := [4]float64{math.Round(low), math.Round(near), math.Round(likely), math.Round(high)}; got != [4]float64(row[1:]) {
				t.Errorf("by %v MiB, works %v, room for %v: %v, want %v", kind.piece, kind.works, row[0], got, row[1:])
			}
		}
	}
}

// When others take more than what a process keeps, how long the room lasts is not to be seen from its own growth.
func TestTimeLeftBesideAnother(t *testing.T) {
	for other, want := range map[float64]bool{0: true, 200: true, 500: false} { // MiB an interval; the log tells of 400
		w := New(Options{})
		for at := 0.0; at < 3000; at++ {
			n := math.Floor(max(0, at-200) / 200)
			used, taken := 23000+600*n, 1000+other*n
			if int(at)%20 == 0 {
				w.Mark(sampler.LogMark{Kind: sampler.MarkAllocator, Allocated: sampler.Some(series.Bytes(15000 + 400*n))})
			}
			w.Add(snapshotOf(at, 40000, used+taken, processOf(7, "python train.py", used), processOf(8, "python -m ipykernel_launcher", taken)))
		}
		f := w.facts(w.gpus[0].at)
		f.gpu = w.gpus[0]
		for _, p := range f.gpu.procs {
			if p.pid != 7 {
				continue
			}
			if got, ok, _ := keptGrowth(&f, p, &p.logged, "alert.growth.logged"); !ok || got.eta.Known() != want {
				t.Errorf("beside another that takes %v: %v, time left %v", other, ok, got.eta)
			}
			const seconds = 1000
			taken := f.gpu.withPID(8).series.Risen(seconds)
			if f.gpu.outpaced(&p.series, taken/seconds, seconds) || taken > 0 && !f.gpu.outpaced(&p.series, taken/seconds-0.01, seconds) {
				t.Errorf("beside another that took %v: not told at that bound", taken)
			}
		}
	}
}
