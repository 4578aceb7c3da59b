package oomlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"nvpeak/sampler"
)

func oomLine(mib int) string {
	return fmt.Sprintf("RuntimeError: CUDA out of memory. Tried to allocate %d.00 MiB (GPU 0; 7.79 GiB total capacity; 6.00 GiB already allocated; 10.00 MiB free; 6.50 GiB reserved in total by PyTorch)\n", mib)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// sizes are the requests, in MiB, of the events that have come after some time.
func sizes(events <-chan sampler.OOMEvent, after time.Duration) []int {
	time.Sleep(after)
	synctest.Wait()
	var got []int
	for {
		select {
		case e, open := <-events:
			if !open {
				return got
			}
			got = append(got, int(e.Requested.Or(0)/sampler.MiB))
		default:
			return got
		}
	}
}

// A log that is written anew in place is another text, also when it is as long as the one before.
func TestFollowRewritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	synctest.Test(t, func(t *testing.T) {
		appendTo(t, path, "epoch 1\n"+oomLine(20))
		events := Follow(t.Context(), path)
		if got := sizes(events, 4*time.Second); !slices.Equal(got, []int{20}) {
			t.Fatalf("of the first text: %v", got)
		}
		for _, mib := range []int{30, 40} {
			if err := os.WriteFile(path, []byte("epoch 1\n"+oomLine(mib)), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := sizes(events, 4*time.Second); !slices.Equal(got, []int{mib}) {
				t.Fatalf("of the text in its place: %v, want %d", got, mib)
			}
		}
	})
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	synctest.Test(t, func(t *testing.T) {
		events := Follow(t.Context(), path)
		if got := sizes(events, 3*time.Second); len(got) > 0 {
			t.Fatalf("events without a file: %v", got)
		}
		appendTo(t, path, "epoch 1\n"+oomLine(20)[:60])
		if got := sizes(events, time.Second); len(got) > 0 {
			t.Fatalf("events from half a line: %v", got)
		}
		appendTo(t, path, oomLine(20)[60:])
		if got := sizes(events, time.Second); len(got) > 0 {
			t.Fatalf("events without a pause: %v", got)
		}
		if got := sizes(events, 3*time.Second); !slices.Equal(got, []int{20}) {
			t.Fatalf("after the first failure: %v", got)
		}
		appendTo(t, path, oomLine(30))
		if got := sizes(events, 4*time.Second); !slices.Equal(got, []int{30}) {
			t.Fatalf("after the second: %v", got)
		}
	})
}

func TestFollowRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	synctest.Test(t, func(t *testing.T) {
		appendTo(t, path, "start\n")
		events := Follow(t.Context(), path)
		sizes(events, time.Second)
		appendTo(t, path, oomLine(40)) // written just before the rotation
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, oomLine(50))
		if got := sizes(events, 5*time.Second); !slices.Equal(got, []int{40, 50}) {
			t.Errorf("across a rotation: %v", got)
		}
	})
}

func TestFollowTruncation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	synctest.Test(t, func(t *testing.T) {
		appendTo(t, path, "a long first run\n"+oomLine(60))
		events := Follow(t.Context(), path)
		if got := sizes(events, 4*time.Second); !slices.Equal(got, []int{60}) {
			t.Fatalf("first run: %v", got)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, oomLine(70))
		if got := sizes(events, 5*time.Second); !slices.Equal(got, []int{70}) {
			t.Errorf("after truncation: %v", got)
		}
	})
}

func TestFollowEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	appendTo(t, path, oomLine(80))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		events := Follow(ctx, path)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if e, open := <-events; !open || e.Requested.Or(0) != 80*sampler.MiB {
			t.Errorf("what was found before the end: %v %v", e, open)
		}
		if e, open := <-events; open {
			t.Errorf("a further event: %v", e)
		}
	})
}

func TestFollowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		events := FollowReader(t.Context(), r)
		write := func(text string) {
			if _, err := io.WriteString(w, text); err != nil {
				t.Fatal(err)
			}
		}
		write("epoch 1\n" + oomLine(20)[:60])
		write(oomLine(20)[60:])
		if got := sizes(events, time.Second); len(got) > 0 {
			t.Fatalf("events without a pause: %v", got)
		}
		if got := sizes(events, 2*time.Second); !slices.Equal(got, []int{20}) {
			t.Fatalf("after a pause: %v", got)
		}
		write(strings.TrimSuffix(oomLine(30), "\n"))
		_ = w.Close() // never fails
		if got := sizes(events, 0); !slices.Equal(got, []int{30}) {
			t.Fatalf("at the end: %v", got)
		}
		if _, open := <-events; open {
			t.Error("open after the end of the reader")
		}
	})
}

// What came before an error counts; a reader that never returns does not hold up the end.
func TestFollowReaderThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := io.MultiReader(strings.NewReader(oomLine(40)), iotest.ErrReader(io.ErrUnexpectedEOF))
		if got := sizes(FollowReader(t.Context(), failing), 0); !slices.Equal(got, []int{40}) {
			t.Errorf("before an error: %v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		events := FollowReader(ctx, r)
		cancel()
		if _, open := <-events; open {
			t.Error("an event from nothing")
		}
		_ = w.Close() // never fails
	})
}

// Whatever the reader cuts the text into, what comes out is what Scan finds.
func TestFollowReaderIsScan(t *testing.T) {
	for _, path := range texts(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var all repeats
		for e := range FollowReader(t.Context(), iotest.HalfReader(bytes.NewReader(text))) {
			all.add([]sampler.OOMEvent{e})
		}
		if want, _ := Scan(bytes.NewReader(text)); asJSON(t, all.list()) != asJSON(t, want) {
			t.Errorf("%s: followed, it gives other events than scanned", path)
		}
	}
}

// A pipe is not followed, also where it comes later: its writer would be killed by SIGPIPE when its reader goes.
func TestPipesAreLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	if err := Followable(path); err != nil {
		t.Fatalf("a file to come: %v", err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if Followable(path) == nil || Followable(filepath.Dir(path)) == nil {
		t.Error("a pipe or a directory is followed")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	events := Follow(ctx, path)
	time.Sleep(20 * time.Millisecond)
	if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		f.Close()
		t.Error("somebody reads the pipe")
	}
	cancel()
	for range events {
	}
}
