package sampler

import "testing"

func TestSame(t *testing.T) {
	base := OOMEvent{Kind: KindCUDA, Requested: Some(20 * MiB), GPUIndex: Some(0), GPUFree: Some(10 * MiB)}
	for _, tt := range []struct {
		name   string
		change func(*OOMEvent)
		same   bool
	}{
		{"nothing", func(*OOMEvent) {}, true},
		{"a figure is missing", func(e *OOMEvent) { e.GPUFree = Opt[Bytes]{} }, true},
		{"a figure more", func(e *OOMEvent) { e.Allocated = Some(GiB) }, true},
		{"another text", func(e *OOMEvent) { e.Text, e.Line = "x", 7 }, true},
		{"another kind", func(e *OOMEvent) { e.Kind = KindHIP }, false},
		{"a rank", func(e *OOMEvent) { e.Rank = Some(1) }, false},
		{"another request", func(e *OOMEvent) { e.Requested = Some(21 * MiB) }, false},
		{"another figure", func(e *OOMEvent) { e.GPUFree = Some(11 * MiB) }, false},
	} {
		other := base
		tt.change(&other)
		if base.Same(&other) != tt.same || other.Same(&base) != tt.same {
			t.Errorf("%s: same is %v", tt.name, !tt.same)
		}
	}
}

// TensorFlow prints a request rounded, and then in bytes.
func TestContradictsRounding(t *testing.T) {
	for _, tt := range []struct {
		kind string
		want bool
	}{{KindTensorFlow, false}, {KindCUDA, true}} {
		rounded, exact := OOMEvent{Kind: tt.kind, Requested: Some(Bytes(1213328261))}, OOMEvent{Kind: tt.kind, Requested: Some(Bytes(1213333504))}
		if got := rounded.Contradicts(&exact); got != tt.want {
			t.Errorf("%s: %v", tt.kind, got)
		}
	}
}

// Logs tell of one failure when what they print agrees, and tells failures apart.
func TestSameInLogs(t *testing.T) {
	type change func(*OOMEvent)
	request, free, pid := change(func(e *OOMEvent) { e.Requested = Some(20 * MiB) }), change(func(e *OOMEvent) { e.GPUFree = Some(10 * MiB) }), change(func(e *OOMEvent) { e.PID = Some(7) })
	for name, row := range map[string]struct {
		both  []change
		other change // only in the second
		want  bool
	}{
		"a request and what was free":     {[]change{request, free}, nil, true},
		"a request":                       {[]change{request}, nil, false},
		"what was free":                   {[]change{free}, nil, false},
		"a process":                       {[]change{pid}, nil, true},
		"no number":                       {nil, nil, false},
		"the process in one of them only": {[]change{request, free}, pid, false},
		"another text":                    {[]change{pid}, func(e *OOMEvent) { e.Text = "y" }, false},
		"another kind":                    {[]change{pid}, func(e *OOMEvent) { e.Kind = KindHIP }, false},
	} {
		a := OOMEvent{Kind: KindCUDA, Text: "x"}
		for _, c := range row.both {
			c(&a)
		}
		b := a
		if row.other != nil {
			row.other(&b)
		}
		if a.SameInLogs(&b) != row.want || b.SameInLogs(&a) != row.want {
			t.Errorf("%s: the same is %v", name, !row.want)
		}
	}
}

// One figure that both print, and print differently, is enough.
func TestContradicts(t *testing.T) {
	for name, figure := range map[string]func(*OOMEvent) *Opt[Bytes]{
		"request": func(e *OOMEvent) *Opt[Bytes] { return &e.Requested }, "total": func(e *OOMEvent) *Opt[Bytes] { return &e.GPUTotal },
		"free": func(e *OOMEvent) *Opt[Bytes] { return &e.GPUFree }, "in use": func(e *OOMEvent) *Opt[Bytes] { return &e.ProcessInUse },
		"allocated": func(e *OOMEvent) *Opt[Bytes] { return &e.Allocated }, "cached": func(e *OOMEvent) *Opt[Bytes] { return &e.ReservedUnallocated },
		"reserved": func(e *OOMEvent) *Opt[Bytes] { return &e.Reserved }, "pools": func(e *OOMEvent) *Opt[Bytes] { return &e.PrivatePools },
	} {
		var a, b OOMEvent
		*figure(&a) = Some(GiB)
		if a.Contradicts(&b) || b.Contradicts(&a) {
			t.Errorf("%s: what is not printed contradicts", name)
		}
		if *figure(&b) = Some(GiB); a.Contradicts(&b) {
			t.Errorf("%s: the same contradicts", name)
		}
		if *figure(&b) = Some(2 * GiB); !a.Contradicts(&b) {
			t.Errorf("%s: another one does not contradict", name)
		}
	}
	a, b := OOMEvent{GPUIndex: Some(0)}, OOMEvent{GPUIndex: Some(1)}
	if !a.Contradicts(&b) {
		t.Error("two GPUs do not contradict")
	}
}
