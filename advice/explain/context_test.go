package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// The context that is typed is made shorter where it stands, under whatever name, to what fits and what the model knows.
func TestContextThatFits(t *testing.T) {
	for _, row := range []struct {
		command string
		free    float64 // GiB; 0: not known
		trained int
		want    string
	}{
		{"llama-server -m m.gguf -ngl 99 -c 131072 --port 1", 7.5, 0, "llama-server -m m.gguf -ngl 99 -c 65536 --port 1"}, // 131072 x 0.8 x 7.5/12
		{"llama-server -m m.gguf -ngl 99 -c 131072 --port 1", 7.5, 32768, "llama-server -m m.gguf -ngl 99 -c 32768 --port 1"},
		{"llama-server -m m.gguf --ctx-size 131072", 0.75, 0, "llama-server -m m.gguf --ctx-size 6144"},
		{"llama-server -m m.gguf --ctx-size 131072", 0, 0, "llama-server -m m.gguf --ctx-size 65536"},
		{"python -m llama_cpp.server --model m.gguf --n_ctx 65536", 0, 8192, "python -m llama_cpp.server --model m.gguf --n_ctx 8192"},
	} {
		e := sampler.OOMEvent{Framework: "llama.cpp", Kind: sampler.KindGGML, MemoryKind: sampler.MemoryGPU, Requested: gibs(12)}
		e.Context = &sampler.LogContext{Phase: sampler.PhaseLoading, Told: []string{sampler.ToldText, sampler.ToldFullCache}}
		if row.trained > 0 {
			e.Context.TrainedContext = sampler.Some(row.trained)
		}
		in := Incident{Events: []sampler.OOMEvent{e}, Command: row.command}
		if row.free > 0 {
			in.Histories = []*History{{Total: gibs(24), Free: gibs(row.free), Process: gibs(23.5 - row.free)}}
		}
		if a := Explain(in).Advice[0]; a.ID != FixShortenContext || a.Do[0] != row.want {
			t.Errorf("%s: %s %q, want %q", row.command, a.ID, a.Do, row.want)
		}
	}
}

// An option of a server is never written beside its other name.
func TestShortNames(t *testing.T) {
	for key, names := range shortNames {
		program, option, _ := strings.Cut(key, " ")
		for _, name := range names {
			dashes := "--"
			if len(name) < 3 {
				dashes = "-"
			}
			line := command.Parse("serve m " + dashes + name + " 8 --port 1")
			if text, ok := (knob{program: program, option: option, value: "1"}).lower(line); !ok || strings.Contains(text, option+" ") {
				t.Errorf("%s: %q", key, text)
			}
		}
	}
}
