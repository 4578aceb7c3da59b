package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"nvpeak/advice/retry"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// notFree is the answer no of a wait, with what there was in the end.
type notFree struct {
	answerNo
	said string
}

func (e notFree) Unwrap() error { return e.answerNo }

// mask are the GPUs that the user lets the command see; set is false where all are.
func (t *tries) mask() (gpus []string, set bool) {
	value, set := retry.Get(t.typed, retry.VisibleDevices)
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			gpus = append(gpus, word)
		}
	}
	return gpus, set
}

// within runs something with the GPUs that a try may use as those that are chosen: those of the mask, or those that
// the command names itself.
func (t *tries) within(what func() error) error {
	interval, chosen := t.opt.interval, t.opt.gpus
	defer func() { t.opt.interval, t.opt.gpus = interval, chosen }()
	if gpus, set := t.mask(); set {
		t.opt.gpus = gpus
	} else if named := retry.Devices(t.args); len(named) > 0 {
		t.opt.gpus = named
	}
	return what()
}

// count is how many GPUs are waited for.
func (t *tries) count() int {
	gpus, set := t.mask()
	now, _ := retry.Get(t.env, retry.VisibleDevices)
	typed, _ := retry.Get(t.typed, retry.VisibleDevices)
	switch {
	case t.flags.retry.gpus > 0:
		return t.flags.retry.gpus
	case now != typed: // a try was given others
		return strings.Count(now, ",") + 1
	case set:
		return len(gpus)
	}
	return max(retry.CountOf(t.args), len(retry.Devices(t.args)))
}

// wait waits until the need is free, where that is wanted, and gives the command those GPUs.
func (t *tries) wait(ctx context.Context) error {
	if !t.flags.retry.wait {
		return nil
	}
	gpus, set := t.mask()
	if set && len(gpus) == 0 {
		return usagef("--wait: %s is empty, so the command sees no GPU", retry.VisibleDevices)
	}
	f := &fitFlags{gpus: t.count(), timeout: t.flags.retry.timeout, hold: usualHold(t.flags.retry.timeout)}
	need := t.opt.need.Or(0)
	if !t.isTerminal(t.err) { // there the progress says it
		id := "retry.waiting.one"
		if f.gpus > 1 {
			id = "retry.waiting.many"
		}
		said := time.AfterFunc(sayAfter/2, func() { t.say(t.words().Say(id, "need", need.Needed(), "n", f.gpus)) })
		defer said.Stop()
	}
	var ready []watch.Fit
	err := t.within(func() (err error) { ready, err = t.waitFor(ctx, f, need); return err })
	if err != nil {
		return err
	}
	t.give(ready, gpus, need)
	return nil
}

// give lets the command see the GPUs that have the need free, unless those are all that it may see, or it chooses
// itself.
func (t *tries) give(ready []watch.Fit, mask []string, need sampler.Bytes) {
	if len(ready) == len(mask) || retry.Chooses(t.args) || slices.ContainsFunc(ready, func(f watch.Fit) bool { return f.UUID == "" }) {
		return
	}
	value, labels := visible(ready, formatUUID), ""
	for i, f := range ready {
		if i > 0 {
			labels += t.words().Say("list.comma")
		}
		labels += f.Label
	}
	if old, _ := retry.Get(t.env, retry.VisibleDevices); old != value {
		t.env = retry.With(t.env, retry.VisibleDevices, value)
		id := "retry.given"
		if len(ready) > 1 {
			id = "retry.given.many"
		}
		t.say(t.words().Say(id, "need", need.Needed(), "gpus", labels, "variable", retry.VisibleDevices+"="+value))
	}
}

// freeGPUs are the GPUs that another try may use, as they are now; nil without a need.
func (t *tries) freeGPUs(ctx context.Context, now *try) *retry.GPUs {
	need, known := t.opt.need.Value()
	if mask, set := t.mask(); !known || need == 0 || set && len(mask) == 0 {
		return nil
	}
	if t.unanswered && !now.watched.figures() { // it does not answer this time either
		return nil
	}
	g := &retry.GPUs{Need: need, Waits: t.flags.retry.wait}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	until := time.Now().Add(settleTimeout)
	err := t.within(func() error {
		return t.watch(ctx, settleTimeout/10, 0, func(_ *live, s *sampler.Snapshot) bool {
			g.List, g.Failed = fitting(s, need), now.failedGPU(s)
			return !g.Leave() || !time.Now().Before(until)
		})
	})
	if err != nil {
		t.unanswered = ctx.Err() != nil || errors.Is(err, errNoAnswer)
		return nil
	}
	return g
}

// settleTimeout is how long a GPU may take to be free after the death of what held it.
const settleTimeout = 2 * time.Second

// fitting are the GPUs of a snapshot.
func fitting(s *sampler.Snapshot, need sampler.Bytes) (list []retry.GPU) {
	for _, gpu := range s.Assignable() {
		f := watch.Fits(*gpu, need)
		fits, known := f.Fits()
		list = append(list, retry.GPU{UUID: gpu.UUID, Label: gpu.Label(), Free: f.WorstFree, Fits: fits && known})
	}
	return list
}
