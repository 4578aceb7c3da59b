//go:build linux && (amd64 || arm64)

package uprobe

import (
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// To be woken for each call costs more than what that says: they wait until somebody asks, or there are many. A refusal is told at once, with all
// before it.
func TestWakes(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir)
		p.Do("device 0")
		r.snapshot()
		time.Sleep(10 * soon) // what it still has to read, it reads at once
		waits := func() int {
			time.Sleep(10 * soon)
			return r.door.calls.AvailableBytes()
		}
		p.Do("alloc a 1000", "alloc b 2000")
		if waits() == 0 {
			t.Error("it was woken for calls that can wait")
		}
		if r.snapshot(); len(r.seen) != 2 {
			t.Errorf("asked, it has %d calls of 2", len(r.seen))
		}
		p.Do("alloc c 3000")
		began := time.Now()
		p.Do("alloc d 90000000000")
		select {
		case <-r.tracker.Refused():
		case <-time.After(time.Second):
			t.Error("a refusal is not told")
		}
		if took := time.Since(began); took > 20*soon { // the machine may be busy
			t.Errorf("it took %v", took)
		}
		if waits() != 0 {
			t.Error("something is left before a refusal")
		}
		for range 100 {
			p.Do("alloc e 1000", "free e")
		}
		if n := waits(); n >= 64*72 {
			t.Errorf("%d bytes wait after 200 calls", n)
		}
		if r.settled(104); len(r.seen) != 104 {
			t.Errorf("%d calls", len(r.seen))
		}
	})
}

// heldUp is a clock whose reader must wait for a processor after he has looked, the first times.
type heldUp struct {
	sampler.Clock
	waits int
}

func (c *heldUp) Now() time.Time {
	now := c.Clock.Now()
	if c.waits > 0 {
		c.waits--
		time.Sleep(20 * time.Millisecond)
	}
	return now
}

// What a busy machine does between the looks at two clocks is no difference of the clocks.
func TestKernelBeganBesideOthers(t *testing.T) {
	steady := sampler.NewSteady()
	want := kernelBegan(steady)
	for waits := range looksAtClocks {
		if off := kernelBegan(&heldUp{steady, waits}).Sub(want); off.Abs() > 5*time.Millisecond {
			t.Errorf("held up %d times, it is %v off", waits, off)
		}
	}
}

// A call that cannot be passed on ends what is told of requests, and nothing else.
func TestReaderFails(t *testing.T) {
	d := &Door{tracker: request.New(nil)} // without what it reads
	d.tracker.Begin(nil)
	before, after := &sampler.Snapshot{}, &sampler.Snapshot{}
	if d.tracker.Apply(before); before.Door == nil {
		t.Error("nothing is told of requests from the start")
	}
	_, broken := d.startReading()
	select {
	case <-broken:
	case <-time.After(10 * time.Second):
		t.Fatal("it reads on")
	}
	if d.tracker.Apply(after); after.Door != nil {
		t.Errorf("requests are told on: %+v", after.Door)
	}
}
