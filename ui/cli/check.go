package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// fitFlags are common to check and wait.
type fitFlags struct {
	gpus    int
	window  time.Duration
	hold    time.Duration
	timeout time.Duration
	json    bool
}

const longestWait = 30 * 24 * time.Hour

func checkCommand(a *app) *cobra.Command {
	f := &fitFlags{gpus: 1}
	c := &cobra.Command{
		Use:     "check --need SIZE",
		Short:   "does it fit now? exit 0: it fits; 3: it does not",
		Example: "  nvpeak check --need 20GiB && python train.py\n  nvpeak check --need 20GiB --gpus 2 --window 30s",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context(), f) },
	}
	c.Flags().IntVar(&f.gpus, "gpus", 1, "on how many GPUs it must fit")
	c.Flags().Var(durationFlag{&f.window, 0, longestWait}, "window", "watch for this `DURATION` and count the worst free memory seen")
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	return c
}

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
	c.Flags().Var(durationFlag{&f.hold, 0, longestWait}, "hold", "it must stay free for this `DURATION`")
	c.Flags().Var(durationFlag{&f.timeout, 0, longestWait}, "timeout", "give up after this `DURATION` (exit 3)")
	return c
}

func (a *app) need(gpus int) (sampler.Bytes, error) {
	need, ok := a.opt.need.Value()
	switch {
	case !ok || need == 0:
		return 0, usagef("how much? add --need SIZE, %s", sampler.SizeForms)
	case gpus < 1:
		return 0, usagef("--gpus %d: it must be at least 1", gpus)
	}
	return need, nil
}

func (a *app) check(ctx context.Context, f *fitFlags) error {
	need, err := a.need(f.gpus)
	if err != nil {
		return err
	}
	checker := watch.NewChecker(need, nil)
	limit := time.Now().Add(f.window)
	first := true
	err = a.watch(ctx, min(time.Second, max(f.window, 200*time.Millisecond)), func(s *sampler.Snapshot) bool {
		checker.Add(*s)
		enough := !first || f.window == 0
		first = false
		return enough && !time.Now().Before(limit)
	})
	if err != nil {
		return err
	}
	answer := checker.Answer()
	if !answer.Known() {
		return errors.New("no GPU tells how much memory is free: see the GPUs' errors with nvpeak once")
	}
	out := bufio.NewWriter(a.out)
	if f.json {
		err = checkJSON(out, answer, f.gpus)
	} else {
		err = checkText(out, answer)
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil && !answer.Enough(f.gpus) {
		err = answerNo{}
	}
	return err
}

// watch measures until enough says so.
func (a *app) watch(ctx context.Context, interval time.Duration, enough func(*sampler.Snapshot) bool) error {
	a.opt.interval = interval
	l, ctx, end, err := a.measure(ctx)
	if err != nil {
		return err
	}
	defer end(nil)
	for {
		snaps, err := l.Next(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		for _, s := range snaps {
			if enough(s) {
				return nil
			}
		}
	}
}

// checkText says for each GPU whether it fits, and who is in the way where it does not.
func checkText(w io.Writer, v watch.Answer) error {
	for _, f := range v.GPUs {
		fits, known := f.Fits()
		line := fmt.Sprintf("GPU %d  %s ", f.GPU, v.Need)
		switch worst, _ := f.WorstFree.Value(); {
		case !known:
			line += "cannot be told: no figures"
		case fits:
			line += fmt.Sprintf("fits, %s free", worst)
		default:
			line += fmt.Sprintf("does not fit, %s free, %s short; held by %s", worst, f.Short, holders(f.Holders))
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// holders names the three largest.
func holders(list []watch.Holder) string {
	var parts []string
	for i, h := range list {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		if h.PID == 0 {
			parts = append(parts, fmt.Sprintf("no process the driver names %s", h.Bytes))
			continue
		}
		parts = append(parts, fmt.Sprintf("pid %d (%s) %s", h.PID, strings.Join(strings.Fields(h.Name+" "+h.User), ", "), h.Bytes))
	}
	if len(parts) == 0 {
		return "nobody: the card is too small"
	}
	return strings.Join(parts, ", ")
}

// checkJSON is the answer for scripts.
func checkJSON(w io.Writer, v watch.Answer, gpus int) error {
	type holder struct {
		PID   sampler.Opt[int] `json:"pid"` // null: used by no process the driver names
		User  string           `json:"user"`
		Name  string           `json:"name"`
		Bytes sampler.Bytes    `json:"bytes"`
	}
	type gpu struct {
		Index     int                        `json:"index"`
		Fits      sampler.Opt[bool]          `json:"fits"`
		Free      sampler.Opt[sampler.Bytes] `json:"free_bytes"`
		WorstFree sampler.Opt[sampler.Bytes] `json:"worst_free_bytes"`
		Short     sampler.Bytes              `json:"short_bytes"`
		Holders   []holder                   `json:"holders"`
	}
	out := struct {
		Schema int           `json:"schema"`
		Need   sampler.Bytes `json:"need_bytes"`
		Fits   bool          `json:"fits"`
		GPUs   []gpu         `json:"gpus"`
	}{sampler.Schema, v.Need, v.Enough(gpus), []gpu{}}
	for _, f := range v.GPUs {
		g := gpu{Index: f.GPU, Free: f.Free, WorstFree: f.WorstFree, Short: f.Short, Holders: []holder{}}
		if fits, known := f.Fits(); known {
			g.Fits = sampler.Some(fits)
		}
		for _, h := range f.Holders {
			one := holder{User: h.User, Name: h.Name, Bytes: h.Bytes}
			if h.PID != 0 {
				one.PID = sampler.Some(h.PID)
			}
			g.Holders = append(g.Holders, one)
		}
		out.GPUs = append(out.GPUs, g)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func (a *app) wait(ctx context.Context, f *fitFlags) error {
	need, err := a.need(f.gpus)
	if err != nil {
		return err
	}
	if f.timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, answerNo{})
		defer cancel()
	}
	waiter := watch.NewWaiter(watch.WaitOptions{Need: need, GPUs: f.gpus, Hold: f.hold})
	progress := &progressLine{w: a.err, on: a.isTerminal(a.err), began: time.Now()}
	defer progress.clear()
	var ready []watch.Fit
	err = a.watch(ctx, a.opt.interval, func(s *sampler.Snapshot) (done bool) {
		if len(s.GPUs) < f.gpus {
			err := usagef("--gpus %d, but there are %d GPUs to choose from", f.gpus, len(s.GPUs))
			ready, progress.err = nil, err
			return true
		}
		ready, done = waiter.Add(*s)
		progress.show(waiter.Status(), f)
		return done
	})
	progress.clear()
	if err == nil {
		err = progress.err
	}
	if err != nil {
		return err
	}
	indices := make([]string, len(ready))
	for i, r := range ready {
		indices[i] = strconv.Itoa(r.GPU)
	}
	_, err = fmt.Fprintln(a.out, strings.Join(indices, ","))
	return err
}

// progressLine says on standard error how far a wait is, where that is a terminal.
type progressLine struct {
	w     io.Writer
	on    bool
	began time.Time
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
	fmt.Fprintf(p.w, "\r\x1b[Kwaiting %s: %d of %d GPUs have it free; the most free is %s",
		time.Since(p.began).Round(time.Second), free, f.gpus, best)
	p.shown = true
}

func (p *progressLine) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
