package cli

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

func testRecorder(t *testing.T, out io.Writer, need sampler.Opt[sampler.Bytes]) *recorder {
	t.Helper()
	a := &app{}
	a.opt.need.Opt = need
	r := a.newRecorder("-")
	if err := r.create(out); err != nil {
		t.Fatal(err)
	}
	return r
}

func card(uuid string, used sampler.Bytes) sampler.GPU {
	return sampler.GPU{UUID: uuid, Memory: sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used), Free: sampler.Some(80*sampler.GiB - used)}}
}

func readAll(t *testing.T, b []byte) (records []tape.Record) {
	t.Helper()
	r, err := tape.NewReader("test", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		record, err := r.Next()
		if err != nil {
			return records
		}
		c := *record
		c.Readings = append([]tape.Reading(nil), record.Readings...)
		records = append(records, c)
	}
}

// Readings stand before the snapshot that comes after them, also when several snapshots
// are read at once; those after the last snapshot are not lost.
func TestRecorderOrder(t *testing.T) {
	var out bytes.Buffer
	r := testRecorder(t, &out, sampler.Opt[sampler.Bytes]{})
	at := func(ms int) time.Time { return time.Unix(1e9, 0).Add(time.Duration(ms) * time.Millisecond) }
	for i := range 6 {
		r.reading(0, at(500*i+100), sampler.Bytes(i+1)*sampler.GiB)
	}
	for i := range 2 {
		if err := r.take(&sampler.Snapshot{Time: at(1000 * (i + 1)), GPUs: []sampler.GPU{card("a", sampler.GiB)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	var order string
	var last time.Time
	for _, record := range readAll(t, out.Bytes()) {
		switch {
		case record.Snapshot != nil:
			order += "S"
		case record.Readings != nil:
			order += "r"
		case record.End != nil:
			if peak := record.End.Peaks[0].Peak; peak.Bytes != 6*sampler.GiB || !peak.Time.Equal(at(2600)) {
				t.Errorf("peak of the end: %+v", peak)
			}
			continue
		}
		if record.Time.Before(last) {
			t.Errorf("%v after %v", record.Time, last)
		}
		last = record.Time
	}
	if order != "rrSrrSrr" {
		t.Errorf("order %q", order)
	}
}

// When the GPUs of the machine change, readings of the new ones are not put down to the old.
func TestRecorderOtherGPUs(t *testing.T) {
	var out bytes.Buffer
	r := testRecorder(t, &out, sampler.Opt[sampler.Bytes]{})
	start := time.Unix(1e9, 0)
	r.take(&sampler.Snapshot{Time: start, GPUs: []sampler.GPU{card("a", sampler.GiB), card("b", 60*sampler.GiB)}}) //nolint:errcheck // a buffer
	r.reading(0, start.Add(500*time.Millisecond), 60*sampler.GiB)
	r.take(&sampler.Snapshot{Time: start.Add(time.Second), GPUs: []sampler.GPU{card("b", 60*sampler.GiB)}}) //nolint:errcheck // a buffer
	r.close()                                                                                               //nolint:errcheck // a buffer
	for _, record := range readAll(t, out.Bytes()) {
		if record.Readings != nil {
			t.Errorf("recorded %+v", record.Readings)
		}
	}
}

// Open alerts are recorded, but their words not with every snapshot.
func TestRecorderAlerts(t *testing.T) {
	var out bytes.Buffer
	r := testRecorder(t, &out, sampler.Some(30*sampler.GiB))
	start := time.Unix(1e9, 0)
	const n = 600
	for i := range n {
		g := card("a", 60*sampler.GiB+sampler.Bytes(i)*sampler.MiB)
		g.Processes = []sampler.Process{{PID: 1, Name: "python", Memory: g.Memory.Used}}
		r.take(&sampler.Snapshot{Time: start.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{g}}) //nolint:errcheck // a buffer
	}
	r.close() //nolint:errcheck // a buffer
	open := 0
	for _, record := range readAll(t, out.Bytes()) {
		if s := record.Snapshot; s != nil && len(s.Alerts) > 0 {
			open++
		}
	}
	if open < n/2 {
		t.Errorf("alerts in %d of %d snapshots", open, n)
	}
	if said := strings.Count(out.String(), `"alerts":[{`); said > 2*n/60+10 {
		t.Errorf("the alerts were written %d times in %d seconds", said, n)
	}
}

// More readings than there is room for are dropped, not kept for ever.
func TestRecorderBounded(t *testing.T) {
	r := testRecorder(t, io.Discard, sampler.Opt[sampler.Bytes]{})
	for i := range maxChanges + 10 {
		r.reading(0, time.Unix(int64(i), 0), sampler.Bytes(i))
	}
	if n := len(r.until(time.Unix(1<<40, 0))); n != maxChanges {
		t.Errorf("%d readings", n)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// A reader that has gone ends a recording to a pipe without a complaint.
func TestRecorderPipe(t *testing.T) {
	r := testRecorder(t, brokenPipe{}, sampler.Opt[sampler.Bytes]{})
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = r.take(&sampler.Snapshot{Time: time.Unix(int64(i), 0), GPUs: []sampler.GPU{card("a", 1)}})
		r.w.Flush()
	}
	if !errors.Is(err, errReaderGone) {
		t.Errorf("the error is %v", err)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A file into which nothing came is not left behind.
func TestRecorderNothing(t *testing.T) {
	a := &app{}
	r := a.newRecorder(filepath.Join(t.TempDir(), "a.jsonl.zst"))
	if err := r.create(nil); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := r.finish(&said); err != nil || !strings.Contains(said.String(), "nothing was recorded") {
		t.Errorf("%v %q", err, said.String())
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(r.path), "*")); len(list) > 0 {
		t.Errorf("left %q", list)
	}
}

func TestRotateFlag(t *testing.T) {
	for _, row := range []struct {
		text string
		want rotateFlag
		ok   bool
	}{
		{"1h", rotateFlag{age: time.Hour}, true}, {"90s", rotateFlag{age: 90 * time.Second}, true}, {"100MiB", rotateFlag{size: 100 << 20}, true}, {"1G", rotateFlag{size: 1 << 30}, true},
		{"1ms", rotateFlag{}, false}, {"-1h", rotateFlag{}, false}, {"5", rotateFlag{}, false}, {"", rotateFlag{}, false}, {"x", rotateFlag{}, false}, {"99999999999999999999G", rotateFlag{}, false},
	} {
		var got rotateFlag
		err := got.Set(row.text)
		got.text = ""
		if (err == nil) != row.ok || got != row.want {
			t.Errorf("%q: %+v %v", row.text, got, err)
		}
	}
}

// When the clock is set back nothing that waits is held up.
func TestRecorderClockSetBack(t *testing.T) {
	var out bytes.Buffer
	r := testRecorder(t, &out, sampler.Opt[sampler.Bytes]{})
	at := time.Unix(1e9, 0)
	snap := func(at time.Time) {
		r.take(&sampler.Snapshot{Time: at, GPUs: []sampler.GPU{card("a", sampler.GiB)}}) //nolint:errcheck // a buffer
	}
	snap(at)
	r.reading(0, at.Add(600*time.Millisecond), 100)
	back := at.Add(-time.Hour)
	for i := range 5 {
		r.reading(0, back.Add(time.Duration(i)*time.Second), sampler.Bytes(200+i))
		snap(back.Add(time.Duration(i)*time.Second + 500*time.Millisecond))
	}
	if n := len(r.changes); n > 0 {
		t.Errorf("%d readings still wait", n)
	}
}
