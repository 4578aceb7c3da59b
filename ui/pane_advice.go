package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
	"nvpeak/ui/plain"
)

// adviceLines is what the advice panel says in a room; empty when there are no problems.
func (v *view) adviceLines(w, h int) []textLine {
	lines := v.adviceText(w, true)
	if len(lines) > h {
		return v.adviceText(w, false)
	}
	return lines
}

// adviceText is the most urgent alert with its numbers and advice, each of the others with the first thing to do, if asked for,
// what may come next, and only then what has happened.
func (v *view) adviceText(w int, do bool) []textLine {
	var lines []textLine
	say := func(groups []watch.Group, body bool) {
		for i, a := range groups {
			lines = append(lines, v.alertHead(a.Alert, w)...)
			switch {
			case i == 0 && body:
				lines = append(lines, v.alertBody(a.Alert, w)...)
			case do && len(a.Advice) > 0:
				lines = append(lines, v.adviceTitle(a.Advice[0], w)...)
			}
		}
	}
	now, over := v.byTime()
	say(now, true)
	lines = append(lines, v.headlineLines(w)...)
	say(over, len(lines) == 0) // what is over must not read as the remedy of what comes
	for _, f := range v.nearFits(append(now, over...)) {
		lines = append(lines, v.fitLines(f, w)...)
	}
	return lines
}

// advised says whether there is more to say than headlines.
func (v *view) advised(w int) bool {
	return len(v.alerts) > 0 || slices.ContainsFunc(v.fits, func(f gpuFit) bool { return f.Near() }) || len(v.overLines(w)) > 0
}

// byTime parts the groups of alerts: those of now, and those of what happened a while ago.
func (v *view) byTime() (now, over []watch.Group) {
	for _, a := range v.groups() {
		if happened(a.Alert) && v.now().Sub(a.Time) > roomTime {
			over = append(over, a)
		} else {
			now = append(now, a)
		}
	}
	return now, over
}

// happened says whether an alert tells of a moment; all others are of now.
func happened(a sampler.Alert) bool {
	return a.Kind == sampler.AlertOOM || a.Kind == sampler.AlertFlush
}

// nearFits are the GPUs on which the need nearly fits, or does not, and no alert says so.
func (v *view) nearFits(groups []watch.Group) []fitGroup {
	alerted := map[sampler.GPUKey]bool{}
	for _, a := range groups {
		for _, key := range a.Keys {
			alerted[key] = alerted[key] || a.Kind == sampler.AlertNeed
		}
	}
	return fitGroups(slices.DeleteFunc(slices.Clone(v.fits), func(f gpuFit) bool { return !f.Near() || alerted[f.gpu.Key()] }))
}

// ahead are the alerts of what the sentence on a GPU is about: its next minutes.
var ahead = []string{sampler.AlertGrowth, sampler.AlertRepeatSpike, sampler.AlertNeed}

// slitLines are a line for each alert, and one for the first thing to do, on w columns: the sentence on the GPU where there
// is one, for it is the shortest. What has happened a while ago gives way to what is.
func (v *view) slitLines(w int) (lines []textLine) {
	say := func(groups []watch.Group, advise bool) {
		for i, a := range groups {
			text := v.slitText(a.Alert)
			if g := v.snap.Find(a.Key); g != nil && a.GPU.Known() && slices.Contains(ahead, a.Kind) {
				if said := v.verdict(g); said.text != "" && said.role != theme.Dim {
					text = v.words.Say("panel.slit", "gpu", g.Label(), "text", said.text)
				}
			}
			lines = append(lines, textLine{{levelRole(a.Level), string(v.glyphs.Alert) + " " + text}})
			if i == 0 && advise && len(a.Advice) > 0 {
				lines = append(lines, textLine{{theme.Accent, cmp.Or(v.firstStep(a.Advice[0], w), "  1 "+a.Advice[0].Title)}})
			}
		}
	}
	now, over := v.byTime()
	say(now, true)
	for _, h := range v.headlines() {
		lines = append(lines, textLine{{h.role, string(v.glyphs.Alert) + " " + v.slitHeadline(h, w-2)}})
	}
	if len(lines) == 0 {
		say(over, true)
	}
	for _, f := range v.nearFits(append(now, over...)) {
		lines = append(lines, v.fitLines(f, 1<<10)[0]) // uncut
	}
	if len(now) == 1 && len(lines) <= 2 { // nothing else wants the room
		if who := v.slitWho(now[0].Alert); who != nil {
			lines = append(lines, who)
		}
	}
	return lines
}

