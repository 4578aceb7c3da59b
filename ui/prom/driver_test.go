package prom

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

const (
	isLost = "GPU is lost: memory (GPU_IS_LOST)"
	isAway = "driver connection lost: the NVIDIA driver is not loaded (nvmlInit: DRIVER_NOT_LOADED): run sudo modprobe nvidia"
)

var lostAlert = sampler.Alert{ID: "1", Kind: sampler.AlertGPULost, Level: sampler.LevelCritical, GPU: sampler.Some(1), Key: sampler.GPUKey{ID: "GPU-b"}}

// two shows a snapshot of two GPUs so much later; empty errors: the GPU gives figures.
func (r *rig) two(later time.Duration, first, second string, list ...sampler.Alert) {
	r.mu.Lock()
	r.now = r.now.Add(later)
	r.mu.Unlock()
	s := r.snapshotNow(10)
	s.GPUs = append(s.GPUs, s.GPUs[0])
	s.GPUs[1].UUID, s.GPUs[1].Index = "GPU-b", 1
	for i, why := range []string{first, second} {
		if why != "" {
			s.GPUs[i].Error, s.GPUs[i].Memory = sampler.Some(why), sampler.Memory{Total: sampler.Some(gib(80))}
		}
	}
	s.Alerts = list
	r.Observe(s)
}

// While the driver is away nothing new is known: no alert is over, no figure is new, and the health says why. A GPU that is lost as before
// when it is back is the same alert.
func TestDriverAway(t *testing.T) {
	r := newRig(t, Options{Processes: 3, DCGM: true})
	lost := `nvpeak_alert{gpu="1",kind="gpu_lost",level="critical",uuid="GPU-b"}`
	total := `nvpeak_alerts_total{gpu="1",kind="gpu_lost",level="critical",uuid="GPU-b"}`
	expect := func(when string, health string, series ...any) {
		t.Helper()
		got := ""
		if err := r.Health(15 * time.Second); err != nil {
			got = err.Error()
		}
		if got != health {
			t.Errorf("%s: health %q, want %q", when, got, health)
		}
		text := r.text()
		for i := 0; i+1 < len(series); i += 2 {
			if want := fmt.Sprintf("%s %v\n", series[i], series[i+1]); !strings.Contains(text, "\n"+want) {
				t.Errorf("%s: no %s", when, want)
			}
		}
	}
	r.two(time.Second, "", isLost, lostAlert)
	expect("one is lost", "", "nvpeak_driver_up", 1, "nvpeak_snapshot_age_seconds", 0, lost, 1, total, 1, "nvpeak_processes_left_out", 0)
	r.two(time.Second, isAway, isAway, lostAlert)
	for range 30 { // longer than what is kept when it is back
		r.two(time.Second, isAway, isAway)
	}
	expect("away", "no GPU can be read: "+isAway, "nvpeak_driver_up", 0, "nvpeak_snapshot_age_seconds", 31, lost, 1, total, 1)
	for _, name := range []string{"nvpeak_processes_left_out", "DCGM_FI_DEV_XID_ERRORS", "nvpeak_gpu_memory_used_bytes"} {
		if strings.Contains(r.text(), "\n"+name) {
			t.Errorf("%s though nothing is known", name)
		}
	}
	r.two(time.Second, "", isLost)
	expect("back", "", "nvpeak_driver_up", 1, "nvpeak_snapshot_age_seconds", 0, lost, 1, total, 1)
	again := lostAlert
	again.ID = "2"
	r.two(2*time.Second, "", isLost, again)
	expect("lost as before", "", lost, 1, total, 1)
	r.two(time.Minute, "", isLost, again)
	expect("a minute later", "", lost, 1, total, 1)
	r.two(time.Second, "", "")
	expect("found again", "", lost, 0, total, 1)
	r.two(time.Second, isAway, isAway, lostAlert)
	r.two(time.Second, isAway, isAway)
	r.two(time.Second, "", "")
	expect("away, and all well", "", lost, 0, total, 2)
	r.two(time.Second, isAway, isAway, again)
	r.two(time.Second, isAway, isAway)
	r.two(time.Second, "", isLost)
	r.two(reopening, "", isLost)
	expect("back, and never listed again", "", lost, 0, total, 3)
}

// One GPU that is lost is no driver that is away; a driver that answers nothing, and an exporter that has read nothing yet, are told apart.
func TestHealth(t *testing.T) {
	r := newRig(t, Options{})
	for _, row := range []struct{ first, second, health, up string }{
		{"", "", "", "1"}, {"", isLost, "", "1"}, {isLost, isLost, "no GPU can be read: " + isLost, "1"},
		{"not answering: memory\x1b[31m\nx", isAway, "no GPU can be read: not answering: memory", "0"},
	} {
		r.two(time.Second, row.first, row.second)
		err := r.Health(15 * time.Second)
		if (err == nil) != (row.health == "") || err != nil && (!strings.HasPrefix(err.Error(), row.health) || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Errorf("%+v: %v", row, err)
		}
		if !strings.Contains(r.text(), "\nnvpeak_driver_up "+row.up+"\n") {
			t.Errorf("%+v: driver_up is not %s", row, row.up)
		}
	}
	r.two(time.Second, "", "")
	r.mu.Lock()
	r.now = r.now.Add(20 * time.Second)
	r.mu.Unlock()
	if err := r.Health(15 * time.Second); err == nil || err.Error() != "the GPUs have not been read for 20s" {
		t.Error(err)
	}
	r.newest.Store(nil)
	if err := r.Health(15 * time.Second); err == nil || strings.Contains(r.text(), "nvpeak_driver_up") {
		t.Errorf("before the first snapshot: %v, and driver_up is told", err)
	}
}

// What the network of the machine has carried is not of the exporter.
func TestOwnCost(t *testing.T) {
	text := newRig(t, Options{}).text()
	if strings.Contains(text, "process_network_") || !strings.Contains(text, "\nprocess_cpu_seconds_total ") || !strings.Contains(text, "\nprocess_resident_memory_bytes ") {
		t.Errorf("%s", text)
	}
}
