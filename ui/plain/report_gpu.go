package plain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nvpeak/advice/report"
	"nvpeak/sampler"
)

func (p *reportPage) gpu(g *report.GPU) {
	p.line("")
	title := "GPU " + g.Label
	if g.Name != "" {
		title += "  " + sampler.Clean(g.Name)
	}
	p.line(p.paint.dim(p.marks.rule(title, p.width)))
	p.plot(g)
	p.facts("total", size(g.Total), "typical", size(g.Typical), "mean", size(g.Mean), p.peakMark()+" peak", peakText(g.Peak), "min free", size(g.WorstFree))
	p.facts("free", "", "while running", size(g.FreeTypical), "at the peak", size(g.FreeAtPeak), "after the process exit", size(g.FreeAfterExit))
	p.facts("growth", growthText(g))
	if len(g.Holders) > 0 {
		p.text(pad("at peak", labelWidth), holdersText(g), plainly)
	}
	p.spikes(g)
}

func peakText(k *report.Peak) string {
	if k == nil {
		return "N/A"
	}
	return fmt.Sprintf("%s at %s (%s)", k.Bytes, clock(k.T), k.Source)
}

func growthText(g *report.GPU) string {
	perHour, ok := g.Growth.Value()
	if !ok {
		return "too short to say"
	}
	text := signed(perHour) + " per hour"
	if math.Abs(perHour) < float64(sampler.MiB) {
		text = "none"
	}
	if e, ok := g.EpochGrowth.Value(); ok {
		text += ", " + signed(e) + " per epoch"
	}
	return text
}

// holdersText is who held what at the peak. What came and went between two lists of
// processes cannot be attributed.
func holdersText(g *report.GPU) string {
	var parts []string
	sum := sampler.Bytes(0)
	for i, h := range g.Holders {
		sum += h.Bytes
		switch {
		case i >= 6:
			continue
		case h.PID == 0:
			parts = append(parts, fmt.Sprintf("unlisted processes %s", h.Bytes))
		case h.User != "":
			parts = append(parts, fmt.Sprintf("%d %s (%s) %s", h.PID, cut(h.Name, nameColumns), cut(h.User, nameColumns), h.Bytes))
		default:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", h.PID, cut(h.Name, nameColumns)))+" "+h.Bytes.String())
		}
	}
	if more := len(g.Holders) - 6; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if g.Peak != nil && g.Peak.Bytes > sum+64*sampler.MiB {
		parts = append(parts, fmt.Sprintf("plus %s too brief to attribute", g.Peak.Bytes-sum))
	}
	return strings.Join(parts, ", ")
}

// shownSpikes is how many spikes a page has room for.
const shownSpikes = 10

func (p *reportPage) spikes(g *report.GPU) {
	if g.SpikeCount == 0 {
		return
	}
	rows := [][]string{{"TIME", "SIZE", "PEAK", "LASTED"}}
	for _, s := range largestSpikes(g.Spikes, shownSpikes) {
		rows = append(rows, []string{clock(s.T), "+" + s.Bytes.String(), s.Peak.String(), lasted(s.Duration)})
	}
	title := fmt.Sprintf("%d spike(s)", g.SpikeCount)
	if len(rows)-1 < g.SpikeCount {
		title += fmt.Sprintf(", the largest %d", len(rows)-1)
	}
	p.line(title)
	p.table(rows)
}

func largestSpikes(list []report.Spike, n int) []report.Spike {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b report.Spike) int { return cmp.Compare(b.Bytes, a.Bytes) })
	list = list[:min(n, len(list))]
	slices.SortStableFunc(list, func(a, b report.Spike) int { return cmp.Compare(a.T, b.T) })
	return list
}
