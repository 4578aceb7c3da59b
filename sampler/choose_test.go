package sampler

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	const pci0, pci1 = "00000000:01:00.0", "00000000:C1:00.0"
	devs := []Device{
		{Index: 0, UUID: "GPU-aaaa1111-2222-3333-4444-555555555555", PCI: pci0},
		{Index: 1, UUID: "MIG-bbbb1111-2222-3333-4444-555555555555", PCI: pci1, MIG: &MIG{Index: 0}},
		{Index: 1, UUID: "MIG-bbbb2222-2222-3333-4444-555555555555", PCI: pci1, MIG: &MIG{Index: 1}},
		{Index: 12, UUID: "GPU-aaaa9999-2222-3333-4444-555555555555", PCI: "00000001:01:00.0"},
	}
	for _, row := range []struct {
		selectors string // joined by commas
		want      []int  // nil: an error
	}{
		{"", []int{0, 1, 2, 3}},
		{"0", []int{0}},
		{"1", []int{1, 2}}, // a GPU that is split: all its instances
		{"1:1", []int{2}},
		{"12,0", []int{0, 3}}, // always in the source's order
		{"0,0", []int{0}},
		{" 12 ", []int{3}},
		{"GPU-aaaa1111-2222-3333-4444-555555555555", []int{0}},
		{"gpu-AAAA1", []int{0}},
		{"MIG-bbbb2", []int{2}},
		{"0000:c1:00.0", []int{1, 2}}, // a GPU that is split
		{"00000000:01:00.0", []int{0}},
		{"0000:01:00.0", []int{0}},
		{"01:00.0", nil}, // two GPUs
		{"GPU-aaaa", nil},
		{"GPU", nil},
		{"2", nil},
		{"00", nil},
		{"-1", nil},
		{"+0", nil},
		{"0:0", nil},
		{"0,7", nil},
		{"GPU-aaaa1111-2222-3333-4444-5555555555550", nil},
		{"\x1b[31m", nil},
		{",", nil},
	} {
		var selectors []string
		if row.selectors != "" {
			selectors = strings.Split(row.selectors, ",")
		}
		got, err := Select(devs, selectors)
		if row.want == nil {
			if !errors.Is(err, ErrSelect) || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("%q chooses %v, %v; want ErrSelect", row.selectors, got, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%q chooses %v, %v; want %v", row.selectors, got, err, row.want)
		}
	}
}

func TestSelectNamesWhatThereIs(t *testing.T) {
	_, err := Select(make([]Device, 64), []string{"99"})
	if err == nil || !strings.Contains(err.Error(), "64 in all") || len(err.Error()) > 250 {
		t.Errorf("the error of GPU 99 among 64 is: %v", err)
	}
	_, err = Select([]Device{{Index: 0}, {Index: 1, MIG: &MIG{Index: 2}}}, []string{"5"})
	if err == nil || !strings.Contains(err.Error(), `"5"`) || !strings.Contains(err.Error(), "0, 1:2") {
		t.Errorf("the error of GPU 5 is: %v", err)
	}
}
