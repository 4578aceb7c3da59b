package explain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Growth is steady where it is more than noise, was taken in several steps that were never taken back, and had not ended.
func TestSteadyBounds(t *testing.T) {
	const mib = sampler.MiB
	rises := func(last sampler.Bytes, rise sampler.Bytes) grown {
		return grown{first: last - rise, last: last, steps: 9, lateSteps: 4, lateRise: rise, levels: 20}
	}
	with := func(change func(*grown)) grown {
		g := rises(4000*mib, 1000*mib)
		change(&g)
		return g
	}
	for name, row := range map[string]struct {
		g    grown
		want bool
	}{
		"256 MiB":                             {rises(1000*mib, 256*mib), false},
		"more than 256 MiB":                   {rises(1000*mib, 257*mib), true},
		"4 %":                                 {rises(10000*mib, 400*mib), false},
		"more than 4 %":                       {rises(10000*mib, 401*mib), true},
		"a step at each of 7 levels":          {with(func(g *grown) { g.levels, g.steps, g.lateSteps = 7, 6, 0 }), true},
		"at each of 7 but one":                {with(func(g *grown) { g.levels, g.steps, g.lateSteps = 7, 5, 0 }), false},
		"at each of 8, none of them late":     {with(func(g *grown) { g.levels, g.steps, g.lateSteps = 8, 7, 0 }), false},
		"3 steps, 2 of them late":             {with(func(g *grown) { g.steps, g.lateSteps = 3, 2 }), true},
		"2 steps":                             {with(func(g *grown) { g.steps, g.lateSteps = 2, 2 }), false},
		"3 steps, one late":                   {with(func(g *grown) { g.steps, g.lateSteps, g.most, g.least = 3, 1, 140, 100 }), false},
		"3 even steps, one late":              {with(func(g *grown) { g.steps, g.lateSteps, g.most, g.least = 3, 1, 130, 100 }), true},
		"3 steps, a fifth late":               {with(func(g *grown) { g.steps, g.lateSteps, g.lateRise = 3, 2, 200*mib }), false},
		"3 steps, more than a fifth late":     {with(func(g *grown) { g.steps, g.lateSteps, g.lateRise = 3, 2, 201*mib }), true},
		"4 steps, a sixth late":               {with(func(g *grown) { g.steps, g.lateSteps, g.lateRise = 4, 1, 1000*mib/6 }), false},
		"4 steps, more than a sixth late":     {with(func(g *grown) { g.steps, g.lateSteps, g.lateRise = 4, 1, 1000*mib/6+1 }), true},
		"4 steps, none of them late":          {with(func(g *grown) { g.steps, g.lateSteps = 4, 0 }), false},
		"3 steps, one late, more than a 6th":  {with(func(g *grown) { g.steps, g.lateSteps, g.lateRise, g.most = 3, 1, 180*mib, 1 }), false},
		"as many levels as steps, late ended": {with(func(g *grown) { g.levels, g.steps, g.lateSteps, g.lateRise = 7, 6, 0, 100*mib }), false},
	} {
		if got := row.g.steady(); got != row.want {
			t.Errorf("%s: steady %v", name, got)
		}
	}
	g := riseOfLevels(amounts(1000, 1256, 1256, 2560)) // a step is more than 1/256 of the last level: 10 MiB
	if g.steps != 2 || g.lateSteps != 1 || g.most != 1304*mib || g.least != 256*mib || g.lateRise != 1304*mib {
		t.Errorf("%+v", g)
	}
	g = riseOfLevels(amounts(1000, 1010, 1021, 2560))
	if g.steps != 2 || g.least != 11*mib {
		t.Errorf("a step of a 256th: %+v", g)
	}
	ten := riseOfLevels(amounts(0, 5, 5, 5, 5, 5, 5, 5, 5, 5)) // the first of ten is warm-up
	nine := riseOfLevels(amounts(0, 5, 5, 5, 5, 5, 5, 5, 5))
	if ten.first != 5*mib || nine.first != 0 || riseOfLevels(amounts(1, 2)).steps != 0 || riseOfLevels(amounts(1, 2, 3)).steps != 2 {
		t.Errorf("warm-up: %+v, %+v", ten, nine)
	}
}

