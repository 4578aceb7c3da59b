package watch

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// Falls that a program makes by habit are no near misses, unless one began at the limit as another did of late.
func TestNearMissHabit(t *testing.T) {
	for name, row := range map[string]struct {
		habit, atLimit int
		ago            float64 // since both
		fromLimit      bool
		want           int
	}{
		"the first":             {0, 0, 0, false, 1},
		"few falls":             {14, 0, 0, false, 1},
		"a habit":               {15, 0, 0, false, 0},
		"at the limit":          {15, 0, 0, true, 0},
		"again":                 {15, 1, 0, true, 1},
		"again after 153 s":     {26, 1, 153, true, 1},
		"later":                 {26, 1, 154, true, 0},
		"again, not from there": {15, 5, 0, false, 0},
		"many":                  {15, 4, 0, true, 1},
		"a habit at the limit":  {15, 5, 0, true, 0},
		"long ago":              {15, 0, 1, false, 1},
	} {
		var n nearMisses
		n.habit.add(1000-row.ago, row.habit)
		n.atLimit.add(1000-row.ago, row.atLimit)
		if n.add(1000, 7, 1, 500, row.fromLimit); n.count != row.want {
			t.Errorf("%s: %d", name, n.count)
		}
		if got := n.atLimit.of(1000) > float64(row.atLimit); got != row.fromLimit {
			t.Errorf("%s: began at the limit: %v", name, got)
		}
	}
}

// Near misses of half an hour are counted together, with the deepest of them.
func TestNearMissesTogether(t *testing.T) {
	var n nearMisses
	n.add(0, 7, 0, 900, false)
	for _, row := range []struct {
		now, deepest float64
		count        int
		first, deep  float64
		pid          int
	}{{100, 500, 1, 100, 500, 7}, {1900, 300, 2, 100, 500, 7}, {3700, 600, 3, 100, 600, 7}, {5501, 200, 1, 5501, 200, 8}} {
		pid := 7
		if row.now > 3000 {
			pid = 8
		}
		n.add(row.now, pid, 1, row.deepest, false)
		if n.count != row.count || n.first != row.first || n.last != row.now || n.deepest != row.deep || n.pid != row.pid {
			t.Errorf("at %v: %+v", row.now, n)
		}
	}
	for now, want := range map[float64]bool{7301: true, 7302: false} {
		if got := n.recent(now); got != want {
			t.Errorf("at %v: of late %v", now, got)
		}
	}
	if (&nearMisses{}).recent(0) {
		t.Error("there was none")
	}
}

