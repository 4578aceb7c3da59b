package report

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// snapshots plays a scene.
func snapshots(s *advicetest.Scene) []sampler.Snapshot {
	gpus := 1
	for _, j := range s.Jobs {
		gpus = max(gpus, j.GPU+1)
	}
	var list []sampler.Snapshot
	for t := 0.0; t < min(s.Seconds, 3000*s.Step); t += s.Step {
		snap, died := s.Snapshot(t, gpus)
		if died {
			break
		}
		list = append(list, snap)
	}
	return list
}

// The alerts of a report are those of a Watch that saw the same snapshots, and those of a
// recording that ends earlier are the same up to there: nothing comes from later.
func TestReportAlertsAreLive(t *testing.T) {
	raised := 0
	for _, class := range []string{"leak", "leak under spikes", "neighbor between spikes", "growing spikes", "ok spikes"} {
		list := snapshots(advicetest.Scenes[class](rand.New(rand.NewPCG(6, 9))))
		w, whole, half := watch.New(watch.Options{}), New(Options{}), New(Options{})
		for i := range list {
			w.Add(list[i])
			whole.Snapshot(&list[i])
			if i < len(list)*2/3 {
				half.Snapshot(&list[i])
			}
		}
		got := whole.Report().Alerts
		if want := w.Past(); len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, the Watch has %v", class, got, want)
		}
		early := half.Report()
		n := 0
		for i, a := range early.Alerts {
			b := got[i]
			a.End, b.End = sampler.Opt[float64]{}, sampler.Opt[float64]{}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %v, later %v", class, a, b)
			}
			n++
		}
		for _, a := range got[n:] {
			if a.T <= early.Duration {
				t.Errorf("%s: an alert at %v is missing in a recording that ends at %v", class, a.T, early.Duration)
			}
		}
		raised += len(got)
	}
	if raised < 3 {
		t.Errorf("only %d alerts", raised)
	}
}

// More alerts than a Watch remembers are all in the report.
func TestReportKeepsManyAlerts(t *testing.T) {
	r := New(Options{})
	at := advicetest.Epoch
	for i := range 700 {
		s := oneCard(at, 8*sampler.GiB, sampler.Process{PID: 7, Memory: sampler.Some(7 * sampler.GiB)})
		r.Snapshot(&s)
		r.OOM(sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", Line: i + 1}, at.Add(time.Second), "log")
		at = at.Add(15 * time.Minute)
	}
	got := r.Report()
	if len(got.Alerts) != 700 || got.Alerts[0].T != 1 {
		t.Errorf("%d alerts, the first at %v", len(got.Alerts), got.Alerts[0].T)
	}
	for i := 1; i < len(got.Alerts); i++ {
		if got.Alerts[i].T < got.Alerts[i-1].T {
			t.Fatalf("alert %d comes before the one before it", i)
		}
	}
}

// What is recalled of a failure is what was so at its own time, also where two print the same.
func TestRecallTellsFailuresApart(t *testing.T) {
	r := New(Options{})
	e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Text: "out of memory"}
	for i, held := range []sampler.Bytes{10 * sampler.GiB, 40 * sampler.GiB} {
		at := advicetest.Epoch.Add(time.Duration(i) * time.Hour)
		s := oneCard(at, held, sampler.Process{PID: 7 + i, Name: "python", Memory: sampler.Some(held)})
		r.Snapshot(&s)
		r.OOM(e, at.Add(time.Second), "log")
	}
	list := r.Recall(explain.Incident{}).Histories
	if a, b := list[0].Process.Or(0), list[1].Process.Or(0); a != 10*sampler.GiB || b != 40*sampler.GiB {
		t.Errorf("the failed processes held %v and %v", a, b)
	}
}

