package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A validation with a name of its own, where there was little room: more blocks of the usual size than any step had, all
// from a line that had not run before. What fits into the holes does not make them the reason.
func TestSnapshotMoreOfSame(t *testing.T) {
	for name, c := range map[string]struct {
		caller string
		rise   sampler.Bytes // the most before is 8 GiB, in blocks of 40 MiB
		blocks int
		want   string
	}{
		"more blocks, from elsewhere":       {"train.py:80 score", 10 * sampler.GiB, 256, CauseValidationSpike},
		"more blocks, by the way as always": {"", 10 * sampler.GiB, 256, CauseFragmentation},
		"as many, from elsewhere":           {"train.py:80 score", 8 * sampler.GiB, 205, CauseFragmentation},
		"larger ones, from elsewhere":       {"train.py:80 score", 10 * sampler.GiB, 100, CauseFragmentation},
	} {
		s := slowSnapshot(8*sampler.MiB, 60*sampler.MiB)
		d := &s.Devices[0]
		d.Holders[0].Optimizer, d.Trace.Lines[0].Optimizer = false, false
		d.Reserved += 4 * sampler.GiB
		d.Trace.OOM.Reserved = d.Reserved
		l := &d.Trace.Lines[1]
		l.Caller, l.Rise, l.Live, l.Blocks = c.caller, c.rise, c.rise, c.blocks
		e := explainSnapshot(s, "en")
		if TopCause(e.Causes) != c.want || c.want == CauseValidationSpike && (e.Advice[0].ID != FixNoGradValidation || !strings.Contains(e.Verdict.Detail, c.caller)) {
			t.Errorf("%s: %+v, advice %s, %s", name, e.Causes, e.Advice[0].ID, e.Verdict.Detail)
		}
	}
}

// passSnapshot is slowSnapshot with a pass of the model at its end: in the steps before, its lines took 6 and 2 GiB.
func passSnapshot(lines ...sampler.TorchLine) sampler.TorchSnapshot {
	s := slowSnapshot(8*sampler.MiB, 60*sampler.MiB)
	trace := s.Devices[0].Trace
	s.Devices[0].Holders[0].Optimizer, trace.Lines[0].Optimizer = false, false
	trace.Lines = append(trace.Lines[:1], lines...)
	return s
}

func passLine(n int, caller string, cycles, blocks int, rise, usual, largest sampler.Bytes) sampler.TorchLine {
	return sampler.TorchLine{TorchSite: sampler.TorchSite{File: "/w/net.py", Line: n, Function: "forward", Module: true}, Caller: caller, Cycles: cycles,
		Live: rise, Rise: rise, Usual: usual, Largest: largest, Blocks: blocks, Requests: blocks + 10*cycles}
}

// A pass of the model from elsewhere, through the lines of the steps or through its own, that keeps several blocks of each
// and takes more than any step is a validation that keeps its graphs, however large its blocks are.
func TestSnapshotNewPass(t *testing.T) {
	const gib, mib = sampler.GiB, sampler.MiB
	twice := func(caller string, blocks int, rise sampler.Bytes) []sampler.TorchLine {
		return []sampler.TorchLine{passLine(41, caller, 60, blocks, rise, 6*gib, 300*mib), passLine(58, caller, 60, blocks, rise/3, 2*gib, 100*mib)}
	}
	quiet := passLine(60, "", 60, 0, 0, 8*gib, 300*mib)
	for name, c := range map[string]struct {
		lines      []sampler.TorchLine
		validation float64 // confidence
		says       string
	}{
		"larger blocks, from elsewhere": {twice("start.py:90 main", 5, 7500*mib), 0.7, "net.py:41 forward: 7.32 GiB, at most 6.00 GiB in the 60 steps before. All of it came from start.py:90 main"},
		"by the way as always":          {twice("", 5, 7500*mib), 0, ""},
		"one block of each":             {twice("start.py:90 main", 1, 7500*mib), 0, ""},
		"no more than a step":           {twice("start.py:90 main", 5, 5*gib), 0, ""},
		"a line of its own":             {[]sampler.TorchLine{quiet, passLine(90, "net.py:90 forward", 0, 60, 12*gib, 0, 0)}, 0.86, "net.py:90 forward: 12.00 GiB in 60 blocks. It had not run in the 180 steps before"},
		"a line of its own, and less":   {[]sampler.TorchLine{quiet, passLine(90, "net.py:90 forward", 0, 60, 8*gib, 0, 0)}, 0, ""},
	} {
		e := explainSnapshot(passSnapshot(c.lines...), "en")
		found := 0.0
		if e.Causes[0].ID == CauseValidationSpike {
			found = e.Causes[0].Confidence
		}
		if found != c.validation || !strings.Contains(e.Verdict.Detail, c.says) {
			t.Errorf("%s: %+v, %s", name, e.Causes[0], e.Verdict.Detail)
		}
		if c.validation > 0 && e.Advice[0].ID != FixNoGradValidation {
			t.Errorf("%s: %s", name, e.Advice[0].ID)
		}
	}
}

