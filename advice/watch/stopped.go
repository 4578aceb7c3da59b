package watch

// A process that was refused memory and ends by a signal from outside was ended by its launcher, which ends all ranks when one fails, by a
// watchdog, or by its user. Either it had failed by then, and hung, or it went on, and that has nothing to do with it.

const (
	// stopSeconds is how long after its last try such a process is ended for it: launchers look every few seconds.
	stopSeconds = 10
	// stopSoonSeconds is the same where less speaks for it: it asked once, or was granted a little, or somebody typed Ctrl-C.
	stopSoonSeconds = 5
	// workSeconds: what is granted so soon after a refusal, and no larger than smallSegment, may belong to the way out, or to another thread. Who is
	// granted more, or later, works on.
	workSeconds = 0.1
	// copedSeconds: who has gone on after a refusal of late goes on after the next.
	copedSeconds = 600
)

// SIGHUP, SIGINT and SIGQUIT are sent by a terminal.
func fromTerminal(signal int) bool { return signal >= 1 && signal <= 3 }

// stoppedFor says whether a process that a signal ended so many seconds after a refusal had failed of it.
func (a *asking) stoppedFor(after float64) bool {
	typed := fromTerminal(a.signal())
	switch {
	case a.asked.Whole && float64(a.asked.Live) <= leftShare*float64(a.asked.Peak) && !a.neverBegan() && !(a.emptied() && after <= atOnceSeconds): // it waits for room, or has given up its plan
		return false
	case a.met-a.tried > workSeconds, a.after > smallSegment, a.tried-a.first > retrySeconds, a.copedBefore(): // or asks on and on
		return false
	case a.byDesign(): // unless it is the first time, and at once
		return !typed && a.asked.Refused == a.refusal.Tries && after <= atOnceSeconds
	case typed, a.grantedSince(), a.refusal.Tries == 1:
		return after <= stopSoonSeconds
	}
	return after <= stopSeconds
}

// neverBegan says whether a process was granted nothing, ever, and was refused twice at once: an allocator asks again even where it has no cache to
// empty, and who waits for room does something between.
func (a *asking) neverBegan() bool {
	return a.asked.Granted == 0 && a.refusal.Tries > 1 && a.tried-a.first <= workSeconds
}

// emptied says whether a process of several GPUs has given back all that it had on this one, and was refused once more: a cache may be all that it had
// there, and what it works with is on the others.
func (a *asking) emptied() bool {
	return a.away && a.refusal.Freed > 0 && a.refusal.Tries > 1
}

// copedBefore says whether the process has gone on after another refusal of late. Who has emptied its cache now, and asked more often than ever, has
// not coped with such a one.
func (a *asking) copedBefore() bool {
	if a.refusal.Freed > 0 && a.refusal.Tries > max(a.hardest, 1) {
		return false
	}
	planned, _, _ := a.planned.since(a.tried - copedSeconds)
	coped, _, _ := a.coped.since(a.tried - copedSeconds)
	open, first, _ := a.open.since(a.tried - copedSeconds)
	return planned+coped > 0 || open > 0 && a.tried-first > retrySeconds
}

// signal is what the process ended by; 0: none, or it is not known.
func (a *asking) signal() int {
	if a.end() != stopped {
		return 0
	}
	return a.asked.ExitStatus.Or(0) - 128
}
