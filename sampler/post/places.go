package post

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// place is where an event stands in a text.
type place struct {
	*reading
	e     sampler.OOMEvent
	line  string
	index int
}

// around are the lines from so many before it to so many after it.
func (p *place) around(from, to int) []string {
	return p.lines[min(max(0, p.index+from), len(p.lines)):min(max(0, p.index+to), len(p.lines))]
}

// spot is a clue in a place.
type spot struct {
	why    string
	weight int
	is     func(p *place) bool
}

var (
	// conditional makes of a sentence or of the lines before it what would be.
	conditional = lazily(`(?i)(?:^|[^\w])(?:if|whenever|in case|should|unless|wenn|falls|sollte|si|en cas|lorsque|cuando|se|quando|als|wanneer|indien|если|когда)\s+\S|如果|若|場合|とき|경우|하면`)
	// leads is a line above an example.
	leads = lazily(`(?i)\b(?:ex[ae]mples?|e\.g\.|sample|ejemplo|exemplo|beispiel|voorbeeld|looks? like|such as)\b[^.]{0,40}[:：]\W*$|пример[^.]{0,40}[:：]\W*$|` +
		`(?:例如|示例|类似|如下|以下|例|예시|예)[^。.]{0,30}[:：]?\W*$|\b(?:let['’]?s|let us|we will|we can) (?:now )?(?:look|see|take)\b|` +
		`\b(?:familiar with|seen|come across) (?:this|the following|such an?|an?|the) (?:\w+ ){0,2}(?:message|error)\b[^.]{0,20}$|` +
		`\b(?:errors?|messages?|exceptions?) (?:that )?(?:we|you|everybody|everyone|nobody|no one|most people)\b[^.:]{0,60}[:：]\W*$|` +
		`\b(?:see )?if you (?:get|see|receive|encounter|run into|are getting)\b[^.]{0,40}[:：]\W*$` + pagesIn())
	// nameBefore is the name of an error before its message.
	nameBefore = lazily(`[\w.]*(?:Error|Exception): $`)
	// explained takes what stands above for an example.
	explained = lazily(`(?i)\bin (?:this example|the (?:example|message|error|output) above|the above (?:example|message|error))\b|(?:在)?(?:这个|该|上面的|上述)(?:例子|示例)(?:中|里)?|` +
		`(?:この|上の|上記の)例では|이 예(?:제|시)?에서|위(?:의)? 예(?:제|시)?에서|в (?:этом|данном) примере|в примере выше|\ben (?:este|el) ejemplo\b|\b(?:neste|no) exemplo\b|` +
		`\bdans (?:cet|l['’]) ?ex[ae]mple\b|\bin (?:questo|quest['’]) ?esempio\b|\bin dit voorbeeld\b|\bin diesem beispiel\b|` +
		`\bth(?:is|e) (?:error |message )+(?:tells|says|means|shows|indicates|is telling)\b|(?:这条|这个|该)(?:信息|消息|提示|报错|错误)[^。，,\n]{0,6}(?:表示|意味着|说明|告诉)|` +
		`このメッセージは|이 (?:메시지|오류|에러)(?:는|가)[^.\n]{0,40}(?:의미|뜻)|это сообщение (?:означает|говорит|указывает)|` +
		`\b(?:esto te dice|este mensaje (?:indica|dice|significa))\b|\besta mensagem (?:indica|diz|significa)\b|\bce message (?:indique|signifie|dit)\b|` +
		`\bquesto messaggio (?:indica|significa|dice)\b|\bdeze melding (?:betekent|zegt)\b|\bdiese meldung (?:sagt|bedeutet|zeigt|besagt)\b`)
	// instructs is a remedy as an order.
	instructs = lazily(`(?i)^\s*(?:[-*+•>]|\d{1,2}[.)])?\s*\W*(?:solutions?|fix(?:es)?|try|reduce|lower|decrease|use|set|increase|causes?|diagnose|actions?|workarounds?|` +
		`remed(?:y|ies)|resolution|what to do|how to (?:fix|solve)|check)\b|` +
		`^[^\w\p{L}]*(?:原因|解决|处理|降低|减少|减小|使用|释放|重启|设置|关闭|增加|启用|检查|缩小|清理|尝试|해결|원인|조치|줄이|줄인|낮추|사용|설정|확인)`)
	// topic is a heading with nothing but what failed.
	topic = lazily(`(?i)^(?:#{2,6}\s|\*\*).*\b(?:oom|out[ -]of[ -]memory|memory|vram|gpu|cuda|error)\b`)
	// stringInCode is what stands before a message in quotes on a line of a program, onlyQuote before one on a line of its own; entry is
	// one in a list.
	stringInCode = lazily(`(?:[(\[{,=:]|return|in)\s*[frbuL@$]{0,2}["'\x60][^"'\x60]*$`)
	entry        = lazily(`^\s*[frbuL]{0,2}(?:"[^"]*"|'[^']*'),\s*(?:#.*|//.*)?$`)
	onlyQuote    = lazily(`^\s*[frbuL]{0,2}["'\x60](?:[\w.]+: )?$`)
	// ofSource is a line of a program.
	ofSource = lazily(`[;{})\]],?\s*$|` +
		`^\s*(?:def|class|if|for|assert|return|import|from|var|let|const|public|private|func|fn|with|try|except|catch|else|async|await|expect|it|test|elif|` +
		`elsif|elseif|unless|when|case|while|match|switch|do|end|fi|esac|done|begin|rescue|finally|raise|throw|rethrow|break|continue|function|local|export|` +
		`void|static)\b|^\s*\w[\w.]* :?= |\w\(|^\s+\w+: ?(?:"[^"]*"|'[^']*'|\x60[^\x60]*\x60),\s*$`)
	// compared is what stands before a message that a line of a program looks for, in quotes or in the slashes of a pattern.
	compared = lazily(`^\s*[})]*\s*(?:else ?if|elif|elsif|elseif|if|unless|when|case|while|until|return|and|or|\w+ =|[|&]{1,2}|\?)(?:[^\w"'\x60/][^"'\x60/]*)?(?:[frbuL@]?["'\x60]|\bm?/|[(\s]/)[^"'\x60]*$`)
	person   = lazily(`\bI\b|(?i:\b(?:my|we|our)\b)`)
	// searched is a program that looks for it, with what it looks for; asserts is a line that says what a test expects.
	searched = lazily(`(?:^\s*\w+=[^'\n]*)?\b\w{0,3}grep\b(?: -\S+)* +(?:"[^"\n]*"|'[^'\n]*')`)
	asserts  = lazily(`^\s*(?:assert|self\.assert\w+\(|expect\w*\(|EXPECT_\w+\(|ASSERT_\w+\(|require\.\w+\(|assert\w*!?\()`)
	// opens is a line of source that ends in a text over lines, closes the line that ends one; listEnds is the end of a list
	// whose last element has a comma behind it, as source may and data may not.
	opens    = lazily(`(?:[(\[{,=:]|return|^)\s*[frbuL]{0,2}(?:"""|'\x27\x27|\x60)[^\x60]*$`)
	closes   = lazily(`^[^\x60]*(?:"""|'\x27\x27|\x60)\s*[)\]};,]*`)
	listEnds = lazily(`^\s*\][,;)]*\s*$`)
)

