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

// Two processes with one command that die on a GPU between two snapshots are two alerts, each with its pid and size.
func TestTwinsDie(t *testing.T) {
	d := &driven{}
	d.wait(2)
	d.job(5000, "python other.py").ask(24 * gib)
	a, b := d.job(4242, "python train.py --lr 1"), d.job(4243, "python train.py --lr 1")
	a.ask(gib)
	b.ask(gib)
	d.wait(3)
	a.torch(14*gib, 0)
	b.torch(13*gib, 0)
	a.exits(1)
	b.exits(1)
	said := texts(d.told())
	for _, want := range []string{"pid 4242 (python, ann) died: 14.0 GiB", "pid 4243 (python, ann) died: 13.0 GiB"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s: %s", want, said)
		}
	}
	if strings.Contains(said, "its command") {
		t.Errorf("a loop: %s", said)
	}
}

// Of one command, who ran beside another one is told apart, at whatever time, and is no further time; so is who came after it within one snapshot, which
// is one.
func TestDiedBeside(t *testing.T) {
	death := func(pid int, start, refused, at float64) failure {
		return failure{at: at, placed: true, dead: true, death: Death{PID: pid, command: "train", start: sampler.Some(drivenTime(start)), Time: drivenTime(refused)}}
	}
	for name, row := range map[string]struct {
		list []failure
		want []int // times; 0: a newer one stands for it
	}{
		"side by side":         {[]failure{death(1, 0, 9, 10), death(2, 0, 9.1, 10)}, []int{1, 1}},
		"one of them later":    {[]failure{death(1, 0, 9, 10), death(2, 0, 50, 51)}, []int{1, 1}},
		"one after the other":  {[]failure{death(1, 0, 9, 10), death(2, 11, 19, 20)}, []int{0, 2}},
		"within a snapshot":    {[]failure{death(1, 0, 9, 10), death(2, 9.2, 9.5, 10)}, []int{1, 2}},
		"and again":            {[]failure{death(1, 0, 9, 10), death(2, 9.2, 9.5, 10), death(3, 10.1, 10.4, 11), death(4, 10.5, 10.9, 11)}, []int{0, 0, 3, 4}},
		"two in place of two":  {[]failure{death(1, 0, 9, 10), death(2, 0, 9.1, 10), death(3, 12, 19, 20), death(4, 12, 19.1, 20)}, []int{0, 0, 3, 3}},
		"their starts unknown": {[]failure{{at: 10, placed: true, dead: true, death: Death{PID: 1, command: "train"}}, {at: 10, placed: true, dead: true, death: Death{PID: 2, command: "train"}}}, []int{1, 2}},
	} {
		for i, want := range row.want {
			if times, last := diedAgain(row.list, i, 60); times != want || last != (want > 0) {
				t.Errorf("%s: %d is told %d times, not %d", name, i, times, want)
			}
		}
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
