package proc

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nvpeak/sampler"
)

// What a program has put into its environment counts, and what it has taken out of it, not what it began with; wherever it has the address of that.
func TestLiveEnvironment(t *testing.T) {
	for name, build := range map[string][]string{
		"in the C library":                       {"-fPIE", "-pie"},
		"copied into the program":                {"-DNAMES", "-fPIE", "-pie"},
		"copied into a program that cannot move": {"-DNAMES", "-fno-pie", "-no-pie"},
	} {
		t.Run(name, func(t *testing.T) { liveEnvironment(t, build...) })
	}
}

func liveEnvironment(t *testing.T, build ...string) {
	if !mayReadMemory() {
		t.Skip("this user may not read the memory of other processes")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "changes")
	code := `#include <stdio.h>
#include <stdlib.h>
#ifdef NAMES
extern char **environ;
#endif
int main(void) {
#ifdef NAMES
	if (!environ) return 1;
#endif
	puts("begun"); fflush(stdout); getchar();
	setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
	setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1);
	setenv("MY_TOKEN", "secret", 1);
	unsetenv("CUDA_DEVICE_ORDER");
	puts("changed"); fflush(stdout); getchar();
}`
	if err := os.WriteFile(program+".c", []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", append(build, "-o", program, program+".c")...).CombinedOutput(); err != nil { //nolint:gosec // a test
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program) //nolint:gosec // the same
	cmd.Env = []string{"CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "PATH=/bin"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it ends with its input
	defer in.Close() //nolint:errcheck // the same
	said := bufio.NewReader(out)
	clock := &still{time.Unix(1_700_000_000, 0)}
	h := New(Options{Clock: clock})
	environment := func() map[string]string {
		p := []sampler.Process{{PID: cmd.Process.Pid}}
		h.Identify(p)
		return p[0].Environment
	}
	said.ReadString('\n') //nolint:errcheck // the figures tell
	if e := environment(); e["CUDA_VISIBLE_DEVICES"] != "0" || e["CUDA_DEVICE_ORDER"] != "PCI_BUS_ID" {
		t.Errorf("as it begins: %v", e)
	}
	io.WriteString(in, "\n") //nolint:errcheck // the same
	said.ReadString('\n')    //nolint:errcheck // the same
	clock.t = clock.t.Add(learnEvery)
	e := environment()
	if _, ordered := e["CUDA_DEVICE_ORDER"]; ordered || e["CUDA_VISIBLE_DEVICES"] != "3,1" || e["PYTORCH_CUDA_ALLOC_CONF"] != "expandable_segments:True" || e["MY_TOKEN"] != "" {
		t.Errorf("as it has changed: %v", e)
	}
	io.WriteString(in, "\n") //nolint:errcheck // the same
}

// still is a clock that a test moves.
type still struct{ t time.Time }

func (c *still) Now() time.Time { return c.t }
