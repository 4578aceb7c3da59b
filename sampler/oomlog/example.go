package oomlog

import (
	"bytes"
	"slices"
	"strings"
)

// A page that explains an error and the source of a program that looks for one show messages that nobody met, with
// all their figures. What gives them away stands around them: a heading, the line that leads to them, the brackets
// they stand in. Who speaks of himself there met the error, so nothing of this holds beside his words.

const (
	headedWithin = 14 // lines below a heading
	openedWithin = 40 // lines below the bracket of a list
	headingBytes = 72
)

// explains is a heading over what shows what an error looks like or means.
var explains = pattern(`(?i)^[\W\d_]*(?:what (?:this|the|that|these|it|an?)(?: \w+){0,3} (?:means?|looks? like)|` +
	`(?:example|sample|typical|common) (?:errors?|error (?:messages?|output)|messages?|oom \w+)|(?:errors?|messages?) examples?|` +
	`(?:understanding|anatomy of|decoding|reading) (?:the|this|an?) (?:\w+ ){0,4}(?:error|message)s?(?: \w+)?|` +
	`(?:error|message) (?:reference|catalog(?:ue)?|explained))\W*$|^(?:exception )?raised (?:when|if) (?:an?|the|device)\b|` +
	`^#+ (?:error|mistake|pitfall) #?\d+ ?[:.–-]`)

// known leads to a message that all readers have seen before.
var known = pattern(`(?i)\b(?:every(?:one|body)|any(?:one|body) who|` +
	`you(?:['’]ve| have| will| must)?)\b[^:]{0,60}\b(?:(?:has|have|['’]ve) (?:probably |likely |surely |already )?(?:seen|met|hit|encountered)|` +
	`familiar with|recogni[sz]e|dreads?)\b[^:]*:\W*$`)

// sought leads to what a reader is told to look for.
var sought = pattern(`(?i)^\W*(?:then |first |also |now )?(?:look|check|search|watch|grep|scan|inspect|monitor)\b[^:.]{0,60}\bfor\b[^:]*:\W*$`)

// encountered is what a reader is told who meets the error.
var encountered = pattern(`(?i)(?:^|[.] )\W*(?:if|when|whenever|should) you(?:['’]re| are)? (?:(?:ever|still) )?(?:encounter|see|get|getting|seeing|receive|hit|run into|face|` +
	`experienc)\w*\b[^.]{0,80}\b(?:errors?|messages?|warnings?|below|following|this)\b`)

// likened leads to a message of some kind, and to whom it comes is generic.
var (
	likened = pattern(`(?i)\b(?:errors?|messages?|lines?|something|output|entry|entries|warnings?|failure)\b[^:.]{0,24}\b(?:such as|like|similar to|along the lines of|` +
		`as follows)\b[^:.]{0,48}:\W*$|\bmessages?\b[^:.]{0,30}\b(?:displayed|shown|printed|sent)\b[^:.]{0,30}\bas follows\W*:\W*$`)
	generic = pattern(`(?i)\b(?:you(?:r|['’]ll)?|users?|(?:will|would|may|might|could|to|is|are) be|stands for|typically|usually|if|an? (?:error|job|kill|process))\b`)
)

// supposed leads to what it might look like.
var supposed = pattern(`(?i)\b(?:errors?|messages?|lines?|output|entry|entries|log)\b[^:.]{0,40}\b(?:might|may|could|would|can|will|typically|usually|should) (?:also )?(?:look|appear|read|be)\b[^:.]{0,40}:\W*$`)

// promised: it will be printed one day.
var promised = pattern(`(?i)\b(?:will|would|to) be (?:sent|printed|shown|displayed|written|logged|reported)\b`)

// explanation goes on below a message as the sentence whose subject the message is, or has it as its subject.
var (
	predicate   = pattern(`^(?:[Uu]sually |[Tt]ypically |[Oo]ften |[Gg]enerally )(?:means?|indicates?|signals?)\b|^(?:means?|indicates?|signals?) (?:that )?(?:the|your|a|an|it)\b`)
	explanation = pattern(`(?i)^(?:this|that|it|the (?:above )?(?:error|message|line)|these (?:errors|messages))\b(?: \w+){0,3} (?:means|indicates|tells you|happens when|` +
		`occurs when|is (?:raised|caused|shown|printed))\b|^to (?:fix|prevent|avoid|resolve|solve) (?:this|it|such)\b`)
)

