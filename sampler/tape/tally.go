package tape

import (
	"sort"
	"strconv"
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

func (w *Writer) end(now time.Time, reason string) {
	t := &w.tally
	e := End{Type: "end", Time: now, Reason: reason, Duration: now.Sub(t.first).Seconds(), Snapshots: t.snapshots,
		Readings: t.readings, Lost: t.lost, Peaks: []DevicePeak{}, Processes: t.largest()}
	for _, p := range t.gpus {
		e.Peaks = append(e.Peaks, *p)
	}
	sort.Slice(e.Peaks, func(i, j int) bool { return e.Peaks[i].GPU < e.Peaks[j].GPU })
	w.json(e)
}

// events writes what happened between two snapshots.
func (w *Writer) events(now time.Time, s *sampler.Snapshot) {
	if w.tally.lost > 0 && w.prev == nil && w.tally.snapshots > 0 {
		w.event(Event{Time: now, Kind: KindGap, Text: "the disk took nothing: " + strconv.Itoa(w.tally.lost) + " bytes are lost so far"})
	}
	if w.prev == nil || !sameDevices(w.prev, s) {
		return
	}
	for i := range s.GPUs {
		a, b := &w.prev.GPUs[i], &s.GPUs[i]
		gpu := sampler.Some(i)
		switch reason, bad := b.Error.Value(); {
		case bad && !a.Error.Known():
			w.event(Event{Time: now, Kind: KindGPULost, GPU: gpu, Text: reason})
		case !bad && a.Error.Known():
			w.event(Event{Time: now, Kind: KindGPUBack, GPU: gpu})
		}
		if xid, ok := b.LastXID.Value(); ok && (!b.LastXID.Equal(a.LastXID) || !b.LastXIDTime.Equal(a.LastXIDTime)) {
			w.event(Event{Time: b.LastXIDTime.Or(now), Kind: KindXID, GPU: gpu, XID: sampler.Some(xid)})
		}
		if a.Error.Known() == b.Error.Known() {
			w.comings(now, gpu, a.Processes, b.Processes)
		}
	}
}

// comings writes the processes that came and went on one GPU.
func (w *Writer) comings(now time.Time, gpu sampler.Opt[int], before, after []sampler.Process) {
	id := func(p *sampler.Process) procKey { return procKey{0, p.PID, toMilli(p.StartTime.Or(time.Time{}))} }
	same := len(before) == len(after)
	for i := 0; same && i < len(after); i++ {
		same = id(&before[i]) == id(&after[i])
	}
	if same {
		return
	}
	report := func(kind string, list, other []sampler.Process) {
		known := map[procKey]bool{}
		for i := range other {
			known[id(&other[i])] = true
		}
		for i := range list {
			if !known[id(&list[i])] {
				w.event(Event{Time: now, Kind: kind, GPU: gpu, PID: sampler.Some(list[i].PID), Text: list[i].Name})
			}
		}
	}
	report(KindProcessEnd, before, after)
	report(KindProcessStart, after, before)
}
