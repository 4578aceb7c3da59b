package watch

import (
	"testing"

	"nvpeak/sampler"
)

// What a process held before anybody looked may become known after it was refused: that is no grant.
func TestKnownLater(t *testing.T) {
	for name, row := range map[string]struct {
		granted int
		went    bool
	}{"known": {4, false}, "granted": {5, true}} {
		var a asking
		refusal := &sampler.Refusal{Time: drivenTime(1), Bytes: 7 * gib, Tries: 2}
		a.fold(&sampler.Requests{Granted: 4, Live: 11 * gib, Whole: true}, 0, drivenTime(0), 5000)
		a.fold(&sampler.Requests{Granted: 4, Refused: 2, Live: 11 * gib, Whole: true, Refusal: refusal}, 1, drivenTime(1), 5000)
		a.fold(&sampler.Requests{Granted: row.granted, Refused: 2, Live: 11*gib + 300*mib, Refusal: refusal}, 2, drivenTime(2), 5000)
		if a.wentOn() != row.went {
			t.Errorf("%s: %v", name, !row.went)
		}
	}
}

// Who is granted memory after a refusal goes on, on whatever GPU that is.
func TestGrantedSomewhere(t *testing.T) {
	for name, row := range map[string]struct {
		gpu  sampler.Opt[int]
		dies bool
	}{"of which GPU?": {sampler.Opt[int]{}, false}, "of another": {sampler.Some(1), false}, "none": {sampler.Some(0), true}} {
		w := ends(2, func(second int, s *sampler.Snapshot) {
			if second != 5 {
				return
			}
			s.Requests = []sampler.Request{{Time: drivenTime(4.3), PID: 7, GPU: sampler.Some(0), Bytes: 15 * gib, Answer: 2, Function: "cuMemAlloc_v2"}}
			if !row.dies {
				s.Requests = append(s.Requests, sampler.Request{Time: drivenTime(4.34), PID: 7, GPU: row.gpu, Bytes: gib, Function: "cuMemAlloc_v2"})
			}
		})
		if got := len(w.Deaths()); (got > 0) != row.dies {
			t.Errorf("%s: %d deaths", name, got)
		}
	}
}
