package plain

import (
	"strconv"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// cardPart is one stretch of the bar.
type cardPart struct {
	mark  string
	label string // message id
	bytes sampler.Bytes
	paint func(string) string
}

// card draws the GPU at the moment of failure, and under it the request, which begins where the
// free memory begins: what sticks out at the right is what was missing.
func (p *explainPage) card(e explain.Event) {
	c := e.Card
	if c == nil {
		return
	}
	parts := p.cardParts(c)
	total := explain.SizeText(c.Total)
	name := "GPU"
	if gpu, known := e.GPUIndex.Value(); known {
		name += " " + strconv.Itoa(gpu)
	}
	left := max(columns(name), columns(p.words.Say("label.need"))) + 3
	room := p.width - left - columns(total) - 4
	cells, needCells, needAt := scaleCard(c, room)
	needCells = min(needCells, max(1, p.width-left-1-needAt-1-columns(explain.SizeText(c.Need))))
	var bar strings.Builder
	for i, n := range cells {
		bar.WriteString(parts[i].paint(strings.Repeat(parts[i].mark, n)))
	}
	p.line("")
	p.line("  " + padTo(name, left-2) + p.marks.left + bar.String() + p.marks.right + " " + total)
	if needCells > 0 {
		p.line("  " + padTo(p.words.Say("label.need"), left-2+1+needAt) + p.paint.bad(p.marks.need(needCells)) + " " + explain.SizeText(c.Need))
	}
	var legend []string
	for _, part := range parts {
		if part.bytes >= 5*sampler.MiB { // less rounds to 0.00
			legend = append(legend, part.paint(part.mark)+" "+p.words.Say(part.label)+" "+strconv.FormatFloat(part.bytes.GiB(), 'f', 2, 64))
		}
	}
	p.flow(left, legend)
}

// cardParts are the stretches of the bar, with names for what the text tells apart.
func (p *explainPage) cardParts(c *explain.Card) []cardPart {
	outside, others := "label.outside", "label.others"
	if !c.OutsideKnown {
		others = "label.others_own"
	}
	if c.Allocated+c.Holes == 0 {
		outside = "label.process" // its allocator is not known
		if c.Outside == 0 {
			others = "label.used" // nothing is known of who
		}
	}
	return []cardPart{
		{p.marks.allocated, "label.allocated", c.Allocated, p.paint.accent},
		{p.marks.holes, "label.holes", c.Holes, p.paint.warn},
		{p.marks.outside, outside, c.Outside, p.paint.dim},
		{p.marks.others, others, c.Others, p.paint.other},
		{p.marks.free, "label.free", c.Free, plainly},
	}
}

// scaleCard turns the parts and the request into columns. The bar shrinks when the request
// would stick out too far, so that both share one scale.
func scaleCard(c *explain.Card, room int) (cells []int, needCells, needAt int) {
	used := c.Total - c.Free
	span := max(c.Total, used+min(c.Need, 2*c.Total))
	width := max(8, int(float64(room)*float64(c.Total)/float64(span)))
	perCell := float64(c.Total) / float64(width)
	parts := []sampler.Bytes{c.Allocated, c.Holes, c.Outside, c.Others, c.Free}
	cells = make([]int, len(parts))
	sum, at := sampler.Bytes(0), 0
	for i, b := range parts {
		sum += b
		end := int(float64(sum)/perCell + 0.5)
		cells[i] = max(0, end-at)
		at += cells[i]
	}
	needAt = at - cells[len(cells)-1]
	if c.Need > 0 {
		needCells = min(max(1, int(float64(c.Need)/perCell+0.5)), max(1, room+2-needAt))
	}
	return cells, needCells, needAt
}

// flow writes items side by side, as many as fit on a line.
func (p *explainPage) flow(indent int, items []string) {
	line, used := strings.Repeat(" ", indent), indent
	for i, item := range items {
		n := columns(stripPaint(item))
		if i > 0 && used+2+n > p.width {
			p.line(line)
			line, used = strings.Repeat(" ", indent), indent
		} else if i > 0 {
			line, used = line+"  ", used+2
		}
		line, used = line+item, used+n
	}
	if used > indent {
		p.line(line)
	}
}
