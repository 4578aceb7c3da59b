package watch

import "nvpeak/sampler"

// unplacedDeaths are those of the processes that have ended after they were refused memory on a GPU that nobody knows: what can be told is that
// they died of it, if they did.
func (w *Watch) unplacedDeaths(s *sampler.Snapshot) (list []Death) {
	for i := range s.Unplaced[:min(len(s.Unplaced), maxFailures)] {
		g := &gpu{last: &sampler.GPU{Processes: s.Unplaced[i : i+1]}, at: s.Time, requests: s.Requests, sole: true}
		g.reset(w.clock.Now, 0)
		g.meetAskers(w.clock.Now)
		g.foldAsking(w.clock.Now)
		for _, p := range g.procs {
			if !p.died() {
				continue
			}
			d := w.deathOf(g, p)
			d.Unplaced = true
			list = append(list, d)
		}
	}
	return list
}
