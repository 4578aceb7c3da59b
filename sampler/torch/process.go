package torch

import (
	"maps"
	"time"

	"nvpeak/sampler"
)

// process is one that reports.
type process struct {
	who   sampler.Process
	seats map[int]*seat // by device, as it numbers them
	lack  Lack          // what PyTorch does not tell of its allocator
	over  bool          // it tells of more than the GPU has
	own   bool          // the reporter in it is of this receiver, so it is part of the command that was begun with its Env
}

func (p *process) seat(device int) *seat {
	s := p.seats[device]
	if s == nil {
		s = &seat{device: device}
		p.seats[device] = s
	}
	return s
}

// seat is what a process has said of one device.
type seat struct {
	device      int
	name        message // the newest one, for what it says of the device
	at          time.Time
	next        time.Duration
	allocator   *sampler.Allocator
	allocatorAt time.Time
	peak        sampler.Bytes // the most that was reserved; the program may reset the allocator's own
	peakAt      time.Time
	refused     *sampler.RefusedTensor // the newest
	number      sampler.Bytes          // of it
	told        bool                   // by a snapshot
	lines       newest
}

// fresh is how much older than the reporter's own interval a reading may be.
const fresh = 3 * time.Second

// maxNext is the longest interval that counts. A reporter makes its own as long as a slow torch wants it, but nobody
// wants to see figures of minutes ago.
const maxNext = 10 * time.Second

// take notes a line, and says whether it tells of a failure that was not known.
func (s *seat) take(m *message, at time.Time) (refused bool) {
	if m.Lines != nil {
		s.lines.take(m.Lines)
		return false
	}
	if m.UUID == "" && m.PCI == "" {
		m.UUID, m.PCI = s.name.UUID, s.name.PCI // a line in a hurry leaves them out
	}
	s.name, s.at = *m, at
	if a := m.allocator(); a != nil {
		s.allocator, s.allocatorAt, s.next = a, at, m.Next.milliseconds(maxNext)
		if a.PeakReserved > s.peak {
			s.peak, s.peakAt = a.PeakReserved, at.Truncate(time.Millisecond)
		}
	}
	if m.OOM == nil {
		return false
	}
	r := m.OOM.refused(at)
	if r == nil {
		return false
	}
	n := m.OOM.Number.Or(0)
	refused = n != s.number
	more := refused
	if !refused && s.refused != nil { // the line in a hurry comes first, the one with details next
		r.Time = s.refused.Time
		more = r.LargestFree.Known() && !s.refused.LargestFree.Known()
	}
	s.refused, s.number, s.told = r, n, s.told && !more
	return refused
}

// environment is what the program sees of the variables that say which device is which; nil: not known.
func (s *seat) environment(who *sampler.Process) map[string]string {
	env := maps.Clone(who.Environment)
	if env == nil {
		env = map[string]string{}
	}
	for name, value := range map[string]*string{"CUDA_VISIBLE_DEVICES": s.name.Visible, "CUDA_DEVICE_ORDER": s.name.Order} {
		if delete(env, name); value != nil {
			env[name] = *value
		}
	}
	return env
}

// reading is what is known of the allocator at a time on a GPU of that size; nil: nothing.
func (s *seat) reading(now time.Time, total sampler.Opt[sampler.Bytes]) *sampler.Allocator {
	most := total.Or(sampler.MaxPlausible)
	if s.allocator == nil || now.Sub(s.allocatorAt) > fresh+s.next || s.allocator.Reserved > most {
		return nil
	}
	a := *s.allocator
	a.PeakReserved, a.PeakAllocated = min(a.PeakReserved, most), min(a.PeakAllocated, a.PeakReserved, most)
	if s.refused != nil {
		r := *s.refused
		if r.GPUFree.Or(0) > most {
			r.GPUFree = sampler.Opt[sampler.Bytes]{}
		}
		a.LastOOM = &r
	}
	return &a
}
