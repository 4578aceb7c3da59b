package request

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"nvpeak/sampler"
)

// worker is a thread that asks for memory at random, with a context of a GPU that it set before anybody looked.
type worker struct {
	pid, tid int
	context  uint64 // 0: not known
	gpu      int
	next     time.Time
	held     []sampler.Bytes // by address, less 1
	rand     *rand.Rand
}

// crowd plays workers on GPUs that are read each 20 ms, with snapshots each quarter of a second, and counts whose requests were told
// at their GPU, at another, and at none.
type crowd struct {
	*scene
	sweep   int // ms for which readings are kept before they are passed on
	late    []lateReading
	pause   int // ms between the calls of a worker, half of it at least
	period  int // ms between two readings of a GPU
	workers []*worker
	used    []sampler.Bytes
	told    []sampler.Bytes // as the readings have it
	toldAt  []time.Time
	truth   map[sampler.Bytes]int
}

type lateReading struct {
	gpu sampler.GPUKey
	reading
}

func (c *crowd) deliver() {
	for _, r := range c.late {
		c.Reading(r.gpu, r.at, r.used)
	}
	c.late = c.late[:0]
	c.ReadUntil(c.now)
}

func newCrowd(t *testing.T, gpus int, workers ...*worker) *crowd {
	who := people{}
	for _, w := range workers {
		who[w.pid] = sampler.Process{}
	}
	c := &crowd{scene: newScene(t, gpus, who), workers: workers, used: make([]sampler.Bytes, gpus), told: make([]sampler.Bytes, gpus), toldAt: make([]time.Time, gpus), truth: map[sampler.Bytes]int{}, pause: 30, sweep: 1000, period: 20}
	c.sweeps = true
	listed := map[[2]int]bool{}
	for i, w := range workers {
		if at := [2]int{w.gpu, w.pid}; !listed[at] {
			listed[at] = true
			c.list(w.gpu, w.pid, sampler.Some(gib))
		}
		w.next = c.now.Add(ms(100 + 7*i))
		if w.rand == nil {
			w.rand = rand.New(rand.NewPCG(1, uint64(i)))
		}
	}
	for i := range c.gpus {
		c.Reading(c.gpus[i].Key(), c.now, 0)
	}
	return c
}

func (c *crowd) callOf(w *worker, name string, x Call) {
	x.Time, x.PID, x.TID, x.Context, x.Device, x.Function, x.Took = c.now, w.pid, w.tid, w.context, -1, function(name), 50*time.Microsecond
	c.Call(x)
}

// step lets a worker give back what it has, at times, and ask for 1 to 200 MiB.
func (c *crowd) step(w *worker) {
	if k := len(w.held); k >= 20 || k > 0 && w.rand.IntN(2) == 0 {
		c.callOf(w, "cuMemFree_v2", Call{Address: uint64(w.tid)<<32 + uint64(w.gpu)<<24 + uint64(k)})
		c.used[w.gpu] -= w.held[k-1]
		w.held = w.held[:k-1]
	}
	c.ask(w, sampler.Bytes(1+w.rand.IntN(200))*mib+sampler.Bytes(w.rand.IntN(4096)*512+w.tid)) // told apart by the last bytes
	w.next = c.now.Add(ms(c.pause/2 + w.rand.IntN(c.pause)))
}

func (c *crowd) ask(w *worker, n sampler.Bytes) {
	w.held = append(w.held, (n+2*mib-1)/(2*mib)*(2*mib)) // as drivers round
	c.used[w.gpu] += w.held[len(w.held)-1]
	c.truth[n] = w.gpu
	c.callOf(w, "cuMemAlloc_v2", Call{Address: uint64(w.tid)<<32 + uint64(w.gpu)<<24 + uint64(len(w.held)), Size: uint64(n)})
}

