package torchsnap

import (
	"slices"
	"strings"
)

// pass is the part of a step that an allocation is of.
type pass uint8

const (
	passOther    pass = iota // the optimizer, activation checkpointing, or a thread that nobody knows
	passModel                // a module of torch runs
	passMove                 // a module is loaded or moved
	passLoad                 // weights are loaded, or data is by a function of such a name
	passBeside               // the program runs, and no module
	passBackward             // the backward pass, which runs in a thread of its own
)

// passOf is that of a stack, with the text of its outermost function. The thread of the backward pass has no frame of
// Python, but where a function of the program, or a part of the model, runs in it once more.
func (t *frameTable) passOf(frames []int) (pass, int) {
	root := 0
	for _, f := range frames {
		if t.kinds[f].python {
			root = f
		}
	}
	has := func(is func(k frameKind) bool) bool {
		return slices.ContainsFunc(frames, func(f int) bool { return is(t.kinds[f]) })
	}
	name := t.list[root].name
	switch {
	case root == 0, t.kinds[root].calledBack, t.kinds[root].parted:
		return passBackward, name
	case has(func(k frameKind) bool { return k.parted || k.optimizer && !k.own }):
		return passOther, name
	case slices.ContainsFunc(frames, t.runs):
		return passModel, name
	case has(func(k frameKind) bool { return k.module }):
		return passMove, name
	case has(func(k frameKind) bool { return k.loads }):
		return passLoad, name
	}
	return passBeside, name
}

// runs says whether a frame is of a module of torch that is called, and not moved or loaded.
func (t *frameTable) runs(f int) bool {
	name := t.texts.list[t.list[f].name]
	return t.kinds[f].module && (strings.HasSuffix(name, "_call_impl") || name == "forward" || name == "__call__")
}

// passOfValue is that of the stack a value is.
func (t *frameTable) passOfValue(v value) (pass, int) {
	if v.kind() != kindStack || v.place() == 0 {
		return passBackward, 0
	}
	s := &t.stacks[v.place()]
	return s.pass, s.root
}

// rounds counts what comes once in a step and not once in a layer: a forward pass comes and goes in layers too, and each
// gives back what it needs for itself only.
type rounds struct {
	last     pass
	root     int  // of the program where it ran before a backward pass: a hook within one begins elsewhere
	named    bool // some allocation has a line
	model    bool // a module ran or was moved, or weights were loaded
	ran      bool // a module did
	backward int  // how often the program went on after a backward pass
	beside   int  // how often a module ran after something beside it
}

// repeated rounds are steps.
const repeated = 3

func (r *rounds) alloc(now pass, root int) {
	if now == passLoad {
		now = passMove
		if r.ran { // weights are loaded before
			now = passBeside
		}
	}
	switch {
	case now == passOther:
		return
	case now == passMove:
		r.model = true
		return
	case now == passBackward:
		if r.named {
			r.last = now
		}
		return
	case r.last != passBackward:
		r.root = root
	case root != r.root && now != passModel:
		return
	default:
		r.backward, r.root = r.backward+1, root
	}
	if now == passModel && r.model && r.last == passBeside {
		r.beside++
	}
	r.ran = r.ran || now == passModel
	r.named, r.model, r.last = true, r.model || r.ran, now
}

// repeat says that steps were seen: backward passes with something between them. Without any, something beside the model
// came again and again, and most of what was made is gone: the single pass that trains keeps what its layers make.
func (r *rounds) repeat(made, live int64) bool {
	return r.backward >= repeated || (r.beside >= repeated || !r.model) && 2*(made-live) >= made
}
