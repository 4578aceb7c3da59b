package oomlog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
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

// newFollower is a follower whose steps the test takes itself.
func newFollower(path string) *follower {
	return &follower{path: path, parser: NewParser(), out: make(chan sampler.OOMEvent, 64), every: time.Second, settle: 2 * time.Second}
}

// steps polls n times with a second between.
func (f *follower) steps(t *testing.T, n int) []int {
	t.Helper()
	for range n {
		if !f.poll(t.Context()) {
			t.Fatal("poll gave up")
		}
		f.quiet += f.every
	}
	var got []int
	for {
		select {
		case e := <-f.out:
			got = append(got, int(e.Requested.Or(0)/sampler.MiB))
		default:
			return got
		}
	}
}

func equal(a, b []int) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	f := newFollower(path)
	defer f.drop()
	if got := f.steps(t, 3); len(got) > 0 {
		t.Fatalf("events without a file: %v", got)
	}
	appendTo(t, path, "epoch 1\n"+oomLine(20)[:60])
	if got := f.steps(t, 1); len(got) > 0 {
		t.Fatalf("events from half a line: %v", got)
	}
	appendTo(t, path, oomLine(20)[60:])
	if got := f.steps(t, 4); !equal(got, []int{20}) {
		t.Fatalf("after the first failure: %v", got)
	}
	appendTo(t, path, oomLine(30))
	if got := f.steps(t, 4); !equal(got, []int{30}) {
		t.Fatalf("after the second: %v", got)
	}
}

func TestFollowRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	f := newFollower(path)
	defer f.drop()
	appendTo(t, path, "start\n")
	f.steps(t, 1)
	appendTo(t, path, oomLine(40)) // written just before the rotation
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	f.steps(t, 0)
	appendTo(t, path, oomLine(50))
	if got := f.steps(t, 5); !equal(got, []int{40, 50}) {
		t.Errorf("across a rotation: %v", got)
	}
}

func TestFollowTruncation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	f := newFollower(path)
	defer f.drop()
	appendTo(t, path, "a long first run\n"+oomLine(60))
	if got := f.steps(t, 4); !equal(got, []int{60}) {
		t.Fatalf("first run: %v", got)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, oomLine(70))
	if got := f.steps(t, 5); !equal(got, []int{70}) {
		t.Errorf("after truncation: %v", got)
	}
}

func TestFollowEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	appendTo(t, path, oomLine(80))
	ctx, cancel := context.WithCancel(t.Context())
	events := Follow(ctx, path)
	time.Sleep(50 * time.Millisecond) // let it open the file; the result does not depend on it
	cancel()
	for range events { //nolint:revive // drain until closed: a follower that does not end hangs the test
	}
}
