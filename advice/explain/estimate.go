package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// span is an amount between two bounds.
type span struct{ low, high sampler.Bytes }

func (s span) mid() sampler.Bytes { return s.low/2 + s.high/2 }

// times multiplies both bounds.
func (s span) times(low, high float64) span { return span{partOf(s.low, low), partOf(s.high, high)} }

// footprint divides what the allocator held into what the batch does not change (weights,
// gradients, optimizer) and what it does (activations).
type footprint struct {
	states, activations span
	parameters          uint64 // 0: not known
	known               bool   // from a parameter count; otherwise a guess with wide bounds
	bytesLow, bytesHigh float64
	basis               string // message id of the assumption
	// beyond: weights, gradients and optimizer want more than was allocated, so they were still
	// being built when it died. statesWanted is what they want in all.
	beyond       bool
	statesWanted sampler.Bytes
}

// stateRow is how many bytes one parameter costs. Figures:
// https://huggingface.co/docs/transformers/model_memory_anatomy (fp32 and mixed, AdamW),
// https://github.com/EleutherAI/cookbook/blob/main/calc/calc_transformer_mem.py (pure bf16, 8-bit, SGD).
type stateRow struct {
	basis     string
	low, high float64
	fits      func(*failure) bool
}

var stateRows = []stateRow{
	{"basis.inference_quantized", 0.5, 1.1, func(f *failure) bool {
		return f.phase() == phaseInference && (f.context.Precision == "int8" || f.context.Precision == "nf4")
	}},
	{"basis.inference", 2, 4, func(f *failure) bool { return f.phase() == phaseInference }},
	{"basis.lora", 0.5, 3, func(f *failure) bool { return f.usesLoRA() }},
	{"basis.sgd", 8, 12, func(f *failure) bool { return f.optimizer() == "sgd" }},
	{"basis.adam8bit", 10, 12, func(f *failure) bool { return f.optimizer() == "adam8bit" }},
	{"basis.adafactor", 8, 13, func(f *failure) bool { return f.optimizer() == "adafactor" }},
	{"basis.bf16", 8, 18, func(f *failure) bool { return f.context.Precision == "bf16" || f.context.Precision == "fp16" }},
	{"basis.fp32", 16, 18, func(*failure) bool { return true }},
}

// estimate divides the allocated memory. Without a parameter count the bounds are wide: 20 to
// 90 % activations in training, most of it in validation and inference unknown.
func (f *failure) estimate() footprint {
	allocated := f.allocated.Or(f.process.Or(0))
	p := footprint{parameters: f.context.Parameters.Or(0)}
	for _, row := range stateRows {
		if row.fits(f) {
			p.basis, p.bytesLow, p.bytesHigh = row.basis, row.low, row.high
			break
		}
	}
	low, high := float64(p.parameters)*p.bytesLow, float64(p.parameters)*p.bytesHigh
	if p.parameters > 0 && low <= float64(allocated) && f.phase() != phaseLoading {
		p.known = true
		p.states = span{sampler.Bytes(low), min(sampler.Bytes(high), allocated)}
		p.activations = span{allocated.Less(p.states.high), allocated.Less(p.states.low)}
		return p
	}
	p.beyond = f.inTraining() && f.firstSteps() && p.parameters > 0 && low > float64(allocated) && !f.sharded() && !f.usesLoRA()
	p.statesWanted = sampler.Bytes(min(low, float64(sampler.Sane)))
	if !p.beyond {
		p.basis = "basis.unknown"
	}
	lowPart, highPart := 0.3, 0.9
	if f.phase() == phaseLoading {
		lowPart, highPart = 0, 0.1
	}
	p.activations = span{partOf(allocated, lowPart), partOf(allocated, highPart)}
	p.states = span{partOf(allocated, 1-highPart), partOf(allocated, 1-lowPart)}
	return p
}

// stateDominated: most of the memory does not depend on the batch.
func (f *failure) stateDominated() bool {
	if f.statesTooBig() || f.inOptimizer() && !f.late() {
		return true
	}
	if f.footprint.known {
		return f.footprint.activations.mid() < partOf(f.allocated.Or(0), 0.35)
	}
	return f.phase() == phaseLoading
}

// statesTooBig: what does not follow the batch is alone too large for the card, or leaves next
// to nothing of it (own threshold: 85 %).
func (f *failure) statesTooBig() bool {
	p := f.footprint
	return (p.beyond && p.statesWanted > partOf(f.roomForProcess(), 0.85) || p.known && p.states.low > partOf(f.roomForProcess(), 0.85)) && f.total.Known()
}

// firstSteps: it died before the optimizer's state was complete, in one of the first two steps.
func (f *failure) firstSteps() bool {
	step, known := f.context.Step.Value()
	return f.context.FirstStep || f.inOptimizer() || known && step <= 2 && f.context.Epoch.Or(0) <= 1
}

// inOptimizer: it died while the optimizer made its state or stepped; activations are gone by then.
func (f *failure) inOptimizer() bool {
	return f.inFunction("optimizer_step", "_init_group", "_single_tensor_adam", "_multi_tensor_adam", "adamw")
}

