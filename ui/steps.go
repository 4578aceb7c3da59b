package ui

import (
	"strconv"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// logStep is a step that the followed log said was done, and when.
type logStep struct {
	at time.Time
	n  int
}

const (
	// maxSteps are kept; of more, every other one goes, so that they reach back as far as a plot does.
	maxSteps = 512
	// stepCells are between two marks of steps, at least: a name and as much again.
	stepCells = 20
)

func (m *Model) step(n int) {
	list := append(m.folds.steps, logStep{m.folds.newest.Time, n})
	if len(list) > maxSteps {
		kept := list[:0]
		for i := 0; i < len(list); i += 2 {
			kept = append(kept, list[i])
		}
		list = kept
	}
	m.folds.steps = list
}

// stepTicks are the moments at which the run of the followed log had done round numbers of steps.
func (v *view) stepTicks(g *sampler.GPU, at stretch, cells int) (list []tick) {
	if len(v.steps) < 2 || !v.follows(g) {
		return nil
	}
	steps := v.steps
	for len(steps) > 2 && at.column(v.now().Sub(steps[1].at), cells) < 0 {
		steps = steps[1:]
	}
	done := 0
	for i := range steps[1:] {
		done += max(steps[i+1].n-steps[i].n, 0)
	}
	grain := roundGrain(done / max(cells/stepCells, 1))
	for i, b := range steps[1:] {
		a := steps[i]
		for n := (a.n/grain + 1) * grain; n <= b.n; n += grain { // none where they begin anew
			when := a.at.Add(time.Duration(float64(b.at.Sub(a.at)) * float64(n-a.n) / float64(b.n-a.n)))
			if x := at.column(v.now().Sub(when), cells); x >= 0 {
				number := shortCount(n)
				list = append(list, tick{x, []string{v.words.Say("stand.step", "number", number), number}})
			}
		}
	}
	return list
}

// roundGrain is the least of 1, 2, 5, 10, 20, ... that is above n.
func roundGrain(n int) int {
	for grain := 1; ; grain *= 10 {
		for _, k := range []int{1, 2, 5} {
			if k*grain > n {
				return k * grain
			}
		}
	}
}

// shortCount writes whole thousands from ten thousand on as such.
func shortCount(n int) string {
	if n >= 10_000 && n%1000 == 0 {
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

// hinted writes moments where all else below the plot has left room for them.
func (a *area) hinted(c *canvas, r rect, glyph rune) {
	for _, t := range a.hints {
		x := r.x + t.at/dotColumns
		for _, text := range t.texts {
			if w := width(text); roomOn(c, r, max(x-1, r.x), w+3) {
				c.set(x, r.y, glyph, theme.Accent)
				c.put(x+1, r.y, r.x+r.w, theme.Dim, text)
				break
			}
		}
	}
}
