package sampler

import (
	"math"
	"sync/atomic"
	"time"
)

// Sweeper is a Source that can read the memory of many devices for a while in one call.
//
// Each return of a goroutine from a sleeping system call wakes the Go runtime's own
// monitor thread, which then polls some 16 times: 50 readings a second cost 1.5 % of a
// core that way, measured with 8 devices. A single call that sleeps and reads below Go
// costs 0.3 % and is not late when the program is busy.
type Sweeper interface {
	Source
	// CanSweep says whether Sweep can read the device.
	CanSweep(dev int) Sweepable
	// Sweep reads w.Devices every w.Period for w.For, each at its turn, and returns early when
	// a device uses more than w.Above or w.News, moves though it was quiet, or fails, and when the calls
	// take much of the period. It is called from one thread. What it saw is in w. Errors wrap
	// ErrReconnect.
	Sweep(w *Sweep) error
	// Rescue takes what a sweep saw before the call that hangs, once it was stopped in that; false: it is in no call any more.
	Rescue(w *Sweep) bool
	// Overdue waits until a call of a sweep has lasted for CallOverdue; false: it will not tell that any more. No other call of
	// the source waits for it, and Close ends it.
	Overdue() bool
	// Calm takes the precedence over others from the thread of a sweep whose call hangs.
	Calm(w *Sweep)
}

// Sweepable says whether Sweep can read a device.
type Sweepable int

// A device is swept never, later: once Memory has answered, or now.
const (
	SweepNever Sweepable = iota
	SweepLater
	SweepNow
)

// CallOverdue is how long a memory call may last before another thread goes on for the other GPUs.
const CallOverdue = 200 * time.Millisecond

// Sweep is one call of a Sweeper and what came of it.
type Sweep struct {
	Devices []int
	Period  time.Duration
	Every   []int64 // per device: it is read each so many periods
	Still   []int64 // the same while its memory stands still
	Phase   []int64 // per device: its turn is so many periods before that of others
	Quiet   []uint8 // per device: 1 where a change is news
	For     time.Duration
	Above   []uint64 // per device, in bytes; may be changed atomically meanwhile
	News    []uint64 // the same, which stays as it is
	Step    uint64   // a device that falls further below its Above than this takes it along

	Readings []TimedReading // what changed, and the first of each device
	Counts   []int          // readings per device, unchanged ones included
	Failed   []bool         // devices that must be asked with Memory
	Calls    []int          // driver calls per device
	Least    []int64        // the quickest of them, in nanoseconds
	Missed   int            // readings given up because the poller was late

	// Control is shared with the call below Go: 0 the next deadline and 7 the number of
	// periods (kept from call to call), 3 stop, 4 the device it is in a call for plus one,
	// 5 the number of calls, 8 the thread where it goes before others, 10 when it was late last, 11 its alarm,
	// 12 the device before which it broke off, or 0.
	Control [13]int64
	Scratch []uint64 // its memory, kept from call to call
	Tally   []int32  // its calls per device so far
	calm    func(*Sweep)
}

// TimedReading is a reading of Devices[Device] at a time, which has a monotonic part.
type TimedReading struct {
	Device int
	Time   time.Time
	Before time.Time // when the device was read before, changed or not; zero: not known
	Reading
}

const (
	controlStop    = 3
	controlCalling = 4
	controlCalls   = 5
)

// Stop makes the call return within a period; what it saw is void, but for what Rescue takes.
func (w *Sweep) Stop() { atomic.StoreInt64(&w.Control[controlStop], 1) }

// Stopped says whether Stop was called.
func (w *Sweep) Stopped() bool { return atomic.LoadInt64(&w.Control[controlStop]) != 0 }

// calling is the device (its place in Devices) that a call is in, or -1, and the number
// of that call.
func (w *Sweep) calling() (dev int, call int64) {
	return int(atomic.LoadInt64(&w.Control[controlCalling])) - 1, atomic.LoadInt64(&w.Control[controlCalls])
}

// prepare empties the results for the next call.
func (w *Sweep) prepare(devices []int) {
	n := len(devices)
	w.Devices = append(w.Devices[:0], devices...)
	w.Readings = w.Readings[:0]
	w.Counts, w.Failed = make([]int, n), make([]bool, n)
	w.Above, w.News, w.Calls, w.Least = make([]uint64, n), make([]uint64, n), make([]int, n), make([]int64, n)
	w.Every, w.Still, w.Phase, w.Quiet = make([]int64, n), make([]int64, n), make([]int64, n), make([]uint8, n)
	for i := range w.Above {
		w.Above[i], w.News[i] = math.MaxUint64, math.MaxUint64
	}
	w.Missed, w.Step = 0, 0
}

// StillPeriods is how many periods memory that stands still waits for its next reading, as that of a training does
// for minutes. That is every 40 ms, which no spike of 50 ms escapes; the first change brings the full rate back.
const StillPeriods = 2

// stillSlowest is how seldom memory that stands still is read at most for that: who asks for a longer
// period gets it.
const stillSlowest = 40 * time.Millisecond

// pace takes the periods of the devices: the shortest is the sweep's, the others are multiples of it. Where that is
// quietPeriod at most, those that are read more seldom have their turns one after the other: in one go, the calls for many
// slow ones would hold the driver, and up all others, for seconds.
func (w *Sweep) pace(r *rateLimiter, ours []int) {
	w.Period = max(r.asked, quietPeriod)
	slow := 0
	for _, dev := range ours {
		p := r.period(dev)
		w.Period = min(w.Period, p)
		if p > quietPeriod {
			slow++
		}
	}
	turn := 0
	for i, dev := range ours {
		w.Every[i] = int64((r.period(dev) + w.Period - 1) / w.Period)
		if w.Still[i] = w.Every[i]; r.period(dev) == r.asked && StillPeriods*r.asked <= stillSlowest {
			w.Still[i] = StillPeriods
		}
		if r.period(dev) > quietPeriod {
			w.Phase[i] = w.Every[i] * int64(turn) / int64(slow)
			turn++
		}
		if r.gpus[dev].quiet {
			w.Quiet[i] = 1
		}
	}
}
