package watch

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// sweeps are simple runs on a GPU of 20000 MiB in which one number is other each time.
var sweeps = []struct {
	name        string
	least, most float64
	step        float64
	seconds     int
	snapshot    func(t, x float64) sampler.Snapshot
}{
	{"spikes every 100 s up to", 8000, 19960, 40, 700, func(t, x float64) sampler.Snapshot {
		return oneJob(t, spike(t, 100, 10, 8000, x))
	}},
	{"spikes up to 15000, and another that takes in between", 0, 12000, 40, 560, func(t, x float64) sampler.Snapshot {
		other := 0.0
		if t > 430 {
			other = x
		}
		own := spike(t, 100, 10, 8000, 15000)
		return snapshotOf(t, 20000, min(20000, own+other), processOf(1, "python train.py", own), processOf(2, "python other.py", other))
	}},
	{"spikes that grow each time by", 0, 2000, 20, 720, func(t, x float64) sampler.Snapshot {
		return oneJob(t, min(19900, spike(t, 100, 10, 8000, 12000+x*math.Floor(t/100))))
	}},
	{"after five minutes it grows, in MiB a minute, by", 0, 1000, 5, 1200, func(t, x float64) sampler.Snapshot {
		return oneJob(t, min(19900, 8000+x*max(0, t-300)/60))
	}},
	{"growing by 300 a minute since", 0, 900, 10, 1500, func(t, x float64) sampler.Snapshot {
		return oneJob(t, min(19900, 8000+5*max(0, t-x)))
	}},
	{"steps every 100 s of", 0, 1200, 8, 900, func(t, x float64) sampler.Snapshot {
		return oneJob(t, min(19900, 10000+x*math.Floor(t/100)))
	}},
	{"nobody is listed for", 0, 12000, 40, 200, func(t, x float64) sampler.Snapshot {
		return snapshotOf(t, 20000, 7000+x, processOf(1, "python train.py", 7000))
	}},
	{"another comes after 100 s with", 0, 12900, 40, 300, func(t, x float64) sampler.Snapshot {
		if t < 100 {
			return oneJob(t, 7000)
		}
		return snapshotOf(t, 20000, 7000+x, processOf(1, "python train.py", 7000), processOf(2, "python other.py", x))
	}},
	{"the other of two GPUs of a job has", 0, 20000, 50, 300, func(t, x float64) sampler.Snapshot {
		s := oneJob(t, 12000)
		g := gpuOf(1, 20000, x, processOf(3, "python train.py", x))
		s.GPUs = append(s.GPUs, g)
		return s
	}},
	{"the cache is emptied every 40 s from", 15000, 20000, 20, 400, func(t, x float64) sampler.Snapshot {
		if math.Mod(t, 40) > 36 {
			return oneJob(t, 9000)
		}
		return oneJob(t, x)
	}},
	{"falls from the limit by", 0, 8000, 40, 400, func(t, x float64) sampler.Snapshot {
		if math.Mod(t, 60) > 56 {
			return oneJob(t, 19900-x)
		}
		return oneJob(t, 19900)
	}},
	{"host memory left", 0, 16000, 40, 200, func(t, x float64) sampler.Snapshot {
		s := oneJob(t, 8000)
		s.HostMemory = sampler.Some(sampler.HostMemory{Total: series.Bytes(64000), Available: series.Bytes(x)})
		return s
	}},
	{"host memory falls, in MiB a minute, by", 0, 9000, 40, 600, func(t, x float64) sampler.Snapshot {
		s := oneJob(t, 8000)
		s.HostMemory = sampler.Some(sampler.HostMemory{Total: series.Bytes(64000), Available: series.Bytes(max(500, 48000-x*max(0, t-120)/60))})
		return s
	}},
	{"swap grows to, with little host memory", 0, 8000, 40, 200, func(t, x float64) sampler.Snapshot {
		s := oneJob(t, 8000)
		s.HostMemory = sampler.Some(sampler.HostMemory{Total: series.Bytes(64000), Available: series.Bytes(6000), SwapUsed: series.Bytes(x * min(1, t/100))})
		return s
	}},
}

func oneJob(t, used float64) sampler.Snapshot {
	return snapshotOf(t, 20000, used, processOf(1, "python train.py", used))
}

// spike is the level of a job that goes up for some seconds at the end of each period.
func spike(t, period, width, level, top float64) float64 {
	if math.Mod(t, period) >= period-width {
		return top
	}
	return level
}

// Where what is alerted changes while one number grows: each threshold, to a step.
func TestThresholds(t *testing.T) {
	const file = "testdata/thresholds.txt"
	var b strings.Builder
	for _, sweep := range sweeps {
		fmt.Fprintln(&b, sweep.name)
		at := func(x float64) string {
			w := New(Options{})
			for i := range sweep.seconds {
				w.Add(sweep.snapshot(float64(i), x))
			}
			return kindsOf(w.Past())
		}
		last := at(sweep.least)
		fmt.Fprintf(&b, "  %5.0f %s\n", sweep.least, last)
		for x, coarse := sweep.least, 8*sweep.step; x < sweep.most; x += coarse {
			if at(x+coarse) == last {
				continue
			}
			for fine := x + sweep.step; fine <= x+coarse; fine += sweep.step {
				if now := at(fine); now != last {
					fmt.Fprintf(&b, "  %5.0f %s\n", fine, now)
					last = now
				}
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Split(b.String(), "\n"), strings.Split(string(data), "\n"); !slices.Equal(got, want) {
		for i := range got {
			if i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d of %s is %q", i+1, file, got[i])
			}
		}
		t.Errorf("%s has more lines", file)
	}
}

// kindsOf are alerts by level, kind and GPU, in their order.
func kindsOf(past []sampler.Alert) string {
	var list []string
	for _, a := range past {
		list = append(list, fmt.Sprintf("%s %s of %s %s", a.Level, a.Kind, known(a.GPU), known(a.PID)))
	}
	return strings.Join(list, ", ")
}

func known(o sampler.Opt[int]) string {
	if v, ok := o.Value(); ok {
		return fmt.Sprint(v)
	}
	return "-"
}
