package oomlog

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"nvpeak/sampler/needed"
)

// origin is who printed a line, as far as its prefix tells.
type origin struct {
	key  string // stream: lines with the same key belong together
	rank int    // -1: unknown
	pid  int    // 0: unknown
}

// line is one clean line without its prefixes.
type line struct {
	text   string // without prefix, borders and quoting
	part   part   // the same, as a part of what was read
	origin origin
	number int  // in the file, from 1
	indent int  // blanks before the text
	logged bool // a logger's prefix (time, level) was removed
}

// prefixForm is one kind of thing that stands before the text of a line. The groups rank, pid and key
// are by name; whatever matches is removed, again and again, until nothing does.
type prefixForm struct {
	re     *lazy
	stream bool // the whole prefix tells streams apart
	signs  func() signs
}

// signs are ASCII signs other than letters.
type signs [2]uint64

func (s *signs) add(c byte) {
	if c < utf8.RuneSelf && !isLetter(c|0x20) {
		s[c>>6] |= 1 << (c & 63)
	}
}

// signsOf are those that a text that a pattern matches must have.
func signsOf(source string) (all signs) {
	for _, words := range needed.DemandsOf(parse(source), false) {
		if len(words) == 1 {
			for i := range len(words[0]) {
				all.add(words[0][i])
			}
		}
	}
	return all
}

// signsIn are those of a text, and its letters.
func signsIn(text string) (all signs) {
	for i := range len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			all[c>>6] |= 1 << (c & 63)
		}
	}
	return all
}

// without says that a sign is missing.
func (s *signs) without(need signs) bool { return need[0]&^s[0]|need[1]&^s[1] != 0 }

func form(text string, stream bool) prefixForm {
	source := `^\s*(?:` + text + `)`
	return prefixForm{pattern(source), stream, sync.OnceValue(func() signs { return signsOf(source) })}
}

const (
	maxForms  = 8   // before a text
	formBytes = 300 // of a form
)

