package watch

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// A clone goes on exactly as the original would have, whatever happens to that meanwhile.
func TestClone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	w := New(Options{Need: sampler.Some(60000 * sampler.MiB)})
	second := 0
	next := func(w *Watch, second int) []sampler.Alert {
		s := box(3, 4, second)
		s.GPUs[1].Memory.Used = sampler.Some(series.Bytes(float64(20000 + 12*second)))
		if second%500 == 250 {
			w.Event(sampler.OOMEvent{Kind: "cuda_oom", Requested: sampler.Some(2 * sampler.GiB), GPUIndex: sampler.Some(1)}, s.Time)
			s.GPUs[0].Processes = s.GPUs[0].Processes[:2]
		}
		fillAndEnd(&s.GPUs[2], second%300-200)
		askAndEnd(&s, second)
		return w.Add(s)
	}
	raised := 0
	for range 4 {
		for range 300 + rng.IntN(400) {
			next(w, second)
			second++
		}
		clone, at := w.Clone(), second
		shared(t, reflect.ValueOf(w).Elem(), reflect.ValueOf(clone).Elem())
		want := [][]sampler.Alert{}
		for range 400 {
			want = append(want, next(w, second))
			second++
		}
		raised += len(want[len(want)-1])
		for i, open := range want {
			if got := next(clone, at+i); !reflect.DeepEqual(got, open) {
				t.Fatalf("second %d: %v, want %v", at+i, got, open)
			}
		}
		if !reflect.DeepEqual(clone.Past(), w.Past()) {
			t.Fatal("the past differs")
		}
	}
	if raised == 0 || len(w.gpus[2].ends) == 0 || len(w.deaths) == 0 {
		t.Error("no alerts or no ending: nothing was compared")
	}
}

// askAndEnd has a process of the first GPU ask the driver for more and more, be refused, and end.
func askAndEnd(s *sampler.Snapshot, second int) {
	g, part := &s.GPUs[0], second%170
	p := &g.Processes[len(g.Processes)-1]
	p.Requests = &sampler.Requests{Granted: min(part, 150), Live: sampler.Bytes(min(part, 150)) * 100 * sampler.MiB, LargestRecent: 3 * sampler.GiB, Flushes: part / 50}
	s.Requests = []sampler.Request{{Time: s.Time, PID: p.PID, GPU: sampler.Some(0), UUID: g.UUID, Bytes: sampler.Bytes(part%7) * sampler.GiB}}
	switch {
	case part > 155:
		s.Requests = nil
		g.Processes = g.Processes[:len(g.Processes)-1]
	case part > 150:
		s.Requests, p.Requests.Refused = nil, 2
		p.Requests.Refusal = &sampler.Refusal{Time: s.Time.Add(time.Duration(150-part) * time.Second), Bytes: 9 * sampler.GiB, Tries: 2}
	case part%50 < 25 && part > 50:
		p.Requests.Refusal = &sampler.Refusal{Time: s.Time, Bytes: sampler.GiB, Freed: sampler.GiB, Tries: 1, Outcome: sampler.RefusalFlush}
	}
}

// fillAndEnd has the first process take the GPU within a minute and be gone for half of one.
func fillAndEnd(g *sampler.GPU, second int) {
	switch first := &g.Processes[0]; {
	case second < 0 || second >= 90:
	case second < 60:
		more := series.Bytes(float64(1230 * second))
		first.Memory = sampler.Some(first.Memory.Or(0) + more)
		g.Memory.Used, g.Memory.Free = sampler.Some(g.Memory.Used.Or(0)+more), sampler.Some(g.Memory.Free.Or(0).Less(more))
		g.Memory.Window = nil
	default:
		g.Processes = g.Processes[1:]
	}
}

// shared fails when a and b share memory that a fold writes to.
func shared(t *testing.T, a, b reflect.Value) {
	t.Helper()
	seen := map[uintptr]string{}
	var walk func(path string, v reflect.Value, note func(path string, at uintptr) bool)
	walk = func(path string, v reflect.Value, note func(string, uintptr) bool) {
		if name := v.Type().String(); strings.HasPrefix(name, "sampler.") || name == "time.Time" || strings.HasPrefix(name, "explain.Explanation") || name == "explain.Incident" || strings.HasPrefix(name, "watch.finding") {
			return // never changed
		}
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && !strings.HasPrefix(v.Type().Elem().String(), "sampler.") && v.Type() != reflect.TypeFor[*time.Location]() && note(path, v.Pointer()) {
				walk(path, v.Elem(), note)
			}
		case reflect.Map:
			if note(path, v.Pointer()) {
				for _, k := range v.MapKeys() {
					walk(path+"[]", v.MapIndex(k), note)
				}
			}
		case reflect.Slice:
			if v.Cap() == 0 || !note(path, v.Pointer()) {
				return
			}
			for i := range v.Len() {
				walk(path+"[]", v.Index(i), note)
			}
		case reflect.Array:
			for i := range v.Len() {
				walk(path+"[]", v.Index(i), note)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i), note)
			}
		}
	}
	walk("Watch", a, func(path string, at uintptr) bool {
		_, again := seen[at]
		seen[at] = path
		return !again
	})
	own := map[uintptr]bool{}
	walk("Watch", b, func(path string, at uintptr) bool {
		if with, ok := seen[at]; ok {
			t.Errorf("%s of the clone is %s of the original", path, with)
		}
		again := own[at]
		own[at] = true
		return !again
	})
}
