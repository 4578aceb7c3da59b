package demo

import "math"

// A storyTime is a place in a story: T seconds after its piece began, in the Nth run of it.
type storyTime struct {
	T float64
	N uint64
}

// A curve is an amount over time, in GiB for memory and in percent for load. Curves
// are built once; asking one neither allocates nor remembers anything.
type curve func(storyTime) float64

// plateau stays at v.
func plateau(v float64) curve { return func(storyTime) float64 { return v } }

// stairs goes from one value to another in n equal steps within the given seconds: the
// form of a caching allocator that asks the driver for one segment after another.
func stairs(from, to, seconds float64, n int) curve {
	return func(m storyTime) float64 {
		k := math.Ceil(min(1, max(0, m.T/seconds)) * float64(n))
		return from + (to-from)*k/float64(n)
	}
}

// step is nothing at first and height from the given second on.
func step(at, height float64) curve {
	return func(m storyTime) float64 {
		if m.T < at {
			return 0
		}
		return height
	}
}

// ratchet goes from one value to another in n steps at uneven times, and stays there:
// segments of a caching allocator that meets new sizes.
func ratchet(seed uint64, from, to, seconds float64, n int) curve {
	return func(m storyTime) float64 {
		place := min(1, max(0, m.T/seconds)) * float64(n)
		k := math.Floor(place)
		if place-k > chance(seed, m.N<<16+uint64(k)) {
			k++
		}
		return from + (to-from)*k/float64(n)
	}
}

// climb rises by step every so many seconds without end.
func climb(from, step, every float64) curve {
	return func(m storyTime) float64 { return from + step*math.Floor(max(0, m.T)/every) }
}

// A pulse is a rectangle on top of something else.
type pulse struct {
	at, last float64 // seconds
	height   float64
	loose    float64 // by how much a repetition may stay below height
}

// pulses is the height of the pulse that is on, 0 between them.
func pulses(seed uint64, ps ...pulse) curve {
	return func(m storyTime) float64 {
		for i := range ps {
			p := &ps[i]
			if d := m.T - p.at; d >= 0 && d < p.last {
				return p.height - p.loose*chance(seed+uint64(i), m.N)
			}
		}
		return 0
	}
}

// beat is height for the first `last` seconds of every period, 0 for the rest of it.
func beat(period, last, height float64) curve {
	return func(m storyTime) float64 {
		if m.T-period*math.Floor(m.T/period) < last {
			return height
		}
		return 0
	}
}

// jitter wanders between low and high, a new value each bucket of seconds.
func jitter(seed uint64, low, high, bucket float64) curve {
	return func(m storyTime) float64 {
		return low + (high-low)*chance(seed^m.N<<32, uint64(m.T/bucket))
	}
}

// sum adds curves.
func sum(cs ...curve) curve {
	return func(m storyTime) float64 {
		v := 0.0
		for _, c := range cs {
			v += c(m)
		}
		return v
	}
}

// A stage is a piece of a story; its curve counts from the stage's beginning.
type stage struct {
	last float64 // seconds
	form curve
}

// story plays the stages once and stays in the last of them.
func story(stages ...stage) curve {
	return func(m storyTime) float64 {
		for i := range stages {
			if m.T < stages[i].last || i == len(stages)-1 {
				return stages[i].form(m)
			}
			m.T -= stages[i].last
		}
		return 0
	}
}

// cycle plays the stages again and again; N counts the rounds.
func cycle(stages ...stage) curve {
	period := 0.0
	for _, s := range stages {
		period += s.last
	}
	once := story(stages...)
	return func(m storyTime) float64 {
		n := math.Floor(m.T / period)
		return once(storyTime{T: m.T - n*period, N: m.N<<20 + uint64(n)})
	}
}

// chance is a number in [0, 1) that is the same for the same seed and place.
func chance(seed, place uint64) float64 {
	x := seed*0x9E3779B97F4A7C15 + place*0xD1B54A32D192ED03 + 0x632BE59BD9B4E019
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}
