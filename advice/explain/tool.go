package explain

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// leversOf is what the levers of a known program are of that do what a fix says.
var leversOf = map[string]tools.Of{
	FixHalveBatchAccumulate: tools.Batch, FixSmallerInput: tools.Input, FixCapSampleSize: tools.Input, FixSmallerModel: tools.Model,
	FixHalfPrecision: tools.Bits, FixAMPBF16: tools.Bits, FixOffloadModel: tools.Offload, FixShardOrOffload: tools.Offload,
	FixGradientCheckpointing: tools.Checkpointing, FixShrinkValidationBatch: tools.Validation, FixShortenContext: tools.Context,
}

const (
	mostLevers   = 4   // beside the first advice
	titleLever   = 45  // bytes of one that its title has room for
	firstLever   = 1.1 // the lever that a program's authors name first is the likelier one (own estimate)
	typedLever   = 1.3 // one that was set in the command is what can be set lower (own estimate)
	withoutLever = 0.7 // of what only its options can change, it has none for this (own estimate)
)

// toolOf is the program of others that failed, as the text names it, or the command and the traceback.
func toolOf(f *job) *tools.Tool {
	for _, what := range f.context.Told {
		if name, is := strings.CutPrefix(what, sampler.ToldTool); is {
			return tools.Named(name)
		}
	}
	return tools.In(tools.WithoutEnvironments(strings.Join(slices.Concat([]string{f.command.Text}, f.context.Scripts, f.context.Files), " ")))
}

// byTool: some programs only train, and some only run models.
func byTool(f *job) program {
	switch {
	case f.tool == nil:
	case f.tool.Does == tools.Trains:
		return program{kind: training}
	case f.tool.Does == tools.Runs:
		return program{kind: inference}
	}
	return program{}
}

// only: nothing but the options of a known program can change what it does.
func (f *facts) only() bool {
	return f.tool != nil && f.tool.Does == tools.Runs && !f.program.is(training)
}

// compiled: it is a known program without a line of Python, whatever library it computes with.
//
// What others are made with is so where it is what the command runs, and else only where nothing shows Python.
func (f *facts) compiled() bool {
	return f.tool != nil && f.tool.Native && (!f.tool.Library || f.toolTyped || !f.showsPython())
}

// typesTool: the first word of the command is a name of the known program.
func (f *job) typesTool() bool {
	if f.tool == nil {
		return false
	}
	words := f.command.Words()
	return len(words) > 0 && slices.ContainsFunc(f.tool.Words, func(name string) bool { return strings.EqualFold(path.Base(words[0]), name) })
}

// showsPython: the library that failed, a frame or a script is one of Python.
func (f *facts) showsPython() bool {
	return f.isPyTorch() && f.event.Framework != "" || f.event.Framework == "tensorflow" || f.inFile(".py") ||
		slices.ContainsFunc(f.context.Scripts, func(name string) bool { return strings.HasSuffix(name, ".py") })
}

// takesBatches: what its authors name first is its batch: of a program that also trains, called only that, not one of training or of windows.
func (f *facts) takesBatches() bool {
	if f.tool == nil {
		return false
	}
	list := f.levers()
	return len(list) > 0 && list[0].Of == tools.Batch && (f.tool.Does == tools.Runs || strings.HasPrefix(strings.TrimLeft(list[0].Type, "-"), "batch"))
}

// lacks: the program has no lever of what a fix is about: one that only runs models, or one that only trains and has no batch.
func (f *facts) lacks(id string) bool {
	of, is := leversOf[id]
	if !is || !f.only() && !(of == tools.Batch && f.tool != nil && f.tool.Does == tools.Trains && !f.tool.Library) {
		return false
	}
	return !slices.ContainsFunc(f.levers(), func(l tools.Lever) bool { return l.Of == of })
}

// pairwise: one tensor that no GPU of that size holds, and the failing line compares each row of something with each of another.
func (f *facts) pairwise() bool {
	return f.event.Requested.Or(0) > f.event.GPUTotal.Or(0) && f.event.GPUTotal.Known() && f.inCode("einsum(", "cdist(", "pairwise", "similarit", ".T)", ".t())")
}

