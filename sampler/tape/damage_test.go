package tape

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// recorded makes a recording in memory and what reading it back gives.
func recorded(t testing.TB, seconds int, name string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := Create(path, Options{Interval: time.Second, Every: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrace(2, 9)
	for range seconds {
		if _, err := tr.second(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, b []byte) (times []time.Time, used []sampler.Bytes, notes []string, err error) {
	t.Helper()
	r, err := NewReader("file", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, nil, err
	}
	for s := range r.Snapshots() {
		times = append(times, s.Time)
		if len(s.GPUs) > 0 {
			used = append(used, s.GPUs[0].Memory.Used.Or(0))
		}
	}
	return times, used, r.Notes(english), nil
}

// Cut anywhere, a recording gives every snapshot that was complete, and says that it is cut.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		whole := recorded(t, 15, name)
		times, used, _, err := read(t, whole)
		if err != nil || len(times) != 15 {
			t.Fatal(len(times), err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			n := rng.IntN(len(whole))
			got, gotUsed, notes, err := read(t, whole[:n])
			if err != nil {
				if n > 3 || !strings.HasPrefix(err.Error(), "file: ") {
					t.Fatalf("%s cut at %d: %v", name, n, err)
				}
				continue
			}
			if !strings.Contains(strings.Join(notes, " "), "cut") {
				t.Fatalf("%s cut at %d: notes %q", name, n, notes)
			}
			for i := range got {
				if !got[i].Equal(times[i]) || gotUsed[i] != used[i] {
					t.Fatalf("%s cut at %d: snapshot %d is %v, want %v", name, n, i, got[i], times[i])
				}
			}
			if name == "a.jsonl" {
				if want := bytes.Count(whole[:n], []byte(`"tick"`)) + bytes.Count(whole[:n], []byte(`{"type":"snapshot"`)); len(got) < want-1 {
					t.Fatalf("cut at %d: %d snapshots of %d", n, len(got), want)
				}
			}
		}
	}
}

// With bytes changed anywhere it is read as well, and no more is lost than what the damage
// takes: its own lines, and the ticks that build on a broken line.
func TestCorruptAnywhere(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		whole := recorded(t, 15, name)
		rng := rand.New(rand.NewPCG(3, 4))
		for range 1000 {
			b := bytes.Clone(whole)
			var hits []int
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(b))
				b[at] = byte(rng.IntN(256))
				hits = append(hits, at)
			}
			r, err := NewReader("file", bytes.NewReader(b), int64(len(b)))
			got := 0
			for err == nil {
				var record *Record
				if record, err = r.Next(); err == nil && record.Snapshot != nil {
					got++
				}
			}
			if len(err.Error()) > 200 {
				t.Fatal(err)
			}
			if errors.Is(err, ErrNewer) {
				continue // the number of the form was hit
			}
			// A compressed file loses its frame.
			if want := intact(whole, hits); name == "a.jsonl" && got < want {
				t.Fatalf("bytes %v of %s changed: %d snapshots, %d are whole (%v)", hits, name, got, want, err)
			}
		}
	}
}

