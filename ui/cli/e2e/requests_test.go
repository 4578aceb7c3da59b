package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/uprobe/cudatest"
)

// box is a machine with two GPUs of 8 GiB, on which programs really ask for memory, watched by `stream`.
type box struct {
	t     *testing.T
	cuda  string
	share string
	cmd   *exec.Cmd
	lines *bufio.Scanner
	last  sampler.Snapshot
}

func newBox(t *testing.T, args ...string) *box {
	t.Helper()
	cudatest.Alone(t)
	b := &box{t: t, cuda: cudatest.Build(t), share: filepath.Join(t.TempDir(), "shared")}
	cmd := exec.Command(binary, append([]string{"stream", "--requests", "on"}, args...)...)
	cmd.Env = setup{scenario: fmt.Sprintf("gpu 0-1 total=8GiB reserved=0 name=\"H100\"\nprograms %s\n", b.share), env: []string{"LD_LIBRARY_PATH=" + b.cuda}}.environ(t)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })   //nolint:errcheck // the stream then ends
	t.Cleanup(func() { late.Stop(); cmd.Process.Kill(); cmd.Wait() }) //nolint:errcheck // it may have ended
	b.cmd, b.lines = cmd, bufio.NewScanner(out)
	b.lines.Buffer(nil, 1<<24)
	if !b.lines.Scan() {
		cmd.Wait() //nolint:errcheck // standard error tells
		if strings.Contains(errs.String(), "privilege") && os.Getenv("CI") == "" {
			t.Skipf("probes need root: %s", errs.String())
		}
		t.Fatal(errs.String())
	}
	return b
}

func (b *box) play(env ...string) *cudatest.Player {
	return cudatest.Play(b.t, b.cuda, append(env, "FAKECUDA_SHARED="+b.share, "FAKECUDA_CAPACITY=8589934592")...)
}

func (b *box) next() *sampler.Snapshot {
	b.t.Helper()
	if !b.lines.Scan() {
		text, _ := json.Marshal(b.last)
		b.t.Fatalf("the stream has ended: %v; %s", b.lines.Err(), text)
	}
	b.last = sampler.Snapshot{}
	if err := json.Unmarshal(b.lines.Bytes(), &b.last); err != nil {
		b.t.Fatal(err)
	}
	return &b.last
}

// until reads on until a process on a GPU is as wanted.
func (b *box) until(what string, gpu, pid int, ok func(p *sampler.Process) bool) *sampler.Process {
	b.t.Helper()
	for range 20 {
		s := b.next()
		for i := range s.GPUs[gpu].Processes {
			if p := &s.GPUs[gpu].Processes[i]; p.PID == pid && p.Requests != nil && ok(p) {
				return p
			}
		}
	}
	text, _ := json.Marshal(b.last.GPUs[gpu].Processes)
	b.t.Fatalf("in vain: %s; %s", what, text)
	return nil
}

// What was asked for right before the end is told all the same, on whichever GPU it was.
func TestRequestsBeforeTheEnd(t *testing.T) {
	t.Parallel()
	b := newBox(t, "--interval", "1h")
	p := b.play()
	p.Do("device 1", "alloc a 1000000007", "alloc b 3000000011", "free b")
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var sizes []sampler.Bytes
	for b.lines.Scan() {
		var s sampler.Snapshot
		if err := json.Unmarshal(b.lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Requests {
			if r.PID == p.PID() {
				sizes = append(sizes, r.Bytes)
			}
		}
	}
	if !slices.Equal(sizes, []sampler.Bytes{1000000007, 3000000011}) {
		t.Errorf("told were %v", sizes)
	}
}

// The peak of a process is exact, with what its context takes, however short it was; and on the right GPU.
func TestExactPeaks(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.play("FAKECUDA_CONTEXT=500000000")
	p.Do("device 1", "alloc a 1000000007")
	b.until("it is listed with its context", 1, p.PID(), func(p *sampler.Process) bool { return p.Memory.Or(0) == 1500000007 })
	b.next()
	// A list within milliseconds of the first call tells a lower bound, until the next one.
	b.until("its figure is sure", 1, p.PID(), func(p *sampler.Process) bool { return p.Peak != nil && p.Peak.Source == sampler.PeakCalls })
	p.Do("alloc b 3000000011", "free b")
	got := b.until("the short one", 1, p.PID(), func(p *sampler.Process) bool { return p.Requests.Peak == 4000000018 })
	if got.Peak.Bytes != 4500000018 || got.Peak.Source != sampler.PeakCalls || got.Requests.Live != 1000000007 || !got.Requests.Whole {
		t.Errorf("peak %+v, requests %+v", got.Peak, got.Requests)
	}
	if g := b.last.GPUs[1].Memory.Peak; g.Bytes != 4500000018 {
		t.Errorf("the GPU's peak: %+v", g)
	}
	if slices.ContainsFunc(b.last.GPUs[0].Processes, func(q sampler.Process) bool { return q.PID == p.PID() }) { // runs of other tests tell of themselves
		t.Errorf("on GPU 0: %+v", b.last.GPUs[0].Processes)
	}
}

// A refusal is told when it happens, and what came of it: granted after a flush, or not.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBox(t, "--interval", "1h")
	p := b.play()
	p.Do("device 0", "alloc a 4000000000", "alloc b 2000000000", "cache b")
	time.Sleep(500 * time.Millisecond) // it is read, on a machine that has little time, too
	began := time.Now()
	p.Do("torch c 3000000000")
	got := b.until("a near miss", 0, p.PID(), func(p *sampler.Process) bool { return p.Requests.Refusal != nil })
	if took := time.Since(began); took > busy {
		t.Errorf("it is told after %v", took)
	}
	told := func(p *sampler.Process) bool { return p.Requests.Refusal.Free.Known() }
	if !told(got) { // it is read later
		got = b.until("what was free then", 0, p.PID(), told)
	}
	if r := got.Requests; r.Flushes != 1 || r.Refused != 1 || r.Refusal.Outcome != sampler.RefusalFlush || r.Refusal.Bytes != 3000000000 ||
		!r.Refusal.Free.Equal(sampler.Some(sampler.Bytes(8<<30-6000000000))) {
		t.Errorf("%+v, %+v", r, r.Refusal)
	}
	p.Do("torch d 5000000000")
	got = b.until("a refusal for good", 0, p.PID(), func(p *sampler.Process) bool { return p.Requests.Refused == 4 && told(p) })
	if r := got.Requests.Refusal; r.Outcome != sampler.RefusalOpen || r.Tries != 3 || !r.Free.Equal(sampler.Some(sampler.Bytes(8<<30-7000000000))) {
		t.Errorf("%+v", r)
	}
}

