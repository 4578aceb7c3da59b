package torchsnap

import (
	"strings"
	"testing"
)

const (
	testModule = "/v/lib/python3.11/site-packages/torch/nn/modules/module.py _call_impl, "
	testHook   = "/w/hooks.py on_grad"
)

// layers is a forward pass whose layers keep something and give back something each; it is what they keep.
func (p *player) layers(n int, call string) (kept []int64) {
	for range n {
		p.free(p.alloc(mib, "/w/net.py residual, "+testModule+call))
		kept = append(kept, p.alloc(20*mib, "/w/net.py forward, "+testModule+call))
	}
	return kept
}

// backward frees what a forward pass kept; hooks run in its thread.
func (p *player) backward(kept []int64, hook bool) (grads []int64) {
	for _, addr := range kept {
		p.free(p.alloc(mib, ""))
		grads = append(grads, p.alloc(4*mib, ""))
		if hook {
			p.free(p.alloc(mib, testHook))
		}
		p.free(addr)
	}
	return grads
}

// A step is what has a backward pass in it, or something beside the model where most of what is made goes again. The
// layers of a single pass come and go as well, and grow with each.
func TestStepsAreNoLayers(t *testing.T) {
	const train, main = "/w/train.py train, ", "/w/train.py main"
	for name, c := range map[string]struct {
		play  func(p *player)
		steps bool
	}{
		"one forward pass": {func(p *player) { p.layers(40, train+main) }, false},
		"one forward pass, layers run by the program": {func(p *player) {
			for range 40 {
				p.layers(1, train+main)
				p.free(p.alloc(mib, train+main))
			}
		}, false},
		"one backward pass":            {func(p *player) { p.backward(p.layers(40, train+main), false) }, false},
		"one backward pass, with hook": {func(p *player) { p.backward(p.layers(40, train+main), true) }, false},
		"the optimizer dies": {func(p *player) {
			p.backward(p.layers(40, train+main), false)
			for range 20 {
				p.free(p.alloc(mib, "/v/lib/python3.11/site-packages/torch/optim/adam.py step, "+main))
				p.alloc(4*mib, "/v/lib/python3.11/site-packages/torch/optim/adam.py step, "+main)
			}
		}, false},
		"activation checkpointing": {func(p *player) {
			kept := p.layers(40, train+main)
			for _, addr := range kept {
				p.free(p.alloc(mib, ""))
				p.free(p.alloc(20*mib, "/w/net.py forward, "+testModule+"/v/lib/python3.11/site-packages/torch/utils/checkpoint.py unpack_hook"))
				p.free(addr)
			}
		}, false},
		"steps": {func(p *player) {
			for range 12 {
				for _, addr := range p.backward(p.layers(6, train+main), false) {
					p.free(addr)
				}
			}
		}, true},
		"steps that keep the graph": {func(p *player) {
			for range 12 {
				p.layers(6, train+main)
				p.free(p.alloc(mib, ""))
			}
		}, true},
		"steps of another thread": {func(p *player) {
			p.backward(p.layers(6, train+main), false)
			for range 12 {
				for _, addr := range p.backward(p.layers(6, "/w/worker.py run"), true) {
					p.free(addr)
				}
			}
		}, true},
		"requests with data from load": {func(p *player) {
			for range 12 {
				p.free(p.alloc(mib, "/w/data.py load, "+main))
				for _, addr := range p.layers(6, train+main) {
					p.free(addr)
				}
				p.alloc(mib, train+main)
			}
		}, true},
		"requests": {func(p *player) {
			for range 12 {
				for _, addr := range p.layers(6, train+main) {
					p.free(addr)
				}
				p.alloc(mib, train+main)
			}
		}, true},
	} {
		p := newPlayer()
		p.f.framed = true
		p.alloc(100*mib, "/w/train.py build, "+main)
		c.play(p)
		if got := p.f.result().Devices[0].Trace.Steps; (got > 0) != c.steps {
			t.Errorf("%s: %d steps", name, got)
		}
	}
}

// Weights that are loaded tensor by tensor are no steps, however each is converted first; a simulation without a model has
// steps, and without lines nobody can tell.
func TestStepsAreNoLoading(t *testing.T) {
	for rows, want := range map[string]bool{"/w/wl.py put, /w/wl.py load_weights, /w/serve.py main": false, "/w/wl.py put, /w/wl.py read_shard, /w/serve.py main": false,
		"/v/lib/python3.11/site-packages/safetensors/torch.py load_file, /w/serve.py main": false, "/w/sim.py advance, /w/sim.py main": true, "": false} {
		p := newPlayer()
		p.f.framed = true
		for range 60 {
			p.alloc(20*mib, rows)
			if rows != "" {
				p.free(p.alloc(40*mib, strings.Replace(rows, "put", "stage", 1)))
			}
		}
		trace := p.f.result().Devices[0].Trace
		if got := trace.Steps > 0; got != want || rows == "" && trace.Lines[0].Grown > 0 {
			t.Errorf("%s: %d steps, %+v", rows, trace.Steps, trace.Lines)
		}
	}
}

// A line of the model that first runs after some steps, and no part of the training, is new; what moves a model is none.
func TestNewLine(t *testing.T) {
	const library = "/v/lib/python3.11/site-packages/timm/net.py forward, " + testModule
	const moved = "/v/lib/python3.11/site-packages/torch/nn/modules/module.py _apply, "
	for name, c := range map[string]struct {
		steps int
		rows  string
		want  string
	}{
		"another loop":         {12, library + "/w/main.py dev_set", "main.py:1 dev_set"},
		"the first pass":       {0, library + "/w/main.py dev_set", ""},
		"a stage of training":  {12, library + "/w/main.py train_stage", ""},
		"a model that moves":   {12, moved + "/w/main.py dev_set", ""},
		"nothing of the model": {12, "/w/main.py dev_set", ""},
	} {
		p := newPlayer()
		p.f.framed = true
		for range c.steps {
			var kept []int64
			for range 6 {
				kept = append(kept, p.alloc(20*mib, library+"/w/main.py train"))
			}
			for _, addr := range p.backward(kept, false) {
				p.free(addr)
			}
		}
		for range 10 {
			p.alloc(20*mib, c.rows)
		}
		for _, l := range p.f.result().Devices[0].Trace.Lines {
			if want := c.want; l.Function == "train" && l.Caller != "" || l.Function != "train" && l.File != "" && l.Caller != want {
				t.Errorf("%s: %s %q, want %q", name, l.Function, l.Caller, want)
			}
		}
	}
}
