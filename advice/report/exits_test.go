package report

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// card is a snapshot of one GPU some seconds after a beginning.
func card(second float64, total, used sampler.Bytes, list ...sampler.Process) *sampler.Snapshot {
	return &sampler.Snapshot{Time: time.Unix(1000, 0).Add(seconds(second)), GPUs: []sampler.GPU{{UUID: "a", Processes: list, Memory: sampler.Memory{
		Total: sampler.Some(total), Used: sampler.Some(used), Free: sampler.Some(total - used)}}}}
}

func job(pid int, held sampler.Bytes) sampler.Process {
	return sampler.Process{PID: pid, Memory: sampler.Some(held)}
}

const (
	mibs = sampler.MiB
	gibs = sampler.GiB
)

// Where no processes are listed, a job has ended when most of the memory, enough of the GPU and no trifle is gone
// within one step, and the GPU is left idle.
func TestUnlistedExit(t *testing.T) {
	for name, row := range map[string]struct {
		total, before, after sampler.Bytes
		want                 bool
	}{
		"all of it":               {48 * gibs, 20 * gibs, 0, true},
		"down to what idles":      {48 * gibs, 20 * gibs, 983 * mibs, true},
		"something still runs":    {48 * gibs, 20 * gibs, 984 * mibs, false},
		"of a small GPU":          {4 * gibs, 2 * gibs, 600 * mibs, true},
		"something runs on it":    {4 * gibs, 2 * gibs, 601 * mibs, false},
		"over a tenth of the GPU": {48 * gibs, 4916 * mibs, 0, true},
		"a tenth is not enough":   {48 * gibs, 4915 * mibs, 0, false},
		"over half":               {gibs, 900 * mibs, 449 * mibs, true},
		"half is not enough":      {gibs, 900 * mibs, 450 * mibs, false},
		"over a quarter of a GiB": {gibs, 400 * mibs, 143 * mibs, true},
		"a trifle":                {gibs, 400 * mibs, 144 * mibs, false},
	} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, row.total, row.before))
		r.Snapshot(card(1, row.total, row.after))
		list := r.Exits()
		if got := len(list) == 1; got != row.want {
			t.Errorf("%s: exits %+v", name, list)
		} else if got && (list[0].PID != 0 || list[0].Bytes != row.before-row.after || list[0].Used != row.before || list[0].T != 0) {
			t.Errorf("%s: %+v", name, list[0])
		}
	}
	hour := New(Options{Outline: true})
	for i, second := range []float64{0, 1, 3600} {
		hour.Snapshot(card(second, 48*gibs, sampler.Bytes(2-i)*10*gibs))
	}
	listed := New(Options{Outline: true})
	listed.Snapshot(card(0, 48*gibs, 20*gibs, job(1, mibs)))
	listed.Snapshot(card(1, 48*gibs, 0))
	if len(hour.Exits())+len(listed.Exits()) != 0 {
		t.Errorf("ended in a gap: %v; though processes were listed: %v", hour.Exits(), listed.Exits())
	}
}

// A process that is listed no more has ended a job if it held 2 % of the GPU or 256 MiB.
func TestListedExit(t *testing.T) {
	for name, row := range map[string]struct {
		total, held sampler.Bytes
		want        int
	}{
		"256 MiB":            {48 * gibs, 256 * mibs, 1},
		"less":               {48 * gibs, 255 * mibs, 0},
		"2 % of a small GPU": {5000 * mibs, 100 * mibs, 1},
		"less of it":         {5000 * mibs, 99 * mibs, 0},
	} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, row.total, gibs, job(1, row.held), job(2, row.held)))
		r.Snapshot(card(1, row.total, gibs, job(2, row.held)))
		if got := r.Exits(); len(got) != row.want || row.want > 0 && (got[0].PID != 1 || got[0].Bytes != row.held) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// How full the GPU was when a job ended is told by the most that the poller saw, and whether it rose by what was
