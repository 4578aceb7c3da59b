package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/command"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// ruleCase is a message changed so that one rule decides.
type ruleCase struct {
	name   string
	change func(*sampler.OOMEvent)
	cause  string // the surest
	absent string // a cause that must not be named
	first  string // advice; "": not looked at
	note   string // part of a note
}

var ruleCases = []ruleCase{
	{name: "R0 zero for this process", change: func(e *sampler.OOMEvent) { e.ProcessInUse = gibs(0) }, cause: "too_big", note: "0 bytes"},
	{name: "R0 2^64 for this process", change: func(e *sampler.OOMEvent) { e.ProcessInUse = sampler.Some(^sampler.Bytes(0)) }, cause: "too_big", note: "not available"},
	{name: "R0 more than 1EB", change: func(e *sampler.OOMEvent) { e.Requested = sampler.Some(sampler.MaxPlausible + 1) }, cause: "unknown", absent: "too_big", first: "record_run"},
	{name: "R1 others named", change: func(e *sampler.OOMEvent) {
		e.ProcessInUse, e.Allocated = gibs(12), gibs(11)
		e.OtherProcesses = []sampler.OtherProcess{{PID: 9, Bytes: gibs(11.3).Or(0)}}
	}, cause: "other_process", absent: "unattributed", first: "stop_other_process"},
	{name: "R1 others hidden", change: func(e *sampler.OOMEvent) { e.ProcessInUse, e.Allocated = gibs(12), gibs(11) },
		cause: "unattributed", absent: "other_process", first: "stop_other_process"},
	{name: "R1 a container names the process itself", change: func(e *sampler.OOMEvent) {
		e.ProcessInUse, e.SelfUnknown = amount{}, true
		e.OtherProcesses = []sampler.OtherProcess{{PID: 9, Bytes: gibs(23.2).Or(0)}}
	}, cause: "too_big", absent: "other_process", note: "Process 9"},
	{name: "R1 small others are no cause", change: func(e *sampler.OOMEvent) {
		e.ProcessInUse, e.Allocated = gibs(22.8), gibs(22)
		e.OtherProcesses = []sampler.OtherProcess{{PID: 9, Bytes: gibs(0.5).Or(0)}}
	}, cause: "too_big", absent: "other_process"},
	{name: "R2 another library in the process", change: func(e *sampler.OOMEvent) { e.Allocated = gibs(5) }, cause: "preallocation", first: "cap_preallocation"},
	{name: "R3 more than the card", change: func(e *sampler.OOMEvent) { e.Requested = gibs(90) }, cause: "too_big", absent: "fragmentation", first: "cap_sample_size"},
	{name: "R4 a limit", change: func(e *sampler.OOMEvent) {
		e.GPUFree, e.ProcessInUse, e.Allocated = gibs(12), gibs(11), gibs(10.4)
		e.MemoryLimit = &sampler.MemoryLimit{Kind: "fraction", Allowed: gibs(11)}
	}, cause: "memory_limit", absent: "too_big", first: "raise_limit"},
	{name: "R4 refused though free", change: func(e *sampler.OOMEvent) { e.GPUFree, e.ProcessInUse, e.Allocated = gibs(12), gibs(11), gibs(10.4) },
		cause: "memory_limit", absent: "too_big", first: "raise_limit"},
	{name: "R4 a full card", change: func(e *sampler.OOMEvent) { e.Requested = mibs(20) }, cause: "too_big", absent: "memory_limit"},
	{name: "R5 one hole would do", change: func(e *sampler.OOMEvent) {
		e.Requested, e.Allocated, e.ReservedUnallocated, e.Context.Epoch = mibs(700), gibs(18), gibs(4.5), sampler.Some(5)
	}, cause: "fragmentation", first: "expandable_segments"},
	{name: "R5 nothing of the run", change: func(e *sampler.OOMEvent) { e.Allocated, e.ReservedUnallocated = gibs(18), gibs(4.5) },
		cause: "too_big", first: "halve_batch_accumulate"},
	{name: "steps that take longer", change: func(e *sampler.OOMEvent) {
		e.Requested, e.Context.Epoch, e.Context.Slowdown = mibs(64), sampler.Some(6), 1.4
	}, cause: "data_spike", first: "cap_sample_size"},
	{name: "a size below zero", change: func(e *sampler.OOMEvent) {
		e.Requested, e.Text = amount{}, "Tried to allocate 17179869182.18 GiB (GPU 0; 44.49 GiB total capacity)"
	}, cause: "unknown", first: "record_run"},
	{name: "cut behind the process", change: func(e *sampler.OOMEvent) {
		e.Allocated, e.ReservedUnallocated, e.ProcessInUse = amount{}, amount{}, amount{}
		e.OtherProcesses = []sampler.OtherProcess{{PID: 2116, Bytes: e.GPUTotal.Or(0) - e.GPUFree.Or(0) - 20*sampler.MiB}}
	}, cause: "too_big", absent: "other_process"},
	{name: "R5 expandable already", change: func(e *sampler.OOMEvent) {
		e.Allocated, e.ReservedUnallocated = gibs(18), gibs(4.5)
		e.Context.Environment = map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
	}, cause: "too_big", note: "in force already"},
	{name: "R6 short even when packed", change: func(e *sampler.OOMEvent) {
		e.Requested, e.Allocated, e.ReservedUnallocated = gibs(6), gibs(18), gibs(4.5)
	},
		cause: "too_big", absent: "fragmentation"},
	{name: "R7 holes too small", change: func(e *sampler.OOMEvent) { e.Requested = mibs(300) }, cause: "too_big", absent: "fragmentation"},
	{name: "R8 more than there is", change: func(e *sampler.OOMEvent) { e.Allocated = gibs(30) }, cause: "oversubscribed", absent: "fragmentation"},
	{name: "R9 no numbers", change: func(e *sampler.OOMEvent) {
		*e = sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_error_oom", MemoryKind: "gpu"}
	}, cause: "unknown", first: "halve_batch_accumulate"},
	{name: "R10 killed", change: func(e *sampler.OOMEvent) {
		*e = sampler.OOMEvent{Framework: "shell", Kind: "killed_no_reason", MemoryKind: "host"}
	}, cause: "host_memory", absent: "too_big", first: "reduce_dataloader_workers"},
	{name: "validation", change: func(e *sampler.OOMEvent) { e.Context.Phase = "validation" }, cause: "validation_spike", first: "shrink_validation_batch"},
	{name: "validation by its functions", change: func(e *sampler.OOMEvent) { e.Context.Functions = []string{"main", "validate_epoch"} }, cause: "validation_spike"},
	{name: "growth in the log", change: func(e *sampler.OOMEvent) {
		e.Requested, e.Context.Epoch = mibs(64), sampler.Some(6)
		for i := range 6 {
			e.Context.GPUMemory = append(e.Context.GPUMemory, gibs(12+1.8*float64(i)).Or(0))
		}
	}, cause: "leak", first: "fix_leak"},
	{name: "a jump in the log", change: func(e *sampler.OOMEvent) {
		e.Requested, e.Context.Epoch = mibs(64), sampler.Some(6)
		for range 6 {
			e.Context.GPUMemory = append(e.Context.GPUMemory, gibs(15).Or(0))
		}
	}, cause: "data_spike", absent: "leak", first: "cap_sample_size"},
	{name: "one large request after an announced change", change: func(e *sampler.OOMEvent) {
		e.Context.Epoch, e.Context.Changed = sampler.Some(6), "batch size 128 -> 256"
	}, cause: "too_big"},
	{name: "the first step of the optimizer, and packed it would fit", change: func(e *sampler.OOMEvent) {
		e.Allocated, e.ReservedUnallocated = gibs(18), gibs(4.5)
		e.Context.Functions = append(e.Context.Functions, "step", "_multi_tensor_adamw")
	}, cause: "too_big", first: "shard_or_offload"},
	{name: "one large request late", change: func(e *sampler.OOMEvent) { e.Context.Epoch = sampler.Some(6) }, cause: "data_spike", first: "cap_sample_size"},
	{name: "weights alone too large", change: func(e *sampler.OOMEvent) {
		e.Context.FirstStep, e.Context.Parameters = true, sampler.Some(uint64(7e9))
	}, cause: "too_big", first: "shard_or_offload"},
	{name: "the optimizer's first step", change: func(e *sampler.OOMEvent) { e.Context.Functions = []string{"train", "step", "_init_group"} }, cause: "too_big", first: "shard_or_offload"},
	{name: "loading", change: func(e *sampler.OOMEvent) { e.Context.Phase = "loading" }, cause: "too_big", first: "smaller_model"},
	{name: "contexts of other ranks", change: func(e *sampler.OOMEvent) {
		e.ProcessInUse, e.Allocated = gibs(20.5), gibs(19.7)
		e.Rank = sampler.Some(0)
		for i := range 4 {
			e.OtherProcesses = append(e.OtherProcesses, sampler.OtherProcess{PID: 70 + i, Bytes: gibs(0.7).Or(0)})
		}
	}, cause: "imbalance", absent: "other_process", first: "rebalance_ranks"},
}

