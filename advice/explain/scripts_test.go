package explain

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
	"nvpeak/sampler/tools"
)

var (
	ofTrainings = regexp.MustCompile(`(?i)[-_.]train_|per_device_train|micro_batch|accumulat|gradient_checkpoint|grad_ckpt|optimizer|(?:^|\s)--?(?:b|bs|batch[-_]?size)[ =]\d|crop_size|patch_size`)
	ofRuns      = regexp.MustCompile(`(?i)--\w*tile|n_tiles|infer|det_?batch|predict`)
)

// No script is told the options of another: one that runs a model none of its training, and one that trains none of those that run it.
// A script that is not known to take a batch is told of one in words.
func TestOptionsOfOtherScripts(t *testing.T) {
	scripts := []struct {
		name string
		does tools.Does
	}{
		{"demo.py", tools.Runs}, {"inference.py", tools.Runs}, {"predict.py", tools.Runs}, {"generate.py", tools.Runs}, {"test.py", tools.Tests}, {"eval.py", tools.Tests}, {"train.py", tools.Trains},
	}
	for i, tool := range tools.All() {
		name := slices.Concat(tool.Sure, tool.Words)[0]
		if strings.ContainsAny(name, " /.") || strings.HasPrefix(name, "-") {
			name = tool.Words[0]
		}
		for k, script := range scripts {
			if k != i%6 && script.does != tools.Trains || tool.Does != tools.Either {
				continue
			}
			call, lines := "out = model(x)", ofTrainings
			if script.does == tools.Trains {
				call, lines = "loss.backward()", ofRuns
			}
			for j, text := range []string{
				"Traceback (most recent call last):\n  File \"/home/u/" + name + "/" + script.name + "\", line 51, in <module>\n    " + call + "\n" +
					"RuntimeError: CUDA out of memory. Tried to allocate 2.36 GiB (GPU 0; 7.93 GiB total capacity; 5.65 GiB already allocated; 1.50 GiB free; 6.01 GiB reserved in total by PyTorch)\n",
				"I use " + name + ". With\n\n    python " + script.name + " --data pictures\n\nI get CUDA out of memory.\n",
			} {
				if (i+k)%2 != j {
					continue
				}
				events, err := oomlog.Scan(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range Explain(Incident{Events: post.Read(text, events, oomlog.Scan)}).Advice {
					for _, line := range append(strings.Split(strings.Join(a.Do, "\n"), "\n"), a.Title) {
						code, _, _ := strings.Cut(line, "  # ")
						if strings.HasPrefix(code, "#") || !strings.ContainsAny(code, "-_=:") || !lines.MatchString(code) || a.ID == FixStopOtherProcess {
							continue
						}
						if script.does != tools.Trains && (tool.For == tools.Runs || tool.Batches == tools.Runs || tool.Batches == script.does) {
							continue // read in its source
						}
						t.Errorf("%s, %s: %s advises %q", tool.Name, script.name, a.ID, line)
					}
				}
			}
		}
	}
}
