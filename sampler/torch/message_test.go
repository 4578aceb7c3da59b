package torch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const good = `"v":1,"device":0,"next_ms":1000,"allocated":100,"reserved":300,"split":50,"largest":40,"retries":2,"ooms":1,"peak_allocated":250,"peak_reserved":350`

// A figure that cannot be is absent; without what is allocated and reserved there is nothing.
func TestFigures(t *testing.T) {
	base := sampler.Allocator{Allocated: 100, Reserved: 300, Unallocated: 200, InactiveSplit: 50, LargestFree: sampler.Some(sampler.Bytes(40)),
		Retries: 2, OOMs: 1, PeakAllocated: 250, PeakReserved: 350}
	without := func(change func(*sampler.Allocator)) *sampler.Allocator {
		a := base
		change(&a)
		return &a
	}
	for more, want := range map[string]*sampler.Allocator{
		``:                                  &base,
		`,"new":[1,{"x":2}]`:                &base,
		`,"allocated":301`:                  nil,
		`,"allocated":-1`:                   nil,
		`,"reserved":1e3`:                   nil,
		`,"reserved":1152921504606846976`:   nil, // 2^60
		`,"reserved":18446744073709551616`:  nil,
		`,"reserved":"300"`:                 nil,
		`,"reserved":null`:                  nil,
		`,"split":201`:                      without(func(a *sampler.Allocator) { a.InactiveSplit = 0 }),
		`,"largest":201`:                    without(func(a *sampler.Allocator) { a.LargestFree = sampler.Opt[sampler.Bytes]{} }),
		`,"retries":-3`:                     without(func(a *sampler.Allocator) { a.Retries = 0 }),
		`,"ooms":9007199254740993`:          without(func(a *sampler.Allocator) { a.OOMs = 0 }),
		`,"peak_reserved":1`:                without(func(a *sampler.Allocator) { a.PeakReserved = 300 }),
		`,"peak_allocated":[]`:              without(func(a *sampler.Allocator) { a.PeakAllocated = 100 }),
		`,"allocated":0,"reserved":0`:       {PeakAllocated: 250, PeakReserved: 350, Retries: 2, OOMs: 1},
		`,"peak_allocated":0,"largest":200`: without(func(a *sampler.Allocator) { a.PeakAllocated, a.LargestFree = 100, sampler.Some(sampler.Bytes(200)) }),
	} {
		m, err := parse([]byte("{" + strings.ReplaceAll(good, " ", "") + more + "}"))
		if err != nil {
			t.Errorf("%s: %v", more, err)
			continue
		}
		got := m.allocator()
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: got %+v, want %+v", more, got, want)
		}
	}
}

// What is no line of a reporter is none.
func TestNoMessage(t *testing.T) {
	for _, line := range []string{``, `{`, `[]`, `null`, `5`, `{"v":2,"device":0}`, `{"v":1}`, `{"v":1,"device":64}`, `{"v":1,"device":-1}`, `{"v":"1","device":0}`,
		`{"v":1,"device":0,"uuid":5}`, `{"v":1,"device":0,"uuid":"` + strings.Repeat("x", 2000) + `"}`, `{"v":1,"device":0,"visible":"` + strings.Repeat("0,", 2000) + `"}`, `{"v":1,"device":0}}`} {
		if _, err := parse([]byte(line)); err == nil {
			t.Errorf("%.60q is taken", line)
		}
	}
}

