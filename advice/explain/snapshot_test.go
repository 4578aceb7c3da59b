package explain

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/torchsnap"
)

func torchSnapshot(t *testing.T, cause string) sampler.TorchSnapshot {
	t.Helper()
	file, err := os.Open(filepath.Join("../../sampler/torchsnap/testdata", cause+".pickle.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := torchsnap.Read(z)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func explainSnapshot(s sampler.TorchSnapshot, lang string) Explanation {
	in := Incident{Lang: lang, Snapshots: []sampler.TorchSnapshot{s}}
	in.Events, in.Devices = FromSnapshot(s)
	return Explain(in)
}

// Cause, line and first advice of each kind of failure, and the sentence that says so.
func TestSnapshotCauses(t *testing.T) {
	for _, c := range []struct{ name, cause, line, advice, says string }{
		{"leak", CauseLeak, "train.py:210", FixLeak, "train.py:210 train_epoch: 0.23 GiB live, +12 MiB each step for 20 steps."},
		{"validation", CauseValidationSpike, "model.py:88", FixNoGradValidation, "model.py:88 forward: 8.79 GiB in 60 blocks, called by the validation (train.py:260 validate)"},
		{"inline", CauseValidationSpike, "model.py:88", FixNoGradValidation, "All of it came from train.py:251 main, which had not run before"},
		{"fragmentation", CauseFragmentation, "cache.py:17", FixExpandableSegments, "model.py:120 forward requested 1.46 GiB. cache.py:17 remember keeps most of it reserved"},
		{"batch", CauseDataSpike, "model.py:88", FixCapSampleSize, "model.py:88 forward: 6.15 GiB in this step, at most 1.17 GiB in the 20 before."},
		{"optimizer", CauseTooBig, "train.py:215", FixSmallerOptimizer, "train.py:215 train_epoch: 2.34 GiB of optimizer state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := torchSnapshot(t, c.name)
			e := explainSnapshot(s, "en")
			if len(e.Events) != 1 || len(e.Causes) == 0 || len(e.Advice) == 0 {
				t.Fatalf("%d events, causes %+v", len(e.Events), e.Causes)
			}
			top := e.Causes[0]
			if top.ID != c.cause || top.Site == nil || top.Site.Place() != c.line || top.Confidence < 0.85 {
				t.Errorf("%s %v %.2f", top.ID, top.Site, top.Confidence)
			}
			if len(e.Causes) > 1 && e.Causes[1].Confidence > 0.6 {
				t.Errorf("second: %s %.2f", e.Causes[1].ID, e.Causes[1].Confidence)
			}
			for _, a := range e.Advice {
				if strings.Contains(a.Why, "{") {
					t.Errorf("advice %s says %q", a.ID, a.Why)
				}
			}
			if e.Advice[0].ID != c.advice {
				t.Errorf("advice %s", e.Advice[0].ID)
			}
			if !strings.Contains(e.Verdict.Detail, c.says) {
				t.Errorf("says %q", e.Verdict.Detail)
			}
			if zh := explainSnapshot(s, "zh"); !strings.Contains(zh.Verdict.Detail, c.line) {
				t.Errorf("zh says %q", zh.Verdict.Detail)
			}
		})
	}
}

// Frames of C++ name no phase: the interpreter evaluates each frame of Python.
func TestSnapshotInterpreter(t *testing.T) {
	s := torchSnapshot(t, "leak")
	oom := s.Devices[0].Trace.OOM
	oom.Stack = append([]sampler.TorchSite{{File: "Python/ceval.c", Function: "_PyEval_EvalFrameDefault"}, {File: "??", Function: "at::native::validate"}}, oom.Stack...)
	e := explainSnapshot(s, "en")
	if strings.Contains(e.Verdict.Headline, "validation") || e.Advice[0].ID != FixLeak || len(e.Causes) > 1 && e.Causes[1].ID == CauseValidationSpike {
		t.Errorf("%s: %+v", e.Verdict.Headline, e.Causes)
	}
}

// A history without lines tells a leak, whose blocks are what holes lie between.
func TestSnapshotLeakWithoutLines(t *testing.T) {
	s := torchSnapshot(t, "leak")
	d := &s.Devices[0]
	trace := d.Trace
	all := sampler.TorchLine{Live: trace.Live, Blocks: d.Blocks, Grown: trace.Live / 4, Requests: 1000}
	trace.Lines, trace.Steps, trace.OOM.Site, trace.OOM.Stack = []sampler.TorchLine{all}, 0, sampler.TorchSite{}, nil
	d.Reserved += 512 * sampler.MiB
	trace.OOM.Reserved = d.Reserved
	d.LargestFree = 50 * sampler.MiB
	if e := explainSnapshot(s, "en"); TopCause(e.Causes) != CauseLeak || e.Advice[0].ID != FixLeak {
		t.Errorf("%+v, advice %s", e.Causes, e.Advice[0].ID)
	}
}

// grownSnapshot is a history in which nothing comes and goes: a line of the model and one beside it grow.
func grownSnapshot(reserved, largestFree sampler.Bytes) sampler.TorchSnapshot {
	line := func(file string, n int, module bool, live sampler.Bytes) sampler.TorchLine {
		return sampler.TorchLine{TorchSite: sampler.TorchSite{File: file, Line: n, Function: "train", Module: module}, Live: live, Grown: live, Blocks: 30, Requests: 30}
	}
	trace := &sampler.TorchTrace{Events: 60, Live: 1500 * sampler.MiB, Lines: []sampler.TorchLine{line("/w/net.py", 15, true, 1500*sampler.MiB), line("/w/main.py", 44, false, 30*512)},
		OOM: &sampler.TorchOOM{Requested: 500 * sampler.MiB, Free: sampler.Some(10 * sampler.MiB), Reserved: reserved}}
	holder := sampler.TorchHolder{TorchSite: trace.Lines[0].TorchSite, Bytes: 1500 * sampler.MiB, Blocks: 30}
	return sampler.TorchSnapshot{Frames: true, Devices: []sampler.TorchDevice{{Reserved: reserved, Allocated: 1500 * sampler.MiB, Split: reserved.Less(1500 * sampler.MiB),
		LargestFree: largestFree, Holders: []sampler.TorchHolder{holder}, Pins: []sampler.TorchHolder{holder}, Trace: trace}}}
}

// Graphs that one small block of each step keeps are a leak, and both lines are named.
func TestSnapshotKeptGraph(t *testing.T) {
	e := explainSnapshot(grownSnapshot(1600*sampler.MiB, 50*sampler.MiB), "en")
	if TopCause(e.Causes) != CauseLeak || e.Causes[0].Site == nil || e.Causes[0].Site.Place() != "net.py:15" || !strings.Contains(e.Verdict.Detail, "+50 MiB each step for 30 steps. main.py:44 train keeps one small block of each step") {
		t.Errorf("%s: %+v", e.Verdict.Detail, e.Causes)
	}
}

// What a line gains is no leak where no step is seen: weights come layer by layer, gradients do in one backward pass.
func TestSnapshotGrowthWithoutSteps(t *testing.T) {
	for file, module := range map[string]bool{"/w/net.py": true, "/w/load.py": false, "": false} {
		s := grownSnapshot(1600*sampler.MiB, 50*sampler.MiB)
		t0 := s.Devices[0].Trace
		grown := &t0.Lines[0]
		grown.File, grown.Module, t0.Lines[1].Blocks, t0.Lines[1].Requests = file, module, 1, 1
		if e := explainSnapshot(s, "en"); slices.ContainsFunc(e.Causes, func(c sampler.Cause) bool { return c.ID == CauseLeak }) {
			t.Errorf("%q: %+v", file, e.Causes)
		}
		if t0.Steps = 30; TopCause(explainSnapshot(s, "en").Causes) != CauseLeak {
			t.Errorf("%q in steps: %+v", file, explainSnapshot(s, "en").Causes)
		}
	}
}

// Where much more lies unused between kept blocks than in them, it is the holes that cost the room.
func TestSnapshotHolesBeforeLeak(t *testing.T) {
	e := explainSnapshot(grownSnapshot(7*sampler.GiB, 100*sampler.MiB), "en")
	if TopCause(e.Causes) != CauseFragmentation || e.Advice[0].ID != FixExpandableSegments || e.Causes[1].ID != CauseLeak {
		t.Errorf("%+v", e.Causes)
	}
}

// A line is named with its code where that is known.
func TestSnapshotCode(t *testing.T) {
	s := torchSnapshot(t, "leak")
	for i := range s.Devices[0].Trace.Lines {
		if l := &s.Devices[0].Trace.Lines[i]; l.Line == 210 {
			l.Code = "losses.append(loss)"
		}
	}
	if e := explainSnapshot(s, "en"); !strings.HasPrefix(e.Verdict.Detail, "train.py:210 `losses.append(loss)`: ") {
		t.Error(e.Verdict.Detail)
	}
}

// A snapshot in which nothing was refused accuses nobody; an empty one says that it is.
func TestSnapshotQuiet(t *testing.T) {
	s := torchSnapshot(t, "optimizer")
	s.Devices[0].Trace.OOM = nil
	e := explainSnapshot(s, "en")
	if len(e.Causes) != 0 || len(e.Advice) != 0 || !strings.Contains(e.Verdict.Headline, "nothing was refused") {
		t.Errorf("%+v", e.Verdict)
	}
	s.Devices = nil
	if e := explainSnapshot(s, "en"); len(e.Events) != 0 || !strings.Contains(e.Verdict.Headline, "holds nothing") {
		t.Errorf("%+v", e.Verdict)
	}
	grows := torchSnapshot(t, "leak")
	grows.Devices[0].Trace.OOM = nil
	if e := explainSnapshot(grows, "en"); TopCause(e.Causes) != CauseLeak {
		t.Errorf("growth without a refusal: %+v", e.Causes)
	}
}

// Of a snapshot that is cut nobody says that nothing was refused: the refusal stands at the end.
func TestSnapshotCut(t *testing.T) {
	for _, history := range []bool{true, false} {
		s := torchSnapshot(t, "optimizer")
		s.Devices[0].Cut, s.Devices[0].Trace.OOM = true, nil
		if !history {
			s.Devices[0].Trace = nil
		}
		e := explainSnapshot(s, "en")
		if len(e.Causes) != 0 || strings.Contains(e.Verdict.Headline, "nothing was refused") || strings.HasPrefix(e.Verdict.Detail, "Nothing") ||
			!strings.Contains(e.Verdict.Detail, "is not known") || strings.Contains(e.Verdict.Detail, "part that was read") != history {
			t.Errorf("%v: %s: %s", history, e.Verdict.Headline, e.Verdict.Detail)
		}
		if zh := explainSnapshot(s, "zh"); !strings.Contains(zh.Verdict.Detail, "不知道") {
			t.Errorf("zh says %q", zh.Verdict.Detail)
		}
	}
}

// Without history sizes and states tell of layers, and nothing is made up.
func TestSnapshotWithoutHistory(t *testing.T) {
	s := torchSnapshot(t, "fragmentation")
	s.Devices[0].Trace = nil
	if e := explainSnapshot(s, "en"); len(e.Events) != 1 || len(e.Causes) != 0 {
		t.Errorf("%+v", e.Causes)
	}
}

// A step that takes unusually much is the reason, though what was refused had fitted packed: what comes next would not.
func TestSnapshotSpikeBeforeHoles(t *testing.T) {
	s := torchSnapshot(t, "batch")
	d := &s.Devices[0]
	d.Reserved += d.Trace.OOM.Requested * 2
	d.Split, d.LargestFree = d.Reserved.Less(d.Allocated), 20*sampler.MiB
	d.Trace.OOM.Reserved = d.Reserved
	e := explainSnapshot(s, "en")
	if TopCause(e.Causes) != CauseDataSpike || e.Advice[0].ID == FixExpandableSegments || !slices.ContainsFunc(e.Causes, func(c sampler.Cause) bool { return c.ID == CauseFragmentation }) {
		t.Errorf("%+v, advice %s", e.Causes, e.Advice[0].ID)
	}
}

// A slow leak that has come to the limit: the request had fitted without a part of it.
func TestSnapshotSlowLeak(t *testing.T) {
	for kept, want := range map[sampler.Bytes]string{84 * sampler.MiB: CauseLeak, 30 * sampler.MiB: CauseFragmentation} {
		s := grownSnapshot(6*sampler.GiB, 300*sampler.MiB)
		d := &s.Devices[0]
		d.Allocated = 5500 * sampler.MiB
		d.Split = d.Reserved.Less(d.Allocated)
		t0 := d.Trace
		t0.Live, t0.Steps, t0.OOM.Requested, t0.OOM.Free = d.Allocated, 105, 500*sampler.MiB, sampler.Some(499*sampler.MiB)
		l := &t0.Lines[0]
		l.Live, l.Grown, l.Module = kept, kept, false
		t0.Lines = t0.Lines[:1]
		if e := explainSnapshot(s, "en"); TopCause(e.Causes) != want {
			t.Errorf("%v: %+v", kept, e.Causes)
		}
	}
}

// slowSnapshot is a training of 180 steps that died beside 30 GiB of optimizer state, with a line that keeps some MiB.
func slowSnapshot(grown, short sampler.Bytes) sampler.TorchSnapshot {
	line := func(n int, live sampler.Bytes) sampler.TorchLine {
		return sampler.TorchLine{TorchSite: sampler.TorchSite{File: "/w/train.py", Line: n, Function: "train"}, Live: live, Blocks: 18, Requests: 18}
	}
	state, acts, kept := line(70, 30*sampler.GiB), line(11, 8*sampler.GiB), line(66, grown)
	state.Optimizer = true
	acts.Cycles, acts.Requests, acts.Usual, acts.Rise, acts.Largest = 180, 3000, 8*sampler.GiB, 8*sampler.GiB, 40*sampler.MiB
	kept.Grown, kept.Steps = grown, 178
	trace := &sampler.TorchTrace{Events: 30000, Steps: 180, Live: 38*sampler.GiB + grown, Lines: []sampler.TorchLine{state, acts, kept},
		OOM: &sampler.TorchOOM{Requested: 100 * sampler.MiB, Free: sampler.Some(100*sampler.MiB - short), Reserved: 39 * sampler.GiB, Site: sampler.TorchSite{File: "/w/train.py", Line: 11, Function: "train"}}}
	d := sampler.TorchDevice{Reserved: 39 * sampler.GiB, Allocated: trace.Live, LargestFree: 10 * sampler.MiB, Trace: trace}
	for _, l := range trace.Lines {
		d.Holders = append(d.Holders, sampler.TorchHolder{TorchSite: l.TorchSite, Bytes: l.Live, Blocks: l.Blocks})
	}
	return sampler.TorchSnapshot{Frames: true, Devices: []sampler.TorchDevice{d}}
}

// A slow leak is named where what it kept in the steps that were seen is what was missing; else what is larger.
func TestSnapshotSlowLeakExplains(t *testing.T) {
	for name, c := range map[string]struct {
		grown, short sampler.Bytes
		cause, line  string
	}{
		"it is what was missing":   {108 * sampler.MiB, 60 * sampler.MiB, CauseLeak, "train.py:66"},
		"much more was missing":    {40 * sampler.MiB, 90 * sampler.MiB, CauseTooBig, "train.py:70"},
		"next to nothing was kept": {8 * sampler.MiB, 2 * sampler.MiB, CauseTooBig, "train.py:70"},
	} {
		e := explainSnapshot(slowSnapshot(c.grown, c.short), "en")
		if top := e.Causes[0]; top.ID != c.cause || top.Site.Place() != c.line {
			t.Errorf("%s: %s %s, %s", name, top.ID, top.Site.Place(), e.Verdict.Detail)
		}
	}
	s := slowSnapshot(108*sampler.MiB, 60*sampler.MiB)
	s.Devices[0].Trace.Lines[1].Rise = 20 * sampler.GiB // a step that takes 12 GiB more than any before
	if e := explainSnapshot(s, "en"); TopCause(e.Causes) != CauseDataSpike {
		t.Errorf("a large step: %+v", e.Causes)
	}
}

// A history shorter than the run shows the end of a leak: live blocks of one size tell of the steps before. What is told
// as live is what the table of lines has.
func TestSnapshotLeakBeforeHistory(t *testing.T) {
	for name, c := range map[string]struct {
		size, blocks int // MiB each, in all
		requests     int // in the 8 steps that were seen
		cause, says  string
	}{
		"hundreds, one in each step":   {5, 306, 8, CauseLeak, "train.py:66 train: 1.49 GiB live, +5 MiB each step for 306 steps."},
		"hundreds, of other sizes":     {9, 306, 8, CauseTooBig, ""},
		"hundreds, some in each step":  {5, 306, 24, CauseTooBig, ""},
		"few":                          {5, 30, 8, CauseTooBig, ""},
		"as many as the history has":   {5, 8, 8, CauseTooBig, ""},
		"not even, and enough is seen": {60, 306, 8, CauseLeak, "train.py:66 train: 17.93 GiB live, +114.29 MiB each step for 7 steps."},
	} {
		s := slowSnapshot(40*sampler.MiB, 60*sampler.MiB)
		d := &s.Devices[0]
		d.Trace.Steps, d.Trace.OOM.Free = 8, sampler.Some(0*sampler.MiB)
		kept := &d.Trace.Lines[2]
		kept.Blocks, kept.Requests, kept.Steps = c.requests, c.requests, 7
		kept.Live = sampler.Bytes(5*c.requests) * sampler.MiB
		kept.Grown = kept.Live
		if strings.HasPrefix(name, "not even") {
			kept.Live, kept.Grown = 800*sampler.MiB, 800*sampler.MiB
		}
		d.Trace.Lines[1].Rise = 0
		d.Holders[2].Bytes, d.Holders[2].Blocks = sampler.Bytes(c.size*c.blocks)*sampler.MiB, c.blocks
		e := explainSnapshot(s, "en")
		if TopCause(e.Causes) != c.cause || !strings.HasPrefix(e.Verdict.Detail, c.says) {
			t.Errorf("%s: %+v: %s", name, e.Causes[0], e.Verdict.Detail)
		}
	}
}

// What keeps a block of each step of the training is a leak, whatever the name of its function promises.
func TestSnapshotValidationInSteps(t *testing.T) {
	for requests, want := range map[int]string{180: CauseLeak, 18: CauseValidationSpike} {
		s := slowSnapshot(16*sampler.GiB, 60*sampler.MiB)
		d := &s.Devices[0]
		kept, held := &d.Trace.Lines[2], &d.Holders[2]
		kept.Validation, held.Validation = "train.py:66 validate_batch", "train.py:66 validate_batch"
		kept.Blocks, kept.Requests, held.Blocks = requests, requests, requests
		if e := explainSnapshot(s, "en"); TopCause(e.Causes) != want || e.Causes[0].Site.Place() != "train.py:66" {
			t.Errorf("%d: %+v", requests, e.Causes)
		}
	}
}

// A request is unusual beside those of the same call: the line may make blocks of many sizes.
func TestSnapshotRequest(t *testing.T) {
	for name, c := range map[string]struct {
		usual sampler.Bytes
		count int
		says  string
	}{
		"the same call asked for as much": {96 * sampler.MiB, 180, ""},
		"the same call asked for less":    {24 * sampler.MiB, 180, "train.py:11 train: 100 MiB was requested, at most 24 MiB in its 180 requests before."},
		"the call is new":                 {0, 0, ""},
	} {
		s := slowSnapshot(8*sampler.MiB, 60*sampler.MiB)
		oom := s.Devices[0].Trace.OOM
		oom.Usual, oom.Requests = c.usual, c.count
		e := explainSnapshot(s, "en")
		if spike := TopCause(e.Causes) == CauseDataSpike; spike != (c.says != "") || !strings.Contains(e.Verdict.Detail, c.says) {
			t.Errorf("%s: %s, %q", name, TopCause(e.Causes), e.Verdict.Detail)
		}
	}
}

// The cache of generation is told as what it is, also where the weights are larger.
func TestSnapshotGeneration(t *testing.T) {
	s := slowSnapshot(sampler.MiB, 60*sampler.MiB)
	trace, d := s.Devices[0].Trace, &s.Devices[0]
	d.Holders[0].Optimizer, trace.Lines[0].Optimizer, d.Holders[1].Generation, trace.Lines[1].Generation, trace.OOM.Site.Generation = false, false, true, true, true
	e := explainSnapshot(s, "en")
	if top := e.Causes[0]; top.ID != CauseTooBig || top.Site.Place() != "train.py:11" || !strings.Contains(e.Verdict.Detail, "where tokens are generated") {
		t.Errorf("%s %s: %s", top.ID, top.Site.Place(), e.Verdict.Detail)
	}
}

// PyTorch asks the driver for more than the tensor, and its message names that: a snapshot and a log are one failure.
func TestSnapshotSegment(t *testing.T) {
	for tensor, segment := range map[sampler.Bytes]sampler.Bytes{512: 2 * sampler.MiB, sampler.MiB: 2 * sampler.MiB, 3 * sampler.MiB: 20 * sampler.MiB,
		19 * sampler.MiB: 20 * sampler.MiB, 1536*sampler.MiB + 1: 1538 * sampler.MiB} {
		s := slowSnapshot(sampler.MiB, 60*sampler.MiB)
		s.Devices[0].Trace.OOM.Requested = tensor
		if events, _ := FromSnapshot(s); events[0].Requested.Or(0) != segment {
			t.Errorf("%s: %s", tensor, events[0].Requested.Or(0))
		}
	}
}
