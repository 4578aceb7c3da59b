package post

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// asksGPU is a question for the GPU that it takes, or for its memory.
var asksGPU = lazily(`(?i)\bhow (?:much|many) (?:gpu |cuda |video )?(?:vram|ram|memory|gb|gigs?)\b[^.?!\n]{0,24}\b(?:takes?|needs?|needed|uses?|requires?|required|` +
	`necessary)\b|` +
	`\b(?:do|would|will|must) (?:I|we) (?:really )?(?:need|have to (?:buy|get|use)) (?:an? )?(?:bigger|larger|better|stronger|newer|more powerful) (?:gpu|` +
	`card|graphics card|machine)\b|\b(?:which|what) (?:gpu|(?:graphics |video )?card)s? (?:do|would|should|did)\b|` +
	`\b(?:does|will|can|should|would) (?:it|this) (?:work|run|fit)\b[^.?!\n]{0,12}\b(?:with|on|in|into) (?:an? |only |just )*\d{1,2} ?Gi?B\b|` +
	`\b(?:minimum|minimal|hardware|system|memory|vram) requirements?\b|` +
	`\bis (?:my|an?|the) (?:\w+ ){0,2}[1-5]0[5-9]0\w*\b[^.?!\n]{0,20}\b(?:too (?:weak|small|old)|enough|sufficient)\b|` +
	`\b(?:what|which|how (?:much|many|large|big)|minimum|min\.?|recommended|least|lowest|sufficient|the required)\b[^.?!\n]{0,40}\b(?:gpus?|v?ram|` +
	`(?:graphics?|video) ?(?:cards?|memory|memories)|cards?|memor(?:y|ies)|hardware|colab tier)\b[^.?!\n]{0,40}\b(?:requir\w*|need\w*|necessary|suffic\w*|` +
	`enough|spec\w*|proper|appropriate|at least|did (?:you|u) use|do (?:you|u) (?:use|need)|(?:you|u) used?|should (?:I|we|it)|to (?:run|train|use))\b|` +
	`\b(?:minimum|min\.?|recommended|required) (?:\w+ ){0,2}(?:gpu|vram|(?:graphics?|video) ?cards?|hardware)\b[^\n]{0,60}\?|` +
	`\b(?:is|are) (?:an? |the |my )?(?:\w+ ){0,3}(?:gpus?|cards?|tier|vram|[1-9]\d?0? ?Gi?B|[AHVT]\d{1,3})\b[^.?!\n]{0,30}\b(?:required|needed|enough|` +
	`suffic\w+|too small)\b[^.?!\n]{0,120}\?|` +
	`\b(?:can|could|possible to|way to) (?:I |we |it |this )?(?:be )?(?:use|run|train\w*|test|try)\b[^.?!\n]{0,40}\b(?:on|with|my) (?:an? |my |only |` +
	`just )*(?:\d{1,2} ?Gi?b?\b|(?:[gr]tx ?)?[1-5]0[5-9]0\b)|\bwhat (?:is|was) the (?:gpu|card) (?:that )?(?:you|u)\b|` +
	`\bwhat(?:['’]s| is| are) the (?:minimum|minimal|required|recommended|lowest)\b[^.?!\n]{0,30}\b(?:gpu|vram|memory|card|hardware)|` +
	`(?:最低|最少|至少需要)[^。\n]{0,10}(?:显存|显卡|GPU)|多[大少](?:的)?(?:显存|G)|显存[^。\n]{0,6}(?:要求|多大|多少|够)`)

// example is something small that runs on the GPUs of those who wrote it.
var example = lazily(`(?i)\b(?:just|only|simply) (?:run|ran|running|tr(?:y|ied|ying)|start(?:ed|ing)?|execut(?:e|ed|ing)) (?:the |your |an? |one |this )*(?:unit |simple |` +
	`basic |first |quick |minimal |official )*(?:tests?|demos?|examples?|quick ?starts?|tutorials?)\b|` +
	`\b(?:running|ran|run) (?:the |your |all )?(?:unit ?tests?|test suite|pytest)\b|` +
	`\b(?:us(?:e|ed|ing)|r[ua]n(?:ning)?|copied|with) (?:the |your )?(?:official |given )?(?:quick ?starts?|get(?:ting)?[- ]started)(?: (?:code|example|script|snippet))?\b|` +
	`(?:使用|运行|跑|直接用|按照?)了?(?:官方|文档|README)?(?:的|中的|里的)? ?(?:quick ?start|快速(?:开始|入门)|示例)`)

