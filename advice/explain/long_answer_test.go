package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// One answer that may become very long fills the GPU with its keys and values: no leak, whatever rises. Where many inputs were counted, or an answer is to be short, something is kept.
func TestOneLongAnswer(t *testing.T) {
	for what, row := range map[string]struct {
		command, code, file string
		step                sampler.Opt[int]
		cause, first        string
	}{
		"a cache of the model's own": {"python write.py --max_new_tokens 32768", "key_layer = torch.cat((cache_k, key_layer), dim=2)", "own/modeling_own.py", sampler.Opt[int]{}, CauseTooBig, FixShortenContext},
		"that of the library":        {"python write.py --max_new_tokens 32768", "self.key_cache[layer_idx] = torch.cat([self.key_cache[layer_idx], key_states], dim=-2)", "transformers/cache_utils.py", sampler.Opt[int]{}, CauseTooBig, FixShortenContext},
		"an older one":               {"python write.py --max_new_tokens 16384", "value_states = torch.cat([past_key_value[1], value_states], dim=2)", "own/modeling_own.py", sampler.Opt[int]{}, CauseTooBig, FixShortenContext},
		"short answers":              {"python write.py --max_new_tokens 256", "key_layer = torch.cat((cache_k, key_layer), dim=2)", "own/modeling_own.py", sampler.Opt[int]{}, CauseLeak, FixLeak},
		"many of them":               {"python write.py --max_new_tokens 32768", "key_layer = torch.cat((cache_k, key_layer), dim=2)", "own/modeling_own.py", sampler.Some(340), CauseLeak, FixLeak},
		"joined heads":               {"python write.py --max_new_tokens 32768", "out = torch.cat((left, right), dim=2)", "own/modeling_own.py", sampler.Opt[int]{}, CauseLeak, FixLeak},
	} {
		e := pytorch(mibs(282), gibs(23.7), mibs(280))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(23), mibs(67), gibs(23.4)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseInference, Step: row.step, Functions: []string{"<module>", "generate", "update"}, Code: []string{"out = model.generate(**inputs)", row.code}, Files: []string{"w/write.py", "generation/utils.py", row.file}}
		h := &History{Age: sampler.Some(1480.0), Process: e.ProcessInUse, Peaks: amounts(23300, 22700, 23200, 22900, 23700, 23600, 23700, 23700, 23500, 23700, 23700, 23400),
			Kept: amounts(18800, 19200, 19500, 19900, 20200, 20500, 20800, 21100)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: row.command,
			Alerts: []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "it grows"}}})
		if got.Causes[0].ID != row.cause || got.Advice[0].ID != row.first {
			t.Errorf("%s: %s %.2f, %s", what, got.Causes[0].ID, got.Causes[0].Confidence, got.Advice[0].ID)
		}
		if typed := strings.Join(got.Advice[0].Do, "\n"); row.first == FixShortenContext && !strings.Contains(typed, "--max_new_tokens 16384") && !strings.Contains(typed, "--max_new_tokens 8192") {
			t.Errorf("%s: %q", what, typed)
		}
	}
}
