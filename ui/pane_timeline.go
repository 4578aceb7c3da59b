package ui

import (
	"fmt"
	"slices"
	"time"

	"nvpeak/theme"
	"nvpeak/ui/player"
)

// markLooks is how marks look. Where two fall on one column the later kind is drawn.
var markLooks = [player.MarkKinds]struct {
	glyph, ascii rune
	role         theme.Role
}{
	player.MarkStart: {'·', '.', theme.Dim},
	player.MarkPeak:  {'▲', '^', theme.Peak},
	player.MarkAlert: {'!', '!', theme.Warning},
	player.MarkOOM:   {'x', 'x', theme.Critical},
}

// timelineColumn is where a time is on a bar of w columns.
func timelineColumn(t *player.Timeline, at time.Time, w int) int {
	all := t.End.Sub(t.Start)
	if all <= 0 || w < 1 {
		return 0
	}
	share := float64(at.Sub(t.Start)) / float64(all)
	return max(0, min(int(share*float64(w-1)+0.5), w-1))
}

// timelinePane draws the bar of a replay: state and speed, the line with the marks and the
// present time, how far it is and how long it takes.
func (v *view) timelinePane(c *canvas, r rect) {
	t := v.timeline
	if r.h < 1 || r.w < 1 {
		return
	}
	state := pick(t.Paused, pick(r.w < 60, "||", v.words.Say("screen.paused")), player.SpeedText(t.Speed))
	x := c.put(r.x+1, r.y, r.x+r.w, pick(t.Paused, theme.Warning, theme.Accent), state) + 1
	right := fmt.Sprintf(" %s / %s ", clockText(t.At.Sub(t.Start)), clockText(t.End.Sub(t.Start)))
	if t.Read < 1 {
		right = " " + v.words.Say("screen.read", "percent", int(100*t.Read)) + right
	}
	end := r.x + r.w
	if end-x-width(right) >= 10 {
		end -= width(right)
		c.put(end, r.y, r.x+r.w, theme.Text, right)
	} else {
		end--
	}
	if end > x {
		v.timelineBar(c, rect{x, r.y, end - x, 1})
	}
}

// timelineBar draws the line, the marks and the present time.
func (v *view) timelineBar(c *canvas, r rect) {
	t := v.timeline
	at := timelineColumn(t, t.At, r.w)
	for i := range r.w {
		c.set(r.x+i, r.y, v.glyphs.Line, pick(i <= at, theme.Accent, theme.Faint))
	}
	drawn := slices.Repeat([]player.MarkKind{-1}, r.w)
	for _, m := range t.Marks {
		i := timelineColumn(t, m.At, r.w)
		if look := markLooks[m.Kind]; m.Kind >= drawn[i] {
			c.set(r.x+i, r.y, pick(v.ascii, look.ascii, look.glyph), look.role)
			drawn[i] = m.Kind
		}
	}
	// The present time is a ground under whatever is there, so that no mark is hidden.
	c.ground(r.x+at, r.y, r.x+at+1, theme.Selected)
	if drawn[at] < 0 {
		c.set(r.x+at, r.y, pick(v.ascii, '|', '●'), theme.Strong)
	}
}

// clockText is a time span as h:mm:ss.
func clockText(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
