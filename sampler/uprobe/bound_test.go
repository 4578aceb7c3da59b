//go:build linux && (amd64 || arm64)

package uprobe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe/cudatest"
)

// A function that a program calls too often is let go of in that program, which does not pay for it any more; the others are seen
// whether they were there before or begin meanwhile.
func TestTooOften(t *testing.T) {
	bothWays(t, func(t *testing.T, o Options) {
		o.pause = time.Hour // it is not looked at again meanwhile, however slow the machine
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
		if tries > 1 && s.Door.Unseen != 1 {
			t.Errorf("first calls of %d processes were not seen, of one they were not", s.Door.Unseen)
		}
		unseen := s.Door.Unseen
		brief := cudatest.Play(t, r.dir)
		brief.Do("device 0", "async f 3000")
		brief.Kill()
		r.until("what a brief one asked for is seen, or told to be missed", func() bool {
			return r.snapshot().Door.Unseen > unseen || len(of(brief)) > 0
		})
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
			fmt.Fprintln(q.In(), "device 0\npieces 20971520 1000") //nolint:errcheck // 3,000 of all of them, as many as one snapshot tells one by one
		}
		r.settled(3000)
		time.Sleep(2 * tickEvery)
		p.Do("piece a 20971520")
		if s := r.settled(3001); len(s.Door.LetGo)+len(s.Door.Busy) > 0 || s.Door.Lost > 0 || len(r.seen) != 3001 {
			t.Errorf("%d of 3001 requests; %+v", len(r.seen), s.Door)
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
		if n > 3001+4000 || s.Door.Deaf(p.PID()) || !s.Door.Deaf(q.PID()) {
			t.Errorf("%d requests, %+v", n, s.Door)
		}
	})
}
