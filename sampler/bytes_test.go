package sampler

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestParseBytes(t *testing.T) {
	for _, row := range []struct {
		text string
		want Bytes
	}{
		{"300MiB", 300 * MiB},
		{"20.00 MiB", 20 * MiB},
		{"15.82GiB", 16986595656}, // 15.82 * 2^30 = 16986595655.68
		{"15.82 GiB", 16986595656},
		{" 16G ", 16 * GiB},
		{"16g", 16 * GiB},
		{"16GB", 16 * GiB},
		{"1.5t", TiB + TiB/2},
		{"2TB", 2 * TiB},
		{"4K", 4 * KiB},
		{"512B", 512},
		{"512", 512},
		{"20971520", 20 * MiB},
		{".5K", 512},
		{"0", 0},
		{"1.5P", 1536 * TiB},
		{"300 bytes", 300},
		{"0.5", 1}, // half up
		{"0.4", 0},
	} {
		if got, err := ParseBytes(row.text); err != nil || got != row.want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", row.text, got, err, row.want)
		}
	}
	for _, bad := range []string{"", " ", ".", "G", "MiB", "-1", "-1G", "+1", "1e9", "1,5G", "1.2.3", "0x10", "1Q", "1 GiB free",
		"NaN", "Inf", "99999999P", "1E", "1048576T", "2000000T", strings.Repeat("9", 400), "1\x1b[31m", "１６G", "16G\x00"} {
		if got, err := ParseBytes(bad); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", bad, got)
		} else if !strings.Contains(err.Error(), SizeForms) || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("ParseBytes(%q): the error is %q", bad, err)
		}
	}
}

func TestBytesText(t *testing.T) {
	for _, row := range []struct {
		b             Bytes
		string, short string
	}{
		{0, "0 B", "0B"},
		{512, "512 B", "512B"},
		{999, "999 B", "999B"},
		{1000, "1000 B", "1K"},
		{1023, "1023 B", "1K"},
		{KiB, "1.0 KiB", "1K"},
		{1023*KiB + 1000, "1.0 MiB", "1M"}, // never "1024.0 KiB"
		{MiB - MiB/2048, "1.0 MiB", "1M"},
		{MiB - MiB/2048 - 1, "1023 KiB", "1M"},
		{GiB - GiB/2048, "1.0 GiB", "1.0G"},
		{GiB - GiB/2048 - 1, "1023 MiB", "1.0G"},
		{TiB - TiB/2048, "1.0 TiB", "1.0T"},
		{TiB - TiB/2048 - 1, "1023 GiB", "1.0T"},
		{1999 * KiB / 2, "999.5 KiB", "1M"},
		{20 * MiB, "20.0 MiB", "20M"},
		{1010 * MiB, "1010 MiB", "1.0G"},
		{1000*MiB - 1, "1000 MiB", "1.0G"},
		{999*MiB + 900*KiB, "999.9 MiB", "1.0G"},
		{GiB - 1, "1.0 GiB", "1.0G"},
		{GiB, "1.0 GiB", "1.0G"},
		{16986595656, "15.8 GiB", "15.8G"},
		{141 * GiB, "141.0 GiB", "141G"},
		{99*GiB + 900*MiB, "99.9 GiB", "99.9G"},
		{99*GiB + 1000*MiB, "100.0 GiB", "100G"},
		{TiB - 1, "1.0 TiB", "1.0T"}, // never "1024.0 GiB"
		{TiB, "1.0 TiB", "1.0T"},
		{1500 * TiB, "1500 TiB", "1.5P"},
	} {
		if got := row.b.String(); got != row.string {
			t.Errorf("Bytes(%d).String() = %q, want %q", uint64(row.b), got, row.string)
		}
		if got := row.b.Short(); got != row.short {
			t.Errorf("Bytes(%d).Short() = %q, want %q", uint64(row.b), got, row.short)
		}
	}
}

func TestLess(t *testing.T) {
	if got := (5 * GiB).Less(2 * GiB); got != 3*GiB {
		t.Errorf("5 GiB less 2 GiB is %v", got)
	}
	if got := (2 * GiB).Less(5 * GiB); got != 0 {
		t.Errorf("2 GiB less 5 GiB is %v", got)
	}
}

// shortValue reads what Short wrote, in bytes.
func shortValue(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s[:len(s)-1], 64)
	u := strings.IndexByte("BKMGTPE", s[len(s)-1])
	if err != nil || u < 0 {
		t.Fatalf("Short wrote %q", s)
	}
	return f * math.Pow(1024, float64(u))
}

