package ui

import (
	"math/rand/v2"
	"testing"

	"nvpeak/sampler"
)

// Rows are in order to a hundredth of the GPU, and do not change places because of less.
func TestRowsAreInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const total = 80 * 1024 // MiB, of gpus
	m := model([]*sampler.Snapshot{tableOf(0, [2]int{1, 8600}, [2]int{2, 7500})}, 100, 30, Options{})
	amounts := map[int]int{1: 40000, 2: 40000, 3: 20000, 4: 19000}
	for i := range 500 {
		var rows [][2]int
		for pid := 1; pid <= len(amounts); pid++ {
			if amounts[pid] += rng.IntN(401) - 200; rng.IntN(50) == 0 {
				amounts[pid] = rng.IntN(60000)
			}
			rows = append(rows, [2]int{pid, amounts[pid]})
		}
		m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(i+1, rows...)}})
		for k := 1; k < len(m.table.rows); k++ {
			above, below := m.table.rows[k-1].memory().Or(0).MiB(), m.table.rows[k].memory().Or(0).MiB()
			if below-above > total/100 {
				t.Fatalf("%.0f MiB stand below %.0f", below, above)
			}
		}
	}
	m = model([]*sampler.Snapshot{tableOf(1000, [2]int{1, 30000}, [2]int{2, 29900})}, 100, 30, Options{})
	for i := range 50 {
		m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(1001+i, [2]int{1, 30000 - i%2*300}, [2]int{2, 29900})}})
		if pid := pidOf(m.table.rows[0]); pid != 1 {
			t.Fatalf("300 MiB of 80 GiB moved process %d up", pid)
		}
	}
}