// slitWho is the process that an alert is about, as long as it is there, and not below another that is to be stopped: it would
// be read as that.
func (v *view) slitWho(a sampler.Alert) textLine {
	pid, known := a.PID.Value()
	if len(a.Advice) > 0 && a.Advice[0].PID.Or(pid) != pid {
		return nil
	}
	if g := v.snap.Find(a.Key); known && g != nil {
		for _, p := range g.Processes {
			if p.PID == pid {
				return textLine{{theme.Text, "  " + strings.TrimSpace(v.words.Say("panel.pid", "pid", pid, "who", strings.TrimSpace(p.Name+" "+p.User)))}}
			}
		}
	}
	return nil
}

// slitText is an alert in a few words, if there are some for it.
func (v *view) slitText(a sampler.Alert) string {
	text := ""
	switch {
	case !a.GPU.Known():
	case a.Kind == sampler.AlertOOM && a.Numbers["endings"] > 0:
		text = v.words.Say("slit.ended")
	case a.Kind == sampler.AlertOOM && a.Numbers["requested_bytes"] > 0:
		text = v.words.Say("slit.refused", "size", sampler.Bytes(a.Numbers["requested_bytes"]).Short())
	case a.Kind == sampler.AlertFlush:
		text = v.words.Say("slit.flush")
	}
	if text == "" {
		return a.Text
	}
	return v.words.Say("panel.slit", "gpu", a.Label(), "text", text)
}

// overLines are the alerts that are just over, the newest first.
func (v *view) overLines(w int) (lines []textLine) {
	for _, a := range slices.Backward(v.past) {
		lasted, over := a.End.Value()
		if end := a.Time.Add(time.Duration((lasted - a.T) * float64(time.Second))); over && v.now().Sub(end) < roomTime {
			text := v.words.Say("panel.over", "time", v.wall(end).Format("15:04:05"), "text", a.Text)
			if came := v.outcomeOf(a); came != "" {
				text += v.words.Say("list.semicolon") + came
			}
			for _, l := range wrap(text, w) {
				lines = append(lines, textLine{{theme.Dim, l}})
			}
		}
	}
	return lines
}

// outcomeOf is what came of a warning; empty: nothing is known of it, or to say.
func (v *view) outcomeOf(a sampler.Alert) string {
	failure, came, known := watch.Outcome(a, v.past, v.snap.Time)
	switch {
	case came:
		return v.words.Say("panel.came", "time", v.wall(failure.Time).Format("15:04:05"))
	case known:
		return v.words.Say("panel.not_come")
	}
	return ""
}

// groups are the open alerts, the most urgent first, those that say the same of several GPUs as one.
func (v *view) groups() []watch.Group { return watch.Groups(urgentFirst(v.alerts), v.words) }

// soonSeconds: what comes within them stands above what may come at any time, unless that is critical.
const soonSeconds = 600

// urgentFirst are alerts in the order in which one wants to read of them: they come by their levels, which say how sure one
// may be of them, too. A need that does not fit is sure, and waits; a GPU that is full in five minutes does not.
func urgentFirst(alerts []sampler.Alert) []sampler.Alert {
	if slices.IsSortedFunc(alerts, byUrgency) { // as nearly always
		return alerts
	}
	return slices.SortedStableFunc(slices.Values(alerts), byUrgency)
}

func byUrgency(a, b sampler.Alert) int {
	return cmp.Compare(urgencyOf(&a), urgencyOf(&b))
}