// levers are those of the known program for what it did.
func (f *facts) levers() []tools.Lever {
	switch {
	case f.program.is(evaluation):
		return f.tool.At(tools.Tests)
	case f.program.is(running) || f.phase() == sampler.PhaseInference:
		return f.tool.At(tools.Runs)
	case f.program.is(training):
		return f.tool.At(tools.Trains)
	}
	return f.tool.Levers
}

// leverShare is how much likelier a fix is for a known program.
func (f *failure) leverShare(id string) float64 {
	of, is := leversOf[id]
	switch {
	case !is || f.tool == nil, f.runsWithout() != "":
		return 1 // or an option is named that is in the way
	case f.lacks(id):
		return withoutLever
	case id == FixSmallerInput && f.fitsPictures():
		return 0.95 // what costs no detail comes first
	case f.pairwise():
		return 1 // its options are about what is read, not about all pairs of it
	}
	list := f.levers()
	if of == tools.Model && f.leversInForce(of) {
		return 0.8 // it is the smallest that there is
	}
	if slices.ContainsFunc(list, func(l tools.Lever) bool {
		option, _, _ := strings.Cut(l.Type, " ")
		return l.Of == of && strings.HasPrefix(option, "--") && f.command.HasPlain(command.PlainName(option))
	}) {
		return typedLever
	}
	if len(list) > 0 && list[0].Of == of {
		return firstLever
	}
	return 1
}

// leversInForce: it has levers of that, and the text sets each of them already.
func (f *facts) leversInForce(of tools.Of) bool {
	own := slices.DeleteFunc(slices.Clone(f.levers()), func(l tools.Lever) bool { return l.Of != of })
	return len(own) > 0 && !slices.ContainsFunc(own, func(l tools.Lever) bool { return !f.told(sampler.ToldInForce + l.Type) })
}

// ownLevers are what a known program has for a fix, and beside the first advice its others.
func (f *failure) ownLevers(id string, rank int) (list []tools.Lever) {
	of, is := leversOf[id]
	if !is || f.tool == nil || f.program.name != "" && !slices.Contains(families, f.program.name) || f.pairwise() || f.meshes() && id == FixSmallerInput || f.photos() > 0 || id == FixCapSampleSize && (f.postProcesses() || f.packs()) || id == FixSmallerInput && f.loadsViews() || id == FixOffloadModel && f.movedFirst() {
		return nil
	}
	if of == tools.Model && rank == 1 && f.fewBitsInstead() {
		of = tools.Bits
	}
	for _, mine := range []bool{true, false} {
		for _, l := range f.levers() {
			if f.holdsScene() && l.By != "pixels" && l.By != "frames" {
				continue // of the GPU alone
			}
			if l, ok := f.agreeing(l); ok && (l.Of == of) == mine && (mine || rank == 1 && !f.leverTried(l.Of)) && !f.told(sampler.ToldInForce+l.Type) && !f.leverSpent(l) {
				list = append(list, l)
			}
		}
		if len(list) == 0 {
			return nil // none for this
		}
	}
	return list[:min(len(list), mostLevers)]
}

// leverTried: what such a lever changes was changed in vain, or has to stay.
func (f *failure) leverTried(of tools.Of) bool {
	for id, its := range leversOf {
		if its == of && f.untried(id) < 1 {
			return true
		}
	}
	return false
}

// families are names under which programs are known that have options of their own each.
var families = []string{"whisper", "alphafold"}

// smallForMedium is a GPU that is too small for the medium model of Whisper, which takes about 5 GB, and holds the small one.
const smallForMedium = 4 * sampler.GiB

// lastNumber is the number to which a lever sets something.
var lastNumber = sampler.Pattern{Source: `\d+(\D*)$`}

