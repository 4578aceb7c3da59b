package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
)

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	check := func(what, path string, want error) {
		t.Helper()
		w, err := Create(path, Options{})
		if w != nil {
			w.Close()
		}
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	if err := os.WriteFile(at("target"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("target"), at("link.jsonl")); err != nil {
		t.Fatal(err)
	}
	check("a symbolic link", at("link.jsonl"), ErrNoFile)
	if err := os.Symlink(at("nowhere"), at("dangling.jsonl")); err != nil {
		t.Fatal(err)
	}
	check("a dangling link", at("dangling.jsonl"), ErrNoFile)
	if err := syscall.Mkfifo(at("pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("a pipe", at("pipe.jsonl"), ErrNoFile)
	check("a directory", dir, ErrNoFile)
	if err := os.WriteFile(at("full.jsonl"), []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("a file that holds something", at("full.jsonl"), ErrExists)
	if b, err := os.ReadFile(at("full.jsonl")); err != nil || string(b) != "precious" {
		t.Errorf("it holds %q now, %v", b, err)
	}
	check("no directory", at("no/where.jsonl"), os.ErrNotExist)

	first, err := Create(at("busy.jsonl"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	check("a second writer", at("busy.jsonl"), ErrBusy)
	first.Close()
	if _, err := os.Stat(at("nowhere")); err == nil {
		t.Error("the target of the dangling link was made")
	}
}

func TestMode(t *testing.T) {
	w, path := create(t, "run.jsonl", Options{})
	defer w.Close()
	empty := filepath.Join(t.TempDir(), "empty.jsonl") // as mktemp leaves it
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w2, err := Create(empty, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w2.Close()
	for _, p := range []string{path, empty} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// Flushed means: another program sees it while the recording goes on.
func TestFlushed(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.zst"} {
		w, path := create(t, name, Options{})
		tr := newTrace(1, 1)
		for i := range 5 {
			if _, err := tr.second(w); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			r := open(t, path)
			n := 0
			for range r.Snapshots() {
				n++
			}
			if n != i+1 {
				t.Errorf("%s: %d snapshots can be read of %d", name, n, i+1)
			}
		}
		w.Close()
	}
}

// disk is a file on a disk that has room for so many bytes.
type disk struct {
	mu     sync.Mutex
	held   bytes.Buffer
	room   int
	closed bool
	atEnd  error // of Close
}

func (d *disk) grow(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if left := d.room - d.held.Len(); len(p) > left {
		n, _ := d.held.Write(p[:left])
		return n, syscall.ENOSPC
	}
	return d.held.Write(p)
}

func (d *disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.atEnd
}

// Some file systems say only at the end that they could not keep what was written.
func TestCloseFails(t *testing.T) {
	d := &disk{room: 1 << 20, atEnd: syscall.EDQUOT}
	w, err := newWriter(d, false, nil, Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	newTrace(1, 1).second(w)
	if err := w.Close(); !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("closed with %v", err)
	}
}

func (d *disk) Truncate(n int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held.Truncate(int(n))
	return nil
}

func (d *disk) Seek(n int64, _ int) (int64, error) { return n, nil }

func (d *disk) bytes() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(d.held.Bytes())
}

func (d *disk) snapshots(t *testing.T) ([]time.Time, []string) {
	t.Helper()
	times, _, notes, err := read(t, d.bytes())
	if err != nil {
		t.Fatal(err)
	}
	return times, notes
}

// A full disk: said once, what was written stays, and when there is room again the
// recording goes on without a hole.
func TestFullDisk(t *testing.T) {
	for _, packed := range []bool{false, true} {
		d := &disk{room: 12_000}
		if packed {
			d.room = 3_000
		}
		w, err := newWriter(d, packed, nil, Options{Interval: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		tr := newTrace(2, 1)
		var reported []error
		for range 100 {
			_, err := tr.second(w)
			if err != nil {
				reported = append(reported, err)
			}
			w.Flush()
		}
		if len(reported) != 1 || !errors.Is(reported[0], syscall.ENOSPC) {
			t.Errorf("packed %v: reported %v", packed, reported)
		}
		before, notes := d.snapshots(t)
		if len(before) < 5 || len(before) > 99 {
			t.Errorf("packed %v: %d snapshots before, notes %q", packed, len(before), notes)
		}
		d.grow(1 << 20)
		for range 10 {
			if _, err := tr.second(w); err != nil {
				t.Error(err)
			}
			w.Flush()
		}
		for tries := 0; ; tries++ { // what waits is written with what comes, not only at the end
			if times, _ := d.snapshots(t); len(times) > len(before) {
				break
			}
			if tries == 500 {
				t.Fatalf("packed %v: nothing is written where there is room again", packed)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := w.Close(); err != nil || !d.closed {
			t.Error(err, d.closed)
		}
		if after, notes := d.snapshots(t); len(after) != 110 || len(notes) > 0 {
			t.Errorf("packed %v: %d snapshots after, notes %q", packed, len(after), notes)
		}
	}
}

// When more is waiting than memory is to be spent on, the oldest stay and the hole is reported.
func TestBacklog(t *testing.T) {
	d := &disk{room: 5_000}
	w, err := newWriter(d, false, nil, Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrace(2, 1)
	big := &sampler.Snapshot{Time: start, GPUs: []sampler.GPU{{Name: strings.Repeat("x", maxBacklog/4)}}}
	for range 5 {
		tr.second(w)
	}
	for i := range 8 {
		c := *big
		c.Time = start.Add(time.Duration(10+i) * time.Second)
		c.GPUs = append([]sampler.GPU(nil), c.GPUs...)
		c.GPUs[0].UUID = string(rune('a' + i))
		w.Snapshot(&c)
	}
	d.grow(1 << 30)
	for i := range 5 {
		w.Flush()
		s, _ := newTrace(2, 1).second(nil)
		s.Time = start.Add(time.Duration(30+i) * time.Second)
		w.Snapshot(s)
	}
	if err := w.Close(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if !strings.Contains(string(d.bytes()), `"kind":"gap"`) || !strings.Contains(string(d.bytes()), "bytes are lost so far") {
		t.Error("nothing says that lines are missing")
	}
	if times, notes := d.snapshots(t); len(times) < 10 || strings.Contains(strings.Join(notes, "|"), "corrupt") {
		t.Errorf("%d snapshots, notes %q", len(times), notes)
	}
}

func TestRotation(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.zst", "plain"} {
		w, path := create(t, name, Options{RotateAge: 20 * time.Second, Keep: 2})
		tr := newTrace(1, 1)
		for i := range 300 {
			if _, err := tr.second(w); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				w.Flush()
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var names []string
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, e := range entries {
			names = append(names, e.Name())
			r := open(t, filepath.Join(filepath.Dir(path), e.Name()))
			n := 0
			for s := range r.Snapshots() {
				if len(s.GPUs) != 1 {
					t.Errorf("%s: %d GPUs", e.Name(), len(s.GPUs))
				}
				n++
			}
			if notes := r.Notes(english); len(notes) > 0 || r.Header() == nil || n < 15 {
				t.Errorf("%s: %d snapshots, header %v, notes %q", e.Name(), n, r.Header(), notes)
			}
			total += n
		}
		stem, ending := splitName(name)
		numbers := parts(path)
		slices.Sort(numbers)
		if len(names) != 3 || len(numbers) != 2 || numbers[1] != numbers[0]+1 || !slices.Contains(names, filepath.Base(partName(stem+ending, numbers[1]))) {
			t.Errorf("%s: files %q, parts %v, %d snapshots", name, names, numbers, total)
		}
	}
}

func TestRotationBySize(t *testing.T) {
	w, path := create(t, "run.jsonl", Options{RotateSize: 50_000})
	tr := newTrace(4, 1)
	for range 200 {
		if _, err := tr.second(w); err != nil {
			t.Fatal(err)
		}
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	numbers := parts(path)
	if len(numbers) < 2 {
		t.Errorf("parts %v", numbers)
	}
	for _, number := range append(numbers, 0) {
		r := open(t, path)
		if number > 0 {
			r = open(t, partName(path, number))
		}
		for range r.Snapshots() {
			n++
		}
	}
	if n != 200 {
		t.Errorf("%d snapshots in all parts", n)
	}
}

// Starts, ends, Xid errors and lost GPUs are events without anybody's doing.
func TestEventsFromSnapshots(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf, Options{})
	step := func(i int, change func(*sampler.GPU)) {
		g := sampler.GPU{UUID: "GPU-1", Processes: []sampler.Process{{PID: 1, Name: "a"}}}
		change(&g)
		if err := w.Snapshot(&sampler.Snapshot{Time: start.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{g}}); err != nil {
			t.Fatal(err)
		}
	}
	step(0, func(*sampler.GPU) {})
	step(1, func(g *sampler.GPU) { g.Processes = append(g.Processes, sampler.Process{PID: 2, Name: "b"}) })
	step(2, func(g *sampler.GPU) { g.Processes = []sampler.Process{{PID: 2, Name: "b"}} })
	step(3, func(g *sampler.GPU) { g.Error = sampler.Some("GPU is lost"); g.Processes = nil })
	step(4, func(g *sampler.GPU) {
		g.Processes = []sampler.Process{{PID: 2, Name: "b"}}
		g.LastXID = sampler.Some(uint64(79))
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("x", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := record.Event; e != nil {
			got = append(got, e.Kind+" "+e.Text)
		}
	}
	want := "process_start b,process_end a,gpu_lost GPU is lost,gpu_back ,xid "
	if strings.Join(got, ",") != want {
		t.Errorf("%q, want %q", strings.Join(got, ","), want)
	}
}

// Errors that come together are events of their own, in order, and of one snapshot when it is read again. So are those of the first one.
func TestXIDsTogether(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf, Options{})
	for i, codes := range [][]uint64{{13}, nil, {31, 43}, nil, {43}, nil} {
		s := &sampler.Snapshot{Time: start.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{{UUID: "GPU-1", LastXID: sampler.Some(uint64(43))}}}
		for n, code := range codes {
			s.GPUs[0].XIDs = append(s.GPUs[0].XIDs, sampler.XID{Code: code, Time: sampler.Some(s.Time.Add(time.Duration(n) * time.Millisecond))})
		}
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("x", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	events, seen := "", ""
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := record.Event; e != nil {
			events += fmt.Sprintf("%d at %v, ", e.XID.Or(0), e.Time.Sub(start))
		}
		if s := record.Snapshot; s != nil {
			for _, x := range s.GPUs[0].XIDs {
				seen += fmt.Sprintf("%d at %v, ", x.Code, x.Time.Or(s.Time).Sub(start))
			}
		}
	}
	if want := "13 at 0s, 31 at 2s, 43 at 2.001s, 43 at 4s, "; events != want || seen != want {
		t.Errorf("events %q, in snapshots %q, want %q", events, seen, want)
	}
}

func TestReadingsAllocateNothing(t *testing.T) {
	w := NewWriter(io.Discard, Options{})
	defer w.Close()
	newTrace(1, 1).second(w)
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		i++
		w.Readings(0, start.Add(time.Duration(i)*20*time.Millisecond), sampler.GiB)
	}); n > 0 {
		t.Errorf("%v allocations for a reading that changes nothing", n)
	}
}

// Every line says first what it is, so that a look at the file tells.
func TestLinesBeginWithTheirType(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf, Options{})
	tr := newTrace(2, 1)
	for range 70 {
		if _, err := tr.second(w); err != nil {
			t.Fatal(err)
		}
	}
	w.Event(Event{Time: start, Kind: KindOOM, Text: "a \"quoted\" text"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(buf.Bytes()) {
		kind, _, ok := strings.Cut(strings.TrimPrefix(string(line), `{"type":"`), `"`)
		if !ok || lineTypes[kind] == nil {
			t.Fatalf("%s", line)
		}
		seen[kind] = true
	}
	if len(seen) != len(lineTypes) || !bytes.HasPrefix(buf.Bytes(), []byte(`{"type":"header"`)) {
		t.Errorf("types %v", seen)
	}
}

// With rotation a recording that was ended or killed becomes a finished part, whole as it was; what is
// no recording stays, and so does one that is still written.
func TestCreateAgain(t *testing.T) {
	dir := t.TempDir()
	rotating := Options{RotateAge: time.Hour, Keep: 3}
	for _, name := range []string{"a.jsonl", "b.jsonl.zst"} {
		path := filepath.Join(dir, name)
		whole := recorded(t, 3, name)
		for n, left := range [][]byte{whole, whole[:len(whole)-9], whole[:10], nil, whole[:len(whole)/2], whole} {
			if err := os.WriteFile(path, left, 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := Create(path, rotating)
			if err != nil {
				t.Fatalf("%s, %d bytes left: %v", name, len(left), err)
			}
			if _, err := Create(path, rotating); !errors.Is(err, ErrBusy) {
				t.Errorf("%s, a second recorder: %v", name, err)
			}
			w.Close() //nolint:errcheck // nothing was written
			newest := slices.Max(append([]int{0}, parts(path)...))
			if b, err := os.ReadFile(partName(path, max(1, newest))); left != nil && (err != nil || !bytes.Equal(b, left)) {
				t.Errorf("%s: part %d is not what was left by run %d: %v", name, newest, n, err)
			}
		}
		if kept := parts(path); len(kept) != 3 {
			t.Errorf("%s: parts %v", name, kept)
		}
		os.WriteFile(path, whole, 0o600) //nolint:errcheck // Create shows it
		if _, err := Create(path, Options{}); !errors.Is(err, ErrExists) {
			t.Errorf("%s without rotation: %v", name, err)
		}
	}
	path := filepath.Join(dir, "thesis.txt")
	os.WriteFile(path, []byte("Chapter 1"), 0o600) //nolint:errcheck // Create shows it
	if _, err := Create(path, rotating); !errors.Is(err, ErrExists) {
		t.Errorf("a text: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "Chapter 1" {
		t.Errorf("the text became %q, %v", b, err)
	}
}
