package explain

import (
	"testing"

	"nvpeak/sampler"
)

// A compiled program is known by the line that a shell was told to run.
func TestRunsCompiled(t *testing.T) {
	for typed, want := range map[string]bool{"./fdtd antenna.json": true, "/opt/em/fdtd other.json": true, "paraview --data=antenna.vtk": false, "": false, "python fdtd": false} {
		if got := Runs(typed, &sampler.LogContext{Command: "./fdtd antenna.json"}); got != want {
			t.Errorf("%q: %v", typed, got)
		}
	}
	if Runs("python train.py", &sampler.LogContext{Command: "python other.py"}) {
		t.Error("an interpreter is no program")
	}
}

// Where the log says that the batch was made larger, the batch is what is halved; of a sample that got larger the sample.
func TestBatchThatRose(t *testing.T) {
	for name, want := range map[string]string{"batch": FixHalveBatchAccumulate, "batch size": FixHalveBatchAccumulate, "cells": FixCapSampleSize} {
		e := pytorch(gibs(1.2), gibs(10.75), gibs(0.3))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(9.4), gibs(0.3), gibs(10.4)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(80), BatchSize: sampler.Some(64), Functions: []string{"main", "forward"}, Larger: &sampler.SizeGrowth{Name: name, From: 64, To: 512}}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(500.0), Process: e.ProcessInUse, Peaks: amounts(3000, 3000, 3000, 5000, 5000, 7900, 7900, 7900)}}})
		if got.Causes[0].ID != CauseDataSpike || got.Advice[0].ID != want {
			t.Errorf("%s: %s, %s", name, got.Causes[0].ID, got.Advice[0].ID)
		}
	}
}
