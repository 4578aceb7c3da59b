package sampler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSelect is the error of a GPU that was asked for and does not exist.
var ErrSelect = errors.New("no such GPU")

// Select gives the places of the devices that the selectors name, in the order of devs; all of
// them without a selector. A selector is an index ("0"), a MIG instance ("0:1"), a UUID or its
// beginning, or a PCI bus id or its end, in upper or lower case, as long as only one GPU fits. The error
// wraps ErrSelect and names those that exist.
func Select(devs []Device, selectors []string) ([]int, error) {
	if len(selectors) == 0 {
		all := make([]int, len(devs))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	want := make([]bool, len(devs))
	for _, s := range selectors {
		found, err := named(devs, strings.TrimSpace(s))
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			want[i] = true
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

// named gives the numbers of the devices that one selector names: several only when they
// are the instances of one split GPU.
func named(devs []Device, s string) ([]int, error) {
	var found []int
	names := map[string]bool{} // in full
	for i, d := range devs {
		if full, ok := d.named(s); ok {
			found, names[full] = append(found, i), true
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%w: %q; there are %s (an index, a UUID or a PCI bus id)", ErrSelect, s, offered(devs))
	case len(names) > 1:
		return nil, fmt.Errorf("%w: %q fits %d of them, give more of it", ErrSelect, s, len(names))
	}
	return found, nil
}

// named says whether s names the device, and what it stands for in full.
func (d Device) named(s string) (full string, ok bool) {
	if _, err := strconv.Atoi(s); err == nil {
		return s, s == strconv.Itoa(d.Index)
	}
	uuid, pci, low := strings.ToLower(d.UUID), strings.ToLower(d.PCI), strings.ToLower(s)
	switch {
	case s == "":
		return "", false
	case s == d.Label():
		return s, true
	case uuid == low, len(s) >= 8 && strings.HasPrefix(uuid, low):
		return uuid, true
	}
	return pci, strings.Contains(s, ":") && strings.Contains(s, ".") && strings.HasSuffix(pci, low)
}

func offered(devs []Device) string {
	const most = 16
	var names []string
	for i, d := range devs {
		if i == most {
			names = append(names, fmt.Sprintf("… (%d in all)", len(devs)))
			break
		}
		names = append(names, d.Label())
	}
	return strings.Join(names, ", ")
}
