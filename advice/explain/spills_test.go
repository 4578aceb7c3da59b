package explain

import (
	"testing"

	"nvpeak/sampler"
)

// What goes on in the memory of the machine when the GPU is full grows beyond it without an end.
func TestSpills(t *testing.T) {
	for what, row := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"as AlphaFold sets it":        {map[string]string{"TF_FORCE_UNIFIED_MEMORY": "1", "XLA_PYTHON_CLIENT_MEM_FRACTION": "4.0"}, true},
		"as newer versions call it":   {map[string]string{"TF_FORCE_UNIFIED_MEMORY": "true", "XLA_CLIENT_MEM_FRACTION": "3.2"}, true},
		"no more than the GPU":        {map[string]string{"TF_FORCE_UNIFIED_MEMORY": "1", "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.9"}, false},
		"a share that is not spilled": {map[string]string{"XLA_PYTHON_CLIENT_MEM_FRACTION": "4.0"}, false},
		"no number":                   {map[string]string{"TF_FORCE_UNIFIED_MEMORY": "1", "XLA_PYTHON_CLIENT_MEM_FRACTION": "much"}, false},
		"nothing":                     {nil, false},
	} {
		if got := Spills(sampler.Process{Environment: row.env}); got != row.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
