package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// stepping is a model with a log that counts so many steps a second, anew from each step of again.
func stepping(w, h, each, again int, o Options) *Model {
	marks := make(chan sampler.LogMark, 100)
	o.Marks = marks
	m := model(nil, w, h, o)
	for i, s := range past(gpus(2, 1, false), 300) {
		if n := i * each % again; true {
			marks <- sampler.LogMark{Kind: sampler.MarkStep, N: sampler.Some(n)}
		}
		m.Update(snapshotsArrived{[]*sampler.Snapshot{s}})
	}
	return m
}

// Round numbers of steps stand below the plot where there is room, the same distance apart.
func TestSteps(t *testing.T) {
	m := stepping(200, 50, 7, 1e9, Options{Span: 5 * time.Minute})
	for _, want := range []string{"╎step 500 ", "╎step 1000 ", "╎2000 "} {
		if strings.Count(text(m), want) != 2 { // on both GPUs
			t.Errorf("%q:\n%s", want, text(m))
		}
	}
	if m := stepping(200, 50, 400, 1e9, Options{Span: 5 * time.Minute}); !strings.Contains(text(m), "╎step 80k ") {
		t.Errorf("no 80k:\n%s", text(m))
	}
	if m := stepping(200, 50, 5, 500, Options{Span: 5 * time.Minute}); strings.Count(text(m), "╎step 200 ") < 4 {
		t.Errorf("steps that begin anew each epoch:\n%s", text(m))
	}
	if m := stepping(200, 50, 7, 1e9, Options{Span: 5 * time.Minute, User: "nobody"}); strings.Contains(text(m), "step") {
		t.Errorf("on a GPU of somebody else:\n%s", text(m))
	}
	for _, size := range [][2]int{{30, 6}, {60, 20}, {80, 24}, {200, 60}} {
		checkScreen(t, fmt.Sprint(size), stepping(size[0], size[1], 1_000_003, 1e9, Options{}))
	}
}

// Epochs are more: what would stand over their names is left out.
func TestStepsYield(t *testing.T) {
	m := following(160, 50, 60, Options{Span: 5 * time.Minute})
	before := strings.Split(text(m), "\n")
	m.folds.steps = []logStep{{m.folds.newest.Time.Add(-4 * time.Minute), 0}, {m.folds.newest.Time, 1000}}
	m.plots = map[sampler.GPUKey]*plotted{}
	hints := 0
	for i, line := range strings.Split(text(m), "\n") {
		was, is := []rune(before[i]), []rune(line)
		for x, r := range was {
			if r == '╎' && is[x] != r {
				t.Errorf("a mark is gone from column %d:\n%s\n%s", x, before[i], line)
			}
		}
		hints += strings.Count(line, "step") - strings.Count(before[i], "step")
	}
	if hints == 0 {
		t.Errorf("no step found room:\n%s", text(m))
	}
}

// However long a run is, few steps are kept, and they reach back to its begin.
func TestStepsKept(t *testing.T) {
	m := model([]*sampler.Snapshot{gpus(1, 0, false)}, 80, 24, Options{})
	for n := range 100_000 {
		m.step(n)
	}
	if list := m.folds.steps; len(list) > maxSteps || list[0].n != 0 || list[len(list)-1].n < 99_000 {
		t.Errorf("%d steps from %d to %d", len(list), list[0].n, list[len(list)-1].n)
	}
}

func TestRoundGrain(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 2, 2: 5, 4: 5, 5: 10, 19: 20, 20: 50, 99: 100, 100: 200, 1_000_000_000: 2_000_000_000} {
		if got := roundGrain(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
	for n, want := range map[int]string{7: "7", 9000: "9000", 10_000: "10k", 10_500: "10500", 2_000_000: "2000k"} {
		if got := shortCount(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
