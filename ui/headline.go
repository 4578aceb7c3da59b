package ui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// headline is a sentence on one GPU, or on several that it is the same of, that stands above all panes: on what may run
// out of memory next, before there is an alert.
type headline struct {
	sentence // of the GPU with the least left
	gpus     []*sampler.GPU
	low      sampler.Bytes
	high     sampler.Bytes
}

// maxHeadlines are shown: there are as many ways to be in danger.
const maxHeadlines = 3

// headlines are what is to be said of GPUs whose memory may run out and of which no alert says it, the most urgent first.
// Of a machine with one GPU its pane says it, unless something that is over stands above that.
func (v *view) headlines() []headline {
	if !v.headed {
		v.headed = true
		v.heads = v.findHeadlines()
	}
	return v.heads
}

func (v *view) findHeadlines() (list []headline) {
	if v.snap == nil || len(v.snap.GPUs) == 1 && len(v.alerts) == 0 {
		return nil
	}
	for i := range v.snap.GPUs {
		g := &v.snap.GPUs[i]
		if v.warned(g) {
			continue
		}
		s, said := v.outcomes[g]
		if !said {
			s = v.outcomeOfGPU(g, true)
		}
		if s.role != theme.Critical || s.id != "short" && s.id != "peaks" && (s.id != "worst" || v.hasRoom(g)) {
			continue
		}
		at := slices.IndexFunc(list, func(h headline) bool { return h.id == s.id && soonAlike(h.due, s.due) && h.gpus[0].Host == g.Host })
		if at < 0 {
			list = append(list, headline{s, []*sampler.GPU{g}, s.size, s.size})
			continue
		}
		h := &list[at]
		if h.before(s) {
			h.sentence = s
		}
		h.gpus, h.low, h.high = append(h.gpus, g), min(h.low, s.size), max(h.high, s.size)
	}
	slices.SortStableFunc(list, func(a, b headline) int {
		return cmp.Or(cmp.Compare(pick(a.id == "short", 0, 1), pick(b.id == "short", 0, 1)), cmp.Compare(a.low, b.low))
	})
	return list[:min(len(list), maxHeadlines)]
}

// hasRoom says whether a GPU is far from full now: then its worst is over, as that of a run that has died of it is.
func (v *view) hasRoom(g *sampler.GPU) bool { return v.levelOf(g, g.Memory.Used.Or(0)) == theme.Ok }

// before says whether a sentence of the same kind is of a GPU with less left.
func (h *headline) before(s sentence) bool { return (s.size < h.size) == (h.id != "short") }

// soonAlike says whether two spikes are due at about the same time.
func soonAlike(a, b sampler.Opt[float64]) bool {
	const apart = 60 // seconds
	return !a.Known() || !b.Known() || math.Abs(a.Or(0)-b.Or(0)) <= apart
}

// warned says whether an open alert, or the need, already tells of the next minutes of a GPU.
func (v *view) warned(g *sampler.GPU) bool {
	return slices.ContainsFunc(v.alerts, func(a sampler.Alert) bool {
		return a.GPU.Known() && a.Key == g.Key() && slices.Contains(ahead, a.Kind)
	}) || slices.ContainsFunc(v.fits, func(f gpuFit) bool { return f.gpu.Key() == g.Key() && f.Near() })
}

// headlineText names the GPUs and says the sentence, with its sizes from the least to the most.
func (v *view) headlineText(h headline) string {
	size := h.few(h.low)
	if high := h.few(h.high); high != size {
		size = v.words.Say("label.range", "low", size, "high", high)
	}
	text := v.sentenceText(h.sentence, size)
	if len(h.gpus) == 1 {
		return v.words.Say("alert.at_gpu", "gpu", h.gpus[0].Label()) + text
	}
	return v.words.Say("alert.at_gpus", "gpus", gpuNames(h.gpus)) + text
}

