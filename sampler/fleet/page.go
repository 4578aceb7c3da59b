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
	last    time.Time               // of the figures that were taken last, by the clock here
	ours    bool                    // the exporter is nvpeak
	covered time.Time               // until then all peaks are known; peaks are of the moment of an answer, other figures may be older
	missed  bool                    // an answer since then has failed
	peaks   map[place]sampler.Bytes // since the figures that were taken last
	named   bool
	told    bool // what it calls itself, or that it does not
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
			p.tell("")
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
	switch {
	case best == nil && all.down():
		p.missed = true
		p.member.overdue(exporters[0].name, driverAway)
		p.tell("")
		return nil
	case best == nil:
		return errNoGPU
	}
	p.ours = best.of == exporters[0]
	at := answered.Add(-answered.Sub(asked) / 2)
	age := time.Duration(min(max(best.age, 0), 1e6) * float64(time.Second))
	p.windows(best, asked, answered)
	if age > staleFigures && !best.down {
		p.member.overdue(best.of.name, "its newest figures are "+age.Round(time.Second).String()+" old")
		return nil
	}
	if !best.down { // that nothing is known of the GPUs is of this moment
		at = at.Add(-age)
	}
	if at.Sub(p.last) < sameFigures {
		return nil // nothing new but perhaps a peak, which is kept for what comes next
	}
	p.name(ctx, best.host)
	best.add(p.peaks)
	p.peaks = nil
	snap := best.snapshot(at)
	if snap.GPUs, err = p.fleet.chosen(snap.GPUs); err != nil {
		return err
	}
	p.last = at
	p.tell("")
	possible(snap)
	n := news{via: best.of.name, reason: best.of.lacks}
	n.tellDown(best)
	if d, ok := p.client.date.value(); ok {
		n.offset = sampler.Some(d)
	}
	p.member.figures(snap, n)
	return nil
}

// sameFigures is how far apart two estimates of the time of the same figures may be.
const sameFigures = 20 * time.Millisecond

// windows keeps the peaks of an answer that are of the time since the answer before. Those of another time are peaks, but not of this window.
func (p *scraper) windows(f *figures, asked, answered time.Time) {
	switch {
	case p.covered.IsZero():
		p.covered = asked
	case f.window > answered.Sub(p.covered).Seconds()+2:
		p.missed = true
	default:
		p.covered, p.missed = asked, false
		p.peaks = f.merge(p.peaks)
		return
	}
	for _, g := range f.gpus {
		if b, ok := g.scrapePeak.Value(); ok && b > g.peak.Or(0) {
			g.peak = g.scrapePeak
		}
		g.scrapePeak = amount{}
	}
}

// merge adds the peaks of an answer to those of before.
func (f *figures) merge(peaks map[place]sampler.Bytes) map[place]sampler.Bytes {
	if peaks == nil {
		peaks = map[place]sampler.Bytes{}
	}
	for _, g := range f.gpus {
		if b, ok := g.scrapePeak.Value(); ok {
			peaks[g.place] = max(peaks[g.place], b)
		}
	}
	return peaks
}

// add puts in peaks that were kept.
func (f *figures) add(peaks map[place]sampler.Bytes) {
	for _, g := range f.gpus {
		if b, ok := peaks[g.place]; ok {
			g.scrapePeak = sampler.Some(b)
		}
	}
}

// staleFigures is how old the newest figures of an exporter may be: it reads the GPUs each second, and some each 15 s.
const staleFigures = 20 * time.Second

const driverAway = "the NVIDIA driver there does not answer"

// tellDown says so of a page that tells it.
func (n *news) tellDown(f *figures) {
	if f.down {
		n.late, n.reason = true, driverAway
	}
}

// tellErrors says so of a snapshot in which no GPU gives figures.
func (n *news) tellErrors(s *sampler.Snapshot) {
	for i := range s.GPUs {
		if !s.GPUs[i].Silent() {
			return
		}
	}
	if len(s.GPUs) > 0 {
		n.late, n.reason = true, s.GPUs[0].Error.Or(driverAway)
	}
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

// name gives the host the name that its exporter tells, once, unless somebody has given it one or it is taken.
func (p *scraper) name(ctx context.Context, host string) {
	if p.named || host == "" {
		return
	}
	p.named = true
	p.tell(host)
	if p.fleet.names.only(ctx, host) {
		p.fleet.rename(p.member, host)
	}
}

// tell tells the census, once.
func (p *scraper) tell(host string) {
	if !p.told {
		p.told = true
		p.fleet.names.tell(host)
	}
}
