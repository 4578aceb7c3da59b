package explain

import (
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
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
// confidence, advice with what it saves and plans. What to type, the numbers in the sentences, and
// which sentences, are there as check sums.
func answer(e, ids Event) string {
	var causes, advice, plans []string
	said := append([]string{e.Headline, e.Detail}, e.Notes...)
	for _, c := range e.Causes {
		said = append(said, c.Evidence...)
		causes = append(causes, fmt.Sprintf("%s %.2f", c.ID, c.Confidence))
	}
	for _, a := range e.Advice {
		text := fmt.Sprintf("%s/%s", a.ID, sum(a.Do...))
		if r, known := a.Saves.Value(); known {
			text += fmt.Sprintf(" %.0f-%.0f", r.Low.MiB(), r.High.MiB())
		}
		advice = append(advice, text)
	}
	for _, p := range e.Plans {
		plans = append(plans, fmt.Sprintf("%s %.0f-%.0f of %.0f %s", strings.Join(p.Steps, "+"), p.Peak.Low.MiB(), p.Peak.High.MiB(), p.Room.MiB(), p.Enough))
	}
	return fmt.Sprintf("%s | %s | %s | %d notes %s %s", strings.Join(causes, ", "), strings.Join(advice, ", "), strings.Join(plans, ", "), len(e.Notes),
		sum(digits.FindAllString(strings.Join(said, " "), -1)...), sentences(ids))
}

// sentences is a check sum of which sentences an event is told in.
func sentences(ids Event) string {
	said := append([]string{ids.Headline, ids.Detail}, ids.Notes...)
	for _, c := range ids.Causes {
		said = append(said, c.Evidence...)
	}
	for _, a := range ids.Advice {
		said = append(said, a.Title, a.Why, a.Cost)
	}
	return sum(said...)
}

var digits = regexp.MustCompile(`\d[\d.]*`)

func sum(list ...string) string {
	return fmt.Sprintf("%04x", crc32.ChecksumIEEE([]byte(strings.Join(list, "\n")))>>16)
}

// messages are the texts of testdata/oom, as package oomlog reads them.
func messages(t *testing.T, all map[string]Incident) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/oom/*/*.txt")
	if err != nil || len(files) < 400 {
		t.Fatalf("%d messages: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events, err := oomlog.Scan(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(file, err)
		}
		if len(events) > 0 {
			name, _ := filepath.Rel("../../testdata", file)
			all[name] = Incident{Events: events}
		}
	}
}

// The answers to every case of testdata/explain, to its variants where they differ from it, and
// to every message of testdata/oom.
func TestAnswers(t *testing.T) {
	all := incidents(t)
	for name, in := range incidents(t) {
		if !strings.Contains(name, " ") {
			in.Environment = map[string]string{"OS": "Windows_NT"}
			all[name+" windows"] = in
			in.Environment = map[string]string{"CUDA_VISIBLE_DEVICES": "1, 0,2,3"}
			all[name+" of a list of GPUs"] = in
		}
	}
	messages(t, all)
	sentences := lang.English().IDs()
	answers := func(in Incident) (text string) {
		e, ids := Explain(in), explainIn(in, sentences)
		for i, event := range e.Events {
			text += fmt.Sprintf("\n  %s", answer(event, ids.Events[i]))
			if i == e.Verdict.Event {
				text += " | first " + sum(ids.Verdict.Headline, ids.Verdict.Detail, ids.Verdict.Run)
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
	apply func(in *Incident, e *sampler.OOMEvent, x float64)
}{
	{"asked for", 17000, func(_ *Incident, e *sampler.OOMEvent, x float64) { e.Requested = mibs(x) }},
	{"unallocated", 12000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.ReservedUnallocated, e.Allocated = mibs(x), mibs(15200-x)
	}},
	{"unallocated, a large request", 8000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.Requested, e.ReservedUnallocated, e.Allocated = mibs(800), mibs(x), mibs(15200-x)
	}},
	{"free", 15000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.GPUFree, e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(x), mibs(15900-x), mibs(15200-x), mibs(200)
	}},
	{"held by another", 15000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.OtherProcesses = others(x)
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(15960-x), mibs(15500-x), mibs(200)
	}},
	{"held by one of two in a container", 15000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.OtherProcesses, e.ProcessInUse, e.Allocated, e.SelfUnknown = others(x, 4000), amount{}, mibs(8000), true
	}},
	{"held by each of three ranks", 4000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.OtherProcesses, e.Rank, e.Context.WorldSize = others(x, x*1.2, x*1.6), sampler.Some(0), sampler.Some(4)
		e.ProcessInUse, e.Allocated = mibs(15960-3.8*x), mibs(15500-3.8*x)
	}},
	{"held by nobody named", 15000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(15960-x), mibs(15500-x), mibs(200)
	}},
	{"outside of the allocator", 15000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.Allocated, e.ReservedUnallocated = mibs(15800-x), mibs(100)
	}},
	{"allowed", 16800, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.GPUFree, e.ProcessInUse, e.Allocated = mibs(6000), mibs(9800), mibs(9000)
		e.MemoryLimit = &sampler.MemoryLimit{Kind: "fraction", Allowed: mibs(x)}
	}},
	{"parameters, in 64 Ki", 40000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.Context.Parameters = sampler.Some(uint64(x) << 16)
	}},
	{"the last figure in the log", 16000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.Context.GPUMemory = amounts(5000, 6000, 7000, 8000, 9000, x)
	}},
	{"the last of nine in the log", 16000, func(_ *Incident, e *sampler.OOMEvent, x float64) {
		e.Context.GPUMemory = amounts(9000, 9000, 9000, 9800, 9800, 9800, 10600, 10600, 10600, x)
	}},
	{"the last peak", 16000, func(in *Incident, e *sampler.OOMEvent, x float64) {
		in.History = &History{Process: mibs(15700), Peaks: amounts(12000, 12400, 12800, 13200, x)}
	}},
	{"just before, above its peaks", 16000, func(in *Incident, e *sampler.OOMEvent, x float64) {
		in.History = &History{Process: mibs(x), Peaks: amounts(8000, 8000, 8000, 8000)}
		e.ProcessInUse, e.Allocated = mibs(x), mibs(max(0, x-700))
	}},
	{"kept beneath peaks that rise", 16000, func(in *Incident, e *sampler.OOMEvent, x float64) {
		in.History = &History{Peaks: amounts(9000, 10000, 11000, 12000, 13000, 14000), Kept: amounts(4000, 4000, 4000, 4000, x, x)}
	}},
	{"held more than by its peers", 12000, func(in *Incident, e *sampler.OOMEvent, x float64) {
		in.History = &History{Peaks: amounts(4000+x, 4000+x, 4000+x), Peers: amounts(4000, 3800, 4000), PeerPeaks: amounts(4000, 4000)}
	}},
	{"drifted from its peers", 12000, func(in *Incident, e *sampler.OOMEvent, x float64) {
		in.History = &History{Peaks: amounts(4000, 4000+x/4, 4000+x/2, 4000+3*x/4, 4000+x), PeerPeaks: amounts(4000, 4000)}
	}},
	{"held by one that came", 15000, func(in *Incident, e *sampler.OOMEvent, x float64) {
		e.ProcessInUse, e.Allocated, e.ReservedUnallocated = mibs(15960-x), mibs(15500-x), mibs(200)
		in.History = &History{Total: mibs(16000), Peaks: amounts(15000-x, 15000-x, 15000-x), Others: []Neighbor{{PID: 9, Bytes: mibs(x).Or(0), Arrived: true}}}
	}},
}

// amounts are MiB.
func amounts(list ...float64) (out []sampler.Bytes) {
	for _, v := range list {
		out = append(out, mibs(v).Or(0))
	}
	return out
}

func others(list ...float64) (out []sampler.OtherProcess) {
	for i, b := range amounts(list...) {
		out = append(out, sampler.OtherProcess{PID: 9 + i, Bytes: b})
	}
	return out
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
				in := Incident{Command: moment.command}
				sweep.apply(&in, &e, x)
				in.Events = []sampler.OOMEvent{e}
				return claims(Explain(in))
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

// claims are the causes with their confidence and the advice, in their order.
func claims(e Explanation) string {
	var causes, advice []string
	for _, c := range e.Causes {
		causes = append(causes, fmt.Sprintf("%s %.2f", c.ID, c.Confidence))
	}
	for _, a := range e.Advice {
		advice = append(advice, a.ID)
	}
	return fmt.Sprintf("%s | %s | %d plans, %d notes", strings.Join(causes, ", "), strings.Join(advice, ", "), len(e.Plans), len(e.Events[0].Notes))
}
