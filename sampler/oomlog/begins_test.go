package oomlog

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nvpeak/sampler/needed"
)

// A traceback is read from its last beginning on, and begins there; without one, the failing line begins it.
func TestWhereTracebackBegins(t *testing.T) {
	const begins, frame, code = "Traceback (most recent call last):", `File "/w/train.py", line 7, in step`, "loss.backward()"
	for name, row := range map[string]struct {
		lines []string
		at    int
		calls int
	}{
		"none":         {[]string{"x", "y", "z"}, 2, 0},
		"at the start": {[]string{begins, frame, code, "z"}, 0, 1},
		"behind lines": {[]string{"x", "y", begins, frame, code, "z"}, 2, 1},
		"the last one": {[]string{begins, frame, code, "y", begins, frame, code, frame, code, "z"}, 4, 2},
	} {
		var lines []*keptLine
		for i, text := range row.lines {
			lines = append(lines, &keptLine{line: toLine((&whole{text: text}).all(), i+1)})
		}
		var c gathered
		if at := c.traceback(lines); at != row.at || len(c.Functions) != row.calls {
			t.Errorf("%s: it begins at %d with %v, want %d with %d", name, at, c.Functions, row.at, row.calls)
		}
	}
}

// A parser waits from the first line of a message until it is told, and never without one.
func TestParserWaits(t *testing.T) {
	p := newParser()
	for _, row := range []struct {
		text string
		want bool
	}{{"", false}, {"epoch 1\n", false}, {oomLine(20), true}} {
		if p.write([]byte(row.text)); p.waiting() != row.want {
			t.Errorf("behind %q it waits: %v", row.text, !row.want)
		}
	}
	if events := p.flush(); len(events) != 1 || p.waiting() {
		t.Errorf("%d events, and it waits: %v", len(events), p.waiting())
	}
}

// A line with words of failures and the three behind it are looked at closely, however many were before; it makes
// the one before it known, which a message may begin in.
func TestLinesLookedAt(t *testing.T) {
	for after, want := range map[int]bool{1: true, 3: true, 4: false, 9: false} {
		p := newParser()
		p.write([]byte(strings.Repeat("epoch 1\n", 9)))
		if p.left != 0 || len(p.streams.order) != 0 {
			t.Fatalf("ordinary lines: %d more are looked at, %d streams", p.left, len(p.streams.order))
		}
		p.write([]byte("[rank1]: CUDA out of luck\n"))
		if p.left != aheadLines-1 || len(p.streams.order) != 2 {
			t.Fatalf("behind a word: %d more are looked at, %d streams", p.left, len(p.streams.order))
		}
		p.write([]byte(strings.Repeat("epoch 1\n", after-1) + "[rank2]: step 3\n"))
		if got := len(p.streams.order) == 3; got != want || p.left != max(0, aheadLines-1-after) {
			t.Errorf("%d lines behind: looked at %v, %d more", after, got, p.left)
		}
	}
}

// A pipe or a directory is not opened, nothing is there yet to be, and a file is.
func TestTailOpens(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "train.log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	appendTo(t, file, "one\n")
	for path, want := range map[string]bool{pipe: false, dir: false, filepath.Join(dir, "none"): false, file: true} {
		f := &tail{ctx: context.Background(), path: path}
		if got := f.open(); got != want || (f.file != nil) != want {
			t.Errorf("%s: opened %v", filepath.Base(path), got)
		}
		f.close()
	}
}

// What loggers print before a message is taken off it.
func TestPrefixesOfLoggers(t *testing.T) {
	const text = "CUDA out of memory"
	for _, prefix := range []string{"train.main:run:12 - ", "__main__:\x3cmodule>:7 - ", "root:3- ", "SUBPROCESS: ", "[loader-2] ", "[train.py:31] "} {
		if got := toLine((&whole{text: prefix + text}).all(), 1).text; got != text {
			t.Errorf("%q: %q is left", prefix, got)
		}
	}
	for _, none := range []string{"main:run - ", "main:12 - ", "main:run:12-"} {
		if got := toLine((&whole{text: none + text}).all(), 1).text; got != none+text {
			t.Errorf("%q is taken for a prefix: %q is left", none, got)
		}
	}
}

// Of two alternatives that match at one place the first counts, as in package regexp; else the earlier place.
func TestPlaceInAlternatives(t *testing.T) {
	for _, row := range []struct{ source, text string }{
		{"out of|out of memory", "is out of memory"}, {"out of memory|out of", "is out of memory"}, {"memory|out", "out of memory"}, {"out|memory", "memory is out"}, {"xx|yy", "out of memory"},
	} {
		l := pattern(row.source)
		want := l.get().FindStringIndex(row.text)
		if want == nil {
			want = []int{-1, -1}
		}
		short := needed.Squeeze(row.text)
		if begin, end := l.placeIn(row.text, short); begin != want[0] || end != want[1] {
			t.Errorf("%s in %q: %d to %d, want %v", row.source, row.text, begin, end, want)
		}
		short.Done()
	}
}

// What a step reads is held once, also for many steps.
func TestSetsAreHeldOnce(t *testing.T) {
	for _, l := range everyPattern() {
		sets := map[ahead]bool{}
		for _, s := range l.fast().sets {
			if sets[s] {
				t.Fatalf("%s: %+v is held twice", l.source, s)
			}
			sets[s] = true
		}
	}
}

// The memory of the epochs that a log tells after its first failure is no other than what it told of before.
func TestMemoryToldAfterwards(t *testing.T) {
	epoch := func(n, gib int) string { return fmt.Sprintf("      %d/9       %dG      1.2      0.5\n", n, gib) }
	for name, row := range map[string]struct {
		before, after string
		want          string
	}{
		"before":           {epoch(1, 2) + epoch(2, 3), "", "[2.0 GiB 3.0 GiB]"},
		"after":            {"", epoch(1, 2) + epoch(2, 3), "[2.0 GiB 3.0 GiB]"},
		"before and after": {epoch(1, 2) + epoch(2, 3), epoch(1, 5) + epoch(2, 6), "[2.0 GiB 3.0 GiB]"},
	} {
		events, err := Scan(bytes.NewReader([]byte(row.before + oomLine(20) + strings.Repeat("cleaning up\n", 20) + row.after)))
		if err != nil || len(events) != 1 || events[0].Context == nil {
			t.Fatalf("%s: %v, %v", name, events, err)
		}
		if got := fmt.Sprint(events[0].Context.GPUMemory); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// A batch size in the words of a person.
func TestBatchInWords(t *testing.T) {
	for text, want := range map[string]int{
		"I reduced the batch_size to even 1, but it will not run": 1,
		"it fails with batch size set to 1":                       1,
		"the batch size reduced down to just one":                 1,
		"I tried bs=2":                 2,
		"bs = 4 fits":                  4,
		"batch size was lowered to 8":  8,
		"fbs=3 stays":                  0,
		"batch size depends on 2 GPUs": 0,
	} {
		events, err := Scan(strings.NewReader(text + "\n\nRuntimeError: CUDA out of memory\n"))
		if err != nil || len(events) != 1 || events[0].Context.BatchSize.Or(0) != want {
			t.Errorf("%q: %+v, %v", text, events, err)
		}
	}
}
