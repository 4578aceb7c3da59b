package player

import (
	"fmt"

	"nvpeak/sampler"
)

const (
	// maxMarks bounds the marks of each kind.
	maxMarks = 5000
	// smallPeak: a process that never held more is not worth a mark.
	smallPeak = sampler.GiB
)

// finder finds what is worth a mark.
type finder struct {
	alerts  map[string]bool // open in the snapshot before
	running map[sampler.ProcessKey]bool
	most    map[sampler.ProcessKey]sampler.Bytes
	counts  [MarkKinds]int
}

// news are the marks of a frame, peaks excepted.
func (x *finder) news(f *Frame, alerts []sampler.Alert) (found []Mark) {
	add := func(kind MarkKind, text string) {
		if x.counts[kind]++; x.counts[kind] <= maxMarks {
			found = append(found, Mark{f.Snapshot.Time, kind, text})
		}
	}
	for _, e := range f.between {
		if e.Failure != nil {
			add(MarkOOM, failureText(e.Failure))
		}
	}
	open := map[string]bool{}
	for _, a := range alerts {
		open[a.ID] = true
		if !x.alerts[a.ID] {
			add(MarkAlert, a.Text)
		}
	}
	x.alerts = open
	x.starts(f.Snapshot, add)
	return found
}

// starts finds the processes that were not there in the snapshot before.
func (x *finder) starts(s *sampler.Snapshot, add func(MarkKind, string)) {
	n, same := 0, true
	for i := range s.GPUs {
		gpu := s.GPUs[i].Key()
		for j := range s.GPUs[i].Processes {
			n++
			same = same && x.running[s.GPUs[i].Processes[j].Key(gpu)]
		}
	}
	if same && n == len(x.running) && x.running != nil {
		return
	}
	running := make(map[sampler.ProcessKey]bool, n)
	for i := range s.GPUs {
		gpu := s.GPUs[i].Key()
		for j := range s.GPUs[i].Processes {
			p := &s.GPUs[i].Processes[j]
			k := p.Key(gpu)
			running[k] = true
			if x.running != nil && !x.running[k] {
				add(MarkStart, fmt.Sprintf("%s (pid %d) started on GPU %s", nameOf(p), p.PID, s.GPUs[i].Label()))
			}
		}
	}
	x.running = running
}

func nameOf(p *sampler.Process) string {
	if p.Name == "" {
		return "a process"
	}
	return p.Name
}

// peaks finds new highs of the GPUs, as process 0, and of large processes.
func (x *finder) peaks(s *sampler.Snapshot, found func(sampler.ProcessKey, Mark)) {
	higher := func(key sampler.ProcessKey, v sampler.Bytes, text func() string) {
		if was, ok := x.most[key]; ok && v <= was || !ok && len(x.most) >= maxMarks {
			return
		}
		x.most[key] = v
		found(key, Mark{s.Time, MarkPeak, text()})
	}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		used, ok := g.Memory.Used.Value()
		if w := g.Memory.Window; w != nil && w.Readings > 0 {
			used, ok = max(used, w.Max), true
		}
		if ok && used > 0 {
			higher(sampler.ProcessKey{GPU: g.Key()}, used, func() string { return fmt.Sprintf("peak of GPU %s: %s", g.Label(), used) })
		}
		for j := range g.Processes {
			p := &g.Processes[j]
			if v := p.Memory.Or(0); v > smallPeak && len(g.Processes) > 1 {
				higher(p.Key(g.Key()), v, func() string { return fmt.Sprintf("peak of %s (pid %d) on GPU %s: %s", nameOf(p), p.PID, g.Label(), v) })
			}
		}
	}
}

func failureText(e *sampler.OOMEvent) string {
	text := "out of memory"
	if n, ok := e.Requested.Value(); ok {
		text += fmt.Sprintf(", %s requested", n)
	}
	return text
}
