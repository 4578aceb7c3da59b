package post

import (
	"strconv"
	"strings"
)

// Models that are compared, and sizes of pictures, as people tell them.
var (
	// modelOf is the size of a model in billions of parameters.
	modelOf = lazily(`(?i)(?:^|[^\w.])(?:[a-z]+|[a-z][\w.]*[-_ ])?(\d{1,3}(?:\.\d{1,2})?)b(?:\b|[^\w]|$)`)
	// ranWith is how somebody tells that it ran, in a clause of its own.
	ranWith = lazily(`(?i)\b(?:could|can|was able|were able|works?|worked|runs?|ran|trains?|trained|fits?|fine|no (?:problem|issue)s?|without (?:any )?(?:problem|issue)s?)\b|正常|没(?:有)?问题|可以|能跑|能训`)
	// failsWith is how he tells that it did not. clauses are where one ends.
	failsWith = lazily(`(?i)\b(?:oom\w*|out of|runs? out|fail\w*|crash\w*|errors?|can ?not|overflow\w*)\b|n['’]?t\b|溢出|不足|不够|爆|报错`)
	onGear    = lazily(`(?i)\b(?:on|with) (?:my|an?|the|another|our) (?:\w+ )?(?:gpu|card|laptop|server|machine|pc|cluster)\b`)
	clauses   = lazily(`(?i)[.!?;。！？；]|[,，]? ?(?:\b(?:but|while|whereas|yet|however)\b|但是?|可是|现在|而)`)
)

// smallerFails: a model is said to fail that is smaller by a quarter or more (own threshold) than one with which it ran, with no word of another
// GPU. What changed is not the size.
func smallerFails(all []sentence) bool {
	ran, fails := 0.0, 0.0
	for _, s := range all {
		if !modelOf.MatchString(s.text) {
			continue
		}
		for _, clause := range strings.Split(clauses.ReplaceAllString(s.text, "\n"), "\n") {
			at := modelOf.FindAllStringSubmatch(clause, 4)
			if len(at) != 1 || gear.MatchString(clause) || onGear.MatchString(clause) {
				continue // of several it is not said which
			}
			size, _ := strconv.ParseFloat(at[0][1], 64)
			switch {
			case failsWith.MatchString(clause) && (fails == 0 || size < fails):
				fails = size
			case !failsWith.MatchString(clause) && ranWith.MatchString(clause):
				ran = max(ran, size)
			}
		}
	}
	return fails > 0 && fails <= ran*3/4
}

// side is the size of the pictures that somebody says he has set.
var side = lazily(`(?i)\b(?:img|image|picture|input|crop)[-_ ]?(?:sz|size|side|resolution)s?\b["'\x60]?(?: (?:to|of|is|was|at|as|even|only|just)|[=:])* ?(\d{2,4})(?: ?[x×*] ?(\d{2,4}))?\b`)

// sideOf is its largest value, where one is told; "" for none.
func sideOf(all []sentence) string {
	most := 0
	for _, s := range all {
		for _, at := range side.FindAllStringSubmatch(s.text, 8) {
			for _, n := range at[1:] {
				if v, err := strconv.Atoi(n); err == nil {
					most = max(most, v)
				}
			}
		}
	}
	if most == 0 {
		return ""
	}
	return strconv.Itoa(most)
}

// epochEnd is a hook of Lightning before 2.0 that is given the outputs of all steps of an epoch, which are kept for it; hooks are those by their names.
// https://lightning.ai/docs/pytorch/1.9.5/common/lightning_module.html#training-epoch-end
var (
	epochEnd = lazily(`\bdef (?:training|validation|test)_epoch_end\(\s*self\s*,\s*\w+`)
	hooks    = lazily(`\b(?:training|validation|test)_epoch_end\b`)
)