// An agent that learns to play such a game keeps what it saw in a buffer to learn from again, unless it learns on policy.
var (
	games = lazily(`(?i)\batari\w*|\bgym[-_](?:super[-_]mario|retro)\w*|\bsuper ?mario ?bros\w*|NoFrameskip\b|\bALE/\w|\b(?:play|playing|on|for) (?:breakout|pong|seaquest|q\*?bert|space ?invaders|montezuma)\b|` +
		`\b(?:breakout|pong|seaquest|qbert|spaceinvaders)(?:-v\d|NoFrameskip|Deterministic)|` +
		`\b(?:dou ?di ?zhu|leduc|mahjong|gin[- ]rummy|(?:texas|limit|no[- ]limit) hold ?['’]?em|rlcard|open_?spiel)\b`)
	agents   = lazily(`(?i)\b(?:agents?|dqn|nfsp|rainbow|c51|iqn|qr-?dqn|r2d2|drq\w*|sac(?:d|[-_]discrete)?|dreamer\w*|reinforcement|algorithm)\b`)
	onPolicy = lazily(`(?i)\b(?:ppo\w*|a2c|a3c|impala|trpo|acktr|on-policy|reinforce)\b`)
)

// anySize: the size that was set made no difference, however small.
var anySize = lazily(`(?i)\b(?:no matter|whatever|regardless of|any|every|all|irrespective of|even (?:with|at|on|for|if|when)?)\b|无论|不管`)

// gpuHas is the memory of a GPU as people tell it.
var gpuHas = lazily(`(?i)\b(?:(?:my|our|the) (?:cuda |gpu |video )?memory|vram)\b,? (?:which )?(?:is|has|of) (\d{1,3}) ?(?:Gi?B|G)\b|` +
	`\b(?:\d ?[x×*] ?)?(\d{1,3}) ?(?:Gi?B|Go|G)\b (?:of )?(?:(?:dedicated|total|free|available|local|nvidia|the|my) )*(?:gpu|vram|video|graphics?|cards?)\b|` +
	`\b(?:gpu|vram|card|video memory|gpu memory|graphics? (?:card|memory))\b[^.,;\n\d]{0,32}\b(\d{1,3}) ?(?:Gi?B|Go|G)\b|(?:显存|显卡)[^。\d]{0,6}(\d{1,3}) ?G|` +
	`(\d{1,3}) ?G\w?的?(?:显存|显卡)|\b(?:geforce|quadr[oa]|tesla|[gr]tx|mx) ?\d{3,4}\w?\b[^.,;\n\d]{0,24}\b(\d{1,2}) ?G(?:i?B)?\b`)

// machineHas is the memory of a machine as people tell it.
var machineHas = lazily(`(?i)\b(\d{1,4}) ?(?:Gi?B|G)\b (?:of )?(?:(?:unified|system|shared|main) )?(?:ram|memory)\b|\b(?:unified memory|ram)\b[^.,;\n\d]{0,12}\b(\d{1,4}) ?(?:Gi?B|G)\b`)

// plainRAM is RAM in a list of what a machine has, ofCard a GPU by its name, whose memory some call RAM; ofMachineParts parts such a list.
var (
	plainRAM       = lazily(`(?i)(?:^|[^\w.])(\d{1,4}) ?(?:Gi?B|G) (?:of )?(?:system |main |DDR\d )?RAM\b`)
	ofCard         = lazily(`(?i)\b(?:rtx|gtx|titan|tesla|geforce|quadro|radeon|nvidia|gpus?|cards?|vram|video|[1-5]0[5-9]0(?:ti)?)\b`)
	ofMachineParts = lazily(`(?i)[,;/|+()]|\b(?:and|with|plus)\b`)
)

