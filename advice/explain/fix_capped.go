package explain

import (
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// fixesCapped are for single inputs that are larger than all before them, where the program itself says how it takes less of one.
var fixesCapped = []fixRow{
	{id: FixCapSampleSize, source: "https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.loader.NeighborLoader.html",
		kinds: training | evaluation | undecided, cost: 0.02,
		lives:   map[string]float64{CauseDataSpike: 0.99, CauseTooBig: 0.9, CauseFragmentation: 0.9, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.takesAllNeighbors() && !f.onHost() && f.inTraining() },
		reach:   always(1), // a hub brings as many with half of a batch
		variant: func(*failure) string { return "hubs" },
		do: func(f *failure) []string {
			return []string{"NeighborLoader(data, num_neighbors=[15, 10], batch_size=1024, input_nodes=data.train_mask)  " + f.comment("do.neighbors")}
		}},
	{id: FixCapSampleSize, source: "https://onnxruntime.ai/docs/get-started/with-python.html",
		kinds: ownCode | running, cost: 0,
		lives:   map[string]float64{CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.endless() },
		reach:   always(1),
		variant: func(*failure) string { return "absurd" },
		do: func(f *failure) []string {
			return []string{f.comment("do.log_size"), f.comment("do.size_elsewhere")}
		}},
	{id: FixCapSampleSize, source: "https://docs.axolotl.ai/docs/multipack.html",
		kinds: ownCode, cost: 0.01,
		lives:   map[string]float64{CauseTooBig: 0.98, CauseDataSpike: 0.98, CauseUnknown: 0.9},
		when:    func(f *failure) bool { return f.packs() },
		reach:   always(1),
		variant: func(*failure) string { return "packing" },
		do: func(f *failure) []string {
			return []string{f.comment("do.no_packing"), f.comment("do.newer_packing")}
		}},
	{id: FixCapSampleSize, source: "https://huggingface.co/docs/diffusers/optimization/memory",
		kinds: imageTool, cost: 0.02, // all others go through as they are
		lives: map[string]float64{CauseDataSpike: 0.98},
		when: func(f *failure) bool {
			return f.recorded() && (f.bigRequest() || f.variedWell()) && !f.onHost() && !f.impossible() && !f.hugeAttention() && f.phase() != sampler.PhaseLoading
		},
		reach: always(1),
		variant: func(f *failure) string {
			if !f.requested.Known() {
				return "picture_plain"
			}
			return "picture"
		},
		pairs: func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do:    doSmallerInput},
}

// takesAllNeighbors: the command says that a sample brings all that a node is joined to.
func (f *failure) takesAllNeighbors() bool {
	return slices.ContainsFunc(f.command.Arguments(), func(a command.Argument) bool {
		return a.Value == "-1" && (strings.Contains(a.Plain, "neighbor") || strings.Contains(a.Plain, "neighbour") || strings.Contains(a.Plain, "fanout") || strings.Contains(a.Plain, "fan_out"))
	})
}

// packs: samples are packed into one sequence, and a request comes of it that no GPU of that size has. Attention that knows of packing asks for no
// more than for as many tokens of one sample, so the job alone need not be that big.
func (f *facts) packs() bool {
	return f.told(sampler.ToldPacks) && f.impossible() && f.phase() != sampler.PhaseLoading
}
