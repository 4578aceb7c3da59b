package command

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Suggestion is a command line that nvpeak changed.
type Suggestion struct {
	Text   string
	Batch  int      // per device, after the change
	Steps  int      // accumulation after the change, 0 where none is set
	Before int      // batch before the change
	Unsure []string // options that belong to it and were left out, as nothing shows that the program has them
	Added  string   // options of accumulation that the command did not have
	Note   string   // id of a message about this style, or empty
}

// maxDivisors is how far a divisor is looked for: further than any batch needs, and a number that is none,
// from a log or a command line, takes no years.
const maxDivisors = 10_000

// maxSteps bounds the steps of accumulation that are multiplied.
const maxSteps = 1 << 31

// SplitBatch divides a batch by about k, with the number of steps that gives the same
// effective batch: a divisor of the batch when one is near.
func SplitBatch(batch, k int) (smaller, steps int) {
	smaller = max(1, batch/k)
	for d := smaller; d >= smaller-maxDivisors && float64(d) >= float64(batch)/(1.5*float64(k)); d-- {
		if batch%d == 0 {
			return d, batch / d
		}
	}
	return smaller, int(float64(batch)/float64(smaller) + 0.5)
}

// ReplaceValue writes a new value for an option and leaves its name as it was typed.
func (c Line) ReplaceValue(a Argument, value string) Edit {
	w := c.words[a.at]
	if !a.joined {
		return Edit{w.start, w.end, value}
	}
	raw := c.Text[w.start:w.end]
	if i := strings.IndexByte(raw, '='); i >= 0 && !strings.ContainsAny(raw[:i], `'"\`) && !strings.ContainsAny(raw[i:], `'"\`) {
		return Edit{w.start + i + 1, w.end, value}
	}
	if !strings.Contains(w.value, "=") {
		return Edit{w.start, w.end, a.name + value} // glued
	}
	return Edit{w.start, w.end, Quote(a.name + "=" + value)}
}

// after adds words behind an option, within the same command.
func (c Line) after(a Argument, words string) Edit {
	end := c.words[a.at].end
	return Edit{end, end, " " + words}
}

// SmallerBatch divides the training batch by k and raises accumulation by as much, with the
// options of the command's own style.
func (c Line) SmallerBatch(k int) (Suggestion, bool) {
	a, batch, ok := c.BatchArgument()
	if !ok || batch < 2 {
		return Suggestion{}, false
	}
	s := Suggestion{Before: batch}
	s.Batch, s.Steps = SplitBatch(batch, k)
	if gpus := c.SharedBy(); gpus > 1 {
		if batch <= gpus {
			return Suggestion{}, false
		}
		s.Batch = max(gpus, s.Batch/gpus*gpus) // such a program takes a multiple only
	}
	edits := []Edit{c.ReplaceValue(a, strconv.Itoa(s.Batch))}
	factor := s.Steps
	style := c.Style()
	switch {
	case style == StyleUltralytics || style == StyleYOLOv5:
		s.Steps, s.Note = 0, "edit.nbs"
	case style == StyleMegatron || c.keepsWhole(a):
		s.Steps, s.Note = 0, "edit.global_batch"
	default:
		if old, found := c.Find(accumulationNames...); found {
			n, err := strconv.Atoi(old.Value)
			if err != nil || n < 1 || n > maxSteps || factor > maxSteps {
				return Suggestion{}, false
			}
			s.Steps = n * factor
			edits = append(edits, c.ReplaceValue(old, strconv.Itoa(s.Steps)))
			break
		}
		words, sure := c.accumulationWords(a, s.Steps)
		if words == "" {
			s.Steps, s.Note = 0, "edit.no_accumulation"
			break
		}
		if !sure { // a script that does not know an option does not start
			s.Unsure = append(s.Unsure, words)
			break
		}
		edits, s.Added = append(edits, c.after(a, words)), words
	}
	s.Text = c.Apply(edits)
	return s, true
}

// keepsWhole: the command sets the batch of all devices and steps beside that of one device, and accumulates as many
// steps as are between the two.
func (c Line) keepsWhole(a Argument) bool {
	part := strings.Contains(a.Plain, "micro") || slices.Contains([]string{"mbs", "local_batch_size", "device_batch_size"}, a.Plain)
	return part && c.HasPlain(wholeBatchNames...) && !c.HasPlain(accumulationNames...)
}

