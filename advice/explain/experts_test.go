package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// The router gives the experts of one GPU more tokens: that is why it alone is full, whatever lies in pieces there. Without experts, or where the others are
// as full, it is not.
func TestUnevenExperts(t *testing.T) {
	for what, row := range map[string]struct {
		peers     []sampler.Bytes
		command   string
		functions []string
		code      string
		imbalance bool
	}{
		"experts in the line":    {amounts(54000, 64000, 62000), "torchrun --nproc_per_node 4 train.py --mbs 4", []string{"train_step", "forward"}, "y = self.experts(permuted, tokens_per_expert)", true},
		"experts in the command": {amounts(54000, 64000, 62000), "torchrun --nproc_per_node 4 train.py --experts 64 --mbs 4", []string{"main", "backward"}, "loss.backward()", true},
		"no experts":             {amounts(54000, 64000, 62000), "torchrun --nproc_per_node 4 train.py --mbs 4", []string{"main", "backward"}, "loss.backward()", false},
		"all as full":            {amounts(76000, 77000, 76500), "torchrun --nproc_per_node 4 train.py --experts 64 --mbs 4", []string{"main", "backward"}, "loss.backward()", false},
	} {
		e := pytorch(mibs(656), gibs(79.15), mibs(57))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Rank = "CUDA out of memory.", gibs(72.98), gibs(4.98), gibs(79.1), sampler.Some(3)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(944), Functions: row.functions, Code: []string{row.code}}
		h := &History{Age: sampler.Some(870.0), Process: e.ProcessInUse, Peers: row.peers, PeerPeaks: amounts(80000, 80000, 80000),
			Peaks: amounts(79000, 65000, 72000, 80000, 58000, 71000, 76000, 80000, 62000, 79000, 80500, 70000, 79000, 80900, 79500)}
		flush := sampler.Alert{Kind: sampler.AlertFlush, Level: sampler.LevelWarning, Text: "flushed", T: 780}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Alerts: []sampler.Alert{flush}, Command: row.command})
		balanced := false
		for _, a := range got.Advice {
			balanced = balanced || a.ID == FixRebalanceRanks && strings.Contains(a.Title, "experts")
		}
		if (got.Causes[0].ID == CauseImbalance) != row.imbalance || balanced != row.imbalance {
			t.Errorf("%s: %+v, balanced %v", what, got.Causes, balanced)
		}
	}
}

// More and more tokens for the experts of one GPU look like a leak there.
func TestExpertsGrow(t *testing.T) {
	e := pytorch(mibs(776), gibs(95), mibs(501))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Rank = "CUDA out of memory.", gibs(87.3), gibs(6.55), gibs(94.4), sampler.Some(3)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(920), Functions: []string{"train_step", "forward"}, Code: []string{"y = self.experts(permuted, tokens_per_expert)"}}
	h := &History{Age: sampler.Some(840.0), Process: e.ProcessInUse, Peers: amounts(76000, 77000, 76500), PeerPeaks: amounts(84000, 83500, 84000),
		Peaks: amounts(82500, 82000, 84600, 83200, 85900, 84500, 87200, 85000, 88800, 87600, 90500, 88400, 92300, 90200, 93000, 92800, 94500)}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "torchrun --nproc_per_node 4 train.py --mbs 4",
		Alerts: []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "grows", T: 780}}})
	if got.Causes[0].ID != CauseImbalance || got.Advice[0].ID != FixRebalanceRanks {
		t.Errorf("%+v, %+v", got.Causes, got.Advice[0])
	}
}

// By steps that are large and far apart, too: no stages, where the others stay as they are.
func TestExpertsGrowByStages(t *testing.T) {
	e := pytorch(gibs(3.66), gibs(79.15), gibs(2.49))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Rank = "CUDA out of memory.", gibs(70.3), gibs(5.6), gibs(76.66), sampler.Some(2)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(744), Functions: []string{"main", "train", "forward_step", "cross_entropy"}}
	var peaks []sampler.Bytes
	for i, n := range []int{1, 4, 7, 7} {
		for range n {
			peaks = append(peaks, gibs(56.1+7.34*float64(i)).Or(0))
		}
	}
	h := &History{Age: sampler.Some(720.0), Process: e.ProcessInUse, Peers: amounts(64000, 64100, 64200), PeerPeaks: amounts(65000, 65000, 65000), Peaks: append(peaks, gibs(76.7).Or(0))}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "torchrun --nproc_per_node 4 pretrain_moe.py --num-experts 64 --micro-batch-size 4 --seq-length 1024 --bf16",
		Alerts: []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "3 equal steps of 7.3 GiB", T: 461, Numbers: map[string]float64{"interval_s": 177, "step_bytes": 7864320000, "steps": 3}}, {Kind: sampler.AlertFlush, Level: sampler.LevelWarning, Text: "flushed", T: 733}}})
	if got.Causes[0].ID != CauseImbalance || got.Advice[0].ID != FixRebalanceRanks {
		t.Errorf("%+v, %+v", got.Causes, got.Advice[0])
	}
}

// Bags of instances have no batch: the largest of them is cut.
func TestBagsHaveNoBatch(t *testing.T) {
	e := pytorch(gibs(1.53), gibs(23.69), mibs(668))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(21.1), gibs(1.64), gibs(23)
	e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(569), Functions: []string{"train_loop", "forward"}, Code: []string{"logits, prob, _ = model(bag.to(device))"}}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python train_mil.py --epochs 50"})
	for _, a := range got.Advice {
		if a.ID == FixHalveBatchAccumulate {
			t.Errorf("a batch: %+v", a)
		}
	}
	if got.Advice[0].ID != FixCapSampleSize {
		t.Errorf("%+v", got.Advice[0])
	}
}

// One other GPU that comes near does not make the router fair: where most hold clearly less, that is in the list beside the pieces.
func TestExpertsAheadOfMost(t *testing.T) {
	for what, row := range map[string]struct {
		peers  []sampler.Bytes
		listed bool
	}{
		"one comes near": {amounts(68900, 77200, 64200), true},
		"two do":         {amounts(76500, 77200, 64200), false},
	} {
		e := pytorch(mibs(912), gibs(79.11), mibs(685))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Rank = "CUDA out of memory.", gibs(63.3), gibs(14.26), gibs(78.44), sampler.Some(2)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1580), Functions: []string{"train_step", "forward"}, Code: []string{"out = self.experts(hidden, tokens_per_expert)"}}
		h := &History{Age: sampler.Some(3513.0), Process: e.ProcessInUse, Peers: row.peers, PeerPeaks: row.peers,
			Peaks: amounts(76900, 79500, 78300, 73500, 79100, 80100, 80300, 76400, 79600, 80600, 78900, 80300, 80600, 80000, 80900, 80400)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "torchrun --nproc_per_node 4 pretrain_gpt.py --num-experts 32 --micro-batch-size 2"})
		cause, balance := false, false
		for _, c := range got.Causes {
			cause = cause || c.ID == CauseImbalance
		}
		for _, a := range got.Advice {
			balance = balance || a.ID == FixRebalanceRanks && strings.Contains(a.Title, "experts")
		}
		if cause != row.listed || balance != row.listed {
			t.Errorf("%s: %+v, balanced %v", what, got.Causes, balance)
		}
	}
}
