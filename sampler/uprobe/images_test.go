//go:build linux && (amd64 || arm64)

package uprobe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// A process that gives way to another program has lost what it held, and did not end of what it was refused.
func TestExec(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		for _, asks := range []string{"alloc b 90000000000", "alloc b 1000"} {
			p := cudatest.Play(t, r.dir)
			p.Do("device 0", "alloc a 2000", asks)
			r.until("it is seen", func() bool { return r.of(p.PID()) != nil })
			fmt.Fprintln(p.In(), "exec sleep") //nolint:errcheck // it does not answer
			r.until(asks+": it gives way", func() bool {
				q := r.of(p.PID())
				return q != nil && !q.ExitStatus.Known() && q.Live == 0 && (q.Refusal == nil || q.Refusal.Outcome == sampler.RefusalLeft)
			})
			r.until(asks+": it is forgotten", func() bool { return r.of(p.PID()) == nil })
		}
	})
}

// Each of several programs that one process becomes has its own account.
func TestExecAgain(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir)
		for n := range 4 {
			own := 1000 * (n + 1)
			p.Do("device 0", fmt.Sprintf("alloc a %d", own), fmt.Sprintf("alloc b %d", own))
			r.settled(2 * (n + 1))
			if q := r.of(p.PID()); q == nil || q.Live != sampler.Bytes(2*own) || q.Peak != q.Live || q.Granted != 2 {
				t.Errorf("program %d: %+v", n, q)
			}
			fmt.Fprintln(p.In(), "again") //nolint:errcheck // it does not answer
		}
	})
}

// Where a function of the library calls another, one request is one.
func TestNested(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir, "FAKECUDA_NESTED=1")
		var want []string
		for _, line := range asked(p.Do("device 0", "async a 70000000", "async b 90000000000", "async c 90000000000", "async d 70000000", "alloc e 1000")) {
			want = append(want, strings.Replace(line, "cuMemAllocAsync", "cuMemAllocFromPoolAsync", 1))
		}
		r.settled(len(want))
		if got := said(r.seen); !slices.Equal(got, want) {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if q := r.of(p.PID()); q.Live != 140001000 || q.Granted != 3 || q.Refused != 2 || q.Refusal.Tries != 2 {
			t.Errorf("%+v, %+v", q, q.Refusal)
		}
	})
}

// The pool that the driver makes by itself is of the GPU of the stream, from its first request on.
func TestNestedPool(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 2, o)
		p := cudatest.Play(t, r.dir, "FAKECUDA_NESTED=1")
		var want []string
		for _, line := range asked(p.Do("device 0", "device 1", "async a 90000000000", "async b 70000000", "stream", "device 0", "async c 3000000", "stream -", "async d 4000000", "alloc e 1000")) {
			want = append(want, strings.Replace(line, "cuMemAllocAsync", "cuMemAllocFromPoolAsync", 1))
		}
		r.settled(len(want))
		if got := said(r.seen); !slices.Equal(got, want) {
			t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A context is made current once, also where the function that makes it calls another that does.
func TestNestedContext(t *testing.T) {
	for _, nested := range []string{"0", "1"} {
		bothWays(t, func(t *testing.T, o Options) {
			r := newRig(t, 2, o)
			p := cudatest.Play(t, r.dir, "FAKECUDA_NESTED="+nested)
			want := asked(p.Do("device 0", "alloc a 1000000000", "make 1", "alloc b 70000000", "pop", "alloc c 80000000", "make 1", "make 0", "alloc d 50000000", "pop", "alloc e 60000000", "pop", "alloc f 40000000"))
			r.settled(len(want))
			if got := said(r.seen); !slices.Equal(got, want) {
				t.Errorf("nested %s: seen:\n%s\nsaid:\n%s", nested, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Memory that is made of a piece within the library is held once, in the size of that.
func TestMadeOfPieces(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir, "FAKECUDA_PIECES=1")
		p.Do("device 0", "alloc a 70000000", "piece b 20971520", "alloc c 90000000000", "alloc d 1000", "free a")
		s := r.settled(4)
		const large, small = 71303168, 2097152
		want := []string{"cuMemCreate 71303168 0 0", "cuMemCreate 20971520 0 0", "cuMemCreate 90001375232 2 0", "cuMemCreate 2097152 0 0"}
		if got := said(r.seen); !slices.Equal(got, want) {
			t.Errorf("seen: %s", strings.Join(got, "\n"))
		}
		if q := r.of(p.PID()); q.Live != 20971520+small || q.Peak != large+20971520+small || !q.Whole || s.Door.Unseen > 0 {
			t.Errorf("%+v, %+v", q, s.Door)
		}
	})
}

// A context that the driver has no memory for is a refusal, too, of which the program may end; how large it is is not known.
func TestContextRefused(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir, "FAKECUDA_CONTEXT=9000000000")
		p.Do("device 0")
		p.End("exit 3")
		var got *sampler.Requests
		r.until("its end is seen", func() bool {
			if q := r.of(p.PID()); q != nil {
				got = q
			}
			return got != nil && got.ExitStatus.Known()
		})
		if !got.ExitStatus.Equal(sampler.Some(3)) || got.Refused != 1 || got.Refusal == nil || got.Refusal.Bytes != 0 || got.Refusal.Function != "cuDevicePrimaryCtxRetain" {
			t.Errorf("%+v, %+v", got, got.Refusal)
		}
		if len(r.seen) > 0 {
			t.Errorf("%+v", r.seen)
		}
	})
}

// Who was there before its library was looked at may have asked before, which its first call tells, though nobody has seen it load that: a
// process has it from the one that it was forked from.
func TestOlder(t *testing.T) {
	cudatest.Alone(t)
	dir, tracker := cudatest.Build(t), request.New(everybody{})
	d, err := Open(tracker, Options{Libraries: []string{}})
	needDoor(t, err)
	defer d.Close()
	p := cudatest.Play(t, dir)
	p.Do("device 0", "alloc a 1000")
	if _, err := d.attach(cudatest.Library(dir), 0); err != nil {
		t.Fatal(err)
	}
	d.meet(p.PID())
	tracker.Call(request.Call{Time: time.Now(), PID: p.PID(), TID: p.PID(), Function: number("cuMemAlloc_v2"), Size: 2000, Address: 1})
	r := &rig{t: t, tracker: tracker, clock: sampler.NewSteady(), gpus: 1}
	if q := r.of(p.PID()); q == nil || q.Granted != 1 || q.Whole {
		t.Errorf("%+v", q)
	}
}
