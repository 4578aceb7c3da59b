//go:build linux && (amd64 || arm64)

package uprobe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// rig is a door over the fake libcuda, with GPUs of 8 GiB.
type rig struct {
	t       *testing.T
	dir     string
	tracker *request.Tracker
	clock   *sampler.Steady
	gpus    int
	seen    []sampler.Request
	listed  []sampler.Process // on GPU 0
}

// everybody is a host that knows nothing but who is there.
type everybody struct{}

func (everybody) Name() string                                { return "box" }
func (everybody) Memory() (m sampler.Opt[sampler.HostMemory]) { return m }
func (everybody) Identify(list []sampler.Process) {
	for i := range list {
		_, err := os.Stat("/proc/" + strconv.Itoa(list[i].PID))
		list[i].Visible, list[i].StartTime = err == nil, sampler.Some(time.Now().Add(time.Hour).Truncate(time.Hour))
		list[i].Environment = map[string]string{}
	}
}

// needDoor fails where uprobes are to be had, which is where CI runs; elsewhere it skips, for want of a privilege.
func needDoor(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if !capable() {
		t.Skipf("uprobes need root: %v", err)
	}
	t.Fatal(err)
}

// needTool skips a test for want of a program that most systems have; CI has it.
func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "" {
		t.Skipf("install %s: %v", name, err)
	}
}

func newRig(t *testing.T, gpus int, o Options) *rig {
	t.Helper()
	cudatest.Alone(t)
	r := &rig{t: t, dir: cudatest.Build(t), clock: sampler.NewSteady(), gpus: gpus}
	r.tracker = request.New(everybody{})
	o.Clock = r.clock
	if o.Libraries == nil {
		o.Libraries = []string{cudatest.Library(r.dir)}
	}
	d, err := Open(r.tracker, o)
	needDoor(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

// snapshot is one of now.
func (r *rig) snapshot() *sampler.Snapshot {
	s := &sampler.Snapshot{Time: r.clock.Now()}
	for i := range r.gpus {
		s.GPUs = append(s.GPUs, sampler.GPU{Index: i, UUID: fmt.Sprintf("GPU-%d", i), Name: "H100",
			Memory: sampler.Memory{Total: sampler.Some(8 * sampler.GiB)}})
	}
	s.GPUs[0].Processes = append(s.GPUs[0].Processes, r.listed...)
	r.tracker.Apply(s)
	r.seen = append(r.seen, s.Requests...)
	return s
}

// settled is the snapshot in which so many requests have been seen since the rig was made.
func (r *rig) settled(n int) *sampler.Snapshot {
	r.t.Helper()
	for range 200 {
		if s := r.snapshot(); len(r.seen) >= n {
			return s
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.t.Fatalf("%d requests were seen, not %d", len(r.seen), n)
	return nil
}

// said are requests as the program prints them.
func said(list []sampler.Request) (lines []string) {
	for _, q := range list {
		gpu := "?"
		if i, ok := q.GPU.Value(); ok {
			gpu = strconv.Itoa(i)
		}
		lines = append(lines, fmt.Sprintf("%s %d %d %s", q.Function, q.Bytes, q.Answer, gpu))
	}
	return lines
}

func asked(lines []string) (list []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "cu") {
			list = append(list, line)
		}
	}
	return list
}

// Each way of asking, on two GPUs: event by event as the program says itself.
func TestEveryRequest(t *testing.T) {
	for name, o := range map[string]Options{"all at once": {}, "one at a time": {Single: true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2, o)
			p := cudatest.Play(t, r.dir)
			want := asked(p.Do("device 0", "alloc a 1000000007", "alloc b 2000000000", "free a",
				"device 1", "torch c 3000000000", "async d 70000000", "freeasync d", "pooled e 64000000", "managed f 9000000000",
				"piece g 20971520", "piece h 20971520", "unpiece g",
				"device 0", "torch i 7000000000", "bfc j 7000000000", "host 1000000"))
			s := r.settled(len(want))
			if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(s.GPUs[0].Processes) != 1 || len(s.GPUs[1].Processes) != 1 {
				t.Fatalf("processes: %+v", s.GPUs)
			}
			one := s.GPUs[1].Processes[0].Requests
			if live := sampler.Bytes(3000000000 + 64000000 + 20971520); one.Live != live || !one.Whole {
				t.Errorf("GPU 1: live %d, not %d; %+v", one.Live, live, one)
			}
			if peak := sampler.Bytes(3000000000 + 64000000 + 2*20971520); one.Peak != peak {
				t.Errorf("GPU 1: peak %d, not %d", one.Peak, peak)
			}
			zero := s.GPUs[0].Processes[0].Requests
			if zero.Refused < 4 || zero.Largest != 7000000000 || zero.Refusal == nil || zero.Refusal.Outcome != sampler.RefusalSmaller {
				t.Errorf("GPU 0: %+v, %+v", zero, zero.Refusal)
			}
		})
	}
}

