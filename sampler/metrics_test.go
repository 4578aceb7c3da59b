package sampler

import "testing"

// TestMetricTable: names are the words of scripts: unique, and each reads something else.
func TestMetricTable(t *testing.T) {
	g := GPU{Memory: Memory{Total: Some(GiB), Used: Some(2 * MiB), Free: Some(3 * MiB), Reserved: Some(4 * MiB), Unattributed: Some(5 * MiB),
		WorstFree: Some(6 * MiB), Peak: &Peak{Bytes: 7 * MiB}},
		Metrics: Metrics{Utilization: Utilization{Some(8), Some(9), Some(10), Some(11)}, Temperature: Some(12), Fan: Some(13),
			Power: Some(14.5), PowerLimit: Some(15.5), Clocks: Clocks{Some(16), Some(17)},
			PCIe: PCIe{Some(18), Some(19), Some(uint64(20 * KiB)), Some(uint64(21 * KiB))}, ECCUncorrected: Some(uint64(22))}}
	names, values := map[string]bool{}, map[float64]string{}
	for _, m := range MetricTable() {
		v, ok := m.Of(&g).Value()
		if names[m.Name] || m.Title == "" || !ok || values[v] != "" {
			t.Errorf("metric %s: twice, without title, or the same as %q (%v, %v)", m.Name, values[v], v, ok)
		}
		names[m.Name], values[v] = true, m.Name
		if got := m.Of(&GPU{}); got.Known() {
			t.Errorf("metric %s of a GPU of which nothing is known is %v", m.Name, got)
		}
	}
}
