package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
)

// twoGPUs is what each machine over ssh has.
const twoGPUs = "gpu 0-1 total=80GiB\nmem 0 used=42GiB\nmem 1 used=10GiB\nproc 0 pid=41000 memory=41GiB\n"

// shells are machines over a real sshd that run the nvpeak under test on a fake driver.
func shells(t *testing.T, names ...string) (*sshd, string) {
	t.Helper()
	s := startSSHD(t, nvmltest.Env(nvmltest.Library(t, nvmltest.Current), nvmltest.Scenario(t, twoGPUs))...)
	return s, s.hosts(t, "nvpeak = \""+binary+"\"", names...)
}

// Each command without a screen does over ssh what it does here, for each machine.
func TestFleetSSH(t *testing.T) {
	t.Parallel()
	_, hosts := shells(t, "box7", "box8")
	got := run(t, setup{args: []string{"once", "--from", hosts}})
	if got.code != 0 || strings.Count(got.out, "42.0 GiB") < 2 || !strings.Contains(got.out, "box7  driver") || !strings.Contains(got.out, "\n\nbox8  driver") || got.err != "" {
		t.Errorf("once: %+v", got)
	}
	got = run(t, setup{args: []string{"once", "--json", "--from", hosts}})
	if lines := strings.Split(strings.TrimSpace(got.out), "\n"); len(lines) != 2 || !strings.Contains(lines[0], `"host":"box7"`) || !strings.Contains(lines[1], `"host":"box8"`) || !strings.Contains(lines[0], `"pid":41000`) {
		t.Errorf("once --json: %+v", got)
	}
	got = run(t, setup{args: []string{"once", "--csv=index,memory.used,host", "--from", hosts, "--gpu", "1"}})
	if got.out != "index, memory.used [MiB], host\n1, 10240 MiB, box7\n1, 10240 MiB, box8\n" {
		t.Errorf("once --csv: %+v", got)
	}
	seen, windows := map[string]int{}, 0
	streaming(t, setup{args: []string{"--from", hosts, "--interval", "200ms"}}, patience, func(l line) bool {
		if l.Type == "snapshot" {
			seen[l.Host]++
			if len(l.GPUs) != 2 || l.GPUs[0].Memory.Used != 42<<30 || time.Since(l.Time) > 10*time.Second {
				t.Errorf("%+v", l)
			}
			if w := l.GPUs[0].Memory.Window; w != nil && w.Max == 42<<30 {
				windows++
			}
		} else if l.State == "ok" && (l.Via != "nvpeak" || l.Offset > 1 || l.Offset < -1) {
			t.Errorf("%+v", l)
		}
		return seen["box7"] > 3 && seen["box8"] > 3 && windows > 3
	})
	for need, want := range map[string]struct {
		code int
		says string
	}{"20GiB": {0, "box7:\nGPU 1  20.0 GiB fits"}, "75GiB": {3, "box8:\n"}} {
		if got := run(t, setup{args: []string{"check", "--from", hosts, "--need", need, "--window", "500ms"}}); got.code != want.code || !strings.Contains(got.out, want.says) {
			t.Errorf("check %s: %+v", need, got)
		}
	}
	if got := run(t, setup{args: []string{"wait", "--from", hosts, "--need", "60GiB", "--interval", "200ms", "--hold", "400ms"}}); got.code != 0 || got.out != "box7 1\n" && got.out != "box8 1\n" {
		t.Errorf("wait: %+v", got)
	}
	dir := filepath.Join(t.TempDir(), "fleet")
	if got := run(t, setup{args: []string{"record", "--from", hosts, "-o", dir, "--for", "6s", "--interval", "200ms"}}); got.code != 0 {
		t.Errorf("record: %+v", got)
	}
	for _, name := range []string{"box7", "box8"} {
		if got := run(t, setup{args: []string{"report", filepath.Join(dir, name+".jsonl.zst")}}); got.code != 0 || !strings.Contains(got.out, name) {
			t.Errorf("report: %+v", got)
		}
	}
}

// A machine whose driver takes longer than the first snapshot there waits for it gives figures all the same.
func TestFleetSSHSlowDriver(t *testing.T) {
	t.Parallel()
	s := startSSHD(t, nvmltest.Env(nvmltest.Library(t, nvmltest.Current), nvmltest.Scenario(t, twoGPUs+"latency nvmlDeviceGetMemoryInfo* 300ms sleep\n"))...)
	got := run(t, setup{args: []string{"once", "--from", s.hosts(t, "nvpeak = \""+binary+"\"", "box7")}})
	if got.code != 0 || !strings.Contains(got.out, "42.0 GiB") || got.err != "" {
		t.Errorf("%+v", got)
	}
}

