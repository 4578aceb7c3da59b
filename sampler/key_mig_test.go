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
