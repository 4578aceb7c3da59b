package explain

import "nvpeak/sampler"

// merges: adapters are put into the weights below them, layer by layer, and these come back from few bits to 16.
func (f *facts) merges() bool {
	return !f.onHost() && f.torchCode() && !f.isServing() && (f.inFunction("merge_and_unload", "_merge_lora", "merge_lora", "pretrained_merged", "merge_adapter", "fast_dequantize", "merge_and_overwrite_lora") ||
		f.inCode("merge_and_unload(", "save_pretrained_merged(", "merge_adapter(") || f.told(sampler.ToldMerges))
}

var causesMerging = []causeRow{
	{id: "merge", cause: CauseTooBig, reason: "https://huggingface.co/docs/peft/developer_guides/lora#merge-lora-weights-into-the-base-model",
		when:       func(f *failure) bool { return f.merges() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.88) },
		evidence:   func(f *failure) string { return f.words.Say("why.merging") }},
}

// fixesMerging: nothing of a merge needs a GPU.
var fixesMerging = []fixRow{
	{id: FixShardOrOffload, source: "https://docs.unsloth.ai/basics/running-and-saving-models/saving-to-gguf",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.95, CauseFragmentation: 0.8, CauseLeak: 0.6, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.merges() },
		reach:   always(1),
		variant: func(f *failure) string { return "merge" },
		do: func(f *failure) []string {
			lines := []string{`base = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16, device_map="cpu")` + "\n" +
				"PeftModel.from_pretrained(base, adapter_path).merge_and_unload().save_pretrained(out)  " + f.comment("do.merge_on_cpu")}
			if f.mergesUnsloth() {
				lines = append([]string{`model.save_pretrained_merged(out, tokenizer, save_method="merged_16bit", maximum_memory_usage=0.5)  ` + f.comment("do.merge_in_ram")}, lines...)
			}
			return lines
		}},
	{id: FixSaveOnCPU, source: "https://huggingface.co/docs/peft/developer_guides/checkpoint",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.9, CauseFragmentation: 0.8, CauseLeak: 0.6, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.merges() },
		reach:   always(1),
		variant: func(f *failure) string { return "adapters" },
		do: func(f *failure) []string {
			return []string{"model.save_pretrained(adapter_path)  " + f.comment("do.adapters_alone"), f.comment("do.delete_trainer")}
		}},
}

func (f *facts) mergesUnsloth() bool {
	return f.inFile("unsloth/") || f.inFunction("pretrained_merged") || f.inCode("save_pretrained_merged(") || f.tool != nil && f.tool.Name == "Unsloth"
}

// newBits: the message is one of PyTorch 2.1 or newer, and no frame is of the versions of bitsandbytes before, which copied weights while a
// state was collected.
func (f *failure) newBits() bool {
	return f.numbers() && f.event.ReservedUnallocated.Known() && !f.beforeExpandable() && !f.inFunction("undo_layout", "_save_to_state_dict")
}
