package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui/plain"
)

// fitFlags are common to check and wait.
type fitFlags struct {
	spanTyped bool // --window or --hold was
	gpus      int
	window    time.Duration
	hold      time.Duration
	timeout   time.Duration
	json      bool
	format    string
}

const longestWait = 30 * 24 * time.Hour

// How long check and wait look where nobody says: one reading is nothing beside a training, of which a
// step takes and gives back its activations within a second or two. No driver tells what was before. A
// demo can, so it shows its last minute, which holds an epoch with its validation.
const (
	usualSpan = 3 * time.Second
	demoSpan  = time.Minute
)

func checkCommand(a *app) *cobra.Command {
	f := &fitFlags{gpus: 1}
	c := &cobra.Command{
		Use:     "check --need SIZE",
		Short:   "does it fit now? exit 0: it fits; 3: it does not",
		Example: "  nvpeak check --need 20GiB && python train.py\n  nvpeak check --need 20GiB --gpus 2 --window 30s",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.spanTyped = cmd.Flags().Changed("window")
			return a.check(cmd.Context(), f)
		},
	}
	c.Flags().IntVar(&f.gpus, "gpus", 1, "on how many GPUs (`N`) it must fit")
	c.Flags().Var(durationFlag{&f.window, 0, longestWait}, "window", "watch for this `DURATION` and count the lowest free memory seen: 3s, long enough for a step or two of a training next to you; 0s: one reading; a demo counts its last minute")
	c.Flags().StringVar(&f.format, "format", "", "where it fits print only the GPUs, as `FORM`: index, uuid or env; where not, why on standard error")
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	a.opt.bind(c.Flags(), append(following, "need", "lang")...)
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
	if a.listDemos() {
		return nil
	}
	need, err := a.need(f.gpus)
	if err == nil {
		err = f.checkFormat()
	}
	if err != nil {
		return err
	}
	if a.remote() {
		return a.fleetCheck(ctx, f, need)
	}
	c := a.newChecking(need, f)
	if err = a.watch(ctx, c.every(), c.past, c.add); err != nil {
		return err
	}
	if c.few != nil {
		return c.few
	}
	answer := c.checker.Answer()
	answer.Window = c.window
	if !answer.Known() {
		return errors.New("no GPU tells how much memory is free: see the GPUs' errors with nvpeak once")
	}
	if err = a.answer(answer, f, c); err == nil && !answer.Enough(f.gpus) {
		err = answerNo{}
	}
	return err
}

// answer prints the answer.
func (a *app) answer(v watch.Answer, f *fitFlags, c *checking) (err error) {
	out := bufio.NewWriter(a.out)
	switch chosen := v.Chosen(f.gpus); {
	case f.json:
		err = checkJSON(out, v, f.gpus)
	case f.format != "" && chosen != nil:
		err = a.printGPUs(chosen, f.format, c.unlike)
	case f.format != "":
		err = checkText(a.err, a.words(), v, v.Window)
	default:
		err = checkText(out, a.words(), v, v.Window)
	}
	err = cmp.Or(err, out.Flush())
	if c.never != "" && !f.json {
		a.say(c.never)
	}
	return err
}

// never says that too few of the GPUs are large enough, however empty; nothing where there are enough.
func (a *app) never(s *sampler.Snapshot, need sampler.Bytes, gpus int) string {
	n, largest := watch.Possible(s, need)
	if n >= gpus {
		return ""
	}
	return a.words().Say("check.too_large", "need", need.Needed(), "count", n, "all", gpus, "size", largest)
}

// checking gathers what check looks at.
type checking struct {
	app     *app
	checker *watch.Checker
	flags   *fitFlags
	need    sampler.Bytes
	window  time.Duration // to look for, all in all
	past    time.Duration // of that, what a demo has behind it
	began   time.Time
	until   time.Time
	few     error  // there are not so many GPUs
	never   string // why it will never fit
	unlike  bool
}

func (a *app) newChecking(need sampler.Bytes, f *fitFlags) *checking {
	c := &checking{app: a, checker: watch.NewChecker(need), flags: f, need: need, window: f.window}
	switch demo := string(a.opt.demo); {
	case demo != "" && !f.spanTyped:
		c.window, c.past = demoSpan, demoSpan
	case demo != "":
		c.past = min(c.window, pastOf(demo))
	case !f.spanTyped:
		c.window = usualSpan
	}
	c.began = time.Now()
	c.until = c.began.Add(c.window - c.past)
	return c
}

// every is how often there is a snapshot: often enough to end soon after the window.
func (c *checking) every() time.Duration {
	if c.window > 10*time.Second {
		return time.Second
	}
	return 200 * time.Millisecond
}

// add takes a snapshot, and says whether it was the last one that is needed.
func (c *checking) add(l *live, s *sampler.Snapshot) bool {
	c.unlike = l.Unlike()
	if c.few = enoughToChoose(s, c.flags.gpus); c.few != nil {
		return true
	}
	c.checker.Add(*s)
	if c.never = c.app.never(s, c.need, c.flags.gpus); c.never != "" { // no use to look any longer
		c.window = c.past
		return !s.Time.Before(c.began) // of a demo there is its past, whose beginning is not now
	}
	return !s.Time.Before(c.until)
}

// enoughToChoose refuses to answer for more GPUs than there are.
func enoughToChoose(s *sampler.Snapshot, gpus int) error {
	switch n := len(s.Assignable()); {
	case n >= gpus:
		return nil
	case n == 1:
		return usagef("--gpus %d, but there is 1 GPU to choose from", gpus)
	default:
		return usagef("--gpus %d, but there are %d GPUs to choose from", gpus, n)
	}
}

