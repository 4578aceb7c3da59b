package watch

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/explain"
	"nvpeak/sampler"
	"nvpeak/sampler/demo"
)

// flips counts what a reader of open alerts sees jump.
type flips struct {
	alerts int
	joined int                      // another fix is the first, one that was not there before
	first  int                      // another is the first, one that stood behind it
	lost   int                      // a fix is gone
	moved  int                      // the order is another
	back   int                      // a level is back within seconds
	shown  map[string]sampler.Alert // the open ones, as they were last
	levels map[subject]levelOf      // of each finding, whatever alerts there are of it
}

// subject is what an alert is about.
type subject struct {
	kind string
	key  sampler.GPUKey
	pid  int
}

// levelOf is a level, the one before it, and since when.
type levelOf struct {
	now, before string
	since       float64
}

// flipSeconds: a level that comes back within that was a flicker.
const flipSeconds = 30

// look takes the alerts that are open now.
func (c *flips) look(t *testing.T, name string, w *Watch) {
	if c.shown == nil {
		c.shown, c.levels = map[string]sampler.Alert{}, map[subject]levelOf{}
	}
	now, top := w.clock.Now, map[subject]string{}
	for _, a := range w.Open() {
		of := subject{a.Kind, a.Key, a.PID.Or(0)}
		if urgency(a.Level) > urgency(top[of]) {
			top[of] = a.Level
		}
		was, known := c.shown[a.ID]
		c.shown[a.ID] = a
		if !known {
			c.alerts++
			continue
		}
		if c.compare(fixesOf(was, w), fixesOf(a, w)) && testing.Verbose() {
			t.Logf("%s %.1f s: %s: %v, then %v", name, now, a.ID, fixesOf(was, w), fixesOf(a, w))
		}
	}
	for of, level := range top {
		last, known := c.levels[of]
		switch {
		case known && last.now == level:
			continue
		case known && last.before == level && now-last.since <= flipSeconds:
			c.back++
			if testing.Verbose() {
				t.Logf("%s %.1f s: %v: %s again after %.1f s", name, now, of, level, now-last.since)
			}
		}
		c.levels[of] = levelOf{level, last.now, now}
	}
}

// compare counts what is different, and says whether something is.
func (c *flips) compare(before, after []string) bool {
	was := *c
	if len(before) > 0 && len(after) > 0 && before[0] != after[0] {
		if slices.Contains(before, after[0]) {
			c.first++
		} else {
			c.joined++
		}
	}
	kept := slices.DeleteFunc(slices.Clone(after), func(f string) bool { return !slices.Contains(before, f) })
	c.lost += len(before) - len(kept)
	if len(kept) == len(before) && !slices.Equal(kept, before) {
		c.moved++
	}
	return c.first != was.first || c.joined != was.joined || c.lost != was.lost || c.moved != was.moved
}

// fixesOf are the fixes of an alert, but to stop who has ended.
func fixesOf(a sampler.Alert, w *Watch) (list []string) {
	g := w.find(a.Key)
	for _, ad := range a.Advice {
		pid, names := ad.PID.Value()
		switch {
		case !names:
			list = append(list, ad.ID)
		case g != nil && g.withPID(pid) != nil:
			list = append(list, fmt.Sprintf("%s %d", ad.ID, pid))
		}
	}
	return list
}

func (c *flips) String() string {
	return fmt.Sprintf("%4d alerts, %4d first fixes joined, %4d another first, %4d fixes gone, %4d orders, %4d levels back within %d s",
		c.alerts, c.joined, c.first, c.lost, c.moved, c.back, flipSeconds)
}