func (c *crowd) play(length time.Duration) (right, wrong, none int) {
	for end := c.now.Add(length); c.now.Before(end); c.now = c.now.Add(time.Millisecond) {
		for _, w := range c.workers {
			if !c.now.Before(w.next) && end.Sub(c.now) > 3*time.Second {
				c.step(w)
			}
		}
		at := int(c.now.Sub(noon).Milliseconds())
		if at%c.sweep == 0 {
			c.deliver()
		}
		for i := range c.gpus {
			if (at+3*i)%c.period == 0 && c.told[i] != c.used[i] {
				if stood := c.now.Add(-ms(c.period)); stood.After(c.toldAt[i]) {
					c.late = append(c.late, lateReading{c.gpus[i].Key(), reading{at: stood, used: c.told[i]}})
				}
				c.told[i], c.toldAt[i] = c.used[i], c.now
				c.late = append(c.late, lateReading{c.gpus[i].Key(), reading{at: c.now, used: c.used[i]}})
			}
		}
		if at%250 != 0 {
			continue
		}
		for _, r := range c.apply().Requests {
			switch n, ok := r.GPU.Value(); {
			case !ok:
				none++
			case n == c.truth[r.Bytes]:
				right++
			default:
				wrong++
			}
		}
	}
	return right, wrong, none
}

// The GPU of threads that set their context before anybody looked is known by what their calls do to the use of GPUs.
func TestFollow(t *testing.T) {
	for name, row := range map[string]struct {
		gpus, threads int // threads in all
		other         int // threads of another process on the same GPUs
		right         float64
	}{
		"two GPUs, two threads":                      {2, 2, 0, 0.99},
		"four GPUs, four threads":                    {4, 4, 0, 0.99},
		"eight GPUs, eight threads":                  {8, 8, 0, 0.99},
		"two GPUs, four threads":                     {2, 4, 0, 0.95},
		"four GPUs, another process on each of them": {4, 4, 4, 0.95},
	} {
		var list []*worker
		for i := range row.threads {
			list = append(list, &worker{pid: 7, tid: 100 + i, gpu: i % row.gpus})
		}
		for i := range row.other {
			list = append(list, &worker{pid: 8, tid: 200 + i, gpu: i % row.gpus})
		}
		right, wrong, none := newCrowd(t, row.gpus, list...).play(15 * time.Second)
		if all := right + wrong + none; all < 300*row.threads || float64(right) < row.right*float64(all) || wrong*100 > all {
			t.Errorf("%s: %d at their GPU, %d at another, %d at none", name, right, wrong, none)
		}
	}
}

// A GPU whose memory cannot be read takes nothing from what the others say.
func TestFollowBesideBlind(t *testing.T) {
	var list []*worker
	for i := range 2 {
		list = append(list, &worker{pid: 7, tid: 100 + i, gpu: i})
	}
	c := newCrowd(t, 2, list...)
	c.gpus = append(c.gpus, sampler.GPU{Index: 2, UUID: "GPU-2", Name: "A"})
	c.list(2, 7, sampler.Some(gib))
	c.used, c.told, c.toldAt = append(c.used, 0), append(c.told, 0), append(c.toldAt, c.now)
	if c.play(4 * time.Second); len(c.processes[7].seats[0].moves) > 0 {
		t.Errorf("%d calls are kept that all readings are known of", len(c.processes[7].seats[0].moves))
	}
	if right, wrong, none := c.play(15 * time.Second); right < 99*(wrong+none) {
		t.Errorf("%d at their GPU, %d at another, %d at none", right, wrong, none)
	}
}

// One call a second is enough, of those that stand out.
func TestFollowSlow(t *testing.T) {
	var list []*worker
	for i := range 4 {
		list = append(list, &worker{pid: 7, tid: 100 + i, gpu: i})
	}
	c := newCrowd(t, 4, list...)
	c.pause = 1000
	if right, wrong, none := c.play(30 * time.Second); right < 20*(wrong+none) || right < 90 {
		t.Errorf("%d at their GPU, %d at another, %d at none", right, wrong, none)
	}
}

