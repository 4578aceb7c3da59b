package tape

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

func csvSnapshots(t *testing.T, text string) ([]*sampler.Snapshot, []string) {
	t.Helper()
	r, err := NewReader("log.csv", strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var all []*sampler.Snapshot
	for s := range r.Snapshots() {
		all = append(all, s)
	}
	return all, r.Notes(english)
}

func TestCSV(t *testing.T) {
	names := "timestamp, index, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%], power.draw [W]\n"
	row := func(second string, index string, used string) string {
		return "2026/11/20 14:03:" + second + ", " + index + ", NVIDIA A40, " + used + ", 46068 MiB, 97 %, 289.50 W\n"
	}
	for _, c := range []struct {
		what, text string
		want       string // rounds of index=used in MiB
		notes      string
	}{
		{"two GPUs", names + row("22.123", "0", "100 MiB") + row("22.125", "1", "200 MiB") + row("23.123", "0", "300 MiB") + row("23.126", "1", "400 MiB"), "0=100 1=200|0=300 1=400", ""},
		{"semicolons and decimal commas", strings.ReplaceAll(names, ",", ";") + "2026/11/20 14:03:22,1; 0; NVIDIA A40, 48 GB; 100,5 MiB; 46068 MiB; 97 %; 289,50 W\n", "0=100.5", ""},
		{"names repeated", names + row("22.1", "0", "100 MiB") + names + row("23.1", "0", "200 MiB"), "0=100|0=200", ""},
		{"a row lost", names + row("22.1", "0", "1 MiB") + row("22.2", "1", "2 MiB") + row("23.1", "1", "3 MiB") + row("24.1", "0", "4 MiB"), "0=1 1=2|1=3|0=4", ""},
		{"not available", names + row("22.1", "0", "[N/A]") + row("23.1", "0", "[Not Supported]") + row("24.1", "0", "5 MiB"), "0=?|0=?|0=5", ""},
		{"cut", names + row("22.1", "0", "1 MiB") + "2026/11/20 14:03:23.1, 0, NVIDIA A4", "0=1", "cut in line 3"},
		{"garbage", names + row("22.1", "0", "1 MiB") + "No devices were found\n" + row("23.1", "0", "2 MiB"), "0=1|0=2", "skipped: line 3"},
		{"carriage returns", strings.ReplaceAll(names+row("22.1", "0", "1 MiB"), "\n", "\r\n"), "0=1", ""},
		{"carriage returns, garbage", strings.ReplaceAll(names+row("22.1", "0", "1 MiB")+"No devices were found\n"+row("23.1", "0", "2 MiB"), "\n", "\r\n"), "0=1|0=2", "skipped: line 3"},
		{"carriage returns alone", strings.ReplaceAll(names+row("22.1", "0", "1 MiB")+"No devices were found\n", "\n", "\r"), "0=1", "skipped: line 3"},
		{"no units, other order", "memory.total [MiB],index,memory.used [MiB],timestamp\n46068, 0, 7, 2026/11/20 14:03:22.123\n46068, 1, 8, 2026/11/20 14:03:22.123\n", "0=7 1=8", ""},
		{"no index", "timestamp, memory.used [MiB], memory.total [MiB]\n2026/11/20 14:03:22.1, 1 MiB, 9 MiB\n2026/11/20 14:03:22.1, 2 MiB, 9 MiB\n2026/11/20 14:03:23.1, 3 MiB, 9 MiB\n", "0=1 1=2|0=3", ""},
		{"uuids", "uuid, memory.used [MiB], memory.free [MiB]\nGPU-a, 1 MiB, 9 MiB\nGPU-b, 2 MiB, 9 MiB\nGPU-a, 3 MiB, 9 MiB\n", "0=1 1=2|0=3", "no timestamp"},
		{"free instead of used", "timestamp, index, memory.total [MiB], memory.free [MiB]\n2026/11/20 14:03:22.1, 0, 10 MiB, 4 MiB\n", "0=6", ""},
		{"quoted", "\"timestamp\",\"index\",\"memory.used [MiB]\",\"memory.total [MiB]\"\n\"2026-11-20 14:03:22\",\"0\",\"5 MiB\",\"9 MiB\"\n", "0=5", ""},
		{"byte order mark", "\xef\xbb\xbf" + names + row("22.1", "0", "1 MiB"), "0=1", ""},
		{"text before", "Fri Nov 20 2026\n" + names + row("22.1", "0", "1 MiB"), "0=1", "skipped: line 1"},
		{"no rows yet", names, "", ""},
		{"absurd", names + row("22.1", "0", "17592186044415 MiB") + row("23.1", "0", "99999 MiB"), "", ""},
	} {
		all, notes := csvSnapshots(t, c.text)
		var rounds []string
		for _, s := range all {
			var round []string
			for _, g := range s.GPUs {
				used := "?"
				if u, ok := g.Memory.Used.Value(); ok {
					used = strings.TrimSuffix(strings.TrimSuffix(u.String(), " MiB"), ".0")
				}
				round = append(round, string(rune('0'+g.Index))+"="+used)
			}
			rounds = append(rounds, strings.Join(round, " "))
		}
		got := strings.Join(rounds, "|")
		if c.what == "absurd" {
			for _, s := range all {
				if m := s.GPUs[0].Memory; m.Used.Or(0) > m.Total.Or(0) {
					t.Errorf("absurd: %+v", m)
				}
			}
			continue
		}
		if joined := strings.Join(notes, "|"); got != c.want || !strings.Contains(joined, c.notes) || c.notes == "" && joined != "" {
			t.Errorf("%s: %s, notes %q; want %s, %q", c.what, got, notes, c.want, c.notes)
		}
	}
}

func TestCSVFields(t *testing.T) {
	all, _ := csvSnapshots(t, "timestamp, index, uuid, pci.bus_id, name, driver_version, memory.total [MiB], memory.reserved [MiB], memory.used [MiB], utilization.gpu [%], "+
		"temperature.gpu, fan.speed [%], power.draw [W], power.limit [W], clocks.current.sm [MHz], clocks.mem [MHz], pstate, pcie.link.gen.current, ecc.errors.uncorrected.volatile.total, compute_cap\n"+
		"2026/11/20 14:03:22.123, 3, GPU-1, 00000000:01:00.0, NVIDIA A40, 580.159.03, 46068 MiB, 500 MiB, 1000 MiB, 97 %, 61, [N/A], 289.50 W, 300.00 W, 1740 MHz, 7250 MHz, P0, 4, [N/A], 8.6\n")
	if len(all) != 1 {
		t.Fatal(len(all))
	}
	s, g := all[0], all[0].GPUs[0]
	if !s.Time.Equal(time.Date(2026, 11, 20, 14, 3, 22, 123e6, time.Local)) || s.Driver != "580.159.03" || g.Index != 3 || g.UUID != "GPU-1" || g.Name != "NVIDIA A40" {
		t.Errorf("%+v", s)
	}
	if g.Memory.Free.Or(0) != (46068-1500)*sampler.MiB || g.Utilization.GPU.Or(0) != 97 || g.Fan.Known() || g.Power.Or(0) != 289.5 ||
		g.Clocks.SM.Or(0) != 1740 || g.PerformanceState.Or("") != "P0" || g.PCIe.Generation.Or(0) != 4 || g.ECCUncorrected.Known() || g.ComputeCapability.Or("") != "8.6" {
		t.Errorf("%+v", g)
	}
}

func TestPackedCSV(t *testing.T) {
	text := "timestamp, index, memory.used [MiB], memory.total [MiB]\n" + strings.Repeat("2026/11/20 14:03:22.1, 0, 1 MiB, 9 MiB\n", 3)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text))
	z.Close()
	wide := "\xff\xfe"
	for _, c := range text {
		wide += string([]byte{byte(c), 0})
	}
	for what, b := range map[string]string{"gzip": packed.String(), "UTF-16": wide} {
		if all, notes := csvSnapshots(t, b); len(all) != 3 || len(notes) > 0 {
			t.Errorf("%s: %d snapshots, notes %q", what, len(all), notes)
		}
	}
	if _, notes := csvSnapshots(t, packed.String()[:packed.Len()-12]); !strings.Contains(strings.Join(notes, " "), "gzip data is cut") {
		t.Errorf("cut gzip: notes %q", notes)
	}
}

