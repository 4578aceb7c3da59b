package explain

import (
	"slices"

	"nvpeak/sampler"
)

// fixesWhole are for what goes through a model whole and need not: all that is read, or in a validation what training sees in parts (a volume by crops, a
// graph by neighborhoods).
var fixesWhole = []fixRow{
	{id: FixCapSampleSize, source: "https://github.com/mahmoodlab/CLAM/blob/master/README.md",
		kinds: ownCode, cost: 0.03,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseDataSpike: 0.98, CauseFragmentation: 0.9, CauseUnknown: 0.75},
		when:    func(f *failure) bool { return f.told(sampler.ToldBags) && !f.onHost() && !f.refusedThoughFree() },
		reach:   always(1),
		variant: func(f *failure) string { return "bags" },
		do: func(f *failure) []string {
			return []string{f.comment("do.part_of_bag"), f.comment("do.lower_magnification")}
		}},
	{id: FixSmallerInput, source: "https://huggingface.co/docs/transformers/main_classes/pipelines",
		kinds: ownCode, cost: 0.02, // the answers are the same
		lives:   map[string]float64{CauseTooBig: 0.97, CauseUnknown: 0.8, CauseDataSpike: 0.95, CauseFragmentation: 0.9},
		when:    func(f *failure) bool { return f.allAtOnce() && !f.onHost() && !f.refusedThoughFree() },
		reach:   always(1),
		variant: func(f *failure) string { return "all_at_once" },
		do: func(f *failure) []string {
			return []string{f.comment("do.loop_parts"), f.comment("do.split_before")}
		}},
	{id: FixCapSampleSize, source: "https://docs.monai.io/en/stable/inferers.html#sliding-window-inference-function",
		kinds: ownCode, cost: 0.01,
		lives:   map[string]float64{CauseValidationSpike: 0.98, CauseTooBig: 0.95, CauseDataSpike: 0.97, CauseFragmentation: 0.75, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.slides() && f.phase() == sampler.PhaseValidation && !f.onHost() },
		reach:   always(1), // there is room in RAM for what lies on the GPU
		variant: func(f *failure) string { return "sliding" },
		do: func(f *failure) []string {
			return []string{`sliding_window_inference(…, sw_device="cuda", device="cpu")  ` + f.comment("do.stitch_on_cpu")}
		}},
	{id: FixSmallerInput, source: "https://docs.monai.io/en/stable/inferers.html#sliding-window-inference-function",
		kinds: ownCode, cost: 0.01,
		lives: map[string]float64{CauseHostMemory: 0.93},
		when: func(f *failure) bool {
			return f.told(sampler.ToldSliding) && f.class.class == classHost && !f.program.is(training)
		},
		reach: always(1), // the output has a map of the whole volume for each class
		do:    func(f *failure) []string { return f.lessInput() }},
	{id: FixShrinkValidationBatch, source: "https://www.dgl.ai/dgl_docs/guide/minibatch-inference.html",
		kinds: training | evaluation | undecided, cost: 0.02,
		lives: map[string]float64{CauseValidationSpike: 0.97, CauseTooBig: 0.9, CauseDataSpike: 0.9, CauseFragmentation: 0.8, CauseUnknown: 0.7, CauseHostMemory: 0.93},
		when:  func(f *failure) bool { return f.validatesGraph() },
		reach: always(1),
		variant: func(f *failure) string {
			if f.onHost() {
				return "graph_host"
			}
			return "graph"
		},
		do: func(f *failure) []string {
			lines := []string{"NeighborLoader(data, num_neighbors=[-1], batch_size=1024, shuffle=False)  " + f.comment("do.layer_by_layer"), "model.cpu(); out = model(x.cpu(), edge_index.cpu())  " + f.comment("do.graph_on_cpu")}
			if f.usesDGL() {
				lines = []string{"dgl.dataloading.DataLoader(g, nodes, MultiLayerFullNeighborSampler(1), batch_size=1024)  " + f.comment("do.layer_by_layer"), "model.cpu(); pred = model(g.cpu(), x.cpu())  " + f.comment("do.graph_on_cpu")}
			}
			if f.onHost() {
				return lines[:1] // where it is already
			}
			if f.language() == "" && !f.told(sampler.ToldTried+"no_grad") && !f.inFunction("decorate_context") {
				lines = append([]string{f.comment("do.say.no_grad")}, lines...)
			}
			return lines
		}},
}

// fewerWindows is the command with fewer windows at once, or what to type.
func (f *failure) fewerWindows() []string {
	half := func(v float64) float64 { return max(1, float64(int(v/2))) }
	if text, _, ok := f.command.WithLess(half, "sw_batch_size", "sliding_window_batch_size"); ok {
		return []string{text}
	}
	return []string{"sliding_window_inference(…, sw_batch_size=1)  " + f.comment("do.fewer_windows")}
}

// wholeGraphs are what code that works on one large graph has in its calls. A word for edges alone is in that of meshes, too.
var wholeGraphs = sampler.Pattern{Source: `(?i)edge_index|\badj\w*|\bdgl\.|\bdata\.x\b|\bNeighborLoader\b|\b(?:num_neighbors|fanouts?)\b`}

// aboutGraph: libraries for graphs, their calls or options, or words of whoever writes say that one graph is what is worked on.
func (f *failure) aboutGraph() bool {
	return f.usesDGL() || f.told(sampler.ToldWholeGraph) || f.inFile("torch_geometric/", "ogb/") || f.command.HasPlain("fanout", "fanouts", "num_neighbors") ||
		slices.ContainsFunc(f.context.Code, func(line string) bool { return wholeGraphs.Get().MatchString(line) }) || len(f.context.Code) == 0
}

// validatesGraph: a whole graph goes through the model at once in validation. What is read by a loader goes in batches.
func (f *failure) validatesGraph() bool {
	_, batch := f.command.EvalBatchArgument()
	return f.phase() == sampler.PhaseValidation && f.domain() == sampler.DomainGraph && f.torchCode() && f.aboutGraph() && !batch && !f.inCode("loader") && !f.failedBuilding()
}

func (f *facts) usesDGL() bool {
	return f.tool != nil && f.tool.Name == "DGL" || f.inFile("dgl/") || slices.ContainsFunc(f.context.Code, func(line string) bool { return dglCall.Get().MatchString(line) })
}

var dglCall = sampler.Pattern{Source: `\bdgl\.|\b(?:graph|g|block)\.(?:apply_edges|update_all|ndata|srcdata)\b`}

// allAtOnce: all that a program reads goes through its model at once, for which a batch is wished. A training has one, whoever may set it.
func (f *failure) allAtOnce() bool {
	return f.told(sampler.ToldAllAtOnce) && !f.program.is(training)
}
