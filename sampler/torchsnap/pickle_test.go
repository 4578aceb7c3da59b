package torchsnap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// dict is a dictionary, key and value in turn, list a list, and tuple a tuple, as old protocols write it where it is oldTuple.
type (
	dict     []any
	list     []any
	tuple    [2]any
	oldTuple [2]any
)

// pickled is a value as protocol 4 writes it.
func pickled(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case int:
		b.WriteByte('J')
		binary.Write(b, binary.LittleEndian, int32(v)) //nolint:errcheck // to memory
	case string:
		b.WriteByte(0x8c)
		b.WriteByte(byte(len(v)))
		b.WriteString(v)
	case tuple:
		pickled(b, v[0])
		pickled(b, v[1])
		b.WriteByte(0x86)
	case oldTuple:
		b.WriteByte('(')
		pickled(b, v[0])
		pickled(b, v[1])
		b.WriteByte('t')
	case list:
		b.WriteString("](")
		for _, x := range v {
			pickled(b, x)
		}
		b.WriteByte('e')
	case dict:
		b.WriteString("}(")
		for _, x := range v {
			pickled(b, x)
		}
		b.WriteByte('u')
	}
}

// snapshotOf reads the snapshot of one GPU with these segments and this history.
func snapshotOf(t *testing.T, segments, history list) sampler.TorchSnapshot {
	t.Helper()
	b := bytes.NewBufferString("\x80\x04")
	pickled(b, dict{"segments", segments, "device_traces", list{history}})
	b.WriteByte('.')
	return read(t, b.Bytes())
}

// stackAt is a stack of one line of somebody's file.
func stackAt(file string, line int) list {
	return list{dict{"filename", file, "line", line, "name", "f"}}
}

// history is that of a GPU, an event each millisecond.
type history struct {
	events list
	next   int
}

func (h *history) add(action string, addr, size int, frames list, more ...any) {
	h.events = append(h.events, dict(append([]any{"action", action, "addr", addr, "size", size, "frames", frames, "time_us", 1000 * len(h.events)}, more...)))
}

func (h *history) alloc(size int, frames list) (addr int) {
	h.next++
	h.add("alloc", h.next, size, frames)
	return h.next
}

func segment(total int, blocks ...any) dict {
	return dict{"device", 0, "total_size", total, "blocks", list(blocks)}
}

func blockOf(state string, size, requested int, frames list) dict {
	d := dict{"size", size, "state", state, "frames", frames}
	if requested > 0 {
		d = append(d, "requested_size", requested)
	}
	return d
}

// What segments hold is told by state: allocated and requested, waiting, free beside what is in use and free alone. What
// keeps a segment from being given back is counted by its blocks.
func TestSegments(t *testing.T) {
	a, b := stackAt("/w/a.py", 1), stackAt("/w/b.py", 2)
	s := snapshotOf(t, list{
		segment(1000, blockOf("active_allocated", 300, 290, a), blockOf("active_awaiting_free", 200, 0, b), blockOf("inactive", 400, 0, nil), blockOf("inactive", 100, 0, nil)),
		segment(500, blockOf("inactive", 500, 0, nil)),
		segment(60, blockOf("active_allocated", 60, 0, b)),
	}, nil)
	d := s.Devices[0]
	for name, row := range map[string][2]sampler.Bytes{
		"reserved": {d.Reserved, 1560}, "allocated": {d.Allocated, 360}, "requested": {d.Requested, 350}, "awaiting": {d.Awaiting, 200},
		"cached": {d.Cached, 500}, "split": {d.Split, 500}, "largest free": {d.LargestFree, 500},
	} {
		if row[0] != row[1] {
			t.Errorf("%s: %d, want %d", name, row[0], row[1])
		}
	}
	if text := fmt.Sprint(names(d.Holders), names(d.Pins)); text != "[a.py:1 300 b.py:2 60] [a.py:1 250 b.py:2 250]" {
		t.Errorf("holders and pins: %s", text)
	}
	if !s.Frames || d.Segments != 3 || d.Blocks != 6 || d.Trace != nil {
		t.Errorf("%v, %d segments, %d blocks, %+v", s.Frames, d.Segments, d.Blocks, d.Trace)
	}
	whole := snapshotOf(t, list{segment(60, blockOf("active_allocated", 60, 0, b))}, nil)
	if len(whole.Devices[0].Pins) != 0 {
		t.Errorf("nothing is free beside it, and it pins: %+v", whole.Devices[0].Pins)
	}
}

