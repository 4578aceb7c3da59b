package post

import (
	"regexp"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// A message stands in the reports of those who met it and in texts about such failures: guides, changes, programs that look for
// it. No word tells them apart alone. So each mark below puts a weight on one side, and an event stays unless the marks of its
// text and of its place in it outweigh what it shows itself. A log has no marks: nobody speaks in it.

// mark is a piece of evidence. Above 0 its weight says that the text is about failures, below that somebody reports his own.
type mark struct {
	why    string
	weight int
	most   int // so often it counts
	of     func(r *reading, most int) int
}

// reading is a text as the marks see it.
type reading struct {
	text  string
	lines []string
	all   []sentence
	said  []sentence // those that no program printed
}

// hints are sentences of programs below their errors; markup is what only people and their tools write.
var (
	hints    = lazily(`(?i)^\W*(?:this error means you ran out of memory on your gpu|tips:|if reserved |there is an imbalance between|please check whether there is)`)
	prefixed = lazily(`^\s*\(\w+(?: pid=[^)]*)?\) |^[\w.-]+ +\| `) // with the name of the one that printed it
	markup   = lazily("\\n(?:#{1,6} |```|\\*\\*\\w|[-*•] \\w|\\d+\\. \\w)")
)

func newReading(text string, all []sentence) reading {
	r := reading{text: text, lines: strings.Split(text, "\n"), all: all}
	prints := func(at int) bool { // a program did that line, or the one beside it
		for _, l := range r.lines[max(0, at-1):min(len(r.lines), at+2)] {
			if (printed.MatchString(strings.TrimSpace(l)) || prefixed.MatchString(l)) && !ofMarkup.MatchString(l) {
				return true
			}
		}
		return false
	}
	for _, s := range all {
		if !prints(s.line-1) && !hints.MatchString(s.text) {
			r.said = append(r.said, s)
		}
	}
	return r
}

// inText, inSentences and atPlace count where a pattern matches.
func inText(words string) func(*reading, int) int {
	re := lazily(words)
	return func(r *reading, most int) int { return len(re.FindAllStringSubmatch(r.text, most)) }
}

func inSentences(words string) func(*reading, int) int {
	return in(words, func(r *reading) []sentence { return r.all })
}
func inSaid(words string) func(*reading, int) int {
	return in(words, func(r *reading) []sentence { return r.said })
}

func in(words string, of func(*reading) []sentence) func(*reading, int) int {
	re := lazily(words)
	return func(r *reading, most int) (n int) {
		for _, s := range of(r) {
			if re.MatchString(s.text) {
				if n++; n == most {
					break
				}
			}
		}
		return n
	}
}

func when(is func(*reading) bool) func(*reading, int) int {
	return func(r *reading, _ int) int {
		if is(r) {
			return 1
		}
		return 0
	}
}

// line is a heading that stands alone on a line, whatever signs and numbers are around it.
func headings(words string) string {
	return `(?im)^\W*(?:(?:step|solution|fix|option|method) )?(?:\d+[.:)]? +)?(?:` + words + `)\W*$`
}

// genres are texts of a kind, by what their authors never leave out.
var genres = []mark{
	{"notes on a release", 4, 1, inText(`(?im)\breleased this \d{1,2} \w{3}\b|^\W*full changelog\b|^\W*what['’]s changed\W*$|\A\W*(?:changelog|release notes|changes by version)\W*$|^## \[?v?\d+\.\d+[\w.]*\]? ?[-–(]+ ?\d{4}-\d\d-\d\d|^\W*(?:bug ?fix|maintenance|hotfix) release\b|^this release (?:has|contains|includes|fixes|adds|does|is)\b|\bno new features this release\b|^\s*[•*+-]\s+(?-i:[0-9a-f]*\d[0-9a-f]*)\s+(?:addresses|fixes|adds|removes|prevents|improves|avoids|reduces)\b`)},
	{"a change is described", 4, 1, inText(`(?im)\b(?:in this (?:PR|pull request|merge request|patch|commit)\b|this (?:PR|pull request|merge request|patch|commit|change) (?:\w+ly )?(?:adds?|makes?|fix(?:es)?|targets|aims|introduces|implements|changes|removes|improves|mitigates|prevents|updates|refactors|allows|enables|ensures|addresses|reduces|is|does|will)\b)|^\W*(?:closes|fixes|resolves|fix|reverts|resolved by|landed in|superseded by):? (?:[\w.-]+/[\w.-]+|https?://\S+/)?#?(?:\d+|[0-9a-f]{7,40})\b|^\W*(?:what changes were proposed|pull request (?:outline|checklist|type)|acceptance criteria\W*$|what is the new behaviou?r)|^motivation:\s*\n(?s:.*)^modifications:`)},
	{"a difference of versions", 3, 1, inText("(?m)^[`~]{3,}(?:diff|suggestion)\\b|^diff --git |^@@ -\\d+(?:,\\d+)? \\+\\d+(?:,\\d+)? @@")},
	{"a task is its title", 2, 1, inText(`\A\W*(?:\[\w+\]:? *|\w+(?:\(\w+\))?: *)?(?:Abort|Add|Allow|Auto|Avoid|Back off|Catch|Change|Clarify|Detect|Document|Drop|Enhance|Enable|Exit|Explain|Expose|Fix|Give|Halve|Handle|Implement|Improve|Include|Introduce|Prevent|Raise|Recover|Reduce|Refactor|Refine|Remove|Report|Rework|Show|Simplify|Support|Tell|Update|Use|Warn)(?:s|ed)?\b[^?\n]{8,}`)},
	{"a manual", 4, 1, inText(`(?m)\A\W*NAME\b(?s:.{0,400})\bDESCRIPTION\b|^NAME\s*$(?s:.*)^DESCRIPTION\s*$|\.SH "?NAME\b`)},
	{"rules for alerts", 4, 1, inText(`(?m)\$labels\.\w|^\s*-? ?alert: \w+\s*$|^kind: PrometheusRule`)},
	{"scenarios of tests", 4, 1, inText(`(?m)\AFeature: [^\n]*\n(?s:.*)^\s*Scenario\b`)},
	{"declarations", 4, 1, inText(`(?m)\A\s*(?:#![^\n]*\n\s*)?(?:"""|\x27\x27\x27)|\bpub enum \w|\benum (?:class )?\w+ ?\{|^Variants§?\s*$|^Defined in:\s*$|^exception [\w.]+#?\s*$`)},
	{"a wish for a feature", 3, 1, inText(`(?i)\A\W*(?:\[?(?:feature(?: request)?|enhancement|proposal|RFC|FR)\b\]?)|\bis your feature request related to a problem\b|\bdescribe the solution you['’]d like\b`)},
	{"a head for a page", 4, 1, inText(`\A---\r?\n(?:[\w-]+:[^\n]*\r?\n){2,}---`)},
	{"it is a page for readers", 4, 1, inText(`(?i)\A\W*(?:FAQs?|frequently asked questions|troubleshooting(?: guide)?)\W*\n|\bthis (?:guide|article|tutorial|document|page|post|chapter|section|runbook) (?:explains|covers|describes|will|lists|addresses|walks|shows)\b|\b(?:in|start) this (?:\w+ )?(?:guide|article|tutorial|blog)\b|\b(?:we are going to|let['’]?s|we will|we['’]ll) (?:discuss|see|look|explore|dive|walk)\b|\bone of the most (?:common|frequent)\b|\bhere are (?:a few|some|the) (?:of the )?(?:most )?common\b`)},
}

// voices are how a text speaks, and how it is laid out. Where nobody speaks there is only a log.
var voices = []mark{
	// What the parts of a text are called.
	{"headings of remedies", 2, 3, inText(headings(`(?:(?:common|possible|quick|suggested|recommended|immediate|typical|likely|proven|other|alternative|root|probable) )*(?:troubleshooting|solutions?|fix(?:es)?|causes?|remed(?:y|ies)|workarounds?|mitigations?|symptoms?|diagnos(?:e|is|tics?)|actions?|resolution|prevention|(?:best )?practices|tips(?: .{1,40})?|what to do|lösung(?:en)?|ursachen?|abhilfe|fehlerbehebung|solutions? possibles?|causes possibles|dépannage|soluci[oó]n(?:es)?|causas?|soluç(?:ão|ões)|oplossing(?:en)?|oorzaken?|решени[ея]|причин[аы]|原因|解决(?:方法|方案|办法)?|解決(?:策|方法)?|対処(?:法|方法)?|対策|해결(?: ?방법)?|원인)(?:[:：].{0,80}| (?:for|of|to|&|and) .{1,40})?|(?:how to|ways to) (?:fix|solve|resolve|prevent|avoid|diagnose|debug|reduce) .{1,60}|(?:what|why) (?:this|the|it|an?|does|is|happens|causes) .{1,60}|key takeaways.*|(?:solution|fix|method|option) #?\d+ ?[:.–-].*`))},
	{"headings of a page", 1, 2, inText(`(?im)^#{1,6} +(?:\d+[.)] +)?(?:usage|installation|requirements|prerequisites|configuration|overview|introduction|conclusion|summary|performance|table of contents|contents|parameters|options|arguments|returns?|features|limitations|known issues|quick ?start|getting started|benchmarks?|roadmap|license|faq|appendix)\W*$`)},
	// Who is spoken to, and how.
	{"it defines the word", 3, 1, inSentences(`(?i)^\W*(?:(?:an?|the) )?(?:linux )?(?:ooms?|oom[- ]?kill(?:ed|er|ing)?|out[- ]of[- ]memory)\b[^.]{0,30}?\b(?:(?:is|are) (?:an?|one of|the)|automatically|occurs? (?:in|when))\b`)},
	{"the reader is told", 1, 4, inSaid(second.source + guidesIn())},
	{"it tells what to do", 1, 4, inText(`(?im)^\s*(?:[-*+•]|\d{1,2}[.)])\s+\W*(?:reduce|lower|decrease|use|set|try|enable|disable|close|update|upgrade|restart|increase|check|kill|move|switch|clear|avoid|run|make sure|ensure|verify|add|consider|free|raise|limit|split|upgrade|install|monitor|stop|turn)\b`)},
	{"what it means", 2, 2, inSaid(`(?i)\b(?:errors?|messages?|exceptions?|codes?|this|it|that|which|oom|memory)\W*\b(?: \w+)? (?:means?|signals?|indicates?|refers? to|stands for|is (?:raised|thrown|caused) (?:when|if|by)|occurs? (?:when|if)|happens? (?:when|if|because))\b`)},
	{"users in general", 1, 2, inSaid(`(?i)\b(?:users?|customers?|developers?|operators?|people|visitors?|callers?)\b`)},
	{"it would be", 1, 3, inSaid(`(?i)\b(?:when|if|once|in case|whenever|unless|should)\b[^.]{0,60}\b(?:oom|out[- ]of[- ]memory|memory|vram)\b`)},
	{"things in general", 1, 2, inSaid(`(?i)(?:^|[.,;] )\W*(?:an?|any|each|every|all|such|most|some) (?:\w+ ){0,2}(?:that|which|whose|may|might|can|could|will|would)\b|^\W*[a-z]+s (?:that|which|whose) \w`)},
	{"nobody speaks", 2, 2, nobodySpeaks},
	{"many kinds of errors", 2, 1, when(manyErrors)},
	// Somebody reports.
	{"somebody tells what happens to him", -2, 3, inSentences(happensToMe + mineIn())},
	{"it was in one run", -2, 2, inSentences(`(?i)\b(?:crash|fail|die|abort|stop)(?:e?d|s|es)?\b[^.]{0,40}\b(?:only|repeatedly|consistently|always|every|each|on the (?:first|second)|at the (?:first|second)|during)\b|\b(?:repeatedly|consistently|always|randomly|immediately) (?:crash|fail|die|abort|stop)(?:e?d|s|es)?\b|\b(?:epoch|step|iteration|iter|batch) #?\d+\b|第 ?\d+ ?个? ?(?:epoch|轮|步|step|batch|张|次)|\b(?:after|at|for) \d+ (?:epochs|steps|iterations|iters|minutes|hours)\b|\b\w+\.py:\d+`)},
	{"something is his", -1, 2, inSentences(`(?i)\b(?:my|our|mine|I have an?|I['’]m using|I am using|I use)\b`)},
	{"help is asked for", -2, 2, inSentences("(?i)" + helpWanted + "|" + asks.source + "|" + question.source)},
	{"a traceback", -4, 1, inText(`(?m)^\W*File "[^"\n]+", line \d+|^\s+at [\w.$<>]+\([\w.]+:\d+\)|^-+> ?\d+ |^\s*\[\d+\] .+ at .+:\d+|^goroutine \d+ \[|^stack backtrace:`)},
	{"a log", -3, 1, inText(`(?m)(?:^[^\n]{0,24}\d\d:\d\d:\d\d[^\n]*\n(?:[^\n]*\n){0,3}){3}`)},
	{"a form for bugs", -3, 1, when(func(r *reading) bool { return form.MatchString(r.text) })},
	{"the versions of a machine", -3, 1, inText(`(?im)(?:^\W*(?:(?:py)?torch|tensorflow|jax|cuda|cudnn|python|os|gpus?|driver|ram|vram|cpu|nvidia\w*|ubuntu|windows|platform)(?: (?:version|info\w*|driver|model|type|name|card))?\W{0,4}[:：=] ?\S*\d[^\n]*\n+){2}`)},
}

// happensToMe is who tells what came over him.
const happensToMe = `(?i)\b(?:I|we)(?: ?['’](?:m|ve|d|re))? (?:(?:am|are|was|were|have|had|do|did|always|still|just|also|then|keep|now|often|sometimes|only|even|constantly|recently|currently|keep on|tried to|try to|can|could)(?:n['’]?t)? )*(?:get|got|getting|encounter\w*|meets?|met|run|ran|running|receiv\w+|fac(?:e|ed|ing)|hit|hitting|(?:see|saw|seen|seeing)\b[^.]{0,60}\b(?:errors?|oom|messages?|memory|crash\w*)|have (?:this|an|the|a) (?:error|problem|issue)|use|used|using|train\w*|try|tried|trying|start\w*|launch\w*|load\w*|fine-?tun\w*|test\w*|notic\w+|install\w*|follow\w*|reduc\w*|lower\w*|not able|unable|stuck)\b|\bi had\b|\b(?:but|and|always|still) (?:get|got)\b|\b(?:now|still|then|and)[, ]+(?:the |an? |this |it )?(?:errors?|gets?|fails?|crash\w*)\b|\b(?:gives|gave|shows|throws|giving|got) (?:me|us)\b|我[^。]{0,20}(?:报错|遇到|跑|训练|运行|出现|使用|用)|报错|请教|跑不通`

// himself is whoever speaks of himself, in any language.
var himself = lazily(ofSelf + mineIn())

var wantsHelp = lazily("(?i)" + helpWanted)

// nobodySpeaks counts how much is written by nobody: sentences without a word of who writes.
func nobodySpeaks(r *reading, _ int) int {
	for _, s := range r.all {
		if himself.MatchString(s.text) || wantsHelp.MatchString(s.text) || question.MatchString(s.text) {
			return 0
		}
	}
	words := 0
	for _, s := range r.said {
		if !s.title && language.MatchString(s.text) {
			words += len(strings.Fields(s.text)) + len(signs.FindAllStringSubmatch(s.text, 40))/2
		}
	}
	if !markup.MatchString(r.text) {
		words /= 2
	}
	switch {
	case words >= 80:
		return 2
	case words >= 28:
		return 1
	}
	return 0
}

// language are small words, which no program needs, or the signs of scripts without blanks, two of which are about a word.
var (
	language = lazily(`(?i)\b(?:the|an?|is|are|to|of|and|for|it|that|with|der|die|das|und|ist|la|le|les|el|de|des|est|en|het|een)\b|[\p{Han}\p{Hiragana}\p{Hangul}\p{Cyrillic}]`)
	signs    = lazily(`[\p{Han}\p{Hiragana}\p{Katakana}]`)
)

// errorNames are names of errors.
var errorNames = lazily(`\b\w+(?:Error|Exception)\b|\bE[A-Z]{4,8}\b|\b[A-Z]+_(?:ERROR|FAILED|STATUS)\w*\b`)

// manyErrors: a text names errors of several kinds, as lists of what can go wrong do.
func manyErrors(r *reading) bool {
	var names []string
	for _, at := range errorNames.FindAllStringSubmatch(r.text, 64) {
		if !slices.Contains(names, at[0]) {
			names = append(names, at[0])
		}
	}
	return len(names) >= 4
}

// place is where an event stands in a text.
type place struct {
	*reading
	e     sampler.OOMEvent
	line  string
	index int
}

// before and after are the lines around it.
func (p *place) around(from, to int) []string {
	return p.lines[min(max(0, p.index+from), len(p.lines)):min(max(0, p.index+to), len(p.lines))]
}

// spot is a mark of a place.
type spot struct {
	why    string
	weight int
	is     func(p *place) bool
}

var (
	// conditional makes of a sentence or of the lines before it what would be.
	conditional = lazily(`(?i)(?:^|[^\w])(?:if|whenever|in case|should|unless|wenn|falls|sollte|si|en cas|lorsque|cuando|se|quando|als|wanneer|indien|если|когда)\s+\S|如果|若|当[^前]|場合|とき|経우|경우|하면`)
	// ofMarkup begins a heading or a quotation, which programs print as rarely.
	ofMarkup = lazily(`^\s*(?:#{1,6} \w|\|)`)
	// instructs is a remedy as an order.
	instructs = lazily(`(?i)^\s*(?:[-*+•>]|\d{1,2}[.)])?\s*\W*(?:solutions?|fix(?:es)?|try|reduce|lower|decrease|use|set|increase|causes?|diagnose|actions?|workarounds?|remed(?:y|ies)|resolution|what to do|how to (?:fix|solve)|check)\b`)
	// topic is a heading with nothing but what failed.
	topic = lazily(`(?i)^(?:#{2,6}\s|\*\*).*\b(?:oom|out[ -]of[ -]memory|memory|vram|gpu|cuda|error)\b`)
	// stringInCode is a message within quotes on a line of a program.
	stringInCode = regexp.MustCompile(`(?:[(\[{,=:]|return|in)\s*[frbuL@$]{0,2}["'\x60][^"'\x60]*$`)
	onlyQuote    = lazily(`^\s*[frbuL]{0,2}["'\x60](?:[\w.]+: )?$`)
	ofSource     = lazily(`[;{})\]],?\s*$|^\s*(?:def|class|if|for|assert|return|import|from|var|let|const|public|private|func|fn|with|try|except|catch|else|async|await|expect|it|test)\b|^\s*\w[\w.]* :?= |\w\(`)
)

var spots = []spot{
	{"a string of a program", 8, inProgram},
	{"a comment of a program", 8, func(p *place) bool {
		return note.MatchString(p.line) && program.MatchString(p.text) && !slices.ContainsFunc(p.all, func(s sentence) bool { return !s.title })
	}},
	{"it is quoted", 2, func(p *place) bool {
		return p.e.Extra["told"] == nil && cited.MatchString(p.line) && !native.MatchString(p.line)
	}},
	{"it would be", 2, func(p *place) bool {
		before, _, is := strings.Cut(p.line, p.e.Text[:min(len(p.e.Text), 12)])
		before = before[strings.LastIndex(before, ". ")+1:]
		return is && conditional.MatchString(before) && !first.MatchString(before)
	}},
	{"remedies stand below", 2, func(p *place) bool {
		n := 0
		for _, l := range p.around(1, 8) {
			if instructs.MatchString(l) && !first.MatchString(l) {
				n++
			}
		}
		return n >= 2
	}},
	{"under the name of the failure", 1, func(p *place) bool {
		for _, l := range p.around(-5, 0) {
			if topic.MatchString(l) && p.index > 0 {
				return true
			}
		}
		return false
	}},
}

// program begins a text that is a program, and note is a comment in one.
var (
	program = lazily(`\A\s*(?:(?:#|//)[^\n]*\n\s*)*(?:import [\w.]+|from [\w.]+ import\b|#include\b|package \w+\s*$|def \w+\(|class \w+)`)
	note    = lazily(`^\s*(?:#|//|\*)\s`)
)

// cited is a line that only quotes an error: in quotes or a cell of a table.
var cited = lazily(`(?i)^\s*\|.*` + citedError + `.*\|\s*$|["'“\x60]` + citedError + `["'”\x60]`)

// citedError is an error with nothing behind it.
const citedError = `(?:[\w.]+: )?(?:cuda |gpu |hip )?(?:error: ?)?(?:out of memory|outofmemoryerror)\.?`

// native is what a program prints around an error that it quotes: its level, a call, a place, a state.
var native = lazily(`\d\d:\d\d:\d\d|\bin func\b|\[ERROR\]|\bUNAVAILABLE\b|\w\(CUDA_ERROR_|::\w+\(|\.(?:cpp|cc|cuh?|hp?p?|rs|py|go):\d+\b|\bErr\(`)

// inProgram: the message is a text in quotes on a line of source, with lines of source around it.
func inProgram(p *place) bool {
	at := strings.Index(p.line, p.e.Text[:min(len(p.e.Text), 12)])
	if at < 0 {
		return false
	}
	before := p.line[:at]
	if p.index > 0 && onlyQuote.MatchString(before) {
		before = strings.TrimSpace(p.lines[p.index-1]) + before
	}
	if !stringInCode.MatchString(before) {
		return false
	}
	n := 0
	for _, l := range p.around(-4, 5) {
		if ofSource.MatchString(l) {
			n++
		}
	}
	return n >= 4
}

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

// sum is what marks weigh together in a text.
func (r *reading) sum(marks []mark) (weight int) {
	for _, m := range marks {
		weight += m.weight * min(m.of(r, m.most), m.most)
	}
	return weight
}

// judge weighs a text once, for all of its events.
type judge struct {
	reading
	known  bool
	weight int
}

func newJudge(text string, all []sentence) *judge {
	return &judge{reading: newReading(text, all)}
}

// about says whether an event is of a text about failures.
func (j *judge) about(e sampler.OOMEvent) bool {
	if !j.known {
		j.known = true
		j.weight = j.sum(genres)
		if len(j.all) > 0 {
			j.weight += j.sum(voices)
		}
	}
	weight := j.weight
	if e.Line > 0 && e.Line <= len(j.lines) {
		p := &place{&j.reading, e, j.lines[e.Line-1], e.Line - 1}
		for _, s := range spots {
			if s.is(p) {
				weight += s.weight
			}
		}
	}
	return weight > proof(e)
}
