package tape

import (
	"bytes"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A need that is set before the first snapshot is in the header; a later one is an event,
// and so is taking it back.
func TestNeed(t *testing.T) {
	var out bytes.Buffer
	start := time.Unix(1e9, 0)
	need := func(second int, n sampler.Opt[sampler.Bytes]) Event {
		return Event{Time: start.Add(time.Duration(second) * time.Second), Kind: KindNeed, Need: n}
	}
	w := NewWriter(&out, Options{Interval: time.Second})
	w.Event(need(-1, sampler.Some(3*sampler.GiB)))
	for i := range 10 {
		switch i {
		case 4:
			w.Event(need(i, sampler.Some(9*sampler.GiB)))
		case 8:
			w.Event(need(i, sampler.Opt[sampler.Bytes]{}))
		}
		s := &sampler.Snapshot{Time: start.Add(time.Duration(i) * time.Second), GPUs: []sampler.GPU{{UUID: "a"}}}
		if i > 5 { // another GPU: a header in the middle
			s.GPUs[0].UUID = "b"
		}
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("test", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	headers := []sampler.Bytes{r.Header().Need.Or(0)}
	var events []sampler.Bytes
	for {
		record, err := r.Next()
		if err != nil {
			break
		}
		if record.Header != nil {
			headers = append(headers, record.Header.Need.Or(0))
		}
		if record.Event != nil && record.Event.Kind == KindNeed {
			events = append(events, record.Event.Need.Or(0))
		}
	}
	if len(headers) < 2 || headers[0] != 3*sampler.GiB || headers[len(headers)-1] != 9*sampler.GiB {
		t.Errorf("headers with %v", headers)
	}
	if len(events) != 2 || events[0] != 9*sampler.GiB || events[1] != 0 {
		t.Errorf("events with %v", events)
	}
}
