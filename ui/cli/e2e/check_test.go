package e2e_test

import (
	"strings"
	"testing"
	"time"
)

// An answer is given when every GPU has told its memory and its processes, however slow the driver or
// the machine is, and not by half of them.
func TestCheckWaitsForTheWholeAnswer(t *testing.T) {
	const full = "gpu 0-3\nmem 0-3 used=62.5GiB\nproc 0-3 pid=41000 memory=rest name=python3\n"
	for _, row := range []struct{ name, slow, want string }{
		{"lists", "latency nvmlDeviceGetComputeRunningProcesses* 100ms\n", "held by pid 41000"},
		{"memory", "latency nvmlDeviceGetMemoryInfo* 100ms\n", "held by pid 41000"},
		{"one is not listed", "fail nvmlDeviceGet*RunningProcesses* code=NO_PERMISSION gpu=3\n", "held by no process the driver names 62.5"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, setup{scenario: full + row.slow, args: []string{"check", "--need", "200GiB", "--gpus", "4"}})
			if r.code != 3 || strings.Count(r.out, "held by ") != 4 || !strings.Contains(r.out, row.want) || strings.Contains(r.out, "too small") {
				t.Errorf("%d\n%s%s", r.code, r.out, r.err)
			}
		})
	}
}

// A GPU whose driver does not answer keeps the answer for the others up no longer than it takes to notice.
func TestCheckBesideAHungGPU(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"nvmlDeviceGetMemoryInfo*", "nvmlDeviceGet*RunningProcesses*"} {
		began := time.Now()
		r := run(t, setup{scenario: "gpu 0-1\nmem 0-1 used=10GiB\nhang " + call + " gpu=1\n", args: []string{"check", "--need", "20GiB"}})
		if took := time.Since(began); r.code != 0 || took > 6*time.Second {
			t.Errorf("%s: %d after %v\n%s%s", call, r.code, took, r.out, r.err)
		}
	}
}

// CUDA finds nothing to run on where a GPU is in MIG mode without instances, however empty it is.
func TestCheckLeavesOutAnUnsplitGPU(t *testing.T) {
	t.Parallel()
	const two = "gpu 0 mig\ngpu 1\nmem 1 used=70GiB\n"
	r := run(t, setup{scenario: two, args: []string{"check", "--need", "20GiB"}})
	if r.code != 3 || !strings.Contains(r.out, "nvidia-smi mig -i 0 -cgi") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, setup{scenario: two, args: []string{"check", "--need", "20GiB", "--json"}})
	if r.code != 3 || strings.Count(r.out, `"fits":false`) != 3 || strings.Count(r.out, `"reason":"mig_without_instances"`) != 1 {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	if r = run(t, setup{scenario: two, args: []string{"wait", "--need", "5GiB"}}); r.code != 0 || r.out != "1\n" {
		t.Errorf("wait: %d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, setup{scenario: "gpu 0 mig\n#\n", args: []string{"wait", "--need", "5GiB"}})
	if r.code != 2 || !strings.Contains(r.err, "nvidia-smi mig -cgi") {
		t.Errorf("wait: %d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, setup{scenario: "gpu 0 mig\nmig 0 index=0 gi=1 total=40GiB\n", args: []string{"wait", "--need", "5GiB"}})
	if r.code != 0 || !strings.HasPrefix(r.out, "MIG-") {
		t.Errorf("wait: %d\n%s%s", r.code, r.out, r.err)
	}
}

// More GPUs than there are is a mistake of whoever types it, in both commands.
func TestMoreGPUsThanThereAre(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"check", "wait"} {
		r := run(t, setup{scenario: "gpu 0\n#\n", args: []string{command, "--need", "1GiB", "--gpus", "3"}})
		if r.code != 2 || r.out != "" || !strings.Contains(r.err, "there is 1 GPU ") {
			t.Errorf("%s: %d\n%s%s", command, r.code, r.out, r.err)
		}
	}
}

// A training next to you holds little between two steps: one reading would say that there is room.
func TestCheckLooksAtSeconds(t *testing.T) {
	t.Parallel()
	const busy = "gpu 0\nmem 0 used=10GiB\nspike 0 at=0.7s width=100ms height=60GiB every=1s\n"
	r := run(t, setup{scenario: busy, args: []string{"check", "--need", "40GiB"}})
	if r.code != 3 || !strings.Contains(r.out, "within 3 s") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	r = run(t, setup{scenario: "gpu 0\nmem 0 used=10GiB\n", args: []string{"check", "--need", "40GiB", "--window", "0s"}})
	if r.code != 0 || !strings.Contains(r.out, "fits now") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	if r = run(t, setup{scenario: busy, args: []string{"wait", "--need", "40GiB", "--timeout", "5s"}}); r.code != 3 || r.out != "" || strings.Count(r.err, "\n") != 1 {
		t.Errorf("wait: %d\n%s%s", r.code, r.out, r.err)
	}
}

// On a machine of two models indices are not what CUDA calls them, also where only one model was chosen.
func TestWaitBesideAnotherModel(t *testing.T) {
	t.Parallel()
	const two = "gpu 0 name=\"NVIDIA T400\"\ngpu 1\nmem * used=1GiB\n"
	for _, args := range [][]string{{"wait", "--need", "5GiB", "--hold", "0s", "-i", "1"}, {"check", "--need", "5GiB", "--window", "0s", "-i", "1", "--format", "uuid"}} {
		if r := run(t, setup{scenario: two, args: args}); r.code != 0 || !strings.HasPrefix(r.out, "GPU-") {
			t.Errorf("%v: %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
}

// A MIG instance that is made while wait waits is one to run on.
func TestWaitSeesNewInstances(t *testing.T) {
	t.Parallel()
	const made = "gpu 0\nmem 0 used=79GiB\ngpu 1 mig\nmig 1 index=0 gi=1 total=40GiB\nfail nvmlDeviceGetMigDeviceHandleByIndex code=NOT_FOUND to=4s\n"
	r := run(t, setup{scenario: made, args: []string{"wait", "--need", "20GiB", "--hold", "0s", "--timeout", "20s"}})
	if r.code != 0 || !strings.HasPrefix(r.out, "MIG-") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
}

// All of a GPU that is split into MIG instances is no answer, also where an exporter tells of it, which does not say whose they are.
func TestSplitGPUIsNoAnswerFromAfar(t *testing.T) {
	t.Parallel()
	url, stop := exporting(t, setup{scenario: "mig"})
	defer stop()
	r := run(t, setup{args: []string{"check", "--need", "50GiB", "--from", url}})
	if r.code != 3 || strings.Contains(r.out, "GPU 0 ") || strings.Count(r.out, "does not fit") != 4 {
		t.Errorf("check: %d\n%s%s", r.code, r.out, r.err)
	}
	if r = run(t, setup{args: []string{"wait", "--need", "50GiB", "--timeout", "5s", "--from", url}}); r.code != 3 || r.out != "" {
		t.Errorf("wait: %d\n%s%s", r.code, r.out, r.err)
	}
}
