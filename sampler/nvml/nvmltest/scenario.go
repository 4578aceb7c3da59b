package nvmltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Scenario writes a scenario file and gives its path. A mistake in it fails the test at
// once; testdata/fakenvml/README.md describes the language.
func Scenario(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := check(t, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Shipped gives the path of a scenario of testdata/fakenvml/scenarios by its name
// without ending ("h100x8").
func Shipped(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(home(t), "scenarios", name+".txt")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func check(t testing.TB, path string) error {
	t.Helper()
	out, err := exec.Command(built(t, checker, "fakenvml-check"), path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("scenario: %w\n%s", err, out)
	}
	return nil
}

// Env is the environment, to append to that of a child, under which it finds the fake
// driver (nvpeak by NVPEAK_NVML, other monitors by LD_LIBRARY_PATH) playing a scenario.
// Further variables ("FAKENVML_STATS=...") may follow.
func Env(lib, scenario string, more ...string) []string {
	return append([]string{
		"NVPEAK_NVML=" + lib,
		"LD_LIBRARY_PATH=" + filepath.Dir(lib),
		"FAKENVML_SCENARIO=" + scenario,
	}, more...)
}

// StartAt sets time 0 of a scenario, for all processes that get this variable.
func StartAt(t time.Time) string {
	return fmt.Sprintf("FAKENVML_START=%d.%09d", t.Unix(), t.Nanosecond())
}

// StopAt stops a scenario's clock at a time from its beginning.
func StopAt(d time.Duration) string {
	return fmt.Sprintf("FAKENVML_TIME=%dns", d.Nanoseconds())
}

// StatsTo names the file that the fake writes calls and times to; see [ReadStats].
func StatsTo(path string) string {
	return "FAKENVML_STATS=" + path
}
