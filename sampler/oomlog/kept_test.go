package oomlog

import (
	"fmt"
	"strings"
	"testing"
)

// What a log counts that is kept on the GPU is told while it rises; what counts work that is done, amounts of memory and limits are none, nor is
// what stands at its height for long.
func TestWhatIsKept(t *testing.T) {
	for form, want := range map[string]string{
		"INFO sessions=%d rtf=0.456 queue=1":           "sessions",
		"active_sessions: %d, 12 ms":                   "sessions",
		"connections %d open":                          "connections",
		"[L-BFGS] it 275 loss 4.3e-02 history %d/4000": "history",
		"image 731 embedded, cache %d/4000":            "cache",
		"memory bank %d / 4000":                        "bank",
		"added shard %d/4000, 37.5M / 150.0M vectors":  "shard",
		"added expert %d, 1.45B parameters":            "expert",
		"expert %d was given 12 tokens":                "",
		"processing shard %d/4000":                     "",
		"max_sessions=4000, %d requests":               "",
		"history of %d steps":                          "",
		"cache %d/4000 MB":                             "",
		"cache %d":                                     "",
		"KV cache usage: %d%%":                         "",
		"step %d/4000 loss 2.3":                        "",
		"sessions per second 1.%d":                     "",
		"obsessions %d":                                "",
	} {
		for shape, rises := range map[string]func(i int) int{
			"rises": func(i int) int { return 100 + 8*i },
			"ends":  func(i int) int { return 100 + 8*min(i, 120) },
			"level": func(i int) int { return 1000 + i%7 },
			"waves": func(i int) int { // fills up, and then goes up and down at its height, a little higher in the end
				if i < 160 {
					return 100 + 10*i
				}
				return 1450 + i/300*100 + (2-min(i%3, 1)*2)*175
			},
			"falls": func(i int) int { return 3400 - 8*i },
		} {
			var log strings.Builder
			for i := range 400 {
				fmt.Fprintf(&log, form+"\n", rises(i))
			}
			log.WriteString("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 GiB is free.\n")
			events, err := Scan(strings.NewReader(log.String()))
			if err != nil || len(events) == 0 {
				t.Fatal(err, events)
			}
			got := ""
			if c := events[0].Context.Counted; c != nil {
				got = c.Name
				if c.From >= c.To || strings.Contains(form, "/") != (c.Of == 4000) {
					t.Errorf("%q, %s: %+v", form, shape, c)
				}
			}
			if expected := want; shape != "rises" && got != "" || shape == "rises" && got != expected {
				t.Errorf("%q, %s: %q, want %q", form, shape, got, want)
			}
		}
	}
}

// A few lines that say that one more was added are growth, far apart as they are, until none is added any more.
func TestFewAreAdded(t *testing.T) {
	const failed = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.00 GiB is free.\n"
	for name, row := range map[string]struct {
		from, added, after int
		want               string
	}{
		"six":                    {5, 6, 50, "expert"},
		"three":                  {2, 3, 50, ""},
		"by little":              {20, 6, 50, ""},
		"and long nothing since": {5, 6, 250, ""},
	} {
		var log strings.Builder
		for i := range row.added {
			fmt.Fprintf(&log, "%sadded expert %d, 1.31B parameters\n", strings.Repeat("stage 1 step 20/240 loss 2.2 seqlen 512\n", 100), row.from+i)
		}
		log.WriteString(strings.Repeat("stage 1 step 20/240 loss 2.2 seqlen 512\n", row.after) + failed)
		events, err := Scan(strings.NewReader(log.String()))
		if err != nil || len(events) == 0 {
			t.Fatal(err, events)
		}
		got := ""
		if c := events[0].Context.Counted; c != nil {
			got = c.Name
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// A program that says of all its work that it is added costs no more than another.
func TestAddedWithoutEnd(t *testing.T) {
	var s sizeBook
	for range 3 * addsMost {
		s.add([]byte("added request 12 with seqlen 512"))
	}
	if s.adds != addsMost {
		t.Errorf("%d lines were read", s.adds)
	}
}
