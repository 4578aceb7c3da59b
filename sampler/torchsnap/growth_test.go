package torchsnap

import (
	"math"
	"strings"
	"testing"

	"nvpeak/sampler"
)

const mib = 1 << 20

// player plays the history of a GPU event by event.
type player struct {
	f    *fold
	t    *trace
	next int64
	time int64
	ways map[string]value
}

func newPlayer() *player {
	texts := newTexts()
	table := newFrameTable(texts)
	f := newFold(&table, texts)
	p := &player{f: f, t: &trace{blocks: map[int64]liveBlock{}, lines: map[int]*tracker{}}, next: 512, ways: map[string]value{}}
	f.device(0).trace = p.t
	return p
}

// stack is "file function" with the line 1, innermost first, each after a comma.
func (p *player) stack(rows string) value {
	v, known := p.ways[rows]
	if known || rows == "" {
		return v
	}
	var frames []int
	for row := range strings.SplitSeq(rows, ", ") {
		file, name, _ := strings.Cut(row, " ")
		frames = append(frames, p.f.frames.add(p.f.texts.add([]byte(file)), 1, p.f.texts.add([]byte(name))).place())
	}
	p.ways[rows] = p.f.frames.stack(frames)
	return p.ways[rows]
}

func (p *player) event(action string, addr, size int64, rows string) {
	o := &object{}
	o.fields[keyAddr] = number(addr)
	p.time += 1000
	p.t.add(p.f, &event{time: p.time, action: action, size: size, stack: p.stack(rows)}, o)
}

func (p *player) alloc(size int64, rows string) int64 {
	p.next += size
	p.event("alloc", p.next, size, rows)
	return p.next
}

func (p *player) free(addr int64) { p.event("free_completed", addr, 0, "") }

// step is one of a training.
func (p *player) step(between func()) {
	var made []int64
	for range 6 {
		made = append(made, p.alloc(20*mib, "model.py forward, train.py step"), p.alloc(9*mib, "model.py act, train.py step"))
	}
	between()
	for _, addr := range made {
		p.free(addr)
	}
}

func (p *player) line(t *testing.T, place string) sampler.TorchLine {
	t.Helper()
	for _, l := range p.f.result().Devices[0].Trace.Lines {
		if l.Place() == place {
			return l
		}
	}
	t.Fatal("no line", place)
	return sampler.TorchLine{}
}

// leak keeps a block in each n-th step and gives back some of them every eighth time; per step are the bytes that stay.
type leak struct {
	name                string
	each, prune, before int
	perStep             float64 // MiB
}

var leaks = []leak{
	{"each step", 1, 0, 0, 12},
	{"each third", 3, 0, 0, 4},
	{"each tenth", 10, 0, 0, 1.2},
	{"each third, from the twentieth on", 3, 0, 20, 4},
	{"with frees between", 1, 4, 0, 6},
}

// play calls keep and drop as the leak does, in a step.
func (l leak) play(step int, keep, drop func()) {
	if step < l.before || (step+1)%l.each != 0 {
		return
	}
	keep()
	if l.prune > 0 && (step+1)%8 == 0 {
		for range l.prune {
			drop()
		}
	}
}

// The rate of a leak is what stays per step, whether it grows in each or not.
func TestLeakRate(t *testing.T) {
	for _, l := range leaks {
		for _, steps := range []int{59, 60, 107, 180} {
			p := newPlayer()
			var kept []int64
			for step := range steps {
				p.step(func() {
					l.play(step, func() { kept = append(kept, p.alloc(12*mib, "train.py keep")) }, func() { p.free(kept[0]); kept = kept[1:] })
				})
			}
			line := p.line(t, "train.py:1")
			rate := line.Grown.MiB() / float64(max(1, line.Steps))
			if math.Abs(rate-l.perStep) > 0.12*l.perStep || line.Steps > steps-l.before+l.each {
				t.Errorf("%s, %d steps: %.2f MiB in each of %d", l.name, steps, rate, line.Steps)
			}
		}
	}
}

// A line whose blocks take the place of those from before the history, whose end names no line, has not grown.
func TestGrownForOthers(t *testing.T) {
	for name, growing := range map[string]bool{"in the place of others": false, "besides": true} {
		p := newPlayer()
		for step := range int64(60) {
			p.step(func() {
				p.alloc(12*mib, "pool.py push")
				if !growing {
					p.event("free_requested", -512*step-512, 12*mib, "")
				}
			})
		}
		if l := p.line(t, "pool.py:1"); (l.Grown > 0) != growing {
			t.Errorf("%s: grown by %s", name, l.Grown)
		}
	}
}
