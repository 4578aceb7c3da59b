package post

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A contrast is what whoever writes has measured: with one value it fails, with a smaller one it runs. Each clause of a text is read for how it went, and for
// the values that stand in it.

// outcomes of a clause.
const (
	untold = iota
	ran
	failed
	mixed
)

var (
	// clauseEnds are where a clause ends. A comma within a list of numbers ends none: what stands alone goes on with its neighbor.
	clauseEnds = lazily(`[;；，、]\s*|,\s+|(?:^|,? )(?:but|while|whereas|yet|however|although|and (?:with|using|only|for|at|then|when|it))\b|但是?|可是|而(?:且)?|(?:ですが|が、)|지만 `)
	// goesThrough and comesTo are how a clause says that it ran, and that it did not.
	goesThrough = lazily(`(?i)\b(?:can|could|I|we) only (?:train|use|fit)\b|\b(?:works?|worked|working|runs?|ran|trains|trained|fits?|fitted|complet(?:es?|ed)|finish(?:es|ed)?|succeeds?|succeeded|successfully|passes|` +
		`passed|goes through|went through|performs? (?:fine|well|right|ok|okay)|(?:is|are|was|were) (?:\w+ )?(?:fine|ok|okay)|no (?:problem|issue|error|oom)s?|` +
		`without (?:any |an? )?(?:problem|issue|error|oom)s?)\b|正常|没(?:有)?问题|可以|能跑|没事|就好|就行|成功|動き?ま|動作し|問題な|大丈夫|정상|문제 ?없|잘 ?(?:됩|돌아|되)|` +
		`\b(?:läuft|funktioniert|klappt|funciona|marche|fonctionne|działa|çalışıyor|funziona)\b|работает|нормально`)
	comesTo = lazily(`(?i)\b(?:oom\w*|out[ -]of|runs? out|ran out|fail\w*|crash\w*|errors?|dies|died|killed|overflow\w*|` +
		`(?:get|got|gives?|gave) (?:me )?(?:the following|this))\b|报错|溢出|不足|不够|不行|爆|失败|エラー|落ち|不足|에러|오류|터[졌지집]|부족|\b(?:fehler|plante|falla|falha|błąd)\b|ошибк`)
	// fails and failsNot deny the other; alone it is only denied what the clause before says.
	runsNot = lazily(`(?i)(?:n['’]t|\bnot|\bnever|\bcan ?not|\bunable to|\bno longer) (?:\w+ ){0,2}?(?:work(?:s|ed|ing)?|run|train|fit|complete|finish|start)\b`)
	// runsNo is a word for running that does not say how it ended.
	runsNo = lazily(`(?i)\b(?:(?:I|we) (?:run|ran|trained)|(?:when|while|if) (?:it|this|I) (?:runs?|works?)|(?:runs?|ran|running) (out|into|over)|` +
		`(?:and|to) run (?:the|an?|my|it|this|md|simulations?|training|inference)|` +
		`(?:great|good|nice|excellent|amazing|awesome|wonderful|brilliant|fantastic|impressive|interesting|hard|your|this) (?:\w+ )?work)\b`)
	failsNot = lazily(`(?i)(?:n['’]t|\bnot|\bnever|\bno longer|\bno more|\bno|\bwithout|\bavoids?|\bto avoid(?: the| an?)?|` +
		`\bto prevent(?: the| an?)?) (?:\w+ ){0,2}?["'\x60]?(?:fail\w*|crash\w*|happen\w*|occur\w*|come|appear|errors?|run(?:s|ning)? out|` +
		`(?:cuda |gpu )?(?:oom|out of memory))\b|(?:不会?|没有?)再? ?(?:报错|溢出|爆|失败|OOM|出错)|(?:에러|오류)[^.]{0,6}(?:발생(?:하|되)지 ?않|안 ?[나났]|없)|(?:発生し|出)(?:ない|ません)|` +
		`エラー(?:は|が)?(?:出ない|出ません|なし)`)
	deniesAll = lazily(`(?i)\b(?:it|this|that) (?:does|did|do|is|was)(?: not|n['’]t)\s*\W*$`)
	// supposes are words of what was not met, and elsewhere of what is not only a matter of the value: another GPU, machine, program, version or phase, or how far it came.
	supposes  = lazily(`(?i)\b(?:should|would|could|might|may|hop(?:e|ed|ing)|expect\w*|suppos\w*|whether|how|why|(?:will|to) try|want|possible|recommend\w*|paper|authors?|others|people|some(?:one|body))\b|[?？]|应该|是否|如何`)
	elsewhere = lazily(`(?i)\b(?:cpu|versions?|commit|release|update[ds]?|upgrade[ds]?|machines?|servers?|laptops?|computers?|colab|kaggle|valid\w*|eval\w*|test(?:s|ing)?|` +
		`inference|resum\w*|checkpoints?|scratch|until|till|longer|epochs?|steps?|iterations?|iters?|fp16|bf16|fp32|bits?|lora|gradient|linux|windows|wsl2?|` +
		`leaks?|sometimes|(?:last|previous|old|other) one)\b|显卡|验证|测试|推理`)
	// bounded: more than the value that ran does not.
	bounded = lazily(`(?i)\b(?:only|at most|up to|max(?:imum|imal)?|no more than|not more than|largest|biggest|highest|workaround|to avoid|` +
		`or (?:lower|less|below|smaller|fewer)|and (?:lower|below|less|smaller|fewer))\b|只能|最多|最大|才`)
)

