package post

import (
	"slices"
	"strings"
	"unicode"
)

// sentence is what somebody wrote, in the case it was written in. line is from 1.
type sentence struct {
	text  string
	line  int
	title bool // the heading of a post, which names the failure and does not tell of it
	note  bool // of an entry in a list of changes
	tried bool // of a list of what was tried, before what is asked
}

var (
	// printed is the begin of a line that a program wrote.
	printed = lazily(`^\[|^(?:[a-z][\w.-]*(?:\[\d+\])?|[A-Z_]{3,}|Q|Note|Tip|Hint|Warning|Example|FAQ):\s|` +
		`^[^\w\p{L}]*(?:\d{4}-\d\d|\d\d[:/-]\d\d|[IWEF]\d{4}\b|(?:INFO|WARN|WARNING|ERROR|DEBUG|CRITICAL|FATAL)\b|File "|at \S+\(|Traceback|>>>|\$ |#|//|\||` +
		`[-+*]\s*\[[ xX]\]|[\w./\\-]+\.\w+:\d+|\w+(?:\.\w+)*(?:Error|Exception)\b)|\b(?:INFO|WARNING|ERROR|DEBUG)\b\W{0,3}(?:[:\]|-]|$|\w+[:.])|\blevel=\w`)
	// addition is what somebody adds below what he wrote, as programs begin their lines, too.
	addition = lazily(`^(?:NOTE|EDIT|UPDATE|PS|FYI|BTW) ?\d?: (?:I|It|We|My|This|With|When|The same|Same|Training|Works)\b`)
	// assigned is a line of code; a sentence may end with some.
	assigned = lazily(`^[\w.\[\]]+(?:, ?[\w.\[\]]+)* = [\w.]+[(\[]`)
	// change begins an entry in a list of changes.
	change = lazily(`(?i)^[-*+•]\s+\W*(?:add(?:s|ed)?|fix(?:es|ed)?|chang(?:es?|ed)|remov(?:es?|ed)|improv(?:es?|ed)|new|support(?:s|ed)?|updat(?:es?|ed)|deprecat(?:es?|ed)|introduc(?:es?|ed))\b`)
	// attemptsBelow is the line above a list of what was tried; listed is an entry of a list.
	attemptsBelow = lazily(`(?i)\b(?:tried|attempted|attempts)\b[^.?!]{0,60}:\s*\**$|` +
		`^\W*(?:(?:things|what) (?:I|we)(?:['’]ve| have)? (?:\w+ ){0,3}(?:tried|attempted|done)|(?:already )?tried(?: so far| already)?|attempts?|` +
		`attempted (?:fixes|solutions?)|troubleshooting (?:steps )?(?:tried|done|taken))\b[^.?!]{0,30}$|(?:已经?|都)?(?:尝试|试)(?:过|了)?[^。，]{0,12}[:：]\s*$`)
	listed = lazily(`^\s*(?:[-*+•]|\d{1,2}[.)、])\s*\S`)
	// emphasis is what Markdown sets in italics, whose signs are letters of no word.
	emphasis = lazily(`(^|[\s(])_(\w[^_\n]*[^_\s])_([\s).,;:!?]|$)`)
	// ends are where a sentence ends. A point within a number or a name ends none.
	ends = lazily(`[.!?;]+(?:\s+|$)|[。！？；]`)
)

// sentences are those of a text, without what stands in code fences, logs and tracebacks.
func sentences(text string) (list []sentence) {
	fenced, attempts := false, false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "> ")) // quoted
		if strings.Contains(line, "_") {
			line = emphasis.ReplaceAllString(line, "$1$2$3")
		}
		if strings.HasPrefix(line, "```") {
			fenced = !fenced && strings.Count(line, "```") == 1
			continue
		}
		if words := strings.TrimLeft(line, "#"); words != line && speaker.MatchString(words) {
			line = strings.TrimSpace(words)
		}
		switch {
		case !fenced && attemptsBelow.MatchString(line):
			attempts = true
		case attempts && line != "" && !listed.MatchString(line):
			attempts = false
		}
		if fenced || !isProse(line) && !(attempts && listed.MatchString(line)) {
			continue
		}
		if strings.Contains(line, "  ") {
			line = strings.Join(strings.Fields(line), " ") // words are looked for with one blank between them
		}
		note, entry := change.MatchString(line), attempts && listed.MatchString(line)
		for line != "" {
			end := endOf(line)
			list = append(list, sentence{text: strings.TrimSpace(line[:end]), line: i + 1, note: note, tried: entry})
			line = line[end:]
		}
	}
	return list
}

