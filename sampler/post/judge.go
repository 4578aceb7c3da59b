package post

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// A message stands in the reports of those who met it and in texts about such failures: guides, changes, programs that look for
// it. No word tells them apart alone. So each clue puts its weight on one side (clues.go and layout.go for a text, places.go for where
// in it the message is), and an event stays unless they outweigh what it shows itself. In a log nobody speaks, so that there are next
// to none.

// clue is a piece of evidence. Above 0 its weight says that the text is about failures, below that somebody reports his own.
type clue struct {
	why    string
	weight int
	most   int // so often it counts
	of     func(r *reading, most int) int
}

// reading is a text as the clues see it.
type reading struct {
	text  string
	lines []string
	all   []sentence
	own   []sentence // as all, without what is quoted and what readers say
	asked []int      // the lines of headings that readers say
	said  []sentence // those that no program printed
}

var (
	// hints are sentences of programs below their errors.
	hints = lazily(`(?i)^\W*(?:(?:this error means you )?ran out of memory on your gpu|tips:|if reserved |there is an imbalance between|please check whether there is)`)
	// prefixed is a line with the name of the program that printed it; ofMarkup begins a heading or a row of a table, which few print.
	prefixed = lazily(`^\s*\(\w+(?: pid=[^)]*)?\) |^[\w.-]+ +\| `)
	ofMarkup = lazily(`^\s*(?:#{1,6} \S|\|)`)
)

// quoted is what somebody quotes within a sentence.
var quoted = lazily(`"[^"]*"|“[^”]*”`)

func newReading(text string, all []sentence) reading {
	r := reading{text: text, lines: strings.Split(text, "\n"), all: all}
	r.asked = readersSay(r.lines)
	for _, s := range all {
		own := s
		if strings.ContainsAny(s.text, "\"“") {
			own.text = quoted.ReplaceAllString(s.text, `""`)
		}
		if !slices.Contains(r.asked, s.line) {
			r.own = append(r.own, own)
		}
		if !r.printed(s.line-1) && !hints.MatchString(s.text) {
			r.said = append(r.said, s)
		}
	}
	return r
}

// ofAuthor are the first sentences of who writes, without what is quoted and what programs printed.
func (r *reading) ofAuthor() (list []sentence) {
	for _, s := range r.own[:min(len(r.own), mostHeard)] {
		if !r.printed(s.line-1) && !hints.MatchString(s.text) {
			list = append(list, s)
		}
	}
	return list
}

// printed: a program wrote that line or the one beside it.
func (r *reading) printed(at int) bool {
	for _, l := range r.lines[max(0, at-1):min(len(r.lines), at+2)] {
		if (printed.MatchString(strings.TrimSpace(l)) || prefixed.MatchString(l)) && !ofMarkup.MatchString(l) {
			return true
		}
	}
	return false
}

// sum is what clues weigh together in a text.
func (r *reading) sum(clues []clue) (weight int) {
	for _, c := range clues {
		weight += c.weight * min(c.of(r, c.most), c.most)
	}
	return weight
}

// placed is a line that names where in its source the program failed.
var placed = lazily(`\.(?:cpp|cc|cxx|cuh?|hp?p?|rs|go|c)(?::\d+\b|\(\d+\))`)

// proof is what an event shows of its own: whoever only speaks of a failure has no figures of it, and no run.
func proof(e sampler.OOMEvent) (n int) {
	n = 1
	if e.Requested.Known() {
		n += 2
	}
	if e.GPUTotal.Known() {
		n += 2
	}
	if e.GPUFree.Known() || e.Allocated.Known() {
		n += 2
	}
	if e.PID.Known() {
		n++
	}
	if e.Framework == "relion" || e.Framework == "hashcat" {
		n += 8 // which print below their errors, or above them, what to check and try
	}
	if c := e.Context; c != nil {
		if len(c.Functions) > 0 {
			n += 4
		}
		if c.Command != "" {
			n++
		}
	}
	return n
}

// judge weighs a text once, for all of its events, when it is asked of the first.
type judge struct {
	reading
	read   func() reading
	weight int
}

func newJudge(text string, all []sentence) *judge {
	return &judge{read: func() reading { return newReading(text, all) }}
}

// weighs is what the clues of the text weigh.
func (j *judge) weighs() int {
	if j.lines == nil {
		j.reading = j.read()
		j.weight = j.sum(genres)
		if len(j.all) > 0 {
			j.weight += j.sum(voices)
		}
	}
	return j.weight
}

// inSource says whether a sentence is a line of a program, which a post may show beside what it tells.
func (j *judge) inSource(s sentence) bool {
	j.weighs()
	return inProgram(&place{&j.reading, sampler.OOMEvent{Line: s.line, Text: s.text, Extra: map[string]any{"told": true}}, j.lines[s.line-1], s.line - 1})
}

// about says whether an event is of a text about failures.
func (j *judge) about(e sampler.OOMEvent) bool {
	weight, shown := j.weighs(), proof(e)
	if e.Line > 0 && e.Line <= len(j.lines) {
		p := &place{&j.reading, e, j.lines[e.Line-1], e.Line - 1}
		if next := e.Line; next < len(j.lines) && !strings.Contains(p.line, e.Text) && strings.Contains(j.lines[next], e.Text) {
			p.line, p.index = j.lines[next], next // its words begin on the line above, what is told of it is here
		}
		for _, s := range spots {
			if s.is(p) {
				weight += s.weight
			}
		}
		if e.Extra["told"] == nil && placed.MatchString(p.line) {
			shown++
		}
	}
	return weight > shown
}
