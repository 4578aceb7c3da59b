package report

import (
	"fmt"
	"slices"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

func alert(level, kind, text string, advice ...string) sampler.Alert {
	a := sampler.Alert{Level: level, Kind: kind, Text: text}
	for _, id := range advice {
		a.Advice = append(a.Advice, sampler.Advice{ID: id})
	}
	return a
}

func texts(list []sampler.Alert) (all []string) {
	for _, a := range list {
		all = append(all, a.Text)
	}
	return all
}

// The warnings of a run that did not fail are those still open, else all; a notice is none.
func TestLasting(t *testing.T) {
	over := func(a sampler.Alert) sampler.Alert {
		a.End = sampler.Some(5.0)
		return a
	}
	notice, one, two := alert(sampler.LevelNotice, sampler.AlertGrowth, "n"), alert(sampler.LevelWarning, sampler.AlertGrowth, "1"), alert(sampler.LevelCritical, sampler.AlertGrowth, "2")
	for _, row := range []struct{ alerts, want []sampler.Alert }{
		{[]sampler.Alert{notice, over(one), two}, []sampler.Alert{two}},
		{[]sampler.Alert{notice, over(one), over(two)}, []sampler.Alert{one, two}},
		{[]sampler.Alert{notice}, nil},
	} {
		r := New(Options{Outline: true})
		r.alerts = row.alerts
		if got := texts(r.lasting()); !slices.Equal(got, texts(row.want)) {
			t.Errorf("%v, want %v", got, texts(row.want))
		}
	}
}

// The warnings beside the end of a job are those of its GPU and of the machine.
func TestWarningsOfGPU(t *testing.T) {
	r := holding([]int{1}, []int{1})
	list := []sampler.Alert{alert(sampler.LevelWarning, "", "machine"), alert(sampler.LevelWarning, "", "0"), alert(sampler.LevelWarning, "", "1"), alert(sampler.LevelNotice, "", "notice of 1")}
	for i := 1; i < 4; i++ {
		list[i].GPU = sampler.Some(min(i-1, 1))
	}
	for gpu, want := range []string{"[machine 0]", "[machine 1]"} {
		if got := fmt.Sprint(texts(r.warnings(list, &r.gpus[gpu].key))); got != want {
			t.Errorf("GPU %d: %v", gpu, got)
		}
	}
	if got := fmt.Sprint(texts(r.warnings(list, nil))); got != "[machine 0 1]" {
		t.Errorf("without a GPU: %v", got)
	}
}

// The end of a job on a full GPU after a rise is told as one that may have failed, unless its program takes
// all there is; the warnings that were open then come first.
func TestConcludeExit(t *testing.T) {
	leak := []sampler.Alert{alert(sampler.LevelWarning, sampler.AlertGrowth, "it grows")}
	if len(explain.AlertCauses(leak)) == 0 {
		t.Fatal("growth is no cause")
	}
	suspect := exit{Exit: Exit{PID: 7, Full: 0.97}, rose: true, process: sampler.Process{PID: 7}}
	for name, row := range map[string]struct {
		change func(*exit)
		want   string
	}{
		"full after a rise":    {func(*exit) {}, "ended"},
		"less":                 {func(x *exit) { x.Full = 0.969 }, ""},
		"without a rise":       {func(x *exit) { x.rose = false }, ""},
		"takes all at once":    {func(x *exit) { x.process.Framework = sampler.Some("jax") }, ""},
		"with a warning":       {func(x *exit) { x.open = leak }, "it grows"},
		"with one of no cause": {func(x *exit) { x.open = []sampler.Alert{alert(sampler.LevelWarning, "no such kind", "x")} }, "ended"},
	} {
		r := New(Options{Outline: true})
		x := suspect
		row.change(&x)
		r.exits = []exit{x}
		var out Report
		want := row.want
		if want == "ended" {
			want = r.words.Say("report.ended", "gpu", 0, "who", r.words.Say("report.pid", "pid", 7), "percent", 97)
		}
		if r.conclude(&out); out.Headline != want {
			t.Errorf("%s: %q, want %q", name, out.Headline, want)
		}
	}
}

// A run of warnings is headed by that of its surest cause; up to eight pieces of advice are told once each.
func TestConcludeAlerts(t *testing.T) {
	r := New(Options{Outline: true})
	kinds := explain.AlertKinds()
	for _, k := range kinds {
		r.alerts = append(r.alerts, alert(sampler.LevelWarning, k, k, k+"1", k+"2", "same"))
	}
	for range 2 { // in both orders
		var out Report
		r.conclude(&out)
		first := explain.AlertCauses(r.alerts)[0].ID
		if got := explain.AlertCauses([]sampler.Alert{alert(sampler.LevelWarning, out.Headline, "")}); len(got) == 0 || got[0].ID != first {
			t.Errorf("headed by %s, the surest cause is %s", out.Headline, first)
		}
		if len(out.Advice) != 8 || out.Advice[0].ID != out.Headline+"1" {
			t.Errorf("%+v", out.Advice)
		}
		seen := map[string]bool{}
		for i, a := range out.Advice {
			if seen[a.ID] || a.Rank != i+1 {
				t.Errorf("advice %d: %+v", i, a)
			}
			seen[a.ID] = true
		}
		slices.Reverse(r.alerts)
	}
}

// What climbed until it died within five minutes of its start may just have been starting: that is no leak.
func TestEndWithinStart(t *testing.T) {
	for last, want := range map[int]bool{299: false, 300: true} {
		r := New(Options{})
		for i := range last + 2 {
			used := gibs/2 + sampler.Bytes(i)*47*gibs/sampler.Bytes(last+2)
			s := card(float64(i), 48*gibs, used, sampler.Process{PID: 1, Memory: sampler.Some(mibs)}, job(7, used))
			if i == 0 {
				s.GPUs[0].Processes = s.GPUs[0].Processes[:1]
			}
			r.Snapshot(s)
		}
		r.Snapshot(card(float64(last+2), 48*gibs, gibs/2, sampler.Process{PID: 1, Memory: sampler.Some(mibs)}))
		for i := range r.exits {
			r.exits[i].open = nil
		}
		r.alerts = nil
		var out Report
		r.conclude(&out)
		got := slices.ContainsFunc(out.Causes, func(c sampler.Cause) bool { return c.ID == "leak" })
		if got != want {
			t.Errorf("after %d s: %s, causes %+v", last, out.Headline, out.Causes)
		}
	}
}

// What grew with the parts that the log counts is no leak once the last of them is done; it is one where the run goes on with something else.
func TestGrewToTheLastPart(t *testing.T) {
	part := func(n int) sampler.LogMark {
		return sampler.LogMark{Kind: sampler.MarkStage, Label: "layer", N: sampler.Some(n), Of: 47}
	}
	for _, row := range []struct {
		marks []sampler.LogMark
		leak  bool
	}{
		{nil, true},
		{[]sampler.LogMark{part(46), part(47), {Kind: sampler.MarkSaving}}, false},
		{[]sampler.LogMark{part(30)}, true},
		{[]sampler.LogMark{part(47), {Kind: sampler.MarkEpoch, N: sampler.Some(1)}}, true},
	} {
		r := New(Options{Outline: true})
		r.alerts = []sampler.Alert{alert(sampler.LevelCritical, sampler.AlertGrowth, "grows", explain.FixLeak)}
		r.Marks(row.marks)
		var out Report
		r.conclude(&out)
		if leak := len(out.Advice) > 0; leak != row.leak {
			t.Errorf("%v: leak %v", row.marks, leak)
		}
	}
}
