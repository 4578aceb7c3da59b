package oomlog

import (
	"strings"
)

// The guard refuses words about memory that are no failure: source lines, hints, help, questions,
// counters, commit messages. It looks at the line the message begins on. Every list below is one
// pattern per kind of text; a new kind is one more entry and a pair of files in testdata/oom/negative.

var sourceBefore = gatedAnyOf(`(?i)`,
	`\braise\s`, `\bexcept\s`, `\bexcept\(`, `\bthrow\s`, `\bcatch\s*\(`, `\bcatch\s`, `\bprintf?\(`, `\bassert[\s(]`,
	`\blogg?(?:er|ing)?\.\w+\(`, `\bwarnings?\.warn\(`, `\becho\s`, `\bgrep\s`, `\bif\s+["'(]`, `\bin\s+str\(`,
	`==\s*["']`, `\.args\[`, `\bisinstance\(`, `\bfprintf\(`, `\bconsole\.\w+\(`, `std::cerr`, `std::cout`, `\bf"[^"]*$`,
	`\bf'[^']*$`, `#define`, `TORCH_CHECK`, `@[\w.]+\(`, `(?-i:(?:^|[^\w])(?:\w+\.)*[a-z_]\w*!?\((?:(?:[^()"']|"[^"]*"|'[^']*')*,\s*)?[frbu]{0,2}["']$)`, `AT_ERROR`,
	`PADDLE_THROW`, `\breturn\s+["'fr]`, `;\s*(?://|/\*)`, `(?-i:\b(?:EXPECT|ASSERT)_[A-Z_]+\()`, `\.startswith\(`, `\.match\(`, `re\.compile\(`, `\.search\(`, `pytest\.raises`,
	`assertRaises\w*\(`, `["']oom["']\s*:\s*["']$`, `(?-i:^[A-Z][A-Z_]{2,}\s*=\s*[{\[(])`, `(?-i:\s:?=\s(?:\w+\.)*\w+\((?:[^()"']|"[^"]*"|'[^']*')*[frbu]{0,2}["'](?:\[[\d. ]+\] *)?(?:[\w. ]+: *|[\w.]+\()*$)`, `(?-i:(?:^|[^\w])(?:\w+\.)*[a-z_]\w*!?\((?:(?:[^()"']|"[^"]*"|'[^']*')*,\s*)?[frbu]{0,2}["'](?:\[[\d. ]+\] *)?(?:[\w. ]+: *|[\w.]+\()+$)`, `(?-i:\b\w+\.(?:Contains|ErrorContains|HasPrefix|Errorf?|Fatalf?|New|Print\w*|Sprint\w*|Fprint\w*|Write\w*|Equal\w*|That)\((?:(?:[^()"']|"[^"]*"|'[^']*')*,\s*)?["']$)`, `(?-i:\bnew \w+\(["']$)`, `(?-i:\b(?:it|test|describe|context|t\.Run)\(["'][^"']*$)`, `\b(?:side_effect|return_value|match|help)\s*=\s*(?:[\w.]+\()?r?["'](?:[\w.]+Error: )?$`, `^\s*import\s`, `^\s*from\s+\S+\s+import\s`, `(?-i:\b[A-Z][A-Z_]{3,}\s*=\s*[rbf]?["'])`, `(?-i:^\s*[A-Z][A-Z_]{3,}\s*=\s*$)`, `(?-i:[A-Z]\w*(?:Error|Exception)\("$)`, `(?-i:\w\(\{"[^{}]*$)`, `[:=(,]\s*r?["'/][^"'/]*\w\|$`,
)

// allocator begins the message of PyTorch's allocator.
var allocator = pattern(`(?i)(?:CUDA|HIP|XPU|NPU|GPU) out of memory\. ?$`)

// printedAfter is the type of an exception as a traceback prints it, in a traceback that was pasted
// into one line: what stands before it is the source line that raised it.
var printedAfter = pattern(`(?-i:[)"']\s+(?:from\s+\w+\s+)?(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): *$)`)

