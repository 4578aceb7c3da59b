//go:build linux && (amd64 || arm64)

package uprobe

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

const (
	// soon: what wakes so soon after one another is read together.
	soon = 5 * time.Millisecond
	// patience is how long it may take to read what is there.
	patience = 50 * time.Millisecond
)

// catchUp returns when the calls that were made until now have been passed on: most do not wake the reader.
func (d *Door) catchUp() {
	d.reading.Lock()
	defer d.reading.Unlock()
	if !d.reads || d.calls.AvailableBytes() == 0 {
		return
	}
	select {
	case <-d.flushed: // of one that was not waited for
	default:
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	if d.calls.Flush() == nil {
		select {
		case <-d.flushed:
		case <-late.C:
		}
	}
}

// startReading passes calls on until stop is called. What goes wrong with one of them ends that and nothing else: broken is closed then.
func (d *Door) startReading() (stop func(), broken <-chan struct{}) {
	done, wrong := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer sampler.Guard(func(error) {
			d.tracker.End()
			close(wrong)
		})
		d.read()
	}()
	reads := func(yes bool) {
		d.reading.Lock()
		defer d.reading.Unlock()
		d.reads = yes
	}
	reads(true)
	return func() {
		d.catchUp()
		reads(false)
		d.calls.Close() //nolint:errcheck // it ends the reader
		<-done
	}, wrong
}

// read passes on the calls of the ring buffer.
func (d *Door) read() {
	var record ringbuf.Record
	var woken, begin time.Time // begin: of the kernel's clock
	first := true
	met := map[int]bool{}
	for {
		err := d.calls.ReadInto(&record)
		switch {
		case errors.Is(err, os.ErrClosed):
			return
		case errors.Is(err, ringbuf.ErrFlushed):
			select {
			case d.flushed <- struct{}{}:
			default:
			}
			continue
		case err == nil && first:
			begin = kernelBegan(d.clock)
		}
		switch c, ok := parse(record.RawSample, begin); {
		case err != nil || !ok:
		case c.Function == ended:
			d.tracker.Ended(c.PID, c.Time, c.Answer, d.asking(c.PID))
		case c.Function == execed:
			d.tracker.Execed(c.PID, c.Time)
		case c.Function == failed:
			d.tracker.Failed(c.PID, c.Other, c.Time)
		case c.Function == lingered:
			d.tracker.Lingered(c.PID, c.Other, c.Time)
		case c.Function == left:
			d.tracker.Left(request.UnderWay{PID: c.PID, TID: c.TID, Function: int(c.Address), Size: c.Size, Number: c.Other, Began: c.Time.Add(-c.Took)}, c.Time) //nolint:gosec // of probe.c
		case c.Function == within:
			d.tracker.Within(c)
		case c.Function == toLoad:
			d.tell(loads{pid: c.PID, inode: c.Other, at: c.Time})
		case c.Function == letGo:
			b := busy{c.PID, int(c.Other), c.Time.Add(time.Duration(c.Size))} //nolint:gosec // of probe.c
			d.tracker.LetGo(b.pid, b.function, b.until)
			d.tell(b)
		default:
			begins := c.Function == initialize
			if begins {
				d.tracker.Begins(c.PID)
			}
			if (begins || !met[c.PID]) && d.tell(c.PID) {
				if len(met) >= maxMet {
					clear(met)
				}
				met[c.PID] = true
			}
			if !begins {
				d.tracker.Call(c)
			}
		}
		if first = err != nil || record.Remaining == 0; !first { // the reader itself may be closed by now
			continue
		}
		if now := time.Now(); now.Sub(woken) < soon {
			time.Sleep(soon)
		}
		woken = time.Now()
	}
}

// maxUnderWay are more than threads ask at once.
const maxUnderWay = 256

// underWay are the calls that are not answered yet. Nearly always there are none, which one look tells.
func (d *Door) underWay() (list []request.UnderWay) {
	var key probeCallKey
	var call probeCall
	now, at := d.clock.Now(), monotonic()
	for calls := d.objects.Calls.Iterate(); len(list) < maxUnderWay && calls.Next(&key, &call); {
		list = append(list, underWay(key, call, now, at))
	}
	return list
}

// underWay is a call that was not answered by now, which is so long after the kernel's clock began.
func underWay(key probeCallKey, call probeCall, now time.Time, at time.Duration) request.UnderWay {
	since := at - time.Duration(call.Began)                                                                                         //nolint:gosec // since the machine began
	return request.UnderWay{PID: int(key.Thread >> 32), TID: int(uint32(key.Thread)), Function: int(key.Function), Size: call.Size, //nolint:gosec // of probe.c
		Number: call.Began, Began: now.Add(-since), For: since}
}

// asking are the calls of a process that has ended which were not answered; they are no more.
func (d *Door) asking(pid int) (list []request.UnderWay) {
	var key probeCallKey
	var call probeCall
	var over []probeCallKey
	now, at := d.clock.Now(), monotonic()
	for calls := d.objects.Calls.Iterate(); calls.Next(&key, &call); {
		if int(key.Thread>>32) == pid { //nolint:gosec // a pid
			over, list = append(over, key), append(list, underWay(key, call, now, at))
		}
	}
	for _, key := range over {
		d.objects.Calls.Delete(key) //nolint:errcheck // it gives way to others some time
	}
	return list
}

// initialize is the function with which a process begins to use the driver.
var initialize = slices.IndexFunc(request.Functions, func(f request.Function) bool { return f.Effect == request.Begins })

// In the place of a function, what has happened to a process: ENDED, EXECED, LET_GO, FAILED, LOADS, WITHIN, LINGERED and LEFT of probe.c.
const (
	ended    = 255
	execed   = 254
	letGo    = 253
	failed   = 252
	toLoad   = 251
	within   = 250
	lingered = 249
	left     = 248
)

// parse reads a struct event of probe.c; begin: of the kernel's monotonic clock, by the clock of everything that is published.
func parse(b []byte, begin time.Time) (c request.Call, ok bool) {
	const size = 64
	if len(b) < size {
		return c, false
	}
	long := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	word := func(at int) int { return int(int32(binary.NativeEndian.Uint32(b[at:]))) }                                              //nolint:gosec // signed in C too
	c = request.Call{Time: begin.Add(time.Duration(long(0))), Size: long(8), Address: long(16), Other: long(24), Context: long(32), //nolint:gosec // since the machine began
		PID: word(40), TID: word(44), Answer: word(48), Device: word(52), Function: word(56), Took: time.Duration(word(60)) * time.Microsecond}
	if c.Context <= eras {
		c.Context, c.Era = 0, int(c.Context) //nolint:gosec // small
	}
	return c, true
}

// eras is ERAS of probe.c.
const eras = 4095

const (
	looksAtClocks = 5
	atOneMoment   = 100 * time.Microsecond // two clocks that were looked at within that, were so at one
)

// kernelBegan is when the kernel's monotonic clock began, by another one. Who must wait for a processor between the looks at the two, looks again: the
// calls of a whole batch were 13 and 16 ms early.
func kernelBegan(c sampler.Clock) (at time.Time) {
	least := time.Duration(math.MaxInt64)
	for range looksAtClocks {
		before := monotonic()
		now := c.Now()
		if took := monotonic() - before; took < least {
			at, least = now.Add(-before-took/2), took
		}
		if least <= atOneMoment {
			break
		}
	}
	return at
}

// monotonic is the time of the kernel's monotonic clock.
func monotonic() time.Duration {
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) //nolint:errcheck // that clock is always there
	return time.Duration(now.Nano())
}
