package retry

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/advice/explain"
)

// halveBatch halves the training batch on the command line. Accumulation is raised as much where its option is known
// to be there.
func halveBatch(d *Death) (Change, *Refusal) {
	p := placeOf(d.Args)
	if p.closed != "" {
		return Change{}, refuse(p.closed)
	}
	a, batch, ok := p.line.BatchArgument()
	switch {
	case !ok || !p.line.OfProgram(a):
		return Change{}, p.noBatch()
	case batch == 1:
		return Change{}, refuse("retry.batch_one", "option", a.Typed())
	}
	s, ok := p.line.SmallerBatch(2)
	if !ok || s.Added != "" && p.file != "" {
		s, ok = p.line.HalfBatch()
	}
	args, fits := p.with(s.Text)
	if !ok || !fits {
		return Change{}, p.noBatch()
	}
	c := Change{Args: args, Env: d.Env, what: sentence{"retry.batch", []any{"option", a.Typed(), "after", s.Batch, "before", s.Before}}}
	c.note = effective(s)
	return c, nil
}

// effective says what becomes of the effective batch.
func effective(s command.Suggestion) sentence {
	switch {
	case s.Note == "edit.nbs" || s.Note == "edit.global_batch":
		return sentence{"retry.automatic", nil}
	case s.Steps == 0 || len(s.Unsure) > 0:
		return sentence{"retry.effective", []any{"after", s.Batch, "before", s.Before}}
	case s.Before%s.Batch == 0:
		return sentence{"retry.accumulated", []any{"steps", s.Steps}}
	}
	return sentence{"retry.nearly", []any{"steps", s.Steps}}
}

// shrinkValidation divides the batch of validation by as much as the explanation does: nothing of the training
// depends on it.
func shrinkValidation(d *Death) (Change, *Refusal) {
	p := placeOf(d.Args)
	if p.closed != "" {
		return Change{}, refuse(p.closed)
	}
	a, found := p.line.EvalBatchArgument()
	if found && a.Value == "1" {
		return Change{}, refuse("retry.batch_one", "option", a.Typed())
	}
	s, ok := p.line.LowerEvalBatch(d.validationPart())
	adds := !found && p.line.Style() != command.StyleUltralytics
	if !ok || adds && p.file != "" || found && !p.line.OfProgram(a) {
		no := p.noBatch()
		if _, _, trains := p.line.BatchArgument(); trains && no.id == "retry.no_batch" {
			no = refuse("retry.no_eval")
		}
		return Change{}, no
	}
	option, note := "batch", effective(s)
	if found || adds {
		option, note = "--per_device_eval_batch_size", sentence{"retry.validation", nil}
	}
	if found {
		option = a.Typed()
	}
	args, fits := p.with(s.Text)
	if !fits {
		return Change{}, p.noBatch()
	}
	return Change{Args: args, Env: d.Env, what: sentence{"retry.batch", []any{"option", option, "after", s.Batch, "before", s.Before}}, note: note}, nil
}

// validationPart is by how much the explanation divides the batch of validation in what it says to type; 4 where that
// names no batch.
func (d *Death) validationPart() int {
	const usual = 4
	a := d.advice(explain.FixShrinkValidationBatch)
	if a == nil || len(a.Do) == 0 {
		return usual
	}
	batch := func(c command.Line) int {
		a, _ := c.EvalBatchArgument()
		n, _ := strconv.Atoi(a.Value)
		return n
	}
	before, after := batch(placeOf(d.Args).line), batch(placeOf(argvOr(a.Do[0], d.Args)).line)
	if after < 1 || before <= after {
		return usual
	}
	return before / after
}

func argvOr(text string, args []string) []string {
	if argv, ok := command.Parse(text).Argv(); ok && len(argv) > 0 {
		return argv
	}
	return args
}

// configs are the endings of files in which settings are kept.
var configs = []string{".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".conf"}

// noBatch says where the batch is instead, as far as the command tells.
func (p *place) noBatch() *Refusal {
	for _, arg := range p.args {
		name := arg[strings.LastIndexByte(arg, '=')+1:]
		if slices.Contains(configs, filepath.Ext(name)) {
			return refuse("retry.in_config", "file", name)
		}
	}
	if p.file != "" {
		return refuse("retry.in_script", "file", p.file)
	}
	return refuse("retry.no_batch")
}
