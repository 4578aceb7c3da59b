package ui

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A frame is what it would be if nothing of the one before were kept, whatever has come since: snapshots, early pictures of any GPU, keys
// that open and close what covers the screen, another size.
func TestKeptFrames(t *testing.T) {
	keys := strings.Fields("? esc m g [ ] n 4 backspace enter a esc tab p p T up down enter esc s esc f2 esc z x / a esc 0 1 2 P")
	panes, plots, random := 0, 0, rand.New(rand.NewPCG(7, 30))
	for _, size := range [][2]int{{160, 50}, {120, 40}, {100, 30}, {80, 24}, {60, 8}, {44, 12}, {30, 6}} {
		for _, o := range []Options{{}, {Lines: true}, {ASCII: true}, {Need: sampler.Some(20 * sampler.GiB)}} {
			snaps := past(gpus(4, 3, false), 240)
			m, alone := model(snaps[:60], size[0], size[1], o), model(snaps[:60], size[0], size[1], o)
			shown, next := snaps[59], 60
			both := func(f func(*Model)) { f(m); f(alone) }
			for i := range 150 {
				key, what := keys[random.IntN(len(keys))], random.IntN(10)
				switch {
				case what < 1:
					both(func(m *Model) { press(m, key) })
				case what < 5:
					shown = renewed(shown, random.IntN(4), sampler.Bytes(70+random.IntN(9)))
					both(func(m *Model) { m.Update(peakArrived{early: shown}) })
				default:
					shown = snaps[next]
					next++
					both(func(m *Model) { m.Update(snapshotsArrived{[]*sampler.Snapshot{shown}}) })
				}
				alone.drawn = drawn{}
				was := m.drawn
				if v := m.view(); v.snap != nil && was.canvas != nil && m.peeks {
					v.before, v.peeks = was, true
					for n, p := range v.arrange(size[0], size[1]).panes {
						panes += pick(v.keeps(n, p), 1, 0)
					}
				}
				stood := map[*plotted]*mark{}
				for _, p := range m.plots {
					if len(p.area.marks) > 0 {
						stood[p] = &p.area.marks[0]
					}
				}
				got, want := m.draw(), alone.draw()
				if !slices.Equal(got.cells, want.cells) {
					t.Fatalf("%v, frame %d after %d, %q is\n%s\nwant\n%s", size, i, what, key, strings.Join(got.lines(), "\n"), strings.Join(want.lines(), "\n"))
				}
				for p, first := range stood {
					if p.frame == m.frames && len(p.area.marks) > 0 && &p.area.marks[0] == first {
						plots++
					}
				}
			}
		}
	}
	if panes < 100 || plots < 100 {
		t.Errorf("%d panes and %d plots were kept", panes, plots)
	}
}