// Two releases by numbers of their own, and a change to another one beside one that ran.
var (
	// builds are releases that are counted: r126, b4821. A number that is a power of two may be a rank or a batch.
	builds = lazily(`(?i)\b(?:r(\d{2,4}(?:\.\d+)?)|b(\d{4,5}))\b` + goesWell + `[^\n]{0,40}(?:[,;]|\b(?:but|while|whereas|and|since)\b)[^\n]{0,16}\b(?:r(\d{2,4}(?:\.\d+)?)|b(\d{4,5}))\b(?:` + goesBadly + `| do(?:es)? not\b)`)
	// ofLibraries are versions behind the name of a library that has them, of which the second may stand alone.
	ofLibraries = lazily(`(?i)\b(?:vllm|sglang|torch|pytorch|tensorflow|jax|transformers|diffusers|accelerate|deepspeed|bitsandbytes|peft|ollama|llama\.cpp|onnxruntime|` +
		`tensorrt|xgboost|comfyui|triton|cuda|whisper|faster-whisper|ultralytics)[ =-]{1,2}` + anyVersion + goesWell + `[^\n]{0,40}(?:[,;]|\b(?:but|while|whereas|and)\b)[^\n]{0,12}\b(?:with|in|on|under|using|since) (?:\w+ )?` + anyVersion + goesBadly)
	// changedTo is a change to another version, and ranWithout that there was no trouble before.
	changedTo  = lazily(`(?i)\b(?:switched|moved|changed|migrated|upgraded|updated|went) (?:over )?(?:from \S+ )?to (?:the )?(?:(?:new(?:er|est)?|latest|current) )?(?:version|release|build) ?[bvr]?\d`)
	ranWithout = lazily(`(?i)\bwithout (?:any )?(?:problems?|issues?|errors?|trouble)\b|\bno (?:problems?|issues?)\b|\b(?:worked|ran|was (?:fine|ok|okay))\b|\b(?:ran|working|running|worked) (?:fine|well|ok|okay)\b`)
	// runsPinned is a version of a package, as a list of requirements has it, with which it runs; denies is what makes of it one with which it does not.
	runsPinned = lazily(`(?i)\b(?:works?|worked|runs?|ran|fine)\b[^.,;\n]{0,16}\b(?:with|under|on|using) [\x60"'(]?[\w-]+==v?\d+(?:\.\d+)+`)
	denies     = lazily(`(?i)\b(?:not|never|neither|nor|longer)\b|n['’]?t\b`)
	// newFails is a new version, whatever its number looks like, with which it fails.
	newFails = lazily(`(?i)\b(?:since|with|in|on|after) (?:the |my |this )?new(?:er|est)? (?:driver|version|build|release)\b(?:[^.,;\n]|\.\d){0,40}\b(?:crash\w*|fail\w*|errors?|oom\w*|out of)`)
	unclear  = lazily(`(?i)\bsame (?:\w+ )?(?:errors?|problems?|issues?|thing|result|message)\b|\b(?:also|both|should|could|if|would|how|plan|want|whether)\b|\?`)
)

// otherRelease: one release is said to run, and another one not.
func otherRelease(all []sentence) bool {
	for _, s := range all {
		if unclear.MatchString(s.text) {
			continue
		}
		if changedTo.MatchString(s.text) && ranWithout.MatchString(s.text) || ofLibraries.MatchString(s.text) || newFails.MatchString(s.text) {
			return true
		}
		if at := runsPinned.FindStringIndex(s.text); at != nil && !denies.MatchString(s.text[:at[0]]) {
			return true
		}
		if at := builds.FindStringSubmatch(s.text); at != nil && ofRelease(at[1]+at[2]) && ofRelease(at[3]+at[4]) && at[1]+at[2] != at[3]+at[4] {
			return true
		}
	}
	return false
}

// ofRelease: a number that is no power of two.
func ofRelease(number string) bool {
	n, err := strconv.Atoi(number)
	return err != nil || n&(n-1) != 0
}
