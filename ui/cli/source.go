package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/nvml"
	"nvpeak/sampler/proc"
	"nvpeak/sampler/torch"
	"nvpeak/ui/crash"
)

// live is a loop over the chosen source.
type live struct {
	*sampler.Loop
	label    string
	now      func() time.Time      // of the clock of the snapshots
	simulate func()                // works through the past of a demo
	skipPast func()                // lets the demo begin now
	relive   func(d time.Duration) // lets the demo begin with the last of its past; nil for GPUs, which have none
	listen   func(context.Context) // sees requests, until the context ends
	listened chan struct{}         // closed when that has ended; nil: it never began
	host     *proc.Host            // of this machine; nil: a demo has no processes
	reporter *torch.Receiver       // hears from allocators inside processes; nil: nobody does
}

// demoPast is how much the demo has seen when it begins; less with many GPUs, for it is
// worked through reading by reading.
const (
	demoPast     = 10 * time.Minute
	demoPastMany = time.Minute
)

// closeTimeout is how long a loop that is over is waited for, endTimeout when the process
// ends then. A driver call that is under way, such as the wait for events of a second, is
// left to the end of the process: the kernel takes back what it holds.
const (
	closeTimeout = 300 * time.Millisecond
	endTimeout   = 5 * time.Millisecond
)

// answerTimeout is how long a command without a screen waits for a driver that does not answer.
const answerTimeout = 20 * time.Second

// sayAfter is when it says that it waits.
const sayAfter = 2 * time.Second

var errNoAnswer = fmt.Errorf("the NVIDIA driver has not answered for %.0f s; see what hangs with: nvpeak doctor", answerTimeout.Seconds())

// answered begins to measure for a command without a screen, which has nothing to show until the
// driver answers.
func (a *app) answered(ctx context.Context, l *live) error {
	if l.host != nil { // a demo has no driver
		defer a.sayWaiting()()
	}
	began := time.Now()
	err := l.start(ctx, answerTimeout)
	if err == nil && time.Since(began) >= answerTimeout {
		return errNoAnswer
	}
	return err
}

// sayWaiting says after a while that the driver has not answered, unless stop is called before.
func (a *app) sayWaiting() (stop func()) {
	slow := time.AfterFunc(sayAfter, func() { a.say("waiting for the NVIDIA driver, which has not answered yet") })
	return func() { slow.Stop() }
}

// readings gets every reading of the memory, as a recording does.
type readings = func(dev int, at time.Time, used sampler.Bytes)

// source makes the loop that the options ask for; o has what is the command's own. Nothing
// is asked yet.
func (a *app) source(o sampler.Options) (*live, error) {
	a.runLean()
	o.Interval, o.PeakInterval, o.Select = a.opt.interval, a.opt.peakInterval, a.opt.gpus
	if from := a.set.origins["gpu"]; from.how == fromFile { // a GPU that has gone stops no monitor
		o.Missing = func(err error) { a.warn(fmt.Sprintf("%v: gpu: %v", from, err)) }
	}
	if name := string(a.opt.demo); name != "" {
		l, err := demoSource(name, o)
		if err == nil || !a.runs {
			return l, err
		}
		if err := a.unusable("demo", err, func() { a.opt.demo = "" }); err != nil { // list, or a fleet
			return nil, err
		}
	}
	host := proc.New(proc.Options{})
	o.Host = host
	nothing := func() {}
	o.Clock = sampler.NewSteady()
	listen, err := a.requests(&o)
	if err != nil {
		return nil, err
	}
	l := &live{host: host, now: o.Clock.Now, simulate: nothing, skipPast: nothing, listen: listen}
	if a.opt.requests != "" && o.Settle == 0 { // a command that goes on
		l.reporter = a.reports(&o)
	}
	crash.Watch()
	l.Loop = sampler.NewLoop(nvml.New(nvml.Options{Library: string(a.opt.library), Clock: o.Clock}), o)
	return l, nil
}

func pastOf(demo string) time.Duration {
	if demo == "sixtyfour" {
		return demoPastMany
	}
	return demoPast
}

