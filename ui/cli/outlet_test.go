package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
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
