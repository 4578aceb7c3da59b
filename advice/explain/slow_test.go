package explain

import (
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A command line as long as the system allows must not hold things up.
func TestLongCommandsAreQuick(t *testing.T) {
	const longest = 16 << 10 // command lines are read up to there
	for _, word := range []string{"-a=1 ", "x ", "--batch-size 64 ", "$(a) ", "a.b=1 ", "\"q\" ", "A=1 "} {
		e := pytorch(mibs(300), gibs(24), mibs(100))
		e.Allocated, e.ReservedUnallocated = gibs(22), gibs(0.3)
		start := time.Now()
		Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "python train.py " + strings.Repeat(word, longest/len(word)-8)})
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%d words %q took %v", longest/len(word), word, d)
		}
	}
}
