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
