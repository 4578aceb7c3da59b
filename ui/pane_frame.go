package ui

import (
	"fmt"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/plain"
)

// header is the first line: who, driver, how it is measured, when, and how many GPUs are
// hidden below.
func (v *view) header(c *canvas, r rect, hidden int) {
	s := v.snap
	if hidden > 0 {
		text := fmt.Sprintf(" %d more %c", hidden, v.glyphs.Down)
		r.w = c.right(r.x, r.y, r.x+r.w-1, theme.Notice, text) - r.x
		defer c.ground(r.x, r.y, r.x+c.w, theme.Bar)
	}
	if r.w < slitWidth {
		v.slitHeader(c, r)
		return
	}
	x := c.put(r.x, r.y, r.x+r.w, theme.Accent, " nvpeak ")
	left := []piece{{theme.Strong, s.Host}}
	if v.label != "" {
		left = append([]piece{{theme.Demo, v.label}}, left...)
	}
	if v.paused {
		left = append([]piece{{theme.Warning, "PAUSED"}}, left...)
	}
	if s.Driver != "" {
		left = append(left, piece{theme.Dim, "driver " + s.Driver})
	}
	if s.CUDA != "" {
		left = append(left, piece{theme.Dim, "CUDA " + s.CUDA})
	}
	right := v.headerRight(r.w)
	end := r.x + r.w - 1
	for i := len(right) - 1; i >= 0; i-- {
		if from := end - width(right[i].text); from > x {
			c.put(from, r.y, end, right[i].role, right[i].text)
			end = from - 2
		}
	}
	for _, p := range left {
		if p.text != "" && x+width(p.text) < end {
			x = c.put(x, r.y, end, p.role, p.text) + 2
		}
	}
	c.ground(r.x, r.y, r.x+r.w, theme.Bar)
}

// slitWidth is the width under which the header says only where, how many, and how often.
const slitWidth = 56

func (v *view) slitHeader(c *canvas, r rect) {
	x := c.put(r.x, r.y, r.x+r.w, theme.Accent, " "+pick(v.snap.Host == "", "nvpeak", v.snap.Host)+" ")
	if v.label != "" {
		word, _, _ := strings.Cut(v.label, " ")
		x = c.put(x, r.y, r.x+r.w, theme.Demo, word+" ")
	}
	if v.paused {
		x = c.put(x, r.y, r.x+r.w, theme.Warning, "PAUSED ")
	}
	gpus := fmt.Sprintf("%d GPU%s", len(v.snap.GPUs), pick(len(v.snap.GPUs) == 1, "", "s"))
	x = c.put(x, r.y, r.x+r.w, theme.Dim, gpus)
	if lane, ok := v.snap.Sampling.Value(); ok {
		text := v.laneText(lane)
		text.text = strings.Replace(text.text, "mem ", string(v.glyphs.Peak)+" ", 1)
		if x+width(text.text) < r.x+r.w-1 {
			c.right(x, r.y, r.x+r.w-1, text.role, text.text)
		}
	}
}

// headerRight from left to right; the last is kept longest.
func (v *view) headerRight(w int) []piece {
	var ps []piece
	if hm, ok := v.snap.HostMemory.Value(); ok && hm.Total > 0 && w >= 60 {
		used := hm.Total.Less(hm.Available)
		level := theme.Level(percent(used, hm.Total), hostLevels)
		ps = append(ps, piece{pick(level == theme.Ok, theme.Dim, level), fmt.Sprintf("host %s/%s", gib(used), sampler.Bytes.Short(hm.Total))})
		if hm.SwapUsed > 0 && w >= 100 {
			ps = append(ps, piece{theme.Dim, "swap " + hm.SwapUsed.Short()})
		}
	}
	if lane, ok := v.snap.Sampling.Value(); ok {
		ps = append(ps, v.laneText(lane))
	}
	return append(ps, piece{theme.Dim, v.now().Format("15:04:05")})
}

