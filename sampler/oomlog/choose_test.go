package oomlog

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Few failures are all kept, and many leave what a reader looks for first.
func TestScanUpTo(t *testing.T) {
	few := denseLog("", 60)
	all, err := Scan(bytes.NewReader(few))
	if err != nil {
		t.Fatal(err)
	}
	kept, others, err := ScanUpTo(bytes.NewReader(few), len(all))
	if err != nil || others != 0 || !reflect.DeepEqual(kept, all) {
		t.Fatalf("%d of %d kept, %d others, %v", len(kept), len(all), others, err)
	}

	const count, most = 3000, 40
	var log strings.Builder
	for i := range count {
		if i == 1700 {
			log.WriteString("ggml_backend_cuda_buffer_type_alloc_buffer: allocating 45108.64 MiB on device 0: cudaMalloc failed: out of memory\n")
		}
		fmt.Fprintf(&log, "RuntimeError: CUDA out of memory. Tried to allocate %d.00 MiB (GPU 0; 7.79 GiB total capacity; 6.00 GiB already allocated; 10.00 MiB free; 6.50 GiB reserved in total by PyTorch)\n", 2000+i*37%3000)
		if i != 1500 {
			fmt.Fprintf(&log, "out of memory, skipping batch %d\n", i)
		}
	}
	all, err = Scan(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	kept, others, err = ScanUpTo(strings.NewReader(log.String()), most)
	if err != nil || len(kept) != most || others != len(all)-most {
		t.Fatalf("%d of %d kept, %d others, %v", len(kept), len(all), others, err)
	}
	for i := range most / 2 {
		if !reflect.DeepEqual(kept[i], all[i]) {
			t.Errorf("the first %d are not kept: line %d", i, kept[i].Line)
		}
	}
	if kept[most-1].Line != all[len(all)-1].Line {
		t.Errorf("the last is not kept: line %d", kept[most-1].Line)
	}
	died, kinds, largest := 0, map[string]bool{}, sampler.Bytes(0)
	for _, e := range kept {
		kinds[e.Kind] = true
		largest = max(largest, e.Requested.Or(0))
		if !e.Recovered && e.Kind == sampler.KindCUDA {
			died = e.Line
		}
	}
	if died != 3001 || !kinds[sampler.KindGGML] || largest < 44*sampler.GiB {
		t.Errorf("died at line %d, kinds %v, largest %v", died, kinds, largest)
	}
}

// Of few that may be kept half are the first, a quarter the last, and the others what tells something else.
func TestChoose(t *testing.T) {
	events := make([]sampler.OOMEvent, 12)
	for i := range events {
		events[i].Kind = sampler.KindCUDA
	}
	events[7].Kind = sampler.KindNCCL
	for most, want := range map[int][]int{4: {0, 1, 7, 11}, 8: {0, 1, 2, 3, 4, 7, 10, 11}, 12: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}} {
		if got := Choose(events, most); !slices.Equal(got, want) {
			t.Errorf("of %d may be kept: %v, want %v", most, got, want)
		}
	}
}