// What an open alert advises and how urgent it is does not jump: in minutes of the demos, with a need
// and without, in runs of each class, and in the recordings.
func TestStable(t *testing.T) {
	all := map[string]*flips{"demos": {}, "demos with a need": {}, "scenes": {}, "recordings": {}}
	minutes := 5 * time.Minute
	for _, sc := range demo.Scenarios() {
		if sc.Name == "sixtyfour" && testing.Short() {
			continue
		}
		shots := demoOf(t, sc.Name, minutes)
		watchStable(t, all["demos"], sc.Name, shots, Options{})
		watchStable(t, all["demos with a need"], sc.Name+" need", shots, Options{Need: sampler.Some(158 * sampler.GiB / 10)})
	}
	for _, class := range slices.Sorted(maps.Keys(advicetest.Scenes)) {
		for seed := range uint64(1) {
			sceneStable(t, all["scenes"], fmt.Sprintf("%s %d", class, seed), advicetest.Scenes[class](rand.New(rand.NewPCG(seed, 77))))
		}
	}
	for _, pattern := range []string{"advice/*/*.jsonl", "tapes/report/*.jsonl"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s", pattern)
		}
		for _, file := range files {
			c := all["recordings"]
			playLines(t, file, func(w *Watch) { c.look(t, filepath.Base(file), w) })
			c.shown = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		t.Logf("%-18s %v", name, c)
		if c.alerts == 0 || c.joined > c.alerts/2 || c.first+c.lost+c.moved+c.back > 0 {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// demoOf is a demo of some minutes.
func demoOf(t *testing.T, name string, minutes time.Duration) []*sampler.Snapshot {
	t.Helper()
	return demoAt(t, name, minutes, advicetest.Epoch)
}

// demoAt is a demo that begins at a time: where in a second is by chance.
func demoAt(t *testing.T, name string, minutes time.Duration, epoch time.Time) []*sampler.Snapshot {
	t.Helper()
	clock := sampler.NewScriptClock(epoch)
	src, err := demo.New(name, clock)
	if err != nil {
		t.Fatal(err)
	}
	l := sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: clock})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	var shots []*sampler.Snapshot
	for range int(minutes / time.Minute) {
		l.Simulate(clock, time.Minute)
		list, err := l.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		shots = append(shots, list...)
	}
	return shots
}

func watchStable(t *testing.T, c *flips, name string, shots []*sampler.Snapshot, o Options) {
	w := New(o)
	for _, s := range shots {
		w.Add(*s)
		c.look(t, name, w)
	}
	c.shown = nil
}

func sceneStable(t *testing.T, c *flips, name string, s *advicetest.Scene) {
	gpus := 1
	for _, j := range s.Jobs {
		gpus = max(gpus, j.GPU+1)
	}
	w := New(Options{})
	for at := 0.0; at < min(s.Seconds, 4000*s.Step); at += s.Step {
		snap, died := s.Snapshot(at, gpus)
		if died {
			break
		}
		w.Add(snap)
		c.look(t, name, w)
	}
	c.shown = nil
}

// No request is seen in the demo of fragmentation: nothing is said of one. Where less comes back with each flush, segments that grow are first, and
// what is advised is the same whenever the demo begins.
func TestFlushesOfDemo(t *testing.T) {
	var first []string
	for _, off := range []time.Duration{0, 300 * time.Millisecond, 700 * time.Millisecond} {
		var rising []string
		w := New(Options{})
		for _, s := range demoAt(t, "fragmentation", 11*time.Minute, advicetest.Epoch.Add(off)) {
			for _, a := range w.Add(*s) {
				ids := make([]string, len(a.Advice))
				for i, ad := range a.Advice {
					ids[i] = ad.ID
				}
				if slices.Contains(ids, explain.FixCapSampleSize) {
					t.Fatalf("%v: %s: %v", off, a.Text, ids)
				}
				if a.Kind == sampler.AlertFlush && a.Numbers["falls"] > 0 {
					if rising == nil {
						rising = ids
					}
					if ids[0] != explain.FixExpandableSegments || strings.Contains(a.Advice[0].Why, "short") {
						t.Fatalf("%v: %s: %+v", off, a.Text, a.Advice[0])
					}
				}
			}
		}
		if first == nil {
			first = rising
		}
		if rising == nil || !slices.Equal(rising, first) {
			t.Errorf("%v: %v, then %v", off, first, rising)
		}
	}
}
