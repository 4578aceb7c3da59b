package explain

import "nvpeak/sampler"

// graphPools is what lies in private pools of CUDA graphs, where that is much of the GPU (own threshold: a quarter); 0: it is not. Each graph keeps what its
// capture has allocated for as long as it lives, and code that runs without one can use none of it. On an H100 eleven of them held 48 GiB
// of the 77 that were allocated (testdata/h100, 34).
func (f *facts) graphPools() sampler.Bytes {
	pools := f.event.PrivatePools.Or(0)
	if f.onHost() || pools < f.total.Or(sampler.MaxPlausible)/4 || pools > f.allocated.Or(0) {
		return 0
	}
	return pools
}

const sourceCapture = "https://docs.pytorch.org/docs/stable/notes/cuda.html#sharing-memory-across-captures"

var causesGraphPools = []causeRow{
	{id: "graphs", cause: CausePreallocation, reason: sourceCapture,
		when: func(f *failure) bool { return f.graphPools() > 0 },
		confidence: func(f *failure) float64 {
			if f.graphPools() >= f.needed() {
				return f.unlessOthers(0.82)
			}
			return 0.5
		},
		evidence: func(f *failure) string { return f.words.Say("why.graph_pools", "size", gib(f.graphPools())) }},
}

var fixesGraphPools = []fixRow{
	{id: FixCapPreallocation, source: sourceCapture,
		kinds: ownCode, cost: 0.05,
		lives:   map[string]float64{CausePreallocation: 0.95, CauseTooBig: 0.4},
		when:    func(f *failure) bool { return f.graphPools() > 0 },
		reach:   always(1),
		variant: func(*failure) string { return "graphs" },
		do: func(f *failure) []string {
			return []string{"torch.cuda.graph(graph, pool=first.pool())  " + f.comment("do.share_pool"), f.comment("do.fewer_graphs")}
		}},
}
