package cli

import (
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
	return plain.IndentedJSON(w, struct {
		Schema int                `json:"schema"`
		GPUs   int                `json:"measurable_gpus"`
		Checks []finding          `json:"checks"`
		Calls  []callTime         `json:"calls"`
		Rates  []samplingRate     `json:"memory_lane"`
		Sent   []sampler.Delivery `json:"alert_delivery"`
	}{sampler.Schema, c.measurable(), findings, calls, sampling, append([]sampler.Delivery{}, c.deliveries...)})
}

// text writes the findings as a table, with what to do under each that needs it.
func (c *checkup) text(w io.Writer, findings []finding) error {
	width := 0
	for _, f := range findings {
		width = max(width, plain.Columns(c.name(f)))
	}
	stateWidth := 0
	for _, s := range []string{stateOK, statePartial, stateUnavailable} {
		stateWidth = max(stateWidth, plain.Columns(c.say("doctor."+s)))
	}
	paint := func(state string) string { return plain.Pad(c.say("doctor."+state), stateWidth) }
	if c.app.isTerminal(c.app.out) && !c.app.opt.noColor {
		code := map[string]string{stateOK: "32", statePartial: "33", stateUnavailable: "31"}
		plainly := paint
		paint = func(state string) string { return "\x1b[" + code[state] + "m" + plainly(state) + "\x1b[0m" }
	}
	var b strings.Builder
	var blind []string
	for _, f := range findings {
		if f.Why == c.unknown().Why {
			blind = append(blind, c.name(f))
			continue
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", plain.Pad(c.name(f), width), paint(f.State), f.Why)
		if f.Fix != "" {
			fmt.Fprintf(&b, "%*s  → %s\n", width+2+stateWidth, "", f.Fix)
		}
	}
	if len(blind) > 0 {
		fmt.Fprintf(&b, "\n%s%s%s\n", c.unknown().Why, c.say("list.colon"), c.list(blind))
	}
	if len(c.calls) > 0 {
		fmt.Fprintf(&b, "\n  %s  %s  %s  %8s  %s\n", plain.Pad(c.say("doctor.call"), 17), plain.PadLeft(c.say("doctor.calls"), 5), plain.PadLeft(c.say("doctor.median"), 8), "p99", c.say("doctor.slowest"))
	}
	for _, t := range slowest(c.calls) {
		fmt.Fprintf(&b, "  %s  %5d  %8s  %8s  %s\n", plain.Pad(c.say("doctor.call."+strings.ReplaceAll(t.Call, " ", "_")), 17), t.Count, plain.Latency(t.Median), plain.Latency(t.P99), strings.TrimSpace(t.GPU+"  "+c.app.words().Reason(t.Error)))
	}
	_, err := io.WriteString(w, c.app.drawable(b.String()))
	return err
}

// name is that of a check, in the language that was chosen.
func (c *checkup) name(f finding) string {
	return c.say("doctor.name." + strings.ReplaceAll(f.Name, " ", "_"))
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
