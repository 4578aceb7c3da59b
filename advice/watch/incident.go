package watch

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// incidentKey tells incidents apart: one is open for each at most.
type incidentKey struct {
	rule    int
	machine bool
	gpu     sampler.GPUKey
	pid, id int
}

// compare orders incidents by rule, GPU and process.
func (k incidentKey) compare(o incidentKey) int {
	return cmp.Or(cmp.Compare(k.rule, o.rule), cmp.Compare(k.gpu.Host, o.gpu.Host), cmp.Compare(k.gpu.ID, o.gpu.ID),
		cmp.Compare(k.pid, o.pid), cmp.Compare(k.id, o.id))
}

// incident is a finding over time: about to show, open, or over.
type incident struct {
	key         incidentKey
	since, seen float64
	times       int
	ready       bool
	fired       bool
	found       finding
	first, now  sampler.Alert   // as fired, and as it is
	rises       []sampler.Alert // as it was whenever its level had become higher than ever
	dueSince    float64         // since when its ETA has been 0; NaN: it is not
	refuted     bool            // its time came and nothing happened
	renderedAt  float64         // when the words of now were made
	calmSince   float64         // since when it deserves a lower level than it has; NaN: it does not
	line        string          // the line of a text in which it stands
	apartSince  float64         // since when it differs from the first of that line; NaN: it does not
	completed   bool            // it fired before all that it tells was known
	stopped     []int           // processes that its advice was to stop, and that have ended
}

// renderSeconds is how often the words of an open alert are made anew, and when a new peak
// left less free than they say; its level and ETA change with every snapshot.
const renderSeconds = 5

func (in *incident) fire(kind string, f *Facts) {
	in.fired = true
	in.now = sampler.Alert{ID: in.id(kind, f.now), T: f.now, Time: f.time, Kind: kind}
	if f.gpu != nil {
		in.now.Place(f.gpu.last)
		in.now.Job = f.gpu.jobName(in.found.pid)
	}
	if in.found.pid != 0 {
		in.now.PID = sampler.Some(in.found.pid)
	}
	in.render(f)
	in.first = in.now
}

// id is what the key says, and when it fired: the same finding can come again.
func (in *incident) id(kind string, now float64) string {
	parts := []string{kind}
	if !in.key.machine {
		parts = append(parts, in.key.gpu.String())
	}
	if in.key.pid != 0 {
		parts = append(parts, strconv.Itoa(in.key.pid))
	}
	if in.key.id != 0 {
		parts = append(parts, strconv.Itoa(in.key.id))
	}
	return strings.Join(parts, "/") + "@" + strconv.FormatFloat(now, 'f', -1, 64)
}

// renew brings an open alert up to date; stale: its words are old by now.
func (in *incident) renew(f *Facts) (stale bool) {
	in.refute(f.now)
	in.calm(f.now)
	if in.found.level != in.now.Level || in.found.momentary {
		in.completed = in.completed || in.found.completes && urgency(in.found.level) > urgency(in.now.Level)
		in.render(f)
		in.rise(f)
	}
	in.now.ETA = in.found.eta
	return f.now-in.renderedAt >= renderSeconds || f.gpu != nil && f.gpu.lowered > in.renderedAt
}

// wait counts down what was last known of when its time comes, while the finding is not there again.
func (in *incident) wait(now float64) {
	if eta, known := in.found.eta.Value(); known {
		in.now.ETA = sampler.Some(math.Round(max(0, eta-(now-in.seen))))
	}
}

// refuteSeconds after its time has come an ETA is refuted: the next one deserves no belief.
const refuteSeconds = 30

// refute takes the ETA from a finding whose time came and went, and with it the urgency.
func (in *incident) refute(now float64) {
	eta, known := in.found.eta.Value()
	switch {
	case in.refuted:
	case !known || eta > 1:
		in.dueSince = math.NaN()
	case math.IsNaN(in.dueSince):
		in.dueSince = now
	default:
		in.refuted = now-in.dueSince > refuteSeconds
	}
	if in.refuted {
		in.found.eta = sampler.Opt[float64]{}
		if in.found.level == sampler.LevelCritical && known {
			in.found.level = sampler.LevelWarning
		}
	}
}

// render puts the finding into words; f is about its GPU.
func (in *incident) render(f *Facts) {
	m := in.found.render(f)
	in.renderedAt = f.now
	in.now.Level, in.now.ETA = in.found.level, in.found.eta
	in.now.Text, in.now.Evidence, in.now.Numbers = m.text, m.evidence, m.numbers
	in.now.Advice = in.keepFixes(f.gpu, m.advice)
	if in.completed {
		in.first, in.completed = in.now, false
	}
}

// rise keeps how it is when its level is higher than ever since the same has happened again: it was raised as less.
func (in *incident) rise(f *Facts) {
	if !in.found.recurs || urgency(in.now.Level) <= urgency(in.highest()) {
		return
	}
	a := in.now
	a.T, a.Time = f.now, f.time
	in.rises = append(slices.Clone(in.rises), a)
}

func (in *incident) highest() string {
	if n := len(in.rises); n > 0 {
		return in.rises[n-1].Level
	}
	return in.first.Level
}

func (in *incident) close(now float64) {
	end := sampler.Some(now)
	in.now.End, in.first.End = end, end
	in.rises = slices.Clone(in.rises)
	for i := range in.rises {
		in.rises[i].End = end
	}
}
