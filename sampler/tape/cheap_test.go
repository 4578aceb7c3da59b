package tape

import (
	"bytes"
	"strings"
	"testing"
)

// A snapshot that is written again and again counts once, and rows of commas are passed over: a small
// packed file can hold millions of either.
func TestRepetitionsAreCheap(t *testing.T) {
	const many = 100_000
	const one = `{"type":"snapshot","time":"2026-11-20T14:00:00Z","gpus":[{"index":0,"memory":{"total_bytes":85899345920,"used_bytes":5368709120}}]}` + "\n"
	const csv = "timestamp, index, memory.used [MiB], memory.total [MiB]\n2026/11/20 14:00:00.000, 0, 100 MiB, 80000 MiB\n"
	next := strings.Replace(one, "14:00:00", "14:00:01", 1)
	for name, row := range map[string]struct {
		text string
		want int
	}{
		"snapshots": {one + strings.Repeat(next, many) + one, 3},
		"commas":    {csv + strings.Repeat(",,,\n", many), 1},
		"more":      {csv + strings.Repeat(",,,,,,,,\n", many), 1},
	} {
		n := 0
		allocations := testing.AllocsPerRun(1, func() {
			r, err := NewReader(name, bytes.NewReader([]byte(row.text)), int64(len(row.text)))
			if err != nil {
				t.Fatal(err)
			}
			n = 0
			for range r.Snapshots() {
				n++
			}
		})
		if n != row.want || allocations > many/10 {
			t.Errorf("%s: %d snapshots, %.0f allocations", name, n, allocations)
		}
	}
}
