package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
)

// noticeSent: somebody outside has something to say in the footer.
type noticeSent struct{ text string }

// waitForNotice waits for what Options.Notices brings.
func (m *Model) waitForNotice() tea.Msg {
	if text, ok := <-m.opt.Notices; ok {
		return noticeSent{text}
	}
	return nil
}

// longNoticeTime is how long something that was not asked for stays in the footer.
const longNoticeTime = 10 * time.Second

// sent shows it.
func (m *Model) sent(text string) tea.Cmd {
	return tea.Batch(m.waitForNotice, m.noteFor(sampler.Clean(text), longNoticeTime))
}

// noteFor shows a message in the footer for that long.
func (m *Model) noteFor(text string, d time.Duration) tea.Cmd {
	m.noticed++
	m.view.notice = text
	n := m.noticed
	return tea.Tick(d, func(time.Time) tea.Msg { return noticeExpired{n} })
}
