package torch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"nvpeak/sampler"
	"nvpeak/sampler/torchsnap"
)

// training is a program that leaks a tensor of 12 MiB each step, at line 11, and is refused one in the 41st.
const training = `import sys, time, torch
MIB = 1 << 20
torch.cuda.init()
weights = torch.cuda.tensor(500 * MIB)
optimizer = torch.optim.Optimizer(1000 * MIB)
losses = []
def forward(n):
    return [torch.cuda.tensor(n * MIB) for _ in range(5)]
for step in range(40):
    activations = forward(20)
    losses.append(torch.cuda.tensor(12 * MIB))
    del activations
    optimizer.step()
    time.sleep(0.05)
activations = forward(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
try:
    torch.refuse(3000 * MIB)
except torch.OutOfMemoryError:
    print("goes on")
`

// byLine is a scene in which lines are told.
func newLines(t *testing.T, env ...string) *scene {
	t.Helper()
	s := newScene(t, 1)
	s.env = append(ByLine(s.env), append([]string{"STANDIN_TENSORS=1", "NVPEAK_LINES=30"}, env...)...)
	return s
}

// script writes a program.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "train.py")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// runFile runs a program that is a file.
func (s *scene) runFile(text string, env []string, args ...string) string {
	s.t.Helper()
	name := script(s.t, text)
	return s.run("import runpy, sys\nsys.argv = "+pythonList(append([]string{name}, args...))+"\nrunpy.run_path(sys.argv[0], run_name='__main__')", env)
}

func pythonList(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// refusal is a failure of that size, as a log tells it.
func refusal(size sampler.Bytes) *sampler.OOMEvent {
	return &sampler.OOMEvent{MemoryKind: sampler.MemoryGPU, Requested: sampler.Some(size), GPUIndex: sampler.Some(0)}
}

func lineAt(d *sampler.TorchDevice, number int) (found sampler.TorchLine) {
	for _, l := range d.Trace.Lines {
		if l.Line == number {
			found = l
		}
	}
	return found
}

// What is alive at a refusal is told by line, with what each gained from step to step.
func TestLines(t *testing.T) {
	t.Parallel()
	s := newLines(t)
	if out := s.runFile(training, nil); out != "goes on\n" {
		t.Fatalf("printed %q", out)
	}
	d := s.Held(refusal(3000 * mib))
	if d == nil {
		t.Fatal("nothing is told")
	}
	if d.Allocated != 2080*mib || d.Reserved != 2280*mib || d.LargestFree != 100*mib || d.Split != 200*mib {
		t.Errorf("%+v", *d)
	}
	leak := lineAt(d, 11)
	if leak.Live != 480*mib || leak.Blocks != 40 || leak.Grown < 350*mib || leak.Steps == 0 || leak.Grown/sampler.Bytes(leak.Steps) != 12*mib {
		t.Errorf("the leak: %+v", leak)
	}
	if !strings.HasSuffix(leak.File, "/train.py") || leak.Function != "<module>" {
		t.Errorf("the leak is at %+v", leak.TorchSite)
	}
	for _, number := range []int{4, 8} {
		if l := lineAt(d, number); l.Grown != 0 || l.Live == 0 {
			t.Errorf("line %d: %+v", number, l)
		}
	}
	if site := d.Trace.OOM.Site; site.Line != 17 || d.Trace.OOM.Requested != 3000*mib || d.Trace.Steps != 40 {
		t.Errorf("refused: %+v", d.Trace)
	}
	if h := d.Holders[0]; h.Line != 13 || h.Bytes != 1000*mib {
		t.Errorf("the most is held by %+v", h)
	}
	if d := s.Held(refusal(2000 * mib)); d != nil {
		t.Errorf("told of another refusal: %+v", d)
	}
}

// A step that takes unusually much: the line that holds most of it, or that asked for it.
func TestSpikeLine(t *testing.T) {
	t.Parallel()
	s := newLines(t)
	if out := s.runFile(training, nil, "100"); out != "goes on\n" {
		t.Fatalf("printed %q", out)
	}
	d := s.Held(refusal(3000 * mib))
	if d == nil {
		t.Fatal("nothing is told")
	}
	if l := lineAt(d, 8); l.Live != 500*mib || l.Rise != 500*mib || l.Grown != 0 {
		t.Errorf("the activations: %+v", l)
	}
	if usual := d.Trace.StepUsual; usual < 100*mib || usual > 112*mib || d.Trace.StepRise < 3500*mib || d.Trace.StepRise > 3700*mib {
		t.Errorf("the step took %v, usually %v", d.Trace.StepRise, usual)
	}
}

// Each form of torch's memory history gives the same lines; where steps are not told, growth is told by time.
func TestHistoryForms(t *testing.T) {
	t.Parallel()
	for lie, steps := range map[string]bool{"form20": true, "latecomer": true, "hookless": false} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			s := newLines(t, "STANDIN="+lie)
			text := training
			if !steps {
				text = strings.Replace(text, "range(40)", "range(120)", 1) // a look each second at most
				text = strings.Replace(text, "0.05", "0.1", 1)
			}
			if lie == "latecomer" { // nothing says when CUDA is initialized; it is seen within a second
				text = strings.Replace(text, "weights =", "time.sleep(1.5)\nweights =", 1)
			}
			if out := s.runFile(text, nil); out != "goes on\n" {
				t.Fatalf("printed %q", out)
			}
			d := s.Held(refusal(3000 * mib))
			if d == nil {
				t.Fatal("nothing is told")
			}
			number := 11
			if lie == "latecomer" {
				number++
			}
			leak := lineAt(d, number)
			if leak.Live == 0 || leak.Grown < leak.Live/2 || (leak.Steps > 0) != steps || (d.Trace.Steps > 0) != steps {
				t.Errorf("the leak: %+v of %d steps", leak, d.Trace.Steps)
			}
		})
	}
}

