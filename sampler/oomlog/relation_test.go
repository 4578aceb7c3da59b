package oomlog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// An allocator that asks for about a tenth less, or for the same again, within six lines tries again.
func TestTriesLess(t *testing.T) {
	try := func(kind string, line int, mib float64) *held {
		h := &held{}
		h.Kind, h.MemoryKind, h.Line, h.last, h.tried = kind, sampler.MemoryGPU, line, line, sampler.Bytes(mib*1024)
		h.Requested = sampler.Some(h.tried)
		return h
	}
	tf := sampler.KindTensorFlow
	for name, row := range map[string]struct {
		old, new *held
		want     bool
	}{
		"a tenth less":     {try(tf, 1, 1000), try(tf, 7, 900), true},
		"xla":              {try(sampler.KindXLA, 1, 1000), try(sampler.KindXLA, 2, 900), true},
		"the same":         {try(tf, 1, 1000), try(tf, 2, 1000), true},
		"seven lines on":   {try(tf, 1, 1000), try(tf, 8, 900), false},
		"88 %":             {try(tf, 1, 1000), try(tf, 2, 880), false},
		"a little more":    {try(tf, 1, 1000), try(tf, 2, 881), true},
		"92 %":             {try(tf, 1, 1000), try(tf, 2, 920), false},
		"a little less":    {try(tf, 1, 1000), try(tf, 2, 919), true},
		"another kind":     {try(tf, 1, 1000), try(sampler.KindXLA, 2, 900), false},
		"no such kind":     {try(sampler.KindCUDA, 1, 1000), try(sampler.KindCUDA, 2, 900), false},
		"nothing was told": {try(tf, 1, 0), try(tf, 2, 0), false},
	} {
		if got := row.old.triesLess(row.new); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	host := try(tf, 2, 900)
	host.MemoryKind = sampler.MemoryHost
	if try(tf, 1, 1000).triesLess(host) {
		t.Error("another memory is the same series")
	}
	e := try(tf, 1, 1000)
	e.repeat(try(tf, 2, 1000))
	if e.Recovered {
		t.Error("it asked for the same again and has recovered")
	}
	if e.repeat(try(tf, 3, 900)); !e.Recovered || e.tried != 900*1024 || e.Occurrences != 2 || e.last != 3 {
		t.Errorf("after a try for less: %+v", e)
	}
}

// A printing that recovered stays so for a few lines.
func TestRepeatForgetsRecovery(t *testing.T) {
	for line, want := range map[int]bool{8: true, 9: false} {
		e, h := &held{last: 1}, &held{}
		e.Recovered, h.Line = true, line
		if e.repeat(h); e.Recovered != want {
			t.Errorf("again on line %d: recovered %v", line, e.Recovered)
		}
	}
}

// The later printing tells how it ended, in whatever order the two were read; a warning that was recovered from long
// before is no recovery either.
func TestLaterPrintingTells(t *testing.T) {
	early := func() *held { e := &held{last: 12}; e.Line, e.Recovered = 11, true; return e }
	late := func() *held { e := &held{last: 118}; e.Line = 118; return e }
	forward, backward, absorbing := early(), late(), late()
	forward.repeat(late())
	backward.repeat(early())
	absorbing.absorb(early())
	if forward.Recovered || backward.Recovered || absorbing.Recovered {
		t.Errorf("recovered: %v, read in reverse %v, of a warning %v", forward.Recovered, backward.Recovered, absorbing.Recovered)
	}
	steps := ""
	for i := range 100 {
		steps += fmt.Sprintf("2026-03-02 08:00:00 | INFO | train_inner | epoch 001: %d / 900 loss=9\n", i)
	}
	const refused = "CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 39.39 GiB of which 1.10 GiB is free.\n"
	const warned = "2026-03-02 08:00:00 | WARNING | fairseq.trainer | "
	log := warned + "OOM: Ran out of memory with exception: " + refused + warned + "attempting to recover from OOM in forward/backward pass\n" +
		steps + "Traceback (most recent call last):\n  File \"train.py\", line 3, in main\ntorch.OutOfMemoryError: " + refused
	events, err := Scan(strings.NewReader(log))
	if err != nil || len(events) != 1 || events[0].Recovered {
		t.Errorf("%v, %+v", err, events)
	}
}

// What another printing adds fills gaps and replaces nothing.
func TestFill(t *testing.T) {
	limit := &sampler.MemoryLimit{Kind: "x"}
	e, h := &held{}, &held{}
	h.OtherProcesses, h.SelfUnknown, h.MemoryLimit, h.MemoryKind = []sampler.OtherProcess{{PID: 1}}, true, limit, sampler.MemoryGPU
	h.Extra = map[string]any{"a": 1, "b": 2}
	e.Extra, e.MemoryKind = map[string]any{"a": 0}, sampler.MemoryUnknown
	e.fill(h)
	if len(e.OtherProcesses) != 1 || !e.SelfUnknown || e.MemoryLimit != limit || e.MemoryKind != sampler.MemoryGPU || e.Extra["a"] != 0 || e.Extra["b"] != 2 {
		t.Errorf("%+v", e.OOMEvent)
	}
	other := &held{}
	other.MemoryLimit, other.MemoryKind, other.SelfUnknown = &sampler.MemoryLimit{}, sampler.MemoryHost, false
	e.fill(other)
	if len(e.OtherProcesses) != 1 || !e.SelfUnknown || e.MemoryLimit != limit || e.MemoryKind != sampler.MemoryGPU {
		t.Errorf("%+v", e.OOMEvent)
	}
}

// relatives are two wordings; each row changes them so that they tell of one failure, or not.
func TestRelations(t *testing.T) {
	pair := func() (old, h *held) {
		old, h = &held{row: &compiledRow{}, last: 1}, &held{row: &compiledRow{}}
		for _, e := range []*held{old, h} {
			e.Kind, e.Framework, e.MemoryKind, e.Requested = sampler.KindCUDA, "pytorch", sampler.MemoryGPU, sampler.Some(sampler.GiB)
		}
		h.Line = 2
		return old, h
	}
	for name, row := range map[string]struct {
		change func(old, h *held)
		want   relation
	}{
		"the same":                 {func(old, h *held) {}, sameFailure},
		"far, with its numbers":    {func(old, h *held) { h.Line = 1 + holdLines + 1 }, sameFailure},
		"near, fewer numbers":      {func(old, h *held) { h.Requested, h.Line = sampler.Opt[sampler.Bytes]{}, 1+holdLines }, sameFailure},
		"far, fewer numbers":       {func(old, h *held) { h.Requested, h.Line = sampler.Opt[sampler.Bytes]{}, 2+holdLines }, unrelated},
		"by another, bare":         {func(old, h *held) { h.Framework, h.Requested = "x", sampler.Opt[sampler.Bytes]{} }, sameFailure},
		"by another, was bare":     {func(old, h *held) { old.Framework, old.Requested = "x", sampler.Opt[sampler.Bytes]{} }, sameFailure},
		"by another":               {func(old, h *held) { h.Framework = "x" }, unrelated},
		"it warns":                 {func(old, h *held) { h.row.warning = true }, newIsWarning},
		"it warned":                {func(old, h *held) { old.row.warning = true }, oldIsWarning},
		"it warns, at the end":     {func(old, h *held) { h.row.warning, h.Line = true, 1+holdLines }, newIsWarning},
		"another warns":            {func(old, h *held) { h.row.warning, h.Framework, h.Kind = true, "x", sampler.KindXLA }, unrelated},
		"it follows":               {func(old, h *held) { h.row.follows = true }, newIsVaguer},
		"it followed":              {func(old, h *held) { old.row.follows = true }, oldIsVaguer},
		"it follows from far":      {func(old, h *held) { h.row.follows, h.Line = true, 2+holdLines }, unrelated},
		"it follows, memory open":  {func(old, h *held) { h.row.follows, h.MemoryKind = true, sampler.MemoryUnknown }, newIsVaguer},
		"it follows, was open":     {func(old, h *held) { h.row.follows, old.MemoryKind = true, sampler.MemoryUnknown }, newIsVaguer},
		"it follows, other memory": {func(old, h *held) { h.row.follows, h.MemoryKind = true, sampler.MemoryHost }, unrelated},
		"vaguer":                   {func(old, h *held) { h.Kind, old.Kind = sampler.KindCUDAError, sampler.KindNCCL }, newIsVaguer},
		"was vaguer":               {func(old, h *held) { old.Kind, h.Kind = sampler.KindCUDAError, sampler.KindNCCL }, oldIsVaguer},
		"another kind":             {func(old, h *held) { h.Kind = sampler.KindNCCL }, unrelated},
		"another rank":             {func(old, h *held) { old.Rank, h.Rank = sampler.Some(1), sampler.Some(2) }, unrelated},
		"another process":          {func(old, h *held) { old.PID, h.PID = sampler.Some(1), sampler.Some(2) }, unrelated},
		"a child of it": {func(old, h *held) {
			old.PID, h.PID, old.Text = sampler.Some(1), sampler.Some(2), "Kill process 1 or sacrifice child"
			old.MemoryKind, h.MemoryKind, h.row.follows = sampler.MemoryHost, sampler.MemoryHost, true
		}, newIsVaguer},
		"it, after a child of it": {func(old, h *held) {
			old.PID, h.PID, old.Text = sampler.Some(1), sampler.Some(2), "Kill process 1 or sacrifice child"
			old.MemoryKind, h.MemoryKind = sampler.MemoryHost, sampler.MemoryHost
		}, unrelated},
	} {
		old, h := pair()
		if row.change(old, h); relationOf(old, h) != row.want {
			t.Errorf("%s: %d, want %d", name, relationOf(old, h), row.want)
		}
	}
}

// Events wait for repeats for 400 lines, as long as there are not more than 128.
func TestHolderReleases(t *testing.T) {
	for name, row := range map[string]struct {
		count, now, out int
	}{"young": {1, 9 + holdLines, 0}, "old": {1, 10 + holdLines, 1}, "at the end": {3, -1, 3}, "as many as may be": {maxHeld, 10, 0}, "one more": {maxHeld + 1, 10, 1}, "at line 0": {1, 0, 0}} {
		var h holder
		for range row.count {
			h.insert(&held{last: 10, row: &compiledRow{}})
		}
		if out := h.release(nil, row.now); len(out) != row.out {
			t.Errorf("%s: %d are released, want %d", name, len(out), row.out)
		}
	}
}

// The latest event is one of the same stream, or of one that is not told apart, which was seen late enough.
func TestHolderLatest(t *testing.T) {
	h := holder{events: []*held{{key: "a", last: 5}, {key: "b", last: 7}, {key: "a", last: 6}}}
	for name, row := range map[string]struct {
		key  string
		from int
		want *held
	}{"the newest": {"a", 6, h.events[2]}, "seen too early": {"a", 7, nil}, "another stream": {"b", 7, h.events[1]}, "no such stream": {"c", 0, nil}, "any stream": {"", 6, h.events[2]}} {
		if got := h.latest(row.key, row.from); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	h.events = append(h.events, &held{last: 9})
	if got := h.latest("c", 9); got != h.events[3] {
		t.Error("an event of no stream is of none")
	}
}

// Events are held in the order of their lines, and the last line of a message counts.
func TestHolderOrder(t *testing.T) {
	var h holder
	add := func(at, lines int, kind string) *held {
		f, m := &findings{held: held{row: &compiledRow{}}}, &message{lines: make([]string, lines), first: line{number: at}}
		f.Kind, f.Line = kind, at
		return h.add(f, m, "")
	}
	second, first := add(9, 3, sampler.KindCUDA), add(4, 1, sampler.KindXLA)
	if second == nil || first == nil || h.events[0] != first || h.events[1] != second || second.last != 11 || first.last != 4 {
		t.Errorf("%+v", h.events)
	}
	if again := add(12, 1, sampler.KindCUDA); again != nil || second.Occurrences != 1 || len(h.events) != 2 {
		t.Errorf("a repeat is an event of its own: %+v", again)
	}
}

// Who writes what he changed or could change prints no recovery.
func TestSpokenIsNoRecovery(t *testing.T) {
	const refused = "RuntimeError: CUDA out of memory. Tried to allocate 182.00 MiB (GPU 0; 15.90 GiB total capacity; 14.60 GiB already allocated; 75.75 MiB free; 15.12 GiB reserved in total by PyTorch)\n"
	for after, want := range map[string]bool{
		"Reducing the batch size to 4 and going on.":                            true,
		"retrying with batch_size 4":                                            true,
		"The loss is nan when I reduce the batch_size to 4.":                    false,
		"Reducing the batch size and a smaller model would have been a remedy.": false,
		"Setting the batch_size to 2 seems to get things running.":              false,
		"I've set the batch size to 4, and I tried others.":                     false,
	} {
		events, err := Scan(strings.NewReader(refused + after + "\n"))
		if err != nil || len(events) != 1 || events[0].Recovered != want {
			t.Errorf("%q: %+v, %v", after, events, err)
		}
	}
}

// What an outline tells apart is unrelated, whatever the failures are.
func TestOutlinesTellTheUnrelatedApart(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	kinds := []string{sampler.KindCUDA, sampler.KindXLA, sampler.KindTensorFlow, sampler.KindGGML, sampler.KindKilled, sampler.KindKernelKill}
	maybe := func(n int) (o sampler.Opt[int]) {
		if r.IntN(2) > 0 {
			o = sampler.Some(r.IntN(n))
		}
		return o
	}
	one := func(line int) *held {
		e := &held{row: &compiledRow{row: row{warning: r.IntN(4) == 0, follows: r.IntN(4) == 0}}, key: []string{"", "a1", "a2"}[r.IntN(3)], last: line}
		e.Kind, e.Line, e.Rank, e.PID = kinds[r.IntN(len(kinds))], line, maybe(2), maybe(2)
		e.MemoryKind = []string{sampler.MemoryGPU, sampler.MemoryHost}[r.IntN(2)]
		if r.IntN(3) > 0 {
			e.Requested = sampler.Some(sampler.Bytes(r.IntN(40) * 25))
		}
		if e.tried = e.Requested.Or(0); r.IntN(3) == 0 {
			e.tried = e.tried * 9 / 10
		}
		e.Text = []string{"", "Kill process 1 or sacrifice child"}[r.IntN(2)]
		return e
	}
	apart := 0
	for range 100_000 {
		old, e := one(1), one(2+r.IntN(10))
		o, of := outlineOf(old), outlineOf(e)
		if !o.apartFrom(&of) {
			continue
		}
		if apart++; relationOf(old, e) != unrelated {
			t.Fatalf("%+v and %+v: %d", old.OOMEvent, e.OOMEvent, relationOf(old, e))
		}
	}
	if apart < 10_000 {
		t.Errorf("%d told apart", apart)
	}
}
