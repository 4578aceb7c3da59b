package sampler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSelect is the error of a GPU that was asked for and does not exist.
var ErrSelect = errors.New("no such GPU")

// choose gives the numbers of the devices that the selectors name, in the source's
// order. A selector is an index ("0"), a MIG instance ("0:1"), a UUID or a PCI bus id,
// shortened at will as long as one device fits.
func choose(devs []Device, selectors []string) ([]int, error) {
	if len(selectors) == 0 {
		all := make([]int, len(devs))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	want := make([]bool, len(devs))
	for _, s := range selectors {
		found := false
		for i, d := range devs {
			if d.named(strings.TrimSpace(s)) {
				want[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: %q; there are %s (an index, a UUID or a PCI bus id)", ErrSelect, s, offered(devs))
		}
	}
	var pick []int
	for i, w := range want {
		if w {
			pick = append(pick, i)
		}
	}
	return pick, nil
}

func (d Device) named(s string) bool {
	if s == "" {
		return false
	}
	if _, err := strconv.Atoi(s); err == nil {
		return s == strconv.Itoa(d.Index)
	}
	g := GPU{Index: d.Index, MIG: d.MIG}
	u, pci, low := strings.ToLower(d.UUID), strings.ToLower(d.PCI), strings.ToLower(s)
	return s == g.Label() || u == low || len(s) >= 8 && strings.HasPrefix(u, low) ||
		strings.Contains(s, ":") && strings.Contains(s, ".") && strings.HasSuffix(pci, low)
}

func offered(devs []Device) string {
	const most = 16
	var names []string
	for i, d := range devs {
		if i == most {
			names = append(names, fmt.Sprintf("… (%d in all)", len(devs)))
			break
		}
		g := GPU{Index: d.Index, MIG: d.MIG}
		names = append(names, g.Label())
	}
	return strings.Join(names, ", ")
}
