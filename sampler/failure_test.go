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