func demoSource(name string, o sampler.Options) (*live, error) {
	clock := sampler.NewScriptClock(time.Now())
	past := pastOf(name)
	clock.Set(time.Now().Add(-past))
	src, err := demo.New(name, clock)
	if err != nil {
		return nil, usageError{err}
	}
	o.Clock, o.Host, o.Asking = clock, src.Host(), src.Asking()
	l := &live{Loop: sampler.NewLoop(src, o), label: "DEMO " + name, now: clock.Now, listen: func(context.Context) {}}
	l.simulate = func() {
		l.Simulate(clock, past)
		clock.Run()
	}
	l.skipPast = func() {
		clock.Set(time.Now())
		clock.Run()
	}
	l.relive = func(d time.Duration) {
		d = min(d, past)
		clock.Set(time.Now().Add(-d))
		l.Simulate(clock, d)
		clock.Run()
	}
	return l, nil
}

// runLean keeps the Go of a monitor on one processor. There is not enough of it for
// two, and with two the runtime's monitor thread polls up to 10 ms after each blocking
// call in the hope of work: 0.6 to 0.7 % of a core instead of 0.4 to 0.5, measured. Calls
// into the driver block threads of their own, not the processor. GOMAXPROCS overrides it.
//
// It also collects garbage early (see leanly). GOGC overrides it. What the start leaves must not delay the first figures.
// What it has read of the program's file is given back.
func (a *app) runLean() {
	if a.env("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	if a.env("GOGC") == "" {
		time.AfterFunc(leanAfter, leanly)
	}
	time.AfterFunc(startOver, unmapStart)
}

const leanAfter = 500 * time.Millisecond

// start connects and begins to measure. It returns when the connection stands or has
// failed, or after the timeout, when it goes on in the background: a driver that initializes
// its GPUs first can take seconds.
func (l *live) start(ctx context.Context, timeout time.Duration) error {
	connected := make(chan error, 1)
	l.listened = make(chan struct{})
	go func() {
		defer sampler.Guard(l.Fail)
		if err := l.Connect(ctx); err != nil {
			close(l.listened)
			l.Fail(err)
			connected <- err
			return
		}
		l.simulate()
		connected <- nil
		go func() {
			defer close(l.listened)
			defer sampler.Guard(func(error) {}) // the monitor goes on without
			l.listen(ctx)
		}()
		l.Run(ctx) //nolint:errcheck // Next returns it
	}()
	select {
	case err := <-connected:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(timeout):
		return nil
	}
}

// leaveTimeout is how long the end waits for the probes to be handed on, which takes some milliseconds: while they are being
// set it takes longer, and then the kernel takes them out.
const leaveTimeout = 30 * time.Millisecond

// Wait waits until the source is closed, at most d, and nobody listens any more.
func (l *live) Wait(d time.Duration) {
	l.Loop.Wait(d)
	if l.listened == nil {
		return
	}
	select {
	case <-l.listened:
	case <-time.After(leaveTimeout):
	}
}

// measure begins to measure without a past, for commands without a screen; o has what is the
// command's own. end stops it, with a cause or nil, and closes the source.
func (a *app) measure(parent context.Context, o sampler.Options) (l *live, ctx context.Context, end func(cause error), err error) {
	return a.measureSince(parent, o, 0)
}

// measureSince is measure with so much of the past of a demo.
func (a *app) measureSince(parent context.Context, o sampler.Options, past time.Duration) (l *live, ctx context.Context, end func(cause error), err error) {
	if l, err = a.source(o); err != nil {
		return nil, nil, nil, err
	}
	l.simulate = l.skipPast
	if past > 0 && l.relive != nil {
		l.simulate = func() { l.relive(past) }
	}
	if a.runs {
		parent, _ = crash.Survive(parent) //nolint:govet // it ends with its parent
	}
	ctx, cancel := context.WithCancelCause(parent)
	if err = a.answered(ctx, l); err != nil {
		cancel(nil)
		l.close()
		return nil, nil, nil, err
	}
	return l, ctx, func(cause error) { cancel(cause); l.Wait(endTimeout); l.close() }, nil
}

// close removes what would stay behind.
func (l *live) close() {
	if l.reporter != nil {
		l.reporter.Close()
	}
}

// listDemos prints the scenarios when --demo=list asks for them.
func (a *app) listDemos() bool {
	if a.opt.demo != "list" {
		return false
	}
	for _, s := range slices.Concat(demo.Scenarios(), demo.Fleets()) {
		fmt.Fprintf(a.out, "%-14s %s\n", s.Name, s.Title)
	}
	return true
}
