package fleet

import (
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// The estimate is short of the truth by the fastest way, whatever the others take, and never beyond it.
func TestOffset(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, ahead := range []time.Duration{0, -time.Hour, 90 * time.Millisecond, 24 * time.Hour} {
		var o offset
		for i := range 100 {
			at := noon.Add(time.Duration(i) * time.Second)
			way := 5*time.Millisecond + time.Duration(random.ExpFloat64()*float64(40*time.Millisecond))
			if i%32 == 0 {
				way = 5 * time.Millisecond
			}
			o.note(at.Add(ahead), at.Add(way))
			if got, ok := o.value(); !ok || got > ahead-5*time.Millisecond || i == 99 && ahead-got > 6*time.Millisecond {
				t.Fatalf("line %d: %v, ahead by %v", i, got, ahead)
			}
		}
	}
	if _, ok := new(offset).value(); ok {
		t.Error("an offset without a line")
	}
}

// A clock that is set is followed, forward at once and backward with the third line; a network that was away for 20 s is no such clock.
func TestOffsetSet(t *testing.T) {
	var o offset
	at := noon
	line := func(ahead, way time.Duration) time.Duration {
		at = at.Add(time.Second)
		o.note(at.Add(ahead), at.Add(way))
		got, _ := o.value()
		return got
	}
	const way = 10 * time.Millisecond
	for range 10 {
		line(0, way)
	}
	if got := line(time.Hour, way); got != time.Hour-way {
		t.Errorf("set forward: %v", got)
	}
	for i := range 3 {
		if got := line(-time.Hour, way); (got == -time.Hour-way) != (i == 2) {
			t.Errorf("set back, line %d: %v", i, got)
		}
	}
	for i := range 20 { // they all come when the network is back
		if got := line(-time.Hour, time.Duration(20-i)*time.Second); got != -time.Hour-way {
			t.Fatalf("held up, line %d: %v", i, got)
		}
	}
	at = at.Add(time.Minute)
	for i := range 60 { // this program was stopped for a minute
		if got := line(-time.Hour, time.Duration(60-i)*time.Second); got != -time.Hour-way {
			t.Fatalf("a minute held up, line %d: %v", i, got)
		}
	}
}

// From dates that are cut to seconds follows the offset to some hundredths of a second; clocks that may agree do.
func TestDated(t *testing.T) {
	for _, ahead := range []time.Duration{0, 300 * time.Millisecond, 5300 * time.Millisecond, -3 * time.Minute} {
		var d dated
		for i := range 200 {
			asked := noon.Add(time.Duration(i) * 1017 * time.Millisecond)
			d.note(asked.Add(ahead+time.Millisecond).Truncate(time.Second), asked, asked.Add(3*time.Millisecond))
		}
		if got, ok := d.value(); !ok || (got-ahead).Abs() > 20*time.Millisecond {
			t.Errorf("ahead by %v: %v", ahead, got)
		}
		if d.note(noon.Add(time.Hour), noon, noon); d.low != time.Hour {
			t.Errorf("a clock that was set: %v", d)
		}
	}
	var d dated
	if d.note(noon, noon.Add(700*time.Millisecond), noon.Add(701*time.Millisecond)); d.low >= 0 {
		t.Error(d)
	}
	if got, _ := d.value(); got != 0 {
		t.Errorf("clocks that may agree: %v", got)
	}
}

func TestBackOff(t *testing.T) {
	var b backOff
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30} {
		most := b
		if got := most.next(0); got != want*time.Second {
			t.Errorf("try %d: %v", i, got)
		}
		if got := b.next(0.999); got <= want*time.Second/2-time.Millisecond || got > want*time.Second {
			t.Errorf("try %d, spread: %v", i, got)
		}
	}
	b.failed = 1 << 40
	if got := b.next(0); got != mostWait {
		t.Error(got)
	}
	if b.reset(); b.next(0) != leastWait {
		t.Error("it does not begin anew")
	}
}
