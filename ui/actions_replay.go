package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// What the keys of a replay do.

func (m *Model) replayPause() tea.Cmd {
	m.player.Toggle()
	m.at(m.player.Timeline())
	return nil
}

func replayStep(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.player.Step(by)
		m.at(m.player.Timeline())
		return nil
	}
}

func replaySpeed(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.player.SetSpeed(player.Faster(m.player.Timeline().Speed, by))
		m.at(m.player.Timeline())
		return nil
	}
}

func replayBy(d time.Duration) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.player.Seek(m.player.Target().Add(d))
		return nil
	}
}

func replayTo(which func(*player.Timeline) time.Time) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.player.Seek(which(m.player.Timeline()))
		return nil
	}
}

func replayMark(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		marks := m.player.SeekMark(by)
		if len(marks) == 0 {
			return m.note(pick(by > 0, m.words.Say("say.no_next"), m.words.Say("say.no_previous")))
		}
		text := sampler.Clean(marks[0].Text)
		if n := len(marks) - 1; n > 0 {
			text = m.words.Say("say.and_more", "text", text, "count", n)
		}
		return m.note(text)
	}
}

// goToTime goes to the time that was typed; nothing typed stays where it is.
func (m *Model) goToTime() tea.Cmd {
	typed := m.prompt
	m.prompt.open(modeMain)
	if typed.typed == "" {
		return nil
	}
	if err := m.player.GoTo(typed.typed); err != nil {
		return m.note(typed.wrong(err))
	}
	return nil
}
