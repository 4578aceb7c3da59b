package ui

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
)

// Processes acts on the processes of this machine. Its errors are sampler.ErrGone, sampler.ErrNoPermission, or what the
// kernel says. A process is known by its pid and its start time, as snapshots have them: a later one of that pid is
// another.
type Processes interface {
	Signal(pid int, start time.Time, sig syscall.Signal) error
	// Alive says whether the process still runs.
	Alive(pid int, start time.Time) bool
	// Environ is the environment of the process, without what is secret in it.
	Environ(pid int, start time.Time) ([]string, error)
}

// signalChoice is a signal of the menu.
type signalChoice struct {
	sig  syscall.Signal
	name string // its sentence is "signal." and the name
	ends bool   // a process is expected to end by it
}

var signalChoices = []signalChoice{
	{syscall.SIGTERM, "TERM", true}, {syscall.SIGINT, "INT", true}, {syscall.SIGKILL, "KILL", true}, {syscall.SIGSTOP, "STOP", false},
	{syscall.SIGCONT, "CONT", false}, {syscall.SIGHUP, "HUP", true}, {syscall.SIGQUIT, "QUIT", true}, {syscall.SIGUSR1, "USR1", false},
	{syscall.SIGUSR2, "USR2", false},
}

// signalMenu is what is signaled, and which signal the menu is at. The processes are those of the moment it was opened.
type signalMenu struct {
	targets []target
	at      int
}

// target is a process to be signaled.
type target struct {
	pid                 int
	start               time.Time
	user, name, command string
	launch              string
	gpus                []string
	holds               sampler.Bytes // on all of them
}

// stillAfter is how long a process has to end before it is called still there.
const stillAfter = 2 * time.Second

// What came of signals.
type (
	signaled struct {
		choice  signalChoice
		targets []target
		errs    []error
	}
	signalEnded struct {
		choice signalChoice
		gone   []int
		still  []int
	}
)

// noSignals is why nobody can be signaled at all, a sentence of the catalog; empty: they can.
func (m *Model) noSignals() string {
	switch {
	case m.opt.ReadOnly:
		return "say.signal_readonly"
	case m.player != nil:
		return "say.signal_replay"
	case m.fleet != nil:
		return "say.signal_elsewhere"
	case m.opt.Processes == nil && m.opt.Label != "":
		return "say.signal_demo"
	case m.opt.Processes == nil:
		return "say.signal_elsewhere"
	}
	return ""
}

func canSignal(m *Model) bool { return m.noSignals() == "" }

// openSignals opens the menu of signals for the tagged processes, or the selected one.
func (m *Model) openSignals() tea.Cmd {
	why := m.noSignals()
	if why == "" {
		m.signals = signalMenu{}
		m.signals.targets, why = m.targets()
	}
	if why != "" {
		return m.note(m.words.Say(why))
	}
	m.prompt.open(modeSignal)
	return nil
}

// targets are the processes that a signal would go to, or why there are none.
func (m *Model) targets() (list []target, why string) {
	rows := m.table.taggedRows(m.shown.snap)
	if row, ok := m.table.selected(); ok && len(rows) == 0 {
		rows = m.table.below(row)
	}
	why = "say.signal_whom"
	at := map[sampler.ProcessKey]int{}
	for _, r := range rows {
		if no := notHere(r); no != "" {
			why = no
			continue
		}
		key := r.identity()
		if _, known := at[key]; !known {
			at[key] = len(list)
			list = append(list, target{pid: r.proc.PID, start: r.proc.StartTime.Or(time.Time{}), user: r.proc.User, name: r.proc.Name, command: r.proc.Command, launch: r.proc.Launch})
		}
	}
	if len(list) == 0 {
		return nil, why
	}
	m.eachRow(func(r procRow) {
		if i, ok := at[r.identity()]; ok && r.proc != nil {
			list[i].gpus = append(list[i].gpus, r.gpu.Label())
			list[i].holds += min(r.memory().Or(0), sampler.MaxPlausible)
		}
	})
	return list, ""
}

// notHere is why the process of a row cannot be reached; empty: it can.
func notHere(r procRow) string {
	switch {
	case r.proc == nil:
		return "say.signal_nobody"
	case r.machine() != "":
		return "say.signal_elsewhere"
	case r.proc.Ended:
		return "say.signal_ended"
	case !r.proc.Visible || !r.proc.StartTime.Known():
		return "say.signal_foreign"
	}
	return ""
}

