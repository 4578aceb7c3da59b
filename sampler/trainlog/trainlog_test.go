package trainlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

var rec = Recording{Start: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC), Zone: time.UTC}

// Every way in which loggers print the time, and lines that look like one.
func TestStamps(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 3, 22, 0, time.UTC)
	for _, tt := range []struct {
		line string
		want time.Time // zero: no time
	}{
		{"2026-11-20T14:03:22Z start", at},
		{"2026-11-20T16:03:22+02:00 start", at},
		{"2026-11-20 14:03:22,500 INFO start", at.Add(500 * time.Millisecond)},
		{"[2026-11-20 14:03:22.25] start", at.Add(250 * time.Millisecond)},
		{"2026/11/20 14:03:22 start", at},
		{"INFO 11-20 14:03:22 [core.py:12] start", at},
		{"[11/20 14:03:22 d2.utils.events]: iter: 19", at},
		{"26/11/20 14:03:22 INFO SparkContext: x", at},
		{"I1120 14:03:22.500000 77 main.cc:12] start", at.Add(500 * time.Millisecond)},
		{"Nov 20 14:03:22 box7 python[12]: start", at},
		{"Fri Nov 20 14:03:22 2026 start", at},
		{"[14:03:22] start", at},
		{"14:03:22.500 start", at.Add(500 * time.Millisecond)},
		{`{"time":"2026-11-20T14:03:22.5Z","msg":"x"}`, at.Add(500 * time.Millisecond)},
		{" 45%|####      | 10/22 [00:12:01<00:10:00,  1.2it/s]", time.Time{}},
		{"epoch 3 took 00:12:01", time.Time{}},
		{"2026-13-40 14:03:22 nonsense", time.Time{}},
		{"mac 12:34:56:78:9a:bc", time.Time{}},
		{"", time.Time{}},
	} {
		st, ok := new(stamps).of(tt.line)
		if ok != !tt.want.IsZero() {
			t.Errorf("%q: a time %v", tt.line, ok)
			continue
		}
		if got := rec.resolve(st, 0); ok && !got.Equal(tt.want) {
			t.Errorf("%q: %v, want %v", tt.line, got, tt.want)
		}
	}
}

func gib(v float64) sampler.Opt[sampler.Bytes] {
	return sampler.Some(sampler.Bytes(v*float64(sampler.GiB) + 0.5))
}