// The pieces of a life that is seen from its middle: what it had before counts as the driver says.
func TestMidLife(t *testing.T) {
	r := newRig(t, 1, Options{Libraries: []string{}})
	p := cudatest.Play(t, r.dir)
	p.Do("device 0", "alloc a 1000000000")
	gpu := sampler.GPU{UUID: "GPU-0"}
	r.list(p.PID(), gpu.Key(), 1500000000)
	r.until("the library is found", func() bool { p.Do("alloc x 1000", "free x"); r.snapshot(); return len(r.seen) > 0 })
	time.Sleep(50 * time.Millisecond) // a list so near to a call is not sure to have it
	r.list(p.PID(), gpu.Key(), 1500000000)
	time.Sleep(50 * time.Millisecond)
	p.Do("alloc b 2000000000", "free b", "free a")
	var s *sampler.Snapshot
	r.until("the large one is seen", func() bool { // after small ones that were still on their way
		s = r.snapshot()
		return slices.ContainsFunc(r.seen, func(q sampler.Request) bool { return q.Bytes == 2000000000 })
	})
	q := s.GPUs[0].Processes[0]
	if q.Requests.Whole || q.Peak.Bytes != 3500000000 || q.Peak.Source != sampler.PeakCalls {
		t.Errorf("%+v, peak %+v", q.Requests, q.Peak)
	}
}

// list is what the driver says of a process.
func (r *rig) list(pid int, gpu sampler.GPUKey, n sampler.Bytes) {
	r.listed = []sampler.Process{{PID: pid, Memory: sampler.Some(n)}}
	everybody{}.Identify(r.listed)
	r.tracker.Listed(gpu, r.clock.Now(), r.listed)
	r.snapshot()
}

func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for range 200 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.t.Fatalf("in vain: %s", what)
}

// A program that begins while we look, with a library that nobody has used before.
func TestNewLibrary(t *testing.T) {
	r := newRig(t, 1, Options{Libraries: []string{}})
	p := cudatest.Play(t, r.dir)
	p.Do("device 0")
	r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
}

// Who ends in the middle of a call, or without a word, is forgotten; the others go on.
func TestEndings(t *testing.T) {
	r := newRig(t, 1, Options{})
	stays := cudatest.Play(t, r.dir)
	stays.Do("device 0", "alloc a 1000")
	for _, how := range []string{"die", "exit 3"} {
		p := cudatest.Play(t, r.dir)
		p.Do("device 0", "alloc a 2000")
		p.End(how)
	}
	hung := cudatest.Play(t, r.dir, "FAKECUDA_SLOW=60")
	fmt.Fprintln(hung.In(), "device 0\nalloc a 3000") //nolint:errcheck // it does not answer
	time.Sleep(200 * time.Millisecond)
	hung.Kill()
	stays.Do("alloc b 4000")
	r.settled(4)
	if got := strings.Join(said(r.seen), ", "); got != "cuMemAlloc_v2 1000 0 0, cuMemAlloc_v2 2000 0 0, cuMemAlloc_v2 2000 0 0, cuMemAlloc_v2 4000 0 0" {
		t.Error(got)
	}
	if n := len(r.snapshot().GPUs[0].Processes); n != 1 {
		t.Errorf("%d processes", n)
	}
}

