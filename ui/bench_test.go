package ui

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/sampler"
)

// benchmarkFrame measures a new frame: drawing it and finding what has changed.
func benchmarkFrame(b *testing.B, snaps []*sampler.Snapshot, w, h int) {
	m := model(snaps, w, h, Options{})
	m.tty.paintAs(colorprofile.ANSI256)
	old := &frame{m.draw(), m.tty.paint}
	var out bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		f := &frame{m.draw(), m.tty.paint}
		f.changes(&out, old)
		old = f
	}
}

func BenchmarkFrame8x26(b *testing.B) { benchmarkFrame(b, play(b, "eight", 2*time.Minute), 160, 50) }

func BenchmarkFrame64x32(b *testing.B) { benchmarkFrame(b, past(gpus(64, 32, false), 120), 200, 60) }

// BenchmarkUpdate64x32 is a second of the busiest machine: history, advice and a frame.
func BenchmarkUpdate64x32(b *testing.B) {
	m := model(past(gpus(64, 32, false), 5), 200, 60, Options{})
	s := gpus(64, 32, false)
	b.ReportAllocs()
	for b.Loop() {
		c := *s
		s.Time = s.Time.Add(time.Second)
		m.take([]*sampler.Snapshot{&c})
		m.draw()
	}
}

// BenchmarkEarly8x26 is the frame of an early picture with one GPU's new peak.
func BenchmarkEarly8x26(b *testing.B) {
	snaps := play(b, "eight", 2*time.Minute)
	m := model(snaps, 160, 50, Options{})
	m.draw()
	s := snaps[len(snaps)-1]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s = renewed(s, 0, sampler.Bytes(40+i%30))
		m.Update(peakArrived{early: s})
		m.draw()
	}
}
