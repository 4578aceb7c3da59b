package nvml

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

func TestMIG(t *testing.T) {
	s, inside := play(t, nvmltest.Current, nvmltest.Shipped(t, "mig"), nvmltest.StopAt(time.Second))
	if !inside {
		return
	}
	inv := mustOpen(t, s)
	if len(inv.Devices) != 5 {
		t.Fatalf("%d devices, want GPU 0, its three instances, GPU 1", len(inv.Devices))
	}
	want := []*sampler.MIG{
		nil,
		{Index: 0, ParentUUID: inv.Devices[0].UUID, GPUInstance: 2, ComputeInstance: 0, Profile: "3g.40gb"},
		{Index: 1, ParentUUID: inv.Devices[0].UUID, GPUInstance: 9, ComputeInstance: 0, Profile: "1g.10gb"},
		{Index: 3, ParentUUID: inv.Devices[0].UUID, GPUInstance: 10, ComputeInstance: 0, Profile: "1g.10gb"},
		nil,
	}
	for i, d := range inv.Devices {
		if (d.MIG == nil) != (want[i] == nil) || d.MIG != nil && *d.MIG != *want[i] {
			t.Errorf("device %d: MIG %+v, want %+v", i, d.MIG, want[i])
		}
	}
	if d := inv.Devices[2]; d.Index != 0 || d.UUID == inv.Devices[0].UUID || d.UUID == "" || d.PCI != inv.Devices[0].PCI {
		t.Errorf("instance %+v", d)
	}
	r, err := s.Memory(1)
	if err != nil || r.Total != 40448*sampler.MiB || r.Used != 12*sampler.GiB {
		t.Errorf("memory of an instance: %+v, %v", r, err)
	}
	m, err := s.Metrics(1)
	if err != nil {
		t.Error(err)
	}
	wantUnknown(t, "utilization of an instance", m.Utilization.GPU)
	list, err := s.Processes(2)
	if err != nil || len(list) != 1 || list[0].PID != 44100 || list[0].Memory.Or(0) != 2*sampler.GiB {
		t.Errorf("processes of an instance: %+v, %v", list, err)
	}
}

// A split GPU may tell its sums to root only, and instances come and go.
func TestMIGChanges(t *testing.T) {
	stats := statsFile(t)
	s, inside := playText(t, "gpu 0 mig aggregate=no\nmig 0 index=0 gi=1\nmem 0.0 used=1GiB\n"+
		"fail nvmlDeviceGetMemoryInfo* gpu=0.0 from=300ms code=INVALID_ARGUMENT\n"+
		"fail nvmlDeviceGetTemperature gpu=0 code=INVALID_ARGUMENT\n", nvmltest.StatsTo(stats))
	if !inside {
		return
	}
	mustOpen(t, s)
	_, err := s.Processes(0)
	wantErr(t, "processes of the GPU", err, sampler.ErrNoPermission)
	_, err = s.Processes(0)
	wantErr(t, "processes of the GPU, asked again", err, sampler.ErrNoPermission)
	if _, err := s.Memory(1); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Metrics(0); err != nil || m.Temperature.Known() {
		t.Errorf("one figure that the driver refuses: %v %v", m.Temperature, err)
	}
	time.Sleep(400 * time.Millisecond)
	_, err = s.Memory(1)
	wantErr(t, "an instance that is gone", err, sampler.ErrReconnect)
}

