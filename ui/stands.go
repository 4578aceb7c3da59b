package ui

import (
	"strconv"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// stand is what the followed log said of where its run stands, and when.
type logStand struct {
	at   time.Time
	kind string
	n    int // of an epoch
}

// maxStands are kept: more than a plot has room for.
const maxStands = 256

// tellMarks tells the watch what the followed log has said since, and keeps where its run stood.
func (m *Model) tellMarks() {
	for {
		select {
		case mark := <-m.opt.Marks:
			m.folds.watch.Mark(mark)
			m.stands(mark)
		default:
			return
		}
	}
}

func (m *Model) stands(mark sampler.LogMark) {
	if m.folds.newest == nil {
		return // it was before the plot
	}
	switch mark.Kind {
	case sampler.MarkEpoch, sampler.MarkValidation, sampler.MarkSaving:
	case sampler.MarkStep:
		m.step(mark.N.Or(0))
		return
	default:
		return
	}
	list := append(m.folds.stands, logStand{m.folds.newest.Time, mark.Kind, mark.N.Or(0)})
	m.folds.stands = list[max(0, len(list)-maxStands):]
}

// tick is a moment of a plot with its name.
type tick struct {
	at    int      // the column of dots
	texts []string // the longest first
}

// standTicks are the moments at which the run of the followed log began an epoch, its validation or to save: in the plots
// of the GPUs where whoever follows it has processes.
func (v *view) standTicks(g *sampler.GPU, at stretch, cells int) (list []tick) {
	if len(v.stands) == 0 || !v.follows(g) {
		return nil
	}
	for _, s := range v.stands {
		x := at.column(v.now().Sub(s.at), cells)
		if x < 0 {
			continue
		}
		texts := []string{v.words.Say("stand." + s.kind)}
		if s.kind == sampler.MarkEpoch {
			number := strconv.Itoa(s.n)
			texts = []string{v.words.Say("stand.epoch", "number", number), number}
		}
		list = append(list, tick{x, texts})
	}
	return list
}

// follows says whether the log that is followed may be of a process on the GPU.
func (v *view) follows(g *sampler.GPU) bool {
	if v.user == "" {
		return true
	}
	for _, p := range g.Processes {
		if p.User == v.user {
			return true
		}
	}
	return false
}

// roomOn says whether so many cells of a row are blank.
func roomOn(c *canvas, r rect, x, w int) bool {
	for i := range w {
		if ch, _ := c.at(x+i, r.y); ch != ' ' {
			return false
		}
	}
	return x >= r.x && x+w <= r.x+r.w
}

// ticked draws moments below a plot, before the times, which make room for them.
func (a *area) ticked(c *canvas, r rect, glyph rune) {
	for _, t := range a.ticks {
		c.set(r.x+t.at/dotColumns, r.y, glyph, theme.Accent)
	}
}

// named writes the longest names of moments that the times leave room for.
func (a *area) named(c *canvas, r rect) {
	for _, t := range a.ticks {
		for _, text := range t.texts {
			if x := r.x + t.at/dotColumns + 1; roomOn(c, r, x, width(text)+1) {
				c.put(x, r.y, r.x+r.w, theme.Dim, text)
				break
			}
		}
	}
}