// judgeAfter is how long an answer waits at most until each GPU has told its memory and its
// processes: longer than it takes to notice that the driver does not answer for one.
const judgeAfter = 4 * time.Second

// watch measures until enough says so. The first snapshot is a whole one.
// past is how much of a demo's past it begins with; GPUs have none.
func (a *app) watch(ctx context.Context, interval, past time.Duration, enough func(*live, *sampler.Snapshot) bool) error {
	a.opt.interval = interval
	l, ctx, end, err := a.measureSince(ctx, sampler.Options{Whole: judgeAfter}, past)
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
			if enough(l, s) {
				return nil
			}
		}
	}
}

// checkText says for each GPU whether it fits, now or over a window, and who holds the memory where it does not.
func checkText(w io.Writer, words lang.Catalog, v watch.Answer, window time.Duration) error {
	for _, f := range v.GPUs {
		fits, known := f.Fits()
		line := ""
		switch lowest, _ := f.WorstFree.Value(); {
		case f.Unsplit:
			line = words.Say("check.unsplit", "gpu", f.Label)
		case !known:
			line = words.Say("check.unknown", "gpu", f.Label, "need", v.Need.Needed())
		case fits:
			id := "check.fits_window"
			if window == 0 {
				id = "check.fits"
			}
			line = words.Say(id, "gpu", f.Label, "need", v.Need.Needed(), "free", lowest.Few(), "window", words.Lasted(window.Seconds()))
		case window > 0:
			line = words.Say("check.short_window", "gpu", f.Label, "need", v.Need.Needed(), "free", lowest.Few(), "short", f.Short.Needed(), "window", words.Lasted(window.Seconds()), "who", holders(words, f.Holders))
		default:
			line = words.Say("check.short", "gpu", f.Label, "need", v.Need.Needed(), "free", lowest.Few(), "short", f.Short.Needed(), "who", holders(words, f.Holders))
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// holders names the three largest.
func holders(words lang.Catalog, list []watch.Holder) string {
	var parts []string
	for i, h := range list {
		if i == 3 {
			parts = append(parts, words.Say("report.more", "n", len(list)-i))
			break
		}
		if h.PID == 0 {
			parts = append(parts, words.Say("check.unattributed", "size", h.Bytes))
			continue
		}
		who := strings.Join(strings.Fields(sampler.Clean(h.Name+" "+h.User)), words.Say("list.comma"))
		if who == "" { // it has ended, or is in another container
			who = words.Say("check.unseen")
		}
		id := "check.pid"
		if h.Most.Less(h.Bytes) > h.Most/20 {
			id = "check.pid_most"
		}
		parts = append(parts, words.Say(id, "pid", h.PID, "who", who, "size", h.Bytes, "most", h.Most))
	}
	if len(parts) == 0 {
		return words.Say("check.nobody")
	}
	return strings.Join(parts, words.Say("list.comma"))
}

// checkAnswer is the answer for scripts.
type checkAnswer struct {
	Schema int           `json:"schema"`
	Need   sampler.Bytes `json:"need_bytes"`
	Window float64       `json:"window_s"` // looked at; 0: one reading
	Fits   bool          `json:"fits"`
	GPUs   []checkedGPU  `json:"gpus"`
}

type checkedGPU struct {
	Index     int                        `json:"index"`
	UUID      string                     `json:"uuid"` // of a MIG instance its own
	MIG       *sampler.MIG               `json:"mig"`
	Fits      sampler.Opt[bool]          `json:"fits"`
	Reason    string                     `json:"reason,omitempty"` // why not, where it is not for want of memory
	Free      sampler.Opt[sampler.Bytes] `json:"free_bytes"`
	WorstFree sampler.Opt[sampler.Bytes] `json:"worst_free_bytes"`
	Short     sampler.Bytes              `json:"short_bytes"`
	Holders   []checkedHolder            `json:"holders"`
}

type checkedHolder struct {
	PID   sampler.Opt[int] `json:"pid"` // null: used by no process the driver names
	User  string           `json:"user"`
	Name  string           `json:"name"`
	Bytes sampler.Bytes    `json:"bytes"`
	Most  sampler.Bytes    `json:"most_bytes"` // within the window
}

func checkJSON(w io.Writer, v watch.Answer, gpus int) error {
	return plain.LineJSON(w, checkAnswerOf(v, gpus))
}

func checkAnswerOf(v watch.Answer, gpus int) *checkAnswer {
	out := &checkAnswer{sampler.Schema, v.Need, v.Window.Seconds(), v.Enough(gpus), []checkedGPU{}}
	for _, f := range v.GPUs {
		g := checkedGPU{Index: f.GPU, UUID: f.UUID, MIG: f.Instance, Free: f.Free, WorstFree: f.WorstFree, Short: f.Short, Holders: []checkedHolder{}}
		if f.Unsplit {
			g.Reason = "mig_without_instances"
		}
		if fits, known := f.Fits(); known {
			g.Fits = sampler.Some(fits)
		}
		for _, h := range f.Holders {
			one := checkedHolder{User: h.User, Name: h.Name, Bytes: h.Bytes, Most: h.Most}
			if h.PID != 0 {
				one.PID = sampler.Some(h.PID)
			}
			g.Holders = append(g.Holders, one)
		}
		out.GPUs = append(out.GPUs, g)
	}
	return out
}