// gpuNames are the indices of GPUs: "0–3".
func gpuNames(gpus []*sampler.GPU) string {
	var indices []int
	var names []string // of what has no index of its own
	for _, g := range gpus {
		if g.MIG != nil {
			names = append(names, g.Label())
		} else {
			indices = append(indices, g.Index)
		}
	}
	slices.Sort(indices)
	if len(indices) > 0 {
		names = append([]string{watch.GPUList(indices)}, names...)
	}
	return strings.Join(names, ", ")
}

// slitHeadline is one in a few words, that fit so many columns if they can.
func (v *view) slitHeadline(h headline, w int) string {
	text := v.words.Say("panel.slit", "gpu", gpuNames(h.gpus), "text", v.sentenceText(h.sentence, h.few(h.size)))
	if width(text) <= w {
		return text
	}
	short := v.words.Say("verdict."+h.id, "free", h.few(h.size))
	if h.id == "short" {
		short = v.words.Say("slit.short", "free", h.few(h.size))
	}
	return v.words.Say("panel.slit", "gpu", gpuNames(h.gpus), "text", short)
}

// headlineLines are the headlines on w columns, each with the first thing to do behind it where that has room.
func (v *view) headlineLines(w int) (lines []textLine) {
	for _, h := range v.headlines() {
		said := alertLines(h.role, v.glyphs.Alert, v.headlineText(h), w)
		if fixes := v.headlineFixes(h); len(said) == 1 && len(fixes) > 0 {
			if step := v.firstStep(fixes[0], w-width(said[0][0].text)); step != "" {
				said[0] = append(said[0], piece{theme.Accent, step})
			}
		}
		lines = append(lines, said...)
	}
	return lines
}

// firstStep is what to do first on w columns, in a few words where all of it has no room; empty: these have none either.
func (v *view) firstStep(ad sampler.Advice, w int) string {
	few, _, _ := strings.Cut(ad.Title, strings.TrimSpace(v.words.Say("list.colon")))
	forms := []string{ad.Title, few}
	if pid, known := ad.PID.Value(); known { // cut, its number would be another's
		forms = append(forms, v.words.Say("slit.stop", "pid", pid))
	}
	for _, form := range forms {
		if step := "  1 " + form; width(step) <= w {
			return step
		}
	}
	return ""
}

// headlineFull is a headline with all that can be done, as an alert would have it.
func (v *view) headlineFull(h headline, w int) []textLine {
	return append(alertLines(h.role, v.glyphs.Alert, v.headlineText(h), w), v.fixLines(v.headlineFixes(h), w)...)
}

// headlineFixes are what to do about what a headline tells, as far as spikes are it.
func (v *view) headlineFixes(h headline) (fixes []sampler.Advice) {
	if v.fixes != nil && h.id != "worst" {
		fixes, _ = v.fixes(h.gpus[0].Key())
	}
	return fixes
}

// under says whether a headline tells of a GPU.
func (v *view) under(g *sampler.GPU) bool {
	return slices.ContainsFunc(v.headlines(), func(h headline) bool { return slices.Contains(h.gpus, g) })
}

// alikeLeast GPUs with panes of which the same is said have one sentence, in the pane of the first.
const alikeLeast = 3

// paneVerdict is the sentence in the pane of a GPU: what stands above all panes, or in another one, is not said again.
func (v *view) paneVerdict(g *sampler.GPU) piece {
	said := v.verdict(g)
	switch {
	case v.under(g):
		s := v.outcome(g)
		s.due = sampler.Opt[float64]{}
		return v.verdictOf(g, s)
	}
	var same []*sampler.GPU
	for _, p := range v.panes {
		if v.verdict(p.gpu) == said {
			same = append(same, p.gpu)
		}
	}
	switch {
	case len(same) < alikeLeast || said.text == "":
		return said
	case same[0] != g:
		return piece{}
	}
	return piece{said.role, v.words.Say("alert.at_gpus", "gpus", gpuNames(same)) + said.text}
}
