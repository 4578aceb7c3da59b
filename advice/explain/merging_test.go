package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A merge of adapters needs no GPU; and who saves over few bits with a library of today is not told of one of years ago.
func TestMerging(t *testing.T) {
	bits := []string{sampler.ToldShows + sampler.ShowsFewBits, sampler.ToldText}
	for what, row := range map[string]struct {
		context sampler.LogContext
		old     bool
		first   string
		line    string
		title   string
	}{
		"Unsloth": {sampler.LogContext{Phase: sampler.PhaseSaving, Told: bits, Files: []string{"unsloth/save.py"},
			Functions: []string{"<module>", "unsloth_save_pretrained_merged", "_merge_lora"}, Code: []string{"W = fast_dequantize(W, quant_state)"}}, false, FixShardOrOffload, "maximum_memory_usage=0.5", "Merge on the CPU"},
		"PEFT, after its training": {sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(1), Told: bits, Files: []string{"tuners/lora.py"},
			Functions: []string{"<module>", "merge_and_unload", "get_delta_weight"}, Code: []string{"model = model.merge_and_unload()"}}, false, FixShardOrOffload, `device_map="cpu"`, "Merge on the CPU"},
		"adapters, today":                        {sampler.LogContext{Phase: sampler.PhaseSaving, Told: bits, Files: []string{"transformers/trainer.py"}, Functions: []string{"train", "_save_checkpoint", "state_dict"}}, false, FixSaveOnCPU, "model.save_pretrained(adapter_path)", "adapters alone"},
		"adapters, with the library that copied": {sampler.LogContext{Phase: sampler.PhaseSaving, Told: bits, Files: []string{"nn/modules.py"}, Functions: []string{"train", "_save_checkpoint", "_save_to_state_dict", "undo_layout"}}, true, FixSaveOnCPU, "0.38.0", "bitsandbytes"},
	} {
		e := pytorch(mibs(186), gibs(22.03), mibs(74))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Context = "CUDA out of memory.", gibs(20.2), gibs(1.43), gibs(21.96), &row.context
		if row.old {
			e.Reserved, e.ReservedUnallocated = gibs(21.6), amount{}
		}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python train_qlora.py --model m --batch 2", Histories: []*History{{Age: sampler.Some(1400.0), Process: gibs(21.96), Peaks: amounts(21000, 21100, 21000, 21100, 21000, 21100)}}})
		i := slices.IndexFunc(got.Advice, func(a sampler.Advice) bool { return a.ID == row.first })
		if i < 0 || row.first == FixShardOrOffload && (i > 0 || got.Causes[0].ID == CauseFragmentation) {
			t.Errorf("%s: %+v, %d", what, got.Causes, i)
			continue
		}
		if a := got.Advice[i]; a.ID != row.first || !strings.Contains(strings.Join(a.Do, "\n"), row.line) || !strings.Contains(a.Title, row.title) {
			t.Errorf("%s: %+v\n%s %q %q", what, got.Causes, a.ID, a.Title, a.Do)
		}
	}
}
