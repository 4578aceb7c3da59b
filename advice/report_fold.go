package advice

import (
	"math"
	"time"

	"nvpeak/sampler"
)

// Reporter folds a recording into a Report, in the order of its time: snapshots, the
// readings between them, events, failures. It is for one goroutine, and fixed in size but
// for what a report lists.
//
//	Snapshot ─┬─► Watch ─► alerts
//	          ├─► reportCard ─► peak, typical, growth, spikes, plot
//	          └─► exits ─► what was known just before a process was gone
//	OOM ──────┴─► Watch, failures ─► Explain ─► causes, advice
type Reporter struct {
	o      ReportOptions
	watch  *Watch
	clock  ticker
	start  time.Time
	at     time.Time // of the newest snapshot
	count  int
	steps  []float64 // between the first snapshots
	host   string
	driver string

	cards  []*reportCard
	procs  map[sampler.ProcessKey]*reportProcess
	exits  []exit
	events []ReportEvent
	fails  []failed
	marks  []sampler.LogMark
	notes  []string

	alerts  []sampler.Alert
	newest  float64 // T of the newest alert that was seen
	unsaved int     // alerts raised since they were gathered
}

// maxSteps tell the usual time between snapshots.
const maxSteps = 1001

// NewReporter begins a report.
func NewReporter(o ReportOptions) *Reporter {
	r := &Reporter{o: o, procs: map[sampler.ProcessKey]*reportProcess{}, newest: -1}
	if !o.Outline {
		r.watch = NewWatch(Options{Need: o.Need})
	}
	return r
}

// Snapshot folds the next snapshot. It must not be changed afterwards.
func (r *Reporter) Snapshot(s *sampler.Snapshot) {
	if r.count == 0 {
		r.start = s.Time
	}
	before := r.clock.now
	gap := r.clock.next(s.Time)
	now := r.clock.now
	if r.count > 0 && len(r.steps) < maxSteps {
		r.steps = append(r.steps, now-before)
	}
	r.findExits(s, now, gap)
	r.at = s.Time
	r.count++
	r.host, r.driver = orText(s.Host, r.host), orText(s.Driver, r.driver)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		if r.o.Keep != nil && !r.o.Keep(g) {
			continue
		}
		if c := r.card(g); c != nil {
			c.fold(r, g, now, s.Time, gap)
		}
	}
	if r.watch != nil {
		r.gather(r.watch.Add(*s))
	}
}

// orText is a unless it is empty.
func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// card finds the state of a GPU, or makes it.
func (r *Reporter) card(g *sampler.GPU) *reportCard {
	key := g.Key()
	for _, c := range r.cards {
		if c.key == key {
			return c
		}
	}
	if len(r.cards) >= maxCards {
		return nil
	}
	c := newReportCard(key)
	r.cards = append(r.cards, c)
	return c
}

// Reading takes a reading of the fast lane between two snapshots. gpu is the Key of its
// GPU. Readings before the first snapshot are left out.
func (r *Reporter) Reading(gpu sampler.GPUKey, at time.Time, used sampler.Bytes) {
	if r.count == 0 || used >= sampler.Sane {
		return
	}
	for _, c := range r.cards {
		if c.key == gpu {
			t := r.seconds(at)
			c.note(t, at, float64(used), float64(used))
			return
		}
	}
}

// seconds is where a moment lies on the timeline, which begins with the first snapshot and
// never runs backwards.
func (r *Reporter) seconds(at time.Time) float64 {
	return max(0, r.clock.now+at.Sub(r.clock.last).Seconds())
}

// Event takes an event of the recording. OOM events belong to OOM.
func (r *Reporter) Event(e ReportEvent) {
	if len(r.events) < maxReportEvents {
		e.T = r.seconds(e.Time)
		r.events = append(r.events, e)
	}
}

