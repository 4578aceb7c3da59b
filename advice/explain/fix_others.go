package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesOthers = []fixRow{
	{id: FixRebalanceRanks, source: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html",
		kinds: ownCode | imageTool, cost: 0.05,
		lives: map[string]float64{CauseImbalance: 0.97},
		when:  func(f *failure) bool { return f.program.is(ownCode) || f.oneHoldsAll() },
		saves: func(f *failure) (span, bool) {
			hold := max(f.aheadOfPeers(), f.driftsFromPeers(), f.evaluatesAlone())
			if f.crowded() {
				hold = f.othersHold()
			}
			return span{hold / 2, hold}, hold > 0
		},
		reach: func(f *failure) float64 {
			if f.crowded() && f.othersHold() > 0 && f.othersHold() < f.shortfallOr0() {
				return 0.4
			}
			return 0.95
		},
		pairs: func(f *failure) []any { return []any{"gpu", f.unlikeGPU()} },
		variant: func(f *failure) string {
			switch {
			case f.gathersState():
				return "state"
			case f.unshards():
				return "unshard"
			case f.collectsOnOne():
				return "collect"
			case f.gathersOutputs():
				return "gather"
			case f.firstRankAlone():
				return "first_rank"
			case f.evaluatesAlone() > 0:
				return "evaluates"
			case f.lastStage():
				return "stage"
			case f.unevenDomains():
				return "domains"
			case f.unevenlyRouted():
				return "experts"
			case f.inPipeline() && f.unevenPeers():
				return "stages"
			case f.tablesGrow():
				return "tables"
			case f.spreadLogits():
				return "logits"
			case f.aheadOfPeers() > 0, f.driftsFromPeers() > 0, f.toldOfImbalance() && !f.crowded():
				return "peers"
			case f.unlikeGPU() != "":
				return "unlike"
			case !f.ranks():
				return "spread"
			}
			return ""
		},
		do: func(f *failure) []string {
			switch {
			case f.consolidates():
				return []string{`torch.save(opt.optim.state_dict(), f"optimizer-{rank}.pt")  ` + f.comment("do.own_part")}
			case f.gathersState() && f.command.Runs("deepspeed"):
				return []string{`{"zero_optimization": {"stage3_gather_16bit_weights_on_model_save": false}}  ` + f.comment("do.zero_to_fp32")}
			case f.gathersState():
				return []string{"FullStateDictConfig(offload_to_cpu=True, rank0_only=True)  " + f.comment("do.full_state"),
					"StateDictType.SHARDED_STATE_DICT  " + f.comment("do.or")}
			case f.unshards():
				return []string{"FSDP.summon_full_params(model, rank0_only=True, writeback=False, offload_to_cpu=True)  " + f.comment("do.unshard"), f.comment("do.unshard_all")}
			case f.collectsOnOne():
				return []string{"x = x.cpu()  " + f.comment("do.before_gather"), `group = torch.distributed.new_group(backend="gloo")  ` + f.comment("do.gloo")}
			case f.gathersOutputs():
				return []string{"loss = criterion(model(x), y)  " + f.comment("do.loss_inside"), "torchrun --nproc_per_node N train.py  " + f.comment("do.ddp")}
			case f.unevenlyRouted():
				return []string{f.comment("do.experts_loss"), f.comment("do.experts_capacity")}
			case f.firstRankAlone():
				return []string{f.comment("do.first_rank_ram"), f.comment("do.first_rank_shared")}
			case f.evaluatesAlone() > 0:
				return []string{f.comment("do.evaluate_parts"), f.comment("do.gather_scores")}
			case f.lastStage():
				return []string{f.comment("do.last_stage")}
			case f.inPipeline() && f.unevenPeers():
				return f.fewerLayersFirst()
			case f.unevenDomains():
				return []string{f.comment("do.balance_load"), f.comment("do.even_domains")}
			case f.tablesGrow():
				return []string{f.comment("do.tables_rows"), f.comment("do.tables_host")}
			case f.spreadLogits():
				return []string{f.lessForLast()}
			case f.aheadOfPeers() > 0, f.driftsFromPeers() > 0, f.toldOfImbalance() && !f.crowded():
				return []string{f.comment("do.peers")}
			case f.unlikeGPU() != "":
				rest := "1"
				if f.unlikeGPU() == "1" {
					rest = "0"
				}
				return []string{"export CUDA_VISIBLE_DEVICES=" + rest + "  " + f.comment("do.without_gpu", "gpu", f.unlikeGPU())}
			}
			switch {
			case f.told(sampler.ToldInForce + `device_map="auto"`):
				return []string{f.comment("do.say.max_memory")}
			case f.oneHoldsAll() && !f.ranks() && f.ownLoading():
				return []string{`from_pretrained(name, device_map="auto", max_memory={0: "10GiB", 1: "20GiB"})  ` + f.comment("do.say.max_memory")}
			case f.oneHoldsAll() && !f.ranks():
				return []string{f.comment("do.spread_parts"), f.comment("do.or_that", "what", f.words.Say("do.say.max_memory"))}
			}
			list := []string{`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  ` + f.comment("do.set_device"),
				`torch.load(path, map_location="cpu")  ` + f.comment("do.map_location")}
			if f.told(sampler.ToldFirstGPU) && f.chosenGPUs() != anyGPU { // nothing that is hidden gets a context
				list = append([]string{f.visibleBefore()}, list...)
			}
			return list
		}},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseOtherProcess: 0.97, CauseUnattributed: 0.95, CauseUnknown: 0.35, CausePreallocation: 0.2},
		when: func(f *failure) bool {
			return !f.aloneOnGPU() && !f.besideTensorFlow() && f.event.Kind != sampler.KindMPS && (!f.refusedThoughFree() || f.halfRefused()) && !f.workersShare()
		},
		variant: func(f *failure) string {
			switch big := f.toStop(); {
			case big.PID > 0 && f.anotherWanted() != "":
				return "other_gpu"
			case f.copies() != nil:
				return "copies"
			case big.PID > 0 && big.Name == "":
				return "pid"
			case big.PID > 0:
				return "named"
			case f.makesContext() && f.told(sampler.ToldOtherGPUs):
				return "visible"
			case f.noSplit() || f.notOwn() == 0:
				return "unknown"
			case f.unattributed():
				return "hidden"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			if list := f.copies(); list != nil {
				low, _ := spanOf(list)
				return span{low * sampler.Bytes(len(list)), f.notOwn()}, true
			}
			if big := f.toStop(); big.PID > 0 && big.Bytes > 0 {
				return span{big.Bytes, big.Bytes}, true
			}
			high := f.elsewhere.Or(0)
			return span{min(f.othersHold(), high), high}, high > 0
		},
		reach: func(f *failure) float64 { // what others hold and what was missing are both known well
			if f.noSplit() && f.requested.Or(0) > f.total.Or(0)/6 {
				return 0.5 // one tensor of that size is the program's own doing
			}
			if f.noSplit() {
				return 1
			}
			if f.makesContext() || f.halfRefused() || f.makesSession() || f.littleIndex() || f.shareRefused() && f.requested.Or(0) < sampler.GiB/4 && f.phase() != sampler.PhaseValidation {
				return 1 // next to nothing was free when it came
			}
			if f.nearlyFree() {
				return 0.5 // the server can take that little less
			}
			if !f.elsewhere.Known() && f.class.cause != CauseOtherProcess {
				return 0.5
			}
			switch m, known := f.shortfall(); {
			case !known, f.othersHold() >= f.needed():
				return 1
			case f.othersHold() >= m:
				return 0.8
			}
			return 0.2
		},
		pairs: func(f *failure) []any {
			big := f.toStop()
			return []any{"pid", big.PID, "name", holderName(big), "size", gib(max(big.Bytes, 1)), "all", gib(f.notOwn()), "named", f.anotherWanted(),
				"count", len(f.copies()), "program", sampler.Clean(programName(big))}
		},
		do: doStopOther},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: ownCode | running, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.3}, // a request alone does not say how full the GPU was
		when: func(f *failure) bool {
			return !f.onHost() && f.event.Kind != sampler.KindMPS && !f.total.Known() && f.requested.Known() && !f.impossible() && len(f.others) == 0
		},
		variant: func(f *failure) string { return "unknown" },
		reach:   always(1),
		do:      doStopOther},
	{id: FixStopOtherProcess, source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		kinds: undecided, cost: 0,
		lives: map[string]float64{CauseUnknown: 0.75}, // where no batch is small enough, something else may hold the GPU
		when: func(f *failure) bool {
			return f.told(sampler.ToldAnyBatch) && f.program.is(undecided) && f.tool == nil && f.onlyMessage() && !f.numbers() && !f.onHost()
		},
		variant: func(f *failure) string { return "unknown" },
		reach:   always(1),
		do:      doStopOther},
	{id: FixStopOtherProcess, source: "https://docs.jupyter.org/en/latest/projects/kernels.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.3, CauseUnknown: 0.7, CauseOtherProcess: 0.9},
		when:    func(f *failure) bool { return f.ranBefore() || f.refusedVariables() },
		variant: func(f *failure) string { return "before" },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{"nvidia-smi  " + f.comment("do.who_holds"), f.comment("do.restart_kernel")}
		}},
	{id: FixStopOtherProcess, source: "https://docs.jupyter.org/en/latest/projects/kernels.html",
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.6, CauseUnknown: 0.75, CauseOtherProcess: 0.9}, // a cell that is run again finds what it left
		when: func(f *failure) bool {
			return (f.ranBefore() || f.told(sampler.ToldCell) && !f.onHost() && !f.impossible()) && f.notebook()
		},
		variant: func(f *failure) string { return "notebook" },
		reach:   always(1),
		do: func(f *failure) []string {
			return []string{f.comment("do.restart_kernel"), "nvidia-smi  " + f.comment("do.who_holds")}
		}},
	{id: FixStopOtherProcess, source: "https://docs.jupyter.org/en/latest/projects/kernels.html",
		kinds: ownCode, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.35, CauseUnknown: 0.45, CauseLeak: 0.5, CauseOtherProcess: 0.9, CauseValidationSpike: 0.2},
		when:    func(f *failure) bool { return f.told(sampler.ToldNotebook) && !f.onHost() && !f.impossible() },
		variant: func(f *failure) string { return "notebook" },
		reach: func(f *failure) float64 {
			if slices.ContainsFunc(f.context.Told, func(what string) bool { return strings.HasPrefix(what, sampler.ToldTried) }) {
				return 0.25 // who changes settings and runs again has a new kernel
			}
			if f.splitsLate() || f.phase() == sampler.PhaseLoading && !f.told(sampler.ToldGrowth) {
				return 0.5 // the steps that it ran, or that a model is loaded says why: nothing tells of a cell that ran before
			}
			if !f.told(sampler.ToldGrowth) && indexOf(f.event.Text, "cell") < 0 {
				return 0.75 // a notebook alone says nothing of a cell that ran before
			}
			return 1
		},
		do: func(f *failure) []string {
			return []string{f.comment("do.restart_kernel"), "nvidia-smi  " + f.comment("do.who_holds")}
		}},
}

