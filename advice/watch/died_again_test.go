package watch

import (
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A program that is started again and again and always dies is one alert, which counts.
func TestDiedAgain(t *testing.T) {
	death := func(gpu, command, user string, at float64) failure {
		return failure{gpu: sampler.GPUKey{ID: gpu}, at: at, dead: true, death: Death{PID: int(at), command: command, user: user}}
	}
	logged := death("a", "train", "ann", 30)
	logged.dead = false
	list := []failure{death("a", "train", "ann", 1), death("a", "train", "ann", 10), death("b", "train", "ann", 10), death("a", "train", "bob", 10),
		death("a", "eval", "ann", 10), logged, death("a", "train", "ann", 40), death("a", "", "", 41), death("a", "", "", 42)}
	for i, want := range []int{0, 0, 1, 1, 1, 1, 3, 1, 1} {
		times, last := diedAgain(list, i, 50)
		if last != (want > 0) || times != want {
			t.Errorf("%d: %d times, %v; want %d", i, times, last, want)
		}
	}
	if times, _ := diedAgain(list, 6, 10+failureSeconds); times != 2 {
		t.Errorf("what is no longer told counts: %d", times)
	}
}

// The evidence of a death says once how much was short.
func TestDeathSaysItOnce(t *testing.T) {
	for _, p := range patterns {
		if p.name != "fires_driver" {
			continue
		}
		d := &driven{}
		p.play(d)
		for _, a := range d.told() {
			if text := strings.Join(a.Evidence, "\n"); a.Kind == sampler.AlertOOM && strings.Count(text, " short") != 1 {
				t.Errorf("evidence:\n%s", text)
			}
		}
	}
}