// Another run of the same user is heard, and is not taken for this one. A run inside a run is part of both.
func TestLinesOfAnotherRun(t *testing.T) {
	t.Parallel()
	other, s := newLines(t), newLines(t)
	s.env = append(s.env, "NVPEAK_REPORT="+filepath.Join(s.base, monitors)+":"+filepath.Join(other.base, monitors))
	s.runFile(training, nil)
	if s.Held(refusal(3000*mib)) == nil || s.Tensor(refusal(3000*mib)) == nil || !s.Told() {
		t.Error("not told of its own")
	}
	if other.heard() != 1 || other.Held(refusal(3000*mib)) != nil || other.Tensor(refusal(3000*mib)) != nil || other.Told() {
		t.Error("the other run takes it for its own")
	}
	inner := newLines(t)
	var err error
	if inner.env, err = inner.Env(other.env); err != nil {
		t.Fatal(err)
	}
	inner.runFile(training, nil)
	if inner.Held(refusal(3000*mib)) == nil || other.Held(refusal(3000*mib)) == nil {
		t.Error("a run inside a run is not part of both")
	}
}

// Where the process does not see its refusals, what grew is told all the same, and nobody is said to hold most: that
// was looked at before.
func TestLinesUnseenRefusal(t *testing.T) {
	t.Parallel()
	s := newLines(t, "STANDIN=form20,observerless")
	if out := s.runFile(training+"time.sleep(2.5)\n", nil); out != "goes on\n" {
		t.Fatalf("printed %q", out)
	}
	e := refusal(3000 * mib)
	e.Framework = "pytorch"
	d := s.Held(e)
	if d == nil || lineAt(d, 11).Grown == 0 || len(d.Holders) > 0 || d.Trace.OOM != nil {
		t.Errorf("%+v", d)
	}
	e.GPUIndex = sampler.Some(1)
	if d := s.Held(e); d != nil {
		t.Errorf("on another GPU: %+v", d)
	}
}

