package ui

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
)

// afternoon is when all tests play.
var afternoon = time.Date(2026, 11, 20, 14, 3, 22, 0, time.UTC)

// silent is a stream that never brings anything; it notes what it is asked for.
type silent struct {
	resets   int
	interval time.Duration
}

func (s *silent) Next(ctx context.Context) ([]*sampler.Snapshot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (s *silent) Interval() time.Duration     { return cmp.Or(s.interval, time.Second) }
func (s *silent) ResetPeaks()                 { s.resets++ }
func (s *silent) SetInterval(d time.Duration) { s.interval = d }

var (
	playedMu sync.Mutex
	played   = map[string][]*sampler.Snapshot{}
)

// play is what the loop makes of a demo scenario in so long.
func play(t testing.TB, scenario string, d time.Duration) []*sampler.Snapshot {
	t.Helper()
	playedMu.Lock()
	defer playedMu.Unlock()
	key := scenario + d.String()
	if played[key] == nil {
		clock := sampler.NewScriptClock(afternoon.Add(-d))
		src, err := demo.New(scenario, clock)
		if err != nil {
			t.Fatal(err)
		}
		l := sampler.NewLoop(src, sampler.Options{Host: src.Host(), Clock: clock, Asking: src.Asking()})
		if err := l.Connect(context.Background()); err != nil {
			t.Fatal(err)
		}
		l.Simulate(clock, d)
		if played[key], err = l.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return played[key]
}

// model shows snapshots on a screen of that size.
func model(snaps []*sampler.Snapshot, w, h int, o Options) *Model {
	if o.Span == 0 {
		o.Span = usualSpan
	}
	m := New(context.Background(), &silent{}, o)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	if len(snaps) > 0 {
		m.Update(snapshotsArrived{snaps})
	}
	return m
}

var namedKeys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: tea.KeySpace, Text: " "},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace},
	"f1": {Code: tea.KeyF1}, "f2": {Code: tea.KeyF2}, "f6": {Code: tea.KeyF6}, "f9": {Code: tea.KeyF9}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "f10": {Code: tea.KeyF10}, "f12": {Code: tea.KeyF12},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+l": {Code: 'l', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
}

// press presses keys, separated by blanks, and returns what the last one asks for.
func press(m *Model, keys string) (cmd tea.Cmd) {
	for _, k := range strings.Fields(keys) {
		msg, ok := namedKeys[k]
		if !ok {
			r := []rune(k)
			msg = tea.KeyPressMsg{Code: r[0], Text: k}
		}
		_, cmd = m.Update(msg)
	}
	return cmd
}

// text is what the screen shows.
func text(m *Model) string { return strings.Join(m.draw().lines(), "\n") }

// hostile texts are what a name, a user or a command line may hold.
var hostile = []string{
	"", " ", "\x1b]0;owned\x07", "\x1b[2J\x1b[31mred", "\u009b31m", "two\nlines\r\n", "tab\tbed", "\xff\xfe\xed\xa0\x80", "日本語の名前とても長い", "ｗｉｄｅ",
	"👩‍👩‍👧‍👦🇩🇪🚀", "עברית ثم", "abc\u202edef", "e\u0301\u0302\u0303", "\u200b\u200d\ufeff", "\u2028\u2029", "\u115f\u3164", "\ufffd", "\U000e0001\U0010ffff\u05eb",
	strings.Repeat("x", 5000), strings.Repeat("日", 300), strings.Repeat("\xff", 300), "a\x00b\x7fc", "▲┊─█", "％ｓ%s%d%!v(MISSING)",
}

