package explain

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// sizeInName is how names of language models tell their size: Llama-2-7b-hf, SmolLM-135M. What stands behind another number, as in 8x7B, is a part of it.
var sizeInName = sampler.Pattern{Source: `(?i)(?:^|[-_/])(\d{1,3}(?:\.\d{1,2})?)([bm])(?:[-_./]|$)`}

// namedParameters is how many parameters the model has whose name the command gives; 0: the name does not tell.
func (f *job) namedParameters() uint64 {
	a, found := f.command.Find("model_name_or_path", "model", "model_name", "base_model", "model_path", "pretrained_model_name_or_path", "model_id")
	if !found {
		return 0
	}
	m := sizeInName.Get().FindStringSubmatch(a.Value)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	if strings.EqualFold(m[2], "b") {
		return uint64(n * 1e9)
	}
	return uint64(n * 1e6)
}
