package ui

import (
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// TestClockSet: when the clock is set back by an hour the picture is as if it had not been, but for
// the time of day and a notice.
func TestClockSet(t *testing.T) {
	snaps := play(t, "training", 5*time.Minute)
	set := make([]*sampler.Snapshot, len(snaps))
	for i, s := range snaps {
		if set[i] = s; i >= len(snaps)-60 {
			set[i] = s.WithAhead(-time.Hour)
		}
	}
	was := model(snaps, 120, 40, Options{})
	m := model(set[:len(set)-60], 120, 40, Options{})
	m.Update(snapshotsArrived{set[len(set)-60 : len(set)-59]})
	if got := text(m); !strings.Contains(got, "the clock was set back by 1h0m0s") {
		t.Errorf("no notice in\n%s", got)
	}
	m.Update(snapshotsArrived{set[len(set)-59:]})
	m.Update(noticeExpired{m.notices.number})
	end := snaps[len(snaps)-1].Time
	want := strings.Replace(text(was), end.Format("15:04:05"), end.Add(-time.Hour).Format("15:04:05"), 1)
	if got := text(m); got != want {
		t.Errorf("after the clock was set:\n%s\nwant\n%s", got, want)
	}
}