// Whatever the history does, the program goes on in time, and one word says what is missing.
func TestHistoryLies(t *testing.T) {
	t.Parallel()
	for lie, want := range map[string]string{"historyless": "gone ", "bare": "gone ", "recordraises": "raised RuntimeError: no recording", "recordexits": "raised SystemExit: 9", "recordoff": "off ", "recordslow": "",
		"raises": "unseen RuntimeError: no stats", "snapshotraises": "unseen RuntimeError: CUDA error: out of ?order?", "shapeless": "unseen TypeError: 'int' object is not iterable", "long": "", "slow": "", "evil": "",
		"interrupts": "unseen KeyboardInterrupt", "endless": "unseen RuntimeError: too many blocks to sum up in time"} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			env := []string{"STANDIN=" + lie}
			if lie == "shapeless" {
				env = append(env, "STANDIN_TENSORS=")
			}
			s := newLines(t, env...)
			text := strings.NewReplacer("torch.cuda.init()", "began = time.monotonic()\ntorch.cuda.init()\ninit = time.monotonic() - began\nwaited = 0.0",
				"    optimizer.step()", "    began = time.monotonic()\n    optimizer.step()\n    waited += time.monotonic() - began",
				"    torch.refuse", "    began = time.monotonic()\n    torch.refuse", `print("goes on")`, `print("goes on")
    refused = time.monotonic() - began
    if init > 4 or waited > 4 or refused > 5: # of 5, 40 and 2 seconds, and more on a busy machine
        print("init %.1f s, steps %.1f s, refusal %.1f s" % (init, waited, refused))`).Replace(training)
			if out := s.runFile(text, nil); out != "goes on\n" {
				t.Errorf("printed %q", out)
			}
			if lack := s.Lacks(); strings.TrimPrefix(lack.What+" "+lack.Why, " ") != want || want != "" && lack.Version != "2.9.0+standin" {
				t.Errorf("lacks %+v, want %q", lack, want)
			}
			if d := s.Held(refusal(3000 * mib)); d != nil && want != "" {
				t.Errorf("told: %+v", d)
			}
		})
	}
}

// A history that no program has: figures that cannot be, texts that would harm a terminal, too many lines.
func TestHostileHistory(t *testing.T) {
	t.Parallel()
	for _, lie := range []string{"hostile", "manylines", "manylines 100000"} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			lie, count, much := strings.Cut(lie, " ")
			if !much {
				count = "5000"
			}
			s := newLines(t, "STANDIN="+lie, "STANDIN_LINES="+count)
			if out := s.runFile(training, nil); out != "goes on\n" {
				t.Fatalf("printed %q", out)
			}
			d := s.Held(refusal(3000 * mib))
			switch {
			case d == nil && much:
				return // it takes too long
			case d == nil:
				t.Fatal("nothing is told")
			}
			if lineAt(d, 11).Live != 480*mib || len(d.Trace.Lines) > maxListed {
				t.Errorf("%d lines, the leak is %+v", len(d.Trace.Lines), lineAt(d, 11))
			}
			for _, h := range d.Holders {
				text := h.File + h.Function + h.Validation
				if h.Bytes > d.Allocated || h.Line < 0 || len(text) > 3*maxText || strings.ContainsAny(text, "\x1b\x07\r\n\u202e") || !utf8.ValidString(text) {
					t.Errorf("told: %+v", h)
				}
			}
		})
	}
}

