package fleet

import (
	"context"
	"fmt"
)

// Open begins to follow the hosts of some sources. It does not wait for any of them. Close ends it, as does the context.
func Open(ctx context.Context, specs []Spec, o Options) (*Fleet, error) {
	f := newFleet(o)
	if err := f.add(specs); err != nil {
		return nil, err
	}
	if err := f.run(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// run begins to follow all hosts.
func (f *Fleet) run(ctx context.Context) error {
	ctx, f.end = context.WithCancel(ctx)
	pages := 0
	for _, s := range f.slots {
		if s.spec.Kind == Page {
			pages++
		}
	}
	f.names = newCensus(pages)
	for _, s := range f.slots {
		run, err := s.engine(f)
		if err != nil {
			f.end()
			return err
		}
		f.start(func() { run(ctx) })
	}
	f.start(func() { f.overdue(ctx) })
	return nil
}

// engine is what follows a source.
func (s *slot) engine(f *Fleet) (func(context.Context), error) {
	switch s.spec.Kind {
	case SSH:
		return newShell(f, &s.spec, s.hosts[0]).run, nil
	case Page:
		p, err := newScraper(f, &s.spec, s.hosts[0])
		return p.run, err
	case Prometheus:
		p, err := newServer(f, s)
		return p.run, err
	}
	return nil, fmt.Errorf("%s: there is no engine for it", s.spec.Source())
}
