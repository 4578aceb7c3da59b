package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler/redact"
	"nvpeak/theme"
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
	fmt.Fprintln(a.err, "nvpeak: "+a.drawable(redact.Quoting(line(text), a.args)))
}

// drawable is a text in the characters that the terminal has.
func (a *app) drawable(text string) string {
	if a.opt.ascii {
		return plain.ASCII(text)
	}
	return text
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
	o := ui.Options{Need: a.opt.need.Opt, Theme: string(a.opt.theme), Light: theme.LightBackground(a.env("COLORFGBG")), ASCII: bool(a.opt.ascii), Lang: string(a.opt.lang),
		NoColor: bool(a.opt.noColor), Label: label, Lines: a.opt.plot == plotLine, NoMouse: a.opt.noMouse, Log: a.opt.log, Levels: a.levels(),
		Columns: a.opt.columns, Sort: string(a.opt.sort), Span: ui.SpanNamed(string(a.opt.span)), Save: a.saver()}
	if o.NoColor && o.Theme == "" {
		o.Theme = "mono"
	}
	return o
}

// textOptions fit a text to where it goes: 100 columns and no colors in a pipe. A terminal that knows no more than lines has
// a width all the same.
func (a *app) textOptions() plain.Options {
	o := plain.Options{Width: 100, ASCII: bool(a.opt.ascii)}
	w, h := sizeOf(a.out)
	if w > 0 {
		o.Width = w
	}
	if a.isTerminal(a.out) {
		o.Color, o.Rows = !bool(a.opt.noColor), h
	}
	return o
}

// tableOptions fit a table to a terminal; elsewhere it is as wide as it is.
func (a *app) tableOptions() plain.Options {
	w, _ := sizeOf(a.out)
	return plain.Options{Width: w, ASCII: bool(a.opt.ascii)}
}

// sizeOf is the size of a terminal of any kind; 0: it is none, or does not tell.
func sizeOf(f any) (w, h int) {
	file, ok := f.(*os.File)
	if !ok {
		return 0, 0
	}
	w, h, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0, 0
	}
	return w, h
}