// ruleBase is a full card without holes: 23.6 GiB, of which 23.2 are this process'.
func ruleBase() sampler.OOMEvent {
	e := pytorch(gibs(2), gibs(23.6), mibs(100))
	e.ProcessInUse, e.Allocated, e.ReservedUnallocated = gibs(23.2), gibs(22.3), gibs(0.4)
	e.Context = &sampler.LogContext{}
	return e
}

func TestRules(t *testing.T) {
	for _, test := range ruleCases {
		t.Run(test.name, func(t *testing.T) {
			e := ruleBase()
			test.change(&e)
			got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python train.py --batch-size 16"}).Events[0]
			if got.Causes[0].ID != test.cause {
				t.Errorf("cause %s, want %s: %+v", got.Causes[0].ID, test.cause, got.Causes)
			}
			if slices.ContainsFunc(got.Causes, func(c sampler.Cause) bool { return c.ID == test.absent }) {
				t.Errorf("names %s: %+v", test.absent, got.Causes)
			}
			if test.first != "" && (len(got.Advice) == 0 || got.Advice[0].ID != test.first) {
				t.Errorf("first advice is not %s: %+v", test.first, got.Advice)
			}
			if !strings.Contains(strings.Join(got.Notes, "\n"), test.note) {
				t.Errorf("notes %q lack %q", got.Notes, test.note)
			}
		})
	}
}

