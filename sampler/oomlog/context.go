package oomlog

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

const (
	contextLines = 200 // before a failure
	phaseWithin  = 12  // before a failure, for its phase when there is no traceback
	maxFrames    = 60
)

// past is what is kept of the text before a failure.
type past struct {
	ring   ring
	facts  factBook
	memory memoryBook
	pace   paceBook
	sizes  sizeBook
	soFar  soFarBook
	known  *shapes
}

// keep takes a line with words in it. plain is the line without escape sequences.
func (p *past) keep(raw, plain []byte, kept *rawLine, found *wordMask) {
	t := compiled()
	if found.meets(&t.memory) {
		p.memory.add(plain, found)
	}
	if found.meets(&t.pace) {
		p.pace.add(plain)
	}
	if found.meets(&t.sizes) {
		p.sizes.add(plain)
	}
	if found.meets(&t.soFar) {
		p.soFar.add(plain)
	}
	if found.meets(&t.facts) {
		p.facts.add(raw, kept)
	}
}

// surroundings are the last lines when a message ends, put together once a pattern may match them.
type surroundings struct {
	lines []*rawLine
	words wordMask // of the hints
	text  string
}

// around is the text of the last n lines, until the next one is added.
func (p *past) around(n int) *surroundings {
	s := &surroundings{lines: p.ring.tail(n)}
	for _, l := range s.lines {
		s.words.merge(l.words())
	}
	return s
}

// has says whether a pattern, if there is one, matches them.
func (s *surroundings) has(h *hint) bool {
	if h == nil || !compiled().hints().allows(h.index, &s.words) {
		return false
	}
	for i := len(s.lines) - 1; i >= 0; i-- { // mostly one line alone matches
		if l := s.lines[i]; compiled().hints().allows(h.index, l.words()) && h.MatchString(string(l.text)) {
			return true
		}
	}
	if s.text == "" {
		size := 0
		for _, r := range s.lines {
			size += len(r.text) + 1
		}
		var b strings.Builder
		b.Grow(size)
		for _, r := range s.lines {
			b.Write(r.text) // raw: the words looked for here are not broken by colors
			b.WriteByte('\n')
		}
		s.text = b.String()
	}
	return h.MatchString(s.text)
}

// moment is the end of a message, for the context of its event: most failures of a log that is full of them are
// only counted, and nobody asks what came before.
type moment struct {
	lines  []*rawLine
	facts  *sampler.LogContext // what the fact book said
	memory []sampler.Bytes
	most   sampler.Opt[sampler.Bytes]
	slower float64
	larger *sampler.SizeGrowth
	kept   *sampler.SizeGrowth
	beyond *sampler.SizeGrowth
	full   *sampler.SizeGrowth
	first  int    // line of the message
	length int    // its lines
	kind   string // of failure
	key    string // of its stream
	known  *shapes
}

// moment is now, at the end of a message of a failure of that kind.
func (p *past) moment(m *message, kind, key string) *moment {
	return &moment{p.ring.lend(contextLines), p.facts.all(p.known), p.memory.list(), p.memory.mostAllocated(), p.pace.slowdown(), p.sizes.growth(), p.sizes.counted(), p.soFar.beyond(), p.sizes.full(), m.first.number, len(m.lines), kind, key, p.known}
}

// context reads what the log says of the run before the failure, as far as a stream shows it.
func (m *moment) context() *sampler.LogContext {
	c := gathered{LogContext: copied(m.facts)}
	c.GPUMemory, c.MostAllocated, c.Slowdown, c.Larger, c.Counted, c.Full = m.memory, m.most, m.slower, m.larger, m.kept, m.full
	recent := make([]*keptLine, 0, len(m.lines))
	for _, r := range m.lines {
		if r.number > m.first {
			break
		}
		lines := r.clean(m.known)
		for i := range lines {
			if l := &lines[i]; l.origin.key == m.key || l.origin.key == "" || !distinct(l.origin.key) {
				recent = append(recent, l)
			}
		}
	}
	c.Server = programOf(m.lines[max(0, len(m.lines)-serverLines-m.length):])
	c.progress(recent)
	begins := c.traceback(recent)
	c.Changed = change(recent, begins)
	if saysSoFar(recent[:max(0, begins)]) {
		c.Beyond = m.beyond
	}
	c.conclude(m.kind, recent, begins)
	if c.Phase == sampler.PhaseInference && headedValidation(recent[max(0, begins-phaseWithin):max(0, begins)]) {
		c.Phase = sampler.PhaseValidation // "predict" inside a validation is part of it
	}
	if (c.Phase == "" || c.Phase == sampler.PhaseTraining || c.Phase == sampler.PhaseInference) && withinEvaluator(recent[:max(0, begins)]) {
		c.Phase, c.FirstStep = sampler.PhaseValidation, false
	}
	return &c.LogContext
}

