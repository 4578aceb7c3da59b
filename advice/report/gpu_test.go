package report

import (
	"math"
	"testing"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Typical is what is used while something runs: a process is listed, or, on a GPU that lists none, more is used
// than 2 % and 600 MiB.
func TestTypicalWhileRunning(t *testing.T) {
	for name, row := range map[string]struct {
		total, used sampler.Bytes // of two seconds; ten of 1 MiB follow
		listed      bool
		want        sampler.Bytes
	}{
		"little, but listed":           {48 * gibs, 100 * mibs, true, 100 * mibs},
		"little":                       {48 * gibs, 100 * mibs, false, mibs},
		"600 MiB of a small GPU":       {20 * gibs, 600 * mibs, false, mibs},
		"more of it":                   {20 * gibs, 601 * mibs, false, 601 * mibs},
		"2 % of a large GPU":           {100 * gibs, 2 * gibs, false, mibs},
		"more than 2 % of a large GPU": {100 * gibs, 2*gibs + 1, false, 2*gibs + 1},
	} {
		r := New(Options{Outline: true})
		for i := range 12 {
			s := card(float64(i), row.total, mibs)
			if i < 2 {
				s = card(float64(i), row.total, row.used)
				if row.listed {
					s.GPUs[0].Processes = []sampler.Process{job(7, mibs)}
				}
			}
			r.Snapshot(s)
		}
		if got := r.Report().GPUs[0].Typical; got != sampler.Some(row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// The worst free memory is that of the highest reading, also between two snapshots; one of more than the GPU has is none.
func TestWorstFree(t *testing.T) {
	for name, row := range map[string]struct {
		window, reading     sampler.Bytes // 0: none
		worst, atPeak, peak sampler.Bytes
	}{
		"the snapshots":         {0, 0, 28, 28, 20},
		"a window":              {30, 0, 18, 18, 30},
		"a window below":        {10, 0, 28, 28, 20},
		"a reading":             {0, 40, 8, 8, 40},
		"a reading of all":      {0, 48, 0, 0, 48},
		"a reading of more":     {0, 49, 28, 28, 20},
		"a reading of nonsense": {0, sampler.MaxPlausible / gibs, 28, 28, 20},
	} {
		r := New(Options{Outline: true})
		r.Reading(card(0, 0, 0).GPUs[0].Key(), time.Unix(1000, 0), 45*gibs) // before the first snapshot
		for i := range 3 {
			s := card(float64(i), 48*gibs, 20*gibs)
			if i == 1 && row.window > 0 {
				s.GPUs[0].Memory.Window = &sampler.Window{Readings: 9, Min: min(row.window, 20) * gibs, Max: row.window * gibs, MaxTime: s.Time}
			}
			r.Snapshot(s)
			if i == 1 && row.reading > 0 {
				r.Reading(s.GPUs[0].Key(), s.Time.Add(time.Second/2), row.reading*gibs)
			}
		}
		g := r.Report().GPUs[0]
		if g.WorstFree != sampler.Some(row.worst*gibs) || g.FreeAtPeak != sampler.Some(row.atPeak*gibs) || g.Peak.Bytes != row.peak*gibs || g.FreeTypical != sampler.Some(28*gibs) {
			t.Errorf("%s: %v free at worst, %v at the peak of %v, typically %v", name, g.WorstFree, g.FreeAtPeak, g.Peak.Bytes, g.FreeTypical)
		}
	}
}

// A figure counts for as long as it lasted, five seconds at most where the next does not come, and not at all over a gap.
func TestMeanOfTime(t *testing.T) {
	for name, row := range map[string]struct {
		at   []float64
		used []sampler.Bytes
		want sampler.Bytes
	}{
		"each second":   {[]float64{0, 1, 2}, []sampler.Bytes{3, 6, 9}, 6},
		"three seconds": {[]float64{0, 1, 4}, []sampler.Bytes{3, 6, 9}, 6}, // 3 + 18 + 9 of 5 s, and the last 0.125 s longer
		"one":           {[]float64{0}, []sampler.Bytes{3}, 3},
	} {
		r := New(Options{Outline: true})
		for i, at := range row.at {
			r.Snapshot(card(at, 48*gibs, row.used[i]*gibs))
		}
		if got := r.Report().GPUs[0].Mean.Or(0); math.Abs(float64(got)/float64(row.want*gibs)-1) > 0.02 {
			t.Errorf("%s: %v, want %v GiB", name, got, row.want)
		}
	}
}

// Growth is that of the job that ran longest, told from two minutes on.
func TestGrowthOfLongestJob(t *testing.T) {
	leaking := func(seconds, perSecond float64) jobGrowth { return jobGrowth{seconds, perSecond} }
	for name, row := range map[string]struct {
		before, now jobGrowth
		want        sampler.Opt[float64]
	}{
		"this job":            {leaking(0, 0), leaking(120, 0), sampler.Some(0.0)},
		"too short":           {leaking(0, 0), leaking(119, 0), sampler.Opt[float64]{}},
		"the one before":      {leaking(121, 2), leaking(120, 0), sampler.Some(7200.0)},
		"as long as the last": {leaking(120, 2), leaking(120, 0), sampler.Some(0.0)},
		"both too short":      {leaking(119, 2), leaking(110, 0), sampler.Opt[float64]{}},
	} {
		c := newGPUFold(sampler.GPUKey{})
		c.total, c.longest, c.jobSeconds = 48*float64(gibs), row.before, row.now.seconds
		if got := c.growth(); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
		if c.endJob(500); c.longest.seconds != max(row.before.seconds, row.now.seconds) || c.jobSeconds != 0 {
			t.Errorf("%s: the longest is %+v", name, c.longest)
		}
	}
}

// The job that leaked and ended is told of, not the short one after it.
func TestGrowthOfEndedJob(t *testing.T) {
	r := New(Options{Outline: true})
	for i := range 700 {
		s := card(float64(i), 48*gibs, 10*gibs+sampler.Bytes(i)*10*mibs, job(7, 10*gibs+sampler.Bytes(i)*10*mibs))
		if i >= 600 {
			s = card(float64(i), 48*gibs, gibs, job(8, gibs/2))
		}
		r.Snapshot(s)
	}
	want := 3600 * 10 * float64(mibs)
	if got := r.Report().GPUs[0].Growth.Or(0); math.Abs(got-want) > 0.02*want {
		t.Errorf("%v bytes an hour, want %v", got, want)
	}
}

// A recording of less than two minutes is too short to tell anything from its silence.
func TestTooShort(t *testing.T) {
	for seconds, want := range map[float64]bool{119.9: true, 120: false} {
		if r := (Report{Duration: seconds}); r.TooShort() != want {
			t.Errorf("%v s too short: %v", seconds, !want)
		}
	}
	for v, want := range map[float64]sampler.Opt[sampler.Bytes]{-1: {}, 0: sampler.Some(sampler.Bytes(0)), 1.5: sampler.Some(sampler.Bytes(2))} {
		if got := rounded(v); got != want {
			t.Errorf("%v is rounded to %v", v, got)
		}
	}
}

// Spikes are of one excursion when five seconds or less lie between them, two where the first gave back all, or less than the first lasted and it did not
// give back all; an excursion lasts an hour at most.
func TestExcursion(t *testing.T) {
	for name, row := range map[string]struct {
		e     excursion // from 0
		start float64
		end   float64
		want  bool
	}{
		"at once":                {excursion{end: 1, given: 0.97}, 6, 7, true},
		"over":                   {excursion{end: 1, given: 0.97}, 6.1, 7, false},
		"all back, at once":      {excursion{end: 4, given: 1}, 6, 7, true},
		"all back, over":         {excursion{end: 4, given: 0.98}, 6.1, 7, false},
		"not over":               {excursion{end: 10, given: 0.84}, 19, 20, true},
		"as late as it was long": {excursion{end: 10, given: 0.84}, 20, 21, false},
		"given back":             {excursion{end: 10, given: 0.85}, 19, 20, false},
		"an hour":                {excursion{end: 3590, given: 0.5}, 3595, 3600, true},
		"longer":                 {excursion{end: 3590, given: 0.5}, 3595, 3601, false},
	} {
		if got := row.e.includes(spikeAt(t, row.start, row.end)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// spikeAt is a spike that a series found from start to end.
func spikeAt(t *testing.T, start, end float64) series.Spike {
	t.Helper()
	var s series.Series
	s.Start(start-300, true)
	for before := 300.0; before > 0; before-- {
		s.Add(start-before, 1000, 1000, 1000, 48000)
	}
	s.Add(start, 20000, 20000, 20000, 48000)
	s.Add(end, 1000, 1000, 1000, 48000)
	if s.Count != 1 || s.Numbered(0).Start != start || s.Numbered(0).End() != end {
		t.Fatalf("%d spikes, %+v", s.Count, s.Numbered(0))
	}
	return s.Numbered(0)
}
