package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// batchNames are what options call the batch.
var batchNames = []string{"batch_size", "max_batch_size"}

// oneSetting are the names that programs have for one setting: a batch, and what those around llama.cpp set of it.
var oneSetting = [][]string{batchNames, {"num_gpu", "ngl", "n_gpu_layers", "gpulayers", "gpu_layers"}, {"num_ctx", "ctx_size", "n_ctx"}}

// anyName are options with the other names of the same settings.
func anyName(options []string) []string {
	for _, names := range oneSetting {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(options, name) }) {
			options = append(slices.Clip(options), names...)
		}
	}
	return options
}

// numbersInForce are the numbers that the text has set for any of some options, under the names that it is read by.
func (f *facts) numbersInForce(options ...string) (set []float64) {
	options = anyName(options)
	for _, what := range f.context.Told {
		for _, option := range options {
			if number, is := strings.CutPrefix(what, sampler.ToldInForce+option+" "); is {
				if v, err := strconv.ParseFloat(number, 64); err == nil {
					set = append(set, v)
				}
				break
			}
		}
	}
	if slices.ContainsFunc(options, func(option string) bool { return slices.Contains(batchNames, option) }) {
		for _, n := range []int{f.context.BatchSize.Or(0), f.triedBatch()} { // which was tried in vain is none to advise either
			if n > 0 {
				set = append(set, float64(n))
			}
		}
	}
	return set
}

// inForce is the smallest number that the command or the text has for an option, by its plain name.
func (f *job) inForce(option string) (least float64, set bool) {
	numbers := f.numbersInForce(option)
	if a, found := f.command.Find(option); found {
		if v, err := strconv.ParseFloat(a.Value, 64); err == nil {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) == 0 {
		return 0, false
	}
	return slices.Min(numbers), true
}

// setToLess are options, by their plain names, that advice sets to less only: what is in force with no more than that is left out of a line.
var setToLess = []string{"n_samples", "h", "w", "chunk_size", "max_num_seqs", "max_model_len", "max_new_tokens", "max_batch_size", "max_num_tokens", "max_seq_len", "max_seq_length",
	"max_input_tokens", "max_input_length", "max_total_tokens", "max_batch_prefill_tokens", "chunked_prefill_size", "max_running_requests", "context_length", "session_len",
	"ctx_size", "n_ctx", "num_ctx", "num_envs", "parallel", "batch_size", "ngl", "n_gpu_layers", "gpulayers", "gpu_layers"}

// setting is an option with its number, of a command or of a call.
var setting = sampler.Pattern{Source: `(?:, ?| )?(?:(--?[A-Za-z][\w-]*)[ =]|\b([A-Za-z]\w*)(?:=|: ))(\d+(?:\.\d+)?)\b`}

// withoutHigher is a line without what it would set to no less than is in force; "" where it sets nothing else.
func (f *job) withoutHigher(code string) string {
	if !strings.ContainsAny(code, "0123456789") {
		return strings.TrimSpace(code) // as most
	}
	left, dropped := 0, 0
	code = setting.Get().ReplaceAllStringFunc(code, func(part string) string {
		at := setting.Get().FindStringSubmatch(part)
		name := command.PlainName(at[1] + at[2])
		v, err := strconv.ParseFloat(at[3], 64)
		if least, set := f.inForce(name); set && err == nil && v >= least && slices.Contains(setToLess, name) {
			if name == "batch_size" && least > 1 { // an argument beside others
				left++
				return strings.TrimSuffix(part, at[3]) + strconv.Itoa(int(least)/2)
			}
			dropped++
			return ""
		}
		left++
		return part
	})
	if dropped > 0 && left == 0 {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(code, "(, ", "("))
}

// below is the number to which the text has a setting, where that is less.
func (f *facts) below(setting string, number int) int {
	for _, v := range f.numbersInForce(setting) {
		number = min(number, int(v))
	}
	return number
}

// above is what an option for memory of the machine is to be, in GiB: the usual, or twice what the text has set.
func (f *facts) above(option string, usual int) int {
	if set := f.numbersInForce(option); len(set) > 0 && int(slices.Max(set)) >= usual {
		return 2 * int(slices.Max(set))
	}
	return usual
}

// shareInForce is the share that the text says is set: the smallest where several were tried, as what is advised must be less.
// usual is the default; a change that raises it goes from there.
func (f *facts) shareInForce(option string, usual float64, change func(float64) float64) float64 {
	for _, what := range f.context.Told {
		if number, is := strings.CutPrefix(what, sampler.ToldDefault+command.PlainName(option)+" "); is {
			if v, err := strconv.ParseFloat(number, 64); err == nil {
				usual = v // of that version
			}
		}
	}
	least := usual
	if change(usual) >= usual {
		return usual
	}
	for _, v := range f.numbersInForce(command.PlainName(option)) {
		least = min(least, v)
	}
	return least
}

// largestShare of a GPU leaves next to nothing for what a server does not reserve (own threshold).
const largestShare = 0.95

// hasLargestShare: a server that reserves its share has as much of the GPU as it can have.
func (f *failure) hasLargestShare() bool {
	row, known := shares[f.limitVariant()]
	if !known {
		return false
	}
	name, most := command.PlainName(row.option), 0.0
	f.command.WithNumber(func(v float64) float64 { most = v; return v }, name)
	for _, v := range f.numbersInForce(name) {
		most = max(most, v)
	}
	return most >= largestShare
}
