package oomlog

import (
	"fmt"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What is printed as not available leaves nobody else's memory, but says that somebody was there.
func TestClauses(t *testing.T) {
	for name, row := range map[string]struct {
		framework string
		others    int
		sentinels []string
		own       sampler.Opt[sampler.Bytes]
		clause, p bool
	}{
		"nothing":             {"pytorch", 0, nil, sampler.Opt[sampler.Bytes]{}, false, false},
		"another":             {"pytorch", 1, nil, sampler.Opt[sampler.Bytes]{}, true, false},
		"another, elsewhere":  {"jax", 1, nil, sampler.Opt[sampler.Bytes]{}, false, false},
		"another, without":    {"pytorch", 0, []string{"x", "process memory 17179869183.98 GiB means not available"}, sampler.Opt[sampler.Bytes]{}, true, false},
		"this one":            {"pytorch", 1, nil, sampler.Some(sampler.GiB), true, true},
		"this one, without":   {"pytorch", 1, []string{"x", "proc 17179869183.98 GiB means not available"}, sampler.Opt[sampler.Bytes]{}, true, true},
		"this one, with none": {"pytorch", 1, []string{"this process has 0 bytes"}, sampler.Opt[sampler.Bytes]{}, true, true},
	} {
		f := &findings{sentinels: row.sentinels}
		f.Framework, f.ProcessInUse, f.OtherProcesses = row.framework, row.own, make([]sampler.OtherProcess, row.others)
		if f.hasProcessClause() != row.clause || f.processClauseOwn() != row.p {
			t.Errorf("%s: a clause %v, an own one %v", name, f.hasProcessClause(), f.processClauseOwn())
		}
	}
	f := &findings{held: held{row: &compiledRow{}}}
	f.setSize("other", kindSize, "5 GiB") // of nobody
	f.setInt("other_pid", "7")
	f.setSize("other", kindSize, "5 GiB")
	f.setSize("other", kindSize, "6 GiB")
	f.setInt("other_pid", "8")
	f.setSize("other", kindSize, "17179869184.00 GiB")
	if len(f.OtherProcesses) != 1 || f.OtherProcesses[0] != (sampler.OtherProcess{PID: 7, Bytes: 5 * sampler.GiB}) || len(f.sentinels) != 1 {
		t.Errorf("%v, %q", f.OtherProcesses, f.sentinels)
	}
}

// Numbers outweigh what only talks of a failure, and a message does not run into itself.
func TestTalkOfFailures(t *testing.T) {
	const message = "torch.OutOfMemoryError: CUDA out of memory."
	for log, want := range map[string]int{
		"Expected output:\n" + message + "\n": 0, "Expected output:\n" + message + " Tried to allocate 2.00 GiB.\n": 1,
		"memory. Tried to allocate 2.00 GiB (GPU 0) RuntimeError: CUDA out of\n":                            0,
		"RuntimeError: CUDA out of\nmemory. Tried to allocate 2.00 GiB\n":                                   1,
		"RuntimeError: CUDA out of\n" + strings.Repeat("\n", 5000) + "memory. Tried to allocate 2.00 GiB\n": 0,
		message + " Tried to allocate 2.00 GiB" + strings.Repeat(" (x)", 900) + "\n":                        1,
	} {
		events, err := Scan(strings.NewReader(log))
		if err != nil || len(events) != want {
			t.Errorf("%.80q: %d failures, %v", log, len(events), err)
		}
		if len(events) > 0 && len(events[0].Text) > 2000 {
			t.Errorf("%d bytes of text", len(events[0].Text))
		}
	}
	for _, log := range []string{
		message + " Tried to allocate 2.00 GiB (GPU 3; 9 GiB total capacity) RuntimeError: " + message + "\n",
		"RuntimeError: " + message + " RuntimeError: " + message + " Tried to allocate 2.00 GiB (GPU 3; 9 GiB total capacity)\n",
	} {
		events, err := Scan(strings.NewReader(log))
		if err != nil || len(events) != 1 || events[0].Requested.Or(0) != 2*sampler.GiB || events[0].GPUIndex.Or(0) != 3 {
			t.Errorf("%q: %+v, %v", log, events, err)
		}
	}
	var log strings.Builder
	log.WriteString("Traceback (most recent call last):\n")
	for n := range maxFrames + 5 {
		fmt.Fprintf(&log, "  File \"/a/f%d.py\", line 3, in f%d\n    call()\n", n, n)
	}
	log.WriteString(message + " Tried to allocate 2.00 GiB.\n")
	events, err := Scan(strings.NewReader(log.String()))
	if err != nil || len(events) != 1 || len(events[0].Context.Functions) != maxFrames || events[0].Context.Functions[0] != "f0" {
		t.Fatalf("%d failures, %v: %d functions", len(events), err, len(events[0].Context.Functions))
	}
}

// PyTorch before 1.4 calls "cached" what is reserved but unallocated; people retype it in several ways.
func TestCachedWordings(t *testing.T) {
	for _, end := range []string{"512.00 MiB cached)", "512.00 MiB cache)", "512.00 MiB cached by PyTorch)"} {
		log := "RuntimeError: CUDA out of memory. Tried to allocate 400.00 MiB (GPU 0; 7.93 GiB total capacity; 6.10 GiB already allocated; 350.00 MiB free; " + end + "\n"
		events, err := Scan(strings.NewReader(log))
		if err != nil || len(events) != 1 || events[0].ReservedUnallocated.Or(0) != 512*sampler.MiB {
			t.Errorf("%s: %+v, %v", end, events, err)
		}
	}
}

// A library that saves because it fails does not fail in saving.
func TestFarewell(t *testing.T) {
	for line, want := range map[string]string{
		"Saving the model to out/checkpoint-500":                             sampler.PhaseSaving,
		"Stopping and saving the best model. Encountered exception:":         "",
		"Interrupted, saving checkpoint":                                     "",
		"Something went wrong: saving the last checkpoint before exiting":    "",
		"Error while saving the checkpoint":                                  sampler.PhaseSaving,
		"The run stopped while saving the model and the optimizer's weights": sampler.PhaseSaving,
	} {
		events, err := Scan(strings.NewReader(line + "\nRuntimeError: CUDA out of memory. Tried to allocate 400.00 MiB (GPU 0; 7.93 GiB total capacity; 6.10 GiB already allocated; 350.00 MiB free)\n"))
		if err != nil || len(events) != 1 || events[0].Context.Phase != want {
			t.Errorf("%s: %+v, %v", line, events, err)
		}
	}
}

// What the name of a function in a traceback tells of the phase.
func TestPhaseOfFunctions(t *testing.T) {
	for function, want := range map[string]string{
		"save_checkpoint": sampler.PhaseSaving, "_save": sampler.PhaseSaving, "save_hf_model": sampler.PhaseSaving, "save_outcome": sampler.PhaseSaving,
		"save_hook": "", "save_activations": "", "save_hidden_states": "", "save_for_backward": "", "_save_output": "",
	} {
		if got := phaseOf(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
