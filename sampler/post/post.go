package post

import (
	"io"
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// maxBytes is more than people write: a longer text is a log.
const maxBytes = 32 << 10

// Scan finds failures in a text, as oomlog.Scan does: it reads the context of those that are only told of.
type Scan func(io.Reader) ([]sampler.OOMEvent, error)

// Head is a writer that keeps a text as long as it can be a post.
type Head struct {
	text strings.Builder
	long bool
}

// Write takes a piece of the text; it never fails.
func (h *Head) Write(b []byte) (int, error) {
	if h.long = h.long || h.text.Len()+len(b) > maxBytes; !h.long {
		h.text.Write(b)
	}
	return len(b), nil
}

// Read is Read of what was written, or events as they are where that is no post.
func (h *Head) Read(events []sampler.OOMEvent, scan Scan) []sampler.OOMEvent {
	if h.long {
		return events
	}
	return Read(h.text.String(), events, scan)
}

// commentWithin is a comment among the lines of a command.
var commentWithin = lazily(`\\[ \t]*\r?\n[ \t]*#[^\n]*\n[ \t]*-`)

// gap is where who copied a command left a part of it out.
var gap = lazily(`\s(?:\[(?:\.{3}|…)\]|…)(?:\s|$)`)

// merelyWarns: somebody has answered that the program only warns.
var merelyWarns = lazily(`(?i)\b(?:these|those|they|this|it|that)(?: ?['’](?:re|s)| (?:are|is)) (?:(?:just|only|merely|simply|all|a|an|harmless) )*warnings?\b`)

// wanted: whoever asks for help with failures that his program skipped or tried again wants what they stood for.
func wanted(events []sampler.OOMEvent, all []sentence) bool {
	return !slices.ContainsFunc(all, func(s sentence) bool { return merelyWarns.MatchString(s.text) }) && (pleads(all) || complains(all) || asksInTitle(all) || callsError(all) || slices.ContainsFunc(all, func(s sentence) bool { return died.MatchString(s.text) })) && !slices.ContainsFunc(events, func(e sampler.OOMEvent) bool { return !e.Recovered })
}

// asksInTitle: the failure is what somebody asks about in his title, and no warning beside which it went on.
func asksInTitle(all []sentence) bool {
	return slices.ContainsFunc(all, func(s sentence) bool {
		return s.title && strings.ContainsAny(s.text, "?？") && ranOut.MatchString(s.text) && !wentOn.MatchString(s.text)
	})
}

// wentOn is a failure that somebody names together with the program's going on.
var wentOn = lazily(`(?i)\bwarn\w*|\b(?:still|but|yet|anyway|continu\w*|ignor\w*|harmless|normal|worr\w+|safe\w*|recover\w*|skip\w*)\b`)

// callsError: who speaks of himself, or heads his text so, gives what the program printed as the error that he got, and does not say that it is through all the same.
func callsError(all []sentence) bool {
	return slices.ContainsFunc(all, func(s sentence) bool { return asError.MatchString(s.text) && (s.title || firstHand(all)) }) && !slices.ContainsFunc(all, func(s sentence) bool {
		at := isThrough.FindStringIndex(s.text)
		return at != nil && !condition.MatchString(s.text[:at[0]])
	})
}

var (
	asError = lazily(`(?i)\b(?:results? in|resulted in|leads? to|led to|gives?|gave|get|gets|got|getting|throws?|raises?|ends? (?:in|with)|ended (?:in|with)|fails? with|` +
		`failed with|stops? (?:at|with))\b (?:me |us |in |to )?(?:the |this |these |an? )?(?:following |same )?(?:\w+ )?(?:errors?|failures?)(?: messages?|` +
		` logs?)?\b|\b(?:when|where|until|before|after) the (?:error|failure|crash) (?:occurs|happens|comes|appears)\b`)
	isThrough = lazily(`(?i)\b(?:engine|build(?:ing)?|export|conversion|it|everything|compilation|process|` +
		`plan)\b (?:(?:is|was|gets|still|does|nevertheless|in the end|eventually|then) )*(?:built|builds?|finish(?:es|ed)?|completes?|completed|succeeds|` +
		`succeeded|succeed|saved|created|written|works|worked|goes through|went through)\b`)
)

// predictsNone is a program whose batch is all that was asked of it, so that nothing comes out where it is skipped.
var predictsNone = lazily(`(?i)\bboltz\b(?s:.{0,400})\bran out of memory, skipping batch\b`)

// runsFine: whoever writes says that the program runs all the same, under no condition.
var runsFine = lazily(`(?i)\b(?:script|program|training|code|everything|job|process|it|run|model|inference)\b (?:still |just |otherwise |does )*(?:runs?|works?|trains?|` +
	`finish(?:es)?|completes?|continues?) (?:fine|well|ok|okay|normally|correctly|successfully|perfectly|smoothly|anyway|regardless|to the end|` +
	`in the end)\b(?:\W*$|[,;]? (?:but|though|and|so|however|anyway)\b)`)

// condition is what makes of that something else than what was met.
var condition = lazily(`(?i)\b(?:if|when|until|unless|before|after|with|without|on|using|for|first|previously|earlier|yesterday|once|only)\b`)

// runsOn: the program warns that memory is short and runs nevertheless, as somebody says who shows no end of it. Only what its allocator
// also prints as a warning can be meant.
func runsOn(events []sampler.OOMEvent, all []sentence) bool {
	return !slices.ContainsFunc(events, func(e sampler.OOMEvent) bool {
		return e.Kind != sampler.KindTensorFlow && e.Kind != sampler.KindXLA || e.Extra["shape"] != nil || e.Context != nil && len(e.Context.Functions) > 0
	}) && !slices.ContainsFunc(all, func(s sentence) bool { return died.MatchString(s.text) }) &&
		slices.ContainsFunc(all, func(s sentence) bool {
			at := runsFine.FindStringIndex(s.text)
			return at != nil && !condition.MatchString(s.text[:at[1]])
		})
}

// withoutTitle leaves out what a title says of a GPU where the log below shows but one failure of that program, with its amount, and it is of RAM.
func withoutTitle(events []sampler.OOMEvent, text string) []sampler.OOMEvent {
	if len(events) != 2 || events[0].Line != 1 || events[0].Requested.Known() || events[1].Recovered || !events[1].Requested.Known() ||
		events[0].MemoryKind != sampler.MemoryGPU || events[1].MemoryKind != sampler.MemoryHost || events[0].Framework != events[1].Framework {
		return events
	}
	line, rest, _ := strings.Cut(text, "\n")
	if !plain(line, rest) && heading.FindString(line) == "" {
		return events
	}
	return events[1:]
}

var (
	leftForCPU  = lazily(`(?i)\b(?:on|with|using) (?:the |my )?CPU,? (?:as|because|since)\b[^.\n]{0,24}\b(?:GPU|VRAM|CUDA)\b`)
	memoryError = lazily(`(?i)\A\W*memory ?error\b`)
)

// movedToCPU: what is told is a memory error, and that the GPU was left for the CPU before: it is the one of RAM.
func movedToCPU(events []sampler.OOMEvent, text string, all []sentence) bool {
	return len(events) == 1 && events[0].Extra["told"] == true && memoryError.MatchString(text) && slices.ContainsFunc(all, func(s sentence) bool { return leftForCPU.MatchString(s.text) })
}

var (
	// aboutGPU are words beside which memory need not be that of the machine.
	aboutGPU = lazily(`(?i)\b(?:gpus?|cuda\w*|vram|nvidia\w*|\w*torch|graphics|video|colab|rtx|gtx|xla|jax)\b|显存|显卡`)
	// numpyArray is an array that lies in RAM, and learner one that keeps what it saw in a buffer there, of classes with these names:
	// https://stable-baselines3.readthedocs.io/en/master/guide/algos.html
	numpyArray = lazily(`(?i)\bnumpy (?:\w+ )?(?:zeros|ones|empty|arrays?|matri\w+)\b|\b(?:np|numpy)\.(?:zeros|ones|empty|full)\b`)
	learner    = lazily(`\b(?:DQN|SAC|TD3|DDPG)\(`)
	// fillsBuffer is what such a learner prints of its buffer.
	fillsBuffer = lazily(`\b(?:replay_?)?buffer[_ ](?:add|size|len)\w*: ?\d`)
)

// onDevice is the option of a command that takes the GPU, which says nothing of whose memory is meant.
var onDevice = lazily(`\s--?(?:use[-_])?(?:cuda|gpu|device)s?(?:[ =](?:\d|cuda\S*|true|gpu))?\b`)

// playsGame: an agent learns to play a game, and not on policy.
func playsGame(text string) bool {
	return games.MatchString(text) && agents.MatchString(text) && !onPolicy.MatchString(text)
}

// inRAM: no GPU is spoken of, and what ran out is an array or a buffer that lies in RAM.
func inRAM(events []sampler.OOMEvent, text string) bool {
	return len(events) == 1 && events[0].Extra["told"] == true && events[0].MemoryKind == sampler.MemoryGPU && !aboutGPU.MatchString(onDevice.ReplaceAllString(text, " ")) &&
		(numpyArray.MatchString(text) || learner.MatchString(text) || playsGame(text))
}

// died is the end of the program, told or printed.
var died = lazily(`(?i)\b(?:training|run|program|process|script|job|it) (?:\w+ )?(?:dies|died|crash(?:es|ed))\b|` +
	`\b(?:exports?|build(?:ing)?|conver(?:sion|ting)|engines?)\b(?: (?:is|was|to|of|the|has|have|an?|\w*2\w+))* failed\b|` +
	`\bfail(?:s|ed) to (?:build|export|convert)\b|\bsegmentation fault\b|\bcore dumped\b`)

// loaderHint is what PyTorch advises where a worker has died, which nobody has set yet.
var loaderHint = lazily(`\bRerunning with num_workers=0 may give better error trace\b`)

// Read adds to the failures found in a text what whoever wrote it says of them. Where none was found but
// somebody tells of one, it returns that one.
func Read(text string, events []sampler.OOMEvent, scan Scan) []sampler.OOMEvent {
	all := sentences(text)
	if head, ok := title(text, all, len(events) > 0); ok {
		all = append([]sentence{head}, all...)
	}
	j := newJudge(text, all)
	events = slices.DeleteFunc(slices.Clone(events), j.about)
	if len(events) == 0 {
		e, ok := reported(text, all, scan, j)
		if !ok || j.about(e) {
			return events
		}
		events = append(events, e)
	}
	events = withoutTitle(events, text)
	if movedToCPU(events, text, all) || inRAM(events, text) {
		events[0].MemoryKind, events[0].Kind, events[0].Framework = sampler.MemoryHost, sampler.KindHostAlloc, ""
	}
	if wanted(events, all) {
		for i := range events {
			events[i].Recovered = false
		}
	}
	if predictsNone.MatchString(text) && !trains.MatchString(text) {
		for i := range events {
			events[i].Recovered = false
		}
	}
	if runsOn(events, all) {
		for i := range events {
			events[i].Recovered = true
		}
	}
	text = loaderHint.ReplaceAllString(tools.WithoutEnvironments(text), "")
	lines, named := codeLines(text), failing(text, all)
	var once contexts
	if len(events) == 1 {
		addDemanded(&events[0], text)
	}
	for i := range events {
		addStats(&events[i], text)
		if events[i].Context != nil {
			once.add(events[i].Context, func(c *sampler.LogContext) {
				add(c, text, all, lines)
				addFacts(c, text, all)
			})
			addPhotos(events[i].Context, text, events[i].Line)
			tool := named
			if t := tools.In(events[i].Context.Command); t != nil && !t.Library {
				tool = t // what was typed is what failed
			}
			addShown(events[i].Context, text, tool)
			addGPU(events[i].Context, text)
			addSlice(events[i].Context, text)
			addRoomy(events[i].Context, text)
			addListed(events[i].Context, text)
			addMaker(events[i].Context, text)
			if told, _ := events[i].Extra["told"].(bool); told && events[i].Kind == sampler.KindCUDA && slices.Contains(events[i].Context.Told, sampler.ToldROCm) {
				events[i].Kind = sampler.KindHIP // as PyTorch for that GPU calls it
			}
			addLanguage(events[i].Context, text, all)
			if before, _, is := strings.Cut(events[i].Context.Command, " # "); is && commentWithin.MatchString(text) {
				events[i].Context.Command = before
				events[i].Context.Told = append(events[i].Context.Told, sampler.ToldCut)
			}
			events[i].Context.Command = typed(events[i].Context.Command)
		}
	}
	return events
}

// worksThere is a program with which it goes through.
var worksThere = lazily(`(?i)\b(?:with|using|in|on|via) [^.,]{1,40},? (?:I am|I['’]m|I was|we are|we were|it is|it was) able\b|` +
	`\b(?:with|using|in|on|via) [^.,]{1,40},? (?:it|this|everything|training|inference|the same \w+) (?:\w+ )?(?:works?|worked|runs|ran|trains|fits)\b|` +
	`\b(?:works?|worked|runs|ran|trains|fits) (?:fine |well |ok |okay |perfectly |without \w+ )*(?:with|using|in|on) \w`)

// madeWith is how somebody says what his data came from: a program that trains nothing, beside a training, has done its work before.
var madeWith = lazily(`(?i)\b(?:creat|mak|made|buil[dt]|generat|reconstruct|produc|extract|obtain|prepar|preprocess|export|annotat|label|estimat|comput|calculat|calibrat)\w*\b` +
	`[^.\n]{0,60}\b(?:with|by|in|from|using|via|through)\b`)

// failing is the program that a text names, unless it is one that is said to do what the other does not.
func failing(text string, all []sentence) *tools.Tool {
	tool := tools.In(text)
	if tool == nil {
		return nil
	}
	worked, before := false, tool.Does == tools.Runs && trains.MatchString(text)
	for _, s := range all {
		if tools.In(s.text) != tool {
			continue
		}
		before = before && madeWith.MatchString(s.text)
		if ranOut.MatchString(s.text) && !worksThere.MatchString(s.text) {
			return tool
		}
		worked = worked || worksThere.MatchString(s.text) && !vain(s.text)
	}
	if worked || before {
		return nil
	}
	return tool
}
