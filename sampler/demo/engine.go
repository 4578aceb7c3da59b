package demo

import (
	"cmp"
	"math"

	"nvpeak/sampler"
)

// The figures of a device, each a function of the seconds t since the epoch.

// Memory reads the memory of one device: what its processes hold, what is hidden,
// what the driver keeps, and the rest.
func (s *Source) Memory(dev int) (sampler.Reading, error) {
	d, err := s.device(dev)
	if err != nil {
		return sampler.Reading{}, err
	}
	used := d.used(s.now())
	return sampler.Reading{
		Total: d.total, Used: used, Free: d.total - d.kept - used,
		Reserved: sampler.Some(d.kept),
	}, nil
}

// used is the sum over all actors, at most what the GPU has.
func (d *device) used(t float64) sampler.Bytes {
	left := d.total - d.kept - d.hidden - d.fixed
	room := left
	for _, a := range d.moving {
		b, _ := a.holds(t, left)
		left -= b
	}
	return d.hidden + d.fixed + room - left
}

// holds is the memory of an actor and whether it is alive. It gets no more than is
// left on its GPU, as with a real driver; who comes first in the script wins.
func (a *actor) holds(t float64, left sampler.Bytes) (sampler.Bytes, bool) {
	m, alive := a.job.life.at(t)
	if !alive {
		return 0, false
	}
	if a.memory == nil {
		return min(a.flat, left), true
	}
	return min(bytes(a.memory(m)), left), true
}

// share is the SM percent of one actor.
func (a *actor) share(t float64) float64 {
	if a.load == nil {
		return 0
	}
	m, alive := a.job.life.at(t)
	if !alive {
		return 0
	}
	return min(100, max(0, a.load(m)))
}

// load is the percent of time in which the GPU was busy.
func (d *device) load(t float64) float64 {
	v := 0.0
	for _, a := range d.actors {
		v += a.share(t)
	}
	return min(100, v)
}

// recent is the load as the power supply feels it: mostly that of the last half second.
func (d *device) recent(t float64) float64 {
	return 0.5*d.load(t) + 0.3*d.load(t-0.3) + 0.2*d.load(t-0.7)
}