// sourceAfter is source code behind the message, or a definition of it.
var sourceAfter = anyOf(`(?i)`,
	`^\s*=\s*-?\d+,?\s*$`,
	`^\);`,                 // the end of a statement
	`^\s*=\s*\w+\.\w+\(\)`, // a member of an enumeration
	`^["'\x60)*]*\s+(?:means?|indicates?|usually|often|typically|happens|refers|is (?:raised|thrown|shown|printed|returned|reported))\b`,
	`^["'\x60)*]*[,.]?\s+(?:(?:it|this|which|in \w+) means\b|this exit code\b|an? oom[- ]?killed \w+ (?:may|can|will)\b|is an? (?:\w+ ){0,2}(?:feature|mechanism|event|status|state|signal)\b)`,
	`^\)*,? (?:among others|and others|etc\b)`,
	`^["'\x60]*\s+(?:exceptions?|errors?)(?: and (?:throw|rais)\w* it\b|, which an? \w+ (?:might|may|can|could)\b)`,
	`^["'\x60)*]*\s*\|\s*[A-Za-z][^|]*\|\s*$`,       // the next cell of a table that explains it
	`^[^|]{0,60}\|[^|]{0,60}[^\x00-\x7f]{2}[^|]*\|`, // the same in scripts that are not Latin
	`^[^.]{0,60}(?:["']\s*in\s+(?:str|repr|e\b|err|msg|ex\b|exc|exception|error|message)|["']\s*not in\s|\bin str\(|\bas e\s*:|\bas err\s*:|\bas ex\w*\s*:|\{e\}|\{str\(e\)|%s|%d|\{[\w.]+(?::\.\d+f)?\})`,
)

// pasted is an error as a traceback prints it, kept as a comment.
var pasted = pattern(`^#+\s*(?:[a-z_]\w*\.)+\w*(?:Error|Exception):\s`)

// comment is a line that only a programmer reads.
var comment = pattern(
	`^(?://|/\*|<!--|;;|\*\s.*\*/|\*\s+(?:\\\w+\s+)?-\s+[A-Z][A-Z_]+:|#(?:\s+[a-z]|\s*(?:TODO|NOTE|FIXME|If|When|In case|To|Avoid)))`,
)

// A quoted text that is a whole line, with a comma behind it: an entry of a table in a program.
var (
	entryBefore = pattern(`^\s*(?:(?:\d+|[A-Z][A-Z_]+(?: - [A-Z_]+)?):\s*)?[rbf]?["']$`)
	entryAfter  = pattern(`^["'],\s*$`)
)

