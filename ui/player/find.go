package player

import (
	"nvpeak/advice/lang"
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
	words   lang.Catalog
	alerts  map[string]bool // open in the snapshot before
	running map[sampler.ProcessKey]bool
	most    map[sampler.ProcessKey]sampler.Bytes
	began   bool // a snapshot was seen
	counts  [MarkKinds]int
}

// news are the marks of a frame, peaks excepted.
func (x *finder) news(f *Frame, alerts []sampler.Alert) (found []Mark) {
	add := func(kind MarkKind, text string) {
		if x.counts[kind]++; x.counts[kind] <= maxMarks {
			found = append(found, Mark{f.Snapshot.Time, kind, sampler.Clean(text)})
		}
	}
	for _, e := range f.between {
		if e.Failure != nil {
			add(MarkOOM, x.failureText(e.Failure))
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
				add(MarkStart, x.words.Say("player.started", "name", x.nameOf(p), "pid", p.PID, "gpu", s.GPUs[i].Label()))
			}
		}
	}
	x.running = running
}

func (x *finder) nameOf(p *sampler.Process) string {
	if p.Name == "" {
		return x.words.Say("player.process")
	}
	return p.Name
}

// peaks finds new highs of the GPUs, as process 0, and of large processes. What the recording begins with
// is none: nothing rose to it.
func (x *finder) peaks(s *sampler.Snapshot, found func(sampler.ProcessKey, Mark)) {
	higher := func(key sampler.ProcessKey, v sampler.Bytes, text func() string) {
		if was, ok := x.most[key]; ok && v <= was || !ok && len(x.most) >= maxMarks {
			return
		}
		x.most[key] = v
		if !x.began {
			return
		}
		found(key, Mark{s.Time, MarkPeak, sampler.Clean(text())})
	}
	defer func() { x.began = true }()
	for i := range s.GPUs {
		g := &s.GPUs[i]
		used, ok := g.Memory.Used.Value()
		if w := g.Memory.Window; w != nil && w.Readings > 0 {
			used, ok = max(used, w.Max), true
		}
		if ok && used > 0 {
			higher(sampler.ProcessKey{GPU: g.Key()}, used, func() string { return x.words.Say("player.peak_gpu", "gpu", g.Label(), "size", used) })
		}
		for j := range g.Processes {
			p := &g.Processes[j]
			if v := p.Memory.Or(0); v > smallPeak && len(g.Processes) > 1 {
				higher(p.Key(g.Key()), v, func() string {
					return x.words.Say("player.peak_process", "name", x.nameOf(p), "pid", p.PID, "gpu", g.Label(), "size", v)
				})
			}
		}
	}
}

func (x *finder) failureText(e *sampler.OOMEvent) string {
	if n, ok := e.Requested.Value(); ok {
		return x.words.Say("player.oom_requested", "size", n)
	}
	return x.words.Say("player.oom")
}
