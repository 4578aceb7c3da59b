package watch

import (
	"math"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// toothMargin times what it had before the last times that it gave its cache back is no more than another such climb, which ends as they did.
const toothMargin = 1.1

// keptGrowth is the growth of what a process keeps beneath its cache; known is false when
// that is not seen to grow. rose names the sentence that says so.
func keptGrowth(f *Facts, p *proc, kept *series.Kept, rose string) (found finding, ok, known bool) {
	tr, need, known := kept.Trend(f.now, f.gpu.total)
	if !known {
		return found, false, false
	}
	room := max(0, f.gpu.available(&p.series, f.now)-tr.To-tr.Slope*(f.now-tr.Until)-need)
	low, eta, high := tr.ETA(room)
	// What it takes from the GPU for that may be more, if it does not give it back each time.
	if flight, steps := flightOf(f, &p.series); steps && f.counts(flight) && (flight.Since < tr.Until || p.series.Value > toothMargin*kept.Top()) {
		_, at := flight.Fit(f.now, f.gpu.room(&p.series, f.now))
		low, eta = min(low, at), min(eta, at)
	}
	watched := tr.Until - tr.Since
	if !tr.Reaches(room) || eta > growthAhead*watched {
		return found, false, true
	}
	found.pid, found.level = p.pid, sampler.LevelWarning
	timed := room >= roomLeast*f.gpu.total && !f.gpu.saved()
	if timed && !f.gpu.overtaken(&p.series) && !f.gpu.outpaced(&p.series, tr.Slope, watched) {
		found.eta = sampler.Some(math.Round(eta))
	}
	if timed && eta <= growthSoon {
		found.level = sampler.LevelCritical
	}
	if eta > growthSure*watched || f.endsBefore(tr, eta) {
		found.id, found.level = 1, sampler.LevelNotice
	}
	found.render = func(f *Facts) message { return renderGrowth(f, p.pid, tr, rose, room, low, high, timed) }
	found.over = func() bool { return kept.Returned(tr) }
	return found, true, true
}