// A signal handler asks for memory in the middle of a call, or leaves it by a jump.
func TestInterrupted(t *testing.T) {
	r := newRig(t, 1, Options{})
	p := cudatest.Play(t, r.dir, "FAKECUDA_SLOW=1")
	want := asked(p.Do("device 0", "signal a 1000", "alloc b 2000", "jump 3000", "alloc c 4000"))
	r.settled(3)
	if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") || len(want) != 3 {
		t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// How a process ends that was refused memory is seen, by whichever thread; of others it is not asked.
func TestExitStatus(t *testing.T) {
	r := newRig(t, 1, Options{})
	for how, want := range map[string]sampler.Opt[int]{"exit 0": sampler.Some(0), "exit 3": sampler.Some(3), "exit 200": sampler.Some(200),
		"die": sampler.Some(137), "thread exit 5": sampler.Some(5), "granted": {}} {
		p := cudatest.Play(t, r.dir)
		p.Do("device 0", "alloc a 2000")
		word := how
		switch how {
		case "granted":
			word = "exit 3"
		case "thread exit 5":
			p.Do("alloc b 90000000000", "thread") // which reads on
			word = "exit 5"
		default:
			p.Do("alloc b 90000000000")
		}
		p.End(word)
		var got *sampler.Requests
		for range 100 {
			for _, q := range r.snapshot().GPUs[0].Processes {
				if q.PID == p.PID() {
					got = q.Requests
				}
			}
			if got != nil && (got.ExitStatus.Known() || !want.Known()) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got == nil || !got.ExitStatus.Equal(want) {
			t.Errorf("%s: %+v, not %v", how, got, want)
		}
	}
}

// A function that is called too often is let go of, and said; the others are still seen. The program hardly notices.
func TestTooOften(t *testing.T) {
	r := newRig(t, 1, Options{})
	p := cudatest.Play(t, r.dir)
	other := cudatest.Play(t, r.dir)
	other.Do("device 0")
	p.Do("device 0")
	r.until("it is let go of", func() bool { p.Do("rate 1000 100000"); return len(r.snapshot().Door.Busy) >= 2 }) // a busy machine takes a while
	want := []sampler.Busy{{PID: p.PID(), Function: "cuMemAllocAsync"}, {PID: p.PID(), Function: "cuMemFreeAsync"}}
	if got := r.snapshot().Door; !slices.Equal(got.Busy, want) || !got.Deaf(p.PID()) || len(got.LetGo) == 0 && got.Deaf(other.PID()) {
		t.Errorf("let go of: %+v", got)
	}
	n := len(r.seen)
	p.Do("async x 5000", "alloc y 6000")
	s := r.settled(n + 1)
	if last := said(r.seen[len(r.seen)-1:])[0]; last != "cuMemAlloc_v2 6000 0 0" {
		t.Error(last)
	}
	if s.GPUs[0].Processes[0].Requests.Whole {
		t.Error("a part of its life was missed")
	}
}

// Programs that fill the GPU piece by piece, each below the bound, are all seen; one that goes on doing so is let go of alone.
func TestFillers(t *testing.T) {
	r := newRig(t, 1, Options{})
	p := cudatest.Play(t, r.dir)
	p.Do("device 0")
	for range 3 {
		q := cudatest.Play(t, r.dir)
		fmt.Fprintln(q.In(), "device 0\npieces 20971520 1300") //nolint:errcheck // 3,900 of all of them, as many as one snapshot tells one by one
	}
	r.settled(3900)
	time.Sleep(2 * tickEvery)
	p.Do("piece a 20971520")
	if s := r.settled(3901); len(s.Door.LetGo)+len(s.Door.Busy) > 0 || s.Door.Lost > 0 || len(r.seen) != 3901 {
		t.Errorf("%d of 3901 requests; %+v", len(r.seen), s.Door)
	}
	q := cudatest.Play(t, r.dir)
	q.Do("device 0", "pieces 20971520 12000")
	time.Sleep(2 * tickEvery)
	r.snapshot()
	n := len(r.seen)
	p.Do("piece b 20971520")
	s := r.settled(n + 1)
	if want := []sampler.Busy{{PID: q.PID(), Function: "cuMemCreate"}, {PID: q.PID(), Function: "cuMemRelease"}}; !slices.Equal(s.Door.Busy, want) || len(s.Door.LetGo) > 0 {
		t.Errorf("let go of: %+v", s.Door)
	}
	if n > 3901+4000 || s.Door.Deaf(p.PID()) || !s.Door.Deaf(q.PID()) {
		t.Errorf("%d requests, %+v", n, s.Door)
	}
}

// Whoever looks need not wait for the kernel: somebody else has the probes until that has taken them out.
func TestLeave(t *testing.T) {
	cudatest.Alone(t)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{cudatest.Library(cudatest.Build(t))}})
	needDoor(t, err)
	var ids []link.ID
	for _, lib := range d.files {
		for _, x := range lib.links {
			info, err := x.Info()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, info.ID)
		}
	}
	there := func() (n int) {
		for _, id := range ids {
			if x, err := link.NewFromID(id); err == nil {
				n++
				x.Close() //nolint:errcheck // it was only looked for
			}
		}
		return n
	}
	left := d.leave()
	d.Close()
	if n := there(); n != 2 {
		t.Errorf("%d probes of 2 are still held", n)
	}
	left()
	r := &rig{t: t}
	r.until("they are taken out", func() bool { return there() == 0 })
}

