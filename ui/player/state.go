package player

import (
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// State is the folds after a snapshot.
type State struct {
	Snapshot *sampler.Snapshot
	Alerts   []sampler.Alert
	Watch    *watch.Watch
	marks    *sampler.Watermarks
}

// newState is the state before the first snapshot.
func newState(o Options) State {
	return State{Watch: watch.New(watch.Options{Need: o.Need, Lang: o.Lang, Levels: o.Levels}), marks: sampler.NewWatermarks()}
}

func (s *State) fold(f *Frame) { s.Alerts, s.Snapshot = f.Fold(s.Watch), f.Snapshot }

func (s *State) clone() State {
	return State{s.Snapshot, s.Alerts, s.Watch.Clone(), s.marks.Clone()}
}

// weight is about how many bytes a kept state takes.
func (s *State) weight() int { return seriesWeight * (2 + s.Watch.Holders()) }

// time is where to read on from.
func (s *State) time(start time.Time) time.Time {
	if s.Snapshot == nil {
		return start
	}
	return s.Snapshot.Time
}

const (
	// stateEvery is the number of snapshots between two kept states: what a seek folds
	// again at most. 300 take 20 ms with 8 GPUs.
	stateEvery = 300
	// maxStates bounds the memory of states: a day of seconds has 288. Beyond it every
	// second one is dropped.
	maxStates = 600
	// seriesWeight is the memory of one series of a Watch, and statesRoom that of all states.
	seriesWeight = 5 << 10
	statesRoom   = 64 << 20
)

// states are those that are kept, in the order of time.
type states struct {
	list   []State
	weight int // of all
	every  int // snapshots between two
	since  int // snapshots since the last one
}

// due counts a snapshot and says whether its state should be kept.
func (k *states) due() bool {
	if k.since++; k.since < k.every {
		return false
	}
	k.since = 0
	return true
}

// keep adds a state; while the clock of the recording is set back none is kept.
func (k *states) keep(s State) {
	if n := len(k.list); n > 0 && !s.Snapshot.Time.After(k.list[n-1].Snapshot.Time) {
		return
	}
	k.list = append(k.list, s)
	if k.weight += s.weight(); len(k.list) > maxStates || k.weight > statesRoom && len(k.list) > 2 {
		half := len(k.list) / 2
		for i := range half {
			k.list[i] = k.list[2*i+1]
		}
		clear(k.list[half:])
		k.list = k.list[:half]
		k.every *= 2
		k.weight = 0
		for i := range k.list {
			k.weight += k.list[i].weight()
		}
	}
}

// before is a copy of the last state at or before t.
func (k *states) before(t time.Time) (s State, ok bool) {
	for i := len(k.list) - 1; i >= 0; i-- {
		if !k.list[i].Snapshot.Time.After(t) {
			return k.list[i].clone(), true
		}
	}
	return State{}, false
}
