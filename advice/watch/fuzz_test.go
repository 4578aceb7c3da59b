package watch

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
)

// script turns bytes into snapshots: whatever a broken driver, clock or recording can say.
type script struct {
	data []byte
	at   time.Time
}

func (s *script) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// amount is mostly some GiB, at times nothing, nonsense or unknown.
func (s *script) amount() sampler.Opt[sampler.Bytes] {
	switch b := s.byte(); b {
	case 0:
		return sampler.Some(sampler.Bytes(0))
	case 1:
		return sampler.Some(sampler.Bytes(1<<64 - 1))
	case 2:
		return sampler.Opt[sampler.Bytes]{}
	case 3:
		return sampler.Some(sampler.MaxPlausible - 1)
	default:
		return sampler.Some(sampler.Bytes(b) * 300 * sampler.MiB)
	}
}

func (s *script) step() time.Duration {
	switch b := s.byte(); {
	case b < 4:
		return -time.Duration(b+1) * 17 * time.Minute
	case b < 8:
		return time.Duration(b) * time.Hour
	case b < 12:
		return 0
	default:
		return time.Duration(b) * 30 * time.Millisecond * time.Duration(1+int(b)%40)
	}
}

func (s *script) snapshot() sampler.Snapshot {
	s.at = s.at.Add(s.step())
	snap := sampler.Snapshot{Type: "snapshot", Time: s.at}
	for range s.byte() % 4 {
		b := s.byte()
		g := sampler.GPU{Index: int(b%8) - 1, UUID: strings.Repeat("G", int(b%3))}
		if b%16 == 3 {
			g.MIG = &sampler.MIG{GPUInstance: int(b / 16)}
		}
		g.Memory = sampler.Memory{Total: s.amount(), Used: s.amount(), Free: s.amount(), Reserved: s.amount(), Unattributed: s.amount()}
		if s.byte()%3 == 0 {
			g.Memory.Window = &sampler.Window{Min: s.amount().Or(0), Max: s.amount().Or(0), Readings: int(s.byte())}
		}
		switch s.byte() {
		case 1:
			g.Error = sampler.Some("GPU is lost\x1b]0;x\a")
		case 2:
			g.Error = sampler.Some("memory: not answering")
		case 3:
			g.LastXID = sampler.Some(uint64(1<<64 - 1))
		}
		for range s.byte() % 5 {
			g.Processes = append(g.Processes, s.process())
		}
		snap.GPUs = append(snap.GPUs, g)
	}
	for range s.byte() % 6 {
		snap.Requests = append(snap.Requests, sampler.Request{Time: s.at.Add(-time.Duration(s.byte()) * 8 * time.Millisecond), PID: int(s.byte() % 6),
			GPU: sampler.Some(int(s.byte()%8) - 1), Function: []string{"cuMemAlloc_v2", "cuMemCreate", ""}[s.byte()%3], Bytes: s.amount().Or(0), Answer: int(s.byte()%2) * 2})
	}
	if s.byte()%2 == 0 {
		snap.HostMemory = sampler.Some(sampler.HostMemory{Total: s.amount().Or(0), Available: s.amount().Or(0), SwapUsed: s.amount().Or(0)})
	}
	return snap
}

func (s *script) process() sampler.Process {
	b := s.byte()
	p := sampler.Process{PID: int(b % 6), Name: "py\x1b[31mthon\xff", User: "ann\n", Command: strings.Repeat("x", int(b%2)), Memory: s.amount()}
	if b%3 == 0 {
		p.StartTime = sampler.Some(advicetest.Epoch.Add(time.Duration(s.byte()) * time.Minute))
	}
	if b%5 == 0 {
		p.Allocator = &sampler.Allocator{Allocated: s.amount().Or(0), Reserved: s.amount().Or(0), Retries: int(s.byte()) - 9, OOMs: int(s.byte()) - 9}
	}
	if b%4 < 2 {
		p.Requests = s.requests()
	}
	return p
}

