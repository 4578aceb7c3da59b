package nvml

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

func TestCodes(t *testing.T) {
	forever := []gonvml.Return{2, 3, 4, 13, 22, 24, 25, 26, 30}
	stale := []gonvml.Return{10, 19, 20, 23, 27, 29, 999}
	want := map[error][]gonvml.Return{
		sampler.ErrNotSupported: {2, 3, 13, 22, 24, 25, 26, 30},
		sampler.ErrNoPermission: {4},
		sampler.ErrTransient:    {5, 6, 7, 8, 10, 14, 19, 20, 21, 23, 27, 29, 999, 12345},
		sampler.ErrLost:         {11, 15, 16},
		sampler.ErrReconnect:    {1, 9, 17, 18, 28},
		sampler.ErrNoLibrary:    {12},
	}
	n := 0
	for kind, list := range want {
		for _, ret := range list {
			n++
			r := react(ret)
			wantErr(t, r.name, failure("a call", ret), kind)
			if r.forever != slices.Contains(forever, ret) || r.stale != slices.Contains(stale, ret) {
				t.Errorf("%s: forever %v, stale %v", r.name, r.forever, r.stale)
			}
			if ends := errors.Is(r.err, sampler.ErrLost) || errors.Is(r.err, sampler.ErrReconnect); r.ends() != ends {
				t.Errorf("%s: ends %v", r.name, r.ends())
			}
		}
	}
	if n != 31+1 || len(codes) != 31+1 { // nvml.h has 31 errors; here one it has not, there SUCCESS
		t.Errorf("%d codes tested, %d in the table", n, len(codes))
	}
	wantErr(t, "mismatch", failure("x", gonvml.ERROR_LIB_RM_VERSION_MISMATCH), sampler.ErrMismatch)
}

// entries writes a list as a driver with that stride does, into a poisoned buffer.
func entries(stride, room int, list ...listEntry) []byte {
	raw := bytes.Repeat([]byte{poison}, room*listSlot)
	for i, e := range list {
		b := raw[i*stride : (i+1)*stride]
		clear(b)
		binary.NativeEndian.PutUint32(b, e.pid)
		binary.NativeEndian.PutUint64(b[8:], e.used)
		if stride >= 24 {
			binary.NativeEndian.PutUint64(b[16:], math.MaxUint64) // no MIG instance
		}
	}
	return raw
}