// serverLines is how far from a failure its traceback may name the server.
const serverLines = 40

// programOf is the server or tool that lines are from; "" for none.
func programOf(lines []*rawLine) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if name := lines[i].program(); name != "" {
			return name
		}
	}
	return ""
}

// gathered is a context being read.
type gathered struct {
	sampler.LogContext
	phases []string // of the traceback, outermost first
	steps  bool     // some line showed a finished step
}

// progress takes epoch, step and losses from the last lines that show them.
func (c *gathered) progress(lines []*keptLine) {
	for i := len(lines) - 1; i >= 0; i-- {
		n := lines[i].read()
		if !c.Epoch.Known() {
			c.Epoch, c.Epochs = n.epoch, n.epochs
		}
		c.Step = c.Step.Else(n.step)
		c.steps = c.steps || n.step.Or(0) > 0
		c.NaNLoss = c.NaNLoss || n.nan
		c.Resumed = c.Resumed || n.resumed
	}
}

// traceback reads the frames of the last traceback before the failure, and says in which line
// it begins; without one, in which the failure does.
func (c *gathered) traceback(lines []*keptLine) (begins int) {
	start := len(lines)
	for start > 0 && !lines[start-1].read().traceback {
		start--
	}
	begins = start - 1
	if start == 0 {
		begins = len(lines) - 1
	}
	calls, within := "", false // the innermost line outside of libraries, and whether there is one of a library below it
	for i := start; i < len(lines); i++ {
		l := lines[i]
		n := l.read()
		if n.frame == "" || len(c.Functions) >= maxFrames {
			if n.arrow != "" {
				c.Code = append(c.Code, n.arrow)
				if !within {
					calls = n.arrow
				}
			}
			continue
		}
		c.Functions = append(c.Functions, n.frame)
		if file := fileOf(l.text); file != "" && !slices.Contains(c.Files, file) {
			c.Files = append(c.Files, file)
		}
		if n.phase != "" {
			c.phases = append(c.phases, n.phase)
		}
		if i+1 < len(lines) && isCode(lines[i+1].text) {
			c.Code = append(c.Code, lines[i+1].text)
			if callsTest.MatchString(lines[i+1].text) {
				c.phases = append(c.phases, sampler.PhaseValidation)
			}
			if !n.library {
				calls = lines[i+1].text
			}
		}
		within = n.library
	}
	if n := len(c.Code); n > 0 && len(c.Functions) > 0 { // what the innermost frame calls may have none of its own
		if callsValidation.MatchString(calls) && (!within || givesTestSet.MatchString(calls) && !c.callsBackward()) || !c.callsBackward() && slices.ContainsFunc(c.Code[:min(n, 4)], takesTestSet.MatchString) {
			c.phases = append(c.phases, sampler.PhaseValidation)
		}
	}
	if n := len(lines); n > 1 && len(c.Functions) == 0 && isStatement(lines[n-2].text) {
		c.Code = append(c.Code, lines[n-2].text)
	}
	return begins
}

// validationHead begins the lines that a validation prints.
var validationHead = pattern(`(?i)^\W{0,3}(?:\[(?:val|valid|validation|eval|evaluation)\]|(?:val|valid|validation|validating|eval|evaluation|evaluating):)`)