// What lines say of the run.
func TestMarks(t *testing.T) {
	none := sampler.Opt[sampler.Bytes]{}
	for _, tt := range []struct {
		line             string
		kind             string // of the first mark; empty: none
		n                int
		allocated, store sampler.Opt[sampler.Bytes]
		gpu              int
	}{
		{"Epoch 3/10 loss 0.2", sampler.MarkEpoch, 3, none, none, -1},
		{"epoch: 12", sampler.MarkEpoch, 12, none, none, -1},
		{`{"epoch": 7.0, "loss": 1}`, sampler.MarkEpoch, 7, none, none, -1},
		{"    134/300      9.2G      1.02     0.77", sampler.MarkEpoch, 134, none, gib(9.2), -1},
		{"                 Class     Images  Instances      Box(P", sampler.MarkValidation, 0, none, none, -1},
		{"***** Running Evaluation *****", sampler.MarkValidation, 0, none, none, -1},
		{"[val] Cleared GPU cache before validation at step 1000", sampler.MarkValidation, 0, none, none, -1},
		{"Validation:  12%|#", sampler.MarkValidation, 0, none, none, -1},
		{"validation loss 0.3", sampler.MarkTraining, 0, none, none, -1},
		{"Epoch 4 val_loss 0.3", sampler.MarkEpoch, 4, none, none, -1},
		{"val_acc=0.93", sampler.MarkTraining, 0, none, none, -1},
		{"Saving model checkpoint to out/", sampler.MarkSaving, 0, none, none, -1},
		{"start training", sampler.MarkTraining, 0, none, none, -1},
		{"allocated 12.5 GiB, reserved 14.0 GiB", sampler.MarkAllocator, 0, gib(12.5), gib(14), -1},
		{"Epoch 0 Step 37/500 loss 3.4 2.44 it/s mem alloc 0.50G reserved 4.00G max 4.00G", sampler.MarkEpoch, 0, gib(0.5), gib(4), -1},
		{"GPU 2: 12.5GB allocated, 14GB cached", sampler.MarkAllocator, 0, gib(12.5), gib(14), 2},
		{"memory/gpu3_allocated_gb: 12.5", sampler.MarkAllocator, 0, gib(12.5), none, 3},
		{"Allocated memory: 512 MiB", sampler.MarkAllocator, 0, sampler.Some(512 * sampler.MiB), none, -1},
		{"CUDA out of memory. Tried to allocate 2.00 GiB. Of the allocated memory 36.79 GiB is allocated by PyTorch", "", 0, none, none, -1},
		{"evaluate your options in the valley of epochs", "", 0, none, none, -1},
		{"allocated 99999999999999999999 GiB", "", 0, none, none, -1},
		{"", "", 0, none, none, -1},
	} {
		marks := marksOf(tt.line, true)
		if tt.kind == "" {
			if len(marks) > 0 {
				t.Errorf("%q: %+v, want nothing", tt.line, marks)
			}
			continue
		}
		if len(marks) == 0 || marks[0].Kind != tt.kind || marks[0].N.Or(0) != tt.n {
			t.Errorf("%q: %+v, want %s %d", tt.line, marks, tt.kind, tt.n)
			continue
		}
		last := marks[len(marks)-1]
		if last.Allocated != tt.allocated || last.Reserved != tt.store || last.GPU.Or(-1) != tt.gpu {
			t.Errorf("%q: allocated %v, reserved %v, GPU %v", tt.line, last.Allocated, last.Reserved, last.GPU)
		}
	}
}

// A log in another zone, or without a date, is placed where the recording lies.
func TestAnchor(t *testing.T) {
	for _, tt := range []struct {
		name, log string
		ends      []time.Duration // after the start of the recording
		line      int
		want      time.Duration // of that line, after the start
		note      bool
	}{
		{"same zone", "2026-11-20 14:10:00 a\n2026-11-20 15:00:00 CUDA out of memory\n", nil, 2, time.Hour, false},
		{"two hours ahead", "2026-11-20 16:10:00 a\n2026-11-20 17:00:00 CUDA out of memory\n", []time.Duration{time.Hour}, 2, time.Hour, true},
		{"another half hour", "2026-11-20 19:40:00 a\n2026-11-20 20:30:00 CUDA out of memory\n", []time.Duration{time.Hour}, 2, time.Hour, true},
		{"with a zone", "2026-11-20T09:10:00-05:00 a\n2026-11-20T10:00:00-05:00 CUDA out of memory\n", nil, 2, time.Hour, false},
		{"time alone", "[14:10:00] a\n[15:00:00] CUDA out of memory\n", nil, 2, time.Hour, false},
	} {
		r := rec
		for _, d := range tt.ends {
			r.Ends = append(r.Ends, rec.Start.Add(d))
		}
		l, err := Scan(strings.NewReader(tt.log), []int{tt.line})
		if err != nil {
			t.Fatal(err)
		}
		_, lines, note := l.Anchor(r)
		got, ok := lines[tt.line].Exact.Value()
		if !ok || got.Sub(rec.Start) != tt.want || (note != "") != tt.note {
			t.Errorf("%s: %v (%v), note %q", tt.name, got.Sub(rec.Start), ok, note)
		}
	}
}