// nearlyFree: what a server found free at start is little less than the share that it wants.
func (f *failure) nearlyFree() bool {
	l := f.event.MemoryLimit
	return f.event.Kind == sampler.KindStartupFree && l != nil && l.Allowed.Known() && f.free.Or(0) >= partOf(l.Allowed.Or(0), 0.85)
}

// gpuOptions are options that say on which GPU a program runs.
var gpuOptions = []string{"gpu", "gpu_id", "gpu_ids", "gpu_ranks", "device", "cuda_device", "device_id"}

// otherGPU is the one GPU that the command or a setting names, where the message is about another one and nothing hides any.
func (f *failure) otherGPU() (named string, ok bool) {
	if _, hidden := f.environment["CUDA_VISIBLE_DEVICES"]; hidden || !f.event.GPUIndex.Known() {
		return "", false
	}
	for _, what := range f.context.Told {
		if named, is := strings.CutPrefix(what, sampler.ToldDevice); is && named != strconv.Itoa(f.event.GPUIndex.Or(0)) {
			return named, true
		}
	}
	for _, a := range f.command.Arguments() {
		if slices.Contains(gpuOptions, a.Plain) {
			named = strings.TrimPrefix(a.Value, "cuda:")
			if n, err := strconv.Atoi(named); err == nil && n != f.event.GPUIndex.Or(0) {
				return named, true
			}
		}
	}
	return "", false
}

