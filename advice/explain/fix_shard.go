package explain

import "nvpeak/sampler"

// fixesShard divide what is always there among GPUs, or between them and RAM.
var fixesShard = []fixRow{
	{id: FixShardOrOffload, source: "https://deepspeed.readthedocs.io/en/latest/memory.html",
		kinds: training | undecided, cost: 0.28,
		lives: map[string]float64{CauseTooBig: 0.9, CauseFragmentation: 0.5, CauseImbalance: 0.4, CauseOtherProcess: 0.2},
		when: func(f *failure) bool {
			return f.isPyTorch() && f.event.Kind != sampler.KindMPS && (f.inTraining() || f.phase() == sampler.PhaseLoading) && (!f.sharded() || f.shardsMore()) && !f.splats() && !f.refusedThoughFree() && (f.stateDominated() || !f.footprint.known)
		},
		variant: func(f *failure) string {
			switch {
			case f.ranksLoadAll():
				return "ranks"
			case f.phase() == sampler.PhaseLoading:
				return "loading"
			case f.shardsMore():
				return "more"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return f.footprint.states.times(0.4, 0.85), f.footprint.known
		},
		reach: func(f *failure) float64 {
			if f.ranksLoadAll() {
				return 1.9 // each GPU keeps its part only; nothing that a step needs matters yet
			}
			if f.phase() == sampler.PhaseLoading {
				return 0.9
			}
			if f.stateDominated() {
				return 1.6 // nothing about the batch helps then
			}
			if f.told(sampler.ToldGPUs) {
				return 0.55
			}
			return 0.35
		},
		do: doShard},
	{id: FixShardOrOffload, source: "https://github.com/kohya-ss/musubi-tuner/blob/main/docs/hunyuan_video.md",
		kinds: training, cost: 0.05, // an option of the program, and the same result
		lives: map[string]float64{CauseTooBig: 0.93, CauseUnknown: 0.7},
		when: func(f *failure) bool {
			return f.offloadLever() != "" && f.inTraining() && f.batch() == 1 && f.usesLoRA() && !f.onHost() && f.phase() != sampler.PhaseSaving
		},
		reach:   always(1),
		variant: func(*failure) string { return "parts" },
		do:      func(f *failure) []string { return []string{f.offloadLine()} }},
	{id: FixShardOrOffload, source: "https://huggingface.co/docs/accelerate/usage_guides/big_modeling",
		kinds: evaluation | inference, cost: 0.02, // the other GPUs are there, and the answers are the same
		lives: map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.6},
		when:  func(f *failure) bool { return f.othersIdle() },
		variant: func(f *failure) string {
			if f.shows(sampler.ShowsFewBits) {
				return "server"
			}
			return "idle"
		},
		reach: always(1),
		do: func(f *failure) []string {
			lines := []string{f.comment("do.spread_parts"), f.comment("do.fewer_bits")}
			if f.shows(sampler.ShowsFewBits) {
				lines = lines[:1]
			}
			if f.ownLoading() {
				lines[0] = `from_pretrained(name, device_map="auto", torch_dtype="auto")  ` + f.comment("do.device_map")
			}
			return lines
		}},
	{id: FixShardOrOffload, source: "https://deepspeed.readthedocs.io/en/latest/memory.html",
		kinds: training, cost: 0.15,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.7, CauseOversubscribed: 0.9},
		when: func(f *failure) bool { // 16 bytes for each weight, and one sample beside
			small := f.total.Known() && f.total.Or(0) <= 16*sampler.GiB // 14 GiB are the weights alone, in 16 bits
			if f.finetunesOnSeveral() {
				return true
			}
			if f.told(sampler.ToldOutsized) && f.inTraining() && f.isPyTorch() && !f.usesLoRA() {
				return true // no batch is at work yet
			}
			return f.told(sampler.ToldBillions) && (f.oneSample() && (!f.numbers() || f.told(sampler.ToldSharded)) && !(f.told(sampler.ToldSharded) && f.told(sampler.ToldOffload)) || small) && !f.usesLoRA() && !f.onHost() && f.inTraining() && f.isPyTorch()
		},
		reach: always(1),
		do:    doShard},
}

// finetunesOnSeveral: a model of others is trained on with one sample for each of several GPUs, as is said, and no word says that they divide it. Gradients
// and the optimizer's state are on each of them as a whole, and nothing of them follows the sample.
func (f *failure) finetunesOnSeveral() bool {
	return f.told(sampler.ToldFineTunes) && f.batch() == 1 && f.severalGPUs() && !f.numbers() && !f.sharded() && !f.told(sampler.ToldSharded) && !f.usesLoRA() && !f.onHost() && f.torchCode() && f.inTraining() && f.phase() == ""
}

// loadsAny: some model is moved to the GPU, and nothing tells what it is for.
func (f *failure) loadsAny() bool {
	return f.program.is(undecided) && f.phase() == sampler.PhaseLoading && f.torchCode() && !f.onHost()
}

// ranksLoadAll: each rank of a training loads the whole model onto its own GPU, which the weights alone fill.
func (f *failure) ranksLoadAll() bool {
	return f.phase() == sampler.PhaseLoading && f.program.is(training) && f.event.Rank.Known() && f.allocated.Or(0) > partOf(f.total.Or(sampler.MaxPlausible), 0.85) && f.requested.Or(0) < partOf(f.allocated.Or(0), 0.02) &&
		!f.sharded() && !f.ranksLoad() && !f.othersMatter()
}

func doShard(f *failure) []string {
	if f.ranksLoadAll() { // device_map="auto" is refused there: https://huggingface.co/docs/accelerate/usage_guides/big_modeling
		return []string{`{"zero_optimization": {"stage": 3}}  ` + f.comment("do.zero_init"), f.comment("do.fsdp_load")}
	}
	if f.phase() == sampler.PhaseLoading {
		return []string{`AutoModelForCausalLM.from_pretrained(name, device_map="auto", torch_dtype="auto")  ` + f.comment("do.device_map")}
	}
	if f.told(sampler.ToldOutsized) && (f.told(sampler.ToldSharded) || f.deepspeed()) {
		return []string{"with deepspeed.zero.Init(config_dict_or_path=config):\n    model = …  " + f.comment("do.zero_init"),
			`{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}`}
	}
	if f.shardsMore() || f.told(sampler.ToldSharded) {
		return []string{`{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}}  ` + f.comment("do.zero")}
	}
	return []string{"from torch.distributed.fsdp import fully_shard", "fully_shard(model)  " + f.comment("do.fsdp"),
		`{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}  ` + f.comment("do.zero")}
}

// shardsMore: DeepSpeed shards already, and what it keeps for the optimizer is still too much for the GPU.
func (f *failure) shardsMore() bool {
	return (f.outgrownStates() || f.checkpointedFull()) && (f.event.Framework == "deepspeed" || f.command.Runs("deepspeed") || f.command.HasPlain("deepspeed", "deepspeed_config"))
}
