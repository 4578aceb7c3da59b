package ui

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
)

// moved are the snapshots of a second in which the memory of every GPU, its power and its utilization are others.
func moved(list []*sampler.Snapshot, second int) []*sampler.Snapshot {
	next := make([]*sampler.Snapshot, len(list))
	for k, s := range list {
		c := *s
		c.Time, c.GPUs = s.Time.Add(time.Duration(second)*time.Second), append([]sampler.GPU(nil), s.GPUs...)
		for i := range c.GPUs {
			g := &c.GPUs[i]
			used := g.Memory.Used.Or(0) + sampler.Bytes((second*37+i*11+k*5)%100)*20*sampler.MiB
			w := *g.Memory.Window
			w.Min, w.Max = used, used
			g.Memory.Used, g.Memory.Window = sampler.Some(used), &w
			g.Utilization.GPU, g.Power = sampler.Some((second*31+i)%100), sampler.Some(float64(400+second%90))
		}
		next[k] = &c
	}
	return next
}

// BenchmarkFleet1000 is a second of 125 machines with 8 GPUs and 32 processes each, that come in two parts: histories,
// advice, and two frames. 50 ms are 5 % of a core.
func BenchmarkFleet1000(b *testing.B) {
	u := hostsOf(125, 8, 4, afternoon)
	m := fleetModel(u, 200, 60, Options{})
	m.tty.paintAs(colorprofile.ANSI256)
	old := &frame{m.draw(), m.tty.paint}
	var out bytes.Buffer
	var seconds [][]*sampler.Snapshot
	for i := range 60 {
		seconds = append(seconds, moved(u.Snapshots, i+1))
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		snaps := seconds[n%60]
		if n++; n%60 == 0 {
			b.StopTimer()
			for i := range seconds {
				seconds[i] = moved(u.Snapshots, n+i+1)
			}
			b.StartTimer()
		}
		at := snaps[0].Time
		m.fleet.now = func() time.Time { return at }
		for _, part := range [][]*sampler.Snapshot{snaps[:62], snaps[62:]} {
			m.takeFleet(fleetArrived{Update: fleet.Update{Snapshots: part}})
			f := &frame{m.draw(), m.tty.paint}
			out.Reset()
			f.changes(&out, old)
			old = f
		}
	}
}

// BenchmarkFleetKey is a key on that screen, until the picture follows.
func BenchmarkFleetKey(b *testing.B) {
	m := fleetModel(hostsOf(125, 8, 4, afternoon), 200, 60, Options{})
	keys := []string{"j", "t", "t", "t", "/", "n", "o", "d", "enter", "esc", "tab", "j", "tab", "enter", "esc"}
	for i := 0; b.Loop(); i++ {
		press(m, keys[i%len(keys)])
		m.draw()
	}
}
