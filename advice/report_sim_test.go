package advice

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// reportTruth is what kills the jobs of a dying scene: any of these is a right first cause.
var reportTruth = map[string][]string{
	"leak":                     {"leak"},
	"late leak":                {"leak"},
	"leak under spikes":        {"leak", "validation_spike"},
	"growing spikes":           {"validation_spike", "data_spike", "leak"},
	"neighbour between spikes": {"other_process"},
	"neighbour leaks":          {"other_process", "leak", "unattributed"},
	"fragmentation":            {"fragmentation"},
}

// reported plays a scene into a Reporter. At the death the log has a message as PyTorch
// prints it.
func reported(s *scene, withLog bool) (r Report, died bool) {
	rep := NewReporter(ReportOptions{})
	gpus := 1
	for _, j := range s.jobs {
		gpus = max(gpus, j.gpu+1)
	}
	var last sampler.Snapshot
	for t := 0.0; t < s.seconds; t += s.step {
		snap, dead := s.snapshot(t, gpus)
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
func message(s *scene, t float64, last *sampler.Snapshot) (sampler.OOMEvent, bool) {
	if s.host != nil {
		return sampler.OOMEvent{}, false
	}
	worst, dying := 0.0, (*job)(nil)
	for g := range last.GPUs {
		sum := 0.0
		var grown *job
		for _, j := range s.jobs {
			if j.gpu == g && t >= j.start && t < j.end {
				now := j.want(t - j.start)
				sum += now
				if grown == nil || now-j.want(t-j.start-s.step) > grown.want(t-grown.start)-grown.want(t-grown.start-s.step) {
					grown = j
				}
			}
		}
		if sum > worst {
			worst, dying = sum, grown
		}
	}
	if dying == nil || t-s.step < dying.start {
		return sampler.OOMEvent{}, false
	}
	g := &last.GPUs[dying.gpu]
	own := dying.want(t - s.step - dying.start)
	rise := max(20, dying.want(t-dying.start)-own)
	e := sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", GPUIndex: sampler.Some(dying.gpu), PID: sampler.Some(dying.pid),
		GPUTotal: g.Memory.Total, GPUFree: g.Memory.PlausibleFree(), ProcessInUse: sampler.Some(bytesOf(own)), Requested: sampler.Some(bytesOf(rise)),
		Allocated: sampler.Some(bytesOf((own - 500) * 0.97)), ReservedUnallocated: sampler.Some(bytesOf((own - 500) * 0.03)), Line: 12}
	if s.class == "fragmentation" { // what such a death looks like from inside
		hole := max(rise*1.2, own-dying.want(120))
		e.Allocated, e.ReservedUnallocated = sampler.Some(bytesOf(own-500-hole)), sampler.Some(bytesOf(hole))
	}
	return e, true
}

// The first cause of a report names what killed the run, with the message and without.
func TestReportCauses(t *testing.T) {
	for _, withLog := range []bool{true, false} {
		right, all := 0, 0
		for class, truth := range reportTruth {
			begin, ok := scenes[class]
			if !ok {
				t.Fatalf("no scene %q", class)
			}
			got := map[string]int{}
			for i := range 12 {
				s := begin(rand.New(rand.NewPCG(uint64(i), 77)))
				s.class = class
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
		if float64(right) < least*float64(all) || all < 60 {
			t.Errorf("log %v: the first cause is right for %d of %d runs", withLog, right, all)
		}
	}
}
