package oomlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// messages of different shapes, each complete on one line.
var messages = []string{
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 248.00 MiB. GPU 3 has a total capacity of 22.28 GiB of which 33.38 MiB is free. Process 6314 has 22.23 GiB memory in use. Process 777 has 1.05 GiB memory in use. Including non-PyTorch memory, this process has 21.17 GiB memory in use. Of the allocated memory 20.60 GiB is allocated by PyTorch, with 199.88 MiB allocated in private pools (e.g., CUDA Graphs), and 171.43 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
	"RuntimeError: CUDA out of memory. Tried to allocate 2.26 GiB (GPU 1; 6.00 GiB total capacity; 781.59 MiB already allocated; 3.03 GiB free; 1.24 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
	"RuntimeError: MPS backend out of memory (MPS allocated: 17.31 GiB, other allocations: 528.00 KiB, max allowed: 18.13 GiB). Tried to allocate 900.00 MiB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit",
	"ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 98.000244MB memory on GPU 0, 6.000000GB memory has been allocated and available memory is only 12.500000MB. Please check whether there is any other process using GPU 0.",
	"OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory) Currently allocated : 12.20 GiB Requested : 1.88 GiB Device limit : 16.00 GiB Free (according to CUDA): 20.00 MiB PyTorch limit (set by user-supplied memory fraction) : 17179869184.00 GiB",
}

func scanOne(t *testing.T, text string) []sampler.OOMEvent {
	t.Helper()
	events, err := Scan(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// numbersOf is an event as field → value, without what wrapping may change.
func numbersOf(t *testing.T, e sampler.OOMEvent) map[string]any {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, k := range compared {
		out[k] = plain(all[k])
	}
	return out
}

// A message may be cut anywhere: what is left of it is right or absent, never wrong.
func TestCutMessages(t *testing.T) {
	for _, m := range messages {
		whole := numbersOf(t, scanOne(t, m)[0])
		for n := range len(m) {
			for _, e := range scanOne(t, m[:n]+"\n") {
				for k, v := range numbersOf(t, e) {
					if v == nil || k == "other_processes" || k == "self_process_unknown" {
						continue
					}
					if !same(whole[k], v) {
						t.Errorf("cut at %d: %s is %v, want %v or nothing\n%s", n, k, v, whole[k], m[:n])
					}
				}
			}
		}
	}
}

// wrapWords breaks at blanks, wrapHard anywhere.
func wrapWords(text string, width int) []string {
	var out []string
	cur := ""
	for _, w := range strings.Fields(text) {
		if cur != "" && len(cur)+1+len(w) > width {
			out = append(out, cur)
			cur = w
		} else {
			cur = strings.TrimSpace(cur + " " + w)
		}
	}
	return append(out, cur)
}

func wrapHard(text string, width int) []string {
	var out []string
	for len(text) > width {
		out, text = append(out, text[:width]), text[width:]
	}
	return append(out, text)
}

// Panels, mail and terminals break lines anywhere; the numbers stay.
func TestWrappedMessages(t *testing.T) {
	frames := map[string]string{"plain": "%s\n", "panel": "│ %-130s │\n", "quote": "> %s\n", "rank": "[rank2]: %s\n", "heavy": "┃  %s  ┃\n"}
	for _, m := range messages {
		whole := numbersOf(t, scanOne(t, m)[0])
		for name, frame := range frames {
			for width := 44; width <= 130; width += 3 {
				for kind, lines := range map[string][]string{"words": wrapWords(m, width), "hard": wrapHard(m, width)} {
					var b strings.Builder
					for _, l := range lines {
						fmt.Fprintf(&b, frame, l)
					}
					events := scanOne(t, b.String())
					if len(events) != 1 {
						t.Errorf("%s %s %d: %d events\n%s", name, kind, width, len(events), b.String())
						continue
					}
					got := numbersOf(t, events[0])
					for k, v := range whole {
						if k != "rank" && !same(v, got[k]) {
							t.Errorf("%s %s %d: %s is %v, want %v\n%s", name, kind, width, k, got[k], v, b.String())
						}
					}
				}
			}
		}
	}
}

// Colors around every number and word change nothing.
func TestColoredMessages(t *testing.T) {
	for _, m := range messages {
		whole := numbersOf(t, scanOne(t, m)[0])
		colored := "\x1b[1;31m" + strings.NewReplacer(" ", "\x1b[0m \x1b[38;5;12m", ".", "\x1b[1m.\x1b[22m").Replace(m) + "\x1b[0m\n"
		events := scanOne(t, colored)
		if len(events) != 1 {
			t.Fatalf("%d events from %q", len(events), colored)
		}
		for k, v := range numbersOf(t, events[0]) {
			if !same(whole[k], v) {
				t.Errorf("%s is %v, want %v", k, v, whole[k])
			}
		}
	}
}
