package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"nvpeak/sampler"
)

// Tools put frames that hold no text before, between and behind the others, as pzstd does.
func TestSkippableFrames(t *testing.T) {
	w, _ := zstd.NewWriter(nil)
	frame := func(text string) []byte { return w.EncodeAll([]byte(text), nil) }
	skip := append([]byte{0x5a, 0x2a, 0x4d, 0x18, 40, 0, 0, 0}, bytes.Repeat([]byte{0x28, 0xb5, 0x2f, 0xfd}, 10)...)
	file := slices.Concat(skip, skip, frame("timestamp, memory.used [MiB]\n2026/11/20 14:03:22, 1 MiB\n"), skip, frame("2026/11/20 14:03:23, 2 MiB\n"), skip)
	if got, notes := csvSnapshots(t, string(file)); len(got) != 2 || len(notes) > 0 {
		t.Errorf("%d snapshots, %q", len(got), notes)
	}
}

// What is bounded may be as much as the bound, and no more.
func TestBudgetAtItsBounds(t *testing.T) {
	var m meter
	if !m.within(5, 5, manyParts) || m.flaws[manyParts] || m.within(6, 5, manyParts) || !m.flaws[manyParts] || !m.within(4, 5, manyParts) || !m.flaws[manyParts] {
		t.Error("five of five are within, six are a flaw, and it stays one")
	}
	for more, want := range map[int]bool{0: true, 1: false} {
		u := budget{failures: maxFailures - 4 - 3*32 + more}
		if got := u.failure([]byte("line"), &meter{parts: 3}); got != want {
			t.Errorf("a failure with %d bytes too many: %v", more, got)
		}
		s := sampler.Snapshot{GPUs: []sampler.GPU{{Processes: make([]sampler.Process, 4)}, {}}}
		u = budget{read: 10, figures: figureSpare + 10*figureRatio - 6 + int64(more)}
		if got := u.snapshot(&s, &meter{}); got != want {
			t.Errorf("a snapshot with %d figures too many: %v", more, got)
		}
	}
	for total, want := range map[sampler.Bytes]bool{maxTotal*sampler.TiB - 1: false, maxTotal * sampler.TiB: true} {
		s := sampler.Snapshot{GPUs: make([]sampler.GPU, 2)}
		s.GPUs[0].Memory.Total = sampler.Some(total)
		m := meter{}
		new(budget).snapshot(&s, &m)
		if m.flaws[hugeTotal] != want {
			t.Errorf("a total of %v is huge: %v", total, m.flaws[hugeTotal])
		}
	}
	r := redactor{map[string]string{}}
	for n := range 4098 {
		r.text(fmt.Sprint(n))
		if want := n%4097 + 1; len(r.seen) != want {
			t.Fatalf("%d texts are remembered of %d", len(r.seen), n+1)
		}
	}
}

// A line may be 8 MiB long with its end; only the first may begin with a byte order mark.
func TestLinesAtTheirBounds(t *testing.T) {
	for n, want := range map[int]error{maxLine - 1: nil, maxLine: ErrLongLine, maxLine + 100: ErrLongLine} {
		l := newLines(strings.NewReader(strings.Repeat("x", n) + "\nnext\n"))
		line, err := l.next()
		if err != want || err == nil && len(line) != n || l.read != int64(n)+1 {
			t.Errorf("%d bytes: %d, %v", n, len(line), err)
		}
		if line, err = l.next(); err != nil || string(line) != "next" || l.begin != int64(n)+1 {
			t.Errorf("after %d bytes %q at %d, %v", n, line, l.begin, err)
		}
	}
	l := newLines(strings.NewReader("\xef\xbb\xbfa\n\xef\xbb\xbfb\n\nc"))
	for _, want := range []string{"a", "\xef\xbb\xbfb", "", "c"} {
		if line, err := l.next(); err != nil || string(line) != want || l.ended != (want != "c") {
			t.Errorf("%q, %v; want %q", line, err, want)
		}
	}
	if _, err := l.next(); err != io.EOF {
		t.Errorf("after the last line: %v", err)
	}
}

