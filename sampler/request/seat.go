package request

import (
	"time"

	"nvpeak/sampler"
)

// A process numbers devices in its own way, and of some calls not even that number is known. A seat is
// what can be told apart; on which GPU it is may be learned later than what is asked there.
type seat struct {
	key     seatKey
	tally   *tally
	at      sampler.GPUKey         // the zero key: not known
	votes   map[sampler.GPUKey]int // GPUs whose use rose as something was granted here
	wonders []wonder
}

type seatKey struct {
	device int    // ordinal of the process; -1: not known
	handle uint64 // then the context or pool; 0: not known
	tid    int    // then the thread
}

// wonder is a grant that may tell the GPU: its use rises by as much.
type wonder struct {
	at    time.Time
	took  time.Duration
	bytes sampler.Bytes
}

const (
	// wonderLeast stands out from what others do at that moment.
	wonderLeast = 16 * sampler.MiB
	maxWonders  = 16
	// showsWithin: readings are 20 ms apart, 40 on a busy machine.
	showsWithin = 150 * time.Millisecond
	// enough votes tell the GPU of a seat of which nothing else does.
	enough = 2
	// What the program says of the GPU is overruled by so many votes, and so many times those for it: the environment that
	// it began with may not be the one that it has, but where several GPUs are busy some votes are by chance.
	overrule      = 8
	overruleTimes = 4
	// clearly is how many times the votes of any other the elected one has.
	clearly = 3
)

func (s *seat) wonder(c *Call, n sampler.Bytes, f *Function) {
	if physical(f.Memory) && n >= wonderLeast && len(s.wonders) < maxWonders {
		s.wonders = append(s.wonders, wonder{c.Time, c.Took, n})
	}
}

// settle answers the wonders that are old enough: the only GPU whose use rose by as much has a vote.
func (t *Tracker) settle(p *process, now time.Time) {
	for _, s := range p.seats {
		later := s.wonders[:0]
		for _, w := range s.wonders {
			if now.Sub(w.at) < showsWithin {
				later = append(later, w)
				continue
			}
			if key, ok := t.rose(w); ok {
				if s.votes == nil {
					s.votes = map[sampler.GPUKey]int{}
				}
				s.votes[key]++
			}
		}
		s.wonders = later
		if now.Sub(s.tally.exact.listedAt) > unsure {
			s.tally.exact.settle(s.tally.live, now.Sub(s.tally.exact.listedAt))
		}
	}
}

func (t *Tracker) rose(w wonder) (found sampler.GPUKey, ok bool) {
	for key, g := range t.gpus {
		before := g.at(w.at.Add(-w.took - time.Millisecond))
		if g.most(w.at.Add(-w.took), w.at.Add(showsWithin)) < before+w.bytes-w.bytes/8 {
			continue
		}
		if ok {
			return found, false // two
		}
		found, ok = key, true
	}
	return found, ok
}

// elected is the GPU that clearly most votes are for; the zero key and 0: there is none.
func (s *seat) elected() (best sampler.GPUKey, votes int) {
	second := 0
	for key, n := range s.votes {
		if n > votes {
			best, votes, second = key, n, votes
		} else {
			second = max(second, n)
		}
	}
	if votes < clearly*second {
		return sampler.GPUKey{}, 0
	}
	return best, votes
}

// join makes one of the tallies of seats that are on one GPU.
func (t *Tracker) join(p *process) {
	for i, s := range p.seats {
		key := s.at
		s.tally.on(t.gpus[key])
		for _, other := range p.seats[:i] {
			if key != (sampler.GPUKey{}) && other.tally != s.tally && other.at == key {
				gone := s.tally
				other.tally.join(gone)
				for _, x := range p.seats {
					if x.tally == gone {
						x.tally = other.tally
					}
				}
				break
			}
		}
	}
}
