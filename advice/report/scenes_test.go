package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

var update = flag.Bool("update", false, "rewrite testdata/scenes.txt from what is reported now: read the diff")

// What is reported of one run of each class is in testdata/scenes.txt: with a log that has marks
// and a message for half of those that die.
func TestScenes(t *testing.T) {
	const file = "testdata/scenes.txt"
	var b strings.Builder
	for i, class := range slices.Sorted(maps.Keys(advicetest.Scenes)) {
		r := New(Options{})
		list := snapshots(advicetest.Scenes[class](rand.New(rand.NewPCG(1, 78))))
		for j := range list {
			r.Snapshot(&list[j])
		}
		last := &list[len(list)-1]
		r.Marks(epochs(list[0].Time, last.Time))
		if i%2 == 0 && !strings.HasPrefix(class, "ok") {
			e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Requested: sampler.Some(sampler.GiB), Text: "out of memory"}
			for _, f := range r.PlaceFailures([]LogFailure{{Event: e}}) {
				r.OOM(f.Event, f.Time.Or(last.Time), "log")
			}
		}
		writeReport(&b, class, r.Report())
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, class := strings.Split(b.String(), "\n"), ""
	for i, line := range strings.Split(string(want), "\n") {
		if !strings.HasPrefix(line, " ") {
			class = line
		}
		if i >= len(got) || got[i] != line {
			t.Fatalf("%s: line %d is\n%s\nwant\n%s", class, i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), line)
		}
	}
}

// epochs are eight of a run, each with its validation, and what a log prints of the allocator.
func epochs(from, to time.Time) (marks []sampler.LogMark) {
	each := to.Sub(from) / 8
	for n := range 8 {
		at := from.Add(time.Duration(n) * each)
		marks = append(marks,
			sampler.LogMark{Kind: sampler.MarkEpoch, N: sampler.Some(n + 1), Time: sampler.Some(at)},
			sampler.LogMark{Kind: sampler.MarkValidation, Time: sampler.Some(at.Add(each * 3 / 4))},
			sampler.LogMark{Kind: sampler.MarkAllocator, Time: sampler.Some(at.Add(each / 2)), Allocated: sampler.Some(sampler.GiB)})
	}
	return marks
}

// writeReport writes the figures of a report, not its sentences.
func writeReport(b *strings.Builder, class string, r Report) {
	fmt.Fprintf(b, "%s: %.0f s, %d readings\n", class, r.Duration, len(r.Readings))
	for _, c := range r.Causes {
		fmt.Fprintf(b, "  %s %.2f, %d reasons\n", c.ID, c.Confidence, len(c.Evidence))
	}
	for _, a := range r.Advice {
		fmt.Fprintf(b, "  %d %s\n", a.Rank, a.ID)
	}
	for _, g := range r.GPUs {
		g.Spikes = g.Spikes[:min(3, len(g.Spikes))]
		writeJSON(b, g)
		fmt.Fprintf(b, "  %d points\n", len(g.Plot))
	}
	for _, p := range r.Processes[:min(4, len(r.Processes))] {
		writeJSON(b, p)
	}
	for _, p := range r.Phases[:min(3, len(r.Phases))] {
		writeJSON(b, p)
	}
	for _, e := range r.Events[:min(6, len(r.Events))] {
		fmt.Fprintf(b, "  %.1f %s of GPU %d, process %d, from %s\n", e.T, e.Kind, e.GPU.Or(-1), e.PID.Or(0), e.From)
	}
}

func writeJSON(b *strings.Builder, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(b, "  %s\n", data)
}
