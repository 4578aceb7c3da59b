package cli

import (
	"testing"

	"nvpeak/advice/retry"
	"nvpeak/sampler"
)

// A driver that has not answered before one try, nor while it ran, is not waited for before the next.
func TestRetryAsksOnce(t *testing.T) {
	a := &app{env: func(string) string { return "" }}
	a.opt.need.Opt = sampler.Some(sampler.GiB)
	for name, row := range map[string]struct {
		unanswered, figures, asks bool
	}{"first": {false, false, true}, "again": {true, false, false}, "answers now": {true, true, true}} {
		tries := &tries{app: a, flags: &runFlags{}, unanswered: row.unanswered}
		asked, list := true, (*retry.GPUs)(nil)
		func() {
			defer func() { asked = recover() != nil }() // there is no source to ask
			list = tries.freeGPUs(t.Context(), &try{watched: &watchedRun{began: row.figures}})
		}()
		if asked != row.asks || list != nil {
			t.Errorf("%s: asked %v", name, asked)
		}
	}
}