// quantities are what a value is of: a setting before its value, or things that are counted behind their number. Of one without a name the last
// that was named is meant.
var quantities = []struct {
	name  string // as it is called; "" for the words that were found
	words *lazy  // with the values as the last group
}{
	{"batch size", lazily(`(?i)(?:\b(?:mini[-_ ]?)?batch(?:[-_ ]?sizes?)?|\b\w*batch_size|\bbs|批(?:量|次)?(?:大小)?|배치(?: ?(?:크기|사이즈))?|バッチ(?:サイズ)?)["'\x60]?(?:[^\d.;,，。\n%]{0,14}?| (?:(?:is|was|are|has been|to be) )?(?:set|adjusted|reduced|lowered|changed|decreased|limited) (?:down )?to )(` + values + `)`)},
	{"context", lazily(`(?i)\b(?:context|ctx|num_ctx|n_ctx|--?ctx[-_]size|max[-_ ]model[-_ ]len|prompt)\b(?: (?:length|size|window))?[^\d.;,\n%]{0,14}?(` + values + `)`)},
	{"", lazily(`(?i)(?:^|[\s(\x60"'])(?:--?)?([a-z]+(?:[_-][a-z]+)+)["'\x60]?\s?(?:=|:| |of|to|is)?\s?(` + values + `)`)},
	{"", lazily(`(?i)\b((?:image|input|crop|patch|tile|window|picture|chunk|box|grid|sequence|seq|texture|hidden|segment) ?(?:sizes?|lengths?|resolutions?)|resolutions?|max length)\b[^\d.;,\n%]{0,12}?(` + values + `)`)},
}

// values are numbers in a row.
const values = `(?:\d[\d,]*k?\b|\b(?:one|two|three|four|five|six|eight|ten)\b)(?:\s*(?:[,/、~]|or|and|to|和|或)\s*\d[\d,]*k?\b)*`

var (
	// counts are things that are counted; sides are those of a picture; bareValues stand alone.
	counts = lazily(`(?i)(?:^|[^\w.])(\d[\d,]*k?|one|two|three|four|five|six|eight|ten) (?:\w+ ){0,2}?(classes|frames?|images?|pictures?|photos?|views?|points|rows|` +
		`samples|instances?|process(?:es)?|workers?|containers?|env(?:ironment)?s|nodes|tokens|pages|atoms|residues|particles|files|sentences|documents|` +
		`queries|threads|channels|objects|boxes|users|qubits|slices|sequences|chains|tiles|segments|characters|words|agents|cells|columns|clips|streams|` +
		`replicas|walkers|copies)\b`)
	sides      = lazily(`\b(\d{2,5}) ?[x×*] ?(\d{2,5})\b`)
	bareValues = lazily(`(?:^|[\s(~<>=\p{Han}])(` + values + `)(?:$|[\s).,:!]|[\p{Hangul}\p{Han}\p{Hiragana}\p{Katakana}])`)
	// notCounted is what a bare number is of instead.
	notCounted = lazily(`(?i)\d ?(?:[GMK]i?B|%|x\b|s\b|ms|secs?|seconds?|min|minutes?|hours?|days?|times|gpus?|cards?)|(?:[gr]tx|gpu|cuda:?|python|torch|error) ?\d`)
	numerals   = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10}
)

