package nvml

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

// TestStaleMemory: whatever a memory call answers after it once worked, its last value is not
// shown for more than 3 s without a word, and it is back soon after the call is.
func TestStaleMemory(t *testing.T) {
	t.Parallel()
	s, inside := play(t, nvmltest.Current, nvmltest.Shipped(t, "stale"))
	if !inside {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	l := sampler.NewLoop(s, sampler.Options{Interval: 250 * time.Millisecond})
	if err := l.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	go l.Run(ctx) //nolint:errcheck // Wait follows
	defer l.Wait(5 * time.Second)
	defer cancel()
	begin := time.Now()
	marked := map[int]bool{}
	for {
		list, err := l.Next(ctx)
		if err != nil {
			t.Fatalf("not all GPUs come back: %v", err)
		}
		for _, snap := range list {
			back, since := 0, snap.Time.Sub(begin)
			for i := range snap.GPUs {
				g := &snap.GPUs[i]
				fine := g.Memory.Used.Known() && !g.Error.Known()
				if fine {
					back++
				}
				if marked[i] = marked[i] || g.Error.Known(); fine && i < 5 && since > 4500*time.Millisecond && since < 6500*time.Millisecond {
					t.Fatalf("GPU %d fails since a second after the beginning, and %v after it %v is shown", i, since, g.Memory.Used)
				}
			}
			if since > 7500*time.Millisecond && back == 6 {
				if !marked[0] || !marked[1] || !marked[2] || !marked[3] || !marked[4] {
					t.Errorf("GPUs with a word: %v", marked)
				}
				return
			}
		}
	}
}

// TestRefusedFromTheStart: a GPU whose memory was never told says why and what to do, whatever the driver answers. Its
// other figures are told.
func TestRefusedFromTheStart(t *testing.T) {
	t.Parallel()
	refusals := []string{"INVALID_ARGUMENT", "NOT_SUPPORTED", "FUNCTION_NOT_FOUND", "DEPRECATED", "ARGUMENT_VERSION_MISMATCH"}
	text := fmt.Sprintf("gpu 0-%d util=50\nmem * used=10GiB\n", len(refusals)+1)
	for i, code := range refusals {
		text += fmt.Sprintf("fail nvmlDeviceGetMemoryInfo* gpu=%d code=%s\n", i, code)
	}
	text += fmt.Sprintf("raw %d total=0\nraw %d used=max\n", len(refusals), len(refusals)+1)
	s, inside := playText(t, text)
	if !inside {
		return
	}
	list := follow(t, s, sampler.Options{Whole: 5 * time.Second}, 2500*time.Millisecond)
	if len(list) == 0 {
		t.Fatal("no snapshot")
	}
	for i := range list[0].GPUs {
		g, why := &list[0].GPUs[i], "no plausible figure: memory ("
		if i < len(refusals) {
			why = "not supported: memory (" + refusals[i] + ")"
		}
		if got := g.Error.Or(""); !strings.HasPrefix(got, why) || !strings.HasSuffix(got, sampler.RemedyDriver) || g.Memory.Used.Known() || g.Utilization.GPU.Or(0) != 50 {
			t.Errorf("GPU %d: error %q, want %q; used %v, utilization %v", i, got, why, g.Memory.Used, g.Utilization.GPU)
		}
	}
}

// TestSeldomFigures: every figure whose call begins to fail, whatever the code, is gone within 3 s, however seldom it is read.
func TestSeldomFigures(t *testing.T) {
	t.Parallel()
	text := "gpu 0 temp=50 fan=40 limit=700 ecc=1 enc=1 dec=1 gen=5 width=16 rx=1000 tx=1000\n"
	for _, calls := range []string{"Temperature", "Fan*", "En*", "De*", "*Pcie*", "TotalEcc*", "Perf*", "Cl*"} {
		text += "fail nvmlDeviceGet" + calls + " code=CODE from=3100ms\n"
	}
	for _, code := range []string{"TIMEOUT", "UNKNOWN", "NOT_SUPPORTED", "NO_PERMISSION"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s, inside := playText(t, strings.ReplaceAll(text, "CODE", code))
			if !inside {
				return
			}
			begin := time.Now()
			last, there := "", time.Duration(0)
			for _, snap := range follow(t, s, sampler.Options{}, 8*time.Second) {
				m := snap.GPUs[0].Metrics
				m.Utilization.GPU, m.Utilization.Memory, m.Power, m.Throttle = sampler.Opt[int]{}, sampler.Opt[int]{}, sampler.Opt[float64]{}, nil
				if text := fmt.Sprint(m); text != fmt.Sprint(sampler.Metrics{}) {
					last, there = text, snap.Time.Sub(begin)
				}
			}
			// Figures are asked for again after 1.8 s, on whole seconds: where the first comes 0.8 s after the start, so do the third, which
			// is the last to show them, and the fourth, which finds them gone.
			if there < 2800*time.Millisecond || there > 6100*time.Millisecond {
				t.Errorf("after %v there is %s", there, last)
			}
		})
	}
}

