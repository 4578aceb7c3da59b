package explain

import (
	"testing"

	"nvpeak/sampler"
)

// What the recording shows decides between causes that one message cannot tell apart.
func TestRecordedCauses(t *testing.T) {
	levels := func(gib ...float64) (list []sampler.Bytes) {
		for _, g := range gib {
			list = append(list, gibs(g).Or(0))
		}
		return list
	}
	flat := levels(40, 40.1, 40, 40.1, 40, 40.1, 40, 40.1, 40, 40.1)
	for what, row := range map[string]struct {
		total, need, free, allocated, unallocated float64
		history                                   History
		context                                   sampler.LogContext
		cause, fix                                string
	}{
		"a sum of steps keeps their graphs, from the first ones on": {14.75, 0.05, 0, 14.13, 0.32, History{Age: sampler.Some(137.0)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(2), Functions: []string{"run_epoch"}, Code: []string{"total_loss += model(ids, labels=labels).loss"}}, CauseLeak, FixLeak},
		"a sum of numbers does not": {14.75, 0.05, 0, 14.13, 0.32, History{Age: sampler.Some(137.0)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(2), Functions: []string{"run_epoch"}, Code: []string{"total_loss += model(ids, labels=labels).loss.item()"}}, CauseTooBig, FixHalveBatchAccumulate},
		"tensors alone hold more than the process did at first": {23.69, 0.31, 0.31, 21.59, 1.43, History{Age: sampler.Some(7200.0), Peaks: levels(22.7, 21.4, 21.4, 21.6, 21.8, 22, 22.2, 22.5, 22.8, 23, 23.2, 23.5, 23.7)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(9060), Functions: []string{"encode_all", "forward"}}, CauseLeak, FixLeak},
		"every layer asks for its keys again": {44.53, 3.12, 0.81, 39.13, 4.12, History{Age: sampler.Some(1000.0), Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(190), Functions: []string{"generate", "update"}, Files: []string{"transformers/cache_utils.py"}}, CauseDataSpike, FixCapSampleSize},
		"a resumed run dies at once": {47.5, 0.22, 0.11, 45.49, 1.43, History{Age: sampler.Some(125.0), Peaks: levels(5, 20, 40)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(11500), Resumed: true, Functions: []string{"main", "forward"}}, CauseTooBig, FixLeak},
		"more steps than a process of that age can have done": {47.5, 0.22, 0.11, 45.49, 1.43, History{Age: sampler.Some(110.0), Peaks: levels(5, 20, 40)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(42000), Functions: []string{"main", "forward"}}, CauseTooBig, FixHalveBatchAccumulate},
		"the log says that the work got larger": {47.5, 0.22, 0.11, 45.49, 1.43, History{Age: sampler.Some(1600.0), Peaks: levels(20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(900), Larger: &sampler.SizeGrowth{Name: "cells", From: 12000, To: 61782}, Functions: []string{"step", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"the odd sample may be one": {15.77, 1.02, 0.22, 13.18, 2.0, History{Age: sampler.Some(800.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1723), Functions: []string{"train", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"a batch of four on four GPUs": {79.11, 54.27, 23.37, 43.44, 11.41, History{Age: sampler.Some(1400.0), Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(700), GlobalBatch: sampler.Some(4), Replicas: sampler.Some(4), Functions: []string{"train_step", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"few of many parameters are trained": {23.69, 6.96, 6.09, 17.18, 0.05, History{Age: sampler.Some(44.0), Peaks: levels(4.8)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Precision: "bf16", Parameters: sampler.Some(uint64(7_696_357_888)), Trained: sampler.Some(uint64(80_740_352)), BatchSize: sampler.Some(4), Functions: []string{"train", "compute_loss", "forward"}}, CauseTooBig, FixHalveBatchAccumulate},
		"all of them are": {23.69, 6.96, 6.09, 17.18, 0.05, History{Age: sampler.Some(44.0), Peaks: levels(4.8)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Precision: "bf16", Parameters: sampler.Some(uint64(7_696_357_888)), Trained: sampler.Some(uint64(7_696_357_888)), BatchSize: sampler.Some(4), Functions: []string{"train", "compute_loss", "forward"}}, CauseTooBig, FixShardOrOffload},
		"a hook keeps what comes out in validation": {23.69, 0.87, 0.69, 16.11, 6.57, History{Age: sampler.Some(757.0), Peaks: levels(16.5, 16.5, 18.6, 18.6, 21.6, 21.6, 21.6, 23)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(6), Functions: []string{"validate", "hook"}, Code: []string{"output = model(input)", "store[name].append(out.detach().float())"}}, CauseValidationSpike, FixLeak},
		"it goes to the CPU": {23.69, 0.87, 0.69, 16.11, 6.57, History{Age: sampler.Some(757.0), Peaks: levels(16.5, 16.5, 18.6, 18.6, 21.6, 21.6, 21.6, 23)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(6), Functions: []string{"validate", "hook"}, Code: []string{"output = model(input)", "store[name].append(out.detach().cpu())"}}, CauseValidationSpike, FixShrinkValidationBatch},
		"the first rank alone comes to hold more": {47.54, 0.09, 0.08, 44.27, 2.61, History{Age: sampler.Some(1172.0), Peaks: levels(33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47), PeerPeaks: levels(30.9, 30.9, 30.9)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1477), Functions: []string{"main", "forward"}}, CauseLeak, FixLeak},
		"one rank gathers what all have": {23.65, 4.19, 2.94, 19.31, 0.71, History{Age: sampler.Some(332.0), Peaks: levels(22.3, 20.4, 20.4, 23.2)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(58), Functions: []string{"main", "calc_fid", "gather_to_rank0"}}, CauseImbalance, FixRebalanceRanks},
		"holes of training keep one matrix out of validation": {31.36, 11.81, 9.52, 6.66, 14.68, History{Age: sampler.Some(468.0), Peaks: levels(22.4, 22.4, 22.4, 22.9, 22.9)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(839), Functions: []string{"fit", "evaluate"}}, CauseFragmentation, FixExpandableSegments},
		"one validation climbs from batch to batch": {22.2, 0.02, 0, 21.13, 0.72, History{Age: sampler.Some(131.0), Peaks: levels(14.2, 14.2, 14.2, 14.2, 14.2, 14.8, 18.7)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(0), Step: sampler.Some(229), Functions: []string{"main", "validate", "forward"}}, CauseValidationSpike, FixLeak},
		"what a training draws between its steps keeps its graph": {11.66, 0.14, 0.1, 10.84, 0.25, History{Age: sampler.Some(348.0), Peaks: levels(8.2, 8.2, 8.2, 8.2, 8.2, 8.2)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(0), Scripts: []string{"train_ddpm.py"}, BatchSize: sampler.Some(48), Functions: []string{"main", "sample", "p_sample", "forward"}}, CauseValidationSpike, FixNoGradValidation},
		"it is turned off": {11.66, 0.14, 0.1, 10.84, 0.25, History{Age: sampler.Some(348.0), Peaks: levels(8.2, 8.2, 8.2, 8.2, 8.2, 8.2)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(0), Scripts: []string{"train_ddpm.py"}, BatchSize: sampler.Some(48), Functions: []string{"main", "decorate_context", "sample", "p_sample", "forward"}}, CauseValidationSpike, FixShrinkValidationBatch},
		"half of a batch of eight is less, whatever made it larger": {15.77, 1.02, 0.22, 13.18, 2.0, History{Age: sampler.Some(800.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1723), BatchSize: sampler.Some(8), Functions: []string{"train", "forward"}}, CauseDataSpike, FixHalveBatchAccumulate},
		"of two it may not be": {15.77, 1.02, 0.22, 13.18, 2.0, History{Age: sampler.Some(800.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1723), BatchSize: sampler.Some(2), Functions: []string{"train", "forward"}}, CauseDataSpike, FixCapSampleSize},
	} {
		e := pytorch(gibs(row.need), gibs(row.total), gibs(row.free))
		e.Text = "CUDA out of memory."
		e.Allocated, e.ReservedUnallocated, e.ProcessInUse = gibs(row.allocated), gibs(row.unallocated), gibs(row.total-row.free)
		row.context.Environment = map[string]string{}
		e.Context = &row.context
		row.history.Process = e.ProcessInUse
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{&row.history}})
		if got.Causes[0].ID != row.cause || got.Advice[0].ID != row.fix {
			t.Errorf("%s: %s, %s; want %s, %s\n%+v", what, got.Causes[0].ID, got.Advice[0].ID, row.cause, row.fix, got.Causes)
		}
	}
}
