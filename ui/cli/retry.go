package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/retry"
	"nvpeak/sampler/child"
)

// try is one run of the command.
type try struct {
	args, env []string
	note      *boxRetry
	file      *recorder // of all tries; nil: there is none
	watched   *watchedRun
	code      int
	why       *explain.Explanation // it died of memory
}

// tries are the runs of a command, one after another.
type tries struct {
	*app
	flags   *runFlags
	typed   []string // the environment that nvpeak was given
	args    []string // of the newest try, without what resumes
	env     []string
	done    []*try
	changes []retry.Change // since the first
	idle    int            // changes in a row that brought nothing
	resume  retry.Resume
	began   time.Time
	file    *recorder
	stdin   int64 // where standard input began; -1: it is no file

	unanswered bool // the driver has not answered when GPUs for another try were looked for
}

// runTries runs a command, and again with a change while it dies of GPU memory and the flags want it.
func (a *app) runTries(ctx context.Context, args []string, f *runFlags) error {
	if a.set.origins["demo"].how == fromFlag && a.listDemos() {
		return nil
	}
	t := &tries{app: a, flags: f, typed: os.Environ(), args: args, env: os.Environ(), began: time.Now(), stdin: -1}
	t.resume, _ = retry.ParseResume(f.retry.resume) // it was checked
	if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
		t.stdin, _ = os.Stdin.Seek(0, io.SeekCurrent)
	}
	var err error
	if t.file, err = a.recordTries(); err != nil {
		return err
	}
	if t.file != nil {
		defer func() {
			if err := t.file.close(); err != nil { // the exit code is the command's
				a.say(err.Error())
			}
		}()
	}
	if err := t.wait(ctx); err != nil {
		if no := (notFree{}); errors.As(err, &no) {
			a.say(no.said)
		}
		return err
	}
	if f.monitor {
		defer a.openMonitor()()
	}
	for {
		now, err := t.run(ctx)
		if err != nil {
			return err
		}
		again, err := t.again(ctx, now)
		if err != nil {
			return err
		}
		if again {
			continue
		}
		t.conclude(now)
		if now.code == 0 {
			return nil
		}
		return childEnded(now.code)
	}
}

// run is one try.
func (t *tries) run(ctx context.Context) (*try, error) {
	now := &try{args: t.args, env: t.env, file: t.file}
	if t.flags.retry.most > 0 {
		now.note = &boxRetry{Try: len(t.done) + 1, Most: t.flags.retry.most + 1, Changed: retry.All(t.changes, t.words())}
		if len(t.done) > 0 {
			now.note.Run = t.done[0].note.Run
			now.args = t.resumed(now.args)
		}
	}
	if t.stdin >= 0 && len(t.done) > 0 {
		os.Stdin.Seek(t.stdin, io.SeekStart) //nolint:errcheck // then it reads on
	}
	t.done = append(t.done, now)
	return now, t.runChild(ctx, now, t.flags)
}

// again decides whether there is another try, says so, and makes it ready.
func (t *tries) again(ctx context.Context, now *try) (bool, error) {
	if t.flags.retry.most == 0 || now.code == 0 {
		return false, nil
	}
	if child.Asked() != 0 {
		if now.why != nil {
			t.stop(now, t.words().Say("retry.asked"))
		}
		return false, nil
	}
	if no := t.hopeless(now); no != "" {
		t.stop(now, no)
		return false, nil
	}
	ctx, stop := untilAsked(ctx)
	defer stop()
	death := retry.Death{Explanation: *now.why, Args: t.args, Env: t.env, GPUs: t.freeGPUs(ctx, now), Declined: map[string]bool{}}
	if t.idle > 0 && len(t.changes) > 0 {
		death.Idle = t.changes[len(t.changes)-1].Fix
	}
	for {
		change, no := retry.Next(death)
		switch {
		case context.Cause(ctx) != nil:
			return false, context.Cause(ctx)
		case no != nil && len(death.Declined) > 0:
			t.stop(now, t.words().Say("retry.no_more"))
			return false, nil
		case no != nil:
			t.stop(now, no.Say(t.words()))
			return false, nil
		}
		t.propose(change)
		answer, err := t.asked(ctx)
		switch {
		case err != nil:
			return false, err
		case answer == answerStop:
			t.stop(now, t.words().Say("retry.refused"))
			return false, nil
		case answer == answerYes:
			return t.adopt(ctx, now, change)
		}
		death.Declined[change.Fix] = true
	}
}

// hopeless says why another try would be in vain whatever is changed; empty: it may be of use.
func (t *tries) hopeless(now *try) string {
	if now.why == nil {
		return retry.Died(explain.Explanation{Verdict: explain.Verdict{Event: -1}}, now.code, "").Say(t.words())
	}
	if no := retry.Died(*now.why, now.code, now.afterFailure()); no != nil {
		return no.Say(t.words())
	}
	gain := retry.Better
	if n := len(t.done); n > 1 {
		gain = retry.Compare(*t.done[n-2].why, *now.why)
	}
	t.idle++
	if gain == retry.Better {
		t.idle = 0
	}
	switch {
	case gain == retry.Worse:
		return t.words().Say("retry.worse")
	case t.idle > 1: // one halving of a batch is often too little to be seen
		return t.words().Say("retry.same")
	case len(t.done) > t.flags.retry.most:
		return t.words().Say("retry.most", "most", len(t.done))
	}
	return ""
}

// propose says what another try would change, and why.
func (t *tries) propose(c retry.Change) {
	t.say(t.words().Say("retry.again", "n", len(t.done)+1, "most", t.flags.retry.most+1, "what", c.What(t.words()), "cause", c.Cause(t.words())))
	note := c.Note(t.words())
	if !t.flags.retry.ask {
		note = strings.TrimSpace(note + t.words().Say("detail.space") + t.words().Say("retry.pause", "span", t.words().Span(retryPause.Seconds())))
	}
	if note != "" {
		t.say(note)
	}
}

// retryPause is for whoever reads what changes, and for the driver to free what the try before held.
const retryPause = 2 * time.Second

// adopt makes another try ready. An error ends all.
func (t *tries) adopt(ctx context.Context, now *try, c retry.Change) (bool, error) {
	t.args, t.env, t.changes = c.Args, c.Env, append(t.changes, c)
	if !t.flags.retry.ask {
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	err := t.wait(ctx)
	var no notFree
	switch {
	case context.Cause(ctx) != nil:
		return false, context.Cause(ctx)
	case errors.As(err, &no):
		t.stop(now, no.said)
	case err != nil:
		t.stop(now, oneLine(err))
	}
	return err == nil, nil
}

// untilAsked is a context that ends when a signal asks for an end while no command runs.
func untilAsked(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	tick := time.NewTicker(50 * time.Millisecond)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if s := child.Asked(); s != 0 {
					cancel(signalError{s})
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stop says why there is no other try.
func (t *tries) stop(now *try, why string) {
	if now.why == nil && !now.watched.side.Ended() {
		io.WriteString(t.err, "\n") //nolint:errcheck // there is nobody to tell
	}
	t.say(t.words().Say("retry.stopped", "why", why))
}
