package cli

import "time"

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
// figures of a failure itself.
func (w *watchedRun) addDeaths(code int) {
	if code == 0 || w.printedFigures() || !w.refused() {
		return
	}
	var deaths []runFailure
	for end := time.Now().Add(deathTime); len(deaths) == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
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

func (w *watchedRun) printedFigures() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.failures {
		if f.event.Requested.Known() {
			return true
		}
	}
	return false
}
