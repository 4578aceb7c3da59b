package tape

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The examples of docs/recording.md give what the reader gives.
func TestDocumentedExamples(t *testing.T) {
	doc, err := os.ReadFile("../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := recorded(t, 30, "a.jsonl")
	r, err := NewReader("a", bytes.NewReader(plain), int64(len(plain)))
	if err != nil {
		t.Fatal(err)
	}
	var perSecond, changes, peaks []string
	for {
		record, err := r.Next()
		if err != nil {
			break
		}
		if s := record.Snapshot; s != nil {
			var used, power []string
			for _, g := range s.GPUs {
				used = append(used, fmt.Sprint(uint64(g.Memory.Used.Or(0))))
				power = append(power, fmt.Sprint(g.Power.Or(0)))
			}
			perSecond = append(perSecond, strings.Join(append(used, power...), " "))
		}
		for _, reading := range record.Readings {
			if reading.Device == 0 {
				changes = append(changes, fmt.Sprint(uint64(reading.Used)))
			}
		}
		if record.End != nil {
			for _, p := range record.End.Peaks {
				peaks = append(peaks, fmt.Sprint(p.GPU))
			}
		}
	}
	python := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(doc)[1]
	if got := runTool(t, plain, "python3", "-c", string(python)); got != nil && strings.Join(got, "\n") != strings.Join(perSecond, "\n") {
		t.Errorf("python:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(perSecond, "\n"))
	}
	programs := regexp.MustCompile(`jq -r '(.*?)'`).FindAllSubmatch(doc, -1)
	for i, want := range [][]string{peaks, changes} {
		got := runTool(t, plain, "jq", "-r", string(programs[i][1]))
		if got == nil {
			continue
		}
		if len(got) != len(want) {
			t.Fatalf("jq %d: %d lines, want %d", i, len(got), len(want))
		}
		for n := range got {
			if i == 0 && !strings.HasPrefix(got[n], want[n]+" ") || i == 1 && !strings.HasSuffix(got[n], ","+want[n]) {
				t.Errorf("jq %d: %q, want %q", i, got[n], want[n])
			}
		}
	}
}

// runTool returns the lines a program prints, nil where it is not installed.
func runTool(t *testing.T, input []byte, name string, args ...string) []string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Logf("%s is not installed", name)
		return nil
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin = bytes.NewReader(input)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, problems.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
