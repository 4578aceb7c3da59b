package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/ui/cli/e2e"
)

func TestNoDriver(t *testing.T) {
	for _, row := range []struct {
		name, scenario string
		env            []string
		want           string
	}{
		{"library", "", []string{"NVPEAK_NVML=/nonexistent/libnvidia-ml.so.1"}, "/nonexistent/libnvidia-ml.so.1"},
		{"mismatch", "mismatch", nil, "do not match"},
		{"not loaded", "notloaded", nil, "not loaded"},
		{"no GPU", "nogpu", nil, "no GPU"},
		{"no permission", "nopermission", nil, "permission"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := setup{scenario: row.scenario, env: row.env}
			for _, args := range [][]string{{"once"}, {"once", "--json"}, {"stream"}, nil} {
				s.args = args
				r := run(t, s)
				if r.code != 1 || r.out != "" || strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "nvpeak: ") ||
					!strings.Contains(r.err, row.want) || !strings.Contains(r.err, "--demo") {
					t.Errorf("%q: %+v, want one line with %q", args, r, row.want)
				}
			}
			s.args = nil
			term := open(t, s) // the same line on a terminal, with no screen opened
			ends(t, term, 1)
			if text := strings.Join(strings.Fields(term.Screen()), ""); !strings.Contains(text, "--demo") {
				t.Errorf("screen:\n%s", term.Screen())
			}
			if bytes.Contains(term.Raw(), []byte("\x1b")) {
				t.Errorf("escape sequences: %q", term.Raw())
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args string
		want string // an accepted value that is named
	}{
		{"--bogus", "--interval"},
		{"-x", "--interval"},
		{"frobnicate", "stream"},
		{"once extra", "extra"},
		{"once --csv=memory.usd", "memory.used"},
		{"-i 9 once", "0, 1"},
		{"-i GPU-none once", "0, 1"},
		{"-i ,", "UUID"},
		{"--need lots", "16G"},
		{"--need -5G", "16G"},
		{"--interval 5", "1s"},
		{"--interval 1ns", "100ms"},
		{"--peak-interval 0s", "20ms"},
		{"--demo=nope", "training"},
		{"--theme pink", "dark"},
		{"once --size 80", "80x24"},
		{"once --size 0x5", "80x24"},
	} {
		r := run(t, setup{scenario: "h100x8", args: strings.Fields(row.args)})
		if r.code != 2 || r.out != "" || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, row.want) {
			t.Errorf("%s: %+v, want one line with %q", row.args, r, row.want)
		}
	}
	r := run(t, setup{scenario: "h100x8", args: []string{"once"}, env: []string{"NVPEAK_INTERVAL=soon"}})
	if r.code != 2 || !strings.Contains(r.err, "NVPEAK_INTERVAL") || strings.Count(r.err, "\n") != 1 {
		t.Errorf("bad environment: %+v", r)
	}
	r = run(t, setup{scenario: "h100x8", args: []string{"--demo=list"}})
	if r.code != 0 || !strings.Contains(r.out, "training") || !strings.Contains(r.out, "sixtyfour") {
		t.Errorf("list of demos: %+v", r)
	}
}

// What is not a screen gets plain text.
func TestPlainText(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		scenario string
		args     []string
	}{
		{"h100x8", nil}, {"h100x8", []string{"once"}}, {"hostile", []string{"once"}}, {"hostile", []string{"once", "--json"}},
		{"hostile", []string{"once", "--csv=index,name,uuid,pci.bus_id"}}, {"hostile", []string{"once", "--size", "120x40"}},
		{"absurd", []string{"once"}},
	} {
		r := run(t, setup{scenario: row.scenario, args: row.args})
		if r.code != 0 || r.err != "" || r.out == "" {
			t.Errorf("%s %q: %+v", row.scenario, row.args, r)
		}
		for _, c := range r.out {
			if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0 || c == 0xfffd) {
				t.Errorf("%s %q: control character %q", row.scenario, row.args, c)
				break
			}
		}
	}
}

func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "h100x8", env: []string{"TERM=dumb"}, size: [2]int{120, 60}})
	ends(t, term, 0)
	if bytes.ContainsRune(term.Raw(), 0x1b) {
		t.Errorf("escape sequences: %q", term.Raw())
	}
	if s := term.Screen(); !strings.Contains(s, "62.5 GiB") || !strings.Contains(s, "41007") {
		t.Errorf("screen:\n%s", s)
	}
}