// warmth is the weight of the load so many seconds ago in the temperature of now: that
// of two heat stores in a row, die and heat sink, each of 6 seconds. One store alone
// would let the temperature jump with each pause.
var warmth = func() (w [48]float64) {
	sum := 0.0
	for i := range w {
		w[i] = float64(i) / 6 * math.Exp(-float64(i)/6)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}()

// lasting is the load of the last three quarters of a minute, weighted by warmth.
// Whole seconds, so that a short pause is not counted at one moment and missed at the next.
func (d *device) lasting(t float64) float64 {
	v := 0.0
	for i, w := range warmth {
		v += w * d.load(math.Floor(t)-float64(i))
	}
	return v
}

// contexts says whether any program computes on the GPU, be it idle; a display does not.
func (d *device) contexts(t float64) bool {
	for _, a := range d.actors {
		if _, alive := a.job.life.at(t); alive && a.job.kind != graphics {
			return true
		}
	}
	return false
}

// Metrics reads what changes within seconds: load, power that follows it at once and
// temperature that follows slowly, clocks, link, state.
func (s *Source) Metrics(dev int) (sampler.Metrics, error) {
	d, err := s.device(dev)
	if err != nil {
		return sampler.Metrics{}, err
	}
	t := s.now()
	load, mo := d.load(t), &d.model
	capped := load > 0 && chance(d.seed+5, uint64(t/7)) > 0.95 && d.recent(t) > 90
	watts := d.watts(t, capped)
	heat := d.lasting(t)/100*0.92 + 0.08*chance(d.seed+6, uint64(t/20))
	m := sampler.Metrics{
		Utilization: sampler.Utilization{
			GPU:     sampler.Some(int(load + 0.5)),
			Memory:  sampler.Some(int(load * (0.38 + 0.08*chance(d.seed+1, uint64(t/2))))),
			Encoder: sampler.Some(0),
			Decoder: sampler.Some(0),
		},
		Temperature:    sampler.Some(int(31 + float64(dev%4) + (mo.hot-34)*heat)),
		Power:          sampler.Some(watts),
		PowerLimit:     sampler.Some(mo.limitWatts),
		Throttle:       []string{},
		ECCUncorrected: sampler.Some(uint64(0)),
	}
	if mo.fan {
		m.Fan = sampler.Some(int(30 + 42*max(0, heat-0.25)))
	}
	if capped {
		m.Throttle = append(m.Throttle, "sw_power_cap")
	}
	d.state(t, load, capped, &m)
	return m, nil
}

// watts is the power drawn, rounded to what the driver reports: tenths here.
func (d *device) watts(t float64, capped bool) float64 {
	mo := &d.model
	if capped {
		return mo.limitWatts - math.Floor(20*chance(d.seed+3, uint64(t)))/10
	}
	base := mo.idleWatts
	if d.contexts(t) {
		base *= 1.35 // a context keeps the clocks up
	}
	w := base + (mo.limitWatts*0.93-base)*d.recent(t)/100
	w *= 0.97 + 0.06*chance(d.seed+4, uint64(t))
	return math.Floor(min(w, mo.limitWatts)*10) / 10
}

// state fills in performance state, clocks and link, which fall back on a GPU
// that nobody has opened.
func (d *device) state(t, load float64, capped bool, m *sampler.Metrics) {
	mo := &d.model
	if !d.contexts(t) {
		gen := mo.pcie
		if mo.idle != mo.busy {
			gen = 1 // GPUs that leave their busy state slow the link down too
		}
		m.PerformanceState = sampler.Some(mo.idle)
		m.Clocks = sampler.Clocks{SM: sampler.Some(mo.smMHz[0]), Memory: sampler.Some(mo.memMHz[0])}
		m.PCIe = sampler.PCIe{Generation: sampler.Some(gen), Width: sampler.Some(16)}
		return
	}
	sm := mo.smMHz[1]
	if load > 60 {
		sm -= 15 * int(4*chance(d.seed+7, uint64(t/3))) // boost clocks move in steps of 15 MHz
	}
	if capped {
		sm -= 165
	}
	m.PerformanceState = sampler.Some(mo.busy)
	m.Clocks = sampler.Clocks{SM: sampler.Some(sm), Memory: sampler.Some(mo.memMHz[1])}
	m.PCIe = sampler.PCIe{Generation: sampler.Some(mo.pcie), Width: sampler.Some(16)}
}

// Throughput reads the PCIe traffic in bytes per second: bursts with each batch.
func (s *Source) Throughput(dev int) (rx, tx sampler.Opt[uint64], err error) {
	d, err := s.device(dev)
	if err != nil {
		return rx, tx, err
	}
	t, in := s.now(), 0.0
	for _, a := range d.actors {
		in += a.job.pcie * a.share(t) / 100
	}
	in *= 0.4 + 1.2*chance(d.seed+8, uint64(t*2))
	out := in * (0.06 + 0.1*chance(d.seed+9, uint64(t*2)))
	// The driver counts in KiB per second.
	return sampler.Some(uint64(in) &^ 1023), sampler.Some(uint64(out) &^ 1023), nil
}

// Processes lists the processes that are alive on one device, in the order of the
// script. Their memory and what is hidden make up the device's used memory.
func (s *Source) Processes(dev int) ([]sampler.Process, error) {
	d, err := s.device(dev)
	if err != nil {
		return nil, err
	}
	t := s.now()
	left := d.total - d.kept - d.hidden - d.fixed
	list := make([]sampler.Process, 0, len(d.actors))
	for _, a := range d.actors {
		m, alive := a.job.life.at(t)
		if !alive {
			continue
		}
		b := a.flat
		if a.memory != nil || !a.job.life.always() {
			b, _ = a.holds(t, left)
			left -= b
		}
		list = append(list, sampler.Process{
			PID: a.pidOf(m.N), Type: cmp.Or(a.job.kind, "compute"),
			Memory: sampler.Some(b), SM: sampler.Some(int(a.share(t) + 0.5)),
		})
	}
	return list, nil
}
