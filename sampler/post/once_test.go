package post

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// Of several failures in a text each has the context that it has alone, whatever was read before it.
func TestContextsAreThoseOfEach(t *testing.T) {
	data, err := os.ReadFile("../../testdata/threads/threads.txt")
	if err != nil {
		t.Fatal(err)
	}
	several := 0
	for _, text := range strings.Split(string(data), "\n== ") {
		events, err := oomlog.Scan(strings.NewReader(text))
		if err != nil || len(events) == 0 || events[0].Context == nil {
			continue
		}
		for len(events) < 3 { // the last of them with a step of its own
			again := *events[0].Context
			again.Step = sampler.Some(len(events))
			one := events[0]
			one.Context = &again
			events = append(events, one)
		}
		var alone []*sampler.LogContext
		for _, e := range events {
			c := *e.Context
			e.Context = &c
			for _, one := range Read(text, []sampler.OOMEvent{e}, oomlog.Scan) {
				alone = append(alone, one.Context)
			}
		}
		together := Read(text, events, oomlog.Scan)
		if len(together) != len(alone) {
			continue // what it says is of all or of none
		}
		several++
		for i, e := range together {
			if !reflect.DeepEqual(e.Context, alone[i]) {
				t.Errorf("%.60q, failure %d:\n%+v\nalone:\n%+v", text, i, e.Context, alone[i])
			}
		}
	}
	if several < 20 {
		t.Errorf("%d texts are too few", several)
	}
}

// A text of many failures takes about as long as one of a few.
func BenchmarkReadMany(b *testing.B) {
	for _, n := range []int{1, 100} {
		var text strings.Builder
		text.WriteString("Out of memory after hours\nI train with PyTorch. It ran for two hours and then it stopped, memory grows with each epoch.\n")
		for i := range n {
			fmt.Fprintf(&text, "RuntimeError: CUDA out of memory. Tried to allocate %d.00 MiB (GPU 0; 10.76 GiB total capacity; 9.62 GiB already allocated; 35.00 MiB free; 9.90 GiB reserved in total by PyTorch)\n", 20+i)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				events, err := oomlog.Scan(strings.NewReader(text.String()))
				if err != nil || len(events) != n {
					b.Fatal(err, len(events))
				}
				Read(text.String(), events, oomlog.Scan)
			}
		})
	}
}
