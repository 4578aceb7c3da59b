package fleet

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"sync"
	"time"

	"nvpeak/sampler"
)

// Everything that another machine says is cleaned where it comes in: texts of what a terminal would obey, numbers of what cannot be.

// plainLine says whether no text of a line of JSON can hold anything but characters that are shown. Nearly every line is one.
func plainLine(line []byte) bool {
	for i := 0; i < len(line); i++ {
		for i+8 <= len(line) && plainEight(binary.LittleEndian.Uint64(line[i:])) {
			i += 8
		}
		if i == len(line) {
			break
		}
		switch c := line[i]; {
		case c < ' ' || c >= 0x7f:
			return false
		case c == '\\':
			if i++; i == len(line) || line[i] != '"' && line[i] != '\\' && line[i] != '/' {
				return false
			}
		}
	}
	return true
}

// plainEight says of eight bytes at once whether all are shown and none is a backslash. It may say no where it is so.
func plainEight(w uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	zero := func(x uint64) uint64 { return (x - each) &^ x } // high where a byte is 0, and perhaps above one
	return (w|(w-' '*each)|(w+each)|zero(w^'\\'*each))&high == 0
}

// longest is the length of a text that Clean leaves as it is.
const longest = 4096

// needsCleaning says whether a snapshot of that line has texts to clean.
func needsCleaning(line []byte) bool {
	if !plainLine(line) {
		return true
	}
	for rest := line; len(rest) > longest; { // a text of that length has no quote within
		i := bytes.LastIndexByte(rest[:longest], '"')
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}

// cleanTexts cleans all texts of a value that v points to.
func cleanTexts(v any) { cleanValue(reflect.ValueOf(v).Elem()) }

func cleanValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); v.CanSet() {
			v.SetString(sampler.Clean(text))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cleanValue(v.Elem())
		}
	case reflect.Slice:
		if holdsText(v.Type().Elem()) {
			for i := range v.Len() {
				cleanValue(v.Index(i))
			}
		}
	case reflect.Map:
		cleanMap(v)
	case reflect.Struct:
		if o, ok := v.Addr().Interface().(*sampler.Opt[string]); ok {
			if text, known := o.Value(); known {
				*o = sampler.Some(sampler.Clean(text))
			}
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && holdsText(f.Type()) {
				cleanValue(f)
			}
		}
	}
}

func cleanMap(v reflect.Value) {
	old, ok := v.Interface().(map[string]string)
	if !ok || old == nil {
		return
	}
	fresh := make(map[string]string, len(old))
	for k, text := range old {
		fresh[sampler.Clean(k)] = sampler.Clean(text)
	}
	v.Set(reflect.ValueOf(fresh))
}

var textual sync.Map // reflect.Type → bool

// holdsText says whether a type, which does not hold itself, has texts in it.
func holdsText(t reflect.Type) bool {
	if known, ok := textual.Load(t); ok {
		return known.(bool)
	}
	found := t.Kind() == reflect.String || t == reflect.TypeFor[sampler.Opt[string]]()
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		found = holdsText(t.Elem())
	case reflect.Map:
		found = t == reflect.TypeFor[map[string]string]()
	case reflect.Struct:
		for i := range t.NumField() {
			found = found || t.Field(i).IsExported() && holdsText(t.Field(i).Type)
		}
	}
	textual.Store(t, found)
	return found
}

// mostIndex is more than the GPUs of any machine.
const mostIndex = 1 << 16

// possible takes out of a snapshot what cannot be: GPUs and processes that are listed twice, and numbers out of all bounds.
func possible(s *sampler.Snapshot) {
	gpus := s.GPUs[:0]
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if g.Index < 0 || g.Index > mostIndex || has(gpus, g.Key()) {
			continue
		}
		g.Host = ""
		possibleFigures(g)
		gpus = append(gpus, *g)
	}
	s.GPUs = gpus
}

func has(list []sampler.GPU, key sampler.GPUKey) bool {
	for i := range list {
		if list[i].Key() == key {
			return true
		}
	}
	return false
}