// How a file is packed is told by its first bytes, UTF-16 also without a mark.
func TestPackingOf(t *testing.T) {
	for head, want := range map[string]packing{
		"": plainText, "a\x00b": plainText, "a\x00b\x00": utf16Text, "\x00a\x00b": utf16Text, " \x00~\x00": utf16Text, "\x00 \x00~": utf16Text,
		"\x1f\x00a\x00": plainText, "a\x00\x7f\x00": plainText, "\x00\x1f\x00a": plainText, "\x00\x00\x00\x00": plainText, "a\x00bc": plainText, "abcd": plainText,
		"a\x00b\x00\x28\xb5\x2f\xfd": plainText, "\xff\xfe": utf16Text, "\xfe\xff": utf16Text, "\x1f\x8b": gzipText,
		"\x28\xb5\x2f\xfd": zstdText, "\x50\x2a\x4d\x18": zstdText, "\x5f\x2a\x4d\x18": zstdText, "\x50\x2a\x4d": plainText, "\x60\x2a\x4d\x18": plainText, "\x50\x2a\x4d\x19": plainText,
	} {
		if got := packingOf([]byte(head)); got != want {
			t.Errorf("%q is %d, want %d", head, got, want)
		}
	}
	var snapshots strings.Builder
	snapshots.WriteString(bombHeader)
	for n := range 3 {
		snapshots.WriteString(bombLine(n, "", plainGPU))
	}
	for what, junk := range map[string]string{"the beginning of a frame": "x\x28\xb5\x2f\xfd\n", "a NUL": "\x00\n"} {
		if times, _, _, err := read(t, []byte(junk+snapshots.String())); len(times) != 3 || err != nil {
			t.Errorf("%s in a plain file: %d snapshots, %v", what, len(times), err)
		}
	}
	packed := zstded(t, snapshots.String())
	packed[0] = 0
	if times, _, _, err := read(t, append(packed, zstded(t, snapshots.String())...)); len(times) != 3 || err != nil {
		t.Errorf("a first byte of 0: %d snapshots, %v", len(times), err)
	}
}

