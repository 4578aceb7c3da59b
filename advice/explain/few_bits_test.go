package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// A model of 8 bits or fewer is never told to take 16 or 8.
func TestFewBitsGetNoMore(t *testing.T) {
	const full = "\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 23.60 GiB of which 20.00 MiB is free. Of the allocated memory 23.00 GiB is allocated by PyTorch, and 12.00 MiB is reserved by PyTorch but unallocated.\n"
	more := []string{"16 bits", "half precision", "16, 8", "8 or 4", "in 8 bits", "load_in_", "float16", ".half()"}
	texts := map[string]string{
		"said":        "I run inference of a 6bit 8x7B model with llama-cpp on 2x3090 and get CUDA out of memory.",
		"its name":    "I chat with some-13B-Q6_K on my card and get CUDA out of memory with transformers.",
		"GPTQ":        "I run inference with my-13B-GPTQ:" + full,
		"AWQ":         "I have 2 RTX 4090 GPUs and generate text with some-70B-AWQ:" + full,
		"quantized":   "My LLM is quantized to 4 bits and inference with transformers gives CUDA out of memory.",
		"int8":        "I load the int8 model with from_pretrained(name) for inference:" + full,
		"loaded in 8": "model = AutoModelForCausalLM.from_pretrained(name, load_in_8bit=True)\nmodel.generate(x)" + full,
		"nf4":         "I run inference with the nf4 weights of a 13B LLM:" + full,
		"gguf":        "I generate text with model.gguf on two GPUs and get CUDA out of memory.",
	}
	for name, text := range texts {
		events, err := oomlog.Scan(strings.NewReader(text))
		if events = post.Read(text, events, oomlog.Scan); err != nil || len(events) != 1 {
			t.Fatal(name, events, err)
		}
		list := Explain(Incident{Events: events}).Advice
		if len(list) == 0 {
			t.Errorf("%s: no advice", name)
		}
		for _, a := range list {
			said := a.Title + "\n" + strings.Join(a.Do, "\n")
			for _, words := range more {
				if strings.Contains(said, words) {
					t.Errorf("%s: %s says %q: %s", name, a.ID, words, said)
				}
			}
		}
	}
}