// A report speaks the language that was asked for, also of a failure before the first snapshot.
func TestReportLanguage(t *testing.T) {
	r := New(Options{Lang: "zh"})
	r.OOM(sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU}, advicetest.Epoch, "log")
	if got, want := r.Report().Headline, lang.For("zh").Say("head.cuda_oom"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// oneCard is a snapshot of one GPU of 48 GiB.
func oneCard(at time.Time, used sampler.Bytes, list ...sampler.Process) sampler.Snapshot {
	return sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{Memory: sampler.Memory{Total: sampler.Some(48 * sampler.GiB), Used: sampler.Some(used)}, Processes: list}}}
}

// A failure without a time is put where its job ended; one with a time stays there; a
// process that is left out of one list has not ended.
func TestPlaceFailures(t *testing.T) {
	r := New(Options{Outline: true})
	job := func(pid int, b sampler.Bytes) sampler.Process {
		return sampler.Process{PID: pid, Name: "python", Memory: sampler.Some(b)}
	}
	add := func(second int, list ...sampler.Process) {
		used := sampler.GiB / 2
		for _, p := range list {
			used += p.Memory.Or(0)
		}
		s := oneCard(advicetest.Epoch.Add(time.Duration(second)*time.Second), used, list...)
		r.Snapshot(&s)
	}
	for i := range 300 {
		switch {
		case i == 50:
			add(i, job(1, 10*sampler.GiB)) // 2 is left out once
		case i < 100:
			add(i, job(1, 10*sampler.GiB), job(2, 37*sampler.GiB))
		case i < 200:
			add(i, job(1, 10*sampler.GiB))
		default:
			add(i)
		}
	}
	exits := r.Exits()
	if len(exits) != 2 || exits[0].PID != 2 || exits[0].T != 99 || exits[1].PID != 1 || exits[1].T != 199 || exits[0].Full < 0.98 {
		t.Fatalf("%+v", exits)
	}
	at := func(s float64) time.Time { return advicetest.Epoch.Add(seconds(s)) }
	for _, tt := range []struct {
		name string
		in   LogFailure
		want float64
	}{
		{"nothing known", LogFailure{Event: sampler.OOMEvent{}}, 99.001},
		{"its pid", LogFailure{Event: sampler.OOMEvent{PID: sampler.Some(1)}}, 199.001},
		{"its size", LogFailure{Event: sampler.OOMEvent{ProcessInUse: sampler.Some(10 * sampler.GiB)}}, 199.001},
		{"its time", LogFailure{Time: sampler.Some(at(150))}, 150},
		{"a time of another day", LogFailure{Time: sampler.Some(at(86400))}, 99.001},
		{"between lines with times", LogFailure{Since: sampler.Some(at(120)), Until: sampler.Some(at(150))}, 199.001},
		{"after a line with a time", LogFailure{Since: sampler.Some(at(210))}, 299.001},
		{"survived", LogFailure{Event: sampler.OOMEvent{Recovered: true}}, 0},
	} {
		got, _ := r.PlaceFailures([]LogFailure{tt.in})[0].Time.Value()
		if s := got.Sub(advicetest.Epoch).Seconds(); math.Abs(s-tt.want) > 1e-6 {
			t.Errorf("%s: at %v, want %v", tt.name, s, tt.want)
		}
	}
}

// The figures of a card: time weighs, gaps do not, and unknown stays unknown.
func TestReportFigures(t *testing.T) {
	r := New(Options{})
	for _, p := range []struct {
		second int
		used   sampler.Bytes
	}{{0, 8 * sampler.GiB}, {1, 8 * sampler.GiB}, {2, 16 * sampler.GiB}, {3, 8 * sampler.GiB}, {4, 8 * sampler.GiB}, {3600, 4 * sampler.GiB}} {
		s := oneCard(advicetest.Epoch.Add(time.Duration(p.second)*time.Second), p.used)
		r.Snapshot(&s)
	}
	g := r.Report().GPUs[0]
	if v, _ := g.Typical.Value(); v != 8*sampler.GiB {
		t.Errorf("typical %v", v)
	}
	if v, _ := g.Mean.Value(); v < 8*sampler.GiB || v > 10*sampler.GiB { // the hour of nothing counts for nothing
		t.Errorf("mean %v", v)
	}
	if g.Peak.Bytes != 16*sampler.GiB || g.Peak.T != 2 || g.WorstFree.Or(0) != 32*sampler.GiB || g.Growth.Known() {
		t.Errorf("peak %+v, worst free %v, growth %v", g.Peak, g.WorstFree, g.Growth)
	}
	gaps := 0
	for _, p := range g.Plot {
		if math.IsNaN(p.High) {
			gaps++
		}
	}
	if gaps != 1 {
		t.Errorf("%d gaps in the plot, want 1", gaps)
	}
	empty := New(Options{})
	empty.Snapshot(&sampler.Snapshot{Time: advicetest.Epoch, GPUs: []sampler.GPU{{Error: sampler.Some("GPU is lost")}}})
	if g := empty.Report().GPUs[0]; g.Peak != nil || g.Mean.Known() || g.Typical.Known() || g.WorstFree.Known() {
		t.Errorf("figures from nothing: %+v", g)
	}
}

