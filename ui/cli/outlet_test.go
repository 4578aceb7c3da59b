package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"nvpeak/sampler"
)

// gated takes what is written once it is opened.
type gated struct {
	open chan struct{}
	mu   sync.Mutex
	bytes.Buffer
}

func (g *gated) Write(b []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Buffer.Write(b)
}

func TestOutlet(t *testing.T) {
	to := &gated{open: make(chan struct{})}
	o := newOutlet(to, 10, func(err error) { t.Error(err) })
	var want strings.Builder
	put := func(text string) bool {
		if !o.room() {
			return false
		}
		o.put([]byte(text))
		want.WriteString(text)
		return true
	}
	for i, ok := range []bool{true, true, true, false, false} { // 4 bytes each; the third may be too much
		if put("abc\n") != ok {
			t.Errorf("line %d: room is %v, want %v", i, !ok, ok)
		}
	}
	began := time.Now()
	if !strings.HasPrefix(want.String(), "abc") || to.Len() != 0 || time.Since(began) > time.Second {
		t.Error("it waits for the reader")
	}
	close(to.open)
	for !o.room() {
		time.Sleep(time.Millisecond)
	}
	put("end\n")
	o.close(10 * time.Second)
	if to.String() != want.String() {
		t.Errorf("%q was written, want %q", to.String(), want.String())
	}
}

func TestOutletWithoutReader(t *testing.T) {
	r, w := io.Pipe()
	gone := errors.New("gone")
	r.CloseWithError(gone)
	failed := make(chan error, 2)
	o := newOutlet(w, 10, func(err error) { failed <- err })
	o.put([]byte("x"))
	if err := <-failed; !errors.Is(err, gone) {
		t.Errorf("the error is %v", err)
	}
	began := time.Now()
	o.close(20 * time.Millisecond)
	if time.Since(began) > 5*time.Second {
		t.Error("it waits for a reader that has gone")
	}
}

// What was left out before it came here is told with what is left out here.
func TestStreamTellsOfAllThatIsLost(t *testing.T) {
	var errors bytes.Buffer
	to := &gated{open: make(chan struct{})}
	s := &streamer{app: &app{err: &errors}, out: newOutlet(to, 1, func(err error) { t.Error(err) })}
	for i, lost := range []int{0, 3, 0} { // there is room for one
		if err := s.write(&sampler.Snapshot{Lost: lost}); err != nil {
			t.Fatal(i, err)
		}
	}
	close(to.open)
	for !s.out.room() {
		time.Sleep(time.Millisecond)
	}
	if err := s.write(&sampler.Snapshot{Lost: 2}); err != nil {
		t.Fatal(err)
	}
	s.out.close(time.Second)
	if got := strings.Count(to.String(), `"lost_snapshots":`); got != 1 || !strings.Contains(to.String(), `"lost_snapshots":7`) {
		t.Error(to.String())
	}
}