// intact counts the snapshots that damage at these places leaves whole in a plain
// recording. A tick needs its line, the header and the complete snapshot before it.
func intact(whole []byte, hits []int) (n int) {
	header, complete := false, false
	end := 0
	for line := range bytes.Lines(whole) {
		begin := end
		end += len(line)
		good := !slices.ContainsFunc(hits, func(at int) bool { return at >= begin-1 && at < end }) // with the newline before
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"header"`)):
			header = good
		case bytes.HasPrefix(line, []byte(`{"type":"snapshot"`)):
			complete = good
			if good {
				n++
			}
		case bytes.HasPrefix(line, []byte(`{"type":"tick"`)) && header && complete && good:
			n++
		}
	}
	return n
}

func TestCorruptLineIsNamed(t *testing.T) {
	lines := bytes.SplitAfter(recorded(t, 30, "a.jsonl"), []byte("\n"))
	ticks := 0
	for i := range lines {
		if bytes.Contains(lines[i], []byte(`"tick"`)) {
			if ticks++; ticks == 3 {
				lines[i] = []byte("{\"type\":\"tick\",garbage\n")
				times, _, notes, err := read(t, bytes.Join(lines, nil))
				want := fmt.Sprintf("1 corrupt line(s) skipped: line %d", i+1)
				if err != nil || len(times) != 29 || len(notes) != 1 || notes[0] != want {
					t.Errorf("%d snapshots, notes %q, %v; want %q", len(times), notes, err, want)
				}
				return
			}
		}
	}
}

// Without the complete snapshot that they build on, ticks are not laid over another one.
func TestLostSnapshot(t *testing.T) {
	lines := bytes.SplitAfter(recorded(t, 60, "a.jsonl"), []byte("\n"))
	n := 0
	var kept [][]byte
	for _, l := range lines {
		if bytes.HasPrefix(l, []byte(`{"type":"snapshot"`)) {
			if n++; n == 3 {
				continue
			}
		}
		kept = append(kept, l)
	}
	times, _, notes, err := read(t, bytes.Join(kept, nil))
	if err != nil || len(times) != 49 || !strings.Contains(strings.Join(notes, "|"), "10 line(s) skipped that build on a snapshot that is missing") {
		t.Errorf("%d snapshots, %v, notes %q", len(times), err, notes)
	}
}

// Damage in one frame of a compressed recording leaves the others.
func TestDamagedFrame(t *testing.T) {
	part := recorded(t, 30, "a.jsonl.zst")
	broken := bytes.Clone(part)
	for i := len(broken) / 3; i < len(broken)/3+40; i++ {
		broken[i] ^= 0x5a
	}
	times, _, notes, err := read(t, append(append(bytes.Clone(part), broken...), part...))
	if err != nil || len(times) < 60 || !strings.Contains(strings.Join(notes, "|"), "damaged in 1 place") {
		t.Errorf("%d snapshots, %v, notes %q", len(times), err, notes)
	}
}

// A byte that is wrong anywhere in a compressed recording denies nobody what can be read: what comes before it is, and from which line on something
// is missing is said; where not even the first line can be unpacked the file is damaged, and not something else.
func TestDamagedByte(t *testing.T) {
	part := recorded(t, 30, "a.jsonl.zst")
	before, named := 0, 0
	for at := 40; at < len(part)-40; at += len(part) / 60 {
		broken := bytes.Clone(part)
		broken[at] ^= 0x5a
		r, err := NewReader("a", bytes.NewReader(broken), int64(len(broken)))
		if err != nil {
			if before++; !strings.Contains(err.Error(), "damaged") || !errors.Is(err, ErrNotRecording) {
				t.Errorf("byte %d: %v", at, err)
			}
			continue
		}
		last := 0
		for record, err := r.Next(); err == nil; record, err = r.Next() {
			last = record.Line
		}
		if notes := strings.Join(r.Notes(english), "|"); r.zstd.damaged > 0 {
			if named++; !strings.Contains(notes, fmt.Sprintf("missing from line %d on", last+1)) && !strings.Contains(notes, "corrupt") {
				t.Errorf("byte %d, read up to line %d: %q", at, last, notes)
			}
		}
		r.Close()
	}
	if before == 0 || named == 0 {
		t.Errorf("%d could not be opened, %d were cut short", before, named)
	}
}

func TestByHand(t *testing.T) {
	text := `{"type":"snapshot","time":"2026-11-20T14:03:22Z","gpus":[{"index":0,"memory":{"total_bytes":1000,"used_bytes":400},"processes":[{"pid":7,"command":null,"memory_bytes":300}]}]}
{"gpus":[{"memory":{"used_bytes":18446744073709551615,"total_bytes":1000},"index":0}],"time":"2026-11-20 14:03:23","type":"snapshot"}

{"type":"snapshot","time":1795183404.5,"gpus":[{"index":0,"memory":{"total_bytes":1000,"used_bytes":2000,"free_bytes":999},"temperature_celsius":61.5,"power_watts":"N/A","fan_percent":"30"}]}
{"type":"comment","text":"by hand"}
{"type":"snapshot","time":"2026-11-20T14:03:20Z","gpus":[{"index":0,"memory":{"total_bytes":"2GiB","used_bytes":1.0}}]}
{"type":"snapshot","time":"2026-11-20T14:13:20Z","gpus":[]}`
	r, err := NewReader("hand", strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var all []*sampler.Snapshot
	var kinds []string
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if record.Snapshot != nil {
			all = append(all, record.Snapshot)
		} else {
			kinds = append(kinds, record.Event.Kind)
		}
	}
	if len(all) != 5 {
		t.Fatalf("%d snapshots, notes %q", len(all), r.Notes(english))
	}
	g := all[0].GPUs[0]
	if g.Memory.Free.Or(0) != 600 || g.Memory.Unattributed.Or(0) != 100 || !g.Processes[0].Visible || g.Processes[0].Command != "" {
		t.Errorf("derived: %+v", g)
	}
	if m := all[1].GPUs[0].Memory; m.Used.Known() || m.Free.Known() {
		t.Errorf("2^64-1: %+v", m)
	}
	if g := all[2].GPUs[0]; g.Memory.Used.Or(0) != 1000 || g.Memory.Free.Or(9) != 0 || g.Temperature.Or(0) != 61 || g.Power.Known() || g.Fan.Or(0) != 30 {
		t.Errorf("sorted out: %+v", g)
	}
	if m := all[3].GPUs[0].Memory; m.Total.Or(0) != 2*sampler.GiB || m.Used.Or(0) != 1 {
		t.Errorf("forms of numbers: %+v", m)
	}
	notes := strings.Join(r.Notes(english), "|")
	for _, want := range []string{"time runs backwards", "gap(s), the longest of 10m0s", "1 line(s) of an unknown type"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q lack %q", notes, want)
		}
	}
	if !strings.Contains(strings.Join(kinds, " "), KindBackwards) || !strings.Contains(strings.Join(kinds, " "), KindGap) {
		t.Errorf("events %q", kinds)
	}
}

func TestRefused(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Close()
	for _, c := range []struct {
		name, content string
		want          error
		text          string
	}{
		{"empty", "", ErrEmpty, "file: the file is empty"},
		{"blank", " \n\n ", ErrEmpty, ""},
		{"empty inside", packed.String(), ErrNotRecording, ""},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00" + strings.Repeat("\x00\xff", 500), ErrNotRecording, ""},
		{"text", "hello\nworld, this is prose\n", ErrNotRecording, ""},
		{"zstd broken", "\x28\xb5\x2f\xfd\x04\x58\xff\xff\xff" + strings.Repeat("x", 99), ErrNotRecording, ""},
		{"newer", `{"type":"header","schema":2,"time":"2026-11-20T14:03:22Z"}`, ErrNewer, "recording version 2, this one reads up to 1; update nvpeak"},
		{"newer snapshot", `{"type":"snapshot","schema":9,"time":"2026-11-20T14:03:22Z","gpus":[]}`, ErrNewer, "version 9"},
		{"no memory", "timestamp, name, utilization.gpu [%]\n2026/11/20 14:03:22.123, x, 5 %\n", ErrNoMemory, "memory.used and memory.total"},
		{"no names", "2026/11/20 14:03:22.123, 0, 5 %, 100 MiB\n", ErrNotRecording, "column names"},
	} {
		_, err := NewReader("file", strings.NewReader(c.content), int64(len(c.content)))
		if !errors.Is(err, c.want) || strings.Count(fmt.Sprint(err), "file:") != 1 || !strings.Contains(fmt.Sprint(err), c.text) || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.want, c.text)
		}
	}
}

func TestSeek(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		w, path := create(t, name, Options{})
		tr := newTrace(2, 5)
		var times []time.Time
		for range 1900 { // several frames
			s, err := tr.second(w)
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, toMilli(s.Time))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		want := map[time.Time]string{}
		for s := range r.Snapshots() {
			want[s.Time] = toJSON(t, s)
		}
		all := r.lines.n
		for _, i := range []int{1899, 0, 1, 59, 60, 61, 599, 600, 601, 1234, 1200, 3} {
			if err := r.Seek(times[i].Add(500 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if r.lines.n > all/2 { // it is entered near to the place
				t.Errorf("%s: sought %d, and read %d of %d lines", name, i, r.lines.n, all)
			}
			for s := range r.Snapshots() {
				if !s.Time.Equal(times[i]) || toJSON(t, s) != want[s.Time] {
					t.Errorf("%s: sought %d, got %v", name, i, s.Time.Sub(start))
				}
				break
			}
		}
		if err := r.Seek(start.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		for s := range r.Snapshots() {
			if !s.Time.Equal(times[0]) {
				t.Errorf("%s: before the start: %v", name, s.Time)
			}
			break
		}
		if notes := r.Notes(english); len(notes) > 0 {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// A file that was cut can be sought in as far as it can be read, wherever the cut is.
func TestSeekInCutFile(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		w, path := create(t, name, Options{})
		tr := newTrace(2, 5)
		for range 1300 {
			if _, err := tr.second(w); err != nil {
				t.Fatal(err)
			}
			w.Flush()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			cut := whole[:len(whole)*(i+2)/42]
			r, err := NewReader(name, bytes.NewReader(cut), int64(len(cut)))
			if err != nil {
				t.Fatal(err)
			}
			var times []time.Time
			for s := range r.Snapshots() {
				times = append(times, s.Time)
			}
			for _, want := range []int{0, len(times) / 2, len(times) - 1} {
				if len(times) == 0 {
					break
				}
				if err := r.Seek(times[want]); err != nil {
					t.Fatalf("%s cut at %d, snapshot %d of %d: %v", name, len(cut), want, len(times), err)
				}
				for s := range r.Snapshots() {
					if !s.Time.Equal(times[want]) {
						t.Errorf("%s cut at %d: sought %v, got %v", name, len(cut), times[want], s.Time)
					}
					break
				}
			}
		}
	}
}
