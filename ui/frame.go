package ui

import (
	"context"
	"strings"

	"nvpeak/sampler"
)

// Frame is the screen of that size after the snapshots, as text without colours.
func Frame(snaps []*sampler.Snapshot, w, h int, o Options) string {
	m := New(context.Background(), nil, o)
	m.w, m.h = w, h
	m.take(snaps)
	return strings.Join(m.draw().lines(), "\n") + "\n"
}
