package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// died is a failure of PyTorch with a course, as a recording shows it.
func died(need, total, free, allocated float64, c sampler.LogContext) sampler.OOMEvent {
	e := pytorch(gibs(need), gibs(total), gibs(free))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(allocated), gibs(0.1), gibs(allocated+0.6)
	e.Context = &c
	return e
}

// told is all evidence of all causes.
func told(x Explanation) (text string) {
	for _, c := range x.Causes {
		text += strings.Join(c.Evidence, "\n") + "\n"
	}
	return text
}

// Large steps that are far apart are stages with larger inputs. What a program keeps comes in smaller ones, and what a search keeps with its trials.
func TestStages(t *testing.T) {
	stairs := amounts(8, 8, 18, 18, 28, 28, 38, 38, 48, 48, 58, 58, 68, 68, 78, 78)
	for i := range stairs {
		stairs[i] *= sampler.GiB
	}
	for name, row := range map[string]struct {
		step, interval float64
		context        sampler.LogContext
		want           string
	}{
		"stages":              {10, 900, sampler.LogContext{}, CauseDataSpike},
		"with the log":        {10, 900, sampler.LogContext{Larger: &sampler.SizeGrowth{Name: "frames", From: 17, To: 97}}, CauseDataSpike},
		"small steps":         {2, 900, sampler.LogContext{}, CauseLeak},
		"one after another":   {10, 20, sampler.LogContext{}, CauseLeak},
		"cells of a notebook": {10, 900, sampler.LogContext{Files: []string{"/tmp/ipykernel_4127/287.py"}}, CauseLeak},
		"trials of a search":  {10, 900, sampler.LogContext{Trials: sampler.Some(7)}, CauseLeak},
	} {
		row.context.Phase, row.context.Step, row.context.Functions = sampler.PhaseTraining, sampler.Some(1031), []string{"<module>", "main", "forward"}
		alert := sampler.Alert{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "it has risen by 7 equal steps",
			Numbers: map[string]float64{"steps": 7, "step_bytes": row.step * float64(sampler.GiB), "interval_s": row.interval}}
		x := Explain(Incident{Events: []sampler.OOMEvent{died(0.73, 79.1, 0.37, 78, row.context)}, Alerts: []sampler.Alert{alert},
			Histories: []*History{{Age: sampler.Some(4800.0), Process: gibs(78.7), Peaks: stairs}}, Command: "accelerate launch train.py --config a.yaml"})
		if x.Causes[0].ID != row.want || row.want == CauseDataSpike && (x.Advice[0].ID != FixCapSampleSize || strings.Contains(told(x), "the same batch had fitted")) {
			t.Errorf("%s: %s, %s\n%s", name, x.Causes[0].ID, x.Advice[0].ID, told(x))
		}
	}
}

// A request as large as a half of all that is held is of one array that grows, whatever was alerted. Features that are joined to those so far are kept.
func TestOneLargeArray(t *testing.T) {
	kept := amounts(10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
	for i := range kept {
		kept[i] *= sampler.GiB
	}
	growth := []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it grows"}}
	for _, row := range []struct {
		need float64
		code string
		want string
	}{
		{23.6, "L, info = torch.linalg.cholesky_ex(A, out=out)", CauseDataSpike},
		{0.3, "L, info = torch.linalg.cholesky_ex(A, out=out)", CauseLeak},
		{23.6, "self.feats = torch.cat([self.feats, feats], dim=0)", CauseLeak},
	} {
		need, want := row.need, row.want
		x := Explain(Incident{Events: []sampler.OOMEvent{died(need, 47.5, need-0.1, 23.6, sampler.LogContext{Step: sampler.Some(289), Functions: []string{"<module>", "main", "cholesky"}, Code: []string{row.code}})},
			Alerts: growth, Histories: []*History{{Age: sampler.Some(2800.0), Process: gibs(24), Peaks: amounts(47*1024, 47*1024, 47*1024), Kept: kept}}, Command: "python run_bo.py --batch 40"})
		if x.Causes[0].ID != want {
			t.Errorf("%v GiB, %s: %s\n%s", need, row.code, x.Causes[0].ID, told(x))
		}
	}
}

// What grows with a conversation is no leak, whatever was alerted.
func TestAlertedConversation(t *testing.T) {
	climb := amounts(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	for i := range climb {
		climb[i] *= sampler.GiB
	}
	c := sampler.LogContext{Functions: []string{"chat", "generate", "_sample", "update"}, Files: []string{"generation/utils.py", "transformers/cache_utils.py"}, Code: []string{"out = model.generate(**inputs, max_new_tokens=1024)"},
		Larger: &sampler.SizeGrowth{Name: "prompt_tokens", From: 6933, To: 34136}}
	x := Explain(Incident{Events: []sampler.OOMEvent{died(1.3, 15.7, 1.27, 13.5, c)}, Alerts: []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it grows"}},
		Histories: []*History{{Age: sampler.Some(3800.0), Process: gibs(14.4), Peaks: climb}}, Command: "python agent_server.py --device cuda:0"})
	if x.Causes[0].ID == CauseLeak || x.Advice[0].ID == FixLeak {
		t.Errorf("%s, %s\n%s", x.Causes[0].ID, x.Advice[0].ID, told(x))
	}
}

// A rank whose part of a simulation fills gets a smaller one: it has a GPU of its own.
func TestAlertedImbalance(t *testing.T) {
	e := sampler.OOMEvent{Kind: sampler.KindCUDAError, Framework: "cuda", MemoryKind: sampler.MemoryGPU, Rank: sampler.Some(2), Text: "amrex::Abort::2::CUDA error 2",
		Context: &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(23820), Told: []string{sampler.ToldWork + sampler.WorkGrid}}}
	alerts := []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it grows"}, {Kind: sampler.AlertImbalance, Level: sampler.LevelNotice, Text: "GPU 2 fails first"},
		{Kind: sampler.AlertRepeatSpike, Level: sampler.LevelWarning, Text: "the next spike is too large"}}
	x := Explain(Incident{Events: []sampler.OOMEvent{e}, Alerts: alerts, Histories: []*History{{Total: gibs(45), Free: gibs(21), Process: gibs(23)}}, Command: "mpirun -np 4 ./warpx.2d inputs"})
	if x.Causes[0].ID != CauseImbalance || x.Advice[0].ID != FixRebalanceRanks || !strings.Contains(x.Advice[0].Title, "Balance the load") {
		t.Errorf("%+v\n%+v", x.Causes, x.Advice)
	}
	e.Context = &sampler.LogContext{Step: sampler.Some(23820)}
	for _, a := range Explain(Incident{Events: []sampler.OOMEvent{e}, Alerts: alerts, Command: "mpirun -np 4 ./train"}).Advice {
		if strings.Contains(a.Title, "its own GPU") {
			t.Errorf("%q, and each has one", a.Title)
		}
	}
}

