package watch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Options of a Watch. The zero value is good.
type Options struct {
	Need sampler.Opt[sampler.Bytes] // typed by the user
	Lang string                     // of the alerts; empty: English
	Log  string                     // of the training, that is followed; empty: none is

	Levels Levels // that somebody has set
}

// Watch folds snapshots into facts and tells which alerts are open. It is for one
// goroutine. Its size does not grow with time.
type Watch struct {
	clock series.Clock
	gpus  []*gpu
	host  host
	needs needs
	lang  string
	log   string

	levels Levels

	failures []failure // reported, newest last
	deaths   []Death   // by refused requests, oldest first
	movedOn  []moved   // processes that have ended lately, see foldMoved
	tensors  tensors   // of the training log
	stages   stages    // of the training log

	judged    float64 // when the rules were last asked
	open      map[incidentKey]*incident
	past      []*incident // raised, oldest first, open and closed
	lastAlert []sampler.Alert
}

const (
	// MaxPast is how many alerts are remembered; the oldest closed ones go first.
	MaxPast = 256
	// maxIncidents bounds what is open or about to be.
	maxIncidents = 4096
	// judgeSeconds is how often the rules are asked; snapshots may come faster.
	judgeSeconds = 0.5
	// maxRendered is how many open alerts get new words at a time.
	maxRendered = 2
)

// New starts watching with the first snapshot that is added.
func New(o Options) *Watch {
	w := &Watch{open: map[incidentKey]*incident{}, judged: -1, lang: o.Lang, log: o.Log, levels: o.Levels}
	w.needs.set(o.Need)
	return w
}

// Add folds one snapshot and returns the alerts that are open now, the most urgent
// first. The snapshot and the result must not be changed.
func (w *Watch) Add(s sampler.Snapshot) []sampler.Alert {
	gap := w.clock.Next(s.Time)
	now := w.clock.Now
	patience := max(goneSeconds, 2.5*w.clock.Usual)
	if w.Holders() > crowd {
		patience = 0
	}
	w.foldMoved(&s)
	for i := range s.GPUs {
		if g := w.gpu(i, &s.GPUs[i]); g != nil {
			g.at, g.gone = s.Time, patience
			g.requests, g.sole, g.split, g.door = s.Requests, len(s.GPUs) == 1, s.Split(&s.GPUs[i]), s.Door
			g.fold(&s.GPUs[i], now, gap)
		}
	}
	w.foldHanded()
	w.recordDeaths(&s)
	w.measure()
	w.dropGPUs()
	w.host.fold(s.HostMemory, now, gap)
	w.needs.fold(now)
	if gap {
		w.holdAgain()
	}
	if w.judged < 0 || now-w.judged >= judgeSeconds {
		w.judged = now
		w.judge(s.Time)
	}
	return w.lastAlert
}

// Holders is how many GPUs and processes it follows: what its size goes by.
func (w *Watch) Holders() int {
	n := len(w.gpus)
	for _, g := range w.gpus {
		n += len(g.procs)
	}
	return n
}

// gpu finds the state of a GPU, most likely at its place in the list, or makes it.
func (w *Watch) gpu(place int, r *sampler.GPU) *gpu {
	k := r.Key()
	if place < len(w.gpus) && w.gpus[place].key == k {
		return w.gpus[place]
	}
	if g := w.find(k); g != nil {
		return g
	}
	if len(w.gpus) >= MaxGPUs {
		return nil
	}
	g := &gpu{key: k}
	g.reset(w.clock.Now, 0)
	w.gpus = append(w.gpus, g)
	return g
}

// forgetSeconds is how long a GPU that is listed no more is remembered.
const forgetSeconds = 3600

func (w *Watch) dropGPUs() {
	now := w.clock.Now
	w.gpus = slices.DeleteFunc(w.gpus, func(g *gpu) bool { return now-g.seen > forgetSeconds })
}

// facts are what the rules may look at now.
func (w *Watch) facts(at time.Time) Facts {
	return Facts{now: w.clock.Now, time: at, gpus: w.gpus, host: &w.host, needs: &w.needs, failures: w.failures, stages: &w.stages, tensors: &w.tensors, words: lang.For(w.lang), log: w.log, levels: w.levels}
}

// factsOf are the facts about the GPU of an incident.
func (w *Watch) factsOf(k incidentKey, at time.Time) *Facts {
	f := w.facts(at)
	if !k.machine {
		f.gpu = w.find(k.gpu)
	}
	return &f
}

// find is the GPU with that key, or nil.
func (w *Watch) find(k sampler.GPUKey) *gpu {
	for _, g := range w.gpus {
		if g.key == k {
			return g
		}
	}
	return nil
}

// judge asks the rules and renews the incidents.
func (w *Watch) judge(at time.Time) {
	f := w.facts(at)
	listed := slices.DeleteFunc(slices.Clone(w.gpus), func(g *gpu) bool { return g.seen != f.now })
	for r := range rules {
		w.ask(r, &f, listed)
	}
	w.expire(at)
}

// ask records what a rule finds on each GPU, and on the machine.
func (w *Watch) ask(r int, f *Facts, gpus []*gpu) {
	for _, g := range gpus {
		f.gpu = g
		for _, found := range rules[r].check(f) {
			w.record(incidentKey{rule: r, gpu: g.key, pid: found.pid, id: found.id}, g, found)
		}
	}
	f.gpu = nil
	for _, found := range rules[r].check(f) {
		w.record(incidentKey{rule: r, machine: true, pid: found.pid, id: found.id}, nil, found)
	}
}

