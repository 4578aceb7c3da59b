package sampler

import (
	"context"
	"testing"
	"time"
)

// TestLateFigures: where the first figures are late, there is a snapshot without them, and another one as soon as there are any.
func TestLateFigures(t *testing.T) {
	withAndWithoutSweeps(t, func(t *testing.T, sweeps bool) {
		const late = 4 * firstWait
		f := &fake{open: []Inventory{devices("a")}, processes: func(int) ([]Process, error) { time.Sleep(late); return nil, nil }}
		var src Source = f
		if sweeps {
			src = sweeping{f}
		}
		ctx, cancel := context.WithCancel(context.Background())
		l := NewLoop(src, Options{Interval: time.Hour})
		if err := l.Connect(ctx); err != nil {
			t.Fatal(err)
		}
		go l.Run(ctx) //nolint:errcheck // Wait follows
		defer l.Wait(5 * time.Second)
		defer cancel()
		began := time.Now()
		for i, want := range []time.Duration{firstWait, late} {
			list, err := l.Next(ctx)
			if got := time.Since(began); err != nil || len(list) != 1 || got < want || got > want+firstWait {
				t.Fatalf("snapshot %d after %v, want %v; %v", i, got, want, err)
			}
		}
	})
}
