package explain

import "nvpeak/sampler"

// fixesSaving are for failures while a checkpoint is written: training fits, and the copy does not.
var fixesSaving = []fixRow{
	{id: FixSaveOnCPU, source: "https://docs.pytorch.org/docs/stable/distributed.checkpoint.html",
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.8, CauseUnknown: 0.75, CauseFragmentation: 0.7, CauseLeak: 0.3, CauseDataSpike: 0.5, CauseOtherProcess: 0.3},
		when: func(f *failure) bool {
			return !f.onHost() && f.phase() == sampler.PhaseSaving && f.isPyTorch() && !f.gathersState()
		},
		do: func(f *failure) []string {
			return []string{"model.cpu(); torch.save(model.state_dict(), path); model.cuda()",
				"torch.distributed.checkpoint.save(state_dict, checkpoint_id=path)  " + f.comment("do.save_sharded")}
		}},
}
