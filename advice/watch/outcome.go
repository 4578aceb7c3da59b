package watch

import (
	"slices"
	"time"

	"nvpeak/sampler"
)

// foretelling are the kinds of alerts that say what will happen; of those that are true the failure may still not come.
var foretelling = map[string]bool{sampler.AlertGrowth: true, sampler.AlertRepeatSpike: true,
	sampler.AlertFlush: false, sampler.AlertNeed: false, sampler.AlertNeighbor: false}

// outcomeSeconds after a warning is over its failure may be seen: a process that is gone is one that ends as its warning does.
const outcomeSeconds = 60

// Outcome is what came of a warning of a failure, as far as the alerts raised since tell: the failure, or that the
// warning is over and none came, which is told of what was sure to come alone. known is false of all others.
func Outcome(a sampler.Alert, raised []sampler.Alert, now time.Time) (failure sampler.Alert, came, known bool) {
	sure, foretells := foretelling[a.Kind]
	if !foretells {
		return failure, false, false
	}
	end, over := a.End.Value()
	i := slices.IndexFunc(raised, func(b sampler.Alert) bool {
		another := a.PID.Known() && b.PID.Known() && a.PID != b.PID && a.Kind != sampler.AlertNeighbor // of two that are neighbors either may die
		return b.Kind == sampler.AlertOOM && b.Key == a.Key && !another && b.T > a.T && (!over || b.T <= end+outcomeSeconds)
	})
	if i >= 0 {
		return raised[i], true, true
	}
	age := now.Sub(a.Time).Seconds() // on the clock of the alerts, T is its begin
	return failure, false, over && sure && age > end-a.T+outcomeSeconds
}
