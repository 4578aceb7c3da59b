package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
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
			"  nvpeak wait --need 60GiB --hold 2m --timeout 8h",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.wait(cmd.Context(), f) },
	}
	c.Flags().IntVar(&f.gpus, "gpus", 1, "how many GPUs")
	c.Flags().StringVar(&f.format, "format", formatIndex, "print `FORM`: index, uuid, or env for CUDA_VISIBLE_DEVICES=…; MIG instances by UUID")
	c.Flags().Var(durationFlag{&f.hold, 0, longestWait}, "hold", "it must stay free for this `DURATION`")
	c.Flags().Var(durationFlag{&f.timeout, 0, longestWait}, "timeout", "give up after this `DURATION` (exit 3)")
	a.opt.bind(c.Flags(), append(measuring, "need", "interval", "lang")...)
	return c
}

func (a *app) wait(ctx context.Context, f *fitFlags) error {
	if a.listDemos() {
		return nil
	}
	if !slices.Contains([]string{formatIndex, formatUUID, formatEnv}, f.format) {
		return usagef("--format %s: index, uuid or env", f.format)
	}
	need, err := a.need(f.gpus)
	if err != nil {
		return err
	}
	ready, err := a.waitFor(ctx, f, need)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, visible(ready, f.format))
	return err
}

// waitFor blocks until enough GPUs have the need free.
func (a *app) waitFor(ctx context.Context, f *fitFlags, need sampler.Bytes) (ready []watch.Fit, err error) {
	if f.timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, answerNo{})
		defer cancel()
	}
	waiter := watch.NewWaiter(watch.WaitOptions{Need: need, GPUs: f.gpus, Hold: f.hold})
	progress := &progressLine{w: a.err, words: a.words(), on: a.isTerminal(a.err), began: time.Now()}
	defer progress.clear()
	err = a.watch(ctx, a.opt.interval, func(s *sampler.Snapshot) (done bool) {
		if progress.err = cmp.Or(enoughToChoose(s, f.gpus), enoughSplit(s, f.gpus)); progress.err != nil {
			return true
		}
		ready, done = waiter.Add(*s)
		progress.show(waiter.Status(), f)
		return done
	})
	return ready, cmp.Or(err, progress.err)
}

// enoughSplit refuses to wait for GPUs on which nothing can run before somebody makes instances.
func enoughSplit(s *sampler.Snapshot, gpus int) error {
	left := slices.DeleteFunc(s.Assignable(), func(g *sampler.GPU) bool { return g.Unsplit })
	if len(left) >= gpus {
		return nil
	}
	return usagef("--gpus %d, but only %d can be used: the others are in MIG mode without instances; create one with: sudo nvidia-smi mig -cgi PROFILE -C", gpus, len(left))
}

// The forms in which wait prints the GPUs.
const (
	formatIndex = "index"
	formatUUID  = "uuid"
	formatEnv   = "env"
)

// visible are GPUs as CUDA_VISIBLE_DEVICES takes them: an index says nothing of a MIG instance, and the two
// must not be mixed (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/).
func visible(gpus []watch.Fit, format string) string {
	uuids := format == formatUUID || slices.ContainsFunc(gpus, func(f watch.Fit) bool { return f.MIG })
	var list []string
	for _, f := range gpus {
		if uuids && f.UUID != "" {
			list = append(list, sampler.Clean(f.UUID))
		} else {
			list = append(list, strconv.Itoa(f.GPU))
		}
	}
	text := strings.Join(list, ",")
	if format == formatEnv {
		text = "CUDA_VISIBLE_DEVICES=" + text
	}
	return text
}

// progressLine says on standard error how far a wait is, where that is a terminal.
type progressLine struct {
	w     io.Writer
	on    bool
	began time.Time
	words lang.Catalog
	err   error
	shown bool
}

func (p *progressLine) show(status []watch.Waited, f *fitFlags) {
	if !p.on {
		return
	}
	free, best := 0, sampler.Bytes(0)
	for _, s := range status {
		if s.Free {
			free++
		}
		best = max(best, s.WorstFree.Or(0))
	}
	fmt.Fprint(p.w, "\r\x1b[K"+p.words.Say("wait.progress", "span", time.Since(p.began).Round(time.Second), "count", free, "all", f.gpus, "size", best))
	p.shown = true
}

func (p *progressLine) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
