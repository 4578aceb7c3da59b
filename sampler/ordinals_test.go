package sampler

import "testing"

// A process calls GPUs by the numbers that its environment gives them; where their order is not known, neither is which it means.
func TestOrdinals(t *testing.T) {
	gpu := func(index int, uuid, name string) GPU { return GPU{Index: index, UUID: uuid, Name: name} }
	alike := []GPU{gpu(0, "GPU-a", "H100"), gpu(1, "GPU-b", "H100"), gpu(3, "GPU-d", "H100"), {Index: 2, UUID: "GPU-far", Host: "box8"}}
	mixed := []GPU{gpu(0, "GPU-a", "H100"), gpu(1, "GPU-b", "T4")}
	parts := []GPU{{Index: 0, UUID: "MIG-a", MIG: &MIG{}}, {Index: 0, UUID: "MIG-b", MIG: &MIG{Index: 1}}}
	for name, row := range map[string]struct {
		gpus      []GPU
		env       map[string]string
		container bool
		n         int
		want      string
		sole      string // where there are several
	}{
		"the first":            {alike, map[string]string{}, false, 0, "GPU-a", ""},
		"by its index":         {alike, map[string]string{}, false, 3, "GPU-d", ""},
		"one in between":       {alike, map[string]string{}, false, 2, "", ""},
		"beyond the last":      {alike, map[string]string{}, false, 4, "", ""},
		"no number":            {alike, map[string]string{}, false, -1, "", ""},
		"not readable":         {alike, nil, false, 0, "", ""},
		"visible ones":         {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "1,0"}, false, 0, "GPU-b", ""},
		"the last visible":     {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "1, 0"}, false, 1, "GPU-a", ""},
		"beyond the visible":   {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "1,0"}, false, 2, "", ""},
		"visible by index":     {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "3"}, false, 0, "GPU-d", "GPU-d"},
		"up to one that is no": {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "1,4,0"}, false, 1, "", "GPU-b"},
		"up to a negative one": {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "1,-1,0"}, false, 1, "", "GPU-b"},
		"by UUID":              {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-b"}, false, 0, "GPU-b", "GPU-b"},
		"by the first UUID":    {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-a"}, false, 0, "GPU-a", "GPU-a"},
		"by another UUID":      {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-x,GPU-a"}, false, 0, "", ""},
		"none visible":         {alike, map[string]string{"CUDA_VISIBLE_DEVICES": ""}, false, 0, "", ""},
		"in a container":       {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": "1,3"}, true, 1, "GPU-d", ""},
		"in one with all":      {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": "all"}, true, 1, "GPU-b", ""},
		"in one with void":     {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": "void"}, true, 1, "GPU-b", ""},
		"in one with none":     {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": "none"}, true, 1, "GPU-b", ""},
		"in one that is empty": {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": ""}, true, 1, "GPU-b", ""},
		"in no container":      {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": "1"}, false, 0, "GPU-a", ""},
		"both":                 {alike, map[string]string{"NVIDIA_VISIBLE_DEVICES": "1,3", "CUDA_VISIBLE_DEVICES": "1"}, true, 0, "GPU-d", "GPU-d"},
		"of two kinds":         {mixed, map[string]string{}, false, 0, "", ""},
		"in the bus's order":   {mixed, map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, false, 1, "GPU-b", ""},
		"visible of two kinds": {mixed, map[string]string{"CUDA_VISIBLE_DEVICES": "0"}, false, 0, "", ""},
		"one of two kinds":     {mixed, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-b"}, false, 0, "GPU-b", "GPU-b"},
		"an instance":          {parts, map[string]string{}, false, 1, "MIG-b", ""},
		"the largest index":    {[]GPU{gpu(maxOrdinal, "GPU-z", "")}, map[string]string{}, false, maxOrdinal, "GPU-z", ""},
		"beyond that":          {[]GPU{gpu(0, "GPU-a", ""), gpu(maxOrdinal+1, "GPU-z", "")}, map[string]string{}, false, maxOrdinal + 1, "", ""},
		"beside the largest":   {[]GPU{gpu(maxOrdinal, "GPU-y", ""), gpu(maxOrdinal+1, "GPU-z", "")}, map[string]string{}, false, maxOrdinal + 1, "", ""},
	} {
		d := NewOrdinals(&Snapshot{GPUs: row.gpus})
		p := Process{Environment: row.env}
		if row.container {
			p.Container = Some("box")
		}
		if sole := d.Sole(&p); len(row.gpus) > 1 && sole.ID != row.sole {
			t.Errorf("%s: it sees only %q, want %q", name, sole.ID, row.sole)
		}
		if got := d.Key(&p, row.n).ID; got != row.want {
			t.Errorf("%s: number %d is %q, want %q", name, row.n, got, row.want)
		}
	}
	one, two := NewOrdinals(&Snapshot{GPUs: mixed[:1]}), NewOrdinals(&Snapshot{GPUs: mixed})
	if one.Only().ID != "GPU-a" || two.Only() != (GPUKey{}) {
		t.Errorf("the only GPU is %v, and of two %v", one.Only(), two.Only())
	}
}

// A process that uses a GPU sees it: its list counts up to there, also past numbers of GPUs that are not watched.
func TestNumber(t *testing.T) {
	gpu := func(index int, uuid, name string) GPU { return GPU{Index: index, UUID: uuid, Name: name} }
	alike := []GPU{gpu(0, "GPU-a", "H100"), gpu(1, "GPU-b", "H100"), gpu(3, "GPU-d", "H100"), gpu(-1, "GPU-x", "H100")}
	mixed := []GPU{gpu(0, "GPU-a", "H100"), gpu(1, "GPU-b", "T4")}
	for name, row := range map[string]struct {
		gpus []GPU
		env  map[string]string
		uses int // place of the GPU
		want int // -1: not known
	}{
		"its index":                {alike, map[string]string{}, 2, 3},
		"not readable":             {alike, nil, 2, -1},
		"the only visible":         {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "3"}, 2, 0},
		"the second":               {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "1, 3"}, 2, 1},
		"past one not watched":     {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "7,2,3"}, 2, 2},
		"past a UUID not watched":  {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-z,GPU-d"}, 2, 1},
		"after the end":            {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,-1,3"}, 2, -1},
		"after an empty one":       {alike, map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,,3"}, 2, -1},
		"in an order of its own":   {mixed, map[string]string{"CUDA_VISIBLE_DEVICES": "1,0"}, 1, -1},
		"the only one, whichever":  {mixed, map[string]string{"CUDA_VISIBLE_DEVICES": "0"}, 1, 0},
		"in the order of the bus":  {mixed, map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "1,0"}, 1, 0},
		"of two kinds, all":        {mixed, map[string]string{}, 1, -1},
		"of two kinds, by the bus": {mixed, map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, 1, 1},
	} {
		d := NewOrdinals(&Snapshot{GPUs: row.gpus})
		n, known := d.Number(&Process{Environment: row.env}, row.gpus[row.uses].Key())
		if !known {
			n = -1
		}
		if n != row.want {
			t.Errorf("%s: %d, want %d", name, n, row.want)
		}
	}
}
