package tape

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A recording of one part says what was wrong up to the first search, not again what is read anew; of several parts
// each says what is so now.
func TestNotesOfParts(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	name := func(n string) string { return filepath.Join(dir, n) }
	writePart(t, name("run.0001.jsonl"), at, 5)
	writePart(t, name("run.jsonl"), at.Add(time.Minute), 5)
	rest := func(p *Parts) {
		for {
			if _, err := p.Next(); err != nil {
				return
			}
		}
	}
	for paths, want := range map[string][2]string{
		"run.0001.jsonl":           {"", ""},
		"run.0001.jsonl run.jsonl": {"2 parts", "run.jsonl: 1 gap(s)"},
	} {
		var list []string
		for _, n := range strings.Fields(paths) {
			list = append(list, name(n))
		}
		p, err := OpenParts(list)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for i := range 3 {
			rest(p)
			notes := p.Notes(english)
			for _, w := range want {
				if !strings.Contains(strings.Join(notes, "\n"), w) {
					t.Errorf("%s, read %d times: no %q in %q", paths, i+1, w, notes)
				}
			}
			if parts := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "parts") }); parts != (len(list) > 1) {
				t.Errorf("%s, read %d times: says of parts %v: %q", paths, i+1, parts, notes)
			}
			if err := p.Seek(at); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What was wrong with the only part stays said after a search, though what is read anew has not come to it.
	text := recorded(t, 30, "a.jsonl")
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[20] = []byte("{\"type\":\"tick\",garbage\n")
	path := name("damaged.jsonl")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := OpenParts([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if rest(p); len(p.Notes(english)) != 1 {
		t.Errorf("read to its end: %q", p.Notes(english))
	}
	if err := p.Seek(start); err != nil {
		t.Fatal(err)
	}
	if notes := p.Notes(english); len(notes) != 1 || !strings.Contains(notes[0], "line 21") {
		t.Errorf("sought in: %q", notes)
	}
	if rest(p); len(p.Notes(english)) != 1 || !strings.HasPrefix(p.Notes(english)[0], "1 corrupt") {
		t.Errorf("read again: %q", p.Notes(english))
	}
}

// Frames are followed until twice the file has been read in vain; from then on each ends where the next begins.
func TestFramesFollowedInVain(t *testing.T) {
	file := append(zstded(t, "one\n"), zstded(t, "two\n")...)
	for more, want := range map[int64]frameState{0: frameWhole, 1: frameBroken} {
		f, err := newFrames(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		f.wasted = 2*f.size + more
		if _, end, state, ok := f.find(0); state != want || !ok || end != int64(len(zstded(t, "one\n"))) {
			t.Errorf("%d bytes beyond: %v to %d, %v", more, state, end, ok)
		}
		if text, err := io.ReadAll(f); err != nil || strings.Join(strings.Fields(string(text)), " ") != "one two" {
			t.Errorf("%d bytes beyond: %q, %v", more, text, err)
		}
		f.Close()
	}
}

// The mark of a frame is found wherever a window ends, in or around it.
func TestFramesAcrossWindows(t *testing.T) {
	frame := zstded(t, "here\n")
	size := len(window{}.room)
	for _, before := range []int{1, size - 5, size - 4, size - 3, size - 2, size - 1, size, size + 1, 2*size - 5, 2*size - 3, 2*size - 1} {
		file := append(bytes.Repeat([]byte{'x'}, before), frame...)
		f, err := newFrames(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := f.magic(0); !ok || at != int64(before) {
			t.Errorf("behind %d bytes: found at %d, %v", before, at, ok)
		}
		f.Close()
	}
}

// Tags deeper than 32 are not entered; those that follow them are where they stand.
func TestDepthOfXML(t *testing.T) {
	x := &smiXML{}
	var p progress
	var out Record
	for i, text := range []string{"<nvidia_smi_log>", strings.Repeat("<a>", maxDepth-2), "<b>", "<c>"} {
		if err := x.line(&p, []byte(text), &out); err != errNone {
			t.Fatal(err)
		}
		if want := []int{1, maxDepth - 1, maxDepth, maxDepth}[i]; len(x.path) != want {
			t.Errorf("behind %.9s: %d deep, want %d", text, len(x.path), want)
		}
	}
}

// GPUs are counted up to 1023; a row of another is none.
func TestIndexOfRows(t *testing.T) {
	const row = "    %s     30     33      -      0   %s\n"
	for index, want := range map[string]bool{"0": true, "1023": true, "1024": false, "-1": false, "x": false, "-": false} {
		dmon := "# gpu    pwr  gtemp  mtemp     sm     fb\n# Idx      W      C      C      %      MB\n" + fmt.Sprintf(row, "0", "1000") + fmt.Sprintf(row, index, "5000") + fmt.Sprintf(row, "0", "1000")
		if got := outlineOf(t, "dmon", []byte(dmon), 0); strings.Contains(got, "used 4.9 GiB") != want || !strings.Contains(got, "used 1000 MiB") {
			t.Errorf("dmon: GPU %s is read: %v\n%s", index, !want, got)
		}
	}
	for index, want := range map[string]bool{"1": true, "1023": true, "1024": false} {
		stat := "host  Mon Nov 23 03:00:00 2026\n[0] A100 | 40'C,  0 % |  1000 / 81920 MB |\n" + fmt.Sprintf("[%s] A100 | 40'C,  0 %% |  5000 / 81920 MB |\n", index)
		if got := outlineOf(t, "gpustat", []byte(stat), 0); strings.Contains(got, "used 4.9 GiB") != want || !strings.Contains(got, "used 1000 MiB") {
			t.Errorf("gpustat: GPU %s is read: %v\n%s", index, !want, got)
		}
	}
}

// A search in places whose times run back by a second or more finds none; by less, it goes on.
func TestSearchInDisorder(t *testing.T) {
	at := func(seconds ...float64) func(i int) (time.Time, bool) {
		return func(i int) (time.Time, bool) {
			return start.Add(time.Duration(seconds[i] * float64(time.Second))), seconds[i] >= 0
		}
	}
	for name, row := range map[string]struct {
		times    []float64
		want     int
		disorder bool
	}{
		"in order":         {[]float64{0, 5, 10, 15}, 3, false},
		"all before":       {[]float64{0, 1, 2}, 3, false},
		"just then":        {[]float64{0, 12, 13}, 2, false},
		"less than that":   {[]float64{0, 5, 4.001, 15}, 3, false},
		"back by a second": {[]float64{0, 5, 4, 15}, 0, true},
		"back afterwards":  {[]float64{0, 15, 5}, 0, true},
		"unreadable":       {[]float64{0, 5, -1, 9}, 2, false},
	} {
		r := &Reader{}
		if got := r.search(len(row.times), start.Add(12*time.Second), at(row.times...)); got != row.want || r.disorder != row.disorder {
			t.Errorf("%s: place %d, disorder %v", name, got, r.disorder)
		}
	}
}

// Two values of a struct are equal where all their fields are.
func TestPlanEqual(t *testing.T) {
	p := planOf(reflect.TypeFor[sampler.HostMemory]())
	of := func(h sampler.HostMemory) reflect.Value { return reflect.ValueOf(&h).Elem() }
	one := sampler.HostMemory{}
	for i := range reflect.TypeFor[sampler.HostMemory]().NumField() {
		other := sampler.HostMemory{}
		v := reflect.ValueOf(&other).Elem().Field(i)
		v.SetUint(1)
		if p.equal(of(one), of(other)) || !p.equal(of(other), of(other)) {
			t.Errorf("field %d: %+v and %+v", i, one, other)
		}
	}
	if !p.equal(of(one), of(one)) {
		t.Error("it is not equal to itself")
	}
}

// Blocks of the reserved kind, and of more than 128 KiB, are in no frame.
func TestBlocksThatCanBe(t *testing.T) {
	const raw, repeated, reserved = 0, 1, 3
	for _, row := range []struct {
		kind, size int
		want       frameState
	}{{raw, 5, frameWhole}, {repeated, 5, frameWhole}, {repeated, 128 << 10, frameWhole}, {repeated, 128<<10 + 1, frameBroken}, {reserved, 5, frameBroken}} {
		block := 1 | row.kind<<1 | row.size<<3
		file := append(bytes.Clone(zstdMagic), 0x20, 5, byte(block), byte(block>>8), byte(block>>16)) // all of 5 bytes in one segment
		content := map[int]int{raw: row.size, repeated: 1, reserved: row.size}[row.kind]
		file = append(file, make([]byte, content)...)
		f, err := newFrames(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if n, state := f.walk(0); state != row.want || state == frameWhole && n != int64(len(file)) {
			t.Errorf("a block of kind %d and %d bytes: %v after %d of %d", row.kind, row.size, state, n, len(file))
		}
		f.Close()
	}
}
