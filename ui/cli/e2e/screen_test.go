package e2e_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler/nvml/nvmltest"
)

// ago sets the scenario's clock: it began that long before the program.
func ago(d time.Duration) []string { return []string{nvmltest.StartAt(time.Now().Add(-d))} }

func TestFirstScreen(t *testing.T) {
	for _, row := range []struct {
		size [2]int
		want []string
		gpus int // whose figures must be on the screen
	}{
		{[2]int{30, 6}, []string{"62.5/79.6G", "▲62.5"}, 5},
		{[2]int{80, 24}, []string{"nvpeak", "driver 580", "every 20ms", "H100 80GB HBM3", "62.5 / ", "▲62.5", "GPU MEM", "41000", "q quit"}, 8},
		{[2]int{120, 40}, []string{"nvpeak", "CUDA 13.0", "H100 80GB HBM3", "0.5 GiB driver", "16.6 GiB free", "41000", "▲PEAK", "q quit"}, 8},
		{[2]int{200, 60}, []string{"nvpeak", "PCIe 5x16", "-30s", "0.5 GiB driver", "41000", "41007", "SHARE", "CPU%", "q quit"}, 8},
	} {
		t.Run(fmt.Sprintf("%dx%d", row.size[0], row.size[1]), func(t *testing.T) {
			t.Parallel()
			term := open(t, setup{scenario: "h100x8", size: row.size})
			see(t, term, row.want...)
			figures := regexp.MustCompile(`62\.5(/| / )79\.6`)
			seeThat(t, term, fmt.Sprintf("figures of %d GPUs", row.gpus), func(s string) bool {
				return len(figures.FindAllString(s, -1)) == row.gpus
			})
			if s := term.State(); !s.AltScreen || s.CursorVisible {
				t.Errorf("terminal is %+v", s)
			}
			press(t, term, "q")
			ends(t, term, 0)
		})
	}
}

// Each row is a driver that does something of its own, and what must be told about it.
func TestDrivers(t *testing.T) {
	for _, row := range []struct {
		name string
		setup
		see  []string
		then []string // must then appear too, all at once
	}{
		{"lost", setup{scenario: "lost", env: ago(6 * time.Second), size: [2]int{120, 40}},
			[]string{"30.0 / "}, []string{"GPU is lost", "30.0 / ", "Xid 79"}},
		{"hang", setup{scenario: "hang", env: ago(time.Second), size: [2]int{120, 40}},
			[]string{"30.0 / "}, []string{"not answering", "44.0 / "}},
		{"mig", setup{scenario: "mig", size: [2]int{120, 40}},
			[]string{"0:0", "0:1", "0:3", "MIG 3g.40gb", "12.0 / ", "27.4 GiB free", "33.0 / ", "44200"}, nil},
		{"unified", setup{scenario: "unified", size: [2]int{120, 40}},
			[]string{"GB10", " shared", "4.0 GiB", "45001"}, nil},
		{"hidden", setup{scenario: "hidden", size: [2]int{120, 40}},
			[]string{"9.0 GiB other", "9.0 GiB", "(unattributed)"}, nil},
		{"insufficient", setup{scenario: "insufficient", size: [2]int{120, 40}},
			[]string{"30.0 / ", "no list of processes"}, nil},
		{"R470", setup{scenario: "h100x8", driver: nvmltest.R470, size: [2]int{120, 40}}, []string{" / 79.6 GiB", "▲", "41000", "580.159"}, nil},
		{"R418", setup{scenario: "h100x8", driver: nvmltest.R418, size: [2]int{120, 40}}, []string{" / 79.6 GiB", "▲", "41000", "580.159"}, nil},
		{"absurd", setup{scenario: "absurd", size: [2]int{120, 40}}, []string{"N/A", "10.0 / ", "unattributed"}, nil},
		{"xid", setup{scenario: "xid", env: ago(2 * time.Second), size: [2]int{120, 40}},
			[]string{"20.0 / "}, []string{"Xid 43"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			term := open(t, row.setup)
			see(t, term, row.see...)
			if row.then != nil {
				see(t, term, row.then...)
			}
			press(t, term, "q")
			ends(t, term, 0)
		})
	}
}

// A hung GPU keeps its own figures back, but the clock and the others go on.
func TestHangStopsNothingElse(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "gpu 0-1\nmem 0 used=10GiB\nmem 0 at=4s used=11GiB\nmem 0 at=5s used=12GiB\nmem 1 used=30GiB\n" +
		"hang nvmlDeviceGet* gpu=1 from=1500ms\n"})
	see(t, term, "30.0")
	see(t, term, "not answering")
	see(t, term, "12.0", "not answering")
	press(t, term, "?")
	see(t, term, "this help")
	press(t, term, "\x1b")
	gone(t, term, "this help")
	press(t, term, "q")
	ends(t, term, 0) // although a thread never returns
}