// Workers that are forked tell no lines of their parent's, and their optimizers are not its steps.
func TestLinesFork(t *testing.T) {
	t.Parallel()
	s := newLines(t)
	out := s.runFile(`import os, sys, time, torch
torch.cuda.init()
kept = torch.cuda.tensor(64 << 20)
optimizer = torch.optim.Optimizer()
for n in range(6):
    pid = os.fork()
    if pid == 0:
        for step in range(50):
            optimizer.step()
        os._exit(0)
    os.waitpid(pid, 0)
for step in range(12):
    optimizer.step()
    time.sleep(0.05)
try:
    torch.refuse(3000 << 20)
except torch.OutOfMemoryError:
    print("goes on")
`, []string{"PYTHONWARNINGS=ignore"}) // of forks while there are threads
	if out != "goes on\n" {
		t.Fatalf("printed %q", out)
	}
	if d := s.Held(refusal(3000 * mib)); d == nil || d.Trace.Steps != 12 || lineAt(d, 3).Live != 64*mib {
		t.Errorf("%+v", d)
	}
	if n := s.heard(); n != 1 {
		t.Errorf("%d processes report", n)
	}
}

// A percentage that is none counts as 1, and the ranks of a job share theirs.
func TestLinesShare(t *testing.T) {
	t.Parallel()
	look := `import os, sys
sys.path.insert(0, os.environ["SITE"])
import time, nvpeak_lines
class R: clock = time.monotonic
for env in sys.argv[1:]:
    names = dict(part.split("=", 1) for part in env.split())
    os.environ.update(names)
    print(nvpeak_lines.NvpeakLines(R).share)
    for name in names:
        del os.environ[name]`
	shares := map[string]string{"NVPEAK_LINES=5": "20.0", "NVPEAK_LINES=0.5 WORLD_SIZE=": "200.0", "NVPEAK_LINES=much": "100.0", "NVPEAK_LINES=-5": "100.0", "NVPEAK_LINES=0": "10000.0",
		"NVPEAK_LINES=1e9": "100.0", "NVPEAK_LINES=5²": "100.0", "NVPEAK_LINES=nan": "100.0", "NVPEAK_LINES=900": "1.0", "WORLD_SIZE=8": "800.0", "WORLD_SIZE=8 NVPEAK_LINES=8": "100.0", "WORLD_SIZE=99999": "6400.0"}
	settings := slices.Sorted(maps.Keys(shares))
	s := newScene(t, 1)
	out := strings.Fields(s.runFile(look, []string{"SITE=" + filepath.Join(s.base, sites, s.name)}, settings...))
	if len(out) != len(settings) {
		t.Fatalf("%d shares of %d", len(out), len(settings))
	}
	for i, env := range settings {
		if out[i] != shares[env] {
			t.Errorf("%s: %s, want %s", env, out[i], shares[env])
		}
	}
}

// Lines come only from whom they are asked of, and the stack is as torch was told to keep it: bounded, without
// frames of C++.
func TestLinesAsked(t *testing.T) {
	t.Parallel()
	look := "import torch\ntorch.cuda.init()\nprint(torch.cuda.history)"
	if out := newScene(t, 1).run(look, nil); out != "None\n" {
		t.Errorf("without being asked: %q", out)
	}
	if out := newLines(t).run(look, nil); out != "('state', 'state', 'python', 1)\n" {
		t.Errorf("asked: %q", out)
	}
	own := "import torch\ntorch.cuda.init()\ntorch.cuda.memory._record_memory_history('all', max_entries=7)\nprint(torch.cuda.history)"
	if out := newLines(t).run(own, nil); out != "('all', 'all', 'all', 7)\n" {
		t.Errorf("the program's own: %q", out)
	}
}