// besideGPU is the RAM of a machine in a sentence that names its GPU as well: in a part without it, and behind none.
func besideGPU(sentence string) string {
	if !ofGPUs.MatchString(sentence) || wantedSize.MatchString(sentence) {
		return ""
	}
	behind := false
	for _, part := range strings.Split(ofMachineParts.ReplaceAllString(sentence, "\n"), "\n") {
		card := ofCard.MatchString(part)
		if at := plainRAM.FindStringSubmatch(part); at != nil && !card && !behind {
			return at[1]
		}
		behind = behind || card
	}
	return ""
}

// wantedSize is a size that is needed or advised, not one that somebody has.
var wantedSize = lazily(`(?i)\b(?:need(?:s|ed)?|requir\w*|at least|minimum|recommend\w*|takes?|uses?|using|exceed\w*|free|left|available|reserved|allocated?|allocating|rented?|upgrad\w*|buy)\b|需要|至少`)

// usedDevice is a GPU that is used, by its number.
var usedDevice = lazily(`(?i)\bus(?:es?|ing) (?:only )?(?:the )?(?:device|gpu|cuda) ?[:#]? ?\d\b`)

// toldOfGPU is how large the GPU is, where all that is said of it agrees.
func toldOfGPU(all []sentence) string {
	found := ""
	for _, s := range all {
		if wantedSize.MatchString(usedDevice.ReplaceAllString(s.text, " ")) {
			continue
		}
		for _, at := range gpuHas.FindAllStringSubmatch(s.text, 8) {
			n := at[1] + at[2] + at[3] + at[4] + at[5] + at[6]
			if size, err := strconv.Atoi(n); err != nil || size < 1 || size > 192 {
				continue
			}
			if found != "" && found != n {
				return ""
			}
			found = n
		}
	}
	return found
}

// llamaStarts is what llama.cpp prints first, llamaReads what it prints once it has opened a model. Between the two it sets up the GPUs.
var (
	llamaStarts = lazily(`(?m)^\W*main: seed += +\d+[^\n]*\n(?:\s*\n)*[^\n]*CUDA error`)
	llamaReads  = lazily(`\bllama_model_load|\bllm_load_|\bload_tensors|\bllama_init_from|\bllama_new_context|\bllama_context`)
)

// divided are darknet's batch and the parts in which it comes to the GPU, as its .cfg has them.
// https://github.com/AlexeyAB/darknet/wiki/CFG-Parameters-in-the-%5Bnet%5D-section
var divided = lazily(`(?im)^[ \t>]*batch ?= ?(\d{1,5})\s+subdivisions ?= ?(\d{1,5})\b`)

