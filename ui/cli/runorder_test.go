package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/child"
	"nvpeak/sampler/trainlog"
)

// What is read of one output below an error in the other may be older, while the command dies; what stands below it in the same is not.
func TestOrderOfOutputs(t *testing.T) {
	a, err := os.Create(filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Create(filepath.Join(t.TempDir(), "b"))
	if err != nil {
		t.Fatal(err)
	}
	if apart(a, a) || !apart(a, b) || !apart(a, &strings.Builder{}) {
		t.Error("which outputs are apart")
	}
	for name, row := range map[string]struct {
		same      bool          // all is in one output
		ago       time.Duration // since the error was read
		known     bool
		recovered bool
	}{
		"of another output, at its end": {false, time.Second, false, false},
		"of the same, at its end":       {true, time.Second, false, true},
		"of another, long after":        {false, time.Minute, true, true},
	} {
		app := silent()
		app.out, app.err = a, b
		w := &watchedRun{app: app, side: child.NewSide(), own: map[int]*trainlog.Survival{}, refusedAt: time.Now().Add(-row.ago), failures: []runFailure{{event: sampler.OOMEvent{Line: 1, Recovered: true}}, {event: sampler.OOMEvent{Line: 2, Recovered: true}}}}
		below := "epoch 1 step 13\nepoch 1 step 14\nepoch 1 step 15\nepoch 1 step 16\nepoch 1 step 17\nepoch 1 step 18\nepoch 1 step 19\nepoch 1 step 20\n"
		output := 2
		if row.same {
			output = 1
		}
		w.heard(1, []byte("epoch 1 step 12\nskipped it: CUDA out of memory. Tried to allocate 2.00 GiB.\n"))
		w.heard(output, []byte(below))
		if w.ordered = w.orderKnown(); w.ordered != row.known {
			t.Errorf("%s: known %v", name, w.ordered)
		}
		if !w.ordered {
			if w.diedOfLast(false); w.failures[1].event.Recovered != row.recovered || !w.failures[0].event.Recovered {
				t.Errorf("%s: recovered %v", name, !row.recovered)
			}
		}
	}
}
