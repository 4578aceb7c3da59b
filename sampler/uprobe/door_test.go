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
	d, err := Open(r.tracker, o)
	needDoor(t, err)
	r.door = d
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

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
	bothWays(t, func(t *testing.T, o Options) {
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

// The pieces of a life that is seen from its middle: what it had before counts as the driver says.
func TestMidLife(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		r := newRig(t, 1, o)
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
	})
}

// list is what the driver says of a process.
func (r *rig) list(pid int, gpu sampler.GPUKey, n sampler.Bytes) {
	r.listed = []sampler.Process{{PID: pid, Memory: sampler.Some(n)}}
	everybody{}.Identify(r.listed)
	r.tracker.Listed(gpu, r.clock.Now(), r.listed)
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
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir)
		p.Do("device 0")
		r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
	})
}

// Who ends in the middle of a call, or without a word, is forgotten; the others go on.
func TestEndings(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
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
	})
}

// A signal handler asks for memory in the middle of a call, or leaves it by a jump.
func TestInterrupted(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir, "FAKECUDA_SLOW=1")
		want := asked(p.Do("device 0", "signal a 1000", "alloc b 2000", "jump 3000", "alloc c 4000"))
		r.settled(3)
		if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") || len(want) != 3 {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// How a process ends that was refused memory is seen, by whichever thread; of others it is not asked.
func TestExitStatus(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
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
	})
}

// A function that a program calls too often is let go of in that program, which does not pay for it any more; the others are seen
// whether they were there before or begin meanwhile.
func TestTooOften(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
		if err != nil {
			t.Fatal(err)
		}
		defer stats.Close() //nolint:errcheck // it was only read
		p, other := cudatest.Play(t, r.dir), cudatest.Play(t, r.dir)
		of := func(q *cudatest.Player) (list []sampler.Request) {
			for _, x := range r.seen {
				if x.PID == q.PID() {
					list = append(list, x)
				}
			}
			return list
		}
		p.Do("device 0")
		want := map[*cudatest.Player][]string{other: asked(other.Do("device 0", "async a 1000"))}
		r.until("it is let go of", func() bool { p.Do("rate 1000 100000"); return len(r.snapshot().Door.Busy) >= 2 }) // a busy machine takes a while
		r.until("it does not pay any more", func() bool { return r.live("cuMemAllocAsync") == apart && r.live("cuMemFreeAsync") == apart })
		r.until("the probes of the file are taken out", func() bool { before := r.runs(); p.Do("async z 1", "freeasync z"); return r.runs() == before })
		before := r.runs()
		p.Do("rate 1000 100000")
		if n := r.runs() - before; n > 0 {
			t.Errorf("%d calls of it were still looked at", n)
		}
		late := cudatest.Play(t, r.dir)
		late.Do("device 0")
		tries := 0
		r.until("one that has begun is looked at", func() bool {
			tries++
			line := asked(late.Do("async a 1000"))
			time.Sleep(10 * time.Millisecond)
			if r.snapshot(); len(of(late)) == 0 {
				return false
			}
			want[late] = line
			return true
		})
		for _, q := range []*cudatest.Player{other, late} {
			want[q] = append(want[q], asked(q.Do("async b 5000", "alloc c 6000", "async d 7000"))...)
		}
		p.Do("async x 5000", "rate 1000 100000")
		ok := asked(p.Do("alloc y 8000"))
		r.until("the last one is seen", func() bool { r.snapshot(); return r.seen[len(r.seen)-1].Bytes == 8000 })
		for q, want := range want {
			if got := said(of(q)); !slices.Equal(got, want) {
				t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if list := said(of(p)); list[len(list)-1] != ok[0] || slices.ContainsFunc(list, func(x string) bool { return strings.Contains(x, " 5000 ") }) {
			t.Errorf("of the busy one: %s", list[len(list)-1])
		}
		s := r.snapshot()
		busy := []sampler.Busy{{PID: p.PID(), Function: "cuMemAllocAsync"}, {PID: p.PID(), Function: "cuMemFreeAsync"}}
		if d := s.Door; !slices.Equal(d.Busy, busy) || len(d.LetGo) > 0 || d.Deaf(other.PID()) || d.Deaf(late.PID()) || !d.Deaf(p.PID()) {
			t.Errorf("let go of: %+v", d)
		}
		for _, q := range s.GPUs[0].Processes {
			if q.PID == late.PID() && tries == 1 {
				continue // whether anything was missed is not known
			}
			if q.Requests.Whole != (q.PID == other.PID()) {
				t.Errorf("%d: %+v", q.PID, q.Requests)
			}
		}
		p.Kill()
		r.until("it is forgotten", func() bool { s := r.snapshot(); return len(s.Door.Busy) == 0 })
		n := len(r.seen)
		r.until("all are looked at again", func() bool { return r.live("cuMemAllocAsync") < apart && r.live("cuMemFreeAsync") < apart })
		other.Do("async e 9000")
		r.settled(n + 1)
	})
}

// Another process with the number of one that has ended is looked at, too.
func TestNumberAgain(t *testing.T) {
	cudatest.Alone(t)
	dir := cudatest.Build(t)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{cudatest.Library(dir)}})
	needDoor(t, err)
	defer d.Close()
	p, n := cudatest.Play(t, dir), number("cuMemAlloc_v2")
	d.away[n] = map[int]time.Time{1: {}}
	d.join(p.PID())
	first := d.users[p.PID()]
	d.users.remove(p.PID())
	d.users.add(p.PID())
	if old := d.arrangeApart(); len(old) != 2 {
		t.Errorf("%d probes of the old one were given up", len(old))
	} else {
		closeAll(old)
	}
	for _, lib := range d.files {
		if len(lib.apart) != 1 || lib.apart[target{d.users[p.PID()], n}] == nil || first == d.users[p.PID()] {
			t.Errorf("%v", lib.apart)
		}
	}
}

