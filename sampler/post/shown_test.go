package post

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// What a text shows of code, tools and systems, in words of which others have the like.
func TestShown(t *testing.T) {
	for _, c := range []struct{ text, shows, not string }{
		{"model = AutoModel.from_pretrained('m')", sampler.ShowsTransformers, sampler.ShowsDiffusers},
		{"spacy-pytorch-transformers 0.3 is installed", "", sampler.ShowsTransformers},
		{"pipe.enable_xformers()", "", sampler.ShowsTransformers},
		{"I run it with the Seq2SeqTrainer", sampler.ShowsTrainer, sampler.ShowsLoader},
		{"for x in val_loader:", sampler.ShowsLoader, sampler.ShowsTrainer},
		{"I train with mmdet 3", sampler.ShowsLibrary, sampler.ShowsTorch},
		{"import torch\nx = torch.zeros(2)", sampler.ShowsTorch, sampler.ShowsJAX},
		{"see torch.cuda.OutOfMemoryError", "", sampler.ShowsTorch},
		{"import jax\njnp.ones(3)", sampler.ShowsJAX, sampler.ShowsTorch},
		{"[launch.py:319:sigkill_handler] Killing subprocess 4", sampler.ShowsDeepSpeed, sampler.ShowsFSDP},
		{"torchrun --nproc_per_node 2 t.py", sampler.ShowsRanks, sampler.ShowsDeepSpeed},
		{"my data parallel job", "", sampler.ShowsRanks},
		{"docker run x", sampler.ShowsContainer, sampler.ShowsNotebook},
		{"-> 1323       return fn(*args)", sampler.ShowsNotebook, sampler.ShowsContainer},
		{"the cell is a nerve cell", "", sampler.ShowsNotebook},
		{"on Ubuntu 22.04", sampler.ShowsLinux, ""},
		{"the message alone", "", sampler.ShowsLinux},
		{"vllm serve m", sampler.ShowsServe, sampler.ShowsEngine},
		{"from vllm import LLM", sampler.ShowsEngine, sampler.ShowsServe},
		{"llama-server -m x", sampler.ShowsLlamaServer, ""},
		{"./main -m x -ngl 35", "", sampler.ShowsLlamaServer},
		{"I use llama-cpp-python with n_ctx=2048", sampler.ShowsLlamaPython, sampler.ShowsLlamaServer},
		{"./main -m /src/llama-cpp-python/vendor/x.bin", "", sampler.ShowsLlamaPython},
		{"sess=tf.Session()", sampler.ShowsOldTF, ""},
		{"tensorflow 2.12", "", sampler.ShowsOldTF},
		{"it is on GPU 3", sampler.ShowsSecondGPU, ""},
		{"Tried to allocate 2 MiB (GPU 0; 4 GiB", "", sampler.ShowsSecondGPU},
		{"model, tokenizer = load(bits=4)", sampler.ShowsFewBits, sampler.ShowsSixteenBits},
		{"can I load it in 4 bits?", "", sampler.ShowsFewBits},
		{"torch_dtype=torch.float16", sampler.ShowsSixteenBits, sampler.ShowsFewBits},
		{"conda-bld/pytorch_1511304568725/work", sampler.ShowsBeforeNoGrad, ""},
		{"conda-bld/pytorch_1556653114079/work", "", sampler.ShowsBeforeNoGrad},
	} {
		var got sampler.LogContext
		addShown(&got, c.text, tools.In(c.text))
		if c.shows != "" && !slices.Contains(got.Told, sampler.ToldShows+c.shows) || c.not != "" && slices.Contains(got.Told, sampler.ToldShows+c.not) {
			t.Errorf("%q: %v, want %q and not %q", c.text, got.Told, c.shows, c.not)
		}
	}
}

// A setting that stands in a text is in force; a part of another name is none.
func TestSetInText(t *testing.T) {
	for text, want := range map[string]bool{
		"f(load_in_4bit=True)":    true,
		"f(load_in_4bit = True)":  true,
		"f(load_in_4bit=False)":   false,
		"f(unload_in_4bit=True)":  false,
		"f(load_in_4bit=Trueish)": false,
		"device_map='auto'":       true,
	} {
		var got sampler.LogContext
		addShown(&got, text, tools.In(text))
		if is := slices.ContainsFunc(got.Told, func(s string) bool { return strings.HasPrefix(s, sampler.ToldInForce) }); is != want {
			t.Errorf("%q: %v", text, got.Told)
		}
	}
}

// Windows in sentences and paths; the Linux within it has Linux's commands.
func TestWindows(t *testing.T) {
	for text, want := range map[string]bool{
		"I use python 3.7 and Windows 10":      true,
		"windows10 + cuda10.1":                 true,
		"On a Windows machine":                 true,
		`File "e:\ProgramData\lib\x.py"`:       true,
		"Ubuntu 22.04 with WSL in Windows 11":  false,
		"it opens two windows, 10 s each":      false,
		"a sliding window of 11 frames":        false,
		"the context windows of 8 models":      false,
		"/mnt/c/Users/x on Windows 11 is mine": false,
	} {
		var got sampler.LogContext
		add(&got, text, sentences(text), codeLines(text))
		addShown(&got, text, tools.In(text))
		if is := slices.Contains(got.Told, sampler.ToldWindows); is != want {
			t.Errorf("%q: %v", text, is)
		}
	}
}

// A picture in a text, or the memory of a GPU by another name, says nothing of what the program works on.
func TestDomainOfNothing(t *testing.T) {
	for text, want := range map[string]string{
		"I train bert. ![image](https://host/x.png) ![image](https://host/y.png)": sampler.DomainText,
		"24 GB of video memory and my video card is full":                         "",
		"it reads videos on my video card":                                        sampler.DomainVideo,
	} {
		if got := domain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
