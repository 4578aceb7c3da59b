//go:build linux && (amd64 || arm64)

package uprobe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/uprobe/cudatest"
)

// plays has a program ask, and compares what is seen with what it says.
func plays(t *testing.T, o Options, commands ...string) (r *rig) {
	t.Helper()
	r = newRig(t, 2, o)
	want := asked(cudatest.Play(t, r.dir).Do(commands...))
	r.settled(len(want))
	if got := said(r.seen); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("seen:\n%s\nsaid:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return r
}

// What is asked for on a stream is told on the GPU where the stream was made, also while another one is current, and so is a refusal.
func TestStreams(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		plays(t, o, "device 0", "alloc a 1000000000", "device 1", "stream", "async b 70000000", "device 0", "async c 80000000", "async d 9000000000",
			"stream", "async e 60000000", "device 1", "async f 50000000", "stream -", "async g 40000000")
	})
}

// A context that the driver did not make current leaves the one before, and so does one that it did not take away.
func TestNotCurrent(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		plays(t, o, "device 1", "device 0", "alloc a 1000000000", "fault 1", "set 1", "alloc b 70000000", "push 1", "alloc c 80000000", "fault 0",
			"push 1", "alloc d 50000000", "fault 1", "pop", "alloc e 60000000", "fault 0", "pop", "alloc f 40000000", "set 1", "alloc g 30000000")
	})
}

// Memory of the host is no request for a GPU's, by whichever type of place it is asked for, and that it is refused is no refusal.
func TestOnHost(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := plays(t, o, "device 0", "alloc a 1000000000",
			"at 2", "piece b 300000000", "pooled c 300000000", "piece d 9000000000", "pooled e 9000000000",
			"at 3", "piece f 300000000", "pooled g 300000000", "piece h 9000000000", "pooled i 9000000000",
			"at 4", "piece j 300000000", "pooled k 300000000", "piece l 9000000000", "pooled m 9000000000", "unpiece b",
			"at 1", "piece n 20971520", "pooled o 50000000")
		for i, q := range r.snapshot().GPUs[0].Processes {
			if x := q.Requests; i > 0 || x.Live != 1000000000+20971520+50000000 || x.Peak != x.Live || x.Refused != 0 || !x.Whole {
				t.Errorf("%+v", x)
			}
		}
	})
}

// What is given back, and what only seems to be: a call that fails gives nothing back, and a piece is held by whoever retains it, too.
func TestGivenBack(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p := cudatest.Play(t, r.dir)
		want := 0
		for _, step := range []struct {
			live     sampler.Bytes
			commands []string
		}{
			{5000000000, []string{"device 0", "alloc a 3000000000", "async b 500000000", "piece c 1500000000"}},
			{5000000000, []string{"fault 1", "free a", "freeasync b", "unpiece c", "fault 0"}},
			{5000000000, []string{"retain c d", "fault 1", "release d", "fault 0"}},
			{5000000000, []string{"unpiece c"}},
			{3500000000, []string{"release d"}},
			{500000000, []string{"free a"}},
			{0, []string{"freeasync b"}},
			{4 * 1000 * 1024, []string{"pitch e 3600"}},
			{0, []string{"free e"}},
		} {
			want += len(asked(p.Do(step.commands...)))
			r.until(fmt.Sprintf("%v, then %d are held", step.commands, step.live), func() bool {
				x := r.of(p.PID())
				return x != nil && x.Granted == want && x.Live == step.live && x.Peak == 5000000000 && x.Whole
			})
		}
	})
}

// What is read while the driver gives memory back may still have that, and what is free at a refusal later is counted from there.
func TestLingers(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p, gpu := cudatest.Play(t, r.dir, "FAKECUDA_LINGER=200"), sampler.GPU{UUID: "GPU-0"}
		p.Do("device 0", "alloc a 3000000000", "alloc b 1000000000")
		r.snapshot()                   // it learns how much the GPU has
		fmt.Fprintln(p.In(), "free a") //nolint:errcheck // the next one tells
		time.Sleep(100 * time.Millisecond)
		r.tracker.Reading(gpu.Key(), r.clock.Now(), 4000000000)
		p.Do("alloc c 7000000000", "alloc d 2000000000")
		r.settled(4)
		if q := r.of(p.PID()); q.Refusal == nil || !q.Refusal.Free.Equal(sampler.Some[sampler.Bytes](8*sampler.GiB-8000000000)) {
			t.Errorf("%+v, %+v", q, q.Refusal)
		}
	})
}

