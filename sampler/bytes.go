package sampler

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory. All units are 1024-based, as in nvidia-smi and PyTorch.
type Bytes uint64

// The units of Bytes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

// MaxPlausible is the largest amount that is taken for a real one. Drivers and allocators
// print 2^64-1 (or 17179869184.00 GiB) for "not available"; see FACTS R0.
const MaxPlausible Bytes = 1 << 60

// GiB returns the amount in GiB.
func (b Bytes) GiB() float64 { return float64(b) / float64(GiB) }

// MiB returns the amount in MiB.
func (b Bytes) MiB() float64 { return float64(b) / float64(MiB) }

// Less returns b-c, or 0 when c is larger.
func (b Bytes) Less(c Bytes) Bytes {
	return b - min(b, c)
}

// String is the amount as people read it, up to 1000 TiB in at most nine columns: "512 B",
// "20.0 MiB", "1010 MiB", "15.8 GiB".
func (b Bytes) String() string {
	switch { // from 1023.5 of a unit on, it would print as 1024
	case b < KiB:
		return strconv.FormatUint(uint64(b), 10) + " B"
	case b < MiB-MiB/2048:
		return unit(b, KiB, "KiB")
	case b < GiB-GiB/2048:
		return unit(b, MiB, "MiB")
	case b < TiB-TiB/2048:
		return unit(b, GiB, "GiB")
	}
	return unit(b, TiB, "TiB")
}

func unit(b, u Bytes, name string) string {
	f, digits := float64(b)/float64(u), 1
	if f >= 999.95 {
		digits = 0
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + " " + name
}

// Short is the amount in at most five columns: "512B", "20M", "15.8G", "141G".
func (b Bytes) Short() string {
	f, u := float64(b), "B"
	for _, next := range []string{"K", "M", "G", "T", "P", "E"} {
		if f < 999.5 {
			break
		}
		f, u = f/1024, next
	}
	if f < 99.95 && strings.Contains("GTPE", u) {
		return strconv.FormatFloat(f, 'f', 1, 64) + u
	}
	return strconv.FormatFloat(f, 'f', 0, 64) + u
}

// units by name. K, KB and KiB are the same.
var units = map[string]Bytes{
	"": 1, "B": 1, "BYTE": 1, "BYTES": 1,
	"K": KiB, "KB": KiB, "KIB": KiB,
	"M": MiB, "MB": MiB, "MIB": MiB,
	"G": GiB, "GB": GiB, "GIB": GiB,
	"T": TiB, "TB": TiB, "TIB": TiB,
	"P": 1 << 50, "PB": 1 << 50, "PIB": 1 << 50,
	"E": 1 << 60, "EB": 1 << 60, "EIB": 1 << 60,
}

// Few is free memory in few digits, cut and never rounded up: headroom must not appear that is not there. "21.0 GiB",
// "464 MiB". What is asked for, or missing, is Needed.
func (b Bytes) Few() string {
	switch {
	case b >= GiB:
		return strconv.FormatFloat(math.Floor(b.GiB()*10)/10, 'f', 1, 64) + " GiB"
	case b >= MiB:
		return strconv.Itoa(int(b/MiB)) + " MiB"
	case b == 0:
		return b.String() // nothing is written alike everywhere
	}
	return strconv.Itoa(int(b/KiB)) + " KiB"
}

// Needed is memory that is or was asked for, or missing, in few digits, never rounded down: what is free, as Few says it,
// must not look like enough. "15.9 GiB" of 15.82, "25 MiB".
func (b Bytes) Needed() string {
	const exact = 1e-6 // of the last digit: a size that was typed is cut to a byte
	up := func(u Bytes) float64 { return math.Ceil(float64(b)/float64(u) - exact) }
	switch {
	case b > GiB-MiB:
		return strconv.FormatFloat(math.Ceil(b.GiB()*10-exact)/10, 'f', 1, 64) + " GiB"
	case b > MiB-KiB:
		return strconv.FormatFloat(up(MiB), 'f', 0, 64) + " MiB"
	case b == 0:
		return b.String() // nothing is written alike everywhere
	}
	return strconv.FormatFloat(max(1, up(KiB)), 'f', 0, 64) + " KiB"
}

// Unit is what the name of a unit stands for, in upper or lower case; a byte without one, 0 for what is no unit.
func Unit(name string) Bytes { return units[strings.ToUpper(strings.TrimSpace(name))] }

// Times is f units, rounded half up to a byte; false for what is no real amount.
func (b Bytes) Times(f float64) (Bytes, bool) {
	v := f * float64(b)
	if b == 0 || !(v >= 0 && v < float64(MaxPlausible)) {
		return 0, false
	}
	return Bytes(math.Floor(v + 0.5)), true
}

// Amount is a printed number of units: "15.82", "4,770". It is false for what is no real amount.
func Amount(number string, unit Bytes) (Bytes, bool) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil {
		return 0, false
	}
	return unit.Times(f)
}

// SizeForms names the forms ParseBytes accepts, for error messages.
const SizeForms = "a size such as 300MiB, 15.82GiB, 16G or 20971520"

// ParseNeed is ParseBytes for what somebody means to allocate. Less than a MiB is a forgotten unit.
func ParseNeed(s string) (Bytes, error) {
	b, err := ParseBytes(s)
	if err == nil && b > 0 && b < MiB {
		return 0, fmt.Errorf("%q is %d bytes: add a unit, as in 16GiB", s, b)
	}
	return b, err
}

// ParseBytes reads a size as people and PyTorch write it: "300MiB", "15.82 GiB",
// "16G", "20971520". Fractions are rounded half up to a byte.
func ParseBytes(s string) (Bytes, error) {
	t := strings.TrimSpace(s)
	n := len(t) - len(strings.TrimLeft(t, "0123456789."))
	b, ok := Amount(t[:n], Unit(t[n:]))
	if !ok {
		return 0, fmt.Errorf("%q is not %s", s, SizeForms)
	}
	return b, nil
}
