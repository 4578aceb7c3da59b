package watch

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

func TestGPUList(t *testing.T) {
	for want, indices := range map[string][]int{"": nil, "2": {2}, "0, 1": {0, 1}, "0–3": {0, 1, 2, 3}, "0, 2, 5": {0, 2, 5}, "0–3, 6": {0, 1, 2, 3, 6}} {
		if got := GPUList(indices); got != want {
			t.Errorf("%v: %q, want %q", indices, got, want)
		}
	}
}

// alertOn is a need that is short on a GPU.
func alertOn(gpu int, free float64) sampler.Alert {
	short := 15.8 - free
	return sampler.Alert{GPU: sampler.Some(gpu), Key: sampler.GPUKey{ID: string(rune('a' + gpu))}, Kind: sampler.AlertNeed, Level: sampler.LevelWarning, T: float64(gpu),
		Text:    lang.English().Say("alert.need_does_not_fit", "gpu", gpu, "need", 158*sampler.GiB/10, "free", sampler.Bytes(free*(1<<30)), "short", sampler.Bytes(short*(1<<30))),
		Numbers: map[string]float64{"need_bytes": 15.8 * (1 << 30), "worst_free_bytes": free * (1 << 30), "short_bytes": short * (1 << 30)},
		Advice:  []sampler.Advice{{ID: "shrink_validation_batch"}}}
}

// The same finding on several GPUs is one line with the figures of the worst; what differs is not joined.
func TestGroups(t *testing.T) {
	change := func(a sampler.Alert, by func(*sampler.Alert)) sampler.Alert { by(&a); return a }
	four := []sampler.Alert{alertOn(0, 1), alertOn(2, 1.3), alertOn(3, 0.2), alertOn(1, 0.4)}
	other := sampler.Alert{Kind: sampler.AlertHostMemory, Level: sampler.LevelWarning, Text: "host: 1 GiB"}
	for _, row := range []struct {
		name   string
		alerts []sampler.Alert
		want   []string // beginnings
	}{
		{"one", four[:1], []string{"GPU 0: 15.8 GiB won't fit: only 1.0 GiB free"}},
		{"four and the host", append([]sampler.Alert{other}, four...), []string{"host: 1 GiB", "GPUs 0–3: 15.8 GiB won't fit: only 204.8 MiB free at the last peak (15.6 GiB short); figures of GPU 3, the worst"}},
		{"other figures", []sampler.Alert{alertOn(0, 1), alertOn(1, 9)}, []string{"GPU 0: ", "GPU 1: "}},
		{"another level", []sampler.Alert{alertOn(0, 1), change(alertOn(1, 1), func(a *sampler.Alert) { a.Level = sampler.LevelCritical })}, []string{"GPU 0: ", "GPU 1: "}},
		{"another fix", []sampler.Alert{alertOn(0, 1), change(alertOn(1, 1), func(a *sampler.Alert) { a.Advice = []sampler.Advice{{ID: "fix_leak"}} })}, []string{"GPU 0: ", "GPU 1: "}},
		{"other processes to stop", []sampler.Alert{
			change(alertOn(0, 1), func(a *sampler.Alert) { a.Advice = []sampler.Advice{{ID: "stop_other_process", PID: sampler.Some(1)}} }),
			change(alertOn(1, 1), func(a *sampler.Alert) { a.Advice = []sampler.Advice{{ID: "stop_other_process", PID: sampler.Some(2)}} }),
		}, []string{"GPU 0: ", "GPU 1: "}},
		{"another job", []sampler.Alert{alertOn(0, 1), change(alertOn(1, 1), func(a *sampler.Alert) { a.Job = "erin python" })}, []string{"GPU 0: ", "GPU 1: "}},
		{"another host", []sampler.Alert{alertOn(0, 1), change(alertOn(1, 1), func(a *sampler.Alert) { a.Key.Host = "box8" })}, []string{"GPU 0: ", "GPU 1: "}},
		{"instances of one GPU", []sampler.Alert{alertOn(0, 1), change(alertOn(0, 1), func(a *sampler.Alert) { a.Key.ID = "MIG-b" })}, []string{"GPU 0: ", "GPU 0: "}},
		{"no figures", []sampler.Alert{
			{GPU: sampler.Some(0), Kind: sampler.AlertXID, Text: "GPU 0: Xid 79: gone", Numbers: map[string]float64{"xid": 79}},
			{GPU: sampler.Some(2), Kind: sampler.AlertXID, Text: "GPU 2: Xid 79: gone", Numbers: map[string]float64{"xid": 79}},
			{GPU: sampler.Some(3), Kind: sampler.AlertXID, Text: "GPU 3: Xid 31: fault", Numbers: map[string]float64{"xid": 31}},
		}, []string{"GPUs 0, 2: Xid 79: gone", "GPU 3: Xid 31"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			groups := Groups(row.alerts, lang.English())
			if len(groups) != len(row.want) {
				t.Fatalf("%d groups: %+v", len(groups), groups)
			}
			for i, g := range groups {
				if !strings.HasPrefix(g.Text, row.want[i]) {
					t.Errorf("%q, want %q", g.Text, row.want[i])
				}
			}
		})
	}
}

