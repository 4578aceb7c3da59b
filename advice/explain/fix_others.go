package explain

import (
	"strconv"

	"nvpeak/sampler"
)

var fixesOthers = []fixRow{
	{id: "rebalance_ranks", source: "https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_device.html",
		fits: map[string]float64{"imbalance": 1},
		when: func(f *failure) bool { return true },
		saves: func(f *failure) (span, bool) {
			hold := f.othersHold()
			return span{hold / 2, hold}, hold > 0
		},
		reach: func(f *failure) float64 {
			if f.missingOr0() > 0 && f.othersHold() > 0 && f.othersHold() < f.missingOr0() {
				return 0.4
			}
			return 0.95
		},
		do: func(f *failure) []string {
			return []string{`torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  ` + f.comment("do.set_device"),
				`torch.load(path, map_location="cpu")  ` + f.comment("do.map_location")}
		}},
	{id: "stop_other_process", source: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
		fits: map[string]float64{"other_process": 1, "unattributed": 1, "unknown": 0.7},
		when: func(f *failure) bool { return !f.refusedThoughFree() },
		variant: func(f *failure) string {
			switch {
			case len(f.others) > 0 && f.biggestOther().Name == "":
				return "pid"
			case len(f.others) > 0:
				return "named"
			case f.noSplit() || !f.elsewhere.Known():
				return "unknown"
			case f.unattributed():
				return "hidden"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			high := f.elsewhere.Or(0)
			return span{min(f.othersHold(), high), high}, high > 0
		},
		reach: func(f *failure) float64 { // what others hold and what was missing are both known well
			if f.noSplit() {
				return 1
			}
			if !f.elsewhere.Known() && f.class.cause != "other_process" {
				return 0.5
			}
			switch m, known := f.missing(); {
			case !known, f.othersHold() >= f.needed():
				return 1
			case f.othersHold() >= m:
				return 0.8
			}
			return 0.2
		},
		pairs: func(f *failure) []any {
			big := f.biggestOther()
			return []any{"pid", big.PID, "name", holderName(big), "size", gib(max(big.Bytes, 1)), "all", gib(f.elsewhere.Or(0))}
		},
		do: doStopOther},
	{id: "cap_preallocation", source: sourceJAX,
		fits: map[string]float64{"preallocation": 1, "other_process": 0.55},
		when: func(f *failure) bool {
			return f.preallocator() != "" || f.isServing() || f.outside.Or(0) > 3*sampler.GiB
		},
		variant: func(f *failure) string { return f.preallocator() },
		reach:   always(0.9),
		saves: func(f *failure) (span, bool) {
			hold := max(f.outside.Or(0), f.othersHold())
			return span{0, hold}, hold > 0 && !f.isServing()
		},
		do: doCapPreallocation},
}

func doStopOther(f *failure) []string {
	var list []string
	if big := f.biggestOther(); big.PID > 0 {
		pid := strconv.Itoa(big.PID)
		list = append(list, "ps -o pid,user,lstart,cmd -p "+pid, "kill "+pid+"  "+f.comment("do.if_yours"))
	} else {
		list = append(list, "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv",
			"sudo fuser -v /dev/nvidia*  "+f.comment("do.hidden_holders"))
	}
	if need := f.wholeNeed(); need > 0 {
		list = append(list, "nvpeak wait --need "+need.GiBUp()+"  "+f.comment("do.wait"))
	}
	return list
}

// needSize is an amount for a command line.
type needSize sampler.Bytes

// GiBUp is the amount rounded up to whole GiB: "38G".
func (n needSize) GiBUp() string {
	return strconv.FormatUint((uint64(n)+uint64(sampler.GiB)-1)/uint64(sampler.GiB), 10) + "G"
}

// wholeNeed is what the process held and wanted in all.
func (f *failure) wholeNeed() needSize {
	if !f.allocated.Known() || !f.requested.Known() {
		return 0
	}
	need := f.process.Or(f.reserved()+ContextTypical) + f.requested.Or(0)
	if need > f.total.Or(need) {
		return 0 // no card of this size will ever have it
	}
	return needSize(need)
}

// preallocator guesses which program took the card in advance, by what it takes: JAX 75 % of
// the card, vLLM 90 or 92 %; or by its name. "" when nothing points to one.
func (f *failure) preallocator() string {
	if f.isServing() {
		return f.server()
	}
	big := f.biggestOther()
	text := big.Name + " " + big.Command
	for _, row := range []struct{ part, name string }{{"vllm", "vllm"}, {"sglang", "sglang"}, {"jax", "jax"}, {"tensorflow", "tensorflow"}} {
		if indexOf(text, row.part) >= 0 {
			return row.name
		}
	}
	part := float64(max(big.Bytes, f.outside.Or(0))) / float64(max(1, f.total.Or(1)))
	switch {
	case part > 0.735 && part < 0.775:
		return "jax"
	case f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] != "" || f.environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] != "":
		return "jax"
	case f.outside.Or(0) > partOf(f.total.Or(0), 0.5):
		return "tensorflow"
	}
	return ""
}

// freeShare is the share of the card that a server which found too little could have, less a
// hundredth for what moves meanwhile.
func (f *failure) freeShare() (float64, bool) {
	if f.event.Kind != sampler.KindStartupFree || !f.free.Known() || f.total.Or(0) == 0 {
		return 0, false
	}
	share := float64(int(100*float64(f.free.Or(0))/float64(f.total.Or(0)))-1) / 100
	return share, share >= 0.1
}

func doCapPreallocation(f *failure) []string {
	switch f.preallocator() {
	case "vllm":
		if share, ok := f.freeShare(); ok {
			if text, _, ok := f.command.WithNumber(func(float64) float64 { return share }, "gpu_memory_utilization"); ok {
				return []string{text}
			}
			return []string{"vllm serve MODEL --gpu-memory-utilization " + plainNumber(share)}
		}
		lower := func(v float64) float64 { return float64(int(v*100+0.5)-10) / 100 }
		if text, _, ok := f.command.WithNumber(lower, "gpu_memory_utilization"); ok {
			return []string{text}
		}
		return []string{"vllm serve MODEL --gpu-memory-utilization 0.8 --max-num-seqs 64"}
	case "sglang":
		return []string{"python -m sglang.launch_server --model-path MODEL --mem-fraction-static 0.7"}
	case "tensorflow":
		return []string{"export TF_FORCE_GPU_ALLOW_GROWTH=true"}
	}
	return []string{"export XLA_PYTHON_CLIENT_PREALLOCATE=false", "export XLA_PYTHON_CLIENT_MEM_FRACTION=.30  " + f.comment("do.or")}
}