// eachRow calls do for every process of the picture, on every GPU.
func (m *Model) eachRow(do func(procRow)) {
	s := m.shown.snap
	for i := range s.GPUs {
		for j := range s.GPUs[i].Processes {
			do(procRow{gpu: &s.GPUs[i], proc: &s.GPUs[i].Processes[j], snap: s})
		}
	}
}

// signalKey moves in the menu, or leaves it.
func (m *Model) signalKey(k string) tea.Cmd {
	switch last := len(signalChoices) - 1; k {
	case "j", "down":
		m.signals.at = min(m.signals.at+1, last)
	case "k", "up":
		m.signals.at = max(m.signals.at-1, 0)
	case "g", "home":
		m.signals.at = 0
	case "G", "end":
		m.signals.at = last
	case "enter":
		m.prompt.open(modeSignalAsk)
	default:
		m.prompt.open(modeMain)
	}
	return nil
}

// confirmSignal sends the signal, if that is what was answered.
func (m *Model) confirmSignal(k string) tea.Cmd {
	m.prompt.open(modeMain)
	if k != "y" && k != "Y" || !canSignal(m) {
		return m.note(m.words.Say("say.signal_not"))
	}
	return m.sendSignal(signalChoices[m.signals.at], m.signals.targets)
}

func (m *Model) sendSignal(choice signalChoice, targets []target) tea.Cmd {
	p := m.opt.Processes
	return func() (msg tea.Msg) {
		defer sampler.Guard(func(err error) { msg = troubleFound{err.Error()} })
		s := signaled{choice: choice, targets: targets}
		for _, t := range targets {
			s.errs = append(s.errs, p.Signal(t.pid, t.start, choice.sig))
		}
		return s
	}
}

// signaled says what came of a signal, and looks again where an end is expected.
func (m *Model) signaled(s signaled) tea.Cmd {
	var parts []string
	of := map[string][]int{}
	var sent []target
	for i, t := range s.targets {
		switch err := s.errs[i]; {
		case err == nil:
			sent = append(sent, t)
			of["say.signal_sent"] = append(of["say.signal_sent"], t.pid)
		case errors.Is(err, sampler.ErrGone):
			of["say.signal_late"] = append(of["say.signal_late"], t.pid)
		case errors.Is(err, sampler.ErrNoPermission):
			of["say.signal_denied"] = append(of["say.signal_denied"], t.pid)
		default:
			parts = append(parts, sampler.Clean(err.Error()))
		}
	}
	for _, id := range []string{"say.signal_sent", "say.signal_late", "say.signal_denied"} {
		if len(of[id]) > 0 {
			parts = append(parts, m.words.Say(id, "pids", pidList(of[id]), "signal", s.choice.name))
		}
	}
	clear(m.table.tagged)
	said := m.notices.show(strings.Join(parts, "; "), longNoticeTime)
	if len(sent) == 0 || !s.choice.ends {
		return said
	}
	p := m.opt.Processes
	return tea.Batch(said, tea.Tick(stillAfter, func(time.Time) tea.Msg { return lookAgain(p, s.choice, sent) }))
}

// lookAgain parts those that a signal went to by whether they still run.
func lookAgain(p Processes, choice signalChoice, sent []target) signalEnded {
	e := signalEnded{choice: choice}
	for _, t := range sent {
		if p.Alive(t.pid, t.start) {
			e.still = append(e.still, t.pid)
		} else {
			e.gone = append(e.gone, t.pid)
		}
	}
	return e
}

func (m *Model) signalEnded(e signalEnded) tea.Cmd {
	var parts []string
	if len(e.gone) > 0 {
		parts = append(parts, m.words.Say("say.signal_gone", "pids", pidList(e.gone)))
	}
	if len(e.still) > 0 {
		parts = append(parts, m.words.Say("say.signal_still", "pids", pidList(e.still), "signal", e.choice.name))
	}
	return m.notices.show(strings.Join(parts, "; "), longNoticeTime)
}

// pidList names a few pids, and says how many more there are.
func pidList(pids []int) string {
	var list []string
	for _, pid := range pids[:min(len(pids), 4)] {
		list = append(list, strconv.Itoa(pid))
	}
	text := strings.Join(list, ", ")
	if more := len(pids) - len(list); more > 0 {
		text += " +" + strconv.Itoa(more)
	}
	return text
}
