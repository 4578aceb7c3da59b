package tape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// writePart records some seconds, of a GPU that holds a GiB more with each.
func writePart(t *testing.T, path string, at time.Time, seconds int) {
	t.Helper()
	w, err := Create(path, Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i := range seconds {
		s := &sampler.Snapshot{Time: at.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{{UUID: "a",
			Memory: sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(sampler.Bytes(i+1) * sampler.GiB)}}}}
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// The parts of a recording are read as one: in the order of their time, with what is missing between
// them said, and what cannot be read.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	name := func(n string) string { return filepath.Join(dir, n) }
	writePart(t, name("run.0001.jsonl.zst"), at, 5)
	writePart(t, name("run.0002.jsonl.zst"), at.Add(5*time.Second), 5)
	writePart(t, name("run.jsonl.zst"), at.Add(time.Minute), 5)
	writePart(t, name("other.jsonl"), at, 2)
	if err := os.WriteFile(name("run.0003.jsonl.zst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Find([]string{dir})
	if err != nil || len(list) != 2 || list[1].Name != name("run.jsonl.zst") || len(list[1].Files) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	p, err := OpenParts(list[1].Files)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var times []time.Duration
	gaps := 0
	for {
		record, err := p.Next()
		if err != nil {
			break
		}
		if record.Snapshot != nil {
			times = append(times, record.Time.Sub(at))
		}
		if record.Event != nil && record.Event.Kind == KindGap {
			gaps++
		}
	}
	if len(times) != 15 || times[9] != 9*time.Second || times[10] != time.Minute || gaps != 1 {
		t.Errorf("%v, %d gaps", times, gaps)
	}
	notes := strings.Join(p.Notes(english), "\n")
	for _, want := range []string{"3 parts", "run.0003.jsonl.zst: the file is empty", "run.jsonl.zst: 1 gap(s)"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	for to, want := range map[time.Duration]time.Duration{-time.Hour: 0, 7 * time.Second: 7 * time.Second, 30 * time.Second: 9 * time.Second, 62 * time.Second: 62 * time.Second, time.Hour: 64 * time.Second} {
		if err := p.Seek(at.Add(to)); err != nil {
			t.Fatal(err)
		}
		n, first := 0, time.Duration(-1)
		for {
			record, err := p.Next()
			if err != nil {
				break
			}
			if record.Snapshot != nil {
				if n++; n == 1 {
					first = record.Time.Sub(at)
				}
			}
		}
		if first != want {
			t.Errorf("sought %s, got %s", to, first)
		}
	}
}

// A name stands for files, and a file for its recording.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a.0001.jsonl", "a.0002.jsonl", "a.jsonl", "b[1].jsonl", "c.log"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for names, want := range map[string]string{
		"a.jsonl":              "a.jsonl:1",
		"a.0002.jsonl":         "a.0002.jsonl:1",
		"a.0001.jsonl a.jsonl": "a.jsonl:2",
		"a*.jsonl":             "a.jsonl:3",
		"b[1].jsonl":           "b[1].jsonl:1",
		"a.jsonl a.jsonl":      "a.jsonl:1 a.jsonl:1",
		"c.log a.jsonl":        "c.log:1 a.jsonl:1",
		"":                     "a.jsonl:3 b[1].jsonl:1",
	} {
		var paths, got []string
		for _, n := range strings.Split(names, " ") {
			paths = append(paths, filepath.Join(dir, n))
		}
		list, err := Find(paths)
		if err != nil {
			t.Error(err)
		}
		for _, r := range list {
			got = append(got, filepath.Base(r.Name)+":"+string(rune('0'+len(r.Files))))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
	for _, absent := range []string{"z.jsonl", "z*.jsonl"} {
		if list, err := Find([]string{filepath.Join(dir, absent)}); len(list) > 0 && err == nil && list[0].Files[0] != filepath.Join(dir, absent) {
			t.Errorf("%s: %v", absent, list)
		}
	}
}
