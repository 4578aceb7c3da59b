package post

import (
	"slices"
	"strings"
)

// genres are texts of a kind, by what their authors never leave out.
var genres = []clue{
	{"notes on a release", 4, 1, inText(`(?im)\breleased this \d{1,2} \w{3}\b|^\W*full changelog\b|^\W*what['’]s changed\W*$|\A\W*(?:changelog|release notes|changes by version)\W*$|` +
		`^#{2,4} \[?v?\d+\.\d+[\w.]*\]? ?[-–(]+ ?(?:\d{4}-\d\d-\d\d|(?:\d{1,2} )?[A-Z][a-z]{2,8}\.? (?:\d{1,2}, )?20\d\d\b)|` +
		`^\W*(?:bug ?fix|maintenance|hotfix) release\b|^this release (?:has|contains|includes|fixes|adds|does|is)\b|\bno new features this release\b|` +
		`^\s*[•*+-]\s+(?-i:[0-9a-f]*\d[0-9a-f]*)\s+(?:addresses|fixes|adds|removes|prevents|improves|avoids|reduces)\b`)},
	{"entries that link to their changes", 1, 4, inText(`[(|] ?\[#\d+\]\(https?://[^\s)]+/(?:pull|issues)/\d+\)`)},
	{"a change is described", 4, 1, inText(`(?im)\b(?:in this (?:PR|pull request|merge request|patch|commit)\b|` +
		`this (?:PR|pull request|merge request|patch|commit|change) (?:\w+ly )?(?:adds?|makes?|fix(?:es)?|targets|aims|introduces|implements|changes|removes|` +
		`improves|mitigates|prevents|updates|refactors|allows|enables|ensures|addresses|reduces|is|does|will)\b)|` +
		`^\W*(?:closes|fixes|resolves|fix|reverts|resolved by|landed in|superseded by):? (?:[\w.-]+/[\w.-]+|https?://\S+/)?#?(?:\d+|[0-9a-f]{7,40})\b|` +
		`^\W*(?:what changes were proposed|pull request (?:outline|checklist|type)|acceptance criteria\W*$|what is the new behaviou?r)|` +
		`^motivation:\s*\n(?s:.*)^modifications:`)},
	{"a difference of versions", 3, 1, inText("(?m)^[`~]{3,}(?:diff|suggestion)\\b|^diff --git |^@@ -\\d+(?:,\\d+)? \\+\\d+(?:,\\d+)? @@")},
	{"a task is its title", 2, 1, inText(`\A\W*(?:\[\w+\]:? *|\w+(?:\(\w+\))?: *)?(?:Abort|Add|Allow|Auto|Avoid|Back off|Catch|Change|Clarify|Count|Detect|Document|Emit|Export|Drop|Enhance|` +
		`Enable|Exit|Explain|Expose|Fix|Give|Halve|Handle|Implement|Improve|Include|Introduce|Prevent|Propagate|Provide|Raise|Recover|Reduce|Refactor|Refine|` +
		`Remove|Report|Rework|Show|Simplify|Skip|Support|Surface|Tell|Track|Update|Use|Warn)(?:s|ed)?\b[^?.\n][^?\n]{7,}`)},
	{"a manual", 4, 1, inText(`(?m)\A\W*NAME\b(?s:.{0,400})\bDESCRIPTION\b|^NAME\s*$(?s:.*)^DESCRIPTION\s*$|\.SH "?NAME\b`)},
	{"rules for alerts", 4, 1, inText(`(?m)\$labels\.\w|^\s*-? ?alert: \w+\s*$|^kind: PrometheusRule`)},
	{"scenarios of tests", 4, 1, inText(`(?m)\AFeature: [^\n]*\n(?s:.*)^\s*Scenario\b`)},
	{"declarations", 4, 1, inText(`(?m)\A\s*(?:#![^\n]*\n\s*)?(?:"""|\x27\x27\x27)|\bpub enum \w|\benum (?:class )?\w+ ?\{|^Variants§?\s*$|^Defined in:\s*$|^exception [\w.]+#?\s*$|` +
		`^Bases: [\x60\[]?\w|\)\s*\[source\][#¶]?\s*$|^\[docs\] ?(?:class|def) `)},
	{"the wording of a message is the task", 4, 1, inText(`(?i)\A\W*(?:refin|improv|rework|reword|chang|format|clarif)\w* (?:the )?(?:\w+ )?(?:err(?:or)?|warning|oom)[ _-]?(?:msg|messages?|texts?)s?\b`)},
	{"messages with places for what a program fills in", 4, 1, inText(`&[a-z]+_[a-z_]+;|@[A-Z]{2,}_[A-Z_]+@`)},
	{"a wish for a feature", 3, 1, inText(`(?i)\A\W*(?:\[?(?:feature(?: request)?|enhancement|proposal|RFC|FR)\b\]?)|(?m:^#{1,4} [^\w\n]*feature(?: request)?[^\w\n]*$)|` +
		`\bis your feature request related to a problem\b|\bdescribe the solution you['’]d like\b`)},
	{"a file with its license", 4, 1, inText(`(?i)\A\W*(?:copyright\b|SPDX-|licensed under|\(c\) \d{4})`)},
	{"a head for a page", 4, 1, inText(`\A---\r?\n(?:[\w-]+:[^\n]*\r?\n){2,}---`)},
	{"it is a page for readers", 4, 1, inText(`(?i)\A\W*(?:FAQs?|frequently asked questions|troubleshooting(?: guide)?)\W*\n|` +
		`\bthis (?:guide|article|tutorial|document|page|post|chapter|section|runbook) (?:explains|covers|describes|will|lists|addresses|walks|shows)\b|` +
		`\b(?:in|start) this (?:\w+ )?(?:guide|article|tutorial|blog)\b|` +
		`\b(?:we are going to|let['’]?s|we will|we['’]ll) (?:first |now )?(?:discuss|see|look|explore|dive|walk|demo\w*)\b|` +
		`\bone of the most (?:common|frequent)\b|\bhere are (?:a few|some|the) (?:of the )?(?:most )?common\b|` +
		`\A(?:[^\n]*\n){0,3}[^\n]*\b\d{1,2} (?:\w+ )?(?:fixes|ways|tips|tricks|methods|solutions)\b|\bsooner or later\b|(?m:^\W*目录\s*$)` + pagesIn())},
	{"a guide by its name", 3, 1, inText(`(?i)\A(?:[^\n]*\n){0,6}[^\n]*\b(?:line-by-line|step-by-step|beginner['’]?s|complete|quick|short|practical|ultimate) guide (?:to|on|for)\b`)},
	{"questions with numbers", 3, 1, inText(`(?m)^\W*Q\d{1,3}[:.)] [^\n]+\?(?s:.*?)^\W*Q\d{1,3}[:.)] `)},
}

