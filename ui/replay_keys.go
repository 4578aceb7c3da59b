package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
)

// replayBindings are the keys of a replay. They go before those of the live screen.
var replayBindings []binding

func init() { // not a literal: see bindings
	replayBindings = []binding{
		{[]string{"p", "space"}, "p Space", "pause and go on", (*Model).replayPause},
		{[]string{"."}, ". ,", "one snapshot on, one back", replayStep(1)},
		{[]string{","}, "", "", replayStep(-1)},
		{[]string{">"}, "< >", "slower, faster: 1/4 to 3600 times", replaySpeed(1)},
		{[]string{"<"}, "", "", replaySpeed(-1)},
		{[]string{"right"}, "← →", "10 seconds back and on", replayBy(10 * time.Second)},
		{[]string{"left"}, "", "", replayBy(-10 * time.Second)},
		{[]string{"}", "shift+right"}, "{ }", "5 minutes back and on; Shift-← Shift-→ too", replayBy(5 * time.Minute)},
		{[]string{"{", "shift+left"}, "", "", replayBy(-5 * time.Minute)},
		{[]string{"N"}, "N B", "next and previous mark: peak, alert, out of memory, process", replayMark(1)},
		{[]string{"B"}, "", "", replayMark(-1)},
		{[]string{":"}, ":", "go to a moment: " + MomentForms, (*Model).askMoment},
		{[]string{"home"}, "Home End", "start and end of the recording", replayTo(func(t *timeline) time.Time { return t.start })},
		{[]string{"end"}, "", "", replayTo(func(t *timeline) time.Time { return t.end })},
		{[]string{"P", "+", "=", "-"}, "", "", func(m *Model) tea.Cmd {
			return m.note("peaks and refresh are those of the recording; < and > change the speed")
		}},
		{[]string{"K", "f9"}, "", "", func(m *Model) tea.Cmd { // the pid may be somebody else's by now
			return m.note("this is a recording: there is nobody to signal")
		}},
	}
}

// replayFooter are the keys in the last line of a replay.
var replayFooter = [][2]string{
	{"?", "help"}, {"q", "quit"}, {"p", "pause"}, {"< >", "speed"}, {"arrows", "10 s"}, {"{ }", "5 min"},
	{"N B", "marks"}, {":", "go to"}, {".", "step"}, {"a", "advice"}, {"[ ]", "span"}, {"n", "need"},
}

func (m *Model) replayPause() tea.Cmd {
	m.opt.Replay.toggle()
	return m.replayed()
}

func replayStep(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.opt.Replay.step(by)
		return m.replayed()
	}
}

func replaySpeed(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.opt.Replay.SetSpeed(faster(m.opt.Replay.timeline().speed, by))
		return m.replayed()
	}
}

func replayBy(d time.Duration) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.opt.Replay.seek(m.opt.Replay.target().Add(d))
		return nil
	}
}

func replayTo(moment func(*timeline) time.Time) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.opt.Replay.seek(moment(m.opt.Replay.timeline()))
		return nil
	}
}

func replayMark(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		r := m.opt.Replay
		marks := marksNear(r.timeline().marks, r.target(), by)
		if len(marks) == 0 {
			return m.note(pick(by > 0, "no mark after this", "no mark before this"))
		}
		r.seek(marks[0].at)
		text := sampler.Clean(marks[0].text)
		if n := len(marks) - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more)", n)
		}
		return m.note(text)
	}
}

// replayed shows at once what was asked.
func (m *Model) replayed() tea.Cmd {
	m.view.timeline = m.opt.Replay.timeline()
	m.view.paused = m.view.timeline.paused
	return nil
}

func (m *Model) askMoment() tea.Cmd {
	m.mode, m.typed = modeMoment, ""
	return nil
}

// goToMoment goes to the moment that was typed; nothing typed stays where it is.
func (m *Model) goToMoment() tea.Cmd {
	m.mode = modeMain
	if m.typed == "" {
		return nil
	}
	if err := m.opt.Replay.GoTo(m.typed); err != nil {
		return m.note(err.Error())
	}
	return nil
}

func (m *Model) momentPrompt() string {
	if m.w < 80 {
		return "go to: " + m.typed + "_"
	}
	return "go to (" + MomentForms + "): " + m.typed + "_"
}

// timeline is the present state of the bar.
func (r *Replay) timeline() *timeline {
	x := r.currentIndex()
	t := &timeline{marks: x.list()}
	t.start, t.end, t.read = x.bounds()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.speed, t.paused, t.at = r.clock.speed, r.clock.paused, r.shown
	if t.at.IsZero() {
		t.at = t.start
	}
	return t
}

// target is the moment that will be shown when everything asked for is done.
func (r *Replay) target() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeking != nil {
		return *r.seeking
	}
	return r.shown
}

// seek asks for the moment; the newest request counts.
func (r *Replay) seek(to time.Time) {
	start, end, _ := r.currentIndex().bounds()
	if to.Before(start) {
		to = start
	}
	if to.After(end) {
		to = end
	}
	r.mu.Lock()
	r.seeking, r.steps = &to, 0
	r.mu.Unlock()
	r.nudge()
}

// GoTo goes to a moment as ParseMoment reads it, counted from the one that is shown.
func (r *Replay) GoTo(text string) error {
	start, end, _ := r.currentIndex().bounds()
	to, err := ParseMoment(text, start.Local(), end.Local(), r.target().Local())
	if err == nil {
		r.seek(to)
	}
	return err
}

// Begin goes to a moment before the replay is shown. A time that is to be subtracted is
// counted from the end, one to be added from the start.
func (r *Replay) Begin(text string) error {
	x := r.currentIndex()
	select {
	case <-x.sized:
	case <-x.done:
	}
	start, end, _ := x.bounds()
	from := start
	if strings.HasPrefix(strings.TrimSpace(text), "-") {
		from = end
	}
	to, err := ParseMoment(text, start.Local(), end.Local(), from.Local())
	if err == nil {
		r.seek(to)
	}
	return err
}

// SetSpeed makes a second of life that many of the recording.
func (r *Replay) SetSpeed(speed float64) {
	r.mu.Lock()
	r.clock.change(speed, time.Now())
	r.mu.Unlock()
	r.nudge()
}

// toggle pauses or goes on; at the end it begins again.
func (r *Replay) toggle() {
	r.mu.Lock()
	again := r.atEnd
	if r.clock.paused {
		r.clock.resume(time.Now())
	} else {
		r.clock.pause(time.Now())
		r.clock.set(r.shown, time.Now())
		again = false
	}
	r.mu.Unlock()
	if again {
		r.seek(r.start)
	}
	r.nudge()
}

// step pauses and shows the next snapshot, or the one before.
func (r *Replay) step(by int) {
	r.mu.Lock()
	r.clock.pause(time.Now())
	if by > 0 {
		r.steps++
		by = 0
	}
	at := r.shown
	r.mu.Unlock()
	if by < 0 {
		r.seek(at.Add(-time.Millisecond))
	}
	r.nudge()
}