// A near miss counts from a minute on after its holder took memory, unless its allocator gives memory back by itself;
// snapshots without windows show one when they are a quarter of a second apart or less.
func TestFoldNear(t *testing.T) {
	type step struct{ at, used float64 }
	play := func(lead float64, environment map[string]string, window bool, steps ...step) nearMisses {
		w := New(Options{})
		p := processOf(7, "python a.py", 19900)
		p.Environment = environment
		w.Add(snapshotOf(0, 20000, 100))
		for at := 10.0; at < 10+lead; at++ {
			w.Add(snapshotOf(at, 20000, 19900, p))
		}
		for _, x := range steps {
			p.Memory = sampler.Some(sampler.Bytes(x.used) * sampler.MiB)
			s := snapshotOf(10+x.at, 20000, x.used, p)
			if window {
				s.GPUs[0].Memory.Window = &sampler.Window{Readings: 1, Min: s.GPUs[0].Memory.Used.Or(0), Max: s.GPUs[0].Memory.Used.Or(0), Falls: sampler.Some(1), DeepestFall: sampler.Some(9000 * sampler.MiB)}
			}
			w.Add(s)
		}
		return w.gpus[0].near
	}
	for name, row := range map[string]struct {
		near nearMisses
		want int
	}{
		"told by the poller":   {play(60, nil, true, step{61, 19900}), 1},
		"in the first minute":  {play(60, nil, true, step{60, 19900}), 0},
		"gives back by itself": {play(60, map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.8"}, true, step{61, 19900}), 0},
		"by its newer name":    {play(60, map[string]string{"PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync"}, true, step{61, 19900}), 0},
		"other options":        {play(60, map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, true, step{61, 19900}), 1},
		"seen by snapshots":    {play(60, nil, false, step{61, 19900}, step{61.25, 19900}, step{61.5, 9000}, step{61.75, 19900}), 1},
		"too far apart":        {play(60, nil, false, step{61, 19900}, step{61.25, 19900}, step{61.51, 9000}, step{61.75, 19900}), 0},
	} {
		if row.near.count != row.want || row.want > 0 && row.near.pid != 7 {
			t.Errorf("%s: %+v", name, row.near)
		}
	}
}

// The start of a job is over before its first minute is when it has computed for 10 s without a new record, and was not
// near the limit by then.
func TestStartSettles(t *testing.T) {
	for name, row := range map[string]struct {
		level   float64 // of 20,000
		seconds int     // that it computes at that level
		load    int
		also    float64 // it rises by that before the end
		want    int
	}{
		"settled":             {12000, 10, 90, 0, 1},
		"not yet":             {12000, 9, 90, 0, 0},
		"just busy enough":    {12000, 10, 50, 0, 1},
		"it does not compute": {12000, 40, 49, 0, 0},
		"a record meanwhile":  {12000, 18, 90, 81, 0},
		"no record":           {12000, 18, 90, 80, 1},
		"below the limit":     {17999, 10, 90, 0, 1},
		"near the limit":      {18000, 10, 90, 0, 0},
		"much too early":      {12000, 1, 90, 0, 0},
	} {
		w := New(Options{})
		w.Add(snapshotOf(0, 20000, 100))
		add := func(at, used float64, falls int) {
			s := snapshotOf(at, 20000, used, processOf(7, "python a.py", used))
			s.GPUs[0].Utilization.GPU = sampler.Some(row.load)
			s.GPUs[0].Memory.Window = &sampler.Window{Readings: 1, Min: s.GPUs[0].Memory.Used.Or(0), Max: s.GPUs[0].Memory.Used.Or(0), Falls: sampler.Some(falls)}
			w.Add(s)
		}
		at := 10.0
		for i := range row.seconds + 1 { // the first sets the record
			used := row.level
			if i > 8 {
				used += row.also
			}
			add(at, used, 0)
			at++
		}
		if add(at, 19500, 1); w.gpus[0].near.count != row.want {
			t.Errorf("%s: %d near misses", name, w.gpus[0].near.count)
		}
	}
}

// The start of a job is over when its log has told of ten steps after the first, also near the limit.
func TestStartEndsWithSteps(t *testing.T) {
	for name, row := range map[string]struct {
		before, steps []int // told of before the process is listed, and after
		want          int
	}{
		"ten more":          {nil, []int{5, 15}, 1},
		"nine more":         {nil, []int{5, 14}, 0},
		"none":              {nil, nil, 0},
		"it begins anew":    {nil, []int{700, 1, 10}, 0},
		"and goes on":       {nil, []int{700, 1, 11}, 1},
		"of the one before": {[]int{5, 15}, []int{16}, 0},
	} {
		w := New(Options{})
		w.Add(snapshotOf(0, 20000, 100))
		add := func(at float64, pid, falls int) {
			s := snapshotOf(at, 20000, 19500, processOf(pid, "python a.py", 19500))
			s.GPUs[0].Memory.Window = &sampler.Window{Readings: 1, Min: s.GPUs[0].Memory.Used.Or(0), Max: s.GPUs[0].Memory.Used.Or(0), Falls: sampler.Some(falls)}
			w.Add(s)
		}
		mark := func(steps []int) {
			for _, n := range steps {
				w.Mark(sampler.LogMark{Kind: sampler.MarkStep, N: sampler.Some(n)})
			}
		}
		add(1, 6, 0)
		mark(row.before)
		add(2, 7, 0)
		add(9, 7, 0) // 6 is not listed any more
		mark(row.steps)
		if add(10, 7, 1); w.gpus[0].near.count != row.want {
			t.Errorf("%s: %d near misses", name, w.gpus[0].near.count)
		}
	}
}

// A near miss warns of the process that had it: when that is gone, there is nothing to warn of, though its GPU remembers.
func TestNearMissEndsWithItsProcess(t *testing.T) {
	tape, err := os.ReadFile("../../testdata/advice/flush/fires_near.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	w := New(Options{})
	var s sampler.Snapshot
	for line := range strings.Lines(string(tape)) {
		s = sampler.Snapshot{}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		w.Add(s)
	}
	if open := w.Open(); len(open) != 1 || open[0].Kind != sampler.AlertFlush {
		t.Fatalf("open: %+v", open)
	}
	s.GPUs[0].Processes = []sampler.Process{}
	for range 40 { // a GPU may fail to list its processes for a while
		s.Time = s.Time.Add(2 * time.Second)
		w.Add(s)
	}
	for _, a := range w.Open() {
		if a.Kind == sampler.AlertFlush {
			t.Errorf("still open without its process: %s", a.Text)
		}
	}
}

// What earlier runs of a command lived through as often, and with no more to spare, is no warning for the next run
// of it, whatever its numbers; until one of them dies.
func TestLivedThrough(t *testing.T) {
	run := func(user, command string, count int, shallowest, ago float64) *proc {
		p := newProc(&sampler.Process{PID: 7, User: user, Command: command}, 0, time.Unix(0, 0))
		p.peak.add(0, 5000, 0)
		p.close, p.seen = closeCalls{count, shallowest, 1000 - ago}, 1000
		return p
	}
	first := run("ann", "train.py --lr 0.1", 2, 800, 60)
	for name, row := range map[string]struct {
		before []*proc
		died   bool
		at     float64
		next   *proc
		want   bool
	}{
		"as often":            {[]*proc{first}, false, 1100, run("ann", "train.py --lr 0.1", 2, 800, 0), true},
		"with other numbers":  {[]*proc{first}, false, 1100, run("ann", "train.py --lr 0.03", 1, 800, 0), true},
		"more often":          {[]*proc{first}, false, 1100, run("ann", "train.py --lr 0.1", 3, 800, 0), false},
		"as often as several": {[]*proc{first, run("ann", "train.py --lr 0.2", 1, 900, 60)}, false, 1100, run("ann", "train.py --lr 0.1", 3, 800, 0), true},
		"the same run again":  {[]*proc{first, first}, false, 1100, run("ann", "train.py --lr 0.1", 4, 800, 0), true},
		"three quarters":      {[]*proc{first}, false, 1100, run("ann", "train.py --lr 0.1", 1, 600, 0), true},
		"less to spare":       {[]*proc{first}, false, 1100, run("ann", "train.py --lr 0.1", 1, 599, 0), false},
		"another program":     {[]*proc{first}, false, 1100, run("ann", "test.py --lr 0.1", 1, 800, 0), false},
		"somebody else":       {[]*proc{first}, false, 1100, run("bob", "train.py --lr 0.1", 1, 800, 0), false},
		"an hour ago":         {[]*proc{first}, false, 4600, run("ann", "train.py --lr 0.1", 1, 800, 0), true},
		"longer ago":          {[]*proc{first}, false, 4601, run("ann", "train.py --lr 0.1", 1, 800, 0), false},
		"ended right after":   {[]*proc{run("ann", "train.py", 2, 800, 59)}, false, 1100, run("ann", "train.py", 1, 800, 0), false},
		"the last one died":   {[]*proc{first, run("ann", "train.py --lr 0.2", 1, 900, 60)}, true, 1100, run("ann", "train.py --lr 0.1", 1, 900, 0), false},
		"none yet":            {[]*proc{first}, false, 1100, run("ann", "train.py --lr 0.1", 0, 0, 0), false},
		"never before":        {nil, false, 1100, run("ann", "train.py --lr 0.1", 1, 800, 0), false},
	} {
		var l lately
		for i, p := range row.before {
			l.keep(p, row.died && i == len(row.before)-1, 1000)
		}
		if got := l.livedThrough(row.next, row.at); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a program gives up before it goes on, as its log says, is no near miss; what it did long before stays.
func TestCaughtIsNoNearMiss(t *testing.T) {
	for name, row := range map[string]struct {
		falls  []float64
		caught float64
		want   int
	}{
		"caught at once":         {[]float64{1000, 1002}, 1003, 0},
		"as long after as can":   {[]float64{1000}, 1010, 0},
		"later":                  {[]float64{1000}, 1011, 1},
		"one long before":        {[]float64{500, 1000}, 1001, 2},
		"the next try":           {[]float64{1000, 1008}, 1003, 0},
		"one after that":         {[]float64{1000, 1014}, 1003, 1},
		"none is caught by then": {[]float64{1000, 1002}, 0, 2},
	} {
		var n nearMisses
		for _, at := range row.falls {
			if row.caught > 0 && at > row.caught && n.caught == 0 {
				n.catch(row.caught)
			}
			n.add(at, 7, 1, 500, true)
		}
		if row.caught > 0 && n.caught == 0 {
			n.catch(row.caught)
		}
		if n.count != row.want {
			t.Errorf("%s: %d near misses", name, n.count)
		}
	}
	s, e := snapshotOf(0, 24000, 23000, processOf(7, "python main.py", 22900)), sampler.OOMEvent{Recovered: true, MemoryKind: sampler.MemoryGPU}
	w := New(Options{})
	w.Add(s)
	w.gpus[0].near.add(w.clock.Now, 7, 1, 900, true)
	w.Event(e, w.clock.Last)
	if w.gpus[0].near.count != 0 {
		t.Error("the log has told that it went on")
	}
}
