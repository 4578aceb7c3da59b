package cli

import (
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/torch"
)

// linesCost is what --lines costs, in its help.
const linesCost = "about 2 µs for each tensor that is made, and at most 1 % of the time"

// inside adds to a failure what the process that failed has told: the state of its allocator, and which source lines
// held the memory.
func (w *watchedRun) inside(e *sampler.OOMEvent) {
	if w.live.reporter == nil {
		return
	}
	if e.Refused == nil || e.Refused.Fragmentation() == "" {
		e.Refused = w.live.reporter.Tensor(e)
	}
	if !w.lines || e.Held != nil {
		return
	}
	held := w.live.reporter.Held(e)
	switch {
	case held == nil:
		return
	case !tellsLines(held):
		w.stackless.Store(true)
		return
	}
	s := sampler.TorchSnapshot{Devices: []sampler.TorchDevice{*held}}
	readSources(&s, w.box.meta.Start) // what was written later is not what runs
	e.Held = &s.Devices[0]
}

// tellsLines says whether there is a source line of anything that is alive, or a growth to tell of without.
func tellsLines(d *sampler.TorchDevice) bool {
	return slices.ContainsFunc(d.Holders, func(h sampler.TorchHolder) bool { return h.File != "" }) ||
		slices.ContainsFunc(d.Trace.Lines, func(l sampler.TorchLine) bool { return l.File != "" || l.Grown > 0 })
}

// sayUntold says at the end of a run that died that nobody has told any line.
func (w *watchedRun) sayUntold() {
	r := w.live.reporter
	switch {
	case !w.lines:
	case r == nil:
		w.app.say("--lines: source lines are missing: there is no directory for the socket that programs report to")
	case w.stackless.Load():
		w.app.say("--lines: source lines are missing: PyTorch tells none of what is alive, as of tensors from before CUDA was initialized and from threads without Python")
	case !r.Told():
		if r.Lacks() == (torch.Lack{}) {
			w.app.say("--lines: source lines are missing: no Python program with PyTorch on a GPU has told any (python -S, -E and -I tell none)")
		}
	}
}

// sayMisses says once what PyTorch does not tell of its allocator. That nobody tells which tensor was refused matters
// only to a run that died.
func (w *watchedRun) sayMisses(died bool) {
	if w.live.reporter == nil {
		return
	}
	lack := w.live.reporter.Misses()
	pytorch := strings.TrimSpace("PyTorch " + lack.Version)
	text := map[string]string{
		"stats":    "PyTorch's own figures are missing: memory_stats fails in " + pytorch,
		"odd":      "PyTorch's own figures are missing: memory_stats of " + pytorch + " tells what cannot be",
		"slow":     "PyTorch's own figures are rare: memory_stats of " + pytorch + " took " + lack.Why + " s, and is called for 1 % of the time",
		"late":     "PyTorch's own figures are missing: memory_stats of " + pytorch + " has not answered in " + lack.Why + " s",
		"observer": "PyTorch's own word on the refused tensor is missing: " + pytorch + " takes no observer",
	}[lack.What]
	if text == "" || lack.What == "observer" && !died {
		return
	}
	if lack.Why != "" && lack.What != "slow" && lack.What != "late" {
		text += " (" + lack.Why + ")"
	}
	w.misses.Do(func() { w.app.say(text) })
}

// sayLacking says once why no lines are told.
func (w *watchedRun) sayLacking() {
	if !w.lines || w.live.reporter == nil {
		return
	}
	lack := w.live.reporter.Lacks()
	if lack == (torch.Lack{}) || w.live.reporter.Told() {
		return
	}
	w.lacking.Do(func() {
		text := map[string]string{"gone": "has no memory history", "off": "does not begin its memory history", "unseen": "does not show what is alive"}[lack.What]
		if text == "" {
			text = "cannot begin its memory history"
		}
		if lack.Why != "" {
			text += " (" + lack.Why + ")"
		}
		w.app.say("--lines: source lines are missing: " + strings.TrimSpace("PyTorch "+lack.Version) + " " + text)
	})
}