// voices are how a text speaks, and how it is laid out. Where nobody speaks there is only a log.
var voices = []clue{
	// What the parts of a text are called.
	{"headings of remedies", 2, 3, remedies(headings(`(?:(?:common|possible|quick|suggested|recommended|immediate|typical|likely|proven|other|alternative|root|probable) )*(?:troubleshooting|solutions?|` +
		`fix(?:es)?|causes?|remed(?:y|ies)|workarounds?|mitigations?|symptoms?|diagnos(?:e|is|tics?)|actions?|resolution|prevention|(?:best )?practices|` +
		`tips(?: .{1,40})?|what to do|lösung(?:en)?|ursachen?|abhilfe|fehlerbehebung|solutions? possibles?|causes possibles|dépannage|soluci[oó]n(?:es)?|` +
		`causas?|soluç(?:ão|ões)|oplossing(?:en)?|oorzaken?|решени[ея]|причин[аы]|(?:可能|常见|根本)?(?:的)?原因(?:分析)?|(?:通用|常用|常见|具体)?(?:的)?解决(?:方法|方案|办法|步骤)?|` +
		`处理(?:方法|方案|办法|步骤)|解決(?:策|方法)?|対処(?:法|方法)?|対策|(?:(?:문제|오류|에러) ?)?(?:해결(?: ?(?:방법|방안|책))?|(?:발생 ?)?원인|조치(?: ?방법)?|대응(?: ?방안)?))(?:[:：].{0,80}|` +
		` (?:for|of|to|&|and) .{1,40})?|(?:how to|ways to) (?:fix|solve|resolve|prevent|avoid|diagnose|debug|reduce) .{1,60}|` +
		`what (?:this|the|that|it)(?: error| message)? means?|why (?:this|it) happens|what (?:is|causes) .{1,60}|.{1,40}とは(?:何か)?|что такое .{1,40}|什么是.{1,20}|` +
		`qu['’]est-ce que .{1,40}|o que é .{1,40}|key takeaways.*|(?:solution|fix|method|option) #?\d+ ?[:.–-].*`))},
	// A report has one problem, so that nothing tells it by the name of such a heading alone.
	{"headings of several problems", 4, 1, inText(headings(symptoms) + `(?s:.*?)` + headings(symptoms))},
	{"headings of a page", 1, 2, inText(`(?im)^#{1,6} +(?:\d+[.)] +)?(?:usage|installation|requirements|prerequisites|configuration|overview|introduction|conclusion|summary|performance|` +
		`table of contents|contents|parameters|options|arguments|returns?|features|limitations|known issues|quick ?start|getting started|benchmarks?|roadmap|` +
		`license|faq|appendix)\W*$`)},
	{"headings that readers say", 4, 1, func(r *reading, _ int) int { return len(r.asked) }},
	{"markup of documentation", 3, 1, inText(noted)},
	{"tables that compare", 4, 1, comparisons},
	{"captions with numbers", 2, 1, inText(captions)},
	// Who is spoken to, and how.
	{"it defines the word", 3, 1, inSentences(`(?i)^\W*(?:(?:an?|the) )?(?:linux )?(?:ooms?|oom[- ]?kill(?:ed|er|ing)?|out[- ]of[- ]memory)\b[^.]{0,30}?\b(?:(?:is|are) (?:an?|one of|the)|automatically|occurs? (?:in|when))\b`)},
	{"the reader is told", 1, 4, inSaid(second.source + guidesIn())},
	{"it tells what to do", 1, 4, inText(`(?im)^\s*(?:[-*+•]|\d{1,2}[.)])\s+\W*(?:reduce|lower|decrease|use|set|try|enable|disable|close|update|upgrade|restart|increase|check|kill|move|switch|` +
		`clear|avoid|run|make sure|ensure|verify|add|consider|free|raise|limit|split|upgrade|install|monitor|stop|turn)\b`)},
	{"what it means", 2, 2, inSaid(`(?i)\b(?:errors?|messages?|exceptions?|codes?|this|it|that|which|oom|memory)\W*\b(?: \w+)? (?:means?|signals?|indicates?|refers? to|stands for|` +
		`is (?:raised|thrown|caused) (?:when|if|by)|occurs? (?:when|if)|happens? (?:when|if|because))\b`)},
	{"users in general", 1, 2, inSaid(`(?i)(?:^|[^\w/\\])(?:users?|customers?|developers?|operators?|people|visitors?|callers?)\b`)},
	{"it would be", 1, 3, unlessHeard(`(?i)\b(?:when|if|once|in case|whenever|unless|should)\b[^.]{0,60}\b(?:oom|out[- ]of[- ]memory|memory|vram)\b`)},
	{"things in general", 1, 2, inSaid(`(?i)\b(?:typically|commonly|frequently|generally|prevalent|tends? to)\b|` +
		`(?:^|[.,;] )\W*(?:an?|any|each|every|all|such|most|some) (?:\w+ ){0,2}(?:that|which|whose|may|might|can|could|will|would)\b|` +
		`^\W*[a-z]+s (?:that|which|whose) \w`)},
	{"nobody speaks", 2, 2, nobodySpeaks},
	{"many kinds of errors", 2, 1, manyErrors},
	// Somebody reports.
	{"somebody tells what happens to him", -2, 3, inOwn(happensToMe + mineIn())},
	{"memory is heard to have run out", -2, 1, func(r *reading, _ int) int {
		if own := r.ofAuthor(); firstHand(own) && slices.ContainsFunc(own, func(s sentence) bool { return heardShort(s, proofShort) }) {
			return 1
		}
		return 0
	}},
	{"somebody says that he meets it", -2, 1, inOwn(`(?i)\b(?:(?:I|we)(?: ?['’](?:m|re)| am| are)|and (?:am|are)) (?:(?:always|still|just|now|then) )*(?:getting|hitting|seeing|running into|facing) (?:an? |the )?(?:cuda |gpu )?(?:oom|out[- ]of[- ]memory)\b`)},
	{"what he did, and how it ended", -2, 2, inSentences(`(?i)^\W*(?:updated|upgraded|reduced|lowered|decreased|tried|enabled|disabled|reinstalled|restarted|installed|switched|started|changed)\b` +
		`[^\n]*(?:[,;>]|\band|\bstill|\bbut) *(?:(?:still|again|then|same|get|got|and|it) )*(?:cuda |gpu )?(?:oom|out of memory)\W*$`)},
	{"it was in one run", -2, 2, inSentences(`(?i)\bwork(?:s|ed)? (?:well|fine|ok|okay|perfectly)\b[^!?\n]{0,40}\bbut\b|` +
		`\b(?:crash|fail|die|abort|stop)(?:e?d|s|es)?\b[^.]{0,40}\b(?:only|repeatedly|consistently|always|every|each|on the (?:first|second)|` +
		`at the (?:first|second)|during)\b|\b(?:repeatedly|consistently|always|randomly|immediately) (?:crash|fail|die|abort|stop)(?:e?d|s|es)?\b|` +
		`\b(?:epoch|step|iteration|iter|batch) #?\d+\b|第 ?\d+ ?个? ?(?:epoch|轮|步|step|batch|张|次)|` +
		`\b(?:after|at|for) \d+ (?:epochs|steps|iterations|iters|minutes|hours)\b|\b\w+\.py:\d+`)},
	{"it is told as what was", -2, 2, inSentences(was + pastIn())},
	{"a machine is listed", -2, 1, inText(`(?im)^\W*(?:platform|os|operating system|platform/os|gpu|graphics card|video card|cpu|ram|` +
		`driver(?: version)?)\W{0,3}[:=]\s*\S[^\n]*\n(?:\W*\n)?\W*(?:platform|os|operating system|platform/os|gpu|graphics card|video card|cpu|ram|` +
		`driver(?: version)?)\W{0,3}[:=]\s*\S`)},
	{"headings of a report", -2, 1, inText(`(?im)^#{1,4}\s+(?:evidence|observed(?: behaviou?r)?|actual (?:behaviou?r|results?)|impact)\W*$`)},
	{"something is his", -1, 2, inOwn(`(?i)\b(?:my|our|mine|I have an?|I['’]m using|I am using|I use)\b`)},
	{"help is asked for", -2, 2, inSentences("(?i)^\\W*why (?:is|are|do|does|did|show|shows|always|still|i|my|the)\\b[^.]*$|\\bI (?:am|was|were) wondering (?:if|whether|how|what|why|about)\\b|\\bI['’]m wondering\\b|" + helpWanted + "|" + asks.source + "|" + question.source)},
	{"help is asked for in a few words", -2, 1, inText(`(?im)\A\W*what(?: on earth)? (?:is (?:the meaning of )?this|(?:does|do) (?:this|it|that)(?: error| message)? mean)(?: error| message)?\W*$|^\W*(?:any (?:ideas?|help|suggestions?|advice|thoughts|clues?|hints?)|please help(?: me)?|help|thanks(?: (?:a lot|in advance))?|` +
		`(?:some |irgend)?ideen|une idée|alguna idea|alguma ideia|qualche idea|求助|求解|怎么办)\W*$`)},
	{"a program is complained of", -4, 1, func(r *reading, _ int) int { return complained(r, 2) / 2 }}, // who describes a change names its reason once
	{"a traceback", -4, 1, inText(`(?m)^\W*File "[^"\n]+", line \d+|^\s+at [\w.$<>]+\([\w.]+:\d+\)|^-+> ?\d+ |^\s*\[\d+\] .+ at .+:\d+|^goroutine \d+ \[|^stack backtrace:|^thread '[^'\n]*' panicked at\b`)},
	{"a log", -3, 1, inText(`(?m)(?:^[^\n]{0,24}\d\d:\d\d:\d\d[^\n]*\n(?:[^\n]*\n){0,3}){3}`)},
	{"he begins a line with what he did", -2, 1, func(r *reading, most int) int { return len(begins.FindAllStringSubmatch(r.text, most)) }},
	{"what his GPUs did then", -2, 1, inText(`(?m)^\W*NVIDIA-SMI \d{3}`)},
	{"the options of his run", -3, 1, inText(`(?im)^\W*(?:(?:my|our|the|used) )?(?:cmd|command|launch|run(?:ning)?|training)?[ -]?(?:params?|parameters|args|arguments|options|settings)\W*\n(?:\W*\n)?(?:[ \t>]*--?[a-z][\w-]*[ =][^\s][^\n]*\n){2}`)},
	{"a form for bugs", -3, 1, inText(form.source + `[^.\n]{0,30}(?:$|:)`)},
	{"a form for questions", -2, 1, inText(`(?im)^#{1,4}\W*questions? (?:and|&) help\W*$`)},
	{"a bug by its label", -3, 1, inText(`(?i)\A\W{0,6}\[bug(?: report)?\]`)},
	{"the versions of a machine", -3, 1, inText(`(?im)(?:^\W*(?:(?:(?:py)?torch|tensorflow|jax|cuda|cudnn|python|os|gpus?|driver|ram|vram|cpu|nvidia\w*|ubuntu|windows|` +
		`platform)(?: (?:version|info\w*|driver|model|type|name|card))?|[\w.-]+ version)\W{0,4}[:：=] ?\S*\d[^\n]*\n+){2}`)},
}

