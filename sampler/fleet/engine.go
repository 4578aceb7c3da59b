package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"nvpeak/sampler"
)

// Options of a Fleet.
type Options struct {
	Interval     time.Duration // between two snapshots of a host; 0: a second
	PeakInterval time.Duration // between memory readings of an nvpeak that is run there; 0: what it takes by itself
	GPUs         []string      // only these of each host, as --gpu takes them
}

// Fleet follows several hosts at a time, each in a goroutine of its own.
type Fleet struct {
	opt    Options
	end    context.CancelFunc
	ended  sync.WaitGroup
	now    func() time.Time
	random func() float64
	quiet  time.Duration // after which a connection over which nothing comes is given up; it is longer where lines are rare

	names *census

	news chan struct{} // has one when something is waiting

	mu      sync.Mutex
	slots   []*slot // in the order in which they were asked for
	pending []*sampler.Snapshot
	changed bool
}

// slot is a source with its hosts: one, or those that a server knows.
type slot struct {
	spec  Spec
	hosts []*member
}

var errNone = errors.New("no hosts: name at least one source")

func newFleet(o Options) *Fleet {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	return &Fleet{opt: o, end: func() {}, now: time.Now, random: rand.Float64, quiet: leastSilence, names: newCensus(1), news: make(chan struct{}, 1)}
}

func (f *Fleet) start(run func()) {
	f.ended.Add(1)
	go func() {
		defer f.ended.Done()
		run()
	}()
}

// add makes a host of each source. One that is named twice is one.
func (f *Fleet) add(specs []Spec) error {
	if len(specs) == 0 {
		return errNone
	}
	if len(specs) > mostHosts {
		return fmt.Errorf("%d hosts: a fleet has up to %d", len(specs), mostHosts)
	}
	for _, g := range f.opt.GPUs {
		if !gpuName.Get().MatchString(g) {
			return fmt.Errorf("--gpu %s: %w: an index, a UUID or a PCI bus id", sampler.Clip(g), sampler.ErrSelect)
		}
	}
	named := map[string]int{}
	for i := range specs {
		short, _ := specs[i].title()
		named[short]++
	}
	for _, spec := range specs {
		if slices.ContainsFunc(f.slots, func(s *slot) bool { return s.spec.same(&spec) }) {
			continue
		}
		s := &slot{spec: spec}
		f.slots = append(f.slots, s)
		short, full := spec.title()
		if named[short] > 1 {
			short = full // nor has the first of them the name for itself
		}
		s.hosts = []*member{f.newMember(f.free(short, full), spec.Source())}
	}
	f.changed = true
	return nil
}

// gpuName is what may be handed on to another machine.
var gpuName = sampler.Pattern{Source: `^[A-Za-z0-9:._-]+$`}

func (s *Spec) same(o *Spec) bool {
	return s.Kind == o.Kind && s.Name == o.Name && s.Host == o.Host && s.User == o.User && s.Port == o.Port && s.URL == o.URL && s.Match == o.Match
}

// free is the first of some names that no host has yet.
func (f *Fleet) free(names ...string) string {
	for _, name := range names {
		if name != "" && f.find(name) == nil {
			return name
		}
	}
	for i := 2; ; i++ {
		if name := fmt.Sprintf("%s (%d)", names[len(names)-1], i); f.find(name) == nil {
			return name
		}
	}
}

func (f *Fleet) find(name string) *member {
	for _, s := range f.slots {
		for _, m := range s.hosts {
			if m.host.Name == name {
				return m
			}
		}
	}
	return nil
}

// Interval is the usual time between two snapshots of a host.
func (f *Fleet) Interval() time.Duration { return f.opt.Interval }

// Close ends what was begun, here and on the other machines, and waits for it, at most so long.
func (f *Fleet) Close(most time.Duration) {
	f.end()
	done := make(chan struct{})
	go func() {
		f.ended.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(most):
	}
}

// Next waits for news and returns all that came since.
func (f *Fleet) Next(ctx context.Context) (Update, error) {
	for {
		if u, ok := f.take(); ok {
			return u, nil
		}
		select {
		case <-f.news:
		case <-ctx.Done():
			return Update{}, ctx.Err()
		}
	}
}

// take is what is waiting.
func (f *Fleet) take() (u Update, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u.Snapshots, f.pending = f.pending, nil
	for _, s := range u.Snapshots {
		if m := f.find(s.Host); m != nil {
			m.waiting = 0
		}
	}
	if f.changed {
		f.changed = false
		for _, s := range f.slots {
			for _, m := range s.hosts {
				u.Hosts = append(u.Hosts, m.published())
			}
		}
	}
	slices.SortStableFunc(u.Snapshots, func(a, b *sampler.Snapshot) int { return a.Time.Compare(b.Time) })
	return u, len(u.Snapshots) > 0 || u.Hosts != nil
}

// wake lets Next return.
func (f *Fleet) wake() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// overdue finds the hosts whose figures are late.
func (f *Fleet) overdue(ctx context.Context) {
	look := time.NewTicker(min(f.opt.Interval, time.Second))
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		f.lookForLate(f.now())
	}
}

func (f *Fleet) lookForLate(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.slots {
		for _, m := range s.hosts {
			m.lookForLate(now)
		}
	}
}

// place is how many hosts were asked for before one.
func (f *Fleet) place(m *member) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, s := range f.slots {
		if len(s.hosts) > 0 && s.hosts[0] == m {
			return i
		}
	}
	return 0
}

// rename gives a host another name, if it is free.
func (f *Fleet) rename(m *member, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.find(name) == nil {
		m.host.Name = name
		f.changed = true
	}
}

// chosen are the GPUs that --gpu asks for.
func (f *Fleet) chosen(gpus []sampler.GPU) ([]sampler.GPU, error) {
	if len(f.opt.GPUs) == 0 {
		return gpus, nil
	}
	devices := make([]sampler.Device, len(gpus))
	for i := range gpus {
		g := &gpus[i]
		devices[i] = sampler.Device{Index: g.Index, UUID: g.UUID, PCI: g.PCI, Name: g.Name, MIG: g.MIG}
	}
	places, err := sampler.Select(devices, f.opt.GPUs)
	if err != nil {
		return nil, err
	}
	list := make([]sampler.GPU, len(places))
	for i, n := range places {
		list[i] = gpus[n]
	}
	return list, nil
}
