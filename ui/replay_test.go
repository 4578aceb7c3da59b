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
	"time"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// memoryTape is a recording in memory.
type memoryTape struct {
	entries []player.Entry
	at      int
	notes   []string
}

func (t *memoryTape) Next() (player.Entry, error) {
	if t.at >= len(t.entries) {
		return player.Entry{}, io.EOF
	}
	t.at++
	return t.entries[t.at-1], nil
}

func (t *memoryTape) Seek(to time.Time) error {
	t.at = slices.IndexFunc(t.entries, func(e player.Entry) bool { return e.Snapshot != nil })
	for i, e := range t.entries {
		if e.Snapshot != nil && !e.Time.After(to) {
			t.at = i
		}
	}
	return nil
}

func (t *memoryTape) Notes() []string { return t.notes }
func (t *memoryTape) Close() error    { return nil }

func tapeOf(snaps []*sampler.Snapshot) []player.Entry {
	entries := make([]player.Entry, len(snaps))
	for i, s := range snaps {
		entries[i] = player.Entry{Time: s.Time, Snapshot: s}
	}
	return entries
}

// replaying opens a paused replay, completely read, and its model.
func replaying(t *testing.T, entries []player.Entry, w, h int, o Options, notes ...string) (*player.Player, *Model) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p, err := player.Open(ctx, func() (player.Tape, error) { return &memoryTape{entries: entries, notes: notes}, nil }, player.Options{Need: o.Need})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		p.Close()
	})
	p.Toggle()
	o.Label = "REPLAY"
	m := New(context.Background(), p, o)
	m.tty.resize(w, h)
	jumped(t, m)
	scene(t, m) // all is read
	return p, m
}

// scene waits for the next scene and shows it.
func scene(t *testing.T, m *Model) *player.Scene {
	t.Helper()
	msg := m.waitForSnapshots()
	if end, ok := msg.(streamEnded); ok {
		t.Fatal(end.err)
	}
	m.Update(msg)
	return msg.(sceneArrived).Scene
}

// jumped shows scenes until a seek is done.
func jumped(t *testing.T, m *Model) {
	t.Helper()
	for scene(t, m).Jump == nil {
	}
}

// seeking says whether a seek was asked for and is not yet done.
func seeking(m *Model) bool { return !m.player.Target().Equal(m.player.Timeline().At) }

// picture is what the live monitor would show, and the alerts.
func picture(m *Model) string {
	p := m.player
	defer func() { m.player, m.stream = p, p }()
	m.player, m.stream = nil, &silent{}
	m.shown.timeline, m.shown.frozen, m.notices.text, m.shown.label = nil, false, "", ""
	m.prompt.open(modeMain)
	m.table.places = nil // rows that are next to equal may be in either order
	m.list()
	m.shown.room = room{} // so is the room of alerts that are over
	alerts, _ := json.MarshalIndent([][]sampler.Alert{m.shown.alerts, m.folds.watch.Past()}, "", " ")
	return ansi.Strip(m.View().Content) + "\n" + string(alerts)
}