// addFacts puts them into a context.
func addFacts(c *sampler.LogContext, text string, all []sentence) {
	about := func(words *lazy) bool {
		return slices.ContainsFunc(all, func(s sentence) bool { return words.MatchString(s.text) })
	}
	for _, row := range []struct {
		what  string
		words *lazy
	}{{sampler.ToldAsksGPU, asksGPU}, {sampler.ToldExample, example}} {
		if about(row.words) {
			c.Told = append(c.Told, row.what)
		}
	}
	set := raisedFrom(all)
	if set == "" {
		set = ranWithLess(text, all)
	}
	if set != "" {
		c.Told = append(c.Told, sampler.ToldRaised+set)
	}
	if outlives(all) && !slices.Contains(c.Told, sampler.ToldGrowth) {
		c.Told = append(c.Told, sampler.ToldGrowth)
	}
	if largerGPURuns(all) {
		c.Told = append(c.Told, sampler.ToldLargerGPU)
	}
	if tinyModel.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldTinyModel)
	}
	if llamaStarts.MatchString(text) && !llamaReads.MatchString(text) && !slices.Contains(c.Told, sampler.ToldContext) {
		c.Told = append(c.Told, sampler.ToldContext)
	}
	addSituation(c, text)
	if slices.Contains(c.Told, sampler.ToldRunsOnly) && len(c.Functions) == 0 { // what runs is named beside what fails
		c.Told = append(slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldInference }), sampler.ToldTraining)
		c.Phase = ""
	}
	addPairs(c, text, all)
	if !slices.Contains(c.Told, sampler.ToldReplay) && playsGame(text) {
		c.Told = append(c.Told, sampler.ToldReplay, sampler.ToldPlays)
	}
	if !slices.Contains(c.Told, sampler.ToldReplay) && slices.Contains(c.Told, sampler.ToldGrowth) && (learner.MatchString(text) || fillsBuffer.MatchString(text)) {
		c.Told = append(c.Told, sampler.ToldReplay)
	}
	size := settings[slices.IndexFunc(settings, func(row settingRow) bool { return row.name == "size" })].words
	if slices.Contains(c.Told, sampler.ToldTried+"size") && slices.ContainsFunc(all, func(s sentence) bool {
		return size.MatchString(s.text) && anySize.MatchString(s.text) && vain(s.text) && !cured.MatchString(s.text)
	}) {
		c.Told = append(c.Told, sampler.ToldAnySize)
	}
	if stepOfGuide.MatchString(text) {
		c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldLate })
	}
	least := leastTried(all)
	if least > 0 {
		c.Told = append(c.Told, sampler.ToldDown+"batch "+strconv.Itoa(least))
	}
	if value, is := strings.CutPrefix(set, "batch size "); is {
		if ran, err := strconv.Atoi(value); err == nil && least > ran && c.BatchSize.Or(0) == ran {
			c.BatchSize = sampler.Some(least) // the one that failed, and not that which ran
		}
	}
	if set != "" && !slices.Contains(c.Told, sampler.ToldAsksMore) && slices.ContainsFunc(all, func(s sentence) bool { return slowThen.MatchString(s.text) && !onCPUWord.MatchString(s.text) }) {
		c.Told = append(c.Told, sampler.ToldAsksMore)
	}
	for _, set := range triedValues(all) {
		c.Told = append(c.Told, sampler.ToldInForce+set)
	}
	if what := runsWith(all); what != "" {
		c.Told = append(c.Told, sampler.ToldRuns+strings.TrimSpace(what))
	}
	if option := runsWithout(all); option != "" {
		c.Told = append(c.Told, sampler.ToldWithout+option)
	}
	if at := divided.FindStringSubmatch(text); at != nil {
		batch, _ := strconv.Atoi(at[1])
		parts, _ := strconv.Atoi(at[2])
		c.BatchSize = sampler.Some(max(1, batch/max(1, parts)))
	}
	if n := toldOfGPU(all); n != "" {
		c.Told = append(c.Told, sampler.ToldGPUHas+n)
	}
	for _, s := range all {
		if at := machineHas.FindStringSubmatch(s.text); at != nil && !wantedSize.MatchString(s.text) && !ofGPUs.MatchString(s.text) {
			c.Told = append(c.Told, sampler.ToldRAM+at[1]+at[2])
			break
		}
		if n := besideGPU(s.text); n != "" {
			c.Told = append(c.Told, sampler.ToldRAM+n)
			break
		}
	}
	if n := countOfGPUs(text); n != "" {
		c.Told = append(c.Told, sampler.ToldGPUCount+n)
	}
	if n := largest(text); n != "" {
		c.Told = append(c.Told, sampler.ToldModelSize+n)
	}
}

// stepOfGuide is a step that is done by hand, of which the fifth is as early as the first.
var stepOfGuide = lazily(`(?i)\b(?:step|cell|block|section)s?(?: #?\d+)? (?:of|in) (?:(?:the|a|this|my|your|that) )?(?:\w+ ){0,2}(?:notebook|tutorial|guide|readme|instructions|colab)\b|\b(?:notebook|colab|tutorial)\b[^.\n]{0,20}\b(?:cell|step) #?\d`)

