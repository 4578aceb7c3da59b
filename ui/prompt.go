package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// mode is what the keys act on.
type mode int

const (
	modeMain mode = iota
	modeHelp
	modeAdvice
	modeDetail
	modeNeed  // typing the need
	modeReset // confirming P
	modeTime  // typing the time to go to
	modeSignal
	modeFilter
	modeEnvironment
	modeSignalAsk // confirming a signal
	modeSetup
)

// prompt is what the keys act on, and what was typed there.
type prompt struct {
	mode  mode
	typed string // in modeNeed, modeTime, modeFilter and modeSetup
	top   int    // first line shown of a long text
}

func (p *prompt) open(to mode) { p.mode, p.typed, p.top = to, "", 0 }

// asks says whether a question waits for an answer, which a click must not give.
func (p *prompt) asks() bool {
	switch p.mode {
	case modeMain, modeHelp, modeAdvice, modeDetail, modeEnvironment, modeSetup:
		return false
	}
	return true
}

// maxTyped bounds what is typed: no size and no time is longer.
const maxTyped = 40

// paste adds typed or pasted text where something is asked for.
func (p *prompt) paste(text string) {
	if (p.mode == modeNeed || p.mode == modeTime || p.mode == modeFilter || p.mode == modeSetup) && len(p.typed)+len(text) <= maxTyped {
		p.typed += sampler.Clean(text)
	}
}

// wrongTyped are the columns that a message has for what was typed, before the reason, which must have room in 80.
const wrongTyped = 12

// wrong is what is wrong with what was typed. A text of any length is repeated by its beginning.
func (p *prompt) wrong(err error) string {
	said := err.Error()
	for _, typed := range []string{p.typed, strings.TrimSpace(p.typed)} {
		if rest, ok := strings.CutPrefix(said, strconv.Quote(typed)); ok && width(typed) > wrongTyped {
			return strconv.Quote(ansi.Truncate(typed, wrongTyped, "...")) + rest
		}
	}
	return said
}

// edit takes a key while something is typed and says whether it is complete.
func (p *prompt) edit(msg tea.KeyPressMsg) (complete bool) {
	switch msg.String() {
	case "esc":
		p.mode = modeMain
	case "backspace":
		if r := []rune(p.typed); len(r) > 0 {
			p.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		p.typed = ""
	case "enter":
		return true
	default:
		p.paste(msg.Text)
	}
	return false
}

// text is the question and what was typed so far; short leaves out the explanation.
func (p *prompt) text(words lang.Catalog, short bool) string {
	typed := p.typed + "_"
	switch p.mode {
	case modeNeed:
		return words.Say(pick(short, "ask.need", "ask.need_long"), "typed", typed)
	case modeTime:
		return words.Say(pick(short, "ask.time", "ask.time_long"), "forms", player.TimeForms, "typed", typed)
	case modeFilter:
		return words.Say(pick(short, "ask.filter", "ask.filter_long"), "typed", typed)
	case modeReset:
		return words.Say("ask.reset")
	}
	return ""
}
