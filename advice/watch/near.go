package watch

import (
	"math"
	"strings"

	"nvpeak/sampler"
)

// nearMisses are the times when an allocator had to give back its cache and the GPU was
// full again right after: what the program needs at its peak is what there is.
type nearMisses struct {
	counter sampler.FallCounter // for snapshots that come without a window
	count   int
	first   float64
	last    float64
	deepest float64 // MiB
	pid     int     // who held most then; 0: not known
	habit   fading  // falls of late that were none
	atLimit fading  // near misses of late that began at the limit, those of the start included
	caught  float64 // when the log last told of a failure that the program has caught; 0: never
}

const (
	// nearSeconds is how long a near miss tells something: a large batch comes seldom.
	nearSeconds = 1800
	// fallSeconds: snapshots without windows that are further apart show no near miss, for
	// what rises and falls with each step of a program looks like one.
	fallSeconds = 0.25
	// caughtSeconds around the line of a log by which a program has caught a failure, its falls are those of what it gave up: it looks for
	// the largest batch, or goes on with tiles.
	caughtSeconds = 10
	// startSeconds after a holder took memory its first steps choose algorithms and fill
	// caches: they may touch the limit and never again.
	startSeconds = 60
	// startSettled: who has computed for so many seconds without a new record, and left a tenth of the GPU free, has
	// chosen and filled; what comes then, within the minute, too, is the next part of the program, such as its first
	// validation. Who has come to the limit by then goes on as it began.
	startSettled = 10
	// habitSeconds: a program that empties its cache itself does so all the time. From fifteen
	// such falls within five minutes on a fall tells nothing; a validation brings one or two.
	// One that began at the limit does when another did within two and a half minutes, by
	// which a count of one has faded to 0.6, unless there were five of these as well.
	habitSeconds = 300
	habitFalls   = 15
	limitAgain   = 0.6
	limitHabit   = 5
)

// fading is a count of what happened of late.
type fading struct{ count, at float64 }

func (c *fading) add(now float64, n int) { *c = fading{c.of(now) + float64(n), now} }

func (c *fading) of(now float64) float64 { return c.count * math.Exp(-(now-c.at)/habitSeconds) }

// fallen notes falls that did not end at the limit, or were at the start.
func (n *nearMisses) fallen(now float64, count int) { n.habit.add(now, count) }

// resume goes on after a gap: nothing is known of the time between.
func (n *nearMisses) resume(now float64) {
	n.habit.at, n.atLimit.at, n.counter = now, now, sampler.FallCounter{}
}

// habits is how many such falls there were of late.
func (n *nearMisses) habits(now float64) float64 { return n.habit.of(now) }

// add takes the near misses of a snapshot, if they are any. fromLimit: the fall began at the limit, too, where
// few empty a cache by habit.
func (n *nearMisses) add(now float64, pid, count int, deepest float64, fromLimit bool) (counted bool) {
	before := n.atLimit.of(now)
	ordinary := n.habits(now) >= habitFalls && (!fromLimit || before < limitAgain || before >= limitHabit)
	if fromLimit {
		n.atLimit.add(now, count)
	}
	if count == 0 || ordinary || n.caught > 0 && now-n.caught <= caughtSeconds {
		return false
	}
	if n.count == 0 || now-n.last > nearSeconds {
		n.count, n.first, n.deepest, n.pid = 0, now, 0, pid
	}
	n.count += count
	n.last, n.deepest = now, max(n.deepest, deepest)
	return true
}

// catch notes that a program has caught a failure, and gone on.
func (n *nearMisses) catch(now float64) {
	if n.caught = now; now-n.first <= caughtSeconds {
		n.count = 0
	}
}

// end forgets those of a process that has ended: its number may be another's next.
func (n *nearMisses) end(pid int) {
	if n.pid == pid {
		n.count = 0
	}
}

// recent says whether there was one of late.
func (n *nearMisses) recent(now float64) bool { return n.count > 0 && now-n.last <= nearSeconds }

// fallsOrdinary are the options of PyTorch's allocator with which it gives memory back
// before the GPU is full: https://docs.pytorch.org/docs/stable/notes/cuda.html
var fallsOrdinary = []string{"max_split_size_mb", "garbage_collection_threshold", "cudaMallocAsync"}

// givesBack says whether a process has such an option.
func givesBack(p *sampler.Process) bool {
	for _, name := range []string{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"} {
		for _, option := range fallsOrdinary {
			if strings.Contains(p.Environment[name], option) {
				return true
			}
		}
	}
	return false
}