// What is unallocated had helped for one block only: a pass that wants more is not to be told to use segments that expand.
func TestSnapshotNewPassBesideHoles(t *testing.T) {
	s := passSnapshot(passLine(41, "start.py:90 main", 60, 5, 10*sampler.GiB, 6*sampler.GiB, 300*sampler.MiB), passLine(58, "start.py:90 main", 60, 5, 3*sampler.GiB, 2*sampler.GiB, 100*sampler.MiB))
	d := &s.Devices[0]
	d.Trace.OOM.Requested, d.Reserved = 3*sampler.GiB, d.Reserved+2*sampler.GiB
	d.Trace.OOM.Free, d.Trace.OOM.Reserved = sampler.Some(2*sampler.GiB), d.Reserved
	if e := explainSnapshot(s, "en"); TopCause(e.Causes) != CauseValidationSpike || e.Advice[0].ID != FixNoGradValidation {
		t.Errorf("%+v, advice %s", e.Causes, e.Advice[0].ID)
	}
}

// Holes are no reason where the step was to take more than them and what is free.
func TestSnapshotHolesTooSmall(t *testing.T) {
	for rise, want := range map[sampler.Bytes]string{7900 * sampler.MiB: CauseFragmentation, 4 * sampler.GiB: CauseTooBig} {
		s := passSnapshot(passLine(41, "", 60, 200, rise, 8*sampler.GiB, 40*sampler.MiB))
		s.Devices[0].Reserved += 2 * sampler.GiB
		s.Devices[0].Trace.OOM.Reserved = s.Devices[0].Reserved
		if e := explainSnapshot(s, "en"); TopCause(e.Causes) != want {
			t.Errorf("%s of 8 GiB: %+v", rise, e.Causes)
		}
	}
}

// One huge request is named with its line, and no line that holds less.
func TestSnapshotHugeRequest(t *testing.T) {
	for name, c := range map[string]struct {
		usual, request sampler.Bytes
		says           string
	}{
		"its call never asked for as much":   {960 * sampler.MiB, 14 * sampler.GiB, "knn.py:18 knn: 14.00 GiB was requested, at most 960 MiB in its 180 requests before."},
		"it is more than any line holds":     {0, 40 * sampler.GiB, "knn.py:18 knn: 40.00 GiB was requested at once, more than any line holds."},
		"it is much, and others hold more":   {0, 12 * sampler.GiB, "more than any other line (79 % of what is allocated). The refused request is of knn.py:18 knn."},
		"it is little, and others hold more": {0, 512 * sampler.MiB, "more than any other line (79 % of what is allocated). It asked for"},
	} {
		s := slowSnapshot(8*sampler.MiB, 60*sampler.MiB)
		d, trace := &s.Devices[0], s.Devices[0].Trace
		knn := sampler.TorchLine{TorchSite: sampler.TorchSite{File: "/w/knn.py", Line: 18, Function: "knn"}, Usual: c.usual, Cycles: 180, Requests: 180, Largest: c.usual}
		d.Holders[0].Optimizer, trace.Lines[0].Optimizer = false, false
		if c.usual > 0 {
			trace.Lines[2].Usual, trace.Lines[2].Cycles, trace.Lines[2].Rise = sampler.GiB, 180, 5*sampler.GiB // it waits for the result
			trace.Lines[2].Grown, trace.Lines[2].Live = 0, 5*sampler.GiB
		}
		trace.Lines = append(trace.Lines, knn)
		trace.OOM.Site, trace.OOM.Requested, trace.OOM.Usual, trace.OOM.Requests = knn.TorchSite, c.request, c.usual, 180
		e := explainSnapshot(s, "en")
		if !strings.Contains(e.Verdict.Detail, c.says) || !strings.HasPrefix(e.Causes[0].Site.Place(), "knn.py:18") && c.request > 13*sampler.GiB {
			t.Errorf("%s: %s, %s", name, e.Causes[0].Site.Place(), e.Verdict.Detail)
		}
	}
}

// What is free in the private pools of CUDA graphs is no fragmentation that another setting ends.
func TestSnapshotPrivatePools(t *testing.T) {
	s := torchSnapshot(t, "fragmentation")
	d := &s.Devices[0]
	d.PrivateFree, d.LargestFree = d.Split+d.Cached, 0
	e := explainSnapshot(s, "en")
	if top := TopCause(e.Causes); top != CauseTooBig || !strings.Contains(e.Verdict.Detail, "is free in the private pools of CUDA graphs") {
		t.Errorf("%s: %s", top, e.Verdict.Detail)
	}
	for _, a := range e.Advice {
		if a.ID == FixExpandableSegments {
			t.Error("segments that expand end nothing here")
		}
	}
	d.PrivateFree = sampler.MiB
	if e := explainSnapshot(s, "en"); TopCause(e.Causes) != CauseFragmentation || strings.Contains(e.Verdict.Detail, "private") {
		t.Errorf("a little in pools: %s", e.Verdict.Detail)
	}
}
