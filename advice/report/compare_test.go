package report

import (
	"reflect"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Figures of two runs: less is better for most, and half a percent is the same.
func TestCompareFigures(t *testing.T) {
	some := sampler.Some[float64]
	for name, row := range map[string]struct {
		sign          float64
		before, after sampler.Opt[float64]
		difference    sampler.Opt[float64]
		percent       sampler.Opt[float64]
		better        string
	}{
		"less is better":   {-1, some(200), some(150), some(-50), some(-25), "yes"},
		"more is worse":    {-1, some(200), some(250), some(50), some(25), "no"},
		"more is better":   {1, some(200), some(250), some(50), some(25), "yes"},
		"half a percent":   {-1, some(200), some(201), some(1), some(0.5), "same"},
		"a little more":    {-1, some(200), some(201.5), some(1.5), some(0.8), "no"},
		"neither":          {0, some(200), some(100), some(-100), some(-50), ""},
		"from nothing":     {-1, some(0), some(5), some(5), sampler.Opt[float64]{}, "no"},
		"nothing and none": {-1, some(0), some(0), some(0), sampler.Opt[float64]{}, "same"},
		"below nothing":    {-1, some(-200), some(-100), some(100), some(50), "no"},
		"unknown before":   {-1, sampler.Opt[float64]{}, some(5), sampler.Opt[float64]{}, sampler.Opt[float64]{}, ""},
		"unknown after":    {-1, some(5), sampler.Opt[float64]{}, sampler.Opt[float64]{}, sampler.Opt[float64]{}, ""},
	} {
		c := compare("x", "x", "x", row.sign, row.before, row.after)
		if c.Difference != row.difference || c.Percent != row.percent || c.Better != row.better {
			t.Errorf("%s: %+v", name, c)
		}
	}
	oom := func(recovered bool) Event { return Event{Kind: "oom", OOM: &sampler.OOMEvent{Recovered: recovered}} }
	for want, r := range map[int]Report{
		0: {Events: []Event{oom(true), {Kind: "process_end"}}, Alerts: []sampler.Alert{{Kind: sampler.AlertOOM, Level: sampler.LevelNotice}, {Kind: sampler.AlertGrowth, Level: sampler.LevelCritical}}},
		1: {Events: []Event{oom(true), oom(false)}},
		2: {Events: []Event{oom(false), {Kind: "oom"}}, Alerts: []sampler.Alert{{Kind: sampler.AlertOOM, Level: sampler.LevelCritical}}},
		3: {Alerts: []sampler.Alert{{Kind: sampler.AlertOOM, Level: sampler.LevelCritical}, {Kind: sampler.AlertOOM, Level: sampler.LevelCritical}, {Kind: sampler.AlertOOM, Level: sampler.LevelWarning}}},
	} {
		if got := deaths(r); got != want {
			t.Errorf("%d deaths, want %d", got, want)
		}
	}
	one, two := Report{GPUs: []GPU{{Label: "0"}}}, Report{GPUs: []GPU{{Label: "1"}, {Label: "2"}}}
	if partner(one, Report{GPUs: []GPU{{Label: "9"}}}, &one.GPUs[0]) == nil || partner(one, two, &one.GPUs[0]) != nil || partner(two, two, &two.GPUs[1]) != &two.GPUs[1] {
		t.Error("a GPU is compared with another than its own")
	}
}

// Differences, percents and which is better, also where something is unknown or nothing.
func TestCompare(t *testing.T) {
	run := func(peak sampler.Bytes, spikes int) Report {
		return Report{Duration: 60, GPUs: []GPU{{Label: "0", Peak: &Peak{Peak: sampler.Peak{Bytes: peak}}, SpikeCount: spikes}}}
	}
	got := map[string]Comparison{}
	for _, c := range Compare(run(40*sampler.GiB, 0), run(30*sampler.GiB, 3)) {
		got[c.ID] = c
	}
	if c := got["peak"]; c.Difference.Or(0) != -10*float64(sampler.GiB) || c.Percent.Or(0) != -25 || c.Better != "yes" {
		t.Errorf("peak %+v", c)
	}
	if c := got["spikes"]; c.Difference.Or(0) != 3 || c.Percent.Known() || c.Better != "" {
		t.Errorf("spikes %+v", c)
	}
	if c := got["spikes_per_hour"]; c.Difference.Or(0) != 180 || c.Percent.Known() || c.Better != "no" {
		t.Errorf("spikes %+v", c)
	}
	if c := got["duration"]; c.Better != "" || c.Difference.Or(1) != 0 {
		t.Errorf("duration %+v", c)
	}
	if c := got["typical"]; c.Before.Known() || c.Difference.Known() || c.Better != "" {
		t.Errorf("typical %+v", c)
	}
}

// Runs of different lengths are compared by the hour: half of a run has half the spikes, and as many as that.
func TestCompareRates(t *testing.T) {
	run := func(seconds float64, spikes int) Report {
		return Report{Duration: seconds, GPUs: []GPU{{Label: "0", SpikeCount: spikes}}}
	}
	for _, row := range []struct {
		before, after Report
		want          string
	}{
		{run(1200, 19), run(600, 9), "same"}, {run(1200, 19), run(600, 10), "same"}, {run(1200, 19), run(600, 3), "yes"}, {run(600, 3), run(1200, 19), "no"},
		{run(600, 1), run(600, 0), "yes"}, {run(600, 0), run(600, 0), "same"}, {run(0, 0), run(600, 3), ""}, {run(1200, 19), run(1, 0), ""},
	} {
		for _, c := range Compare(row.before, row.after) {
			if c.ID == "spikes_per_hour" && c.Better != row.want || c.ID == "spikes" && c.Better != "" {
				t.Errorf("%v spikes in %v s, %v in %v s: %+v", row.before.GPUs[0].SpikeCount, row.before.Duration, row.after.GPUs[0].SpikeCount, row.after.Duration, c)
			}
		}
	}
}

// What has no partner is told, of both runs.
func TestCompareAlone(t *testing.T) {
	run := func(labels ...string) (r Report) {
		for _, l := range labels {
			r.GPUs = append(r.GPUs, GPU{Label: l})
		}
		return r
	}
	for _, row := range []struct {
		before, after Report
		want          string
	}{
		{run("0"), run("0", "1", "2"), "|1 2"}, {run("0"), run("3"), "|"}, {run("0", "1"), run("1", "2"), "0|2"}, {run("0"), run("1", "2"), "0|1 2"},
	} {
		var got [2][]string
		before, after := Alone(row.before, row.after)
		for i, list := range [][]*GPU{before, after} {
			for _, g := range list {
				got[i] = append(got[i], g.Label)
			}
		}
		if got := strings.Join(got[0], " ") + "|" + strings.Join(got[1], " "); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// A figure is told with its GPU where there are several, or where another one of the other run is compared.
func TestCompareTitles(t *testing.T) {
	run := func(labels ...int) (r Report) {
		for _, n := range labels {
			r.GPUs = append(r.GPUs, GPU{Index: n, Label: string(rune('0' + n))})
		}
		return r
	}
	plain := lang.For("").Say("compare.peak")
	for _, row := range []struct {
		before, after Report
		want          []string
	}{
		{run(0), run(0), []string{plain}},
		{run(0), run(3), []string{lang.For("").Say("compare.of_gpu", "gpu", "0", "title", plain)}},
		{run(0, 1), run(1), []string{lang.For("").Say("compare.of_gpu", "gpu", "1", "title", plain)}},
		{run(0), run(0, 1), []string{lang.For("").Say("compare.of_gpu", "gpu", "0", "title", plain)}},
		{run(0, 1), run(2, 3), nil},
	} {
		var got []string
		for _, c := range Compare(row.before, row.after) {
			if c.ID == "peak" {
				got = append(got, c.Title)
			}
		}
		if !reflect.DeepEqual(got, row.want) {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
