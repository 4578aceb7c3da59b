package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

func waitCommand(a *app) *cobra.Command {
	f := &fitFlags{}
	c := &cobra.Command{
		Use:   "wait --need SIZE",
		Short: "block until enough GPUs have it free, and print their indices; exit 3 on timeout",
		Example: "  CUDA_VISIBLE_DEVICES=$(nvpeak wait --need 20GiB --gpus 2) python train.py\n" +
			"  env $(nvpeak wait --need 20GiB --format env) python train.py\n" +
			"  nvpeak wait --need 60GiB --hold 2m --timeout 8h",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.spanTyped = cmd.Flags().Changed("hold"); !f.spanTyped {
				f.hold = usualHold(f.timeout)
			}
			if f.timeout > 0 && f.hold >= f.timeout {
				return usagef("--hold %v can never be seen within --timeout %v: give it more time", f.hold, f.timeout)
			}
			return a.wait(cmd.Context(), f)
		},
	}
	c.Flags().IntVar(&f.gpus, "gpus", 1, "how many GPUs (`N`)")
	c.Flags().StringVar(&f.format, "format", "", "print `FORM`: index, uuid, or env for CUDA_VISIBLE_DEVICES=…; otherwise indices, or UUIDs where CUDA numbers them in another way; MIG instances by UUID")
	c.Flags().Var(durationFlag{&f.hold, 0, longestWait}, "hold", "it must stay free for this `DURATION`: 3s, long enough for a step or two of a training next to you, or half of a shorter timeout; 0s: one reading")
	c.Flags().Var(durationFlag{&f.timeout, 0, longestWait}, "timeout", "give up after this `DURATION` (exit 3); 0s, or without it: never. For one look there is check")
	a.opt.bind(c.Flags(), append(following, "need", "interval", "lang")...)
	return c
}

// usualHold is how long it must stay free where nobody says: it must be possible to see that.
func usualHold(timeout time.Duration) time.Duration {
	if timeout > 0 {
		return min(usualSpan, timeout/2)
	}
	return usualSpan
}

func (a *app) wait(ctx context.Context, f *fitFlags) error {
	if a.listDemos() {
		return nil
	}
	need, err := a.need(f.gpus)
	if err = cmp.Or(f.checkFormat(), err); err != nil {
		return err
	}
	if a.remote() {
		return a.fleetWait(ctx, f, need)
	}
	w := a.newWaiting(f, need)
	err = w.wait(ctx)
	switch no := (answerNo{}); {
	case w.never != "":
		a.say(w.never)
		return answerNo{}
	case errors.As(err, &no):
		a.say(w.gaveUp("wait.timeout"))
		return err
	case err != nil:
		return err
	}
	return a.printGPUs(w.ready, f.format, w.unlike)
}

// waitFor blocks until enough GPUs have the need free; notFree: they did not within the timeout.
func (a *app) waitFor(ctx context.Context, f *fitFlags, need sampler.Bytes) (ready []watch.Fit, err error) {
	w := a.newWaiting(f, need)
	err = w.wait(ctx)
	switch no := (answerNo{}); {
	case w.never != "":
		return nil, errors.New(w.never)
	case errors.As(err, &no):
		return nil, notFree{no, w.gaveUp("retry.timeout")}
	}
	return w.ready, err
}

// lookAgain is how often the GPUs are listed anew where there is MIG: instances are made and removed
// while others run, and a list of the driver shows those of when it was opened.
const lookAgain = 5 * time.Second

// waitingFor is a wait under way.
type waitingFor struct {
	app      *app
	flags    *fitFlags
	need     sampler.Bytes
	waiter   *watch.Waiter
	progress *progressLine
	opened   time.Time
	ready    []watch.Fit
	unlike   bool
	never    string // why there is nothing to wait for
	fault    string // why the first GPU gives no figures now
	err      error
}

func (a *app) newWaiting(f *fitFlags, need sampler.Bytes) *waitingFor {
	return &waitingFor{app: a, flags: f, need: need, waiter: watch.NewWaiter(watch.WaitOptions{Need: need, GPUs: f.gpus, Hold: f.hold}),
		progress: &progressLine{w: a.err, words: a.words(), on: a.isTerminal(a.err), began: time.Now()}}
}

