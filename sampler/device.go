package sampler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// device is everything known of one GPU.
type device struct {
	dev        Device
	mem        Memory // of the last good reading
	win        Window
	falls      FallCounter
	height     height    // for early pictures
	moved      bool      // the memory is another than when quiet looked last
	stillSince time.Time // since when the GPU was still whenever quiet looked
	heard      bool      // the memory was read since the connection stands, or why not is known
	told       bool      // the same of the process list
	overdue    bool      // its memory call has lasted long, and is not given up yet
	slowLate   bool      // the same of its slow calls
	toldAt     time.Time // of the last one that Asking was told
	readAt     time.Time // of the last good reading
	memErr     error
	passing    error // why the last reading failed, where its value stands in for a while
	metrics    Metrics
	slowErr    error
	slowAt     time.Time     // when metrics were asked for last; zero: never
	oldest     time.Time     // when the oldest of them was read
	every      time.Duration // how often the slow calls are made
	took       time.Duration // for figures, last
	listTook   time.Duration // for a process list, last
	lastsTo    time.Time     // until then all figures that are shown are of the present; zero: for ever
	rateErr    error         // of the PCIe throughput
	rateAt     time.Time     // when that was read
	procs      []Process
	procUsed   Opt[Bytes] // used when procs were read
	procAt     time.Time  // when that was
	atEdge     bool       // there was no reading after that yet
	nobodys    Bytes      // used but of no process, by the list before
	low        Bytes      // the least that was used since
	rises      riser
	procsOK    bool
	listErr    error     // why there is no process list, where there should be
	floor      Bytes     // the least that was used since the last list
	counted    Bytes     // what the driver's own figure has on top: reserved memory, counted as used
	listedAt   time.Time // out of turn
	asked      bool      // for a fresh process list
	worth      Bytes     // how far it must rise for another
	above      *uint64   // of the sweep in progress: more than that and it returns at once
	news       *uint64   // the same for the screen
	xid        Opt[uint64]
	xidTime    time.Time
	xids       []XID     // since the last snapshot
	retryAt    time.Time // a lost GPU is probed again then
}

// retryAfter is how long a device with that error is left alone: what somebody has to fix half a minute. All else, a lost GPU,
// too, is asked each second, a little early: the seconds of whoever asks are not exact. What is back is then shown with the next
// snapshot, and its processes and other figures with the one after.
func (d *device) retryAfter(err error) time.Duration {
	if refused(err) && d.readAt.IsZero() {
		return 30 * time.Second
	}
	return 900 * time.Millisecond
}

// refused says whether an error is of one question only: a GPU that does not tell its memory (a vGPU) has other figures.
func refused(err error) bool {
	return errors.Is(err, ErrNotSupported) || errors.Is(err, ErrNoPermission)
}

// memory sorts out what cannot be: 2^64-1, a total of 0, more used than total, and
// drivers that count the reserved part twice.
func (r Reading) memory(shared bool) Memory {
	m := Memory{SharedWithHost: shared}
	if r.Total == 0 || r.Total >= MaxPlausible {
		return m
	}
	m.Total = Some(r.Total)
	if r.Used >= MaxPlausible {
		return m
	}
	used := min(r.Used, r.Total)
	reserved, known := r.Reserved.Value()
	if known && reserved <= r.Total {
		if used+r.Free == r.Total {
			used = used.Less(reserved) // this driver's used includes reserved
		}
		reserved = min(reserved, r.Total-used)
		m.Reserved = Some(reserved)
	} else {
		reserved = 0
	}
	m.Used = Some(used)
	m.Free = Some(r.Total - used - reserved)
	return m
}

// possible makes unknown what no process can have: more than the GPU.
func possible(procs []Process, total Opt[Bytes]) []Process {
	for i := range procs {
		if b, ok := procs[i].Memory.Value(); ok && b > total.Or(MaxPlausible) {
			procs[i].Memory = Opt[Bytes]{}
		}
	}
	return procs
}

// freshFor is how long a reading stands for the present. After that its age is told in its
// place.
const freshFor = 3 * time.Second