// agreeing is a lever with a smaller batch than the one that was read; false where that is one, or where so few bits are in force.
func (f *failure) agreeing(l tools.Lever) (tools.Lever, bool) {
	if script, option, is := strings.Cut(l.Type, " "); is && strings.HasPrefix(option, "-") && strings.HasSuffix(script, ".py") && f.names(script) {
		l.Type = option // of the script that is run
	}
	switch {
	case f.anotherScript(l), f.asExtension() && (strings.HasPrefix(l.Type, "-") || strings.HasSuffix(l.Type, ".py") || len(l.Scripts()) > 0):
		return l, false
	case l.Of == tools.Batch && f.tool.Library && f.wholeGraph():
		return l, false // a graph that is trained on as it is has no loader yet
	case strings.HasPrefix(l.Type, "-") && f.asPage():
		return l, false // of the script that is called from a command line, and another one runs
	case strings.HasPrefix(l.Type, "package gpu") && (f.printsTorch() || f.event.Framework == "kokkos" || f.told(sampler.ToldWork+sampler.WorkPotentials)):
		return l, false // of the GPU package, and these forces are not from it: https://docs.lammps.org/Speed_packages.html
	case strings.HasPrefix(l.Type, "--") && f.shows(sampler.ShowsOwnPipe) && !f.command.Known:
		return l, false // an option of a command, and a script that calls a library has none
	case f.told(sampler.ToldQuantizing) && strings.Contains(l.Type, "from_quantized("):
		return l, false // of what is run when it is done
	case f.onHost() && f.tool.Name == "COLMAP": // of its steps the one that joins depth maps fills RAM
		l.Type = strings.Replace(l.Type, "PatchMatchStereo", "StereoFusion", 1)
		return l, strings.Contains(l.Type, "StereoFusion")
	case f.onHost() && f.tool.Name == "MONAI" && l.Of == tools.Input:
		return l, false // the window, beside the output of the whole volume
	case f.bigArray() && l.By == "chunk":
		return l, false // of what the model reads at once, and the array is of all that is read
	case f.onHost() && l.Of == tools.Offload:
		return l, false // what leaves the GPU takes more of the RAM
	case f.tool.Name == "Stable-Baselines3" && (l.By == "buffer" || f.onHost() && l.Of == tools.Batch) && f.onPolicy(), l.By == "rollout" && !f.onPolicy():
		return l, false // who learns on policy keeps the steps since the last update, in whatever batches they are read, and no buffer to learn from again
	case l.By == "rollout":
		if shape, _ := f.event.Extra["shape"].([]int); len(shape) > 2 { // steps x environments x what each sees
			l.Type = lastNumber.Get().ReplaceAllString(l.Type, strconv.Itoa(max(1, min(512, shape[0]/2)))+"$1")
		}
		return l, true
	case f.told(sampler.ToldWork + sampler.WorkPotentials):
		return l, false // they are of its training, or about other forces
	case f.phase() == sampler.PhaseLoading && (l.Of == tools.Batch || l.Of == tools.Input || l.Of == tools.Validation):
		return l, false // nothing was read or decoded yet
	case f.program.is(training) && strings.HasPrefix(l.Type, "x_pad"):
		return l, false // of the conversion, not of the training before it
	case strings.Contains(l.Type, "fp8") && f.beforeExpandable():
		return l, false // float8 came with PyTorch 2.1, too
	case l.Of == tools.Offload && strings.Contains(l.Type, "-low-vram") && (f.told(sampler.ToldInForce+"--lowvram") || f.told(sampler.ToldTried+"offload")):
		return l, false // its newer name
	case f.told(sampler.ToldFrozen) && !strings.HasPrefix(l.Type, "-"):
		return l, false // nobody changes its code
	case l.Of == tools.Model && f.noSmaller(l):
		return l, false
	case l.Of == tools.Bits && l.By == "half16":
		return l, !f.halfPrecision()
	case l.Of == tools.Bits && (l.By == "bits4" || l.By == "bits8"):
		return l, !f.shows(sampler.ShowsFewBits)
	case l.Of == tools.Model && f.saidTotal() > 0 && f.saidTotal() <= smallForMedium:
		l.Type = strings.Replace(l.Type, "medium", "small", 1)
		return l, true
	case l.By == "split":
		option, _, _ := strings.Cut(l.Type, " ")
		if a, found := f.command.Find(command.PlainName(option)); found {
			l.Type = option + " " + lessEach(a.Value)
		}
		return l, true
	case f.tool.Name == "spaCy" && !f.program.is(training):
		return l, false // all of them are of its training
	case strings.HasPrefix(l.Type, "-r ") && f.splats():
		a, found := f.command.Find("r", "resolution")
		if found && a.Plain == "resolution" {
			l.Type = "--resolution 2"
		}
		return l, !found || a.Value != strconv.Itoa(mostDivided)
	case l.By == "optimizer" && f.usesLoRA():
		return l, false // adapters have next to none
	case l.By == "chunk" && f.told(sampler.ToldTried+"chunks"), l.By == "pixels" && f.triedSize():
		return l, false
	case l.Of == tools.Validation && f.evaluatesOneByOne():
		return l, false
	case l.Of == tools.Batch || l.Of == tools.Validation:
		return belowBatch(l, cmp.Or(f.batch(), f.triedBatch()))
	}
	l.Type = f.withoutHigher(l.Type) // the same number may have another name
	return l, l.Type != ""
}