// The slope is that of the trend: spikes, starts and saw-teeth do not bend it.
func TestSlope(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name string
		at   func(t float64) float64
		want float64 // per second
	}{
		{"flat", func(float64) float64 { return 1e9 }, 0},
		{"leak", func(t float64) float64 { return 1e9 + 2e5*t }, 2e5},
		{"leak in steps", func(t float64) float64 { return 1e9 + 12e6*math.Floor(t/60) }, 2e5},
		{"leak with spikes", func(t float64) float64 {
			if int(t)%97 < 3 {
				return 5e9
			}
			return 1e9 + 2e5*t
		}, 2e5},
		{"saw-tooth", func(t float64) float64 { return 1e9 + 1e8*math.Sin(t/7) }, 0},
		{"start", func(t float64) float64 { return min(1e9, 1e7*t) }, 0},
		{"saturating", func(t float64) float64 { return 1e9 * (2 - math.Exp(-t/200)) }, 0},
		{"warm-up that levels off", func(t float64) float64 { return 4e9 + 26e9*min(1, t/1500) }, 0},
		{"stairs that end", func(t float64) float64 { return 4e9 + 3e9*math.Floor(min(t, 1500)/300) }, 0},
		{"noise", func(float64) float64 { return 1e9 + 1e8*rng.Float64() }, 0},
	} {
		r := New(Options{})
		for s := range 3600 {
			snap := oneCard(advicetest.Epoch.Add(time.Duration(s)*time.Second), sampler.Bytes(tt.at(float64(s))))
			r.Snapshot(&snap)
		}
		got, ok := r.Report().GPUs[0].Growth.Value()
		if got /= 3600; !ok || math.Abs(got-tt.want) > 0.1*tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	short := New(Options{})
	for s := range 60 {
		snap := oneCard(advicetest.Epoch.Add(time.Duration(s)*time.Second), sampler.Bytes(1e9*s))
		short.Snapshot(&snap)
	}
	if short.Report().GPUs[0].Growth.Known() {
		t.Error("a minute has a growth")
	}
}

// Bins keep the least and most of everything, however long it lasts, in fixed room.
func TestBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, scale := range []float64{0.001, 1, 3600} {
		b := newBins(64)
		low, high := math.Inf(1), math.Inf(-1)
		at := 0.0
		for range 2000 {
			at += rng.Float64() * scale
			v := rng.NormFloat64()
			b.add(at, v, v)
			low, high = min(low, v), max(high, v)
		}
		gotLow, gotHigh := math.NaN(), math.NaN()
		last := -1.0
		for _, p := range b.points(1e18) {
			if p.T <= last || p.T > at || p.Low > p.High {
				t.Fatalf("point %+v after %v", p, last)
			}
			last = p.T
			gotLow, gotHigh = lower(gotLow, p.Low), upper(gotHigh, p.High)
		}
		if gotLow != low || gotHigh != high || len(b.low) > 64 {
			t.Errorf("%v to %v in %d bins, want %v to %v", gotLow, gotHigh, len(b.low), low, high)
		}
	}
}
