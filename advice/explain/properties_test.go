package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// incidents reads every case of testdata/explain and makes variants of it: other commands,
// environments, cards and languages. What must never be advised is checked on all of them.
var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

func incidents(t *testing.T) map[string]Incident {
	t.Helper()
	files, err := filepath.Glob("../../testdata/explain/*/event.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	all := map[string]Incident{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var in Incident
		if err := json.Unmarshal(data, &in); err != nil {
			t.Fatal(file, err)
		}
		name := filepath.Base(filepath.Dir(file))
		all[name] = in
		for _, v := range variants {
			other := in
			v.change(&other)
			all[name+" "+v.name] = other
		}
	}
	return all
}

var variants = []struct {
	name   string
	change func(*Incident)
}{
	{"everything on", func(in *Incident) {
		in.Command = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python run.py --per_device_train_batch_size 8 --bf16 True --gradient_checkpointing True --optim adamw_8bit --fsdp full_shard"
	}},
	{"switched off", func(in *Incident) {
		in.Command = "python run.py --per_device_train_batch_size 8 --bf16 False --gradient_checkpointing False"
	}},
	{"ultralytics", func(in *Incident) { in.Command = "yolo detect train data=a.yaml model=b.pt batch=64 imgsz=1280" }},
	{"batch 1", func(in *Incident) { in.Command = "python train.py --batch-size 1 --num_workers 0" }},
	{"jetson", func(in *Incident) { in.GPUName = "Orin (nvgpu)" }},
	{"wsl", func(in *Incident) { in.Environment = map[string]string{"WSL_DISTRO_NAME": "Ubuntu"} }},
	{"old card", func(in *Incident) { in.GPUName = "NVIDIA GeForce GTX 1080 Ti" }},
	{"new card", func(in *Incident) { in.ComputeCapability = "9.0" }},
	{"exported", func(in *Incident) {
		in.Environment = map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64,expandable_segments:True"}
	}},
	{"split size", func(in *Incident) {
		in.Environment = map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64,garbage_collection_threshold:0.8"}
	}},
	{"chinese", func(in *Incident) { in.Lang = "zh_CN.UTF-8" }},
	{"no command", func(in *Incident) { in.Command = "" }},
}

var hostOnly = []string{"check_files", "reduce_dataloader_workers", "confirm_host_kill", "shm_size", "reduce_pinned_memory"}

// forbidden is what can never help with GPU memory, whatever the case.
var forbidden = regexp.MustCompile(`empty_cache|save_period|pin_memory|accumulate=|gc\.collect`)

func TestNeverAdvised(t *testing.T) {
	for name, in := range incidents(t) {
		e := Explain(in)
		for i, event := range e.Events {
			f := newFailure(in, in.Events[i], lang.For(in.Lang))
			checkAdvice(t, name, f, event)
		}
		if len(e.Events) > 0 && !e.Verdict.Recovered && len(e.Advice) == 0 {
			t.Errorf("%s: no advice at all", name)
		}
	}
}

func checkAdvice(t *testing.T, name string, f *failure, event Event) {
	t.Helper()
	text := ""
	for i, a := range event.Advice {
		if a.Rank != i+1 || a.Title == "" || a.Why == "" || len(a.Do) == 0 || !strings.HasPrefix(a.Source, "https://") {
			t.Errorf("%s: incomplete advice %+v", name, a)
		}
		_, _, told := f.hostWants() // what a model takes of RAM is less where it is smaller
		if host := slices.Contains(hostOnly, a.ID) || (told || f.sharesRAM()) && a.ID == FixSmallerModel; host != f.onHost() && (a.ID != "raise_limit" || strings.Contains(strings.Join(a.Do, " "), "torch.cuda")) {
			t.Errorf("%s: %s for a failure of memory_kind %s", name, a.ID, event.MemoryKind)
		}
		text += strings.Join(a.Do, "\n") + "\n"
	}
	has := func(id string) bool {
		return slices.ContainsFunc(event.Advice, func(a sampler.Advice) bool { return a.ID == id }) ||
			slices.ContainsFunc(event.Plans, func(p Plan) bool { return slices.Contains(p.Steps, id) })
	}
	command := f.command.Text
	if found := forbidden.FindString(text); found != "" && !f.onHost() && !strings.Contains(command, found) {
		t.Errorf("%s: advises %s: %s", name, found, text)
	}
	inForce := map[string]bool{
		"expandable_segments":    f.environment["PYTORCH_CUDA_ALLOC_CONF"] != "" && strings.Contains(f.environment["PYTORCH_CUDA_ALLOC_CONF"], "expandable_segments:True"),
		"amp_bf16":               strings.Contains(command, "--bf16 True"),
		"gradient_checkpointing": strings.Contains(command, "--gradient_checkpointing True"),
		"smaller_optimizer":      strings.Contains(command, "adamw_8bit"),
		"shard_or_offload":       strings.Contains(command, "--fsdp"),
		"halve_batch_accumulate": strings.Contains(command, "batch-size 1 "),
	}
	for id, on := range inForce {
		if on && has(id) {
			t.Errorf("%s: advises %s, which is in force: %s", name, id, command)
		}
	}
	if (f.gpu.soc || f.environment["WSL_DISTRO_NAME"] != "") && has("expandable_segments") {
		t.Errorf("%s: expandable segments on %q", name, f.gpu.name)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "expandable_segments:True") && strings.Contains(line, "max_split_size_mb") {
			t.Errorf("%s: expandable_segments together with max_split_size_mb: %s", name, line)
		}
	}
	if yes, known := f.gpu.bf16(); known && !yes && regexp.MustCompile(`bf16|bfloat16`).MatchString(strings.ReplaceAll(text, command, "")) && !strings.Contains(command, "bf16") {
		t.Errorf("%s: bf16 on compute capability %d.%d: %s", name, f.gpu.major, f.gpu.minor, text)
	}
	for _, a := range event.Advice {
		if r, known := a.Saves.Value(); known && (r.Low > r.High || a.ID == "expandable_segments" && r.High > f.unallocated.Or(0)) {
			t.Errorf("%s: %s saves %v, holes %v", name, a.ID, r, f.unallocated)
		}
	}
}

