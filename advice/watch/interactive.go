package watch

import "strings"

// interactive are words in the command lines of programs in which a person types.
var interactive = []string{"ipykernel", "jupyter", "ipython"}

// idleShare: below that utilization of late nobody trains.
const idleShare = 0.5

// workShare: who uses the GPU as much as that, of late, loads no more: reading weights leaves it idle. Games played by a model, small
// models and slow data leave it idle half of the time as well.
const workShare = 0.2

// byHand says whether the memory of a process grows as somebody works with it: each cell
// takes some more, and none will be run again and again.
func (g *gpu) byHand(p *proc) bool {
	if p == nil || !(g.busy < idleShare) {
		return false
	}
	for _, word := range interactive {
		if strings.Contains(p.process.Command, word) {
			return true
		}
	}
	return false
}
