package watch

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A process that has died of a refused request on a GPU that nobody knows is told of once, with what is known and no GPU.
func TestUnplacedDeath(t *testing.T) {
	for name, row := range map[string]struct {
		refusal sampler.Refusal
		status  int
		calls   []sampler.Request
		want    string // in the text; none: it is no death
	}{
		"of a size":        {sampler.Refusal{Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2"}, 1, nil, "died: 3.0 GiB refused, on a GPU that is not known"},
		"of a context":     {sampler.Refusal{Function: "cuCtxCreate_v2"}, 1, nil, "could not make a context, on a GPU"},
		"of a piece":       {sampler.Refusal{Bytes: 20 * mib, Smallest: 20 * mib, Function: "cuMemCreate"}, 1, nil, "only a piece is known and not the GPU"},
		"not watched":      {sampler.Refusal{Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2", GPU: sampler.Some(2)}, 1, nil, "died: 3.0 GiB refused on GPU 2, which is not watched"},
		"a context there":  {sampler.Refusal{Function: "cuCtxCreate_v2", GPU: sampler.Some(2)}, 1, nil, "could not make a context on GPU 2, which is not watched"},
		"a piece there":    {sampler.Refusal{Bytes: 20 * mib, Smallest: 20 * mib, Function: "cuMemCreate", GPU: sampler.Some(2)}, 1, nil, "a refused request on GPU 2, which is not watched"},
		"it ended well":    {sampler.Refusal{Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2"}, 0, nil, ""},
		"it had something": {sampler.Refusal{Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2", Outcome: sampler.RefusalSmaller}, 1, nil, ""},
		"it went on": {sampler.Refusal{Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2"}, 1, []sampler.Request{
			{Time: drivenTime(4.1), PID: 7, Bytes: 3 * gib, Answer: 2}, {Time: drivenTime(4.2), PID: 7, Bytes: 2 * gib}}, ""},
	} {
		w := New(Options{})
		for i := range 9 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 1000), gpuOf(1, 40960, 1000)}, Door: &sampler.Door{}}
			s.GPUs[0].UUID, s.GPUs[1].UUID = "a", "b"
			if i == 5 {
				p := processOf(7, "python a.py", 0)
				row.refusal.Time, row.refusal.Tries = drivenTime(4.1), 1
				p.Memory, p.Requests = sampler.Opt[sampler.Bytes]{}, &sampler.Requests{Granted: 1, Refused: 1, Live: gib, Whole: true, Refusal: &row.refusal, ExitStatus: sampler.Some(row.status)}
				s.Unplaced, s.Requests = []sampler.Process{p, {PID: 8}}, row.calls
			}
			w.Add(s)
		}
		told := 0
		for _, a := range w.Open() {
			if a.GPU.Known() || a.PID.Or(0) != 7 || a.Level != sampler.LevelCritical || row.want == "" || !strings.Contains(a.Text, row.want) {
				t.Errorf("%s: %+v", name, a)
			}
			told++
		}
		if deaths := w.Deaths(); (told == 1) != (row.want != "") || len(deaths) != told || told > 0 && !deaths[0].Unplaced {
			t.Errorf("%s: told %d times: %+v", name, told, deaths)
		}
	}
}

// Of several processes of one program that have died on GPUs that nobody knows each is told of, unless one has taken the place of another.
func TestUnplacedTogether(t *testing.T) {
	for started, want := range map[float64]int{3.2: 2, 4.05: 2, 4.2: 1} { // the second one; the first is refused at 4.1
		w := New(Options{})
		for i := range 9 {
			s := sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 40960, 1000), gpuOf(1, 40960, 1000)}, Door: &sampler.Door{}}
			s.GPUs[0].UUID, s.GPUs[1].UUID = "a", "b"
			for n := range 2 {
				if i != 5+n*(2-want) { // both at once, or one after the other
					continue
				}
				p := processOf(7+n, "python a.py", 0)
				at := drivenTime(4.1 + 0.9*float64(n))
				p.StartTime = sampler.Some(drivenTime([]float64{3, started}[n]))
				p.Memory, p.Requests = sampler.Opt[sampler.Bytes]{}, &sampler.Requests{Granted: 1, Refused: 1, Live: gib, Whole: true, ExitStatus: sampler.Some(1),
					Refusal: &sampler.Refusal{Time: at, Bytes: 3 * gib, Smallest: 3 * gib, Function: "cuMemAlloc_v2", Tries: 1}}
				s.Unplaced = append(s.Unplaced, p)
			}
			w.Add(s)
		}
		told := map[int]bool{}
		for _, a := range w.Open() {
			told[a.PID.Or(0)] = true
			if times := strings.Contains(a.Text, "2 times"); times != (want == 1) {
				t.Errorf("started at %v: %s", started, a.Text)
			}
		}
		if len(told) != want || !told[8] || len(w.Deaths()) != 2 {
			t.Errorf("started at %v: %v", started, told)
		}
	}
}