func urgencyOf(a *sampler.Alert) int {
	switch eta, known := a.ETA.Value(); {
	case a.Level == sampler.LevelCritical:
		return 0
	case known && eta <= soonSeconds:
		return 1
	}
	return 2
}

// alertHead is the text of an alert.
func (v *view) alertHead(a sampler.Alert, w int) []textLine {
	text := a.Text
	if happened(a) {
		text = v.words.Say("panel.at", "text", text, "time", v.wall(a.Time).Format("15:04:05"))
	}
	return alertLines(levelRole(a.Level), v.glyphs.Alert, text, w)
}

// alertLines are a text behind the sign of an alert.
func alertLines(role theme.Role, sign rune, text string, w int) (lines []textLine) {
	return paragraph(role, string(sign)+" ", text, w)
}

// paragraph is a text on w columns, behind what its first line begins with.
func paragraph(role theme.Role, head, text string, w int) (lines []textLine) {
	for i, l := range wrap(text, w-width(head)) {
		lines = append(lines, textLine{{role, pick(i == 0, head, strings.Repeat(" ", width(head))) + l}})
	}
	return lines
}

// typedLines are a line to type, or a remark: a remark behind a line stands above it where both have no room, and no word is broken
// that has room in a line.
func typedLines(do string, w int) (lines []textLine) {
	const indent = "      "
	code, remark := plain.Apart(do, w-len(indent), width)
	for _, l := range wrap(remark, w-len(indent)-2) {
		lines = append(lines, textLine{{theme.Dim, indent + "# " + l}})
	}
	for _, l := range chop(code, w-len(indent)) {
		lines = append(lines, textLine{{theme.Strong, indent + l}})
	}
	return lines
}

// alertBody is the evidence of an alert, run together, and what to do.
func (v *view) alertBody(a sampler.Alert, w int) []textLine {
	var lines []textLine
	for _, l := range wrap(v.joined(a.Evidence), w-2) {
		lines = append(lines, textLine{{theme.Dim, "  " + l}})
	}
	for _, ad := range a.Advice {
		lines = append(lines, v.adviceTitle(ad, w)...)
	}
	return lines
}

// joined runs sentences and phrases together: a phrase ends as a sentence before one.
func (v *view) joined(parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			begins, _ := utf8.DecodeRuneInString(p)
			switch before := parts[i-1]; {
			case strings.HasSuffix(before, "。"):
			case strings.HasSuffix(before, "."):
				b.WriteByte(' ')
			case unicode.IsUpper(begins):
				b.WriteString(". ")
			default:
				b.WriteString(v.words.Say("list.semicolon"))
			}
		}
		b.WriteString(p)
	}
	return b.String()
}

// adviceTitle is what to do, and what it frees where that has room beside it.
func (v *view) adviceTitle(ad sampler.Advice, w int) []textLine {
	saves := ""
	if s, ok := ad.Saves.Value(); ok {
		saves = v.words.Say("panel.frees", "size", v.rangeText(s))
	}
	title := fmt.Sprintf("  %d %s", ad.Rank, ad.Title)
	if room := w - width(saves) - 2; width(title) > room {
		return paragraph(theme.Accent, fmt.Sprintf("  %d ", ad.Rank), ad.Title, w)
	}
	gap := strings.Repeat(" ", max(2, min(36, w-width(saves))-width(title)))
	return []textLine{{{theme.Accent, title}, {theme.Dim, gap + saves}}}
}

func (v *view) rangeText(r sampler.Range) string {
	switch {
	case r.Low == 0 && r.High > 0:
		return v.words.Say("label.upto", "size", r.High)
	case r.Low == r.High:
		return r.High.String()
	}
	return v.words.Say("label.range", "low", r.Low, "high", r.High)
}

func levelRole(level string) theme.Role {
	switch level {
	case sampler.LevelCritical:
		return theme.Critical
	case sampler.LevelWarning:
		return theme.Warning
	}
	return theme.Notice
}