// gpus makes a snapshot of that many GPUs with that many processes each; odd draws from
// hostile texts and absurd amounts.
func gpus(n, procs int, odd bool) *sampler.Snapshot {
	name := func(i int, plain string) string {
		if odd {
			return hostile[i%len(hostile)]
		}
		return plain
	}
	s := &sampler.Snapshot{Type: "snapshot", Time: afternoon, Host: name(3, "box7"), Driver: name(9, "580.159.03"), CUDA: name(2, "13.0"),
		HostMemory: sampler.Some(sampler.HostMemory{Total: 512 * sampler.GiB, Available: 100 * sampler.GiB, SwapUsed: sampler.GiB}),
		Sampling:   sampler.Some(sampler.Sampling{PeriodSeconds: 0.02, AskedSeconds: 0.02, DutyPercent: 0.2})}
	for i := range n {
		used := sampler.Bytes(i*7%80) * sampler.GiB
		g := sampler.GPU{Index: i, UUID: fmt.Sprintf("GPU-%d", i), Name: name(i, "NVIDIA H100 80GB HBM3"), Processes: []sampler.Process{}}
		g.Memory = sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used), Free: sampler.Some(80*sampler.GiB - used),
			Peak:   &sampler.Peak{Bytes: min(used+5*sampler.GiB, 80*sampler.GiB), Time: afternoon.Add(-time.Minute), Source: sampler.PeakSampled},
			Window: &sampler.Window{Min: used, Max: used, MaxTime: afternoon, Readings: 50}, Unattributed: sampler.Some(sampler.GiB)}
		g.Temperature, g.Power, g.PowerLimit, g.Utilization.GPU = sampler.Some(60), sampler.Some(400.0), sampler.Some(700.0), sampler.Some(97)
		for j := range procs {
			p := sampler.Process{PID: 1000 + 100*i + j, User: name(i+j, "ann"), Name: name(i+j+1, "python"), Command: name(i+j+2, "python train.py --batch-size 64"),
				Type: name(j+4, "compute"), Memory: sampler.Some(sampler.Bytes(j+1) * 700 * sampler.MiB), SM: sampler.Some(j), Visible: j%5 != 0,
				StartTime: sampler.Some(afternoon.Add(-time.Duration(j) * time.Hour)), Peak: &sampler.Peak{Bytes: 9 * sampler.GiB, Time: afternoon, Source: sampler.PeakDriver}}
			if odd {
				p.Container, p.Framework = sampler.Some(name(j, "")), sampler.Some(name(j+1, ""))
				p.Environment = map[string]string{name(j+2, ""): name(j+3, "")}
				p.Allocator = &sampler.Allocator{Allocated: math.MaxUint64, Unallocated: math.MaxUint64, InactiveSplit: math.MaxUint64, LargestFree: sampler.Some(sampler.Bytes(math.MaxUint64)),
					LastOOM: &sampler.RefusedTensor{Requested: math.MaxUint64, GPUFree: sampler.Some(sampler.Bytes(math.MaxUint64)), LargestFree: sampler.Some(sampler.Bytes(1)),
						InactiveSplit: sampler.Some(sampler.Bytes(math.MaxUint64)), FreeSegments: sampler.Some(sampler.Bytes(math.MaxUint64))}}
				p.Requests = &sampler.Requests{Largest: math.MaxUint64, LargestRecent: 1, Granted: math.MaxInt, Flushes: math.MinInt, Live: math.MaxUint64, Whole: j%2 == 0,
					Refusal: &sampler.Refusal{Bytes: math.MaxUint64, Smallest: 1, Free: sampler.Some(sampler.Bytes(0)), Function: name(j+1, ""), Tries: math.MaxInt, Outcome: name(j+2, "")}}
				s.Door = &sampler.Door{LetGo: hostile[:j], Lost: math.MaxInt}
			}
			g.Processes = append(g.Processes, p)
		}
		if odd {
			spoil(&g, i)
		}
		s.GPUs = append(s.GPUs, g)
	}
	return s
}

// spoil gives a GPU figures that nobody should have; a recording may hold anything.
func spoil(g *sampler.GPU, i int) {
	switch i % 8 {
	case 0:
		*g = sampler.GPU{Index: g.Index}
	case 1:
		g.Memory.Total = sampler.Some(sampler.Bytes(0))
	case 2:
		g.Memory.Total, g.Memory.Used = sampler.Some(sampler.Bytes(1)), sampler.Some(sampler.Bytes(math.MaxUint64))
		g.Memory.Reserved, g.Memory.Peak.Bytes = sampler.Some(sampler.Bytes(math.MaxUint64)), math.MaxUint64
	case 3:
		g.Error = sampler.Some(hostile[3])
		g.Memory = sampler.Memory{Peak: g.Memory.Peak}
	case 4:
		g.MIG = &sampler.MIG{Index: 3, Profile: hostile[2]}
		g.Metrics = sampler.Metrics{Throttle: hostile[:4], PerformanceState: sampler.Some(hostile[4])}
	case 5:
		g.Temperature, g.Fan, g.Utilization.GPU = sampler.Some(math.MinInt), sampler.Some(math.MaxInt), sampler.Some(math.MaxInt)
		g.Power, g.PowerLimit = sampler.Some(math.Inf(1)), sampler.Some(math.NaN())
		g.Memory.Peak.Time = time.Time{}
	case 6:
		g.Memory.Window = nil
		g.Memory.Peak = nil
		g.Memory.Unattributed = sampler.Some(80 * sampler.GiB)
		g.Processes = append(g.Processes, sampler.Process{PID: 0, Memory: sampler.Some(sampler.GiB)}, sampler.Process{PID: math.MinInt})
	case 7:
		g.Error = sampler.Some("not answering")
		g.LastXID, g.ECCUncorrected = sampler.Some(uint64(math.MaxUint64)), sampler.Some(uint64(math.MaxUint64))
		g.PCIe.RX, g.PCIe.TX = sampler.Some(uint64(math.MaxUint64)), sampler.Some(uint64(math.MaxUint64))
	}
}

// past repeats a snapshot so that it has a history.
func past(s *sampler.Snapshot, n int) []*sampler.Snapshot {
	var list []*sampler.Snapshot
	for i := range n {
		c := *s
		c.Time = s.Time.Add(time.Duration(i+1-n) * time.Second)
		list = append(list, &c)
	}
	return list
}