// Wherever one goes, forwards or backwards, the screen is the one that the live monitor
// had at that moment: figures, plots, peaks, alerts, past alerts.
func TestReplayShowsWhatWasLive(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, scenario := range []string{"training", "neighbour", "oom", "leak"} {
		t.Run(scenario, func(t *testing.T) {
			need := sampler.Some(16 * sampler.GiB)
			snaps := play(t, scenario, 12*time.Minute)
			for _, bare := range []bool{false, true} {
				if bare {
					snaps = withoutPeaks(snaps)
				}
				_, m := replaying(t, tapeOf(snaps), 120, 40, Options{Need: need, Span: usualSpan})
				for range 4 {
					k := rng.IntN(len(snaps))
					m.player.Seek(snaps[k].Time)
					jumped(t, m)
					for range rng.IntN(3) { // and on from there
						if k++; k < len(snaps) {
							m.player.Step(1)
							scene(t, m)
						}
					}
					k = min(k, len(snaps)-1)
					live := model(nil, 120, 40, Options{Need: need, Span: usualSpan})
					marks := sampler.NewWatermarks()
					for _, s := range snaps[:k+1] {
						c := *s
						c.Time = s.Time.Local()
						if bare {
							c = withPeaks(c, marks)
						}
						live.take([]*sampler.Snapshot{&c})
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

// withPeaks is what a player makes of a snapshot without peaks.
func withPeaks(s sampler.Snapshot, marks *sampler.Watermarks) sampler.Snapshot {
	s.GPUs = slices.Clone(s.GPUs)
	for i := range s.GPUs {
		s.GPUs[i].Processes = slices.Clone(s.GPUs[i].Processes)
	}
	marks.Apply(&s)
	return s
}

// A failure of a log comes at its place, and not before.
func TestReplayFailures(t *testing.T) {
	snaps := play(t, "training", 3*time.Minute)
	entries := tapeOf(snaps)
	e := sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", GPUIndex: sampler.Some(0), Requested: sampler.Some(2 * sampler.GiB)}
	entries = slices.Insert(entries, 100, player.Entry{Time: snaps[99].Time, Failure: &e})
	_, m := replaying(t, entries, 100, 30, Options{})
	open := func(k int) bool {
		m.player.Seek(snaps[k].Time)
		jumped(t, m)
		return slices.ContainsFunc(m.shown.alerts, func(a sampler.Alert) bool { return a.Kind == "oom" })
	}
	for _, k := range []int{102, 98, 99, 101, 50} {
		if got, want := open(k), k > 99; got != want {
			t.Errorf("at snapshot %d the failure before snapshot 100 is open: %v", k, got)
		}
	}
	press(m, "home")
	jumped(t, m)
	found := false
	for _, mk := range m.player.Timeline().Marks {
		found = found || mk.Kind == player.MarkOOM && mk.At.Equal(snaps[100].Time)
	}
	if !found {
		t.Error("no mark for the failure")
	}
}

// The keys do what the help says.
func TestReplayKeys(t *testing.T) {
	snaps := play(t, "training", 20*time.Minute)
	r, m := replaying(t, tapeOf(snaps), 100, 30, Options{})
	at := func() time.Duration { return m.folds.newest.Time.Sub(snaps[0].Time).Round(time.Second) }
	for _, row := range []struct {
		keys string
		want time.Duration
	}{
		{".", time.Second}, {". .", 3 * time.Second}, {",", 2 * time.Second}, {"right", 12 * time.Second}, {"left", 2 * time.Second}, {"}", 302 * time.Second},
		{"shift+right", 602 * time.Second}, {"{", 302 * time.Second}, {"right right", 322 * time.Second}, {"home", 0}, {"left", 0},
		{": + 7 m enter", 420 * time.Second}, {": - 1 m enter", 360 * time.Second}, {": 5 0 % enter", at2(snaps) / 2}, {"end", at2(snaps)}, {"right", at2(snaps)},
	} {
		press(m, row.keys)
		if strings.HasSuffix(row.keys, ".") {
			scene(t, m)
		}
		for seeking(m) {
			scene(t, m)
		}
		if got := at(); (got - row.want).Abs() > 600*time.Millisecond {
			t.Fatalf("after %q at %v, want %v", row.keys, got, row.want)
		}
	}
	press(m, ">")
	if got := r.Timeline().Speed; got != 2 {
		t.Errorf("speed %v", got)
	}
	press(m, "< < < < <")
	if got := r.Timeline().Speed; got != 0.25 {
		t.Errorf("speed %v", got)
	}
	press(m, ": x enter")
	if !strings.Contains(m.notices.text, "not a time") {
		t.Errorf("notice %q", m.notices.text)
	}
}

func at2(snaps []*sampler.Snapshot) time.Duration {
	return snaps[len(snaps)-1].Time.Sub(snaps[0].Time)
}

// N goes through all marks and B back.
func TestReplayMarks(t *testing.T) {
	snaps := play(t, "neighbour", 20*time.Minute)
	r, m := replaying(t, tapeOf(snaps), 100, 30, Options{Need: sampler.Some(16 * sampler.GiB)})
	var went []time.Time
	kinds := map[player.MarkKind]bool{}
	for range 200 {
		press(m, "N")
		if !seeking(m) {
			break
		}
		jumped(t, m)
		went = append(went, m.folds.newest.Time)
	}
	var want []time.Time
	for _, mk := range r.Timeline().Marks {
		kinds[mk.Kind] = true
		if mk.At.After(snaps[0].Time) && !slices.ContainsFunc(want, mk.At.Equal) {
			want = append(want, mk.At)
		}
	}
	if !slices.EqualFunc(went, want, time.Time.Equal) || len(want) < 3 {
		t.Fatalf("N went to %v, want %v", went, want)
	}
	if !kinds[player.MarkPeak] || !kinds[player.MarkAlert] || !kinds[player.MarkStart] {
		t.Errorf("kinds of marks: %v", kinds)
	}
	for i := len(want) - 2; i >= 0; i-- {
		press(m, "B")
		jumped(t, m)
		if !m.folds.newest.Time.Equal(want[i]) {
			t.Fatalf("B went to %v, want %v", m.folds.newest.Time, want[i])
		}
	}
}

// What is wrong with a file is told in the footer.
func TestReplayNotes(t *testing.T) {
	_, m := replaying(t, tapeOf(play(t, "training", time.Minute)), 100, 30, Options{}, "the file is cut in line 7: everything before it was read")
	if text := ansi.Strip(m.View().Content); !strings.Contains(text, "cut in line 7") {
		t.Error(text)
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
		r.Seek(snaps[0].Time.Add(13 * time.Minute))
		jumped(t, m)
		m.notices.text = ""
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

// Changing the need changes the alerts of the moment that is shown, as if it had been
// known from the start.
func TestReplayNeed(t *testing.T) {
	snaps := play(t, "neighbour", 20*time.Minute)
	r, m := replaying(t, tapeOf(snaps), 100, 30, Options{})
	k := len(snaps) - 1
	r.Seek(snaps[k].Time)
	jumped(t, m)
	press(m, "n 7 8 G enter")
	jumped(t, m)
	need := sampler.Some(78 * sampler.GiB)
	live := model(nil, 100, 30, Options{Need: need})
	live.take(snaps)
	if got, want := picture(m), picture(live); got != want {
		t.Error(difference(want, got))
	}
}

// A scene that was made before a key does not undo what the key did.
func TestOlderSceneKeepsPause(t *testing.T) {
	p, m := replaying(t, tapeOf(play(t, "training", time.Minute)), 80, 24, Options{})
	p.Toggle() // goes on
	older := m.waitForSnapshots()
	press(m, "p")
	m.Update(older)
	if !m.shown.frozen || !p.Timeline().Paused {
		t.Error("the pause is not shown")
	}
}

// A short recording fills its plots: the span grows with the time that was played, as live.
func TestSpanOfAReplayGrows(t *testing.T) {
	_, m := replaying(t, tapeOf(play(t, "training", 20*time.Minute)), 120, 40, Options{})
	start := m.player.Timeline().Start
	for _, row := range []struct{ at, want time.Duration }{{20 * time.Second, 30 * time.Second}, {80 * time.Second, 90 * time.Second}, {19 * time.Minute, usualSpan}, {40 * time.Second, time.Minute}} {
		m.player.Seek(start.Add(row.at))
		jumped(t, m)
		if m.plot.span != row.want {
			t.Errorf("at %v it shows %v, want %v", row.at, m.plot.span, row.want)
		}
	}
}