// A list that falls into a call that takes long, as that gives memory or gives a whole context back, makes no peak that never was.
func TestListsAmidSlowCalls(t *testing.T) {
	const context, block = 300000000, 1000000000
	for name, row := range map[string]struct {
		env, slow string
		amid      sampler.Bytes // what the driver says in the midst of it
		most      sampler.Bytes
	}{
		"a reset": {"FAKECUDA_LINGER=1000", "reset", context + block, context + block},
		"a grant": {"FAKECUDA_SLOW=1", "alloc b 500000000", context + block/2, context + block},
	} {
		oneWay(t, func(t *testing.T, o Options) {
			r := newRig(t, 1, o)
			p, gpu := cudatest.Play(t, r.dir, row.env), sampler.GPU{UUID: "GPU-0"}
			p.Do("device 0", "alloc a 1000000000")
			r.settled(1)
			if name == "a grant" {
				p.Do("free a")
			} else {
				time.Sleep(50 * time.Millisecond)
				r.list(p.PID(), gpu.Key(), context+block)
				time.Sleep(50 * time.Millisecond)
			}
			fmt.Fprintln(p.In(), row.slow) //nolint:errcheck // the next one tells
			time.Sleep(300 * time.Millisecond)
			r.list(p.PID(), gpu.Key(), row.amid)
			wrong := func(when string) {
				if q := r.snapshot().GPUs[0].Processes[0].Peak; q != nil && q.Bytes > row.most {
					t.Errorf("%s, %s: %+v", name, when, q)
				}
			}
			time.Sleep(400 * time.Millisecond)
			wrong("meanwhile")
			p.Do("device 0", "alloc c 100000000")
			time.Sleep(300 * time.Millisecond)
			wrong("afterwards")
		})
	}
}

// The peak of a program with arrays is no exact one, since no call says what they take.
func TestArrays(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		p, gpu := cudatest.Play(t, r.dir), sampler.GPU{UUID: "GPU-0"}
		source := func() string {
			for _, q := range r.snapshot().GPUs[0].Processes {
				if q.PID == p.PID() && q.Peak != nil {
					return q.Peak.Source
				}
			}
			return ""
		}
		p.Do("device 0", "alloc a 1000000000")
		r.settled(1)
		time.Sleep(50 * time.Millisecond) // a list so near to a call is not sure to have it
		r.list(p.PID(), gpu.Key(), 1500000000)
		time.Sleep(50 * time.Millisecond)
		p.Do("alloc b 2000000000")
		r.until("the peak is exact", func() bool { return source() == sampler.PeakCalls })
		p.Do("array 300000000")
		r.until("it is no longer", func() bool { return source() == sampler.PeakCallsAlone })
	})
}

// What a pool keeps is given back without a word of how much: a program that is refused memory, trims its pool and is granted it then, was near a failure.
func TestTrimmed(t *testing.T) {
	oneWay(t, func(t *testing.T, o Options) {
		r := plays(t, o, "device 0", "async a 6000000000", "freeasync a", "alloc b 5000000000", "trim", "alloc b 5000000000")
		q := r.snapshot().GPUs[0].Processes[0].Requests
		if q.Flushes != 1 || q.Refusal == nil || q.Refusal.Outcome != sampler.RefusalFlush {
			t.Errorf("%+v, %+v", q, q.Refusal)
		}
	})
}

// Of a program whose graphs take memory as they run, calls tell a part.
func TestGraphs(t *testing.T) {
	oneWay(t, func(t *testing.T, o Options) {
		r := newRig(t, 1, o)
		for _, row := range []struct {
			commands []string
			whole    bool
		}{
			{[]string{"capture", "captured", "node 2", "edges 2", "async b 1000"}, true},
			{[]string{"capture", "async b 1000"}, false},
			{[]string{"node 10", "alloc b 1000"}, false},
			{[]string{"edges 10", "alloc b 1000"}, false},
		} {
			p := cudatest.Play(t, r.dir)
			p.Do(append([]string{"device 0", "alloc a 1000"}, row.commands...)...)
			r.until("all is seen", func() bool { q := r.of(p.PID()); return q != nil && q.Granted == 2 })
			if q := r.of(p.PID()); q.Whole != row.whole {
				t.Errorf("%q: %+v", row.commands, q)
			}
		}
	})
}
