package ui

import (
	"strings"
	"testing"
)

// That a driver does not answer is said whole, with what to do, also in the smallest pane.
func TestSilentDriver(t *testing.T) {
	for _, size := range [][2]int{{30, 6}, {80, 24}, {200, 60}} {
		m := model(nil, size[0], size[1], Options{})
		m.update(answerLate{})
		if shown := strings.Join(strings.Fields(text(m)), " "); !strings.Contains(shown, "has not answered yet; see what hangs with: nvpeak doctor") {
			t.Errorf("%v: %q", size, shown)
		}
	}
}