// What doctor says of the colors of a terminal is what the screen sends to it.
func TestDoctorKnowsTheColors(t *testing.T) {
	for _, row := range []struct {
		say  string
		env  []string
		args []string
		sent string // by the screen; the others of these are not
	}{
		{"true color", nil, nil, "38;2;"},
		{"true color", []string{"TERM=xterm", "COLORTERM=24bit"}, nil, "38;2;"},
		{"256 colors", []string{"COLORTERM="}, nil, "38;5;"},
		{"256 colors", []string{"TERM=screen"}, nil, "38;5;"}, // whatever COLORTERM says
		{"16 colors", []string{"TERM=xterm", "COLORTERM="}, nil, "[96m"},
		{"no colors", []string{"NO_COLOR=0"}, nil, ""},
		{"no colors", nil, []string{"--no-color"}, ""},
	} {
		t.Run(row.say+" "+strings.Join(append(row.env, row.args...), " "), func(t *testing.T) {
			t.Parallel()
			doctor := open(t, setup{scenario: "h100x8", env: row.env, args: append([]string{"doctor"}, row.args...), size: [2]int{120, 60}})
			see(t, doctor, "120x60, "+row.say)
			screen := open(t, setup{scenario: "h100x8", env: row.env, args: append([]string{"--theme", "color-blind"}, row.args...), size: [2]int{120, 40}})
			see(t, screen, "62.5 / ")
			press(t, screen, "q")
			ends(t, screen, 0)
			for _, s := range []string{"38;2;", "38;5;", "[96m"} {
				if got := bytes.Contains(screen.Raw(), []byte(s)); got != (s == row.sent) {
					t.Errorf("%q is sent: %v", s, got)
				}
			}
		})
	}
}

// Any non-empty NO_COLOR counts, not only 1 and true.
func TestColors(t *testing.T) {
	for _, row := range []struct {
		name   string
		env    []string
		args   []string
		colors bool
	}{
		{"default", nil, nil, true},
		{"NO_COLOR empty", []string{"NO_COLOR="}, nil, true},
		{"NO_COLOR=yes", []string{"NO_COLOR=yes"}, nil, false},
		{"NO_COLOR=0", []string{"NO_COLOR=0"}, nil, false},
		{"flag", nil, []string{"--no-color"}, false},
		{"mono", nil, []string{"--theme", "mono"}, false},
		{"16 colors", []string{"TERM=xterm", "COLORTERM="}, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			term := open(t, setup{scenario: "h100x8", env: row.env, args: row.args, size: [2]int{120, 40}})
			see(t, term, "62.5 / ")
			if got := term.Colors(); got != row.colors {
				t.Errorf("colors on the screen: %v", got)
			}
			press(t, term, "q")
			ends(t, term, 0)
			if got := colorSequence.Match(term.Raw()); got != row.colors {
				t.Errorf("color sequences: %v, %q", got, colorSequence.FindAll(term.Raw(), 5))
			}
			if row.name == "16 colors" && bytes.Contains(term.Raw(), []byte("8;2;")) {
				t.Error("true color for a terminal of 16")
			}
		})
	}
}

// colorSequence is an SGR that sets a color: 30-38, 40-48, 90-97, 100-107.
var colorSequence = regexp.MustCompile(`\x1b\[(?:[0-9:;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:[:;][0-9:;]*)?m`)

func TestASCII(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "h100x8", args: []string{"--ascii"}, size: [2]int{120, 40}})
	screen := see(t, term, "62.5 / ", "41000")
	for _, c := range screen {
		if c > 0x7e {
			t.Fatalf("%q with --ascii:\n%s", c, screen)
		}
	}
}

