package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What the log counts is capped in the option that limits it, by what each took; where there is none, its number is said.
func TestCountedIsCapped(t *testing.T) {
	peaks := amounts(5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 14500)
	for _, row := range []struct {
		command string
		counted sampler.SizeGrowth
		do      string
	}{
		{"python serve.py --max-sessions 512 --port 9000", sampler.SizeGrowth{Name: "sessions", From: 2, To: 216}, "python serve.py --max-sessions 180 --port 9000"},
		{"python serve.py --max_session=512", sampler.SizeGrowth{Name: "sessions", From: 2, To: 216}, "python serve.py --max_session=180"},
		{"python embed.py --cache 300", sampler.SizeGrowth{Name: "cache", From: 3, To: 280, Of: 300}, "python embed.py --cache 230"},
		{"python serve.py --session-timeout 60", sampler.SizeGrowth{Name: "sessions", From: 2, To: 216}, "# "},
		{"python serve.py", sampler.SizeGrowth{Name: "sessions", From: 2, To: 9}, "# "},
	} {
		e := pytorch(gibs(0.05), gibs(14.75), gibs(0.02))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(13.6), gibs(0.9), gibs(14.7)
		e.Context = &sampler.LogContext{Counted: &row.counted, Functions: []string{"<module>", "open_session"}}
		got := Explain(Incident{Command: row.command, Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(2000.0), Process: e.ProcessInUse, Peaks: peaks}}})
		if a := got.Advice[0]; a.ID != FixCapSampleSize || !strings.HasPrefix(a.Do[0], row.do) || !strings.Contains(a.Title, row.counted.Name) || !strings.Contains(got.Causes[0].Evidence[0], row.counted.Name) {
			t.Errorf("%s: %+v, %s", row.command, a, got.Causes[0].Evidence[0])
		}
	}
}
