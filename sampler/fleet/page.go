package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nvpeak/sampler"
)

// scraper follows one exporter.
type scraper struct {
	fleet   *Fleet
	member  *member
	client  *client
	reader  pageReader
	backOff backOff
	last    time.Time // of the figures that were taken last, by the clock here
	ours    bool      // the exporter is nvpeak
	covered time.Time // until then all peaks are known; peaks are of the moment of an answer, other figures may be older
	missed  bool      // an answer since then was not taken
	named   bool
}

func newScraper(f *Fleet, s *Spec, m *member) (*scraper, error) {
	c, err := newClient(s, f.now)
	return &scraper{fleet: f, member: m, client: c, named: s.Name != ""}, err
}

// run asks for the page until the context ends, at even times.
func (p *scraper) run(ctx context.Context) {
	defer p.client.http.CloseIdleConnections()
	wait := time.Duration(p.fleet.place(p.member)) * stagger
	for next := p.fleet.now(); pause(ctx, wait); {
		err := p.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		now := p.fleet.now()
		if err != nil {
			p.missed = true
			wait = p.backOff.next(p.fleet.random())
			p.member.lose(err.Error(), now.Add(wait))
			next = now.Add(wait)
			continue
		}
		p.backOff.reset()
		if next = next.Add(p.fleet.opt.Interval); next.Before(now) {
			next = now.Add(p.fleet.opt.Interval)
		}
		wait = next.Sub(now)
	}
}

var errNoGPU = errors.New("its page tells of no GPU: neither by the names of " + exporterNames())

func exporterNames() string {
	var names []string
	for _, e := range exporters {
		names = append(names, e.name)
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " nor by those of " + names[n]
}

// ask takes one page.
func (p *scraper) ask(ctx context.Context) error {
	all, asked := &pages{}, p.fleet.now()
	err := p.client.ask(ctx, http.MethodGet, p.address(asked), "", func(r io.Reader) error {
		return p.reader.read(r, known, all.take)
	})
	if err != nil {
		return err
	}
	answered := p.fleet.now()
	best := all.best()
	if best == nil {
		return errNoGPU
	}
	p.ours = best.of == exporters[0]
	at := answered.Add(-answered.Sub(asked) / 2)
	if best.age > 0 && best.age < 1e6 {
		at = at.Add(-time.Duration(best.age * float64(time.Second)))
	}
	if !at.After(p.last) && !best.down {
		p.missed = true
		return nil // nothing new
	}
	if p.covered.IsZero() {
		best.forgetWindow()
		p.covered = asked
	} else if best.window > answered.Sub(p.covered).Seconds()+2 {
		best.forgetWindow()
		p.missed = true
	} else {
		p.covered, p.missed = asked, false
	}
	snap := best.snapshot(at)
	if snap.GPUs, err = p.fleet.chosen(snap.GPUs); err != nil {
		return err
	}
	p.last = at
	p.name(best.host)
	possible(snap)
	n := news{via: best.of.name, reason: best.of.lacks}
	if d, ok := p.client.date.value(); ok {
		n.offset = sampler.Some(d)
	}
	p.member.figures(snap, n)
	return nil
}

// address is what is asked. nvpeak tells each connection the peaks since its scrape before. Where an answer was missed, or the connection is a new one, it is asked
// for those since the last that are known, and a little more: told twice is better than not at all.
func (p *scraper) address(now time.Time) string {
	u, err := url.Parse(p.client.spec.URL)
	if err != nil || u.RawQuery != "" || !p.ours || !p.missed {
		return p.client.spec.URL
	}
	back := min(now.Sub(p.covered)+windowMargin, mostWindow)
	u.RawQuery = fmt.Sprintf("window=%dms", back.Milliseconds())
	return u.String()
}

const (
	windowMargin = time.Second
	mostWindow   = 15 * time.Minute // that nvpeak tells
)

// forgetWindow keeps peaks of another time than that since the answer before: as peaks, but not of this window.
func (f *figures) forgetWindow() {
	for _, g := range f.gpus {
		if b, ok := g.scrapePeak.Value(); ok && b > g.peak.Or(0) {
			g.peak = g.scrapePeak
		}
		g.scrapePeak = amount{}
	}
}

// name gives the host the name that its exporter tells, once, unless somebody has given it one or it is taken.
func (p *scraper) name(host string) {
	if p.named || host == "" {
		return
	}
	p.named = true
	p.fleet.rename(p.member, host)
}

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
