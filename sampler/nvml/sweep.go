package nvml

/*
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>

int64_t go_first(void);
void give_way(void);
void calm(int64_t thread);

// The layouts of nvmlMemory_t and nvmlMemory_v2_t (nvml.h).
typedef struct { unsigned long long total, free, used; } memory1;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } memory2;

#define MEMORY2_VERSION (sizeof(memory2) | (2u << 24))

typedef int (*memory_fn)(uintptr_t device, void *memory);

// One record: device, time, that of the reading before, then the answer. Words, so that Go needs no layout of C.
enum { R_DEV, R_TIME, R_BEFORE, R_CODE, R_TOTAL, R_RESERVED, R_FREE, R_USED, R_WORDS };

// The control words, shared with sampler.Sweep.
enum { C_NEXT, C_PERIOD, C_UNTIL, C_STOP, C_CALLING, C_CALLS, C_MISSED, C_TICK, C_THREAD, C_RECORDS, C_LATE, C_ALARM, C_FROM };

static int64_t now_ns(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t ns) {
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) {}
}

static int read_memory(void *fn1, void *fn2, int version, uintptr_t device, uint64_t *rec) {
	if (version == 2) {
		memory2 m = { .version = MEMORY2_VERSION };
		int code = ((memory_fn)fn2)(device, &m);
		rec[R_TOTAL] = m.total; rec[R_RESERVED] = m.reserved; rec[R_FREE] = m.free; rec[R_USED] = m.used;
		return code;
	}
	memory1 m = { 0 };
	int code = ((memory_fn)fn1)(device, &m);
	rec[R_TOTAL] = m.total; rec[R_RESERVED] = UINT64_MAX; rec[R_FREE] = m.free; rec[R_USED] = m.used;
	return code;
}

// DEAR rounds in a row that take half of the period end the call, or one that takes PERIODS: the period should be longer. Such a
// round is broken off, unless it is the only one, and the next one begins with the device after.
// A thread that is first in line gives way when a sweep takes LONG.
enum { DEAR = 2, PERIODS = 4, LONG = 5000000 };

// ALIGNED: periods up to this long (ns) are laid so that a reading falls on the end of the sweep.
// The thread then wakes once less, and what is published is not a period old.
enum { ALIGNED = 100000000, EVEN = 1000000 };

// align moves the next reading to the one before it that fits the end, or a moment later.
static void align(int64_t *c, int64_t now, int64_t until) {
	int64_t period = c[C_PERIOD];
	if (period > ALIGNED || until - now < 2 * period) return;
	int64_t early = period - (until - c[C_NEXT]) % period;
	if (early > period - EVEN) early -= period;
	c[C_NEXT] -= early;
	c[C_TICK] += c[C_TICK] & ~((until - c[C_NEXT]) / period) & 1; // the last one is even: then all are due
}

// A device stands still when its memory has not moved for STILL (ns). Then it is read less often, unless a
// wake-up was LATE in the last PROMPT: on a machine that is so busy, the gap between two readings must not grow.
enum { STILL = 100000000, LATE = 5000000, PROMPT = 2000000000 };

// turns are the devices: every how many periods each is read, the same when it stands still, by how many periods before
// the others its turn is, and when it has moved last.
struct turns { int n; const int64_t *every, *still, *phase; int64_t *moved; };

static int due(const struct turns *t, int i, const int64_t *c) {
	int slow = c[C_NEXT] - t->moved[i] >= STILL && c[C_NEXT] - c[C_LATE] >= PROMPT;
	return (c[C_TICK] + t->phase[i]) % (slow ? t->still[i] : t->every[i]) == 0;
}

static int any_due(const struct turns *t, const int64_t *c) {
	for (int i = 0; i < t->n; i++)
		if (due(t, i, c)) return 1;
	return 0;
}

// forward leaves out the periods in which no device is due.
static void forward(const struct turns *t, int64_t *c) {
	for (; !any_due(t, c); c[C_TICK]++) c[C_NEXT] += c[C_PERIOD];
}

// next_turn goes on to the next reading and counts those that were missed.
static void next_turn(const struct turns *t, int64_t *c, int64_t end) {
	for (;; c[C_MISSED]++) {
		c[C_TICK]++;
		c[C_NEXT] += c[C_PERIOD];
		forward(t, c);
		if (c[C_NEXT] > end) return;
	}
}

// rises says whether a device uses more than it should. The mark follows its memory down, so that the
// next rise is one, too, however high it was before.
static int rises(uint64_t used, uint64_t *above, uint64_t step) {
	uint64_t mark = __atomic_load_n(above, __ATOMIC_RELAXED);
	if (mark != UINT64_MAX && used + step < mark)
		__atomic_compare_exchange_n(above, &mark, used + step, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return used > mark;
}

// The alarm goes off when a call has lasted for OVERDUE, sampler.CallOverdue (ns), or up to SPARE more: that is how much later it is set
// each time, so that few readings have to set it anew, which takes as long as all their calls. A call that took NOTABLE may have to.
enum { OVERDUE = 200000000, SPARE = 80000000, NOTABLE = 1000000 };

static void alarm_in(const int64_t *c, long ns) {
	struct itimerspec t = { .it_value = { 0, ns } };
	if (c[C_ALARM] >= 0) timerfd_settime(c[C_ALARM], 0, &t, 0);
}

// guard lets it go off no sooner than OVERDUE from now.
static void guard(const int64_t *c, int64_t now, int64_t *goes_off) {
	if (*goes_off - now >= OVERDUE) return;
	*goes_off = now + OVERDUE + SPARE;
	alarm_in(c, OVERDUE + SPARE);
}

// sweep reads the devices whose turn it is every period until the time is over, something
// needs a look, or the records are full. What is as it was is only counted.
static void sweep(void *fn1, void *fn2, int n, const uintptr_t *devices, const uint8_t *versions,
		const int64_t *every, const int64_t *still, const int64_t *phase, int64_t *moved, int64_t *seen, const uint8_t *quiet, int64_t *c, uint64_t *above, uint64_t step, uint64_t *news, uint64_t *last,
		int64_t *least, uint64_t *recs, int capacity, int32_t *counts) {
	int64_t now = now_ns(CLOCK_MONOTONIC), until = now + c[C_UNTIL], goes_off = 0;
	int len = 0, look = 0, dear = 0;
	__atomic_store_n(&c[C_THREAD], go_first(), __ATOMIC_SEQ_CST);
	if (c[C_NEXT] == 0) c[C_NEXT] = now; // one clock reading: even no time at all is a sweep
	for (; c[C_NEXT] > now + c[C_PERIOD]; c[C_TICK]--) c[C_NEXT] -= c[C_PERIOD]; // those that forward left out
	align(c, now, until);
	struct turns turns = { n, every, still, phase, moved };
	forward(&turns, c);
	while (!look && len + n <= capacity) {
		if (c[C_NEXT] > until) {
			sleep_until(until);
			break;
		}
		sleep_until(c[C_NEXT]);
		if (__atomic_load_n(&c[C_STOP], __ATOMIC_SEQ_CST)) break;
		int64_t began = now_ns(CLOCK_MONOTONIC), end = began;
		if (began - c[C_NEXT] > LATE) c[C_LATE] = began;
		guard(c, began, &goes_off);
		int from = c[C_FROM] % n;
		c[C_FROM] = 0;
		for (int k = 0; k < n && c[C_FROM] == 0; k++) {
			int i = (from + k) % n;
			if (!due(&turns, i, c)) continue;
			uint64_t *rec = recs + (int64_t)len * R_WORDS;
			__atomic_store_n(&c[C_CALLING], i + 1, __ATOMIC_SEQ_CST);
			__atomic_add_fetch(&c[C_CALLS], 1, __ATOMIC_SEQ_CST);
			int code = read_memory(fn1, fn2, versions[i], devices[i], rec);
			__atomic_store_n(&c[C_CALLING], 0, __ATOMIC_SEQ_CST);
			if (__atomic_load_n(&c[C_STOP], __ATOMIC_SEQ_CST)) return; // abandoned: what it saw before was rescued, if anything
			int64_t before = end;
			end = now_ns(CLOCK_MONOTONIC);
			if (end - before > NOTABLE) guard(c, end, &goes_off);
			if (!counts[i] || end - before < least[i]) least[i] = end - before;
			counts[i]++;
			if (c[C_UNTIL] > 0 && end - began > PERIODS * c[C_PERIOD]) c[C_FROM] = i + 1;
			int risen = code == 0 && (rises(rec[R_USED], &above[i], step) | (rec[R_USED] > __atomic_load_n(&news[i], __ATOMIC_RELAXED)));
			uint64_t same = rec[R_USED] * 3 + rec[R_FREE]; // moves when either does
			int64_t seen_before = seen[i];
			if (code == 0) seen[i] = end;
			if (code == 0 && counts[i] > 1 && same == last[i]) continue;
			rec[R_BEFORE] = seen_before;
			rec[R_DEV] = i; rec[R_CODE] = code; rec[R_TIME] = now_ns(CLOCK_MONOTONIC);
			if (code != 0 || risen) look = 1;
			if (quiet[i] && same != last[i]) look = 1;
			if (same != last[i]) moved[i] = end;
			last[i] = same;
			__atomic_store_n(&c[C_RECORDS], ++len, __ATOMIC_SEQ_CST);
		}
		if (end - began > LONG) give_way();
		dear = end - began > c[C_PERIOD] / 2 ? dear + 1 : 0;
		if (dear == DEAR || end - began > PERIODS * c[C_PERIOD]) look = 1;
		next_turn(&turns, c, end);
		if (c[C_NEXT] - end > OVERDUE / 2) alarm_in(c, goes_off = 0);
	}
	alarm_in(c, 0);
}
*/
import "C"

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"nvpeak/sampler"
)

