package tape

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nvpeak/sampler"
)

// What happened between two snapshots is told once.
func TestEventsBetween(t *testing.T) {
	lost, xid, later := sampler.Some("lost"), sampler.Some(uint64(79)), sampler.Some(start.Add(time.Second))
	used := sampler.Memory{Used: sampler.Some(sampler.GiB)}
	job := func(pids ...int) (list []sampler.Process) {
		for _, pid := range pids {
			list = append(list, sampler.Process{PID: pid})
		}
		return list
	}
	for name, row := range map[string]struct {
		a, b sampler.GPU
		want string
	}{
		"nothing":                {sampler.GPU{Processes: job(1)}, sampler.GPU{Processes: job(1)}, "[]"},
		"lost":                   {sampler.GPU{Processes: job(1)}, sampler.GPU{Error: lost}, "[gpu_lost]"},
		"still lost":             {sampler.GPU{Error: lost}, sampler.GPU{Error: lost}, "[]"},
		"back":                   {sampler.GPU{Error: lost}, sampler.GPU{Processes: job(1)}, "[gpu_back]"},
		"its list is lost":       {sampler.GPU{Memory: used, Processes: job(1)}, sampler.GPU{Memory: used, Error: lost}, "[]"},
		"its list is old":        {sampler.GPU{Memory: used, Processes: job(1)}, sampler.GPU{Memory: used, Error: lost, Processes: job(1)}, "[]"},
		"old, and then lost":     {sampler.GPU{Memory: used, Error: lost, Processes: job(1)}, sampler.GPU{Memory: used, Error: lost}, "[]"},
		"and then new":           {sampler.GPU{Memory: used, Error: lost, Processes: job(1)}, sampler.GPU{Memory: used, Processes: job(2)}, "[process_end process_start]"},
		"an Xid error":           {sampler.GPU{}, sampler.GPU{LastXID: xid}, "[xid]"},
		"the same":               {sampler.GPU{LastXID: xid, LastXIDTime: later}, sampler.GPU{LastXID: xid, LastXIDTime: later}, "[]"},
		"again":                  {sampler.GPU{LastXID: xid}, sampler.GPU{LastXID: xid, LastXIDTime: later}, "[xid]"},
		"another":                {sampler.GPU{LastXID: sampler.Some(uint64(31))}, sampler.GPU{LastXID: xid}, "[xid]"},
		"forgotten":              {sampler.GPU{LastXID: xid, LastXIDTime: later}, sampler.GPU{}, "[]"},
		"replaced":               {sampler.GPU{Processes: job(1)}, sampler.GPU{Processes: job(2)}, "[process_end process_start]"},
		"the same, other places": {sampler.GPU{Processes: job(1, 2)}, sampler.GPU{Processes: job(2, 1)}, "[]"},
		"one more":               {sampler.GPU{Processes: job(1)}, sampler.GPU{Processes: job(1, 2)}, "[process_start]"},
	} {
		kinds := []string{}
		for _, e := range eventsBetween(&sampler.Snapshot{GPUs: []sampler.GPU{row.a}}, &sampler.Snapshot{GPUs: []sampler.GPU{row.b}}, start) {
			kinds = append(kinds, e.Kind)
		}
		if fmt.Sprint(kinds) != row.want {
			t.Errorf("%s: %v, want %s", name, kinds, row.want)
		}
	}
	one, two := &sampler.Snapshot{GPUs: []sampler.GPU{{UUID: "a"}}}, &sampler.Snapshot{GPUs: []sampler.GPU{{UUID: "a"}, {UUID: "b"}}}
	other := &sampler.Snapshot{GPUs: []sampler.GPU{{UUID: "b", LastXID: xid}}}
	if !sameDevices(nil, one) || !sameDevices(one, one) || sameDevices(one, two) || sameDevices(two, one) || sameDevices(one, other) || eventsBetween(one, other, start) != nil {
		t.Error("a header is of the GPUs that it names")
	}
}

