package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// binding is one key of the main screen. Help and handling come from the same row.
type binding struct {
	keys []string
	show string // in the help
	help string // its sentence
	do   func(*Model) tea.Cmd
	only func(*Model) bool // nil: always
}

// bindings are the keys that count now, each of them once. A digit focuses a GPU; see
// Model.key.
func (m *Model) bindings() []binding {
	if m.overviewed() {
		return m.fleetKeys()
	}
	var list []binding
	if !live(m) {
		list = append(list, replayKeys...)
	}
	for _, b := range mainKeys {
		if b.only == nil || b.only(m) {
			list = append(list, b)
		}
	}
	return list
}

func live(m *Model) bool { return m.player == nil }

// canResetPeaks is true of a still as well, which shows what the live screen offers.
func canResetPeaks(m *Model) bool {
	_, ok := m.stream.(sampler.PeakResetter)
	return ok || m.stream == nil && m.fleet == nil
}

func canSetInterval(m *Model) bool {
	_, ok := m.stream.(sampler.IntervalSetter)
	return ok || m.stream == nil && m.fleet == nil
}

// mainKeys are those of every stream, and of the live screen.
var mainKeys = []binding{
	{[]string{"q", "f10", "ctrl+c"}, "q", "key.quit", (*Model).quit, nil},
	{[]string{"?", "f1", "h"}, "? F1", "key.help", open(modeHelp), nil},
	{[]string{"n"}, "n", "key.need", open(modeNeed), nil},
	{[]string{"a"}, "a", "key.advice", open(modeAdvice), nil},
	{[]string{"y"}, "y", "key.copy", (*Model).copyThis, nil},
	{[]string{"j", "down"}, "j k g G", "key.move", move(1), nil},
	{[]string{"k", "up"}, "", "", move(-1), nil},
	{[]string{"pgdown"}, "", "", move(10), nil},
	{[]string{"pgup"}, "", "", move(-10), nil},
	{[]string{"g"}, "", "", move(-1 << 20), nil},
	{[]string{"G"}, "", "", move(1 << 20), nil},
	{[]string{"home"}, "", "", move(-1 << 20), live},
	{[]string{"end"}, "", "", move(1 << 20), live},
	{[]string{"enter"}, "Enter", "key.detail", (*Model).openDetail, nil},
	{[]string{"/"}, "/", "key.filter", (*Model).openFilter, nil},
	{[]string{"t"}, "t", "key.group", (*Model).groupNext, nil},
	{[]string{"space"}, "Space", "key.tag", (*Model).toggleTag, canSignal},
	{[]string{"space"}, "", "", (*Model).openSignals, func(m *Model) bool { return live(m) && !canSignal(m) }}, // says why not
	{[]string{"e"}, "e", "key.environment", (*Model).openEnvironment, nil},
	{[]string{"right"}, "← →", "key.sideways", sideways(1), live},
	{[]string{"left"}, "", "", sideways(-1), live},
	{[]string{"K", "f9"}, "K F9", "key.signal", (*Model).openSignals, canSignal},
	{[]string{"K", "f9"}, "", "", (*Model).openSignals, func(m *Model) bool { return !canSignal(m) }}, // says why not
	{[]string{"o", "f6"}, "o O F6", "key.sort", (*Model).sortNext, nil},
	{[]string{"O"}, "", "", (*Model).sortReverse, nil},
	{[]string{"]"}, "[ ]", "key.span", spanBy(1), nil},
	{[]string{"["}, "", "", spanBy(-1), nil},
	{[]string{"m"}, "m", "key.metric", (*Model).nextMetric, nil},
	{[]string{"L"}, "L", "key.lines", (*Model).toggleLines, nil},
	{[]string{"0"}, "1-9 0", "key.focus", focusOn(-1), nil},
	{[]string{"tab"}, "Tab", "key.next", (*Model).focusNext, nil},
	{[]string{"w"}, "w", "key.worst", (*Model).toggleWorst, nil},
	{[]string{"}"}, "{ }", "key.scroll", scrollBy(1), live},
	{[]string{"{"}, "", "", scrollBy(-1), live},
	{[]string{"P"}, "P", "key.reset", open(modeReset), canResetPeaks},
	{[]string{"p"}, "p", "key.freeze", (*Model).freeze, live},
	{[]string{"-"}, "+ -", "key.refresh", intervalBy(1), canSetInterval},
	{[]string{"+", "="}, "", "", intervalBy(-1), canSetInterval},
	{[]string{"T"}, "T", "key.theme", (*Model).nextTheme, nil},
	{[]string{"s", "f2"}, "s F2", "key.setup", (*Model).openSetup, nil},
	{[]string{"ctrl+l"}, "Ctrl-L", "key.redraw", (*Model).again, nil},
	{[]string{"ctrl+z"}, "Ctrl-Z", "key.suspend", (*Model).suspendJob, nil},
	{[]string{"esc"}, "", "", (*Model).escape, nil},
}

