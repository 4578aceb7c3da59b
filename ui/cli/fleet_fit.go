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

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/plain"
)

// hostFit is what check knows of one host.
type hostFit struct {
	host    string
	checker *watch.Checker
	began   time.Time
	window  time.Duration // that it is looked at
	few     string        // there are not so many GPUs
	never   string        // why it will never fit
	over    bool          // it was looked long enough
	looks   int
}

// firstLooks of a host may be of an nvpeak that has only begun there; a host whose figures are still such tells no more.
const firstLooks = 2

// fleetCheck says of every host whether it fits there. One is enough, as one GPU of a machine is, and as wait asks; it is no where all say no.
func (a *app) fleetCheck(ctx context.Context, f *fitFlags, need sampler.Bytes) error {
	if err := a.elsewhere(); err != nil {
		return err
	}
	if f.format != "" {
		return usagef("--format prints the GPUs of one machine; of several there is nvpeak wait --from")
	}
	window := f.window
	if !f.spanTyped {
		window = usualSpan
	}
	a.opt.interval = time.Second
	if window <= 10*time.Second {
		a.opt.interval = 500 * time.Millisecond
	}
	limited, stop := context.WithTimeout(ctx, window+fleetAnswer)
	defer stop()
	r, fits := &roster{}, map[string]*hostFit{}
	err := a.follow(limited, func(u fleet.Update) (bool, error) {
		r.take(u)
		for _, s := range u.Snapshots {
			h := fits[s.Host]
			if h == nil {
				h = &hostFit{host: s.Host, checker: watch.NewChecker(need), began: s.Time, window: window}
				if !f.spanTyped && r.rarely(s.Host) {
					h.window = 0
				}
				fits[s.Host] = h
			}
			h.take(a, s, need, f.gpus, r.begins(s))
		}
		return r.judged(fits), nil
	})
	if limited.Err() != nil && ctx.Err() == nil {
		err = nil // those that have said nothing by then are unknown
	}
	if err != nil {
		return err
	}
	return a.answerFleet(r, fits, f)
}

func (h *hostFit) take(a *app, s *sampler.Snapshot, need sampler.Bytes, gpus int, begins bool) {
	if h.over {
		return
	}
	h.checker.Add(*s)
	h.looks++
	if err := enoughToChoose(s, gpus); err != nil {
		h.few = err.Error()
	}
	h.never = a.never(s, need, gpus)
	h.over = h.few != "" || h.never != "" || s.Time.Sub(h.began) >= h.window && !(begins && h.looks <= firstLooks)
}

// judged says whether every host was looked at long enough, or gives no figures.
func (r *roster) judged(fits map[string]*hostFit) bool {
	for _, h := range r.hosts {
		fit := fits[h.Name]
		if h.State == fleet.Connecting || h.State == fleet.OK && (fit == nil || !fit.over) {
			return false
		}
	}
	return len(r.hosts) > 0
}

