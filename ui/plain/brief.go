package plain

import (
	"io"
	"slices"
	"strings"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// How many lines Brief gives each of its parts; what to type gets what is left.
const (
	briefHeadline = 2
	briefDetail   = 3
	briefCause    = 2
)

// Brief writes what happened, why, and the first thing to do with what to type, in at most so many lines:
// for below the last lines of a program.
func Brief(w io.Writer, e explain.Explanation, most int, o Options) error {
	words := lang.For(e.Lang)
	lines := partOf(o, words, briefHeadline, func(p *page) { p.text("", e.Verdict.Headline, p.paint.bad) })
	lines = append(lines, partOf(o, words, briefDetail, func(p *page) { p.text("", e.Verdict.Detail, plainly) })...)
	if slices.ContainsFunc(e.Events, func(e explain.Event) bool { return e.Recovered }) {
		lines = append(lines, partOf(o, words, 1, func(p *page) { p.text("", e.Verdict.Run, plainly) })...)
	}
	if len(e.Causes) > 0 {
		lines = append(lines, partOf(o, words, briefCause, func(p *page) { p.causes(e.Causes[:1]) })...)
	}
	if len(e.Advice) > 0 {
		first := e.Advice[0]
		first.Do = nil
		lines = append(lines, partOf(o, words, most-len(lines), func(p *page) { p.steps([]sampler.Advice{first}) })...)
		for _, do := range e.Advice[0].Do { // half of what is to be typed is worse than none
			part := partOf(o, words, most, func(p *page) { p.commands([]string{do}, 9) })
			if len(lines)+len(part) > most {
				break
			}
			lines = append(lines, part...)
		}
	}
	p := newPage(o, words)
	return p.write(w, strings.Join(lines[:min(len(lines), most)], ""))
}

// partOf is the first lines of a part of a page, without empty ones. The last one says when it is cut.
func partOf(o Options, words lang.Catalog, most int, write func(*page)) []string {
	p := newPage(o, words)
	write(&p)
	lines := slices.DeleteFunc(strings.SplitAfter(p.out.String(), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	if most > 0 && len(lines) > most {
		more := " …\n"
		if o.ASCII {
			more = " ...\n"
		}
		lines[most-1] = strings.TrimRight(lines[most-1], ". \n") + more
	}
	return lines[:max(0, min(len(lines), most))]
}
