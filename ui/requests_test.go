package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// What the header says of requests, and that it says it only where the rest leaves room.
func TestHeaderOfRequests(t *testing.T) {
	for _, row := range []struct {
		door *sampler.Door
		w    int
		want string // "": nothing
	}{
		{nil, 200, ""},
		{&sampler.Door{}, 200, "requests seen"},
		{&sampler.Door{}, 50, ""},
		{&sampler.Door{LetGo: []string{"cuMemAllocAsync"}}, 200, "requests seen (cuMemAllocAsync too often)"},
		{&sampler.Door{LetGo: []string{"cuMemAllocAsync"}}, 110, "requests seen"},
		{&sampler.Door{LetGo: []string{"cuMemAllocAsync", "cuMemFreeAsync"}, Lost: 12}, 200, "requests seen (2 functions too often, 12 calls lost)"},
		{&sampler.Door{Other: []string{"cuMemAlloc", "cuMemFree"}}, 200, "requests seen (cuMemAlloc not known)"},
		{&sampler.Door{Busy: []sampler.Busy{{PID: 42, Function: "cuMemCreate"}, {PID: 42, Function: "cuMemRelease"}}}, 200, "requests seen (pid 42 too often)"},
		{&sampler.Door{Busy: []sampler.Busy{{PID: 42, Function: "cuMemCreate"}, {PID: 43, Function: "cuMemCreate"}}}, 200, "requests seen (2 processes too often)"},
		{&sampler.Door{Lost: 1, Untold: 7}, 200, "requests seen (1 call lost)"},
		{&sampler.Door{Unseen: 2}, 200, "requests seen (first calls of 2 processes missed)"},
	} {
		s := gpus(1, 1, false)
		s.Door = row.door
		m := model(past(s, 2), row.w, 24, Options{})
		head, _, _ := strings.Cut(text(m), "\n")
		s.Door = nil
		bare, _, _ := strings.Cut(text(model(past(s, 2), row.w, 24, Options{})), "\n")
		if got := strings.Join(strings.Fields(head), " "); row.want == "" && head != bare || !strings.Contains(got, row.want+" ") {
			t.Errorf("%+v at %d: %q, without %q", row.door, row.w, head, bare)
		}
		if strings.Contains(bare, "requests") || strings.Join(strings.Fields(strings.Replace(head, row.want, "", 1)), " ") != strings.Join(strings.Fields(bare), " ") {
			t.Errorf("%+v at %d: something else gave way: %q, without %q", row.door, row.w, head, bare)
		}
	}
}

// What is known of requests is in the detail, what came of a refusal in words, and nothing of what is not known.
func TestDetailOfRequests(t *testing.T) {
	refusal := func(outcome string) *sampler.Refusal {
		return &sampler.Refusal{Time: afternoon.Add(-4 * time.Second), Bytes: 3 * sampler.GiB, Smallest: 3 * sampler.GiB, Function: "cuMemCreate", Tries: 1, Freed: sampler.GiB, Outcome: outcome}
	}
	trimmed := refusal(sampler.RefusalFlush)
	trimmed.Freed = 0
	less := refusal(sampler.RefusalSmaller)
	less.Smallest, less.Tries, less.Free = sampler.GiB, 5, sampler.Some(2*sampler.GiB)
	context := refusal(sampler.RefusalOpen)
	context.Bytes, context.Smallest, context.Function = 0, 0, "cuCtxCreate"
	for _, row := range []struct {
		r    *sampler.Requests
		want []string
		not  []string
	}{
		{&sampler.Requests{Refusal: context}, []string{"refused      a context 4s ago: not granted since (cuCtxCreate)"}, []string{"0 B 4s"}},
		{nil, nil, []string{"requests", "asked for", "refused"}},
		{&sampler.Requests{Largest: sampler.GiB, LargestTime: afternoon.Add(-5 * time.Minute), LargestRecent: 2 * sampler.MiB, Granted: 7},
			[]string{"largest 1.0 GiB, 5m ago, 2 MiB in the last minute; 7 granted, 0 refused"}, []string{"asked for", "near miss", "free,"}},
		{&sampler.Requests{Live: 100 * sampler.MiB, Peak: 200 * sampler.MiB, Whole: true, Flushes: 2},
			[]string{"asked for    100.0 MiB held now, 200.0 MiB at most", "0.1 asked for", "0.6 context, code, pools", "2 near misses"}, nil},
		{&sampler.Requests{Refusal: refusal(sampler.RefusalOpen)}, []string{"refused      3.0 GiB 4s ago: not granted since (cuMemCreate)"}, nil},
		{&sampler.Requests{Refusal: refusal(sampler.RefusalFlush)}, []string{"3.0 GiB 4s ago: granted after it gave 1.0 GiB back, a near miss (cuMemCreate)"}, nil},
		{&sampler.Requests{Refusal: trimmed}, []string{"3.0 GiB 4s ago: granted after a pool of the driver gave memory back, a near miss"}, nil},
		{&sampler.Requests{Refusal: refusal(sampler.RefusalGranted)}, []string{"3.0 GiB 4s ago: granted later, for others gave memory back"}, nil},
		{&sampler.Requests{Refusal: refusal("of a later nvpeak")}, []string{"3.0 GiB 4s ago: not granted since"}, nil},
		{&sampler.Requests{Refusal: less}, []string{"3.0 GiB 4s ago with 2.0 GiB free, 5 times, down to 1.0 GiB: it made do with less"}, nil},
	} {
		s := gpus(1, 1, false)
		s.GPUs[0].Memory.Unattributed = sampler.Opt[sampler.Bytes]{}
		s.GPUs[0].Processes[0].Requests = row.r
		s.GPUs[0].Processes[0].Peak.Source = sampler.PeakCalls
		m := model(past(s, 2), 120, 40, Options{})
		press(m, "enter")
		got := text(m)
		for _, w := range append(row.want, "(exact: by the calls to the driver)") {
			if !strings.Contains(got, w) {
				t.Errorf("%+v: no %q in\n%s", row.r, w, got)
			}
		}
		for _, w := range row.not {
			if strings.Contains(got, w) {
				t.Errorf("%+v: %q in\n%s", row.r, w, got)
			}
		}
	}
}

