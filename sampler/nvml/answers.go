package nvml

import "nvpeak/sampler"

// Memory reads the memory of one device with one driver call.
func (s *Source) Memory(dev int) (sampler.Reading, error) {
	c, d, err := s.begin(dev)
	if err != nil {
		return sampler.Reading{}, err
	}
	defer c.leave()
	return d.memory.answer(d.handle, surroundings{c, d}, s.now)
}

// Metrics reads the figures that are due and adds those that are not.
func (s *Source) Metrics(dev int) (sampler.Metrics, error) {
	c, d, err := s.begin(dev)
	if err != nil {
		return sampler.Metrics{}, err
	}
	defer c.leave()
	if err := c.reshaped(d, s.now()); err != nil {
		return sampler.Metrics{}, err
	}
	m, err := d.metrics.read(d.handle, c.rows, s.now())
	return m, c.onItsOwn(err)
}

// Throughput reads the PCIe traffic of one device in bytes per second.
func (s *Source) Throughput(dev int) (rx, tx sampler.Opt[uint64], err error) {
	c, d, err := s.begin(dev)
	if err != nil {
		return rx, tx, err
	}
	defer c.leave()
	rx, tx, err = d.throughput.read(d.handle)
	return rx, tx, c.onItsOwn(err)
}

// Processes lists the processes of one device, merged by pid and in its order.
func (s *Source) Processes(dev int) ([]sampler.Process, error) {
	c, d, err := s.begin(dev)
	if err != nil {
		return nil, err
	}
	defer c.leave()
	list, err := d.processes.read(d.handle, d.most(), s.now())
	return list, c.onItsOwn(err)
}