// What can be meant in two ways, and what is wrong, is said with its line.
func TestCSVFlaws(t *testing.T) {
	const names = "timestamp, index, memory.used [MiB], memory.total [MiB]\n"
	const at = "2026/11/20 14:03:22.1, "
	good := "2026/11/20 14:03:23.1, 0, 7 MiB, 9 MiB\n"
	for _, c := range []struct {
		what, text string
		used       sampler.Bytes // of the first snapshot; 0: there is none but the good one
		notes      string
	}{
		{"clamped", names + at + "0, 99 MiB, 9 MiB\n" + good, 9 * sampler.MiB, "line 2: more memory in use than the GPU has"},
		{"twice", "timestamp, index, memory.used [MiB], memory.used [MiB], memory.total [MiB]\n" + at + "0, 5 MiB, 6 MiB, 9 MiB\n", 5 * sampler.MiB, "line 1: the column memory.used comes twice"},
		{"a point", names + at + "0, 1.000 MiB, 9 MiB\n" + good, sampler.MiB, "line 2: a point before three digits"},
		{"index", names + at + "600000, 5 MiB, 9 MiB\n" + good, 0, "line 2: no index of a GPU"},
		{"negative index", names + at + "-3, 5 MiB, 9 MiB\n" + good, 0, "line 2: no index of a GPU"},
		{"part of an index", names + at + "1.5, 5 MiB, 9 MiB\n" + good, 0, "line 2: no index of a GPU"},
		{"bytes under MiB", names + at + "0, 9663676416, 85899345920\n" + good, 9663676416 * sampler.MiB, "line 2: a GPU with 16 TiB or more cannot be"},
		{"no memory", names + good + at + "1, 0 MiB, 0 MiB\n", 7 * sampler.MiB, "line 3: a GPU with 0 MiB of memory"},
		{"another total", names + at + "0, 5 MiB, 8 MiB\n" + good, 5 * sampler.MiB, "line 3: the memory of a GPU is not what it was"},
		{"thousands", names + at + "0, \"81,920 MiB\", \"819,200 MiB\"\n" + good, 80 * sampler.GiB, "line 3: the memory of a GPU is not what it was"},
		{"thousands set apart", names + at + "0, 81 920 MiB, 819'200 MiB\n" + good, 80 * sampler.GiB, "line 3: the memory of a GPU is not what it was"},
		{"millions", names + at + "0, 1.048.576 MiB, \"2,097,152 MiB\"\n" + good, sampler.TiB, "line 3: the memory of a GPU is not what it was"},
		{"a decimal comma", names + at + "0, \"7,5 MiB\", \"9,5 MiB\"\n" + good, 15 * sampler.MiB / 2, "line 3: the memory of a GPU is not what it was"},
		{"thousands without quotes", names + at + "0, 81,920 MiB, 819,200 MiB\n" + good, 0, "line 2: more cells than columns"},
		{"quotes", "timestamp, name, index, memory.used [MiB], memory.total [MiB]\n" + at + "\"a \"\"b\"\", c\", 0, 5 MiB, 9 MiB\n", 5 * sampler.MiB, ""},
		{"amount", names + at + "0, five, 9 MiB\n" + good, 0, "line 2: an amount of memory that cannot be read"},
		{"time", names + "yesterday, 0, 5 MiB, 9 MiB\n" + good, 0, "line 2: a time that cannot be read"},
		{"commas", names + strings.Repeat(",", 1<<20) + "\n" + good, 0, "line 2: more cells than columns"},
		{"columns", strings.TrimSpace(names) + strings.Repeat(", x", 2000) + "\n" + at + "0, 5 MiB, 9 MiB" + strings.Repeat(", x", 2000) + "\n", 5 * sampler.MiB, "line 1: more than 1024 columns"},
		{"bare CR", strings.ReplaceAll(names+at+"0, 5 MiB, 9 MiB\n"+good, "\n", "\r"), 5 * sampler.MiB, ""},
		{"big-endian", inPairs("\ufeff"+names+at+"0, 5 MiB, 9 MiB\n"+good, 1), 5 * sampler.MiB, ""},
		{"big-endian without a mark", inPairs(names+at+"0, 5 MiB, 9 MiB\n"+good, 1), 5 * sampler.MiB, ""},
		{"little-endian without a mark", inPairs(names+at+"0, 5 MiB, 9 MiB\n"+good, 0), 5 * sampler.MiB, ""},
	} {
		all, notes := csvSnapshots(t, c.text)
		if len(all) == 0 {
			t.Errorf("%s: no snapshot, notes %q", c.what, notes)
			continue
		}
		want := c.used
		if want == 0 {
			want = 7 * sampler.MiB
		}
		if got := all[0].GPUs[0].Memory.Used.Or(0); got != want {
			t.Errorf("%s: %v, want %v", c.what, got, want)
		}
		if joined := strings.Join(notes, "|"); !strings.Contains(joined, c.notes) || c.notes == "" && joined != "" {
			t.Errorf("%s: notes %q; want %q", c.what, notes, c.notes)
		}
	}
}