// TestDearAtOnce: a driver whose memory calls take 20 ms on 64 GPUs is within its duty after the first reading of each.
func TestDearAtOnce(t *testing.T) {
	t.Parallel()
	s, inside := playText(t, "gpu 0-63\nmem * used=10GiB\nlatency nvmlDeviceGetMemoryInfo* 20ms sleep\n", nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	follow(t, s, sampler.Options{}, 5*time.Second)
	s.Close()
	busy, calls := time.Duration(0), readStats(t).Calls
	for name, c := range calls {
		if strings.HasPrefix(name, "nvmlDeviceGetMemoryInfo") {
			busy += c.Busy
		}
	}
	if least := 64 * 20 * time.Millisecond; busy < least || busy > least+time.Second {
		t.Errorf("%v in memory calls, of 5 s", busy)
	}
}

// TestDearInMidRun: a driver whose memory calls on 64 GPUs begin to take 20 ms is within its duty after half a second of them: it is
// not asked for all first.
func TestDearInMidRun(t *testing.T) {
	t.Parallel()
	s, inside := playText(t, "gpu 0-63\nmem * used=10GiB\nwobble * height=1GiB every=100ms\nlatency nvmlDeviceGetMemoryInfo* 20ms sleep from=2s\n", nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	follow(t, s, sampler.Options{}, 5*time.Second)
	s.Close()
	busy := time.Duration(0)
	for name, c := range readStats(t).Calls {
		if strings.HasPrefix(name, "nvmlDeviceGetMemoryInfo") {
			busy += c.Busy
		}
	}
	if most := 700*time.Millisecond + 3*time.Second*12/100; busy > most {
		t.Errorf("%v in memory calls, of 3 s", busy)
	}
}

// TestSlowGPU: a GPU whose memory call takes 300 ms is never out of date, takes 12 % of a thread at most, and hides nothing on the others.
func TestSlowGPU(t *testing.T) {
	t.Parallel()
	s, inside := playText(t, "gpu 0-2\nmem * used=10GiB\nwobble 0 height=1GiB every=10ms\nlatency nvmlDeviceGetMemoryInfo* 300ms sleep gpu=1\n")
	if !inside {
		return
	}
	began := time.Now()
	for _, snap := range follow(t, s, sampler.Options{}, 11*time.Second) {
		for i := range snap.GPUs {
			if g := &snap.GPUs[i]; g.Error.Known() && g.Memory.Peak != nil {
				t.Errorf("after %v, GPU %d: %v", snap.Time.Sub(began), i, g.Error)
			}
		}
		if snap.Time.Sub(began) < 3*time.Second {
			continue
		}
		if d, _ := snap.Sampling.Value(); d.DutyPercent > 12 {
			t.Errorf("%.1f %% of a thread", d.DutyPercent)
		}
		if w := snap.GPUs[0].Memory.Window; w != nil && w.Missed > 10 {
			t.Errorf("after %v, %d of %d readings are missed", snap.Time.Sub(began), w.Missed, w.Readings)
		}
	}
}

// follow runs a loop and returns what it tells in that time.
func follow(t *testing.T, s *Source, o sampler.Options, span time.Duration) (all []*sampler.Snapshot) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	l := sampler.NewLoop(s, o)
	if err := l.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	go l.Run(ctx) //nolint:errcheck // Wait follows
	for {
		list, err := l.Next(ctx)
		all = append(all, list...)
		if err != nil {
			l.Wait(5 * time.Second)
			return all
		}
	}
}

// TestMemoryRefusedForAWhile: a GPU whose memory is refused for a while is back within 3 s, and its other figures never go.
func TestMemoryRefusedForAWhile(t *testing.T) {
	t.Parallel()
	const until = 7 * time.Second
	s, inside := playText(t, "gpu 0-1 util=50 temp=40\nmem * used=10GiB\nproc * pid=5 memory=rest\nfail nvmlDeviceGetMemoryInfo* gpu=0 code=NO_PERMISSION from=2s to=7s\n"+
		"fail nvmlDeviceGetMemoryInfo* gpu=1 code=NOT_SUPPORTED from=2s to=7s\n")
	if !inside {
		return
	}
	began := time.Now()
	back := [2]bool{}
	for _, snap := range follow(t, s, sampler.Options{Whole: 5 * time.Second}, until+3*time.Second) {
		for i := range snap.GPUs {
			g, since := &snap.GPUs[i], snap.Time.Sub(began)
			if g.Temperature.Or(0) != 40 || g.Utilization.GPU.Or(0) != 50 || len(g.Processes) != 1 {
				t.Errorf("GPU %d after %v: temperature %v, utilization %v, %d processes, error %v", i, since, g.Temperature, g.Utilization.GPU, len(g.Processes), g.Error)
			}
			back[i] = since > until && g.Memory.Used.Known() && !g.Error.Known()
		}
	}
	if !back[0] || !back[1] {
		t.Errorf("after 3 s the memory is back: %v", back)
	}
}

// TestHangsFromTheStart: where a call of one GPU hangs from the start, one snapshot says so of that GPU and has the figures of the other; those of
// a program that goes on say that there was no answer yet.
func TestHangsFromTheStart(t *testing.T) {
	t.Parallel()
	for call, kind := range map[string]string{"MemoryInfo*": "memory", "UtilizationRates": "metrics and processes", "ComputeRunningProcesses*": "metrics and processes"} {
		t.Run(kind+" in "+call, func(t *testing.T) {
			t.Parallel()
			s, inside := playText(t, "gpu 0-1 util=50\nmem * used=10GiB\nproc * pid=5 memory=rest\nhang nvmlDeviceGet"+call+" gpu=0 to=8s\n")
			if !inside {
				return
			}
			list := follow(t, s, sampler.Options{Settle: 40 * time.Millisecond}, 6*time.Second)
			if len(list) == 0 {
				t.Fatal("no snapshot")
			}
			want := "a driver call (" + kind + ") has not returned"
			if got := list[0].GPUs[0].Error.Or(""); !strings.HasPrefix(got, "not answering") || !strings.Contains(got, want) {
				t.Errorf("it says %q, want %q", got, want)
			}
			if g := &list[0].GPUs[1]; g.Error.Known() || g.Memory.Used.Or(0) != 10*sampler.GiB || g.Utilization.GPU.Or(0) != 50 || len(g.Processes) != 1 {
				t.Errorf("the other one: used %v, utilization %v, %d processes, error %v", g.Memory.Used, g.Utilization.GPU, len(g.Processes), g.Error)
			}
			s.Close()
			began := time.Now()
			for _, snap := range follow(t, s, sampler.Options{Interval: 500 * time.Millisecond}, 2500*time.Millisecond) {
				g := &snap.GPUs[0]
				if figures := g.Memory.Used.Known() && g.Utilization.GPU.Known() && len(g.Processes) > 0; !figures && !g.Error.Known() && snap.Time.Sub(began) > 600*time.Millisecond {
					t.Errorf("after %v there are no figures, and no reason", snap.Time.Sub(began))
				}
			}
		})
	}
}

// TestHangMakesNothingOld: while a call of one GPU hangs, no figure of any GPU is older than 3 s without a word, give or take that the turn may be late.
func TestHangMakesNothingOld(t *testing.T) {
	t.Parallel()
	text := "gpu 0-2 temp=0 fan=0\nmem * used=10GiB\n"
	for tenth := 1; tenth < 90; tenth++ { // each figure is the time of its reading
		text += fmt.Sprintf("set * at=%dms temp=%d fan=%d\n", 100*tenth, tenth, tenth)
	}
	for _, call := range []string{"FanSpeed", "Temperature"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			s, inside := playText(t, text+"hang nvmlDeviceGet"+call+"* gpu=1 from=2300ms to=9s\n")
			if !inside {
				return
			}
			began, told := time.Now(), ""
			for _, snap := range follow(t, s, sampler.Options{Interval: 200 * time.Millisecond}, 7500*time.Millisecond) {
				for i := range snap.GPUs {
					g := &snap.GPUs[i]
					for _, figure := range []sampler.Opt[int]{g.Fan, g.Temperature} {
						age := snap.Time.Sub(began) - time.Duration(figure.Or(0))*100*time.Millisecond
						if figure.Known() && age > 3500*time.Millisecond && !g.Error.Known() {
							t.Errorf("GPU %d after %v: a figure is %v old", i, snap.Time.Sub(began), age)
						}
					}
				}
				told = snap.GPUs[1].Error.Or(told)
			}
			if !strings.HasPrefix(told, "not answering (") || !strings.HasSuffix(told, " s): a driver call (metrics and processes) has not returned") {
				t.Errorf("GPU 1 says %q", told)
			}
		})
	}
}

