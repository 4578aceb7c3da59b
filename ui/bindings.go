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
	help string
	do   func(*Model) tea.Cmd
	only func(*Model) bool // nil: always
}

// bindings are the keys that count now, each of them once. A digit focuses a GPU; see
// Model.key.
func (m *Model) bindings() []binding {
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
	return ok || m.stream == nil
}

func canSetInterval(m *Model) bool {
	_, ok := m.stream.(sampler.IntervalSetter)
	return ok || m.stream == nil
}

// mainKeys are those of every stream, and of the live screen.
var mainKeys = []binding{
	{[]string{"q", "f10", "ctrl+c"}, "q", "quit", func(*Model) tea.Cmd { return tea.Quit }, nil},
	{[]string{"?", "f1", "h"}, "? F1", "this help", open(modeHelp), nil},
	{[]string{"n"}, "n", "set what the next allocation needs", open(modeNeed), nil},
	{[]string{"a"}, "a", "all advice, and past alerts", open(modeAdvice), nil},
	{[]string{"y"}, "y", "copy the next advised command", (*Model).copyCommand, nil},
	{[]string{"j", "down"}, "j k ↓ ↑", "move in the process table", move(1), nil},
	{[]string{"k", "up"}, "", "", move(-1), nil},
	{[]string{"pgdown"}, "", "", move(10), nil},
	{[]string{"pgup"}, "", "", move(-10), nil},
	{[]string{"g"}, "g G", "first and last process", move(-1 << 20), nil},
	{[]string{"G"}, "", "", move(1 << 20), nil},
	{[]string{"home"}, "", "", move(-1 << 20), live},
	{[]string{"end"}, "", "", move(1 << 20), live},
	{[]string{"enter"}, "Enter", "one process: its history and peak", (*Model).openDetail, nil},
	{[]string{"o", "f6"}, "o F6", "sort by the next column", (*Model).sortNext, nil},
	{[]string{"O"}, "O", "reverse order", (*Model).sortReverse, nil},
	{[]string{"]"}, "[ ]", "time span of the plots, 1 min to 24 h", spanBy(1), nil},
	{[]string{"["}, "", "", spanBy(-1), nil},
	{[]string{"m"}, "m", "plot memory, utilization, power or temperature", (*Model).nextMetric, nil},
	{[]string{"0"}, "1-9 0", "one GPU (1 is the first), all GPUs", focusOn(-1), nil},
	{[]string{"tab"}, "Tab", "the next GPU", (*Model).focusNext, nil},
	{[]string{"w"}, "w", "GPUs sorted by headroom", (*Model).toggleWorst, nil},
	{[]string{"}"}, "{ }", "scroll the GPUs", scrollBy(1), live},
	{[]string{"{"}, "", "", scrollBy(-1), live},
	{[]string{"P"}, "P", "reset the peaks", open(modeReset), canResetPeaks},
	{[]string{"p"}, "p", "freeze the display (sampling continues)", (*Model).freeze, live},
	{[]string{"-"}, "+ -", "refresh faster, slower", intervalBy(1), canSetInterval},
	{[]string{"+", "="}, "", "", intervalBy(-1), canSetInterval},
	{[]string{"T"}, "T", "next theme", (*Model).nextTheme, nil},
	{[]string{"ctrl+l"}, "Ctrl-L", "draw again", (*Model).again, nil},
	{[]string{"ctrl+z"}, "Ctrl-Z", "suspend (fg comes back)", (*Model).suspend, nil},
	{[]string{"esc"}, "", "", (*Model).clearCursor, nil},
}

// replayKeys are those that only a replay has.
var replayKeys = []binding{
	{[]string{"p", "space"}, "p Space", "pause and go on", (*Model).replayPause, nil},
	{[]string{"."}, ". ,", "one snapshot on, one back", replayStep(1), nil},
	{[]string{","}, "", "", replayStep(-1), nil},
	{[]string{">"}, "< >", "playback speed, 0.25x to 3600x", replaySpeed(1), nil},
	{[]string{"<"}, "", "", replaySpeed(-1), nil},
	{[]string{"right"}, "← →", "10 seconds back and on", replayBy(10 * time.Second), nil},
	{[]string{"left"}, "", "", replayBy(-10 * time.Second), nil},
	{[]string{"}", "shift+right"}, "{ }", "5 minutes back and on; Shift-← Shift-→ too", replayBy(5 * time.Minute), nil},
	{[]string{"{", "shift+left"}, "", "", replayBy(-5 * time.Minute), nil},
	{[]string{"N"}, "N B", "next and previous mark: peak, alert, out of memory, process", replayMark(1), nil},
	{[]string{"B"}, "", "", replayMark(-1), nil},
	{[]string{":"}, ":", "go to a time: " + player.TimeForms, open(modeTime), nil},
	{[]string{"home"}, "Home End", "start and end of the recording", replayTo(func(t *player.Timeline) time.Time { return t.Start }), nil},
	{[]string{"end"}, "", "", replayTo(func(t *player.Timeline) time.Time { return t.End }), nil},
	{[]string{"P", "+", "=", "-"}, "", "", func(m *Model) tea.Cmd {
		return m.note("peaks and refresh are those of the recording; < and > change the speed")
	}, nil},
}

// hints are the keys in the footer.
func (m *Model) hints() []hint {
	switch {
	case !live(m):
		return replayHints
	case !canResetPeaks(m):
		return slices.DeleteFunc(slices.Clone(liveHints), func(h hint) bool { return h.key == "P" })
	}
	return liveHints
}

var liveHints = []hint{
	{"?", "help"}, {"q", "quit"}, {"n", "need"}, {"a", "advice"}, {"[ ]", "span"}, {"o", "sort"},
	{"1-9", "GPU"}, {"Enter", "process"}, {"m", "metric"}, {"P", "reset peaks"}, {"p", "pause"}, {"T", "theme"},
}

var replayHints = []hint{
	{"?", "help"}, {"q", "quit"}, {"p", "pause"}, {"< >", "speed"}, {"arrows", "10 s"}, {"{ }", "5 min"},
	{"N B", "marks"}, {":", "go to"}, {".", "step"}, {"a", "advice"}, {"[ ]", "span"}, {"n", "need"},
}
