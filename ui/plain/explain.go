package plain

import (
	"io"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
)

// Explain writes an explanation for people: the verdict, a bar of the GPU at the moment of
// failure, cause and first steps in about ten lines, then the details. Everything that came from
// a log or a process is cleaned. Commands are not wrapped, so they can be copied.
func Explain(w io.Writer, e explain.Explanation, o Options) error {
	p := newPage(o, lang.For(e.Lang))
	p.verdict(e)
	if i := e.Verdict.Event; i >= 0 {
		event := e.Events[i]
		p.bar(event)
		if event.Torch != nil {
			p.layers(event.Torch)
		}
		if len(e.Causes) > 0 {
			p.causes(e.Causes)
		}
		p.steps(e.Advice)
		first := p.out.String()
		p.details(e, event)
		if o.Rows > 0 && strings.Count(p.out.String(), "\n") >= o.Rows {
			p.out.Reset()
			p.out.WriteString(first)
			p.text("", p.words.Say(moreDetails(len(e.Advice)), "count", len(e.Advice)), p.paint.dim)
		}
	}
	return p.write(w, p.out.String())
}

// moreDetails names the sentence that says how many measures the details have.
func moreDetails(n int) string {
	if n <= 2 {
		return "label.more_reasons"
	}
	return "label.more_details"
}
