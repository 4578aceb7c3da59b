package ui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nvpeak/theme"
)

// mark is something worth going to in a recording.
type mark struct {
	at   time.Time // of the snapshot that shows it
	kind markKind
	text string
}

type markKind int

// The kinds of marks, the least important first: where two fall on one column the later
// kind is drawn.
const (
	markStart markKind = iota
	markPeak
	markAlert
	markOOM
)

// markKinds is how marks look.
var markKinds = [...]struct {
	glyph, ascii rune
	role         theme.Role
	name         string
}{
	markStart: {'·', '.', theme.Dim, "process start"},
	markPeak:  {'▲', '^', theme.Peak, "peak"},
	markAlert: {'!', '!', theme.Warning, "alert"},
	markOOM:   {'x', 'x', theme.Critical, "out of memory"},
}

func (m mark) compare(o mark) int {
	return cmp.Or(m.at.Compare(o.at), cmp.Compare(o.kind, m.kind), cmp.Compare(m.text, o.text))
}

// marksNear are the marks of the next moment after now that has any, or of the one before.
func marksNear(list []mark, now time.Time, by int) []mark {
	i, _ := slices.BinarySearchFunc(list, now, func(m mark, t time.Time) int { return m.at.Compare(t) })
	if by < 0 {
		j := i
		for i > 0 && list[i-1].at.Equal(list[j-1].at) {
			i--
		}
		return list[i:j]
	}
	for i < len(list) && list[i].at.Equal(now) {
		i++
	}
	j := i
	for j < len(list) && list[j].at.Equal(list[i].at) {
		j++
	}
	return list[i:j]
}

// timeline is what the bar of a replay shows.
type timeline struct {
	start, end, at time.Time
	speed          float64
	paused         bool
	read           float64 // how much is read in the background, 0 to 1
	marks          []mark  // by time
}

// column is where a moment is on a bar of w columns.
func (t *timeline) column(at time.Time, w int) int {
	all := t.end.Sub(t.start)
	if all <= 0 || w < 1 {
		return 0
	}
	share := float64(at.Sub(t.start)) / float64(all)
	return max(0, min(int(share*float64(w-1)+0.5), w-1))
}

// draw draws the bar: state and speed, the line with the marks and the present moment,
// how far it is and how long it takes.
func (t *timeline) draw(c *canvas, r rect, v *view) {
	if r.h < 1 || r.w < 1 {
		return
	}
	state := pick(t.paused, "paused", speedText(t.speed))
	if r.w < 60 {
		state = pick(t.paused, "||", speedText(t.speed))
	}
	x := c.put(r.x+1, r.y, r.x+r.w, pick(t.paused, theme.Warning, theme.Accent), state) + 1
	right := fmt.Sprintf(" %s / %s ", clockText(t.at.Sub(t.start)), clockText(t.end.Sub(t.start)))
	if t.read < 1 {
		right = fmt.Sprintf(" reading %.0f %%", 100*t.read) + right
	}
	end := r.x + r.w
	if end-x-width(right) >= 10 {
		end -= width(right)
		c.put(end, r.y, r.x+r.w, theme.Text, right)
	} else {
		end--
	}
	w := end - x
	if w < 1 {
		return
	}
	at := t.column(t.at, w)
	for i := range w {
		c.set(x+i, r.y, v.glyphs.Line, pick(i <= at, theme.Accent, theme.Faint))
	}
	drawn := slices.Repeat([]markKind{-1}, w)
	for _, m := range t.marks {
		i := t.column(m.at, w)
		if k := markKinds[m.kind]; m.kind >= drawn[i] {
			c.set(x+i, r.y, pick(v.ascii, k.ascii, k.glyph), k.role)
			drawn[i] = m.kind
		}
	}
	// The present moment is a ground under whatever is there, so that no mark is hidden.
	c.ground(x+at, r.y, x+at+1, theme.Selected)
	if drawn[at] < 0 {
		c.set(x+at, r.y, pick(v.ascii, '|', '●'), theme.Strong)
	}
}

// clockText is a time span as h:mm:ss.
func clockText(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
