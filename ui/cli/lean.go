package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// littleHeap is how much may live, in bytes, for garbage to be left until it is as much again.
const littleHeap = 4 << 20

// garbagePercent is how much garbage may gather, in percent of what lives, in bytes, before it is collected. A collection
// takes about a millisecond however little there is, so that few of them are worth a MiB, and no more than a few.
func garbagePercent(live uint64) int {
	if live <= littleHeap {
		return 100
	}
	return 50
}

// leanly collects garbage by garbagePercent of what lived after the collection before.
func leanly() {
	live, percent := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, 0
	follow := func() {
		metrics.Read(live)
		if p := garbagePercent(live[0].Value.Uint64()); p != percent {
			percent = p
			debug.SetGCPercent(p)
		}
	}
	follow()
	afterCollection(follow)
}

// garbage is what nobody holds. It is too large to share its place with what somebody does.
type garbage [64]byte

// afterCollection calls do after each collection of garbage, for ever.
func afterCollection(do func()) {
	runtime.SetFinalizer(new(garbage), func(*garbage) {
		do()
		afterCollection(do)
	})
}