// What is free in the pools of CUDA graphs is told apart: nobody else gets it.
func TestPrivatePools(t *testing.T) {
	of := func(total int, pool any) dict {
		return append(segment(total, blockOf("active_allocated", 60, 0, stackAt("/w/a.py", 1)), blockOf("inactive", total-60, 0, nil)), "segment_pool_id", pool)
	}
	s := snapshotOf(t, list{of(100, tuple{0, 0}), of(200, tuple{0, 1}), of(400, oldTuple{1, 0}), of(110, oldTuple{0, 0}), of(70, 3), of(90, tuple{"0", "1"})}, nil)
	d := s.Devices[0]
	if d.PrivateFree != 140+340+10 || d.LargestFree != 50 || d.Split != 40+140+340+50+10+30 {
		t.Errorf("%d free in pools, %d the largest, %d in all", d.PrivateFree, d.LargestFree, d.Split)
	}
}

func names(holders []sampler.TorchHolder) (list []string) {
	for _, h := range holders {
		list = append(list, fmt.Sprint(h.Place(), " ", int(h.Bytes)))
	}
	return list
}

// A history that begins in the middle is lifted by what the segments hold in the end; a refusal is told as it was then.
func TestHistory(t *testing.T) {
	a, b, zero := stackAt("/w/a.py", 1), stackAt("/w/b.py", 2), stackAt("/w/zero.py", 3)
	var h history
	h.add("segment_alloc", 0, 300, nil)
	h.alloc(100, a)
	x := h.alloc(50, b)
	h.add("free_completed", x, 50, nil)
	h.alloc(0, zero)
	h.add("oom", 0, 70, b, "device_free", 0)
	h.add("segment_alloc", 0, 200, nil)
	h.add("segment_free", 0, 40, nil)
	h.alloc(20, a)
	s := snapshotOf(t, list{segment(2000, blockOf("active_allocated", 1120, 0, nil), blockOf("inactive", 880, 0, nil))}, h.events)
	tr := s.Devices[0].Trace
	if !s.Frames || tr.Live != 1100 || tr.Peak != 1150 || tr.Events != 9 || tr.Seconds != 0.008 || tr.OOMs != 1 {
		t.Errorf("%+v", tr)
	}
	var curve []int
	for _, p := range tr.Curve {
		curve = append(curve, int(p.Low), int(p.High))
	}
	if want := []int{1000, 1000, 1100, 1100, 1150, 1150, 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1120, 1120}; !slices.Equal(curve, want) {
		t.Errorf("curve %d, want %d", curve, want)
	}
	if o := tr.OOM; o == nil || o.T != 0.005 || o.Requested != 70 || o.Reserved != 2000-460+300 || o.Free != sampler.Some(sampler.Bytes(0)) || o.Site.Place() != "b.py:2" {
		t.Errorf("%+v", tr.OOM)
	}
	var lines []string // as they were at the refusal
	for _, l := range tr.Lines {
		lines = append(lines, fmt.Sprintf("%s live %d rise %d usual %d cycles %d largest %d", l.Place(), l.Live, l.Rise, l.Usual, l.Cycles, l.Largest))
	}
	if text := strings.Join(lines, ", "); text != "a.py:1 live 100 rise 100 usual 0 cycles 0 largest 100, b.py:2 live 0 rise 0 usual 50 cycles 1 largest 50" {
		t.Errorf("lines: %s", text)
	}
}

// How far a line has risen is counted from its last low, not from nothing.
func TestRiseIsSinceTheLow(t *testing.T) {
	var h history
	a := stackAt("/w/a.py", 1)
	h.alloc(100, a)
	h.add("free_completed", h.alloc(140, a), 140, nil)
	h.alloc(30, a)
	if l := snapshotOf(t, nil, h.events).Devices[0].Trace.Lines[0]; l.Live != 130 || l.Rise != 30 || l.Usual != 240 || l.Cycles != 1 || l.Largest != 140 {
		t.Errorf("%+v", l)
	}
}

