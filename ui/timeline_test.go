package ui

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/theme"
	"nvpeak/ui/player"
)

// On a bar of any width every mark is drawn or hidden by a more important one, nothing is
// drawn outside, and the present time is where it belongs.
func TestTimelineBar(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	start := time.Unix(1e9, 0)
	for range 2000 {
		length := time.Duration(rng.Int64N(int64(48 * time.Hour)))
		if rng.IntN(10) == 0 {
			length = 0
		}
		tl := &player.Timeline{Start: start, End: start.Add(length), At: start.Add(time.Duration(rng.Float64() * float64(length))), Speed: player.Faster(1, rng.IntN(13)-6),
			Paused: rng.IntN(2) == 0, Read: rng.Float64()}
		for range rng.IntN(30) {
			tl.Marks = append(tl.Marks, player.Mark{At: start.Add(time.Duration(rng.Float64() * float64(length))), Kind: player.MarkKind(rng.IntN(int(player.MarkKinds)))})
		}
		slices.SortFunc(tl.Marks, func(a, b player.Mark) int { return a.At.Compare(b.At) })
		w := 1 + rng.IntN(200)
		c := newCanvas(w, 3)
		(&view{shown: shown{timeline: tl}, glyphs: &theme.Unicode}).timelinePane(c, rect{0, 1, w, 1})
		lines := c.lines()
		if strings.TrimSpace(lines[0]+lines[2]) != "" {
			t.Fatalf("drawn outside its row: %q", lines)
		}
		if w < 60 {
			continue
		}
		for _, m := range tl.Marks {
			if m.Kind == player.MarkOOM && !strings.ContainsRune(strings.SplitN(lines[1], " ", 3)[2], 'x') {
				t.Fatalf("no x in %q", lines[1])
			}
		}
		last := -1
		for d := time.Duration(0); d <= length && length > 0; d += length/20 + 1 {
			col := timelineColumn(tl, start.Add(d), w)
			if col < last || col >= w {
				t.Fatalf("column %d after %d of %d", col, last, w)
			}
			last = col
		}
	}
}
