package demo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
)

// The fleets that can be played.
const (
	FleetName      = "fleet"         // a dozen machines, each with a story of its own
	ThousandName   = "fleet-of-1000" // 125 machines of 8 GPUs
	thousandHosts  = 125
	thousandStory  = "eight"
	thousandBehind = 311.0 // seconds between the stories of two machines
)

// Fleets names the fleets that NewFleet takes, the usual one first.
func Fleets() []Scenario {
	return []Scenario{
		{FleetName, "12 machines: trainings, servers, a leak, a failure; one is late, one lost, one comes back"},
		{ThousandName, "125 machines of 8 H100 each"},
	}
}

// IsFleet says whether the scenario of that name is one of several machines.
func IsFleet(name string) bool {
	return slices.ContainsFunc(Fleets(), func(s Scenario) bool { return s.Name == name })
}

// cast is one machine of a fleet: which story it plays, how long that has gone on, and when it does not answer.
type cast struct {
	host, story string
	ago         float64 // seconds by which its story began earlier than the others
	via         string  // "nvpeak" when empty
	lacks       string  // what its figures lack
	away        absence
}

// absence is when nothing comes from a machine, in seconds after the screen has opened, again and again.
type absence struct {
	state       fleet.State // empty: it always answers
	reason      string
	from, last  float64
	every       float64 // 0: once
	retrySecond float64 // from try to try
}

// at says since when nothing has come, or has come again: a time after the opening. Before its first absence it is -Inf.
func (a *absence) at(t float64) (away bool, since float64) {
	if a.state == "" || t < a.from {
		return false, math.Inf(-1)
	}
	from := a.from
	if a.every > 0 {
		from += math.Floor((t-a.from)/a.every) * a.every
	}
	if t < from+a.last {
		return true, from
	}
	return false, from + a.last
}

var fleetCast = []cast{
	{host: "h100-01", story: "eight"},
	{host: "h100-02", story: "eight", ago: 613},
	{host: "h100-03", story: "eight", ago: 1741, away: absence{state: fleet.Late, reason: "no figures for 9 s", from: -9, last: 31, every: 150}},
	{host: "a100-01", story: "neighbour"},
	{host: "a100-02", story: "prealloc"},
	{host: "a100-03", story: "neighbour", ago: 7311, away: absence{state: fleet.Lost, reason: "ssh: connect to host a100-03 port 22: No route to host", from: -134, last: math.Inf(1), retrySecond: 30}},
	{host: "l40s-01", story: "leak", ago: 240},
	{host: "l40s-02", story: "fragmentation", via: "nvidia-smi", lacks: "by nvidia-smi: peaks between two readings are missed"},
	{host: "l40s-03", story: "leak", ago: 40, away: absence{state: fleet.Lost, reason: "ssh: connection reset", from: -51, last: 68, every: 300, retrySecond: 15}},
	{host: "render-01", story: "training"},
	{host: "render-02", story: "training", ago: 402},
	{host: "desk-dan", story: "oom"},
}

func thousand() (list []cast) {
	for i := range thousandHosts {
		list = append(list, cast{host: fmt.Sprintf("node%03d", i+1), story: thousandStory, ago: float64(i) * thousandBehind})
	}
	list[41].away = absence{state: fleet.Lost, reason: "ssh: connect to host node042 port 22: Connection timed out", from: -47, last: math.Inf(1), retrySecond: 60}
	list[116].away = absence{state: fleet.Late, reason: "no figures for 12 s", from: -12, last: 40, every: 240}
	return list
}

// Fleet plays several machines at once, a second at a time. It is for one goroutine.
type Fleet struct {
	now      func() time.Time
	opened   time.Time
	at       time.Time // the second that was played last
	machines []*machine
}

var _ fleet.Stream = (*Fleet)(nil)

type machine struct {
	cast
	clock *sampler.ScriptClock
	loop  *sampler.Loop
	seen  *fleet.Host
	heard time.Time
}

// A fleet is played by the second, and its memory read ten times in one; that of 1,000 GPUs, as often as the figures are shown.
const (
	fleetInterval = time.Second
	fleetReading  = 100 * time.Millisecond
	fleetPast     = 5 * time.Minute
	thousandPast  = time.Minute
)

