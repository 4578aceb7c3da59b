package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nvpeak/sampler"
	"nvpeak/ui/plain"
)

func (c *checkup) json(w io.Writer, findings []finding) error {
	calls, sampling := c.calls, c.sampling
	if calls == nil {
		calls = []callTime{}
	}
	if sampling == nil {
		sampling = []samplingRate{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Schema int            `json:"schema"`
		GPUs   int            `json:"measurable_gpus"`
		Checks []finding      `json:"checks"`
		Calls  []callTime     `json:"calls"`
		Rates  []samplingRate `json:"memory_lane"`
	}{sampler.Schema, c.measurable(), findings, calls, sampling})
}

// text writes the findings as a table, with what to do under each that needs it.
func (c *checkup) text(w io.Writer, findings []finding) error {
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Name))
	}
	paint := func(state string) string { return fmt.Sprintf("%-11s", state) }
	if c.app.isTerminal(c.app.out) && !c.app.opt.noColor {
		code := map[string]string{stateOK: "32", statePartial: "33", stateUnavailable: "31"}
		paint = func(state string) string { return fmt.Sprintf("\x1b[%sm%-11s\x1b[0m", code[state], state) }
	}
	var b strings.Builder
	var blind []string
	for _, f := range findings {
		if f.Why == unknown().Why {
			blind = append(blind, f.Name)
			continue
		}
		fmt.Fprintf(&b, "%-*s  %s  %s\n", width, f.Name, paint(f.State), f.Why)
		if f.Fix != "" {
			fmt.Fprintf(&b, "%-*s  %-11s  → %s\n", width, "", "", f.Fix)
		}
	}
	if len(blind) > 0 {
		fmt.Fprintf(&b, "\n%s: %s\n", unknown().Why, strings.Join(blind, ", "))
	}
	if len(c.calls) > 0 {
		b.WriteString("\n  driver call        calls    median       p99  of the slowest GPU\n")
	}
	for _, t := range slowest(c.calls) {
		fmt.Fprintf(&b, "  %-17s  %5d  %8s  %8s  %s\n", t.Call, t.Count, plain.Latency(t.Median), plain.Latency(t.P99), strings.TrimSpace(t.GPU+"  "+t.Error))
	}
	text := b.String()
	if c.app.opt.ascii {
		text = strings.ReplaceAll(text, "→", "->")
	}
	_, err := io.WriteString(w, text)
	return err
}

// slowest is one row for each kind of call: all calls, and the figures of the slowest GPU.
func slowest(calls []callTime) []callTime {
	var list []callTime
	for _, kind := range callKinds {
		var worst callTime
		all := 0
		for _, t := range calls {
			if t.Call != kind.name {
				continue
			}
			all += t.Count
			if worst.Call == "" || t.Median > worst.Median {
				worst = t
			}
		}
		if worst.Call != "" {
			worst.Count = all
			list = append(list, worst)
		}
	}
	return list
}