func (a *app) answerFleet(r *roster, fits map[string]*hostFit, f *fitFlags) error {
	out, yes, unknown := bufio.NewWriter(a.out), false, 0
	for _, h := range r.hosts {
		fit := fits[h.Name]
		known := fit != nil && fit.over && h.State == fleet.OK
		var v watch.Answer
		if known {
			v = fit.checker.Answer()
			v.Window = fit.window
			known = v.Known()
		}
		if !known {
			unknown++
		}
		yes = yes || known && v.Enough(f.gpus)
		if err := a.printFit(out, h, fit, v, known, f); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	switch {
	case yes:
		return nil
	case unknown == 1 && len(r.hosts) == 1:
		return fmt.Errorf("%s gives no figures", r.hosts[0].Name)
	case unknown > 0:
		return fmt.Errorf("%d of %d hosts give no figures, and it fits on none of the others", unknown, len(r.hosts))
	}
	return answerNo{}
}

func (a *app) printFit(out io.Writer, h *fleet.Host, fit *hostFit, v watch.Answer, known bool, f *fitFlags) error {
	if f.json {
		return fleetCheckJSON(out, h, fit, v, known, f.gpus)
	}
	if !known {
		_, err := fmt.Fprintln(out, a.words().Say("fleet.unknown", "host", h.Name, "why", a.words().Reason(unknownWhy(h, fit))))
		return err
	}
	if _, err := fmt.Fprintln(out, h.Name+":"); err != nil {
		return err
	}
	err := checkText(out, a.words(), v, v.Window)
	if text := cmp.Or(fit.few, fit.never); err == nil && text != "" {
		_, err = fmt.Fprintln(out, text)
	}
	return err
}

// unknownWhy is why it is not known whether it fits on a host.
func unknownWhy(h *fleet.Host, fit *hostFit) string {
	switch {
	case h.State != fleet.OK && h.Reason != "":
		return h.Reason
	case fit != nil:
		return "it does not tell how much of its memory is free"
	}
	return cmp.Or(h.Reason, "no answer yet")
}

// fleetCheckJSON is a line for each host: that of check with the host, or why there is none.
func fleetCheckJSON(w io.Writer, h *fleet.Host, fit *hostFit, v watch.Answer, known bool, gpus int) error {
	out := struct {
		Host string `json:"host"`
		*checkAnswer
		Unknown string `json:"unknown,omitempty"` // why it is not known
	}{Host: h.Name}
	if known {
		out.checkAnswer = checkAnswerOf(v, gpus)
	} else {
		out.Unknown = unknownWhy(h, fit)
	}
	return plain.LineJSON(w, out)
}

// fleetWait waits for the first host with room, and prints it with its GPUs.
func (a *app) fleetWait(ctx context.Context, f *fitFlags, need sampler.Bytes) error {
	if err := a.elsewhere(); err != nil {
		return err
	}
	if f.timeout > 0 {
		var stop func()
		ctx, stop = context.WithTimeoutCause(ctx, f.timeout, answerNo{})
		defer stop()
	}
	w := &fleetWaiting{app: a, flags: f, need: need, of: map[string]*watch.Waiter{}, never: map[string]string{},
		progress: &progressLine{w: a.err, words: a.words(), on: a.isTerminal(a.err), began: time.Now()}}
	err := a.follow(ctx, w.take)
	w.progress.clear()
	switch no := (answerNo{}); {
	case errors.As(err, &no) && w.chosen == "":
		a.say(w.gaveUp())
		return err
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(a.out, w.chosen+" "+visible(w.ready, f.format))
	return err
}

// fleetWaiting is a wait for one of several hosts.
type fleetWaiting struct {
	app      *app
	flags    *fitFlags
	need     sampler.Bytes
	hosts    roster
	of       map[string]*watch.Waiter
	never    map[string]string // hosts that are too small
	progress *progressLine
	chosen   string
	ready    []watch.Fit
}

func (w *fleetWaiting) take(u fleet.Update) (enough bool, err error) {
	for _, h := range w.hosts.take(u) {
		if h.State == fleet.Lost || h.State == fleet.Late {
			delete(w.of, h.Name) // what it was like meanwhile nobody knows
		}
		if h.State == fleet.Lost {
			w.progress.clear()
			w.app.say(w.app.why(h))
		}
	}
	for _, s := range u.Snapshots {
		if w.add(s) {
			return true, nil
		}
	}
	if len(w.hosts.hosts) > 0 && len(w.never) == len(w.hosts.hosts) {
		w.sayNever()
		w.chosen = "-" // it was said
		return true, answerNo{}
	}
	var all []watch.Waited
	for _, one := range w.of {
		all = append(all, one.Status()...)
	}
	w.progress.show(all, w.flags)
	return false, nil
}

// sayNever says why no host will do, once for those of which the same is true.
func (w *fleetWaiting) sayNever() {
	of := map[string][]string{}
	for _, h := range w.hosts.hosts {
		of[w.never[h.Name]] = append(of[w.never[h.Name]], h.Name)
	}
	for _, h := range w.hosts.hosts {
		text := w.never[h.Name]
		switch names := of[text]; {
		case len(names) == 0: // said
		case len(names) <= namedHosts:
			w.app.say(strings.Join(names, ", ") + ": " + text)
		default:
			w.app.say(w.app.words().Say("fleet.wait.never", "hosts", strings.Join(names[:namedHosts], ", "), "more", len(names)-namedHosts, "text", text))
		}
		delete(of, text)
	}
}

// namedHosts of many are named where the same is said of all.
const namedHosts = 3

// add takes a snapshot, and says whether its host has room.
func (w *fleetWaiting) add(s *sampler.Snapshot) bool {
	delete(w.never, s.Host)
	if err := enoughToChoose(s, w.flags.gpus); err != nil {
		w.never[s.Host] = err.Error()
		return false
	}
	if !parted(s) {
		if text := w.app.never(s, w.need, w.flags.gpus); text != "" {
			w.never[s.Host] = text
			return false
		}
	}
	one := w.of[s.Host]
	if one == nil {
		one = watch.NewWaiter(watch.WaitOptions{Need: w.need, GPUs: w.flags.gpus, Hold: w.flags.hold})
		w.of[s.Host] = one
	}
	ready, done := one.Add(*s)
	if done {
		w.chosen, w.ready = s.Host, ready
	}
	return done
}

// gaveUp is what there was when the time was over: the host with the most.
func (w *fleetWaiting) gaveUp() string {
	best, size, free := "", sampler.Opt[sampler.Bytes]{}, 0
	for _, h := range w.hosts.hosts {
		one := w.of[h.Name]
		if one == nil {
			continue
		}
		if n, most := freeNow(one.Status()); best == "" || n > free || n == free && most.Or(0) > size.Or(0) {
			best, size, free = h.Name, most, n
		}
	}
	words, span := w.app.words(), w.flags.timeout.Seconds()
	if best == "" {
		if len(w.hosts.hosts) == 1 {
			return words.Say("fleet.wait.nobody.one", "span", words.Lasted(span), "host", w.hosts.hosts[0].Name)
		}
		return words.Say("fleet.wait.nobody", "span", words.Lasted(span), "count", len(w.hosts.hosts))
	}
	return words.Say("fleet.wait.timeout", "span", words.Lasted(span), "hosts", len(w.hosts.hosts), "host", best, "hold", words.Lasted(w.flags.hold.Seconds()),
		"count", free, "all", words.Count("count.gpu", w.flags.gpus), "need", w.need.Needed(), "size", orUnknown(size, w.hosts.reason(best)))
}
