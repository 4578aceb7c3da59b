package demo

import (
	"math"
	"testing"
)

func TestCurves(t *testing.T) {
	two := cycle(stage{10, plateau(1)}, stage{5, plateau(2)})
	for _, c := range []struct {
		name string
		form curve
		at   []float64
		want []float64
	}{
		{"plateau", plateau(3), []float64{0, 1e6}, []float64{3, 3}},
		{"stairs", stairs(1, 3, 10, 4), []float64{0, 1, 2.6, 9.9, 10, 99}, []float64{1, 1.5, 2, 3, 3, 3}},
		{"step", step(5, -2), []float64{0, 4.9, 5, 50}, []float64{0, 0, -2, -2}},
		{"climb", climb(1, 0.5, 8), []float64{0, 7.9, 8, 80}, []float64{1, 1, 1.5, 6}},
		{"beat", beat(10, 2, 7), []float64{0, 1.9, 2, 9.9, 10, 1001.5}, []float64{7, 7, 0, 0, 7, 7}},
		{"pulses", pulses(1, pulse{at: 2, last: 0.5, height: 4}), []float64{1.9, 2, 2.49, 2.5}, []float64{0, 4, 4, 0}},
		{"sum", sum(plateau(1), step(5, 2)), []float64{0, 5}, []float64{1, 3}},
		{"story", story(stage{10, plateau(1)}, stage{1, climb(2, 1, 1)}), []float64{0, 9.9, 10, 12}, []float64{1, 1, 2, 4}},
		{"cycle", two, []float64{0, 9.9, 10, 14.9, 15, 15e6}, []float64{1, 1, 2, 2, 1, 1}},
	} {
		for i, at := range c.at {
			if got := c.form(storyTime{T: at}); got != c.want[i] {
				t.Errorf("%s at %v: %v, want %v", c.name, at, got, c.want[i])
			}
		}
	}
}

func TestRatchetOnlyRises(t *testing.T) {
	for seed := range uint64(50) {
		form, before := ratchet(seed, 2, 9, 60, 13), 0.0
		for at := 0.0; at < 70; at += 0.05 {
			v := form(storyTime{T: at, N: seed})
			if v < before || v < 2 || v > 9 {
				t.Fatalf("seed %d: %v after %v at %v s", seed, v, before, at)
			}
			before = v
		}
		if before != 9 {
			t.Errorf("seed %d ends at %v", seed, before)
		}
	}
}

// TestChanceIsEven looks for what would show on screen: neighboring places and seeds
// that give alike numbers, and values outside [0, 1).
func TestChanceIsEven(t *testing.T) {
	const n = 400
	var boxes [10]int
	for seed := range uint64(n) {
		for place := range uint64(n) {
			v := chance(seed, place)
			if v < 0 || v >= 1 {
				t.Fatalf("chance(%d, %d) = %v", seed, place, v)
			}
			boxes[int(v*10)]++
		}
	}
	for i, b := range boxes {
		if math.Abs(float64(b)-n*n/10) > n*n/10*0.05 {
			t.Errorf("tenth %d has %d of %d", i, b, n*n)
		}
	}
	low := 0.0
	for i := range uint64(n) {
		low += math.Abs(chance(i, 7) - chance(i+1, 7))
		low += math.Abs(chance(3, i) - chance(3, i+1))
	}
	if mean := low / (2 * n); math.Abs(mean-1.0/3) > 0.04 { // of independent numbers
		t.Errorf("neighbors are %v apart", mean)
	}
}

// FuzzSums asks for any time, also before the epoch and centuries later.
func FuzzSums(f *testing.F) {
	for _, v := range []float64{0, 0.02, 46, 935, 1e7, -5, 3e9} {
		f.Add(v)
	}
	type playing struct {
		s *Source
		h *hand
	}
	var all []playing
	for _, sc := range Scenarios() {
		s, h := play(f, sc.Name)
		all = append(all, playing{s, h})
	}
	f.Fuzz(func(t *testing.T, now float64) {
		if math.IsNaN(now) || math.Abs(now) > 9e9 {
			return
		}
		for _, p := range all {
			p.h.at(now)
			for dev := range p.s.devices {
				u := used(t, p.s, dev)
				ps, err := p.s.Processes(dev)
				if err != nil {
					t.Fatal(err)
				}
				sum := p.s.devices[dev].hidden
				for _, q := range ps {
					sum += q.Memory.Or(0)
				}
				if u != sum {
					t.Fatalf("%s at %v s: GPU %d uses %d, not %d", p.s.script.name, now, dev, u, sum)
				}
			}
		}
	})
}