// A clock without a date goes on over midnight.
func TestMidnight(t *testing.T) {
	l, err := Scan(strings.NewReader("[23:59:00] a\n[00:01:00] b\nnothing\n[00:02:00] c\n"), []int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	r := Recording{Start: time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC), Zone: time.UTC}
	_, lines, _ := l.Anchor(r)
	at := time.Date(2026, 11, 21, 0, 1, 0, 0, time.UTC)
	if got, _ := lines[2].Exact.Value(); !got.Equal(at) {
		t.Errorf("%v, want %v", got, at)
	}
	before, _ := lines[3].Before.Value()
	after, _ := lines[3].After.Value()
	if lines[3].Exact.Known() || !before.Equal(at) || !after.Equal(at.Add(time.Minute)) {
		t.Errorf("a line without a time lies between %v and %v", before, after)
	}
}

// Progress bars do not count as lines of their own, as in package oomlog.
func TestLineNumbers(t *testing.T) {
	l, err := Scan(strings.NewReader("a\r\n 10%\r 20%\r 30%\nEpoch 2\r\n\nEpoch 3"), nil)
	if err != nil {
		t.Fatal(err)
	}
	marks, _, _ := l.Anchor(rec)
	if len(marks) != 2 || marks[0].Line != 3 || marks[1].Line != 5 || marks[0].Time.Known() {
		t.Errorf("%+v", marks)
	}
}

// However long a log is, its readings are kept from the first to the last, and its phases.
func TestManyReadings(t *testing.T) {
	var log strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&log, "epoch %d allocated %d MiB\n", i/1000, i)
	}
	l, err := Scan(strings.NewReader(log.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	marks, _, _ := l.Anchor(rec)
	epochs := 0
	for _, m := range marks {
		if m.Kind == sampler.MarkEpoch {
			epochs++
		}
	}
	if last := marks[len(marks)-1]; len(marks) > maxMarks || epochs != 60 || last.Line < 59000 {
		t.Errorf("%d marks, %d epochs, the last in line %d", len(marks), epochs, last.Line)
	}
}

// No log makes it fail, and no time lies beyond what JSON can write.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"2026-11-20 14:03:22,5 Epoch 3/4\r\nallocated 3 GiB\n", "I1120 14:03:22.5 x", "[23:59:59] a\n[00:00:01] b", "Feb 30 12:00:00 2026", "0000-01-01T00:00:00Z x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Scan(strings.NewReader(s), []int{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		marks, lines, _ := l.Anchor(rec)
		if len(lines) != 3 || len(marks) > maxMarks+2 {
			t.Errorf("%d lines, %d marks", len(lines), len(marks))
		}
		for _, m := range marks {
			if at, ok := m.Time.Value(); ok {
				if _, err := at.MarshalJSON(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// Lines have the numbers that package oomlog gives them, whatever ends them and however long they are:
// the time of a failure is that of the line on which it was found.
func TestNumbersAsOOMLog(t *testing.T) {
	var text strings.Builder
	junk := []string{"a\n", "\n", "\r\n", "bar 1%\rbar 2%\rbar 3%\r\n", "\r\r\n", "\rx\n", "x\r", "NUL \x00\x00 and \xff\xfe\n", "\x00\n",
		strings.Repeat("long ", 2000) + "\n", strings.Repeat("longer ", 400000) + "\r\n", strings.Repeat("\r", 5000) + "\n", "\v\f\u2028\u0085\n"}
	for i, between := range append(junk, "no end") {
		fmt.Fprintf(&text, "2026-11-20 14:03:%02d torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 MiB\n%s", i, i+1, between)
	}
	events, err := oomlog.Scan(strings.NewReader(text.String()))
	if err != nil || len(events) != len(junk)+1 {
		t.Fatalf("%d failures, %v", len(events), err)
	}
	var numbers []int
	for _, e := range events {
		numbers = append(numbers, e.Line)
	}
	log, err := Scan(strings.NewReader(text.String()), numbers)
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := log.Anchor(rec)
	for _, e := range events {
		second := int(e.Requested.Or(0)/sampler.MiB) - 1
		if at, ok := lines[e.Line].Exact.Value(); !ok || at.Second() != second {
			t.Errorf("the failure of second %d, on line %d, is of %v", second, e.Line, at)
		}
	}
}
