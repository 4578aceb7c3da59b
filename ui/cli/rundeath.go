package cli

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// deathTime is how long it is waited for the snapshots to tell how a command ended that was refused memory.
const deathTime = 2500 * time.Millisecond

// refusalTime is how long it is waited for the snapshot that tells of a refusal of which a command has died at once.
const refusalTime = 300 * time.Millisecond

// refused says whether the driver refused the command memory, also at its very end.
func (w *watchedRun) refused() bool {
	for end := time.Now().Add(refusalTime); w.peak.seesRequests() && !w.peak.wasRefused() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	return w.peak.wasRefused()
}

// addDeaths makes failures of what the driver refused the processes of a command that failed, where it has printed no
// figures of a failure itself: those that it has printed without, or with the size alone, have the driver's then.
func (w *watchedRun) addDeaths(code int) {
	size, all := w.printedFigures()
	if code == 0 || all || !w.refused() {
		return
	}
	var deaths []runFailure
	for end := time.Now().Add(deathTime); len(deaths) == 0 && !w.complete() && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if size { // it has printed of what it died
			continue
		}
		for _, d := range w.rec.deaths() {
			if w.peak.saysOurs(d.PID) {
				deaths = append(deaths, runFailure{d.Event, d.Incident})
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(deaths, w.failures...)
}

// complete gives failures that were printed without figures, or with the size alone, those that the driver told; false: none.
func (w *watchedRun) complete() (done bool) {
	w.mu.Lock()
	list := slices.Clone(w.failures)
	w.mu.Unlock()
	for i, f := range list {
		if f.event.Recovered {
			continue
		}
		if d, ok := w.rec.completed(f.event); ok && w.peak.saysOurs(d.PID) {
			list[i], done = runFailure{d.Event, d.Incident}, true
		}
	}
	if done {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failures = list
	}
	return done
}

// printedFigures says whether the command has printed the size of a failure, and whether with that all that the driver would tell of what it died.
func (w *watchedRun) printedFigures() (size, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lacks := false
	for _, f := range w.failures {
		e := &f.event
		size = size || e.Requested.Known()
		if !e.Recovered && e.MemoryKind != sampler.MemoryHost {
			all = all || e.Requested.Known() && e.GPUFree.Known()
			lacks = lacks || !e.GPUFree.Known()
		}
	}
	return size, all || size && !lacks
}
