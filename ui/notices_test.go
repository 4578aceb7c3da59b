package ui

import (
	"strings"
	"testing"
)

// A message belongs to what was open when it came: it does not stand below what is opened next.
func TestNoticeGoesWithItsPage(t *testing.T) {
	m := model(past(gpus(1, 3, false), 3), 100, 30, Options{})
	m.notices.show("saved in a file", savedTime)
	if press(m, "j"); !strings.Contains(text(m), "saved in a file") {
		t.Errorf("it is gone with the first key:\n%s", text(m))
	}
	if press(m, "e"); strings.Contains(text(m), "saved in a file") {
		t.Errorf("it is still there:\n%s", text(m))
	}
}