// showFailures fires alerts for failures that were just reported, without asking the other
// rules: they wait for the next snapshot.
func (w *Watch) showFailures(at time.Time) {
	r := slices.Index(rules, &ruleOOM)
	f := w.facts(at)
	w.ask(r, &f, w.gpus)
	for k, in := range w.open {
		in.ready = k.rule == r && !in.fired
	}
	w.fire(at)
	w.lastAlert = w.list()
}

// record renews the incident of a finding, or begins one.
func (w *Watch) record(k incidentKey, g *gpu, found finding) {
	now := w.clock.Now
	in := w.open[k]
	if in == nil {
		if len(w.open) >= maxIncidents {
			return
		}
		in = &incident{key: k, since: now, dueSince: math.NaN(), calmSince: math.NaN(), apartSince: math.NaN()}
		w.open[k] = in
	}
	in.seen, in.found = now, found
	in.times++
}

// expire fires what has held, renews what is open and closes what is over.
func (w *Watch) expire(at time.Time) {
	now := w.clock.Now
	var stale []*incident
	for k, in := range w.open {
		rule := rules[k.rule]
		switch {
		case in.seen != now || !k.machine && w.find(k.gpu) == nil:
			if now-in.seen >= rule.ClearAfter.Seconds() || !in.fired || w.ended(k) || in.found.over != nil && in.found.over() {
				in.close(now)
				delete(w.open, k)
			} else {
				in.wait(now)
			}
		case in.fired:
			if in.renew(w.factsOf(k, at)) {
				stale = append(stale, in)
			}
		case now-in.since >= rule.HoldFor.Seconds() && (in.times > 1 || rule.HoldFor == 0):
			in.ready = true
		}
	}
	slices.SortFunc(stale, func(a, b *incident) int { return cmp.Or(cmp.Compare(a.renderedAt, b.renderedAt), a.key.compare(b.key)) })
	for _, in := range stale[:min(len(stale), maxRendered)] {
		in.render(w.factsOf(in.key, at))
	}
	w.fire(at)
	w.lastAlert = w.list()
}

// ended says whether the process or the GPU of an incident is gone: then so is the incident.
func (w *Watch) ended(k incidentKey) bool {
	if k.machine {
		return false
	}
	g := w.find(k.gpu)
	return g == nil || k.pid != 0 && g.seen == w.clock.Now && g.withPID(k.pid) == nil
}

// fire shows the incidents that are ready, in the order of the rules, so that one that
// silences another comes first.
func (w *Watch) fire(at time.Time) {
	var ready []*incident
	for _, in := range w.open {
		if in.ready && !in.fired {
			ready = append(ready, in)
		}
	}
	slices.SortFunc(ready, func(a, b *incident) int { return a.key.compare(b.key) })
	for _, in := range ready {
		in.ready = false
		if w.silenced(in) {
			continue
		}
		in.fire(rules[in.key.rule].Code, w.factsOf(in.key, at))
		w.remember(in)
	}
}

// remember keeps an incident in the list of past ones.
func (w *Watch) remember(in *incident) {
	if len(w.past) >= MaxPast {
		i := slices.IndexFunc(w.past, func(p *incident) bool { return p.first.End.Known() })
		w.past = slices.Delete(w.past, max(i, 0), max(i, 0)+1)
	}
	w.past = append(w.past, in)
}

// silenced says whether an open incident of another rule says more about the same GPU.
func (w *Watch) silenced(in *incident) bool {
	for k, other := range w.open {
		rule := rules[k.rule]
		others := rule.Own && k.pid != 0 && in.key.pid != 0 && k.pid != in.key.pid
		if other.fired && k.gpu == in.key.gpu && k.machine == in.key.machine && !others && slices.Contains(rule.Silences, rules[in.key.rule].Code) {
			return true
		}
	}
	return false
}

// holdAgain makes what has not fired hold from now on: over a gap nothing is known.
func (w *Watch) holdAgain() {
	for _, in := range w.open {
		if in.fired {
			in.seen = w.clock.Now
		} else {
			in.since, in.times = w.clock.Now, 0
		}
	}
}

// list is what is open, the most urgent first.
func (w *Watch) list() []sampler.Alert {
	var open []*incident
	for _, in := range w.open {
		if in.fired {
			open = append(open, in)
		}
	}
	slices.SortFunc(open, func(a, b *incident) int {
		return cmp.Or(
			cmp.Compare(urgency(b.now.Level), urgency(a.now.Level)),
			cmp.Compare(a.now.ETA.Or(1e18), b.now.ETA.Or(1e18)),
			cmp.Compare(a.key.rule, b.key.rule),
			cmp.Compare(a.key.gpu.Host, b.key.gpu.Host),
			cmp.Compare(a.now.GPU.Or(0), b.now.GPU.Or(0)), // as people count them: by their ids they are in no order
			cmp.Compare(a.now.Label(), b.now.Label()),
			a.key.compare(b.key))
	})
	w.joinLines(open)
	alerts := make([]sampler.Alert, len(open))
	for i, in := range open {
		alerts[i] = in.now
	}
	return alerts
}

// Past lists the alerts raised so far, oldest first, each as it was when it was raised, and once more when that happened again and its level rose;
// End is known for those that are over. The newest 256 are kept.
func (w *Watch) Past() []sampler.Alert {
	list := make([]sampler.Alert, 0, len(w.past))
	for _, in := range w.past {
		list = append(append(list, in.first), in.rises...)
	}
	slices.SortStableFunc(list, func(a, b sampler.Alert) int { return cmp.Compare(a.T, b.T) })
	return list
}

// Open lists the alerts that are open now, the most urgent first, as Add returned them.
func (w *Watch) Open() []sampler.Alert { return w.lastAlert }

// urgency orders the levels.
func urgency(level string) int {
	return slices.Index([]string{sampler.LevelNotice, sampler.LevelWarning, sampler.LevelCritical}, level)
}