// Of more lines than are told, small ones that grow are told as well: they may be what keeps the others.
func TestSmallLinesThatGrow(t *testing.T) {
	var h history
	for i := range linesMost + 3 {
		h.alloc(1<<20+i, stackAt("/w/big.py", i))
	}
	stacks := []list{
		stackAt("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", 7), // as each step has
		stackAt("/v/lib/python3.11/site-packages/torch/optim/adam.py", 8),
		stackAt("/w/small.py", 0), stackAt("/w/small.py", 1), stackAt("/w/small.py", 2), stackAt("/w/small.py", 3), stackAt("/w/small.py", 4)}
	for range 40 {
		for i, stack := range stacks {
			h.alloc(100-i, stack)
		}
	}
	lines := snapshotOf(t, nil, h.events).Devices[0].Trace.Lines
	var small []string
	for i, l := range lines {
		if i >= linesMost {
			small = append(small, l.Place())
			if l.Grown == 0 {
				t.Errorf("%s does not grow", l.Place())
			}
		}
	}
	if text := strings.Join(small, " "); text != "small.py:0 small.py:1 small.py:2 small.py:3" {
		t.Errorf("%s", text)
	}
}

// The line from which a rise came for the first time is named, unless it is another part of a training.
func TestNewCaller(t *testing.T) {
	texts := newTexts()
	table := newFrameTable(texts)
	frame := func(file string, line int64, name string) int {
		return table.add(texts.add([]byte(file)), line, texts.add([]byte(name))).place()
	}
	lib, lib2 := frame("/v/lib/python3.11/site-packages/torch/nn/functional.py", 9, "linear"), frame("/v/lib/python3.11/site-packages/torch/nn/functional.py", 10, "conv")
	model, step, eval, stage := frame("/w/model.py", 88, "forward"), frame("/w/run.py", 10, "step"), frame("/w/run.py", 20, "score"), frame("/w/run.py", 30, "second_stage")
	way := func(frames ...int) int { return table.wayOfValue(table.stack(frames)) }
	usual, scored, staged := way(lib, model, step), way(lib, model, eval), way(lib, model, stage)
	if way(lib2, model, step) != usual {
		t.Error("one way through one's own lines, and two numbers for it")
	}
	if n := way(lib); n != 0 {
		t.Errorf("a stack without own lines has way %d", n)
	}
	for name, row := range map[string]struct {
		line tracker
		want string
	}{
		"new":                                  {tracker{ways: []int{usual}, waysNow: []int{scored}, largest: 100, now: 100}, "run.py:20 score"},
		"new, and larger":                      {tracker{ways: []int{usual}, waysNow: []int{scored}, largest: 100, now: 200}, "run.py:20 score"},
		"a stage, as large":                    {tracker{ways: []int{usual}, waysNow: []int{staged}, largest: 100, now: 125}, "run.py:30 second_stage"},
		"a stage with larger inputs":           {tracker{ways: []int{usual}, waysNow: []int{staged}, largest: 100, now: 126}, ""},
		"as before":                            {tracker{ways: []int{usual, scored}, waysNow: []int{scored}}, ""},
		"the first rise":                       {tracker{waysNow: []int{scored}}, ""},
		"from two lines":                       {tracker{ways: []int{usual}, waysNow: []int{scored, staged}}, ""},
		"as many ways before as are told":      {tracker{ways: []int{1, 1, 1, 1, 1, 1, 1, 1}, waysNow: []int{scored}}, ""},
		"all its lines are those of one other": {tracker{ways: []int{usual}, waysNow: []int{way(model)}}, ""},
	} {
		if got := table.caller(&row.line); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	val1, val2 := frame("/w/run.py", 40, "validate_batch"), frame("/w/run.py", 50, "validate")
	module := frame("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", 5, "forward")
	for name, row := range map[string]struct {
		frames []int
		want   sampler.TorchSite
	}{
		"plain":            {[]int{lib, model, step}, sampler.TorchSite{File: "/w/model.py", Line: 88, Function: "forward"}},
		"in a validation":  {[]int{model, val1, val2}, sampler.TorchSite{File: "/w/model.py", Line: 88, Function: "forward", Validation: "run.py:40 validate_batch"}},
		"in a module":      {[]int{module, lib, model}, sampler.TorchSite{File: "/w/model.py", Line: 88, Function: "forward", Module: true}},
		"nothing of one's": {[]int{lib, lib2}, sampler.TorchSite{File: "/v/lib/python3.11/site-packages/torch/nn/functional.py", Line: 9, Function: "linear"}},
	} {
		if got := table.named(table.siteOfValue(table.stack(row.frames))); got != row.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
