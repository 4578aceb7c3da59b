package sampler

import (
	"testing"
	"time"
)

// TestAside: how often GPUs are read whose calls are slow, each by what it costs and all within their duty.
func TestAside(t *testing.T) {
	for name, row := range map[string]struct {
		costs map[int]time.Duration
		first int // is due first
		next  time.Duration
		every time.Duration
	}{
		"one, as the duty of a GPU has it":     {map[int]time.Duration{4: ms(50)}, 4, 0, ms(2500)},
		"one that would be out of date":        {map[int]time.Duration{4: ms(300)}, 4, 0, asidePeriod},
		"one that cannot but be out of date":   {map[int]time.Duration{4: ms(360)}, 4, 0, ms(3000)},
		"eight, one after the other":           {map[int]time.Duration{0: ms(300), 1: ms(300), 2: ms(300), 3: ms(300), 4: ms(300), 5: ms(300), 6: ms(300), 7: ms(300)}, 0, ms(2500), ms(20000)},
		"one that costs less than another one": {map[int]time.Duration{1: ms(50), 2: ms(250)}, 1, ms(1250), ms(2500)},
	} {
		a := newAside(ms(20))
		if !a.add(row.costs, noon) || a.add(nil, noon) {
			t.Errorf("%s: the first ones are not told", name)
		}
		dev, at := a.due()
		if _, every, ok := a.rate(dev); dev != row.first || at.Sub(noon) != row.next || every != row.every || !ok {
			t.Errorf("%s: GPU %d is due after %v and every %v", name, dev, at.Sub(noon), every)
		}
		a.answered(dev, noon, row.costs[dev])
		if g := a.gpus[dev]; g.next.Sub(noon) != row.every {
			t.Errorf("%s: then it is due after %v", name, g.next.Sub(noon))
		}
		a.later(dev, noon)
		if g := a.gpus[dev]; g.next.Sub(noon) != asideAgain {
			t.Errorf("%s: one that fails is due after %v", name, g.next.Sub(noon))
		}
		a.answered(dev, noon, asideCall-1)
		if _, _, still := a.rate(dev); still {
			t.Errorf("%s: one that is quick is still set aside", name)
		}
	}
	seldom := newAside(10 * time.Second)
	seldom.add(map[int]time.Duration{0: ms(300)}, noon)
	if _, every, _ := seldom.rate(0); every != 10*time.Second {
		t.Errorf("who asks for a reading every 10 s has one every %v", every)
	}
	if dev, _ := newAside(ms(20)).due(); dev != -1 {
		t.Errorf("of none, %d is due", dev)
	}
}

// TestJudgeSetsAside: of the GPUs of a sweep those are set aside whose quickest call was slow, and come back with nothing held
// against them.
func TestJudgeSetsAside(t *testing.T) {
	r := newRateLimiter(ms(20), 3)
	s := &Sweep{}
	s.prepare([]int{0, 1, 2})
	s.Calls, s.Least = []int{3, 3, 0}, []int64{int64(asideCall - 1), int64(asideCall), int64(asideCall)}
	if dear := r.judge(s, []int{0, 1, 2}); len(dear) != 1 || dear[1] != asideCall || r.gpus[0].cost != asideCall-1 {
		t.Errorf("set aside: %v", dear)
	}
	r.setAside(1, ms(300), asidePeriod, true)
	if r.settle(); r.period(1) < asidePeriod || r.period(1) > asidePeriod+ms(20) || r.sampling().DutyPercent < 10 {
		t.Errorf("every %v, %.0f %%", r.period(1), r.sampling().DutyPercent)
	}
	r.setAside(1, 0, 0, false)
	if r.settle(); r.period(1) != ms(20) {
		t.Errorf("back, it is read every %v", r.period(1))
	}
}

// TestOverdueIsAside: a GPU whose call was overdue is set aside without a word on what its calls cost, until one is answered, and then it is
// told for how long it was silent.
func TestOverdueIsAside(t *testing.T) {
	a := newAside(ms(20))
	if !a.overdue(2, ms(200), noon) || a.overdue(2, ms(500), noon.Add(ms(300))) || !a.waits(2) || a.waits(1) {
		t.Error("it does not wait for an answer")
	}
	if silent := a.answered(2, noon.Add(ms(400)), ms(1)); silent != ms(400) || a.waits(2) {
		t.Errorf("silent for %v, and waits: %v", silent, a.waits(2))
	}
	a.add(map[int]time.Duration{2: ms(60)}, noon)
	if silent := a.answered(2, noon, ms(60)); silent != 0 || a.waits(2) {
		t.Errorf("one that is slow was silent for %v", silent)
	}
}