// prefixForms, in the order they are tried.
var prefixForms = []prefixForm{
	// torchrun, torch.distributed and elastic roles
	form(`\[(?:rank|default|trainer|worker|node\d+:)(?P<rank>\d{1,4})\](?::|\s)\s?`, true),
	form(`\[[a-z0-9_.-]+:(?:rank)?(?P<rank>\d{1,4})\]:\s`, true),
	form(`(?i:\[?(?:global[ _])?rank[ :=_]{0,2}(?P<rank>\d{1,4})(?:/\d+)?\]?\s*(?:[:|>\]-]+|\s)\s?)`, true),
	form(`(?:\[[^\[\]]{1,60}\] ?){1,4}\[(?i:rank)[ :=_-]?(?P<rank>\d{1,4})\]:?\s*`, true),
	// mpirun --tag-output, horovodrun
	form(`\[\d+,(?P<rank>\d{1,4})\](?:<std(?:err|out)>)?:\s?`, true),
	form(`\[\d+\]<std(?:err|out)>:\s?`, false),
	// srun --label
	form(`(?P<rank>\d{1,3}): +`, true),
	// Ray, vLLM, SGLang
	form(`\(rank[ =]?(?P<rank>\d{1,4})\)\s`, true),
	form(`\((?:\w*? ?(?:TP|_TP|rank[ =_]?)(?P<rank>\d{1,4})\w*|[A-Za-z_][\w.:<>]*)(?:\[[^\]]*\])? (?:rank=(?P<rank2>\d+),? ?)?pid=(?P<pid>\d+)(?:, ?ip=[\d.:a-f]+)?\)(?:\s*\[repeated \d+x[^\]]*\])?:?\s?`, true),
	form(`\((?:Vllm|VLLM)?[A-Za-z]*(?:Worker\w*|Proc\w*) rank=(?P<rank>\d+)(?:,? pid=(?P<pid>\d+))?\)\s?`, true),
	form(`\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]*(?: DP\d+)?(?: PP\d+)? TP(?P<rank>\d{1,3})(?: [A-Z]+\d+)*\]\s*`, true),
	form(`\[?(?:DP\d+[ _])?TP(?P<rank>\d{1,3})(?:[ _]\w+)?\]?:?\s`, true),
	// vLLM: "ERROR 04-27 10:11:03 [core.py:123] ", the old "engine.py:70] "
	form(`(?:INFO|WARNING|ERROR|CRITICAL|DEBUG) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? (?:\[[^\]]+:\d+\]|[\w./]+\.py:\d+\])(?: \[(?:PID: ?(?P<pid>\d+)|[^\]]+)\])? ?`, false),
	// level words
	form(`\[(?i:info|warn|warning|error|critical|fatal|debug|trace|stderr|stdout)\][ :|-]*`, false),
	form(`(?i:info|warn|warning|critical|fatal|debug|trace|stderr|stdout)\s*(?:[:|]|-\s)\s*`, false),
	form(`ERROR\s*(?:\||-\s|:\s|\s)\s*`, false),
	form(`(?:stderr|stdout) [FP] `, false),
	// json-file of Docker
	form(`\{"(?:log|message|msg|line|text)": ?"`, false),
	// docker compose, kubectl logs --prefix, podman
	form(`(?P<key>\d*[A-Za-z][\w.-]{1,60}) {1,24}\|\s`, true),
	// line numbers and epoch milliseconds of log viewers
	form(`\d{1,7} {1,24}\|\s(?:\d{10,19} {1,24}\|\s)?`, false),
	form(`\[pod/(?P<key>[\w./-]+)\]\s`, true),
	// journald and syslog
	form(`[A-Za-zà-ÿ]{3,4}\.? {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)? [\w.:-]+ (?P<key>[\w./@-]+?)(?:\[\d+\])?: ?`, true),
	form(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d) [\w.-]+ (?P<key>[\w./@-]+?)\[\d+\]: ?`, true),
	// kernel ring buffer
	form(`(?:<\d+>)?\[ *\d+\.\d{3,9}\] ?`, false),
	form(`\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\] ?`, false),
	// timestamps of CI and of loggers
	form(`\[?\(?\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?UTC| ?[+-]\d\d:?\d\d)?\)?\]?(?:[ ,;|:>-]+|$)`, false),
	form(`\[?\d\d[-/]\d\d[-/]\d\d(?:\d\d)? \d\d:\d\d:\d\d(?:[.,]\d+)?\]?[ ,:|-]+`, false),
	form(`\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?[ :|-]+`, false),
	form(`\[?(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d(?: [A-Z]{3,4})? \d{4}\]?[ :|-]+`, false),
	form(`\[[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d\] ?`, false),
	form(`[IWEF](?:\d{4}){1,2} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\] ?(?:\[[^\]]{0,40}\] ?)?`, false),
	// names of loggers
	form(`\|\s`, false),
	form(`SUBPROCESS:\s?`, false),
	form(`\[[\w./ -]{1,60}\.(?:py|cc|cu|cpp|go|rs|c)(?::\d+)?(?::\w+)?(?:\(\))?\](?:\s*\[?PID:\d+\]?)?[ :-]*`, false),
	form(`\[\w{1,20}-\d{1,3}\] `, true),
	form(`[\w.]{1,60}:[\w\x3c>.]{1,60}:\d+ - `, false),
	form(`(?:root|[\w.-]{2,40})[:-] ?\d{1,6}- `, false),
}

// unprefix removes the prefixes of a clean line.
func unprefix(p part) (part, origin, bool) {
	o := origin{rank: -1}
	logged := false
	found := p.ask(question{asks: itsPrefixes}, func() [][]int { return prefixes(p.text) })
	body := found[len(found)-1]
	for _, one := range found[:len(found)-1] {
		f := &prefixForms[one[0]]
		o.take(f, p.text[one[1]:], one[2:])
		logged = logged || !f.stream
	}
	return p.cut(body[0], body[1]), o, logged
}

// prefixes are those of a text: which form it is, where its frame ends and where it is from there; and at last where what they
// leave begins and ends. No form asks for a digit.
func prefixes(text string) (found [][]int) {
	has := signsIn(text[:min(len(text), maxForms*formBytes)])
	begin, end := 0, len(text)
	for range maxForms {
		from, to := unframe(text[begin:end])
		begin, end = begin+from, begin+to
		if !mayPrefix(text[begin:end]) {
			break
		}
		at, i := firstForm(text[begin:end], &has)
		if at == nil {
			break
		}
		found = append(found, append([]int{i, begin}, at...))
		begin += at[1]
	}
	return append(found, []int{begin, end})
}

// mayPrefix spares the forms a line that cannot have one: they all begin so.
func mayPrefix(s string) bool {
	t := strings.TrimLeft(s, " ")
	return t != "" && len(s)-len(t) < 12 && (t[0] < 0x80)
}

// firstForm is the first form at the beginning of a text that has no other signs than these, and which one it is.
func firstForm(text string, has *signs) (at []int, which int) {
	head := strings.ToValidUTF8(text[:min(len(text), formBytes)], "")
	for _, i := range formsOf()[strings.TrimLeft(head, blanks)[0]] {
		f := &prefixForms[i]
		if has.without(f.signs()) {
			continue
		}
		if at := f.re.FindStringSubmatchIndex(head); at != nil {
			return at, i
		}
	}
	return nil, 0
}

// formsOf are the forms that can have a byte as their first but blanks, in the order they are tried.
var formsOf = sync.OnceValue(func() *[256][]int {
	var forms [256][]int
	for i := range prefixForms {
		for c := range forms {
			if prefixForms[i].re.fast().first.has(byte(c)) {
				forms[c] = append(forms[c], i)
			}
		}
	}
	return &forms
})

func (o *origin) take(f *prefixForm, s string, at []int) {
	for i, name := range f.re.fast().names {
		if name == "" || at[2*i] < 0 {
			continue
		}
		v := s[at[2*i]:at[2*i+1]]
		n, err := strconv.Atoi(v)
		switch {
		case (name == "rank" || name == "rank2") && err == nil && o.rank < 0:
			o.rank = n
		case name == "pid" && err == nil && n > 0:
			o.pid = n
		}
	}
	if f.stream {
		o.key += strings.TrimSpace(s[at[0]:at[1]])
		o.key = stableKey(o.key)
	}
}

var keyNoise = pattern(`[A-Za-zà-ÿ]{3,4}\.? {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]*|\[repeated \d+x[^\]]*\]|\s+`)

// stableKey drops from a stream's name what changes with every line.
func stableKey(k string) string {
	switch {
	case !strings.ContainsAny(k, blanks+"-"): // all noise has one of them
	case strings.Contains(k, ":") || strings.Contains(k, "[repeated"):
		k = keyNoise.ReplaceAllString(k, "")
	default: // it can only be blanks
		k = strings.Join(strings.FieldsFunc(k, func(r rune) bool { return strings.ContainsRune(blanks, r) }), "")
	}
	return k[:min(len(k), 120)]
}

// toLine makes the line of a clean text.
func toLine(p part, number int) line {
	body, o, logged := unprefix(p)
	indent := len(body.text) - len(strings.TrimLeft(body.text, blanks))
	body = body.cut(indent, max(indent, len(strings.TrimRight(body.text, " "))))
	return line{text: body.text, part: body, origin: o, number: number, indent: indent, logged: logged}
}

// distinct says whether a stream's name tells processes apart: it has a number in it.
func distinct(key string) bool { return strings.ContainsAny(key, "0123456789") }
