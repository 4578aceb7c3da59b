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