func TestParseList(t *testing.T) {
	list := []listEntry{{1, 10}, {2, math.MaxUint64}, {3, 30}, {4, poison<<56 | poison}}
	for _, stride := range []int{16, 24, 32} {
		for n := range len(list) {
			for _, told := range []int{24, stride} {
				got := parseList(entries(stride, 8, list[:n]...), n, told)
				if !slices.Equal(got, list[:n]) {
					t.Errorf("stride %d, %d entries: %v", stride, n, got)
				}
			}
		}
	}
	// Where the end cannot be told from the filling, the header's stride counts.
	if got := parseList(entries(16, 8, list...), 4, 16); !slices.Equal(got, list) {
		t.Errorf("poisoned end: %v", got)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add(entries(24, 4, listEntry{1, 2}), 1, 24)
	f.Add(entries(16, 4, listEntry{1, 2}, listEntry{3, 4}), 2, 24)
	f.Add([]byte{}, 3, 16)
	f.Fuzz(func(t *testing.T, raw []byte, n, stride int) {
		if n < 0 || n > listMost || stride != 16 && stride != 24 && stride != 32 {
			t.Skip("not an argument that a caller passes")
		}
		if got := parseList(raw, n, stride); len(got) > n || len(got)*16 > len(raw) {
			t.Errorf("%d entries of %d bytes, told %d", len(got), len(raw), n)
		}
	})
}

func TestParseMeminfo(t *testing.T) {
	const good = "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   512 kB\n"
	tests := []struct {
		text        string
		total, used sampler.Bytes
		ok          bool
	}{
		{good, 2 * sampler.MiB, 1536 * sampler.KiB, true},
		{"MemTotal: 100 kB\nMemAvailable: 200 kB\n", 100 * sampler.KiB, 0, true},
		{"XMemTotal: 100 kB\nMemAvailable: 200 kB\n", 0, 0, false},
		{"MemTotal: 100 kB\n", 0, 0, false},
		{"MemTotal: 0 kB\nMemAvailable: 0 kB\n", 0, 0, false},
		{"MemTotal: x kB\nMemAvailable: 5 kB\n", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, test := range tests {
		r, err := parseMeminfo([]byte(test.text))
		if (err == nil) != test.ok || r.Total != test.total || r.Used != test.used || r.Used+r.Free != r.Total {
			t.Errorf("%q: %+v, %v", test.text, r, err)
		}
	}
}

func FuzzParseMeminfo(f *testing.F) {
	f.Add([]byte("MemTotal: 100 kB\nMemAvailable: 99999999999999999999 kB\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseMeminfo(text)
		if err == nil && (r.Total == 0 || r.Used > r.Total || r.Used+r.Free != r.Total) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}

func TestHostMemoryMissing(t *testing.T) {
	h := &hostMemory{path: filepath.Join(t.TempDir(), "absent")}
	_, err := h.read()
	wantErr(t, "no meminfo", err, sampler.ErrNotSupported)
}

// What the driver says goes on as it is: what it means is told apart in one place, by
// the collector (sampler.TestReadingMemory).
func TestReading2(t *testing.T) {
	for _, v := range []gonvml.Memory_v2{
		{Total: 100, Reserved: 10, Used: 60, Free: 30},
		{Total: 100, Reserved: 10, Used: 70, Free: 30}, // used includes reserved
		{Total: math.MaxUint64, Reserved: math.MaxUint64, Used: math.MaxUint64, Free: math.MaxUint64},
	} {
		r := reading2(v)
		if uint64(r.Total) != v.Total || uint64(r.Reserved.Or(0)) != v.Reserved || uint64(r.Used) != v.Used || uint64(r.Free) != v.Free {
			t.Errorf("%+v of %+v", r, v)
		}
	}
}

func TestSMShares(t *testing.T) {
	const second = 1_000_000 // of the driver's clock
	now := time.Unix(1000, 0)
	var s smState
	s.add([]sample{
		{7, 100 * second, 40}, {7, 101 * second, 55}, {7, 99 * second, 90}, // the newest counts
		{8, 50 * second, 80},           // of long ago: the first call returns all
		{9, 101 * second, 180},         // rounded up too far
		{10, math.MaxUint64, 50},       // no time
		{11, 101 * second, 4294967295}, // no percentage
	}, now)
	for pid, want := range map[uint32]int{7: 55, 8: -1, 9: 100, 10: -1, 11: -1, 12: -1} {
		if got := s.percent(pid, now).Or(-1); got != want {
			t.Errorf("pid %d: %d %%, want %d", pid, got, want)
		}
	}
	if s.since != 101*second {
		t.Errorf("next call asks since %d", s.since)
	}
	wantOpt(t, "between samples", s.percent(7, now.Add(2*time.Second)), 55)
	wantUnknown(t, "after a rest", s.percent(7, now.Add(sampleLife+time.Second)))
	s.add(nil, now.Add(sampleLife+time.Second))
	if len(s.shares) != 0 || s.since != 101*second {
		t.Errorf("%d shares are kept, since %d", len(s.shares), s.since)
	}
}

func TestMerge(t *testing.T) {
	const na = math.MaxUint64
	users := merge(nil, []listEntry{{3, 30}, {1, 10}, {2, na}, {0, 5}, {math.MaxUint32, 5}, {4, 2000}}, computes, 1000)
	users = merge(users, []listEntry{{1, 20}, {5, 0}, {2, na}}, draws, 1000)
	users = merge(users, []listEntry{{3, 7}}, sharesMPS, 1000)
	want := []struct {
		word string
		used sampler.Opt[sampler.Bytes]
	}{
		{"compute+graphics", sampler.Some[sampler.Bytes](20)},
		{"compute+graphics", sampler.Opt[sampler.Bytes]{}},
		{"mps", sampler.Some[sampler.Bytes](30)},
		{"compute", sampler.Opt[sampler.Bytes]{}},
		{"graphics", sampler.Some[sampler.Bytes](0)},
	}
	if len(users) != len(want) {
		t.Fatalf("processes %+v", users)
	}
	for i, w := range want {
		if u := users[i]; u.pid != uint32(i+1) || !u.memory.Equal(w.used) || u.use.word() != w.word {
			t.Errorf("process %d: %+v %s", i, u, u.use.word())
		}
	}
}

func TestThrottleWords(t *testing.T) {
	for bits, want := range map[uint64]string{
		0: "", 1: "", 2: "app_clocks", 4: "sw_power_cap", 8: "hw_slowdown", 0x10: "sync_boost", 0x20: "sw_thermal",
		0x40: "hw_thermal", 0x80: "hw_power_brake", 0x100: "display_clocks", 0x45: "sw_power_cap hw_thermal", 1 << 40: "",
	} {
		if got := strings.Join(throttleWords(bits), " "); got != want {
			t.Errorf("%#x: %q, want %q", bits, got, want)
		}
	}
	if throttleWords(0) == nil {
		t.Error("no reason is an answer")
	}
}

func TestProfileOf(t *testing.T) {
	for want, a := range map[string]gonvml.DeviceAttributes{
		"1g.10gb":    {GpuInstanceSliceCount: 1, ComputeInstanceSliceCount: 1, MemorySizeMB: 9984},
		"1c.3g.40gb": {GpuInstanceSliceCount: 3, ComputeInstanceSliceCount: 1, MemorySizeMB: 40448},
		"2g.12gb":    {GpuInstanceSliceCount: 2, MemorySizeMB: 12032},
	} {
		if got := profileOf(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Every row of the metrics must be complete, or it would never be read.
func TestMetricRows(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics {
		if m.name == "" || seen[m.name] || len(m.symbols) == 0 || m.read == nil || m.every < 0 {
			t.Errorf("row %q is incomplete or twice there", m.name)
		}
		seen[m.name] = true
	}
}

func TestSymbols(t *testing.T) {
	there := map[string]bool{"nvmlInit": true, "nvmlDeviceGetMemoryInfo": true, symThrottleReasons: true}
	set := findSymbols(func(name string) error {
		if there[name] {
			return nil
		}
		return errors.New("undefined symbol")
	})
	if !set.has(symInit) || !set.has(symInit, symMemory1) || set.has(symInit, symMemory2) || set.has(required...) {
		t.Errorf("set %v", set)
	}
	if _, asked := set["nvmlDeviceGetTemperature"]; !asked {
		t.Error("functions of the metrics must be looked up")
	}
}

// go-nvml leaves its functions undefined until their first call; a program that binds
// them all at its start does not start.
func TestLinkedLazily(t *testing.T) {
	f, err := elf.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for tag, bit := range map[elf.DynTag]uint64{elf.DT_FLAGS: uint64(elf.DF_BIND_NOW), elf.DT_FLAGS_1: uint64(elf.DF_1_NOW)} {
		values, err := f.DynValue(tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if v&bit != 0 {
				t.Errorf("%v has the flag that binds at the start: link with -extldflags=-Wl,-z,lazy", tag)
			}
		}
	}
}

func TestNoSuchDevice(t *testing.T) {
	s, inside := playText(t, "gpu 0 mig\nmig 0 index=0 gi=3 ci=1\n")
	if !inside {
		return
	}
	mustOpen(t, s)
	for _, dev := range []int{-1, 2, math.MaxInt} {
		_, err := s.Memory(dev)
		wantErr(t, "no such device", err, sampler.ErrReconnect)
	}
	// An event names the instance it concerns, or none.
	gpu := s.conn.devices[0].handle.Device
	for _, test := range []struct {
		gi, ci uint32
		dev    int
	}{{noInstance, noInstance, 0}, {3, noInstance, 1}, {3, 1, 1}, {3, 2, 0}, {4, 1, 0}} {
		e := gonvml.EventData{Device: gpu, EventType: gonvml.EventTypeXidCriticalError, EventData: 31, GpuInstanceId: test.gi, ComputeInstanceId: test.ci}
		if dev, xid, ok := xidOf(e, s.conn.devices, s.conn.symbols); dev != test.dev || xid != 31 || !ok {
			t.Errorf("instance %d/%d: device %d, Xid %d, %v; want device %d", test.gi, test.ci, dev, xid, ok, test.dev)
		}
	}
	if _, _, ok := xidOf(gonvml.EventData{Device: gpu, EventType: gonvml.EventTypePState}, s.conn.devices, s.conn.symbols); ok {
		t.Error("a change of the performance state is no Xid")
	}
}

// BenchmarkMemory is one sweep of the memory of 8 GPUs of a driver that answers at once:
//
//	go test -run=- -bench=Memory ./sampler/nvml
func BenchmarkMemory(b *testing.B) {
	b.Setenv("FAKENVML_SCENARIO", nvmltest.Scenario(b, "gpu 0-7\nmem * used=62GiB\n"))
	s := New(Options{Library: nvmltest.Library(b, nvmltest.Current)})
	inv, err := s.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		for dev := range inv.Devices {
			if _, err := s.Memory(dev); err != nil {
				b.Fatal(err)
			}
		}
	}
}
