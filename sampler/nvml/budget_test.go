package nvml

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
)

const eight = "gpu 0-7 util=93 temp=64 fan=40 enc=1 dec=1 ecc=0 rx=1250000 tx=980000\nmem * used=62GiB\n" +
	"proc * pid=41000 memory=rest sm=93\nproc * pid=42000 count=31 memory=100MiB\naccounting *\n"

// callsBudget is what 8 GPUs may cost a second at the default interval, without those of the memory.
const callsBudget = 150

func TestBudget(t *testing.T) {
	s, inside := playText(t, eight, nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	const seconds = 60
	for range seconds {
		for dev := range 8 {
			if _, err := s.Metrics(dev); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Processes(dev); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Throughput(dev); err != nil {
				t.Fatal(err)
			}
		}
		c.add(time.Second)
	}
	s.Close()
	st := readStats(t)
	perSecond := float64(st.Total().Count)/seconds + float64(time.Second/xidSlice)
	t.Logf("8 GPUs with 32 processes each and accounting: %.1f driver calls a second", perSecond)
	if perSecond > callsBudget {
		t.Errorf("%.1f driver calls a second, more than %d", perSecond, callsBudget)
	}
	checkIntervals(t, st, 8, seconds)
}

// checkIntervals compares the calls of each row with its interval.
func checkIntervals(t *testing.T, st nvmltest.Stats, gpus, seconds int) {
	t.Helper()
	want := map[string]int{}
	for _, m := range metrics {
		if slices.Contains(m.symbols, symThrottleReasons) {
			continue // the newer name is there
		}
		every := max(m.every, time.Second)
		want[m.symbols[0]] += gpus * seconds / int(every/time.Second)
	}
	for name, n := range want {
		switch got := st.Calls[name].Count; {
		case got != n && got <= gpus:
			t.Errorf("%s: %d calls, want %d; it was not found or answered NOT_SUPPORTED: does the fake have it?", name, got, n)
		case got != n:
			t.Errorf("%s: %d calls, want %d", name, got, n)
		}
	}
	if n := st.Calls[symThrottleReasons].Count; n != 0 {
		t.Errorf("%s: %d calls; the newer name was asked", symThrottleReasons, n)
	}
}

// What a GPU once had and then refuses for good, it is asked for again.
func TestRefusedAfterItWorked(t *testing.T) {
	t.Parallel()
	s, inside := playText(t, "gpu 0 temp=50\nproc 0 pid=1 memory=1GiB\nfail nvmlDeviceGetTemperature code=NOT_SUPPORTED from=2s to=3s\n"+
		"fail nvmlDeviceGet*RunningProcesses* code=NO_PERMISSION from=2s to=3s\nfail nvmlDeviceGetPcieThroughput code=NOT_SUPPORTED from=2s to=3s\n")
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	for _, known := range []bool{true, false, true} {
		text := "nothing was asked"
		for end := time.Now().Add(20 * time.Second); text != "" && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			c.add(backOffMost)
			m, _ := s.Metrics(0)
			list, perr := s.Processes(0)
			rx, _, rerr := s.Throughput(0)
			if text = ""; m.Temperature.Known() != known || (len(list) == 1) != known || (perr == nil) != known || rx.Known() != known || (rerr == nil) != known {
				text = fmt.Sprintf("temperature %v, %d processes (%v), traffic %v (%v)", m.Temperature, len(list), perr, rx, rerr)
			}
		}
		if text != "" {
			t.Fatalf("known %v is awaited: %s", known, text)
		}
	}
}

// What a GPU does not have is asked once; what it refuses for a moment, again.
func TestRefusedIsRemembered(t *testing.T) {
	s, inside := playText(t, "gpu 0 fan=na ecc=na enc=na rx=na tx=na temp=50\nmem 0 used=1GiB\n"+
		"fail nvmlDeviceGetPowerUsage code=TIMEOUT from=200ms to=500ms\nfail nvmlDeviceGetUtilizationRates code=NO_PERMISSION\n",
		nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	for range 40 {
		m, err := s.Metrics(0)
		if err != nil || m.Fan.Known() || m.Utilization.GPU.Known() || !m.Power.Known() {
			t.Fatalf("%+v, %v", m, err)
		}
		s.Throughput(0)
		c.add(time.Second)
	}
	time.Sleep(250 * time.Millisecond)
	if m, _ := s.Metrics(0); !m.Power.Known() {
		t.Error("the last value stands in for one that is late")
	}
	c.add(staleFor + time.Second)
	if m, _ := s.Metrics(0); m.Power.Known() {
		t.Error("but not for long")
	}
	time.Sleep(350 * time.Millisecond)
	c.add(backOffMost)
	if m, _ := s.Metrics(0); !m.Power.Known() {
		t.Error("it is asked again")
	}
	s.Close()
	st := readStats(t)
	for _, name := range []string{"nvmlDeviceGetFanSpeed", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetEncoderUtilization",
		"nvmlDeviceGetPcieThroughput", "nvmlDeviceGetUtilizationRates"} {
		if n := st.Calls[name].Count; n != 1 {
			t.Errorf("%s: %d calls, want 1", name, n)
		}
	}
}
