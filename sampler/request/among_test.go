package request

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nvpeak/sampler"
)

// ranks is a process whose threads do the same on several GPUs, step by step, from before anybody looked.
type ranks struct {
	pid, first, threads int
	lag                 int // ms: each thread begins a step so much later than the first, at most
	slow, collects      bool
	old                 int  // pieces that each thread had before anybody looked
	inTurn              bool // for each piece that a thread is given it gives the oldest back, once it has enough; else many at once, now and then
}

// among is a machine that several of them use at once.
type among struct {
	*scene
	events timeline
	has    map[int][]sampler.Bytes // by process, on each GPU
	truth  map[int]int             // the GPU of a thread
	begin  time.Time
	end    time.Time
	places uint64
}

const amongGPUs = 4

func newAmong(t *testing.T, list []ranks, seed uint64) *among {
	who := people{}
	for _, p := range list {
		who[p.pid] = sampler.Process{Environment: map[string]string{}}
	}
	a := &among{scene: newScene(t, amongGPUs, who), has: map[int][]sampler.Bytes{}, truth: map[int]int{}, places: 1}
	a.sweeps = true
	a.begin = a.now.Add(100 * time.Millisecond)
	a.end = a.begin.Add(9 * time.Second)
	for _, p := range list {
		a.Late(p.pid, a.now)
		a.has[p.pid] = make([]sampler.Bytes, amongGPUs)
		for i := range p.threads {
			a.has[p.pid][(p.first+i)%amongGPUs] = 400 * mib
		}
	}
	for _, p := range list {
		a.plays(p, rand.New(rand.NewPCG(seed, uint64(p.pid)))) //nolint:gosec // a few
	}
	for i := range amongGPUs {
		a.gpu(a.gpus[i].Key()).take(a.now, a.used(i))
	}
	a.listed()
	a.apply()
	return a
}

func (a *among) used(gpu int) (n sampler.Bytes) {
	for _, has := range a.has {
		n += has[gpu]
	}
	return n
}

// listed makes the driver's lists of now.
func (a *among) listed() {
	for i := range a.gpus {
		a.gpus[i].Processes = nil
		for pid, has := range a.has {
			if has[i] > 0 {
				a.list(i, pid, sampler.Some(has[i]))
			}
		}
		a.Tracker.Listed(a.gpus[i].Key(), a.now, ms(1), a.gpus[i].Processes)
	}
}

// plays are the steps of a process.
func (a *among) plays(p ranks, r *rand.Rand) {
	type piece struct {
		place uint64
		n     sampler.Bytes
	}
	held := make([][]piece, p.threads)
	for i := range p.threads {
		a.truth[p.pid*100+i] = (p.first + i) % amongGPUs
	}
	for range p.old {
		n := sampler.Bytes(2+2*r.IntN(60)) * mib
		for i := range p.threads {
			a.has[p.pid][(p.first+i)%amongGPUs] += n
			held[i] = append(held[i], piece{a.places, n})
			a.places++
		}
	}
	for step, at := 1, a.begin.Add(ms(r.IntN(100))); at.Before(a.end); step++ {
		n, which := sampler.Bytes(2+2*r.IntN(60))*mib, r.IntN(1000)
		if p.inTurn && r.IntN(3) == 0 {
			n = 2 * mib
		}
		next := at
		for i := range p.threads {
			gpu, tid := (p.first+i)%amongGPUs, p.pid*100+i
			from := at.Add(ms(r.IntN(p.lag+1)) + time.Duration(tid)) // no two calls begin at one moment
			if k := len(held[i]); p.inTurn && k > 12 {
				x := held[i][which%k]
				held[i] = slices.Delete(held[i], which%k, which%k+1)
				began := from
				from = from.Add(time.Duration(100+r.IntN(9000)) * time.Microsecond)
				a.gives(p, gpu, tid, began, from, x.place, x.n)
				from = from.Add(50 * time.Microsecond)
			}
			moved := from.Add(time.Duration(20+r.IntN(80)) * time.Microsecond)
			over := moved
			if p.slow {
				moved = from.Add(ms(10 + r.IntN(60)))
				over = moved.Add(ms(10 + r.IntN(20)))
			}
			place := a.places
			a.places++
			a.events.on(over, func() {
				a.Call(Call{Time: a.now, Function: function("cuMemAlloc_v2"), PID: p.pid, TID: tid, Address: place, Size: uint64(n), Device: -1, Took: over.Sub(from)})
			})
			a.events.on(moved, func() { a.has[p.pid][gpu] += n })
			held[i] = append(held[i], piece{place, n})
			if few := len(held[i]) - 3; !p.inTurn && step%17 == 16 && few > 0 {
				by := tid
				if p.collects {
					by = p.pid*100 + 99
				}
				for k, x := range held[i][:few] {
					gone := over.Add(time.Duration(k*50+20) * time.Microsecond)
					a.gives(p, gpu, by, gone, gone.Add(10*time.Microsecond), x.place, x.n)
				}
				held[i] = held[i][few:]
				over = over.Add(ms(2))
			}
			if !p.slow {
				over = over.Add(ms(60 + r.IntN(60)))
			}
			if over.After(next) {
				next = over
			}
		}
		at = next
	}
}

