package oomlog

import (
	"fmt"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A size of the steps that rises and is at its height when it fails, in each form; what counts the work done, goes up and
// down, falls back or is of a validation is none.
func TestSizesThatGrow(t *testing.T) {
	for form, want := range map[string]string{
		"step %d  t=6.320e-05 s  cells=%d  tip=(0.032, 0.001)  residual=1.27e-06": "cells",
		"%d   [2.46e-02, 4.81e-02]    [4.92e-02]   pts=%d":                        "pts",
		"step %d loss 1.3283 seqlen %d":                                           "seqlen",
		"iteration %d/ 800 | global batch size: %d | lm loss: 7.7":                "batch size",
		`{"step": %d, "seq_len": %d, "loss": 2.3}`:                                "seq_len",
		"item%d folded, a chain of length %d, in 4.4 s":                           "length",
		"step %d remaking level 4 :  60 grids, %d cells":                          "cells",
		"step %d (%d particles)":                                                  "particles",
		"turn %d prompt_tokens=%d completion_tokens=150":                          "prompt_tokens",
		"prompt %d ctx=%d depth=68%% score=10 time=19.37s":                        "ctx",
		"step %6d  t= 1.0e-09 s  particles %d.0e+06  Emax 3.120e+06 V/m":          "particles",
		"step %d/1500 | loss 6.287 | mean res %d | tokens/batch 21888":            "mean res",
		"update=%d ar_steps=%d wmse=0.198 z500=89.12":                             "ar_steps",
		"Iter %05d | Loss 1.368469 | NFE-F %d | NFE-B 83":                         "nfe-f",
		"epoch %d curriculum: sims per move = %d":                                 "sims per move",
		"sweep %2d  chi=%d  E=-40.900000000000  trunc=1.00e-06":                   "chi",
		"sweep %d chi2=%d after the fit":                                          "",
		"iteration %d rollouts collected: %d":                                     "",
		"iteration %d rollout %d, reward 4.1":                                     "",
		"generation %d | nfe: %d | best 0.31":                                     "",
		"epoch %d fanout %d nodes sampled":                                        "fanout",
		"step %d: %d cells processed":                                             "",
		"step %d, processed %d cells":                                             "",
		"step %d, 1.%d cells":                                                     "",
		"step %d, %d cells/s":                                                     "",
		"iteration %d, episode length %d":                                         "",
		"iteration %d/ 800 | consumed samples: %d | lm loss: 7.7":                 "",
		"step %d total points %d":                                                 "",
		"epoch %d: val batch size %d":                                             "",
		"epoch %d: %d nodes":                                                      "",
		"step %d | GPU 545.9 MB | Mini-batch %d nodes":                            "nodes",
		"step %d, subgraph: %d edges, loss 1.2":                                   "edges",
		"loader %d: 12 points/%d":                                                 "",
	} {
		for shape, rises := range map[string]func(i int) int{
			"rises":   func(i int) int { return 1000 + 10*i },
			"stairs":  func(i int) int { return 1000 + 500*(i/100) },
			"level":   func(i int) int { return 1000 + i%7 },
			"by far":  func(i int) int { return 1000 + 997*i%3000 },
			"falls":   func(i int) int { return 6000 - 10*i },
			"varies":  func(i int) int { return (1000 + 10*i) * (80 + i*37%41) / 100 },
			"returns": func(i int) int { return 1000 + 10*min(i, 2*(399-i)) },
		} {
			got := ""
			if l := sizesBefore(t, func(i int) string { return fmt.Sprintf(form, i, rises(i)) }); l != nil {
				got = l.Name
				if l.From >= l.To {
					t.Errorf("%q, %s: %+v", form, shape, l)
				}
			}
			if expected := want; got != expected && (shape == "rises" || shape == "stairs" || shape == "varies") || got != "" && shape != "rises" && shape != "stairs" && shape != "varies" {
				t.Errorf("%q, %s: %q, want %q", form, shape, got, expected)
			}
		}
	}
}

// Frames are a size where they stand for many steps, and else a count of what was done.
func TestSizesOfStages(t *testing.T) {
	for form, row := range map[string]struct{ climbs, stands string }{
		"stage (%d frames) global step 904, loss 0.1621, 5.80 s": {"", "frames"},
		"stage 4/4, frames=%d, loss 0.1621":                      {"", "frames"},
		"step 12, %d frames done":                                {"", ""},
	} {
		for want, size := range map[*string]func(i int) int{&row.climbs: func(i int) int { return 17 + 16*i }, &row.stands: func(i int) int { return 17 + 16*(i/40) }} {
			got := ""
			if l := sizesBefore(t, func(i int) string { return fmt.Sprintf(form, size(i)) }); l != nil {
				got = l.Name
			}
			if got != *want {
				t.Errorf("%q: %q, want %q", form, got, *want)
			}
		}
	}
}

// A size that is said when it changes only has grown by a schedule, where it did so each time and by much.
func TestSizesOfSchedules(t *testing.T) {
	for values, want := range map[*[]int]bool{
		{64, 128, 256, 512}: true,
		{512, 768, 1024}:    true,
		{512, 1024}:         false, // one change may be two phases
		{64, 128, 128, 256}: false,
		{64, 66, 68, 70}:    false,
		{512, 256, 128, 64}: false,
		{64, 512, 128, 256}: false,
	} {
		each := 400 / len(*values)
		l := sizesBefore(t, func(i int) string {
			if i%each == 0 && i/each < len(*values) {
				return fmt.Sprintf("curriculum: sims per move = %d", (*values)[i/each])
			}
			return fmt.Sprintf("[iter %03d] games 512  policy_loss 1.413", i)
		})
		if got := l != nil; got != want || got && (l.From != float64((*values)[0]) || l.To != float64((*values)[len(*values)-1])) {
			t.Errorf("%v: %+v, want %v", *values, l, want)
		}
	}
}

// A batch is a size where it stands for many steps, and else the number of one.
func TestBatchesOfStages(t *testing.T) {
	for want, size := range map[string]func(i int) int{"": func(i int) int { return i }, "batch": func(i int) int { return 64 << (i / 150) }} {
		got := ""
		if l := sizesBefore(t, func(i int) string { return fmt.Sprintf("Epoch %3d  batch %d  train loss 1.5000", i, size(i)) }); l != nil {
			got = l.Name
		}
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// sizesBefore is what is read of the sizes in 400 lines before a failure.
func sizesBefore(t *testing.T, line func(i int) string) *sampler.SizeGrowth {
	t.Helper()
	var b strings.Builder
	for i := range 400 {
		b.WriteString(line(i) + "\n")
	}
	b.WriteString("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.1 GiB already allocated; 10.00 MiB free; 9.5 GiB reserved in total by PyTorch)\n")
	events, err := Scan(strings.NewReader(b.String()))
	if err != nil || len(events) != 1 {
		t.Fatalf("%q: %d events, %v", line(0), len(events), err)
	}
	return events[0].Context.Larger
}