// inPairs is a text in two bytes per character; low is where the low one stands.
func inPairs(text string, low int) string {
	var b []byte
	for _, c := range text {
		pair := [2]byte{byte(c >> 8), byte(c >> 8)}
		pair[low] = byte(c)
		b = append(b, pair[0], pair[1])
	}
	return string(b)
}

// Spreadsheets write dates with the day or the month first.
func TestCSVDates(t *testing.T) {
	const names = "timestamp, index, memory.used [MiB], memory.total [MiB]\n"
	for _, c := range []struct{ dates, want, notes string }{
		{"20/11/2026 14:03:22.123", "11-20 14:03:22", ""},
		{"20.11.2026 14:03:22", "11-20 14:03:22", ""},
		{"05.11.2026 14:03:22", "11-05 14:03:22", ""},
		{"20-11-2026 14:03", "11-20 14:03:00", ""},
		{"11/20/2026 2:03:22 PM", "11-20 14:03:22", ""},
		{"05/11/2026 14:03:22", "11-05 14:03:22", "line 2: a date that may have the day or the month first"},
		{"11/20/2026 14:03:22|12/01/2026 14:03:22", "11-20 14:03:22|12-01 14:03:22", "line 3: a date that may"},
		{"2026/11/20 14:03", "11-20 14:03:00", ""},
	} {
		text := names
		for _, d := range strings.Split(c.dates, "|") {
			text += d + ", 0, 5 MiB, 9 MiB\n"
		}
		all, notes := csvSnapshots(t, text)
		var got []string
		for _, s := range all {
			got = append(got, s.Time.In(time.Local).Format("01-02 15:04:05"))
		}
		if joined := strings.Join(notes, "|"); strings.Join(got, "|") != c.want || !strings.Contains(joined, c.notes) || c.notes == "" && joined != "" {
			t.Errorf("%s: %v, notes %q; want %s, %q", c.dates, got, notes, c.want, c.notes)
		}
	}
}
