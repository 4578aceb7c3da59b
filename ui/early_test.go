package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// risen is a snapshot whose GPU 0 has a new peak of that many GiB.
func risen(s *sampler.Snapshot, gib sampler.Bytes) *sampler.Snapshot { return renewed(s, 0, gib) }

// renewed is a snapshot of which one GPU has a new peak.
func renewed(s *sampler.Snapshot, gpu int, gib sampler.Bytes) *sampler.Snapshot {
	c := *s
	c.GPUs = append([]sampler.GPU{}, s.GPUs...)
	m := &c.GPUs[gpu].Memory
	m.Peak = &sampler.Peak{Bytes: gib * sampler.GiB, Time: s.Time.Add(300 * time.Millisecond), Source: sampler.PeakSampled}
	m.Window = &sampler.Window{Min: m.Used.Or(0), Max: m.Peak.Bytes, MaxTime: m.Peak.Time, Readings: 15}
	return &c
}

// An early picture shows the new peak, in figures and in the plot, and leaves everything
// else to the next snapshot.
func TestEarlyPicture(t *testing.T) {
	for _, size := range [][2]int{{100, 30}, {60, 8}} {
		snaps := past(gpus(2, 3, false), 60)
		last := snaps[len(snaps)-1]
		m, alone := model(snaps, size[0], size[1], Options{}), model(snaps, size[0], size[1], Options{})
		before, newest := text(m), m.folds.newest
		m.Update(peakArrived{early: risen(last, 79)})
		shown := text(m)
		if shown == before || !strings.Contains(shown, "▲79.0") {
			t.Errorf("%v: the peak is not shown:\n%s", size, shown)
		}
		if m.folds.newest != newest || len(m.shown.alerts) != len(alone.shown.alerts) {
			t.Errorf("%v: the picture was folded in", size)
		}
		next := *last
		next.Time = last.Time.Add(time.Second)
		m.Update(snapshotsArrived{[]*sampler.Snapshot{&next}})
		alone.Update(snapshotsArrived{[]*sampler.Snapshot{&next}})
		if got, want := text(m), text(alone); got != want {
			t.Errorf("%v: after a picture the next snapshot is\n%s\nwant\n%s", size, got, want)
		}
	}
}

// An early picture changes no sentence, lest they come and go with each spike, unless the peak is a danger.
func TestEarlyPictureLeavesSentences(t *testing.T) {
	for gib, changed := range map[sampler.Bytes]bool{60: false, 79: true} {
		snaps := past(gpus(2, 3, false), 60)
		for _, s := range snaps {
			s.GPUs[0].Memory.WorstFree = sampler.Some(40 * sampler.GiB)
		}
		m := model(snaps, 100, 30, Options{})
		said := func() string { v := m.view(); return v.verdict(&v.snap.GPUs[0]).text }
		before := said()
		early := risen(snaps[59], gib)
		early.GPUs[0].Memory.WorstFree = sampler.Some((80 - gib) * sampler.GiB)
		m.Update(peakArrived{early: early})
		if after := said(); before == "" || (after != before) != changed {
			t.Errorf("with a peak of %d GiB %q became %q", gib, before, after)
		}
	}
}

func TestEarlyPictureComesAfterItsSnapshots(t *testing.T) {
	snaps := past(gpus(2, 3, false), 60)
	m := model(nil, 100, 30, Options{})
	m.Update(peakArrived{snapshotsArrived{snaps}, risen(snaps[59], 79)})
	if !strings.Contains(text(m), "▲79.0") || m.folds.newest != snaps[59] {
		t.Errorf("the picture or its snapshots are lost:\n%s", text(m))
	}
	m.freeze()
	frozen := text(m)
	m.Update(peakArrived{early: risen(snaps[59], 80)})
	if got := text(m); got != frozen {
		t.Errorf("a frozen screen moves:\n%s", got)
	}
}

// early is a stream with one early picture.
type early struct {
	silent
	picture *sampler.Snapshot
}

func (e *early) NextOrPeak(context.Context) ([]*sampler.Snapshot, *sampler.Snapshot, error) {
	return nil, e.picture, nil
}

func TestEarlyPicturesAreAskedFor(t *testing.T) {
	s := &early{picture: gpus(1, 0, false)}
	if msg, ok := New(context.Background(), s, Options{}).waitForSnapshots().(peakArrived); !ok || msg.early != s.picture {
		t.Errorf("the stream's picture comes as %+v", msg)
	}
}

// The panes stay where they are while the processes of a GPU come and go with its errors.
func TestLayoutStaysWhenListsFail(t *testing.T) {
	snaps := past(gpus(4, 3, false), 120)
	for i, s := range snaps {
		if i%3 != 0 {
			s.GPUs = append([]sampler.GPU{}, s.GPUs...)
			s.GPUs[i%4].Processes, s.GPUs[i%4].Error = nil, sampler.Some("not answering")
			s.GPUs[(i+1)%4].Processes = nil
		}
	}
	m := model(snaps[:10], 100, 60, Options{})
	want := m.view().arrange(100, 60).procs
	for i, s := range snaps[10:] {
		m.Update(snapshotsArrived{[]*sampler.Snapshot{s}})
		if got := m.view().arrange(100, 60).procs; got != want {
			t.Fatalf("snapshot %d moves the table from %v to %v:\n%s", i, want, got, text(m))
		}
	}
	gone := *snaps[119]
	gone.Time, gone.GPUs = gone.Time.Add(latelyTime+time.Second), append([]sampler.GPU{}, gone.GPUs...)
	for i := range gone.GPUs {
		gone.GPUs[i].Processes = nil
	}
	m.Update(snapshotsArrived{[]*sampler.Snapshot{&gone}})
	if got := m.view().arrange(100, 60).procs; got.h >= want.h {
		t.Errorf("processes that ended long ago keep their room: %v", got)
	}
}

// A screen that is given back writes nothing more, not even what was on its way.
func TestSuspendWaitsForTheFrame(t *testing.T) {
	out := stuck{make(chan struct{})}
	s := newScreen(out)
	defer s.close(time.Second)
	m := model(past(gpus(1, 1, false), 2), 40, 10, Options{})
	s.show(m.draw(), m.tty.paint)
	for len(s.busy) == 0 {
		time.Sleep(time.Millisecond)
	}
	done := make(chan struct{})
	go func() { s.suspend(true); close(done) }()
	select {
	case <-done:
		t.Error("it does not wait for the write in progress")
	case <-time.After(closeTimeout / 6):
	}
	close(out.open)
	<-done
}
