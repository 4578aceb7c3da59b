package plain

import (
	"strconv"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// firstHolders is how many lines of code the first screen has room for, tableRows how many the details have.
const (
	firstHolders = 4
	tableRows    = 12
)

// layers is what the allocator of a GPU held, and which lines hold it.
func (p *page) layers(d *sampler.TorchDevice) {
	p.line("")
	p.text("", p.words.Say("torch.title", "gpu", d.Device)+p.words.Say("list.colon")+p.layersText(d), plainly)
	if held := explain.Holders(d); len(held) > 0 {
		p.holderRows(held[:min(len(held), firstHolders)])
	}
}

func (p *page) layersText(d *sampler.TorchDevice) string {
	say := p.words.Say
	if d.Reserved == 0 && d.Trace != nil { // the segments are missing
		return p.historyText(d.Trace)
	}
	parts := []string{say("torch.layers", "reserved", d.Reserved, "allocated", d.Allocated)}
	if d.Cached > 0 {
		parts = append(parts, say("torch.cached", "size", d.Cached))
	}
	if d.Split > 0 {
		parts = append(parts, say("torch.split", "size", d.Split, "largest", d.LargestFree))
	}
	if d.Awaiting > 0 {
		parts = append(parts, say("torch.waiting", "size", d.Awaiting))
	}
	if round := d.Allocated.Less(d.Requested); d.Requested > 0 && round*50 > d.Allocated {
		parts = append(parts, say("torch.rounding", "size", round))
	}
	return strings.Join(parts, say("list.semicolon"))
}

func (p *page) holderRows(list []sampler.TorchHolder) {
	var rows [][]string
	for _, h := range list {
		rows = append(rows, []string{h.Bytes.String(), "× " + strconv.Itoa(h.Blocks), "<" + p.siteText(h.TorchSite)})
	}
	p.aligned("  ", rows)
}

// siteText names a line: with its code where it could be read, else with its function.
func (p *page) siteText(s sampler.TorchSite) string {
	if s.File == "" {
		return p.words.Say("torch.no_line")
	}
	text := s.Place() + " " + s.Function
	if s.Code != "" {
		text = s.Place() + " `" + s.Code + "`"
	}
	if s.Validation != "" {
		text += p.words.Say("head.when", "when", p.words.Say("torch.of_validation")+" "+s.Validation)
	}
	if s.Optimizer {
		text += p.words.Say("head.when", "when", p.words.Say("torch.of_optimizer"))
	}
	return sampler.Clean(text)
}

// snapshots are the details of every GPU in the memory snapshots.
func (p *page) snapshots(e explain.Explanation) {
	for _, s := range e.Snapshots {
		for i := range s.Devices {
			if d := &s.Devices[i]; d.Reserved > 0 || d.Trace != nil {
				p.device(d)
			}
		}
	}
}

func (p *page) device(d *sampler.TorchDevice) {
	p.line(p.paint.bold(p.words.Say("torch.title", "gpu", d.Device)))
	p.text("  ", p.layersText(d)+p.words.Say("list.semicolon")+p.words.Say("torch.segments", "segments", d.Segments, "blocks", d.Blocks), plainly)
	if held := explain.Holders(d); len(held) > 0 {
		p.line("  " + p.words.Say("torch.holders"))
		p.holderRows(held[:min(len(held), tableRows)])
	}
	if len(d.Pins) > 0 && d.Split > 0 {
		p.line("  " + p.words.Say("torch.keeps"))
		p.holderRows(d.Pins[:min(len(d.Pins), firstHolders)])
	}
	if d.Trace != nil {
		p.trace(d.Trace)
	}
}

func (p *page) historyText(t *sampler.TorchTrace) string {
	text := p.words.Say("torch.history", "events", t.Events, "span", p.words.Lasted(t.Seconds), "peak", t.Peak)
	if t.Steps > 0 {
		text += p.words.Say("list.semicolon") + p.words.Say("torch.steps", "count", t.Steps)
	}
	return text
}

func (p *page) trace(t *sampler.TorchTrace) {
	p.text("  ", p.historyText(t), plainly)
	var rows [][]string
	for _, l := range t.Lines {
		if l.Grown > 0 {
			rows = append(rows, []string{"+" + l.Grown.String(), "× " + strconv.Itoa(l.Blocks), "<" + p.siteText(l.TorchSite)})
		}
	}
	if len(rows) > 0 {
		p.line("  " + p.words.Say("torch.growing"))
		p.aligned("  ", rows)
	}
	id := "torch.events_end"
	if t.OOM != nil {
		id = "torch.events"
	}
	p.line("  " + p.words.Say(id))
	p.aligned("  ", p.eventRows(t))
}

func (p *page) eventRows(t *sampler.TorchTrace) (rows [][]string) {
	for _, e := range t.Last {
		rows = append(rows, []string{strconv.FormatFloat(e.T, 'f', 3, 64) + " s", "<" + e.Action, e.Bytes.String(), "<" + p.siteText(e.Site)})
	}
	return rows
}