// The detail tells what the allocator inside the process has free, and what it measured when it refused a tensor.
func TestDetailOfAllocator(t *testing.T) {
	gib := func(n float64) sampler.Opt[sampler.Bytes] {
		return sampler.Some(sampler.Bytes(n * float64(sampler.GiB)))
	}
	refused := func(largest, unallocated float64) *sampler.RefusedTensor {
		return &sampler.RefusedTensor{Time: afternoon.Add(-4 * time.Second), Requested: 3 * sampler.GiB, GPUFree: gib(1), LargestFree: gib(largest),
			Allocated: gib(10), Reserved: gib(10 + unallocated)}
	}
	for _, row := range []struct {
		a    sampler.Allocator
		want []string
		not  []string
	}{
		{sampler.Allocator{Allocated: sampler.GiB, Reserved: 3 * sampler.GiB, Unallocated: 2 * sampler.GiB},
			[]string{"free inside  2.0 GiB unallocated"}, []string{"split", "largest free", "Measured"}},
		{sampler.Allocator{Unallocated: 2 * sampler.GiB, InactiveSplit: sampler.GiB, LargestFree: gib(0.5)},
			[]string{"2.0 GiB unallocated, 1.0 GiB of it split off from blocks in use, largest free block 512.0 MiB"}, nil},
		{sampler.Allocator{LastOOM: refused(0.5, 4)}, []string{"refused      3.0 GiB 4s ago with 1.0 GiB free; Measured inside the process: 4.0 GiB was unallocated", "too broken up"}, nil},
		{sampler.Allocator{LastOOM: refused(3.5, 4)}, []string{"a free block of 3.5 GiB could have held"}, []string{"broken"}},
		{sampler.Allocator{LastOOM: refused(0.5, 1)}, []string{"less than the 3.0 GiB, so fragmentation is not the"}, nil},
		{sampler.Allocator{LastOOM: &sampler.RefusedTensor{Time: afternoon, Requested: sampler.GiB}}, []string{"refused      1.0 GiB"}, []string{"Measured"}},
	} {
		s := gpus(1, 1, false)
		s.GPUs[0].Memory.Unattributed = sampler.Opt[sampler.Bytes]{}
		s.GPUs[0].Processes[0].Allocator = &row.a
		m := model(past(s, 2), 120, 40, Options{})
		press(m, "enter")
		got := strings.Join(strings.Fields(strings.ReplaceAll(text(m), "│", "")), " ")
		for _, w := range row.want {
			if !strings.Contains(got, strings.Join(strings.Fields(w), " ")) {
				t.Errorf("%+v: no %q in\n%s", row.a, w, got)
			}
		}
		for _, w := range row.not {
			if strings.Contains(got, w) {
				t.Errorf("%+v: %q in\n%s", row.a, w, got)
			}
		}
	}
}

// A request that was asked for once is told, not judged: it may have been given. One that comes again is a need.
func TestAskedOnce(t *testing.T) {
	g := gpus(1, 0, false).GPUs[0]
	need := watch.Need{Bytes: 15 * sampler.GiB, Source: watch.NeedAsked, PID: sampler.Some(4242)}
	v := &view{words: lang.English(), glyphs: &theme.Glyphs{Alert: '!'}}
	lines := func() string {
		f := fitGroup{gpuFit{gpu: &g, Fit: watch.Fit{Need: sampler.Some(need), Free: sampler.Some(9 * sampler.GiB), WorstFree: sampler.Some(9 * sampler.GiB), Short: 6 * sampler.GiB}}, []int{0}}
		var text strings.Builder
		for _, l := range v.fitLines(f, 100) {
			for _, p := range l {
				fmt.Fprintf(&text, "%v:%s\n", p.role == theme.Critical, p.text)
			}
		}
		return text.String()
	}
	if got := lines(); got != "false:  GPU 0: pid 4242 last asked for 15.0 GiB in one piece, 9.0 GiB is free\n" {
		t.Errorf("once: %s", got)
	}
	need.Again = true
	if got := lines(); !strings.HasPrefix(got, "true:") || !strings.Contains(got, "does not fit") {
		t.Errorf("again: %s", got)
	}
}

// One process says what could be changed about it: what its open alert advises, or what would help before there is one; of another
// process on the same GPU nothing is said.
func TestDetailSaysWhatToChange(t *testing.T) {
	for _, row := range []struct {
		scenario, keys, want string
	}{{"leak", "j enter", "advice       1 Find the leak"}, {"training", "j enter", "advice       1 Make validation smaller"}, {"leak", "j j enter", ""}} {
		m := model(play(t, row.scenario, 10*time.Minute), 120, 40, Options{})
		press(m, row.keys)
		if _, ok := m.detailed(); !ok {
			t.Fatalf("%s: no process is shown", row.scenario)
		}
		if screen := text(m); !strings.Contains(screen, row.want) || row.want == "" && strings.Contains(screen, " advice ") {
			t.Errorf("%s, %s: no %q in\n%s", row.scenario, row.keys, row.want, screen)
		}
	}
}