// sweepRecords bounds how many changes one sweep brings back; when they are full it
// returns early.
const sweepRecords = 4096

var _ sampler.Sweeper = (*Source)(nil)

// CanSweep implements sampler.Sweeper: where the machine's own memory serves there is nothing to sweep, and what the driver refuses, or has
// no handle for, is to be asked for first.
func (s *Source) CanSweep(dev int) sampler.Sweepable {
	c, err := s.connected()
	if err != nil {
		return sampler.SweepNever
	}
	defer c.leave()
	if dev < 0 || dev >= len(c.devices) {
		return sampler.SweepNever
	}
	switch d := c.devices[dev]; {
	case d.broken != nil, d.memory.refused != nil:
		return sampler.SweepLater
	case d.memory.host != nil, d.handle.pointer == 0, d.memory.version == 0:
		return sampler.SweepNever
	}
	return sampler.SweepNow
}

// Sweep implements sampler.Sweeper.
func (s *Source) Sweep(w *sampler.Sweep) error {
	c, err := s.connected()
	if err != nil {
		return err
	}
	defer c.leave()
	n := len(w.Devices)
	if n == 0 {
		time.Sleep(min(w.For, 100*time.Millisecond))
		return nil
	}
	fn1, fn2 := c.memory[0], c.memory[1]
	devices, versions := make([]uintptr, n), make([]uint8, n)
	last, moved, seen := make([]uint64, n), make([]int64, n), make([]int64, n)
	w.Tally = append(w.Tally[:0], make([]int32, n)...)
	if len(w.News) < n || len(w.Every) < n || len(w.Still) < n || len(w.Phase) < n || len(w.Quiet) < n || len(w.Least) < n || min(slices.Min(w.Every), slices.Min(w.Still)) < 1 {
		return errClosed
	}
	for i, dev := range w.Devices {
		if dev < 0 || dev >= len(c.devices) {
			return errClosed
		}
		d := c.devices[dev]
		devices[i], versions[i] = d.handle.pointer, uint8(d.memory.version)
		last[i], moved[i], seen[i] = d.memory.last, d.memory.moved, d.memory.seen
		if d.handle.pointer == 0 || versions[i] == 2 && fn2.pointer == nil || versions[i] != 2 && fn1.pointer == nil {
			return errClosed
		}
	}
	if len(w.Scratch) < (sweepRecords+n)*C.R_WORDS {
		w.Scratch = make([]uint64, (sweepRecords+n)*C.R_WORDS)
	}
	recs := w.Scratch
	w.Control[C.C_PERIOD], w.Control[C.C_UNTIL], w.Control[C.C_ALARM] = int64(w.Period), int64(w.For), c.overdue.alarm
	atomic.StoreInt64(&w.Control[C.C_RECORDS], 0) // from here on it may be rescued
	C.sweep(fn1.pointer, fn2.pointer, C.int(n), (*C.uintptr_t)(unsafe.Pointer(&devices[0])),
		(*C.uint8_t)(&versions[0]), (*C.int64_t)(&w.Every[0]), (*C.int64_t)(&w.Still[0]), (*C.int64_t)(&w.Phase[0]), (*C.int64_t)(&moved[0]), (*C.int64_t)(&seen[0]), (*C.uint8_t)(&w.Quiet[0]), (*C.int64_t)(&w.Control[0]),
		(*C.uint64_t)(&w.Above[0]), C.uint64_t(w.Step), (*C.uint64_t)(&w.News[0]), (*C.uint64_t)(&last[0]), (*C.int64_t)(&w.Least[0]),
		(*C.uint64_t)(&recs[0]), C.int(len(recs)/C.R_WORDS), (*C.int32_t)(&w.Tally[0]))
	if w.Stopped() {
		return nil
	}
	for i, dev := range w.Devices {
		m := &c.devices[dev].memory
		m.last, m.moved, m.seen = last[i], moved[i], seen[i]
	}
	c.decode(w)
	return nil
}