// The blocks of a failure are told only if they agree with each other.
func TestRefusedFigures(t *testing.T) {
	for line, want := range map[string]string{
		`"n":1,"size":500,"ago_ms":1500,"free":9,"allocated":100,"reserved":300,"largest":80,"split":120,"whole":80`: "500 at -1.5s free 9 of 100/300: 80 120 80",
		`"n":1,"size":500,"largest":80,"split":120,"whole":80`:                                                       "500 at 0s free -: 80 120 80",
		`"n":1,"size":500,"allocated":100,"reserved":300,"largest":80,"split":150,"whole":80`:                        "500 at 0s free - of 100/300",
		`"n":1,"size":500,"largest":300,"split":120,"whole":80`:                                                      "500 at 0s free -",
		`"n":1,"size":500,"largest":80,"split":120`:                                                                  "500 at 0s free -",
		`"n":1,"size":500,"allocated":400,"reserved":300`:                                                            "500 at 0s free -",
		`"n":0,"size":500`:                   "none",
		`"n":1,"size":-1`:                    "none",
		`"n":1,"size":5,"ago_ms":9000000000`: "5 at -1h0m0s free -",
	} {
		m, err := parse([]byte(`{"v":1,"device":0,"oom":{` + line + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if r := m.OOM.refused(noon); r != nil {
			got = fmt.Sprintf("%d at %v free %s", r.Requested, r.Time.Sub(noon), digits(r.GPUFree))
			if r.Reserved.Known() {
				got += " of " + digits(r.Allocated) + "/" + digits(r.Reserved)
			}
			if r.LargestFree.Known() {
				got += ": " + digits(r.LargestFree) + " " + digits(r.InactiveSplit) + " " + digits(r.FreeSegments)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func digits(o sampler.Opt[sampler.Bytes]) string {
	if v, ok := o.Value(); ok {
		return fmt.Sprint(uint64(v))
	}
	return "-"
}

// Whatever comes, what is told of it can be.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("{" + good + `,"uuid":"00000000-1111-2222-3333-000000000000","pci":"00000000:01:00.0","visible":"0,1","oom":{"n":1,"size":500,"ago_ms":10,"free":5,"largest":80,"split":120,"whole":80}}`))
	f.Add([]byte(`{"v":1,"device":0,"allocated":18446744073709551615,"oom":{"n":1,"size":1e999}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r := newReceiver(Options{Host: people{7: {}}, Clock: &clock{noon}})
		r.take(7, line)
		r.take(7, line)
		snap := snapshotOf(2, noon.Add(time.Second))
		r.Apply(snap)
		for _, g := range snap.GPUs {
			for _, p := range g.Processes {
				a := p.Allocator
				if a == nil || a.Reserved > 80*gib || a.PeakReserved > 80*gib || a.Allocated+a.Unallocated != a.Reserved || a.InactiveSplit > a.Unallocated ||
					a.LargestFree.Or(0) > a.Unallocated || a.PeakAllocated > a.PeakReserved || a.Retries < 0 || a.OOMs < 0 {
					t.Errorf("%s: %+v", line, a)
				}
				if o := a.LastOOM; o != nil && (o.Requested >= sampler.MaxPlausible || o.GPUFree.Or(0) > 80*gib || o.LargestFree.Or(0) > o.InactiveSplit.Or(0)+o.FreeSegments.Or(0) || o.Time.After(noon)) {
					t.Errorf("%s: %+v", line, o)
				}
			}
		}
	})
}

// Whatever is told of lines, what becomes of it can be, and can be explained.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"oom":1,"reserved":900,"allocated":800,"floor":100,"drift":0,"usual":50,"taken":9,"by_steps":true,"steps":[1,2,3,4,5,6,7,8,9],` +
		`"list":[{"f":"/a.py","l":3,"n":"f","k":3,"v":"a.py:1 val","b":500,"c":2,"p":7,"r":9,"s":[1,2,3,4,5,6,7,8,9]}],"site":{"f":"/b.py","l":4},"stack":[{"f":"/b.py"}]}`))
	f.Add([]byte(`{"oom":1,"allocated":1152921504606846975,"taken":1152921504606846975,"by_steps":true,"steps":[0,1,2,3,4,5,6,1152921504606846975],` +
		`"list":[{"f":"\u001b","l":-1,"b":1152921504606846975,"c":1e9,"s":[0,1,2,3,4,5,6,1152921504606846975]},{},null]}`))
	f.Fuzz(func(t *testing.T, lines []byte) {
		r := newReceiver(Options{Host: people{7: {}}, Clock: &clock{noon}})
		r.name = "me"
		r.take(7, []byte(`{`+good+`,"run":"me","oom":{"n":1,"size":500}}`))
		r.take(7, []byte(`{"v":1,"device":0,"lines":`+string(lines)+`}`))
		d := r.Held(&sampler.OOMEvent{Framework: "pytorch", MemoryKind: sampler.MemoryGPU, Requested: sampler.Some(sampler.Bytes(500))})
		if d == nil {
			return
		}
		if d.Allocated > d.Reserved || d.Reserved >= sampler.MaxPlausible || len(d.Trace.Lines) > maxListed || d.Trace.Steps < 0 {
			t.Errorf("%s: %+v", lines, d)
		}
		for _, l := range d.Trace.Lines {
			if l.Live > d.Allocated || l.Rise > l.Live || l.Grown > d.Reserved || l.Steps < 0 || l.Line < 0 || l.Blocks < 0 || l.File != sampler.Clean(l.File) {
				t.Errorf("%s: %+v", lines, l)
			}
		}
	})
}
