package watch

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A job ends with the rank that fills its GPU first: that is the time left of the others, too, and nobody's where that one
// has been saved by a near miss.
func TestJobEndsWithItsFirstRank(t *testing.T) {
	for name, row := range map[string]struct {
		ahead   float64 // MiB that the rank on GPU 0 holds more
		command string  // on GPU 1
		saved   bool
		line    string // of GPU 1
	}{
		"one comes first":  {1000, "python train.py", false, "alert.growth.first_in"},
		"both alike":       {60, "python train.py", false, ""},
		"saved":            {1000, "python train.py", true, "alert.growth.first"},
		"saved, and alike": {0, "python train.py", true, "alert.growth.first"},
		"others":           {1000, "python other.py", false, ""},
	} {
		w := New(Options{})
		for i := range 2400 {
			used := 10000 + 5*max(0, float64(i)-300)
			w.Add(sampler.Snapshot{Time: snapshotOf(float64(i), 0, 0).Time, GPUs: []sampler.GPU{
				gpuOf(0, 24000, used+row.ahead, processOf(7, "python train.py", used+row.ahead)),
				gpuOf(1, 24000, used, processOf(8, row.command, used))}})
		}
		if row.saved {
			w.gpus[0].near.count = 1
		}
		f := w.facts(w.gpus[0].at)
		f.gpu = w.gpus[1]
		own, _ := processGrowth(&f, f.gpu.procs[0])
		found := checkGrowth(&f)
		if len(found) != 1 || !own.eta.Known() {
			t.Fatalf("%s: %+v, %+v", name, found, own)
		}
		eta, known := found[0].eta.Value()
		if known == row.saved || known && (eta < own.eta.Or(0)-1) != (row.line != "") {
			t.Errorf("%s: %v s left, %v of its own", name, found[0].eta, own.eta)
		}
		said := slices.ContainsFunc(found[0].render(&f).evidence, func(line string) bool {
			return row.line != "" && line == f.words.Say(row.line, "gpu", 0, "eta", f.words.Span(eta))
		})
		if said != (row.line != "") || strings.Contains(strings.Join(found[0].render(&f).evidence, " "), "of the same job") != said {
			t.Errorf("%s: %v", name, found[0].render(&f).evidence)
		}
		f.gpu = w.gpus[0]
		if first := checkGrowth(&f); len(first) != 1 || first[0].eta.Known() == row.saved {
			t.Errorf("%s: the first: %+v", name, first)
		}
	}
}