// What a recording or a log shows of growth, on a GPU of 16000 MiB.
func TestCourseBounds(t *testing.T) {
	kept := func(list ...float64) func(*Incident, *sampler.OOMEvent) {
		return func(in *Incident, _ *sampler.OOMEvent) {
			in.History = &History{Kept: amounts(list...), Peaks: amounts(1000, 2000, 3000, 4000, 5000)}
		}
	}
	prints := func(process float64, list ...float64) func(*Incident, *sampler.OOMEvent) {
		return func(_ *Incident, e *sampler.OOMEvent) {
			e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(process), mibs(process-1000), mibs(1000)
			e.Context = &sampler.LogContext{GPUMemory: amounts(list...)}
		}
	}
	peaks := func(list ...float64) func(*Incident, *sampler.OOMEvent) {
		return func(in *Incident, e *sampler.OOMEvent) { in.History = &History{Peaks: amounts(list...)} }
	}
	alone := func(f *failure) bool { return f.peaksAlone() }
	stays := func(f *failure) bool { return f.keptRise().steps > 0 }
	grew := func(f *failure) bool { return f.tensorsGrew() }
	allocated := func(f *failure) bool { return f.printsAllocated() }
	atEnd := func(f *failure) bool { return f.risesAtEnd() }
	for name, row := range map[string]struct {
		change func(*Incident, *sampler.OOMEvent)
		is     func(*failure) bool
		want   bool
	}{
		"what stays rose by less than a quarter": {kept(100, 100, 100, 100, 1099, 1099), alone, true},
		"by a quarter":                           {kept(100, 100, 100, 100, 1100, 1100), alone, false},
		"emptied too seldom to tell":             {kept(100, 100, 100, 100, 100), alone, false},
		"what stays rose by 5 %":                 {kept(1000, 1160, 1320, 1480, 1640, 1800), stays, false},
		"by more":                                {kept(1000, 1160, 1320, 1480, 1640, 1801), stays, true},
		"by more, five times":                    {kept(1000, 1160, 1320, 1480, 1801), stays, false},
		"five figures that rose by 3 %":          {prints(15000, 1000, 1120, 1240, 1360, 1480), grew, false},
		"five that rose by more":                 {prints(15000, 1000, 1120, 1240, 1360, 1481), grew, true},
		"four":                                   {prints(15000, 1000, 1200, 1400, 1600), grew, false},
		"prints 85 % of what was reserved":       {prints(10000, 1, 1, 1, 1, 8500), allocated, false},
		"prints less":                            {prints(10000, 1, 1, 1, 1, 8499), allocated, true},
		"prints it four times":                   {prints(10000, 1, 1, 1, 8499), allocated, false},
		"two steps of 3 % in the end":            {peaks(1000, 1480, 1960), atEnd, false},
		"two larger ones":                        {peaks(1000, 1481, 1962), atEnd, true},
		"one larger":                             {peaks(1000, 1480, 1961), atEnd, false},
		"the other larger":                       {peaks(1000, 1481, 1961), atEnd, false},
		"one stretch less":                       {peaks(1000, 1481), atEnd, false},
	} {
		if got := row.is(onCard(row.change)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The line that rose unusually just before a refusal, the step that took unusually much, and who keeps a graph.
func TestSnapshotBounds(t *testing.T) {
	const mib = sampler.MiB
	at := func(line int) sampler.TorchSite { return sampler.TorchSite{File: "train.py", Line: line} }
	base := func() *sampler.TorchDevice {
		return &sampler.TorchDevice{Allocated: 1000 * mib, Trace: &sampler.TorchTrace{OOM: &sampler.TorchOOM{Requested: 100 * mib, Site: at(9)},
			Lines: []sampler.TorchLine{{TorchSite: at(1), Cycles: 3, Usual: 100 * mib, Rise: 151 * mib}, {TorchSite: at(2), Cycles: 3, Usual: 10 * mib, Rise: 102 * mib}}}}
	}
	step := func() *sampler.TorchDevice {
		d := base()
		d.Trace.Steps, d.Trace.StepUsual, d.Trace.StepRise = 3, 100*mib, 151*mib
		return d
	}
	for name, row := range map[string]struct {
		d      *sampler.TorchDevice
		change func(d *sampler.TorchDevice, l []sampler.TorchLine)
		want   int // line; 0: none
	}{
		"the one that rose most": {base(), func(*sampler.TorchDevice, []sampler.TorchLine) {}, 1},
		"not half as much more":  {base(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Rise = 150 * mib }, 2},
		"too few rises to tell":  {base(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Cycles = 2 }, 2},
		"nothing is usual":       {base(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Usual = 0 }, 2},
		"a tenth of all": {base(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) {
			l[0].Usual, l[1].Rise = 0, 100*mib
		}, 0},
		"refused before it rose": {base(), func(d *sampler.TorchDevice, l []sampler.TorchLine) {
			l[0] = sampler.TorchLine{TorchSite: at(9), Cycles: 3}
			d.Trace.OOM.Usual, d.Trace.OOM.Requests = 66*mib, 3
			l[1].Cycles = 0
		}, 9},
		"not much larger than before": {base(), func(d *sampler.TorchDevice, l []sampler.TorchLine) {
			l[0] = sampler.TorchLine{TorchSite: at(9), Cycles: 3}
			d.Trace.OOM.Usual, d.Trace.OOM.Requests = 67*mib, 3
			l[1].Cycles = 0
		}, 0},
		"refused elsewhere": {base(), func(d *sampler.TorchDevice, l []sampler.TorchLine) {
			l[0] = sampler.TorchLine{TorchSite: at(8), Cycles: 3}
			d.Trace.OOM.Usual, d.Trace.OOM.Requests = 66*mib, 3
			l[1].Cycles = 0
		}, 0},
		"a step":                       {step(), func(*sampler.TorchDevice, []sampler.TorchLine) {}, 1},
		"a step not half as much more": {step(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Trace.StepRise = 150 * mib }, 0},
		"too few steps to tell":        {step(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Trace.Steps = 2 }, 0},
		"a step of a tenth of all":     {step(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Allocated = 1510 * mib }, 0},
		"a step of more than that":     {step(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Allocated = 1509 * mib }, 1},
		"the optimizer took it":        {step(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Optimizer = true }, 2},
		"what leaks is another matter": {step(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Grown = 1 }, 2},
		"the request is all of it":     {step(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Rise, l[1].Rise = 99*mib, 1 }, 9},
		"the request is as much":       {step(), func(_ *sampler.TorchDevice, l []sampler.TorchLine) { l[0].Rise, l[1].Rise = 100*mib, 1 }, 1},
		"nobody knows where": {step(), func(d *sampler.TorchDevice, l []sampler.TorchLine) {
			d.Trace.Lines, d.Trace.OOM.Site = nil, sampler.TorchSite{}
		}, 0},
		"the step was not refused":         {step(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Trace.OOM = nil }, 0},
		"no history":                       {base(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Trace = nil }, 0},
		"nothing was refused, and it rose": {base(), func(d *sampler.TorchDevice, _ []sampler.TorchLine) { d.Trace.OOM = nil }, 1},
	} {
		f := onCard(func(*Incident, *sampler.OOMEvent) {})
		row.change(row.d, row.d.Trace.Lines)
		f.snapshot = row.d
		l, ok := f.spiking()
		if ok != (row.want > 0) || ok && l.Line != row.want {
			t.Errorf("%s: line %d, %v; want %d", name, l.Line, ok, row.want)
		}
	}
	for name, row := range map[string]struct {
		change func(l *sampler.TorchLine, t *sampler.TorchTrace)
		want   bool
	}{
		"one block each step":    {func(*sampler.TorchLine, *sampler.TorchTrace) {}, true},
		"fewer blocks":           {func(l *sampler.TorchLine, t *sampler.TorchTrace) { l.Blocks, l.Requests, t.Steps = 7, 7, 7 }, false},
		"steps are not known":    {func(_ *sampler.TorchLine, t *sampler.TorchTrace) { t.Steps = 0 }, true},
		"one step more":          {func(_ *sampler.TorchLine, t *sampler.TorchTrace) { t.Steps = 9 }, true},
		"two steps more":         {func(_ *sampler.TorchLine, t *sampler.TorchTrace) { t.Steps = 10 }, false},
		"one step less":          {func(_ *sampler.TorchLine, t *sampler.TorchTrace) { t.Steps = 7 }, true},
		"two steps less":         {func(_ *sampler.TorchLine, t *sampler.TorchTrace) { t.Steps = 6 }, false},
		"some were given back":   {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Requests = 9 }, false},
		"it does not grow":       {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Grown = 0 }, false},
		"small blocks":           {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Live = 8 * mib }, true},
		"larger blocks":          {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Live = 8*mib + 1 }, false},
		"of the model":           {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Module = true }, false},
		"of its forward pass":    {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Function = "forward" }, false},
		"state of the optimizer": {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Optimizer = true }, false},
		"of a validation":        {func(l *sampler.TorchLine, _ *sampler.TorchTrace) { l.Validation = "x" }, false},
		"the first with as many": {func(_ *sampler.TorchLine, t *sampler.TorchTrace) {
			t.Lines = append(t.Lines, t.Lines[0])
			t.Lines[1].Line = 2
		}, true},
		"another one has no more": {func(_ *sampler.TorchLine, t *sampler.TorchTrace) {
			t.Lines = slices.Insert(t.Lines, 0, sampler.TorchLine{})
		}, true},
	} {
		d := &sampler.TorchDevice{Trace: &sampler.TorchTrace{Steps: 8, Lines: []sampler.TorchLine{{TorchSite: at(1), Blocks: 8, Requests: 8, Grown: 1, Live: 8}}}}
		row.change(&d.Trace.Lines[0], d.Trace)
		f := onCard(func(*Incident, *sampler.OOMEvent) {})
		f.snapshot = d
		if l, ok := f.keeper(); ok != row.want || ok && l.Line != 1 {
			t.Errorf("%s: keeps %v, line %d", name, ok, l.Line)
		}
	}
}

