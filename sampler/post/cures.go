package post

import (
	"slices"

	"nvpeak/sampler"
)

var (
	// solves is how somebody says of what he did that with it the failure is gone, or of what is to be done that with it there is none.
	solves = lazily(`(?i)\b(?:fix(?:es|ed)|solv(?:es|ed)|resolv(?:es|ed)|cur(?:es|ed)) (?:(?:the|this|that|my|our) (?:\w+ )?(?:problems?|issues?|errors?|oom|leak|crash\w*)|it|this|that)\b|` +
		`\b(?:problem|issue|error|oom|leak) (?:is|was|gets) (?:then |now )?(?:solved|fixed|resolved|gone)\b|\b(?:this|it|which|that|oom|crash|error) (?:can|could) be (?:avoided|prevented|solved|fixed) (?:with|by|using)\b`)
	// unsolved are words beside which it is only thought of, or is not all.
	unsolved = lazily(`(?i)\b(?:not|never|no|cannot|only|if|would|should|might|may|hop(?:e|ed|ing)|expect\w*|whether|how|but|however|although|though|unless|until|temporar\w*|partly|partially)\b|n['’]t\b|[?？]`)
	// thenRuns is a sentence behind the one about what was changed, with what came of that.
	thenRuns = lazily(`(?i)^\W*(?:and |then |now |so )*(?:it|this|that|training|everything)(?: (?:then|now|is|was|does))* (?:work(?:s|ed|ing)?|runs?|ran|running|trains)\b(?: (?:now|then|fine|well|ok|okay|again))*(?:\W*$|[,;]? (?:but|and|so|until)\b)`)
)

// cures are the settings of which whoever writes says that changing them was what helped.
func cures(all []sentence) (told []string) {
	var helped []string // sentences of what did, few of many
	for i, s := range all {
		if (solves.MatchString(s.text) || ranAfter(all, i)) && !unsolved.MatchString(s.text) && !vain(s.text) {
			helped = append(helped, s.text)
		}
	}
	for _, row := range settings {
		if slices.ContainsFunc(helped, row.words.MatchString) || row.name == "no_grad" && slices.ContainsFunc(all, func(s sentence) bool { return runsUnder(s, row.words) }) {
			told = append(told, sampler.ToldCured+row.name)
		}
	}
	return told
}

// runsUnder: a clause says that it runs with that switch, which costs nothing, so that nobody who has found it is in want of more.
func runsUnder(s sentence, words *lazy) bool {
	return words.MatchString(s.text) && slices.ContainsFunc(clausesOf(s.text), func(c clause) bool {
		return c.outcome == ran && words.MatchString(c.text) && !supposes.MatchString(c.text) && !vain(c.text)
	})
}

// ranAfter: that sentence tells of something that was made smaller, and the next one that it runs.
func ranAfter(all []sentence, i int) bool {
	return i+1 < len(all) && all[i+1].line-all[i].line <= 1 && lowered.MatchString(all[i].text) && thenRuns.MatchString(all[i+1].text)
}

// loadsOnCPU: the cure is said to be that the weights are read to the CPU first.
func loadsOnCPU(s sentence) bool {
	return (asCure.MatchString(s.text) || solves.MatchString(s.text)) && (onCPU.MatchString(s.text) || toCPU.MatchString(s.text))
}

// lowered is a setting that was made smaller.
var lowered = lazily(`(?i)\b(?:I|we)\b[^.]{0,16}\b(?:reduc|lower|decreas|halv|shrink|shrank|shrunk)\w*`)
