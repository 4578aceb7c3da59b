package demo

import (
	"testing"

	"nvpeak/sampler"
)

// TestNobodyAsksForMoreThanThereIs: a refused request never shows as used memory, so a
// script lets its program end before that and not by way of the limit in holds.
func TestNobodyAsksForMoreThanThereIs(t *testing.T) {
	for _, sc := range Scenarios() {
		s, _ := play(t, sc.Name)
		step := 0.1
		if len(s.devices) > 8 {
			step = 0.37
		}
		for dev := range s.devices {
			d := &s.devices[dev]
			for now := 0.0; now < 1000; now += step {
				want := d.hidden + d.fixed
				for _, a := range d.moving {
					b, _ := a.holds(now, sampler.MaxPlausible)
					want += b
				}
				if want > d.total-d.kept {
					t.Fatalf("%s at %.1f s: GPU %d should hold %v of %v", sc.Name, now, dev, want, d.total-d.kept)
				}
			}
		}
	}
}

// seen is the process of a user on a device.
func seen(t *testing.T, s *Source, dev int, user string) (sampler.Process, bool) {
	t.Helper()
	ps, err := s.Processes(dev)
	if err != nil {
		t.Fatal(err)
	}
	s.Host().Identify(ps)
	for _, p := range ps {
		if p.User == user {
			return p, true
		}
	}
	return sampler.Process{}, false
}

// ends are the moments at which the user's process on the device is gone, looked for
// each tenth of a second, and the pids that it had.
func ends(t *testing.T, s *Source, h *hand, dev int, user string, until float64) (gone []float64, pids []int) {
	t.Helper()
	last := 0
	for now := 0.0; now < until; now += 0.1 {
		h.at(now)
		p, alive := seen(t, s, dev, user)
		if last != 0 && !alive {
			gone, pids = append(gone, now), append(pids, last)
		}
		last = p.PID
	}
	return gone, pids
}

func TestLeakGrowsFailsAndStartsAgain(t *testing.T) {
	s, h := play(t, "leak")
	gone, pids := ends(t, s, h, 0, "carol", 2000)
	if len(gone) != 2 || pids[0] == pids[1] {
		t.Fatalf("ends at %v with pids %v", gone, pids)
	}
	var before sampler.Bytes
	for now := 30.0; now < gone[0]-60; now += 60 {
		top := highestUsed(t, s, h, 0, now, now+60, 0.1)
		if top <= before+sampler.GiB {
			t.Errorf("at %.0f s %v, a minute before %v", now, top, before)
		}
		before = top
	}
	if top := highestUsed(t, s, h, 0, gone[0]-2, gone[0], period); top < gib(43.5) {
		t.Errorf("fails at %v", top)
	}
	one := highestUsed(t, s, h, 1, 0, 300, period)
	if later := highestUsed(t, s, h, 1, 3600, 3900, period); later.Less(one) > sampler.GiB {
		t.Errorf("the job beside it grows from %v to %v", one, later)
	}
}

func TestFragmentationFlushesHigherEachTime(t *testing.T) {
	s, h := play(t, "fragmentation")
	h.at(0)
	before := used(t, s, 0)
	var lows []sampler.Bytes
	for now := 0.0; now < 540; now += 0.1 {
		h.at(now)
		u := used(t, s, 0)
		if before > u+sampler.GiB {
			if before < gib(43.5) {
				t.Errorf("at %.1f s flushed at %v", now, before)
			}
			lows = append(lows, u)
		}
		before = u
	}
	if len(lows) < 4 {
		t.Fatalf("%d flushes", len(lows))
	}
	for i := 1; i < len(lows); i++ {
		if lows[i] <= lows[i-1] {
			t.Errorf("flush %d leaves %v, the one before %v", i, lows[i], lows[i-1])
		}
	}
}

func TestNeighbourTakesWhatIsNeeded(t *testing.T) {
	s, h := play(t, "neighbour")
	gone, _ := ends(t, s, h, 1, "ann", 400)
	if len(gone) != 1 {
		t.Fatalf("ann's job ends at %v", gone)
	}
	h.at(gone[0] - 45)
	if _, there := seen(t, s, 1, "bob"); !there {
		t.Fatal("nobody else is there before")
	}
	// It ends in a validation, not between two.
	train := highestUsed(t, s, h, 0, gone[0]-20, gone[0]-10, period)
	if top := highestUsed(t, s, h, 0, gone[0]-2, gone[0], period); top < train+8*sampler.GiB {
		t.Errorf("ends at %v, trains at %v", top, train)
	}
	// It had fitted while the other one was not there.
	need := highestUsed(t, s, h, 1, 0, 90, period)
	h.at(gone[0])
	bob, _ := seen(t, s, 1, "bob")
	if room := s.devices[1].total - s.devices[1].kept - bob.Memory.Or(0); need <= room {
		t.Errorf("%v is needed and %v is left by the other job", need, room)
	}
	if _, alive := seen(t, s, 0, "ann"); alive {
		t.Error("the rank on the free GPU lives on")
	}
}

func TestPreallocIsFullAndFlat(t *testing.T) {
	s, h := play(t, "prealloc")
	least := []float64{0.73, 0.91, 0.95, 0.70}
	for dev := range s.devices {
		h.at(0)
		u := used(t, s, dev)
		if share := float64(u) / float64(s.devices[dev].total); share < least[dev] {
			t.Errorf("GPU %d is filled to %.2f", dev, share)
		}
		for _, now := range moments() {
			h.at(now)
			if v := used(t, s, dev); v != u {
				t.Fatalf("GPU %d goes from %v to %v at %.1f s", dev, u, v, now)
			}
		}
	}
}

func TestOOMFreesTheCard(t *testing.T) {
	s, h := play(t, "oom")
	gone, pids := ends(t, s, h, 0, "dan", 300)
	if len(gone) < 3 || pids[0] == pids[1] || pids[1] == pids[2] {
		t.Fatalf("ends at %v with pids %v", gone, pids)
	}
	if top := highestUsed(t, s, h, 0, gone[0]-2, gone[0], period); s.devices[0].total.Less(top) > sampler.GiB {
		t.Errorf("ends at %v", top)
	}
	h.at(gone[0])
	if u := used(t, s, 0); u > gib(0.5) {
		t.Errorf("afterwards %v are used", u)
	}
	p := []sampler.Process{{PID: pids[0]}}
	h.at(gone[1] - 1)
	s.Host().Identify(p)
	if p[0].User != "dan" || !p[0].StartTime.Known() || p[0].HostMemory.Known() || p[0].CPU.Known() {
		t.Errorf("who has just gone is %+v", p[0])
	}
}

func TestEightAndSixtyfourAreBusy(t *testing.T) {
	for _, c := range []struct {
		name               string
		gpus, least, onGPU int
	}{{"eight", 8, 8, 1}, {"sixtyfour", 64, 1000, 32}} {
		s, _ := play(t, c.name)
		total, most := 0, 0
		for dev := range s.devices {
			ps, _ := s.Processes(dev)
			total, most = total+len(ps), max(most, len(ps))
		}
		if len(s.devices) != c.gpus || total < c.least || most < c.onGPU || most > 32 {
			t.Errorf("%s: %d GPUs, %d processes, at most %d on one", c.name, len(s.devices), total, most)
		}
	}
}
