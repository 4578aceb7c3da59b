package advice

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A scene is a simulated box. Each job says how much it wants at each step; the first
// that does not get it dies, and the run ends there.
type scene struct {
	class    string
	r        *rand.Rand
	total    float64
	reserved float64
	seconds  float64
	step     float64 // between snapshots
	hidden   bool    // no process is listed
	windows  bool    // the fast lane's window is recorded
	jobs     []*job
	host     func(t float64) (available, total float64)
	possible bool    // somebody who knows only the past could have warned
	after    float64 // a warning before this moment is no credit: nothing had happened yet
}

// job is one process on card gpu from start to end.
type job struct {
	gpu        int
	pid        int
	start, end float64
	command    string
	user       string
	want       func(t float64) float64 // seconds since its start, MiB
}

// outcome of a scene.
type outcome struct {
	died   float64 // NaN: lived
	alerts []sampler.Alert
	hours  float64
}

// play runs a scene through a Watch.
func (s *scene) play() outcome {
	w := NewWatch(Options{})
	out := outcome{died: math.NaN()}
	gpus := 1
	for _, j := range s.jobs {
		gpus = max(gpus, j.gpu+1)
	}
	for t := 0.0; t < s.seconds; t += s.step {
		snap, died := s.snapshot(t, gpus)
		if died {
			out.died = t
			break
		}
		w.Add(snap)
		out.hours = t / 3600
	}
	out.alerts = w.Past()
	return out
}

func (s *scene) snapshot(t float64, gpus int) (snap sampler.Snapshot, died bool) {
	snap = sampler.Snapshot{Type: "snapshot", Time: epoch.Add(time.Duration(t * float64(time.Second)))}
	for g := range gpus {
		sum, most, least := 0.0, 0.0, 0.0
		var procs []sampler.Process
		for _, j := range s.jobs {
			if j.gpu != g || t < j.start || t >= j.end {
				continue
			}
			now := j.want(t - j.start)
			sum += now
			high, low := now, now
			if s.windows && t-s.step >= j.start {
				for k := range 9 {
					v := j.want(t - j.start - s.step*float64(k+1)/10)
					high, low = max(high, v), min(low, v)
				}
			}
			most, least = most+high, least+low
			procs = append(procs, sampler.Process{PID: j.pid, Name: "python", User: j.user, Command: j.command,
				StartTime: sampler.Some(epoch.Add(time.Duration(j.start * float64(time.Second)))), Memory: sampler.Some(bytesOf(now))})
		}
		if max(sum, most) > s.total-s.reserved {
			return snap, true
		}
		card := sampler.GPU{Index: g, Memory: sampler.Memory{Total: sampler.Some(bytesOf(s.total)), Used: sampler.Some(bytesOf(sum))}}
		if s.reserved > 0 {
			card.Memory.Reserved = sampler.Some(bytesOf(s.reserved))
		}
		if s.windows {
			card.Memory.Window = &sampler.Window{Min: bytesOf(least), Max: bytesOf(most), Readings: 10}
		}
		if !s.hidden {
			card.Processes = procs
		}
		snap.GPUs = append(snap.GPUs, card)
	}
	if s.host != nil {
		left, all := s.host(t)
		if left <= 0 {
			return snap, true
		}
		snap.HostMemory = sampler.Some(sampler.HostMemory{Total: bytesOf(all), Available: bytesOf(left)})
	}
	return snap, false
}

func uniform(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// logUniform is for times and sizes of which one does not know the order of magnitude.
func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, r.Float64())
}

