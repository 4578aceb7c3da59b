package e2e_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Every key of the monitor does what the help says, seen on the screen.
func TestKeys(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "peers", size: [2]int{140, 50}})
	see(t, term, "50000", "q quit")
	for _, row := range []struct {
		keys string
		see  string
		gone string
	}{
		{"?", "this help", ""},
		{"x", "q quit", "this help"},
		{"n", "need of the next allocation", ""},
		{"4x\r", "not a size", ""},
		{"\x1b", "", "need of the next allocation"},
		{"n", "need of the next allocation", ""},
		{"60GiB\r", "60.0", "need of the next allocation"},
		{"a", "╭─ advice ", ""},
		{"\x1b", "q quit", "╭─ advice "},
		{"n\r", "q quit", "need of the next allocation"},
		{"P", "reset all peaks? y/n", ""},
		{"n", "q quit", "reset all peaks"},
		{"P", "reset all peaks? y/n", ""},
		{"y", "peaks reset", ""},
		{"p", "FROZEN", ""},
		{"p", "", "FROZEN"},
		{"]", "plots show 5", ""},
		{"[[", "plots show 1m", ""},
		{"m", "plots show utilization", ""},
		{"m", "plots show power", ""},
		{"m", "plots show temperature", ""},
		{"m", "plots show memory", ""},
		{"2", "▸ GPU 1 ", ""},
		{"0", "", "▸"},
		{"o", "sorted by", ""},
		{"O", "▲", ""},
		{"+", "refreshed every 500ms", ""},
		{"-", "refreshed every 1s", ""},
		{"T", "theme light", ""},
		{"w", "sorted by headroom", ""},
		{"j", "›", ""},
		{"\x1b", "", "›"},
	} {
		press(t, term, row.keys)
		if row.see != "" {
			see(t, term, row.see)
		}
		if row.gone != "" {
			gone(t, term, row.gone)
		}
	}
	press(t, term, "q")
	ends(t, term, 0)
}

// The cursor stays on its process when the order changes, and Enter opens that process.
func TestSelectionFollowsTheProcess(t *testing.T) {
	t.Parallel()
	term := open(t, setup{size: [2]int{120, 30}, scenario: `
gpu 0
mem 0 used=30GiB
proc 0 pid=4190001 memory=3GiB
proc 0 pid=4190002 memory=2GiB
proc 0 pid=4190003 memory=1GiB stop=3s
proc 0 pid=4190004 memory=9GiB start=5s
`})
	gone(t, term, "connecting")
	see(t, term, "4190002")
	chosen := func(s string) string {
		for _, line := range strings.Split(s, "\n") {
			if strings.HasPrefix(strings.TrimPrefix(line, "│"), "›") {
				return line
			}
		}
		return ""
	}
	on := func(pid string) func(string) bool {
		return func(s string) bool { return strings.Contains(chosen(s), pid) }
	}
	for i := 0; !on("4190001")(term.Screen()); i++ { // the unattributed rest is the largest row
		if i == 9 {
			t.Fatalf("the cursor does not reach 4190001:\n%s", term.Screen())
		}
		before := chosen(term.Screen())
		press(t, term, "j")
		seeThat(t, term, "cursor moved", func(s string) bool { return chosen(s) != "" && chosen(s) != before })
	}
	screen := see(t, term, "4190004") // a larger one comes and pushes the rows down
	if !on("4190001")(screen) {
		t.Errorf("the cursor left its process:\n%s", screen)
	}
	press(t, term, "G")
	seeThat(t, term, "cursor on the last", func(s string) bool {
		return strings.Contains(chosen(s), "419000") && !strings.Contains(chosen(s), "4190001")
	})
	press(t, term, "g")
	seeThat(t, term, "cursor on the first", func(s string) bool {
		return !strings.Contains(chosen(s), "419000") || strings.Contains(chosen(s), "4190004")
	})
	press(t, term, "j\r")
	gone(t, term, "4190001")
	see(t, term, "4190004")
	press(t, term, "\x1b")
	see(t, term, "4190001")
	press(t, term, "q")
	ends(t, term, 0)
}

// The screen is whole after any number of sizes, however small or large.
func TestResizeStorm(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "h100x8"})
	see(t, term, "62.5")
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		if err := term.Resize(1+random.IntN(400), 1+random.IntN(120)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(15)) * time.Millisecond)
	}
	if err := term.Resize(100, 30); err != nil {
		t.Fatal(err)
	}
	seeThat(t, term, "a whole screen", func(s string) bool {
		lines := strings.Split(s, "\n")
		return strings.HasPrefix(lines[0], " nvpeak ") && strings.Contains(lines[29], "q quit") &&
			strings.Count(s, " nvpeak ") == 1 && strings.Count(s, "▲62.5") >= 8
	})
	press(t, term, "q")
	ends(t, term, 0)
}
