package plain

import (
	"strings"
	"testing"
	"time"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// The tables of processes have columns for requests where those of any are known, and say which peaks are exact, and which are
// older than the recording.
func TestReportOfRequests(t *testing.T) {
	r := twoGPUs()
	seen := r.Processes[0]
	early := seen
	r.Start = report.Moment{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	early.PID, early.Peak = 9, &report.Peak{Peak: sampler.Peak{Bytes: 8 * sampler.GiB, Source: sampler.PeakDriver, Time: r.Start.Add(-time.Hour)}}
	seen.PID, seen.Peak = 8, &report.Peak{Peak: sampler.Peak{Bytes: 9 * sampler.GiB, Source: sampler.PeakCalls, Time: r.Start.Add(time.Minute)}, T: 60}
	seen.Requests = &sampler.Requests{Largest: 3 * sampler.GiB, Refused: 4, Flushes: 17}
	missed := seen
	missed.Requests = &sampler.Requests{Largest: 3 * sampler.GiB, Refused: 3999, Missed: true}
	for _, row := range []struct {
		list       []report.Process
		text, html []string // what is there
		not        string
	}{
		{r.Processes, nil, nil, "largest request"},
		{[]report.Process{r.Processes[0], seen}, []string{"LARGEST REQUEST  REFUSED  NEAR MISSES", "9.0 GiB exact", "3.0 GiB        4           17", "N/A      N/A          N/A"},
			[]string{`<th class="r">largest request</th><th class="r">refused</th><th class="r">near misses</th>`, `<td class="r">9.0 GiB exact</td>`,
				`<td class="r">3.0 GiB</td><td class="r">4</td><td class="r">17</td>`, `<td class="r">N/A</td><td class="r">N/A</td><td class="r">N/A</td>`}, "?"},
		{[]report.Process{missed}, []string{"3.0 GiB    3999+           0+"}, []string{`<td class="r">3.0 GiB</td><td class="r">3999+</td><td class="r">0+</td>`}, "?"},
		{[]report.Process{early}, []string{"8.0 GiB exact  earlier"}, []string{`<td class="r">8.0 GiB exact</td><td class="r">earlier</td>`}, "?"},
	} {
		r.Processes = row.list
		var text, page strings.Builder
		if err := ReportText(&text, r, ReportOptions{Options: Options{Width: 140}, Zone: time.UTC}); err != nil {
			t.Fatal(err)
		}
		if err := ReportHTML(&page, []report.Report{r}); err != nil {
			t.Fatal(err)
		}
		for _, want := range row.text {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in\n%s", want, text.String())
			}
		}
		for _, want := range row.html {
			if !strings.Contains(page.String(), want) {
				t.Errorf("no %q in the page", want)
			}
		}
		if both := strings.ToLower(text.String() + page.String()); strings.Contains(both, row.not) && row.not != "?" {
			t.Errorf("%q where none is known", row.not)
		}
	}
}

// The figures of sampled peaks stand below those of exact ones; an Xid is named once.
func TestReportColumnsAndXid(t *testing.T) {
	r := twoGPUs()
	sampled, exact := r.Processes[0], r.Processes[0]
	sampled.PID, sampled.Peak = 7, &report.Peak{Peak: sampler.Peak{Bytes: 8 * sampler.GiB, Source: sampler.PeakSampled}, T: 60}
	exact.PID, exact.Peak = 8, &report.Peak{Peak: sampler.Peak{Bytes: 9 * sampler.GiB, Source: sampler.PeakCalls}, T: 60}
	r.Processes = []report.Process{exact, sampled}
	r.Events = []report.Event{{T: 5, Kind: "xid", GPU: sampler.Some(0), XID: sampler.Some(uint64(31)), Text: "MMU fault"}}
	var text strings.Builder
	if err := ReportText(&text, r, ReportOptions{Options: Options{Width: 140}, Zone: time.UTC}); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for line := range strings.Lines(text.String()) {
		for _, figure := range []string{"8.0 GiB", "9.0 GiB exact"} {
			if i := strings.Index(line, figure); i >= 0 && at[figure] == 0 {
				at[figure] = i
			}
		}
	}
	if a, b := at["8.0 GiB"], at["9.0 GiB exact"]; a == 0 || a != b {
		t.Errorf("the figures stand at %d and %d:\n%s", a, b, text.String())
	}
	if !strings.Contains(text.String(), "GPU 0 Xid error 31: MMU fault") {
		t.Errorf("the Xid:\n%s", text.String())
	}
}
