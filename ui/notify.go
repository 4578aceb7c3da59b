package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
)

// Notify says how a new critical alert is announced besides the panel.
type Notify struct {
	Bell    bool
	Desktop bool                // OSC 9 and OSC 777, for terminals that pass them on to the desktop
	Tell    func(sampler.Alert) // must not wait; nil: nobody
}

// announce tells of critical alerts that were not open before. What is open when the
// monitor begins (a demo's past, a recording) is no news.
func (m *Model) announce(open []sampler.Alert) {
	known := m.announced
	m.announced = map[string]bool{}
	for _, a := range open {
		m.announced[a.ID] = true
		if known == nil || known[a.ID] || a.Level != sampler.LevelCritical {
			continue
		}
		if m.opt.Notify.Tell != nil {
			m.opt.Notify.Tell(a)
		}
		if m.screen != nil {
			m.screen.say(m.opt.Notify.sequence(a))
		}
	}
}

// sequence is what the terminal is sent. The text may hold names from outside and a
// semicolon would end it: only plain characters are left.
func (n Notify) sequence(a sampler.Alert) string {
	var b strings.Builder
	if n.Bell {
		b.WriteByte('\a')
	}
	if n.Desktop {
		text := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' || r == ';' {
				return ' '
			}
			return r
		}, a.Text)
		fmt.Fprintf(&b, "\x1b]9;nvpeak: %s\x1b\\\x1b]777;notify;nvpeak;%s\x1b\\", text, text)
	}
	return b.String()
}

// commands are what the open alerts advise to type, the most urgent first.
func (m *Model) commands() []string {
	var list []string
	for _, a := range m.view.alerts {
		for _, ad := range a.Advice {
			for _, do := range ad.Do {
				if do = strings.TrimSpace(do); do != "" && !strings.HasPrefix(do, "#") {
					list = append(list, do)
				}
			}
		}
	}
	return list
}

// copyCommand puts the next advised command into the clipboard of the terminal (OSC 52).
func (m *Model) copyCommand() tea.Cmd {
	list := m.commands()
	if len(list) == 0 || m.screen == nil {
		return m.note("there is no command to copy")
	}
	m.copied = m.copied % len(list)
	text := list[m.copied]
	m.copied++
	m.screen.say(ansi.SetSystemClipboard(text))
	return m.note(fmt.Sprintf("copied %d of %d: %s", m.copied, len(list), text))
}
