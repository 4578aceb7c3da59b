package ui

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/fleet"
)

// fleetModel shows news of several machines on a screen of that size, at the time of the newest.
func fleetModel(u fleet.Update, w, h int, o Options) *Model {
	if o.Span == 0 {
		o.Span = usualSpan
	}
	o.Now = func() time.Time { return newestOf(u) }
	m := NewFleet(context.Background(), nothingComes{}, o)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(fleetArrived{Update: u})
	return m
}

// nothingComes is a stream of a fleet of which nothing comes.
type nothingComes struct{}

func (nothingComes) Next(ctx context.Context) (fleet.Update, error) {
	<-ctx.Done()
	return fleet.Update{}, ctx.Err()
}
func (nothingComes) Interval() time.Duration { return time.Second }

func newestOf(u fleet.Update) time.Time {
	at := afternoon
	for _, s := range u.Snapshots {
		if s.Time.After(at) {
			at = s.Time
		}
	}
	return at
}

var playedFleets = map[string]fleet.Update{}

// playFleet is what has come of a demo fleet by that many seconds after it was opened.
func playFleet(t testing.TB, name string, seconds int) fleet.Update {
	t.Helper()
	playedMu.Lock()
	defer playedMu.Unlock()
	key := fmt.Sprint(name, seconds)
	if u, ok := playedFleets[key]; ok {
		return u
	}
	f, err := demo.NewFleet(name, func() time.Time { return afternoon })
	if err != nil {
		t.Fatal(err)
	}
	u := f.Play(afternoon)
	for i := range seconds {
		more := f.Play(afternoon.Add(time.Duration(i+1) * time.Second))
		u.Snapshots = append(u.Snapshots, more.Snapshots...)
		if more.Hosts != nil {
			u.Hosts = more.Hosts
		}
	}
	playedFleets[key] = u
	return u
}

// hostsOf makes machines of that many GPUs with that many processes each, all of which are heard of at a time.
func hostsOf(n, gpuCount, procs int, at time.Time) (u fleet.Update) {
	for i := range n {
		s := gpus(gpuCount, procs, false)
		s.Host, s.Time = fmt.Sprintf("node%03d", i+1), at
		u.Snapshots = append(u.Snapshots, s)
		u.Hosts = append(u.Hosts, &fleet.Host{Name: s.Host, Source: "ssh://" + s.Host, Via: "nvpeak", State: fleet.OK, Since: at, Heard: sampler.Some(at)})
	}
	return u
}
