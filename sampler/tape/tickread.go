package tape

import (
	"reflect"
	"slices"
	"time"

	"nvpeak/sampler"
)

// tickReader reads ticks. It keeps the room of the last one.
type tickReader struct {
	gpu, process []span
	before, cur  []reflect.Value
	meter        meter // of the line
}

// read makes the snapshot that a tick stands for, out of the one before.
func (r *tickReader) read(prev *sampler.Snapshot, base time.Time, b []byte) (next *sampler.Snapshot, of time.Time, err error) {
	if prev == nil {
		return nil, of, errOutOfStep
	}
	s := scanner{b: b}
	c := *prev
	next = &c
	c.Time = time.Time{}
	gpu, process := r.gpu[:0], r.process[:0]
	s.open('{')
	for first := true; ; first = false {
		key, ok := s.key(first)
		if !ok {
			break
		}
		switch string(key) {
		case "t":
			next.Time, _ = timeAfter(base, s.value())
		case "of":
			of, _ = timeAfter(base, s.value())
		case "gpu":
			gpu = gpuColumns().spans(&s, gpu)
		case "process":
			process = processColumns().spans(&s, process)
		case "type", "schema", "time", "gpus":
			s.skip()
		default:
			if i, ok := snapshotPlan().byKey[string(key)]; ok {
				f := &snapshotPlan().fields[i]
				f.decode(&s, reflect.ValueOf(next).Elem().FieldByIndex(f.index))
			} else {
				s.skip()
			}
		}
	}
	r.gpu, r.process, r.meter = gpu, process, s.meter
	if !s.end() || next.Time.IsZero() || of.IsZero() {
		return nil, of, errLine
	}
	next.GPUs = append(make([]sampler.GPU, 0, len(next.GPUs)), next.GPUs...)
	for i := range next.GPUs {
		next.GPUs[i].XIDs = nil // those were of the snapshot before
	}
	if err = r.patchGPUs(gpu, prev, next); err == nil {
		err = r.patchProcesses(process, prev, next)
	}
	return next, of, err
}

func (r *tickReader) patchGPUs(list []span, prev, next *sampler.Snapshot) error {
	before, cur := gpusOf(prev, r.before[:0]...), gpusOf(next, r.cur[:0]...)
	r.before, r.cur = before, cur
	if err := patch(list, &r.meter, stageGiven, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		predictWindow(&next.GPUs[i], &prev.GPUs[i])
	}
	if err := patch(list, &r.meter, stageWindow, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		predictRest(&next.GPUs[i], &prev.GPUs[i])
	}
	return patch(list, &r.meter, stageDerived, next.Time, before, cur)
}

func (r *tickReader) patchProcesses(list []span, prev, next *sampler.Snapshot) error {
	for i := range next.GPUs {
		next.GPUs[i].Processes = slices.Clone(next.GPUs[i].Processes)
	}
	before, cur := processesOf(prev, r.before[:0]...), processesOf(next, r.cur[:0]...)
	r.before, r.cur = before, cur
	for i := range next.GPUs {
		predictOnly(&next.GPUs[i], &prev.GPUs[i])
	}
	if err := patch(list, &r.meter, stageWindow, next.Time, before, cur); err != nil {
		return err
	}
	for i := range next.GPUs {
		for n := range next.GPUs[i].Processes {
			predictPeak(&next.GPUs[i].Processes[n], &prev.GPUs[i].Processes[n], next.Time)
		}
	}
	return patch(list, &r.meter, stageDerived, next.Time, before, cur)
}