// abbreviated is a point that ends no sentence.
var abbreviated = lazily(`(?i)\b(?:i\.e|e\.g|eg|ie|vs|approx|jan|feb|apr|aug|sept?|oct|nov|dec)\.\s*$`)

// endOf is where the first sentence of a line ends.
func endOf(line string) int {
	for from := 0; ; {
		at := ends.FindStringIndex(line[from:])
		if at == nil {
			return len(line)
		}
		if from += at[1]; !abbreviated.MatchString(line[:from]) {
			return from
		}
	}
}

var (
	// heading is a title as trackers copy it, with the label that some begin with.
	heading = lazily(`^#\s+(?:\W*\[[^\]]{1,20}\]\W*)?`)
	// label is what forms for bug reports put before a title.
	label = lazily(`(?i)^\W{0,3}\[\W{0,3}bug\W{0,2}\]\W*`)
	// own is a heading of one's own list of failures, whatever stands below it.
	own = lazily(`^#{1,6}\s+(?i:\W*(?:(?:bug|incident|post[- ]?mortem)\b[ #\d.]*|(?:crash|failure) #?\d+ ?)[:—–-]\s*)`)
	// first is somebody who speaks of what happened to him; second is advice to others.
	first  = lazily(`[\p{Hangul}\p{Hiragana}]|\b(?i:we|our)\b|` + ofSelf + mineIn())
	second = lazily(`(?i)\byou (?:can|may|might|should|could|need|must|have|want|are|get|see|use|run)\b|\byour (?:\w+ )?(?:gpu|model|code|data|batch|card|program|machine|system|training|memory|vram|input|images?|own)\b`)
	// gear is a GPU of one's own, as a heading names it.
	gear = lazily(`(?i)\b(?:[AHLVT]\d{1,3}|A[2456]000s?|(?:RTX|GTX|Titan) ?\w*|[1-5]0[5-9]0(?:ti)?|\d{1,3} ?Gi?B)\b`)
	// speaker begins a sentence of one's own, which is no heading, whatever sign stands before it.
	speaker = lazily(`^\s+(?:I|We|My|When I|When we)\b(?: \S+){7}`)
	// form are headings of the forms for bug reports.
	form = lazily(`(?im)^\W*(?:describe the (?:bug|issue|problem)|(?:steps? )?to reproduce|reproduction|(?:steps to reproduce)|expected behaviou?r|system info\w*|` +
		`(?:your )?(?:current )?environment|env|hardware|reproduce steps|issue description|checklist|reminder|error message|what happened|` +
		`what (?:is|was) the issue|what did you expect)\b`)
)

// ofSelf are words of whoever speaks of himself or asks others. Japanese and Korean leave them out, so that any sentence may be of one. Who
// explains says we, too.
const ofSelf = `(?i:\b(?:I|I['’]m|I['’]ve|my|me|thanks|thank you|hello|hi|please (?:any )?(?:help|advi[cs]e))\b)|我|报错|请问|跑不通|请教|求助|各位|大佬`