// happensToMe is who tells what came over him.
const happensToMe = `(?i)\b(?:I|` +
	`we)(?: ?['’](?:m|ve|d|re))? (?:(?:am|are|was|were|have|had|do|did|always|still|just|also|then|keep|now|often|sometimes|only|even|constantly|recently|` +
	`currently|keep on|tried to|try to|can|could)(?:n['’]?t)? )*(?:get|got|getting|encounter\w*|meets?|met|run|ran|running|receiv\w+|fac(?:e|ed|ing)|hit|` +
	`hitting|(?:see|saw|seen|seeing)\b[^.]{0,60}\b(?:errors?|oom|messages?|memory|crash\w*)|have (?:this|an|the|a) (?:error|problem|issue)|use|used|using|` +
	`train\w*|try|tried|trying|start\w*|launch\w*|load\w*|fine-?tun\w*|test\w*|notic\w+|install\w*|follow\w*|reduc\w*|lower\w*|not able|unable|stuck)\b|` +
	`\bi had\b|\band (?:are|am|we['’]re|I['’]m) (?:always |still |now |then )?(?:getting|hitting|seeing|facing|running into)\b|\bI (?:have |had |already |also )*(?:set|specified)\b|\b(?:but|and|always|still) (?:get|got)\b|` +
	`\b(?:now|still|then|and)[, ]+(?:the |an? |this |it )?(?:errors?|gets?|fails?|crash\w*)\b|\b(?:gives|gave|shows|throws|giving|got) (?:me|us)\b|` +
	`我[^。]{0,20}(?:报错|遇到|跑|训练|运行|出现|使用|用)|(?:^|[^的个类种见])报错|请教|跑不通`

