package plain

import (
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// The table says how much was free at worst, and what is open, and sends no escape codes.
func TestTableSaysHeadroomAndAlerts(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	s := &sampler.Snapshot{Host: "box", Alerts: []sampler.Alert{{Text: "GPU 0: runs out"}, {Text: "GPU 1: so does this"}},
		GPUs: []sampler.GPU{{Name: "L40S", Memory: sampler.Memory{Free: some(40 * sampler.GiB), WorstFree: some(2 * sampler.GiB), Total: some(48 * sampler.GiB)}}, {Index: 1}}}
	var b strings.Builder
	if err := Table(&b, s, "", lang.English()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	at := strings.Index(lines[2], "AT WORST")
	if at < 0 || lines[3][at:at+8] != " 2.0 GiB" || strings.TrimSpace(lines[4][at:at+8]) != "N/A" {
		t.Errorf("no headroom:\n%s", b.String())
	}
	if !strings.Contains(b.String(), "\n\n! GPU 0: runs out\n! GPU 1: so does this\n") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("alerts:\n%q", b.String())
	}
}
