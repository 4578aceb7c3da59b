package tape

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// aheadAt is how far the time of day is ahead after so many seconds: set back by an hour, and forward by two.
func aheadAt(second int) time.Duration {
	switch {
	case second < 100:
		return 0
	case second < 200:
		return -time.Hour
	}
	return time.Hour
}

func clockSetTape(t *testing.T, name string) (path string, want []*sampler.Snapshot) {
	w, path := create(t, name, Options{Program: "nvpeak test", Interval: time.Second, MemoryInterval: 20 * time.Millisecond})
	tr := newTrace(2, 3)
	for i := range 300 {
		s, err := tr.second(nil)
		if err != nil {
			t.Fatal(err)
		}
		for g := range s.GPUs {
			w.Readings(g, s.Time.Add(-time.Duration(500-g)*time.Millisecond), s.GPUs[g].Memory.Used.Or(0)+1)
		}
		s = s.WithAhead(aheadAt(i))
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
		if i == 150 {
			w.Event(Event{Time: s.Time, Kind: KindOOM, OOM: &sampler.OOMEvent{Kind: "x"}})
		}
		want = append(want, s)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, want
}

// TestClockSetWhileRecording: times in a recording go on evenly, each line tells the time of day, and
// the events name what was done.
func TestClockSetWhileRecording(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.zst"} {
		path, want := clockSetTape(t, name)
		r := open(t, path)
		var kinds []string
		n, last := 0, time.Time{}
		for {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if record.Readings != nil || record.Snapshot != nil || record.Event != nil {
				if record.Time.Before(last) {
					t.Fatalf("%s: line %d goes back from %v to %v", name, record.Line, last, record.Time)
				}
				last = record.Time
			}
			if e := record.Event; e != nil && e.Kind != KindProcessStart && e.Kind != KindProcessEnd {
				kinds = append(kinds, fmt.Sprint(e.Kind, e.Dur.Or(0), e.Time.Equal(toMilli(want[n].Time)) || e.Kind == KindOOM && e.Time.Equal(toMilli(want[n-1].Time))))
			}
			if s := record.Snapshot; s != nil {
				if got := kept(t, s); got != kept(t, want[n]) || s.Ahead() != want[n].Ahead() {
					t.Fatalf("%s: snapshot %d, ahead %v, want %v:\n%s\nwant\n%s", name, n, s.Ahead(), want[n].Ahead(), got, kept(t, want[n]))
				}
				n++
			}
			if record.End != nil && (record.End.Duration < 298 || record.End.Duration > 300) {
				t.Errorf("%s: it lasted %v s", name, record.End.Duration)
			}
		}
		if got := strings.Join(kinds, " "); n != 300 || got != "time_backwards3600 true oom0 true time_forwards7200 true" {
			t.Errorf("%s: %d snapshots, events %s", name, n, got)
		}
		if notes := r.Notes(english); len(notes) > 0 {
			t.Errorf("%s: notes %q", name, notes)
		}
		for _, i := range []int{299, 150, 0, 99, 100, 220} {
			if err := r.Seek(want[i].Time); err != nil {
				t.Fatal(err)
			}
			if s := nextSnapshot(t, r); !s.Time.Equal(toMilli(want[i].Time)) || s.Ahead() != want[i].Ahead() {
				t.Errorf("%s: seek to %d found %v, ahead %v", name, i, s.Time, s.Ahead())
			}
		}
	}
}

// TestClockSetLines: what jq and people read in the lines is the time of day.
func TestClockSetLines(t *testing.T) {
	path, want := clockSetTape(t, "run.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		kind, _ := typeOf(line)
		if k := string(kind); k != "snapshot" && k != "event" && k != "end" {
			continue
		}
		at, ok := readTime(member(line, "time"))
		since, has := member(line, "t").float()
		i := 299
		if has {
			i = int(since)
		} else if string(kind) != "end" {
			i = int(at.Sub(start).Seconds()+0.5) - 1
		}
		if i = max(i, 0); !ok || at.Sub(toMilli(want[i].Wall().Time)).Abs() > 600*time.Millisecond || has != (aheadAt(i) != 0) && string(kind) != "end" {
			t.Errorf("second %d, ahead %v: %.150s", i, aheadAt(i), line)
		}
	}
}

func nextSnapshot(t *testing.T, r *Reader) *sampler.Snapshot {
	t.Helper()
	for {
		record, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if record.Snapshot != nil {
			return record.Snapshot
		}
	}
}

// TestHealed: a recording of which the clock was set back, by hand or by an nvpeak that did not
// know better, goes on where it was.
func TestHealed(t *testing.T) {
	var b strings.Builder
	at := func(i int) time.Time { return start.Add(time.Duration(i)*time.Second + aheadAt(i%150)) }
	for i := range 300 { // set back by an hour at 100 and 250; forward at 150, which looks like a gap
		fmt.Fprintf(&b, `{"type":"snapshot","time":%q,"gpus":[{"index":0,"memory":{"total_bytes":1000,"used_bytes":%d,"peak":{"bytes":900,"time":%q,"source":"sampled"}}}]}`+"\n",
			at(i).Format(time.RFC3339Nano), i, start.Format(time.RFC3339Nano))
	}
	path := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	var times []time.Time
	backwards := 0
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if e := record.Event; e != nil && e.Kind == KindBackwards {
			backwards++
			if e.Dur.Or(0) != 3599 {
				t.Errorf("set back by %v s", e.Dur)
			}
		}
		if s := record.Snapshot; s != nil {
			i := len(times)
			if !s.Time.Add(s.Ahead()).Equal(at(i)) {
				t.Fatalf("snapshot %d of %v, ahead %v, was written at %v", i, s.Time, s.Ahead(), at(i))
			}
			if p := s.GPUs[0].Memory.Peak; p.Time.After(s.Time) {
				t.Fatalf("snapshot %d has its peak at %v, after %v", i, p.Time, s.Time)
			}
			times = append(times, s.Time)
		}
	}
	for i := range times[1:] {
		if d := times[i+1].Sub(times[i]); d != time.Second && !(i+1 == 150 && d == time.Hour+time.Second) {
			t.Errorf("%v between snapshots %d and %d", d, i, i+1)
		}
	}
	if len(times) != 300 || backwards != 2 {
		t.Errorf("%d snapshots, set back %d times", len(times), backwards)
	}
	for _, i := range []int{299, 120, 90, 0, 200} { // by another reader, too, which has seen nothing
		for _, r := range []*Reader{r, open(t, path)} {
			if err := r.Seek(times[i]); err != nil {
				t.Fatal(err)
			}
			if s := nextSnapshot(t, r); !s.Time.Equal(times[i]) {
				t.Errorf("seek to %d found %v, want %v", i, s.Time, times[i])
			}
		}
	}
}
