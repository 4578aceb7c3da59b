package demo

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// hand is a clock that a test turns.
type hand struct{ t time.Time }

func (h *hand) Now() time.Time { return h.t }

func (h *hand) at(s float64) { h.t = morning.Add(time.Duration(s * float64(time.Second))) }

var morning = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func play(t testing.TB, name string) (*Source, *hand) {
	t.Helper()
	h := &hand{morning}
	s, err := New(name, h)
	if err != nil {
		t.Fatal(err)
	}
	return s, h
}

// used is the memory of one device, its sums checked.
func used(t testing.TB, s *Source, dev int) sampler.Bytes {
	t.Helper()
	r, err := s.Memory(dev)
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := r.Reserved.Value()
	if !ok || r.Used+kept+r.Free != r.Total || r.Free > r.Total {
		t.Fatalf("GPU %d at %v: used %d + reserved %d + free %d is not total %d", dev, s.clock.Now(), r.Used, kept, r.Free, r.Total)
	}
	return r.Used
}

// moments are places all over a story: its first minutes closely, then hours later.
func moments() []float64 {
	var ts []float64
	for t := 0.0; t < 700; t += 3.37 {
		ts = append(ts, t)
	}
	for t := 3600.0; t < 90000; t += 1234.5 {
		ts = append(ts, t)
	}
	return append(ts, 40*24*3600, 3*365*24*3600)
}

func TestScenarios(t *testing.T) {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
		if s.Title == "" {
			t.Errorf("%s has no title", s.Name)
		}
	}
	if names[0] != Default {
		t.Errorf("the first scenario is %s, not the default", names[0])
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(names))); len(sorted) != len(names) {
		t.Errorf("a name occurs twice: %v", names)
	}
	_, err := New("no\x1bsuch", &hand{})
	if err == nil {
		t.Fatal("an unknown name is accepted")
	}
	for _, n := range names {
		if !strings.Contains(err.Error(), n) {
			t.Errorf("%q does not name %s", err, n)
		}
	}
	if strings.ContainsRune(err.Error(), '\x1b') {
		t.Errorf("%q shows the name raw", err)
	}
}

// each plays every scenario at every moment.
func each(t *testing.T, f func(t *testing.T, s *Source, now float64)) {
	for _, sc := range Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			s, h := play(t, sc.Name)
			for _, now := range moments() {
				h.at(now)
				f(t, s, now)
			}
		})
	}
}

func TestSums(t *testing.T) {
	each(t, func(t *testing.T, s *Source, now float64) {
		for dev := range s.devices {
			ps, err := s.Processes(dev)
			if err != nil {
				t.Fatal(err)
			}
			sum := s.devices[dev].hidden
			for _, p := range ps {
				m, ok := p.Memory.Value()
				if !ok || m == 0 || m%(2*sampler.MiB) != 0 {
					t.Fatalf("at %.1f s process %d of GPU %d holds %v", now, p.PID, dev, p.Memory)
				}
				sum += m
			}
			if u := used(t, s, dev); u != sum {
				t.Fatalf("at %.1f s GPU %d uses %d, its processes and what is hidden %d", now, dev, u, sum)
			}
		}
	})
}

func TestMetricsArePlausible(t *testing.T) {
	inRange := func(o sampler.Opt[int], low, high int) bool {
		v, ok := o.Value()
		return ok && v >= low && v <= high
	}
	each(t, func(t *testing.T, s *Source, now float64) {
		for dev := range s.devices {
			m, err := s.Metrics(dev)
			if err != nil {
				t.Fatal(err)
			}
			mo := s.devices[dev].model
			w := m.Power.Or(-1)
			if !inRange(m.Utilization.GPU, 0, 100) || !inRange(m.Utilization.Memory, 0, 100) ||
				!inRange(m.Temperature, 25, 90) || w < 10 || w > mo.limitWatts ||
				!inRange(m.Clocks.SM, mo.smMHz[0], mo.smMHz[1]) || m.Fan.Known() != mo.fan || m.Fan.Or(0) > 100 {
				t.Fatalf("at %.1f s GPU %d: %+v", now, dev, m)
			}
			rx, tx, err := s.Throughput(dev)
			if err != nil || rx.Or(1<<40) > 64e9 || tx.Or(1<<40) > 64e9 {
				t.Fatalf("at %.1f s GPU %d: PCIe %v %v %v", now, dev, rx, tx, err)
			}
		}
		h, ok := s.Host().Memory().Value()
		if !ok || h.Available == 0 || h.Available >= h.Total {
			t.Fatalf("at %.1f s host memory %+v", now, h)
		}
	})
}

