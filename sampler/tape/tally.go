package tape

import (
	"sort"
	"time"

	"nvpeak/sampler"
)

// tally counts what was recorded and keeps the peaks for the end line.
type tally struct {
	snapshots, readings, lost int
	first                     time.Time
	gpus                      map[int]*DevicePeak
	procs                     map[procKey]*ProcessPeak
}

type procKey struct {
	gpu, pid int
	start    time.Time
}

// maxPeaks bounds the processes in an end line: the largest are kept.
const maxPeaks = 1000

func (t *tally) reading(device int, at time.Time, used sampler.Bytes) {
	t.readings++
	t.peak(device, "", sampler.Peak{Bytes: used, Time: toMilli(at), Source: sampler.PeakSampled})
}

func (t *tally) peak(device int, uuid string, p sampler.Peak) {
	if t.gpus == nil {
		t.gpus = map[int]*DevicePeak{}
	}
	d := t.gpus[device]
	if d == nil {
		d = &DevicePeak{GPU: device}
		t.gpus[device] = d
	}
	if uuid != "" {
		d.UUID = uuid
	}
	if p.Bytes > d.Peak.Bytes || d.Peak.Source == "" {
		d.Peak = p
	}
}

func (t *tally) snapshot(s *sampler.Snapshot) {
	t.snapshots++
	if t.first.IsZero() {
		t.first = toMilli(s.Time)
		t.procs = map[procKey]*ProcessPeak{}
	}
	for i := range s.GPUs {
		m := &s.GPUs[i].Memory
		if used, ok := m.Used.Value(); ok {
			t.peak(i, s.GPUs[i].UUID, sampler.Peak{Bytes: used, Time: toMilli(s.Time), Source: sampler.PeakSampled})
		}
		if p := m.Peak; p != nil {
			t.peak(i, s.GPUs[i].UUID, sampler.Peak{Bytes: p.Bytes, Time: toMilli(p.Time), Source: p.Source})
		}
		for j := range s.GPUs[i].Processes {
			t.process(i, s.Time, &s.GPUs[i].Processes[j])
		}
	}
}

func (t *tally) process(gpu int, at time.Time, p *sampler.Process) {
	best := p.Peak
	if used, ok := p.Memory.Value(); ok && (best == nil || used > best.Bytes) {
		best = &sampler.Peak{Bytes: used, Time: at, Source: sampler.PeakSampled}
	}
	if best == nil {
		return
	}
	key := procKey{gpu, p.PID, toMilli(p.StartTime.Or(time.Time{}))}
	entry := t.procs[key]
	if entry == nil {
		if len(t.procs) >= 4*maxPeaks {
			t.prune()
		}
		entry = &ProcessPeak{GPU: gpu, PID: p.PID, Name: p.Name}
		if start, ok := p.StartTime.Value(); ok {
			entry.Start = sampler.Some(toMilli(start))
		}
		t.procs[key] = entry
	}
	if best.Bytes > entry.Peak.Bytes || entry.Peak.Source == "" {
		entry.Peak = sampler.Peak{Bytes: best.Bytes, Time: toMilli(best.Time), Source: best.Source}
	}
}

func (t *tally) largest() []ProcessPeak {
	list := make([]ProcessPeak, 0, len(t.procs))
	for _, p := range t.procs {
		list = append(list, *p)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		if a.Peak.Bytes != b.Peak.Bytes {
			return a.Peak.Bytes > b.Peak.Bytes
		}
		if a.PID != b.PID {
			return a.PID < b.PID
		}
		if a.GPU != b.GPU {
			return a.GPU < b.GPU
		}
		return a.Start.Or(time.Time{}).Before(b.Start.Or(time.Time{}))
	})
	return list[:min(len(list), maxPeaks)]
}

func (t *tally) prune() {
	kept := map[procKey]*ProcessPeak{}
	for _, p := range t.largest() {
		kept[procKey{p.GPU, p.PID, p.Start.Or(time.Time{})}] = &p
	}
	t.procs = kept
}

// end is the last line of a recording, or of a part.
func (w *Writer) end(now time.Time, reason string) End {
	e := w.tally.end(now, reason)
	e.Time = now.Add(w.ahead)
	for i := range e.Peaks {
		e.Peaks[i].Peak.Time = e.Peaks[i].Peak.Time.Add(w.ahead)
	}
	for i := range e.Processes {
		p := &e.Processes[i]
		p.Peak.Time = p.Peak.Time.Add(w.ahead)
		if start, ok := p.Start.Value(); ok {
			p.Start = sampler.Some(start.Add(w.ahead))
		}
	}
	return e
}

func (t *tally) end(now time.Time, reason string) End {
	e := End{Type: "end", Time: now, Reason: reason, Duration: now.Sub(t.first).Seconds(), Snapshots: t.snapshots,
		Readings: t.readings, Lost: t.lost, Peaks: []DevicePeak{}, Processes: t.largest()}
	for _, p := range t.gpus {
		e.Peaks = append(e.Peaks, *p)
	}
	sort.Slice(e.Peaks, func(i, j int) bool { return e.Peaks[i].GPU < e.Peaks[j].GPU })
	return e
}