// was is what a failure did, and how often: who explains failures to others has none to tell of. Figures of a run are of one.
const was = `(?i)\b(?:it|this|that|which|they) (?:\w+ly )?(?:failed|crashed|died|stopped|could(?:n['’]t| not)|did(?:n['’]t| not))\b|` +
	`\b(?:failed|crashed|died|restarted|bounced|killed|happened)\b[^.]{0,24}\b(?:\d+|two|three|four|five|several) times\b|` +
	`\b(?:all|both|\d+|two|three|four|five|several) (?:\w+ )?(?:attempts|runs|tries|shards|tasks|jobs|cases) (?:\w+ )?(?:failed|crashed|died)\b|` +
	`\ball (?:of them|\d+|two|three|four|five) failed\b|\b(?:died|crashed) with\b|\bwe (?:were|lost|hit)\b|\d ?(?:tok(?:ens?)?/s|it/s|s/it)\b`

// symptoms is what the part of a text is called that says how a problem looks.
const symptoms = `(?:(?:symptoms?|symptôme|symptom[ea]|síntomas?|симптомы?|(?:问题|故障|错误)?(?:现象|症状)|症状|(?:문제 ?)?(?:현상|증상))(?:[:：].{0,80})?)`

// himself is whoever speaks of himself, in any language; wantsHelp is who asks for it.
var (
	himself   = lazily(ofSelf + mineIn())
	wantsHelp = lazily("(?i)" + helpWanted)
)

