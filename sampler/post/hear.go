package post

import (
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/hearsay"
)

// heard are the tellings of package hearsay that count here, what each is called in a context, or of which phase it is, and how sure it must be at least
// where that is more than the package asks. words must stand in the passage, where they are set, and except must not.
var heard = []struct {
	telling, what, phase string
	least                float32
	words, except        *lazy
}{
	{telling: "late", what: sampler.ToldLate, least: 0.66},
	{telling: "varies", what: sampler.ToldVaries, least: 0.45, except: lazily(`(?i)\bdifferent (?:\w+ )?(?:errors?|messages?|exceptions?|problems?|issues?)\b`)},
	{telling: "next", what: sampler.ToldNext, least: 0.55},
	{telling: "growth", what: sampler.ToldGrowth, least: 0.75},
	{telling: "keeps", what: sampler.ToldKeeps, least: 0.6},
	{telling: "larger", what: sampler.ToldLarger, least: 0.6},
	{telling: "resume", what: sampler.ToldCheckpoint, except: lazily(`(?i)\bcontinue[sd]? to (?:run out|get|fail|crash|have|see|hit)\b|\b\d+ (?:more |further )?(?:iterations?|steps?|epochs?|batches)\b[^.]{0,24}\bagain\b|\bfor exactly \d+`)}, // the failure goes on, or it comes after steps as it did in the run before
	{telling: "other", what: sampler.ToldHeld, except: lazily(`(?i)\bshared (?:node|cluster|partition|queue)\b|` + failsWithout)},                                                                                                                // of which each job has GPUs of its own
	{telling: "update", what: sampler.ToldUpdate, least: 0.6, words: lazily(`(?i)version|updat|upgrad|driver|releas|commit|downgrad|revert|roll(?:ed|ing)? ?back|\bgit\b|pull|master|\bmain\b|\b(?:old|new)(?:er|est)?\b|build|\d\.\d+\.\d|install|bisect|regress`),
		except: lazily(`(?i)\bsame (?:\w+ )?(?:error|problem|issue)s?\b|\balso\b|\bboth\b|\d and (?:the |with |in )?(?:nightly|master|main|latest)\b|\bupgrad\w* (?:to )?(?:my |the |more )*(?:gpu|card|ram|memory)\b|` + systemUpdate)},
	{telling: "worked", what: sampler.ToldWorked, least: 0.7, except: lazily(`(?i)` + atSomeBatch)},
	{telling: "more_gpus", what: sampler.ToldTried + "gpu", least: 0.6, except: cured},
	{telling: "validation", phase: sampler.PhaseValidation, least: 0.65, words: lazily(`(?i)vali?d|\bval\b|\beval`),
		except: lazily(`(?i)` + periods + `|\b(?:not|rather than|instead of) (?:in |during |at |from )?(?:the )?(?:vali?d\w*|eval\w*)|\bval\w*[ _-]batch[ _-]?size\w*\s*(?:is|was|=|:|of)\s*\d`)}, // one of the settings that are listed
	{telling: "saving", phase: sampler.PhaseSaving, least: 0.65, words: lazily(`(?i)\bsav(?:e|es|ing)\b|\bsave_|checkpoint|export|\bwrit(?:e|es|ing)\b|consolidat|push|(?:merg|conver)\w*\b[^.\n]{0,40}\b` + savedThings + `|\b` + savedThings + `[^.\n]{0,40}\b(?:merg|conver)`), except: lazily(`(?i)\bbefore\b`)},
}

// failsWithout is a failure while another program is not there, which so cannot be what takes the memory.
const failsWithout = `\b(?:if|when|unless|whenever) (?:I |we )?(?:do(?: not|n['’]?t)|did(?: not|n['’]?t)|have(?: not|n['’]?t)) (?:open|start|run|launch|use)(?:ed|ted)?\b|` +
	`\b(?:with|if|when|once) [^.,\n]{1,24}\bopen\b,? (?:it|(?:the|my) \w+) (?:then |always )?(?:works|starts|runs|trains)\b`

// atSomeBatch is a run that goes well until one batch of many, which is larger than those before it.
const atSomeBatch = `\b(?:but|until|till|then|and)\b[^.\n]{0,12}\b(?:at|on|in|for|with|after) (?:some|certain|a certain|one|random|a few|a particular) (?:\w+ )?(?:batch|step|iteration|sample|example)(?:e?s)?\b`

