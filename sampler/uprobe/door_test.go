//go:build linux && (amd64 || arm64)

package uprobe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// rig is a door over the fake libcuda, with GPUs of 8 GiB.
type rig struct {
	t       *testing.T
	dir     string
	tracker *request.Tracker
	door    *Door
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
	if !capable(false) {
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
	return rigOf(t, cudatest.Build(t), gpus, o)
}

// rigOf is a rig over the fake libcuda in a directory.
func rigOf(t *testing.T, dir string, gpus int, o Options) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, clock: sampler.NewSteady(), gpus: gpus}
	r.tracker = request.New(everybody{})
	o.Clock = r.clock
	if o.Libraries == nil {
		o.Libraries = []string{cudatest.Library(r.dir)}
	}
	if o.Single && len(o.Libraries) == 0 { // the test waits until one is looked at
		leaving.Wait()
	}
	d, err := Open(r.tracker, o)
	needDoor(t, err)
	r.door = d
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done; leaving.Go(d.closing.Wait) })
	return r
}

// leaving are the probes of the tests before that are on their way out. Where they are set one at a time, the kernel takes each of them out by
// itself, some 100 ms, and sets no other meanwhile.
var leaving sync.WaitGroup

// live is which set of a function's probes counts.
func (r *rig) live(function string) uint32 {
	var live [maxFunctions]uint32
	r.door.objects.Live.Get(&live) //nolint:errcheck // it is then 0
	return live[number(function)]
}

// count is how often a function was called.
func (r *rig) count(function string) uint64 {
	var counts [maxFunctions]uint64
	r.door.objects.Counts.Get(&counts) //nolint:errcheck // it is then 0
	return counts[number(function)]
}

// runs is how often the program for entries has run.
func (r *rig) runs() uint64 {
	s, err := r.door.objects.Entered.Stats()
	if err != nil {
		r.t.Fatal(err)
	}
	return s.RunCount
}

func number(function string) int {
	return slices.IndexFunc(request.Functions, func(f request.Function) bool { return f.Name == function })
}

// bothWays runs a test with the probes of a kernel of today, and with those of one before Linux 6.6.
func bothWays(t *testing.T, test func(*testing.T, Options)) {
	t.Helper()
	for name, o := range map[string]Options{"all at once": {}, "one at a time": {Single: true}} {
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

// oneWay is for what does not depend on how the probes are attached.
func oneWay(t *testing.T, test func(*testing.T, Options)) {
	t.Helper()
	t.Run("all at once", func(t *testing.T) { test(t, Options{}) })
}

// everyWay is bothWays, and with the probes of a kernel before Linux 5.15.
func everyWay(t *testing.T, test func(*testing.T, Options)) {
	t.Helper()
	bothWays(t, test)
	t.Run("without cookies", func(t *testing.T) { test(t, Options{Single: true, cookieless: true}) })
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
	everyWay(t, func(t *testing.T, o Options) {
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

// A context that lies below the one that a thread had when nobody looked yet is another one, once that is popped; one that was pushed since is known.
func TestEras(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		cudatest.Alone(t)
		dir := cudatest.Build(t)
		p := cudatest.Play(t, dir)
		p.Do("device 1", "device 0", "push 1", "alloc a 1000000000")
		r := rigOf(t, dir, 2, o)
		gpu := sampler.GPU{UUID: "GPU-0"}
		r.list(p.PID(), gpu.Key(), 1500000000)
		r.until("the library is found", func() bool { p.Do("alloc x 1000", "free x"); r.snapshot(); return r.count("cuMemAlloc_v2") > 0 })
		era := func() (most uint32) {
			var thread probeThread
			if err := r.door.objects.Threads.Lookup(uint64(p.PID())<<32|uint64(p.PID()), &thread); err != nil { //nolint:gosec // pids
				return 0
			}
			for _, stack := range thread.Stacks {
				most = max(most, stack.Era)
			}
			return most
		}
		for _, step := range []struct {
			do   string
			want uint32
		}{{"push 0", 0}, {"pop", 0}, {"pop", 1}, {"push 1", 1}, {"pop", 1}} {
			if p.Do(step.do); era() != step.want {
				t.Errorf("%s: era %d, not %d", step.do, era(), step.want)
			}
		}
	})
}

// The pieces of a life that is seen from its middle: what it had before counts as the driver says.
func TestMidLife(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		cudatest.Alone(t)
		dir := cudatest.Build(t)
		p := cudatest.Play(t, dir) // before anything watches: who loads a libcuda later may be heard from its first call on
		p.Do("device 0", "alloc a 1000000000")
		r := rigOf(t, dir, 1, o)
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
	})
}

// list is what the driver says of a process.
func (r *rig) list(pid int, gpu sampler.GPUKey, n sampler.Bytes) {
	r.listed = []sampler.Process{{PID: pid, Memory: sampler.Some(n)}}
	everybody{}.Identify(r.listed)
	r.tracker.Listed(gpu, r.clock.Now(), 0, r.listed)
	r.snapshot()
}

// It waits up to 20 s, for a busy machine.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.t.Fatalf("in vain: %s", what)
}

// A program that begins while we look, with a library that nobody has used before.
func TestNewLibrary(t *testing.T) {
	everyWay(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir)
		p.Do("device 0")
		r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
	})
}

// Whoever looks need not wait for the kernel: somebody else has the probes until that has taken them out.
func TestLeave(t *testing.T) {
	cudatest.Alone(t)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{cudatest.Library(cudatest.Build(t))}})
	needDoor(t, err)
	if d.copies != nil {
		d.Close()
		t.Skip("on this kernel probes are no files, which somebody else could have")
	}
	var ids []link.ID
	for _, lib := range d.files {
		for _, x := range lib.all() {
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
	if n := there(); n != len(ids) || n == 0 {
		t.Errorf("%d probes of %d are still held", n, len(ids))
	}
	left()
	r := &rig{t: t}
	r.until("they are taken out", func() bool { return there() == 0 })
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
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir)
		said := p.Do("device 0", "rate 1000 1500")
		var n int
		fmt.Sscanf(said[len(said)-1], "rate %d", &n) //nolint:errcheck // it is then 0
		r.settled(n)
		if s := r.snapshot(); len(r.seen) != n || len(s.Door.LetGo) != 0 || s.Door.Lost != 0 {
			t.Errorf("%d of %d; %+v", len(r.seen), n, s.Door)
		}
	})
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
	others := []string{empty, none, filepath.Join(dir, "missing.so"), dir, "/bin/sh"}
	d, err := Open(request.New(everybody{}), Options{Libraries: others})
	needDoor(t, err)
	defer d.Close()
	for _, path := range others { // programs beside this test may have a libcuda, which is none of these
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			continue
		}
		if lib := d.files[file{st.Dev, st.Ino}]; lib != nil && len(lib.links) > 0 {
			t.Errorf("%s: %d links", path, len(lib.links))
		}
	}
}

// Nobody pays for probes where there is no libcuda.
func TestAwait(t *testing.T) {
	needDoor(t, map[bool]error{false: ErrPrivilege}[capable(false)])
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