// doctor finds the libcuda that only a listed process has.
func TestDoctorFindsALibrary(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.play()
	p.Do("device 0", "alloc a 1000000")
	got := run(t, setup{scenario: fmt.Sprintf("gpu 0 total=8GiB reserved=0\nproc 0 pid=%d memory=1MiB\n", p.PID()), args: []string{"doctor"}})
	if !strings.Contains(got.out, "uprobes on 1 libcuda") {
		t.Errorf("%s%s", got.out, got.err)
	}
}

// A command that the driver refuses memory, and that prints nothing of it, or no figures, or the size alone, is told why it died, also where it dies
// at once; what was free is what the driver had then, and not before what was cached was given back.
func TestRunTellsARefusal(t *testing.T) {
	cudatest.Alone(t)
	cuda := cudatest.Build(t)
	const atOnce = "device 0\nalloc a 6442450944\nsleep 300\nalloc b 6442450944\nexit 1\n"
	const cached = "device 1\nalloc a 1073741824\nalloc b 3221225472\ncache b\nsleep 1500\ntorch c 7784628224\nexit 1\n"
	const printed = " || { echo '%s' >&2; exit 1; }"
	for name, row := range map[string]struct{ commands, then, size, want string }{
		"later":               {"sleep 3000\ndevice 0\nalloc a 6442450944\nsleep 1500\nalloc b 6442450944\nalloc b 6442450944\nsleep 300\nexit 1\n", "", "6.00 GiB", "refused by the driver"},
		"at once":             {atOnce, "", "6.00 GiB", "refused by the driver"},
		"text and no figures": {atOnce, fmt.Sprintf(printed, "RuntimeError: CUDA error: out of memory"), "6.00 GiB", "refused by the driver"},
		"text and the size":   {cached, fmt.Sprintf(printed, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.25 GiB."), "asked for 7.25 GiB", "7.00 GiB was free"},
		"size in bytes": {cached, fmt.Sprintf(printed, "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7784628224 bytes."),
			"asked for 7.25 GiB", "7.00 GiB was free"},
	} {
		share := filepath.Join(t.TempDir(), "shared")
		s := setup{scenario: fmt.Sprintf("gpu 0-1 total=8GiB reserved=0 name=\"H100\"\nprograms %s\n", share),
			env:  []string{"LD_LIBRARY_PATH=" + cuda, "FAKECUDA_SHARED=" + share, "FAKECUDA_CAPACITY=8589934592", "XDG_STATE_HOME=" + t.TempDir()},
			args: []string{"run", "--requests", "on", "--", "sh", "-c", "printf '" + row.commands + "' | " + filepath.Join(cuda, "play") + " " + cudatest.Library(cuda) + " >/dev/null" + row.then}}
		r := run(t, s)
		if strings.Contains(r.err, "privilege") && os.Getenv("CI") == "" {
			t.Skipf("probes need root: %s", r.err)
		}
		if r.code != 1 || !strings.Contains(r.err, row.size) || !strings.Contains(r.err, row.want) {
			t.Errorf("%s: %d\n%s\n%s", name, r.code, r.out, r.err)
		}
	}
}
