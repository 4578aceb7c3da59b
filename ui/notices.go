package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// notices is the message in the footer.
type notices struct {
	text   string
	number int // so that an old timer does not clear a new one
}

// noticeExpired: a message has been shown long enough.
type noticeExpired struct{ number int }

const (
	noticeTime = 3 * time.Second
	// longNoticeTime is for messages that were not asked for.
	longNoticeTime = 10 * time.Second
)

// show shows a message for that long.
func (n *notices) show(text string, d time.Duration) tea.Cmd {
	n.number++
	n.text = text
	number := n.number
	return tea.Tick(d, func(time.Time) tea.Msg { return noticeExpired{number} })
}

func (n *notices) expire(e noticeExpired) {
	if e.number == n.number {
		n.text = ""
	}
}