// oneself are words of who speaks of himself.
var oneself = pattern(`\b(?:I|I['’](?:m|ve|d)|[Mm]y|[Mm]ine|[Ww]e(?:['’](?:re|ve))?|[Oo]ur|[Uu]s)\b`)

// myself are those that whoever explains does not use for himself and those for whom he writes.
var myself = pattern(`\b(?:I|I['’](?:m|ve|d)|[Mm]y|[Mm]ine)\b`)

// className is a line with nothing but the class of an error.
var className = pattern(`^(?:\w+\.)*\w+(?:Error|Exception)$`)

// names: the message is only the name of an error.
func (m *message) names() bool {
	return (strings.HasSuffix(m.lines[0], "Error") || strings.HasSuffix(m.lines[0], "Exception")) && className.MatchString(m.lines[0])
}

// explainedIn is a head of a table that says of errors what to do about them.
var explainedIn = pattern(`(?i)\|[^|]*\b(?:causes?|fix(?:es)?|solutions?|meanings?|remed(?:y|ies)|actions?|what to do|workarounds?)\b[^|]*\|`)

var (
	// quoteFirst begins a text in a program.
	quoteFirst = pattern(`^[frbuL]{0,2}["']`)
	// opensList ends a line of source below which a list of texts stands, and a text that goes on for lines.
	opensList = pattern(`(?:[\w\])>] ?:?= ?[&\w.<>:\[\]]*[\[({]{1,2}|\w\([\[{]?|\b(?:return|in|yield) [\[({])\s*$`)
	opensText = pattern(`(?:[:=(,]|\breturn) ?[frbuL]{0,2}(?:"""|'''|\x60)\\?\s*$`)
	// exceptionCall is an exception as Python prints it over several lines.
	exceptionCall = pattern(`(?:Error|Exception|Failure|Warning)\(\s*$`)
	// declares is a line of source that gives a name to a text; argues is one that gives a text to a parameter.
	declares = pattern(`(?-i)^(?:(?:export|public|private|protected|static|final|const|constexpr|let|var|val|auto|char|String|string|str|std::string|local|` +
		`my) )+[*&$]?\w+(?:\[\])?(?: ?: ?[&\w]+(?: \w+)?)? ?:?= ?[frbuL]{0,2}["'].*["']\)?[;,]?$|^\w+ := ".*"$`)
	// recorded is a field of a record that says by what an error is known.
	recorded = pattern(`^(?:SIGNATURE|PATTERN|REGEX|EXAMPLE|SYMPTOM|MATCH|TITLE|SUMMARY)=`)
	argues   = pattern(`^[a-z_]\w* = [frb]{0,2}(?:".*"|'.*')[,;]$`)
	assigns  = pattern(`^\w+(?:\.\w+)* = [frb]{0,2}(?:".*"|'.*')$`)
	// usedBelow is source that takes it.
	usedBelow = pattern(`^(?:assert\b|self\.assert\w+\(|expect\(|with pytest|(?:async )?def \w+\(|class \w+|return\b|raise \w|(?:if|for) .*:$|(?:\w+(?:, \w+)* = )?[a-z_]\w*(?:\.\w+)*\([^:]*\)$)`)
)

// meaningLines are looked at below a message that a line leads to, for what it means.
const meaningLines = 5

// example is the last line of the last message that was one.
type example struct{ last int }

// before: nothing but that one stands above the message.
func (e example) before(m *message, p *past) bool {
	if e.last == 0 || m.first.number > e.last+3 {
		return false
	}
	for i, l := range p.before(m, 3) {
		if len(l) > 0 {
			return m.first.number-1-i <= e.last
		}
	}
	return false
}

// marked says how the line of a message is: quoted or code, or a row of a table.
func (p *past) marked(number int) (quoted, boxed bool) {
	for _, l := range p.ring.tail(2) {
		if l.number == number {
			text := bytes.TrimSpace(l.text)
			return bytes.HasPrefix(text, []byte(">")) || bytes.HasPrefix(text, []byte("`")), bytes.HasPrefix(text, []byte("|"))
		}
	}
	return false, false
}