// NewFleet makes the fleet of that name, which is one of Fleets, or the usual one. Its story has gone on for some minutes
// at the time that now tells, in UTC or any other zone; nothing is played yet.
func NewFleet(name string, now func() time.Time) (*Fleet, error) {
	list, past, reading := fleetCast, fleetPast, fleetReading
	if name == ThousandName {
		list, past, reading = thousand(), thousandPast, fleetInterval
	}
	opened := now().Truncate(fleetInterval)
	f := &Fleet{now: now, opened: opened, at: opened.Add(-past)}
	for _, c := range list {
		m := &machine{cast: c, clock: sampler.NewScriptClock(f.at.Add(-time.Duration(c.ago * float64(time.Second))))}
		src, err := New(c.story, m.clock)
		if err != nil {
			return nil, err
		}
		src.host = c.host
		m.clock.Set(f.at)
		m.loop = sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: m.clock, Asking: src.Asking(), Interval: fleetInterval, PeakInterval: reading})
		if err := m.loop.Connect(context.Background()); err != nil {
			return nil, err
		}
		f.machines = append(f.machines, m)
	}
	return f, nil
}

// Interval is a second.
func (f *Fleet) Interval() time.Duration { return fleetInterval }

// Next waits until the next second is over and plays up to it; at first it plays the past, and does not wait.
func (f *Fleet) Next(ctx context.Context) (fleet.Update, error) {
	to := f.opened
	if !f.at.Before(f.opened) {
		to = f.at.Add(fleetInterval)
		if now := f.now(); now.Sub(to) > fleetInterval { // nobody has looked for a while
			to = now.Truncate(fleetInterval)
		}
	}
	if wait := to.Sub(f.now()); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return fleet.Update{}, ctx.Err()
		case <-timer.C:
		}
	}
	return f.Play(to), ctx.Err()
}

// Play plays up to a time, and returns what has come of it.
func (f *Fleet) Play(to time.Time) (u fleet.Update) {
	hosts, changed := make([]*fleet.Host, len(f.machines)), f.machines[0].seen == nil
	for i, m := range f.machines {
		u.Snapshots = append(u.Snapshots, m.play(f.at, to, f.opened)...)
		host := m.stands(to, f.opened)
		changed = changed || host != m.seen
		m.seen, hosts[i] = host, host
	}
	f.at = to
	if changed {
		u.Hosts = hosts
	}
	return u
}

// play returns the snapshots of a machine that have come.
func (m *machine) play(from, to, opened time.Time) (came []*sampler.Snapshot) {
	if !to.After(from) {
		return nil
	}
	m.loop.Simulate(m.clock, to.Sub(from))
	all, _ := m.loop.Next(context.Background()) //nolint:errcheck // there is one: a second is over
	for _, s := range all {
		if away, _ := m.away.at(s.Time.Sub(opened).Seconds()); !away {
			came, m.heard = append(came, s), s.Time
		}
	}
	return came
}

// stands is how the machine stands at a time; the same pointer while that is the same.
func (m *machine) stands(at, opened time.Time) *fleet.Host {
	h := fleet.Host{Name: m.host, Source: "demo://" + m.host, Via: m.via, State: fleet.OK, Reason: m.lacks, Heard: sampler.Some(m.heard)}
	if h.Via == "" {
		h.Via = "nvpeak"
	}
	t := at.Sub(opened).Seconds()
	away, since := m.away.at(t)
	if math.IsInf(since, 0) {
		h.Since = opened.Add(-fleetPast)
	} else {
		h.Since = opened.Add(time.Duration(since * float64(time.Second)))
	}
	if away {
		h.State, h.Reason = m.away.state, m.away.reason
		if every := m.away.retrySecond; every > 0 {
			next := since + (math.Floor((t-since)/every)+1)*every
			h.Retry = sampler.Some(opened.Add(time.Duration(next * float64(time.Second))))
		}
	}
	if w := m.seen; w != nil && w.State == h.State && w.Since.Equal(h.Since) && w.Retry == h.Retry {
		return w
	}
	return &h
}