// gives lets a thread give a piece back, which is told as it begins, and once more in the end where it takes long.
func (a *among) gives(p ranks, gpu, tid int, began, over time.Time, place uint64, n sampler.Bytes) {
	number := uint64(began.UnixNano())
	a.events.on(began, func() {
		a.Call(Call{Time: a.now, Function: function("cuMemFree_v2"), PID: p.pid, TID: tid, Address: place, Device: -1, Other: number})
	})
	a.events.on(over, func() {
		a.has[p.pid][gpu] -= n
		if over.Sub(began) > time.Millisecond {
			a.Lingered(p.pid, number, a.now)
		}
	})
}

// watch reads the GPUs each 20 ms, lists their processes each second, and makes a snapshot four times a second.
func (a *among) watch(tell func()) {
	var before [amongGPUs]sampler.Bytes
	for i := range amongGPUs {
		for at := a.begin.Add(ms(3 * i)); at.Before(a.end); at = at.Add(ms(20)) {
			a.events.on(at, func() {
				if used := a.used(i); used != before[i] {
					g := a.gpu(a.gpus[i].Key())
					g.take(at.Add(-ms(20)), before[i])
					g.take(at, used)
					before[i] = used
				}
			})
		}
		before[i] = a.used(i)
	}
	for at := a.begin.Add(ms(700)); at.Before(a.end); at = at.Add(time.Second) {
		a.events.on(at, a.listed)
	}
	for at := a.begin.Add(ms(250)); at.Before(a.end); at = at.Add(ms(250)) {
		a.events.on(at, func() { a.ReadUntil(a.now); tell() })
	}
	a.play(a.events, 0)
	a.later(3 * time.Second)
	a.ReadUntil(a.now)
	tell()
}

// Several processes whose threads do the same on several GPUs at about the same time use those at once, from before anybody looked: which GPU each thread
// asks may long be unknown, and is never told wrongly.
func TestPlacesAmongMany(t *testing.T) {
	all, right, wrong := 0, 0, 0
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 31))
		var list []ranks
		for i := range 3 + r.IntN(5) {
			list = append(list, ranks{pid: 10 + i, first: r.IntN(amongGPUs), threads: 2 + r.IntN(3), lag: []int{0, 3, 10, 30, 60, 100}[r.IntN(6)], slow: r.IntN(2) == 0, collects: r.IntN(3) == 0, old: []int{0, 10, 15, 20, 30}[r.IntN(5)], inTurn: r.IntN(2) == 0})
		}
		a := newAmong(t, list, seed)
		bad := map[string]int{}
		a.watch(func() {
			for _, q := range a.apply().Requests {
				all++
				gpu, known := q.GPU.Value()
				switch {
				case known && gpu == a.truth[q.TID]:
					right++
				case known:
					wrong++
					bad[fmt.Sprintf("thread %d of GPU %d on %d", q.TID, a.truth[q.TID], gpu)]++
				}
			}
		})
		if len(bad) > 0 {
			t.Errorf("seed %d: %v of %+v", seed, bad, list)
		}
	}
	t.Logf("%d of %d told, %d wrongly", right, all, wrong)
	if right < all*3/10 {
		t.Errorf("the GPUs of %d of %d requests are told", right, all)
	}
}
