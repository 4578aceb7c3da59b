package plain

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// twoGPUs is a report of a GPU with a spike and a gap, and one that failed.
func twoGPUs() report.Report {
	gib := func(v float64) float64 { return v * float64(sampler.GiB) }
	total := sampler.Some(40 * sampler.GiB)
	peak := func(b sampler.Bytes, t float64) *report.Peak { return &report.Peak{Peak: sampler.Peak{Bytes: b}, T: t} }
	return report.Report{Duration: 240, Interval: 1, Snapshots: 200, Headline: "out of memory",
		GPUs: []report.GPU{
			{Index: 0, Label: "0", Name: "</td><img src=x onerror=alert(1)>\x1b[31m", Total: total, WorstFree: sampler.Some(20 * sampler.GiB), Peak: peak(20*sampler.GiB, 60),
				Plot: []report.Point{{T: 0, Low: gib(10), High: gib(10)}, {T: 60, Low: gib(10), High: gib(20)}, {T: 90, Low: gib(10), High: gib(10)},
					{T: 120, Low: math.NaN(), High: math.NaN()}, {T: 180, Low: gib(10), High: gib(10)}}},
			{Index: 1, Label: "1", Total: total, WorstFree: sampler.Some(sampler.GiB), Peak: peak(39*sampler.GiB, 120),
				Plot: []report.Point{{T: 0, Low: gib(30), High: gib(30)}, {T: 120, Low: gib(30), High: gib(39)}}}},
		Processes: []report.Process{{Label: "0", PID: 7, Last: 240, Plot: []report.Point{{T: 0, Low: gib(9), High: gib(9)}, {T: 121, Low: math.NaN(), High: math.NaN()}, {T: 180, Low: gib(9), High: gib(9)}}}},
		Alerts: []sampler.Alert{{T: 60, GPU: sampler.Some(1), Level: sampler.LevelNotice, Kind: "growth"}, {T: 90, GPU: sampler.Some(1), Level: sampler.LevelWarning, Kind: "need_does_not_fit"},
			{T: 120, GPU: sampler.Some(1), Level: sampler.LevelCritical, Kind: sampler.AlertOOM}},
		Events: []report.Event{{T: 120, Kind: "oom", GPU: sampler.Some(1)}}}
}

// A page of several GPUs begins with a row for each: its memory as steps, its peak, what was free at least,
// its alerts, and the way to its section.
func TestOverview(t *testing.T) {
	var page strings.Builder
	if err := ReportHTML(&page, []report.Report{twoGPUs()}); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(page.String(), `id="gpu-0-0"`)
	_, table, _ := strings.Cut(before, "All GPUs")
	rows := regexp.MustCompile(`<tr>.*?</tr>`).FindAllString(table, -1)
	if len(rows) != 3 || strings.Contains(table, "<img") || strings.Contains(table, "\x1b") {
		t.Fatalf("%d rows of %s", len(rows), table)
	}
	for i, want := range [][]string{
		{`href="#gpu-0-0"`, `d="M0 32V24H60V16H90V24H120V32M180 32V24H240V32"`, ">20.0 GiB<", ">1:00<", `<td class="r">20.0 GiB</td><td class="r">40.0 GiB</td><td class="r"></td>`},
		{`href="#gpu-0-1"`, `d="M0 32V8H120V0.8H240V32"`, `class="alert" d="M60 0V32"`, `class="alert" d="M90 0V32"`, `class="oom" d="M120 0V32"`, `<td class="r critical">1.0 GiB</td>`, `<td class="r critical">3</td>`},
	} {
		for _, part := range want {
			if !strings.Contains(rows[i+1], part) {
				t.Errorf("GPU %d: no %s in %s", i, part, rows[i+1])
			}
		}
	}
	if strings.Count(rows[1], "<path") != 1 || strings.Count(rows[2], "<path") != 4 {
		t.Errorf("marks of another GPU: %s", rows)
	}
	if strings.Count(page.String(), `id="gpu-0-1"`) != 1 {
		t.Error("GPU 1 has no section to go to")
	}
	one := twoGPUs()
	one.GPUs = one.GPUs[:1]
	page.Reset()
	if err := ReportHTML(&page, []report.Report{one}); err != nil || strings.Contains(page.String(), "All GPUs") {
		t.Errorf("%v; an overview of one GPU", err)
	}
}

// Memory is drawn as steps, a process is as unknown as its GPU in a gap, and the legend has figures
// before the mouse points somewhere.
func TestChartSteps(t *testing.T) {
	r := twoGPUs()
	c := chartOf(r, &r.GPUs[0])
	for i := range c.T {
		if gap := c.High[i] == nil; gap != (c.Processes[0].GiB[i] == nil) || gap != (c.T[i] == 120) {
			t.Errorf("at %v: GPU %v, process %v", c.T[i], c.High[i], c.Processes[0].GiB[i])
		}
	}
	script, err := assets.ReadFile("assets/report.js")
	if err != nil {
		t.Fatal(err)
	}
	series := regexp.MustCompile(`\{ label: [^\n]*`).FindAllString(string(script), -1)
	if len(series) != 6 {
		t.Fatalf("%d series", len(series))
	}
	for _, s := range series[1:] {
		if !strings.Contains(s, "paths: steps") && !strings.Contains(s, "paths: function () { return null; }") {
			t.Errorf("a line between figures: %s", s)
		}
		if !strings.Contains(s, "value: figure") {
			t.Errorf("nothing before the mouse moves: %s", s)
		}
	}
}
