package nvml

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

const oneH100 = `driver 580.95.05
cuda 13.0
gpu 0-1 util=93 memutil=61 temp=64 fan=41 power=612.5 limit=700 sm=1755 memclk=2619 gen=5 width=16 rx=1250000 tx=980000 enc=7 dec=9 ecc=3 throttle=0x64 pstate=2
mem 0-1 used=62.5GiB
proc 0-1 pid=41000 memory=rest sm=93
proc 0-1 pid=41002 memory=3GiB type=compute+graphics sm=250
proc 0 pid=41005 memory=1GiB type=graphics
proc 0 pid=41006 memory=2GiB type=mps
`

func TestSteady(t *testing.T) {
	s, inside := playText(t, oneH100, nvmltest.StopAt(3*time.Second))
	if !inside {
		return
	}
	inv := mustOpen(t, s)
	if inv.Driver != "580.95.05" || inv.CUDA != "13.0" || len(inv.Devices) != 2 {
		t.Fatalf("inventory %+v", inv)
	}
	d := inv.Devices[1]
	if d.Index != 1 || d.Name != "NVIDIA H100 80GB HBM3" || d.UUID != "GPU-10000001-5eed-4000-8000-000000000001" ||
		d.PCI != "00000000:11:00.0" || d.MIG != nil || d.SharedWithHost {
		t.Errorf("device %+v", d)
	}
	wantOpt(t, "compute capability", d.ComputeCapability, "9.0")

	r, err := s.Memory(1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Total != 81559*sampler.MiB || r.Used != 62*sampler.GiB+512*sampler.MiB || r.Reserved.Or(0) != 551*sampler.MiB ||
		r.Used+r.Free+r.Reserved.Or(0) != r.Total {
		t.Errorf("reading %+v", r)
	}
	checkSteadyMetrics(t, s)
	checkSteadyProcesses(t, s)
}

func checkSteadyMetrics(t *testing.T, s *Source) {
	t.Helper()
	m, err := s.Metrics(0)
	if err != nil {
		t.Fatal(err)
	}
	wantOpt(t, "gpu", m.Utilization.GPU, 93)
	wantOpt(t, "memory utilization", m.Utilization.Memory, 61)
	wantOpt(t, "encoder", m.Utilization.Encoder, 7)
	wantOpt(t, "decoder", m.Utilization.Decoder, 9)
	wantOpt(t, "temperature", m.Temperature, 64)
	wantOpt(t, "fan", m.Fan, 41)
	wantOpt(t, "power", m.Power, 612.5)
	wantOpt(t, "limit", m.PowerLimit, 700)
	wantOpt(t, "sm clock", m.Clocks.SM, 1755)
	wantOpt(t, "memory clock", m.Clocks.Memory, 2619)
	wantOpt(t, "generation", m.PCIe.Generation, 5)
	wantOpt(t, "width", m.PCIe.Width, 16)
	wantOpt(t, "state", m.PerformanceState, "P2")
	wantOpt(t, "ecc", m.ECCUncorrected, uint64(3))
	if want := []string{"sw_power_cap", "sw_thermal", "hw_thermal"}; !slices.Equal(m.Throttle, want) {
		t.Errorf("throttle %v, want %v", m.Throttle, want)
	}
	rx, tx, err := s.Throughput(0)
	if err != nil {
		t.Fatal(err)
	}
	wantOpt(t, "rx", rx, uint64(1250000*1024))
	wantOpt(t, "tx", tx, uint64(980000*1024))
}

func checkSteadyProcesses(t *testing.T, s *Source) {
	t.Helper()
	list, err := s.Processes(0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, fmt.Sprint(p.PID, " ", p.Type, " ", p.Memory.Or(0), " ", p.SM.Or(-1)))
	}
	want := []string{
		"41000 compute 56.5 GiB 93", "41002 compute+graphics 3.0 GiB 100",
		"41005 graphics 1.0 GiB -1", "41006 mps 2.0 GiB -1",
	}
	// The fake may sample processes that rest as 0; both are right.
	for i := range got {
		if len(got[i]) > 2 && got[i][len(got[i])-2:] == " 0" {
			got[i] = got[i][:len(got[i])-2] + " -1"
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("processes\n%q\nwant\n%q", got, want)
	}
}

// A driver without the newer functions must not end the process, whatever is asked.
func TestOldDrivers(t *testing.T) {
	for name, variant := range map[string]nvmltest.Variant{"470": nvmltest.R470, "418": nvmltest.R418} {
		t.Run(name, func(t *testing.T) {
			s, inside := play(t, variant, nvmltest.Scenario(t, "driver "+name+".10\n"+oneH100[len("driver 580.95.05\n"):]),
				nvmltest.StopAt(3*time.Second))
			if !inside {
				return
			}
			inv := mustOpen(t, s)
			if name == "418" && inv.Devices[0].PCI != "0000:10:00.0" {
				t.Errorf("pci %q", inv.Devices[0].PCI)
			}
			r, err := s.Memory(0)
			if err != nil {
				t.Fatal(err)
			}
			// The older call counts what is reserved as used.
			if r.Used != 62*sampler.GiB+(512+551)*sampler.MiB || r.Reserved.Known() || r.Used+r.Free != r.Total {
				t.Errorf("reading %+v", r)
			}
			checkSteadyMetrics(t, s)
			list, err := s.Processes(0)
			if err != nil || len(list) < 3 {
				t.Errorf("processes %v, %v", list, err)
			}
			if dev, _, err := s.WaitXID(10 * time.Millisecond); dev != -1 || err != nil {
				t.Errorf("xid: %d, %v", dev, err)
			}
		})
	}
}

func TestHidden(t *testing.T) {
	s, inside := play(t, nvmltest.Current, nvmltest.Shipped(t, "hidden"), nvmltest.StopAt(time.Second))
	if !inside {
		return
	}
	mustOpen(t, s)
	list, err := s.Processes(1)
	if err != nil || len(list) != 1 || list[0].Type != "compute+graphics" {
		t.Fatalf("processes %+v, %v", list, err)
	}
	wantUnknown(t, "memory of a process that is not told", list[0].Memory)
}

const absurd = `gpu 0-5
mem 0-5 used=10GiB
raw 0 used=max
raw 1 total=0
raw 2 used=200GiB
raw 3 total=max used=max free=max reserved=max
raw 4 total=80GiB used=79GiB free=79GiB reserved=79GiB
set 5 util=4294967295 temp=4294967295 fan=4000000000 power=4294967.295 sm=4294967295 gen=99 width=4294967295 pstate=32 enc=101 rx=4294967295 ecc=max throttle=max
proc * pid=53000 memory=max sm=4294967295
proc * pid=0 same memory=1GiB
proc * pid=4294967295 same memory=2GiB
proc 5 pid=7 memory=500GiB sm=20000
`

func TestAbsurd(t *testing.T) {
	s, inside := playText(t, absurd, nvmltest.StopAt(2*time.Second))
	if !inside {
		return
	}
	mustOpen(t, s)
	m, err := s.Metrics(5)
	if err != nil {
		t.Fatal(err)
	}
	wantUnknown(t, "utilization", m.Utilization.GPU)
	wantUnknown(t, "encoder", m.Utilization.Encoder)
	wantUnknown(t, "temperature", m.Temperature)
	wantUnknown(t, "fan", m.Fan)
	wantUnknown(t, "power", m.Power)
	wantUnknown(t, "clock", m.Clocks.SM)
	wantUnknown(t, "generation", m.PCIe.Generation)
	wantUnknown(t, "width", m.PCIe.Width)
	wantUnknown(t, "state", m.PerformanceState)
	wantUnknown(t, "ecc", m.ECCUncorrected)
	rx, _, err := s.Throughput(5)
	if err != nil {
		t.Error(err)
	}
	wantUnknown(t, "rx", rx)
	for dev := range 6 {
		if _, err := s.Memory(dev); err != nil {
			t.Errorf("memory of %d: %v", dev, err)
		}
		list, err := s.Processes(dev)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.PID <= 0 || p.Memory.Known() || p.SM.Known() {
				t.Errorf("process %+v", p)
			}
		}
	}
}

func TestHostileStrings(t *testing.T) {
	s, inside := play(t, nvmltest.Current, nvmltest.Shipped(t, "hostile"), nvmltest.StopAt(time.Second))
	if !inside {
		return
	}
	inv := mustOpen(t, s)
	if len(inv.Devices) != 8 || inv.Driver != sampler.Clean(inv.Driver) {
		t.Errorf("%d devices, driver %q", len(inv.Devices), inv.Driver)
	}
	for _, d := range inv.Devices {
		if d.UUID != sampler.Clean(d.UUID) {
			t.Errorf("uuid %q", d.UUID)
		}
	}
}
