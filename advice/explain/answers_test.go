package explain

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txt from what Explain answers now: read the diff")

// compare holds an answer against testdata/name.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(data), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d of %s is\n%s\nwant\n%s", i+1, file, line, strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
	if strings.Count(got, "\n") != strings.Count(string(data), "\n") {
		t.Errorf("%s has more lines", file)
	}
}

// answer is what an event's explanation claims, without its sentences: causes with their
// confidence, advice with what it saves, and plans.
func answer(e Event) string {
	var causes, advice, plans []string
	for _, c := range e.Causes {
		causes = append(causes, fmt.Sprintf("%s %.2f", c.ID, c.Confidence))
	}
	for _, a := range e.Advice {
		text := fmt.Sprintf("%s/%d", a.ID, len(a.Do))
		if r, known := a.Saves.Value(); known {
			text += fmt.Sprintf(" %.0f-%.0f", r.Low.MiB(), r.High.MiB())
		}
		advice = append(advice, text)
	}
	for _, p := range e.Plans {
		plans = append(plans, fmt.Sprintf("%s %.0f-%.0f of %.0f %s", strings.Join(p.Steps, "+"), p.Peak.Low.MiB(), p.Peak.High.MiB(), p.Room.MiB(), p.Enough))
	}
	return fmt.Sprintf("%s | %s | %s | %d notes", strings.Join(causes, ", "), strings.Join(advice, ", "), strings.Join(plans, ", "), len(e.Notes))
}

// The answers to every case of testdata/explain, and to its variants where they differ from it.
func TestAnswers(t *testing.T) {
	all := incidents(t)
	answers := func(in Incident) (text string) {
		e := Explain(in)
		for i, event := range e.Events {
			text += fmt.Sprintf("\n  %s", answer(event))
			if i == e.Verdict.Event {
				text += " | first"
			}
		}
		return text
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		base, variant, _ := strings.Cut(name, " ")
		text := answers(all[name])
		if variant == "" || text != answers(all[base]) {
			b.WriteString(name + text + "\n")
		}
	}
	compare(t, "answers.txt", b.String())
}

// sweeps change one number of a failure on a GPU of 16000 MiB; what is left of it others hold.
var sweeps = []struct {
	name  string
	most  float64 // MiB, from 0
	apply func(e *sampler.OOMEvent, x float64)
}{
	{"asked for", 17000, func(e *sampler.OOMEvent, x float64) { e.Requested = mibs(x) }},
	{"unallocated", 12000, func(e *sampler.OOMEvent, x float64) {
		e.ReservedUnallocated, e.Allocated = mibs(x), mibs(15200-x)
	}},
	{"unallocated, a large request", 8000, func(e *sampler.OOMEvent, x float64) {
		e.Requested, e.ReservedUnallocated, e.Allocated = mibs(800), mibs(x), mibs(15200-x)
	}},
	{"free", 15000, func(e *sampler.OOMEvent, x float64) {
		e.GPUFree, e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(x), mibs(15900-x), mibs(15200-x), mibs(200)
	}},
	{"held by others", 15000, func(e *sampler.OOMEvent, x float64) {
		e.OtherProcesses = []sampler.OtherProcess{{PID: 9, Bytes: mibs(x).Or(0)}}
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(15960-x), mibs(15500-x), mibs(200)
	}},
	{"held by nobody named", 15000, func(e *sampler.OOMEvent, x float64) {
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(15960-x), mibs(15500-x), mibs(200)
	}},
	{"outside of the allocator", 15000, func(e *sampler.OOMEvent, x float64) {
		e.Allocated, e.ReservedUnallocated = mibs(15800-x), mibs(100)
	}},
	{"allowed", 16800, func(e *sampler.OOMEvent, x float64) {
		e.GPUFree, e.ProcessInUse, e.Allocated = mibs(6000), mibs(9800), mibs(9000)
		e.MemoryLimit = &sampler.MemoryLimit{Kind: "fraction", Allowed: mibs(x)}
	}},
	{"parameters, in 64 Ki", 40000, func(e *sampler.OOMEvent, x float64) { e.Context.Parameters = sampler.Some(uint64(x) << 16) }},
}

var moments = []struct {
	name    string
	command string
	context sampler.LogContext
}{
	{"nothing known", "", sampler.LogContext{}},
	{"first step", "python train.py --batch-size 16", sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, BatchSize: sampler.Some(16), Parameters: sampler.Some(uint64(82e6))}},
	{"epoch 5", "python train.py --batch-size 2", sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(5), BatchSize: sampler.Some(2)}},
	{"validation", "python r.py --per_device_train_batch_size 8", sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(2)}},
	{"served", "vllm serve m", sampler.LogContext{Server: "vllm"}},
}

// Where the answer changes while one number grows: each threshold, to the step of 8 MiB.
func TestThresholds(t *testing.T) {
	const step, finest = 40, 8
	var b strings.Builder
	for _, moment := range moments {
		for _, sweep := range sweeps {
			at := func(x float64) string {
				e, context := pytorch(mibs(64), mibs(16000), mibs(40)), moment.context
				e.ProcessInUse, e.Allocated, e.ReservedUnallocated, e.Context = mibs(15700), mibs(15000), mibs(200), &context
				sweep.apply(&e, x)
				return claims(Explain(Incident{Events: []sampler.OOMEvent{e}, Command: moment.command}))
			}
			last := at(0)
			fmt.Fprintf(&b, "%s, %s\n  %5d %s\n", moment.name, sweep.name, 0, last)
			for x := float64(step); x <= sweep.most; x += step {
				if at(x) == last {
					continue
				}
				for fine := x - step + finest; fine <= x; fine += finest {
					if now := at(fine); now != last {
						fmt.Fprintf(&b, "  %5.0f %s\n", fine, now)
						last = now
					}
				}
			}
		}
	}
	compare(t, "thresholds.txt", b.String())
}

// claims are the causes and the advice, in their order.
func claims(e Explanation) string {
	var causes, advice []string
	for _, c := range e.Causes {
		causes = append(causes, c.ID)
	}
	for _, a := range e.Advice {
		advice = append(advice, a.ID)
	}
	return fmt.Sprintf("%s | %s | %d plans, %d notes", strings.Join(causes, ", "), strings.Join(advice, ", "), len(e.Plans), len(e.Events[0].Notes))
}
