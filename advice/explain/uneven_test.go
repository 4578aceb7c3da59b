package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Where the GPUs of a job hold different amounts, that is said beside what made it too much for the fullest, with how to divide a pipeline otherwise.
func TestUnevenStages(t *testing.T) {
	for what, row := range map[string]struct {
		peers   []sampler.Bytes
		command string
		second  bool
		advised string // part of what is to be typed; "": no such advice
	}{
		"stages of a pipeline":     {amounts(62000, 50000, 36000), "torchrun --nproc_per_node 4 pretrain_gpt.py --pipeline-model-parallel-size 4 --micro-batch-size 2", true, "--decoder-first-pipeline-num-layers"},
		"stages of another one":    {amounts(62000, 50000, 36000), "torchrun --nproc_per_node 4 train.py --batch-size 2", true, ""},
		"all alike":                {amounts(74000, 73000, 74000), "torchrun --nproc_per_node 4 train.py --batch-size 2", false, ""},
		"one that holds less":      {amounts(74000, 74000, 36000), "torchrun --nproc_per_node 4 train.py --batch-size 2", false, ""},
		"all come as far":          {amounts(39000, 39000, 39000), "torchrun --nproc_per_node 4 train.py --batch-size 2", false, ""},
		"one other, that is alike": {amounts(73000), "torchrun --nproc_per_node 2 train.py --batch-size 2", false, ""},
	} {
		most := row.peers
		if what == "all come as far" { // what they usually held is from before
			most = amounts(77000, 77000, 76500)
		}
		e := pytorch(gibs(1.3), gibs(79.2), gibs(0.7))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(77.2), gibs(0.25), gibs(78.4)
		e.Rank = sampler.Some(0)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(189), Slowdown: 1.8, Functions: []string{"pretrain", "forward_backward_pipelining_without_interleaving", "forward"}}
		h := &History{Age: sampler.Some(795.0), Process: e.ProcessInUse, Peers: row.peers, PeerPeaks: most,
			Peaks: amounts(39000, 39000, 39000, 57000, 57000, 57000, 76000, 76000, 76000, 77000, 75000, 75000, 75000, 75000, 75000)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: row.command})
		if second := len(got.Causes) > 1 && got.Causes[1].ID == CauseImbalance; got.Causes[0].ID != CauseDataSpike || second != row.second {
			t.Errorf("%s: %+v", what, got.Causes)
		}
		typed := ""
		for _, a := range got.Advice {
			if a.ID == FixRebalanceRanks {
				typed = strings.Join(a.Do, "\n")
			}
		}
		if !strings.Contains(typed, row.advised) || !row.second && typed != "" {
			t.Errorf("%s: %q", what, typed)
		}
		for _, c := range got.Causes {
			for _, text := range c.Evidence {
				if strings.Contains(text, "did not grow") {
					t.Errorf("%s: %s", what, text)
				}
			}
		}
	}
}

// Equal steps that are large and far apart are larger inputs in a training that makes these larger, and no fold of a cross-validation does.
func TestFoldsAreNoStages(t *testing.T) {
	for fold, want := range map[int]string{0: CauseDataSpike, 9: CauseLeak} {
		e := pytorch(gibs(0.23), gibs(23.7), gibs(0.01))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(22), gibs(1.3), gibs(23.68)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(12), Functions: []string{"main", "fit", "forward"}}
		if fold > 0 {
			e.Context.Fold = sampler.Some(fold)
		}
		h := &History{Age: sampler.Some(1959.0), Process: e.ProcessInUse, Peaks: amounts(10200, 10200, 12300, 12300, 14300, 14300, 16000, 16000, 18000, 18000, 19800, 19800, 21700, 21700, 23600)}
		alert := sampler.Alert{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it rises", Numbers: map[string]float64{"interval_s": 200, "step_bytes": 1.6 * (1 << 30)}}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Alerts: []sampler.Alert{alert}, Command: "python cv_train.py --bs 24"})
		if got.Causes[0].ID != want || want == CauseLeak && !strings.Contains(got.Advice[0].Title, "fold") {
			t.Errorf("fold %d: %+v, %s", fold, got.Causes, got.Advice[0].Title)
		}
	}
}