// laneText says how memory is read; a lane that is slower than asked for, or late, says so.
func (v *view) laneText(lane sampler.Sampling) piece {
	period := time.Duration(lane.PeriodSeconds * float64(time.Second))
	text := "mem " + period.String()
	missed := 0
	for i := range v.snap.GPUs {
		if w := v.snap.GPUs[i].Memory.Window; w != nil {
			missed = max(missed, w.Missed)
		}
	}
	switch {
	case lane.PeriodSeconds > lane.AskedSeconds*1.01:
		return piece{theme.Notice, text + " (driver slow)"}
	case missed > 5:
		return piece{theme.Notice, fmt.Sprintf("%s (%d late)", text, missed)}
	}
	return piece{theme.Dim, text}
}

// footer is the last line: what is typed, a message, or the keys.
func (v *view) footer(c *canvas, r rect) {
	switch {
	case v.prompt != "":
		x := c.put(r.x+1, r.y, r.x+r.w, theme.Strong, v.prompt)
		c.put(x+1, r.y, r.x+r.w, theme.Warning, v.notice)
	case v.notice != "":
		c.put(r.x+1, r.y, r.x+r.w, theme.Strong, v.notice)
	default:
		x := r.x + 1
		keys := footerKeys
		if v.timeline != nil {
			keys = replayFooter
		}
		for _, k := range keys {
			if x+width(k[0])+1+width(k[1]) > r.x+r.w {
				break
			}
			x = c.put(x, r.y, r.x+r.w, theme.Accent, k[0]) + 1
			x = c.put(x, r.y, r.x+r.w, theme.Dim, k[1]) + 2
		}
	}
	c.ground(r.x, r.y, r.x+r.w, theme.Bar)
}

var footerKeys = [][2]string{
	{"?", "help"}, {"q", "quit"}, {"n", "need"}, {"a", "advice"}, {"[ ]", "span"}, {"o", "sort"},
	{"1-9", "GPU"}, {"Enter", "process"}, {"m", "metric"}, {"P", "reset peaks"}, {"p", "pause"}, {"T", "theme"},
}

// box draws a framed panel over the screen and returns the room inside.
func (v *view) box(c *canvas, w, h int, title string) rect {
	w, h = min(w, c.w), min(h, c.h)
	r := rect{(c.w - w) / 2, (c.h - h) / 2, w, h}
	c.clear(r)
	if w < 8 || h < 4 {
		return r
	}
	const tl, tr, bl, br, side = '╭', '╮', '╰', '╯', '│'
	for x := r.x; x < r.x+w; x++ {
		c.set(x, r.y, v.glyphs.Line, theme.Faint)
		c.set(x, r.y+h-1, v.glyphs.Line, theme.Faint)
	}
	for y := r.y; y < r.y+h; y++ {
		c.set(r.x, y, side, theme.Faint)
		c.set(r.x+w-1, y, side, theme.Faint)
	}
	c.set(r.x, r.y, tl, theme.Faint)
	c.set(r.x+w-1, r.y, tr, theme.Faint)
	c.set(r.x, r.y+h-1, bl, theme.Faint)
	c.set(r.x+w-1, r.y+h-1, br, theme.Faint)
	c.put(r.x+2, r.y, r.x+w-1, theme.Accent, " "+title+" ")
	return rect{r.x + 2, r.y + 1, w - 4, h - 2}
}

// chop cuts a command or code into pieces of at most w columns; its blanks matter.
func chop(text string, w int) []string {
	var pieces []string
	from, columns := 0, 0
	for i, r := range text {
		_, n := harmless(r)
		if columns > 0 && columns+n > w {
			pieces, from, columns = append(pieces, text[from:i]), i, 0
		}
		columns += n
	}
	return append(pieces, text[from:])
}

// wrap breaks text into lines of at most w columns; its blanks and line ends count as one blank.
func wrap(text string, w int) []string {
	if text = strings.Join(strings.Fields(text), " "); text == "" || w < 1 {
		return nil
	}
	return plain.Wrap(text, w, width)
}