// Rescue implements sampler.Sweeper.
func (s *Source) Rescue(w *sampler.Sweep) bool {
	c, err := s.connected()
	if err != nil {
		return false
	}
	defer c.leave()
	// In a call the sweep writes no records, and after it it will find that it was stopped.
	if atomic.LoadInt64(&w.Control[C.C_CALLING]) == 0 || slices.Max(w.Devices) >= len(c.devices) {
		return false
	}
	c.decode(w)
	return true
}

// Calm implements sampler.Sweeper.
func (s *Source) Calm(w *sampler.Sweep) {
	C.calm(C.int64_t(atomic.LoadInt64(&w.Control[C.C_THREAD])))
}

// decode turns the records of C into readings. A device that failed is left to Memory,
// which knows what its answers mean.
func (c *conn) decode(w *sampler.Sweep) {
	recs := w.Scratch[:atomic.LoadInt64(&w.Control[C.C_RECORDS])*C.R_WORDS]
	now, present := time.Now(), int64(C.now_ns(C.CLOCK_MONOTONIC))
	timeOf := func(ns uint64) time.Time { return now.Add(time.Duration(int64(ns) - present)) }
	for ; len(recs) > 0; recs = recs[C.R_WORDS:] {
		i := int(recs[C.R_DEV])
		d := c.devices[w.Devices[i]]
		if recs[C.R_CODE] != 0 {
			w.Failed[i] = true
			continue
		}
		r := sampler.Reading{Total: sampler.Bytes(recs[C.R_TOTAL]), Used: sampler.Bytes(recs[C.R_USED]), Free: sampler.Bytes(recs[C.R_FREE])}
		if recs[C.R_RESERVED] != math.MaxUint64 {
			r.Reserved = sampler.Some(sampler.Bytes(recs[C.R_RESERVED]))
		}
		d.memory.good(r)
		timed := sampler.TimedReading{Device: i, Time: timeOf(recs[C.R_TIME]), Reading: r}
		if recs[C.R_BEFORE] != 0 {
			timed.Before = timeOf(recs[C.R_BEFORE])
		}
		w.Readings = append(w.Readings, timed)
	}
	for i, n := range w.Tally {
		w.Counts[i], w.Calls[i] = int(n), int(n)
	}
	w.Missed, w.Control[C.C_MISSED] = int(w.Control[C.C_MISSED]), 0
}