// title is the heading of a post: the first line, where what follows is a report and no documentation. Who shows an
// error reports one.
func title(text string, all []sentence, shows bool) (sentence, bool) {
	text = strings.TrimLeft(text, "\r\n\t ")
	line, rest, _ := strings.Cut(text, "\n")
	mark := heading.FindString(line)
	if mark := own.FindString(line); mark != "" && len(line) <= 300 {
		return sentence{text: strings.TrimSpace(line[len(mark):]), line: 1, title: true}, true
	}
	if mark := label.FindString(line); mark != "" && len(line) <= 300 && strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") && !toReaders(all) {
		return sentence{text: strings.TrimSpace(line[len(mark):]), line: 1, title: true}, true
	}
	if mark == "" && shows && plain(line, rest) && reportsError.MatchString(line) {
		return sentence{text: strings.TrimSpace(line), line: 1, title: true}, true
	}
	if mark == "" && !shows && plain(line, rest) && ranOut.MatchString(line) && frames.MatchString(rest) {
		return sentence{text: strings.TrimSpace(line), line: 1, title: true}, true // the message was cut off below them
	}
	if mark == "" && !shows && plain(line, rest) && ranOut.MatchString(line) && !toReaders(all) && slices.ContainsFunc(all, pointsBack) {
		return sentence{text: strings.TrimRight(strings.TrimSpace(line), "?！？ "), line: 1, title: true}, true
	}
	if mark == "" && !shows && plain(line, rest) && !toReaders(all) && headline(line) && (gear.MatchString(line) || image.MatchString(rest) && alone(line, rest)) {
		return sentence{text: strings.TrimRight(strings.TrimSpace(line), "?！？ "), line: 1, title: true}, true
	}
	if mark == "" && !shows && plain(line, rest) && (symptom.MatchString(line) && !toReaders(all) || firstHand(all) || form.MatchString(rest) && !toReaders(all)) {
		return sentence{text: strings.TrimSpace(line), line: 1, title: true}, true
	}
	if mark == "" || len(line) > 300 || !shows && !verbatim.MatchString(line) && !alone(line, rest) && !form.MatchString(rest) && !firstHand(all) && !wonders(line, rest, all) && !quotes(line[len(mark):], all) && ((!gear.MatchString(line) && !aboutGear(all)) || toReaders(all)) {
		return sentence{}, false
	}
	return sentence{text: strings.TrimSpace(line[len(mark):]), line: 1, title: true}, true
}

// codedMessage is a message in a heading, put as code.
var codedMessage = lazily("\x60[^\x60\n]*(?i:out of memory)[^\x60\n]*\x60")

// quotes: the heading is a message as it was printed, and what brings it, and few words follow (own threshold) that are no advice.
func quotes(line string, all []sentence) bool {
	return len(all) <= 3 && codedMessage.MatchString(line) && headline(strings.TrimSpace(strings.ReplaceAll(line, "\x60", ""))) && !toReaders(all)
}

// symptom is a heading that says on what occasion it comes, as that of a report does.
var symptom = lazily(`(?i)^\W*(?:cuda |gpu )?(?:oom|out of (?:gpu )?memory)\W*(?: error)? (?:when|while|during|after|on) (?:\w+ )?\w+ing\b[^?]*$`)

// A headline is the title of a report: the failure, before it no more than what names a program, behind it where, when or with what it
// came. subject are words of titles of something else, and of what is about failures.
var (
	headed = lazily(`(?i)^(?:[\w.+/*=-]+[,:]? ){0,6}?(?:(?:cuda|gpu|hip|vulkan)[ -])?(?:(?:runtime )?error ?: ?)?(?:out[ -]of[ -](?:(?:gpu|cuda|video) )?(?:memory|vram)|` +
		`oom|gl_out_of_memory|vk_error_out_of_device_memory)(?: errors?)?(?:[.!?！？]*\s*$|[,;(]|` +
		` (?:on|when|while|with|in|during|after|under|for|at|even|despite|although|though|but|and|since|from|using|inside)\b)|` +
		`^(?:cuda|gpu) out of memory(?: errors?)?(?: [\w.-]+){1,4}$|(?:[\p{Han}] ?|\b(?:cuda|gpu) )out memory\b`)
	subject = lazily(`(?i)\b(?:handl\w*|guides?|tips?|tricks?|explain\w*|debug\w*|troubleshoot\w*|solutions?|how|what|which|tests?|tested|docs?|document\w*|killers?|` +
		`events?|summar\w+|detect(?:s|ed|ing|ion)?|better|protect\w*|warnings?|messages?|faq|polic\w+|recover\w*|simulat\w*|estimat\w*|monitor\w*|analy\w+|` +
		`profil\w*|checklists?|reasons?|causes?|understand\w*|deal\w*|behaviou?rs?|situations?|conditions?|scenarios?|safe\w*|proof|resilien\w*|retry\w*|` +
		`restart\w*|below|see|common|typical|known|no|not|never|without|zero|until|before|so far|logs?|metrics?|alerts?|counts?|counters?|give|show|make|turn|` +
		`raise|throw|return|print|the|an?|to|of|into|we|they|it|will|than|less|fewer|instead|every|each)\b|n['’]t\b`)
)

