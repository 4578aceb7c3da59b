package plain

import (
	"strconv"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// barPart is one stretch of the bar.
type barPart struct {
	mark  string
	label string // message id
	bytes sampler.Bytes
	paint func(string) string
}

// bar draws the GPU at the moment of failure, and under it the request, which begins where the
// free memory begins: what sticks out at the right is what was missing.
func (p *page) bar(e explain.Event) {
	c := e.Card
	if c == nil {
		return
	}
	parts := p.barParts(c)
	total := explain.SizeText(c.Total)
	name := "GPU"
	if gpu, known := e.GPU.Else(e.GPUIndex).Value(); known {
		name += " " + strconv.Itoa(gpu)
	}
	left := max(columns(name), columns(p.words.Say("label.need"))) + 3
	room := p.width - left - columns(total) - 4
	cells, needCells, needAt := scaleBar(c, room)
	needCells = min(needCells, max(1, p.width-left-1-needAt-1-columns(explain.SizeText(c.Need))))
	var bar strings.Builder
	for i, n := range cells {
		bar.WriteString(parts[i].paint(strings.Repeat(parts[i].mark, n)))
	}
	p.line("")
	p.line("  " + pad(name, left-2) + p.marks.left + bar.String() + p.marks.right + " " + total)
	if needCells > 0 {
		p.line("  " + pad(p.words.Say("label.need"), left-2+1+needAt) + p.paint.bad(p.marks.need(needCells)) + " " + explain.SizeText(c.Need))
	}
	var legend []string
	for _, part := range parts {
		if part.bytes >= 5*sampler.MiB { // less rounds to 0.00
			legend = append(legend, part.paint(part.mark)+" "+p.words.Say(part.label)+" "+strconv.FormatFloat(part.bytes.GiB(), 'f', 2, 64))
		}
	}
	if c.Beyond >= 5*sampler.MiB {
		legend = append(legend, p.words.Say("label.beyond", "size", strconv.FormatFloat(c.Beyond.GiB(), 'f', 2, 64)))
	}
	p.flow(left, legend)
}

// barParts are the stretches of the bar, with names for what the text tells apart.
func (p *page) barParts(c *explain.Card) []barPart {
	outside, others := "label.outside", "label.others"
	if !c.OutsideKnown {
		others = "label.others_own"
	}
	if c.Allocated+c.Unallocated == 0 {
		outside = "label.process" // its allocator is not known
		if c.Outside == 0 {
			others = "label.used" // nothing is known of who
		}
	}
	return []barPart{
		{p.marks.allocated, "label.allocated", c.Allocated, p.paint.accent},
		{p.marks.holes, "label.holes", c.Unallocated, p.paint.warn},
		{p.marks.outside, outside, c.Outside, p.paint.dim},
		{p.marks.others, others, c.Others, p.paint.other},
		{p.marks.free, "label.free", c.Free, plainly},
	}
}

// scaleBar turns the parts and the request into columns. The bar shrinks when the request
// would stick out too far, so that both share one scale.
func scaleBar(c *explain.Card, room int) (cells []int, needCells, needAt int) {
	used := c.Total - c.Free
	span := max(c.Total, used+min(c.Need, 2*c.Total))
	width := max(8, int(float64(room)*float64(c.Total)/float64(span)))
	perCell := float64(c.Total) / float64(width)
	parts := []sampler.Bytes{c.Allocated, c.Unallocated, c.Outside, c.Others, c.Free}
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
