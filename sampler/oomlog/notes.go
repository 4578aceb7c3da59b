package oomlog

import (
	"strings"

	"nvpeak/sampler"
)

// notes are what one line says of the run's progress and of a traceback.
type notes struct {
	epoch, epochs, step sampler.Opt[int]
	nan                 bool
	resumed             bool   // a run before this one is gone on with
	engine              engine // of ignite, of which a line tells
	traceback           bool   // one begins here
	frame, phase        string // a function of a traceback and what its name tells
	library             bool   // it is one of a library, and of none that trains or tests a model
	arrow               string // the source line an arrow points at
	stands              string // the phase that the words of the line tell
}

func notesOf(text part) notes {
	n := notes{traceback: strings.Contains(text.text, "Traceback (most recent call last)"), stands: phaseOfLine(text), resumed: resumes.in(text)}
	n.engine, n.resumed = engineOf(text, n.resumed)
	counted := !n.resumed && n.engine == noEngine && !strings.HasPrefix(text.text, "# ") && !uncounted.in(text) // a setting, as Chainer's examples print theirs
	for i := range epochForms {
		if at := epochForms[i].findIn(text); at != nil && counted {
			n.epoch = number(at[1])
			if len(at) > 2 {
				n.epochs = number(at[2])
			}
			break
		}
	}
	for i := range stepForms {
		if at := stepForms[i].findIn(text); at != nil && !loadingBar.in(text) && counted {
			n.step = number(at[1])
			break
		}
	}
	n.nan = nanLoss.in(text) || yoloNaN.in(text)
	for i := range frameForms {
		if at := frameForms[i].findIn(text); at != nil {
			n.frame, n.phase = at[1], phaseOf(at[1])
			n.library = library.in(text) && !ofLoops.in(text)
			switch {
			case n.phase == "" && n.frame != "<module>" && n.frame != "main" && evaluator.in(text):
				n.phase = sampler.PhaseValidation
			case n.phase == sampler.PhaseValidation && n.library && !isLoop(n.frame):
				n.phase = "" // what a library evaluates are kernels, expressions, arguments
			}
			return n
		}
	}
	if at := arrowCode.findIn(text); at != nil {
		n.arrow = at[1]
	}
	return n
}

var (
	epochForms = []*lazy{
		pattern(`^\s*(\d{1,5})/(\d{1,5})\s+[\d.]+G\b`), // Ultralytics
		pattern(`(?i)\bepoch[\s:#=\[(-]{0,4}(\d{1,5})(?:\s*(?:/|of)\s*(\d{1,5}))?`),
		pattern(`(?i)\bep\s?(\d{1,5}) (?:train|eval)`),
	}
	stepForms = []*lazy{
		pattern(`(?i)(?:^|[^-\w])(?:global[ _])?(?:step|iter(?:ation)?s?)[\s:#=\[(]{1,14}(\d{1,9})(?:[^\w%]|$)`),
		pattern(`(?i)(?:^|\bepoch \d{1,5}, )batch (\d{1,9}), .*\bloss\b`),
		pattern(`(?i)\bepoch\W{0,3}\d{1,5}\W{1,4}(?:batch|step|iter)\W{1,8}(\d{1,9})\s{0,8}/\s{0,8}\d{1,9}\b`),
		pattern(`\|\s*(\d{1,9})/\d{1,9} \[`),
		pattern(`\b(\d{1,9})/\d{1,9} \[[\d:]+(?:<|,)`),
		pattern(`\[\s*(\d{1,7})/\d{1,7}\]`),
		pattern(`(?i)^\[\s*(\d{1,9})\] .{0,60}loss`),     // Dreamer: [1792] model_loss 2958.1 / actor_ent 1.1
		pattern(`^\s*(\d{1,9})/\d{1,9} (?:━|─|\[[=>.])`), // Keras
		pattern(`\|\s*(\d{1,9})/\s*\d{1,9} batches \|`),  // the language models of PyTorch's examples
	}
	// resumes: the number is that of a run before this one.
	resumes = pattern(`(?i)\b(?:resum(?:e|ed|es|ing)|restor(?:e|ed|ing)) (?:\w+ ){0,3}(?:from|at|checkpoint|training)\b`)
	// uncounted are numbers of steps of a batch system, of how much there is in an epoch, of the table that miners make for each, of
	// how many there are to be, as calls and settings have them, and of a checkpoint that a command names.
	uncounted = pattern(`(?i)\b(?:srun|slurmstepd|et[ch]+ash|light cache|DAG|Difficulty)\b|\bnew job\b|\b(?:each|per|every) epoch\b|(?:^|\s)--?(?:\w+[-_])?epochs?[ =]|^\W*(?:ln|cp|mv|wget) \S|(?:^|\w\([^()\n]{0,200}|, ?)(?:steps|iters|iterations) ?= ?\d{1,9} ?(?:[,)]|$)|` +
		`^\s*(?:steps|iters|iterations): ?\d{1,9}\s*$`)
	loadingBar = pattern(`(?i)loading|checkpoint shards|download|fetching|tokeniz|map:|\bmap \(|scanning|caching|collecting`)
	nanLoss    = pattern(`(?i)\b\w*loss\w*['"]?\s*[:= ]\s*['"]?(?:tensor\()?nan\b|loss is nan`)
	yoloNaN    = pattern(`^\s*\d+/\d+\s+[\d.]+G(?:\s+[\d.]+)*(?:\s+nan){2,}`)

	frameForms = []*lazy{
		pattern(`^File ".{1,300}?", line \d+, in ([\w.<>]+)`),
		pattern(`^\S{1,300}\.py:\d+ in ([\w.<>]+)`),     // rich
		pattern(`^\S{1,300}\.py in ([\w.<>]+)\(`),       // IPython 7
		pattern(`^File \S{1,300}:\d+, in ([\w.<>]+)\(`), // IPython 8
	}
	// library is a file that was installed. ofLoops are those that train or test models, by what they or their packages are called.
	library = pattern(`[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python\d[\d.]{0,5}[/\\]|(?:"|[/\\])(?:jax[/\\]_src|transformers[/\\](?:generation|models)|torch[/\\](?:nn|distributions|autograd|_\w+))[/\\]`)
	ofLoops = pattern(`(?i)(?:-packages|[/\\]python\d[\d.]{0,5})[/\\].{0,200}(?:train(?:er|ing)?|validat(?:e|or|ion)|evaluat(?:e|or|ion)|test(?:er)?|loop|learner|runner|` +
		`engine|harness|metric|lightning|ultralytics|mm(?:engine|cv|det|seg|pose|ocr)|fastai|nnunet\w{0,3}|keras|fairseq|espnet\d?|composer|lm_eval|` +
		`detectron2)s?(?:_[^/\\]{0,40})?(?:\.py|[/\\])`)
	// evaluator is a file that is called by what it does. A program of that name is not in the midst of a training.
	evaluator = pattern(`(?i)^File "(?:[^"]{0,280}/)?(?:evals?|evaluat(?:e|ion|or)|validat(?:e|ion|or))(?:/[^"/]{1,60})?\.py"`)
	arrowCode = pattern(`^(?:-{2,4}>|❱)\s*\d+\s*(?:│\s*)?(\S.*)$`)
)
