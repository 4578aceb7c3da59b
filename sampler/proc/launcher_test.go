package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLauncherOf(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/python3 /opt/conda/bin/torchrun --nproc 4 train.py": "torchrun",
		"python -m torch.distributed.run train.py":                    "torchrun",
		"python -u -m torch.distributed.launch train.py":              "torchrun",
		"/opt/conda/bin/accelerate launch train.py":                   "accelerate",
		"mpirun -np 4 python train.py":                                "mpirun",
		"python train.py torchrun":                                    "",
		"python -m train":                                             "",
		"bash -c torchrun":                                            "torchrun",
		"vim torchrun.py":                                             "",
		"":                                                            "",
	} {
		if got := launcherOf(strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// The launcher of a real process is found above the shell that stands between.
func TestLauncherOfARealProcess(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "torchrun")
	if err := os.WriteFile(launcher, []byte("#!/bin/sh\nsh -c 'sleep 60 & echo $!; wait' &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(launcher)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill() //nolint:errcheck // its shells end with it
		}
		c.Wait() //nolint:errcheck // it was ended
	}()
	h := New(Options{Dev: "testdata/nowhere"})
	if p := identify(h, pid); p.Launch != fmt.Sprintf("torchrun %d", c.Process.Pid) {
		t.Errorf("the launcher is %q, want torchrun %d", p.Launch, c.Process.Pid)
	}
}

// What a parent comes from is read once for all its children, and again a moment later.
func TestLineageOfSiblings(t *testing.T) {
	root := t.TempDir()
	put := func(name string) {
		if err := os.MkdirAll(filepath.Join(root, "42"), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"stat": "42 (" + name + ") S 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0\n", "cmdline": name + "\x00"} {
			if err := os.WriteFile(filepath.Join(root, "42", file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	f, began := files{root: root}, time.Unix(1_800_000_000, 0)
	for _, row := range []struct {
		name  string
		after time.Duration
		want  string
	}{{"torchrun", 0, "torchrun 42"}, {"bash", lineFor - 1, "torchrun 42"}, {"bash", lineFor, ""}, {"mpirun", -time.Hour, "mpirun 42"}} {
		put(row.name)
		if l := f.lineage(42, began.Add(row.after)); l.launch != row.want || len(l.parents) != 1 {
			t.Errorf("%+v: %+v", row, l)
		}
	}
}
