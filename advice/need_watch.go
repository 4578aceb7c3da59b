package advice

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// needs are the needs that are known without guessing.
type needs struct {
	typed   sampler.Opt[sampler.Bytes]
	refused []refusal // newest last
}

// refusal is a request that an allocator was refused.
type refusal struct {
	bytes   sampler.Bytes
	card    cardKey
	pid     int    // 0: not known
	command string // of the process that asked, "" when not known
	at      float64
}

const (
	maxRefusals = 16
	// refusalSeconds is how long a refused request stays a need when nothing is known of
	// the program that made it.
	refusalSeconds = 3600
	// refusedWindow is the window of the worst free memory for a refused request: the
	// minute before would still show the process that has died of it.
	refusedWindow = 8
	// restartSeconds is how long the same command may take to come back.
	restartSeconds = 24 * 3600
)

// SetNeed sets the need that the user typed; absent takes it back.
func (w *Watch) SetNeed(need sampler.Opt[sampler.Bytes]) {
	if n, ok := need.Value(); ok && (n == 0 || n >= sampler.Sane) {
		need = sampler.Opt[sampler.Bytes]{}
	}
	w.needs.typed = need
}

// Need is the need that the user typed.
func (w *Watch) Need() sampler.Opt[sampler.Bytes] { return w.needs.typed }

// fold forgets refusals that say nothing about what runs now: another command holds the
// card, or too much time has passed.
func (n *needs) fold(cards []*card, now float64) {
	if len(n.refused) == 0 {
		return
	}
	n.refused = slices.DeleteFunc(n.refused, func(r refusal) bool {
		limit := float64(refusalSeconds)
		if r.command != "" {
			limit = restartSeconds
		}
		return now-r.at > limit
	})
}

// of is the need to compare a card with: what was typed, else the last request refused on
// it to a program that still runs there (or, when it is not known who asked, of late).
func (n *needs) of(c *card) (Need, bool) {
	if b, ok := n.typed.Value(); ok {
		return Need{Bytes: b, Source: NeedTyped}, true
	}
	for i := len(n.refused) - 1; i >= 0; i-- {
		r := n.refused[i]
		if r.card != c.key {
			continue
		}
		need := Need{Bytes: r.bytes, Source: NeedRefused, GPU: sampler.Some(c.gpu.Index)}
		if r.command == "" {
			return need, true
		}
		for _, p := range c.procs {
			if p.tick == c.tick && p.process.Command == r.command {
				need.PID = sampler.Some(p.pid)
				return need, true
			}
		}
		return Need{}, false
	}
	return Need{}, false
}

// Event takes an out-of-memory failure found in a followed log at time t. It raises an
// alert, and the refused size becomes the need. It returns the alerts that are open now, as
// Add does; before the first snapshot there are none.
func (w *Watch) Event(e sampler.OOMEvent, t time.Time) []sampler.Alert {
	if w.clock.started && t.After(w.clock.last) && w.clock.next(t) {
		w.holdAgain()
		for _, c := range w.cards {
			c.forgetRecent()
		}
	}
	now := w.clock.now
	c, p := w.owner(e)
	o := oom{event: e, at: now, explained: Explain(w.Incident(e))}
	if c != nil {
		o.card, o.placed = c.key, true
	}
	if size, ok := sane(e.Requested); ok && size > 0 && c != nil && e.MemoryKind != "host" {
		r := refusal{bytes: size, card: c.key, at: now}
		if p != nil {
			r.pid, r.command = p.pid, p.process.Command
		}
		w.needs.refused = append(w.needs.refused, r)
		if len(w.needs.refused) > maxRefusals {
			w.needs.refused = slices.Delete(w.needs.refused, 0, 1)
		}
	}
	w.ooms = append(w.ooms, o)
	if len(w.ooms) > maxRefusals {
		w.ooms = slices.Delete(w.ooms, 0, 1)
	}
	if w.clock.started {
		w.showFailures(t)
	}
	return w.lastAlert
}