// mostTotal is more memory than a GPU will have for long.
const mostTotal = 16 * sampler.TiB

func possibleFigures(g *sampler.GPU) {
	m := &g.Memory
	if t, ok := m.Total.Value(); ok && (t == 0 || t > mostTotal) {
		*m = sampler.Memory{}
	}
	total, known := m.Total.Value()
	plausible := func(b sampler.Bytes) bool { return b <= mostTotal && (!known || b <= total) }
	for _, o := range []*sampler.Opt[sampler.Bytes]{&m.Used, &m.Free, &m.Reserved, &m.Unattributed, &m.WorstFree} {
		if b, ok := o.Value(); ok && !plausible(b) {
			*o = sampler.Opt[sampler.Bytes]{}
		}
	}
	if m.Peak != nil && !plausible(m.Peak.Bytes) {
		m.Peak = nil
	}
	if w := m.Window; w != nil {
		if w.Min > w.Max || !plausible(w.Max) || w.Readings < 0 || w.Missed < 0 {
			m.Window = nil
		} else {
			possibleWindow(w, plausible)
		}
	}
	for _, o := range []*sampler.Opt[int]{&g.Utilization.GPU, &g.Utilization.Memory, &g.Utilization.Encoder, &g.Utilization.Decoder, &g.Fan} {
		within(o, 0, 1000)
	}
	within(&g.Temperature, -300, 1000)
	within(&g.Clocks.SM, 0, 100_000)
	within(&g.Clocks.Memory, 0, 100_000)
	within(&g.PCIe.Generation, 0, 100)
	within(&g.PCIe.Width, 0, 1000)
	withinWatts(&g.Power)
	withinWatts(&g.PowerLimit)
	procs, seen := g.Processes[:0], map[int]bool(nil)
	if len(g.Processes) > 1 {
		seen = make(map[int]bool, len(g.Processes))
	}
	for _, p := range g.Processes {
		if p.PID < 0 || seen[p.PID] {
			continue
		}
		if seen != nil {
			seen[p.PID] = true
		}
		within(&p.SM, 0, 1000)
		if b, ok := p.Memory.Value(); ok && !plausible(b) {
			p.Memory = sampler.Opt[sampler.Bytes]{}
		}
		if p.Peak != nil && !plausible(p.Peak.Bytes) {
			p.Peak = nil
		}
		procs = append(procs, p)
	}
	g.Processes = procs
}

func possibleWindow(w *sampler.Window, plausible func(sampler.Bytes) bool) {
	for _, o := range []*sampler.Opt[sampler.Bytes]{&w.DeepestFall, &w.Rise} {
		if b, ok := o.Value(); ok && !plausible(b) {
			*o = sampler.Opt[sampler.Bytes]{}
		}
	}
	within(&w.Falls, 0, 1e9)
	within(&w.LimitFalls, 0, 1e9)
}

func within(o *sampler.Opt[int], low, high int) {
	if n, ok := o.Value(); ok && (n < low || n > high) {
		*o = sampler.Opt[int]{}
	}
}

func withinWatts(o *sampler.Opt[float64]) {
	if w, ok := o.Value(); ok && !(w >= 0 && w < 1e5) {
		*o = sampler.Opt[float64]{}
	}
}

// here gives a snapshot times of the clock here, where that of its host is ahead by d.
func here(s *sampler.Snapshot, d time.Duration) {
	back := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return t.Add(-d)
	}
	s.Retime(back, back)
	for i := range s.Requests {
		s.Requests[i].Time = back(s.Requests[i].Time)
	}
	requests := func(list []sampler.Process) {
		for n := range list {
			r := list[n].Requests
			if r == nil {
				continue
			}
			if r.LargestTime, r.ExitTime = back(r.LargestTime), back(r.ExitTime); r.Refusal != nil {
				r.Refusal.Time = back(r.Refusal.Time)
			}
		}
	}
	for i := range s.GPUs {
		requests(s.GPUs[i].Processes)
	}
	requests(s.Unplaced)
}
