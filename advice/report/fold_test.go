package report

import (
	"maps"
	"slices"
	"testing"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// The Watch hears a mark with the first snapshot that is not before it; one without a time stops none behind it.
func TestMarksAreTold(t *testing.T) {
	r := New(Options{})
	mark := func(second float64) sampler.LogMark {
		return sampler.LogMark{Kind: sampler.MarkEpoch, Time: sampler.Some(time.Unix(1000, 0).Add(seconds(second)))}
	}
	r.Marks([]sampler.LogMark{{Kind: sampler.MarkEpoch}, mark(1), mark(2), mark(2.001)})
	for second, want := range []int{1, 2, 3, 4} {
		if r.Snapshot(card(float64(second), 48*gibs, gibs)); r.told != want {
			t.Errorf("at %d s: %d marks told, want %d", second, r.told, want)
		}
	}
}

// Without a snapshot nothing has a place on the timeline: marks are no phases, readings no memory, and a failure has no incident.
func TestNothingBeforeTheFirstSnapshot(t *testing.T) {
	r := New(Options{})
	r.Marks([]sampler.LogMark{{Kind: sampler.MarkEpoch, Time: sampler.Some(time.Time{})}})
	r.Reading((&sampler.GPU{UUID: "a"}).Key(), time.Unix(1000, 0), gibs)
	r.OOM(sampler.OOMEvent{Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU}, time.Unix(1000, 0), "log")
	if in := r.fails[0].incident; in.History != nil || len(in.Events) != 0 {
		t.Errorf("an incident %+v", in)
	}
	if out := r.Report(); len(out.Phases) != 0 || len(out.GPUs) != 0 {
		t.Errorf("phases %v, GPUs %v", out.Phases, out.GPUs)
	}
}

// What a hostile recording makes many of is kept up to a bound.
func TestKeptUpToABound(t *testing.T) {
	r := New(Options{Outline: true})
	s := card(0, 48*gibs, gibs)
	for pid := range 4*maxReportProcesses + 2 {
		s.GPUs[0].Processes = append(s.GPUs[0].Processes, job(pid+1, mibs))
	}
	r.Snapshot(s)
	for range maxReportEvents + 2 {
		r.Event(Event{Kind: "gap", Time: s.Time})
		r.OOM(sampler.OOMEvent{}, s.Time, "log")
	}
	if len(r.procs) != 4*maxReportProcesses || len(r.events) != maxReportEvents || len(r.fails) != maxReportEvents {
		t.Errorf("%d processes, %d events, %d failures", len(r.procs), len(r.events), len(r.fails))
	}
	for i := range maxExits + 2 {
		r.addExit(r.gpus[0], job(i+1, gibs), 0)
	}
	for i := range maxReportEvents + 2 {
		r.Marks([]sampler.LogMark{{Kind: sampler.MarkEpoch, N: sampler.Some(i), Time: sampler.Some(s.Time)}})
	}
	if out := r.Report(); len(r.exits) != maxExits || len(out.Phases) != maxReportEvents {
		t.Errorf("%d exits, %d phases", len(r.exits), len(out.Phases))
	}
	for second := range maxSteps + 3 {
		r.Snapshot(card(float64(second+1), 48*gibs, gibs))
	}
	if len(r.steps) != maxSteps {
		t.Errorf("%d steps, want %d", len(r.steps), maxSteps)
	}
}

// A reading counts up to all that its GPU has, and any where that is not known, up to what no GPU has.
func TestReadingsThatCanBe(t *testing.T) {
	for name, row := range map[string]struct {
		total, used, peak sampler.Bytes
	}{
		"all of it":           {48 * gibs, 48 * gibs, 48 * gibs},
		"more":                {48 * gibs, 48*gibs + 1, gibs},
		"of an unknown total": {0, 99 * gibs, 99 * gibs},
		"what can just be":    {0, sampler.MaxPlausible - gibs, sampler.MaxPlausible - gibs},
		"what cannot be":      {0, sampler.MaxPlausible, gibs},
	} {
		r := New(Options{Outline: true})
		s := card(0, 48*gibs, gibs)
		if row.total == 0 {
			s.GPUs[0].Memory = sampler.Memory{Used: sampler.Some(gibs)}
		}
		r.Snapshot(s)
		r.Reading(s.GPUs[0].Key(), s.Time.Add(time.Second/2), row.used)
		if p := r.gpus[0].peak; p == nil || p.Bytes != row.peak {
			t.Errorf("%s: the peak is %+v, want %v", name, p, row.peak)
		}
	}
}

// The need of who recorded holds unless the report was given one; an outline needs none.
func TestNeedOfTheRecording(t *testing.T) {
	alerted := func(own, recorded sampler.Opt[sampler.Bytes]) bool {
		r := New(Options{Need: own})
		r.SetNeed(recorded)
		for second := range 60 {
			r.Snapshot(card(float64(second), 48*gibs, 40*gibs, job(7, 39*gibs)))
		}
		return slices.ContainsFunc(r.Report().Alerts, func(a sampler.Alert) bool { return a.Kind == sampler.AlertNeed })
	}
	none, small, large := sampler.Opt[sampler.Bytes]{}, sampler.Some(gibs), sampler.Some(20*gibs)
	for name, row := range map[string]struct {
		own, recorded sampler.Opt[sampler.Bytes]
		want          bool
	}{
		"none": {none, none, false}, "recorded": {none, large, true}, "recorded, and met": {none, small, false}, "given": {large, small, true}, "given, and met": {small, large, false},
	} {
		if got := alerted(row.own, row.recorded); got != row.want {
			t.Errorf("%s: alerted %v", name, got)
		}
	}
	New(Options{Outline: true}).SetNeed(large)
}

// A failure takes the incident of the exit near it where its own tells no process, unless that tells none either.
func TestFindIncidents(t *testing.T) {
	of := func(held sampler.Opt[sampler.Bytes], name string) explain.Incident {
		return explain.Incident{GPUName: name, History: &explain.History{Process: held}}
	}
	unknown := sampler.Opt[sampler.Bytes]{}
	own, exited := of(unknown, "own"), of(unknown, "exit")
	known, told := of(sampler.Some(gibs), "exit"), of(sampler.Some(gibs), "own")
	for name, row := range map[string]struct {
		own, exit explain.Incident
		kind      string
		want      string
	}{
		"nothing known, and no process":     {explain.Incident{}, exited, "", "exit"},
		"nothing known, and a process":      {explain.Incident{}, known, "", "exit"},
		"no process of either":              {own, exited, "", "own"},
		"a process of the exit":             {own, known, "", "exit"},
		"a process of its own":              {told, known, "", "own"},
		"nothing of the exit":               {own, explain.Incident{}, "", "own"},
		"of host memory":                    {own, known, sampler.MemoryHost, "own"},
		"of host memory, and nothing known": {explain.Incident{}, known, sampler.MemoryHost, ""},
	} {
		r := New(Options{Outline: true})
		r.fails = []failed{{t: 10, event: sampler.OOMEvent{MemoryKind: row.kind}, incident: row.own}}
		r.exits = []exit{{Exit: Exit{T: 10, PID: 1}, incident: row.exit}}
		if r.findIncidents(); r.fails[0].incident.GPUName != row.want {
			t.Errorf("%s: the incident is of %q, want %q", name, r.fails[0].incident.GPUName, row.want)
		}
	}
}

// What is known already stays; what is not is recalled, of the failures that were told first where they tell it.
func TestRecallKeepsWhatIsKnown(t *testing.T) {
	recorded := explain.Incident{Command: "python a.py", Environment: map[string]string{"A": "1"}, GPUName: "H200", ComputeCapability: "9.0", History: &explain.History{}}
	known := explain.Incident{Command: "python b.py", Environment: map[string]string{"B": "1"}, GPUName: "A100", ComputeCapability: "8.0"}
	for name, row := range map[string]struct {
		in, want explain.Incident
	}{"nothing": {explain.Incident{}, recorded}, "all": {known, known}} {
		r := New(Options{Outline: true})
		r.fails = []failed{{incident: recorded}}
		got := r.Recall(row.in)
		if got.Command != row.want.Command || !maps.Equal(got.Environment, row.want.Environment) || got.GPUName != row.want.GPUName || got.ComputeCapability != row.want.ComputeCapability {
			t.Errorf("%s known: %q %v %q %q", name, got.Command, got.Environment, got.GPUName, got.ComputeCapability)
		}
		if len(got.Events) != 1 || len(got.Histories) != 1 || got.Histories[0] != recorded.History {
			t.Errorf("%s known: %d events, histories %v", name, len(got.Events), got.Histories)
		}
	}
	r := New(Options{Outline: true})
	r.fails = []failed{{event: sampler.OOMEvent{Text: "a"}, incident: recorded}}
	if got := r.Recall(explain.Incident{Events: []sampler.OOMEvent{{Text: "a"}, {Text: "b"}}}).Histories; got[0] == nil || got[1] != nil {
		t.Errorf("of a failure that was told, and one that was not: %v", got)
	}
}

// The year 1970 is that of logs without times; 1971 is a time.
func TestMomentKnown(t *testing.T) {
	turn := time.Date(1971, 1, 1, 0, 0, 0, 0, time.Local)
	for at, want := range map[time.Time]bool{turn: true, turn.Add(-1): false} {
		m := Moment{at}
		text, err := m.MarshalJSON()
		if m.Known() != want || err != nil || (string(text) == "null") == want {
			t.Errorf("%v: known %v, %s, %v", at, m.Known(), text, err)
		}
	}
}

// An alert of one GPU tells of a failure that may have been on any; one of no GPU of every failure.
func TestOpenAtUnplaced(t *testing.T) {
	r := holding([]int{10}, []int{20})
	r.alerts = []sampler.Alert{{T: 1, GPU: sampler.Some(1), Level: sampler.LevelWarning}, {T: 1, Level: sampler.LevelWarning}}
	for name, row := range map[string]struct {
		gpu  sampler.Opt[int]
		want int
	}{"on either": {sampler.Opt[int]{}, 2}, "on that GPU": {sampler.Some(1), 2}, "on the other": {sampler.Some(0), 1}} {
		if got := len(r.openAt(failed{t: 1000, gpu: row.gpu})); got != row.want {
			t.Errorf("%s: %d alerts, want %d", name, got, row.want)
		}
	}
}

// What was used before a gap did not last through it, and what is not known counts for nothing.
// What the readings between snapshots say of how long a spike lasted counts, whether or not a snapshot fell into it.
func TestMeanOfReadings(t *testing.T) {
	r := New(Options{})
	for i := range 40 {
		s := card(float64(i), 80*gibs, 10*gibs)
		r.Snapshot(s)
		if i%4 == 0 {
			r.Reading(s.GPUs[0].Key(), s.Time.Add(500*time.Millisecond), 30*gibs)
			r.Reading(s.GPUs[0].Key(), s.Time.Add(600*time.Millisecond), 10*gibs)
		}
	}
	if got := r.Report().GPUs[0].Mean.Or(0).GiB(); got < 10.49 || got > 10.51 {
		t.Errorf("10 GiB, and 30 for 0.1 of 4 s: mean %v GiB", got)
	}
}

func TestMeanAroundGaps(t *testing.T) {
	r := New(Options{Outline: true})
	for _, row := range []struct {
		second float64
		used   sampler.Bytes
	}{{0, 10 * gibs}, {1, 45 * gibs}, {3600, 20 * gibs}, {3601, sampler.MaxPlausible}, {3602, 40 * gibs}, {3603, 50 * gibs}} {
		s := card(row.second, 80*gibs, row.used)
		s.GPUs[0].Memory.Free = sampler.Opt[sampler.Bytes]{} // less than nothing where what is used cannot be
		r.Snapshot(s)
	}
	if got := r.Report().GPUs[0].Mean; got != sampler.Some(30*gibs) { // 10, 20, 40 and 50, a second each
		t.Errorf("mean %v", got)
	}
	if got := r.gpus[0].jobSeconds; got != 3 {
		t.Errorf("counted %v s", got)
	}
}

// Where nobody tells what is free, nobody knows how full the GPU was when a job ended.
func TestExitOfUnknownFree(t *testing.T) {
	for free, want := range map[bool]float64{true: 0.5, false: 0} {
		r := New(Options{Outline: true})
		for second, used := range []sampler.Bytes{20 * gibs, gibs} {
			s := card(float64(second), 40*gibs, used, []sampler.Process{job(1, 19*gibs)}[:1-second]...)
			if !free {
				s.GPUs[0].Memory = sampler.Memory{Used: sampler.Some(used)}
			}
			r.Snapshot(s)
		}
		if list := r.Exits(); len(list) != 1 || list[0].Full != want {
			t.Errorf("free told %v: %+v", free, list)
		}
	}
}

// An end without a message is half as sure a failure as one that a message tells of, with the same causes.
func TestEndIsHalfAsSure(t *testing.T) {
	x := exit{Exit: Exit{PID: 7, Full: 0.97}, rose: true, process: sampler.Process{PID: 7}}
	told := explain.Explain(explain.Incident{Events: []sampler.OOMEvent{{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Framework: "pytorch", PID: sampler.Some(7)}}})
	r := New(Options{Outline: true})
	var out Report
	r.fromExit(&out, &x)
	if len(told.Causes) == 0 || len(out.Causes) != len(told.Causes) {
		t.Fatalf("%d causes, a message has %d", len(out.Causes), len(told.Causes))
	}
	for i, c := range out.Causes {
		if want := told.Causes[i]; c.ID != want.ID || c.Confidence != want.Confidence/2 || len(c.Evidence) != 1+len(want.Evidence) || c.Evidence[0] != out.Headline {
			t.Errorf("cause %d: %+v, a message has %+v", i, c, want)
		}
	}
}

// A process of number 0 is one that nobody has listed.
func TestPIDOf(t *testing.T) {
	for pid, known := range map[int]bool{0: false, 1: true, 7: true} {
		if n, ok := pidOf(sampler.Process{PID: pid}).Value(); ok != known || n != pid {
			t.Errorf("%d: %d, known %v", pid, n, ok)
		}
	}
}
