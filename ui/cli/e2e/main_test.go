package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
	_ "nvpeak/ui/cli" // what the binary is made of: a change of it makes cached results stale
	"nvpeak/ui/cli/e2e"
)

// binary is the nvpeak under test: built once a process, or a finished one that
// NVPEAK_TEST_BINARY names (that of a release).
var binary = os.Getenv("NVPEAK_TEST_BINARY")

// patience bounds every wait: far more than is needed, for a busy machine.
const patience = 20 * time.Second

// busy is what a busy machine may take for what takes next to nothing; what hangs takes longer.
const busy = patience / 2

func TestMain(m *testing.M) {
	flag.Parse()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) { // as where CI runs in the background, or after nohup: the programs under test would ignore it, too
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("6") //nolint:errcheck // the tests mostly wait, so more than one a core
	}
	if binary != "" {
		os.Exit(m.Run())
	}
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "nvpeak-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "nvpeak")
	if out, err := exec.Command("go", "build", "-o", binary, "nvpeak").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// setup is one run of nvpeak.
type setup struct {
	scenario string           // shipped name, or the text of one when it has several lines
	driver   nvmltest.Variant // age of the driver
	env      []string
	args     []string
	size     [2]int // columns and rows; 80x24
	program  string // binary
}

func (s setup) path() string {
	if s.program != "" {
		return s.program
	}
	return binary
}

// environ is small, so that nothing of the tester's reaches the program.
func (s setup) environ(t *testing.T) []string {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm-256color", "LANG=C.UTF-8", "COLORTERM=truecolor"}
	if s.scenario != "" {
		path := s.scenario
		if strings.Contains(path, "\n") {
			path = nvmltest.Scenario(t, path)
		} else {
			path = nvmltest.Shipped(t, path)
		}
		env = append(env, nvmltest.Env(nvmltest.Library(t, s.driver), path)...)
	}
	return append(env, s.env...)
}

// open starts the live monitor in a terminal.
func open(t *testing.T, s setup) *e2e.Terminal {
	t.Helper()
	if s.size == [2]int{} {
		s.size = [2]int{80, 24}
	}
	term, err := e2e.Start(e2e.Options{Args: append([]string{s.path()}, s.args...), Env: s.environ(t), Cols: s.size[0], Rows: s.size[1], Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return term
}

// result of a run without terminal.
type result struct {
	out, err string
	code     int
}

// run runs nvpeak with pipes to its end.
func run(t *testing.T, s setup) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.path(), s.args...)
	cmd.Env = s.environ(t)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v did not end", cmd)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// see waits for all the texts to be on the screen at the same time.
func see(t *testing.T, term *e2e.Terminal, texts ...string) string {
	t.Helper()
	return seeThat(t, term, fmt.Sprintf("%q", texts), func(s string) bool {
		for _, text := range texts {
			if !strings.Contains(s, text) {
				return false
			}
		}
		return true
	})
}

// seeMatch waits for the screen to match.
func seeMatch(t *testing.T, term *e2e.Terminal, pattern string) string {
	t.Helper()
	return seeThat(t, term, pattern, regexp.MustCompile(pattern).MatchString)
}

// gone waits for the text to leave the screen. After Esc it also waits until the key has
// been taken: a terminal sends Alt-q as Esc q.
func gone(t *testing.T, term *e2e.Terminal, text string) {
	t.Helper()
	seeThat(t, term, "screen without "+text, func(s string) bool { return !strings.Contains(s, text) })
}

func seeThat(t *testing.T, term *e2e.Terminal, what string, ok func(string) bool) (found string) {
	t.Helper()
	err := term.WaitFor(what, patience, func(s string) bool {
		found = s
		return ok(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func press(t *testing.T, term *e2e.Terminal, keys string) {
	t.Helper()
	if err := term.Type(keys); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end, and for a terminal as it was before.
func ends(t *testing.T, term *e2e.Terminal, code int) {
	t.Helper()
	got, err := term.Wait(patience)
	if err != nil {
		t.Fatalf("%v:\n%s", err, term.Screen())
	}
	if got != code {
		t.Errorf("exit code %d, want %d:\n%s", got, code, term.Screen())
	}
	restored(t, term)
}

func restored(t *testing.T, term *e2e.Terminal) {
	t.Helper()
	if s := term.State(); s.AltScreen || !s.CursorVisible {
		t.Errorf("the terminal is left %+v", s)
	}
}