func (f *failure) usesLoRA() bool {
	if f.inTraining() && (f.context.Precision == "nf4" || f.context.Precision == "int8") {
		return true // quantized weights are not trained themselves
	}
	return slices.ContainsFunc(f.command.Arguments(), func(a command.Argument) bool {
		n := a.Plain
		return strings.HasPrefix(n, "lora") || n == "use_peft" || n == "use_lora" || n == "peft" || n == "qlora"
	})
}

// optimizer is the optimizer as far as the command or the traceback tells: sgd, adam, adam8bit,
// adafactor or "".
func (f *failure) optimizer() string {
	a, _ := f.command.Find("optim", "optimizer", "opt")
	name := strings.ToLower(a.Value)
	for _, row := range []struct{ part, name string }{
		{"8bit", "adam8bit"}, {"8_bit", "adam8bit"}, {"adafactor", "adafactor"}, {"lion", "adafactor"}, {"adam", "adam"}, {"sgd", "sgd"},
	} {
		if strings.Contains(name, row.part) {
			return row.name
		}
	}
	if f.inFunction("adam") || f.inCode("Adam") {
		return "adam"
	}
	return ""
}

// gpuModel is what the name of a card tells of its abilities.
type gpuModel struct {
	name  string
	major int // of the compute capability; 0: not known
	minor int
	soc   bool // Jetson and the like: host memory serves the GPU
}

// bf16 needs compute capability 8.0. known is false when the card is not known.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities
func (g gpuModel) bf16() (yes, known bool) { return g.major >= 8, g.major > 0 }

// gpuNames gives the compute capability by name, the first part found decides. From
// https://developer.nvidia.com/cuda-gpus and https://developer.nvidia.com/cuda-legacy-gpus
var gpuNames = []struct {
	parts        []string
	major, minor int
}{
	{[]string{"quadro rtx", "titan rtx"}, 7, 5}, {[]string{"ada"}, 8, 9}, // before "rtx 40", "rtx 50"
	{[]string{"gb300", "b300"}, 10, 3}, {[]string{"gb200", "b200", "b100"}, 10, 0}, {[]string{"gb10"}, 12, 1}, {[]string{"thor"}, 11, 0},
	{[]string{"rtx pro", "rtx 50", "rtx50"}, 12, 0},
	{[]string{"gh200", "h100", "h200", "h800", "h20"}, 9, 0},
	{[]string{"l40", "l4", "rtx 40", "rtx40"}, 8, 9},
	{[]string{"orin"}, 8, 7},
	{[]string{"a100", "a800", "a30"}, 8, 0}, {[]string{"xavier"}, 7, 2},
	{[]string{"rtx a", "a40", "a10", "a16", "a2", "rtx 30", "rtx30"}, 8, 6},
	{[]string{"t4", "rtx 20", "rtx20", "gtx 16", "t1000", "t600", "t400", "t2000", "mx450", "mx550"}, 7, 5},
	{[]string{"v100", "titan v", "gv100"}, 7, 0},
	{[]string{"p100", "gp100"}, 6, 0}, {[]string{"p40", "p4", "gtx 10", "gtx10", "titan xp", "titan x", "p6000", "p5000", "p4000", "mx150", "gt 1030"}, 6, 1},
	{[]string{"m60", "m40", "m4", "gtx 9", "gtx 75"}, 5, 2}, {[]string{"k80"}, 3, 7}, {[]string{"k40", "k20"}, 3, 5},
}

// modelOf reads the capability, or looks the name up.
func modelOf(name, capability string) gpuModel {
	g := gpuModel{name: sampler.Clean(name)}
	lower := " " + strings.ToLower(name) + " "
	g.soc = slices.ContainsFunc([]string{"orin", "xavier", "tegra", "jetson", "nvgpu", "thor"}, func(p string) bool { return strings.Contains(lower, p) })
	if major, minor, ok := strings.Cut(capability, "."); ok {
		a, errA := strconv.Atoi(major)
		b, errB := strconv.Atoi(minor)
		if errA == nil && errB == nil && a > 0 {
			g.major, g.minor = a, b
			return g
		}
	}
	for _, row := range gpuNames {
		for _, part := range row.parts {
			if namesPart(lower, part) {
				g.major, g.minor = row.major, row.minor
				return g
			}
		}
	}
	return g
}

// namesPart looks for a part that begins a word and, when it ends in a digit, is not followed by
// another one, unless it names a family ("rtx 30" fits "rtx 3090").
func namesPart(lower, part string) bool {
	family := strings.Contains(part, "rtx") || strings.Contains(part, "gtx")
	for from := 0; ; {
		i := strings.Index(lower[from:], part)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(part)
		before, after := lower[i-1], lower[end]
		letterBefore := before >= 'a' && before <= 'z' || before >= '0' && before <= '9'
		digitAfter := after >= '0' && after <= '9'
		if !letterBefore && (family || !digitAfter) {
			return true
		}
		from = i + 1
	}
}