// checkText holds for every amount: it fits its column, and reads back as nearly the same.
func checkText(t *testing.T, b Bytes) {
	t.Helper()
	short := b.Short()
	if len(short) > 5 {
		t.Errorf("Short of %d is %q: more than five columns", uint64(b), short)
	}
	if got, want := shortValue(t, short), float64(b); math.Abs(got-want) > 0.5+0.34*want { // 1.49 MiB is "1M"
		t.Errorf("Short of %d is %q", uint64(b), short)
	}
	long := b.String()
	if strings.HasPrefix(long, "1024") && b < TiB || len(long) > 9 && b < 1000*TiB {
		t.Errorf("String of %d is %q", uint64(b), long)
	}
	if b >= MaxPlausible/2 {
		return
	}
	if got, err := ParseBytes(long); err != nil || math.Abs(float64(got)-float64(b)) > 0.051*float64(b) {
		t.Errorf("%d is written %q, which reads %d, %v", uint64(b), long, got, err)
	}
}

// TestShortNeverFalls walks through all magnitudes: a larger amount never looks smaller.
func TestShortNeverFalls(t *testing.T) {
	last := -1.0
	for f := 1.0; f < math.MaxUint64; f *= 1.0007 {
		b := Bytes(f)
		checkText(t, b)
		if v := shortValue(t, b.Short()); v < last {
			t.Fatalf("Short of %d is %q, smaller than before", uint64(b), b.Short())
		} else {
			last = v
		}
		if t.Failed() {
			return
		}
	}
	checkText(t, math.MaxUint64)
}

func FuzzBytes(f *testing.F) {
	for _, b := range []uint64{0, 999, 1023, 1 << 20, 1<<30 - 1, 1 << 40, 1 << 60, math.MaxUint64} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b uint64) { checkText(t, Bytes(b)) })
}

func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"300MiB", "15.82 GiB", "", "1e9", "\xff", "9999999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBytes(s)
		switch {
		case err != nil && b != 0:
			t.Errorf("ParseBytes(%q) = %d and %v", s, b, err)
		case err == nil && b > MaxPlausible:
			t.Errorf("ParseBytes(%q) = %d, more than any real amount", s, b)
		}
	})
}

// A need without its unit is no need.
func TestParseNeed(t *testing.T) {
	for text, want := range map[string]Bytes{"38GiB": 38 * GiB, "1048576": MiB, "0": 0, "1MiB": MiB} {
		if got, err := ParseNeed(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"38", "1048575", "512K", "nonsense"} {
		if got, err := ParseNeed(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Few digits never show more than there is.
func TestFew(t *testing.T) {
	for b, want := range map[Bytes]string{21*GiB + 99*MiB: "21.0 GiB", 21*GiB + 110*MiB: "21.1 GiB", GiB: "1.0 GiB", GiB - 1: "1023 MiB", 464*MiB + MiB/2: "464 MiB", MiB: "1 MiB", MiB - 1: "1023 KiB", 1: "0 KiB", 0: "0 B"} {
		if got := b.Few(); got != want {
			t.Errorf("%d: %q, want %q", b, got, want)
		}
	}
}

// What is asked for is never rounded down, and what is free never up: where it does not fit, the figures say so. A size that was typed
// stays as it was typed.
func TestNeeded(t *testing.T) {
	for b, want := range map[Bytes]string{
		0: "0 B", 1: "1 KiB", 1024: "1 KiB", 1025: "2 KiB", MiB - 1: "1 MiB", MiB: "1 MiB", 20*MiB + KiB: "21 MiB", 25690112: "25 MiB",
		GiB - 1: "1.0 GiB", GiB: "1.0 GiB", GiB + 4096: "1.1 GiB", 27*GiB + 491*MiB: "27.5 GiB", 2 * TiB: "2048.0 GiB",
	} {
		if got := b.Needed(); got != want {
			t.Errorf("%d: %q, want %q", b, got, want)
		}
	}
	for n := range 2000 {
		typed := strconv.FormatFloat(float64(n+10)/10, 'f', 1, 64)
		if b, err := ParseBytes(typed + "GiB"); err != nil || b.Needed() != typed+" GiB" {
			t.Errorf("%s GiB was typed: %s, %v", typed, b.Needed(), err)
		}
	}
}
