package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// A silent GPU is told after ten seconds, a lost one at once.
func TestFaultBounds(t *testing.T) {
	for _, row := range []struct {
		kind   faultKind
		lasted float64
		want   string
	}{{faultLost, 0, "[critical 0]"}, {faultSilent, 9.9, "[]"}, {faultSilent, 10, "[warning 0]"}, {faultOther, 99, "[]"}, {faultNone, 99, "[]"}} {
		g := &gpu{last: &sampler.GPU{}, fault: fault{kind: row.kind, since: 50}}
		if got := levels(checkLost(&Facts{now: 50 + row.lasted, gpu: g})); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
	g := &gpu{last: &sampler.GPU{Memory: sampler.Memory{Used: sampler.Some(sampler.GiB)}}, fault: fault{kind: faultSilent, since: 50}}
	if got := checkLost(&Facts{now: 70, gpu: g})[0].render(&Facts{words: lang.For("en")}).text; !strings.Contains(got, "only its memory has answered") {
		t.Errorf("of a GPU whose memory is known: %s", got)
	}
	for text, want := range map[string]faultKind{"": faultNone, "x: " + sampler.ErrLost.Error(): faultLost, "GPU has fallen off the bus": faultLost, sampler.ErrNotAnswering.Error() + "!": faultSilent, "no permission": faultOther} {
		if got := faultOf(text); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
	var f fault
	for i, text := range []string{"a", "b", "", "GPU has fallen off the bus"} {
		f.add(&sampler.GPU{Error: sampler.Some(text)}, float64(i))
		if want := []float64{0, 0, 2, 3}[i]; f.since != want || f.text != text {
			t.Errorf("%q since %v", f.text, f.since)
		}
	}
}

// A GPU whose calls hang one after the other is one incident until all are back, with the age that its error tells.
func TestStillSilent(t *testing.T) {
	w, used := New(Options{}), sampler.Some(30*sampler.GiB)
	hangs := func(seconds int, what string) string {
		return fmt.Sprintf("not answering (%d s): a driver call (%s) has not returned", seconds, what)
	}
	for i := range 40 {
		s := snapshotOf(float64(i), 80*1024, 0)
		g := &s.GPUs[0]
		said := ""
		switch {
		case i < 3 || i >= 30:
			g.Memory.Used = used
		case i < 20:
			g.Memory.Used, g.Error = sampler.Opt[sampler.Bytes]{}, sampler.Some(hangs(i, "memory"))
			said = fmt.Sprintf("GPU 0: no answer for %d s; its figures are unknown", i)
		case i < 23:
			g.Memory.Used, g.Error = used, sampler.Some(fmt.Sprintf("out of date (%d s): utilization, power, clocks, temperature", i))
			said = fmt.Sprintf("GPU 0: only its memory has answered for %d s; utilization, power, clocks and processes are unknown", i)
		default:
			g.Memory.Used, g.Error = used, sampler.Some(hangs(i, "metrics and processes"))
			said = fmt.Sprintf("GPU 0: only its memory has answered for %d s; utilization, power, clocks and processes are unknown", i)
		}
		open := w.Add(s)
		if (i < 10 || i > 30) && len(open) > 0 || i > 12 && i < 30 && (len(open) != 1 || open[0].Text != said) {
			t.Errorf("%d s: %v, want %q", i, open, said)
		}
	}
	if past := w.Past(); len(past) != 1 {
		t.Errorf("%d alerts: %v", len(past), past)
	}
	// What is out of date without having hung is read seldom.
	var f fault
	if f.add(&sampler.GPU{Error: sampler.Some("out of date (60 s): process list")}, 100); f.kind != faultOther || f.since != 100 {
		t.Errorf("read seldom: %+v", f)
	}
}

// An Xid is told for ten minutes; one that was there an hour before watching began, or is repeated, is not new.
func TestXIDBounds(t *testing.T) {
	at := time.Unix(100_000, 0)
	look := func(x *xids, now float64, code uint64, before time.Duration) {
		g := sampler.GPU{LastXID: sampler.Some(code)}
		if before >= 0 {
			g.LastXIDTime = sampler.Some(at.Add(-before))
		}
		x.add(&g, at, now)
	}
	for before, want := range map[time.Duration]bool{time.Hour - 1: true, time.Hour: false, -1: true} {
		var x xids
		if look(&x, 0, 79, before); len(x.recent) == 1 != want {
			t.Errorf("%v before: new %v", before, x.recent)
		}
	}
	var x xids
	x.add(&sampler.GPU{}, at, 0)
	look(&x, 5, 79, 2*time.Hour) // it came while somebody looked
	for i, row := range []struct {
		code   uint64
		before time.Duration
		seen   float64
	}{{79, 2 * time.Hour, 5}, {79, -1, 5}, {79, time.Hour, 5}, {79, time.Minute, 13}, {48, time.Minute, 14}} {
		look(&x, float64(10+i), row.code, row.before)
		if n := len(x.recent); n == 0 || x.recent[n-1].seen != row.seen || x.recent[n-1].Code != row.code {
			t.Errorf("look %d: %+v, want it seen at %v", i, x, row.seen)
		}
	}
	for now, want := range map[float64]int{600: 1, 601: 0} {
		if got := checkXID(&Facts{now: now, gpu: &gpu{xids: xids{recent: []seenXID{{XID: sampler.XID{Code: 79}}}}}}); len(got) != want {
			t.Errorf("%v s later: %v", now, got)
		}
	}
}

// Errors that come together, or while another one is told, are alerts of their own, and the first one stays.
func TestXIDsTogether(t *testing.T) {
	var x xids
	at := time.Unix(100_000, 0)
	x.add(&sampler.GPU{}, at, 0)
	x.add(&sampler.GPU{LastXID: sampler.Some(uint64(43)), XIDs: []sampler.XID{{Code: 31}, {Code: 43}}}, at, 1)
	x.add(&sampler.GPU{LastXID: sampler.Some(uint64(43))}, at, 2)
	x.add(&sampler.GPU{LastXID: sampler.Some(uint64(48))}, at, 300)
	for now, want := range map[float64]string{300: "[warning 31 warning 43 critical 48]", 700: "[critical 48]"} {
		if got := levels(checkXID(&Facts{now: now, gpu: &gpu{xids: x}})); got != want {
			t.Errorf("%v s: %s, want %s", now, got, want)
		}
	}
	for i := range 3 * maxXIDCodes {
		x.add(&sampler.GPU{LastXID: sampler.Some(uint64(1000 + i))}, at, 301)
	}
	if len(x.recent) > maxXIDCodes {
		t.Errorf("%d are kept", len(x.recent))
	}
}

// A failure is told for ten minutes, on its own GPU or, where that is not known, of the machine.
func TestFailureBounds(t *testing.T) {
	here, there := &gpu{key: sampler.GPUKey{ID: "a"}}, &gpu{key: sampler.GPUKey{ID: "b"}}
	for _, row := range []struct {
		o    failure
		gpu  *gpu
		now  float64
		want string
	}{
		{failure{placed: true, gpu: here.key}, here, 600, "[critical 0]"}, {failure{placed: true, gpu: here.key}, here, 601, "[]"},
		{failure{placed: true, gpu: here.key}, there, 1, "[]"}, {failure{placed: true, gpu: here.key}, nil, 1, "[]"},
		{failure{}, here, 1, "[]"}, {failure{}, nil, 1, "[critical 0]"},
		{failure{event: sampler.OOMEvent{Recovered: true, Line: 7}}, nil, 1, "[notice 7]"},
	} {
		if got := levels(reportedFailures(&Facts{now: row.now, gpu: row.gpu, failures: []failure{row.o}})); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
	g := &gpu{procs: []*proc{{refused: 100}, {refused: nan}}}
	for now, want := range map[float64]string{700: "[warning -1]", 701: "[]"} {
		if got := levels(checkOOM(&Facts{now: now, gpu: g})); got != want {
			t.Errorf("counted %v s ago: %s", now-100, got)
		}
	}
}

// A failure is told with its place, and of host memory as one of that.
func TestFailureWords(t *testing.T) {
	words := lang.English()
	for kind, want := range map[string]string{sampler.MemoryHost: "alert.oom.host", sampler.MemoryGPU: "alert.oom", "": "alert.oom"} {
		got := renderFailure(&Facts{words: words}, &failure{event: sampler.OOMEvent{MemoryKind: kind}})
		if got.text != words.Say(want) || len(got.evidence) != 0 {
			t.Errorf("%q: %q, %q", kind, got.text, got.evidence)
		}
	}
	got := renderFailure(&Facts{words: words, gpu: &gpu{last: &sampler.GPU{Index: 3}}}, &failure{event: sampler.OOMEvent{Line: 1}})
	if got.text != words.Say("alert.oom.gpu", "gpu", 3) || len(got.evidence) != 1 {
		t.Errorf("%q, %q", got.text, got.evidence)
	}
}

// Processes that ended at their peak with the GPU full are told for ten minutes, those of one command within an hour together.
func TestEndingBounds(t *testing.T) {
	g := &gpu{ends: []ending{{command: "a", at: 0}, {command: "b", at: 3000}, {user: "x", command: "a", at: 3100}, {command: "a", at: 3200}}}
	for now, want := range map[float64]string{3600: "[warning -2]", 3601: "[notice -2]", 3800: "[notice -2]", 3801: "[]"} {
		if got := levels(checkOOM(&Facts{now: now, gpu: g})); got != want {
			t.Errorf("at %v: %s, want %s", now, got, want)
		}
	}
	if _, n := g.endings(3600, func(float64) bool { return false }); n != 2 {
		t.Errorf("%d endings", n)
	}
}

// What the log has printed of a GPU is not guessed once more when the process is gone.
func TestEndingThatWasPrinted(t *testing.T) {
	key := sampler.GPUKey{ID: "a"}
	for name, row := range map[string]struct {
		failure failure
		want    string
	}{
		"by the log":          {failure{event: sampler.OOMEvent{Line: 7}, placed: true, gpu: key, at: 94}, "[critical 7]"},
		"it went on":          {failure{event: sampler.OOMEvent{Line: 7, Recovered: true}, placed: true, gpu: key, at: 94}, "[notice 7 notice -2]"},
		"of another GPU":      {failure{event: sampler.OOMEvent{Line: 7}, placed: true, gpu: sampler.GPUKey{ID: "b"}, at: 94}, "[notice -2]"},
		"of a rank":           {failure{event: sampler.OOMEvent{Line: 7, Rank: sampler.Some(0)}, placed: true, gpu: sampler.GPUKey{ID: "b"}, at: 94}, "[]"},
		"of a rank earlier":   {failure{event: sampler.OOMEvent{Line: 7, Rank: sampler.Some(0)}, placed: true, gpu: sampler.GPUKey{ID: "b"}, at: 89}, "[notice -2]"},
		"of none":             {failure{event: sampler.OOMEvent{Line: 7}, at: 94}, "[notice -2]"},
		"of long before that": {failure{event: sampler.OOMEvent{Line: 7}, placed: true, gpu: key, at: 30}, "[critical 7 notice -2]"},
	} {
		g := &gpu{key: key, ends: []ending{{command: "a", at: 100}}}
		if got := levels(checkOOM(&Facts{now: 105, gpu: g, failures: []failure{row.failure}})); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// What a process was refused that died of it is no need; what another one was is.
func TestDiedOfWhatItWasRefused(t *testing.T) {
	key := sampler.GPUKey{ID: "a"}
	f := &Facts{now: 100, gpu: &gpu{key: key}, failures: []failure{{event: sampler.OOMEvent{Line: 7}, placed: true, gpu: key, at: 90, pid: 7}}}
	for pid, want := range map[int]bool{7: true, 0: true, 8: false} {
		if got := f.died(pid); got != want {
			t.Errorf("process %d: %v", pid, got)
		}
	}
	if f.failures[0].event.Recovered = true; f.died(7) {
		t.Error("it went on")
	}
}

// Who ends at its peak with the GPU full has died of it, for all that is known, unless it ends well, which its last row tells even where nothing was seen
// of what it asked for.
func TestEndingWithAStatus(t *testing.T) {
	for name, row := range map[string]struct {
		exit sampler.Opt[int]
		want bool
	}{"not known": {sampler.Opt[int]{}, true}, "0": {sampler.Some(0), false}, "1": {sampler.Some(1), true}} {
		w := New(Options{})
		told := false
		for i := range 160 {
			p := processOf(7, "python train.py", 20000+min(3900, 40*float64(i)))
			s := snapshotOf(float64(i), 24000, 20050+min(3900, 40*float64(i)), p)
			switch {
			case i == 99:
				s.GPUs[0].Processes[0].Requests = &sampler.Requests{ExitStatus: row.exit}
			case i > 99:
				s = snapshotOf(float64(i), 24000, 50)
			}
			for _, a := range w.Add(s) {
				told = told || a.Kind == sampler.AlertOOM
			}
		}
		if told != row.want {
			t.Errorf("exit status %s: told %v", name, told)
		}
	}
}

// A lost GPU stays lost while the driver is away: nothing is known of it then, and its alert is not raised again after.
func TestLostWhileTheDriverIsAway(t *testing.T) {
	w := New(Options{})
	lost, gone := sampler.ErrLost.Error(), sampler.ErrReconnect.Error()+": uninitialized"
	var began []time.Time
	for i, text := range []string{lost, lost, lost, lost, gone, gone, gone, gone, gone, lost, lost, lost} {
		s := snapshotOf(float64(i), 40000, 0)
		s.GPUs[0].Error, s.GPUs[0].Memory = sampler.Some(text), sampler.Memory{}
		open := w.Add(s)
		if i < 3 {
			continue
		}
		if len(open) != 1 || open[0].Kind != sampler.AlertGPULost {
			t.Fatalf("%d, %q: %+v", i, text, open)
		}
		if began = append(began, open[0].Time); !open[0].Time.Equal(began[0]) {
			t.Errorf("at %d it is raised again", i)
		}
	}
}

// What the driver says of a GPU stands whole with how long it has, and so does what to do about it.
func TestFaultIsToldWhole(t *testing.T) {
	en := lang.English()
	zh := lang.For("zh")
	hangs := "not answering (12 s): a driver call (metrics and processes) has not returned"
	for _, row := range []struct {
		words lang.Catalog
		kind  faultKind
		text  string
		want  []string
	}{
		{en, faultLost, "GPU is lost: memory (GPU_IS_LOST)", []string{"the driver has said for 3 s: GPU is lost: memory (GPU_IS_LOST)"}},
		{en, faultLost, "GPU is lost: memory (GPU_IS_LOST); " + sampler.RemedyLog, []string{"the driver has said for 3 s: GPU is lost: memory (GPU_IS_LOST)", "sudo dmesg | grep -i nvrm may say why"}},
		{zh, faultLost, "GPU is lost: memory (GPU_IS_LOST); " + sampler.RemedyLog, []string{"驱动已持续 3 秒报告：GPU is lost: memory (GPU_IS_LOST)", zh.Say("remedy.log")}},
		{en, faultSilent, hangs, []string{"the driver says: " + hangs}},
	} {
		g := &gpu{last: &sampler.GPU{}, fault: fault{kind: row.kind, text: row.text, since: 50}}
		lasted := 3.0
		if row.kind == faultSilent {
			lasted = 12
		}
		found := checkLost(&Facts{now: 50 + lasted, gpu: g})
		if got := found[0].render(&Facts{words: row.words}).evidence; !slices.Equal(got, row.want) {
			t.Errorf("%q: %q, want %q", row.text, got, row.want)
		}
	}
}