// Incident is what the snapshots so far tell of a failure: the card, the process with its
// command and environment as far as they are known, the others, the peaks. It is for
// Explain.
func (w *Watch) Incident(e sampler.OOMEvent) Incident {
	in := Incident{}
	if c, p := w.owner(e); c != nil {
		in = c.incident(p)
	}
	in.Events = []sampler.OOMEvent{e}
	return in
}

// Fit is the arithmetic of the need against a card, for the screen: the typed need, else
// the refused one, else the largest jump that came back. ok is false for an unknown card.
func (w *Watch) Fit(gpu sampler.GPUKey) (fit Fit, ok bool) {
	for _, c := range w.cards {
		if c.gpu.Key() == gpu {
			return w.fit(c), true
		}
	}
	return Fit{}, false
}

func (w *Watch) fit(c *card) Fit {
	f := w.arithmetic(c)
	f.Holders = holders(*c.gpu, own(f.Need))
	return f
}

// arithmetic is fit without the holders, which take longer than all the rest.
func (w *Watch) arithmetic(c *card) Fit {
	f := Fit{GPU: c.gpu.Index, UUID: c.gpu.UUID, Total: total(c.gpu.Memory), Free: free(c.gpu.Memory)}
	if v := c.worst.ever; v == v {
		f.WorstFreeStart = sampler.Some(bytesOf(v))
	}
	n, ok := w.needs.of(c)
	window := float64(worstSeconds)
	if n.Source == NeedRefused {
		window = refusedWindow
	}
	if v := c.worst.last(w.clock.now, window); v == v {
		f.WorstFree = sampler.Some(bytesOf(v))
	}
	if !ok {
		if n, ok = c.largestJump(w.clock.now); ok {
			// The worst free memory is that of the last such jump itself: what counts is what
			// there is between them.
			f.WorstFree = sampler.Some(bytesOf(c.settledFree(w.clock.now)))
		}
	}
	if ok {
		f.Need = sampler.Some(n)
		f.Reusable = c.reusable(n)
		f.Short = short(n.Bytes, f.WorstFree, f.Reusable.Or(0))
		if n.Source == NeedJump && mib(f.Short) <= c.total*jumpSlack {
			f.Short = 0
		}
	}
	return f
}

// jumpSlack is the part of the card that a jump may lack: jumps differ by that much.
const jumpSlack = 0.005

// reusable is what the process that needs memory has free in its own allocator. Without
// knowing who asks it is that of the only process that reports one.
func (c *card) reusable(n Need) sampler.Opt[sampler.Bytes] {
	var found sampler.Opt[sampler.Bytes]
	for _, p := range c.procs {
		a := p.process.Allocator
		if a == nil || a.Reserved >= sampler.Sane || n.PID.Known() && n.PID.Or(0) != p.pid {
			continue
		}
		if found.Known() {
			return sampler.Opt[sampler.Bytes]{}
		}
		found = sampler.Some(a.Reserved.Less(a.Allocated).Less(a.InactiveSplit))
	}
	return found
}

// largestJump is the largest amount that a process of the card took at once, gave back,
// and may ask for again.
func (c *card) largestJump(now float64) (Need, bool) {
	best, pid := 0.0, 0
	for _, p := range c.procs {
		if pt, ok := p.series.pattern(now); ok && pt.high > best {
			best, pid = pt.high, p.pid
		}
	}
	if pt, ok := c.rest.pattern(now); ok && !c.listed && pt.high > best {
		best, pid = pt.high, 0
	}
	if best <= 0 {
		return Need{}, false
	}
	n := Need{Bytes: bytesOf(best), Source: NeedJump, GPU: sampler.Some(c.gpu.Index)}
	if pid != 0 {
		n.PID = sampler.Some(pid)
	}
	return n, true
}
