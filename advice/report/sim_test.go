package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// reportTruth is what kills the jobs of a dying scene: any of these is a right first cause.
var reportTruth = map[string][]string{
	"leak":                    {"leak"},
	"late leak":               {"leak"},
	"leak under spikes":       {"leak", "validation_spike"},
	"growing spikes":          {"validation_spike", "data_spike", "leak"},
	"neighbor between spikes": {"other_process"},
	"neighbor leaks":          {"other_process", "leak", "unattributed"},
	"fragmentation":           {"fragmentation"},
}

// reported plays a scene into a Reporter. At the death the log has a message as PyTorch
// prints it.
func reported(s *advicetest.Scene, withLog bool) (r Report, died bool) {
	rep := New(Options{})
	gpus := 1
	for _, j := range s.Jobs {
		gpus = max(gpus, j.GPU+1)
	}
	var last sampler.Snapshot
	for t := 0.0; t < s.Seconds; t += s.Step {
		snap, dead := s.Snapshot(t, gpus)
		if !dead {
			last = snap
			rep.Snapshot(&snap)
			continue
		}
		died = true
		if e, ok := message(s, t, &last); ok && withLog {
			rep.OOM(e, last.Time.Add(time.Millisecond), "log")
		}
		break
	}
	return rep.Report(), died
}

// message is what the first job on the fullest card prints.
func message(s *advicetest.Scene, t float64, last *sampler.Snapshot) (sampler.OOMEvent, bool) {
	if s.Host != nil {
		return sampler.OOMEvent{}, false
	}
	worst, dying := 0.0, (*advicetest.Job)(nil)
	for g := range last.GPUs {
		sum := 0.0
		var grown *advicetest.Job
		for _, j := range s.Jobs {
			if j.GPU == g && t >= j.Start && t < j.End {
				now := j.Want(t - j.Start)
				sum += now
				if grown == nil || now-j.Want(t-j.Start-s.Step) > grown.Want(t-grown.Start)-grown.Want(t-grown.Start-s.Step) {
					grown = j
				}
			}
		}
		if sum > worst {
			worst, dying = sum, grown
		}
	}
	if dying == nil || t-s.Step < dying.Start {
		return sampler.OOMEvent{}, false
	}
	g := &last.GPUs[dying.GPU]
	own := dying.Want(t - s.Step - dying.Start)
	rise := max(20, dying.Want(t-dying.Start)-own)
	e := sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", GPUIndex: sampler.Some(dying.GPU), PID: sampler.Some(dying.PID),
		GPUTotal: g.Memory.Total, GPUFree: g.Memory.PlausibleFree(), ProcessInUse: sampler.Some(series.Bytes(own)), Requested: sampler.Some(series.Bytes(rise)),
		Allocated: sampler.Some(series.Bytes((own - 500) * 0.97)), ReservedUnallocated: sampler.Some(series.Bytes((own - 500) * 0.03)), Line: 12}
	if s.Class == "fragmentation" { // what such a death looks like from inside
		hole := max(rise*1.2, own-dying.Want(120))
		e.Allocated, e.ReservedUnallocated = sampler.Some(series.Bytes(own-500-hole)), sampler.Some(series.Bytes(hole))
	}
	return e, true
}

// The first cause of a report names what killed the run, with the message and without.
func TestReportCauses(t *testing.T) {
	for _, withLog := range []bool{true, false} {
		right, all := 0, 0
		seeds := 6
		if !withLog {
			seeds = 3
		}
		for class, truth := range reportTruth {
			begin, ok := advicetest.Scenes[class]
			if !ok {
				t.Fatalf("no scene %q", class)
			}
			got := map[string]int{}
			for i := range seeds {
				s := begin(rand.New(rand.NewPCG(uint64(i), 77)))
				s.Class = class
				r, died := reported(s, withLog)
				if !died {
					continue
				}
				all++
				first := "none"
				if len(r.Causes) > 0 {
					first = r.Causes[0].ID
				}
				if slices.Contains(truth, first) {
					right++
				}
				got[first]++
			}
			t.Logf("log %v, %s: %s", withLog, class, fmt.Sprint(got))
		}
		t.Logf("log %v: %d of %d", withLog, right, all)
		least := 0.9
		if !withLog { // from outside fragmentation cannot be told from a leak
			least = 0.78
		}
		if float64(right) < least*float64(all) || all < 6*seeds {
			t.Errorf("log %v: the first cause is right for %d of %d runs", withLog, right, all)
		}
	}
}
