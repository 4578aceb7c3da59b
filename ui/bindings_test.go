package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
)

// still is a stream that can do nothing but wait.
type still struct{ silent }

func (still) ResetPeaks(int)  {} // not a sampler.PeakResetter
func (still) SetInterval(int) {} // not a sampler.IntervalSetter

// streams are a model of each kind of stream, in a state in which every key has something to do.
func streams(t *testing.T) map[string]func() *Model {
	need := sampler.Some(79 * sampler.GiB)
	snaps := append(past(gpus(8, 3, false), 90), gpus(8, 4, false)) // new processes at the end
	snaps[90].Time = afternoon.Add(time.Second)
	ready := func(m *Model) *Model {
		m.tty.screen = newScreen(&strings.Builder{})
		m.tty.screen.close(time.Second) // nothing is drawn, so that what was asked of it can be read
		press(m, "3 j j")
		m.notices.text = ""
		return m
	}
	return map[string]func() *Model{
		"live": func() *Model { return ready(model(snaps, 40, 20, Options{Need: need})) },
		"one that can do nothing": func() *Model {
			m := New(t.Context(), &still{}, Options{Need: need})
			m.tty.resize(40, 20)
			m.take(snaps)
			return ready(m)
		},
		"replay": func() *Model {
			p, m := replaying(t, tapeOf(snaps), 40, 20, Options{Need: need})
			p.Seek(snaps[2].Time)
			jumped(t, m)
			return ready(m)
		},
	}
}

// everything is what a key may change, but for messages.
func everything(m *Model) string {
	text := fmt.Sprint(m.prompt, m.table.cursor, m.table.sort, m.table.reverse, m.gpus, m.plot.span, m.plot.metric.name, m.plot.lines, m.shown.frozen,
		m.alerts.copied, m.table.copied, m.table.group, m.table.sideways, m.table.filter.text, len(m.table.tagged), m.tty.paint.theme.Name, m.stream.Interval(), m.tty.screen.forget)
	if m.player != nil {
		return text + fmt.Sprint(m.player.Target(), *m.player.Timeline())
	}
	return text
}

// No key is bound twice, and every key that is offered changes something.
func TestBindings(t *testing.T) {
	for name, make := range streams(t) {
		bound := map[string]bool{}
		m := make()
		for _, b := range m.bindings() {
			for _, k := range b.keys {
				if bound[k] {
					t.Errorf("%s: %q is bound twice", name, k)
				}
				bound[k] = true
			}
			if b.show == "" || b.show == "Ctrl-Z" { // that one is tried in a terminal
				continue
			}
			before := everything(m)
			cmd := b.do(m)
			if cmd != nil && b.show == "q" {
				if _, quit := cmd().(tea.QuitMsg); quit {
					continue
				}
			}
			if m.player != nil && b.show == ". ," {
				scene(t, m)
			}
			if everything(m) == before {
				t.Errorf("%s: %q (%s) changes nothing", name, b.show, b.help)
			}
			m = make()
		}
		for _, h := range m.hints() {
			if len(h.key) == 1 && !bound[h.key] {
				t.Errorf("%s: the footer offers %q", name, h.key)
			}
		}
		if _, can := m.stream.(sampler.PeakResetter); can != (bound["P"] && m.player == nil) {
			t.Errorf("%s: P is bound: %v", name, bound["P"])
		}
	}
}

// A GPU that is focused stays so when the others are numbered anew, and its instances are
// told apart.
func TestFocusFollowsTheGPU(t *testing.T) {
	before, after := gpus(4, 1, false), gpus(4, 1, false)
	after.Time = before.Time.Add(time.Second)
	after.GPUs = after.GPUs[1:]
	for i := range after.GPUs {
		after.GPUs[i].Index = i
	}
	m := model([]*sampler.Snapshot{before}, 100, 30, Options{})
	press(m, "3")
	m.Update(snapshotsArrived{[]*sampler.Snapshot{after}})
	if g := m.view().focus; g == nil || g.UUID != "GPU-2" || len(m.table.rows) != 2 || m.table.rows[0].gpu != g {
		t.Errorf("GPU-2 was focused, now %+v, %d rows", g, len(m.table.rows))
	}
	m.Update(snapshotsArrived{[]*sampler.Snapshot{{Time: after.Time.Add(time.Second), GPUs: after.GPUs[:1]}}})
	if m.view().focus != nil {
		t.Error("the focused GPU is gone, and still shown")
	}
}

// The need is compared with every instance of a GPU.
func TestFitOfInstances(t *testing.T) {
	s := gpus(2, 0, false)
	for i := range s.GPUs {
		s.GPUs[i].Index, s.GPUs[i].MIG = 0, &sampler.MIG{Index: i, GPUInstance: i + 1}
	}
	m := model(past(s, 3), 100, 200, Options{Need: sampler.Some(79 * sampler.GiB)})
	press(m, "a")
	got := text(m)
	if !strings.Contains(got, "GPU 0:0: 79.0 GiB") || !strings.Contains(got, "GPU 0:1: 79.0 GiB") {
		t.Errorf("the fit of two instances:\n%s", got)
	}
}
