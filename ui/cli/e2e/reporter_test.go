package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/proc"
	"nvpeak/sampler/torch"
)

// A monitor and a recording that run beside a PyTorch job have the layers of its allocator and the tensor that it
// refused; when they end nothing is left of them.
func TestReporterBeside(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here: the reporter cannot be tried")
	}
	dir, err := os.MkdirTemp("/tmp", "nvpeak-e2e") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	standin, err := filepath.Abs("../../../sampler/torch/testdata/standin")
	if err != nil {
		t.Fatal(err)
	}
	tape := filepath.Join(dir, "run.jsonl")
	var streamed bytes.Buffer
	var beside []*exec.Cmd
	for _, args := range [][]string{{"stream"}, {"record", "-o", tape}} {
		c := exec.Command(binary, args...)
		c.Env = append(setup{scenario: "\ngpu 0-3 total=80GiB\n"}.environ(t), "XDG_RUNTIME_DIR="+dir)
		if args[0] == "stream" {
			c.Stdout = &streamed
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill() //nolint:errcheck // it has ended
		beside = append(beside, c)
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if list, _ := filepath.Glob(filepath.Join(dir, "nvpeak/monitors/*.sock")); len(list) == 2 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("sockets: %q", list)
		}
	}
	run, err := torch.Listen(torch.Options{Host: proc.New(proc.Options{}), Clock: sampler.NewSteady(),
		Env: func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": dir}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	job := exec.Command(python, "-c", `import torch, time
torch.cuda.init()
time.sleep(2)
try: torch.refuse(3 << 30)
except torch.OutOfMemoryError: pass`)
	if job.Env, err = run.Env([]string{"PATH=" + os.Getenv("PATH"), "PYTHONPATH=" + standin, "CUDA_VISIBLE_DEVICES=2", "PYTHONDONTWRITEBYTECODE=1"}); err != nil {
		t.Fatal(err)
	}
	if out, err := job.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the job: %v, %s", err, out)
	}
	run.Close()
	time.Sleep(time.Second)
	for _, c := range beside {
		c.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it runs
		c.Wait()                          //nolint:errcheck // by a signal
	}
	recorded, err := os.ReadFile(tape)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"stream": streamed.String(), "record": string(recorded)} {
		for _, want := range []string{`"reserved_bytes":1048576000`, `"unallocated_bytes":419430400`, `"largest_free_bytes":262144000`, `"requested_bytes":3221225472`, `"source":"allocator"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "nvpeak", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