// replayKeys are those that only a replay has.
var replayKeys = []binding{
	{[]string{"p", "space"}, "p Space", "key.pause", (*Model).replayPause, nil},
	{[]string{"."}, ". ,", "key.step", replayStep(1), nil},
	{[]string{","}, "", "", replayStep(-1), nil},
	{[]string{">"}, "< >", "key.speed", replaySpeed(1), nil},
	{[]string{"<"}, "", "", replaySpeed(-1), nil},
	{[]string{"right"}, "← →", "key.ten", replayBy(10 * time.Second), nil},
	{[]string{"left"}, "", "", replayBy(-10 * time.Second), nil},
	{[]string{"}", "shift+right"}, "{ }", "key.five", replayBy(5 * time.Minute), nil},
	{[]string{"{", "shift+left"}, "", "", replayBy(-5 * time.Minute), nil},
	{[]string{"N"}, "N B", "key.mark", replayMark(1), nil},
	{[]string{"B"}, "", "", replayMark(-1), nil},
	{[]string{":"}, ":", "key.time", open(modeTime), nil},
	{[]string{"home"}, "Home End", "key.start", replayTo(func(t *player.Timeline) time.Time { return t.Start }), nil},
	{[]string{"end"}, "", "", replayTo(func(t *player.Timeline) time.Time { return t.End }), nil},
	{[]string{"P", "+", "=", "-"}, "", "", func(m *Model) tea.Cmd {
		return m.note(m.words.Say("say.recorded"))
	}, nil},
}

// hints are the keys in the footer.
func (m *Model) hints() []hint {
	switch {
	case m.overviewed():
		return fleetHints
	case m.fleet != nil:
		return append(slices.Clone(machineHints), slices.DeleteFunc(slices.Clone(liveHints), func(h hint) bool { return h.key == "P" })...)
	case !live(m):
		return replayHints
	case !canResetPeaks(m):
		return slices.DeleteFunc(slices.Clone(liveHints), func(h hint) bool { return h.key == "P" })
	}
	return liveHints
}

var liveHints = []hint{
	{"?", "hint.help"}, {"q", "hint.quit"}, {"n", "hint.need"}, {"a", "hint.advice"}, {"[ ]", "hint.span"}, {"o", "hint.sort"},
	{"1-9", "hint.gpu"}, {"Enter", "hint.process"}, {"t", "hint.group"}, {"s", "hint.setup"}, {"m", "hint.metric"}, {"P", "hint.reset"}, {"p", "hint.freeze"}, {"T", "hint.theme"},
}

// adviceHints, plotHints and tableHints are the keys in the borders of their panels; where there is no room for all, the
// first are left out.
var (
	plotHints   = []hint{{"[ ]", "hint.span"}, {"m", "hint.metric"}, {"L", "hint.lines"}, {"1-9", "hint.gpu"}}
	adviceHints = []hint{{"a", "hint.all"}, {"y", "hint.copy"}, {"n", "hint.need"}}
	tableHints  = []hint{{"e", "hint.environment"}, {"t", "hint.group"}, {"j k", "hint.select"}, {"/", "hint.filter"}, {"Enter", "hint.process"}, {"o", "hint.sort"}}
	signalHints = []hint{{"Space", "hint.tag"}, {"K", "hint.signal"}}
)

// ofTable are the keys in the border of the table.
func (m *Model) ofTable() []hint {
	if m.overviewed() {
		return pick(m.fleet.listed, listedHints, unlistedHints)
	}
	if !canSignal(m) {
		return tableHints
	}
	return slices.Insert(slices.Clone(tableHints), 1, signalHints...)
}

var replayHints = []hint{
	{"?", "hint.help"}, {"q", "hint.quit"}, {"p", "hint.pause"}, {"< >", "hint.speed"}, {"hint.arrows", "hint.ten"}, {"{ }", "hint.five"},
	{"N B", "hint.marks"}, {":", "hint.goto"}, {".", "hint.step"}, {"a", "hint.advice"}, {"[ ]", "hint.span"}, {"n", "hint.need"},
}
