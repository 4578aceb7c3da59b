package explain

import (
	"math"
	"strings"
	"testing"

	"nvpeak/sampler"
)

func gibs(f float64) amount { return sampler.Some(sampler.Bytes(math.Round(f * float64(sampler.GiB)))) }
func mibs(f float64) amount { return sampler.Some(sampler.Bytes(math.Round(f * float64(sampler.MiB)))) }

// seed is a message that people published, with the reasoning it must lead to.
type seed struct {
	name        string
	event       sampler.OOMEvent
	cause       string
	first       string // first advice
	text        string // in the detail
	never       []string
	number      string
	value, near float64 // of Numbers[number], in GiB or percent
}

func pytorch(requested, total, free amount) sampler.OOMEvent {
	return sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", GPUIndex: sampler.Some(0),
		Requested: requested, GPUTotal: total, GPUFree: free, Occurrences: 1, Line: 1}
}

func seeds() []seed {
	yolo := pytorch(mibs(300), gibs(47.50), mibs(194.56))
	yolo.GPUIndex, yolo.Allocated, yolo.ReservedUnallocated = sampler.Some(3), gibs(37.60), mibs(302)
	yolo.Context = &sampler.LogContext{Phase: "validation", Epoch: sampler.Some(134), NaNLoss: true}
	plain := yolo
	plain.Context = nil

	deblur := pytorch(gibs(15.82), gibs(47.40), gibs(6.17))
	deblur.ProcessInUse, deblur.Allocated, deblur.ReservedUnallocated = gibs(41.20), gibs(36.79), gibs(3.95)
	deblurNoPhase := deblur
	deblur.Context = &sampler.LogContext{Phase: "validation", Step: sampler.Some(1000)}

	full := pytorch(mibs(20), gibs(23.55), mibs(131.75))
	full.ProcessInUse, full.Allocated = gibs(22.63), gibs(21.89)
	full.Context = &sampler.LogContext{FirstStep: true, BatchSize: sampler.Some(16), Parameters: sampler.Some(uint64(82190602))}

	graph := pytorch(gibs(4.15), gibs(44.53), gibs(3.84))
	graph.ProcessInUse, graph.Allocated, graph.ReservedUnallocated = gibs(40.68), gibs(36.78), gibs(3.56)
	graph.Context = &sampler.LogContext{Phase: "training", Epoch: sampler.Some(5), BatchSize: sampler.Some(2)}
	graphBare := graph
	graphBare.Context = nil

	return []seed{
		{name: "000", event: yolo, cause: "other_process", first: "stop_other_process", text: "9.42 GiB", number: "elsewhere_bytes", value: 9.42, near: 0.02},
		{name: "000 bare", event: plain, cause: "other_process", first: "stop_other_process", text: "9.42 GiB", never: []string{"expandable_segments"}},
		{name: "001", event: deblur, cause: "validation_spike", first: "shrink_validation_batch", text: "5.70 GiB short", number: "short_bytes", value: 5.70, near: 0.005},
		{name: "001 bare", event: deblurNoPhase, cause: "too_big", first: "", text: "5.70 GiB short"},
		{name: "003", event: full, cause: "too_big", first: "halve_batch_accumulate", text: "131.75 MiB", number: "activations_percent", value: 94, near: 0.6},
		{name: "004", event: graph, cause: "fragmentation", first: "expandable_segments", text: "0.31 GiB short", number: "missing_bytes", value: 0.31, near: 0.005},
		{name: "004 bare", event: graphBare, cause: "too_big", first: "halve_batch_accumulate", text: "3.56 GiB was reserved"},
	}
}

func TestSeedMessages(t *testing.T) {
	for _, s := range seeds() {
		t.Run(s.name, func(t *testing.T) {
			got := Explain(Incident{Events: []sampler.OOMEvent{s.event}})
			if got.Causes[0].ID != s.cause {
				t.Errorf("first cause %s, want %s: %+v", got.Causes[0].ID, s.cause, got.Causes)
			}
			if s.first != "" && got.Advice[0].ID != s.first {
				t.Errorf("first advice %s, want %s", got.Advice[0].ID, s.first)
			}
			if !strings.Contains(got.Verdict.Detail, s.text) {
				t.Errorf("detail %q lacks %q", got.Verdict.Detail, s.text)
			}
			for _, id := range s.never {
				for _, a := range got.Advice {
					if a.ID == id {
						t.Errorf("advises %s", id)
					}
				}
			}
			if s.number != "" {
				v := got.Causes[0].Numbers[s.number]
				if strings.HasSuffix(s.number, "_bytes") {
					v /= float64(sampler.GiB)
				}
				if math.Abs(v-s.value) > s.near {
					t.Errorf("%s = %.3f, want %.3f", s.number, v, s.value)
				}
			}
			for _, c := range got.Causes {
				t.Logf("cause %.2f %s %q", c.Confidence, c.ID, c.Evidence)
			}
			for _, a := range got.Advice {
				t.Logf("%d %s: %s %v %q", a.Rank, a.ID, a.Title, a.Saves, a.Do)
			}
			for _, p := range got.Plans {
				t.Logf("plan %s %s: %s -> %s", p.Name, p.Title, p.Arithmetic, p.Enough)
			}
		})
	}
}