// A process that gives way to another program has lost what it held, and did not end of what it was refused.
func TestExec(t *testing.T) {
	r := newRig(t, 1, Options{})
	for _, asks := range []string{"alloc b 90000000000", "alloc b 1000"} {
		p := cudatest.Play(t, r.dir)
		p.Do("device 0", "alloc a 2000", asks)
		r.until("it is seen", func() bool { return r.of(p.PID()) != nil })
		fmt.Fprintln(p.In(), "exec sleep") //nolint:errcheck // it does not answer
		r.until(asks+": it gives way", func() bool { q := r.of(p.PID()); return q != nil && q.ExitStatus.Equal(sampler.Some(0)) && q.Live == 0 })
		r.until(asks+": it is forgotten", func() bool { return r.of(p.PID()) == nil })
	}
}

// of is what a process asked for, by a snapshot of now; nil: nothing.
func (r *rig) of(pid int) *sampler.Requests {
	for _, q := range r.snapshot().GPUs[0].Processes {
		if q.PID == pid {
			return q.Requests
		}
	}
	return nil
}

// 1,900 calls a second are seen, every one.
func TestOften(t *testing.T) {
	r := newRig(t, 1, Options{})
	p := cudatest.Play(t, r.dir)
	said := p.Do("device 0", "rate 1000 1500")
	var n int
	fmt.Sscanf(said[len(said)-1], "rate %d", &n) //nolint:errcheck // it is then 0
	r.settled(n)
	if s := r.snapshot(); len(r.seen) != n || len(s.Door.LetGo) != 0 || s.Door.Lost != 0 {
		t.Errorf("%d of %d; %+v", len(r.seen), n, s.Door)
	}
}

// Another pid and mount namespace, with the library under another path there: the same file.
func TestNamespaces(t *testing.T) {
	needTool(t, "unshare")
	r := newRig(t, 1, Options{Libraries: []string{}})
	inside := t.TempDir()
	script := fmt.Sprintf("mount --bind %s %s && exec %s/play %s/libcuda.so.1", r.dir, inside, inside, inside)
	cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script)
	p := cudatest.Start(t, cmd)
	p.Do("device 0")
	r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
	if pid := r.seen[0].PID; pid == p.PID() || pid < 3 {
		t.Errorf("pid %d is not the one outside", pid)
	}
}