func TestProcessesAreIdentified(t *testing.T) {
	each(t, func(t *testing.T, s *Source, now float64) {
		owner := map[int]int{}
		for dev := range s.devices {
			ps, _ := s.Processes(dev)
			s.Host().Identify(ps)
			for _, p := range ps {
				if other, ok := owner[p.PID]; ok {
					t.Fatalf("at %.1f s pid %d is on GPU %d and on GPU %d", now, p.PID, other, dev)
				}
				owner[p.PID] = dev
				start, ok := p.StartTime.Value()
				if !ok || start.After(s.clock.Now()) || p.User == "" || p.Name == "" || p.Command == "" || !p.Visible ||
					strings.ContainsAny(p.Command, "{}") || p.HostMemory.Or(0) == 0 || p.PID <= 0 || p.PID >= 1<<22 {
					t.Fatalf("at %.1f s GPU %d: %+v", now, dev, p)
				}
			}
		}
	})
	s, _ := play(t, Default)
	foreign := []sampler.Process{{PID: 1}}
	s.Host().Identify(foreign)
	if !reflect.DeepEqual(foreign, []sampler.Process{{PID: 1}}) {
		t.Errorf("a foreign process became %+v", foreign[0])
	}
}

// TestSameClockSameFigures asks one source often and in order and another seldom and
// backwards: a source that remembers anything differs.
func TestSameClockSameFigures(t *testing.T) {
	type all struct {
		r  sampler.Reading
		m  sampler.Metrics
		ps []sampler.Process
		h  sampler.Opt[sampler.HostMemory]
	}
	ask := func(s *Source, dev int) (a all) {
		a.r, _ = s.Memory(dev)
		a.m, _ = s.Metrics(dev)
		a.ps, _ = s.Processes(dev)
		s.Host().Identify(a.ps)
		a.h = s.Host().Memory()
		return a
	}
	for _, sc := range Scenarios() {
		one, h1 := play(t, sc.Name)
		two, h2 := play(t, sc.Name)
		var first []all
		for now := 0.0; now < 120; now += 0.5 {
			h1.at(now)
			first = append(first, ask(one, int(now*2)%len(one.devices)))
		}
		for i := len(first) - 1; i >= 0; i -= 7 {
			h2.at(float64(i) / 2)
			if got := ask(two, i%len(two.devices)); !reflect.DeepEqual(got, first[i]) {
				t.Fatalf("%s at %.1f s: %+v, before %+v", sc.Name, float64(i)/2, got, first[i])
			}
		}
	}
}

func TestOpen(t *testing.T) {
	each := func(name string, inv sampler.Inventory) {
		ids := map[string]bool{}
		for i, d := range inv.Devices {
			if d.Index != i || d.Name == "" || len(d.UUID) != 40 || ids[d.UUID] || ids[d.PCI] {
				t.Errorf("%s: device %d is %+v", name, i, d)
			}
			ids[d.UUID], ids[d.PCI] = true, true
		}
	}
	for _, sc := range Scenarios() {
		s, _ := play(t, sc.Name)
		inv, err := s.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		each(sc.Name, inv)
		s.Close()
		if again, _ := s.Open(context.Background()); !reflect.DeepEqual(again, inv) {
			t.Errorf("%s: opened again it is %+v", sc.Name, again)
		}
	}
	s, _ := play(t, Default)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Open(done); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a cancelled context: %v", err)
	}
	if _, _, err := s.WaitXID(time.Hour); !errors.Is(err, sampler.ErrNotSupported) {
		t.Errorf("WaitXID: %v", err)
	}
	for _, dev := range []int{-1, 4} {
		_, err := s.Memory(dev)
		if !errors.Is(err, sampler.ErrLost) {
			t.Errorf("Memory(%d): %v", dev, err)
		}
	}
}

func TestMemoryDoesNotAllocate(t *testing.T) {
	for _, sc := range Scenarios() {
		s, h := play(t, sc.Name)
		now := 0.0
		if n := testing.AllocsPerRun(200, func() {
			now += 0.02
			h.at(now)
			_, _ = s.Memory(int(now*50) % len(s.devices))
		}); n != 0 {
			t.Errorf("%s: a reading allocates %v times", sc.Name, n)
		}
	}
}

// BenchmarkMemory takes the GPU with the most processes of each scenario.
func BenchmarkMemory(b *testing.B) {
	for _, sc := range Scenarios() {
		b.Run(sc.Name, func(b *testing.B) {
			s, h := play(b, sc.Name)
			dev := 0
			for i := range s.devices {
				if len(s.devices[i].moving) > len(s.devices[dev].moving) {
					dev = i
				}
			}
			for b.Loop() {
				h.t = h.t.Add(20 * time.Millisecond)
				_, _ = s.Memory(dev)
			}
		})
	}
}
