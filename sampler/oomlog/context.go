package oomlog

import (
	"bytes"
	"maps"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

const (
	contextLines = 200 // before a failure
	phaseLines   = 12  // before a failure, for its phase when there is no traceback
	maxFrames    = 60
)

// context reads what the log says of the run before the failure.
func (p *Parser) context(m *message, st *stream) *sampler.LogContext {
	c := p.facts.gather()
	c.GPUMemory = p.memory.list()
	var recent []line
	for _, r := range p.ring.tail(contextLines) {
		if r.number > m.first.number {
			break
		}
		for _, l := range r.clean() {
			if l.origin.key == st.key || l.origin.key == "" || !distinct(l.origin.key) {
				recent = append(recent, l)
			}
		}
	}
	c.Server = serverOf(p.ring.tail(serverLines + len(m.lines)))
	c.progress(recent)
	c.traceback(recent)
	c.conclude(m, recent)
	return &c.LogContext
}

// serverLines is how far from a failure its traceback may name the server.
const serverLines = 40

// serverNames are what lines of an inference server have in them: prefixes and files of tracebacks.
var serverNames = []struct{ part, name string }{
	{"/vllm/", "vllm"}, {"VllmWorker", "vllm"}, {"(EngineCore", "vllm"}, {`\vllm\`, "vllm"}, {"/sglang/", "sglang"},
}

// serverOf is the inference server that lines are from; "" for none.
func serverOf(lines []*rawLine) string {
	for i := len(lines) - 1; i >= 0; i-- {
		for _, s := range serverNames {
			if bytes.Contains(lines[i].text, []byte(s.part)) {
				return s.name
			}
		}
	}
	return ""
}

// gather reads the lines of the book, once per change, and returns a copy of what they say.
func (f *factBook) gather() *gathered {
	if f.known == nil {
		f.known = &gathered{LogContext: sampler.LogContext{Environment: map[string]string{}}}
		for _, r := range f.lines() {
			for _, l := range r.clean() {
				f.known.fact(l.text)
			}
		}
	}
	c := *f.known
	c.Environment = maps.Clone(f.known.Environment)
	return &c
}

// gathered is a context being read.
type gathered struct {
	sampler.LogContext
	phases []string // of the traceback, outermost first
	steps  bool     // some line showed a finished step
}

// fact applies the rows that say something of the whole run.
func (c *gathered) fact(text string) {
	if strings.Contains(text, "try setting") || strings.Contains(text, "Tried to allocate") || ownClause.MatchString(text) {
		return // the failure's own words
	}
	for i := range factRows {
		r := &factRows[i]
		at := r.re.FindStringSubmatch(text)
		if at == nil {
			continue
		}
		value := ""
		for _, g := range at[1:] {
			if g != "" {
				value = g
				break
			}
		}
		r.set(c, value, at)
	}
	for _, at := range environment.FindAllStringSubmatch(text, 8) {
		c.Environment[at[1]] = strings.Trim(at[2], `"',;)`)
	}
}

// notes are what one line says of the run's progress and of a traceback.
type notes struct {
	epoch, epochs, step sampler.Opt[int]
	nan                 bool
	frame, phase        string // a function of a traceback and what its name tells
	arrow               string // the source line an arrow points at
}

func notesOf(text string) notes {
	var n notes
	for _, re := range epochForms {
		if at := re.FindStringSubmatch(text); at != nil {
			n.epoch = number(at[1])
			if len(at) > 2 {
				n.epochs = number(at[2])
			}
			break
		}
	}
	for _, re := range stepForms {
		if at := re.FindStringSubmatch(text); at != nil && !loadingBar.MatchString(text) {
			n.step = number(at[1])
			break
		}
	}
	n.nan = nanLoss.MatchString(text) || yoloNaN.MatchString(text)
	for _, re := range frameForms {
		if at := re.FindStringSubmatch(text); at != nil {
			n.frame, n.phase = at[1], phaseOf(at[1])
			return n
		}
	}
	if at := arrowCode.FindStringSubmatch(text); at != nil {
		n.arrow = at[1]
	}
	return n
}

// progress takes epoch, step and losses from the last lines that show them.
func (c *gathered) progress(lines []line) {
	for i := len(lines) - 1; i >= 0; i-- {
		n := &lines[i].notes
		if !c.Epoch.Known() {
			c.Epoch, c.Epochs = n.epoch, n.epochs
		}
		c.Step = c.Step.Else(n.step)
		c.steps = c.steps || n.step.Or(0) > 0
		c.NaNLoss = c.NaNLoss || n.nan
	}
}

func number(s string) sampler.Opt[int] {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return sampler.Opt[int]{}
	}
	return sampler.Some(n)
}

// traceback reads the frames of the last traceback before the failure.
func (c *gathered) traceback(lines []line) {
	start := 0
	for i, l := range lines {
		if strings.Contains(l.text, "Traceback (most recent call last)") {
			start = i + 1
			c.Functions, c.Code, c.phases = nil, nil, nil
		}
		if i < start {
			continue
		}
		n := &l.notes
		if n.frame == "" || len(c.Functions) >= maxFrames {
			if n.arrow != "" {
				c.Code = append(c.Code, n.arrow)
			}
			continue
		}
		c.Functions = append(c.Functions, n.frame)
		if n.phase != "" {
			c.phases = append(c.phases, n.phase)
		}
		if i+1 < len(lines) && isCode(lines[i+1].text) {
			c.Code = append(c.Code, lines[i+1].text)
		}
	}
}

func isCode(text string) bool {
	return text != "" && len(text) < 300 && !strings.HasPrefix(text, "File ") && !strings.Contains(text, "Error: ") && strings.Trim(text, "^~ ") != ""
}

// conclude draws the phase from the frames, or from the lines before the failure.
func (c *gathered) conclude(m *message, lines []line) {
	for _, p := range c.phases {
		// "predict" inside a validation is part of it.
		if p == sampler.PhaseInference && (c.Phase == sampler.PhaseTraining || c.Phase == sampler.PhaseValidation) {
			continue
		}
		c.Phase = p
	}
	if c.Phase == "" {
		c.Phase = phaseByLines(lines)
	}
	if c.Phase == "" && len(m.candidates) > 0 && startsServers(m.candidates[0].row.kind) {
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

func phaseByLines(lines []line) string {
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-phaseLines; i-- {
		for _, r := range phaseLinesRows {
			if r.re.MatchString(lines[i].text) {
				return r.phase
			}
		}
	}
	return ""
}

// phaseOf is the phase that a function's name tells; empty for most.
func phaseOf(function string) string {
	for _, r := range phaseFunctions {
		if r.re.MatchString(function) {
			return r.phase
		}
	}
	return ""
}
