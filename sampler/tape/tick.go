package tape

import (
	"reflect"
	"time"

	"nvpeak/sampler"
)

// A tick is a snapshot as what changed since the one before. Changes are written by
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

// sameShape says whether cur can be written as columns over prev.
func sameShape(prev, cur *sampler.Snapshot) bool {
	if len(prev.GPUs) != len(cur.GPUs) {
		return false
	}
	for i := range cur.GPUs {
		a, b := prev.GPUs[i].Processes, cur.GPUs[i].Processes
		if len(cur.GPUs[i].XIDs) > 0 { // seldom: no column is made for them
			return false
		}
		if len(a) != len(b) || (a == nil) != (b == nil) {
			return false
		}
	}
	return true
}

// appendTick writes what changed since the snapshot before, or returns false when that
// cannot be written as columns. at and of are in milliseconds: its time, and that of the
// complete snapshot that the ticks build on, so that nobody lays one over a wrong one when
// lines are missing.
func appendTick(b []byte, prev, s *sampler.Snapshot, now time.Time, at, of int64, o override) ([]byte, bool) {
	if !sameShape(prev, s) {
		return b, false
	}
	b = append(b, `{"type":"tick","t":`...)
	b = appendMilli(b, at)
	b = append(b, `,"of":`...)
	b = appendMilli(b, of)
	b = appendRest(b, prev, s, o)
	b = append(b, `,"gpu":{`...)
	guess := predict(prev, s, now)
	b, ok := gpuColumns().diff(b, now, gpusOf(prev), gpusOf(guess), gpusOf(s), o)
	if ok {
		b = append(b, `},"process":{`...)
		b, ok = processColumns().diff(b, now, processesOf(prev), processesOf(guess), processesOf(s), o)
	}
	return append(b, "}}\n"...), ok
}

// apart are the keys of a snapshot that a tick has in another form.
var apart = map[string]bool{"type": true, "schema": true, "time": true, "gpus": true}

// appendRest writes what changed of the snapshot itself, in the form that it has there.
func appendRest(b []byte, before, s *sampler.Snapshot, o override) []byte {
	prev, cur := reflect.ValueOf(before).Elem(), reflect.ValueOf(s).Elem()
	fields := snapshotPlan().fields
	for i := range fields {
		f := &fields[i]
		x, y := prev.FieldByIndex(f.index), cur.FieldByIndex(f.index)
		if !apart[f.key] && !f.equal(x, y) {
			b = f.encode(appendKey(append(b, ','), f.key), y, o)
		}
	}
	return b
}
