package torchsnap

import (
	"hash/maphash"
	"slices"

	"nvpeak/sampler"
)

const (
	framesMost = 256       // of one stack
	tableMost  = 1 << 18   // different frames
	stacksMost = 1 << 17   // different stacks
	placesMost = 4_000_000 // frames of all stacks
	sitesMost  = 1 << 15   // lines that are told apart
)

// frame is a line of a source file; texts are places in the table.
type frame struct {
	file, name int
	line       int64
}

// site is a line worth naming, with what its stack says.
type site struct {
	frame      int // place in the table
	validation int // frame of the validation, or 0
	optimizer  bool
	module     bool
	generates  bool
	cache      bool
}

// frameTable keeps each frame, each stack and each line worth naming once. Place 0 of each is unknown.
type frameTable struct {
	texts  *texts
	list   []frame
	kinds  []frameKind
	place  map[frame]int
	stacks []stack
	hashes map[uint64]int
	sites  []site
	siteAt map[site]int
	ways   [][]int32 // own lines, innermost first
	wayAt  map[uint64]int
	places int
	trains bool // there is an optimizer
	seed   maphash.Seed
}

type stack struct {
	frames []int32
	site   int
	way    int // that stacks with the same lines outside of libraries share; 0: unknown
	parted bool
	pass   pass
	root   int // text of the outermost function
}

func newFrameTable(t *texts) frameTable {
	return frameTable{texts: t, list: make([]frame, 1), kinds: make([]frameKind, 1), place: map[frame]int{}, stacks: make([]stack, 1),
		hashes: map[uint64]int{}, sites: make([]site, 1), siteAt: map[site]int{}, ways: make([][]int32, 1), wayAt: map[uint64]int{}, seed: maphash.MakeSeed()}
}

// add is the value of a frame.
func (t *frameTable) add(file value, line int64, name value) value {
	f := frame{line: line}
	if file.kind() == kindText {
		f.file = file.place()
	}
	if name.kind() == kindText {
		f.name = name.place()
	}
	i, known := t.place[f]
	if !known {
		if len(t.list) >= tableMost {
			return make60(kindFrame, 0)
		}
		i = len(t.list)
		t.place[f] = i
		t.list = append(t.list, f)
		t.kinds = append(t.kinds, kindOfFrame(t.texts.list[f.file], t.texts.list[f.name]))
	}
	return make60(kindFrame, uint64(i))
}

// stack is the value of a list of frames, innermost first.
func (t *frameTable) stack(frames []int) value {
	sum := hashed(t, frames)
	i, known := t.hashes[sum]
	switch {
	case known:
		return make60(kindStack, uint64(i))
	case len(t.stacks) >= stacksMost || t.places+len(frames) > placesMost:
		return make60(kindStack, 0)
	}
	s := stack{site: t.siteOf(frames), way: t.wayOf(frames), parted: slices.ContainsFunc(frames, func(f int) bool { return t.kinds[f].parted })}
	s.pass, s.root = t.passOf(frames)
	for _, f := range frames {
		s.frames = append(s.frames, int32(f))
	}
	t.places += len(frames)
	t.stacks = append(t.stacks, s)
	t.hashes[sum] = len(t.stacks) - 1
	return make60(kindStack, uint64(len(t.stacks)-1))
}

func hashed[T int | int32](t *frameTable, frames []T) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for _, f := range frames {
		h.Write([]byte{byte(f), byte(f >> 8), byte(f >> 16)})
	}
	return h.Sum64()
}

// wayOf is the way through the lines of whoever wrote the program.
func (t *frameTable) wayOf(frames []int) int {
	var own []int32
	for _, f := range frames {
		if t.kinds[f].own {
			own = append(own, int32(f))
		}
	}
	if len(own) == 0 {
		return 0
	}
	sum := hashed(t, own)
	i, known := t.wayAt[sum]
	if !known && len(t.ways) < sitesMost {
		i = len(t.ways)
		t.wayAt[sum] = i
		t.ways = append(t.ways, own)
	}
	return i
}

// fork is the outermost line of a way that is on none of the others; 0: there is none.
func (t *frameTable) fork(way int, others []int) int {
	for _, f := range slices.Backward(t.ways[way]) {
		if !slices.ContainsFunc(others, func(o int) bool { return slices.Contains(t.ways[o], f) }) {
			return int(f)
		}
	}
	return 0
}

// wayOfValue is the way of the stack a value is.
func (t *frameTable) wayOfValue(v value) int {
	if v.kind() != kindStack {
		return 0
	}
	return t.stacks[v.place()].way
}

// siteOf is the line worth naming of a stack: the first outside of torch, libraries and Python itself; without
// one the innermost of Python. It is the optimizer's where nothing of the program, and no forward or backward pass, is
// nearer to the allocation: an optimizer may run a whole training step as a closure within its own.
func (t *frameTable) siteOf(frames []int) int {
	s, calledBack := site{}, false
	for _, f := range frames {
		k := t.kinds[f]
		calledBack = calledBack || k.calledBack || k.module
		s.optimizer = s.optimizer || k.optimizer && !calledBack && (s.frame == 0 || k.own)
		if s.frame == 0 && k.own {
			s.frame = f
		}
		if s.validation == 0 && k.validation {
			s.validation = f
		}
		t.trains = t.trains || k.optimizer
		s.module = s.module || k.module
		s.generates = s.generates || k.generates
		s.cache = s.cache || k.cache
	}
	if s.frame == 0 {
		if i := slices.IndexFunc(frames, func(f int) bool { return t.kinds[f].python }); i >= 0 {
			s.frame = frames[i]
		}
	}
	i, known := t.siteAt[s]
	if !known {
		if len(t.sites) >= sitesMost {
			return 0
		}
		i = len(t.sites)
		t.siteAt[s] = i
		t.sites = append(t.sites, s)
	}
	return i
}

// parted says whether a stack is of activation checkpointing.
func (t *frameTable) parted(v value) bool {
	return v.kind() == kindStack && t.stacks[v.place()].parted
}

// siteOfValue is the line of the stack a value is.
func (t *frameTable) siteOfValue(v value) int {
	if v.kind() != kindStack {
		return 0
	}
	return t.stacks[v.place()].site
}

// generation: what the line allocates lives as long as the sequence of tokens that is made. In a program that trains a
// function that generates may be anything, and the forward pass may fill a cache.
func (t *frameTable) generation(i int) bool {
	s := t.sites[i]
	return s.cache && s.generates || !t.trains && (s.cache || s.generates)
}

// named is a line in words.
func (t *frameTable) named(i int) sampler.TorchSite {
	s := t.sites[i]
	out := t.frameNamed(s.frame)
	out.Optimizer, out.Module, out.Generation = s.optimizer, s.module, t.generation(i)
	if s.validation > 0 {
		v := t.frameNamed(s.validation)
		out.Validation = v.Place() + " " + v.Function
	}
	return out
}

func (t *frameTable) frameNamed(i int) sampler.TorchSite {
	f := t.list[i]
	return sampler.TorchSite{File: sampler.Clean(t.texts.list[f.file]), Line: int(f.line), Function: sampler.Clean(t.texts.list[f.name])}
}

// stackNamed is a whole stack in words.
func (t *frameTable) stackNamed(v value) []sampler.TorchSite {
	list := []sampler.TorchSite{}
	if v.kind() == kindStack {
		for _, f := range t.stacks[v.place()].frames {
			list = append(list, t.frameNamed(int(f)))
		}
	}
	return list
}
