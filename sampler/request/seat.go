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
	at      sampler.GPUKey // the zero key: not known
	moves   []moving       // that readings have not been compared with yet
	blind   time.Time      // what moved until then was forgotten
	moved   float64        // in all, in MiB
	movedAt time.Time      // last
	follow  map[sampler.GPUKey]*follower
	elected sampler.GPUKey // that the readings follow; the zero key: none clearly
	guessed bool           // nothing but that says where it is
	lately  []moving       // since lists that have not been compared
	forgot  time.Time      // until when some of those are not kept
	told    sampler.GPUKey // that lists or jumps have told; the zero key: none
}

// apart says whether two seats are on two GPUs for sure: each is a device of its own.
func (s *seat) apart(o *seat) bool {
	return s.key.device >= 0 && o.key.device >= 0 && s.key.device != o.key.device
}

type seatKey struct {
	device int    // ordinal of the process; -1: not known
	handle uint64 // then the context or pool; 0: not known
	tid    int    // then the thread
	era    int    // and which of its contexts that are not known
}

// settle compares what moved here with what the GPUs' readings since say.
func (t *Tracker) settle(p *process, now time.Time) {
	if len(t.gpus) > 1 || t.partly() {
		t.show(p, now)
	}
	for _, s := range p.seats {
		if len(t.gpus) > 1 || t.partly() {
			t.compare(p, s, t.readUntil.Add(-showsWithin))
		}
		e := &s.tally.exact
		if p.gone || p.exit.Known() {
			s.tally.over(p.last)
		}
		if e.settled(now) {
			e.settle(now, s.tally.live)
		}
	}
}

// join makes one of the tallies of seats that are on one GPU.
func (t *Tracker) join(p *process) {
	for i, s := range p.seats {
		key := s.at
		s.tally.on(t.gpus[key])
		for _, other := range p.seats[:i] {
			if key != (sampler.GPUKey{}) && other.tally != s.tally && other.at == key && !other.apart(s) {
				gone := s.tally
				most, lower := p.together(other.tally, gone)
				other.tally.join(gone, most)
				other.tally.lower = other.tally.lower || lower
				for _, x := range p.seats {
					if x.tally == gone {
						x.tally = other.tally
					}
				}
				break
			}
		}
	}
	p.keepsSteps()
}