// Past alerts are one line only where they were raised together, from the first to the last of them.
func TestPastGroups(t *testing.T) {
	list := []sampler.Alert{alertOn(0, 1), alertOn(1, 1), alertOn(2, 1)}
	list[0].End, list[1].End, list[2].T = sampler.Some(50.0), sampler.Some(80.0), 900
	groups := PastGroups(list, lang.English())
	if len(groups) != 2 || groups[0].GPUs != "0, 1" || groups[0].T != 0 || groups[0].End.Or(0) != 80 || groups[1].End.Known() {
		t.Errorf("%+v", groups)
	}
}

// What is said of one GPU can be said of several in every language: it begins as alert.at_gpu does.
func TestAlertsBeginAlike(t *testing.T) {
	for _, code := range []string{"en", "zh"} {
		words := lang.For(code)
		at := words.Say("alert.at_gpu")
		for _, r := range []string{"gpu_lost", "gpu_lost.silent", "oom.gpu", "oom.counted", "oom.counted_size", "oom.counted_free", "oom.ended", "oom.ended_times", "repeat_spike", "repeat_spike.later",
			"steps", "flush.near", "flush.near_times", "need_does_not_fit", "neighbor", "growth", "flush", "flush.rising", "flush.retries", "imbalance",
			"unattributed", "unattributed.left", "xid"} {
			if text := words.Say("alert." + r); !strings.HasPrefix(text, at) {
				t.Errorf("%s: %s: %q", code, r, text)
			}
		}
	}
}

// The ranks of a job are one line as long as its alerts are open: the figures of one are some seconds older than those of
// another, and the line does not split and join again.
func TestLinesHold(t *testing.T) {
	for name, lines := range map[string][]string{"eight": {"0–3", "4, 5", "6"}, "sixtyfour": {"44–55", "55", "56–63"}} {
		w := New(typedNeed)
		shots := demoOf(t, name, 8*time.Minute)
		for _, s := range shots {
			groups := Groups(w.Add(*s), lang.English())
			if s.Time.Sub(shots[0].Time) < 4*time.Minute { // validation has come first on each
				continue
			}
			for _, g := range groups {
				if !slices.Contains(lines, g.GPUs) {
					t.Fatalf("%s, %v: %q of %d lines: %s", name, s.Time, g.GPUs, len(groups), g.Text)
				}
			}
		}
	}
}

// An alert names the MIG instance that it is about as tables do, in text and for programs, and each instance has its line: those of two GPUs
// are not "GPUs 0, 1".
func TestAlertsNameInstances(t *testing.T) {
	w := New(Options{Need: sampler.Some(50 * sampler.GiB)})
	var open []sampler.Alert
	for i := range 70 {
		s := migBox(float64(i), 14, 30, 30, 33)
		other := s.GPUs[1]
		other.Index, other.UUID, other.MIG = 2, "MIG-c", &sampler.MIG{ParentUUID: "GPU-c"}
		s.GPUs = append(s.GPUs, other)
		open = w.Add(s)
	}
	groups := Groups(open, lang.English())
	if len(groups) != 4 {
		t.Fatalf("%d lines: %+v", len(groups), groups)
	}
	for i, row := range []struct{ label, uuid, instance string }{{"0:0", "MIG-a", `{"index":0,`}, {"0:1", "MIG-b", `{"index":1,`}, {"1", "GPU-b", "null"}, {"2:0", "MIG-c", `{"index":0,`}} {
		g := groups[i]
		if !strings.HasPrefix(g.Text, "GPU "+row.label+": ") || g.GPUs != row.label || g.Label() != row.label {
			t.Errorf("%q of %q, want %q", g.Text, g.GPUs, row.label)
		}
		line, err := json.Marshal(g.Alert)
		if err != nil || !strings.Contains(string(line), `"uuid":"`+row.uuid+`"`) || !strings.Contains(string(line), `"mig":`+row.instance) || !strings.Contains(string(line), `"gpu":`+row.label[:1]+",") {
			t.Errorf("%v %s", err, line)
		}
	}
}
