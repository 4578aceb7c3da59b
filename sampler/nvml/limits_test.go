package nvml

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

func TestCUDAVersion(t *testing.T) {
	for v, want := range map[int]string{12040: "12.4", 1000: "1.0", 999999: "999.99", 999: "", 1000000: "", 0: "", -1: ""} {
		if got := cudaVersion(v); got != want {
			t.Errorf("%d: %q, want %q", v, got, want)
		}
	}
}

func TestPerformanceState(t *testing.T) {
	for p, want := range map[gonvml.Pstates]string{0: "P0", 15: "P15", 16: "", 32: "", -1: ""} {
		if got := performanceState(p).Or(""); got != want {
			t.Errorf("%d: %q, want %q", p, got, want)
		}
	}
}

func TestFigureLimits(t *testing.T) {
	for v, want := range map[uint32]int{0: 0, 100: 100, 101: -1} {
		if got := atMost(v, 100).Or(-1); got != want {
			t.Errorf("%d of 100: %d", v, got)
		}
	}
	for v, want := range map[int]int{1: 1, 16: 16, 0: -1, -1: -1, 17: -1} {
		if got := link(v, 16).Or(-1); got != want {
			t.Errorf("a link of %d: %d", v, got)
		}
	}
	for v, want := range map[uint32]float64{0: 0, maxMilliwatts: maxMilliwatts / 1000.0, maxMilliwatts + 1: -1} {
		if got := watts(v).Or(-1); got != want {
			t.Errorf("%d mW: %v", v, got)
		}
	}
}

