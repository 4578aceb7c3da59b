package explain

import (
	"strconv"

	"nvpeak/sampler"
)

// pastAndNew joins the keys or values of the tokens so far with new ones, in a model that keeps them itself: "torch.cat((cache_k, key_layer), dim=2)".
var pastAndNew = sampler.Pattern{Source: `\btorch\.cat\(\s*[\[(]\s*(?:self\.)?(?:\w*past|cache_|\w+_cache\b)[\w.]*(?:\[[^\]]*\])*\s*,\s*(?:self\.)?\w*(?:key|value|k|v)(?:_\w+)?\s*[\])]`}

// joinsPast: the line that failed does.
func (f *facts) joinsPast() bool {
	n := len(f.context.Code)
	return n > 0 && pastAndNew.Get().MatchString(f.context.Code[n-1])
}

// longAnswer is more tokens than the answers of a chat have (own threshold).
const longAnswer = 8192

// answerOptions set how long an answer may become.
var answerOptions = []string{"max_new_tokens", "max_tokens", "max_length"}

// writesLong: keys and values of one more token were joined to those so far, the command lets one answer become so long, and the log counts no inputs, so that what grows is that answer.
func (f *failure) writesLong() bool {
	joins := f.joinsTokens() || f.joinsPast() && !f.onHost() && f.generatesText() && f.phase() != sampler.PhaseTraining
	if !joins || f.context.Step.Known() || f.converses() {
		return false
	}
	a, found := f.command.Find(answerOptions...)
	v, err := strconv.Atoi(a.Value)
	return found && err == nil && v >= longAnswer
}

// fixesAnswer make that answer shorter.
var fixesAnswer = []fixRow{
	{id: FixShortenContext, source: "https://huggingface.co/docs/transformers/kv_cache",
		kinds: evaluation | inference | undecided, cost: 0.05,
		lives:   map[string]float64{CauseTooBig: 0.97, CauseDataSpike: 0.97, CauseFragmentation: 0.7, CauseUnknown: 0.7},
		when:    func(f *failure) bool { return f.writesLong() },
		reach:   always(1),
		variant: func(f *failure) string { return "answer" },
		do: func(f *failure) []string {
			half := func(v float64) float64 { return float64(int(v) / 2) }
			text, name, _ := f.command.WithLess(half, answerOptions...)
			lines := []string{text + "  " + f.comment("do.size_option", "name", name)}
			if !f.joinsPast() { // a model with a cache of its own does not take another
				lines = append(lines, `model.generate(**inputs, max_new_tokens=256, cache_implementation="offloaded")`)
			}
			return lines
		}},
}
