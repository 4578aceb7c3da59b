package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// header is the first line: who, driver, how memory is sampled, when, and how many GPUs are
// hidden below.
func (v *view) header(c *canvas, r rect, hidden int) {
	s := v.snap
	if hidden > 0 {
		text := " " + v.words.Say("screen.more", "count", hidden) + fmt.Sprintf(" %c", v.glyphs.Down)
		r.w = c.right(r.x, r.y, r.x+r.w-1, theme.Notice, text) - r.x
		defer c.ground(r.x, r.y, r.x+c.w, theme.Bar)
	}
	if r.w < slitWidth {
		v.slitHeader(c, r)
		return
	}
	x := c.put(r.x, r.y, r.x+r.w, theme.Accent, " nvpeak ")
	for _, p := range v.state() {
		x = c.cut(x, r.y, r.x+r.w-1, p.role, p.text) + 2
	}
	left := []piece{{theme.Strong, s.Host}}
	if s.Driver != "" {
		left = append(left, piece{theme.Dim, v.words.Say("screen.driver", "version", s.Driver)})
	}
	if s.CUDA != "" {
		left = append(left, piece{theme.Dim, "CUDA " + s.CUDA})
	}
	if text := v.needText(); text != "" {
		left = slices.Insert(left, 1, piece{theme.Need, text})
	}
	end, host := r.x+r.w-1, width(s.Host)+2
	if host > r.w/4 {
		host = 0 // one so long stands where there is room
	}
	right := v.headerRight(r.w, true)
	if piecesApart(left)+piecesApart(right) > end-x { // how many readings were missed comes and goes, and the others must not
		right = v.headerRight(r.w, false)
	}
	for _, p := range slices.Backward(right) {
		if from := end - width(p.text); from > x+host {
			c.put(from, r.y, end, p.role, p.text)
			end = from - 2
		}
	}
	for _, p := range left {
		if p.text != "" && x+width(p.text) < end {
			x = c.put(x, r.y, end, p.role, p.text) + 2
		}
	}
	for _, short := range []bool{false, true} { // in what the others leave
		if p := v.doorPiece(short); p.text != "" && x+width(p.text) <= end {
			c.put(end-width(p.text), r.y, end, p.role, p.text)
			break
		}
	}
	c.ground(r.x, r.y, r.x+r.w, theme.Bar)
}

// state is what must not be overlooked: that the picture stands still, and that it is a demo or a replay.
func (v *view) state() (ps []piece) {
	if v.frozen {
		ps = append(ps, piece{theme.Warning, v.words.Say(v.still())})
	}
	if v.label != "" {
		ps = append(ps, piece{theme.Demo, v.label})
	}
	if v.standing.text != "" {
		ps = append(ps, v.standing)
	}
	return ps
}

// still says why the picture does not move.
func (v *view) still() string { return pick(v.timeline == nil, "screen.frozen", "screen.halted") }

// slitWidth is the width under which the header says only where, how many, and how often.
const slitWidth = 56

func (v *view) slitHeader(c *canvas, r rect) {
	x := r.x + 1
	for _, p := range v.state() {
		word, _, _ := strings.Cut(p.text, " ")
		x = c.put(x, r.y, r.x+r.w, p.role, word) + 1
	}
	x = c.put(x, r.y, r.x+r.w, theme.Accent, pick(v.snap.Host == "", "nvpeak", v.snap.Host)+" ")
	gpus := v.words.Count("count.gpu", len(v.snap.GPUs))
	x = c.put(x, r.y, r.x+r.w, theme.Dim, gpus)
	if rate, ok := v.snap.Sampling.Value(); ok {
		for _, name := range []string{v.words.Say("screen.sampling") + " ", v.words.Say("screen.sampling_short") + " "} {
			if text := v.samplingText(rate, name, true); x+width(text.text) < r.x+r.w-1 {
				c.right(x, r.y, r.x+r.w-1, text.role, text.text)
				break
			}
		}
	}
}

// piecesApart is what pieces take with two blanks between them.
func piecesApart(list []piece) (w int) {
	for _, p := range list {
		w += width(p.text) + 2
	}
	return w
}

// headerRight from left to right on a screen of w columns, with how many readings were missed, or without; the last is kept longest.
func (v *view) headerRight(w int, missed bool) []piece {
	var ps []piece
	if hm, ok := v.snap.HostMemory.Value(); ok && hm.Total > 0 && w >= 60 {
		used := hm.Total.Less(hm.Available)
		level := theme.Level(percent(used, hm.Total), hostLevels)
		ps = append(ps, piece{pick(level == theme.Ok, theme.Dim, level), v.words.Say("screen.host", "used", beside(used, hm.Total), "total", hm.Total.Short())})
		if hm.SwapUsed > 0 && w >= 100 {
			ps = append(ps, piece{theme.Dim, v.words.Say("screen.swap", "size", hm.SwapUsed.Short())})
		}
	}
	if rate, ok := v.snap.Sampling.Value(); ok {
		ps = append(ps, v.samplingText(rate, v.words.Say("screen.sampling")+" ", missed))
	}
	return append(ps, piece{theme.Dim, v.wall(v.now()).Format("15:04:05")})
}

// samplingText says how memory is sampled: its period, and when that is longer than asked for
// or readings were missed; of these without how many, if count is false.
func (v *view) samplingText(rate sampler.Sampling, name string, count bool) piece {
	period := time.Duration(rate.PeriodSeconds * float64(time.Second))
	text := name + period.String()
	missed := 0
	for i := range v.snap.GPUs {
		if w := v.snap.GPUs[i].Memory.Window; w != nil {
			missed = max(missed, w.Missed)
		}
	}
	switch {
	case rate.PeriodSeconds > rate.AskedSeconds*1.01:
		return piece{theme.Notice, v.words.Say("screen.slow", "text", text)}
	case missed > 5 && !count:
		return piece{theme.Notice, text}
	case missed > 5:
		return piece{theme.Notice, v.words.Say("screen.missed", "text", text, "count", missed)}
	}
	return piece{theme.Dim, text}
}

// footerPane is the last line: what is typed, or a message and the keys that stand in no border, as far as there is room.
func (v *view) footerPane(c *canvas, r rect) {
	switch f := &v.footer; {
	case f.prompt != "":
		x := c.put(r.x+1, r.y, r.x+r.w, theme.Strong, f.prompt)
		c.put(x+1, r.y, r.x+r.w, theme.Warning, f.notice)
	default:
		x := c.put(r.x+1, r.y, r.x+r.w, theme.Strong, f.notice) + pick(f.notice == "", 0, 2)
		for _, k := range f.keys {
			if slices.Contains(v.told, k) {
				continue
			}
			key, word := v.words.Say(k.key), v.words.Say(k.word) // a key that has no sentence stays as it is
			if x+width(key)+1+width(word) > r.x+r.w {
				break
			}
			v.button(x, r.y, k)
			x = c.put(x, r.y, r.x+r.w, theme.Accent, key) + 1
			x = c.put(x, r.y, r.x+r.w, theme.Dim, word) + 2
		}
	}
	c.ground(r.x, r.y, r.x+r.w, theme.Bar)
}
