package sampler

import (
	"math"
	"testing"
)

const unknown = Bytes(math.MaxUint64) // as drivers write it

func TestReadingMemory(t *testing.T) {
	none := Opt[Bytes]{}
	for _, row := range []struct {
		name                        string
		r                           Reading
		total, reserved, used, free Opt[Bytes]
	}{
		{"version 2", Reading{80 * GiB, 9 * GiB, 70 * GiB, Some(GiB)}, Some(80 * GiB), Some(GiB), Some(9 * GiB), Some(70 * GiB)},
		{"version 1", Reading{80 * GiB, 10 * GiB, 70 * GiB, none}, Some(80 * GiB), none, Some(10 * GiB), Some(70 * GiB)},
		{"used includes reserved", Reading{80 * GiB, 10 * GiB, 70 * GiB, Some(GiB)}, Some(80 * GiB), Some(GiB), Some(9 * GiB), Some(70 * GiB)},
		{"idle, used includes reserved", Reading{80 * GiB, GiB, 79 * GiB, Some(GiB)}, Some(80 * GiB), Some(GiB), Some(Bytes(0)), Some(79 * GiB)},
		{"used includes reserved, in single bytes", Reading{100, 70, 30, Some(Bytes(10))}, Some(Bytes(100)), Some(Bytes(10)), Some(Bytes(60)), Some(Bytes(30))},
		{"nothing reserved", Reading{80 * GiB, 9 * GiB, 71 * GiB, Some(Bytes(0))}, Some(80 * GiB), Some(Bytes(0)), Some(9 * GiB), Some(71 * GiB)},
		{"full", Reading{80 * GiB, 79 * GiB, 0, Some(GiB)}, Some(80 * GiB), Some(GiB), Some(79 * GiB), Some(Bytes(0))},
		{"used unknown", Reading{80 * GiB, unknown, 70 * GiB, Some(GiB)}, Some(80 * GiB), none, none, none},
		{"total unknown", Reading{unknown, 9 * GiB, 70 * GiB, none}, none, none, none, none},
		{"total 0", Reading{0, 9 * GiB, 70 * GiB, Some(GiB)}, none, none, none, none},
		{"all unknown", Reading{unknown, unknown, unknown, Some(unknown)}, none, none, none, none},
		{"reserved unknown", Reading{80 * GiB, 10 * GiB, 70 * GiB, Some(unknown)}, Some(80 * GiB), none, Some(10 * GiB), Some(70 * GiB)},
		{"free unknown", Reading{80 * GiB, 9 * GiB, unknown, Some(GiB)}, Some(80 * GiB), Some(GiB), Some(9 * GiB), Some(70 * GiB)},
		{"more used than total", Reading{80 * GiB, 90 * GiB, 0, none}, Some(80 * GiB), none, Some(80 * GiB), Some(Bytes(0))},
		{"more used than total, version 2", Reading{80 * GiB, 90 * GiB, 70 * GiB, Some(GiB)}, Some(80 * GiB), Some(Bytes(0)), Some(80 * GiB), Some(Bytes(0))},
		{"more reserved than total", Reading{80 * GiB, 9 * GiB, 70 * GiB, Some(90 * GiB)}, Some(80 * GiB), none, Some(9 * GiB), Some(71 * GiB)},
		{"used and reserved over total", Reading{80 * GiB, 60 * GiB, 0, Some(30 * GiB)}, Some(80 * GiB), Some(20 * GiB), Some(60 * GiB), Some(Bytes(0))},
		{"sums do not add up", Reading{80 * GiB, 9 * GiB, 10 * GiB, none}, Some(80 * GiB), none, Some(9 * GiB), Some(71 * GiB)},
	} {
		got := row.r.memory(false)
		if got.Total != row.total || got.Reserved != row.reserved || got.Used != row.used || got.Free != row.free {
			t.Errorf("%s: total %v, reserved %v, used %v, free %v", row.name, got.Total, got.Reserved, got.Used, got.Free)
		}
	}
	if !(Reading{}).memory(true).SharedWithHost || (Reading{}).memory(false).SharedWithHost {
		t.Error("whether memory is shared with the host is lost")
	}
}

// FuzzReadingMemory: whatever a driver says, what is shown adds up.
func FuzzReadingMemory(f *testing.F) {
	for _, v := range []uint64{0, 1, 1 << 36, 1 << 59, 1<<60 - 1, 1 << 60, 1 << 63, math.MaxUint64} {
		f.Add(v, uint64(1<<36), uint64(1<<35), uint64(1<<30), true)
		f.Add(uint64(1<<36), v, uint64(1<<35), uint64(1<<30), true)
		f.Add(uint64(1<<36), uint64(1<<35), v, uint64(1<<30), true)
		f.Add(uint64(1<<36), uint64(1<<35), uint64(1<<35), v, true)
		f.Add(v, v, v, v, true)
		f.Add(v, v, v, v, false)
	}
	f.Fuzz(func(t *testing.T, total, used, free, reserved uint64, two bool) {
		r := Reading{Total: Bytes(total), Used: Bytes(used), Free: Bytes(free)}
		if two {
			r.Reserved = Some(Bytes(reserved))
		}
		m := r.memory(false)
		tot, ok := m.Total.Value()
		if ok != (total > 0 && total < uint64(MaxPlausible)) {
			t.Fatalf("%+v: total %v", r, m.Total)
		}
		if m.Used.Known() != (ok && used < uint64(MaxPlausible)) || m.Used.Known() != m.Free.Known() || m.Reserved.Known() && !m.Used.Known() {
			t.Fatalf("%+v: what is known of %+v does not fit", r, m)
		}
		if !m.Used.Known() {
			return
		}
		if sum := m.Used.Or(0) + m.Reserved.Or(0) + m.Free.Or(0); sum != tot || m.Used.Or(0) > Bytes(used) {
			t.Fatalf("%+v: used %v + reserved %v + free %v is not %v", r, m.Used, m.Reserved, m.Free, tot)
		}
	})
}
