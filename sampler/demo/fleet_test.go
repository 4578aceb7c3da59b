package demo

import (
	"context"
	"reflect"
	"testing"
	"time"

	"nvpeak/sampler/fleet"
)

// TestFleet plays five minutes of the fleet: it is the same each time, no machine is heard of while it is away, and one
// that comes back is heard of again.
func TestFleet(t *testing.T) {
	open := time.Date(2026, 11, 20, 14, 3, 22, 0, time.UTC)
	for _, sc := range Fleets() {
		now := open
		make := func() *Fleet {
			f, err := NewFleet(sc.Name, func() time.Time { return now })
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		a, b := make(), make()
		past, err := a.Next(context.Background())
		if err != nil || len(past.Hosts) != len(a.machines) || len(past.Snapshots) == 0 {
			t.Fatalf("%s: the past is %d hosts and %d snapshots, %v", sc.Name, len(past.Hosts), len(past.Snapshots), err)
		}
		if again := b.Play(open); !reflect.DeepEqual(past, again) {
			t.Errorf("%s: it is another each time", sc.Name)
		}
		states := map[string]map[fleet.State]bool{}
		known := map[string]*fleet.Host{}
		u := past
		for range 40 {
			for _, h := range u.Hosts {
				known[h.Name] = h
				if states[h.Name] == nil {
					states[h.Name] = map[fleet.State]bool{}
				}
				states[h.Name][h.State] = true
			}
			now = now.Add(time.Second)
			if u, err = a.Next(context.Background()); err != nil {
				t.Fatal(err)
			}
			seen := map[string]int{}
			for _, s := range u.Snapshots {
				seen[s.Host]++
			}
			for _, h := range u.Hosts {
				known[h.Name] = h
			}
			for name, h := range known {
				if n := seen[name]; (h.State == fleet.OK) != (n == 1) {
					t.Fatalf("%s: %s is %s and has sent %d snapshots", sc.Name, name, h.State, n)
				}
			}
		}
		if sc.Name == FleetName && (!states["h100-03"][fleet.Late] || !states["h100-03"][fleet.OK] || !states["l40s-03"][fleet.Lost] || !states["l40s-03"][fleet.OK] || states["a100-03"][fleet.OK]) {
			t.Errorf("the machines were %v", states)
		}
	}
}

func TestFleetEndsWithTheContext(t *testing.T) {
	f, err := NewFleet(FleetName, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := f.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	f.opened, f.at = f.opened.Add(time.Hour), f.at.Add(time.Hour)
	if _, err := f.Next(ctx); err != context.Canceled {
		t.Errorf("it ends with %v", err)
	}
}
