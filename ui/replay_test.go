package ui

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

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

// replaying opens a paused replay, completely read, and its model.
func replaying(t *testing.T, entries []Entry, w, h int, o Options, notes ...string) (*Replay, *Model) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := NewReplay(ctx, func() (Tape, error) { return &memoryTape{entries: entries, notes: notes}, nil }, o.Need)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		r.Close()
	})
	<-r.index.done
	r.toggle()
	o.Label, o.Replay, o.Interval = "REPLAY", r, r.Interval()
	m := model(nil, w, h, o)
	scene(t, m) // the start
	scene(t, m) // the index is complete
	return r, m
}

// scene waits for the next scene and shows it.
func scene(t *testing.T, m *Model) {
	t.Helper()
	msg := m.opt.Replay.wait(context.Background())
	if end, ok := msg.(feedEnded); ok {
		t.Fatal(end.err)
	}
	m.Update(msg)
}

// picture is what the live monitor would show, and the alerts.
func picture(m *Model) string {
	m.view.timeline, m.view.paused, m.view.notice, m.view.label = nil, false, "", ""
	m.mode = modeMain
	alerts, _ := json.MarshalIndent([][]sampler.Alert{m.view.alerts, m.watch.Past()}, "", " ")
	return ansi.Strip(m.View().Content) + "\n" + string(alerts)
}

// Wherever one goes, forwards or backwards, the screen is the one that the live monitor
// had at that moment: figures, plots, peaks, alerts, past alerts.
func TestReplayShowsWhatWasLive(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, scenario := range []string{"training", "neighbour", "oom", "leak"} {
		t.Run(scenario, func(t *testing.T) {
			need := sampler.Some(16 * sampler.GiB)
			snaps := play(t, scenario, 20*time.Minute)
			for _, bare := range []bool{false, true} {
				if bare {
					snaps = withoutPeaks(snaps)
				}
				_, m := replaying(t, tapeOf(snaps), 120, 40, Options{Need: need})
				for range 6 {
					k := rng.IntN(len(snaps))
					m.opt.Replay.seek(snaps[k].Time)
					scene(t, m)
					for range rng.IntN(3) { // and on from there
						if k++; k < len(snaps) {
							m.opt.Replay.step(1)
							scene(t, m)
						}
					}
					k = min(k, len(snaps)-1)
					live := model(nil, 120, 40, Options{Need: need, Interval: time.Second})
					marks := sampler.NewWatermarks()
					for _, s := range snaps[:k+1] {
						live.take([]*sampler.Snapshot{prepare(s, marks)})
					}
					if got, want := picture(m), picture(live); got != want {
						t.Fatalf("snapshot %d of %d:\n%s", k, len(snaps), difference(want, got))
					}
				}
			}
		})
	}
}

// withoutPeaks makes what other programs record.
func withoutPeaks(snaps []*sampler.Snapshot) []*sampler.Snapshot {
	out := make([]*sampler.Snapshot, len(snaps))
	for i, s := range snaps {
		c := *s
		c.GPUs = slices.Clone(s.GPUs)
		for g := range c.GPUs {
			c.GPUs[g].Memory.Peak, c.GPUs[g].Memory.WorstFree = nil, sampler.Opt[sampler.Bytes]{}
			c.GPUs[g].Processes = slices.Clone(c.GPUs[g].Processes)
			for p := range c.GPUs[g].Processes {
				c.GPUs[g].Processes[p].Peak = nil
			}
		}
		out[i] = &c
	}
	return out
}

// A failure of a log comes at its place, and not before.
func TestReplayFailures(t *testing.T) {
	snaps := play(t, "training", 3*time.Minute)
	entries := tapeOf(snaps)
	e := sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", GPUIndex: sampler.Some(0), Requested: sampler.Some(2 * sampler.GiB)}
	entries = slices.Insert(entries, 100, Entry{Time: snaps[99].Time, Failure: &e})
	_, m := replaying(t, entries, 100, 30, Options{})
	open := func(k int) bool {
		m.opt.Replay.seek(snaps[k].Time)
		scene(t, m)
		return slices.ContainsFunc(m.view.alerts, func(a sampler.Alert) bool { return a.Kind == "oom" })
	}
	for _, k := range []int{102, 98, 99, 101, 50} {
		if got, want := open(k), k > 99; got != want {
			t.Errorf("at snapshot %d the failure before snapshot 100 is open: %v", k, got)
		}
	}
	press(m, "home")
	scene(t, m)
	found := false
	for _, mk := range m.opt.Replay.timeline().marks {
		found = found || mk.kind == markOOM && mk.at.Equal(snaps[100].Time)
	}
	if !found {
		t.Error("no mark for the failure")
	}
}