// hypothesis is a sentence in which the failure is only talked about. Figures of a GPU outweigh it.
var hypothesis = gatedAnyOf(`(?i)`,
	`\b(?:if|when|whenever|once|unless)\s+(?:you|the|your|we|it|there|this|that|a|an|i|u|users?|training|one|still|running|getting|any|gpu|cuda)\b`,
	`\bin\s+case\s+(?:of|you)\b`, `\b(?:avoid|avoids|avoiding|prevent|prevents|preventing|mitigate|against)\b`,
	`\b(?:may|might|could|can|will|would|should)\s+(?:\w+\s+){0,3}$`,
	`\b(?:may|might|could|can|would)\s+(?:cause|lead|result|run|get|see|raise|throw|fail|produce|encounter|trigger|hit|be|happen|occur)\b`,
	`\bto\s+(?:fix|solve|resolve|reproduce|work around|handle|reduce|debug|troubleshoot|diagnose|address)\b`,
	`\b(?:tip|hint|note|faq|q|question|advice|example|e\.g\.|troubleshooting|help|usage|todo|feature|fixed|fixes|fix|closes|bug report|expected|description|title)\s*(?:\([^)]*\))?\s*[:：-]`,
	`--[\w-]+[ =]`, `\b(?:no|without|never|not|zero)\s+(?:\w+\s+){0,3}$`, `\bhow\s+(?:to|do|can|should)\b`, `\bwhy\b`,
	`\?\s*$`, `\bdo(?:es)?\s+(?:you|i|anyone)\b`, `\bhas anyone\b`,
	`\bI\s+(?:get|got|have|had|keep|am|was|encounter\w*|face\w*|see|saw|met|run|ran|also|always|still|want|think|tried|try|use|used|noticed|'m)\b`,
	`\bI'm\b`, `\bwe\s+(?:get|got|see|saw|hit|ran|keep|catch|handle|retry)\b`, `\bsuch\s+as\b`,
	`\b(?:error|errors|exception)s?\s+(?:like|such)\b`,
	`\b(?:handle|handles|handling|handled|catch|catches|catching|ignore|simulate|simulated|mock|fake|detect|detects|report|reports|classif\w+|improve|add|adds|added|support)\b`,
	`\bmeans\b`, `\bthreshold\b`, `\bcheck\s+(?:if|whether|for)\b`, `\bresult(?:s|ing)?\s+in\b`, `\bcaus(?:es|ing)\b`,
	`\blead(?:s|ing)?\s+to\b`, `\brun(?:s|ning)?\s+into\b`, `\brather\s+than\b`, `\binstead\s+of\b`,
)

// strongHypothesis holds even with numbers: the sentence says outright that it is an example.
var strongHypothesis = gatedAnyOf(`(?i)`,
	`\b(?:if|when|whenever)\s+(?:you|your|one|u|users?)\b(?:\W+\w+){0,6}\W*$`, `\bin\s+case\s+(?:of|you)\b`,
	`\bfor\s+example\b`, `\berrors?\s+(?:like|such\s+as)\b`,
	`\b(?:may|might|could)\s+(?:see|get|cause|raise|throw|fail|encounter|result)\b`,
	`\bto\s+(?:avoid|prevent|fix|solve)\b[^.]*$`, `^\W*(?:tip|hint|note|faq|q|example|todo|troubleshooting|known issues?|limitations?)\s*[:：]`, `^\W*(?:if|when|whenever|should)\s+$`,
	`\bwhose messages? (?:starts?|begins?) with\b`, `\b(?:typical|common|usual) (?:error )?messages?\b[^:]{0,30}:\s*(?:\w+Error: )?$`, `^\W*tl;dr\b`,
)

// placeholder stands where a message has a figure, in what documents it. Who takes out one of the figures of his own leaves others.
var placeholder = pattern(`(?i)\ballocate (?-i:X+(?:\.X+)?|N+(?:\.N+)?|\x3c[\w .-]+>|\{[\w.:]*\}|…|\.\.\.|\?+|_+) ?(?-i:[KMGT]?i?B\b|bytes)`)

// docstring is a text that says what a piece of a program does.
var docstring = pattern(`^[rf]?(?:"""|\x27\x27\x27).*(?:"""|\x27\x27\x27)$`)

// errorBefore is what stands before an error when a program prints it.
var errorBefore = pattern(`(?i)(?:^|[\s"'\x60(\[{>,;:|/.])(?:[\w.]*(?:Error|Exception|Failure|Fault|Warning|Abort\w*|OOM\w*)|what\(\)|error|fatal|critical|panic|failed|failure|` +
	`exception|terminate[d]?|aborted|crash(?:ed)?|reason|message|msg|err|cause|detail|details|stderr|traceback|status|warning|output|` +
	`returned)(?:\s*\d+)?["'\x60]*\s*(?:\([^()]{0,80}\))?\s*(?:[:=\-–(>]+|\bwith\b)\s*[bru]?["'\x60({\[]*\s*$|\[[^\]]{1,120}:\d+\]\s*$|^\W{0,3}\[Bug\]\W*$|` +
	`\b(?:GPU|rank|device|worker|node|process) ?#?\d+:?\s*$|\bthrowing an instance of ['"]?$`)

