package trainlog

import "testing"

func TestStageOf(t *testing.T) {
	for _, one := range []struct {
		line, label string
		n, of       int
	}{
		{"[10:28:43] - active hash levels: 5/16", "levels", 5, 16},
		{"autoregressive schedule: rollout 3/12, 110 updates each", "rollout", 3, 12},
		{"fp64 2/10: N=12800 ...", "fp64", 2, 10},
		{"INFO - Quantizing self_attn.k_proj in layer 1/32...", "", 1, 32},
		{"INFO  Quantizing down_proj in layer 35 of 47 | loss: 0.05", "layer", 35, 47},
		{"task 12 of 20: 61.2 %", "task", 12, 20},
		{"loaded 3 of 512 rows", "", 0, 0},
		{"Epoch 3 Step 120/700 loss 2.1", "", 0, 0},
		{`INFO: 10.1.0.3 - "POST /predict HTTP/1.1" 200 OK  cache 299/300`, "", 299, 300},
		{"[LBFGS] it 20 loss 1e-2 history 83/100", "", 83, 100},
		{"added shard 123/300, 61.5M / 150.0M vectors", "added shard", 123, 300},
		{"val batch 31/300 cache 3 of 9", "", 0, 0},
		{"mem 9.2/16 GiB", "", 0, 0},
		{"INFO:     sessions 194, cache 21.3/21.4 GiB, 0.9 req/s", "", 213, 214},
		{"/srv/run/3 level 2 / 8", "level", 2, 8},
		{" 12%|###   | 12/100 [00:10<01:20, 1.1it/s]", "", 0, 0},
		{"part 9/8", "", 0, 0},
		{"half 1/2", "", 0, 0},
		{"2026/11/22 10:00:00 began", "", 0, 0},
		{"", "", 0, 0},
	} {
		m, ok := stageOf(one.line)
		if ok != (one.of > 0) || m.N.Or(0) != one.n || m.Of != one.of || one.label != "" && m.Label != one.label {
			t.Errorf("%q: %q %d/%d", one.line, m.Label, m.N.Or(0), m.Of)
		}
	}
}

func BenchmarkStageOf(b *testing.B) {
	lines := []string{
		"Epoch 3:  12%|#2        | 120/1000 [00:10<01:20, 11.0it/s, loss=2.31]",
		"[2026-11-22 10:00:00] loading /srv/data/shards/part-00012.tar, loss 2.31",
	}
	for i := range b.N {
		stageOf(lines[i%2])
	}
}
