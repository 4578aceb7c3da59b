package tape

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// TestDay measures a recording of 8 GPUs: its size, what opening it takes, what memory.
// A day takes minutes to make, so by default it is ten minutes; NVPEAK_TAPE_HOURS=24 makes
// the day that the figures of docs/recording.md are from. The bounds are scaled.
func TestDay(t *testing.T) {
	hours := 1.0 / 6
	if h, err := strconv.ParseFloat(os.Getenv("NVPEAK_TAPE_HOURS"), 64); err == nil {
		hours = h
	} else if testing.Short() {
		t.Skip("takes seconds")
	}
	w, path := create(t, "day.jsonl.zst", Options{})
	tr := newTrace(8, 42)
	seconds := int(hours * 3600)
	var writing time.Duration
	for range seconds {
		begin := time.Now()
		if _, err := tr.second(w); err != nil {
			t.Fatal(err)
		}
		writing += time.Since(begin)
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	r := open(t, path)
	n, lines := 0, 0
	for range r.Snapshots() {
		n++
	}
	lines = r.lines.n
	took := time.Since(begin)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%.2f h: %.2f MB (a day: %.1f MB), %d lines, read in %v (a day: %v), heap %d MB, %v to make and write a second", hours,
		float64(info.Size())/1e6, float64(info.Size())/1e6*24/hours, lines, took, time.Duration(float64(took)*24/hours), m.HeapSys>>20, writing/time.Duration(seconds))
	if n != seconds {
		t.Errorf("%d snapshots of %d", n, seconds)
	}
	if mb := float64(info.Size()) / 1e6 * 24 / hours; mb > 20 {
		t.Errorf("%.1f MB a day", mb)
	}
}
