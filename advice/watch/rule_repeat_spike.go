package watch

import (
	"fmt"
	"math"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleRepeatSpike = Rule{
	Code:  sampler.AlertRepeatSpike,
	Level: sampler.LevelCritical,
	Reason: "A process spikes now and then (validation, saving), and by where the last spikes ended, what the level between them has risen " +
		"since and what others hold now, the next does not fit; or they grow or vary so much that one of the next will not.",
	HoldFor:    3 * time.Second,
	ClearAfter: 3 * time.Minute, // a spike that was survived is no all-clear
	Silences:   []string{sampler.AlertNeighbor},
	check:      checkRepeatSpike,
}

const (
	// spikeSoon is when a spike that does not fit becomes critical.
	spikeSoon = 60
	// spikesVary: so many spikes are needed to say how much they vary; one that would be
	// two deviations above the mean and does not fit comes once in 40.
	spikesVary     = 5
	spikesTold     = 80 // after so many the rare one would have come: their size has a limit
	varyDeviations = 2.0
	variesPeriod   = 30   // seconds; what comes more often are the steps of a loop
	variesLeast    = 0.01 // of the GPU
	// spikeSlack, of the GPU: readings are not exact.
	spikeSlack = 0.002
	// riseLeast, of the GPU, is a rise of the baseline that is one.
	riseLeast = 0.004
	// riseMost, of what spikes give back: what rises by as much as a spike is one.
	riseMost = 0.6
	// riseTop, of the newest spike: a level that has come as near as that to where it ended, with no other between, is one more of them, or a phase.
	riseTop = 0.1
	// outgrownLeast, of the GPU, is how much a spike must be above all before it, and the one
	// before it above its own, if there were several: a single record among many is no series,
	// batches of chance make them.
	outgrownLeast = 0.01
	// outgrownMost: what is several times as high as those before is the next phase of the program, not one
	// more of them; outgrownSmall, of the GPU: small ones are no measure.
	outgrownMost  = 3
	outgrownSmall = 0.05
	// outgrownAlone: where one spike is all there was before, what is half as high again is of another kind, as a long evaluation after a short one,
	// and says nothing of a third. Of five sets of jobs no death was warned of by a steeper step.
	outgrownAlone = 0.5
	// risesUnlisted: without a process list the spikes may be those of several programs.
	risesUnlisted = 5
	// spikeStart: what comes up and goes in the first two minutes of a holder is its start.
	spikeStart = 120
	// climbsNeeded: so many tops in a row tell that they rise, where what is between them is all
	// of the time.
	climbsNeeded = 4
	// fallsEach spike are its own: the cache is emptied before and after.
	fallsEach = 3
	// nearlyFull, of what it can have: a holder that had less is not near its end.
	nearlyFull = 0.9
	// recordOver seconds after a record it has either fallen or stands, also where it is read every ten seconds: see Series.Floor.
	recordOver = 60
	// spikesAhead is how many spikes beyond the next are looked at.
	spikesAhead = 1
)

func checkRepeatSpike(f *Facts) []finding {
	if !f.live() || f.gpu.blind(f.now) {
		return nil
	}
	g := f.gpu
	var out []finding
	look := func(s *series.Series, pid int) {
		if p := g.withPID(pid); p != nil && p.peak.turns(max(0, g.used-s.Value)) {
			return // the others make room for it
		}
		pt, ok := s.Pattern(f.now, g.total)
		var v expectation
		if ok = ok && !pt.Phase(s.Rose); ok {
			v, ok = expects(f, s, pt)
		}
		if !ok {
			pt = series.Pattern{}
			v, ok = expectsRecord(f, s)
		}
		if !ok {
			v, ok = expectsCopy(f, s)
		}
		if ok {
			out = append(out, spikeFinding(f, s, pid, pt, v))
		}
	}
	for _, p := range g.procs {
		if p.tick == g.tick {
			look(&p.series, p.pid)
		}
	}
	if !g.listed {
		look(&g.rest, 0)
	}
	return out
}

// expectation is why a spike to come will not fit.
type expectation struct {
	top       float64 // MiB it will end at
	available float64 // MiB its holder can have
	later     int     // so many spikes fit before it
	chance    bool    // it is one of them some time, not the very next
	due       float64 // when, in seconds of the Watch's clock; 0: by the pattern of the spikes
	how       string
}

// expects says whether one of the next spikes ends above what its holder can have. All are
// measured by where they end: by the last tops, and what the level between them has risen
// since.
func expects(f *Facts, s *series.Series, p series.Pattern) (e expectation, ok bool) {
	limit, words := f.gpu.total, f.words
	e.available = f.gpu.available(s, f.now)
	room := e.available + limit*spikeSlack
	outgrown := s.Outgrown(f.now, p)
	rise := risen(f.now, s, p)
	if held, known := f.tensors.rise(p.Last, f.now); p.Count == 1 && known && held < tensorsShare*rise {
		rise = 0 // the cache has come up, which the next spike uses
	}
	if held, known := f.tensors.above(p.Last); math.IsNaN(rise) && !p.Alike && known && held > limit*riseLeast {
		rise = min(held, s.Baseline(f.now)-p.Level) // as much as a spike, and the log says that it is no spike
	}
	ordinary := f.gpu.near.habits(f.now) >= max(habitFalls, float64(fallsEach*p.Count)) // it empties its cache all the time
	repeats := !ordinary && p.Count >= series.SpikesNeeded && p.Brief()
	climbs := repeats || !ordinary && (p.Count >= climbsNeeded && p.Regular || p.Equal && p.Period >= variesPeriod) // from one emptied cache to the next
	climbs = climbs && p.Rise+p.Before > 0 && (f.gpu.listed || p.Count >= risesUnlisted) && !s.Records.Known(s.Rose+spikeStart)
	switch {
	case rise > limit*riseLeast && p.Newest+rise > room:
		e.top = p.Newest + rise
		e.how = words.Say("alert.repeat_spike.base", "top", size(p.Newest), "rise", size(rise))
	case p.Count >= series.SpikesNeeded && p.Top > room && p.Free-f.gpu.settledFree(f.now) >= max(neighborLeast, limit*series.EdgeShare):
		e.top = p.Top
		e.how = words.Say("alert.repeat_spike.last", "n", min(p.Count, 3), "low", size(p.Top), "high", size(p.Most))
	case climbs && p.Newest+p.Rise+p.Before > e.available:
		e.top = p.Newest + p.Rise + p.Before
		e.how = words.Say("alert.repeat_spike.trend", "more", size(p.Rise+p.Before), "high", size(p.Newest))
	case repeats && p.Left < p.Sinks: // others take what it leaves
		e.top, e.available = p.Newest, p.Newest+p.Left-p.Sinks
		e.how = words.Say("alert.repeat_spike.left", "less", size(p.Sinks), "left", sizeFree(p.Left))
	case climbs && p.Rise > 0 && p.Newest+p.RiseOfTwo() > e.available: // one step further: there is time to act
		e.top, e.later = p.Newest+p.RiseOfTwo(), spikesAhead
		e.how = words.Say("alert.repeat_spike.trend", "more", size(p.Rise), "high", size(p.Newest))
	case !ordinary && mayOutgrow(s, p, outgrown, limit) && s.Top()+outgrown > e.available:
		e.top, e.chance = s.Top()+outgrown, true
		e.how = words.Say("alert.repeat_spike.outgrown", "top", size(s.Top()), "more", size(outgrown))
	case repeats && p.Even && !p.Limit && varies(p, limit) && p.Mean+varyDeviations*p.Deviation > room:
		e.top, e.chance = p.Mean+varyDeviations*p.Deviation, true
		e.how = words.Say("alert.repeat_spike.vary", "mean", size(p.Mean), "deviation", size(p.Deviation))
	default:
		return e, false
	}
	return e, true
}

// mayOutgrow says whether a spike that is on its way and has come so far above those before may be followed by one that grows by as much again.
func mayOutgrow(s *series.Series, p series.Pattern, outgrown, limit float64) bool {
	most := 0.0
	switch {
	case p.Record > limit*outgrownLeast:
		most = outgrownMost * max(p.High, limit*outgrownSmall)
	case p.Count == 1 && p.Last-s.Rose > spikeStart:
		most = outgrownAlone * p.High
	}
	return outgrown > limit*outgrownLeast && outgrown < most
}

// expectsRecord says whether the highest use of a holder has risen alike of late, and will not fit with one
// more such rise. It needs no level between spikes, which a cache that is emptied has not.
func expectsRecord(f *Facts, s *series.Series) (e expectation, ok bool) {
	top, rise, period, ok := s.Records.Rising(f.now, f.gpu.total)
	e.available, e.top = f.gpu.available(s, f.now), top+rise
	_, stands := s.Records.Flight(f.now, f.gpu.total, s.Value) // then it is a step, or not over yet
	if stands && f.now-s.Records.Newest() >= recordOver {
		_, stands = s.Records.Flight(f.now, f.gpu.total, s.Floor) // what goes up and down in each step of a loop stands nowhere
	}
	if !ok || stands || e.top <= e.available || top < nearlyFull*e.available {
		return e, false
	}
	e.how = f.words.Say("alert.repeat_spike.records", "more", size(rise), "high", size(top), "period", f.words.Span(period))
	return e, true
}

// expectsCopy says whether an array that is copied into a larger one each time it is full will not fit beside that.
func expectsCopy(f *Facts, s *series.Series) (e expectation, ok bool) {
	c, ok := s.Copying(f.now)
	if !ok {
		return e, false
	}
	e = expectation{top: s.Value + c.Ask, available: f.gpu.available(s, f.now), due: c.Due}
	if e.top <= e.available {
		return e, false
	}
	e.how = f.words.Say("alert.repeat_spike.copies", "size", size(c.Newest), "times", fmt.Sprintf("%.1f", c.Factor))
	return e, true
}

// risen is how far the level has come up since the newest spike; NaN when it is not known.
// What rises by as much as a spike does, or among uneven levels nearly to where the newest ended, is one, unless spikes are known well enough.
func risen(now float64, s *series.Series, p series.Pattern) float64 {
	rise := s.Baseline(now) - p.Level
	switch {
	case p.Alike: // they end where they do, not so far above that level
		return math.NaN()
	case math.Abs(rise-(p.Newest-p.Level)) <= (p.Newest-p.Level)*riseTop: // it stands where the newest ended
		return math.NaN()
	case rise < p.Low*riseMost && (p.Even || rise < (p.Newest-p.Level)*riseMost):
		return rise
	case p.Count >= series.SpikesNeeded && p.Even && p.Brief():
		return min(rise, s.Settled(now)-p.Level)
	}
	return math.NaN()
}

// varies says whether the size of the spikes is a matter of chance, as that of a
// validation set's largest sample is, rather than of the moment it was read.
func varies(p series.Pattern, limit float64) bool {
	return p.Count >= spikesVary && p.Seen <= spikesTold && p.Period >= variesPeriod && p.Deviation > limit*variesLeast
}

func spikeFinding(f *Facts, s *series.Series, pid int, pt series.Pattern, e expectation) finding {
	found := finding{pid: pid, level: sampler.LevelWarning}
	due := math.NaN()
	switch {
	case e.due > 0:
		due = max(0, e.due-f.now)
	case pt.Regular && pt.Brief() && !e.chance && pt.Period > 0 && !f.gpu.saved(): // else when the next one comes is a guess
		due = max(0, pt.Due(f.now)+float64(e.later)*pt.Period)
	}
	if due >= 0 {
		found.eta = sampler.Some(math.Round(due))
		if due <= spikeSoon && e.later == 0 {
			found.level = sampler.LevelCritical
		}
	}
	if e.later > 0 && (!(due >= 0) || pt.Shrinks()) { // two ahead, and nobody knows when, or whether they go on to rise
		found.level = sampler.LevelNotice
	}
	if p := f.gpu.withPID(pid); p != nil && (f.gpu.byHand(p) || explain.Spills(*p.process)) {
		found.level = sampler.LevelNotice
	}
	value := s.Value
	found.render = func(f *Facts) message { return renderSpike(f, pid, value, pt, e, due) }
	return found
}

// renderSpike counts from the level there is now, as the screen shows it.
func renderSpike(f *Facts, pid int, value float64, pt series.Pattern, e expectation, due float64) message {
	g, words := f.gpu, f.words
	need, free := max(0, e.top-value), max(0, e.available-value)
	when := words.Say("alert.repeat_spike.soon")
	switch {
	case due > 5:
		when = words.Say("alert.repeat_spike.in", "span", words.Span(due))
	case due >= 0:
		when = words.Say("alert.repeat_spike.now")
	}
	said := []any{"gpu", g.last.Label(), "when", when, "need", sizeNeeded(need), "held", size(value), "free", sizeFree(free), "short", sizeNeeded(e.top - e.available)}
	m := message{
		text:     words.Say("alert.repeat_spike", said...),
		evidence: []string{e.how},
		numbers: map[string]float64{"need_bytes": bytesOf(need), "free_bytes": bytesOf(free), "top_bytes": bytesOf(e.top),
			"short_bytes": bytesOf(e.top - e.available), "spikes": float64(pt.Count)},
	}
	if e.later > 0 {
		m.text = words.Say("alert.repeat_spike.later", said...)
	}
	if pt.Period > 0 {
		m.evidence[0] = words.Say("alert.repeat_spike.every", "n", pt.Count, "period", words.Span(pt.Period), "width", words.Span(pt.Width), "how", e.how)
		m.numbers["period_s"] = pt.Period
	}
	if due >= 0 {
		m.numbers["due_s"] = due
	}
	keeps := func(q *proc) float64 { return q.series.Settled(f.now) } // what will be free is beside that
	h, other := g.spikeFailure(g.withPID(pid), need, free, e.top-e.available, keeps)
	if other != nil {
		m.evidence = append(m.evidence, words.Say("alert.keeps", "process", f.pid(other), "held", size(keeps(other))))
	}
	m.advice = h.fixes(words)
	return m
}

// spikeFailure is how the next spike of a process would fail, and who else has so much that it would not without them; nil: nobody. has is what of
// others is not free then.
func (g *gpu) spikeFailure(p *proc, need, free, short float64, has func(*proc) float64) (h hypothetical, other *proc) {
	h = hypothetical{gpu: g, proc: p, need: need, free: free, has: has, phase: sampler.PhaseValidation, causes: certain(explain.CauseValidationSpike)}
	if p == nil {
		return h, nil
	}
	for _, q := range g.others(p.pid) {
		if !g.ofJob(p, q) && has(q) >= short/2 && has(q) >= neighborLeast {
			h.causes = certain(explain.CauseOtherProcess, explain.CauseValidationSpike)
			return h, q
		}
	}
	return h, nil
}
