package tape

import (
	"testing"

	"nvpeak/sampler"
)

// What ticks leave out is a rule of the format: recordings that exist were written by it.
func TestPredictionsOfTheFormat(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	gpu := func(used sampler.Bytes, held ...sampler.Bytes) (g sampler.GPU) {
		g.Memory.Total, g.Memory.Used = some(1000), some(used)
		for _, n := range held {
			g.Processes = append(g.Processes, sampler.Process{Memory: some(n)})
		}
		return g
	}
	for name, row := range map[string]struct {
		before, now sampler.GPU
		want        sampler.Bytes // of the first process
	}{
		"grew":           {gpu(100, 60), gpu(150, 60), 110},
		"shrank":         {gpu(100, 60), gpu(90, 60), 50},
		"to nothing":     {gpu(100, 60), gpu(40, 60), 0},
		"by more":        {gpu(100, 60), gpu(39, 60), 60},
		"not at all":     {gpu(100, 60), gpu(100, 60), 60},
		"one of several": {gpu(100, 60, 5), gpu(150, 60, 5), 60},
	} {
		if predictOnly(&row.now, &row.before); row.now.Processes[0].Memory != some(row.want) {
			t.Errorf("%s: %v, want %v", name, row.now.Processes[0].Memory, row.want)
		}
	}
	for high, want := range map[sampler.Bytes]sampler.Bytes{500: 500, 501: 501} { // above a peak of 500
		before, now := gpu(100), gpu(100)
		before.Memory.Peak, before.Memory.WorstFree = &sampler.Peak{Bytes: 500}, some(600)
		now.Memory.Peak, now.Memory.Window = before.Memory.Peak, &sampler.Window{Max: high}
		predictRest(&now, &before)
		if now.Memory.Peak.Bytes != want || (now.Memory.Peak != before.Memory.Peak) != (high > 500) || now.Memory.WorstFree != some(1000-high) {
			t.Errorf("a window up to %v: peak %v, least free %v", high, now.Memory.Peak.Bytes, now.Memory.WorstFree)
		}
		p, was := sampler.Process{Memory: some(high)}, sampler.Process{Peak: &sampler.Peak{Bytes: 500}}
		if predictPeak(&p, &was, start); (p.Peak != nil) != (high > 500) {
			t.Errorf("%v held: peak %v", high, p.Peak)
		}
	}
}
