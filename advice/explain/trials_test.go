package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// After several trials of a search in one process, a level that rose is of the models before; one that did not is of this trial.
func TestTrials(t *testing.T) {
	rose := amounts(4500, 8800, 8800, 8800, 8800, 8800, 17400, 17400, 17400, 17400, 17400, 17400, 25400, 25400, 25400, 25400)
	level := amounts(4500, 24900, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000, 25000)
	for what, row := range map[string]struct {
		trials      int
		framework   string
		peaks       []sampler.Bytes
		leak        bool
		first, line string
	}{
		"a pool that grew":  {10, "tensorflow", rose, true, FixLeak, "clear_session()"},
		"tensors that grew": {10, "pytorch", rose, true, FixLeak, "del model, optimizer"},
		"always as full":    {10, "tensorflow", level, false, FixCapSampleSize, "upper ends"},
		"the second trial":  {1, "tensorflow", rose, false, "", ""},
	} {
		e := sampler.OOMEvent{Framework: row.framework, Kind: sampler.KindTensorFlow, MemoryKind: sampler.MemoryGPU, Requested: mibs(915)}
		if row.framework == "pytorch" {
			e = pytorch(mibs(915), gibs(24), mibs(100))
			e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(23), gibs(0.3), gibs(23.8)
		}
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(4), Trials: sampler.Some(row.trials), Functions: []string{"objective", "fit"}}
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(550.0), Total: gibs(24), Free: mibs(0), Process: mibs(25400), Peaks: row.peaks}}, Command: "python search.py --batch 64"})
		a := got.Advice[0]
		if (got.Causes[0].ID == CauseLeak) != row.leak || row.first != "" && a.ID != row.first || !strings.Contains(strings.Join(a.Do, "\n"), row.line) {
			t.Errorf("%s: %+v\n%s %q", what, got.Causes, a.ID, a.Do)
		}
	}
}
