package player

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nvpeak/sampler"
)

// memoryTape is a recording in memory.
type memoryTape struct {
	entries []Entry
	at      int
	notes   []string
}

func (t *memoryTape) Next() (Entry, error) {
	if t.at >= len(t.entries) {
		return Entry{}, io.EOF
	}
	t.at++
	return t.entries[t.at-1], nil
}

func (t *memoryTape) Seek(to time.Time) error {
	t.at = slices.IndexFunc(t.entries, func(e Entry) bool { return e.Snapshot != nil })
	for i, e := range t.entries {
		if e.Snapshot != nil && !e.Time.After(to) {
			t.at = i
		}
	}
	return nil
}

func (t *memoryTape) Notes() []string { return t.notes }
func (t *memoryTape) Close() error    { return nil }

func tapeOf(snaps []*sampler.Snapshot) []Entry {
	entries := make([]Entry, len(snaps))
	for i, s := range snaps {
		entries[i] = Entry{Time: s.Time, Snapshot: s}
	}
	return entries
}

// paused opens a paused player at the start of a recording that is completely read.
func paused(t *testing.T, entries []Entry) *Player {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p, err := Open(ctx, func() (Tape, error) { return &memoryTape{entries: entries}, nil }, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		p.Close()
	})
	<-p.index.done
	p.Toggle()
	scene(t, p) // the start
	scene(t, p) // all is read
	return p
}

func scene(t *testing.T, p *Player) *Scene {
	t.Helper()
	s, err := p.Scene(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// busy says whether something was asked that is not yet done.
func (p *Player) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seeking != nil || p.steps > 0
}

// Playing takes as long as the speed says, gaps are passed over, and it stops at the end.
func TestPlaybackSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var snaps []*sampler.Snapshot
		at := time.Now()
		for i := range 120 {
			at = at.Add(time.Second)
			if i == 60 {
				at = at.Add(5 * time.Hour)
			}
			snaps = append(snaps, &sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a"}}})
		}
		for _, speed := range []float64{0.25, 1, 10, 600} {
			p := paused(t, tapeOf(snaps))
			p.SetSpeed(speed)
			p.Toggle()
			began, seen := time.Now(), 1
			for !p.Timeline().Paused {
				seen += len(scene(t, p).Frames)
			}
			took, want := time.Since(began).Seconds(), 118/speed
			if took < want-1/speed || took > want+1/speed+0.3 || seen != len(snaps) {
				t.Errorf("%gx: %d snapshots in %.2f s, want %d in %.2f", speed, seen, took, len(snaps), want)
			}
			p.Toggle() // again from the start
			scene(t, p)
			if at := p.Timeline().At; !at.Equal(snaps[0].Time) {
				t.Errorf("at %v, want the start", at)
			}
		}
	})
}

func TestNoSnapshots(t *testing.T) {
	_, err := Open(t.Context(), func() (Tape, error) { return &memoryTape{}, nil }, Options{})
	if err != ErrNoSnapshots {
		t.Error(err)
	}
}

// A clock that was set back, several times, neither stops a replay nor catches a seek.
func TestBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		var snaps []*sampler.Snapshot
		at := time.Now()
		for range 900 {
			at = at.Add(time.Second)
			if rng.IntN(100) == 0 {
				at = at.Add(-time.Duration(rng.IntN(7200)) * time.Second)
			}
			snaps = append(snaps, &sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Total: sampler.Some(sampler.GiB), Used: sampler.Some(sampler.MiB)}}}})
		}
		p := paused(t, tapeOf(snaps))
		for range 30 {
			p.Seek(snaps[rng.IntN(len(snaps))].Time)
			for p.busy() {
				scene(t, p)
			}
		}
		p.Seek(p.start)
		p.SetSpeed(3600)
		p.Toggle()
		began := time.Now()
		for !p.Timeline().Paused {
			scene(t, p)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("900 snapshots at 3600 times the speed took %v", took)
		}
	})
}

// A change of the need that was recorded counts from then on, also after a seek; one that
// the viewer sets counts always.
func TestRecordedNeed(t *testing.T) {
	var entries []Entry
	for i := range 100 {
		at := time.Unix(int64(1e9+i), 0)
		if i == 50 {
			need := sampler.Some(30 * sampler.GiB)
			entries = append(entries, Entry{Time: at, Need: &need})
		}
		entries = append(entries, Entry{Time: at, Snapshot: &sampler.Snapshot{Time: at, GPUs: []sampler.GPU{{UUID: "a"}}}})
	}
	p := paused(t, entries)
	needAt := func(second int) sampler.Bytes {
		p.Seek(time.Unix(int64(1e9+second), 0))
		for {
			if s := scene(t, p); s.Jump != nil {
				return s.Jump.Watch.Need().Or(0)
			}
		}
	}
	for second, want := range map[int]sampler.Bytes{49: 0, 50: 30 * sampler.GiB, 99: 30 * sampler.GiB, 0: 0} {
		if got := needAt(second); got != want {
			t.Errorf("after %d s the need is %v, want %v", second, got, want)
		}
	}
	p.SetNeed(sampler.Some(5 * sampler.GiB))
	for _, second := range []int{0, 99} {
		if got := needAt(second); got != 5*sampler.GiB {
			t.Errorf("after %d s the need is %v, not the viewer's", second, got)
		}
	}
}

// As a stream a player returns every snapshot once.
func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now()
		var snaps []*sampler.Snapshot
		for i := range 20 {
			snaps = append(snaps, &sampler.Snapshot{Time: at.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{{UUID: "a"}}})
		}
		p := paused(t, tapeOf(snaps))
		p.Toggle()
		var stream sampler.Stream = p
		for got := snaps[:1]; len(got) < len(snaps); {
			list, err := stream.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				if want := snaps[len(got)]; !s.Time.Equal(want.Time) {
					t.Fatalf("%v, want %v", s.Time, want.Time)
				}
				got = snaps[:len(got)+1]
			}
		}
	})
}