// measured is a value in a clause.
type measured struct {
	name, text string
	counted    bool
	value      float64
}

// said is the value with its name, as a person writes it.
func (m measured) said() string {
	switch {
	case m.name == "":
		return m.text
	case m.counted:
		return m.text + " " + m.name
	}
	return m.name + " " + m.text
}

// valuesIn are those of a clause. last is the name that a bare number has.
func valuesIn(clause, last string, counted bool) (list []measured) {
	for _, row := range quantities {
		for _, at := range row.words.FindAllStringSubmatch(clause, 4) {
			name := row.name
			if name == "" {
				name = at[1]
			}
			for _, one := range number.FindAllStringSubmatch(at[len(at)-1], 8) {
				list = append(list, measured{name, one[0], false, valueOf(one[0])})
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	for _, at := range sides.FindAllStringSubmatch(clause, 4) {
		list = append(list, measured{"", at[0], false, valueOf(at[1]) * valueOf(at[2])})
	}
	for _, at := range counts.FindAllStringSubmatch(clause, 4) {
		name := strings.ToLower(at[2])
		list = append(list, measured{name, at[1], true, valueOf(at[1])})
	}
	if len(list) > 0 || last == "" || notCounted.MatchString(clause) {
		return list
	}
	for _, at := range bareValues.FindAllStringSubmatch(clause, 4) {
		for _, one := range number.FindAllStringSubmatch(at[1], 8) {
			list = append(list, measured{last, one[0], counted, valueOf(one[0])})
		}
	}
	return list
}

var number = lazily(`(?i)\d[\d,]*k?|\b(?:one|two|three|four|five|six|eight|ten)\b`)

func valueOf(text string) float64 {
	text = strings.ToLower(strings.TrimRight(text, ","))
	if n, is := numerals[text]; is {
		return float64(n)
	}
	digits, thousands := strings.CutSuffix(strings.ReplaceAll(text, ",", ""), "k")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	if thousands {
		v *= 1000
	}
	return v
}

// outcomeOf is how it went in a clause, before is how in the one before.
func outcomeOf(clause string, before int) int {
	rest := failsNot.ReplaceAllString(clause, " ")
	good := rest != clause
	rest = runsNo.ReplaceAllString(rest, "$1")
	bad := runsNot.MatchString(rest)
	rest = runsNot.ReplaceAllString(rest, " ")
	good, bad = good || goesThrough.MatchString(rest), bad || comesTo.MatchString(rest)
	switch {
	case good && bad:
		return mixed
	case good:
		return ran
	case bad:
		return failed
	case deniesAll.MatchString(clause) && before == failed:
		return ran
	case deniesAll.MatchString(clause) && before == ran:
		return failed
	}
	return untold
}

// clause is a part of a sentence with how it went there.
type clause struct {
	text    string
	outcome int
}

// clausesOf are those of a sentence. What has no outcome of its own goes with the one behind it, or else with the one before.
func clausesOf(text string) (list []clause) {
	waits, before := "", untold
	for _, part := range strings.Split(clauseEnds.ReplaceAllString(text, "\n"), "\n") {
		part = strings.TrimSpace(strings.TrimSpace(waits) + " " + strings.TrimSpace(part))
		waits = ""
		how := outcomeOf(part, before)
		if how == untold {
			waits = part + ","
			continue
		}
		list, before = append(list, clause{part, how}), how
	}
	if waits != "" && len(list) > 0 {
		list[len(list)-1].text += ", " + strings.TrimSuffix(waits, ",")
	}
	return list
}

// asksLarger is a question how to get to something larger than what ran: who asks that has the smaller one already. It is not of a larger GPU.
const asksLarger = `\b(?:how|what|which|any|advise|advice|suggest\w*|possible|wonder\w*|can (?:I|we))\b[^.\n]{0,80}\b(?:run|train|use|process|handle|work|generate|infer\w*|test|render|fit|predict|do|get|go)\b[^.\n]{0,30}\b(?:` +
	`(?:longer|larger|bigger|higher) (?:\w+ )?(?:videos?|sequences?|images?|pictures?|inputs?|contexts?|batch\w*|files?|resolutions?|clips?|audios?|recordings?|texts?|documents?|scenes?|volumes?|sizes?|lengths?|proteins?)|` +
	`more (?:frames|images|pictures|views|points|samples|tokens|residues|atoms))\b`

// attempts are words for what was begun, of which they do not say how it ended.
var attempts = lazily(`(?i)\b(?:try|tries|trying|want|wants|wanting|wanted|attempt\w*|plan\w*|hop(?:e|es|ing|ed)|need|needs) to (?:\w+ )?(?:run|train|use|process|predict|load|work)\b`)

// tooSlow: it runs with that, and nobody can wait for it, so that to stay with it is no advice.
var tooSlow = lazily(`(?i)\b(?:is|it['’]s|was|but|becomes?|gets?|runs?|trains?|takes?) (?:\w+ )?(?:too|way too|far too|unbearably) (?:slow\b|slowly\b|long\b)|太慢`)

// slowThen: what runs is slow, so that something else than that is asked for. The CPU is slow by its nature.
var (
	slowThen = lazily(`(?i)(?:^|\b(?:but|yet|and|though|although)\b|[,;!])\W*(?:it|it['’]s|which|that|this|training)\b(?: (?:is|was|gets?|got|becomes?|became|runs?|ran|trains?|goes|down))* ` +
		`(?:very|too|so|really|extremely|painfully) slow(?:ly)?\b`)
	onCPUWord = lazily(`(?i)\bCPUs?\b`)
)

// moreOfIt is more of what is counted, in words alone.
var moreOfIt = lazily(`(?i)\b(?:with|on|for|of|at|in) (?:\w+ )?(?:long(?:er)?|larger?|bigger|more|higher|many)\b`)

// ranWithLess is a setting, or things that are counted, with the largest value that ran where a larger one failed, or is said to; "" for none.
func ranWithLess(text string, all []sentence) string {
	type seen struct {
		runs          measured
		least         float64
		fails, bounds bool
	}
	found, order := map[string]*seen{}, []string{}
	last, counted := "", false
	for i, s := range all {
		if s.note || tooSlow.MatchString(s.text) {
			continue
		}
		if at := lower.FindStringSubmatch(s.text); at != nil && !resource.MatchString(at[1]) && valueOf(at[2]) > valueOf(at[3]) {
			rest := s.text[strings.Index(s.text, at[0]):]
			if ended(rest) || i+1 < len(all) && outcomeOf(rest, untold) == untold && ended(all[i+1].text) {
				return at[1] + " " + at[3]
			}
		}
		if at := higher.FindStringSubmatch(s.text); at != nil && !resource.MatchString(at[1]) && valueOf(at[2]) > 1 && valueOf(at[2]) < valueOf(at[3]) {
			rest := s.text[strings.Index(s.text, at[0])+len(at[0]):]
			if comesTo.MatchString(rest) && !failsNot.MatchString(rest) && !supposes.MatchString(rest) {
				return at[1] + " " + at[2]
			}
		}
		clauses := clausesOf(s.text)
		beyond := slices.ContainsFunc(clauses, func(c clause) bool { return c.outcome == failed && moreOfIt.MatchString(c.text) })
		for _, c := range clauses {
			list := valuesIn(c.text, last, counted)
			if len(list) > 0 {
				last, counted = list[0].name, list[0].counted
			}
			if c.outcome == mixed || supposes.MatchString(c.text) || elsewhere.MatchString(c.text) || c.outcome == ran && (attempts.MatchString(c.text) || gear.MatchString(c.text) || onGear.MatchString(c.text)) {
				continue
			}
			for _, m := range list {
				key := singular(strings.ToLower(m.name))
				if m.value <= 0 || resource.MatchString(key) {
					continue
				}
				one := found[key]
				if one == nil {
					one = &seen{}
					found[key], order = one, append(order, key)
				}
				switch {
				case c.outcome == failed && (!one.fails || least(c.text, m) < one.least):
					one.least, one.fails = least(c.text, m), true
				case c.outcome == ran && m.value > one.runs.value:
					one.runs = m
				}
				one.bounds = one.bounds || c.outcome == ran && (beyond && m.counted || bounded.MatchString(c.text))
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(later(a), later(b)) })
	for _, key := range order {
		one := found[key]
		if key == quantities[0].name && !one.fails {
			one.least = typedBatch(text)
			one.fails = one.least > one.runs.value
		}
		if one.runs.value > 1 && (one.fails && one.least > one.runs.value || !one.fails && one.bounds) || one.runs.value == 1 && one.fails && one.least > 1 && one.runs.counted {
			return one.runs.said()
		}
	}
	return ""
}

// wholeCopies are whole copies of a job, each of which takes what all of it takes.
var wholeCopies = lazily(`^(?:replica|walker|copie|process(?:e)?|worker|instance|container|env(?:ironment)?|stream)$`)

// later orders what differs between what ran and what failed: copies of a job decide before the size of one.
func later(key string) int {
	if wholeCopies.MatchString(key) {
		return 0
	}
	return 1
}

// typedBatch is the largest batch that a command of a text sets; what is told of one that ran is of another then.
func typedBatch(text string) (most float64) {
	for line := range strings.Lines(text) {
		for _, at := range batchOption.FindAllStringSubmatch(strings.TrimRight(line, "\r\n`"), 4) {
			most = max(most, valueOf(at[1]))
		}
	}
	return most
}

// higher is a setting that was set higher, so that it ran with the value before.
var higher = lazily(`(?i)\b(?:increas|rais|enlarg|chang|bump)\w*\b (?:up )?(?:the |my )?["'\x60]?([a-z]\w*(?:[ _-]\w+){0,2}?)["'\x60]? from ["'\x60]?(\d{1,7}) ?(?:up )?(?:to|->|→) ?["'\x60]?(\d{1,7})\b`)

// lower is a setting that was set lower.
var lower = lazily(`(?i)\b(?:reduc|lower|decreas|chang|set|cut|dropp|shr[aiu]nk)\w*\b (?:down )?(?:the |` +
	`my )?["'\x60]?([a-z]\w*(?:[ _-]\w+){0,2}?)["'\x60]? from ["'\x60]?(\d{1,7}) ?(?:down )?(?:to|->|→) ?["'\x60]?(\d{1,7})\b`)

// ended: it is said to run then.
func ended(text string) bool {
	return goesThrough.MatchString(text) && !runsNot.MatchString(text) && !vain(text) && !supposes.MatchString(text) && !elsewhere.MatchString(text)
}

// moreThan stands before a value that itself need not fail.
var moreThan = lazily(`(?i)(?:\b(?:more|greater|larger|bigger|higher) than|\b(?:above|over|beyond|exceed\w*)|>)\s*$`)

// least is from where on it fails.
func least(clause string, m measured) float64 {
	if at := strings.Index(clause, m.text); at >= 0 && moreThan.MatchString(clause[:at]) {
		return m.value * 1.001
	}
	return m.value
}

// singular is the name of one of things.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "sses"):
		return name[:len(name)-2]
	case strings.HasSuffix(name, "ss"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}

// gigabytes of a GPU, and those of the machine.
var (
	gigabytes = lazily(`(?i)\b(\d{1,3}) ?(?:Gi?B|G)\b`)
	machines  = lazily(`(?i)\b(?:RAM|(?:system|host|cpu) memory|swap|page ?file)\b`)
	graphics  = lazily(`(?i)\b(?:gpus?|cards?|vram|[gr]tx|geforce|tesla|quadro|radeon|[AHLVTP]\d{1,3}|[1-5]0[5-9]0)\b|显[存卡]`)
)

// largerGPURuns: on a GPU it fails, on one with more memory it runs.
func largerGPURuns(all []sentence) bool {
	most, least := 0.0, 0.0 // that fails, that runs
	named := false
	for _, s := range all {
		for _, c := range clausesOf(s.text) {
			at := gigabytes.FindAllStringSubmatch(c.text, 2)
			if len(at) != 1 || c.outcome == mixed || supposes.MatchString(c.text) || machines.MatchString(c.text) || wantedSize.MatchString(c.text) {
				continue
			}
			named = named || graphics.MatchString(c.text)
			size, _ := strconv.ParseFloat(at[0][1], 64)
			switch {
			case c.outcome == failed:
				most = max(most, size)
			case least == 0 || size < least:
				least = size
			}
		}
	}
	return named && most > 0 && least > most
}
