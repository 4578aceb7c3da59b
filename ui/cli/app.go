package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler/redact"
	"nvpeak/ui"
	"nvpeak/ui/plain"
)

// app is what the commands share: the streams, the environment, the common options.
type app struct {
	in   io.Reader
	out  io.Writer
	err  io.Writer
	env  func(string) string
	opt  options
	args []string  // as they were typed
	set  *settings // what the options were read from

	troubles chan<- string // where a screen shows what would be said; nil: there is none
	runs     bool          // a command that is watched from its start
}

// words are the sentences of the language that was chosen.
func (a *app) words() lang.Catalog { return lang.For(string(a.opt.lang)) }

// say prints a line for people beside the output.
func (a *app) say(text string) {
	fmt.Fprintln(a.err, "nvpeak: "+redact.Quoting(line(text), a.args))
}

// warn says what is wrong beside what is done, on the screen where there is one, which shows one such line at a time.
func (a *app) warn(text string) {
	if a.troubles == nil {
		a.say(text)
		return
	}
	select {
	case a.troubles <- text:
	default:
	}
}

// isTerminal says whether f is a terminal that understands cursor movement.
func (a *app) isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && a.env("TERM") != "dumb" && a.env("TERM") != ""
}

// levels are those that somebody has set: the usual ones are for colors alone.
func (a *app) levels() (l watch.Levels) {
	if a.set == nil {
		return l
	}
	for name, set := range map[string]func(){
		"gpu-levels": func() { l.GPU = a.opt.gpuLevels }, "host-levels": func() { l.Host = a.opt.hostLevels },
	} {
		if from, ok := a.set.origins[name]; ok && from.how != fromDefault {
			set()
		}
	}
	return l
}

// screenOptions are those of the monitor and its single frames.
func (a *app) screenOptions(label string) ui.Options {
	ui.SetLevels(a.opt.gpuLevels, a.opt.hostLevels)
	o := ui.Options{Need: a.opt.need.Opt, Theme: string(a.opt.theme), ASCII: bool(a.opt.ascii), Lang: string(a.opt.lang),
		NoColor: bool(a.opt.noColor), Label: label, Lines: a.opt.plot == plotLine, NoMouse: a.opt.noMouse, Log: a.opt.log, Levels: a.levels(),
		Columns: a.opt.columns, Sort: string(a.opt.sort), Span: ui.SpanNamed(string(a.opt.span)), Save: a.saver()}
	if o.NoColor && o.Theme == "" {
		o.Theme = "mono"
	}
	return o
}

// textOptions fit a text to where it goes: 100 columns and no colors in a pipe.
func (a *app) textOptions() plain.Options {
	o := plain.Options{Width: 100, ASCII: bool(a.opt.ascii)}
	if !a.isTerminal(a.out) {
		return o
	}
	o.Color = !bool(a.opt.noColor)
	if w, h, err := term.GetSize(int(a.out.(*os.File).Fd())); err == nil && w > 0 {
		o.Width, o.Rows = w, h
	}
	return o
}

// terminalWidth is that of the output; 0: it is no terminal.
func (a *app) terminalWidth() int {
	if !a.isTerminal(a.out) {
		return 0
	}
	return a.textOptions().Width
}
