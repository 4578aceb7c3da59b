package tape

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"nvpeak/sampler"
)

var updateLogs = flag.Bool("update-logs", false, "rewrite testdata/tapes/logs/*.want")

const logs = "../../testdata/tapes/logs/"

// outlineOf is what a reader makes of a log, in few words.
func outlineOf(t *testing.T, name string, text []byte, step time.Duration) string {
	t.Helper()
	r, err := NewReader(name, bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	defer r.Close()
	r.Every(step)
	var b strings.Builder
	for s := range r.Snapshots() {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprint(s.Time.Local().Format("2006-01-02 15:04:05"), " ", s.Host, " ", s.Driver, " ", s.CUDA)))
		for _, g := range s.GPUs {
			fmt.Fprintf(&b, "  %s %q %s %s used %s of %s reserved %s free %s; %s%% %s C %s/%s W %s ecc %s error %q\n", g.Label(), g.Name, g.UUID, g.PCI,
				said(g.Memory.Used), said(g.Memory.Total), said(g.Memory.Reserved), said(g.Memory.Free), said(g.Utilization.GPU), said(g.Temperature),
				said(g.Power), said(g.PowerLimit), said(g.PerformanceState), said(g.ECCUncorrected), g.Error.Or(""))
			for _, p := range g.Processes {
				fmt.Fprintf(&b, "    %d %s %q %q %s %s\n", p.PID, p.User, p.Name, p.Command, p.Type, said(p.Memory))
			}
		}
	}
	for _, n := range r.Notes(english) {
		fmt.Fprintln(&b, "-", n)
	}
	return b.String()
}

func said[T comparable](o sampler.Opt[T]) string {
	if v, ok := o.Value(); ok {
		return fmt.Sprint(v)
	}
	return "?"
}

// TestForeignLogs reads the logs of testdata/tapes/logs, and says what is beside them.
func TestForeignLogs(t *testing.T) {
	files, _ := filepath.Glob(logs + "*")
	for _, name := range files {
		if strings.HasSuffix(name, ".want") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := outlineOf(t, filepath.Base(name), text, 0)
			if *updateLogs {
				if err := os.WriteFile(name+".want", []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".want")
			if err != nil || got != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", err, got, want)
			}
			for kind, again := range map[string][]byte{"CRLF": crlf(text), "UTF-16": asUTF16(t, text), "indented": indented(text)} {
				if again := outlineOf(t, filepath.Base(name), again, 0); again != got && !(kind == "indented" && strings.HasPrefix(name, logs+"gpustat-ind")) {
					t.Errorf("as %s:\n%s\nwant\n%s", kind, again, got)
				}
			}
		})
	}
}

func crlf(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}

func indented(text []byte) []byte {
	return append([]byte("    "), bytes.ReplaceAll(text, []byte("\n"), []byte("\n    "))...)
}

func asUTF16(t *testing.T, text []byte) []byte {
	t.Helper()
	b, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A log cut anywhere gives what it gave before, and says so.
func TestForeignLogsCut(t *testing.T) {
	for _, name := range []string{"smi-470-cut.log", "smi.xml", "gpustat-lines.json", "gpustat-indented.json", "dmon-dt.log", "pmon.log", "gpustat.txt"} {
		text, err := os.ReadFile(logs + name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < len(text); n += 7 {
			outlineOf(t, name, text[:n], 0)
			outlineOf(t, name, text[n:], 0)
		}
	}
}

// The readings of a log without times are as far apart as is said, on no day that anybody takes for one.
func TestUntimedStep(t *testing.T) {
	text, err := os.ReadFile(logs + "dmon-plain.log")
	if err != nil {
		t.Fatal(err)
	}
	got := outlineOf(t, "dmon", text, 5*time.Second)
	for _, want := range []string{"1970-01-02 00:00:00", "1970-01-02 00:00:05", "1970-01-02 00:00:10", "no timestamps", "5s"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r, err := NewReader("dmon", bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var before []time.Time
	for s := range r.Snapshots() {
		before = append(before, s.Time)
	}
	if err := r.Seek(before[1]); err != nil { // the count begins anew
		t.Fatal(err)
	}
	for s := range r.Snapshots() {
		if !s.Time.Equal(before[1]) {
			t.Errorf("%s after a seek, want %s", s.Time, before[1])
		}
		break
	}
}

// What a log cannot tell is refused with what to ask for instead.
func TestMonitorLogWithoutMemory(t *testing.T) {
	for _, text := range []string{"# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n    0     43     33      -      0      0\n",
		"# gpu         pid   type     sm    mem    enc    dec    command\n    0       7959     C      0      0      -      -    python\n"} {
		_, err := NewReader("log", strings.NewReader(text), int64(len(text)))
		if !errors.Is(err, ErrNoFB) {
			t.Errorf("%v for %q", err, text)
		}
	}
}

// Absurd figures are no figures: nothing panics, and the line is named.
func TestForeignAbsurd(t *testing.T) {
	table, err := os.ReadFile(logs + "smi-418.log")
	if err != nil {
		t.Fatal(err)
	}
	for old, absurd := range map[string]string{
		"4012MiB / 11178MiB": "99999999999999999999MiB / 999999999999999999999999MiB",
		"4012MiB":            "99999999MiB",
		"20112":              "9999999999",
		"|   0  GeForce":     "|9999  GeForce",
	} {
		got := outlineOf(t, "smi", bytes.Replace(table, []byte(old), []byte(absurd), 1), 0)
		if strings.Contains(got, "9999999 MiB") || !strings.Contains(got, "line") {
			t.Errorf("%s:\n%s", absurd, got)
		}
	}
	pmon := "# gpu pid type fb command\n0 12 C 99999999999999999999999 python\n0 13 C 18446744073709551615 python\n"
	if got := outlineOf(t, "pmon", []byte(pmon), 0); strings.Contains(got, "E ") {
		t.Error(got)
	}
}

// Many GPUs and processes in one sweep are cut off.
func TestForeignBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("# gpu pid type fb command\n")
	for g := range 1000 {
		for p := range 5 {
			fmt.Fprintf(&b, "%d %d C 1 python\n", g, p+1)
		}
	}
	got := outlineOf(t, "pmon", []byte(b.String()), 0)
	if gpus := strings.Count(got, " used "); gpus > maxGPUs || !strings.Contains(got, "more than") {
		t.Errorf("%d GPUs, %d bytes", gpus, len(got))
	}
}