// R11: what the program recovered from is told, without alarm and without advice.
func TestRecovered(t *testing.T) {
	e := ruleBase()
	e.Recovered = true
	got := Explain(Incident{Events: []sampler.OOMEvent{e}})
	if !got.Verdict.Recovered || len(got.Advice) > 0 || len(got.Causes) == 0 {
		t.Errorf("%+v", got.Verdict)
	}
}

// One verdict for a run of several ranks.
func TestVerdict(t *testing.T) {
	rank := func(r, gpu, line int, kind string) sampler.OOMEvent {
		e := ruleBase()
		if kind != "cuda_oom" {
			e = sampler.OOMEvent{Framework: "pytorch", MemoryKind: "gpu"}
		}
		e.Kind, e.Rank, e.GPUIndex, e.Line = kind, sampler.Some(r), sampler.Some(gpu), line
		return e
	}
	killed := sampler.OOMEvent{Framework: "shell", Kind: "killed_no_reason", MemoryKind: "host", Line: 900}
	tests := []struct {
		name             string
		events           []sampler.OOMEvent
		first            int
		victims, alsoHit int
	}{
		{"one", []sampler.OOMEvent{rank(0, 0, 5, "cuda_oom")}, 0, 0, 0},
		{"two walls", []sampler.OOMEvent{rank(1, 1, 9, "cuda_oom"), rank(0, 0, 5, "cuda_oom")}, 1, 0, 1},
		{"victims", []sampler.OOMEvent{rank(3, 3, 5, "cuda_oom"), rank(1, 1, 9, "nccl_oom"), killed}, 0, 2, 0},
		{"killed first", []sampler.OOMEvent{{Kind: "kernel_oom_kill", MemoryKind: "host", Line: 1}, rank(1, 1, 9, "cuda_error_oom")}, 0, 1, 0},
	}
	for _, test := range tests {
		v := Explain(Incident{Events: test.events}).Verdict
		if v.Event != test.first || len(v.Victims) != test.victims || len(v.AlsoHit) != test.alsoHit {
			t.Errorf("%s: %+v", test.name, v)
		}
		if (v.Run != "") != (len(test.events) > 1) {
			t.Errorf("%s: run %q", test.name, v.Run)
		}
	}
}

