package proc

import (
	"reflect"
	"testing"

	"nvpeak/sampler"
)

func TestKillsSince(t *testing.T) {
	for _, row := range []struct {
		before, now Kills
		kind        string
	}{
		{Kills{1, 5}, Kills{1, 5}, ""}, {Kills{1, 5}, Kills{1, 6}, sampler.KindKernelKill}, {Kills{1, 5}, Kills{2, 6}, sampler.KindCgroupKill},
		{Kills{2, 5}, Kills{0, 0}, ""}, // the files are not there any more
	} {
		if e, killed := row.now.Since(row.before); e.Kind != row.kind || killed != (row.kind != "") {
			t.Errorf("%v after %v: %q %v", row.now, row.before, e.Kind, killed)
		}
	}
	if n := counter([]byte("oom 1\noom_kill 42\noom_kill_x 3\n"), "oom_kill "); n != 42 {
		t.Errorf("%d", n)
	}
}

func TestEnvironment(t *testing.T) {
	got := Environment([]string{"PATH=/bin", "CUDA_VISIBLE_DEVICES=0,1", "HF_TOKEN=x", "PYTORCH_ALLOC_CONF=a:b=c"})
	if want := map[string]string{"CUDA_VISIBLE_DEVICES": "0,1", "PYTORCH_ALLOC_CONF": "a:b=c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