// Two names of one function are looked at once.
func TestAliases(t *testing.T) {
	dir := t.TempDir()
	source := "int cuMemAllocAsync(void *p, long n, void *s) { return 0; }\nint cuMemAllocAsync_ptsz(void *p, long n, void *s) __attribute__((alias(\"cuMemAllocAsync\")));\n"
	if err := os.WriteFile(filepath.Join(dir, "x.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(dir, "libcuda.so.1")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", lib, filepath.Join(dir, "x.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if list := functionsOf(lib); len(list) != 1 || request.Functions[list[0]].Name != "cuMemAllocAsync" {
		t.Errorf("%v", list)
	}
}

// What is no library, or has nothing of it, is left alone.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.so")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none.so")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-x", "c", "-o", none, "/dev/null").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{empty, none, filepath.Join(dir, "missing.so"), dir, "/bin/sh"}})
	needDoor(t, err)
	defer d.Close()
	for id, lib := range d.files {
		if len(lib.links) > 0 {
			t.Errorf("%v: %d links", id, len(lib.links))
		}
	}
}

// A binary with capabilities, run by somebody without any.
func TestCapabilities(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives capabilities to a file")
	}
	needTool(t, "setcap")
	// The directory of a test is root's own.
	dir, err := os.MkdirTemp("", "nvpeak-caps-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // it is temporary
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "capable.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil { //nolint:gosec // somebody else runs it
		t.Fatal(err)
	}
	run := func() string {
		cmd := exec.Command(binary, "-test.run", "^TestAsSomebody$", "-test.v")
		cmd.Env = append(os.Environ(), "AS_SOMEBODY=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run(); !strings.Contains(out, ErrPrivilege.Error()) {
		t.Errorf("without: %s", out)
	}
	if out, err := exec.Command("setcap", "cap_bpf,cap_perfmon+ep", binary).CombinedOutput(); err != nil {
		t.Fatalf("setcap: %v\n%s", err, out)
	}
	if out := run(); !strings.Contains(out, "the door is open, and ends are seen: true") {
		t.Errorf("with: %s", out)
	}
}

// TestAsSomebody is what TestCapabilities runs.
func TestAsSomebody(t *testing.T) {
	if os.Getenv("AS_SOMEBODY") == "" {
		t.Skip("a part of TestCapabilities")
	}
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{"/lib/x86_64-linux-gnu/libc.so.6"}})
	if err != nil {
		t.Log(err)
		return
	}
	defer d.Close()
	t.Logf("the door is open, and ends are seen: %v", len(d.ends) == 2)
}

// Why there is no door.
func TestWhyNot(t *testing.T) {
	for want, err := range map[error]error{
		ErrKernel: fmt.Errorf("link: %w", ebpf.ErrNotSupported),
		ErrBroken: errors.New("no such map"),
	} {
		if got := whyNot(err); !errors.Is(got, want) || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	for status, want := range map[string]bool{
		"Name:\tx\nCapEff:\t0000000000000000\n": false,
		"CapEff:\t000000c000000000\n":           true,  // BPF and PERFMON
		"CapEff:\t0000008000000000\n":           false, // BPF alone
		"CapEff:\t0000004000000000\n":           false, // PERFMON alone
		"CapEff:\t0000000000200000\n":           true,  // SYS_ADMIN
		"CapEff:\tmuch\n":                       false,
		"":                                      false,
	} {
		if got := mayLoad(status); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}

// Nobody pays for probes where there is no libcuda.
func TestAwait(t *testing.T) {
	needDoor(t, map[bool]error{false: ErrPrivilege}[capable()])
	cudatest.Alone(t)
	dir, tracker := cudatest.Build(t), request.New(everybody{})
	tracker.Begin(nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if Await(ctx, tracker, []string{}) {
		t.Error("there is none")
	}
	if !Await(t.Context(), tracker, []string{cudatest.Library(dir)}) {
		t.Error("the system has one")
	}
	p := cudatest.Play(t, dir)
	p.Do("device 0")
	tracker.Apply(&sampler.Snapshot{GPUs: []sampler.GPU{{Processes: []sampler.Process{{PID: p.PID()}}}}})
	if !Await(t.Context(), tracker, []string{}) {
		t.Error("a process has one")
	}
}