// anotherWanted is the one GPU that was asked for where it ran on another, which others hold; "" for none.
func (f *failure) anotherWanted() string {
	if named, ok := f.otherGPU(); ok {
		return named
	}
	return ""
}

// anyGPU stands for the numbers of GPUs that nobody told.
const anyGPU = "N"

// chosenGPUs are those that whoever writes gave to CUDA_VISIBLE_DEVICES, or a letter for their numbers.
func (f *failure) chosenGPUs() string {
	for _, what := range f.context.Told {
		if list, is := strings.CutPrefix(what, sampler.ToldVisible); is {
			return strings.ReplaceAll(list, " ", "")
		}
	}
	return anyGPU
}

// visibleBefore hides the other GPUs before anything can touch them.
func (f *failure) visibleBefore() string {
	return "CUDA_VISIBLE_DEVICES=" + f.chosenGPUs() + " python …  " + f.comment("do.visible_before")
}

// visibleRest are the GPUs of CUDA_VISIBLE_DEVICES without the one that failed, where several are named.
func (f *failure) visibleRest() (rest string, ok bool) {
	list := strings.Split(f.environment["CUDA_VISIBLE_DEVICES"], ",")
	at, known := f.event.GPUIndex.Value()
	if !known || len(list) < 2 || at < 0 || at >= len(list) {
		return "", false
	}
	return strings.Join(slices.Delete(list, at, at+1), ","), true
}

