package tape_test

import (
	"context"
	"io"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/tape"
)

// What processes asked for comes out of a recording as it went in: requests, refusals, and how they are seen.
func TestRequestsAreKept(t *testing.T) {
	clock := sampler.NewScriptClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	src, err := demo.New("oom", clock)
	if err != nil {
		t.Fatal(err)
	}
	l := sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: clock, Asking: src.Asking()})
	if err := l.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	l.Simulate(clock, 3*time.Minute)
	snaps, err := l.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	w, path := tape.CreateFor(t, "run.jsonl.zst", tape.Options{Program: "nvpeak test", Interval: time.Second, MemoryInterval: 20 * time.Millisecond})
	var want []string
	asked, refused, unplaced := 0, 0, 0
	for i, s := range snaps {
		if p := s.GPUs[0].Processes; i%40 == 35 && len(p) > 0 { // one that has ended on a GPU that is not known
			p := p[0]
			s.Unplaced = []sampler.Process{p}
			unplaced++
		}
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
		asked += len(s.Requests)
		for _, p := range s.GPUs[0].Processes {
			if p.Requests != nil && p.Requests.Refusal != nil {
				refused++
			}
		}
		want = append(want, tape.Kept(t, s))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if asked < 80 || refused < 4 || unplaced < 2 {
		t.Fatalf("%d requests, %d snapshots with a refusal", asked, refused)
	}
	got := 0
	for r := tape.OpenFor(t, path); ; {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Snapshot == nil {
			continue
		}
		if s := tape.ToJSON(t, rec.Snapshot); got < len(want) && s != want[got] {
			t.Fatalf("snapshot %d:\n%s, want\n%s", got, s, want[got])
		}
		for _, p := range rec.Snapshot.Unplaced {
			if unplaced--; p.PID == 0 {
				t.Errorf("%+v", p)
			}
		}
		got++
	}
	if unplaced != 0 {
		t.Errorf("%d processes of no GPU are missing", unplaced)
	}
	if got != len(want) {
		t.Errorf("%d of %d snapshots", got, len(want))
	}
}
