package explain

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// What somebody says he tried in vain, or cannot change, is no part of the first title, whatever the program is and whatever the words.
func TestVainDoesNotLead(t *testing.T) {
	measures := map[string][]string{ // and what a title that advises it says
		"batch size":             {"batch"},
		"image size":             {"smaller pictures", "input smaller", "resolution", "size of each"},
		"resolution":             {"smaller pictures", "input smaller", "resolution", "size of each"},
		"tile size":              {"or tiles", "in parts", "overlapping"},
		"sequence length":        {"shorter texts", "input smaller", "size of each", "Shorten"},
		"gradient checkpointing": {"checkpointing"},
		"mixed precision":        {"half precision", "mixed precision", "16 bits"},
		"4-bit quantization":     {"quantized", "in fewer bits", "4 bits"},
		"CPU offload":            {"in RAM"},
		"a smaller model":        {"maller model", "quantized model"},
	}
	words := []string{
		"No matter what %s I use, it is the same.",
		"Even with the lowest %s it still fails.",
		"I already tried a lower %s, still not working.",
		"Changing the %s did not help.",
		"I have tried to reduce the %s but I get the same error.",
		"%s makes no difference.",
		"I tried everything: %s, restarting, nothing works.",
		"The %s is already at the minimum.",
		"I played with %s without any luck.",
		"Reducing %s doesn't fix it.",
		"I've set %s to the smallest value and it still crashes.",
		"Whatever %s I choose, the error stays.",
		"Tried %s, same result.",
		"Lowering %s had no effect.",
		"I can't change the %s.",
		"The %s has to stay as it is.",
		"%s is not an option for me.",
		"%s is not supported there.",
		"I don't want to reduce the %s.",
		"How can I solve it without reducing the %s?",
	}
	for _, who := range []string{
		"I train your segmentation network on my photos with PyTorch and get CUDA out of memory. %s What can I do?",
		"I run the demo on my photos with PyTorch and get CUDA out of memory. %s What can I do?",
		"I fine-tune a language model on my texts with PyTorch and get CUDA out of memory. %s What can I do?",
		"I generate images with stable diffusion and get CUDA out of memory. %s What can I do?",
		"The program ends with CUDA out of memory. %s What can I do?",
	} {
		for measure, titles := range measures {
			for _, w := range words {
				if crc32.ChecksumIEEE([]byte(who+measure+w))%3 > 0 { // each sentence of each measure in some place
					continue
				}
				said := fmt.Sprintf(w, measure)
				text := fmt.Sprintf(who, strings.ToUpper(said[:1])+said[1:])
				events, err := oomlog.Scan(strings.NewReader(text))
				if events = post.Read(text, events, oomlog.Scan); err != nil || len(events) == 0 {
					t.Errorf("%q: no event (%v)", text, err)
					continue
				}
				if got := Explain(Incident{Events: events}); len(got.Advice) > 0 && slices.ContainsFunc(titles, func(part string) bool { return strings.Contains(got.Advice[0].Title, part) }) {
					t.Errorf("%q: %s", text, got.Advice[0].Title)
				}
			}
		}
	}
}
