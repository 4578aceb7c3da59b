package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
	"nvpeak/sampler/child"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/proc"
	"nvpeak/sampler/trainlog"
	"nvpeak/ui/crash"
)

// watchedRun is what sees a command run: its output, the GPUs, and what is kept of both.
type watchedRun struct {
	app     *app
	side    *child.Side
	box     *blackBox
	rec     *recorder
	alerts  *announcer
	kills   proc.Kills // before the command began
	stop    context.CancelFunc
	live    *live
	reading sync.WaitGroup
	ended   chan struct{}

	lines     bool // are to be told
	stackless atomic.Bool
	lacking   sync.Once
	misses    sync.Once

	mu        sync.Mutex
	survival  trainlog.Survival
	refusedAt time.Time                  // when the newest error of memory was read
	ordered   bool                       // see orderKnown; once it has ended
	own       map[int]*trainlog.Survival // of each output, where they are apart
	missing   error                      // why there are no figures of GPUs, or no more
	began     bool                       // there were some
	said      bool
	failures  []runFailure
	peak      tryPeak
}

// runFailure is a failure that the command printed, with what the snapshots told then.
type runFailure struct {
	event    sampler.OOMEvent
	incident explain.Incident
}

// maxRunFailures are remembered of one run; of more, the oldest that were survived go.
const maxRunFailures = 50

// watchRun begins to watch.
func (a *app) watchRun(parent context.Context, t *try, f *runFlags) (*watchedRun, error) {
	alerts, err := a.announcer()
	if err != nil {
		return nil, err
	}
	w := &watchedRun{app: a, side: child.NewSide(), alerts: alerts, kills: proc.OOMKills(), ended: make(chan struct{}), lines: f.lines}
	if apart(a.out, a.err) {
		w.own, w.side.Each = map[int]*trainlog.Survival{}, w.heard
	}
	if w.said = t.note != nil && t.note.Try > 1; w.said { // with the first try
		w.misses.Do(func() {})
	}
	w.box = a.newBox(t.args, t.env, a.keepsBox(), t.note)
	w.rec = a.newRecorder(w.box.recording())
	w.rec.announce, w.rec.also = alerts.take, t.file
	if !a.keepsBox() {
		w.rec.opt.RotateAge, w.rec.opt.Keep = f.keep, 1
	}
	if w.box.broken != nil || w.rec.create(nil) != nil {
		w.rec.path = "-"
		w.rec.create(io.Discard) //nolint:errcheck // it has none
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent)) // signals are the command's
	w.stop = cancel
	l, err := a.source(sampler.Options{Readings: w.rec.readings()})
	if err != nil {
		cancel()
		w.box.remove()
		return nil, err
	}
	w.live, l.simulate = l, l.skipPast
	measuring, cancelToo := crash.Survive(ctx) // a driver library that crashes is no end of the command
	w.stop = func() { cancelToo(); cancel() }
	if err := l.start(measuring, missingTimeout); err != nil {
		w.lacks(err)
		w.sayMissing()
	}
	go w.sample(measuring, l)
	go w.spool(ctx)
	w.listen(ctx)
	return w, nil
}

// sample records the snapshots until the run ends.
func (w *watchedRun) sample(ctx context.Context, l *live) {
	defer close(w.ended)
	defer sampler.Guard(w.lacks)
	take := func(snaps []*sampler.Snapshot) {
		for _, s := range snaps {
			if err := w.rec.take(s); err != nil {
				w.box.fail(err)
			}
			w.box.saw(s)
			w.saw()
			w.sayLacking()
			w.sayMisses(false)
			w.peak.saw(s)
		}
	}
	for {
		snaps, err := l.Next(ctx)
		if err != nil {
			if err = cmp.Or(context.Cause(ctx), err); !errors.Is(err, context.Canceled) {
				w.lacks(err)
			}
			take(l.Rest())
			l.Wait(endTimeout)
			return
		}
		take(snaps)
	}
}

func (w *watchedRun) saw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = true
}

// figures says whether there were some of the GPUs.
func (w *watchedRun) figures() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.began
}

func (w *watchedRun) lacks(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missing = cmp.Or(w.missing, err)
}

// sayMissing says once why there are no figures of GPUs.
func (w *watchedRun) sayMissing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.missing != nil && !w.said {
		w.said = true
		what := "the command runs without figures of GPUs: "
		if w.began {
			what = "the figures of GPUs end early: "
		}
		w.app.say(what + sampler.Clean(w.missing.Error()))
	}
}

// listen reads what the command prints, for failures and for where it stands.
func (w *watchedRun) listen(ctx context.Context) {
	listener := trainlog.NewListener()
	in := &listening{from: w.side, all: w, to: listener}
	w.reading.Go(func() {
		for e := range oomlog.FollowReader(context.WithoutCancel(ctx), in) {
			w.failed(e)
		}
	})
	go func() {
		for {
			select {
			case m := <-listener.Marks():
				w.rec.mark(m)
			case <-ctx.Done():
				return
			}
		}
	}()
}

func (w *watchedRun) failed(e sampler.OOMEvent) {
	w.inside(&e)
	w.rec.failed(e)
	in := w.rec.incident(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, runFailure{e, in})
	if len(w.failures) > maxRunFailures {
		i := slices.IndexFunc(w.failures, func(f runFailure) bool { return f.event.Recovered })
		w.failures = slices.Delete(w.failures, max(i, 0), max(i, 0)+1)
	}
}

