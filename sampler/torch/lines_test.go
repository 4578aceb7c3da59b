package torch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
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

var _ = time.Second
