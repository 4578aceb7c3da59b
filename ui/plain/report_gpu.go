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
	say := p.words.Say
	p.facts(say("report.total"), size(g.Total), say("report.typical"), size(g.Typical), say("report.mean"), size(g.Mean),
		p.peakMark()+" "+say("report.peak"), p.peakAt(g.Peak), say("report.min_free"), free(g.WorstFree))
	left := []string{say("report.free"), "", say("report.while_running"), free(g.FreeTypical), say("report.at_the_peak"), free(g.FreeAtPeak)}
	if g.FreeAfterExit.Known() {
		left = append(left, say("report.after_exit"), free(g.FreeAfterExit))
	}
	p.facts(left...)
	p.facts(say("report.growth"), p.growth(g))
	if len(g.Holders) > 0 {
		p.text(pad(say("report.holders"), labelWidth), p.holders(g), plainly)
	}
	p.spikes(g)
}

func (p *page) peakAt(k *report.Peak) string {
	if k == nil {
		return "N/A"
	}
	source := k.Source
	if id := "source." + strings.ReplaceAll(source, " ", "_"); p.words.Has(id) {
		source = p.words.Say(id)
	}
	return p.words.Say("report.peak_at", "size", k.Bytes, "time", clock(k.T), "source", source)
}

func (p *page) growth(g *report.GPU) string {
	perHour, ok := g.Growth.Value()
	if !ok {
		return p.words.Say("report.too_short")
	}
	text := p.words.Say("report.per_hour", "size", signed(perHour))
	if math.Abs(perHour) < float64(sampler.MiB) {
		text = p.words.Say("report.no_growth")
	}
	if e, ok := g.EpochGrowth.Value(); ok {
		text += p.words.Say("list.comma") + p.words.Say("report.per_epoch", "size", signed(e))
	}
	return text
}

// holders is who held what at the peak. What came and went between two lists of
// processes belongs to nobody for certain.
func (p *page) holders(g *report.GPU) string {
	var parts []string
	sum := sampler.Bytes(0)
	for i, h := range g.Holders {
		sum += h.Bytes
		switch {
		case i >= 6:
			continue
		case h.PID == 0:
			parts = append(parts, p.words.Say("report.unlisted", "size", h.Bytes))
		case h.User != "":
			parts = append(parts, fmt.Sprintf("%d %s (%s) %s", h.PID, cut(h.Name, nameColumns), cut(h.User, nameColumns), h.Bytes))
		default:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", h.PID, cut(h.Name, nameColumns)))+" "+h.Bytes.String())
		}
	}
	if more := len(g.Holders) - 6; more > 0 {
		parts = append(parts, p.words.Say("report.more", "n", more))
	}
	if g.Peak != nil && g.Peak.Bytes > sum+64*sampler.MiB {
		parts = append(parts, p.words.Say("report.brief", "size", g.Peak.Bytes-sum))
	}
	return strings.Join(parts, p.words.Say("list.comma"))
}

// shownSpikes is how many spikes a page has room for.
const shownSpikes = 10

func (p *reportPage) spikes(g *report.GPU) {
	if g.SpikeCount == 0 {
		return
	}
	rows := [][]string{p.head("time", "size", "peak", "lasted")}
	for _, s := range largestSpikes(g.Spikes, shownSpikes) {
		lasted := p.spikeLasted(p.r, s)
		if strings.HasPrefix(lasted, "<") {
			lasted = " " + lasted // it is no mark of a column that stands left
		}
		rows = append(rows, []string{clock(s.T), "+" + s.Bytes.String(), s.Peak.String(), lasted})
	}
	title := p.words.Count("count.spike", g.SpikeCount)
	if len(rows)-1 < g.SpikeCount {
		title = p.words.Say("report.largest", "spikes", title, "n", len(rows)-1)
	}
	p.line(title)
	p.aligned("  ", rows)
}

// spikeLasted is how long a spike lasted. One that no snapshot saw came and went between two of them, and one may
// have been over at any moment while nothing was recorded.
func (p *page) spikeLasted(r *report.Report, s report.Spike) string {
	switch seen := s.Duration - s.Unseen; {
	case s.Unseen > 0 && seen > 0:
		return p.words.Say("report.between", "least", p.words.Lasted(seen), "most", p.words.Lasted(s.Duration))
	case s.Unseen > 0:
		return p.words.Say("report.under", "span", p.words.Lasted(s.Duration))
	case s.Duration > 0:
		return p.words.Lasted(s.Duration)
	case r.Interval > 0:
		return p.words.Say("report.under", "span", p.words.Lasted(r.Interval))
	}
	return "N/A"
}

func largestSpikes(list []report.Spike, n int) []report.Spike {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b report.Spike) int { return cmp.Compare(b.Bytes, a.Bytes) })
	list = list[:min(n, len(list))]
	slices.SortStableFunc(list, func(a, b report.Spike) int { return cmp.Compare(a.T, b.T) })
	return list
}