// accumulationWords is how this style turns accumulation on. sure: the program is known to have it.
func (c Line) accumulationWords(a Argument, steps int) (words string, sure bool) {
	n := strconv.Itoa(steps)
	switch c.Style() {
	case StyleTrainer:
		return join(a, "--gradient_accumulation_steps", n), true
	case StyleFairseq:
		return join(a, "--update-freq", n), true
	case StyleLightning:
		if c.Prefixed("--trainer.") || c.Prefixed("--data.") {
			return "--trainer.accumulate_grad_batches=" + n, true
		}
		return join(a, "--accumulate_grad_batches", n), true
	case styleHydra:
		if c.Prefixed("trainer.") {
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
func join(like Argument, name, value string) string {
	if like.joined {
		return name + "=" + value
	}
	return name + " " + value
}

// SmallerEvalBatch divides the batch of validation by k, and where the options of Hugging Face Trainer are known to be there,
// moves its predictions off the GPU now and then.
func (c Line) SmallerEvalBatch(k int) (Suggestion, bool) {
	s, edits, ok := c.evalEdits(k)
	if ok && s.Text == "" && c.trainer() && !c.HasPlain("eval_accumulation_steps") {
		like, _ := c.EvalBatchArgument()
		if like.name == "" {
			like, _, _ = c.BatchArgument()
		}
		edits = append(edits, c.after(like, join(like, "--eval_accumulation_steps", "8"))) // else all predictions stay on the GPU
	}
	return c.evalText(s, edits), ok
}

// LowerEvalBatch divides the batch of validation by k and leaves everything else as it is.
func (c Line) LowerEvalBatch(k int) (Suggestion, bool) {
	s, edits, ok := c.evalEdits(k)
	return c.evalText(s, edits), ok
}

func (c Line) evalText(s Suggestion, edits []Edit) Suggestion {
	if s.Text == "" && len(edits) > 0 {
		s.Text = c.Apply(edits)
	}
	return s
}

// evalEdits divide the batch of validation. Hugging Face Trainer evaluates with 8 when nothing is said, so there the option
// is added.
func (c Line) evalEdits(k int) (s Suggestion, edits []Edit, ok bool) {
	if a, found := c.EvalBatchArgument(); found {
		n, err := strconv.Atoi(a.Value)
		if err != nil || n < 2 {
			return Suggestion{}, nil, false
		}
		s.Before, s.Batch = n, max(1, n/k)
		return s, []Edit{c.ReplaceValue(a, strconv.Itoa(s.Batch))}, true
	}
	if a, _, found := c.BatchArgument(); found && c.trainer() {
		s.Before, s.Batch = 8, max(1, 8/k)
		return s, []Edit{c.after(a, join(a, "--per_device_eval_batch_size", strconv.Itoa(s.Batch)))}, true
	}
	if c.Style() == StyleUltralytics { // its validation batch is twice the training batch
		s, ok = c.SmallerBatch(k)
	}
	return s, nil, ok
}

// trainer: the program takes the options of Hugging Face Trainer; examples without it take some of them.
func (c Line) trainer() bool {
	return c.Style() == StyleTrainer && !slices.ContainsFunc(c.Scripts(), func(name string) bool { return strings.HasSuffix(name, "_no_trainer.py") })
}

// WithVariable sets an environment variable for the command, in front of its program.
func (c Line) WithVariable(name, value string) (string, bool) {
	if !c.Known {
		return "", false
	}
	word := name + "=" + Quote(value)
	for i := c.first; i < c.last; i++ {
		w := c.words[i]
		if n, _, is := assignment(w.value); is {
			if n == name {
				return c.Apply([]Edit{{w.start, w.end, word}}), true
			}
			continue
		}
		switch lastPart(w.value) {
		case "env":
			continue
		case "docker", "podman":
			if i+1 < c.last && c.words[i+1].value == "run" {
				end := c.words[i+1].end
				return c.Apply([]Edit{{end, end, " -e " + word}}), true
			}
			return "", false
		case "sudo", "ssh", "sbatch", "kubectl", "export":
			return "", false // the variable would not reach the program
		}
		return c.Apply([]Edit{{w.start, w.start, word + " "}}), true
	}
	return "", false
}

// WithSwitch turns a yes-or-no option on that this style is known to have. It replaces the
// value when the command switches it off.
func (c Line) WithSwitch(words map[string]string) (Suggestion, bool) {
	add, known := words[c.Style()]
	if !known {
		return Suggestion{}, false
	}
	name, value, joined := strings.Cut(add, "=")
	if !joined {
		name, value, _ = strings.Cut(add, " ")
	}
	wanted := PlainName(name)
	for _, a := range c.Arguments() {
		if a.Plain != wanted {
			continue
		}
		if a.Value == "" || a.at == a.name0 && !a.joined {
			return Suggestion{}, false
		}
		return Suggestion{Text: c.Apply([]Edit{c.ReplaceValue(a, cmp.Or(value, "True"))})}, true
	}
	end := c.words[c.last-1].end
	if a, _, ok := c.BatchArgument(); ok {
		end = c.words[a.at].end
	}
	return Suggestion{Text: c.Apply([]Edit{{end, end, " " + add}})}, true
}

// WithLauncherOption adds an option behind "accelerate launch", which reads it itself.
func (c Line) WithLauncherOption(words string) (Suggestion, bool) {
	part := c.part()
	i := slices.IndexFunc(part, func(w word) bool { return lastPart(w.value) == "accelerate" })
	if i < 0 || i+1 >= len(part) || part[i+1].value != "launch" {
		return Suggestion{}, false
	}
	if a, found := c.Find("mixed_precision"); found {
		_, value, _ := strings.Cut(words, " ")
		return Suggestion{Text: c.Apply([]Edit{c.ReplaceValue(a, value)})}, a.sure
	}
	end := part[i+1].end
	return Suggestion{Text: c.Apply([]Edit{{end, end, " " + words}})}, true
}

// WithNumber writes a new number for an option the command already has: for each of its values, where it has the same one several
// times, as of a width and a height.
func (c Line) WithNumber(change func(float64) float64, names ...string) (text, name string, ok bool) {
	a, found := c.Find(names...)
	old, err := strconv.ParseFloat(a.Value, 64)
	if !found || err != nil {
		return "", "", false
	}
	now := change(old)
	if now == old {
		return "", "", false
	}
	value := strconv.FormatFloat(now, 'f', -1, 64)
	edits := []Edit{c.ReplaceValue(a, value)}
	for i := a.at + 1; i < c.last && !a.joined && c.words[i].value == a.Value; i++ {
		edits = append(edits, Edit{c.words[i].start, c.words[i].end, value})
	}
	return c.Apply(edits), a.name, true
}

// WithLess is WithNumber for what must become less: an option that has so little already, or would get more, is left alone.
func (c Line) WithLess(change func(float64) float64, names ...string) (text, name string, ok bool) {
	return c.WithNumber(func(v float64) float64 { return min(v, change(v)) }, names...)
}

// WithAtMost sets an option to a number where the command has a larger one, or none. An option that has no more than that is left alone.
func (c Line) WithAtMost(option string, most float64) (string, bool) {
	if c.HasPlain(PlainName(option)) {
		text, _, ok := c.WithLess(func(float64) float64 { return most }, PlainName(option))
		return text, ok
	}
	return c.WithOption(option, strconv.FormatFloat(most, 'f', -1, 64))
}

// WithOption sets an option to a value: in its place where the command has it, else at the end. A
// value that is empty adds a lone flag.
func (c Line) WithOption(option, value string) (string, bool) {
	if !c.Known {
		return "", false
	}
	if a, found := c.Find(PlainName(option)); found {
		if value == "" || a.Value == value || a.Value == "" || a.at == a.name0 && !a.joined {
			return "", false
		}
		return c.Apply([]Edit{c.ReplaceValue(a, Quote(value))}), true
	}
	if c.closedScript() {
		return "", false
	}
	words := option
	if value != "" {
		words += " " + Quote(value)
	}
	end := c.words[c.last-1].end
	return c.Apply([]Edit{{end, end, " " + words}}), true
}

// openScripts are shell scripts that pass their options on to the program that they start, as their authors say.
// https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Command-Line-Arguments-and-Settings
var openScripts = []string{"webui.sh", "start_linux.sh", "start_wsl.sh", "start_macos.sh"}

// closedScript: a script of the shell is run without any option. What it starts has its options within the script, and one behind its name goes nowhere.
func (c Line) closedScript() bool {
	part := c.part()
	for len(part) > 1 && (slices.Contains([]string{"bash", "sh", "zsh", "source", "sudo", "nohup"}, lastPart(part[0].value)) || strings.Contains(part[0].value, "=") || part[0].value == ".") {
		part = part[1:]
	}
	name := lastPart(part[0].value)
	return strings.HasSuffix(name, ".sh") && !slices.Contains(openScripts, name) && len(c.Arguments()) == 0
}

// WithFlagFor puts a lone flag in the place of another that the command has.
func (c Line) WithFlagFor(old, flag string) (string, bool) {
	for i := c.first + 1; i < c.last; i++ {
		if c.words[i].value == old {
			return c.Apply([]Edit{{c.words[i].start, c.words[i].end, flag}}), true
		}
	}
	return "", false
}

// WithoutFlag takes a lone flag away.
func (c Line) WithoutFlag(flag string) (string, bool) {
	for i := c.first + 1; i < c.last; i++ {
		if c.words[i].value == flag {
			return c.Apply([]Edit{{c.words[i-1].end, c.words[i].end, ""}}), true
		}
	}
	return "", false
}