// noise is the same number for the same moment: jobs are functions of time.
func noise(seed uint64, k int64) float64 {
	x := seed*0x9e3779b97f4a7c15 + uint64(k)*0xbf58476d1ce4e5b9
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// training is a job that loads, warms up in steps that get rarer, and stays.
func training(r *rand.Rand, level float64) func(float64) float64 {
	load, warm := uniform(r, 3, 60), logUniform(r, 5, 300)
	context := uniform(r, 400, 900)
	share := uniform(r, 0.3, 0.95) // of the level that loading brings
	seed := r.Uint64()
	wait := uniform(r, 0, 40)
	return func(t float64) float64 {
		if t < wait {
			return context
		}
		t -= wait
		if t < load {
			return context + (level*share-context)*t/load
		}
		// Steps at doubling times, each smaller.
		left := level * (1 - share)
		done := 0.0
		at := load + warm*0.1
		for k := int64(0); at <= t && k < 12; k++ {
			part := (1 - done) * (0.3 + 0.4*noise(seed, k))
			done += part
			at += warm * 0.2 * math.Pow(1.6, float64(k)) * (0.5 + noise(seed, k+100))
		}
		return level*share + left*done
	}
}

// spikes adds spikes of a height to a job, from its first validation on.
func spikes(base func(float64) float64, first, period, width float64, height func(k int64) float64) func(float64) float64 {
	return func(t float64) float64 {
		v := base(t)
		if t < first {
			return v
		}
		k := int64((t - first) / period)
		into := t - first - float64(k)*period
		if into < width {
			rise := min(1, into/min(3, width/2)+0.2)
			return v + height(k)*rise
		}
		return v
	}
}

func newScene(class string, r *rand.Rand) *scene {
	totals := []float64{8192, 16384, 24115, 48640, 81920}
	s := &scene{class: class, r: r, total: totals[r.IntN(len(totals))], seconds: logUniform(r, 600, 6*3600),
		step: []float64{0.5, 1, 1, 1, 2, 5}[r.IntN(6)], hidden: r.IntN(3) == 0, windows: r.IntN(2) == 0, possible: true}
	if r.IntN(2) == 0 {
		s.reserved = s.total * 0.007
	}
	return s
}

func (s *scene) add(want func(float64) float64) *job {
	j := &job{pid: 4000 + len(s.jobs), end: math.Inf(1), command: "python train.py", user: "ann", want: want}
	s.jobs = append(s.jobs, j)
	return j
}

// scenes is every class of runs. Those named "ok" are healthy.
var scenes = map[string]func(r *rand.Rand) *scene{
	"ok training": func(r *rand.Rand) *scene {
		s := newScene("ok training", r)
		s.add(training(r, s.total*uniform(r, 0.3, 0.97)))
		return s
	},
	"ok prealloc": func(r *rand.Rand) *scene {
		s := newScene("ok prealloc", r)
		level, load, seed := s.total*uniform(r, 0.74, 0.97), uniform(r, 1, 120), r.Uint64()
		jitter := uniform(r, 0, 0.002) * s.total
		s.add(func(t float64) float64 { return level*min(1, 0.02+t/load) + jitter*noise(seed, int64(t)) })
		return s
	},
	"ok saw-tooth": func(r *rand.Rand) *scene {
		s := newScene("ok saw-tooth", r)
		low := s.total * uniform(r, 0.1, 0.6)
		top := low + (s.total*0.97-low)*uniform(r, 0.05, 1)
		period := logUniform(r, 0.7, 1800)
		ramp := r.IntN(2) == 0
		s.add(func(t float64) float64 {
			_, part := math.Modf(t / period)
			if ramp {
				return low + (top-low)*part
			}
			return low + (top-low)*(0.5+0.5*math.Sin(2*math.Pi*part))
		})
		return s
	},
	"ok variable batches": func(r *rand.Rand) *scene {
		s := newScene("ok variable batches", r)
		base, seed, sigma := s.total*uniform(r, 0.1, 0.4), r.Uint64(), uniform(r, 0.1, 0.5)
		per := logUniform(r, 0.2, 3)
		room := s.total*uniform(r, 0.5, 0.96) - base
		size := func(k int64) float64 { // at most room, log-normal below
			u := noise(seed, k) + noise(seed, k+1e6) + noise(seed, k+2e6) - 1.5
			return min(1, 0.45*math.Exp(sigma*2*u)) * room
		}
		if r.IntN(2) == 0 { // a cache keeps the largest
			top, done := 0.0, int64(-1)
			s.add(func(t float64) float64 {
				for k := done + 1; k <= int64(t/per); k++ {
					top, done = max(top, size(k)), k
				}
				return base + top
			})
			s.windows = false
			return s
		}
		s.add(func(t float64) float64 { return base + size(int64(t/per)) })
		return s
	},
	"ok spikes": func(r *rand.Rand) *scene {
		s := newScene("ok spikes", r)
		base := s.total * uniform(r, 0.15, 0.7)
		height := (s.total*0.965 - base) * uniform(r, 0.2, 1)
		period := logUniform(r, 20, 1800)
		seed := r.Uint64()
		s.add(spikes(training(r, base), uniform(r, 200, 400), period, period*uniform(r, 0.02, 0.4),
			func(k int64) float64 { return height * (1 - 0.02*noise(seed, k)) }))
		return s
	},
	"ok neighbours": func(r *rand.Rand) *scene {
		s := newScene("ok neighbours", r)
		base := s.total * uniform(r, 0.15, 0.4)
		s.add(training(r, base))
		at := 0.0
		for range 2 + r.IntN(5) {
			at += uniform(r, 60, s.seconds/3)
			j := s.add(training(r, s.total*uniform(r, 0.1, 0.5)))
			j.start, j.end, j.user = at, at+uniform(r, 100, s.seconds/4), "bob"
			at = j.end
		}
		return s
	},
	"ok spikes and neighbours": func(r *rand.Rand) *scene {
		s := newScene("ok spikes and neighbours", r)
		base := s.total * uniform(r, 0.15, 0.4)
		height := s.total * uniform(r, 0.1, 0.3)
		period := logUniform(r, 60, 900)
		s.add(spikes(training(r, base), uniform(r, 200, 400), period, period*uniform(r, 0.02, 0.4), func(int64) float64 { return height }))
		j := s.add(training(r, (s.total*0.97-base-height)*uniform(r, 0.3, 0.97)))
		j.start, j.user = uniform(r, 100, s.seconds), "bob"
		return s
	},
	"ok sweep": func(r *rand.Rand) *scene {
		s := newScene("ok sweep", r)
		at := 0.0
		for at < s.seconds {
			j := s.add(training(r, s.total*uniform(r, 0.2, 0.95)))
			j.start, j.end = at, at+logUniform(r, 30, 1200)
			at = j.end + uniform(r, 1, 60)
		}
		return s
	},
	"ok staged warm-up": func(r *rand.Rand) *scene {
		s := newScene("ok staged warm-up", r)
		type stage struct{ at, ramp, level float64 }
		var list []stage
		at, level := 0.0, s.total*0.02
		for range 2 + r.IntN(4) {
			level += (s.total*0.96 - level) * uniform(r, 0.2, 0.7)
			list = append(list, stage{at, logUniform(r, 1, 90), level})
			at += logUniform(r, 20, 600)
		}
		s.add(func(t float64) float64 {
			v := 500.0
			for _, st := range list {
				if t >= st.at {
					v += (st.level - v) * min(1, (t-st.at)/st.ramp)
				}
			}
			return v
		})
		return s
	},
	"ok saturating": func(r *rand.Rand) *scene {
		s := newScene("ok saturating", r)
		base := s.total * uniform(r, 0.1, 0.5)
		top, tau := s.total*uniform(r, 0.6, 0.95), logUniform(r, 30, 1200)
		s.add(func(t float64) float64 { return base + (top-base)*(1-math.Exp(-t/tau)) })
		return s
	},
	"ok ranks": func(r *rand.Rand) *scene {
		s := newScene("ok ranks", r)
		level := s.total * uniform(r, 0.3, 0.9)
		for g := range 4 {
			extra := 0.0
			if g == 0 {
				extra = uniform(r, 0, 0.05) * s.total
			}
			s.add(training(r, level+extra)).gpu = g
		}
		return s
	},
	"ok host": func(r *rand.Rand) *scene {
		s := newScene("ok host", r)
		s.add(training(r, s.total*0.5))
		size := logUniform(r, 32768, 1048576)
		base, top, tau, seed := uniform(r, 0.1, 0.3), uniform(r, 0.4, 0.92), logUniform(r, 30, 1200), r.Uint64()
		s.host = func(t float64) (float64, float64) {
			return size * (1 - base - (top-base)*(1-math.Exp(-t/tau)) - 0.01*noise(seed, int64(t))), size
		}
		return s
	},
	"leak": func(r *rand.Rand) *scene {
		s := newScene("leak", r)
		base := s.total * uniform(r, 0.3, 0.7)
		start := uniform(r, 60, 120) + s.seconds*uniform(r, 0, 0.3)
		lasts := max(420, (s.seconds-start)*uniform(r, 0.5, 0.9))
		s.seconds = start + lasts*1.3
		rate := (s.total - base) / lasts
		every := 0.0
		if r.IntN(2) == 0 {
			every = lasts / uniform(r, 8, 60)
		}
		tooth, seed := 0.0, r.Uint64()
		if r.IntN(3) == 0 {
			tooth = uniform(r, 0, 0.05) * s.total
		}
		job := training(r, base)
		s.add(func(t float64) float64 {
			grown := max(0, t-start)
			if every > 0 {
				grown = math.Floor(grown/every) * every
			}
			return job(t) + grown*rate + tooth*noise(seed, int64(t*2))
		})
		s.after = start
		return s
	},
	"leak under spikes": func(r *rand.Rand) *scene {
		s := newScene("leak under spikes", r)
		s.seconds = max(s.seconds, 3600)
		base, height := s.total*uniform(r, 0.2, 0.4), s.total*uniform(r, 0.1, 0.3)
		period := uniform(r, 120, s.seconds/10)
		rate := (s.total - base - height) / s.seconds * 1.3
		job := training(r, base)
		s.add(spikes(func(t float64) float64 { return job(t) + rate*t }, 300, period, period*uniform(r, 0.05, 0.3),
			func(int64) float64 { return height }))
		return s
	},
	"neighbour between spikes": func(r *rand.Rand) *scene {
		s := newScene("neighbour between spikes", r)
		s.seconds = max(s.seconds, 3600)
		base, height := s.total*uniform(r, 0.2, 0.5), s.total*uniform(r, 0.15, 0.4)
		period := uniform(r, 180, s.seconds/6)
		width := period * uniform(r, 0.02, 0.3)
		s.add(spikes(training(r, base), 300, period, width, func(int64) float64 { return height }))
		free := s.total - s.reserved - base
		take := uniform(r, free-height+0.03*s.total, free-0.02*s.total)
		j := s.add(training(r, take))
		k := float64(2 + r.IntN(3))
		j.start, j.user = 300+k*period+width+uniform(r, 0.05, 0.3)*(period-width), "bob"
		s.after = j.start
		s.possible = period-width-(j.start-300-k*period-width) > 150
		return s
	},
	"growing spikes": func(r *rand.Rand) *scene {
		s := newScene("growing spikes", r)
		s.seconds = max(s.seconds, 3600)
		base := s.total * uniform(r, 0.2, 0.5)
		period := uniform(r, 60, s.seconds/14)
		n := uniform(r, 7, 12)
		first := (s.total - base) * uniform(r, 0.4, 0.7)
		per := (s.total - base - first) / n
		s.add(spikes(training(r, base), 300, period, period*uniform(r, 0.05, 0.3), func(k int64) float64 { return first + per*float64(k) }))
		return s
	},
	"fragmentation": func(r *rand.Rand) *scene {
		s := newScene("fragmentation", r)
		s.seconds = max(s.seconds, 1800)
		base := s.total * uniform(r, 0.4, 0.7)
		seed := r.Uint64()
		n := uniform(r, 20, 120)
		every := s.seconds * 0.8 / n
		bend := uniform(r, 0.6, 1)
		job := training(r, base)
		s.add(func(t float64) float64 {
			v := 0.0
			k := max(0, t-120) / every
			grown := math.Pow(k/n, bend) * (s.total - base)
			v = job(t) + math.Floor(grown/(0.004*s.total)*(1+0.05*noise(seed, int64(k))))*0.004*s.total
			return v
		})
		return s
	},
	"host leak": func(r *rand.Rand) *scene {
		s := newScene("host leak", r)
		s.seconds = max(s.seconds, 1200)
		s.add(training(r, s.total*0.5))
		size := logUniform(r, 32768, 524288)
		base, seed := uniform(r, 0.2, 0.5), r.Uint64()
		rate := (1 - base) / s.seconds * 1.3
		s.host = func(t float64) (float64, float64) {
			return size * (1 - base - rate*t - 0.01*noise(seed, int64(t))), size
		}
		return s
	},
}

// TestWatchedRuns plays many runs of each class and holds the rates that the docs state.
func TestWatchedRuns(t *testing.T) {
	runs := 25
	if testing.Short() {
		runs = 8
	}
	names := make([]string, 0, len(scenes))
	for name := range scenes {
		names = append(names, name)
	}
	sort.Strings(names)
	var table strings.Builder
	var hours, false_, possible, warned float64
	for _, name := range names {
		var died, told, could, alarms, notices, h float64
		var leads []float64
		for i := range runs {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			s := scenes[name](r)
			out := s.play()
			healthy := strings.HasPrefix(name, "ok")
			if healthy && !math.IsNaN(out.died) {
				t.Fatalf("%s %d is not healthy: dies at %.0f s", name, i, out.died)
			}
			first := math.NaN()
			for _, a := range out.alerts {
				switch {
				case a.Level == sampler.LevelNotice:
					notices++
				case healthy || a.T < s.after:
					alarms++
					if testing.Verbose() {
						t.Logf("FALSE %s %d (%.0f GiB, %.0f s of %.0f, step %v, hidden %v): %s: %s %q", name, i, s.total/1024, a.T, s.seconds, s.step, s.hidden, a.Kind, a.Text, a.Evidence)
					}
				case math.IsNaN(first):
					first = a.T
				}
			}
			h += out.hours
			if !math.IsNaN(out.died) {
				died++
				if s.possible {
					could++
					if !math.IsNaN(first) {
						told++
						leads = append(leads, out.died-first)
					} else if testing.Verbose() {
						t.Logf("MISSED %s %d: died %.0f s of %.0f step %v hidden %v windows %v after %.0f", name, i, out.died, s.seconds, s.step, s.hidden, s.windows, s.after)
					}
				}
			}
		}
		if strings.HasPrefix(name, "ok") {
			hours, false_ = hours+h, false_+alarms
		}
		possible, warned = possible+could, warned+told
		lead := math.NaN()
		if len(leads) > 0 {
			lead = median(leads)
		}
		fmt.Fprintf(&table, "%-26s runs %3d  hours %6.1f  died %3.0f  warned %3.0f of %3.0f  lead %5.0f s  early/false %3.0f  notices %3.0f\n", name, runs, h, died, told, could, lead, alarms, notices)
	}
	t.Logf("\n%swarned %.1f %%, false %.3f an hour", table.String(), 100*warned/possible, false_/hours)
	if warned < 0.95*possible {
		t.Errorf("warned of %.0f of %.0f", warned, possible)
	}
	if false_ > 0.05*hours {
		t.Errorf("%.0f false alarms in %.0f healthy hours", false_, hours)
	}
}