// No GPU answers when none with memory of its own does, and one was gone three times.
func TestGone(t *testing.T) {
	gone := func(n int32, answers bool) *device {
		d := &device{}
		d.memory.gone.Store(n)
		d.memory.answers.Store(answers)
		return d
	}
	shared, broken := gone(0, false), gone(0, false)
	shared.info.SharedWithHost, broken.broken = true, sampler.ErrLost
	for name, row := range map[string]struct {
		devices []*device
		want    bool
	}{
		"none":             {nil, false},
		"three times":      {[]*device{gone(goneInARow, false), gone(goneInARow+1, false)}, true},
		"twice":            {[]*device{gone(goneInARow-1, false), gone(goneInARow-1, false)}, false},
		"one answers":      {[]*device{gone(goneInARow, false), gone(goneInARow-1, true)}, false},
		"one is refused":   {[]*device{gone(goneInARow, false), gone(0, false)}, true},
		"others beside":    {[]*device{shared, broken, gone(goneInARow, false)}, true},
		"none of its kind": {[]*device{shared, broken}, false},
	} {
		if got := (&conn{devices: row.devices}).gone(); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A connection is idle when it closes and the last call has returned.
func TestIdle(t *testing.T) {
	c := newConn(nil, functions{})
	idle := func() bool {
		select {
		case <-c.idle:
			return true
		default:
			return false
		}
	}
	c.enter()
	if c.leave(); idle() {
		t.Error("it is idle before it closes")
	}
	c.enter()
	c.enter()
	c.closing = true
	if c.leave(); idle() || c.enter() {
		t.Error("a call is under way, or begins while it closes")
	}
	if c.leave(); !idle() {
		t.Error("it is not idle after the last call")
	}
}

func TestHasFunction(t *testing.T) {
	for path, want := range map[string]bool{"libc.so.6": true, "/no/such/library.so": false} {
		if got := hasFunction(path, "malloc"); got != want {
			t.Errorf("%s has malloc: %v", path, got)
		}
	}
	if hasFunction("libc.so.6", "nvmlInit") {
		t.Error("libc has nvmlInit")
	}
}

// A metric is missing when the library has neither a function of it nor one that makes it needless.
func TestMissing(t *testing.T) {
	all := symbolSet{}
	for _, names := range optional {
		all[names[0]] = true
	}
	for _, m := range metrics {
		if len(m.symbols) > 0 {
			all[m.symbols[0]] = true
		}
	}
	if got := missing(all); len(got) > 0 {
		t.Errorf("of all functions %v are missing", got)
	}
	for _, m := range metrics {
		delete(all, m.symbols[0])
		there := slices.ContainsFunc(metrics, func(o metric) bool { return o.symbols[0] == m.symbols[0] && (all.any(o.symbols) || all.any(o.unless)) })
		if got := slices.Contains(missing(all), m.symbols[0]); got == there {
			t.Errorf("without %s, which another serves for: %v; missing: %v", m.symbols[0], there, got)
		}
		all[m.symbols[0]] = true
	}
}

// A GPU has no memory of its own when its name says so, it has no memory bus, or it uses the processor's page tables.
func TestIntegrated(t *testing.T) {
	s, inside := playText(t, "gpu 0\ngpu 1 buswidth=0\ngpu 2 buswidth=na\ngpu 3 addressing=2\ngpu 4 addressing=1\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	for i, want := range []bool{false, true, true, true, false} {
		if got := integrated(s.conn.devices[i].handle, &sampler.Device{Name: "a GPU"}); got != want {
			t.Errorf("GPU %d: %v", i, got)
		}
	}
	if !integrated(s.conn.devices[0].handle, &sampler.Device{Name: "NVIDIA GB10"}) {
		t.Error("a GB10 has memory of its own")
	}
	for capability, want := range map[string]bool{"9.0": false, "8.9": false, "8.7": true, "12.1": true, "13.0": true} {
		if got := integrated(s.conn.devices[2].handle, &sampler.Device{Name: "a GPU", ComputeCapability: sampler.Some(capability)}); got != want {
			t.Errorf("capability %s: %v", capability, got)
		}
	}
}

// A row that fails rests for a second, then twice as long each time up to 30 s, and its last value stands in until it is
// three seconds old, or would be before the next turn.
func TestRowRests(t *testing.T) {
	ret, asked := gonvml.SUCCESS, 0
	rows := []metric{{name: "x", every: 2 * time.Second, read: func(gonvml.Device) (setter, gonvml.Return) {
		asked++
		return func(m *sampler.Metrics) { m.Fan = sampler.Some(41) }, ret
	}}}
	m := metricsState{rows: make([]rowState, 1)}
	for _, row := range []struct {
		at    time.Duration // in ms
		ret   gonvml.Return
		asked int
		known bool
	}{
		{0, gonvml.SUCCESS, 1, true},
		{1000, gonvml.SUCCESS, 1, true},
		{1699, gonvml.SUCCESS, 1, true},
		{1700, gonvml.SUCCESS, 2, true},
		{2700, gonvml.SUCCESS, 2, true},
		{3700, gonvml.ERROR_TIMEOUT, 3, true}, // would be 2.7 s old
		{4100, gonvml.ERROR_TIMEOUT, 3, true},
		{4400, gonvml.ERROR_TIMEOUT, 4, true},
		{4700, gonvml.ERROR_TIMEOUT, 4, true},
		{4701, gonvml.ERROR_TIMEOUT, 4, false},
		{6100, gonvml.SUCCESS, 5, true},
		{7100, gonvml.SUCCESS, 5, true},
		{8500, gonvml.SUCCESS, 6, true},
		{10000, gonvml.SUCCESS, 6, true},
		{11500, gonvml.SUCCESS, 7, true},
		{13000, gonvml.SUCCESS, 7, true},
		{14600, gonvml.SUCCESS, 8, true},
		{16400, gonvml.ERROR_TIMEOUT, 9, false}, // would be 3.3 s old
	} {
		ret = row.ret
		out, err := m.read(handle{}, rows, began.Add(row.at*time.Millisecond))
		if err != nil || asked != row.asked || out.Fan.Known() != row.known {
			t.Errorf("after %v ms: asked %d times, known %v, %v; want %+v", int(row.at), asked, out.Fan.Known(), err, row)
		}
	}
	ret, m.rows[0].pause = gonvml.ERROR_TIMEOUT, 20*time.Second
	if m.rows[0].ask(&rows[0], nil, began.Add(time.Hour), began); m.rows[0].pause != backOffKnown {
		t.Errorf("the pause of one that has answered, after 20 s, is %v", m.rows[0].pause)
	}
	never := rowState{pause: 20 * time.Second}
	if never.ask(&rows[0], nil, began, began); never.pause != backOffMost {
		t.Errorf("the pause of one that never has, after 20 s, is %v", never.pause)
	}
	every := metric{read: rows[0].read}
	var st rowState
	ret, asked = gonvml.SUCCESS, 0
	for range 2 {
		st.ask(&every, nil, began, began)
	}
	if asked != 2 {
		t.Errorf("a row of every question is asked %d times of 2", asked)
	}
}

// A list that is empty is read every two seconds when most GPUs have none, one that is not at every question; one that
// fails rests as a row does.
func TestListRests(t *testing.T) {
	s, inside := playText(t, "gpu 0-2\nproc 0-1 pid=1 memory=1GiB\nproc 1 pid=9 memory=1GiB type=graphics\n"+
		"fail nvmlDeviceGetComputeRunningProcesses* gpu=2 code=TIMEOUT\n")
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	const compute, graphics = 0, 1
	var last [3]time.Time // when the list was read last
	read := func(dev, list int) bool {
		k := &s.conn.devices[dev].processes.lists[list]
		was := k.good
		if dev == 2 {
			was = k.next
		}
		_, err := s.Processes(dev)
		if dev == 2 {
			if !errors.Is(err, sampler.ErrTransient) {
				t.Errorf("error %v", err)
			}
			return !k.next.Equal(was)
		}
		return !k.good.Equal(was)
	}
	for _, row := range []struct {
		dev, list int
		later     time.Duration // since it was read last
		want      bool
	}{
		{0, graphics, 0, true}, {0, graphics, 1699 * time.Millisecond, false}, {0, graphics, 1700 * time.Millisecond, true},
		{1, graphics, 0, true}, {1, graphics, 1, true}, {0, compute, 1, true}, {0, compute, 2, true},
		{2, compute, 0, true}, {2, compute, 699 * time.Millisecond, false}, {2, compute, 700 * time.Millisecond, true},
		{2, compute, 1699 * time.Millisecond, false}, {2, compute, 1700 * time.Millisecond, true},
	} {
		if !last[row.dev].IsZero() {
			c.t = last[row.dev].Add(row.later)
		}
		if got := read(row.dev, row.list); got != row.want {
			t.Errorf("GPU %d, list %d, %v after the last: read %v", row.dev, row.list, row.later, got)
		}
		if row.want {
			last[row.dev] = c.t
		}
		c.add(time.Minute)
	}
}

// A process is asked for its peak every ten seconds, two at a time, those first that were asked longest ago.
func TestPeakTurns(t *testing.T) {
	s, inside := playText(t, "gpu 0\naccounting 0\nproc 0 pid=101 memory=1GiB max=2GiB\nproc 0 pid=102 memory=1GiB max=2GiB\nproc 0 pid=103 memory=1GiB max=2GiB\n", nvmltest.StopAt(3*time.Second))
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	for _, row := range []struct {
		later time.Duration
		want  []int
	}{
		{0, []int{101, 102}}, {699 * time.Millisecond, nil}, {time.Millisecond, []int{103}}, {9 * time.Second, []int{101, 102}},
		{700 * time.Millisecond, []int{103}}, {8999 * time.Millisecond, nil},
	} {
		c.add(row.later)
		if _, err := s.Processes(0); err != nil {
			t.Fatal(err)
		}
		var got []int
		for pid, k := range s.conn.devices[0].processes.peaks.peaks {
			if k.asked.Equal(c.t) {
				got = append(got, pid)
			}
		}
		if slices.Sort(got); !slices.Equal(got, row.want) {
			t.Errorf("%v later: asked for %v, want %v", row.later, got, row.want)
		}
	}
}

// Only a GPU without memory of its own that refuses to tell it for good shares the machine's.
func TestIntegratedAnswers(t *testing.T) {
	for code, want := range map[string]bool{"": false, "TIMEOUT": false, "NO_PERMISSION": false, "INVALID_ARGUMENT": false, "NOT_SUPPORTED": true, "FUNCTION_NOT_FOUND": true} {
		t.Run(code, func(t *testing.T) {
			scenario := "gpu 0 buswidth=0 cc=12.1\n"
			if code != "" {
				scenario += "fail nvmlDeviceGetMemoryInfo* code=" + code + "\n"
			}
			s, inside := playText(t, scenario)
			if !inside {
				return
			}
			if got := mustOpen(t, s).Devices[0].SharedWithHost; got != want {
				t.Errorf("shares the machine's memory: %v", got)
			}
		})
	}
}

// A GPU in MIG mode has no instances where each place says so, and not where the driver refuses to say.
func TestUnsplit(t *testing.T) {
	for name, row := range map[string]struct {
		scenario string
		want     bool
	}{
		"not in MIG mode": {"gpu 0\n", false}, "without instances": {"gpu 0 mig\n", true}, "with one": {"gpu 0 mig\nmig 0 index=0 gi=1\n", false},
		"refused": {"gpu 0 mig\nfail nvmlDeviceGetMigDeviceHandleByIndex code=NO_PERMISSION\n", false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s, inside := playText(t, row.scenario)
			if !inside {
				return
			}
			if got := mustOpen(t, s).Devices[0].Unsplit; got != row.want {
				t.Errorf("without instances: %v", got)
			}
		})
	}
}

// Whether accounting is on is asked once, unless there was no answer.
func TestAccountingIsAskedOnce(t *testing.T) {
	for code, want := range map[string]bool{"": true, "NOT_SUPPORTED": true, "TIMEOUT": false} {
		t.Run(code, func(t *testing.T) {
			scenario := "gpu 0\nproc 0 pid=77 memory=1GiB\n"
			if code != "" {
				scenario += "fail nvmlDeviceGetAccountingMode code=" + code + "\n"
			}
			s, inside := playText(t, scenario, nvmltest.StatsTo(statsFile(t)))
			if !inside {
				return
			}
			c := useClock(s)
			mustOpen(t, s)
			for range 5 {
				s.Processes(0) //nolint:errcheck // what is asked counts
				c.add(10 * time.Second)
			}
			s.Close()
			if n := readStats(t).Calls["nvmlDeviceGetAccountingMode"].Count; n < 1 || (n == 1) != want {
				t.Errorf("asked %d times, once: %v", n, want)
			}
		})
	}
}
