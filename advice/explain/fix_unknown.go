package explain

var fixesUnknown = []fixRow{
	{id: FixRecordRun, source: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",
		kinds: ownCode | running, cost: 0.1,
		lives: map[string]float64{CauseUnknown: 0.4},
		when:  func(f *failure) bool { return f.history == nil },
		reach: always(0.7), // it cures nothing by itself, and who reads a pasted text may not be able to run it
		do: func(f *failure) []string {
			command := "python train.py …"
			if f.command.Known {
				command = f.command.Text
			}
			return []string{"nvpeak run --record run.jsonl -- " + command}
		}},
}
