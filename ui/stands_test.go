package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nvpeak/sampler"
)

// following is a model with a log that says an epoch every so many snapshots of a second.
func following(w, h, each int, o Options) *Model {
	marks := make(chan sampler.LogMark, 100)
	o.Marks = marks
	m := model(nil, w, h, o)
	for i, s := range past(gpus(2, 1, false), 240) {
		if i%each == 5 {
			marks <- sampler.LogMark{Kind: sampler.MarkEpoch, N: sampler.Some(7 + i/each)}
		}
		if i%each == 20 {
			marks <- sampler.LogMark{Kind: sampler.MarkValidation}
			marks <- sampler.LogMark{Kind: sampler.MarkAllocator, Allocated: sampler.Some(sampler.GiB)}
		}
		m.Update(snapshotsArrived{[]*sampler.Snapshot{s}})
	}
	return m
}

// Epochs and validations of a followed log stand below the plot at their time, with names where there is room.
func TestStands(t *testing.T) {
	m := following(200, 50, 60, Options{Span: 5 * time.Minute})
	line := ""
	for _, l := range m.draw().lines() {
		if strings.Contains(l, "epoch 7") {
			line = l
		}
	}
	for _, want := range []string{"╎epoch 8 ", "╎10 ", "╎val "} {
		if strings.Count(text(m), want) < 2 { // on both GPUs
			t.Errorf("no %q:\n%s", want, text(m))
		}
	}
	at := func(text string) int { return utf8.RuneCountInString(line[:max(0, strings.Index(line, text))]) }
	if a, b := at("╎epoch 8"), at("╎epoch 9"); b-a < 34 || b-a > 41 { // a minute of five on 187 columns
		t.Errorf("%d columns lie between two epochs: %q", b-a, line)
	}
	for _, w := range []int{44, 60, 80, 120, 160} { // whatever time or name stands there, no mark is lost
		marks := 0
		for _, l := range following(w, 24, 60, Options{Span: 5 * time.Minute}).draw().lines() {
			marks = max(marks, strings.Count(l, "╎"))
		}
		if marks == 0 || marks%8 != 0 { // panes may stand side by side
			t.Errorf("%d columns: %d marks of 4 epochs and their validations", w, marks)
		}
	}
	if dense := following(80, 24, 5, Options{Span: time.Hour}); strings.Contains(text(dense), "epoch 12") {
		t.Errorf("names over one another:\n%s", text(dense))
	}
	for n := range 3 * maxStands {
		m.stands(sampler.LogMark{Kind: sampler.MarkEpoch, N: sampler.Some(n)})
	}
	if list := m.folds.stands; len(list) != maxStands || list[maxStands-1].n != 3*maxStands-1 {
		t.Errorf("%d are kept, the newest is %v", len(list), list[len(list)-1])
	}
}

// They are of whoever follows the log.
func TestStandsOfOthers(t *testing.T) {
	m := following(160, 50, 60, Options{Span: 5 * time.Minute, User: "nobody"})
	if screen := text(m); strings.Contains(screen, "epoch") {
		t.Errorf("on a GPU of somebody else:\n%s", screen)
	}
	for _, size := range [][2]int{{30, 6}, {80, 24}, {200, 60}} {
		checkScreen(t, fmt.Sprint(size), following(size[0], size[1], 7, Options{}))
	}
}