// headline says whether a line is one. What stands before the failure decides more than what stands behind.
func headline(line string) bool {
	at := headed.FindStringIndex(line)
	if at == nil || len(line) > 160 || len(strings.Fields(line)) < fewestWords(line) && !han.MatchString(line) || talk.MatchString(line) || neither.MatchString(line) || code.MatchString(sized.ReplaceAllString(flags.ReplaceAllString(line, "set"), " ")) {
		return false
	}
	fail := ranOut.FindStringIndex(line)
	if fail == nil {
		fail = []int{at[1], at[1]}
	}
	return !subject.MatchString(line[:fail[0]]) && !about.MatchString(line[fail[1]:])
}

// fewestWords of such a title: with a GPU in it three say all.
func fewestWords(line string) int {
	if gear.MatchString(line) {
		return 3
	}
	return 4
}

// han is a script that writes no blanks.
var han = lazily(`\p{Han}`)

// about are words of such titles behind the failure, and flags a setting with its value, as titles name it.
var (
	about = lazily(`(?i)^(?: errors?)? (?:handl\w*|guides?|tips?|tricks?|explain\w*|debug\w*|troubleshoot\w*|solutions?|tests?|docs?|document\w*|killers?|events?|` +
		`summar\w+|detect\w*|protect\w*|warnings?|messages?|faq|polic\w+|recover\w*|simulat\w*|estimat\w*|monitor\w*|analy\w+|profil\w*|checklists?|reasons?|` +
		`causes?|behaviou?rs?|situations?|conditions?|scenarios?|safe\w*|proof|resilien\w*|retry\w*|restart\w*|logs?|metrics?|alerts?|counts?|counters?|so far|` +
		`means|is|are)\b|\b(?:errors?|events?) so far\b|[,;:.?] (?:lower|reduce|use|try|set) |` +
		`\b(?:how to|what now|gone|no longer|overview|explained|goes? away|solved)\b`)
	flags = lazily(`\b[a-z_.]+(?:=| = )\w+`)
)

// backWords point to the message that the heading names, or say that it began; supposed is a message that one may meet.
var (
	backWords = lazily(`(?i)\b(?:errors out|fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|stops|stopped|stopping|dies|died|ends|ended|gives?|gave|gets?|got|getting|says|shows?|` +
		`showing|throws?|appears)\b(?: \w+)?? (?:with |me |the |by )?(?:this|that|the same|the above) (?:\w+ )?(?:messages?|errors?|exception|problem|issue)\b|` +
		`\b(?:was|were|worked|ran|working|running) (?:\w+ )?(?:fine|ok|okay|well|perfectly)\b[^.?\n]{0,20}\b(?:yesterday|before|until|` +
		`last (?:week|month|night|version))\b`)
	supposed = lazily(`(?i)\b(?:if|whenever|users?|may|might|can|could|should|would|sometimes|often|usually|typically|one)\b`)
)

// pointsBack: a sentence tells of the failure that stands in the heading, which may be put as a question.
func pointsBack(s sentence) bool {
	return backWords.MatchString(s.text) && !supposed.MatchString(s.text)
}

// frames are those of a traceback.
var frames = lazily(`(?m)^\s*File "[^"\n]+", line \d+, in \S`)