// advicePane draws the panel, in a box in the color of its first line, or without.
func (v *view) advicePane(c *canvas, r rect, lines []textLine, boxed bool) {
	if r.h <= 0 {
		return
	}
	if boxed && r.h > 2 {
		role := theme.Faint
		if len(lines) > 0 {
			role = lines[0][0].role
		}
		v.frame(c, r, role)
		x := c.put(r.x+1, r.y, r.x+r.w, role, " "+v.words.Say("panel.advice")+" ")
		if n := len(v.groups()); n > 1 {
			x = c.put(x, r.y, r.x+r.w, theme.Text, v.words.Say("panel.open", "count", n)+" ")
		}
		v.keys(c, x+1, r.y, r.x+r.w-2, adviceHints)
		r = rect{r.x + 2, r.y + 1, r.w - 4, r.h - 2}
	}
	if room := r.h - len(lines); room > 0 { // that alerts leave when they are over
		over := v.overLines(r.w)
		lines = append(lines, over[:min(room, len(over))]...)
	}
	v.textLines(c, r, lines, 0)
}

// adviceFull is everything there is to say: open alerts with why and what to type, the
// fit of every GPU, and past alerts.
func (v *view) adviceFull(w int) []textLine {
	var lines []textLine
	head := func(t string) {
		if len(lines) > 0 {
			lines = append(lines, textLine{})
		}
		lines = append(lines, textLine{{theme.Accent, t}})
	}
	if ahead := v.headlines(); len(v.alerts)+len(ahead) > 0 {
		head(v.words.Say("panel.heading_open"))
		for _, h := range ahead {
			lines = append(lines, v.headlineFull(h, w)...)
		}
		for _, a := range v.groups() {
			lines = append(lines, v.alertFull(a.Alert, w)...)
		}
	}
	if len(v.fits) > 0 {
		head(v.words.Say("panel.heading_fit"))
		for _, f := range fitGroups(v.fits) {
			lines = append(lines, v.fitLines(f, w)...)
		}
	}
	ask := len(v.alerts)+len(v.fits) == 0
	if len(lines) == 0 {
		lines = v.noProblems(w)
	}
	var past []sampler.Alert
	for _, a := range v.past {
		if a.End.Known() {
			past = append(past, a)
		}
	}
	if len(past) > 0 {
		head(v.words.Say("panel.heading_past"))
		groups := watch.PastGroups(past, v.words)
		for i := len(groups) - 1; i >= 0; i-- {
			a := groups[i]
			at := "  " + v.wall(a.Time).Format("15:04:05") + " "
			for _, l := range wrap(a.Text, w-width(at)) {
				lines = append(lines, textLine{{theme.Dim, at}, {levelRole(a.Level), l}})
				at = strings.Repeat(" ", width(at))
			}
			if came := v.outcomeOf(a.Alert); came != "" {
				lines = append(lines, paragraph(theme.Dim, at, came, w)...)
			}
		}
	}
	if ask {
		lines = append(lines, textLine{})
		lines = append(lines, paragraph(theme.Dim, "", v.words.Say("panel.set_need"), w)...)
	}
	return lines
}

func (v *view) alertFull(a sampler.Alert, w int) []textLine {
	lines := v.alertHead(a, w)
	for _, e := range a.Evidence {
		for _, l := range wrap(e, w-4) {
			lines = append(lines, textLine{{theme.Dim, "  " + l}})
		}
	}
	return append(lines, v.fixLines(a.Advice, w)...)
}

// fixLines are what to do in full: why, what to type, what it costs.
func (v *view) fixLines(list []sampler.Advice, w int) (lines []textLine) {
	for _, ad := range list {
		lines = append(lines, v.adviceTitle(ad, w)...)
		for _, l := range wrap(ad.Why, w-6) {
			lines = append(lines, textLine{{theme.Dim, "    " + l}})
		}
		for _, do := range ad.Do {
			lines = append(lines, typedLines(do, w)...)
		}
		if ad.Cost != "" {
			for _, l := range wrap(v.words.Say("panel.cost", "cost", ad.Cost), w-6) {
				lines = append(lines, textLine{{theme.Dim, "    " + l}})
			}
		}
	}
	return lines
}
