package watch

import (
	"cmp"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// failure is an out-of-memory failure that was reported to the Watch, or that followed from a refused request.
type failure struct {
	event   sampler.OOMEvent
	gpu     sampler.GPUKey
	placed  bool // gpu is known
	literal bool // by the number alone that was printed, as nvidia-smi counts
	at      float64
	pid     int              // of the process that failed, as the driver numbers it; 0: not known
	death   Death            // as the driver saw it; zero: it did not
	dead    bool             // and told of it first
	logged  bool             // a log tells of it
	printed sampler.OOMEvent // as the log has it

	explained explain.Explanation // with what was known of the GPU at that moment
}

// key tells its alert apart from others: by process, and place in the log.
func (o *failure) key() (pid, id int) {
	if o.dead {
		return o.death.PID, deathID
	}
	return cmp.Or(o.pid, o.event.PID.Or(0)), o.event.Line
}

// tells says whether it may be of that death.
func (o *failure) tells(d *Death) bool {
	return d.is(o.event, o.at, o.gpu, o.placed) || o.literal && d.meant(o.event, o.at)
}

// maxFailures are remembered: on a large machine many programs may die within one snapshot.
const maxFailures = 128

// addFailure keeps a failure in place of the oldest.
func (w *Watch) addFailure(o failure) {
	if len(w.failures) == maxFailures {
		w.failures = append(w.failures[:0], w.failures[1:]...)
	}
	w.failures = append(w.failures, o)
}
