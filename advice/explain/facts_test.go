package explain

import (
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// fact is one thing more that is known of a failure.
type fact struct {
	name  string
	apply func(*Incident, *sampler.OOMEvent)
}

// quoted are the words in quotes of what a pattern finds in Go files, each once.
func quoted(t *testing.T, files, pattern string) (words []string) {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s: %v", files, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, found := range regexp.MustCompile(pattern).FindAllString(string(text), -1) {
			for _, word := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(found, -1) {
				words = append(words, word[1])
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// known are all that this package asks of a log, as its source names them, and some more.
func known(t *testing.T) (list []fact) {
	add := func(what string, words []string, apply func(in *Incident, e *sampler.OOMEvent, word string)) {
		for _, word := range words {
			list = append(list, fact{what + " " + word, func(in *Incident, e *sampler.OOMEvent) { apply(in, e, word) }})
		}
	}
	add("told", append(quoted(t, "../../sampler/kinds.go", `Told\w+ += "\w+"`), "tried_batch", "tried_workers"), func(_ *Incident, e *sampler.OOMEvent, w string) {
		e.Context.Told = append(e.Context.Told, w)
	})
	add("phase", quoted(t, "../../sampler/kinds.go", `Phase\w+ += "\w+"`), func(_ *Incident, e *sampler.OOMEvent, w string) { e.Context.Phase = w })
	add("kind", quoted(t, "../../sampler/kinds.go", `Kind\w+ += "\w+"`), func(_ *Incident, e *sampler.OOMEvent, w string) { e.Kind = w })
	add("framework", []string{"deepspeed", "comfyui", "tensorflow", "jax", "xgboost", "relion", "paddle", "onnxruntime", "llama.cpp", ""}, func(_ *Incident, e *sampler.OOMEvent, w string) { e.Framework = w })
	add("server", []string{"vllm", "sglang", "tgi", "ollama", "comfyui", "webui"}, func(_ *Incident, e *sampler.OOMEvent, w string) { e.Context.Server = w })
	add("precision", []string{"fp32", "fp16", "bf16", "int8", "nf4"}, func(_ *Incident, e *sampler.OOMEvent, w string) { e.Context.Precision = w })
	add("card", []string{"NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 3090", "Tesla T4", "Orin (nvgpu)"}, func(in *Incident, _ *sampler.OOMEvent, w string) { in.GPUName = w })
	add("function", quoted(t, "*.go", `inFunction\([^)]*\)`), func(_ *Incident, e *sampler.OOMEvent, w string) { e.Context.Functions = []string{w} })
	add("file", quoted(t, "*.go", `inFile\([^)]*\)`), func(_ *Incident, e *sampler.OOMEvent, w string) { e.Context.Files = []string{w} })
	add("code", quoted(t, "*.go", `inCode\(.*`), func(_ *Incident, e *sampler.OOMEvent, w string) { e.Context.Code = []string{w} })
	add("variable", quoted(t, "*.go", `environment\["\w+"\]`), func(in *Incident, _ *sampler.OOMEvent, w string) {
		in.Environment = map[string]string{w: "1"}
	})
	return append(list, single...)
}

// single are the facts that are no words.
var single = []fact{
	{"first step", func(_ *Incident, e *sampler.OOMEvent) { e.Context.FirstStep = true }},
	{"NaN", func(_ *Incident, e *sampler.OOMEvent) { e.Context.NaNLoss = true }},
	{"epoch 3", func(_ *Incident, e *sampler.OOMEvent) { e.Context.Epoch = sampler.Some(3) }},
	{"step 900", func(_ *Incident, e *sampler.OOMEvent) { e.Context.Step = sampler.Some(900) }},
	{"slower", func(_ *Incident, e *sampler.OOMEvent) { e.Context.Slowdown = 4 }},
	{"setting changed", func(_ *Incident, e *sampler.OOMEvent) { e.Context.Changed = "Closing dataloader mosaic" }},
	{"batch 1", func(_ *Incident, e *sampler.OOMEvent) { e.Context.BatchSize = sampler.Some(1) }},
	{"batch 64", func(_ *Incident, e *sampler.OOMEvent) { e.Context.BatchSize = sampler.Some(64) }},
	{"7 B parameters", func(_ *Incident, e *sampler.OOMEvent) { e.Context.Parameters = sampler.Some(uint64(7e9)) }},
	{"four processes", func(_ *Incident, e *sampler.OOMEvent) { e.Context.WorldSize = sampler.Some(4) }},
	{"rank 1", func(_ *Incident, e *sampler.OOMEvent) { e.Rank = sampler.Some(1) }},
	{"GPU 1", func(_ *Incident, e *sampler.OOMEvent) { e.GPUIndex = sampler.Some(1) }},
	{"host memory", func(_ *Incident, e *sampler.OOMEvent) { e.MemoryKind = sampler.MemoryHost }},
	{"recovered", func(_ *Incident, e *sampler.OOMEvent) { e.Recovered = true }},
	{"self unknown", func(_ *Incident, e *sampler.OOMEvent) { e.SelfUnknown = true }},
	{"request unknown", func(_ *Incident, e *sampler.OOMEvent) { e.Requested = amount{} }},
	{"total unknown", func(_ *Incident, e *sampler.OOMEvent) { e.GPUTotal = amount{} }},
	{"free unknown", func(_ *Incident, e *sampler.OOMEvent) { e.GPUFree = amount{} }},
	{"process unknown", func(_ *Incident, e *sampler.OOMEvent) { e.ProcessInUse = amount{} }},
	{"allocated unknown", func(_ *Incident, e *sampler.OOMEvent) { e.Allocated, e.ReservedUnallocated = amount{}, amount{} }},
	{"no numbers", func(_ *Incident, e *sampler.OOMEvent) {
		e.Requested, e.GPUTotal, e.GPUFree, e.ProcessInUse, e.Allocated, e.ReservedUnallocated = amount{}, amount{}, amount{}, amount{}, amount{}, amount{}
	}},
	{"a large request", func(_ *Incident, e *sampler.OOMEvent) { e.Requested = mibs(4000) }},
	{"much is free", func(_ *Incident, e *sampler.OOMEvent) {
		e.GPUFree, e.ProcessInUse, e.Allocated = mibs(6000), mibs(9800), mibs(9000)
	}},
	{"much is unallocated", func(_ *Incident, e *sampler.OOMEvent) { e.Allocated, e.ReservedUnallocated = mibs(10000), mibs(5200) }},
	{"much is in pools", func(_ *Incident, e *sampler.OOMEvent) { e.PrivatePools = mibs(3000) }},
	{"a limit", func(_ *Incident, e *sampler.OOMEvent) {
		e.MemoryLimit = &sampler.MemoryLimit{Kind: "fraction", Allowed: mibs(15200)}
	}},
	{"another holds much", func(_ *Incident, e *sampler.OOMEvent) {
		e.OtherProcesses, e.ProcessInUse, e.Allocated = others(7000), mibs(8900), mibs(8500)
	}},
	{"others hold contexts", func(_ *Incident, e *sampler.OOMEvent) {
		e.OtherProcesses, e.ProcessInUse, e.Allocated = others(500, 510, 520), mibs(14200), mibs(13700)
	}},
	{"nobody holds much", func(_ *Incident, e *sampler.OOMEvent) { e.ProcessInUse, e.Allocated = mibs(9000), mibs(8500) }},
	{"peaks rise", func(in *Incident, _ *sampler.OOMEvent) {
		in.History = &History{Process: mibs(15700), Peaks: amounts(12000, 12800, 13600, 14400, 15200)}
	}},
	{"peaks stay", func(in *Incident, _ *sampler.OOMEvent) {
		in.History = &History{Process: mibs(15700), Peaks: amounts(15600, 15600, 15610, 15600, 15600)}
	}},
	{"the log's figures rise", func(_ *Incident, e *sampler.OOMEvent) {
		e.Context.GPUMemory = amounts(9000, 10000, 11000, 12000, 13000, 14000)
	}},
	{"the log's figures stay", func(_ *Incident, e *sampler.OOMEvent) {
		e.Context.GPUMemory = amounts(14900, 14900, 14910, 14900, 14900, 14900)
	}},
}

// runs are what such facts are known of.
var runs = []struct{ name, command, phase string }{
	{"a program", "", ""},
	{"training", "python train.py --batch-size 16 --lr 1e-4", sampler.PhaseTraining},
	{"training with LoRA", "accelerate launch finetune.py --per_device_train_batch_size 4 --lora_r 8", sampler.PhaseTraining},
	{"yolo", "yolo detect train data=a.yaml model=b.pt batch=64 imgsz=1280", sampler.PhaseTraining},
	{"validation", "python r.py --per_device_train_batch_size 8 --per_device_eval_batch_size 8", sampler.PhaseValidation},
	{"inference", "python generate.py --prompt x", sampler.PhaseInference},
	{"a server", "vllm serve m", ""},
	{"training on four GPUs", "torchrun --nproc_per_node 4 train.py --batch-size 16", sampler.PhaseTraining},
}

// pairsOf: one of so many pairs of facts is tried.
const pairsOf = 500

// What one fact changes in the answer, run by run: first causes and advice, and a check sum of everything and of the
// sentences it is told in. Of some pairs there is one for all.
func TestFacts(t *testing.T) {
	all, sentences := known(t), lang.English().IDs()
	var b strings.Builder
	for _, run := range runs {
		at := func(apply func(*Incident, *sampler.OOMEvent)) string {
			e := pytorch(mibs(64), mibs(16000), mibs(40))
			e.ProcessInUse, e.Allocated, e.ReservedUnallocated, e.Context = mibs(15700), mibs(15000), mibs(200), &sampler.LogContext{Phase: run.phase}
			in := Incident{Command: run.command}
			apply(&in, &e)
			in.Events = []sampler.OOMEvent{e}
			ids := explainIn(in, sentences)
			causes, rest, _ := strings.Cut(claims(ids), " | ")
			advice, _, _ := strings.Cut(rest, " | ")
			first := strings.SplitN(advice, ", ", 4)
			return fmt.Sprintf("%s | %s | %s", causes, strings.Join(first[:min(3, len(first))], ", "), sum(answer(ids.Events[0], ids.Events[0]), ids.Verdict.Headline, ids.Verdict.Detail))
		}
		base := at(func(*Incident, *sampler.OOMEvent) {})
		fmt.Fprintf(&b, "%s: %s\n", run.name, base)
		both := map[string][]string{} // by the kind of the first
		for _, fact := range all {
			if now := at(fact.apply); now != base {
				fmt.Fprintf(&b, "  %s: %s\n", fact.name, now)
			}
			kind, _, _ := strings.Cut(fact.name, " ")
			for _, other := range all { // chosen by name, so that a new fact leaves the others as they are
				if crc32.ChecksumIEEE([]byte(run.name+fact.name+other.name))%pairsOf == 0 {
					both[kind] = append(both[kind], at(func(in *Incident, e *sampler.OOMEvent) { fact.apply(in, e); other.apply(in, e) }))
				}
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(both)) {
			fmt.Fprintf(&b, "  %d pairs of %s: %s\n", len(both[kind]), kind, sum(both[kind]...))
		}
	}
	compare(t, "facts.txt", b.String())
}
