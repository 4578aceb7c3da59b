package plain

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// The table says how much was free at worst, and what is open, and sends no escape codes.
func TestTableSaysHeadroomAndAlerts(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	s := &sampler.Snapshot{Host: "box", Alerts: []sampler.Alert{{Text: "GPU 0: runs out"}, {Text: "GPU 1: so does this"}},
		GPUs: []sampler.GPU{{Name: "L40S", Memory: sampler.Memory{Free: some(40 * sampler.GiB), WorstFree: some(2 * sampler.GiB), Total: some(48 * sampler.GiB)}}, {Index: 1}}}
	var b strings.Builder
	if err := Table(&b, s, "", Options{}, lang.English()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	at := strings.Index(lines[2], "AT WORST")
	if at < 0 || lines[3][at:at+8] != " 2.0 GiB" || strings.TrimSpace(lines[4][at:at+8]) != "N/A" {
		t.Errorf("no headroom:\n%s", b.String())
	}
	if !strings.Contains(b.String(), "\n\n! GPU 0: runs out\n! GPU 1: so does this\n") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("alerts:\n%q", b.String())
	}
}

// No head is left in English, however wide a terminal is; what is a word in no language stays.
func TestTableSpeaks(t *testing.T) {
	s := &sampler.Snapshot{GPUs: []sampler.GPU{{Name: "L40S", Processes: []sampler.Process{{PID: 7, User: "ann", Type: "compute", Command: "python"}}}}}
	chinese, _ := lang.Named("zh")
	for _, width := range []int{0, 80, 60} {
		var b strings.Builder
		if err := Table(&b, s, "", Options{Width: width}, chinese); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(b.String(), "\n") {
			if i != 2 && i != 5 {
				continue
			}
			for word := range strings.FieldsSeq(line) {
				if word[0] < 0x80 && !slices.Contains([]string{"GPU", "PID", "SM", "CPU"}, word) {
					t.Errorf("width %d: %q in %q", width, word, line)
				}
			}
		}
		if !strings.Contains(b.String(), "最小空闲") || !strings.Contains(b.String(), "命令") {
			t.Errorf("width %d:\n%s", width, b.String())
		}
	}
}

// On a terminal no line is longer than it: columns about anything but memory go first, and commands are cut.
func TestTableOnTerminal(t *testing.T) {
	s := &sampler.Snapshot{GPUs: []sampler.GPU{{Name: "NVIDIA GeForce RTX 4090", Memory: sampler.Memory{Free: sampler.Some(40 * sampler.GiB), Total: sampler.Some(48 * sampler.GiB)},
		Processes: []sampler.Process{{PID: 7, User: "ann", Type: "compute", Command: "python train.py " + strings.Repeat("--option ", 20), Memory: sampler.Some(sampler.GiB)}}}}}
	for width, row := range map[int]struct{ there, gone []string }{
		0:   {[]string{"TEMP", "POWER", "TYPE", "TIME", "AT WORST", "--option --option"}, []string{"…"}},
		130: {[]string{"TEMP", "POWER", "TYPE", "TIME", "AT WORST", "…"}, nil},
		80:  {[]string{"NAME", "AT WORST", "TOTAL", "MEMORY", "PEAK", "COMMAND", "python train.py", "…"}, []string{"TEMP", "POWER", "TYPE"}},
		40:  {[]string{"MEMORY", "…"}, []string{"UTIL", "TIME", "USER"}},
	} {
		var b strings.Builder
		if err := Table(&b, s, "", Options{Width: width}, lang.English()); err != nil {
			t.Fatal(err)
		}
		for _, want := range row.there {
			if !strings.Contains(b.String(), want) {
				t.Errorf("width %d: no %q in\n%s", width, want, b.String())
			}
		}
		for _, not := range row.gone {
			if strings.Contains(b.String(), not) {
				t.Errorf("width %d: %q in\n%s", width, not, b.String())
			}
		}
		for line := range strings.Lines(b.String()) {
			if n := columns(strings.TrimSuffix(line, "\n")); width > 0 && n > width && !strings.HasPrefix(line, "0001-") {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
	}
}

// However narrow a terminal is, the figures that are there are whole: names give way to them, and alerts go on in the next line.
func TestTableCutsNoFigure(t *testing.T) {
	some := sampler.Some[sampler.Bytes]
	s := &sampler.Snapshot{Host: "box", Driver: "580.159.03", CUDA: "13.0", Alerts: []sampler.Alert{{Text: "GPU 0: " + strings.Repeat("word ", 30)}}, GPUs: []sampler.GPU{
		{Name: "NVIDIA RTX 6000 Ada Generation", Memory: sampler.Memory{Used: some(9 * sampler.GiB), Free: some(1000 * sampler.MiB), WorstFree: some(0), Total: some(475 * sampler.GiB / 10),
			Peak: &sampler.Peak{Bytes: 40 * sampler.GiB}}}}}
	for width := 40; width <= 160; width++ {
		var b strings.Builder
		if err := Table(&b, s, "", Options{Width: width, ASCII: true}, lang.English()); err != nil {
			t.Fatal(err)
		}
		table, alerts, _ := strings.Cut(b.String(), "\n!")
		for line := range strings.Lines(b.String()) {
			if n := columns(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
		if !strings.Contains(table, " TOTAL\n") || !strings.Contains(table, " 47.5 GiB\n") || !strings.Contains(table, " 0 B  ") || strings.Count(alerts, "word") != 30 {
			t.Errorf("width %d:\n%s", width, b.String())
		}
		for _, r := range b.String() {
			if r > '~' {
				t.Errorf("width %d: %q with --ascii", width, r)
			}
		}
	}
}
