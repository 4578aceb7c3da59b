package ui

import (
	"context"
	"strings"

	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// Frame is the screen of that size after the snapshots, as text without colors.
func Frame(snaps []*sampler.Snapshot, w, h int, o Options) string {
	m := New(context.Background(), nil, o)
	m.take(snaps)
	return m.frame(w, h)
}

// ReplayFrame is the screen at the time that was asked for last, as text without colors.
// It must not be called while the player is shown.
func ReplayFrame(ctx context.Context, p *player.Player, w, h int, o Options) (string, error) {
	m := New(ctx, p, o)
	for {
		s, err := p.Scene(ctx)
		if err != nil {
			return "", err
		}
		m.play(s)
		if s.Jump != nil {
			return m.frame(w, h), nil
		}
	}
}

func (m *Model) frame(w, h int) string {
	m.tty.resize(w, h)
	return strings.Join(m.draw().lines(), "\n") + "\n"
}
