package watch

import (
	"cmp"
	"math"
	"strconv"

	"nvpeak/sampler"
)

const (
	// keepsTimes refusals of which nothing came, over a minute at least, are worth a notice: a server that
	// fails its requests. One or two are a search for what fits.
	keepsTimes = 3
	keepsLeast = 60
	// overSeconds after the last of them it is over.
	overSeconds = 60
)

// keepsFailing is how often a process that goes on was refused memory of late, for nothing; 0: it is not.
func (a *asking) keepsFailing(now float64) (times int, since float64) {
	if !a.heard {
		return 0, 0
	}
	n, first, last := a.open.since(now - flushSpan)
	if n < keepsTimes || last-first < keepsLeast || now-last > deathSeconds+overSeconds || !a.pending() {
		return 0, 0
	}
	return n, first
}

// keepsFailing asks that only where requests are seen.
func (g *gpu) keepsFailing(p *proc, now float64) (times int, since float64) {
	if !g.asks {
		return 0, 0
	}
	return p.asking.keepsFailing(now)
}

func renderGoesOn(f *Facts, p *proc, n int, since float64) message {
	r := &p.asking.refusal
	m := message{
		text:     f.words.Say("alert.oom.goes_on", "gpu", f.gpu.last.Label(), "process", f.pid(p), "n", n, "span", f.words.Span(f.now-since)),
		evidence: []string{driverRefused(f, r, false)},
		numbers:  map[string]float64{"refusals": float64(n), "requested_bytes": float64(r.Bytes)},
	}
	if free, ok := r.Free.Value(); ok {
		m.numbers["free_bytes"] = float64(free)
	}
	return m
}

// driverRefused says what the driver refused; named: the line before has its size.
func driverRefused(f *Facts, r *sampler.Refusal, named bool) string {
	said := []any{"size", r.Bytes.Needed(), "function", sampler.Clean(r.Function), "times", f.words.Count("times", r.Tries), "least", r.Smallest.Needed()}
	id := "alert.refused"
	switch {
	case r.Bytes == 0:
		id = "alert.refused.context"
	case named:
		id = "alert.refused.named"
	}
	text := f.words.Say(id, said...)
	if r.Smallest.Needed() != r.Bytes.Needed() {
		text = f.words.Say("alert.refused.down_to", said...)
	}
	if free, ok := r.Free.Value(); ok {
		text += f.words.Say("alert.refused.free", "free", f.words.Rough(free.Few(), r.FreeAbout))
	}
	if r.Freed > 0 {
		text += f.words.Say("alert.refused.freed", "freed", r.Freed)
	}
	return text
}

// tell adds what the driver saw to the message of a failure.
func (d *Death) tell(f *Facts, logged bool, m *message) {
	seen := d.refusal
	total := d.Event.GPUTotal.Or(sampler.MaxPlausible)
	over := d.Event.Requested.Known() && cmp.Or(seen.Smallest, seen.Bytes) > total // whatever is free
	if !logged && d.Event.Requested.Known() && !over {
		seen.Free = sampler.Opt[sampler.Bytes]{} // the text says it
	}
	m.evidence = append(m.evidence, driverRefused(f, &seen, !logged && d.Event.Requested.Known()))
	m.numbers["tries"] = float64(d.refusal.Tries)
	if d.signal > 0 && !logged {
		m.evidence = append(m.evidence, f.words.Say("alert.refused.stopped", "signal", d.signal, "span", f.words.Span(math.Ceil(d.waited))))
	}
	if piece(&d.refusal) {
		m.evidence = append(m.evidence, f.words.Say("alert.refused.piece"))
	}
	if logged {
		return
	}
	process := f.words.Say("alert.pid", "pid", d.PID, "who", f.who(d.name, d.user))
	free, known := d.refusal.Free.Value()
	said := f.words.Rough(free.Few(), d.refusal.FreeAbout)
	size, whole := d.Event.Requested.Value()
	sure := "sure"
	if d.guess {
		sure = "likely"
	}
	gpu, where := d.label, "unplaced"
	if d.refusal.GPU.Known() {
		gpu, where = strconv.Itoa(d.refusal.GPU.Or(0)), "unwatched"
	}
	how := []any{"gpu", gpu, "process", process, "size", size.Needed(), "free", said, "total", total, "died", f.words.Say("alert.oom.how." + sure), "died_of", f.words.Say("alert.oom.how_of." + sure)}
	switch {
	case d.Unplaced && whole:
		m.text = f.words.Say("alert.oom.died."+where, how...)
	case d.Unplaced && d.refusal.Bytes == 0:
		m.text = f.words.Say("alert.oom.no_context."+where, how...)
	case d.Unplaced:
		m.text = f.words.Say("alert.oom.died_piece."+where, how...)
	case over:
		m.text = f.words.Say("alert.oom.died_over", how...)
	case whole && known:
		m.text = f.words.Say("alert.oom.died_free", how...)
	case whole:
		m.text = f.words.Say("alert.oom.died", how...)
	case d.refusal.Bytes == 0 && known:
		m.text = f.words.Say("alert.oom.context_free", how...)
	case d.refusal.Bytes == 0:
		m.text = f.words.Say("alert.oom.no_context", how...)
	default:
		m.text = f.words.Say("alert.oom.died_piece", how...)
	}
}