// headedValidation: the last lines with the name of a phase at their head are of a validation.
func headedValidation(lines []*keptLine) bool {
	for _, l := range slices.Backward(lines) {
		if trainingHead.MatchString(l.text) {
			return false
		}
		if validationHead.MatchString(l.text) {
			return true
		}
	}
	return false
}

var trainingHead = pattern(`(?i)^\W{0,3}(?:\[(?:train|training)\]|(?:train|training):)`)

var callsValidation = pattern(`^(?:[\w, ]+ = )?(?:\w+\.)*_?(?:run_)?(?:evaluate|validate|validation)(?:_\w+)?\(`)

// callsTest is the call of a loop that tests a model, as one that trains has it (https://lightning.ai/docs/pytorch/stable/common/trainer.html#test,
// https://mmengine.readthedocs.io/en/latest/api/generated/mmengine.runner.Runner.html; the examples of Diffusers have log_validation), or of a step of it: what is called may have no frame here.
var callsTest = pattern(`(?:^|= |\()(?:\w+\.){0,3}_?(?:trainer|runner|learner|solver)\.test\(|\.(?:test|val|validation)_step\(|\blog_validation\(`)

// givesTestSet is a call that gets what a model is tested on.
var givesTestSet = pattern(`(?i)\([^()]*\b(?:val|valid|validation|eval|test|dev)_?(?:\w*loader|dl|set|data\w*|iter\w*)\b`)

// takesTestSet is a model that is given what it is tested on.
var takesTestSet = pattern(`(?i)(?:^|= |\()(?:self\.)?(?:model|net|network|clf|classifier)(?:\.(?:forward|predict))?\(\s*(?:x_?(?:test|val|valid)|` +
	`(?:test|val|valid)_?(?:x|data|set|inputs?|images?|tensor)|inputs?_(?:test|val))\b`)

// callsBackward: it came in a backward pass, which no validation has.
func (c *gathered) callsBackward() bool {
	return slices.ContainsFunc(c.Functions, func(name string) bool { return strings.Contains(name, "backward") })
}

// isStatement: people paste the failing line of a traceback without the rest of it.
func isStatement(text string) bool {
	return isCode(text) && strings.HasSuffix(text, ")") && strings.Contains(text, "(") && (strings.Contains(text, " = ") || strings.HasPrefix(text, "return "))
}

func isCode(text string) bool {
	return text != "" && len(text) < 300 && !strings.HasPrefix(text, "File ") && !strings.Contains(text, "Error: ") && strings.Trim(text, "^~ ") != ""
}

// conclude draws the phase from the frames, or from the lines before the failure, or before its traceback, which begins there.
func (c *gathered) conclude(kind string, lines []*keptLine, begins int) {
	for _, p := range c.phases {
		// "predict" inside a validation is part of it.
		if p == sampler.PhaseInference && (c.Phase == sampler.PhaseTraining || c.Phase == sampler.PhaseValidation) {
			continue
		}
		c.Phase = p
	}
	for _, part := range []struct {
		end    int
		frames bool // also the places of a traceback: a folder may be called train
	}{{len(lines), false}, {max(0, begins), false}, {len(lines), true}} {
		for i := part.end - 1; i >= max(0, part.end-phaseWithin) && c.Phase == ""; i-- {
			if n := lines[i].read(); n.frame == "" || part.frames {
				c.Phase = n.stands
			}
		}
	}
	if c.Phase == "" && startsServers(kind) {
		c.Phase = sampler.PhaseLoading
	}
	if c.Phase == "" && (c.Epoch.Known() || c.Step.Known()) {
		c.Phase = sampler.PhaseTraining
	}
	c.FirstStep = c.Phase == sampler.PhaseTraining && !c.steps && (c.Step.Known() || c.Epoch.Or(0) <= 1 && c.Epoch.Known())
	if len(c.Environment) == 0 {
		c.Environment = nil
	}
}

func startsServers(kind string) bool {
	return kind == sampler.KindKVCache || kind == sampler.KindStartupFree || kind == sampler.KindWarmup || kind == sampler.KindStaticPool || kind == sampler.KindGGML
}
