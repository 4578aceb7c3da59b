//go:build linux && (amd64 || arm64)

package uprobe

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

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
}

// everybody is a host that knows nothing but who is there.
type everybody struct{}

func (everybody) Name() string                                { return "box" }
func (everybody) Memory() (m sampler.Opt[sampler.HostMemory]) { return m }
func (everybody) Identify(list []sampler.Process) {
	for i := range list {
		_, err := os.Stat("/proc/" + strconv.Itoa(list[i].PID))
		list[i].Visible, list[i].StartTime = err == nil, sampler.Some(time.Now().Add(time.Hour))
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

func newRig(t *testing.T, gpus int, o Options) *rig {
	t.Helper()
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
			if live := sampler.Bytes(3000000000 + 64000000 + 9000000000 + 20971520); one.Live != live || !one.Whole {
				t.Errorf("GPU 1: live %d, not %d; %+v", one.Live, live, one)
			}
			if peak := sampler.Bytes(3000000000 + 64000000 + 9000000000 + 2*20971520); one.Peak != peak {
				t.Errorf("GPU 1: peak %d, not %d", one.Peak, peak)
			}
			zero := s.GPUs[0].Processes[0].Requests
			if zero.Refused < 4 || zero.Largest != 7000000000 || zero.Refusal == nil || zero.Refusal.Outcome != sampler.RefusalSmaller {
				t.Errorf("GPU 0: %+v, %+v", zero, zero.Refusal)
			}
		})
	}
}
