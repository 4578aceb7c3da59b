package explain

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// adviceIDs are those of a list, in its order.
func adviceIDs(list []sampler.Advice) (ids []string) {
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

// A script around a known program keeps what that returns: to find it comes before the options of the program, where growth was seen. A program without a line of Python
// is not searched, and a server is restarted.
func TestGrowthAroundKnownPrograms(t *testing.T) {
	rising := amounts(6000, 7200, 8400, 9600, 10800, 12000, 13200, 14400, 15600, 16800, 18000, 19200)
	for what, row := range map[string]struct {
		command string
		context sampler.LogContext
		kept    []sampler.Bytes
		first   string
	}{
		"a worker that keeps a model for each language": {"python worker.py --queue main --compute_type float16",
			sampler.LogContext{Functions: []string{"handle", "align", "forward"}, Code: []string{`result = whisperx.align(segments, self.align_model(lang), audio)`}, Files: []string{"app/worker.py", "whisperx/alignment.py", "wav2vec2/model.py"}}, rising, FixLeak},
		"a loop that keeps each clip": {"python generate_long.py --model hunyuan-framepack",
			sampler.LogContext{Step: sampler.Some(25), Functions: []string{"<module>", "worker", "decode"}, Code: []string{"history.append(vae_decode(latents, vae))"}, Files: []string{"framepack/generate_long.py", "diffusers_helper/hunyuan.py"}}, rising, FixLeak},
		"a program that makes pictures": {"python main.py --listen",
			sampler.LogContext{Server: "comfyui", Functions: []string{"execute", "forward"}, Files: []string{"ComfyUI/execution.py", "comfy/model.py"}}, rising, FixLeak},
		"no growth": {"python worker.py --queue main --compute_type float16",
			sampler.LogContext{Functions: []string{"handle", "align", "forward"}, Files: []string{"app/worker.py", "whisperx/alignment.py", "wav2vec2/model.py"}}, nil, ""},
	} {
		e := pytorch(gibs(1.7), gibs(22.2), gibs(1.5))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(19.6), gibs(0.6), gibs(20.7)
		e.Context = &row.context
		h := &History{Age: sampler.Some(1650.0), Process: e.ProcessInUse, Peaks: amounts(18000, 19800, 20600, 20900, 21000, 21000, 20900, 21000), Kept: row.kept}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: row.command})
		if ids := adviceIDs(got.Advice); row.first != "" && (got.Causes[0].ID != CauseLeak || ids[0] != row.first) || row.first == "" && slices.Contains(ids, FixLeak) {
			t.Errorf("%s: %s, %v", what, got.Causes[0].ID, ids)
		}
	}
}

// In a validation that takes one large input at a time, what one of these asks for at once is its size: no outputs are collected, though stretches rise with the inputs.
func TestOneLargeInputIsNoResult(t *testing.T) {
	for what, row := range map[string]struct {
		need, free float64
		functions  []string
		code       string
		leak       bool
	}{
		"scores of attention": {11.3, 11.2, []string{"train", "validation", "test", "forward"}, "attn = (q @ k.transpose(-2, -1))", false},
		"small pieces":        {0.3, 0.2, []string{"train", "validation", "test", "forward"}, "x = self.norm(x)", true},
		"outputs are joined":  {11.3, 11.2, []string{"train", "validation", "test"}, "preds = torch.cat(preds, dim=0)", true},
	} {
		e := pytorch(gibs(row.need), gibs(23.7), gibs(row.free))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(23.2-row.free), gibs(0.2), gibs(23.5-row.free)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(0), Step: sampler.Some(98), Functions: row.functions, Code: []string{"model.validation(loader)", row.code}}
		h := &History{Age: sampler.Some(640.0), Process: e.ProcessInUse, Peaks: amounts(14100, 14100, 14100, 14100, 14100, 14100, 14100, 14100, 16900, 19800, 22500)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "python train.py -opt options/finetune.yml"})
		if leak := got.Advice[0].ID == FixLeak; leak != row.leak {
			t.Errorf("%s: %s, %v", what, got.Causes[0].ID, adviceIDs(got.Advice))
		}
	}
}