// settingIn is a number that a lever sets, with its name.
var settingIn = sampler.Pattern{Source: `([A-Za-z_][\w.-]*)(["']?(?: ?[:=] ?| ))(\d+)\b`}

// belowBatch is a lever of a batch with numbers below the one that is set; 0: none is. That of a validation can be one all the same.
// False where there is nothing below it.
func belowBatch(l tools.Lever, set int) (tools.Lever, bool) {
	if set == 0 {
		return l, true
	}
	spent := set == 1 && l.By == "accumulate" // there is nothing to divide
	l.Type = settingIn.Get().ReplaceAllStringFunc(l.Type, func(part string) string {
		at := settingIn.Get().FindStringSubmatch(part)
		name, n := strings.ToLower(at[1]), 0
		if n, _ = strconv.Atoi(at[3]); n < set || strings.Contains(name, "accum") || !strings.Contains(name, "batch") && l.By != "half" && l.By != "one" {
			return part
		}
		spent = spent || set == 1
		return at[1] + at[2] + strconv.Itoa(max(1, set/2))
	})
	return l, !spent || l.Of == tools.Validation
}

// onPolicy: what is learned from is what was played since the last update: n_steps of each environment.
// https://github.com/DLR-RM/stable-baselines3/blob/master/stable_baselines3/common/on_policy_algorithm.py
func (f *failure) onPolicy() bool {
	return f.inFile("on_policy_algorithm.py", "/ppo/", "/a2c/") || f.inCode("rollout_buffer") || f.told(sampler.ToldOnPolicy) && !f.told(sampler.ToldOffPolicy) && !f.told(sampler.ToldReplay)
}

// asExtension: a web UI runs the program, as an option of these tells that it has not itself.
func (f *failure) asExtension() bool {
	within := slices.ContainsFunc([]string{"--lowvram", "--medvram", "--novram"}, func(option string) bool { return f.told(sampler.ToldInForce + option) })
	return within && !slices.ContainsFunc(f.tool.Levers, func(l tools.Lever) bool { return strings.Contains(l.Type, "vram") })
}

// anotherScript: a lever is of scripts of which the text names none, only others.
func (f *failure) anotherScript(l tools.Lever) bool {
	scripts := l.Scripts()
	return len(scripts) > 0 && len(f.context.Scripts) > 0 && !slices.ContainsFunc(scripts, f.names)
}

// names: the text names a script.
func (f *failure) names(script string) bool {
	return strings.Contains(f.command.Text, script) || slices.ContainsFunc(f.context.Scripts, func(name string) bool { return name == script || strings.HasSuffix(name, "/"+script) })
}

// withLevers puts them before what a fix says to do, and into its title.
func (f *failure) withLevers(a *sampler.Advice) {
	list := f.ownLevers(a.ID, a.Rank)
	if len(list) == 0 || a.ID == FixCapSampleSize && f.slides() || a.ID == FixShrinkValidationBatch && f.validatesGraph() || a.ID == FixShardOrOffload && (f.growsByDesign() || f.ranksLoadAll()) {
		return
	}
	if _, typed := f.command.SmallerBatch(2); typed && a.ID == FixHalveBatchAccumulate {
		return // its number is changed where it stands
	}
	id := "tool." + string(list[0].Of)
	if by := "tool." + list[0].By; f.words.Has(by) {
		id = by
	}
	if list[0].By == "tiles" && f.told(sampler.ToldTiles) {
		id = "tool.smaller_tiles"
	}
	if option := f.typedOption(list[0]); len(option) <= titleLever && a.ID != FixCapSampleSize {
		a.Title = f.words.Say(id, "option", option, "tool", f.tool.Name)
	}
	var lines []string
	for i, l := range list {
		comment := f.words.Say("lever." + l.By)
		if i > 0 && l.Of != list[0].Of {
			comment = f.words.Say("lever.or", "what", comment)
		}
		lines = append(lines, f.typedLever(l)+"  # "+comment)
	}
	rest := slices.DeleteFunc(slices.Clone(a.Do), func(line string) bool { // what a lever says already
		code, _, _ := strings.Cut(line, "  # ")
		return slices.ContainsFunc(list, func(l tools.Lever) bool { return code == f.typedLever(l) })
	})
	a.Do = append([]string{strings.Join(lines, "\n")}, rest[:min(len(rest), shownWith)]...)
}