// systemUpdate is one of the operating system, which leaves the program as it was.
const systemUpdate = `\b(?:windows(?: server)?(?: (?:7|8(?:\.1)?|10|11))?(?: (?:home|pro|enterprise|x64|64[- ]bit|\d\dH\d))?|win ?(?:10|11)|ubuntu(?: \d\d\.\d\d)?|debian|fedora|arch linux|mac ?os(?: \w+)?)[ ,:(-]+(?:(?:with|the|is|all|fully|newest|latest|last|most|recent|current|new) )*(?:up ?dat|up-?to-?dat|upgrad)\w*`

// savedThings are what is converted or merged to be saved; pictures, videos and faces are converted, too.
const savedThings = `(?:models?|weights?|checkpoints?|adapters?|loras?|onnx|gguf|safetensors|state_?dict|shards?|hf|fp16|bf16)\b`

// mostHeard sentences are listened to: nobody tells his failure later, and who writes more than that copies a log.
const mostHeard = 200

// hear puts into a context what the sentences tell, each alone and with the next one. It returns the phase in which it fails, if one is told.
func hear(c *sampler.LogContext, all []sentence) (phase string) {
	for i, s := range all[:min(len(all), mostHeard)] {
		if s.note || s.tried || printedShort.MatchString(s.text) {
			continue
		}
		passages := []string{s.text}
		if next := i + 1; next < len(all) && all[next].line-s.line <= 1 && !s.title {
			passages = append(passages, s.text+" "+all[next].text)
		}
		for _, p := range passages {
			for _, t := range hearsay.Of(p) {
				for _, row := range heard {
					if row.telling != t.Name || t.Sure < row.least || row.words != nil && !row.words.MatchString(p) || row.except != nil && row.except.MatchString(p) {
						continue
					}
					if row.what != "" && !slices.Contains(c.Told, row.what) {
						c.Told = append(c.Told, row.what)
					}
					if phase == "" {
						phase = row.phase
					}
				}
			}
		}
	}
	return phase
}

// hearsHost says whether the sentences tell that the memory of the machine ran out.
func hearsHost(all []sentence) bool {
	return slices.ContainsFunc(all[:min(len(all), mostHeard)], func(s sentence) bool {
		return slices.ContainsFunc(hearsay.Of(s.text), func(t hearsay.Said) bool { return t.Name == "ram" })
	})
}

// How sure it must be that a sentence tells of memory that ran out, where all else says that somebody reports a failure of his own, and elsewhere. What
// manuals and lists of changes say of memory is much alike, and a title alone is short.
const (
	ownShort   = 0.65
	proofShort = 0.85
	// surelyOwn is the weight of the clues of a report from which on it is one.
	surelyOwn = -3
)

// shortIn is how sure it must be of a sentence of that text.
func shortIn(j *judge, s sentence, of int) float32 {
	if !s.title && j.weighs() <= surelyOwn {
		return among(of, ownShort)
	}
	return among(of, proofShort)
}

// fewSentences are as many as most reports have.
const fewSentences = 30

// among is how sure it must be of one of so many sentences, in each of which one may err: a manual or an article has hundreds.
func among(of int, least float32) float32 {
	return 1 - (1-least)*min(1, fewSentences/float32(of))
}

var (
	// printedShort is a part of what a program printed, of which package oomlog knows more; deniesShort says that it was something else.
	printedShort = lazily(`(?i)\btried to allocate\b|\ballocated: \d|\berror:? -?\d+\b|\bENOMEM\b|\b[A-Z]{3,}_STATUS_|^\W{0,3}\{`)
	deniesShort  = lazily(`(?i)` + otherwise + deniesIn())
)

// heardShort says whether a sentence tells that memory ran out, in whatever words, and as surely as that.
func heardShort(s sentence, least float32) bool {
	return !printedShort.MatchString(s.text) && (s.title || !onlyKilled(s)) && hearsay.SureOf(s.text, "short") >= least
}

// complaints are what somebody complains of in a program that has trouble with memory, also where no failure is told. How sure it must be is our own choice; a
// title is what it is all about.
var complaints = []string{"growth", "other", "one_gpu", "resume", "ram"}

const (
	surelyComplains = 0.7
	titleComplains  = 0.5
)