// happened are words in front that say that it did.
var happened = pattern(`(?i)(?:\b(?:failed|error(?:ed)?|crashed|aborted|died|caught|occurred|raised|thrown|fatal|unable|exit(?:ed)?|terminated)\b|\bexceptions?\W*$)`)

// ended is what may stand behind a message without numbers: nothing, punctuation, a place.
var ended = pattern(`^[\s"'\x60)\]}>*_]*(?:$|[.!;,:(\[{|\\]|error\s*[.!]*\s*$|at\s|in\s|on\s|when calling|-|–|—|<|←|#|at$)`)

// named is an error by its class alone in front, and occasion when it came, as titles have it: what a program prints ends there.
var (
	named    = pattern(`^\W*(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): *$`)
	advises  = pattern(`(?i)\b(?:means?|you|your|lower|reduce|use|set|try|how to|solved|should|may|can|could|retry\w*)\b|\b(?:is|are) too \w+`)
	occasion = pattern(`^\s+(?:when|while|during|under|after|with|for|even|despite|although|though|using|from|since|inside|as soon as)\s+\S[^?]*$`)
)

// heading: headings and check boxes of Markdown only name a topic.
var heading = pattern(`^(?:#{1,6}\s|[-*]\s*\[[ xX]?\])`)

// introduced ends a line of documentation that shows below it what a message looks like.
var introduced = pattern(`(?i)(?:\binstead of|\brather than|\bbecomes?(?: as follow(?:s|ing)?)?|\bfor (?:example|instance)|\be\.g\.|\bexpected(?: output| message| error)?|` +
	`\bshould (?:be|print|raise|read|look like|say)|\bwould (?:be|print|raise|read|look like|say)|` +
	`\b(?:may|might|could|can) (?:also )?(?:see|get|encounter|be|look like)[^:]{0,60}|\b(?:if|when) (?:you|your|users?) [^:]{1,80})(?: this| that| the following)?\W*:\W*$`)

// shown ends a line of documentation too, and what it shows may stand in a fence below it.
var shown = pattern(`(?i)\b(?:(?:indicated|marked|recognized|signal+ed) (?:as follows|like this|by)|(?:is|are) (?:shown|reported|logged) (?:as follows|like this))\W*:\W*$`)

// literal is a line of source that is a text and nothing else: an entry of a list, or what a name stands for.
var literal = pattern(`^(?:\w+(?:\.\w+)* \+?= \(?[rbf]?(?:"[^"]*"|'[^']*')\)?;?|[rbf]?(?:"[^"]*"|'[^']*'),)$`)

// argument is a text that stands alone on its line, and called ends the line before it in the source of a program.
var (
	argument = pattern(`^[rbf]?(?:"[^"]*"|'[^']*')\)*,?$|^(?:\w+\.)+\w+,?$`)
	called   = pattern(`\w\(+$|= ?\($`)
)

// symptom and remedy stand around a message in a list of what can go wrong, whatever its language.
var (
	symptom = pattern(`(?i)\b(?:symptoms?|s[ií]ntoma|symptôme)\W*:|(?:симптом|现象|症状|증상)\W*[:：]`)
	remedy  = pattern(`(?i)\b(?:cause|reason|fix|solution|remedy|causa|soluci[oó]n|ursache|lösung)\W*:|(?:причина|лечение|решение|原因|解决|対処|원인|해결)[^:：]{0,6}[:：]`)
)

// conditional behind a message says when it would be printed.
var conditional = pattern(`^["'\x60)*]*\s+if\s`)

// issueNumber behind a message makes the line one of a list of issues or changes.
var issueNumber = pattern(`\s\(?#\d{2,}\b`)