// usual while it ran.
func TestExitFull(t *testing.T) {
	for name, row := range map[string]struct {
		high, plausible sampler.Bytes // of the last window; of that, what can be
		full            float64
		rose            bool
	}{
		"as ever":        {50 * gibs, 50 * gibs, 0.5, false},
		"a little more":  {53 * gibs, 53 * gibs, 0.53, false},
		"more":           {54 * gibs, 54 * gibs, 0.54, true},
		"all":            {100 * gibs, 100 * gibs, 1, true},
		"more than all":  {101 * gibs, 101 * gibs, 1, true},
		"cannot be":      {sampler.MaxPlausible, 0, 0.5, false},
		"below the last": {40 * gibs, 0, 0.5, false},
	} {
		r := New(Options{Outline: true})
		for i := range 10 {
			s := card(float64(i), 100*gibs, 50*gibs, job(1, 49*gibs))
			if i == 9 {
				s.GPUs[0].Memory.Window = &sampler.Window{Readings: 1, Min: 40 * gibs, Max: row.high, MaxTime: s.Time}
			}
			r.Snapshot(s)
		}
		r.Snapshot(card(10, 100*gibs, gibs))
		if x := r.exits[0]; x.Full != row.full || x.rose != row.rose || x.Used != 50*gibs {
			t.Errorf("%s: full %v, rose %v, used %v", name, x.Full, x.rose, x.Used)
		}
	}
}

// What is free after the end of a job that held over half of the used memory is the most within ten seconds.
func TestFreeAfterExit(t *testing.T) {
	for name, row := range map[string]struct {
		held  sampler.Bytes
		after map[int]sampler.Bytes // second -> used; 40 before
		want  sampler.Opt[sampler.Bytes]
	}{
		"at once":       {21 * gibs, map[int]sampler.Bytes{1: 5 * gibs, 2: 9 * gibs}, sampler.Some(43 * gibs)},
		"in time":       {21 * gibs, map[int]sampler.Bytes{1: 9 * gibs, 11: 5 * gibs}, sampler.Some(43 * gibs)},
		"too late":      {21 * gibs, map[int]sampler.Bytes{1: 9 * gibs, 12: 5 * gibs}, sampler.Some(39 * gibs)},
		"of the lesser": {20 * gibs, map[int]sampler.Bytes{1: 5 * gibs}, sampler.Opt[sampler.Bytes]{}},
	} {
		r := New(Options{Outline: true})
		used := 40 * gibs
		for i := range 20 {
			if v, ok := row.after[i]; ok {
				used = v
			}
			list := []sampler.Process{job(2, gibs)}
			if i == 0 {
				list = append(list, job(1, row.held))
			}
			r.Snapshot(card(float64(i), 48*gibs, used, list...))
		}
		if got := r.Report().GPUs[0].FreeAfterExit; got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// A process that a list left out once has not ended; another one of its pid has.
func TestReturned(t *testing.T) {
	for _, again := range []bool{true, false} {
		r := New(Options{Outline: true})
		first, second := job(1, 10*gibs), job(1, 10*gibs)
		first.StartTime, second.StartTime = sampler.Some(time.Unix(1, 0)), sampler.Some(time.Unix(1, 0))
		if !again {
			second.StartTime = sampler.Some(time.Unix(999, 0))
		}
		r.Snapshot(card(0, 48*gibs, 30*gibs, first, job(2, gibs), job(3, gibs)))
		r.Snapshot(card(1, 48*gibs, 30*gibs, job(3, gibs)))
		r.Snapshot(card(2, 48*gibs, 30*gibs, second, job(3, gibs)))
		gone := map[int]bool{}
		for _, x := range r.Exits() {
			gone[x.PID] = true
		}
		if gone[1] == again || !gone[2] || gone[3] {
			t.Errorf("came again %v: ended %v", again, gone)
		}
	}
}