// TestLostAndBack: a GPU that was lost for a while, from some time on or from the start, has all its figures within 3 s of its return.
func TestLostAndBack(t *testing.T) {
	t.Parallel()
	const back = 5300 * time.Millisecond
	text := "gpu 0-4 util=50\nmem * used=10GiB\nproc * pid=5 memory=rest\n"
	for gpu, rule := range []string{"* code=GPU_IS_LOST from=2s", "* code=IRQ_ISSUE from=2s", "Memory* code=RESET_REQUIRED from=2s", "* code=GPU_IS_LOST from=0s"} {
		text += fmt.Sprintf("fail nvmlDeviceGet%s gpu=%d to=%dms\n", rule, gpu, back.Milliseconds())
	}
	s, inside := playText(t, text)
	if !inside {
		return
	}
	began := time.Now()
	var last *sampler.Snapshot
	lost := map[int]bool{}
	for _, snap := range follow(t, s, sampler.Options{}, back+3*time.Second) {
		last = snap
		for i := range snap.GPUs {
			lost[i] = lost[i] || snap.Time.Sub(began) > 3*time.Second && snap.GPUs[i].Error.Known()
		}
	}
	for i := range last.GPUs {
		if g := &last.GPUs[i]; g.Error.Known() || !g.Memory.Used.Known() || g.Utilization.GPU.Or(0) != 50 || len(g.Processes) != 1 || !lost[i] && i < 4 {
			t.Errorf("GPU %d after %v: used %v, utilization %v, %d processes, error %v; it was lost: %v", i, last.Time.Sub(began), g.Memory.Used, g.Utilization.GPU, len(g.Processes), g.Error, lost[i])
		}
	}
}

