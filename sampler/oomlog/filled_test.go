package oomlog

import (
	"fmt"
	"strings"
	"testing"
)

// What is kept up to a limit is told of once it has been at the limit for the later half of its lines.
func TestWhatIsFull(t *testing.T) {
	for form, want := range map[string]string{
		"INFO: sessions 181, cache %.1f/20.0 GiB, 0.9 req/s": "cache gib",
		"cache: %.1f GB / 20.0 GB":                           "cache gb",
		"replay %.0f/20":                                     "replay ",
		"KV cache usage: %.1f%%":                             "",
		"cache %.1f of 20 GiB":                               "",
		"step %.0f/20 loss 2.3":                              "",
		"caching %.1f/20.0 GiB":                              "",
		"cache %.0f/20/8":                                    "",
	} {
		for shape, held := range map[string]func(i int) float64{
			"full":    func(i int) float64 { return min(20, float64(2+i)) - float64(i%3)/2 },
			"filling": func(i int) float64 { return 20 * float64(i+1) / 60 },
			"beyond":  func(i int) float64 { return 30 + float64(i) },
			"low":     func(i int) float64 { return 8 + float64(i%4) },
		} {
			var log strings.Builder
			for i := range 60 {
				fmt.Fprintf(&log, form+"\n", held(i))
			}
			log.WriteString("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 GiB is free.\n")
			events, err := Scan(strings.NewReader(log.String()))
			if err != nil || len(events) == 0 {
				t.Fatal(err, events)
			}
			got := ""
			if c := events[0].Context.Full; c != nil {
				got = c.Name + " " + c.Unit
				if c.Of != 20 || c.To > c.Of {
					t.Errorf("%q, %s: %+v", form, shape, c)
				}
			}
			if expected := want; shape != "full" && got != "" || shape == "full" && got != expected {
				t.Errorf("%q, %s: %q, want %q", form, shape, got, want)
			}
		}
	}
}
