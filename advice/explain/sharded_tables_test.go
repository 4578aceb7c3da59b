package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A rank that alone grows has a table that grows where tables are divided among the ranks, and else keeps something in what only it runs.
func TestShardedTablesGrow(t *testing.T) {
	for what, row := range map[string]struct {
		command, file string
		cause, first  string
	}{
		"by the command": {"torchrun --nproc_per_node 4 train_dlrm.py --batch_size 16384 --sharding table_wise", "recsys/dyn_emb.py", CauseImbalance, FixRebalanceRanks},
		"by a frame":     {"torchrun --nproc_per_node 4 train_dlrm.py --batch_size 16384", "train_pipeline/train_pipelines.py", CauseImbalance, FixRebalanceRanks},
		"not divided":    {"torchrun --nproc_per_node 4 train.py --batch_size 16384", "w/train.py", CauseLeak, FixLeak},
	} {
		e := pytorch(mibs(144), gibs(39.39), mibs(134))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Rank = "CUDA out of memory.", gibs(35.6), gibs(2.9), gibs(39.26), sampler.Some(0)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(7605), Functions: []string{"main", "train", "progress", "extend"}, Code: []string{"self.values.append(torch.empty(self.rows, self.dim, device=self.device))"}, Files: []string{"w/train.py", row.file}}
		h := &History{Age: sampler.Some(2700.0), Process: e.ProcessInUse, Peers: amounts(28500, 28500, 28500), PeerPeaks: amounts(28500, 28500, 28500),
			Peaks: amounts(28500, 28500, 28500, 28500, 29600, 30500, 31400, 32300, 33200, 34100, 35000, 35900, 36800, 37700, 38600, 39500, 40200)}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: row.command, Alerts: []sampler.Alert{
			{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "it grows"}, {Kind: sampler.AlertImbalance, Level: sampler.LevelNotice, Text: "this GPU will fail first"}}})
		if a := got.Advice[0]; got.Causes[0].ID != row.cause || a.ID != row.first || a.ID == FixRebalanceRanks && !strings.Contains(a.Title, "tables") {
			t.Errorf("%s: %+v, %s", what, got.Causes, a.Title)
		}
	}
}