// lateness measures how much later than it should the machine lets a sleeper go on, at most.
func lateness(t *testing.T) (most func() time.Duration) {
	t.Helper()
	var worst atomic.Int64
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	go func() {
		const nap = 10 * time.Millisecond
		for began := time.Now(); ; began = time.Now() {
			select {
			case <-end:
				return
			case <-time.After(nap):
				worst.Store(max(worst.Load(), int64(time.Since(began)-nap)))
			}
		}
	}()
	return func() time.Duration { return time.Duration(worst.Load()) }
}

// TestHangBlindsNobody: a memory call that hangs, or takes long, keeps the other GPUs from being read for a quarter of a second, and the GPU itself is
// said not to answer only where it does not.
func TestHangBlindsNobody(t *testing.T) {
	for name, rule := range map[string]string{
		"hangs":      "hang nvmlDeviceGetMemoryInfo* gpu=1 from=2300ms to=7s\n",
		"takes long": "latency nvmlDeviceGetMemoryInfo* 400ms sleep gpu=1 from=2300ms to=7s\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, inside := playText(t, "gpu 0-2\nmem * used=10GiB\nwobble * height=1GiB every=10ms\n"+rule)
			if !inside {
				return
			}
			var mu sync.Mutex
			last, gap := map[int]time.Time{}, map[int]time.Duration{}
			readings := func(dev int, at time.Time, _ sampler.Bytes) {
				mu.Lock()
				defer mu.Unlock()
				if before, ok := last[dev]; ok {
					gap[dev] = max(gap[dev], at.Sub(before))
				}
				last[dev] = at
			}
			silent, back, late := false, false, lateness(t)
			for _, snap := range follow(t, s, sampler.Options{Readings: readings}, 9500*time.Millisecond) {
				answers := !strings.HasPrefix(snap.GPUs[1].Error.Or(""), "not answering")
				silent, back = silent || !answers, answers && snap.GPUs[1].Memory.Used.Known()
			}
			if hung := name == "hangs"; silent != hung || !back {
				t.Errorf("it is said not to answer: %v; it is back: %v", silent, back)
			}
			if most := sampler.CallOverdue + 350*time.Millisecond + 2*late(); gap[0] > most || gap[2] > most {
				t.Errorf("without a reading: GPU 0 for %v, GPU 2 for %v, of at most %v", gap[0], gap[2], most)
			}
			t.Logf("without a reading: %v", gap)
		})
	}
}
