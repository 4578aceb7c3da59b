package explain

import "nvpeak/sampler"

// fixesSaving are for failures while a checkpoint is written: training fits, and the copy does not.
var fixesSaving = []fixRow{
	{id: FixSaveOnCPU, source: "https://docs.pytorch.org/docs/stable/distributed.checkpoint.html",
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.8, CauseUnknown: 0.75, CauseFragmentation: 0.7, CauseLeak: 0.3, CauseDataSpike: 0.5, CauseOtherProcess: 0.3},
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == sampler.PhaseSaving && f.torchCode() && !f.gathersState() && !f.merges() && !f.exports()
		},
		variant: func(f *failure) string {
			switch {
			case f.bitsSaved() && f.newBits():
				return "adapters"
			case f.bitsSaved():
				return "bits"
			}
			return ""
		},
		do: func(f *failure) []string {
			if f.bitsSaved() && f.newBits() {
				return []string{"model.save_pretrained(adapter_path)  " + f.comment("do.adapters_alone"), f.comment("do.save_adapters")}
			}
			if f.bitsSaved() {
				return []string{f.comment("do.update_bits"), f.comment("do.save_adapters")}
			}
			return []string{"model.cpu(); torch.save(model.state_dict(), path); model.cuda()",
				"torch.distributed.checkpoint.save(state_dict, checkpoint_id=path)  " + f.comment("do.save_sharded")}
		}},
	{id: FixSaveOnCPU, source: "https://docs.pytorch.org/docs/stable/distributed.checkpoint.html",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseValidationSpike: 0.5, CauseUnknown: 0.4, CauseTooBig: 0.3}, // or the validation itself, by the same words
		when:    func(f *failure) bool { return !f.onHost() && f.afterValidation() },
		reach:   always(1),
		variant: func(f *failure) string { return "afterwards" },
		do: func(f *failure) []string {
			return []string{f.comment("do.leave_out_saving"), f.comment("do.save_in_ram")}
		}},
	{id: FixSaveOnCPU, source: "https://docs.pytorch.org/docs/stable/distributed.checkpoint.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseHostMemory: 0.9}, // the GPU has its state, and the copy in RAM is too large
		when:    func(f *failure) bool { return f.class.class == classHost && f.phase() == sampler.PhaseSaving },
		reach:   always(1),
		variant: func(f *failure) string { return "host" },
		do: func(f *failure) []string {
			return []string{"torch.distributed.checkpoint.save(state_dict, checkpoint_id=path)  " + f.comment("do.save_sharded"),
				"StateDictType.SHARDED_STATE_DICT  " + f.comment("do.or"), f.comment("do.save_less")}
		}},
}

// bitsSaved: weights in few bits are trained under adapters, which alone need to be saved, and cannot be moved to the CPU.
func (f *failure) bitsSaved() bool { return f.shows(sampler.ShowsFewBits) && !f.fsdp() }