// What a tick leaves out of a window follows from the used memory, where both are known.
func TestPredictionsOfWindows(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	window := func(low, high sampler.Bytes) *sampler.Window { return &sampler.Window{Min: low, Max: high} }
	for name, row := range map[string]struct {
		was, used sampler.Opt[sampler.Bytes]
		before    *sampler.Window
		want      *sampler.Window // nil: it stays
	}{
		"rises": {some(5), some(9), window(1, 2), window(5, 9)}, "falls": {some(9), some(5), window(1, 2), window(5, 9)},
		"as it was": {some(9), some(5), window(5, 9), nil}, "another top": {some(9), some(5), window(5, 8), window(5, 9)}, "another bottom": {some(9), some(5), window(4, 9), window(5, 9)},
		"no use before": {unknown, some(5), window(1, 2), nil}, "no use now": {some(5), unknown, window(1, 2), nil}, "no window": {some(5), some(9), nil, nil},
	} {
		var before, g sampler.GPU
		before.Memory.Used, before.Memory.Window = row.was, row.before
		g.Memory.Used, g.Memory.Window = row.used, row.before
		predictWindow(&g, &before)
		if got := g.Memory.Window; (got == row.before) != (row.want == nil) || row.want != nil && *got != *row.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, row := range map[string]struct{ total, used, free, want sampler.Opt[sampler.Bytes] }{
		"free follows": {some(100), some(30), some(1), some(70)}, "no total": {unknown, some(30), some(1), some(1)}, "no use": {some(100), unknown, some(1), some(1)}, "no free before": {some(100), some(30), unknown, unknown},
	} {
		var before, g sampler.GPU
		before.Memory.Free = row.free
		g.Memory.Total, g.Memory.Used, g.Memory.Free = row.total, row.used, row.free
		if predictRest(&g, &before); g.Memory.Free != row.want {
			t.Errorf("%s: free %v", name, g.Memory.Free)
		}
		only := sampler.GPU{Processes: []sampler.Process{{Memory: some(50)}}}
		was := only
		was.Memory.Used, only.Memory.Used = row.used, unknown
		if predictOnly(&only, &was); only.Processes[0].Memory != some(50) {
			t.Errorf("the only process has %v where the use is not known", only.Processes[0].Memory)
		}
	}
}

// What can be derived of a foreign file is not where it says so itself, or where nothing is to be told.
func TestUnattributed(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	gpu := func(known sampler.Opt[sampler.Bytes], processes ...sampler.Process) (g sampler.GPU) {
		g.Memory.Total, g.Memory.Used, g.Memory.Unattributed, g.Processes = some(100), some(30), known, processes
		return g
	}
	for name, row := range map[string]struct {
		g       sampler.GPU
		foreign bool
		want    sampler.Opt[sampler.Bytes]
	}{
		"derived": {gpu(unknown, sampler.Process{Memory: some(20)}), true, some(10)}, "said": {gpu(some(3), sampler.Process{Memory: some(20)}), true, some(3)},
		"no processes": {gpu(unknown), true, unknown}, "ours": {gpu(unknown, sampler.Process{Memory: some(20)}), false, unknown},
	} {
		if fillDerived(&row.g, row.foreign, &meter{}); row.g.Memory.Unattributed != row.want {
			t.Errorf("%s: %v", name, row.g.Memory.Unattributed)
		}
	}
}

// Records keep their times where the clock is never set back, and lines without a time have none afterwards either.
func TestPlaces(t *testing.T) {
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	var line timeline
	var n notes
	pass := func(r Record) (Record, int) { events := line.pass(&r, &n, false); return r, len(events) }
	for _, s := range []int{0, 1, 1} {
		if _, events := pass(Record{Time: at(s), Snapshot: &sampler.Snapshot{Time: at(s)}}); events > 0 || line.usual > time.Second {
			t.Errorf("second %d: %d events, usual %v", s, events, line.usual)
		}
	}
	if line.usual != time.Second {
		t.Errorf("two snapshots of one time make the usual step %v", line.usual)
	}
	pass(Record{Time: at(-9), Snapshot: &sampler.Snapshot{Time: at(-9)}})
	if r, _ := pass(Record{Event: &Event{Kind: KindOOM}}); line.ahead != 11*time.Second || !r.Time.IsZero() || !r.Event.Time.IsZero() {
		t.Errorf("%v ahead, an event without a time at %v", line.ahead, r.Time)
	}
	if r, _ := pass(Record{Time: at(-8), Event: &Event{Kind: KindOOM, Time: at(-8)}}); !r.Time.Equal(at(3)) || !r.Event.Time.Equal(at(3)) {
		t.Errorf("an event after that at %v", r.Time)
	}
}

// A recording begins a new part by age and by size, to the byte and the nanosecond, and only where there is one.
func TestRotates(t *testing.T) {
	for name, row := range map[string]struct {
		o    Options
		size int64
		age  time.Duration
		want bool
	}{
		"never": {Options{}, 1 << 40, 1 << 60, false}, "size": {Options{RotateSize: 5}, 5, 0, true}, "below it": {Options{RotateSize: 5}, 4, 0, false},
		"age": {Options{RotateAge: 5}, 0, 5, true}, "below that": {Options{RotateAge: 5}, 9, 4, false},
		"tried within the minute": {Options{RotateSize: 5}, 9, -1, false},
	} {
		w := Writer{opt: row.o, born: start, again: start}
		if got := w.rotates(start.Add(row.age), row.size); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	w, path := create(t, "run.jsonl", Options{RotateAge: time.Hour, RotateSize: 1 << 30})
	newTrace(1, 1).second(w) //nolint:errcheck // the parts show it
	if err := w.Close(); err != nil || len(parts(path)) > 0 {
		t.Errorf("a recording of a second has parts %v, %v", parts(path), err)
	}
	for _, name := range []string{"run.0000.jsonl", "run.1.jsonl", "run.-001.jsonl", "run.00001.jsonl", "run.0003.jsonlx", "run.0004", "run.x.jsonl", "walk.0005.jsonl", "run.0007.jsonl"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(parts(path)); got != "[7]" {
		t.Errorf("parts %v", got)
	}
	f, err := os.Open(filepath.Join(filepath.Dir(path), "run.0007.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isRecording(f) {
		t.Error("an empty file is a recording")
	}
}

// Names that are taken are passed over, a hundred of them.
func TestRetirePastTakenNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for n := 1; n <= 100; n++ {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if n == 100 {
			if err := retire(path, 0); err != nil {
				t.Errorf("99 names are taken: %v", err)
			}
			os.Remove(partName(path, 100)) //nolint:errcheck // Mkdir shows it
			os.WriteFile(path, nil, 0o600) //nolint:errcheck // retire shows it
		}
		if err := os.Mkdir(partName(path, n), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := retire(path, 0); !errors.Is(err, os.ErrExist) {
		t.Errorf("100 names are taken: %v", err)
	}
}

// Readings are recorded of places and amounts that can be, those before the first snapshot with it.
func TestReadingsAtTheirBounds(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, Options{})
	for n := range maxEarly + 1 {
		w.Readings(0, start.Add(time.Duration(n)*20*time.Millisecond), sampler.Bytes(n))
	}
	s := &sampler.Snapshot{Time: start.Add(time.Hour), GPUs: []sampler.GPU{{}}}
	if err := w.Snapshot(s); err != nil || w.tally.readings != maxEarly || !w.base.Equal(toMilli(start)) {
		t.Errorf("%d readings before the first snapshot, from %v on; %v", w.tally.readings, w.base, err)
	}
	for _, row := range []struct {
		device int
		used   sampler.Bytes
		want   int
	}{{-1, 1, 0}, {0, 7, 1}, {maxDevices - 1, 1, 1}, {maxDevices, 1, 0}, {1, sampler.MaxPlausible - 1, 1}, {1, sampler.MaxPlausible, 0}} {
		before := w.tally.readings
		if w.Readings(row.device, s.Time, row.used); w.tally.readings-before != row.want {
			t.Errorf("%+v: %d readings", row, w.tally.readings-before)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	written := b.Len()
	w.Event(Event{Time: start, Kind: KindOOM})
	w.Readings(0, start, 99)
	if err := w.Snapshot(s); err != nil {
		t.Error(err)
	}
	if w.Flush(); b.Len() != written || w.tally.readings != maxEarly+3 {
		t.Error("something is recorded after the end")
	}
}

// Complete snapshots come with their interval, and frames, where the readers that seek enter, with theirs.
func TestCompleteSnapshots(t *testing.T) {
	for _, row := range []struct{ step, wholes, ticks int }{{1, 4, 27}, {5, 16, 15}, {10, 31, 0}, {9, 16, 15}} {
		var b bytes.Buffer
		w := NewWriter(&b, Options{Every: 10 * time.Second})
		for n := range 31 {
			if err := w.Snapshot(&sampler.Snapshot{Time: start.Add(time.Duration(n*row.step) * time.Second), GPUs: []sampler.GPU{{}}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if wholes, ticks := strings.Count(text, `"type":"snapshot"`), strings.Count(text, `"type":"tick"`); wholes != row.wholes || ticks != row.ticks {
			t.Errorf("every %d s: %d complete snapshots, %d ticks", row.step, wholes, ticks)
		}
		if strings.Count(text, `"host":`) != row.wholes+1 || strings.Count(text, `"type":"header"`) != 1 {
			t.Error("what has not changed is written again")
		}
	}
	w := NewWriter(&bytes.Buffer{}, Options{Every: time.Hour})
	defer w.Close() //nolint:errcheck // into memory
	for ms, want := range map[int]int{0: 0, 599_999: 0, 600_000: 600_000} {
		w.frame = start
		w.prev, w.began, w.part, w.full = &sampler.Snapshot{}, true, 1, start
		if err := w.Snapshot(&sampler.Snapshot{Time: start.Add(time.Duration(ms) * time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
		if got := w.frame.Sub(start).Milliseconds(); got != int64(want) {
			t.Errorf("after %d ms the frame began at %d", ms, got)
		}
	}
}

// So much waits for a disk, to the byte.
func TestBacklogAtItsBound(t *testing.T) {
	k := &sink{}
	k.wake = sync.NewCond(&k.mu)
	if !k.put(chunk{lines: make([]byte, maxBacklog-1)}) || !k.put(chunk{lines: []byte("x")}) || k.put(chunk{lines: []byte("x")}) || !k.put(chunk{}) || k.waiting != maxBacklog || len(k.queue) != 3 {
		t.Errorf("%d bytes wait in %d pieces", k.waiting, len(k.queue))
	}
}
