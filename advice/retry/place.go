package retry

import (
	"path/filepath"
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// place is where in the arguments of a command the options of the program stand that trains.
type place struct {
	args   []string
	script int    // the argument that a shell reads as its script; -1: the arguments are the program's
	file   string // the script file that a shell reads; what it does with its arguments is not known
	line   command.Line
	closed string // why nothing in it can be edited: the id of a sentence
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash"}

// runsText is an option of a shell that makes an argument its script: -c, -lc, -euxc.
var runsText = sampler.Pattern{Source: `^-[a-zA-Z]*c[a-zA-Z]*$`}

func placeOf(args []string) place {
	p := place{args: args, script: -1, line: command.OfArgs(args)}
	if again, ok := p.line.Argv(); !ok || !slices.Equal(again, args) {
		p.closed = "retry.unreadable"
		return p
	}
	if strings.HasSuffix(args[0], ".sh") {
		p.file = args[0]
	}
	for i, arg := range args {
		if strings.HasSuffix(arg, ".py") {
			break
		}
		if slices.Contains(shells, filepath.Base(arg)) {
			p.enter(i + 1)
			break
		}
	}
	return p
}

// enter reads the options of a shell, from an argument on.
func (p *place) enter(at int) {
	text := false
	for ; at < len(p.args); at++ {
		arg := p.args[at]
		switch {
		case strings.HasPrefix(arg, "--"):
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
			text = text || runsText.Get().MatchString(arg)
			if strings.HasSuffix(strings.ToLower(arg), "o") { // the name of an option follows: -euo pipefail
				at++
			}
		case text:
			p.within(at)
			return
		default:
			p.file = arg
			return
		}
	}
}

// within takes the script of a shell. Where its arguments are passed on as they are, the options may stand there.
func (p *place) within(at int) {
	script := p.args[at]
	inner := command.Parse(script)
	passes := strings.Contains(script, `"$@"`) || strings.Contains(script, "$*") || strings.Contains(script, " $@")
	if _, _, typed := p.line.BatchArgument(); passes && typed {
		return
	}
	switch n := inner.Launching(); {
	case !inner.Known:
		p.closed = "retry.unreadable"
	case n > 1 || loops.Get().MatchString(script):
		p.closed = "retry.several"
	}
	p.script, p.line = at, inner
}

// loops are the words of a shell with which a command may run more than once, or not at all.
var loops = sampler.Pattern{Source: `(?:^|[;&|\s])(?:for|while|until|if|case|function|xargs|parallel)\s`}

// with are the arguments after an edit of the line.
func (p *place) with(text string) (args []string, ok bool) {
	if p.closed != "" {
		return nil, false
	}
	if p.script < 0 {
		return command.Parse(text).Argv()
	}
	args = slices.Clone(p.args)
	args[p.script] = text
	return args, command.Parse(text).Known
}

// Append are the arguments with words behind those of the program; ok is false where it cannot be told which they are.
func Append(args, words []string) ([]string, bool) {
	p := placeOf(args)
	if p.script < 0 {
		return slices.Concat(args, words), true
	}
	text, ok := p.line.Append(words)
	if !ok {
		return args, false
	}
	return p.with(text)
}

// borders are programs that give those they start another environment, or one on another machine.
var borders = []string{"docker", "podman", "nerdctl", "ssh", "sudo", "su", "doas", "kubectl", "sbatch", "ray", "systemd-run", "machinectl"}

// border is the program that a variable does not cross; empty: there is none.
func (p *place) border() string {
	for i, arg := range p.args {
		name := filepath.Base(arg)
		switch {
		case strings.HasSuffix(name, ".py"):
			return ""
		case slices.Contains(borders, name):
			return name
		case name == "env" && i+1 < len(p.args) && (p.args[i+1] == "-i" || p.args[i+1] == "-" || p.args[i+1] == "--ignore-environment"):
			return name
		}
	}
	return ""
}

// names says whether the command itself gives a variable a value, and at which argument as env takes it; -1:
// elsewhere.
func (p *place) names(variable string) (at int, named bool) {
	at = -1
	for i, arg := range p.args {
		if i != p.script && strings.HasPrefix(arg, variable+"=") && (i == 0 || p.args[i-1] != "-e" && p.args[i-1] != "--env") {
			return i, true
		}
		named = named || strings.Contains(arg, variable+"=")
	}
	return at, named
}
