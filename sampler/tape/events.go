package tape

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// eventsBetween are what happened between two snapshots; prev is nil where there is none.
func eventsBetween(prev, s *sampler.Snapshot, now time.Time) (list []Event) {
	if prev == nil || !sameDevices(prev, s) {
		for i := range s.GPUs {
			list = append(list, errorsOf(i, s.GPUs[i].XIDs, now)...)
		}
		return list
	}
	for i := range s.GPUs {
		a, b := &prev.GPUs[i], &s.GPUs[i]
		gpu := sampler.Some(i)
		switch was, is := a.Silent(), b.Silent(); {
		case is && !was:
			list = append(list, Event{Time: now, Kind: KindGPULost, GPU: gpu, Text: b.Error.Or("")})
		case was && !is:
			list = append(list, Event{Time: now, Kind: KindGPUBack, GPU: gpu})
		}
		list = append(list, errorsOf(i, b.XIDsSince(a.NewestXID()), now)...)
		// A list that goes or comes with an error is no process that does.
		if !listGone(a) && !listGone(b) {
			list = append(list, comings(now, gpu, a.Processes, b.Processes)...)
		}
	}
	return list
}

// errorsOf are the events of errors that the driver has reported of a GPU.
func errorsOf(gpu int, xids []sampler.XID, now time.Time) (list []Event) {
	for _, x := range xids {
		list = append(list, Event{Time: x.Time.Or(now), Kind: KindXID, GPU: sampler.Some(gpu), XID: sampler.Some(x.Code)})
	}
	return list
}

// listGone says whether an error has taken the process list of a GPU.
func listGone(g *sampler.GPU) bool { return g.Error.Known() && len(g.Processes) == 0 }

// clockSet is the event of a time of day that was set while everything else went on.
func clockSet(now time.Time, by time.Duration) Event {
	e := Event{Time: now, Kind: KindForwards, Dur: sampler.Some(by.Abs().Seconds())}
	if by < 0 {
		e.Kind = KindBackwards
	}
	return e
}

// alertsByWall is the snapshot with alerts as they are written: with the time of day.
func alertsByWall(s *sampler.Snapshot) *sampler.Snapshot {
	c := *s
	c.Alerts = slices.Clone(s.Alerts)
	for i := range c.Alerts {
		c.Alerts[i].Time = c.Alerts[i].Time.Add(s.Ahead())
	}
	return &c
}

// comings are the processes that came and went on one GPU.
func comings(now time.Time, gpu sampler.Opt[int], before, after []sampler.Process) (list []Event) {
	id := func(p *sampler.Process) procKey { return procKey{0, p.PID, toMilli(p.StartTime.Or(time.Time{}))} }
	if slices.EqualFunc(before, after, func(a, b sampler.Process) bool { return id(&a) == id(&b) }) {
		return nil
	}
	report := func(kind string, some, other []sampler.Process) {
		known := map[procKey]bool{}
		for i := range other {
			known[id(&other[i])] = true
		}
		for i := range some {
			if !known[id(&some[i])] {
				list = append(list, Event{Time: now, Kind: kind, GPU: gpu, PID: sampler.Some(some[i].PID), Text: some[i].Name})
			}
		}
	}
	report(KindProcessEnd, before, after)
	report(KindProcessStart, after, before)
	return list
}

// sameDevices says whether the header of a is still true of b.
func sameDevices(a, b *sampler.Snapshot) bool {
	if a == nil {
		return true // lines were lost: the header was not
	}
	if len(a.GPUs) != len(b.GPUs) {
		return false
	}
	for i := range a.GPUs {
		if a.GPUs[i].Key() != b.GPUs[i].Key() {
			return false
		}
	}
	return true
}