// complained counts how often a program is complained of.
var complained = inOwn(`(?i)\bthe (?:main|biggest|real|only|whole) (?:problem|issue|trouble) (?:is|here is|with (?:it|this) is)\b|\bthis is an? (?:huge|big|serious|major|real|severe) (?:issue|problem)\b|` +
	`\b(?:it|this|which|that|and|tool|program|cli|app|version|script) (?:is|becomes|makes (?:it|this)) (?:\w+ )?(?:unusable|useless|impossible to use)\b`)

// nobodySpeaks counts how much is written by nobody: sentences without a word of who writes.
func nobodySpeaks(r *reading, _ int) int {
	if begins.MatchString(r.text) {
		return 0
	}
	for _, s := range r.own {
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

// begins is a line that is too short for a sentence, with what an error stands below.
var begins = lazily(`(?m)^[ \t>]*(?:(?:When|If|After|Then|Now|But|And|So) )?I (?:am |was |have )?(?:run|get|got|getting|try|tried)\b[^.?!\n]{0,60}$`)

// language are small words, which no program needs; signs are those of scripts without blanks, two of which are about a word. markup is
// what only people and their tools write.
var (
	markup   = lazily("\\n(?:#{1,6} |```|\\*\\*\\w|[-*•] \\w|\\d+\\. \\w)")
	language = lazily(`(?i)\b(?:the|an?|is|are|to|of|and|for|it|that|with|der|die|das|und|ist|la|le|les|el|de|des|est|en|het|een|di|che|una|que|los|las|du|ein|eine|van)\b|[\p{Han}\p{Hiragana}\p{Hangul}\p{Cyrillic}]`)
	signs    = lazily(`[\p{Han}\p{Hiragana}\p{Katakana}]`)
)

// errorNames are names of errors.
var errorNames = lazily(`\b\w+(?:Error|Exception)\b|\bE[A-Z]{4,8}\b|\b[A-Z]+_(?:ERROR|FAILED|STATUS)\w*\b`)

// manyErrors: a text names errors of several kinds, as lists of what can go wrong do.
func manyErrors(r *reading, _ int) int {
	var names []string
	for _, at := range errorNames.FindAllStringSubmatch(r.text, 64) {
		if !slices.Contains(names, at[0]) {
			names = append(names, at[0])
		}
	}
	return len(names) / 4
}

// askedThere is a heading of a form for bug reports, which asks whoever reports what happened.
var askedThere = lazily(`(?i)\bwhat (?:is|was) the (?:issue|problem|bug)\b`)

// remedies counts headings, without those of forms.
func remedies(words string) func(*reading, int) int {
	re := lazily(words)
	return func(r *reading, most int) (n int) {
		for _, at := range re.FindAllStringSubmatch(r.text, 2*most) {
			if !askedThere.MatchString(at[0]) {
				n++
			}
		}
		return n
	}
}

// inText counts where a pattern matches in a text, inSentences the sentences in which it does, and inSaid those that no program printed.
func inText(words string) func(*reading, int) int {
	re := lazily(words)
	return func(r *reading, most int) int { return len(re.FindAllStringSubmatch(r.text, most)) }
}

func inSentences(words string) func(*reading, int) int {
	return in(words, func(r *reading) []sentence { return r.all })
}

// inOwn is inSentences of the words of who writes: what stands in quotes others say, or would.
func inOwn(words string) func(*reading, int) int {
	return in(words, func(r *reading) []sentence { return r.own })
}

func inSaid(words string) func(*reading, int) int {
	return in(words, func(r *reading) []sentence { return r.said })
}

// unlessHeard is inSaid without what somebody who speaks of himself tells: "when I save, it is out of memory" is no supposition.
func unlessHeard(words string) func(*reading, int) int {
	return in(words, func(r *reading) []sentence {
		if !firstHand(r.own) {
			return r.said
		}
		return slices.DeleteFunc(slices.Clone(r.said), func(s sentence) bool { return heardShort(s, proofShort) })
	})
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

// headings are words that stand alone on a line, whatever signs and numbers are around them.
func headings(words string) string {
	return `(?im)^[^\w\p{L}]*(?:(?:step|solution|fix|option|method) )?(?:\d+[.:)]? +)?(?:` + words + `)(?: ?[(（][^()（）\n]{0,12}[\p{Han}\p{Hangul}][^()（）\n]{0,12}[)）])?[^\w\p{L}]*$`
}