// errorName is the name of an error as programs print it.
var errorName = lazily(`\w(?:Error|Exception): `)

// image is a picture of a screen, as posts show one.
var image = lazily(`!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>`)

// alone: all there is to tell stands in the heading, or it is an error that a program printed.
func alone(line, rest string) bool {
	return strings.TrimSpace(image.ReplaceAllString(rest, "")) == "" || errorName.MatchString(line)
}

// question is what somebody does not understand about what happened.
var question = lazily(`(?i)(?:^|[.!,;?]\s+|\n)\W{0,3}(?:but )?(?:why|is (?:it|this)|is there (?:a|any) way to (?:make|get|run|use)|` +
	`what (?:is|was) (?:the (?:reason|problem)|wrong)|any (?:one|idea|suggestion|help|solution|advice)s?)\b[^?\n]*\?`)

// askers is a question to others to whom it happened too. Before advice it is a page for them.
var askers = lazily(`(?i)(?:^|[.!,;?]\s+|` +
	`\n)\W{0,3}(?:(?:do|did|does|have|has) (?:you|any ?one|any ?body|some ?one)(?: \w+)? (?:meet|met|face[ds]?|encounter\w*) (?:this|the same|such|it)\b|` +
	`how did (?:you|the authors) (?:solve|fix|avoid|handle) (?:this|the|it)\b)`)

// wonders: a question about it is asked, and nobody is spoken to.
func wonders(line, rest string, all []sentence) bool {
	return !toReaders(all) && (question.MatchString(rest) || len(all) == 1 && askers.MatchString(rest) || strings.HasSuffix(strings.TrimSpace(line), "?") && !question.MatchString(line))
}

// plain: a heading without its mark, as it is copied from a page: a line of its own that is no sentence of the text.
func plain(line, rest string) bool {
	return len(line) <= 120 && strings.HasPrefix(strings.TrimLeft(rest, " \t\r"), "\n") && (!printed.MatchString(line) || ranOut.MatchString(line))
}

// verbatim is what TensorFlow prints, which nobody writes otherwise.
var verbatim = lazily(`(?i)\bran out of memory trying to allocate\b`)

// firstHand: who writes speaks more of himself than to his readers.
func firstHand(all []sentence) bool {
	own, others := spokenOf(all)
	return own > 0 && own >= others
}

// spokenOf counts the sentences in which who writes speaks of himself, and to others.
func spokenOf(all []sentence) (own, others int) {
	for _, s := range all {
		if first.MatchString(strings.ReplaceAll(s.text, "I/O", "")) {
			own++
		}
		if second.MatchString(s.text) {
			others++
		}
	}
	return own, others
}

// aboutGear: a GPU of one's own is named, and help is asked for.
func aboutGear(all []sentence) bool {
	return slices.ContainsFunc(all, func(s sentence) bool { return gear.MatchString(s.text) }) && slices.ContainsFunc(all, func(s sentence) bool { return asks.MatchString(s.text) })
}

// toReaders: it is advice to others.
func toReaders(all []sentence) bool {
	return slices.ContainsFunc(all, func(s sentence) bool { return second.MatchString(s.text) })
}

// versions are numbers of versions, which people name as programs do.
var versions = lazily(`\bv?\d+\.\d+\.\d+\b`)

// saysError is how people, and no programs, say in Chinese that an error came: however few of their words stand beside what was printed.
const saysError = "报错"

// isProse: a line of words, not of figures and signs.
func isProse(line string) bool {
	if len(line) > 4000 || printed.MatchString(line) && !addition.MatchString(line) || assigned.MatchString(line) {
		return false
	}
	letters, all, signs := 0, 0, 0 // of scripts that write no blanks, or few
	for _, r := range versions.ReplaceAllString(line, "") {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			signs++
			fallthrough
		case unicode.IsLetter(r), r == ' ':
			letters++
		}
		all++
	}
	return signs >= 4 || signs >= 2 && strings.Contains(line, saysError) || len(strings.Fields(line)) >= 4 && letters*10 >= all*7
}
