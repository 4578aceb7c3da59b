package cli

import (
	"testing"

	"nvpeak/advice/watch"
)

// What wait prints is what CUDA_VISIBLE_DEVICES takes.
func TestVisible(t *testing.T) {
	whole, other := watch.Fit{GPU: 2, UUID: "GPU-b"}, watch.Fit{GPU: 0}
	part := watch.Fit{GPU: 1, UUID: "MIG-1", MIG: true}
	for _, row := range []struct {
		gpus         []watch.Fit
		format, want string
	}{
		{[]watch.Fit{other, whole}, formatIndex, "0,2"},
		{[]watch.Fit{other, whole}, formatUUID, "0,GPU-b"},
		{[]watch.Fit{whole}, formatEnv, "CUDA_VISIBLE_DEVICES=2"},
		{[]watch.Fit{part, whole}, formatIndex, "MIG-1,GPU-b"},
		{[]watch.Fit{part}, formatEnv, "CUDA_VISIBLE_DEVICES=MIG-1"},
	} {
		if got := visible(row.gpus, row.format); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}
