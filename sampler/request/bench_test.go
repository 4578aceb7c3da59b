package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// BenchmarkCalls is what a call costs of a program that gives back what it asks for, 2,000 times a second, with readings each 20 ms.
func BenchmarkCalls(b *testing.B) {
	t := New(people{7: {}})
	t.Begin(nil)
	now, key := noon, sampler.GPUKey{ID: "GPU-0"}
	snap := func() {
		t.Apply(&sampler.Snapshot{Time: now, GPUs: []sampler.GPU{{UUID: "GPU-0", Memory: sampler.Memory{Total: sampler.Some(48 * gib)}}}})
	}
	give, take := function("cuMemAlloc_v2"), function("cuMemFree_v2")
	for i := 0; b.Loop(); i++ {
		now = now.Add(time.Millisecond / 2)
		c := Call{Time: now, PID: 7, TID: 7, Function: give, Address: 1, Size: uint64(mib), Device: -1}
		if i%2 > 0 {
			c.Function = take
		}
		t.Call(c)
		if i%40 == 0 {
			t.Reading(key, now, sampler.Bytes(i%3)*mib)
		}
		if i%2000 == 0 {
			snap()
		}
	}
}
