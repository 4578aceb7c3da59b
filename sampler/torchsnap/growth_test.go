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

// A request is compared with those of its own stack: others of the line may be of another size.
func TestRequestsOfStack(t *testing.T) {
	const small, large = "layer.py run, norm.py forward", "layer.py run, attention.py forward"
	for name, c := range map[string]struct {
		now, before int64
		rows        string
		count       int
	}{
		"the same call":        {90 * mib, 80, large, 10},
		"the same call, small": {9 * mib, 4, small, 10},
		"a call for once":      {90 * mib, 0, "layer.py run, head.py forward", 0},
	} {
		p := newPlayer()
		for range 10 {
			a, b := p.alloc(4*mib, small), p.alloc(80*mib, large)
			p.free(b)
			p.free(a)
		}
		p.event("oom", 0, c.now, c.rows)
		o := p.f.result().Devices[0].Trace.OOM
		if o.Usual != sampler.Bytes(c.before*mib) || o.Requests != c.count {
			t.Errorf("%s: %s in %d requests before, want %d MiB in %d", name, o.Usual, o.Requests, c.before, c.count)
		}
	}
}

// What generation holds grows with each token by design, and goes with its sequence: only what stays beyond is kept.
func TestGenerationGrows(t *testing.T) {
	const own, library = "chat.py generate", "/v/lib/python3.11/site-packages/transformers/cache_utils.py update, /v/lib/python3.11/site-packages/transformers/generation/utils.py _sample, chat.py answer"
	for name, c := range map[string]struct {
		rows      string
		sequences int // before the one that is cut off
		kept      int64
		trains    bool
		grows     bool
	}{
		"one sequence":             {library, 0, 0, false, false},
		"many sequences":           {library, 4, 0, false, false},
		"own function":             {own, 0, 0, false, false},
		"each sequence is kept":    {library, 24, 10 * mib, false, true},
		"a function of a training": {own, 0, 0, true, true},
		"a library in a training":  {library, 0, 0, true, false},
	} {
		p := newPlayer()
		if c.trains {
			p.alloc(mib, "/v/lib/python3.11/site-packages/torch/optim/adam.py step")
		}
		for sequence := range c.sequences + 1 {
			tokens, cache := 40, []int64(nil)
			if sequence == c.sequences && c.kept == 0 {
				tokens = 400
			}
			for range tokens {
				p.free(p.alloc(2*mib, "chat.py logits"))
				cache = append(cache, p.alloc(mib, c.rows))
			}
			if sequence < c.sequences {
				for _, addr := range cache[c.kept/mib:] {
					p.free(addr)
				}
			}
		}
		for _, l := range p.f.result().Devices[0].Trace.Lines {
			if l.File == "chat.py" && l.Function != "logits" && (l.Grown > 0) != c.grows {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
}

// A line that came and went in the first steps, and keeps half of what it makes since then, leaks: it has not risen for
// one step. What a store replaces is no growth.
func TestKeptSince(t *testing.T) {
	p := newPlayer()
	var store []int64
	for step := range 60 {
		for i := range 2 {
			if at := (2*step + i) % 20; step >= 10 {
				p.free(store[at])
				store[at] = p.alloc(int64(100+step)*mib/20, "bank.py push")
			} else {
				store = append(store, p.alloc(5*mib, "bank.py push"))
			}
		}
		p.step(func() {
			one, two := p.alloc(10*mib, "net.py forward, train.py step"), p.alloc(10*mib, "net.py forward, train.py step")
			if p.free(one); step < 4 {
				p.free(two)
			}
		})
	}
	p.event("oom", 0, 20*mib, "net.py forward, train.py step")
	l := p.line(t, "net.py:1")
	if rate := l.Grown.MiB() / float64(max(1, l.Steps)); math.Abs(rate-10) > 1 || l.Rise > 30*mib {
		t.Errorf("%.1f MiB each step: %+v", rate, l)
	}
	if l := p.line(t, "bank.py:1"); l.Grown > 0 {
		t.Errorf("the store: %+v", l)
	}
}

// A tensor that is replaced by a larger one in each step of a training grows; where nothing is trained it may be a cache.
func TestReplacedByLarger(t *testing.T) {
	const train, main = "/w/train.py train, ", "/w/train.py main"
	for name, row := range map[string]struct{ trains, grows bool }{"in a training": {true, true}, "in a program that only runs a model": {false, false}} {
		p := newPlayer()
		p.f.framed = true
		last := int64(0)
		for step := range 60 {
			kept := p.layers(6, train+main)
			if row.trains {
				kept = p.backward(kept, false)
			}
			for _, addr := range kept {
				p.free(addr)
			}
			next := p.alloc(int64(step+1)*6*mib, "/w/feat.py collect, "+train+main)
			if last > 0 {
				p.free(last)
			}
			last = next
		}
		if l := p.line(t, "feat.py:1"); (l.Grown > 300*mib) != row.grows || (l.Grown > 0) != row.grows {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// Whose a line is tells what runs nearest to the allocation: an optimizer may call forward and backward pass in its step.
func TestOptimizerIsNearest(t *testing.T) {
	const lib = "/v/lib/python3.11/site-packages/"
	const state, step = lib + "torch/optim/adamw.py _init_group", lib + "torch/optim/adamw.py step"
	const trainer = lib + "lightning/pytorch/loops/optimization/automatic.py "
	for name, c := range map[string]struct {
		rows      string
		optimizer bool
	}{
		"state":                            {state + ", " + step + ", /w/fit.py main", true},
		"state, of a trainer":              {state + ", " + lib + "lightning/pytorch/core/optimizer.py step, /w/fit.py main", true},
		"state, an optimizer of one's own": {lib + "torch/functional.py zeros, /w/tools.py zeros, /w/lion.py init_state, /w/fit.py main", true},
		"closure":                          {"/w/train.py closure, " + step + ", /w/train.py main", false},
		"closure of one's own optimizer":   {"/w/tools.py loss, /w/train.py closure, /w/lion.py step, /w/train.py main", false},
		"training step of a trainer":       {"/w/task.py training_step, " + trainer + "closure, " + step + ", /w/fit.py main", false},
		"a library's model":                {lib + "torch/nn/functional.py linear, " + lib + "torch/nn/modules/linear.py forward, " + step + ", /w/fit.py main", false},
		"a library's closure":              {lib + "metrics/metric.py update, " + trainer + "closure, " + step + ", /w/fit.py main", false},
		"gradients":                        {lib + "torch/autograd/graph.py _engine_run_backward, " + step + ", /w/fit.py main", false},
	} {
		p := newPlayer()
		p.alloc(mib, c.rows)
		if got := p.f.result().Devices[0].Trace.Lines[0]; got.Optimizer != c.optimizer {
			t.Errorf("%s: %+v", name, got.TorchSite)
		}
	}
}
