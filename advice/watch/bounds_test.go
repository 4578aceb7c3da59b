package watch

import (
	"slices"
	"testing"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// Ranks are the processes of one job on other GPUs like this one, that are there now and have settled.
func TestRanks(t *testing.T) {
	job := func() *sampler.Process {
		return &sampler.Process{User: "ann", Name: "python", Command: "python train.py"}
	}
	for name, row := range map[string]struct {
		change func(o *gpu, q *proc)
		want   int
	}{
		"a rank":                {func(*gpu, *proc) {}, 1},
		"it has ended":          {func(_ *gpu, q *proc) { q.tick = 4 }, 0},
		"the process itself":    {func(_ *gpu, q *proc) { q.pid = 1 }, 0}, // on two GPUs
		"another command":       {func(_ *gpu, q *proc) { q.process.Command = "python eval.py" }, 0},
		"another user":          {func(_ *gpu, q *proc) { q.process.User = "bob" }, 0},
		"on a larger GPU":       {func(o *gpu, _ *proc) { o.total++ }, 0},
		"on a GPU that is gone": {func(o *gpu, _ *proc) { o.seen = 8 }, 0},
	} {
		p := &proc{pid: 1, tick: 5, process: job()}
		q := &proc{pid: 2, tick: 5, process: job()}
		g := &gpu{seen: 9, total: 80, tick: 5, procs: []*proc{p}}
		o := &gpu{seen: 9, total: 80, tick: 5, procs: []*proc{q}}
		row.change(o, q)
		if got := ranks(&Facts{now: 9, gpu: g, gpus: []*gpu{g, o}}, p); len(got) != row.want {
			t.Errorf("%s: %d ranks, want %d", name, len(got), row.want)
		}
	}
	at := func(after time.Duration) sampler.Opt[time.Time] { return sampler.Some(drivenTime(0).Add(after)) }
	var unknown sampler.Opt[time.Time]
	for name, row := range map[string]struct {
		p, q   sampler.Opt[time.Time]
		first  float64 // seen so much later
		isSame bool
	}{
		"begun together": {at(0), at(0), 999, true}, "as late as may be": {at(0), at(jobSeconds * time.Second), 0, true}, "as early": {at(jobSeconds * time.Second), at(0), 0, true},
		"later": {at(0), at(jobSeconds*time.Second + 1), 0, false}, "seen as late as may be": {at(0), unknown, jobSeconds, true},
		"seen as early": {unknown, at(0), -jobSeconds, true}, "seen later": {unknown, unknown, jobSeconds + 1, false}, "seen earlier": {unknown, unknown, -jobSeconds - 1, false},
	} {
		if got := sameJob(&proc{process: job(), start: row.p}, &proc{process: job(), start: row.q, first: row.first}); got != row.isSame {
			t.Errorf("%s: one job: %v", name, got)
		}
	}
}

// Where only counts are told, what was refused and met after a flush is none of what is open.
func TestCountsAfterFlushes(t *testing.T) {
	var a asking
	for i, r := range []sampler.Requests{{Granted: 5}, {Granted: 6, Refused: 1, Flushes: 1}, {Granted: 7, Refused: 3, Flushes: 2, LargestRecent: 3 * gib}} {
		if i == 2 && a.refusal.Tries != 0 {
			t.Errorf("a flush is told as a refusal: %+v", a.refusal)
		}
		a.fold(&r, float64(i), drivenTime(float64(i)), 9)
	}
	if a.refusal.Tries != 1 || a.refusal.Bytes != 3*gib {
		t.Errorf("%+v", a.refusal)
	}
}

// Nobody is in the way of what fits, and the smallest that is enough goes before a larger one.
func TestInTheWay(t *testing.T) {
	holders := []Holder{{PID: 1, Bytes: 40}, {PID: 2, Bytes: 12}, {Kind: HolderOwn, PID: 9, Bytes: 11}, {PID: 3, Bytes: 8}}
	fit := func(short, need, total sampler.Bytes) Fit {
		return Fit{Short: short, Need: sampler.Some(Need{Bytes: need}), Total: sampler.Some(total), Holders: holders}
	}
	unknown := fit(10, 0, 80)
	unknown.Need = sampler.Opt[Need]{}
	for name, row := range map[string]struct {
		fit  Fit
		want []int
	}{
		"it fits": {fit(0, 10, 80), nil}, "not known what is needed": {unknown, nil}, "as large as the GPU": {fit(60, 80, 80), []int{1, 2, 3}}, "larger": {fit(60, 81, 80), nil},
		"the smallest is enough": {fit(8, 10, 80), []int{3}}, "it is not": {fit(9, 10, 80), []int{2}}, "one's own is not in the way": {fit(11, 20, 80), []int{2}},
		"the largest is just enough": {fit(40, 50, 80), []int{1}}, "it is not any more": {fit(41, 50, 80), []int{1, 2}}, "two are just enough": {fit(52, 60, 80), []int{1, 2}},
	} {
		var got []int
		for _, h := range row.fit.InTheWay() {
			got = append(got, h.PID)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Why a need would not be met: another process that is listed, where it alone is enough or holds more than nobody knows
// who, else that; or the job itself, where all of them are not enough.
func TestNeedFailure(t *testing.T) {
	for name, row := range map[string]struct {
		listed, hidden, short float64 // GiB
		want                  string
	}{
		"the listed one is enough":         {20, 30, 10, explain.CauseOtherProcess},
		"it is just enough":                {20, 30, 20, explain.CauseOtherProcess},
		"what is hidden is needed":         {20, 30, 21, explain.CauseUnattributed},
		"both, and more of it is listed":   {20, 10, 21, explain.CauseOtherProcess},
		"both, and as much of it":          {20, 20, 21, explain.CauseOtherProcess},
		"both are just enough":             {20, 30, 50, explain.CauseUnattributed},
		"both are not enough":              {20, 30, 51, explain.CauseTooBig},
		"nobody else is there, and is not": {0, 0, 1, explain.CauseTooBig},
	} {
		w := New(Options{})
		list := []sampler.Process{processOf(1, "a", 5*inMiB)}
		if row.listed > 0 {
			list = append(list, processOf(2, "b", row.listed*inMiB))
		}
		for i := range 20 {
			w.Add(sampler.Snapshot{Time: drivenTime(float64(i)), GPUs: []sampler.GPU{gpuOf(0, 80*inMiB, (5+row.listed+row.hidden)*inMiB, list...)}})
		}
		for _, g := range w.gpus {
			got := needFailure(&Facts{gpu: g, now: g.figures}, Fit{Short: sampler.Bytes(row.short) * sampler.GiB}, Need{PID: sampler.Some(1)}, 0)
			if got.causes[0].ID != row.want {
				t.Errorf("%s: %s, want %s", name, got.causes[0].ID, row.want)
			}
		}
	}
}
