package ui

import (
	"fmt"
	"strings"

	"nvpeak/sampler"
)

// news are the marks of a snapshot, peaks excepted.
func (x *index) news(now *point) (found []mark) {
	add := func(m mark) {
		if x.counts[m.kind]++; x.counts[m.kind] > marksMost {
			return
		}
		m.at = now.snap.Time
		found = append(found, m)
	}
	for _, m := range x.pending {
		add(m)
	}
	x.pending = x.pending[:0]
	open := map[string]bool{}
	for _, a := range now.alerts {
		open[a.ID] = true
		if !x.alerts[a.ID] {
			add(mark{kind: markAlert, text: a.Text})
		}
	}
	x.alerts = open
	x.starts(now.snap, add)
	return found
}

// starts finds the processes that were not there in the snapshot before.
func (x *index) starts(s *sampler.Snapshot, add func(mark)) {
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
				add(mark{kind: markStart, text: fmt.Sprintf("%s (pid %d) started on GPU %s", nameOf(p), p.PID, s.GPUs[i].Label())})
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

// peaksOf keeps the highest moment of every GPU and every large process.
func (x *index) peaksOf(s *sampler.Snapshot) {
	higher := func(key sampler.ProcessKey, v sampler.Bytes, text func() string) {
		if was, ok := x.most[key]; ok && v <= was || !ok && len(x.most) >= marksMost {
			return
		}
		x.most[key] = v
		x.peaks[key], x.sorted = mark{at: s.Time, kind: markPeak, text: text()}, nil
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
	return strings.TrimSpace(text)
}