func doStopOther(f *failure) []string {
	var list []string
	if big := f.toStop(); big.PID > 0 {
		pid := strconv.Itoa(big.PID)
		list = append(list, "ps -o pid,user,lstart,cmd -p "+pid, "kill "+pid+"  "+f.comment("do.if_yours"))
		if copies := f.copies(); copies != nil {
			list = f.stopCopies(copies)
		}
		if named, ok := f.otherGPU(); ok {
			list = append([]string{"export CUDA_VISIBLE_DEVICES=" + named + "  " + f.comment("do.other_gpu", "named", named, "gpu", f.event.GPUIndex.Or(0))}, list...)
		}
	} else {
		list = append(list, "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv",
			"sudo fuser -v /dev/nvidia*  "+f.comment("do.hidden_holders"))
		if f.program.is(imageTool) {
			list = append([]string{f.comment("do.close_browser")}, list...)
		}
		if f.shareRefused() && !f.told(sampler.ToldInForce+"allow_growth") {
			list = append([]string{list[0], "export TF_FORCE_GPU_ALLOW_GROWTH=true  " + f.comment("do.allow_growth")}, list[1:]...)
		}
		if f.halfRefused() {
			list = []string{list[0], f.comment("do.kaldi_jobs")}
		}
		if named, ok := f.otherGPU(); ok {
			list = append([]string{"export CUDA_VISIBLE_DEVICES=" + named + "  " + f.comment("do.other_gpu", "named", named, "gpu", f.event.GPUIndex.Or(0))}, list...)
		} else if rest, ok := f.visibleRest(); ok {
			list = append([]string{list[0], "export CUDA_VISIBLE_DEVICES=" + rest + "  " + f.comment("do.leave_out", "gpu", f.event.GPUIndex.Or(0))}, list[1:]...)
		} else if f.environment["CUDA_VISIBLE_DEVICES"] != "" && f.event.GPUIndex.Known() {
			list = append([]string{list[0], `print(os.environ["CUDA_VISIBLE_DEVICES"])  ` + f.comment("do.visible_in_force")}, list[1:]...)
		} else if f.told(sampler.ToldOtherGPUs) && f.makesContext() {
			list = append([]string{f.visibleBefore()}, list...)
		} else if f.told(sampler.ToldOtherGPUs) {
			list = append([]string{list[0], f.visibleBefore()}, list[1:]...)
		} else if f.makesContext() || f.failedBuilding() {
			another := f.comment("do.say.free_gpu")
			if gpu := f.event.GPUIndex.Or(0); gpu > 0 {
				another = "export CUDA_VISIBLE_DEVICES=0  " + f.comment("do.free_gpu")
			} else if f.secondGPU() {
				another = "export CUDA_VISIBLE_DEVICES=1  " + f.comment("do.free_gpu")
			}
			list = append([]string{list[0], another}, list[1:]...)
		}
	}
	if need := f.wholeNeed(); need > 0 {
		list = append(list, "nvpeak wait --need "+need.GiBUp()+"  "+f.comment("do.wait"))
	}
	return list
}

// stopCopies ends all processes of one program: by the script that they run, unless this job, or what is no copy, would match that, too.
func (f *failure) stopCopies(copies []Neighbor) []string {
	var pids []string
	for _, p := range copies {
		pids = append(pids, strconv.Itoa(p.PID))
	}
	name := programName(copies[0])
	end := "pkill -f " + command.Quote(name)
	if len(command.Parse(copies[0].Command).Scripts()) == 0 || strings.Contains(f.command.Text, name) || slices.ContainsFunc(f.others, func(p Neighbor) bool {
		return strings.Contains(p.Command, name) && !slices.Contains(pids, strconv.Itoa(p.PID))
	}) {
		end = "kill " + strings.Join(pids, " ")
	}
	return []string{"ps -o pid,ppid,lstart,cmd -p " + strings.Join(pids, ",") + "  " + f.comment("do.left_behind"), end + "  " + f.comment("do.if_yours_all")}
}

// fewerLayersFirst gives the stages that hold most fewer layers, in the option of Megatron-LM where it is that.
func (f *failure) fewerLayersFirst() []string {
	lines := []string{f.comment("do.stages_fewer"), f.comment("do.stages_recompute")}
	if f.command.HasPlain("pipeline_model_parallel_size") {
		lines[0] = "--decoder-first-pipeline-num-layers N  " + lines[0] // https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py
	}
	return lines
}
