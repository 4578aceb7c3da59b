package plain

import (
	"slices"
	"strconv"
	"time"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// requestColumns are those about requests in the tables of processes, by their words.
var requestColumns = []string{"request", "refused", "near_misses"}

// seesRequests says whether requests of any process are known: else the tables have no columns for them.
func seesRequests(list []report.Process) bool {
	return slices.ContainsFunc(list, func(q report.Process) bool { return q.Requests != nil })
}

// atLeast follows a count of which not all was seen.
const atLeast = "+"

// requestCells are the columns of one process.
func requestCells(r *sampler.Requests) []string {
	if r == nil {
		return []string{"N/A", "N/A", "N/A"}
	}
	more := ""
	if r.Missed {
		more = atLeast
	}
	return []string{r.Largest.Needed(), strconv.Itoa(r.Refused) + more, strconv.Itoa(r.Flushes) + more}
}

// processPeak is the peak of a process, whether it is exact, and when it was: the driver and its callers remember peaks of
// before the recording began.
func (p *page) processPeak(q *report.Process, began time.Time) (peak, at string) {
	k := q.Peak
	if k != nil {
		at = clock(k.T)
		if k.Time.Before(began) {
			at = p.words.Say("report.earlier")
		}
	}
	switch {
	case k == nil:
		return "N/A", ""
	case exactPeak(q):
		return p.words.Say("report.exact", "size", k.Bytes), at
	}
	return k.Bytes.String(), at
}

// exactPeak says whether the peak of a process was told, and not sampled.
func exactPeak(q *report.Process) bool {
	return q.Peak != nil && (q.Peak.Source == sampler.PeakCalls || q.Peak.Source == sampler.PeakDriver)
}
