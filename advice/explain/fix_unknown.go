package explain

import "nvpeak/sampler"

// leadingVariables are those that a command line sets before the command.
var leadingVariables = sampler.Pattern{Source: `^(?:[A-Za-z_]\w*=\S*\s+)*`}

var fixesUnknown = []fixRow{
	// https://github.com/facebookresearch/faiss/issues/379
	{id: FixCapSampleSize, source: "https://github.com/facebookresearch/faiss/blob/main/CHANGELOG.md",
		kinds: ownCode | running, cost: 0.05, work: true,
		lives:   map[string]float64{CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.endless() && f.event.Framework == "faiss" }, // elsewhere a build or an input is as likely
		reach:   always(1),
		variant: func(*failure) string { return "overflow" },
		do: func(f *failure) []string {
			return []string{f.comment("do.index_shards"), f.comment("do.overflow_version")}
		}},
	{id: FixRecordRun, source: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		kinds: ownCode | running, cost: 0.1,
		lives: map[string]float64{CauseUnknown: 0.4},
		when:  func(f *failure) bool { return f.history == nil && f.ofNVIDIA() && (!f.onWindows() || f.withinWSL()) }, // where nvpeak is not
		reach: always(0.7),                                                                                            // it cures nothing by itself, and who reads a pasted text may not be able to run it
		do: func(f *failure) []string {
			command := "COMMAND"
			if f.program.is(training) && f.torchCode() {
				command = "python train.py …"
			}
			if f.command.Known {
				command = f.command.Text
			}
			variables := leadingVariables.Get().FindString(command) // a shell takes them before a command only
			return []string{variables + "nvpeak run --record run.jsonl -- " + command[len(variables):]}
		}},
}
