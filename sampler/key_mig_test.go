package sampler

import "testing"

// A GPU that is split is no place for a program; its instances and other GPUs are.
func TestAssignable(t *testing.T) {
	s := Snapshot{GPUs: []GPU{
		{Index: 0, UUID: "GPU-a"},
		{Index: 0, UUID: "MIG-1", MIG: &MIG{Index: 0, ParentUUID: "GPU-a"}},
		{Index: 0, UUID: "MIG-2", MIG: &MIG{Index: 1, ParentUUID: "GPU-a"}},
		{Index: 1, UUID: "GPU-b"},
		{Index: 2},
	}}
	got := ""
	for _, g := range s.Assignable() {
		got += g.Label() + " "
	}
	if got != "0:0 0:1 1 2 " {
		t.Error(got)
	}
}

// Exporters do not tell whose an instance is: its index does, on its host.
func TestSplitByIndex(t *testing.T) {
	part := func(host string) GPU { return GPU{Host: host, Index: 1, UUID: "MIG-1", MIG: &MIG{}} }
	for name, row := range map[string]struct {
		whole, part GPU
		want        bool
	}{
		"told by its index":        {GPU{Index: 1, UUID: "GPU-a"}, part(""), true},
		"another index":            {GPU{Index: 0, UUID: "GPU-a"}, part(""), false},
		"another host":             {GPU{Host: "box7", Index: 1}, part("box8"), false},
		"an instance is not split": {part(""), part(""), false},
		"one of that index before": {GPU{Index: 1, UUID: "GPU-a"}, GPU{Index: 1, MIG: &MIG{ParentUUID: "GPU-b"}}, false},
	} {
		s := Snapshot{GPUs: []GPU{row.whole, row.part}}
		if got := s.Split(&s.GPUs[0]); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
