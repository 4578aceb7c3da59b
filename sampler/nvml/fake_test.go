package nvml

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

// play runs the rest of the test in a child process with a fake driver; inside is false
// in the parent. The statistics of the driver's calls go to stats.
func play(t *testing.T, variant nvmltest.Variant, scenario string, env ...string) (s *Source, inside bool) {
	t.Helper()
	lib, inside := nvmltest.Child(t, variant, scenario, env...)
	if !inside {
		return nil, false
	}
	s = New(Options{Library: lib})
	t.Cleanup(s.Close)
	return s, true
}

func playText(t *testing.T, scenario string, env ...string) (*Source, bool) {
	t.Helper()
	return play(t, nvmltest.Current, nvmltest.Scenario(t, scenario), env...)
}

func mustOpen(t *testing.T, s *Source) sampler.Inventory {
	t.Helper()
	inv, err := s.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func (c *clock) add(d time.Duration) { c.t = c.t.Add(d) }

func useClock(s *Source) *clock {
	c := &clock{time.Unix(1_700_000_000, 0)}
	s.now = c.now
	return c
}

// statsFile names the file of the driver's statistics; the child reads it after Close.
func statsFile(t *testing.T) string {
	return filepath.Join(t.TempDir(), "stats")
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want one that is %q", what, err, want)
	}
}

func within(t *testing.T, what string, limit time.Duration, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if d := time.Since(begin); d > limit {
		t.Errorf("%s took %v, more than %v", what, d, limit)
	}
}

func wantOpt[T comparable](t *testing.T, what string, got sampler.Opt[T], want T) {
	t.Helper()
	if v, ok := got.Value(); !ok || v != want {
		t.Errorf("%s: %v (known %v), want %v", what, v, ok, want)
	}
}

func wantUnknown[T comparable](t *testing.T, what string, got sampler.Opt[T]) {
	t.Helper()
	if v, ok := got.Value(); ok {
		t.Errorf("%s: %v, want unknown", what, v)
	}
}
