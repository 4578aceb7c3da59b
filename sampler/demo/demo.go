package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nvpeak/sampler"
)

// Default is the scenario that is meant when none is named.
const Default = "training"

// scripts are the scenarios in the order in which they are listed.
var scripts = []func() script{
	training, leak, fragmentation, neighbor, prealloc, oom, eight, sixtyfour,
}

// Scenario names a story that can be played.
type Scenario struct {
	Name  string // as New takes it
	Title string // what it shows, in one line
}

// Scenarios lists the stories, the default first, always in the same order.
func Scenarios() []Scenario {
	list := make([]Scenario, len(scripts))
	for i, s := range scripts {
		sc := s()
		list[i] = Scenario{Name: sc.name, Title: sc.title}
	}
	return list
}

// Source plays one scenario. It has no state besides its beginning; all its methods
// may be called from any goroutine at any time, and none waits.
type Source struct {
	script  script
	host    string // the name of the machine
	clock   sampler.Clock
	epoch   time.Time
	devices []device
	byPID   map[int]*actor // of programs that run once
	repeats []*actor       // of programs that start again
}

var _ sampler.Source = (*Source)(nil)

// New makes the source of the named scenario. Its story begins at the time that
// clock shows now. An unknown name is an error that lists the accepted ones.
func New(name string, clock sampler.Clock) (*Source, error) {
	for _, f := range scripts {
		if sc := f(); sc.name == name {
			return newSource(sc, clock), nil
		}
	}
	if IsFleet(name) {
		return nil, fmt.Errorf("the demo scenario %s is of several machines, which only the monitor shows: nvpeak --demo=%s", name, name)
	}
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("no demo scenario %q: choose one of %s", name, strings.Join(names, ", "))
}

func newSource(sc script, clock sampler.Clock) *Source {
	s := &Source{script: sc, host: "box7", clock: clock, epoch: clock.Now(), byPID: make(map[int]*actor)}
	s.devices = s.script.stage()
	for i := range s.devices {
		for _, a := range s.devices[i].actors {
			if a.job.life.every == 0 {
				s.byPID[a.pid] = a
			} else {
				s.repeats = append(s.repeats, a)
			}
		}
	}
	return s
}

// now is the time in seconds after the epoch, never negative.
func (s *Source) now() float64 { return max(0, s.clock.Now().Sub(s.epoch).Seconds()) }

// Open lists the scripted devices. Its only error is that of ctx.
func (s *Source) Open(ctx context.Context) (sampler.Inventory, error) {
	if err := ctx.Err(); err != nil {
		return sampler.Inventory{}, err
	}
	inv := sampler.Inventory{Driver: "580.159.03", CUDA: "13.0"}
	for i := range s.devices {
		inv.Devices = append(inv.Devices, s.devices[i].identity)
	}
	return inv, nil
}

// Close does nothing: there is nothing to let go of.
func (s *Source) Close() {}

// WaitXID reports ErrNotSupported: scripted GPUs have no Xid errors.
func (s *Source) WaitXID(time.Duration) (int, uint64, error) {
	return -1, 0, fmt.Errorf("Xid events of scripted GPUs: %w", sampler.ErrNotSupported)
}

func (s *Source) device(dev int) (*device, error) {
	if dev < 0 || dev >= len(s.devices) {
		return nil, fmt.Errorf("scripted GPU %d of %d: %w", dev, len(s.devices), sampler.ErrLost)
	}
	return &s.devices[dev], nil
}
