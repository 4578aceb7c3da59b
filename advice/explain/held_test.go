package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// held is a training that died at its 40th step, by source line.
func held(change func(d *sampler.TorchDevice)) Explanation {
	e := pytorch(mibs(1000), mibs(20600), mibs(300))
	e.Allocated, e.ReservedUnallocated, e.ProcessInUse = mibs(19900), mibs(100), mibs(20300)
	line := func(number int, live, rise float64) sampler.TorchLine {
		return sampler.TorchLine{TorchSite: sampler.TorchSite{File: "/me/train.py", Line: number, Function: "step"}, Live: mibs(live).Or(0), Rise: mibs(rise).Or(0), Blocks: 10}
	}
	d := &sampler.TorchDevice{Reserved: mibs(20000).Or(0), Allocated: mibs(19900).Or(0), LargestFree: mibs(60).Or(0), Trace: &sampler.TorchTrace{
		Steps: 40, Live: mibs(19900).Or(0), OOMs: 1, OOM: &sampler.TorchOOM{Requested: mibs(1000).Or(0), Reserved: mibs(20000).Or(0), Site: sampler.TorchSite{File: "/me/train.py", Line: 9, Function: "forward"}},
		StepRise: mibs(9000).Or(0), StepUsual: mibs(8500).Or(0),
		Lines: []sampler.TorchLine{line(1, 11000, 0), line(2, 8000, 8000), line(3, 900, 0)}}}
	for _, l := range d.Trace.Lines {
		d.Holders = append(d.Holders, sampler.TorchHolder{TorchSite: l.TorchSite, Bytes: l.Live, Blocks: l.Blocks})
	}
	if change != nil {
		change(d)
	}
	e.Held = d
	return Explain(Incident{Events: []sampler.OOMEvent{e}})
}

// What a process told of its lines gives cause and line, each by its own figures, and none by those of another.
func TestHeld(t *testing.T) {
	gib := sampler.GiB
	for name, row := range map[string]struct {
		change func(d *sampler.TorchDevice)
		cause  string
		says   string
	}{
		"what it is": {nil, CauseTooBig, "train.py:1 step: 10.74 GiB in 10 blocks"},
		"gradients have no line": {func(d *sampler.TorchDevice) {
			d.Holders = append([]sampler.TorchHolder{{Bytes: 15000 * sampler.MiB, Blocks: 300}}, d.Holders...)
		}, CauseTooBig, "train.py:1 step: 10.74 GiB in 10 blocks"},
		"a leak": {func(d *sampler.TorchDevice) { d.Trace.Lines[2].Grown, d.Trace.Lines[2].Steps = 880*sampler.MiB, 38 }, CauseLeak,
			"train.py:3 step: 0.88 GiB live, +23.16 MiB each step for 38 steps."},
		"a large step":           {func(d *sampler.TorchDevice) { d.Trace.StepUsual = 4 * gib }, CauseDataSpike, "train.py:2 step: 7.81 GiB in this step, which takes 8.79 GiB with the 1000 MiB"},
		"a large step by a leak": {func(d *sampler.TorchDevice) { d.Trace.StepUsual, d.Trace.Lines[1].Grown = 4*gib, 7*gib }, CauseLeak, "train.py:2"},
		"a large request": {func(d *sampler.TorchDevice) {
			d.Trace.StepUsual, d.Trace.StepRise, d.Trace.Lines[1].Rise = gib/2, 2*gib, gib/2
		}, CauseDataSpike, "train.py:9 forward requested 1000 MiB, with which this step takes 2.00 GiB"},
		"too few steps":   {func(d *sampler.TorchDevice) { d.Trace.StepUsual, d.Trace.Steps = 4*gib, 2 }, CauseTooBig, "train.py:1 step"},
		"usual not known": {func(d *sampler.TorchDevice) { d.Trace.StepUsual = 0 }, CauseTooBig, "train.py:1 step"},
		"only of the step": {func(d *sampler.TorchDevice) {
			d.Holders, d.Trace.OOM = []sampler.TorchHolder{}, nil
			d.Trace.Lines[2].Grown, d.Trace.Lines[2].Steps = 880*sampler.MiB, 38
		}, CauseLeak, "train.py:3 step"},
		"nothing of it": {func(d *sampler.TorchDevice) {
			d.Holders, d.Trace.OOM, d.Trace.Lines = []sampler.TorchHolder{}, nil, nil
		}, CauseTooBig, "It asked for 1000 MiB"},
	} {
		out := held(row.change)
		if TopCause(out.Causes) != row.cause || !strings.HasPrefix(strings.TrimSpace(out.Verdict.Detail), row.says) && !strings.Contains(out.Verdict.Detail, row.says) {
			t.Errorf("%s: %s, %q", name, TopCause(out.Causes), out.Verdict.Detail)
		}
	}
}