func TestUnified(t *testing.T) {
	s, inside := play(t, nvmltest.Current, nvmltest.Shipped(t, "unified"), nvmltest.StopAt(time.Second))
	if !inside {
		return
	}
	s.meminfo = filepath.Join(t.TempDir(), "meminfo")
	text := "MemTotal:       125513344 kB\nMemFree:         1000000 kB\nMemAvailable:   100000000 kB\nSwapTotal: 0 kB\n"
	if err := os.WriteFile(s.meminfo, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inv := mustOpen(t, s)
	if !inv.Devices[0].SharedWithHost {
		t.Error("a GB10 shares the machine's memory")
	}
	for range 2 {
		r, err := s.Memory(0)
		if err != nil || r.Total != 125513344*sampler.KiB || r.Free != 100000000*sampler.KiB || r.Used != r.Total-r.Free || r.Reserved.Known() {
			t.Errorf("reading %+v, %v", r, err)
		}
	}
	list, err := s.Processes(0)
	if err != nil || len(list) != 2 {
		t.Fatalf("processes %+v, %v", list, err)
	}
	for _, p := range list {
		if !p.Memory.Known() {
			t.Errorf("process %+v", p)
		}
	}
}

// A GPU with a memory of its own that does not tell it is not one that shares the machine's.
func TestMemoryNotSupported(t *testing.T) {
	stats := statsFile(t)
	s, inside := playText(t, "gpu 0\nfail nvmlDeviceGetMemoryInfo* code=NOT_SUPPORTED\n", nvmltest.StatsTo(stats))
	if !inside {
		return
	}
	if mustOpen(t, s).Devices[0].SharedWithHost {
		t.Error("an H100 shares no memory")
	}
	for range 5 {
		_, err := s.Memory(0)
		wantErr(t, "memory", err, sampler.ErrNotSupported)
	}
	s.Close()
	st := readStats(t)
	if v2, v1 := st.Calls["nvmlDeviceGetMemoryInfo_v2"].Count, st.Calls["nvmlDeviceGetMemoryInfo"].Count; v2 != 1 || v1 != 1 {
		t.Errorf("asked %d and %d times, want once each", v2, v1)
	}
}

// Driver 510.39 has the newer call but always refuses it.
func TestMemoryOlderCall(t *testing.T) {
	for _, code := range []string{"FUNCTION_NOT_FOUND", "ARGUMENT_VERSION_MISMATCH", "NOT_SUPPORTED", "INVALID_ARGUMENT", "DEPRECATED"} {
		t.Run(code, func(t *testing.T) {
			s, inside := playText(t, "gpu 0\nmem 0 used=1GiB\nfail nvmlDeviceGetMemoryInfo_v2 code="+code+"\n")
			if !inside {
				return
			}
			mustOpen(t, s)
			r, err := s.Memory(0)
			if err != nil || r.Used != sampler.GiB+551*sampler.MiB || r.Reserved.Known() {
				t.Errorf("reading %+v, %v", r, err)
			}
		})
	}
}

// go-nvml's own list calls would take all memory of the machine here.
func TestInsufficientForEver(t *testing.T) {
	stats := statsFile(t)
	s, inside := play(t, nvmltest.Current, nvmltest.Shipped(t, "insufficient"), nvmltest.StatsTo(stats))
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	const rounds = 60
	within(t, "60 lists", time.Second, func() {
		for range rounds {
			list, err := s.Processes(0)
			wantErr(t, "processes", err, sampler.ErrTransient)
			if list != nil {
				t.Errorf("list %v", list)
			}
			c.add(time.Second)
		}
	})
	if _, err := s.Memory(0); err != nil {
		t.Error(err)
	}
	s.Close()
	st := readStats(t)
	if n := st.Calls["nvmlDeviceGetComputeRunningProcesses_v3"].Count; n < listTries || n > 10*listTries {
		t.Errorf("%d calls in %d s; a list that fails is asked ever more seldom", n, rounds)
	}
}

// One list that fails does not hide the others; without the compute list it is known that there may be more.
func TestListsFailApart(t *testing.T) {
	for name, test := range map[string]struct {
		fail string
		pids []int
		err  error
	}{
		"graphics for a moment": {"fail nvmlDeviceGetGraphicsRunningProcesses* code=TIMEOUT", []int{1, 3}, nil},
		"graphics never":        {"fail nvmlDeviceGetGraphicsRunningProcesses* code=NOT_SUPPORTED", []int{1, 3}, nil},
		"MPS for ever more":     {"insufficient nvmlDeviceGetMPSComputeRunningProcesses*", []int{1, 2}, nil},
		"compute never":         {"fail nvmlDeviceGetComputeRunningProcesses* code=NO_PERMISSION", []int{2, 3}, sampler.ErrNoPermission},
		"compute for a moment":  {"fail nvmlDeviceGetComputeRunningProcesses* code=IN_USE", nil, sampler.ErrTransient},
		"all never":             {"fail nvmlDeviceGet*RunningProcesses* code=NOT_SUPPORTED", nil, sampler.ErrNotSupported},
		"all forbidden":         {"fail nvmlDeviceGet*RunningProcesses* code=NO_PERMISSION", nil, sampler.ErrNoPermission},
	} {
		t.Run(name, func(t *testing.T) {
			s, inside := playText(t, "gpu 0\nproc 0 pid=1 memory=1GiB\nproc 0 pid=2 memory=1GiB type=graphics\nproc 0 pid=3 memory=1GiB type=mps\n"+test.fail+"\n")
			if !inside {
				return
			}
			mustOpen(t, s)
			for range 2 {
				list, err := s.Processes(0)
				if !errors.Is(err, test.err) {
					t.Errorf("error %v, want %v", err, test.err)
				}
				var pids []int
				for _, p := range list {
					pids = append(pids, p.PID)
				}
				if !slices.Equal(pids, test.pids) {
					t.Errorf("pids %v, want %v", pids, test.pids)
				}
			}
		})
	}
}

// When memory moves the caller asks again at once who has it: one call, not four.
func TestProcessesAskedAgainAtOnce(t *testing.T) {
	s, inside := playText(t, "gpu 0\nproc 0 pid=1 memory=1GiB sm=5\naccounting 0\n", nvmltest.StatsTo(statsFile(t)))
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	for range 5 {
		if _, err := s.Processes(0); err != nil {
			t.Fatal(err)
		}
		c.add(200 * time.Millisecond)
	}
	s.Close()
	st := readStats(t)
	for name, most := range map[string]int{"ComputeRunningProcesses_v3": 5, "GraphicsRunningProcesses_v3": 2, "MPSComputeRunningProcesses_v3": 2,
		"ProcessUtilization": 2, "AccountingStats": 2} {
		if n := st.Calls["nvmlDeviceGet"+name].Count; n < 1 || n > most {
			t.Errorf("%s: %d calls, want at most %d", name, n, most)
		}
	}
}

// More processes than the first try has room for.
func TestManyProcesses(t *testing.T) {
	s, inside := playText(t, "gpu 0\nproc 0 pid=1000 count=1500 memory=1MiB sm=1\n", nvmltest.StopAt(2*time.Second))
	if !inside {
		return
	}
	mustOpen(t, s)
	list, err := s.Processes(0)
	if err != nil || len(list) != 1500 || list[1499].PID != 2499 {
		t.Fatalf("%d processes, %v", len(list), err)
	}
	for _, p := range list {
		if p.Memory.Or(0) != sampler.MiB {
			t.Fatalf("process %+v", p)
		}
	}
}

func TestAccounting(t *testing.T) {
	s, inside := playText(t, "gpu 0-1\naccounting 0\nproc * pid=100 same memory=2GiB max=5GiB\nproc 0 pid=101 memory=1GiB max=0\n"+
		"proc 0 pid=102 memory=1GiB max=2GiB stop=300ms\nproc 0 pid=103 memory=1GiB max=max\n")
	if !inside {
		return
	}
	c := useClock(s)
	mustOpen(t, s)
	var peaks map[int]*sampler.Peak
	read := func() {
		t.Helper()
		peaks = map[int]*sampler.Peak{}
		list, err := s.Processes(0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			peaks[p.PID] = p.Peak
		}
	}
	first := c.t
	read()
	c.add(time.Second)
	read()
	if p := peaks[100]; p == nil || p.Bytes != 5*sampler.GiB || p.Source != sampler.PeakDriver || !p.Time.Equal(first) {
		t.Errorf("peak %+v", p)
	}
	if p := peaks[102]; p == nil || p.Bytes != 2*sampler.GiB {
		t.Errorf("peak %+v; two processes are asked at a time, so all four have been", p)
	}
	if peaks[101] != nil || peaks[103] != nil {
		t.Errorf("peaks of 0 and 2^64-1: %v %v", peaks[101], peaks[103])
	}
	time.Sleep(400 * time.Millisecond)
	c.add(time.Second)
	read()
	if _, there := peaks[102]; there || len(s.conn.devices[0].processes.peaks.peaks) != 3 {
		t.Error("the peak of a process that is gone must be forgotten")
	}
	list, err := s.Processes(1)
	if err != nil || len(list) != 1 || list[0].Peak != nil {
		t.Errorf("accounting is off: %+v, %v", list, err)
	}
}
