package nvml

import (
	"cmp"
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// smState is the share of the GPU's multiprocessors that each process had of late.
type smState struct {
	samples sampleList
	refuse  bool
	next    time.Time // the driver has nothing new before
	since   uint64    // the newest sample that was seen, by the driver's clock
	shares  map[uint32]share
}

type share struct {
	percent int
	read    time.Time
}

const (
	// sampleLife is how long a sample counts: the driver hands them out about once a second,
	// and none for a process that rests.
	sampleLife = 3 * time.Second
	// maxSM bounds what is taken for a percentage that was rounded up too far; more is nonsense.
	maxSM = 1000
	// maxTime bounds the driver's clock, in microseconds.
	maxTime = 1 << 62
)

// read fetches the samples that are new. NOT_FOUND is the normal answer when none are.
func (s *smState) read(h handle, now time.Time) {
	if s.refuse || now.Before(s.next) || s.samples.fn.pointer == nil || h.pointer == 0 {
		return
	}
	s.next = now.Add(time.Second - slack)
	list, ret := s.samples.read(h.pointer, s.since)
	if ret != gonvml.SUCCESS {
		s.refuse = react(ret).forever && s.shares == nil // what it once could do it may do again
		return
	}
	s.add(list, now)
}

// add takes the newest sample of each process. The first call returns the driver's whole
// buffer, which may be minutes long: what is older than sampleLife then is not news.
func (s *smState) add(list []sample, now time.Time) {
	newest := s.since
	for _, x := range list {
		if x.time < maxTime {
			newest = max(newest, x.time)
		}
	}
	if s.shares == nil {
		s.shares = map[uint32]share{}
	}
	slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	for _, x := range list {
		if x.sm > maxSM || newest-x.time > uint64(sampleLife.Microseconds()) { // no time at all is after the newest: that is a large difference
			continue
		}
		s.shares[x.pid] = share{percent: min(int(x.sm), 100), read: now}
	}
	s.since = newest
	for pid, x := range s.shares {
		if now.Sub(x.read) > sampleLife {
			delete(s.shares, pid)
		}
	}
}

func (s *smState) percent(pid uint32, now time.Time) (none sampler.Opt[int]) {
	x, ok := s.shares[pid]
	if !ok || now.Sub(x.read) > sampleLife {
		return none
	}
	return sampler.Some(x.percent)
}
