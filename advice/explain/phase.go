package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// Phases of a run.
const (
	phaseLoading    = sampler.PhaseLoading
	PhaseTraining   = sampler.PhaseTraining
	PhaseValidation = sampler.PhaseValidation
	phaseSaving     = sampler.PhaseSaving
	phaseInference  = sampler.PhaseInference
)

// phaseFunctions are parts of function names that give a phase away; the innermost row that
// fits wins over the order of rows only when its phase is named by the log itself.
var phaseFunctions = []struct {
	phase string
	parts []string
}{
	{PhaseValidation, []string{"validat", "evaluat", "eval_", "_eval", "val_step", "val_epoch", "val_loop", "compute_metric", "on_val", "non_max_suppression"}},
	{PhaseTraining, []string{"backward", "train_step", "training_step", "train_epoch", "train_one_epoch", "train_batch", "training_loop", "_inner_training_loop", "do_train", "train"}},
	{phaseSaving, []string{"save_checkpoint", "save_model", "full_state_dict", "save_pretrained"}},
	{phaseInference, []string{"generate", "infer", "predict", "sample", "pipeline", "chat"}},
	{phaseLoading, []string{"from_pretrained", "load_state_dict", "load_model", "load_checkpoint", "_load"}},
}

// phase is what the run was doing, from the log or else from the traceback; "" when neither says.
func (f *failure) phase() string {
	if f.context.Phase != "" {
		return f.context.Phase
	}
	for _, row := range phaseFunctions {
		if f.inFunction(row.parts...) {
			return row.phase
		}
	}
	return ""
}

// inFunction says whether a function of the traceback holds one of the parts.
func (f *failure) inFunction(parts ...string) bool {
	return slices.ContainsFunc(f.context.Functions, func(name string) bool {
		name = strings.ToLower(name)
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	})
}

// inCode says whether a quoted source line or the text holds one of the parts.
func (f *failure) inCode(parts ...string) bool {
	return slices.ContainsFunc(f.context.Code, func(line string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(line, p) })
	})
}

// late: the run had fitted before. It did many steps or an epoch, or the recording shows it.
func (f *failure) late() bool {
	if f.context.FirstStep {
		return false
	}
	return f.context.Epoch.Or(0) >= 2 || f.context.Step.Or(0) >= 50 || len(f.stretches()) >= 3
}

// inBackward: most of a step's memory is already taken when backward begins.
func (f *failure) inBackward() bool {
	return f.inFunction("backward") || f.inOptimizer()
}

// inTraining: training, or nothing known that says otherwise.
func (f *failure) inTraining() bool {
	return f.phase() == PhaseTraining || (f.phase() == "" || f.phase() == phaseSaving) && !f.isServing()
}

// batch is the training batch per device, from the command or else from the log; 0 when not known.
func (f *failure) batch() int {
	if _, n, ok := f.command.BatchArgument(); ok {
		return n
	}
	return max(0, f.context.BatchSize.Or(0))
}

// stretches are the peaks of the process over the run, oldest first: from the recording, or else
// the figures that the log itself prints.
func (f *failure) stretches() []sampler.Bytes {
	if f.history != nil && len(f.history.Peaks) > 0 {
		return f.history.Peaks
	}
	return f.context.GPUMemory
}

// growth is how the process grew over the stretches: steady says that most steps went up, that
// it had not levelled off, and that it was more than noise (4 % and 256 MiB).
func (f *failure) growth() (first, last float64, steady bool) {
	peaks := f.stretches()
	n := len(peaks)
	if n < 3 {
		return 0, 0, false
	}
	first, last = float64(peaks[0]), float64(peaks[n-1])
	up := 0
	for i := 1; i < n; i++ {
		if peaks[i] > peaks[i-1] {
			up++
		}
	}
	grown := last - first
	lateHalf := last - float64(peaks[n/2])
	return first, last, float64(up) >= 0.7*float64(n-1) && grown > 0.04*last && grown > 256<<20 && lateHalf > 0.2*grown
}

// jumped: just before the failure the process was far above its last peak, compared with how
// it usually grew (three times that and 3 % of the card). A leak creeps; a large batch jumps.
func (f *failure) jumped() bool {
	peaks := f.stretches()
	n := len(peaks)
	if n == 0 || !f.total.Known() {
		return false
	}
	now := f.reserved()
	if f.history != nil && len(f.history.Peaks) == n {
		now = f.process.Or(now)
	}
	usual := sampler.Bytes(0)
	if n > 1 {
		usual = peaks[n-1].Less(peaks[0]) / sampler.Bytes(n-1)
	}
	return (now+f.requested.Or(0)).Less(peaks[n-1]) > 3*usual+partOf(f.total.Or(0), 0.03) && n > 1
}
