package watch

import (
	"math"
	"testing"

	"nvpeak/sampler"
)

// Stairs of which the log says that there are sixteen: no alarm where all of them fit, one where the log tells of
// forty, and one where it tells of nothing.
func TestAnnouncedStages(t *testing.T) {
	for _, row := range []struct {
		of     int
		warned bool
	}{{16, false}, {40, true}, {0, true}} {
		w := New(Options{})
		used := func(s float64) float64 { return 8000 + 1000*float64(min(int(s/60), 15)) }
		warned := false
		for s := 0.0; s < 17*60; s++ {
			if stage := min(int(s/60), 15) + 1; row.of > 0 && int(s)%60 == 1 {
				w.Mark(sampler.LogMark{Kind: sampler.MarkStage, Label: "level", N: sampler.Some(stage), Of: row.of})
			}
			for _, a := range w.Add(snapshotOf(s, 23900, used(s)+20, processOf(7, "python train.py", used(s)))) {
				warned = warned || a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice
			}
		}
		if warned != row.warned {
			t.Errorf("%d stages: warned %v", row.of, warned)
		}
	}
}

// What is kept up to a number fills the GPU evenly, and the log counts it in jumps: no alarm where all of it fits, but one where it does not.
func TestAnnouncedNumber(t *testing.T) {
	for of, want := range map[int]bool{300: false, 600: true} {
		w := New(Options{})
		warned := false
		used := func(s float64) float64 { return 8000 + 50*math.Min(s/4, 300) }
		for s := 0.0; s < 1500; s++ {
			if int(s)%16 == 0 {
				w.Mark(sampler.LogMark{Kind: sampler.MarkStage, Label: "cache", N: sampler.Some(int(math.Min(s/4, 300)) + 1), Of: of + 1})
			}
			for _, a := range w.Add(snapshotOf(s, 23900, used(s)+20, processOf(7, "python serve.py", used(s)))) {
				warned = warned || a.Kind == sampler.AlertGrowth && a.Level != sampler.LevelNotice
			}
		}
		if warned != want {
			t.Errorf("up to %d: warned %v", of, warned)
		}
	}
}

// Of a counter that is told more often than a log does, the beginning and the newest points stay.
func TestManyStages(t *testing.T) {
	var s stages
	for i := range 10 * maxStagePoints {
		s.add(float64(i), sampler.LogMark{Label: "cache", N: sampler.Some(i + 1), Of: 20 * maxStagePoints})
	}
	if n := len(s.counters[0].seen); n > maxStagePoints {
		t.Errorf("%d points", n)
	}
	for since, rise := range map[float64]float64{0: 1000, 10*maxStagePoints - 64: 50} {
		if more, known := s.rest(since, rise, 0); !known || more > 1.5*rise*160*1.1 || more < 1.5*rise*0.9 {
			t.Errorf("since %v: %v %v", since, more, known)
		}
	}
}

// The last of three stages has begun, and its step is there: nothing is to come, though fewer steps than stages are told.
func TestStagesAtTheEnd(t *testing.T) {
	var s stages
	for i := range 4 {
		s.add(float64(300*i), sampler.LogMark{Label: "group", N: sampler.Some(i + 1), Of: 4})
	}
	if more, known := s.rest(500, 200, 2); !known || more != 0 {
		t.Errorf("%v %v", more, known)
	}
	for _, steps := range []int{1, 2} {
		if more, known := s.rest(1000, 200, steps); known {
			t.Errorf("%d steps that no stage made: %v", steps, more)
		}
	}
}

// A number that is told in jumps is none that goes up with each step, though it has gone up by as many less one.
func TestStagesInJumps(t *testing.T) {
	var s stages
	for _, p := range []struct {
		at float64
		n  int
	}{{0, 100}, {300, 102}} {
		s.add(p.at, sampler.LogMark{Label: "cache", N: sampler.Some(p.n), Of: 120})
	}
	if more, known := s.rest(100, 300, 3); known {
		t.Errorf("told once: %v", more)
	}
}

func TestStagesRest(t *testing.T) {
	var s stages
	say := func(at float64, n, of int) {
		s.add(at, sampler.LogMark{Kind: sampler.MarkStage, Label: "level", N: sampler.Some(n), Of: of})
	}
	for i := range 4 {
		say(float64(60*i), i+1, 8)
	}
	if more, known := s.rest(0, 300, 0); !known || more != 1.5*100*4 {
		t.Errorf("%v %v", more, known)
	}
	if _, known := s.rest(100, 300, 0); known {
		t.Error("two changes tell nothing")
	}
	if more, known := s.rest(100, 300, 3); !known || more != 1.5*100*3 {
		t.Errorf("a third step whose stage has no line yet: %v %v", more, known)
	}
	if more, known := s.rest(0, 300, 3); !known || more != 1.5*100*4 {
		t.Errorf("three steps and their lines: %v %v", more, known)
	}
	say(300, 1, 8) // another round
	if _, known := s.rest(0, 300, 0); known {
		t.Error("a round that began again tells nothing yet")
	}
}

// The last stage takes its memory some seconds before the log has its first line: nothing is to come.
func TestLastStage(t *testing.T) {
	for of, want := range map[int]bool{4: false, 5: true} {
		w := New(Options{})
		told := false
		for i := range 1400 {
			stage, at := i/300+1, i%300
			stage = min(stage, 4)
			used := 11000 + 16000*float64(stage)
			if at == 10 {
				w.Mark(sampler.LogMark{Kind: sampler.MarkStage, Label: "stage", N: sampler.Some(stage), Of: of})
			}
			for _, a := range w.Add(snapshotOf(float64(i), 81559, used+20, processOf(7, "python train.py", used))) {
				told = told || a.Kind == sampler.AlertGrowth && i >= 900
			}
		}
		if told != want {
			t.Errorf("of %d stages: told %v", of, told)
		}
	}
}

// Layers are quantized one by one: each is loaded and given back, its packed form stays. No alarm while the last of those that the log counts begins before
// the GPU is full, and one where there are more, or the log tells of none.
func TestQuantizedLayers(t *testing.T) {
	const seconds, layer, packed, work = 900, 18, 180.0, 2400.0
	for of, warned := range map[int]bool{49: false, 80: true, 0: true} {
		w := New(Options{})
		first, worst := raised(seconds, w, func(s float64) sampler.Snapshot {
			n := int(s) / layer
			used := 4000 + packed*float64(n)
			if part := int(s) % layer; part >= 3 {
				used += work * math.Min(1, float64(part-2)/6)
			}
			if of > 0 && int(s)%6 == 1 {
				w.Mark(sampler.LogMark{Kind: sampler.MarkStage, Label: "layer", N: sampler.Some(max(1, n)), Of: of})
			}
			return snapshotOf(s, 16152, used+20, processOf(7, "python quantize.py", used))
		}, sampler.AlertGrowth)
		if got := worst != "" && worst != sampler.LevelNotice; got != warned || len(first) == 0 {
			t.Errorf("of %d layers: %v, %q", of, first, worst)
		}
	}
}
