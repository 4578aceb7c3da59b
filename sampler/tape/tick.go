package tape

import (
	"reflect"
	"time"

	"nvpeak/sampler"
)

// A tick is a snapshot told by what changed since the one before. Changes are told by
// column, over all GPUs or all processes in order: `"power_watts":[412,398]`. That takes
// a third of the room of one object per GPU, because a compressor meets every key once.

// gpusOf and processesOf add the elements of the columns to a list.
func gpusOf(s *sampler.Snapshot, list ...reflect.Value) []reflect.Value {
	for i := range s.GPUs {
		list = append(list, reflect.ValueOf(&s.GPUs[i]).Elem())
	}
	return list
}

func processesOf(s *sampler.Snapshot, list ...reflect.Value) []reflect.Value {
	for i := range s.GPUs {
		for j := range s.GPUs[i].Processes {
			list = append(list, reflect.ValueOf(&s.GPUs[i].Processes[j]).Elem())
		}
	}
	return list
}

// sameShape says whether cur can be told by columns over prev.
func sameShape(prev, cur *sampler.Snapshot) bool {
	if len(prev.GPUs) != len(cur.GPUs) {
		return false
	}
	for i := range cur.GPUs {
		a, b := prev.GPUs[i].Processes, cur.GPUs[i].Processes
		if len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
	}
	return true
}

// tick writes what changed since the snapshot before, or returns false when that cannot
// be told by columns. "of" names the complete snapshot that the ticks build on, so that
// nobody lays one over a wrong one when lines are missing.
func (w *Writer) tick(s *sampler.Snapshot, now time.Time) bool {
	if !sameShape(w.prev, s) {
		return false
	}
	w.lane.close(&w.buf)
	start := len(w.buf)
	b := append(w.buf, `{"type":"tick","t":`...)
	b = appendMilli(b, w.seconds(now))
	b = append(b, `,"of":`...)
	b = appendMilli(b, w.seconds(w.full))
	b = w.rest(b, s)
	b = append(b, `,"gpu":{`...)
	guess := foresee(w.prev, s, now)
	b, ok := gpuColumns.diff(b, now, gpusOf(w.prev), gpusOf(guess), gpusOf(s), w.fields)
	if procs := processesOf(s); ok {
		b = append(b, `},"process":{`...)
		b, ok = processColumns.diff(b, now, processesOf(w.prev), processesOf(guess), procs, w.fields)
	}
	w.buf = append(b, "}}\n"...)
	if !ok {
		w.buf = w.buf[:start]
	}
	return ok
}

// foresee makes what a reader would believe cur to be, knowing prev and what is given.
func foresee(prev, cur *sampler.Snapshot, now time.Time) *sampler.Snapshot {
	guess := &sampler.Snapshot{GPUs: append([]sampler.GPU(nil), prev.GPUs...)}
	for i := range guess.GPUs {
		g, was, is := &guess.GPUs[i], &prev.GPUs[i], &cur.GPUs[i]
		g.Memory.Total, g.Memory.Reserved, g.Memory.Used = is.Memory.Total, is.Memory.Reserved, is.Memory.Used
		foreseeWindow(g, was)
		window := g.Memory.Window
		g.Memory.Window = is.Memory.Window
		foreseeRest(g, was)
		g.Memory.Window = window
		g.Processes = append([]sampler.Process(nil), was.Processes...)
		for n := range g.Processes {
			g.Processes[n].Memory = is.Processes[n].Memory
			foreseePeak(&g.Processes[n], &was.Processes[n], now)
			g.Processes[n].Memory = was.Processes[n].Memory
		}
		foreseeOnly(g, was)
	}
	return guess
}

// apart are the keys of a snapshot that a tick has in another form.
var apart = map[string]bool{"type": true, "schema": true, "time": true, "gpus": true}

// rest writes what changed of the snapshot itself, in the form that it has there.
func (w *Writer) rest(b []byte, s *sampler.Snapshot) []byte {
	prev, cur := reflect.ValueOf(w.prev).Elem(), reflect.ValueOf(s).Elem()
	for i := range snapshotPlan.fields {
		f := &snapshotPlan.fields[i]
		x, y := prev.FieldByIndex(f.index), cur.FieldByIndex(f.index)
		if !apart[f.key] && !f.equal(x, y) {
			b = f.encode(appendKey(append(b, ','), f.key), y, w.fields)
		}
	}
	return b
}

// readTick makes the snapshot that a tick tells of, out of the one before.
func readTick(j *jsonLines, b []byte) (next *sampler.Snapshot, of time.Time, err error) {
	if j.state == nil {
		return nil, of, errOutOfStep
	}
	s := scanner{b: b}
	c := *j.state
	next = &c
	c.Time = time.Time{}
	gpu, process := j.gpu[:0], j.process[:0]
	s.open('{')
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			break
		}
		switch string(key) {
		case "t":
			next.Time, _ = j.seconds(s.value())
		case "of":
			of, _ = j.seconds(s.value())
		case "gpu":
			gpu = gpuColumns.spans(&s, gpu)
		case "process":
			process = processColumns.spans(&s, process)
		case "type", "schema", "time", "gpus":
			s.skip()
		default:
			if i, ok := snapshotPlan.byKey[string(key)]; ok {
				f := &snapshotPlan.fields[i]
				f.decode(&s, reflect.ValueOf(next).Elem().FieldByIndex(f.index))
			} else {
				s.skip()
			}
		}
	}
	j.gpu, j.process = gpu, process
	if !s.end() || next.Time.IsZero() || of.IsZero() {
		return nil, of, errLine
	}
	next.GPUs = append(make([]sampler.GPU, 0, len(next.GPUs)), next.GPUs...)
	if err = j.patchGPUs(gpu, next); err == nil {
		err = j.patchProcesses(process, next)
	}
	return next, of, err
}

func (j *jsonLines) patchGPUs(list []span, next *sampler.Snapshot) error {
	before, cur := gpusOf(j.state, j.before[:0]...), gpusOf(next, j.cur[:0]...)
	j.before, j.cur = before, cur
	if err := patch(list, stageGiven, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		foreseeWindow(&next.GPUs[i], &j.state.GPUs[i])
	}
	if err := patch(list, stageWindow, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		foreseeRest(&next.GPUs[i], &j.state.GPUs[i])
	}
	return patch(list, stageDerived, next.Time, before, cur)
}

func (j *jsonLines) patchProcesses(list []span, next *sampler.Snapshot) error {
	for i := range next.GPUs {
		if p := next.GPUs[i].Processes; len(p) > 0 {
			next.GPUs[i].Processes = append([]sampler.Process(nil), p...)
		}
	}
	before, cur := processesOf(j.state, j.before[:0]...), processesOf(next, j.cur[:0]...)
	j.before, j.cur = before, cur
	for i := range next.GPUs {
		foreseeOnly(&next.GPUs[i], &j.state.GPUs[i])
	}
	if err := patch(list, stageWindow, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		for n := range next.GPUs[i].Processes {
			foreseePeak(&next.GPUs[i].Processes[n], &j.state.GPUs[i].Processes[n], next.Time)
		}
	}
	return patch(list, stageDerived, next.Time, before, cur)
}
