package oomlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"nvpeak/sampler"
)

// asJSON makes events comparable and readable.
func asJSON(t testing.TB, events []sampler.OOMEvent) string {
	t.Helper()
	b, err := json.MarshalIndent(events, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// inChunks feeds a text in pieces and collects what comes out.
func inChunks(text []byte, r *rand.Rand, longest int) []sampler.OOMEvent {
	p := newParser()
	var all repeats
	for len(text) > 0 {
		n := min(len(text), 1+r.IntN(longest))
		p.write(text[:n])
		text = text[n:]
		all.add(p.events())
	}
	all.add(p.flush())
	return all.list()
}

func TestChunksDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range texts(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Scan(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, longest := range []int{1, 7, 300} {
			if got := inChunks(b, r, longest); asJSON(t, got) != asJSON(t, whole) {
				t.Errorf("%s in chunks up to %d:\n%s\nwhole:\n%s", path, longest, asJSON(t, got), asJSON(t, whole))
			}
		}
	}
}

func TestLineByLineIsScan(t *testing.T) {
	for _, path := range texts(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := newParser()
		var all repeats
		for _, l := range bytes.SplitAfter(b, []byte("\n")) {
			p.write(l)
			all.add(p.events())
		}
		all.add(p.flush())
		whole, _ := Scan(bytes.NewReader(b))
		if asJSON(t, all.list()) != asJSON(t, whole) {
			t.Errorf("%s: lines give other events than the whole", path)
		}
	}
}

func TestScanReportsReadErrors(t *testing.T) {
	text := "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity)\n"
	events, err := Scan(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text))))
	if err == nil {
		t.Error("no error")
	}
	if len(events) > 1 {
		t.Errorf("%d events", len(events))
	}
}

// trainingLog is a plain log of about size bytes without a failure: progress bars, losses, tables.
func trainingLog(size int) []byte {
	var b bytes.Buffer
	for step := 0; b.Len() < size; step++ {
		epoch, in := step/1000, step%1000
		fmt.Fprintf(&b, "\rEpoch %d/50:  %2d%%|██████▎   | %d/1000 [12:04<07:05,  1.29it/s, loss=%.4f]", epoch, in/10, in, 1.0/float64(1+step))
		if in%10 == 0 {
			fmt.Fprintf(&b, "\n2024-05-01 10:11:12,345 - mmdet - INFO - Epoch [%d][%d/1000]\tlr: 1.000e-02, eta: 1 day, 3:04:05, time: 0.512, data_time: 0.010, memory: 7345, loss_rpn_cls: 0.0412, loss: %.4f\n", epoch, in, 0.5)
		}
		if in%100 == 0 {
			fmt.Fprintf(&b, "[rank%d]: step %d grad_norm 1.2345 tokens/s 12345.6 reserved 37.6G\n", step%8, step)
			fmt.Fprintf(&b, "     12/100      37.6G      1.021     0.7713      1.140        214       1280: 100%%\n")
		}
	}
	return b.Bytes()
}

func BenchmarkTrainingLog(b *testing.B) {
	log := trainingLog(50 << 20)
	b.SetBytes(int64(len(log)))
	b.ResetTimer()
	for range b.N {
		events, err := Scan(bytes.NewReader(log))
		if err != nil || len(events) > 0 {
			b.Fatal(err, len(events))
		}
	}
}