// OOM takes a failure at the moment when the live monitor would have heard of it; from is
// "recording" or "log".
func (r *Reporter) OOM(e sampler.OOMEvent, at time.Time, from string) {
	f := failed{event: e, t: r.seconds(at), at: at, from: from}
	if r.watch != nil {
		if r.count > 0 {
			f.incident = r.watch.Incident(r.meant(e, f.t))
		}
		r.watch.Event(e, at)
		r.gather(r.watch.lastAlert)
	}
	if len(r.fails) < maxReportEvents {
		r.fails = append(r.fails, f)
	}
}

// SetNeed takes a change of the need that was recorded, unless the report was given one.
func (r *Reporter) SetNeed(need sampler.Opt[sampler.Bytes]) {
	if r.watch != nil && !r.o.Need.Known() {
		r.watch.SetNeed(need)
	}
}

// Marks takes what the training log tells, placed in time.
func (r *Reporter) Marks(marks []sampler.LogMark) { r.marks = append(r.marks, marks...) }

// Note adds a sentence about what was wrong with the input.
func (r *Reporter) Note(text string) { r.notes = append(r.notes, text) }

// gather keeps alerts that the Watch would forget.
func (r *Reporter) gather(open []sampler.Alert) {
	for i := range open {
		if open[i].T > r.newest || open[i].T == r.clock.now {
			r.unsaved++
		}
	}
	for i := range open {
		r.newest = max(r.newest, open[i].T)
	}
	if r.unsaved > maxPast/4 {
		r.saveAlerts()
	}
}

func (r *Reporter) saveAlerts() {
	r.unsaved = 0
	at := map[string]int{}
	for i := range r.alerts {
		at[r.alerts[i].ID] = i
	}
	for _, a := range r.watch.Past() {
		if i, ok := at[a.ID]; ok {
			r.alerts[i].End = a.End
		} else if len(r.alerts) < maxReportAlerts {
			r.alerts = append(r.alerts, a)
		}
	}
}

// Span is the time of the recording so far; ok is false before the first snapshot.
func (r *Reporter) Span() (start, end time.Time, ok bool) { return r.start, r.at, r.count > 0 }

// reportProcess is one process on one GPU.
type reportProcess struct {
	ReportProcess
	mean  average
	bins  *bins
	value float64
	seen  float64
}

func (r *Reporter) process(c *reportCard, p *sampler.Process, now float64, at time.Time) {
	key := p.Key(c.key)
	q := r.procs[key]
	if q == nil {
		if len(r.procs) >= 4*maxReportProcesses {
			return
		}
		q = &reportProcess{bins: newBins(512), value: math.NaN()}
		q.GPU, q.Label, q.PID, q.First, q.gpuKey = c.gpu.Index, c.gpu.Label(), p.PID, now, c.key
		r.procs[key] = q
	}
	q.Start, q.User, q.Name, q.Command, q.Type = p.StartTime, p.User, p.Name, p.Command, p.Type
	if dt := now - q.seen; !math.IsNaN(q.value) && dt > 0 && dt <= c.hold(r) {
		q.mean.add(q.value, dt)
	}
	q.Last, q.seen = now, now
	m, ok := sane(p.Memory)
	if !ok {
		q.value = math.NaN()
		return
	}
	q.value = float64(m)
	q.bins.add(now, q.value, q.value)
	q.AtExit = sampler.Some(m)
	if q.Peak == nil || m > q.Peak.Bytes {
		q.Peak = &ReportPeak{sampler.Peak{Bytes: m, Time: at, Source: sampler.PeakSampled}, now}
	}
	// A recorded peak is better where it comes from the driver or the allocator, or lies
	// between two readings of the process list of this recording.
	if k := p.Peak; k != nil && k.Bytes > q.Peak.Bytes && k.Bytes < sampler.Sane && (k.Source != sampler.PeakSampled || !k.Time.Before(r.start)) {
		q.Peak = &ReportPeak{*k, max(0, r.seconds(k.Time))}
	}
}