// The keys do what the help says.
func TestReplayKeys(t *testing.T) {
	snaps := play(t, "training", 20*time.Minute)
	r, m := replaying(t, tapeOf(snaps), 100, 30, Options{})
	at := func() time.Duration { return m.newest.Time.Sub(snaps[0].Time).Round(time.Second) }
	for _, row := range []struct {
		keys string
		want time.Duration
	}{
		{".", time.Second}, {". .", 3 * time.Second}, {",", 2 * time.Second}, {"right", 12 * time.Second}, {"left", 2 * time.Second}, {"}", 302 * time.Second},
		{"shift+right", 602 * time.Second}, {"{", 302 * time.Second}, {"right right", 322 * time.Second}, {"home", 0}, {"left", 0},
		{": + 7 m enter", 420 * time.Second}, {": - 1 m enter", 360 * time.Second}, {": 5 0 % enter", at2(snaps) / 2}, {"end", at2(snaps)}, {"right", at2(snaps)},
	} {
		press(m, row.keys)
		for r.busy() {
			scene(t, m)
		}
		if got := at(); (got - row.want).Abs() > 600*time.Millisecond {
			t.Fatalf("after %q at %v, want %v", row.keys, got, row.want)
		}
	}
	press(m, ">")
	if got := r.timeline().speed; got != 2 {
		t.Errorf("speed %v", got)
	}
	press(m, "< < < < <")
	if got := r.timeline().speed; got != 0.25 {
		t.Errorf("speed %v", got)
	}
	press(m, ": x enter")
	if !strings.Contains(m.view.notice, "not a moment") {
		t.Errorf("notice %q", m.view.notice)
	}
}

func at2(snaps []*sampler.Snapshot) time.Duration {
	return snaps[len(snaps)-1].Time.Sub(snaps[0].Time)
}

// busy says whether something was asked that is not yet done.
func (r *Replay) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seeking != nil || r.steps > 0
}

// N goes through all marks and B back.
func TestReplayMarks(t *testing.T) {
	snaps := play(t, "neighbour", 20*time.Minute)
	r, m := replaying(t, tapeOf(snaps), 100, 30, Options{Need: sampler.Some(16 * sampler.GiB)})
	var went []time.Time
	kinds := map[markKind]bool{}
	for range 200 {
		press(m, "N")
		if !r.busy() {
			break
		}
		scene(t, m)
		went = append(went, m.newest.Time)
	}
	var want []time.Time
	for _, mk := range r.timeline().marks {
		kinds[mk.kind] = true
		if mk.at.After(snaps[0].Time) && !slices.ContainsFunc(want, mk.at.Equal) {
			want = append(want, mk.at)
		}
	}
	if !slices.EqualFunc(went, want, time.Time.Equal) || len(want) < 3 {
		t.Fatalf("N went to %v, want %v", went, want)
	}
	if !kinds[markPeak] || !kinds[markAlert] || !kinds[markStart] {
		t.Errorf("kinds of marks: %v", kinds)
	}
	for i := len(want) - 2; i >= 0; i-- {
		press(m, "B")
		scene(t, m)
		if !m.newest.Time.Equal(want[i]) {
			t.Fatalf("B went to %v, want %v", m.newest.Time, want[i])
		}
	}
}

// Playing takes as long as the speed says, gaps are passed over, and it stops at the end.
func TestReplayPace(t *testing.T) {
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
			r, m := replaying(t, tapeOf(snaps), 80, 24, Options{})
			r.SetSpeed(speed)
			r.toggle()
			began, seen := time.Now(), 1
			for !r.timeline().paused {
				msg := r.wait(t.Context()).(*sceneArrived)
				seen += len(msg.moments)
				m.Update(msg)
			}
			took, want := time.Since(began).Seconds(), 118/speed
			if took < want-1/speed || took > want+1/speed+0.3 || seen != len(snaps) {
				t.Errorf("%gx: %d snapshots in %.2f s, want %d in %.2f", speed, seen, took, len(snaps), want)
			}
			r.toggle() // again from the start
			scene(t, m)
			if !m.newest.Time.Equal(snaps[0].Time) {
				t.Errorf("at %v, want the start", m.newest.Time)
			}
		}
	})
}

// What is wrong with a file is told in the footer.
func TestReplayNotes(t *testing.T) {
	_, m := replaying(t, tapeOf(play(t, "training", time.Minute)), 100, 30, Options{}, "the file is cut in line 7: everything before it was read")
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "cut in line 7") {
		t.Error(text)
	}
}

func TestReplayNothing(t *testing.T) {
	_, err := NewReplay(t.Context(), func() (Tape, error) { return &memoryTape{}, nil }, sampler.Opt[sampler.Bytes]{})
	if err != ErrNoSnapshots {
		t.Error(err)
	}
}

// replayScreens are whole screens of a replay, in testdata/screens/replay.
func TestReplayScreens(t *testing.T) {
	snaps := play(t, "neighbour", 20*time.Minute)
	for _, row := range []struct {
		name string
		w, h int
		keys string
		o    Options
	}{
		{"paused-80x24", 80, 24, "", Options{}},
		{"paused-120x40", 120, 40, "", Options{}},
		{"paused-40x8", 40, 8, "", Options{}},
		{"paused-80x24-ascii", 80, 24, "", Options{ASCII: true}},
		{"go-to-120x40", 120, 40, ":", Options{}},
		{"help-120x60", 120, 60, "?", Options{}},
	} {
		row.o.Need = sampler.Some(16 * sampler.GiB)
		r, m := replaying(t, tapeOf(snaps), row.w, row.h, row.o)
		r.SetSpeed(60)
		r.seek(snaps[0].Time.Add(13 * time.Minute))
		scene(t, m)
		m.view.notice = ""
		press(m, row.keys)
		got := ansi.Strip(m.View().Content) + "\n"
		file := screens + "replay/" + row.name + ".txt"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v, the screen has changed (go test ./ui -update, then read the diff)\n%s", row.name, err, difference(string(want), got))
		}
	}
}
