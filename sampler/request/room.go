package request

const (
	maxCalls    = 2048         // that were granted to one process, in one snapshot
	maxAllCalls = 2 * maxCalls // what reads recordings takes as many
	keptRoom    = maxCalls / 2 // of those, for refusals and first requests
	firstCalls  = 64           // of one process, which keptRoom is for: as many refusals, and first requests
)

// room says whether a request can be told with the next snapshot. The last of the room is for refusals, which a death may be told by, and for the
// first requests of each process.
func (t *Tracker) room(p *process, c *Call) bool {
	if c.Answer == success && p.waiting >= firstCalls {
		return p.waiting < maxCalls && len(t.calls) < maxAllCalls-keptRoom
	}
	return p.waiting < maxCalls+firstCalls && len(t.calls) < maxAllCalls
}