// lessEach is a list of amounts, one for each GPU, of which each leaves a third of the GPU to what is no weight; what is no list as it was.
func lessEach(list string) string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || v < 0 || v > 1024 {
			return list
		}
		parts[i] = strconv.Itoa(int(v * 2 / 3))
	}
	return strings.Join(parts, ",")
}

// typedLever is the command with an option where it is one of the program's own, else the option.
func (f *failure) typedLever(l tools.Lever) string {
	option, value, _ := strings.Cut(l.Type, " ")
	if !strings.HasPrefix(option, "-") || strings.Contains(value, " ") {
		return l.Type
	}
	if text, _, ok := f.command.WithNumber(lower(l), command.PlainName(option)); ok {
		return text
	}
	if f.leverSpent(l) {
		return l.Type
	}
	if tools.In(f.command.Text) != f.tool {
		return l.Type
	}
	if text, ok := f.command.WithOption(option, value); ok {
		return text
	}
	return l.Type
}

// leverSpent: the command has a lever at a number with which less cannot be had.
func (f *failure) leverSpent(l tools.Lever) bool {
	option, _, _ := strings.Cut(l.Type, " ")
	a, found := f.command.Find(command.PlainName(option))
	v, err := strconv.ParseFloat(a.Value, 64)
	return found && err == nil && strings.HasPrefix(option, "-") && lastNumber.Get().MatchString(l.Type) && lower(l)(v) == v
}

// typedOption is an option as its line has it: with the number that follows from the one in the command.
func (f *failure) typedOption(l tools.Lever) string {
	option, _, _ := strings.Cut(l.Type, " ")
	text, _, ok := f.command.WithNumber(lower(l), command.PlainName(option))
	if !ok || f.typedLever(l) != text {
		return l.Type
	}
	a, _ := command.Parse(text).Find(command.PlainName(option))
	return option + " " + a.Value
}

// raised are parts of options that make less of what is worked on the larger they are.
var raised = []string{"thresh", "stride", "downs", "data_factor", "resize_factor", "accumulat"}

// mostDivided is the largest divisor of the side of pictures that the programs for gaussians take: 1, 2, 4 and 8 divide, any other number is a
// width. https://github.com/graphdeco-inria/gaussian-splatting/blob/main/utils/camera_utils.py
const mostDivided = 8

// fewerPixels is a resolution of these that has fewer pixels than v, given where v is chosen by the program.
func fewerPixels(v, given float64) float64 {
	switch {
	case v <= 0:
		return given
	case v < mostDivided:
		return min(mostDivided, max(given, 2*v))
	case v == mostDivided:
		return v
	}
	return float64(int(v / 2))
}

// lower is the number that a command has for a lever, made such that less is needed.
func lower(l tools.Lever) func(float64) float64 {
	option, value, _ := strings.Cut(l.Type, " ")
	given, err := strconv.ParseFloat(value, 64)
	name := command.PlainName(option)
	if name == "r" || name == "resolution" {
		return func(v float64) float64 { return fewerPixels(v, given) }
	}
	up := err == nil && (name == "factor" || slices.ContainsFunc(raised, func(part string) bool { return strings.Contains(name, part) }))
	return func(v float64) float64 {
		switch {
		case up:
			return max(given, 2*v)
		case err == nil && given != float64(int(given)):
			return min(given, v/2)
		}
		return float64(max(1, int(v/2)))
	}
}