// One thread that asks for nearly as much on two GPUs in turn, and gives nothing back: of each of them only a reading of before its own call tells that it
// has not moved by the other's.
func TestFollowInTurn(t *testing.T) {
	for _, row := range []struct {
		pause, period int
		told          bool
	}{{100, 20, true}, {200, 20, true}, {200, 40, true}, {400, 20, true}, {100, 200, false}, {130, 200, false}, {300, 200, false}} {
		pause := row.pause
		one, other := &worker{pid: 7, tid: 7, gpu: 0, context: 0xa0}, &worker{pid: 7, tid: 7, gpu: 1, context: 0xa1}
		c := newCrowd(t, 2, one, other)
		c.period = row.period
		one.next, other.next = noon.Add(time.Hour), noon.Add(time.Hour)
		n, right, wrong, none := sampler.Bytes(0), 0, 0, 0
		for turn := range 12000 / pause {
			w := []*worker{one, other}[turn%2]
			n += mib
			c.ask(w, 20*mib+n)
			r, x, o := c.play(ms(pause))
			right, wrong, none = right+r, wrong+x, none+o
		}
		r, x, o := c.play(3 * time.Second)
		if right, wrong, none = right+r, wrong+x, none+o; wrong > 0 || row.told && none > 0 {
			t.Errorf("each %d ms, read each %d ms: %d at their GPU, %d at another, %d at none", pause, row.period, right, wrong, none)
		}
	}
}

// Threads that do the same at the same time cannot be told apart: no GPU is named.
func TestFollowTwins(t *testing.T) {
	var list []*worker
	for i := range 2 {
		list = append(list, &worker{pid: 7, tid: 100 + i, gpu: i, rand: rand.New(rand.NewPCG(3, 3))})
	}
	c := newCrowd(t, 2, list...)
	list[1].next = list[0].next
	for i := range c.gpus {
		c.Reading(c.gpus[i].Key(), c.now, 0)
	}
	if right, wrong, none := c.play(10 * time.Second); wrong > 0 && none < 10*wrong {
		t.Errorf("%d at their GPU, %d at another, %d at none", right, wrong, none)
	}
}

// What a reading says for a GPU: how much of what its use moved is what the calls moved. A reading that a call is so near to that it
// may be in it or not says nothing, unless that call is small beside the others.
func TestFollower(t *testing.T) {
	for name, row := range map[string]struct {
		calls []int // MiB, a ms apart, from 1 ms on
		at    int   // ms of the reading
		moved sampler.Bytes
		score float64 // rounded
		taken bool
	}{
		"as much":                        {[]int{100}, 10, 100 * mib, 4, true},
		"much more":                      {[]int{1000}, 10, 1000 * mib, 6, true},
		"rounded up":                     {[]int{100}, 10, 102 * mib, 4, true},
		"half":                           {[]int{100}, 10, 50 * mib, 0, true},
		"nothing":                        {[]int{100}, 10, 0, -4, true},
		"given back":                     {[]int{100, -60}, 10, 40 * mib, 3, true},
		"others move as much beside":     {[]int{100}, 10, 200 * mib, 1, true},
		"too little to tell":             {[]int{15}, 10, 15 * mib, 0, true},
		"enough":                         {[]int{16}, 10, 16 * mib, 2, true},
		"all given back":                 {[]int{100, -100}, 10, 0, 0, true},
		"as the call ends":               {[]int{100}, 1, 100 * mib, 0, false},
		"a ms later":                     {[]int{100}, 2, 100 * mib, 0, false},
		"later":                          {[]int{100}, 3, 100 * mib, 4, true},
		"as the call begins":             {[]int{0, 0, 100}, 2, 0, 0, false},
		"before it":                      {[]int{0, 0, 100}, 1, 0, 0, true},
		"as a call beside larger begins": {[]int{1600, 0, 100}, 3, 1700 * mib, 7, true},
		"as a call of a tenth begins":    {[]int{1000, 0, 101}, 3, 1000 * mib, 0, false},
	} {
		s, f := &seat{}, &follower{last: reading{at: noon, used: gib}}
		for i, n := range row.calls {
			s.move(&Call{Time: noon.Add(ms(i + 1))}, float64(n))
		}
		f.next(s, &gpu{}, &strays{}, reading{at: noon.Add(ms(row.at)), used: gib + row.moved})
		if math.Abs(f.score-row.score) > 0.6 || f.last.at.After(noon) != row.taken {
			t.Errorf("%s: score %.1f, taken %v", name, f.score, f.last.at.After(noon))
		}
	}
	// More than is kept is forgotten, and what moved then is not compared.
	s := &seat{}
	for i := range maxMoving + 1 {
		s.move(&Call{Time: noon.Add(ms(i))}, movesLeast)
		s.move(&Call{Time: noon.Add(ms(i))}, movesLeast/2)
	}
	if len(s.moves) != 1 || !s.blind.Equal(noon.Add(ms(maxMoving-1))) {
		t.Errorf("%d kept, blind until %v", len(s.moves), s.blind)
	}
}

