package advice

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// suggestion is a command line that nvpeak changed.
type suggestion struct {
	text   string
	batch  int      // per device, after the change
	steps  int      // accumulation after the change, 0 where none is set
	before int      // batch before the change
	unsure []string // options that were added though nothing shows that the program has them
	note   string   // id of a message about this style, or empty
}

// splitBatch divides a batch by about k, with the number of steps that gives the same
// effective batch: a divisor of the batch when one is near.
func splitBatch(batch, k int) (smaller, steps int) {
	smaller = max(1, batch/k)
	for d := smaller; d >= 1 && float64(d) >= float64(batch)/(1.5*float64(k)); d-- {
		if batch%d == 0 {
			return d, batch / d
		}
	}
	return smaller, int(float64(batch)/float64(smaller) + 0.5)
}

// replaceValue writes a new value for an option and leaves its name as it was typed.
func (c commandLine) replaceValue(a argument, value string) edit {
	w := c.words[a.at]
	if !a.joined {
		return edit{w.start, w.end, value}
	}
	raw := c.text[w.start:w.end]
	if i := strings.IndexByte(raw, '='); i >= 0 && !strings.ContainsAny(raw[:i], `'"\`) && !strings.ContainsAny(raw[i:], `'"\`) {
		return edit{w.start + i + 1, w.end, value}
	}
	return edit{w.start, w.end, quote(a.name + "=" + value)}
}

// after adds words behind an option, within the same command.
func (c commandLine) after(a argument, words string) edit {
	end := c.words[a.at].end
	return edit{end, end, " " + words}
}

// smallerBatch divides the training batch by k and raises accumulation by as much, with the
// options of the command's own style.
func (c commandLine) smallerBatch(k int) (suggestion, bool) {
	a, batch, ok := c.batchArgument()
	if !ok || batch < 2 {
		return suggestion{}, false
	}
	s := suggestion{before: batch}
	s.batch, s.steps = splitBatch(batch, k)
	edits := []edit{c.replaceValue(a, strconv.Itoa(s.batch))}
	factor := s.steps
	switch c.style() {
	case styleUltralytics, styleYOLOv5:
		s.steps, s.note = 0, "edit.nbs"
	case styleMegatron:
		s.steps, s.note = 0, "edit.global_batch"
	default:
		if old, found := c.find(accumulationNames...); found {
			n, err := strconv.Atoi(old.value)
			if err != nil || n < 1 || !old.sure {
				return suggestion{}, false
			}
			s.steps = n * factor
			edits = append(edits, c.replaceValue(old, strconv.Itoa(s.steps)))
			break
		}
		words, sure := c.accumulationWords(a, s.steps)
		if words == "" {
			s.steps, s.note = 0, "edit.no_accumulation"
			break
		}
		if !sure {
			s.unsure = append(s.unsure, words)
		}
		edits = append(edits, c.after(a, words))
	}
	s.text = c.apply(edits)
	return s, true
}

// accumulationWords is how this style turns accumulation on. sure: the program is known to have it.
func (c commandLine) accumulationWords(a argument, steps int) (words string, sure bool) {
	n := strconv.Itoa(steps)
	switch c.style() {
	case styleTrainer:
		return join(a, "--gradient_accumulation_steps", n), true
	case styleFairseq:
		return join(a, "--update-freq", n), true
	case styleLightning:
		if c.prefixed("--trainer.") || c.prefixed("--data.") {
			return "--trainer.accumulate_grad_batches=" + n, true
		}
		return join(a, "--accumulate_grad_batches", n), true
	case styleHydra:
		if c.prefixed("trainer.") {
			return "trainer.accumulate_grad_batches=" + n, false
		}
		return "", false
	}
	if !strings.HasPrefix(a.name, "-") {
		return "", false // configuration overrides: an option with dashes does not belong among them
	}
	if strings.Contains(a.name, "_") {
		return join(a, "--gradient_accumulation_steps", n), false
	}
	return join(a, "--gradient-accumulation-steps", n), false
}

// join writes a name and value the way the option beside it is written.
func join(like argument, name, value string) string {
	if like.joined {
		return name + "=" + value
	}
	return name + " " + value
}

