package plain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Of several processes the largest request counts, and all refusals; without a door nothing is known.
func TestCSVOfRequests(t *testing.T) {
	fields, err := Fields([]string{"index", "requests.largest", "requests.largest_recent", "requests.granted", "requests.refused", "requests.flushes"})
	if err != nil {
		t.Fatal(err)
	}
	s := &sampler.Snapshot{Door: &sampler.Door{}, GPUs: []sampler.GPU{{Processes: []sampler.Process{
		{Requests: &sampler.Requests{Largest: 3 * sampler.GiB, LargestRecent: sampler.GiB, Granted: 40, Refused: 2, Flushes: 1}},
		{Requests: &sampler.Requests{Largest: sampler.GiB, LargestRecent: 2 * sampler.MiB, Granted: 1, Refused: 1}},
		{},
	}}, {Index: 1}, {Index: 2, Error: sampler.Some("GPU is lost")}}}
	for _, want := range []string{
		"0, 3072 MiB, 1024 MiB, 41, 3, 1\n1, 0 MiB, 0 MiB, 0, 0, 0\n2, [N/A], [N/A], [N/A], [N/A], [N/A]\n",
		"0, [N/A], [N/A], [N/A], [N/A], [N/A]\n1, [N/A], [N/A], [N/A], [N/A], [N/A]\n2, [N/A], [N/A], [N/A], [N/A], [N/A]\n",
	} {
		const header = "index, requests.largest [MiB], requests.largest_recent [MiB], requests.granted, requests.refused, requests.flushes\n"
		var b strings.Builder
		if err := CSV(&b, s, fields, true); err != nil || b.String() != header+want {
			t.Errorf("%v\n%s, want\n%s", err, b.String(), header+want)
		}
		s.Door = nil
	}
}