// Write takes what is read of the output.
func (w *watchedRun) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.survival.Refusals()
	n, err := w.survival.Write(b)
	if w.survival.Refusals() > before {
		w.refusedAt = time.Now()
	}
	return n, err
}

// listening passes on what is read, but not more of it in a second than is worth the time: where a run stands is
// said seldom, and failures, and whether they were survived, are looked for in all of it.
type listening struct {
	from  io.Reader
	all   io.Writer
	to    io.Writer
	since time.Time
	given int
}

// mostListened is a fifth of a percent of a core.
const mostListened = 64 << 10

func (l *listening) Read(b []byte) (int, error) {
	n, err := l.from.Read(b)
	l.all.Write(b[:n]) //nolint:errcheck // it takes everything
	if now := time.Now(); now.Sub(l.since) >= time.Second {
		l.since, l.given = now, 0
	}
	if l.given < mostListened {
		l.to.Write(b[:n]) //nolint:errcheck // it takes everything
		l.given += n
	}
	return n, err
}

// readTimeout is how long the end waits for whoever reads the output.
const readTimeout = 5 * time.Second

// finish ends the watching, keeps the black box of a run that died of memory, and says why it died: nil where it
// did not.
func (w *watchedRun) finish(code int) (why *explain.Explanation) {
	read := make(chan struct{})
	go func() { w.reading.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(readTimeout):
	}
	w.survived(code < 128)
	if w.ordered = w.orderKnown(); !w.ordered {
		w.diedOfLast(code < 128)
	}
	if code == 128+int(syscall.SIGKILL) {
		w.killed()
	}
	w.addDeaths(code)
	w.stop()
	<-w.ended
	w.live.close()
	if err := w.rec.close(); err != nil {
		w.box.fail(err)
	}
	w.alerts.close()
	w.sayMissing()
	w.sayLacking()
	in := w.incident()
	died := code != 0 && explain.First(in) >= 0 && !in.Events[explain.First(in)].Recovered
	w.sayMisses(died)
	if !died && !w.box.whole {
		w.box.remove()
		return nil
	}
	if died {
		w.sayUntold()
		e := explain.Explain(in)
		why = &e
	}
	kept := w.box.keep(code, why, w.side)
	if why != nil {
		w.app.sayVerdict(*why, kept, w.side.Ended())
	} else if kept != nil {
		w.app.say("no black box: " + kept.Error())
	}
	return why
}

// flushTime is how long a program that dies takes to its end: what it had buffered of one output comes meanwhile, after its traceback in
// the other.
const flushTime = 3 * time.Second

// orderKnown says whether what was read after a failure was printed after it: of two outputs that go to different places that is not known, but
// where the command has lived on for long.
func (w *watchedRun) orderKnown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !apart(w.app.out, w.app.err) || time.Since(w.refusedAt) > flushTime
}

// diedOfLast takes back that the newest failure was survived, where only the other output said so: it may be older.
func (w *watchedRun) diedOfLast(failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.own {
		if n := len(w.failures); n > 0 && s.Refusals() > 0 && !s.LastSurvived(failed) {
			w.failures[n-1].event.Recovered = false
		}
	}
}

// heard takes what one of the outputs says.
func (w *watchedRun) heard(output int, lines []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.own[output] == nil {
		w.own[output] = &trainlog.Survival{}
	}
	w.own[output].Write(lines) //nolint:errcheck // it takes everything
}

// apart says whether two outputs go to different places.
func apart(a, b any) bool {
	x, okX := a.(*os.File)
	y, okY := b.(*os.File)
	if !okX || !okY {
		return true
	}
	i, err := x.Stat()
	j, also := y.Stat()
	return err != nil || also != nil || !os.SameFile(i, j)
}

// survived finds the failures that the command went on past. failed: it has ended by itself with an error.
func (w *watchedRun) survived(failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var judged []runFailure
	for _, f := range w.failures {
		for _, e := range w.survival.Judge([]sampler.OOMEvent{f.event}, failed) {
			judged = append(judged, runFailure{e, f.incident})
		}
	}
	w.failures = judged
}

// killed adds the failure of a command that the kernel has killed: nobody has printed it.
func (w *watchedRun) killed() {
	w.mu.Lock()
	printed := slices.ContainsFunc(w.failures, func(f runFailure) bool { return !f.event.Recovered })
	w.mu.Unlock()
	if e, killed := proc.OOMKills().Since(w.kills); killed && !printed {
		w.failed(e)
	}
}

// incident is all that is known of why the run failed.
func (w *watchedRun) incident() (in explain.Incident) {
	w.mu.Lock()
	failures := w.failures
	w.mu.Unlock()
	for _, f := range failures {
		w.inside(&f.event) // what it said may have come later than what it printed
		in.Events = append(in.Events, f.event)
		in.Histories = append(in.Histories, f.incident.History)
	}
	if first := explain.First(in); first >= 0 {
		of := failures[first].incident
		in.GPUName, in.ComputeCapability, in.Environment = of.GPUName, of.ComputeCapability, of.Environment
	}
	if len(in.Environment) == 0 {
		in.Environment = w.box.meta.Environment
	}
	in.Command, in.Lang = w.box.meta.Command, string(w.app.opt.lang)
	return in
}
