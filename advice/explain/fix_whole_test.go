package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// A validation that takes whole what training takes in parts is made smaller by parts, not by its batch.
func TestWholeInValidation(t *testing.T) {
	graph := []string{sampler.ToldDomain + sampler.DomainGraph}
	for what, row := range map[string]struct {
		command string
		context sampler.LogContext
		fix, do string
		second  string
	}{
		"a graph, in a training named after sampling": {"python graph_sampling.py --batch-size 1024", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(4), Told: graph,
			Functions: []string{"<module>", "evaluate", "forward"}, Code: []string{"acc = evaluate(net, g, x)", "pred = net.inference(g, x, device)", `graph.apply_edges(fn.u_add_v("l", "r", "e"))`}}, FixShrinkValidationBatch, "dgl.dataloading.DataLoader(", ""},
		"a graph of PyTorch Geometric": {"python sage.py", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(4), Told: graph,
			Functions: []string{"<module>", "test", "forward"}, Code: []string{"out = model(data.x, data.edge_index)"}}, FixShrinkValidationBatch, "NeighborLoader(data, num_neighbors=[-1]", ""},
		"many graphs, by a loader": {"python molecules.py --batch_size 64 --eval_batch_size 512", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(4), Told: graph,
			Functions: []string{"<module>", "test", "forward"}, Code: []string{"for batch in val_loader:", "out = model(batch)"}}, FixShrinkValidationBatch, "--eval_batch_size 256", ""},
		"windows over a volume": {"python main.py --batch_size 1 --sw_batch_size 4", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(4),
			Functions: []string{"decorate_context", "val_epoch", "sliding_window_inference"}}, FixCapSampleSize, `device="cpu"`, "--sw_batch_size 2"},
		"answers of a batch": {"python sum.py --per_device_train_batch_size 8 --per_device_eval_batch_size 16 --num_beams 6", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(1), Files: []string{"transformers/trainer_seq2seq.py"},
			Functions: []string{"evaluate", "prediction_step", "generate", "_beam_search"}}, FixShrinkValidationBatch, "--per_device_eval_batch_size 8 --num_beams 6", ""},
		"predictions of all batches": {"python cls.py --per_device_train_batch_size 8 --per_device_eval_batch_size 16", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(1), Files: []string{"transformers/trainer.py"},
			Functions: []string{"evaluate", "evaluation_loop", "nested_concat"}}, FixLeak, "--eval_accumulation_steps 8", ""},
	} {
		e := pytorch(gibs(1.2), gibs(44.5), gibs(0.9))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Context = "CUDA out of memory.", gibs(42), gibs(0.2), gibs(43.5), &row.context
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: row.command})
		if a := got.Advice[0]; a.ID != row.fix || !strings.Contains(strings.Join(a.Do, "\n"), row.do) {
			t.Errorf("%s: %s %q", what, a.ID, a.Do)
		}
		if row.second != "" && !strings.Contains(strings.Join(got.Advice[1].Do, "\n"), row.second) {
			t.Errorf("%s: second %s %q", what, got.Advice[1].ID, got.Advice[1].Do)
		}
	}
	if s, _ := command.Parse("python x.py --per_device_train_batch_size 8").SmallerEvalBatch(2); !strings.Contains(s.Text, "eval_accumulation_steps") {
		t.Error("where outputs pile up they go to the CPU:", s.Text)
	}
}