// before are the lines before a message, the last one first.
func (p *past) before(m *message, most int) (lines [][]byte) {
	tail := p.ring.tail(most + len(m.lines) + maxBefore)
	for i := len(tail) - 1; i >= 0 && len(lines) < most; i-- {
		if tail[i].number < m.first.number {
			lines = append(lines, bytes.TrimSpace(tail[i].text))
		}
	}
	return lines
}

// maxBefore is how many lines of other streams may stand between a message's own.
const maxBefore = 24

// isExample says whether a message is shown by a text that explains or looks for it.
func (p *past) isExample(m *message, f *findings) bool {
	if inSource(m) {
		return true
	}
	text := m.lines[0]
	if quoteFirst.MatchString(text) && p.inList(m) {
		return true
	}
	if m.intro.of != nil && m.intro.text != "" {
		if opensText.in(m.intro) {
			return true
		}
		if m.leads() && !oneself.in(m.intro) && (known.in(m.intro) || sought.in(m.intro) || encountered.in(m.intro) || supposed.in(m.intro) || likened.in(m.intro) && generic.in(m.intro) && (!f.more || promised.in(m.intro) || m.means(explanation) || m.means(predicate))) {
			return true
		}
	}
	return m.quoted && m.means(predicate) || p.inTable(m) || p.headed(m)
}

// leads: the line before may lead to the message.
func (m *message) leads() bool {
	intro := strings.TrimRight(m.intro.text, " *_\x60")
	return intro != "" && strings.HasSuffix(intro, ":") || encountered.in(m.intro)
}

// means says whether a line below the message says of it what such lines do.
func (m *message) means(words *lazy) bool {
	for _, l := range m.lines[1:min(len(m.lines), 9)] {
		if words.MatchString(strings.TrimLeft(l, "`> ")) {
			return true
		}
	}
	return false
}

// inSource: the line is one of a program that names a text.
func inSource(m *message) bool {
	text := m.lines[0]
	if recorded.MatchString(text) {
		return true
	}
	if !strings.ContainsAny(text, `"'`) || !strings.Contains(text, "=") {
		return false
	}
	return declares.MatchString(text) || argues.MatchString(text) || assigns.MatchString(text) && len(m.lines) > 1 && usedBelow.MatchString(m.lines[1])
}

// inList: what stands above the texts of which the message is one opens a list in a program.
func (p *past) inList(m *message) bool {
	for _, l := range p.before(m, openedWithin) {
		s := string(l)
		if s == "" || quoteFirst.MatchString(s) || strings.Trim(s, "[](){},") == "" || strings.HasPrefix(s, "#") || strings.HasPrefix(s, "//") {
			continue
		}
		return opensList.MatchString(s) && !exceptionCall.MatchString(s)
	}
	return false
}

// inTable: the message stands in a table whose head says that it explains errors.
func (p *past) inTable(m *message) bool {
	if !m.boxed {
		return false
	}
	head := []byte(nil)
	for _, l := range p.before(m, openedWithin) {
		if !bytes.HasPrefix(l, []byte("|")) {
			break
		}
		head = l
	}
	return head != nil && explainedIn.MatchString(string(head))
}

// headed: a heading of a page that explains errors stands above, or below one that is only named.
func (p *past) headed(m *message) bool {
	tail := p.ring.tail(headedWithin + len(m.lines) + maxBefore)
	for len(tail) > 0 && tail[len(tail)-1].number >= m.first.number {
		tail = tail[:len(tail)-1]
	}
	tail = tail[max(0, len(tail)-headedWithin):]
	found := m.names() && slices.ContainsFunc(m.lines[1:min(len(m.lines), meaningLines)], explains.MatchString)
	for _, l := range tail {
		found = found || l.explains()
	}
	return found && !slices.ContainsFunc(tail, func(l *rawLine) bool { return myself.MatchString(string(l.text)) })
}

// explains says whether the line is a heading of a page that explains errors.
func (l *rawLine) explains() bool {
	if !l.weighed {
		text := bytes.TrimSpace(l.text)
		may := len(text) > 0 && len(l.text) <= headingBytes && text[0] != '[' && (text[0] == '#' || bytes.Contains(text, []byte("rror")) || bytes.Contains(text, []byte("essage")))
		l.weighed, l.heading = true, may && explains.MatchString(string(text))
	}
	return l.heading
}
