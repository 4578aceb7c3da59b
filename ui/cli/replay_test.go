package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/ui"
	"nvpeak/ui/player"
)

// damagedTape writes a recording that came to harm.
func damagedTape(t *testing.T, rng *rand.Rand, name string, whole []byte) string {
	t.Helper()
	b := append([]byte(nil), whole...)
	switch rng.IntN(3) {
	case 0:
		b = b[:rng.IntN(len(b))]
	case 1:
		for range 1 + rng.IntN(20) {
			b[rng.IntN(len(b))] = byte(rng.IntN(256))
		}
	default:
		at, n := rng.IntN(len(b)), rng.IntN(500)
		b = append(b[:at], b[min(at+n, len(b)):]...)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wholeTape is a recording of some minutes with processes that come and go.
func wholeTape(t *testing.T, name string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := tape.Create(path, tape.Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	marks := sampler.NewWatermarks()
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for i := range 700 {
		at = at.Add(time.Second)
		used := sampler.Bytes(10+i%7) * sampler.GiB
		s := &sampler.Snapshot{Time: at, Host: "box", GPUs: []sampler.GPU{{UUID: "a", Memory: sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used)},
			Processes: []sampler.Process{{PID: 1 + i/100, Name: "python", Memory: sampler.Some(used)}}}}}
		marks.Apply(s)
		w.Readings(0, at, used)
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
		if i%90 == 50 {
			w.Event(tape.Event{Time: at, Kind: tape.KindOOM, OOM: &sampler.OOMEvent{Kind: "cuda_oom", Requested: sampler.Some(sampler.GiB)}})
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

// Whatever happened to a file, a replay of it opens or is refused, can be sought in, and
// its frames can be drawn.
func TestReplayOfDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	opened := 0
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		whole := wholeTape(t, name)
		for range 40 {
			path := damagedTape(t, rng, name, whole)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			r, err := player.Open(ctx, func() (player.Tape, error) { return openTape(one(path, nil), lang.English().Say) }, player.Options{})
			if err == nil {
				opened++
				for _, at := range []string{"50%", "0%", "100%", "-1m", "+30s", "03:05"} {
					if err := r.Begin(at); err != nil {
						t.Error(err)
					}
					if frame, err := ui.ReplayFrame(ctx, r, 80, 24, ui.Options{}); err != nil || len(frame) < 80*20 {
						t.Fatalf("%s at %s: %v\n%s", path, at, err, frame)
					}
				}
				r.Close()
			}
			cancel()
		}
	}
	if opened < 40 {
		t.Errorf("only %d of 80 opened", opened)
	}
}

// Recordings written by hand and logs of nvidia-smi have peaks and plots like our own.
func TestReplayOfOthers(t *testing.T) {
	var hand, csv strings.Builder
	csv.WriteString("index, timestamp, memory.total, memory.used\n")
	for i := range 60 {
		used := 2 << 30
		if i == 30 {
			used = 7 << 30
		}
		at := time.Date(2026, 11, 20, 3, 0, i, 0, time.Local)
		fmt.Fprintf(&hand, `{"type":"snapshot","time":%q,"gpus":[{"index":0,"memory":{"total_bytes":17179869184,"used_bytes":%d},"processes":[{"pid":7,"memory_bytes":%d}]}]}`+"\n",
			at.Format(time.RFC3339), used, used)
		fmt.Fprintf(&csv, "0, %s, 16384, %d\n", at.Format("2006/01/02 15:04:05.000"), used>>20)
	}
	for name, text := range map[string]string{"hand.jsonl": hand.String(), "smi.csv": csv.String()} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := player.Open(t.Context(), func() (player.Tape, error) { return openTape(one(path, nil), lang.English().Say) }, player.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, row := range []struct{ at, used, peak string }{{"03:00:59", " 2.0 / ", "▲7.0"}, {"03:00:30", " 7.0 / ", "▲7.0"}, {"03:00:29", " 2.0 / ", "▲2.0"}, {"03:00:31", " 2.0 / ", "▲7.0"}} {
			if err := r.Begin(row.at); err != nil {
				t.Fatal(err)
			}
			frame, err := ui.ReplayFrame(t.Context(), r, 100, 24, ui.Options{})
			if err != nil || !strings.Contains(frame, row.used) || !strings.Contains(frame, row.peak) || !strings.Contains(frame, row.at) {
				t.Errorf("%s at %s: want %s and %s, %v\n%s", name, row.at, row.used, row.peak, err, frame)
			}
		}
	}
}

// What a recording begins with is no peak: nothing rose to it.
func TestReplayHasNoPeakAtItsStart(t *testing.T) {
	var text strings.Builder
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for i, used := range []int{9, 4, 5, 6, 5, 4} {
		fmt.Fprintf(&text, `{"type":"snapshot","time":%q,"gpus":[{"index":0,"memory":{"total_bytes":16000,"used_bytes":%d}},{"index":1,"memory":{"total_bytes":16000,"used_bytes":%d}}]}`+"\n",
			at.Add(time.Duration(i)*time.Second).Format(time.RFC3339), used, 10-used)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := player.Open(t.Context(), func() (player.Tape, error) { return openTape(one(path, nil), lang.English().Say) }, player.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Begin("100%"); err != nil {
		t.Fatal(err)
	}
	if _, err := ui.ReplayFrame(t.Context(), p, 80, 24, ui.Options{}); err != nil {
		t.Fatal(err)
	}
	peaks := ""
	for _, m := range p.Timeline().Marks {
		peaks += m.At.UTC().Format("05 ") + m.Text + "\n"
	}
	if want := "01 peak of GPU 1: 6 B\n"; peaks != want {
		t.Errorf("%q, want %q", peaks, want)
	}
}
