package oomlog

import (
	"fmt"
	"strings"
	"testing"
)

// A piece of work that a log counts far beyond all before it is told of while it has not ended.
func TestHowFarAPieceCame(t *testing.T) {
	message := "Traceback (most recent call last):\n  File \"book.py\", line 3, in <module>\n    out = model.generate(ids)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 GiB is free.\n"
	for what, row := range map[string]struct {
		form   string
		pieces []int // how many lines each has
		after  string
		want   float64
	}{
		"one that does not end":      {"  ... %d tokens so far", []int{1, 3, 2, 1, 9}, "", 9000},
		"with a separator":           {"decoded %d frames so far.", []int{2, 2, 2, 2, 4}, "", 4000},
		"no longer than others":      {"  ... %d tokens so far", []int{1, 3, 2, 4, 5}, "", 0},
		"the first one":              {"  ... %d tokens so far", []int{9}, "", 0},
		"too few before it":          {"  ... %d tokens so far", []int{2, 2, 9}, "", 0},
		"one that has ended":         {"  ... %d tokens so far", []int{1, 3, 2, 1, 9}, "[5/60] wrote 9100 tokens in 260 s\nloading the next prompt\n", 0},
		"a figure of the whole run":  {"%d images so far", []int{40}, "", 0},
		"nothing that is counted":    {"%d so far", []int{1, 3, 2, 1, 9}, "", 0},
		"a name that is not counted": {"version %d.x so far", []int{1, 3, 2, 1, 9}, "", 0},
	} {
		var log strings.Builder
		for i, lines := range row.pieces {
			for n := range lines {
				fmt.Fprintf(&log, row.form+"\n", 1000*(n+1))
			}
			if i < len(row.pieces)-1 {
				fmt.Fprintf(&log, "[%d/60] done\n", i+1)
			}
		}
		log.WriteString(row.after + message)
		events, err := Scan(strings.NewReader(log.String()))
		if err != nil || len(events) != 1 {
			t.Fatal(what, err, events)
		}
		got := 0.0
		if b := events[0].Context.Beyond; b != nil {
			got = b.To
			if b.From >= b.To || b.Name == "" {
				t.Errorf("%s: %+v", what, b)
			}
		}
		if got != row.want {
			t.Errorf("%s: %g, want %g", what, got, row.want)
		}
	}
}
