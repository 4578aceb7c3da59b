package oomlog

import (
	"bytes"
	"cmp"

	"nvpeak/sampler"
)

// What people write around an error when they report it: an introduction above, the command, the machine
// and when it comes below.

// introduction is the last line with text shortly before line number; fenced: a fence of code stands between.
func (p *past) introduction(number int) (text string, fenced bool) {
	tail := p.ring.tail(4)
	for i := len(tail) - 1; i >= 0; i-- {
		switch text := bytes.TrimSpace(tail[i].text); {
		case tail[i].number >= number || len(text) == 0:
		case bytes.HasPrefix(text, []byte("```")):
			fenced = true
		default:
			return string(text[max(0, len(text)-240):]), fenced
		}
	}
	return "", fenced
}

// complete adds to events what a text says only after them: a report puts the command and the machine below
// the error. Settings are left out, because those below an error are often advice.
func (p *past) complete(events []*held) {
	if len(events) == 0 {
		return
	}
	later := p.facts.all(p.known)
	for _, e := range events {
		e.settle()
		c := e.Context
		if c == nil {
			continue
		}
		c.Command = cmp.Or(c.Command, later.Command)
		c.GPUName = cmp.Or(c.GPUName, later.GPUName)
		c.FrameworkVersion = cmp.Or(c.FrameworkVersion, later.FrameworkVersion)
		for _, system := range []string{"OS", "WSL_DISTRO_NAME"} {
			if v := later.Environment[system]; v != "" && c.Environment[system] == "" {
				c.Environment = setting(c.Environment, system, v)
			}
		}
		if len(c.GPUMemory) == 0 {
			c.GPUMemory = p.memory.list()
		}
		if c.Phase == "" && len(c.Functions) == 0 {
			c.Phase = p.told(e.Line)
		}
		if c.Server == "" && bare(&e.OOMEvent) {
			c.Server = programOf(p.ring.tail(serverLines))
		}
	}
}

// toldLines is how far below an error a report tells when it came.
const toldLines = 6

// reportsError: somebody writes of the error itself or of the memory that it takes.
var reportsError = pattern(`(?i)\b(?:error|oom|out of memory|memory|crash\w*|fail\w*)\b`)

// reportedPhases are the phases in the words of a person.
var reportedPhases = []struct {
	phase string
	words *lazy
}{
	{sampler.PhaseValidation, pattern(`(?i)\b(?:during|in|at|while|when)\s+(?:the\s+|my\s+|running\s+)?(?:[\w-]+\s+){0,2}(?:evaluat|validat)(?:ion|ing|e)\b`)},
	{sampler.PhaseInference, pattern(`(?i)\b(?:during|in|at|while|when)\s+(?:the\s+|my\s+|running\s+)?(?:inferenc|predict)(?:e|ion|ing)\b`)},
}

// told is the phase of which somebody writes below an error that it comes then.
func (p *past) told(line int) string {
	for _, r := range p.ring.tail(ringLines) {
		if r.number <= line || r.number > line+toldLines {
			continue
		}
		for _, l := range r.clean(p.known) {
			for _, row := range reportedPhases {
				if row.words.MatchString(l.text) && reportsError.MatchString(l.text) {
					return row.phase
				}
			}
		}
	}
	return ""
}

// setting puts a variable into a map that may be nil.
func setting(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