// What is wrong with a machine is said at once, in one line with the command to try, and keeps no other one up.
func TestFleetSSHFailures(t *testing.T) {
	t.Parallel()
	s, _ := shells(t)
	began := time.Now()
	hosts := s.hosts(t, "nvpeak = \""+binary+"\"", "keyless", "box7", "stranger", "nosuch") + " "
	got := run(t, setup{args: []string{"once", "--from", hosts + fmt.Sprintf("ssh://127.0.0.1:%d", freePort(t))}})
	if got.code != 0 || !strings.Contains(got.out, "box7  driver") || strings.Count(got.err, "\n") != 4 {
		t.Fatalf("%+v", got)
	}
	for _, says := range []string{"keyless: ssh wants a password, or does not take the key", "stranger: its host key is not known here: connect once by hand: ssh -F " + s.config + " stranger",
		"nosuch: there is no host of that name", "127.0.0.1: nothing listens for ssh there"} {
		if !strings.Contains(got.err, says) {
			t.Errorf("%q is not said: %s", says, got.err)
		}
	}
	if took := time.Since(began); took > patience/2 {
		t.Errorf("it took %v", took)
	}
	if got := run(t, setup{args: []string{"once", "--from", s.hosts(t, "", "keyless")}}); got.code != 1 || !strings.HasSuffix(got.err, "keyless\n") || got.out != "" {
		t.Errorf("%+v", got)
	}
	if got := run(t, setup{args: []string{"check", "--need", "1GiB", "--from", s.hosts(t, "", "keyless")}}); got.code != 1 || !strings.Contains(got.out, "keyless: unknown, ssh wants a password") {
		t.Errorf("%+v", got)
	}
}

// Without nvpeak there a loop of nvidia-smi is run over the same connection.
func TestFleetSSHWithoutNvpeak(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *compute-apps*) echo \"GPU-1, $PPID, 9216 MiB, python\";; *)\n" +
		"echo \"index, uuid, name, memory.total [MiB], memory.used [MiB], memory.free [MiB]\"\necho \"0, GPU-1, NVIDIA H100, 81559 MiB, 10000 MiB, 71000 MiB\";; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := startSSHD(t, "PATH="+dir+":/usr/bin:/bin")
	hosts := s.hosts(t, "nvpeak = \"nvpeak-is-not-here\"", "box7")
	n := 0
	streaming(t, setup{args: []string{"--from", hosts}}, patience, func(l line) bool {
		if l.Type == "host" && l.State == "ok" && (l.Via != "nvidia-smi" || !strings.HasPrefix(l.Reason, "nvpeak-is-not-here is not there: peaks")) {
			t.Errorf("%+v", l)
		}
		if l.Type == "snapshot" {
			n++
			if l.GPUs[0].Memory.Used != 10000<<20 || l.GPUs[0].Memory.Peak.Bytes != 10000<<20 || l.GPUs[0].Memory.Window != nil {
				t.Errorf("%+v", l)
			}
		}
		return n == 2
	})
	// The loop, its sleep and what waits for the end of the connection: all are gone.
	within(t, "the loop there ends", func() bool { return len(remote(t, "nvpeak-is-not-here")) == 0 })
	s = startSSHD(t, "PATH=/usr/bin:/bin")
	if got := run(t, setup{args: []string{"once", "--from", s.hosts(t, "nvpeak = \"nvpeak-is-not-here\"", "box7")}}); got.code != 1 || !strings.Contains(got.err, "nvpeak-is-not-here is not there, nor is nvidia-smi installed") {
		t.Errorf("%+v", got)
	}
}

// However this program ends, what it began on other machines ends, also where no line is due for an hour.
func TestFleetSSHNoOrphan(t *testing.T) {
	t.Parallel()
	_, hosts := shells(t, "box7")
	for i, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		every := fmt.Sprintf("59m%ds", 50+i)
		cmd, next := streamed(t, setup{args: []string{"--from", hosts, "--interval", every}})
		if _, ok := next(); !ok {
			t.Fatal(cmd.Stderr)
		}
		mark := "stream --interval=" + every
		there := func() (n int) {
			for _, pid := range remote(t, mark) {
				if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == binary && pid != cmd.Process.Pid {
					n++
				}
			}
			return n
		}
		within(t, "it runs there", func() bool { return there() == 1 })
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		within(t, fmt.Sprintf("it ends there after %v", sig), func() bool { return len(remote(t, mark)) == 0 })
	}
}

// A machine that goes is lost with its reason, and comes back by itself.
func TestFleetSSHReconnects(t *testing.T) {
	t.Parallel()
	_, hosts := shells(t, "box7")
	killed, states := false, []string{}
	streaming(t, setup{args: []string{"--from", hosts, "--interval", "300ms", "--peak-interval", "33ms"}}, patience, func(l line) bool {
		if l.Type == "host" {
			states = append(states, l.State)
		}
		if l.Type == "snapshot" && !killed {
			killed = true
			for _, pid := range remote(t, "stream --interval=300ms --peak-interval=33ms") {
				if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == binary {
					syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it runs
				}
			}
		}
		return strings.Join(states, " ") == "connecting ok lost ok"
	})
}
