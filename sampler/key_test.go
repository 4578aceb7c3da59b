package sampler

import "testing"

func TestKeysAndLabels(t *testing.T) {
	for _, row := range []struct {
		gpu        GPU
		key, label string
	}{
		{GPU{Index: 3, UUID: "GPU-x"}, "GPU-x", "3"},
		{GPU{Index: 3}, "index 3", "3"},
		{GPU{Index: 3, MIG: &MIG{Index: 1}}, "index 3:1", "3:1"},
		{GPU{Index: 0, UUID: "MIG-x", MIG: &MIG{}}, "MIG-x", "0:0"},
		{GPU{Host: "box7", UUID: "GPU-x"}, "box7/GPU-x", "0"},
		{GPU{Host: "box7", Index: 3}, "box7/index 3", "3"},
	} {
		if row.gpu.Key().String() != row.key || row.gpu.Label() != row.label {
			t.Errorf("%+v: key %q, label %q", row, row.gpu.Key(), row.gpu.Label())
		}
	}
}

// A GPU is found by its key wherever it stands in the list; instances and hosts are told apart.
func TestFind(t *testing.T) {
	s := Snapshot{GPUs: []GPU{{UUID: "a"}, {UUID: "b"}, {UUID: "a", Host: "far"}, {Index: 3}, {Index: 3, MIG: &MIG{Index: 1}}}}
	for i := range s.GPUs {
		if got := s.Find(s.GPUs[i].Key()); got != &s.GPUs[i] {
			t.Errorf("GPU %d: %+v", i, got)
		}
	}
	if got := s.Find(GPUKey{ID: "c"}); got != nil {
		t.Errorf("%+v is found", got)
	}
}
