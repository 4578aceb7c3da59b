package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lineTrainer is a program that dies of memory: with "leak" of a tensor that it keeps in each step, with "spike" of one
// step that takes much, else of what it is.
const lineTrainer = `import sys, time, torch
MIB = 1 << 20
torch.cuda.init()
time.sleep(0.5)
weights = torch.cuda.tensor(500 * MIB)
optimizer = torch.optim.Optimizer(100 * MIB)
losses = []
def forward(n):
    return [torch.cuda.tensor(n * MIB) for _ in range(5)]
for step in range(0 if "big" in sys.argv else 60):
    activations = forward(20)
    del activations
    if "leak" in sys.argv:
        losses.append(torch.cuda.tensor(12 * MIB))
    optimizer.step()
    time.sleep(0.05)
activations = forward(200 if "spike" in sys.argv else 20)
held = sum(s for s, _ in torch.cuda.live.values()) / 2**30
try:
    torch.refuse(40 * MIB, free=10 * MIB)
except torch.OutOfMemoryError: # what Python prints of it would look into the file
    sys.stderr.write("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of 3.00 GiB of which 10.00 MiB is free. "
        "Including non-PyTorch memory, this process has 2.70 GiB memory in use. Of the allocated memory %.2f GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.\n" % held)
    sys.exit(1)
`

// runLines runs a trainer with --lines, and returns the verdict and the black box.
func runLines(t *testing.T, text string, env []string, args ...string) (r result, verdict string, box map[string]any) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here: the reporter cannot be tried")
	}
	runtime, err := os.MkdirTemp("/tmp", "nvpeak-e2e") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	standin, err := filepath.Abs("../../../sampler/torch/testdata/standin")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(runtime, "train.py")
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	env = append([]string{"XDG_RUNTIME_DIR=" + runtime, "PYTHONPATH=" + standin, "STANDIN_TENSORS=1", "PYTHONDONTWRITEBYTECODE=1", "NVPEAK_LINES=40", "STANDIN_HOLE=10"}, env...)
	r = run(t, setup{scenario: "\ngpu 0 total=3GiB\n", env: append(env, "XDG_STATE_HOME="+state), args: append([]string{"run", "--lines", "--", python, program}, args...)})
	_, verdict, _ = strings.Cut(r.err, "\nnvpeak:\n")
	for _, dir := range boxesIn(t, state) {
		if b, err := os.ReadFile(filepath.Join(dir, "run.json")); err != nil || json.Unmarshal(b, &box) != nil {
			t.Errorf("run.json: %v", err)
		}
		report := nvpeakIn(t, state, nil, "report", "LAST")
		if strings.Contains(verdict, "train.py:") && !strings.Contains(report.out, "train.py:") {
			t.Errorf("the report names no line: %s", report.out)
		}
	}
	return r, verdict, box
}

// The verdict of a run that died, its black box and the report on it name cause and line.
func TestRunLines(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ cause, line string }{
		"leak":  {"leak", "train.py:14 `losses.append(torch.cuda.tensor(12 * MIB))`: 0.70 GiB live, +12 MiB each step"},
		"spike": {"data_spike", "train.py:9 `return [torch.cuda.tensor(n * MIB) for _ in range(5)]`: 0.98 GiB in this step"},
		"big":   {"too_big", "train.py:5 `weights = torch.cuda.tensor(500 * MIB)`: 0.49 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, verdict, box := runLines(t, lineTrainer, nil, name)
			if r.code != 1 || !strings.Contains(strings.Join(strings.Fields(verdict), " "), row.line) || strings.Count(verdict, "\n") > 11 {
				t.Errorf("exit code %d, verdict %s", r.code, r.err)
			}
			b, err := json.Marshal(box["explanation"])
			if err != nil {
				t.Fatal(err)
			}
			var why struct {
				Causes []struct {
					ID   string
					Site *struct{ Line int }
				}
				Events []struct {
					Held    *struct{ Holders []any }
					Refused *struct {
						Largest int `json:"largest_free_bytes"`
					}
				}
			}
			if err := json.Unmarshal(b, &why); err != nil || len(why.Causes) == 0 || why.Causes[0].ID != row.cause || why.Causes[0].Site == nil {
				t.Errorf("%v, %s", err, b)
			}
			if len(why.Events) != 1 || why.Events[0].Held == nil || why.Events[0].Refused == nil || why.Events[0].Refused.Largest != 10<<20 {
				t.Errorf("events: %s", b)
			}
		})
	}
}

// A source file that is no ordinary one is not read, and one that was written after the start is not shown.
func TestRunLinesSource(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]string{
		"gone": "os.remove(sys.argv[0])",
		"fifo": "os.remove(sys.argv[0]); os.mkfifo(sys.argv[0])",
		"huge": "os.truncate(sys.argv[0], 1 << 30)",
		"new":  "open(sys.argv[0], 'r+').write('# other')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			r, verdict, _ := runLines(t, "import os, sys; "+do+"\n"+lineTrainer, nil, "leak")
			if r.code != 1 || !strings.Contains(verdict, "train.py:15 <module>: 0.70 GiB live, +12 MiB each step") {
				t.Errorf("exit code %d, %s", r.code, r.err)
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Where no lines are to be had one line says so, and the run and its verdict are as without.
func TestRunLinesMissing(t *testing.T) {
	t.Parallel()
	r, verdict, _ := runLines(t, lineTrainer, []string{"STANDIN=historyless"}, "leak")
	if r.code != 1 || strings.Count(r.err, "--lines: source lines are missing: PyTorch 2.9.0+standin has no memory history") != 1 || !strings.Contains(verdict, "CUDA out of memory on GPU 0") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	if r := nvpeakIn(t, t.TempDir(), nil, "run", "--lines", "--", "sh", "-c", dying(t)); r.code != 1 || strings.Count(r.err, "--lines: source lines are missing: no Python program") != 1 {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	r, verdict, _ = runLines(t, lineTrainer, []string{"STANDIN=stackless"}, "big")
	if r.code != 1 || strings.Count(r.err, "--lines: source lines are missing: PyTorch tells none") != 1 || strings.Contains(verdict, "_record_memory_history") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	if r := nvpeakIn(t, t.TempDir(), nil, "run", "--lines", "--", "true"); r.code != 0 || r.err != "" {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	if r := nvpeakIn(t, t.TempDir(), nil, "run", "--lines", "--no-reporter", "--", "true"); r.code != 2 || !strings.Contains(r.err, "--lines needs the reporter") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}
