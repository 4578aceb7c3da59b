package tape

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// FuzzReader: whatever a file holds, reading ends, and what comes out holds together.
func FuzzReader(f *testing.F) {
	plain := recorded(f, 3, "a.jsonl") // small: a fuzzer spends its time on making inputs small
	f.Add(plain)
	f.Add(recorded(f, 3, "a.jsonl.zst"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(plain)
	z.Close()
	f.Add(packed.Bytes())
	f.Add([]byte("timestamp, index, memory.used [MiB], memory.total [MiB]\n2026/11/20 14:03:22.1, 0, 1 MiB, 9 MiB\n"))
	f.Add([]byte(`{"type":"snapshot","time":"2026-11-20T14:03:22Z","gpus":[{"index":0,"memory":{"total_bytes":1000,"used_bytes":400}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader("file", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		defer r.Close()
		check(t, r)
		if err := r.Seek(start); err == nil {
			check(t, r)
		}
	})
}

func check(t *testing.T, r *Reader) {
	t.Helper()
	for range 5000 {
		record, err := r.Next()
		if err != nil {
			r.Notes(english)
			return
		}
		if record.Snapshot == nil {
			continue
		}
		for _, g := range record.Snapshot.GPUs {
			m := g.Memory
			total, ok := m.Total.Value()
			used, ok2 := m.Used.Value()
			free, ok3 := m.Free.Value()
			if ok && (ok2 && used > total || ok2 && ok3 && used+free > total || total >= sampler.MaxPlausible) {
				t.Errorf("%+v", m)
			}
		}
		if _, err := json.Marshal(record.Snapshot); err != nil && !strings.Contains(err.Error(), "year outside") {
			t.Error(err)
		}
	}
}

// FuzzTick: a line laid over a snapshot never changes the snapshot itself.
func FuzzTick(f *testing.F) {
	lines := bytes.Split(recorded(f, 5, "a.jsonl"), []byte("\n"))
	for _, l := range lines {
		f.Add(l)
	}
	s, _ := newTrace(2, 9).second(nil)
	var before []byte
	f.Fuzz(func(t *testing.T, line []byte) {
		if before == nil {
			before = snapshotPlan().encode(nil, reflect.ValueOf(s).Elem(), nil)
		}
		j := &jsonLines{base: start, state: s, full: toMilli(s.Time)}
		var p progress
		var out Record
		j.line(&p, line, &out)
		if after := snapshotPlan().encode(nil, reflect.ValueOf(s).Elem(), nil); !bytes.Equal(before, after) {
			t.Errorf("%q changed\n%s into\n%s", line, before, after)
		}
	})
}

// FuzzScanner: where encoding/json sees an object, so does the scanner, and the same values.
func FuzzScanner(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[1,{"c":"\u00e9\n"}],"d":-1.5e3,"e":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal(b, &want) == nil && want != nil
		s := scanner{b: b}
		n := 0
		s.open('{')
		for first := true; ; first = false {
			key, ok := s.key(first)
			if !ok {
				break
			}
			n++
			_ = key
			v := s.value()
			if f, ok := v.float(); ok && v.kind == '0' && valid {
				var g float64
				if json.Unmarshal(v.b, &g) == nil && g != f {
					t.Errorf("%s is %v, want %v", v.b, f, g)
				}
			}
		}
		if valid && (!s.end() || n < len(want)) {
			t.Errorf("%q: %d keys of %d, bad %v", b, n, len(want), s.bad)
		}
	})
}

// FuzzForeign: each reader of a log of another program, whatever the log holds.
func FuzzForeign(f *testing.F) {
	files, _ := filepath.Glob(logs + "*")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, ".want") {
			f.Add(text)
		}
	}
	decoders := []func() decoder{
		func() decoder { return &smiTable{} }, func() decoder { return &smiXML{} }, func() decoder { return &gpuStat{} },
		func() decoder { return &plainGPUStat{} }, func() decoder { return &monitorLog{} },
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range decoders {
			r := &Reader{name: "log", file: bytes.NewReader(b), size: int64(len(b))}
			if r.size == 0 || r.rewind() != nil {
				return
			}
			r.decode = decode()
			check(t, r)
			if err := r.Seek(start); err == nil {
				check(t, r)
			}
			r.Close()
		}
	})
}