// othersOnFirst are processes of other GPUs that take memory of the first one.
const othersOnFirst = `\bprocess(?:es)?\b[^.\n]{0,40}\b(?:on|of|for) (?:the other |other )?(?:GPUs?|cards|ranks?)(?: ?[1-7](?:(?:,| and|, and|-) ?[1-7])*)?\b[^.\n]{0,12}\b(?:us(?:e|es|ing)|tak(?:e|es|ing)|occup(?:y|ies|ying)|hold(?:s|ing)?|allocat(?:e|es|ing))\b[^.\n]{0,50}\b(?:on|of|in) (?:the )?(?:first (?:GPU|card)|(?:GPU|cuda|device) ?[:#]? ?0)\b`

// crowdsFirst are processes of one's own job that are on a GPU which is not theirs.
var crowdsFirst = lazily(`(?i)` + othersOnFirst + `|\b(?:there (?:are|were)|(?:I|we) (?:see|saw|noticed?|found|have|get|got)|nvidia-smi shows)\b[^.]{0,40}\b(?:extra|additional|more) process(?:es)?\b[^.]{0,24}\b(?:on|in) (?:the )?(?:first (?:GPU|card)|(?:GPU|cuda|device) ?[:#]? ?0)\b`)

// keptAfterKill is memory of a GPU that stays taken when the process that took it was ended.
var keptAfterKill = lazily(`(?i)` + processEnded + `[^.\n]{0,80}?` + stillHeld + `|` + stillHeld + `[^.\n]{0,40}?` + processEnded)

// asksForLess is a question how a program takes less of a GPU, and smallOwn a GPU of whoever asks that he calls too small for it.
var (
	asksForLess = lazily(`(?i)\b(?:what|which|how|is there|any way|are there)\b[^.\n]{0,60}\b(?:reduc|lower|decreas|sav|cut|limit)\w*\b[^.\n]{0,24}\b(?:(?:gpu|cuda|video) (?:memory|ram)|vram|memory(?: \w+)? (?:of|on) (?:the |my )?(?:gpu|(?:graphics |video )?card))\b`)
	smallOwn    = lazily(`(?i)\b(?:my|our|I|we)\b[^.\n]{0,30}\b(?:only (?:has|have|got)|(?:has|have|with|is|got) only)\b[^.\n]{0,12}\b\d{1,2} ?G(?:i?B)?\b`)
)

// wantsLess is the question of somebody whose GPU is too small for what he wants to do with a program, where he has met the end of it.
func wantsLess(text string, all []sentence) (sentence, bool) {
	if !slices.ContainsFunc(all, func(s sentence) bool { return smallOwn.MatchString(s.text) && mineGPU.MatchString(s.text) }) {
		return sentence{}, false
	}
	head, _, _ := strings.Cut(strings.TrimLeft(text, "\ufeff \t\r\n"), "\n") // a title without a word for a failure is no sentence
	if asksForLess.MatchString(head) {
		return sentence{text: strings.TrimSpace(head), line: 1, title: true}, true
	}
	i := slices.IndexFunc(all, func(s sentence) bool { return asksForLess.MatchString(s.text) })
	if i < 0 {
		return sentence{}, false
	}
	return all[i], true
}

// mineGPU is a GPU, or the memory that only one has.
var mineGPU = lazily(`(?i)\b(?:gpu|(?:graphics|video) card|vram|cuda|[rg]tx ?\d{3,4})\b`)

// complaint is the first sentence by which somebody complains of memory.
func complaint(all []sentence) (sentence, bool) {
	for _, s := range all[:min(len(all), mostHeard)] {
		least := among(len(all), surelyComplains)
		if s.title {
			least = titleComplains
		}
		if !s.note && !s.tried && !talk.MatchString(expected(s.text)) && !code.MatchString(s.text) && slices.ContainsFunc(hearsay.Of(s.text), func(t hearsay.Said) bool {
			return t.Sure >= least && slices.Contains(complaints, t.Name)
		}) {
			return s, true
		}
		if !s.note && !s.tried && (crowdsFirst.MatchString(s.text) || keptAfterKill.MatchString(s.text) || keptByRanks.MatchString(s.text)) && !talk.MatchString(expected(s.text)) && !code.MatchString(s.text) {
			return s, true
		}
	}
	return sentence{}, false
}