// Where the kernel cannot look at one process, the function is let go of in all.
func TestTooOftenForAll(t *testing.T) {
	r := newRig(t, 1, Options{inseparable: true})
	p, other := cudatest.Play(t, r.dir), cudatest.Play(t, r.dir)
	other.Do("device 0")
	p.Do("device 0")
	r.until("it is let go of", func() bool { p.Do("rate 1000 100000"); return len(r.snapshot().Door.LetGo) >= 2 })
	if d := r.snapshot().Door; !slices.Equal(d.LetGo, []string{"cuMemAllocAsync", "cuMemFreeAsync"}) || !d.Deaf(other.PID()) {
		t.Errorf("let go of: %+v", d)
	}
	n := len(r.seen)
	other.Do("async x 5000", "alloc y 6000")
	r.settled(n + 1)
	if last := said(r.seen[len(r.seen)-1:])[0]; last != "cuMemAlloc_v2 6000 0 0" {
		t.Error(last)
	}
}

// Many processes that call often, each less than is too often: those that do so most are let go of.
func TestAdapt(t *testing.T) {
	var b bounds
	const n = 3
	for i, row := range []struct {
		calls uint64
		apart bool
		want  uint32
	}{{0, false, 4000}, {20000, false, 4000}, {20001, false, 2000}, {30000, true, 1000}, {19000, true, 1000}, {90000, true, 500}, {90000, true, 250},
		{90000, true, 125}, {90000, true, 100}, {90000, true, 100}, {0, true, 100}, {0, false, 4000}} {
		if b.adapt(n, row.calls, row.apart); b.most[n] != row.want {
			t.Errorf("%d: %d calls of a process, not %d", i, b.most[n], row.want)
		}
	}
}

// Programs that fill the GPU piece by piece, each below the bound, are all seen; one that goes on doing so is let go of alone.
func TestFillers(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
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
	})
}

// Whoever looks need not wait for the kernel: somebody else has the probes until that has taken them out.
func TestLeave(t *testing.T) {
	cudatest.Alone(t)
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{cudatest.Library(cudatest.Build(t))}})
	needDoor(t, err)
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
	if n := there(); n != 2 {
		t.Errorf("%d probes of 2 are still held", n)
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

// Another pid and mount namespace, with the library under another path there: the same file.
func TestNamespaces(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.Libraries = []string{}
		needTool(t, "unshare")
		r := newRig(t, 1, o)
		inside := t.TempDir()
		script := fmt.Sprintf("mount --bind %s %s && exec %s/play %s/libcuda.so.1", r.dir, inside, inside, inside)
		cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script)
		p := cudatest.Start(t, cmd)
		p.Do("device 0")
		r.until("a request is seen", func() bool { p.Do("alloc a 1000", "free a"); r.snapshot(); return len(r.seen) > 0 })
		if pid := r.seen[0].PID; pid == p.PID() || pid < 3 {
			t.Errorf("pid %d is not the one outside", pid)
		}
	})
}

// Two containers of one image: the kernel has one library, which looks like two.
func TestOneImage(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		cudatest.Alone(t)
		dir, at := cudatest.Build(t), t.TempDir()
		image := mount(t, at, "tmpfs", "")
		for _, name := range []string{"play", "libcuda.so.1"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(image, name), b, 0o700) //nolint:gosec // it is run
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var boxes []string
		for _, name := range []string{"1", "2"} {
			upper, work := filepath.Join(at, "upper"+name), filepath.Join(at, "work"+name)
			if err := errors.Join(os.Mkdir(upper, 0o700), os.Mkdir(work, 0o700)); err != nil {
				t.Fatal(err)
			}
			box := mount(t, t.TempDir(), "overlay", fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", image, upper, work))
			boxes = append(boxes, box)
			o.Libraries = append(o.Libraries, cudatest.Library(box))
		}
		r := rigOf(t, dir, 1, o)
		var want []string
		for _, box := range boxes {
			p := cudatest.Play(t, box)
			want = append(want, asked(p.Do("device 0", "piece a 20971520", "alloc b 1000", "free b", "alloc c 2000"))...)
			s := r.settled(len(want))
			if q := r.of(p.PID()); q == nil || q.Live != 20971520+2000 || !q.Whole {
				t.Errorf("%+v of %+v", q, s.GPUs[0].Processes)
			}
		}
		if got := said(r.seen); !slices.Equal(got, want) {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if n := r.count("cuMemFree_v2"); n != 2 {
			t.Errorf("%d calls of cuMemFree_v2", n)
		}
	})
}

// mount mounts a file system until the test ends.
func mount(t *testing.T, at, kind, options string) string {
	t.Helper()
	if err := unix.Mount(kind, at, kind, 0, options); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("mounting %s: %v", kind, err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) }) //nolint:errcheck // it was only for this
	return at
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
	if out := run(); !strings.Contains(out, "the door is open, ends are seen: true, libraries that are loaded: true") {
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
	t.Logf("the door is open, ends are seen: %v, libraries that are loaded: %v", len(d.ends) == 2, d.mappings != nil)
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