// What fills the GPU beside PyTorch is the likely cause where it alone is as much as is missing.
func TestOutsideSure(t *testing.T) {
	i := slices.IndexFunc(causeRows, func(r causeRow) bool { return r.cause == CausePreallocation && r.id == "R2" })
	for outside, want := range map[float64]float64{5000: 0.82, 4999: 0.4} {
		f := onCard(func(_ *Incident, e *sampler.OOMEvent) { e.Requested = mibs(5200) })
		f.outside = mibs(outside)
		f.event.ProcessInUse = mibs(15000)
		if need := f.needed(); need != mibs(5000).Or(0) {
			t.Fatalf("needed %v", need)
		}
		if got := causeRows[i].confidence(f); got != want {
			t.Errorf("%v MiB: %v, want %v", outside, got, want)
		}
	}
}

// A model is spread over GPUs where the log or an option says so.
func TestSpread(t *testing.T) {
	for name, row := range map[string]struct {
		command string
		world   int
		want    bool
	}{"one process": {"python t.py", 1, false}, "two": {"python t.py", 2, true}, "an option": {"vllm serve m --tensor-parallel-size 2", 0, true}, "of one": {"vllm serve m --tp 1", 0, false}} {
		f := onCard(func(in *Incident, e *sampler.OOMEvent) {
			in.Command, e.Context = row.command, &sampler.LogContext{}
			if row.world > 0 {
				e.Context.WorldSize = sampler.Some(row.world)
			}
		})
		if f.spread() != row.want {
			t.Errorf("%s: spread %v", name, !row.want)
		}
	}
}

// Without a failure the verdict says so, and of a snapshot that nothing could be said of it.
func TestVerdictOfNothing(t *testing.T) {
	words := lang.English()
	if v := Explain(Incident{}).Verdict; v.Headline != words.Say("verdict.none") || v.Event != -1 || !strings.Contains(v.Detail, words.Say("verdict.none_detail")) {
		t.Errorf("%+v", v)
	}
	if v := Explain(Incident{Snapshots: []sampler.TorchSnapshot{{}}}).Verdict; v.Headline != words.Say("torch.empty") {
		t.Errorf("%+v", v)
	}
}