// Many threads of a process may ask at the same time, of whose contexts is known which threads have them, but not their GPUs: all that they do
// between two snapshots counts.
func TestSharedContexts(t *testing.T) {
	for seed := range uint64(6) {
		var list []*worker
		for i := range 64 {
			list = append(list, &worker{pid: 7, tid: 100 + i, gpu: i % 4, context: uint64(0xa0 + i%4), rand: rand.New(rand.NewPCG(seed, uint64(i)))})
		}
		c := newCrowd(t, 4, list...)
		c.pause = 65
		if right, wrong, none := c.play(8 * time.Second); right < 4000 || wrong+none > 0 {
			t.Errorf("seed %d: %d at their GPU, %d at another, %d at none", seed, right, wrong, none)
		}
	}
}

// Between two readings of which the later one is another the memory may have moved at any time: that it had not yet is no evidence.
func TestFollowBetween(t *testing.T) {
	c := newScene(t, 2, people{7: {}})
	key := c.gpus[0].Key()
	for _, r := range []reading{{at: noon, used: gib}, {at: noon.Add(ms(80)), used: gib}, {at: noon.Add(ms(140)), used: gib + 100*mib}} {
		c.Reading(key, r.at, r.used)
	}
	p, s := newProcess(7), &seat{tally: &tally{}}
	s.move(&Call{Time: noon.Add(ms(100))}, 100)
	if c.compare(p, s, noon.Add(ms(120))); s.follow[key].score != 0 {
		t.Errorf("score %.1f before the reading that has moved", s.follow[key].score)
	}
	if c.compare(p, s, noon.Add(ms(300))); s.follow[key].score < likely {
		t.Errorf("score %.1f after it", s.follow[key].score)
	}
}

// What is given back slowly is no evidence against the GPU that shows it only at its end.
func TestFollowsWhatLingers(t *testing.T) {
	for lingers, want := range map[bool]bool{true: true, false: false} {
		var g gpu
		s := &seat{tally: &tally{}}
		g.take(noon, 1000*mib)
		s.move(&Call{Time: noon.Add(ms(100))}, -100)
		if lingers {
			s.lingers(noon.Add(ms(100)), noon.Add(ms(178)))
		}
		g.take(noon.Add(ms(140)), 1050*mib) // somebody else's, for a moment
		g.take(noon.Add(ms(180)), 900*mib)
		f := s.follows(sampler.GPUKey{})
		f.compare(s, &g, &strays{}, noon.Add(ms(500)))
		if got := f.score > 0; got != want {
			t.Errorf("lingers %v: score %v", lingers, f.score)
		}
	}
}

// Threads whose calls are slow may move as much as one another by chance: of one of several its readings alone place none.
func TestElectsAmongSlowThreads(t *testing.T) {
	for name, row := range map[string]struct {
		took   time.Duration
		others int
		jumped float64
		want   bool
	}{
		"alone":                      {ms(60), 0, 0, true},
		"one other":                  {ms(60), 1, 0, false},
		"three others":               {ms(60), 3, 0, false},
		"three, and the use jumps":   {ms(60), 3, jumpsClearly, true},
		"three, and it hardly jumps": {ms(60), 3, jumpsClearly - 1, false},
		"three, fast":                {ms(1), 3, 0, true},
		"three, just so":             {listTakes, 3, 0, true},
		"three, just slower":         {listTakes + 1, 3, 0, false},
	} {
		p := newProcess(7)
		for tid := range row.others + 1 {
			p.seats = append(p.seats, &seat{key: seatKey{device: -1, tid: 8 + tid}, tally: &tally{}})
		}
		s, key := p.seats[0], sampler.GPUKey{ID: "GPU-1"}
		s.tally.exact.longest = row.took
		s.follow = map[sampler.GPUKey]*follower{key: {score: 20, judged: 2, agreed: 2, tried: 20, jumped: row.jumped}}
		if p.elect(s); (s.elected == key) != row.want {
			t.Errorf("%s: %v", name, s.elected)
		}
	}
}