// counted are GPUs with their number.
var counted = lazily(`(?i)\b([2-9]) ?[x×*] ?\d{1,3} ?G(?:i?B)? (?:gpus?|cards?)\b|\b([2-9]|[1-9]\d{1,2})(?: ?[x×*] ?| )(?:(?:nvidia|geforce|rtx|gtx|tesla|quadro) ?)*(?:gpus|cards|[ATLPVH]\d{1,3}[gs]?|A[2456]000s?|` +
	`[1-5]0[5-9]0(?: ?ti)?s?)\b|\b(?:[ATLPVH]\d{1,3}[gs]?|RTX ?[1-5]0[5-9]0(?: ?ti)?)(?: ?(?:GPUs?|cards?|显卡|卡))? ?[x×*] ?([2-9])\b|` +
	`\b([2-9]) ?[张块卡](?:卡|显卡|GPU| ?[ATLPVH]\d{1,3}| ?[1-5]0[5-9]0)`)

// countOfGPUs is their number where all that is said of it agrees; "" where nothing is, or it does not.
func countOfGPUs(text string) string {
	found := ""
	for _, at := range counted.FindAllStringSubmatch(text, 8) {
		if n := at[1] + at[2] + at[3] + at[4]; found == "" || found == n {
			found = n
			continue
		}
		return ""
	}
	return found
}

// largest is the size of the largest model that a text names, in billions; "" for none.
func largest(text string) string {
	most, name := 0.0, ""
	for _, at := range billions.FindAllStringSubmatch(text, 16) {
		if n, err := strconv.ParseFloat(at[1], 64); err == nil && n > most && n <= 700 {
			most, name = n, at[1]
		}
	}
	if name == "" && unsized.MatchString(text) {
		return "6"
	}
	return name
}

// unsized are models of one size only, which people leave out: https://github.com/zai-org/ChatGLM3
var unsized = lazily(`(?i)\bchatglm[23]?\b`)

// tinyModel is a variant of Whisper with few layers, as options, calls and people name it.
var tinyModel = lazily(`(?i)--model[ =]["']?(?:tiny|base|small|distil)\b|\bload_model\(["'](?:tiny|base|small)|\bWhisperModel\(["'](?:tiny|base|small|distil)|\b(?:the |whisper )(?:tiny|base)(?:\.en)? model\b`)

// raise is a setting that was set higher.
var raise = lazily(`(?i)\b(?:I|we) (?:have |had |just |then |only |recently )*(?:rais|increas|chang|bump|set|mov|went|go)\w*\b (?:up )?(?:the |` +
	`my )?["'\x60]?([a-z]\w*(?:[ _-]\w+){0,2}?)["'\x60]? from ["'\x60]?(\d{1,6}) ?(?:to|->|→) ?["'\x60]?(\d{1,6})\b`)

// resource is what a job may use, not what it asks for: with more of it no job fails that ran with less.
var resource = lazily(`(?i)\b(?:v?ram|swap\w*|(?:page|paging)[ _-]?files?|pagefiles?|memory(?: (?:size|limit|quota|request))?|mem|gpus|cards|cpus?|cores|shm(?:[ _-]size)?|` +
	`disk|storage)$|^(?:number|amount|count|size) of (?:the )?(?:gpus?|cards|v?ram|memory|swap|shm|cpus?|cores)\b`)

// raisedFrom is a setting and the value that it had before it was set higher and the job failed; "" for none.
func raisedFrom(all []sentence) string {
	for i, s := range all {
		at := raise.FindStringSubmatch(s.text)
		if at == nil || cured.MatchString(s.text) || resource.MatchString(at[1]) {
			continue
		}
		before, _ := strconv.Atoi(at[2])
		after, _ := strconv.Atoi(at[3])
		fails := ranOut.MatchString(s.text) || i+1 < len(all) && ranOut.MatchString(all[i+1].text)
		if fails && before > 0 && after > before {
			return at[1] + " " + at[2]
		}
	}
	return ""
}