// requests of a process, whose counters may fall and whose times may be of any day.
func (s *script) requests() *sampler.Requests {
	r := &sampler.Requests{Largest: s.amount().Or(0), LargestRecent: s.amount().Or(0), Live: s.amount().Or(0), Peak: s.amount().Or(0),
		Granted: int(s.byte()) - 9, Refused: int(s.byte()) - 9, Flushes: int(s.byte()%8) - 2}
	if b := s.byte(); b%2 == 0 {
		outcome := []string{sampler.RefusalOpen, sampler.RefusalOpen, sampler.RefusalFlush, sampler.RefusalGranted, sampler.RefusalSmaller, "?"}[b%6]
		r.Refusal = &sampler.Refusal{Time: s.at.Add(s.step() - 2*time.Second), Bytes: s.amount().Or(0), Smallest: s.amount().Or(0), Free: s.amount(),
			Function: "cu\x1b[31mMemAlloc", Tries: int(s.byte()%5) - 1, Freed: s.amount().Or(0), Outcome: outcome}
	}
	return r
}

// playScript feeds a watch and checks what must hold whatever comes.
func playScript(t *testing.T, data []byte) {
	t.Helper()
	s := &script{data: data, at: advicetest.Epoch}
	w := New(Options{})
	times := map[time.Time]bool{}
	var last time.Time
	forward := 0.0
	note := func(at time.Time) {
		if !last.IsZero() && at.After(last) {
			forward += at.Sub(last).Seconds()
		}
		last = at
		times[at] = true
	}
	for n := 0; len(s.data) > 0 && n < 3000; n++ {
		switch s.byte() {
		case 1:
			w.SetNeed(s.amount())
		case 2:
			at := s.at.Add(time.Duration(s.byte()) * time.Millisecond)
			if w.clock.Started && at.After(last) {
				note(at)
			}
			times[at] = true
			w.Event(sampler.OOMEvent{MemoryKind: "gpu", Requested: s.amount(), GPUFree: s.amount(), GPUIndex: sampler.Some(int(s.byte()) - 2), PID: sampler.Some(int(s.byte()))}, at)
		default:
			snap := s.snapshot()
			note(snap.Time)
			checkOpen(t, w.Add(snap))
			for _, g := range snap.GPUs {
				w.Fit(g.Key())
			}
			for _, d := range w.Deaths() {
				if _, err := json.Marshal(d.Event); err != nil || d.PID != d.Event.PID.Or(-1) {
					t.Fatalf("%v: %+v", err, d)
				}
			}
		}
	}
	before := 0.0
	for _, a := range w.Past() {
		if a.T < before || a.T > forward+1e-6 || !times[a.Time] {
			t.Fatalf("alert at %v after one at %v, data end at %v: %+v", a.T, before, forward, a)
		}
		if end, over := a.End.Value(); over && end < a.T {
			t.Fatalf("ends before it begins: %+v", a)
		}
		before = a.T
	}
}

func checkOpen(t *testing.T, alerts []sampler.Alert) {
	t.Helper()
	for i, a := range alerts {
		if urgency(a.Level) < 0 || a.Text == "" || a.End.Known() {
			t.Fatalf("%+v", a)
		}
		if i > 0 && urgency(a.Level) > urgency(alerts[i-1].Level) {
			t.Fatalf("not the most urgent first")
		}
		if sampler.Clean(a.Text) != a.Text || sampler.Clean(strings.Join(a.Evidence, " ")) != strings.Join(a.Evidence, " ") {
			t.Fatalf("raw text from outside: %q %q", a.Text, a.Evidence)
		}
		if _, err := json.Marshal(a); err != nil {
			t.Fatalf("%v: %+v", err, a)
		}
	}
}

func FuzzWatch(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(playScript)
}

// TestAnySnapshots is the fuzz target on a fixed seed, long enough for alerts to show.
func TestAnySnapshots(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		data := make([]byte, 30000)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		playScript(t, data)
	}
}