// Frames are followed by their blocks of any kind, to the byte.
func TestFramesAreFollowed(t *testing.T) {
	noise := make([]byte, 300<<10) // raw blocks of 128 KiB
	random := rand.New(rand.NewPCG(5, 6))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	plain := string(noise) + strings.Repeat("\x00", 400<<10) + strings.Repeat("so it goes ", 999)
	withSum := zstded(t, plain)
	w, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	bare := w.EncodeAll([]byte(plain), nil)
	skipped := append([]byte("\x50\x2a\x4d\x18\x05\x00\x00\x00"), "12345"...)
	file := bytes.Join([][]byte{withSum, bare, skipped}, nil)
	all := func(b []byte) (string, *frames) {
		f, err := newFrames(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			t.Error(err)
		}
		return string(text), f
	}
	if text, f := all(file); text != plain+plain || f.damaged > 0 || f.cut || f.wasted > 0 {
		t.Errorf("%d bytes of %d, %d damaged, cut %v", len(text), 2*len(plain), f.damaged, f.cut)
	}
	f, err := newFrames(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := int64(0)
	for _, frame := range [][]byte{withSum, bare} {
		start, end, state, ok := f.find(at)
		if start != at || end != at+int64(len(frame)) || state != frameWhole || !ok {
			t.Errorf("a frame from %d to %d, %v, %v; want %d to %d", start, end, state, ok, at, at+int64(len(frame)))
		}
		at = end
	}
	if _, _, _, ok := f.find(at); ok {
		t.Error("a frame behind the last")
	}
	for _, frame := range [][]byte{withSum, bare} {
		for _, n := range []int{1, 3} {
			if _, f := all(frame[:len(frame)-n]); !f.cut || f.damaged > 0 {
				t.Errorf("%d bytes cut off %d: cut %v, %d damaged", n, len(frame), f.cut, f.damaged)
			}
		}
	}
	for damaged, want := range map[int]bool{maxDamaged - 1: true, maxDamaged: false} {
		f.seek(0)
		f.damaged = damaged
		if f.enter() != want {
			t.Errorf("with %d damaged places another frame is read: %v", damaged, !want)
		}
	}
	if text, f := all(append([]byte("junk"), withSum...)); text != plain || f.damaged != 1 {
		t.Errorf("behind junk: %d bytes, %d damaged", len(text), f.damaged)
	}
}

// gzip of unknown size is not held to one.
func TestGunzipOfUnknownSize(t *testing.T) {
	for size, want := range map[int64]int{0: 5, 1: 0} {
		g := gunzip{source: bytes.NewReader(gzipped(t, "hello")), size: size, plain: plainSpare + plainRatio + 1}
		if b, err := io.ReadAll(&g); len(b) != want || err != nil || g.damage != nil {
			t.Errorf("size %d: %d bytes, %v, %v", size, len(b), err, g.damage)
		}
	}
}

// Kinds of lines that nobody knows are counted, ten by name.
func TestUnknownKinds(t *testing.T) {
	var n notes
	n.other(strings.Repeat("x", 40))
	n.other(strings.Repeat("y", 41))
	for i := range 8 {
		n.other(fmt.Sprint(i))
	}
	if len(n.unknown) != 10 || n.unknown[strings.Repeat("x", 40)] != 1 || n.unknown["…"] != 1 {
		t.Errorf("%v", n.unknown)
	}
	if n.other("11th"); len(n.unknown) != 10 || n.unknown["…"] != 2 {
		t.Errorf("%v", n.unknown)
	}
}

// Times of columns are kept as far as a duration goes.
func TestTimesOfColumns(t *testing.T) {
	for text, want := range map[string]bool{"8999999999": true, "-8999999999": true, "9000000000": false, "-9000000000": false, "null": false} {
		at, maybe := start, sampler.Some(start)
		x := value{kind: '0', b: []byte(text)}
		setTime(reflect.ValueOf(&at).Elem(), start, x)
		setTime(reflect.ValueOf(&maybe).Elem(), start, x)
		if at.IsZero() == want || maybe.Known() != want || want && (!at.Equal(maybe.Or(start)) || at.Equal(start)) {
			t.Errorf("%s s: %v, %v", text, at, maybe)
		}
	}
	if got := round(math.NaN(), 3); got != 0 {
		t.Errorf("no number is written as %v", got)
	}
	for n, want := range map[uint64]uint64{999: 999, 1000: 1000, 1001: 1000, 99999: 99900} {
		if got := threeDigits(n); got != want {
			t.Errorf("%d to three digits: %d", n, got)
		}
	}
	for _, s := range []scanner{{b: []byte("\x00")}, {b: []byte("1")}, {b: []byte(" "), bad: true}} {
		if s.end() {
			t.Errorf("%q ends", s.b)
		}
	}
}

// A log of CSV is held to what there can be of cells, rows and GPUs.
func TestCSVAtItsBounds(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "1023": true, "1024": false, "-1": false, "1.5": false, "[N/A]": true, "x": false} {
		var m meter
		if got := (cell{text: text}).index(&m); got != want || m.flaws[badIndex] == want {
			t.Errorf("%s is an index: %v", text, got)
		}
	}
	for text, want := range map[string]sampler.Opt[sampler.Bytes]{"[N/A]": unknown, "0": sampler.Some(sampler.Bytes(0)), "-1": unknown, "2 KiB": sampler.Some(2 * sampler.KiB)} {
		if got := (cell{text: text}).bytes(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	ecc, _ := csvRow("ecc.errors.uncorrected.volatile.total")
	for text, want := range map[string]sampler.Opt[uint64]{"0": sampler.Some(uint64(0)), "3": sampler.Some(uint64(3)), "-1": {}, "N/A": {}} {
		var g sampler.GPU
		if ecc(&g, cell{text: text}); g.ECCUncorrected != want {
			t.Errorf("%s errors: %v", text, g.ECCUncorrected)
		}
	}
	for text, want := range map[string]bool{"20/11/1970 14:03:22": true, "20/11/1969 14:03:22": false, "20/11/2262 14:03:22": false} {
		if _, ok := new(csvDates).parse(text, &meter{}); ok != want {
			t.Errorf("%s is a time: %v", text, ok)
		}
	}
	var c csvLog
	for n := range maxGPUs + 1 {
		g := sampler.GPU{Index: n}
		g.Memory.Total = sampler.Some(sampler.GiB)
		c.judgeTotal(&g, &meter{})
	}
	if len(c.totals) != maxGPUs {
		t.Errorf("the totals of %d GPUs are kept", len(c.totals))
	}
	c = csvLog{}
	var p progress
	row := func(text string) error { return c.line(&p, []byte(text), &Record{Line: 1}) }
	if err := row("timestamp, memory.used, memory.total"); err != errNone {
		t.Error(err)
	}
	for range maxDevices + 1 {
		if err := row("2026/11/20 14:03:22, 5, 9"); err != errNone {
			t.Fatal(err)
		}
	}
	if len(c.group) != maxDevices || c.group[maxDevices-1].Index != maxDevices-1 {
		t.Errorf("%d rows of one time are kept", len(c.group))
	}
	for what, text := range map[string]string{"a word that is a column": "name\nx\n", "columns without memory": "index, name\n0, x\n"} {
		_, err := NewReader("file", strings.NewReader(text), int64(len(text)))
		if want := map[bool]error{true: ErrNotRecording, false: ErrNoMemory}[strings.HasPrefix(text, "name")]; !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Without an index a sweep begins where a GPU comes again, by its UUID and place, or at another time.
func TestCSVSweeps(t *testing.T) {
	for _, row := range []struct {
		a, b  sampler.GPU
		later time.Duration
		want  bool
	}{
		{sampler.GPU{UUID: "a"}, sampler.GPU{UUID: "a"}, 0, true}, {sampler.GPU{UUID: "a"}, sampler.GPU{UUID: "b"}, time.Second, false},
		{sampler.GPU{PCI: "a"}, sampler.GPU{PCI: "a"}, 0, true}, {sampler.GPU{PCI: "a"}, sampler.GPU{PCI: "b"}, 0, false},
		{sampler.GPU{UUID: "x", PCI: "a"}, sampler.GPU{UUID: "x", PCI: "b"}, 0, false}, {sampler.GPU{}, sampler.GPU{}, 0, false}, {sampler.GPU{}, sampler.GPU{}, time.Second, true},
	} {
		c := csvLog{columns: &csvColumns{}, group: []sampler.GPU{row.a}, at: start}
		if got := c.begins(&row.b, start.Add(row.later)); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}