func TestMemoryIsConstant(t *testing.T) {
	p := newParser()
	log := trainingLog(1 << 20)
	failure := []byte("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 6.00 GiB already allocated; 10.00 MiB free; 6.50 GiB reserved in total by PyTorch)\n")
	long := bytes.Repeat([]byte("no end "), 1<<19) // 3.5 MiB without a line end
	feed := func(rounds int) {
		for i := range rounds {
			p.write(log)
			p.write(bytes.ReplaceAll(failure, []byte("20.00"), fmt.Appendf(nil, "%d.00", i)))
			p.write(long)
			p.write(fmt.Appendf(nil, "\n[rank%d]: out of memory\n(Worker pid=%d) CUDA out of memory. Tried to allocate %d.00 MiB\n", i, i, i))
			p.events()
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	feed(12)
	before := heap()
	feed(24)
	if after := heap(); after > before+8<<20 {
		t.Errorf("heap grew from %d to %d bytes", before, after)
	}
	if n := len(p.held.events); n > maxHeld {
		t.Errorf("%d held events", n)
	}
	if n := len(p.streams.order); n > maxStreams {
		t.Errorf("%d streams", n)
	}
	runtime.KeepAlive(p)
}

func FuzzScan(f *testing.F) {
	for _, path := range texts(f) {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		whole, err := Scan(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := inChunks(text, rand.New(rand.NewPCG(seed, 0)), 64); asJSON(t, got) != asJSON(t, whole) {
			t.Fatalf("chunks change the events:\n%s\n%s", asJSON(t, got), asJSON(t, whole))
		}
		for _, e := range whole {
			if strings.ContainsAny(e.Text, "\x1b\x00\x07\r\n") {
				t.Fatalf("control characters in %q", e.Text)
			}
			for _, v := range []sampler.Opt[sampler.Bytes]{e.Requested, e.GPUTotal, e.GPUFree, e.Allocated, e.Reserved, e.ProcessInUse} {
				if v.Or(0) >= sampler.MaxPlausible {
					t.Fatalf("a size of %d bytes", v.Or(0))
				}
			}
			if e.Kind == "" || e.Framework == "" || e.MemoryKind == "" || e.Occurrences < 1 || e.Line < 1 || e.Context == nil {
				t.Fatalf("incomplete event %+v", e)
			}
		}
	})
}

func TestTables(t *testing.T) {
	names := map[string]bool{}
	for _, r := range compiled().rows {
		if names[r.name] {
			t.Errorf("two rows %q", r.name)
		}
		names[r.name] = true
		if r.kind == "" || r.framework == "" || r.memory == "" || len(r.words) == 0 {
			t.Errorf("row %q is incomplete", r.name)
		}
		if !slices.Contains(sampler.ErrorKinds[:], r.kind) {
			t.Errorf("row %q: %q is not in sampler.ErrorKinds", r.name, r.kind)
		}
		for _, p := range append(r.fields, r.start) {
			if n := p.re.get().NumSubexp(); n != len(p.names) {
				t.Errorf("row %q: groups of %q must be (?:…)", r.name, p.re.source)
			}
			p.glued.get()
		}
		for _, l := range []*hint{r.near, r.hostNear, r.gpuNear} {
			if l != nil {
				l.get()
			}
		}
		for _, w := range r.words {
			if w != strings.ToLower(w) || len(w) < 4 {
				t.Errorf("row %q: word %q must be lower case and rare", r.name, w)
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text string
		kind captureKind
		want sampler.Bytes
		ok   bool
	}{
		{"20.00 MiB", kindSize, 20971520, true},
		{"15.82GiB", kindSize, 16986595656, true},
		{"4,770,354,232 bytes", kindSize, 4770354232, true},
		{"0 bytes", kindSize, 0, true},
		{"63210000kB", kindSize, 64727040000, true},
		{"98.000244MB", kindSize, 102760704, true},
		{"17.5G", kindSize, 18790481920, true},
		{"17179869184.00 GiB", kindSize, 0, false},
		{"18446744073709551615", kindSize, 0, false},
		{"9999999999999999999999 GiB", kindSize, 0, false},
		{"1.5", kindGiB, 1610612736, true},
		{"63,210,000", kindKiB, 64727040000, true},
		{"35533.34", kindMiB, 37259407524, true},
		{"", kindSize, 0, false},
	} {
		got, ok := parseSize(c.text, c.kind)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: %d %v, want %d %v", c.text, got, ok, c.want, c.ok)
		}
	}
}
