package ui

import (
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// doorPiece says that requests at the driver are seen, and what is missed of them; empty: they are not. short leaves out the latter.
func (v *view) doorPiece(short bool) piece {
	d, word := v.snap.Door, v.words.Say("screen.requests")
	switch {
	case d == nil:
		return piece{}
	case len(d.LetGo) == 0 && len(d.Busy) == 0 && len(d.Other) == 0 && d.Lost == 0 && d.Unseen == 0:
		return piece{theme.Dim, word}
	case short:
		return piece{theme.Notice, word}
	}
	var missed []string
	if n := len(d.LetGo); n == 1 {
		missed = append(missed, v.words.Say("screen.too_often", "name", sampler.Clean(d.LetGo[0])))
	} else if n > 1 {
		missed = append(missed, v.words.Say("screen.too_often_all", "count", n))
	}
	if n := busyProcesses(d.Busy); n == 1 {
		missed = append(missed, v.words.Say("screen.too_often_pid", "pid", d.Busy[0].PID))
	} else if n > 1 {
		missed = append(missed, v.words.Say("screen.too_often_pids", "count", n))
	}
	if n := len(d.Other); n > 0 {
		missed = append(missed, v.words.Say("screen.other_versions", "name", sampler.Clean(d.Other[0])))
	}
	if d.Lost > 0 {
		missed = append(missed, v.words.Count("count.lost_call", d.Lost))
	}
	if d.Unseen > 0 {
		missed = append(missed, v.words.Count("count.unseen", d.Unseen))
	}
	return piece{theme.Notice, v.words.Say("screen.requests_but", "missed", strings.Join(missed, v.words.Say("list.comma")))}
}

// busyProcesses counts those of a list, which has one of them together.
func busyProcesses(list []sampler.Busy) (n int) {
	for i := range list {
		if i == 0 || list[i].PID != list[i-1].PID {
			n++
		}
	}
	return n
}

// requestLines says what a process asked the driver for, by the word of each line.
func (v *view) requestLines(r *sampler.Requests, line func(id, text string, role theme.Role)) {
	if r == nil {
		return
	}
	comma := v.words.Say("list.comma")
	text := v.words.Say("proc.largest", "size", r.Largest.Needed(), "ago", v.ago(v.now().Sub(r.LargestTime)))
	if r.LargestRecent > 0 && v.now().Sub(r.LargestTime) > time.Minute {
		text += comma + v.words.Say("proc.lately", "size", r.LargestRecent.Needed())
	}
	text += v.words.Say("list.semicolon") + v.words.Say("proc.granted", "granted", r.Granted, "refused", r.Refused)
	if r.Flushes > 0 {
		text += comma + v.words.Count("count.flush", r.Flushes)
	}
	line("proc.asked", text, theme.Text)
	if r.Whole {
		line("proc.held", v.words.Say("proc.live", "live", r.Live, "peak", v.words.Rough(r.Peak, r.Overlapping)), theme.Text)
	}
	if last := r.Refusal; last != nil {
		line("proc.refused", v.refusal(last), pick(last.Outcome == sampler.RefusalOpen, theme.Warning, theme.Text))
	}
}

// refusal is how much was refused, when, with how much free, how often, by which function, and what came of it.
func (v *view) refusal(r *sampler.Refusal) string {
	comma := v.words.Say("list.comma")
	size := r.Bytes.Needed()
	if r.Bytes == 0 { // how much that takes is not asked
		size = v.words.Say("proc.context")
	}
	text := v.words.Say("proc.refused_at", "size", size, "ago", v.ago(v.now().Sub(r.Time)))
	if free, ok := r.Free.Value(); ok {
		text = v.words.Say("proc.refused_free", "text", text, "free", v.words.Rough(free.Few(), r.FreeAbout))
	}
	if r.Tries > 1 {
		text += comma + v.words.Say("proc.tries", "count", r.Tries)
	}
	if r.Smallest > 0 && r.Smallest < r.Bytes {
		text += comma + v.words.Say("proc.smallest", "size", r.Smallest.Needed())
	}
	id := "outcome." + r.Outcome
	switch {
	case r.Outcome == sampler.RefusalOpen || !v.words.Has(id):
		id = "outcome.open"
	case r.Outcome == sampler.RefusalFlush && r.Freed == 0: // a pool was trimmed, of which no call says how much it gave back
		id = "outcome.trimmed"
	}
	text += v.words.Say("list.colon") + v.words.Say(id, "freed", r.Freed)
	return v.words.Say("proc.by", "text", text, "function", sampler.Clean(r.Function))
}