// wait ends when there are enough GPUs, or never will be, with an answerNo when the time is over.
func (w *waitingFor) wait(ctx context.Context) (err error) {
	if w.flags.timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, w.flags.timeout, answerNo{})
		defer cancel()
	}
	defer w.progress.clear()
	for err == nil && w.ready == nil && w.never == "" {
		w.opened = time.Now()
		err = cmp.Or(w.app.watch(ctx, w.app.opt.interval, 0, w.add), w.err)
	}
	return err
}

// add takes a snapshot. It says whether to stop, for good or to list the GPUs anew.
func (w *waitingFor) add(l *live, s *sampler.Snapshot) bool {
	w.unlike = l.Unlike()
	if w.err = cmp.Or(enoughToChoose(s, w.flags.gpus), enoughSplit(s, w.flags.gpus)); w.err != nil {
		return true
	}
	if !parted(s) {
		if w.never = w.app.never(s, w.need, w.flags.gpus); w.never != "" {
			return true
		}
	}
	w.fault = ""
	if len(s.GPUs) > 0 {
		w.fault = w.app.words().Reason(s.GPUs[0].Error.Or(""))
	}
	ready, done := w.waiter.Add(*s)
	if done {
		w.ready = ready
		return true
	}
	w.progress.show(w.waiter.Status(), w.flags)
	free, _ := freeNow(w.waiter.Status())
	return free < w.flags.gpus && parted(s) && time.Since(w.opened) >= lookAgain
}

// parted says whether a GPU has MIG instances, or could have.
func parted(s *sampler.Snapshot) bool {
	return slices.ContainsFunc(s.GPUs, func(g sampler.GPU) bool { return g.MIG != nil || g.Unsplit })
}

// freeNow counts the GPUs that have the need free now, and says how much the one with the most has, if that is known of any.
func freeNow(status []watch.Waited) (free int, best sampler.Opt[sampler.Bytes]) {
	for _, s := range status {
		if s.Free {
			free++
		}
		if b, ok := s.WorstFree.Value(); ok {
			best = sampler.Some(max(b, best.Or(0)))
		}
	}
	return free, best
}

// orUnknown is free memory, N/A where it is not known, with the reason if there is one.
func orUnknown(o sampler.Opt[sampler.Bytes], reason string) string {
	if b, ok := o.Value(); ok {
		return b.Few()
	}
	return strings.TrimSuffix("N/A ("+reason+")", " ()")
}

// gaveUp is what there was when the time was over, in the words of a sentence.
func (w *waitingFor) gaveUp(id string) string {
	free, best := freeNow(w.waiter.Status())
	words := w.app.words()
	all := words.Count("count.gpu", w.flags.gpus)
	return words.Say(id, "span", words.Lasted(w.flags.timeout.Seconds()), "hold", words.Lasted(w.flags.hold.Seconds()), "count", free, "all", all, "need", w.need.Needed(), "size", orUnknown(best, w.fault))
}

// enoughSplit refuses to wait for GPUs on which nothing can run before somebody makes instances.
func enoughSplit(s *sampler.Snapshot, gpus int) error {
	left := slices.DeleteFunc(s.Assignable(), func(g *sampler.GPU) bool { return g.Unsplit })
	if len(left) >= gpus {
		return nil
	}
	return usagef("--gpus %d, but only %d can be used: the others are in MIG mode without instances; create one with: sudo nvidia-smi mig -cgi PROFILE -C", gpus, len(left))
}

// progressLine says on standard error how far a wait is, where that is a terminal.
type progressLine struct {
	w     io.Writer
	on    bool
	began time.Time
	words lang.Catalog
	shown bool
}

func (p *progressLine) show(status []watch.Waited, f *fitFlags) {
	if !p.on {
		return
	}
	free, best := freeNow(status)
	fmt.Fprint(p.w, "\r\x1b[K"+p.words.Say("wait.progress", "span", time.Since(p.began).Round(time.Second), "count", free, "all", f.gpus, "size", orUnknown(best, "")))
	p.shown = true
}

func (p *progressLine) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
