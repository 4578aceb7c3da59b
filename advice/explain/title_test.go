package explain

import (
	"strings"
	"testing"
	"unicode/utf8"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// A title to which another way is added has two halves, in each language and without a broken letter.
func TestTitlesHaveTwoHalves(t *testing.T) {
	for _, text := range []string{
		"My GPU is a GTX650 with 1g memory, and your network for pictures ends with CUDNN_STATUS_ALLOC_FAILED. How can I change the code to take less memory?",
		"I train your network on pictures and get CUDA out of memory. How much memory does it need?",
	} {
		events, err := oomlog.Scan(strings.NewReader(text))
		if events = post.Read(text, events, oomlog.Scan); err != nil || len(events) != 1 {
			t.Fatalf("%q: %d events (%v)", text, len(events), err)
		}
		for lang, or := range map[string]string{"en": ", or ", "zh": "，或"} {
			got := Explain(Incident{Events: events, Lang: lang})
			if title := got.Advice[0].Title; strings.Count(title, or) != 1 || !utf8.ValidString(title) || strings.ContainsRune(title, utf8.RuneError) {
				t.Errorf("%s: %q", lang, title)
			}
		}
	}
}