// placed is what a program prints behind an error when it says where it came from.
var placed = pattern(`^["'\x60)]*\s*(?:when calling [\x60']?\w+\s?\(|at \S+\.\w{1,4}:\d+)`)

// status is what a library of CUDA returns, which stands in no title of a page.
var status = pattern(`\bCU(?:DNN|BLAS)_STATUS_ALLOC_FAILED\b`)

// sourcePlace is a line of a source file within a message.
var sourcePlace = pattern(`\.(?:cuh?|cpp|cc|cxx|hpp|h|lua):\d+`)

// openText has no word in it.
var openText = pattern(`^[\s\W]*$`)

// isFailure says whether a message that matched is a report of a failure; text is all of it, and body what the row sees.
func isFailure(m *message, c candidate, f *findings, text, body part) bool {
	head := text.cut(0, len(m.lines[0]))
	if head.text != m.head {
		head = (&whole{text: m.head}).all()
	}
	front := head.cut(0, min(c.at, len(head.text)))
	if strings.HasSuffix(strings.TrimRight(front.text, " "), "emory.") { // a row that begins at its request
		front = front.cut(0, len(front.text)-len(allocator.FindString(front.text)))
	}
	before := front
	if n := strings.LastIndex(before.text, ". "); n >= 0 && len(before.text)-n > 3 && !errorBefore.in(before) {
		before = before.cut(n+2, len(before.text)) // the sentence it stands in
	}
	line := head.trimmed()
	begin, end := c.row.start.re.beginsIn(body)
	matched := body.cut(max(begin, 0), max(end, 0))
	at := c.at + max(0, strings.Index(m.lines[0][min(c.at, len(m.lines[0])):], matched.text)) // the copy that is kept may be a later one
	after := text.cut(min(at+len(matched.text), len(m.lines[0])), len(m.lines[0]))            // on the same line
	numbers := f.Requested.Known() || f.more
	titled := m.first.number == 1 && strings.HasPrefix(line.text, "# ") && (numbers || f.Extra["shape"] != nil || !c.row.loose && (openText.in(before) || errorBefore.in(before)) || status.in(matched) && errorBefore.in(before))
	if sourceBefore.in(before) && !printedAfter.in(before) || sourceAfter.in(after) || comment.in(line) && !pasted.in(line) && !titled && !f.more || strongHypothesis.in(before) && !(titled && f.more) {
		return false
	}
	if entryBefore.in(front) && entryAfter.in(after) || placeholder.in(body) && !f.more || docstring.in(line) || !f.more && argument.in(line) && called.in(m.intro) {
		return false
	}
	if !numbers && (!m.fenced && introduced.in(m.intro) || shown.in(m.intro) || conditional.in(after) || literal.in(line) || symptom.in(before) && remedy.in(after)) {
		return false
	}
	numbers = numbers || placed.in(after) || sourcePlace.in(matched)
	switch {
	case !c.row.loose || f.more: // figures of a GPU: nobody makes them up
		return true
	case !numbers && m.explained():
		return false
	case !numbers && (heading.in(line) && !titled || issueNumber.in(after)):
		return false
	case !numbers && (hypothesis.in(before) || strings.HasSuffix(line.text, "?")):
		return false
	case openText.in(before) || errorBefore.in(before):
		return numbers || ended.in(after) || named.in(before) && occasion.in(after) && !advises.in(after)
	}
	return numbers || (happened.in(before) && ended.in(after))
}

// helpHeading begins the answer of a troubleshooting page.
var helpHeading = pattern(`(?i)^[\W\d]*(?:solutions?|fix(?:es)?|workarounds?|resolution|remed(?:y|ies)|how to fix|what to do|possible causes?|causes?|symptoms?)\b[^.]{0,40}:`)

// explained says whether the lines after a message are those of a help page, not of a log.
func (m *message) explained() bool {
	for _, l := range m.lines[1:min(len(m.lines), 6)] {
		if helpHeading.MatchString(l) {
			return true
		}
	}
	return false
}