// memoryFresh is how long memory stands for the present that is asked for every period.
func memoryFresh(period time.Duration) time.Duration { return max(freshFor, period+time.Second) }

// stale is why the memory is not that of now, or nil.
func (d *device) stale(at time.Time, period time.Duration) error {
	age := at.Sub(d.readAt)
	switch {
	case d.readAt.IsZero():
		if d.memErr != nil {
			return d.advised(d.memErr)
		}
		return d.advised(d.passing)
	case age <= memoryFresh(period):
		return nil
	}
	text := fmt.Sprintf("%.0f s", age.Seconds())
	for _, why := range []error{d.memErr, d.passing} {
		if why != nil {
			return fmt.Errorf("%w (%s): %w", ErrStale, text, why)
		}
	}
	return fmt.Errorf("%w (%s)", ErrStale, text)
}

// advised is an error of the memory, with what to do about it where the memory was never known: nobody may take its
// absence for a figure.
func (d *device) advised(err error) error {
	if err == nil || !d.readAt.IsZero() {
		return err
	}
	return withRemedy(err)
}

// outOfDate is why what the slow poller has read at a time is not that of now, or nil. Where driver calls are slow they are made seldom.
func (d *device) outOfDate(now, read time.Time, turn time.Duration, there bool, what string) error {
	if age := now.Sub(read); there && !read.IsZero() && age > d.fresh(turn) {
		return fmt.Errorf("%w (%.0f s): %s", ErrStale, age.Seconds(), what)
	}
	return nil
}

