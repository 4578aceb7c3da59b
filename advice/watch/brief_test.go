package watch

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// A process that is in one snapshot only, and has failed of a refused request by then, is told of, also where that snapshot has a
// use of zero after that of another process, which is not believed, or no figures.
func TestBriefDeath(t *testing.T) {
	for name, used := range map[string]sampler.Opt[sampler.Bytes]{
		"figures":    sampler.Some(sampler.Bytes(mib)),
		"zero":       sampler.Some(sampler.Bytes(0)),
		"no figures": {},
	} {
		for _, gone := range []bool{false, true} {
			w := New(Options{})
			for i := range 5 {
				s := snapshotOf(float64(i), 16384, 5000, processOf(6, "play", 5000))
				if i >= 2 {
					s = snapshotOf(float64(i), 16384, 1)
				}
				if i == 2 {
					s.GPUs[0].Memory.Used = used
					p := processOf(7, "python a.py", 0)
					p.Memory, p.StartTime = sampler.Opt[sampler.Bytes]{}, sampler.Some(drivenTime(1.3))
					p.Requests = &sampler.Requests{Granted: 1, Refused: 1, Live: 15 * gib, Peak: 15 * gib, Largest: 15 * gib, Whole: true, ExitStatus: sampler.Some(1),
						Refusal: &sampler.Refusal{Time: drivenTime(1.9), Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2", Tries: 1}}
					s.GPUs[0].Processes = []sampler.Process{p}
					s.Door = &sampler.Door{}
				}
				if w.Add(s); i == 2 && !gone {
					break
				}
			}
			deaths := w.Deaths()
			if len(deaths) != 1 || deaths[0].PID != 7 || deaths[0].Event.Requested.Or(0) != 3*gib {
				t.Errorf("%s, gone %v: %+v", name, gone, deaths)
			}
			if told := slices.ContainsFunc(w.Past(), func(a sampler.Alert) bool { return a.PID.Or(0) == 7 && a.Level == sampler.LevelCritical }); gone && !told {
				t.Errorf("%s: not told: %+v", name, w.Past())
			}
		}
	}
}

// All of a process that was refused memory may fall between two lists of the driver: it is listed for the first time when it has ended. It is
// told of once, however long it is listed, and judged when it is known how it ended.
func TestListedWhenEnded(t *testing.T) {
	const never = 99
	for name, row := range map[string]struct {
		known, listed int // seconds after it is listed first: its end is known, and it is listed still
		status        int
		refused       bool
		zero          bool // the figures of that moment are not believed
		want          int
	}{
		"once":                   {0, 0, 1, true, false, 1},
		"for a while":            {0, 2, 1, true, false, 1},
		"for ever":               {0, 20, 1, true, false, 1},
		"its end is known later": {1, 3, 134, true, false, 1},
		"nobody saw how":         {never, 0, 1, true, false, 1},
		"nobody saw, for ever":   {never, 20, 1, true, false, 1},
		"it ended well":          {0, 3, 0, true, false, 0},
		"well, known later":      {1, 3, 0, true, false, 0},
		"known very late":        {12, 20, 1, true, false, 1},
		"a use of zero":          {0, 0, 1, true, true, 1},
		"it was refused nothing": {0, 2, 1, false, false, 0},
	} {
		w := New(Options{})
		for i := range 30 {
			s := snapshotOf(float64(i), 16384, 5000, processOf(6, "play", 5000))
			if row.zero && i == 2 {
				s.GPUs[0].Memory.Used = sampler.Some(sampler.Bytes(0))
			}
			if i >= 2 && i <= 2+row.listed {
				p := processOf(7, "python a.py", 11000)
				p.StartTime, p.Visible, p.Ended = sampler.Some(drivenTime(1.3)), false, true
				p.Requests = &sampler.Requests{Granted: 1, Live: 11 * gib, Peak: 11 * gib, Largest: 11 * gib, Whole: true}
				if row.refused {
					p.Requests.Refused = 1
					p.Requests.Refusal = &sampler.Refusal{Time: drivenTime(1.9), Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2", Tries: 1}
				}
				if i >= 2+row.known {
					p.Requests.ExitStatus = sampler.Some(row.status)
				}
				s.GPUs[0].Processes = append(s.GPUs[0].Processes, p)
			}
			s.Door = &sampler.Door{}
			w.Add(s)
		}
		if deaths := w.Deaths(); len(deaths) != row.want || row.want > 0 && (deaths[0].PID != 7 || deaths[0].Event.Requested.Or(0) != 3*gib) {
			t.Errorf("%s: %d deaths: %+v", name, len(deaths), deaths)
		}
		if got := w.Past(); len(got) != row.want || row.want > 0 && (got[0].PID.Or(0) != 7 || got[0].Level != sampler.LevelCritical || got[0].T > 9) {
			t.Errorf("%s: %s", name, texts(got))
		}
	}
}
