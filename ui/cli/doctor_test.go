package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

// examined runs doctor --json with the fake driver, in a process of its own.
func examined(t *testing.T, variant nvmltest.Variant, scenario string) (checks map[string]finding, calls []callTime, rates []samplingRate, code int, inside bool) {
	t.Helper()
	lib, inside := nvmltest.Child(t, variant, scenario)
	if !inside {
		return nil, nil, nil, 0, false
	}
	out, _, code := command(t, "doctor", "--json", "--nvml-lib", lib)
	var r struct {
		Schema int            `json:"schema"`
		GPUs   int            `json:"measurable_gpus"`
		Checks []finding      `json:"checks"`
		Calls  []callTime     `json:"calls"`
		Rates  []samplingRate `json:"memory_lane"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Schema != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	checks = map[string]finding{}
	for _, f := range r.Checks {
		checks[f.Name] = f
		if f.State == stateOK && f.Fix != "" || f.Why == "" || !slices.Contains([]string{stateOK, statePartial, stateUnavailable}, f.State) {
			t.Errorf("a check that says nothing, or fixes what works: %+v", f)
		}
	}
	return checks, r.Calls, r.Rates, code, true
}

func wantState(t *testing.T, checks map[string]finding, name, state, say, fix string) {
	t.Helper()
	f := checks[name]
	if f.State != state || !strings.Contains(f.Why, say) || f.Fix != fix {
		t.Errorf("%s: %s, %q, %q; want %s with %q, %q", name, f.State, f.Why, f.Fix, state, say, fix)
	}
}

func TestDoctorHealthy(t *testing.T) {
	checks, calls, rates, code, inside := examined(t, nvmltest.Current, nvmltest.Scenario(t, "gpu 0\ngpu 1\naccounting 0\nmem 0 used=20GiB\n"))
	if !inside {
		return
	}
	if code != exitFine {
		t.Errorf("exit %d", code)
	}
	for _, name := range []string{"driver library", "driver", "versions", "GPUs", "permissions", "memory", "driver speed", "SM per process", "Xid errors", "MIG", "NVML functions"} {
		wantState(t, checks, name, stateOK, "", "")
	}
	wantState(t, checks, "accounting", statePartial, "off on 1 of 2", "sudo nvidia-smi -am 1")
	if len(rates) != 2 || rates[0].Rate < 20 || rates[0].Rate > 60 || rates[0].Resolution < 0.019 {
		t.Errorf("rates %+v", rates)
	}
	if len(calls) != 2*len(callKinds) || calls[0].Count < 50 || calls[0].Median <= 0 || calls[0].P99 < calls[0].Median {
		t.Errorf("calls %+v", calls)
	}
}

func TestDoctorOldDriver(t *testing.T) {
	checks, _, _, code, inside := examined(t, nvmltest.R418, nvmltest.Scenario(t, "gpu 0\n"))
	if !inside {
		return
	}
	if code != exitFine {
		t.Errorf("exit %d", code)
	}
	wantState(t, checks, "memory", statePartial, "older call", "update the driver to 510 or newer")
	wantState(t, checks, "NVML functions", statePartial, "lacks", "update the driver")
}

// Each reason for which the driver cannot be used has its own row, and by exit code 1.
func TestDoctorRefused(t *testing.T) {
	for name, row := range map[string]struct{ check, fix string }{
		"notloaded":    {"driver", "sudo modprobe nvidia"},
		"mismatch":     {"versions", "sudo reboot"},
		"nogpu":        {"GPUs", "nvidia-smi -L (in a container: docker run --gpus all …)"},
		"nopermission": {"permissions", "sudo usermod -aG video,render $USER"},
	} {
		t.Run(name, func(t *testing.T) {
			checks, calls, _, code, inside := examined(t, nvmltest.Current, nvmltest.Shipped(t, name))
			if !inside {
				return
			}
			if code != exitFailed || len(calls) != 0 {
				t.Errorf("exit %d, %d calls", code, len(calls))
			}
			wantState(t, checks, row.check, stateUnavailable, "", row.fix)
			wantState(t, checks, "memory", stateUnavailable, "driver not available", "")
		})
	}
}

func TestDoctorMIG(t *testing.T) {
	checks, _, _, _, inside := examined(t, nvmltest.Current, nvmltest.Shipped(t, "mig"))
	if !inside {
		return
	}
	wantState(t, checks, "MIG", statePartial, "3 instance(s)", "")
	wantState(t, checks, "SM per process", statePartial, "not on MIG", "")
}

// Without a driver what needs none is still checked.
func TestDoctorWithoutDriver(t *testing.T) {
	out, errs, code := command(t, "doctor", "--nvml-lib", filepath.Join(t.TempDir(), "libnothing.so"))
	if code != exitFailed || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d, %q", code, errs)
	}
	_, list, _ := strings.Cut(out, "unknown (driver not available): ")
	list, _, _ = strings.Cut(list, "\n")
	unknown := strings.Split(list, ", ")
	for _, row := range checks {
		if !strings.Contains(out, "\n"+row.name+" ") && !strings.HasPrefix(out, row.name+" ") && !slices.Contains(unknown, row.name) {
			t.Errorf("no row %q", row.name)
		}
	}
	if !slices.Contains(unknown, "memory") || slices.Contains(unknown, "host memory") {
		t.Errorf("%q are unknown without the driver", unknown)
	}
}

// What the files of a system say.
func TestDoctorSystem(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		probe func(*checkup) finding
		state string
		say   string
		fix   string
	}{
		{"proc open", map[string]string{"/proc/stat": "cpu", "/proc/mounts": "proc /proc proc rw,hidepid=0 0 0\n"}, checkHidepid, stateOK, "", ""},
		{"hidepid", map[string]string{"/proc/stat": "cpu", "/proc/mounts": "proc /proc proc rw,hidepid=invisible 0 0\n"}, checkHidepid, statePartial, "hidepid=invisible", "sudo mount -o remount,hidepid=0 /proc"},
		{"no proc", nil, checkHidepid, stateUnavailable, "not there", "sudo mount -t proc proc /proc"},
		{"no container", map[string]string{"/proc/1/cgroup": "0::/init.scope"}, checkContainer, stateOK, "not in one", ""},
		{"own pids", map[string]string{"/.dockerenv": ""}, checkContainer, statePartial, "Docker with pids of its own", "docker run --pid=host …"},
		{"pids of the machine", map[string]string{"/.dockerenv": "", "/proc/2/comm": "kthreadd\n"}, checkContainer, stateOK, "pids of the machine", ""},
		{"Kubernetes", map[string]string{"/proc/1/cgroup": "0::/kubepods/besteffort/pod1"}, checkContainer, statePartial, "Kubernetes", "docker run --pid=host …"},
		{"WSL", map[string]string{"/proc/version": "Linux version 5.15 (Microsoft@WSL2)"}, checkWSL, statePartial, "Windows", ""},
		{"Linux", map[string]string{"/proc/version": "Linux version 6.1 (debian)"}, checkWSL, stateOK, "", ""},
	} {
		root := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := tt.probe(&checkup{app: &app{}, root: root})
		if f.State != tt.state || !strings.Contains(f.Why, tt.say) || f.Fix != tt.fix {
			t.Errorf("%s: %+v, want %s with %q, %q", tt.name, f, tt.state, tt.say, tt.fix)
		}
	}
}

// A call that hangs is given up, one that fails says why.
func TestTimeCalls(t *testing.T) {
	n := 0
	got := timeCalls(t.Context(), "memory", "0", 10, time.Minute, func() error { n++; return nil })
	if n != 10 || got.Count != 10 || got.Error != "" {
		t.Errorf("%d calls, %+v", n, got)
	}
	if got := timeCalls(t.Context(), "memory", "0", 10, 0, func() error { return nil }); got.Count != 1 {
		t.Errorf("%d calls where there is no time", got.Count)
	}
	if got := timeCalls(t.Context(), "memory", "0", 10, time.Minute, func() error { return sampler.ErrLost }); got.Count != 0 || !strings.Contains(got.Error, "lost") {
		t.Errorf("%+v", got)
	}
}

// A GPU whose metrics alone do not answer is named, and one that has none is no failure.
func TestCheckMetrics(t *testing.T) {
	call := func(name string, err error) callTime {
		return timeCalls(t.Context(), name, "1", 1, 0, func() error { return err })
	}
	for _, row := range []struct {
		calls       []callTime
		state, says string
	}{
		{[]callTime{call(callMetrics, nil), call(callTraffic, nil)}, stateOK, "utilization"},
		{[]callTime{call("memory", errHangs), call(callMetrics, nil), call(callTraffic, sampler.ErrNotSupported)}, stateOK, "utilization"},
		{[]callTime{call(callMetrics, errHangs), call(callTraffic, errHangs)}, statePartial, "GPU 1: not answering within 5s"},
		{[]callTime{call("memory", nil)}, stateUnavailable, "no call"},
	} {
		if f := checkMetrics(&checkup{app: &app{}, calls: row.calls}); f.State != row.state || !strings.Contains(f.Why, row.says) || strings.Count(f.Why, "GPU 1") > 1 {
			t.Errorf("%+v, want %s with %q", f, row.state, row.says)
		}
	}
}

// The least and most often read GPUs are distinguished, and windows of the past do not count.
func TestRates(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	var snaps []*sampler.Snapshot
	for i := range 5 {
		s := &sampler.Snapshot{Time: at.Add(time.Duration(i) * 500 * time.Millisecond), Sampling: sampler.Some(sampler.Sampling{PeriodSeconds: 0.02, DutyPercent: 1.5})}
		for g, readings := range []int{25, 10} {
			s.GPUs = append(s.GPUs, sampler.GPU{Index: g, Memory: sampler.Memory{Window: &sampler.Window{Readings: readings, Missed: g}}})
		}
		s.GPUs = append(s.GPUs, sampler.GPU{Index: 2})
		snaps = append(snaps, s)
	}
	got := rates(snaps)
	if len(got) != 2 || got[0].Rate != 50 || got[0].Resolution != 0.02 || got[1].Rate != 20 || got[1].Resolution != 0.05 || got[1].Missed != 4 {
		t.Errorf("%+v", got)
	}
	if rates(snaps[:1]) != nil || rates(nil) != nil {
		t.Error("a rate from one snapshot")
	}
}

// Memory that stands still is read half as often, and that is fine; a slow driver or a busy machine is not.
func TestCheckSampling(t *testing.T) {
	for _, row := range []struct {
		rate, period float64
		want         string
	}{{50, 0.02, stateOK}, {25, 0.02, stateOK}, {20, 0.02, statePartial}, {25, 0.04, statePartial}} {
		c := &checkup{app: &app{opt: options{peakInterval: 20 * time.Millisecond}}, sampling: []samplingRate{{Rate: row.rate, Period: row.period}}}
		if f := checkSampling(c); f.State != row.want {
			t.Errorf("%+v: %+v", row, f)
		}
	}
}

// doctor --demo looks at the scripted GPUs, not at a driver that may not be there.
func TestDoctorDemo(t *testing.T) {
	out, errs, code := command(t, "doctor", "--demo", "--json", "--nvml-lib", "/nowhere")
	var r struct {
		GPUs   int            `json:"measurable_gpus"`
		Checks []finding      `json:"checks"`
		Calls  []callTime     `json:"calls"`
		Rates  []samplingRate `json:"memory_lane"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFine || r.GPUs != 4 || len(r.Calls) == 0 || len(r.Rates) != 4 {
		t.Fatalf("%v, exit %d, %s\n%s", err, code, errs, out)
	}
	checks := map[string]finding{}
	for _, f := range r.Checks {
		checks[f.Name] = f
	}
	wantState(t, checks, "driver library", stateOK, "--demo=training", "")
	wantState(t, checks, "memory", stateOK, "", "")
	wantState(t, checks, "processes", stateOK, "", "")
	if out, _, code := command(t, "doctor", "--demo=list"); code != 0 || !strings.Contains(out, "leak") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