// unheard is what a device has not told since the connection was opened, or nil: of all but its memory, when that is no longer soon.
func (d *device) unheard(at, opened time.Time) error {
	age := at.Sub(opened)
	what := ""
	switch {
	case opened.IsZero():
	case !d.heard: // even soon: no snapshot lacks the memory without a reason
		what = callMemory
	case age >= settleMost && !d.told:
		what = callSlow
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%w: no answer for %.1f s (%s)", ErrTransient, age.Seconds(), what)
}

// silence says in the text of an error that the GPU does not answer since when that is so: a call that hangs gives the
// error once.
func silence(text string, since, at time.Time) string {
	why, ok := strings.CutPrefix(text, ErrNotAnswering.Error()+": ")
	if !ok || since.IsZero() || at.Before(since) {
		return text
	}
	return fmt.Sprintf("%v (%.0f s): %s", ErrNotAnswering, at.Sub(since).Seconds(), why)
}

// Unanswered is for how long a GPU has not answered, by the text of its error, and the text up to there: where a call hangs, and
// where something of it is out of date; false: that is not told.
func Unanswered(text string) (head string, age time.Duration, told bool) {
	for _, err := range []error{ErrNotAnswering, ErrStale} {
		at := strings.Index(text, err.Error()+" (")
		if at < 0 {
			continue
		}
		at += len(err.Error() + " (")
		seconds, _, closed := strings.Cut(text[at:], " s)")
		if n, err := strconv.Atoi(seconds); err == nil && closed && n >= 0 {
			return text[:at+len(seconds+" s)")], time.Duration(min(n, 1e9)) * time.Second, true
		}
	}
	return "", 0, false
}

// gpu is the GPU at a time, of a connection since opened; its memory is asked for every period. asking: who knows of its processes more than the driver; nil: nobody.
func (d *device) gpu(lost error, at, opened time.Time, period time.Duration, asking Asking) GPU {
	g := GPU{Index: d.dev.Index, UUID: d.dev.UUID, PCI: d.dev.PCI, Name: d.dev.Name, MIG: d.dev.MIG, Unsplit: d.dev.Unsplit,
		ComputeCapability: d.dev.ComputeCapability, LastXID: d.xid}
	if d.xid.Known() {
		g.LastXIDTime = Some(d.xidTime)
	}
	for _, err := range []error{lost, d.advised(d.memErr)} {
		if err != nil && !refused(err) { // the last values would be lies now
			g.Error = Some(Clean(silence(err.Error(), d.readAt, at)))
			g.Memory = Memory{Total: d.mem.Total, SharedWithHost: d.dev.SharedWithHost}
			g.Throttle, g.Processes = []string{}, []Process{}
			return g
		}
	}
	stale := d.stale(at, period)
	oldList := d.outOfDate(at, d.procAt, d.listTook, d.procsOK, "process list")
	oldFigures := d.outOfDate(at, d.oldest, d.took, d.slowErr == nil, "utilization, power, clocks, temperature")
	for _, err := range []error{stale, d.slowErr, d.listErr, oldFigures, oldList, d.rateErr, d.unheard(at, opened)} {
		if err != nil && !g.Error.Known() {
			g.Error = Some(Clean(silence(err.Error(), d.slowAt, at)))
		}
	}
	if oldFigures == nil { // like memory: a plot would go on flat
		g.Metrics = d.metrics
	}
	if g.Throttle == nil {
		g.Throttle = []string{}
	}
	g.Memory = d.mem
	if stale != nil {
		g.Memory = Memory{Total: d.mem.Total, SharedWithHost: d.dev.SharedWithHost}
	}
	if d.win.Readings > 0 {
		w := d.win
		g.Memory.Window = &w
	}
	g.Processes = append(make([]Process, 0, len(d.procs)), d.procs...)
	if d.procsOK && oldList == nil && !d.outrun(g.Memory.Used) { // of an old one it would be anything
		g.attribute(d.procUsed.Else(g.Memory.Used).Or(0), func(pid int, nobodys Bytes) bool {
			ended := d.low <= nobodys+staleBytes && d.low+staleBytes <= d.procUsed.Or(0) // for all that is known: it would have kept its context
			return !ended && (asking == nil || asking.Alone(g.Key(), pid))
		})
	}
	return g
}

// outrun says whether the memory has fallen so far since a slow list of several processes that what they have is not of now: that
// nothing is unattributed would then be said of figures that do not add up.
func (d *device) outrun(used Opt[Bytes]) bool {
	return d.listTook > 2*listTakes && len(d.procs) > 1 && sumOf(d.procs) > used.Or(MaxPlausible)+staleBytes
}

// edge is how long after a process list the next reading can be of the memory that the list tells: about the slowest pace at which
// moving memory is read.
const edge = 100 * time.Millisecond

// listedAs says whether a reading, rather than the one before it, is of the memory that the process list tells: one of before the list, of a
// sweep that was at work then; or the next one after it, where it fits the list better, with as much of nobody as before.
func (d *device) listedAs(at time.Time, used Bytes) bool {
	if !at.After(d.procAt) {
		return true
	}
	atEdge := d.atEdge && at.Sub(d.procAt) <= edge
	d.atEdge = false
	listed := min(sumOf(d.procs)+d.nobodys, MaxPlausible)
	return atEdge && apart(used, listed) < apart(d.procUsed.Or(0), listed)
}

func apart(a, b Bytes) Bytes { return max(a, b) - min(a, b) }

// sumOf is what the processes have, as far as it is known.
func sumOf(procs []Process) (sum Bytes) {
	for i := range procs {
		sum = min(sum+min(procs[i].Memory.Or(0), MaxPlausible), MaxPlausible)
	}
	return sum
}

// attribute sets what no process accounts for, so that processes + unattributed = used.
// The list was read some milliseconds before the memory, when atList was used. What has
// moved since belongs to the process where there is only one; what was taken since, if it has taken it.
func (g *GPU) attribute(atList Bytes, took func(pid int, nobodys Bytes) bool) {
	used, ok := g.Memory.Used.Value()
	if !ok {
		return
	}
	var sum Bytes
	var last *Process
	known := 0
	for i := range g.Processes {
		if b, ok := g.Processes[i].Memory.Value(); ok {
			sum = min(sum+min(b, MaxPlausible), MaxPlausible)
			known, last = known+1, &g.Processes[i]
		}
	}
	nobodys := atList.Less(sum)
	if moved := known == 1 && len(g.Processes) == 1 && used != atList && used > nobodys; moved && (used < atList || took(last.PID, nobodys)) {
		last.Memory = Some(used - nobodys)
		sum = used - nobodys
	}
	g.Memory.Unattributed = Some(used.Less(sum))
}