// Logs of different frameworks, or of GPUs of different sizes, are of no one run: none is the first of them.
func TestVerdictOfSeveralRuns(t *testing.T) {
	event := func(framework string, total float64) sampler.OOMEvent {
		e := ruleBase()
		e.Framework, e.GPUTotal, e.Line = framework, gibs(total), 1
		return e
	}
	for name, row := range map[string]struct {
		other sampler.OOMEvent
		want  string
	}{
		"another framework":     {event("jax", 79), "This is of a.log, line 1. 1 more of other runs"},
		"a library of the run":  {event("nccl", 79), "First to fail: a.log, line 1. 1 more hit the same wall: b.log, line 1."},
		"another GPU":           {event("pytorch", 47), "This is of a.log, line 1. 1 more of other runs"},
		"nearly the same total": {event("pytorch", 77), "First to fail: a.log, line 1. 1 more hit the same wall: b.log, line 1."},
	} {
		v := Explain(Incident{Events: []sampler.OOMEvent{event("pytorch", 79), row.other}, Files: []string{"a.log", "b.log"}}).Verdict
		if !strings.HasPrefix(v.Run, row.want) {
			t.Errorf("%s: %q, want %q", name, v.Run, row.want)
		}
	}
}

func TestGPUModels(t *testing.T) {
	for name, want := range map[string]int{
		"NVIDIA A100-SXM4-80GB": 8, "Tesla V100-SXM2-16GB": 7, "Tesla T4": 7, "NVIDIA GeForce RTX 3090": 8, "NVIDIA GeForce RTX 2080 Ti": 7,
		"NVIDIA GeForce GTX 1080 Ti": 6, "NVIDIA H100 80GB HBM3": 9, "NVIDIA H200": 9, "NVIDIA L4": 8, "NVIDIA L40S": 8, "Quadro RTX 6000": 7,
		"NVIDIA RTX 6000 Ada Generation": 8, "NVIDIA RTX A6000": 8, "NVIDIA A10G": 8, "Tesla P100-PCIE-16GB": 6, "Tesla P4": 6, "NVIDIA B200": 10,
		"NVIDIA GeForce RTX 5090": 12, "Orin (nvgpu)": 8, "NVIDIA TITAN RTX": 7, "Tesla K80": 3, "NVIDIA RTX PRO 6000 Blackwell": 12, "Radeon": 0, "": 0,
	} {
		if g := modelOf(name, ""); g.major != want {
			t.Errorf("%q: compute capability %d.%d, want %d.x", name, g.major, g.minor, want)
		}
	}
	if g := modelOf("Tesla T4", "8.6"); g.major != 8 {
		t.Error("the capability that is given must win over the name")
	}
}

// Every kind of error that the parser can name has a row.
func TestEveryKindHasARow(t *testing.T) {
	for _, kind := range sampler.ErrorKinds {
		if !slices.ContainsFunc(kindRows, func(r kindRow) bool { return r.kind == kind }) {
			t.Errorf("no row for %s", kind)
		}
		got := Explain(Incident{Events: []sampler.OOMEvent{{Kind: kind, MemoryKind: "unknown"}}})
		if len(got.Causes) == 0 || len(got.Advice) == 0 || got.Verdict.Headline == "" {
			t.Errorf("%s: nothing to evidence: %+v", kind, got)
		}
	}
}

// What halving can and cannot save follows the parameter count.
func TestEstimates(t *testing.T) {
	e := ruleBase()
	e.Context.Parameters, e.Context.FirstStep = sampler.Some(uint64(82190602)), true
	f := newFailure(Incident{Command: "python t.py --batch-size 16 --optimizer sgd"}, e, lang.English())
	if f.footprint.bytesLow != 8 || f.footprint.bytesHigh != 12 {
		t.Errorf("SGD: %+v", f.footprint)
	}
	f = newFailure(Incident{Command: "python t.py --batch-size 16"}, e, lang.English())
	if low := f.footprint.states.low; low != 82190602*16 || f.stateDominated() {
		t.Errorf("Adam: %+v", f.footprint)
	}
	gain := f.scaling().times(0.5, 0.5)
	if most := (e.Allocated.Or(0) + e.Requested.Or(0)) / 2; gain.high > most || gain.low > gain.high {
		t.Errorf("halving cannot save %v of %v", gain, most)
	}
	for k, want := range map[int][2]int{2: {8, 2}, 4: {4, 4}, 8: {2, 8}} {
		if b, steps := command.SplitBatch(16, k); b != want[0] || steps != want[1] {
			t.Errorf("16 by %d: %d x %d", k, b, steps)
		}
	}
}