// `stream | head -1` ends at once, without a word, and head gets a whole line.
func TestStreamToHead(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `{ "$0" stream --interval 100ms; echo "code $?" >&2; } | head -1`, binary)
	cmd.Env = setup{scenario: "h100x8"}.environ(t)
	var errs strings.Builder
	cmd.Stderr = &errs
	began := time.Now()
	out, err := cmd.Output()
	if err != nil || errs.String() != "code 0\n" || !json.Valid(out) {
		t.Errorf("%v, %q, %q", err, errs.String(), out)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	r := run(t, setup{scenario: "h100x8", args: []string{"once", "--csv"}})
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != 9 || !strings.HasPrefix(lines[0], "timestamp, index, name, temperature.gpu, utilization.gpu [%], memory.total [MiB], memory.used [MiB]") {
		t.Errorf("%d lines, header %q", len(lines), lines[0])
	}
	row := regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}, 3, NVIDIA H100 80GB HBM3, \d\d, \d+ %, 81559 MiB, 64000 MiB, `)
	if !row.MatchString(lines[4]) {
		t.Errorf("line %q", lines[4])
	}
	r = run(t, setup{scenario: "h100x8", args: []string{"once", "--csv=index,fan.speed,memory.used"}})
	if want := "index, fan.speed [%], memory.used [MiB]\n0, [N/A], 64000 MiB\n"; !strings.HasPrefix(r.out, want) {
		t.Errorf("%q, want %q", r.out, want)
	}
}

// figures of `once --json`.
type figures struct {
	GPUs []struct {
		Index  int
		MIG    json.RawMessage
		Memory struct {
			Total, Reserved, Used, Free, Unattributed *uint64
			Shared                                    bool
		}
		Processes []struct {
			PID    int
			Memory *uint64 `json:"memory_bytes"`
			Type   string
		}
	}
}

func once(t *testing.T, s setup) figures {
	t.Helper()
	s.args = append([]string{"once", "--json"}, s.args...)
	r := run(t, s)
	// One set of names for all keys with a unit in them.
	short := regexp.MustCompile(`"(total|reserved|used|free|unattributed)_bytes"`).ReplaceAllString(r.out, `"$1"`)
	short = strings.ReplaceAll(short, `"shared_with_host"`, `"shared"`)
	var f figures
	if err := json.Unmarshal([]byte(short), &f); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	return f
}

// used + reserved + free = total, and processes + unattributed = used, on every GPU that
// tells all of them, whatever the driver says.
func TestNumbersAddUp(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"h100x8", "peers", "mig", "unified", "hidden", "absurd", "accounting", "hostile"} {
		for i, g := range once(t, setup{scenario: scenario}).GPUs {
			m := g.Memory
			if m.Used == nil || m.Total == nil {
				continue
			}
			if *m.Used > *m.Total {
				t.Errorf("%s GPU %d: %d used of %d", scenario, i, *m.Used, *m.Total)
			}
			if m.Free != nil {
				sum := *m.Used + *m.Free
				if m.Reserved != nil {
					sum += *m.Reserved
				}
				if sum != *m.Total {
					t.Errorf("%s GPU %d: sum %d, total %d", scenario, i, sum, *m.Total)
				}
			}
			if m.Unattributed == nil || scenario == "unified" || scenario == "absurd" {
				continue
			}
			sum := *m.Unattributed
			for _, p := range g.Processes {
				if p.Memory != nil {
					sum += *p.Memory
				}
			}
			if sum != *m.Used {
				t.Errorf("%s GPU %d: processes and unattributed are %d, used %d", scenario, i, sum, *m.Used)
			}
		}
	}
}

func TestKindsOfMemory(t *testing.T) {
	t.Parallel()
	if m := once(t, setup{scenario: "unified"}).GPUs[0].Memory; !m.Shared || m.Total == nil || m.Used == nil {
		t.Errorf("unified: %+v", m)
	}
	hidden := once(t, setup{scenario: "hidden"}).GPUs
	if m := hidden[0].Memory; m.Unattributed == nil || *m.Unattributed != 9*gib {
		t.Errorf("hidden: %s MiB unattributed, want 9216", inMiB(m.Unattributed))
	}
	if p := hidden[1].Processes; len(p) != 1 || p[0].Memory != nil {
		t.Errorf("memory that is not told: %+v", p)
	}
	if g := once(t, setup{scenario: "absurd"}).GPUs; g[0].Memory.Used != nil || g[3].Memory.Used != nil {
		t.Errorf("2^64-1 used: %+v, %+v", g[0].Memory, g[3].Memory)
	}
	mig := once(t, setup{scenario: "mig"}).GPUs
	instances := 0
	for _, g := range mig {
		if string(g.MIG) != "null" {
			instances++
		}
	}
	if instances != 3 || len(mig) < 4 {
		t.Errorf("%d instances of %d devices", instances, len(mig))
	}
	if g := once(t, setup{scenario: "h100x8", args: []string{"-i", "6,00000000:12:00.0"}}).GPUs; len(g) != 2 {
		t.Errorf("%d chosen GPUs", len(g))
	}
}

func inMiB(b *uint64) string {
	if b == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.1f", float64(*b)/float64(mib))
}

// A driver whose lists never fit must not take all memory (nor a core).
func TestEndlessListsStayBounded(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "insufficient"})
	see(t, term, "30.0 / ")
	time.Sleep(3 * time.Second) // go-nvml doubles its buffer: half a second is enough to die of it
	if most := highWater(t, term); most > 150<<20 {
		t.Errorf("%d MiB were in use", most>>20)
	}
	press(t, term, "q")
	ends(t, term, 0)
	state := term.Cmd.ProcessState
	if used := state.UserTime() + state.SystemTime(); used > 2*time.Second {
		t.Errorf("%v of CPU time in 3 s", used)
	}
}

// highWater is the most memory that the program has had, in bytes.
func highWater(t *testing.T, term *e2e.Terminal) uint64 {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(term.Cmd.Process.Pid) + "/status")
	if err != nil {
		t.Skip("no /proc:", err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	n, _ := strconv.ParseUint(string(m[1]), 10, 64)
	return n << 10
}

// A console without Braille gets no character that it cannot show; a terminal that says nothing of its characters gets all.
func TestConsoleGetsASCII(t *testing.T) {
	for _, row := range []struct {
		env   []string
		args  []string
		ascii bool
	}{
		{[]string{"TERM=linux"}, nil, true}, {[]string{"TERM=vt100"}, nil, true}, {[]string{"LC_ALL=C"}, nil, true}, {[]string{"LANG="}, nil, false},
		{[]string{"LANG=zh_CN.UTF-8", "TERM=linux"}, nil, true}, {[]string{"TERM=linux"}, []string{"--ascii=false"}, false},
	} {
		t.Run(strings.Join(append(row.env, row.args...), " "), func(t *testing.T) {
			t.Parallel()
			term := open(t, setup{scenario: "h100x8", env: row.env, args: row.args, size: [2]int{120, 40}})
			see(t, term, "62.5 / ")
			press(t, term, "q")
			ends(t, term, 0)
			if got := !bytes.ContainsFunc(term.Raw(), func(r rune) bool { return r > '~' }); got != row.ascii {
				t.Errorf("ASCII alone: %v", got)
			}
		})
	}
}