// After the training there is no batch that could be smaller.
func TestExports(t *testing.T) {
	for name, c := range map[string]sampler.LogContext{
		"by its line": {Phase: sampler.PhaseTraining, Step: sampler.Some(1156), Functions: []string{"<module>", "main", "forward"}, Code: []string{"main()", "torch.onnx.export(model.float(), dummy, args.out)"}},
		"by its file": {Phase: sampler.PhaseSaving, Step: sampler.Some(1156), Functions: []string{"<module>", "main", "export"}, Files: []string{"asr/train.py", "onnx/utils.py"}},
	} {
		x := Explain(Incident{Events: []sampler.OOMEvent{died(0.25, 15.77, 0.18, 14.74, c)}, Command: "python train.py --max-steps 1164"})
		if x.Causes[0].ID != CauseTooBig || !strings.Contains(x.Advice[0].Title, "Export on the CPU") {
			t.Errorf("%s: %s, %q", name, x.Causes[0].ID, x.Advice[0].Title)
		}
		for _, a := range x.Advice {
			if a.ID == FixHalveBatchAccumulate || a.ID == FixGradientCheckpointing || a.ID == FixLeak {
				t.Errorf("%s: %q", name, a.Title)
			}
		}
	}
}

// Where JAX asks the driver for each array there is neither a share of the GPU nor a pool with holes.
func TestJAXWithoutPool(t *testing.T) {
	for allocator, want := range map[string]bool{"platform": false, "": true} {
		e := sampler.OOMEvent{Framework: "jax", Kind: sampler.KindXLA, MemoryKind: sampler.MemoryGPU, Requested: gibs(1.7), Text: "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1786785705 bytes.",
			Context: &sampler.LogContext{Step: sampler.Some(4000)}}
		x := Explain(Incident{Events: []sampler.OOMEvent{e}, Environment: map[string]string{"XLA_PYTHON_CLIENT_ALLOCATOR": allocator}})
		got := false
		for _, c := range x.Causes {
			got = got || c.ID == CauseMemoryLimit || c.ID == CauseFragmentation
		}
		if got != want {
			t.Errorf("%q: %+v", allocator, x.Causes)
		}
	}
}

// What a worker has moved to RAM can go on to a disk.
func TestSpilledToRAM(t *testing.T) {
	e := sampler.OOMEvent{Kind: sampler.KindKilled, MemoryKind: sampler.MemoryHost, Text: "Killed", Context: &sampler.LogContext{Spilled: gibs(103.9)}}
	if x := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python components.py"}); !strings.Contains(x.Advice[0].Title, "spill") || !strings.Contains(x.Advice[0].Why, "103.9") {
		t.Errorf("%+v", x.Advice[0])
	}
}

// What an alert foresees nobody has asked for, and no validation is known of.
func TestExpectedRequests(t *testing.T) {
	in := Incident{Events: []sampler.OOMEvent{died(8.9, 79, 4, 60, sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(1)})}}
	for _, row := range []struct {
		advice []sampler.Advice
		asked  bool
	}{{Advise(in, []sampler.Cause{{ID: CauseValidationSpike, Confidence: 1}, {ID: CauseDataSpike, Confidence: 1}}, lang.English()), false}, {Explain(in).Advice, true}} {
		text := ""
		for _, a := range row.advice {
			text += a.Why + "\n"
		}
		if strings.Contains(text, "The refused request is made in validation") != row.asked || !row.asked && strings.Contains(text, "stands out") {
			t.Errorf("happened %v: %s", row.asked, text)
		}
	}
}
