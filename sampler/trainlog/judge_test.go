package trainlog_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/trainlog"
)

// A failure that was survived and the death later are two, however far apart and whether or not the same is printed.
func TestDeathAfterSurvivedFailures(t *testing.T) {
	steps := func(from, to int) (text string) {
		for i := from; i <= to; i++ {
			text += fmt.Sprintf("Epoch [3] step %d/900 loss: 0.4\n", i)
		}
		return text
	}
	tried := func(gib string) string {
		return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + gib + " GiB. GPU 0 has a total capacity of 39.39 GiB of which 312.19 MiB is free.\n"
	}
	death := "Traceback (most recent call last):\n  File \"fit.py\", line 91, in main\n    evaluate(model)\n"
	for name, c := range map[string]struct {
		text     string
		step     int
		survived int
	}{
		"the same within what is held":     {steps(1, 20) + "WARNING skipping: " + tried("1.50") + steps(21, 200) + death + tried("1.50"), 200, 1},
		"the same beyond that":             {steps(1, 3) + "WARNING skipping: " + tried("1.50") + steps(4, 600) + death + tried("1.50"), 600, 1},
		"three times":                      {steps(1, 9) + "WARNING skipping: " + tried("1.50") + steps(10, 600) + "WARNING skipping: " + tried("1.50") + steps(601, 800) + death + tried("1.50"), 800, 1},
		"others, the last near to a death": {steps(1, 20) + "WARNING skipping: " + tried("1.50") + steps(21, 200) + "WARNING skipping: " + tried("2.25") + steps(201, 260) + death + tried("3.75"), 260, 2},
	} {
		for _, failed := range []bool{false, true} {
			var s trainlog.Survival
			events, err := oomlog.Scan(io.TeeReader(strings.NewReader(c.text), &s))
			if err != nil {
				t.Fatal(err)
			}
			var died []sampler.OOMEvent
			survived := 0
			for _, e := range s.Judge(events, failed) {
				if e.Recovered {
					survived++
				} else {
					died = append(died, e)
				}
			}
			if len(died) != 1 || survived != c.survived || died[0].Context.Step.Or(0) != c.step || died[0].Context.Phase != sampler.PhaseValidation ||
				died[0].Line != strings.Count(c.text, "\n") {
				t.Errorf("%s (failed %v): %d survived, died %+v", name, failed, survived, died)
			}
		}
	}
	var s trainlog.Survival
	events, _ := oomlog.Scan(io.TeeReader(strings.NewReader(steps(1, 20)+tried("1.50")+steps(1, 200)+tried("1.50")), &s))
	if got := s.Judge(events, false); len(got) != 1 || got[0].Recovered || got[0].Occurrences != 2 {
		t.Errorf("a run that was started anew: %+v", got)
	}
}