// smallerEvalBatch divides the batch of validation by k. Hugging Face Trainer evaluates with 8
// when nothing is said, so there the option is added.
func (c commandLine) smallerEvalBatch(k int) (suggestion, bool) {
	if a, found := c.evalBatchArgument(); found {
		n, err := strconv.Atoi(a.value)
		if err != nil || n < 2 || !a.sure {
			return suggestion{}, false
		}
		s := suggestion{before: n, batch: max(1, n/k)}
		edits := []edit{c.replaceValue(a, strconv.Itoa(s.batch))}
		if c.style() == styleTrainer && !c.hasPlain("eval_accumulation_steps") {
			edits = append(edits, c.after(a, join(a, "--eval_accumulation_steps", "8"))) // else all predictions stay on the GPU
		}
		s.text = c.apply(edits)
		return s, true
	}
	if a, _, found := c.batchArgument(); found && c.style() == styleTrainer {
		s := suggestion{before: 8, batch: max(1, 8/k)}
		words := join(a, "--per_device_eval_batch_size", strconv.Itoa(s.batch)) + " " + join(a, "--eval_accumulation_steps", "8")
		s.text = c.apply([]edit{c.after(a, words)})
		return s, true
	}
	if c.style() == styleUltralytics { // its validation batch is twice the training batch
		return c.smallerBatch(k)
	}
	return suggestion{}, false
}

// withVariable sets an environment variable for the command, in front of its program.
func (c commandLine) withVariable(name, value string) (string, bool) {
	if !c.ok {
		return "", false
	}
	word := name + "=" + quote(value)
	for i := c.first; i < c.last; i++ {
		w := c.words[i]
		if n, _, is := assignment(w.value); is {
			if n == name {
				return c.apply([]edit{{w.start, w.end, word}}), true
			}
			continue
		}
		switch lastPart(w.value) {
		case "env":
			continue
		case "docker", "podman":
			if i+1 < c.last && c.words[i+1].value == "run" {
				end := c.words[i+1].end
				return c.apply([]edit{{end, end, " -e " + word}}), true
			}
			return "", false
		case "sudo", "ssh", "sbatch", "kubectl", "export":
			return "", false // the variable would not reach the program
		}
		return c.apply([]edit{{w.start, w.start, word + " "}}), true
	}
	return "", false
}

// withSwitch turns a yes-or-no option on that this style is known to have. It replaces the
// value when the command switches it off.
func (c commandLine) withSwitch(words map[string]string) (suggestion, bool) {
	add, known := words[c.style()]
	if !known {
		return suggestion{}, false
	}
	name, value, joined := strings.Cut(add, "=")
	if !joined {
		name, value, _ = strings.Cut(add, " ")
	}
	wanted := plainName(name)
	for _, a := range c.arguments() {
		if a.plain != wanted {
			continue
		}
		if a.value == "" || a.at == a.name0 && !a.joined {
			return suggestion{}, false
		}
		return suggestion{text: c.apply([]edit{c.replaceValue(a, cmp.Or(value, "True"))})}, true
	}
	end := c.words[c.last-1].end
	if a, _, ok := c.batchArgument(); ok {
		end = c.words[a.at].end
	}
	return suggestion{text: c.apply([]edit{{end, end, " " + add}})}, true
}

// withLauncherOption adds an option behind "accelerate launch", which reads it itself.
func (c commandLine) withLauncherOption(words string) (suggestion, bool) {
	part := c.part()
	i := slices.IndexFunc(part, func(w word) bool { return lastPart(w.value) == "accelerate" })
	if i < 0 || i+1 >= len(part) || part[i+1].value != "launch" {
		return suggestion{}, false
	}
	if a, found := c.find("mixed_precision"); found {
		_, value, _ := strings.Cut(words, " ")
		return suggestion{text: c.apply([]edit{c.replaceValue(a, value)})}, a.sure
	}
	end := part[i+1].end
	return suggestion{text: c.apply([]edit{{end, end, " " + words}})}, true
}

// withNumber writes a new number for an option the command already has.
func (c commandLine) withNumber(change func(float64) float64, names ...string) (text, name string, ok bool) {
	a, found := c.find(names...)
	old, err := strconv.ParseFloat(a.value, 64)
	if !found || !a.sure || err != nil {
		return "", "", false
	}
	now := change(old)
	if now == old {
		return "", "", false
	}
	return c.apply([]edit{c.replaceValue(a, strconv.FormatFloat(now, 'f', -1, 64))}), a.name, true
}
