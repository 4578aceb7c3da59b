package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A GPU of which its host tells no more stays, without figures, where it was; one that was split into instances, or is away
// for long, does not.
func TestVanished(t *testing.T) {
	r := newRig(t, Options{}, "ssh://box7")
	m := r.member(0)
	gpu := func(index int, mig bool) sampler.GPU {
		g := used(r.at, 10*sampler.GiB).GPUs[0]
		g.Index, g.UUID = index, "GPU-"+string(rune('a'+index))
		if mig {
			g.MIG, g.UUID = &sampler.MIG{}, "MIG-"+g.UUID
		}
		return g
	}
	if !strings.Contains(vanishedReason, sampler.ErrNotAnswering.Error()) { // which raises an alert
		t.Error(vanishedReason)
	}
	lost := gpu(3, false)
	lost.Error = sampler.Some("GPU is lost (Xid 79)")
	for _, row := range []struct {
		after time.Duration
		gpus  []sampler.GPU
		want  string
	}{
		{0, []sampler.GPU{gpu(0, false), gpu(1, false), gpu(2, false), lost}, "0 1 2 3!GPU is lost (Xid 79)"},
		{time.Second, []sampler.GPU{gpu(0, false), gpu(2, false)}, "0 1!" + vanishedReason + " 2 3!GPU is lost (Xid 79)"},
		{time.Second, []sampler.GPU{gpu(2, false), gpu(0, false), gpu(3, false)}, "0 1!" + vanishedReason + " 2 3"},
		{time.Second, []sampler.GPU{gpu(0, false), gpu(2, true), gpu(2, true), gpu(3, false)}, "0 1!" + vanishedReason + " 2 2 3"},
		{vanishedFor, []sampler.GPU{gpu(0, false), gpu(2, true), gpu(3, false)}, "0 2 3"},
	} {
		r.at = r.at.Add(row.after)
		m.figures(&sampler.Snapshot{Time: r.at, GPUs: row.gpus}, news{})
		var got []string
		for _, g := range r.update(t).Snapshots[0].GPUs {
			text := string(rune('0' + g.Index))
			if reason, ok := g.Error.Value(); ok {
				text += "!" + reason
			}
			if g.Memory.Used.Known() && g.Error.Known() && !strings.Contains(text, "lost") {
				t.Errorf("%s has figures", text)
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " "); got != row.want {
			t.Errorf("after %v: %s, want %s", row.after, got, row.want)
		}
	}
}

// An exporter that gives its GPUs other names each time does not fill the memory.
func TestVanishedAreBounded(t *testing.T) {
	var v vanished
	now := noon
	for i := range 100 {
		s := &sampler.Snapshot{}
		for j := range 8 {
			s.GPUs = append(s.GPUs, sampler.GPU{Index: j, UUID: fmt.Sprint("GPU-", i, "-", j)})
		}
		v.keep(s, now)
		if len(s.GPUs) > 8+mostVanished || len(v.told) > 8+mostVanished {
			t.Fatalf("%d GPUs, %d kept", len(s.GPUs), len(v.told))
		}
		now = now.Add(time.Second)
	}
}
