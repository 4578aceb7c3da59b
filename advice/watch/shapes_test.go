package watch

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// shape is a made-up run on one GPU: MiB used at each second.
type shape struct {
	name    string
	command string
	total   float64
	seconds int
	used    func(t float64) float64
	kinds   []string // alerts there must be, none other
	ahead   float64  // the first comes that many seconds before the end
}

func flat(level float64) func(float64) float64 { return func(float64) float64 { return level } }

func sawTooth(t float64) float64 { return 1024 * (14 + 2*math.Sin(2*math.Pi*t/7)) }

// load goes up to a level in some seconds and stays.
func load(level, seconds float64) func(float64) float64 {
	return func(t float64) float64 { return level * min(1, (t+1)/seconds) }
}

var shapes = []shape{
	{name: "flat, then 15.82 GiB refused", command: "train.py", total: 48538, seconds: 601, used: flat(42219)},
	{name: "full in two seconds", command: "train.py", total: 48640, seconds: 602, used: func(t float64) float64 {
		switch {
		case t < 600:
			return 34048
		case t < 601:
			return 41344
		}
		return 48445
	}},
	{name: "full at the first step", command: "train.py", total: 24115, seconds: 18, used: func(t float64) float64 {
		return 500 + max(0, t-5)*(23170-500)/12
	}},
	{name: "slow leak", command: "train.py", total: 50800, seconds: 21600, used: func(t float64) float64 { return 40000 + 0.5*t },
		kinds: []string{"growth"}, ahead: 600},
	{name: "leak in steps", command: "train.py", total: 48000, seconds: 4800, used: func(t float64) float64 { return 30000 + 220*math.Floor(t/60) },
		kinds: []string{"growth"}, ahead: 600},
	{name: "leak", command: "train.py", total: 48000, seconds: 4800, used: func(t float64) float64 { return 30000 + 3.67*t },
		kinds: []string{"growth"}, ahead: 600},
	{name: "92 % flat", command: "train.py", total: 48640, seconds: 3600, used: flat(0.92 * 48640)},
	{name: "92 % flat in JAX", command: "python -m jax_train", total: 81920, seconds: 3600, used: flat(0.92 * 81920)},
	{name: "30 % flat", command: "train.py", total: 48640, seconds: 3600, used: flat(0.3 * 48640)},
	{name: "30 % flat, main.py", command: "main.py", total: 48640, seconds: 3600, used: flat(0.3 * 48640)},
	{name: "loads 70 % in 30 s", command: "train.py", total: 81920, seconds: 3600, used: load(0.7*81920, 30)},
	{name: "loads 70 % in 120 s", command: "train.py", total: 81920, seconds: 3600, used: load(0.7*81920, 120)},
	{name: "saw-tooth", command: "train.py", total: 48640, seconds: 3600, used: sawTooth},
	{name: "saw-tooth, main.py", command: "main.py", total: 48640, seconds: 3600, used: sawTooth},
}

// snapshotOf is a snapshot as a hand-written recording has it.
func snapshotOf(t, total, used float64, procs ...sampler.Process) sampler.Snapshot {
	return sampler.Snapshot{Type: "snapshot", Time: advicetest.Epoch.Add(time.Duration(t * float64(time.Second))), GPUs: []sampler.GPU{{
		Memory:    sampler.Memory{Total: sampler.Some(series.Bytes(total)), Used: sampler.Some(series.Bytes(used))},
		Processes: procs,
	}}}
}

func processOf(pid int, command string, used float64) sampler.Process {
	return sampler.Process{PID: pid, Name: "python", User: "ann", Command: command, Memory: sampler.Some(series.Bytes(used))}
}

// warnedOf says whether there was more than a notice of a kind.
func warnedOf(w *Watch, kind string) bool {
	return slices.ContainsFunc(w.Past(), func(a sampler.Alert) bool { return a.Kind == kind && a.Level != sampler.LevelNotice })
}

func TestShapes(t *testing.T) {
	for _, sh := range shapes {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/listed=%v", sh.name, listed), func(t *testing.T) {
				w := New(Options{})
				for i := range sh.seconds {
					u := min(sh.used(float64(i)), sh.total)
					var procs []sampler.Process
					if listed {
						procs = append(procs, processOf(4242, sh.command, u-20))
					}
					w.Add(snapshotOf(float64(i), sh.total, u, procs...))
				}
				checkKinds(t, w.Past(), sh.kinds)
				for _, a := range w.Past() {
					t.Logf("%.0f s: %s", a.T, a.Text)
					if ahead := float64(sh.seconds) - a.T; ahead < sh.ahead {
						t.Errorf("only %.0f s ahead", ahead)
					}
					if eta := a.ETA.Or(0); sh.ahead > 0 && math.Abs(eta-(float64(sh.seconds)-a.T)) > 0.3*(float64(sh.seconds)-a.T) {
						t.Errorf("ETA %.0f s, in truth %.0f s", eta, float64(sh.seconds)-a.T)
					}
				}
			})
		}
	}
}

// checkKinds compares the kinds of the alerts with those wanted, in any number.
func checkKinds(t *testing.T, got []sampler.Alert, want []string) {
	t.Helper()
	have := map[string]bool{}
	for _, a := range got {
		have[a.Kind] = true
	}
	for _, k := range want {
		if !have[k] {
			t.Errorf("no %s", k)
		}
		delete(have, k)
	}
	for _, a := range got {
		if have[a.Kind] {
			t.Errorf("unwanted %s %s at %.0f s: %s %v", a.Level, a.Kind, a.T, a.Text, a.Evidence)
		}
	}
}
