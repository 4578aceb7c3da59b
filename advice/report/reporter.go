package report

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// Reporter folds a recording into a Report, in the order of its time: snapshots, the
// readings between them, events, failures. It is for one goroutine, and fixed in size but
// for what a report lists.
//
//	Snapshot ─┬─► Watch ─► alerts
//	          ├─► gpuFold ───► peak, typical, growth, spikes, plot
//	          └─► exits ─► what was known just before a process was gone
//	OOM ──────┴─► Watch, failures ─► Explain ─► causes, advice
type Reporter struct {
	o     Options
	words lang.Catalog
	watch *watch.Watch
	timeline
	host   string
	driver string

	gpus   []*gpuFold
	procs  map[sampler.ProcessKey]*processFold
	exits  []exit
	events []Event
	fails  []failed
	logged []LogFailure // all of the log
	marks  []sampler.LogMark
	told   int // of them, to the Watch

	deathsAdded bool // to fails
	notes       []string

	alerts  []sampler.Alert
	newest  float64 // T of the newest alert that was seen
	unsaved int     // alerts raised since they were gathered
}

// New begins a report.
func New(o Options) *Reporter {
	r := &Reporter{o: o, words: lang.For(o.Lang), procs: map[sampler.ProcessKey]*processFold{}, newest: -1}
	if !o.Outline {
		r.watch = watch.New(watch.Options{Need: o.Need, Lang: o.Lang, Log: o.Log, Levels: o.Levels})
	}
	return r
}

// failed is an out-of-memory failure on the timeline.
type failed struct {
	event    sampler.OOMEvent
	printed  sampler.OOMEvent // the same as its log has it
	t        float64
	at       time.Time
	from     string
	incident explain.Incident // as the Watch knew it at that moment
	gpu      sampler.Opt[int] // where that is known, index
	pid      sampler.Opt[int] // of the process that failed, as the recording numbers it
}

// gpu is the state of a GPU, nil when it was never seen.
func (r *Reporter) known(key sampler.GPUKey) *gpuFold {
	for _, c := range r.gpus {
		if c.key == key {
			return c
		}
	}
	return nil
}

// Span is the time of the recording so far; ok is false before the first snapshot.
func (r *Reporter) Span() (start, end time.Time, ok bool) { return r.start, r.at, r.count > 0 }