// spots are the clues in the place of an event.
var spots = []spot{
	{"a string of a program", 8, inProgram},
	{"a string over lines of a program", 12, inLiteral}, // a traceback in it speaks for no report
	{"an element of a list in a program", 8, inList},
	{"a search for it", 8, func(p *place) bool {
		return strings.Contains(p.line, "grep") && searched.MatchString(p.line) && !ranOut.MatchString(searched.ReplaceAllString(p.line, " "))
	}},
	{"an assertion", 8, func(p *place) bool { return p.e.Extra["told"] != nil && asserts.MatchString(p.line) }},
	{"a comment of a program", 8, func(p *place) bool {
		return note.MatchString(p.line) && program.MatchString(p.text) && !slices.ContainsFunc(p.all, func(s sentence) bool { return !s.title }) &&
			!slices.ContainsFunc(p.around(-3, 4), remarks.MatchString)
	}},
	{"a comment over lines of a program", 8, inComment},
	{"a text by its name", 8, ofNames},
	{"it is quoted", 2, func(p *place) bool {
		return p.e.Extra["told"] == nil && cited.MatchString(p.line) && !native.MatchString(p.line)
	}},
	{"it would be", 2, func(p *place) bool {
		before, _, is := strings.Cut(p.line, p.e.Text[:min(len(p.e.Text), 12)])
		before = before[strings.LastIndex(before, ". ")+1:]
		return is && conditional.MatchString(before) && !first.MatchString(before)
	}},
	{"it is an example", 2, func(p *place) bool {
		before, _, _ := strings.Cut(p.line, p.e.Text[:min(len(p.e.Text), 12)])
		return slices.ContainsFunc(p.around(-3, 0), leads.MatchString) || leads.MatchString(nameBefore.ReplaceAllString(before, ""))
	}},
	{"it is explained as an example", 3, func(p *place) bool {
		return p.e.Extra["told"] == nil && slices.ContainsFunc(p.around(0, 5), explained.MatchString)
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
var native = lazily(`\d\d:\d\d:\d\d|\bin func\b|\[ERROR\]|\bUNAVAILABLE\b|\w\(CUDA_ERROR_|::\w+\(|\.(?:cpp|cc|cuh?|hp?p?|rs|py|go):\d+\b|\bErr\(|\bCuda failure (?:\d+ )?'|\bon CUDA API call\b`)

// output is what a cell of a notebook printed, in the file of the notebook; listItem is an entry of a list that somebody wrote.
var (
	output   = lazily(`^\s*"(?:evalue|text|traceback)": ?[\["]`)
	listItem = lazily(`^\s*[-*•] (?:\*\*|[A-Z]\w+ ?[:：])`)
)

// inProgram: the message is a text in quotes on a line of source, with lines of source around it.
func inProgram(p *place) bool {
	if output.MatchString(p.line) || listItem.MatchString(p.line) {
		return false
	}
	at := strings.Index(p.line, p.e.Text[:min(len(p.e.Text), 12)])
	if p.e.Extra["told"] != nil {
		if found := ranOut.FindStringIndex(p.line); found != nil {
			at = found[0] // the whole line is taken for a sentence
		}
	}
	if at < 0 {
		return false
	}
	before := p.line[:at]
	if p.index > 0 && onlyQuote.MatchString(before) {
		before = strings.TrimSpace(p.lines[p.index-1]) + before
	}
	if !stringInCode.MatchString(before) && !entry.MatchString(p.line) && !(compared.MatchString(before) && !person.MatchString(p.line)) {
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

// overLines is how many lines a text in source has at most.
const overLines = 16

// inLiteral: the message is on a line of its own within a text that source has in quotes over several lines.
func inLiteral(p *place) bool {
	open := -1
	for i := p.index - 1; i >= max(0, p.index-overLines); i-- {
		if !strings.ContainsAny(p.lines[i], "\"'`") {
			continue
		}
		if opens.MatchString(p.lines[i]) {
			open = i
			break
		}
		if closes.MatchString(p.lines[i]) {
			return false
		}
	}
	if open < 0 {
		return inRestOfLiteral(p)
	}
	if strings.HasPrefix(strings.TrimSpace(p.lines[open]), "```") {
		return false
	}
	for i := p.index; i < min(len(p.lines), p.index+overLines); i++ {
		if closes.MatchString(p.lines[i]) {
			if slices.ContainsFunc(p.lines[open:i+1], remarks.MatchString) {
				return false
			}
			n := 0
			for _, l := range append(slices.Clone(p.lines[max(0, open-3):open+1]), p.lines[i+1:min(len(p.lines), i+5)]...) {
				if ofSource.MatchString(l) || tag.MatchString(l) {
					n++
				}
			}
			return n >= 3
		}
	}
	return false
}

// restOfLiteral ends a text over lines that is an argument.
var restOfLiteral = lazily(`^\s*(?:"""|\x27\x27\x27|\x60)\s*[)\]};,]+\s*$`)

// inRestOfLiteral: the text begins in such a literal, and after its end there is source.
func inRestOfLiteral(p *place) bool {
	for i := p.index; i < min(len(p.lines), p.index+overLines); i++ {
		if restOfLiteral.MatchString(p.lines[i]) {
			n := 0
			for _, l := range p.lines[i+1 : min(len(p.lines), i+7)] {
				if ofSource.MatchString(l) {
					n++
				}
			}
			return n >= 4
		}
	}
	return false
}

// pair is a line of a file of names and texts, such as translations.
var pair = lazily(`^\s*"[\w.-]+": "(?:[^"\\]|\\.)*",?\s*$`)

// ofNames: the sentence is the text of a name among others.
func ofNames(p *place) bool {
	if p.e.Extra["told"] == nil || !pair.MatchString(p.line) {
		return false
	}
	return !slices.ContainsFunc(append(slices.Clone(p.around(-3, 0)), p.around(1, 4)...), func(l string) bool { return !pair.MatchString(l) })
}

// commentBegins and commentEnds are the signs around a comment of C.
const commentBegins, commentEnds = "/*", "*/"

// inComment: the message stands between the signs of a comment, in a text that is a program: its authors list there what it can print.
func inComment(p *place) bool {
	open := slices.IndexFunc(p.lines[:p.index+1], func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), commentBegins) })
	if open < 0 {
		return false
	}
	for i := p.index; i >= 0; i-- {
		if i < p.index && strings.Contains(p.lines[i], commentEnds) {
			return false
		}
		if strings.HasPrefix(strings.TrimSpace(p.lines[i]), commentBegins) {
			open = i
			break
		}
	}
	end := p.index
	for end < len(p.lines) && !strings.Contains(p.lines[end], commentEnds) {
		end++
	}
	n := 0
	for _, l := range append(slices.Clone(p.lines[max(0, open-12):open]), p.lines[min(end+1, len(p.lines)):min(end+7, len(p.lines))]...) {
		if ofSource.MatchString(l) || directive.MatchString(l) {
			n++
		}
	}
	return n >= 3 && !slices.ContainsFunc(p.lines[open:p.index+1], remarks.MatchString)
}

// directive is a line for the preprocessor of C.
var directive = lazily(`^\s*#(?:endif|include|define|ifn?def|if|else|pragma)\b`)

// tag is a line of a page's source.
var tag = lazily(`^\s*</?\w[^>]*>?\s*$`)

// inList: the message is an element of a list of texts in source.
func inList(p *place) bool {
	if !entry.MatchString(p.line) {
		return false
	}
	for i := p.index + 1; i < min(len(p.lines), p.index+overLines); i++ {
		if !entry.MatchString(p.lines[i]) {
			return listEnds.MatchString(p.lines[i])
		}
	}
	return false
}