// After a reload the cards are counted the other way round: figures and peaks stay with
// the card, not with its number.
func TestReloadKeepsPeaks(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: `
gpu 0-1 uuid=GPU-{i}
mem 0 used=10GiB
mem 1 used=20GiB
spike 0 at=1s width=500ms height=50GiB
reload at=3s down=1s order=1,0
`, size: [2]int{100, 30}})
	see(t, term, "▲60.0", "▲20.0")
	seeMatch(t, term, `(?i)lost|reconnect|connection`)
	screen := seeThat(t, term, "both cards again", func(s string) bool {
		return strings.Contains(s, "10.0 / ") && strings.Contains(s, "20.0 / ")
	})
	for _, line := range strings.Split(screen, "\n") {
		if strings.Contains(line, "10.0 / ") && !strings.Contains(line, "▲60.0") {
			t.Errorf("the peak of the card is gone:\n%s", screen)
		}
		if strings.Contains(line, "20.0 / ") && strings.Contains(line, "▲60.0") && !strings.Contains(line, "▲20.0") {
			t.Errorf("the peak moved to another card:\n%s", screen)
		}
	}
}

func TestManyGPUs(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "big64x32", size: [2]int{200, 60}})
	seeThat(t, term, "all GPUs", func(s string) bool {
		return len(regexp.MustCompile(`/79\.6G ▲`).FindAllString(s, -1)) >= 63
	})
	seeMatch(t, term, `20[0-9][0-9] more`)
	press(t, term, "G")
	press(t, term, "q")
	ends(t, term, 0)
}

// A process that is killed leaves the table; the screen goes on.
func TestWatchedProcessDies(t *testing.T) {
	t.Parallel()
	victim := exec.Command("sleep", "600")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := false
	defer func() {
		if !reaped {
			victim.Process.Kill() //nolint:errcheck // it may have ended
			victim.Wait()         //nolint:errcheck // it was killed
		}
	}()
	pid := strconv.Itoa(victim.Process.Pid)
	term := open(t, setup{size: [2]int{120, 30}, scenario: "gpu 0\nmem 0 used=20GiB\nproc 0 pid=" + pid + " memory=8GiB\nproc 0 pid=4194000 memory=2GiB\n"})
	see(t, term, pid, "sleep 600", "8.0 GiB")
	press(t, term, "j\r")
	see(t, term, "sleep 600")
	reaped = true
	victim.Process.Kill() //nolint:errcheck // it runs
	victim.Wait()         //nolint:errcheck // it was killed
	gone(t, term, "sleep 600")
	press(t, term, "\x1b")
	see(t, term, "20.0 / ", "4194000")
	press(t, term, "q")
	ends(t, term, 0)
}

// Names must not reach the terminal as anything but text, and must not move a column.
func TestHostileNames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			term := open(t, setup{scenario: "hostile", size: size})
			see(t, term, "owned", "51000")
			press(t, term, "j\r") // the detail shows names too
			gone(t, term, "51001")
			press(t, term, "\x1b")
			see(t, term, "owned", "51005")
			tame := open(t, setup{size: size, scenario: "gpu 0-7\nmem 0-7 used=20GiB\nproc 0-7 pid=51000 memory=rest\n"})
			see(t, tame, "51005", "▲20.0")
			same := func(string) bool { return columnsOf(term.Lines()) == columnsOf(tame.Lines()) }
			if term.WaitFor("the same columns", 4*time.Second, same) != nil {
				t.Errorf("columns moved:\n%s\nwith tame names:\n%s", term.Screen(), tame.Screen())
			}
			press(t, term, "q")
			ends(t, term, 0)
			onlyOurs(t, term.Raw())
			if got := term.State().Title; got != "" && got != "nvpeak" {
				t.Errorf("title %q", got)
			}
		})
	}
}

// columnsOf tells at which columns the figures stand that every GPU has.
func columnsOf(lines []string) string {
	var b strings.Builder
	for y, line := range lines {
		for _, mark := range []string{"20.0 / ", "20.0/79.6G", "20.0 GiB", "79.6┤"} {
			for at := 0; ; {
				i := strings.Index(line[at:], mark)
				if i < 0 {
					break
				}
				fmt.Fprintf(&b, "%d:%d %s\n", y, ansi.StringWidth(line[:at+i]), mark)
				at += i + len(mark)
			}
		}
	}
	return b.String()
}

// onlyOurs checks that all that was written is text and the sequences a screen needs.
func onlyOurs(t *testing.T, raw []byte) {
	t.Helper()
	var state byte
	p := ansi.NewParser()
	for len(raw) > 0 {
		seq, _, n, next := ansi.DecodeSequence(raw, state, p)
		switch {
		case ansi.HasOscPrefix(seq):
			if !oscAllowed.Match(seq) {
				t.Errorf("operating system command %q", seq)
			}
		case ansi.HasDcsPrefix(seq), ansi.HasApcPrefix(seq), ansi.HasSosPrefix(seq), ansi.HasPmPrefix(seq):
			t.Errorf("string sequence %q", seq)
		case ansi.HasCsiPrefix(seq):
			if !csiAllowed.Match(seq) {
				t.Errorf("control sequence %q", seq)
			}
		case len(seq) == 1 && (seq[0] >= 0x80 && seq[0] < 0xa0 || seq[0] == 0x07):
			t.Errorf("control byte %q", seq)
		}
		raw, state = raw[n:], next
	}
}

var (
	oscAllowed = regexp.MustCompile(`^\x1b\](?:[02];(?:nvpeak)?|1[01];\?|11[0-2]|12;.*)(?:\x07|\x1b\\)$`)
	// Moves, erasing, scrolling, colors, modes and queries; not window operations (t) nor
	// anything that reports.
	csiAllowed = regexp.MustCompile(`^\x1b\[[0-9;:?<>=$ ]*[A-HJKLMPSTWXZ@abdefghlmnpqrsu]$`)
)