// Both sides tell lines of a program from those of libraries alike.
func TestPatterns(t *testing.T) {
	t.Parallel()
	texts := []string{"/home/me/train.py", "/usr/lib/python3.11/runpy.py", "/venv/lib/python3.9/site-packages/x/y.py", "/a/dist-packages/b.py", "<frozen runpy>", "<string>",
		"/src/torch/nn/modules/linear.py", "/src/torch/optim/adamw.py", "/me/optimizers/mine.py", "/me/lion.py", "validate", "evaluate_epoch", "eval", "train_epoch", "test_step",
		"run_validation", "_on_test_batch", "tester", "Forward", "/me/torch/model.py", "/tmp/torchinductor_me/x.py", "<eval_with_key>.1", "/python3.9/lib/os.py", "ü", ""}
	names := slices.Sorted(maps.Keys(torchsnap.Patterns()))
	var want strings.Builder
	for _, text := range texts {
		for _, name := range names {
			fmt.Fprint(&want, regexp.MustCompile(torchsnap.Patterns()[name]).MatchString(text), " ")
		}
		want.WriteString("\n")
	}
	s := newScene(t, 1)
	out := s.run(`import os, re, sys
sys.path.insert(0, os.environ["SITE"])
from nvpeak_lines import PATTERNS
for text in os.environ["TEXTS"].split("|"):
    print("".join(str(bool(re.search(PATTERNS[name], text))).lower() + " " for name in sorted(PATTERNS)))
`, []string{"SITE=" + filepath.Join(s.base, sites, s.name), "TEXTS=" + strings.Join(texts, "|")})
	if out != want.String() {
		t.Errorf("Python: %s\nGo: %s", out, want.String())
	}
}

// What an optimizer calls in its step is not the optimizer's.
func TestLinesOptimizer(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	out := s.run(`import os, re, sys
sys.path.insert(0, os.environ["SITE"])
from nvpeak_lines import NvpeakLines, PATTERNS, OPTIMIZER
lines = NvpeakLines.__new__(NvpeakLines)
lines.kinds, lines.libraries, lines.patterns = {}, (), {name: re.compile(text) for name, text in PATTERNS.items()}
def by_optimizer(*rows):
    site = lines.named([{"filename": row.split(" ")[0], "name": row.split(" ")[1], "line": 1} for row in rows])
    print(bool(site[3] & OPTIMIZER), site[3] < 8)
LIB = "/v/lib/python3.11/site-packages/"
STEP = LIB + "torch/optim/adamw.py step"
by_optimizer(LIB + "torch/optim/adamw.py _init_group", STEP, "/w/fit.py main")
by_optimizer("/w/tools.py zeros", "/w/lion.py init_state", "/w/fit.py main")
by_optimizer("/w/task.py training_step", LIB + "trainer/automatic.py closure", STEP, "/w/fit.py main")
by_optimizer(LIB + "torch/nn/modules/linear.py forward", STEP, "/w/fit.py main")
by_optimizer(LIB + "torch/autograd/graph.py _engine_run_backward", STEP, "/w/fit.py main")
`, []string{"SITE=" + filepath.Join(s.base, sites, s.name)})
	if want := strings.Repeat("True True\n", 2) + strings.Repeat("False True\n", 3); out != want {
		t.Errorf("%s", out)
	}
}

// Lines are told without any figures of the allocator, also where nobody sees the refusal.
func TestLinesWithoutStats(t *testing.T) {
	t.Parallel()
	for _, lie := range []string{"statsraise", "statsraise,observerless"} {
		s := newLines(t, "STANDIN="+lie)
		if out := s.runFile(training+"time.sleep(2.5)\n", nil); out != "goes on\n" {
			t.Fatalf("printed %q", out)
		}
		e := refusal(3000 * mib)
		e.Framework = "pytorch"
		if d := s.Held(e); d == nil || lineAt(d, 11).Grown == 0 {
			t.Errorf("%s: %+v", lie, d)
		}
	}
}

// A look at the stacks imports nothing into the program: on an H100 half of torch._inductor, which PyTorch 2.11 asks for there, was what
// an optimizer's own imports then found, and the program died of it.
func TestLooksImportNothing(t *testing.T) {
	t.Parallel()
	s := newLines(t)
	out := s.runFile(training+`print("torch._inductor" in sys.modules, torch._inductor.imported_by_main, "torch._inductor" in sys.modules)
`, nil)
	if out != "goes on\nFalse True True\n" {
		t.Errorf("printed %q", out)
	}
	if d := s.Held(refusal(3000 * mib)); d == nil || lineAt(d, 11).Steps == 0 {
		t.Error("nothing was looked at")
	}
}