// Fragmentation is claimed only where the arithmetic allows it.
func TestFragmentationNeedsRoomInHoles(t *testing.T) {
	for name, in := range incidents(t) {
		for _, event := range Explain(in).Events {
			for _, c := range event.Causes {
				req, free, holes := event.Requested.Or(0), event.GPUFree.Or(0), c.Numbers["holes_bytes"]
				if c.ID == "fragmentation" && (req <= free || float64(req) > float64(free)+holes) {
					t.Errorf("%s: fragmentation with need %v, free %v, holes %.0f", name, req, free, holes)
				}
			}
		}
	}
}

// What Explain returns has the JSON form that scripts rely on.
func TestExplanationJSON(t *testing.T) {
	for name, in := range incidents(t) {
		data, err := json.Marshal(Explain(in))
		if err != nil {
			t.Fatal(name, err)
		}
		var back map[string]json.RawMessage
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(name, err)
		}
		for _, key := range []string{"events", "causes", "advice"} {
			if len(back[key]) == 0 || back[key][0] != '[' {
				t.Errorf("%s: %s is %s", name, key, back[key])
			}
		}
		if string(back["schema"]) != "1" {
			t.Errorf("%s: schema %s", name, back["schema"])
		}
		var events []map[string]json.RawMessage
		if err := json.Unmarshal(back["events"], &events); err != nil {
			t.Fatal(name, err)
		}
		for _, event := range events {
			for _, key := range []string{"framework", "error_kind", "requested_bytes", "line", "text", "causes", "advice"} {
				if _, ok := event[key]; !ok {
					t.Errorf("%s: an event lacks %s", name, key)
				}
			}
			if string(event["other_processes"]) == "null" {
				t.Errorf("%s: other_processes is no list", name)
			}
		}
	}
}

// FuzzExplain: no numbers, however mad, make it panic, divide by zero or leave a placeholder open.
func FuzzExplain(f *testing.F) {
	f.Add(uint64(1<<30), uint64(16<<30), uint64(1<<20), uint64(15<<30), uint64(14<<30), uint64(1<<29), uint64(1e9), 3, "training", "python t.py --batch-size 8")
	f.Add(^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), -5, "validation", "")
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), 0, "", "yolo batch=2")
	f.Fuzz(func(t *testing.T, req, total, free, process, allocated, holes, parameters uint64, epoch int, phase, command string) {
		some := func(v uint64) amount { return sampler.Some(sampler.Bytes(v)) }
		e := pytorch(some(req), some(total), some(free))
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated = some(process), some(allocated), some(holes)
		e.Context = &sampler.LogContext{Phase: phase, Epoch: sampler.Some(epoch), Parameters: sampler.Some(parameters), BatchSize: sampler.Some(epoch)}
		e.OtherProcesses = []sampler.OtherProcess{{PID: 1, Bytes: sampler.Bytes(holes)}}
		for _, lang := range lang.Names() {
			got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: command, Lang: lang})
			if len(got.Causes) == 0 {
				t.Fatal("no cause")
			}
			if _, err := json.Marshal(got); err != nil {
				t.Fatal(err)
			}
			for _, a := range got.Advice {
				if placeholder.MatchString(a.Title+a.Why+a.Cost) && !placeholder.MatchString(command+phase) {
					t.Fatalf("open placeholder in %+v", a)
				}
			}
		}
	})
}
