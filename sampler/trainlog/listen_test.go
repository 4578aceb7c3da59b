package trainlog

import (
	"strconv"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A log that comes in pieces gives the readings that it gives as a whole, the newest when
// nobody takes them.
func TestListener(t *testing.T) {
	l := NewListener()
	for _, piece := range []string{"step 1 mem al", "loc 1.00G reserved 2.00G\nloss 0.3\r", "step 2 mem alloc 2.00G reserved 3.00G\r\nstep 3 mem alloc 3.0", "0G"} {
		if n, err := l.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	var got []sampler.Bytes
	for len(l.Marks()) > 0 {
		if m := <-l.Marks(); m.Kind == sampler.MarkAllocator {
			got = append(got, m.Allocated.Or(0))
		}
	}
	if len(got) != 2 || got[0] != sampler.GiB || got[1] != 2*sampler.GiB {
		t.Errorf("%v", got)
	}
	l.Write([]byte("\n" + strings.Repeat("x", 10*maxLine) + " mem alloc 9.00G\n" + strings.Repeat("mem alloc 4.00G\n", 3*heardMarks) + "mem alloc 5.00G\n")) //nolint:errcheck // never fails
	if len(l.Marks()) != heardMarks || cap(l.line) > 2*maxLine {
		t.Errorf("%d marks wait, %d bytes are kept of a line", len(l.Marks()), cap(l.line))
	}
	last := sampler.LogMark{}
	for len(l.Marks()) > 0 {
		last = <-l.Marks()
	}
	if last.Allocated.Or(0) != 5*sampler.GiB {
		t.Errorf("the newest is %v", last.Allocated)
	}
}

// Where a run stands is told when it changes, and not with each redraw of a progress bar.
func TestListenerStands(t *testing.T) {
	l := NewListener()
	l.Write([]byte("Epoch 3: 10%|#\rEpoch 3: 20%|##\rEpoch 3: 30%|###\rvalidating\rvalidating: 50%\rval loss 0.3\nsaving checkpoint\nEpoch 4: 1%|\rValidating\n")) //nolint:errcheck // never fails
	var got []string
	for len(l.Marks()) > 0 {
		m := <-l.Marks()
		if n, ok := m.N.Value(); ok {
			m.Kind += strconv.Itoa(n)
		}
		got = append(got, m.Kind)
	}
	if want := "epoch3 validation training saving epoch4 validation"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
