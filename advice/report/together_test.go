package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// What was warned of four GPUs alike is the headline of all four; JSON has an alert for each.
func TestHeadlineOfManyGPUs(t *testing.T) {
	r := New(Options{Need: sampler.Some(20 * sampler.GiB)})
	for at := range 60 {
		s := sampler.Snapshot{Time: advicetest.Epoch.Add(time.Duration(at) * time.Second)}
		for i := range 4 {
			free := sampler.Bytes(10-i) * sampler.GiB
			s.GPUs = append(s.GPUs, sampler.GPU{Index: i, UUID: fmt.Sprintf("GPU-%d", i), Memory: sampler.Memory{
				Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(80*sampler.GiB - free), Free: sampler.Some(free)}})
		}
		r.Snapshot(&s)
	}
	out := r.Report()
	if len(out.Alerts) != 4 || !strings.HasPrefix(out.Headline, "GPUs 0–3: 20.0 GiB won't fit: only 7.0 GiB free") {
		t.Errorf("%d alerts, %q", len(out.Alerts), out.Headline)
	}
}

// The headline is of the alert's own kind and level, whatever else was said of its GPU.
func TestHeadlineOfOneKind(t *testing.T) {
	alert := func(kind, level, key, text string) sampler.Alert {
		return sampler.Alert{Kind: kind, Level: level, Key: sampler.GPUKey{ID: key}, Text: text, GPU: sampler.Some(0)}
	}
	list := []sampler.Alert{alert("xid", sampler.LevelWarning, "a", "Xid"), alert("leak", sampler.LevelNotice, "a", "leaks a little"),
		alert("leak", sampler.LevelWarning, "b", "another leaks"), alert("leak", sampler.LevelWarning, "a", "leaks")}
	for _, a := range list {
		if got := New(Options{}).together(list, a); got != a.Text {
			t.Errorf("%q is told as %q", a.Text, got)
		}
	}
	if got := New(Options{}).together(list[:2], list[3]); got != "leaks" {
		t.Errorf("an alert of no list is told as %q", got)
	}
}
