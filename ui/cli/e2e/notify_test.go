package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
)

// theLost has a GPU that gives no figures: a critical alert after a few seconds.
const theLost = "gpu 0-1\nmem 0-1 used=30GiB\nfail nvmlDeviceGetMemoryInfo* gpu=1 from=0s code=GPU_IS_LOST\n"

// headless runs a command without a screen until its file is there, and ends it.
func headless(t *testing.T, file string, env []string, args ...string) (out, errs string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(setup{scenario: theLost}.environ(t), env...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			break
		}
	}
	cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
	cmd.Wait()                          //nolint:errcheck // the texts tell
	return o.String(), e.String()
}

// Commands without a screen pass alerts on.
func TestHeadlessAlerts(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"record -o DIR/run.jsonl", "stream"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "alert")
			_, errs := headless(t, file, nil, append(strings.Fields(strings.ReplaceAll(command, "DIR", dir)), "--on-alert", "cat > "+file)...)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("nothing was passed on: %s", errs)
			}
			var a sampler.Alert
			if err := json.Unmarshal(b, &a); err != nil || a.Kind != sampler.AlertGPULost || a.Level != sampler.LevelCritical {
				t.Errorf("%v: passed on %s", err, b)
			}
		})
	}
}

// What cannot be passed on is said, counted in the stream, and remembered for doctor.
func TestAlertsNotPassedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, state := filepath.Join(dir, "tried"), []string{"XDG_STATE_HOME=" + dir}
	out, errs := headless(t, file, state, "stream", "--interval", "200ms", "--on-alert", "echo x > "+file+"; sleep 1; exit 3")
	if !strings.Contains(errs, "--on-alert: the command ended with exit status 3; alerts not passed on: 1\n") {
		t.Errorf("standard error has %q", errs)
	}
	if !strings.Contains(out, `"alert_delivery":[{"way":"on-alert","sent":0,"failed":0,"retries":0,"waiting":1,`) {
		t.Error("the stream does not count the alert that waits")
	}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}} {
		if r := run(t, setup{scenario: theLost, env: state, args: args}); !strings.Contains(r.out, "exit status 3") {
			t.Errorf("%v does not tell of the failure:\n%s", args, r.out)
		}
	}
}

// The screen says in its footer what fails.
func TestScreenTellsTrouble(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	term := open(t, setup{scenario: theLost, size: [2]int{120, 30}, args: []string{"--webhook", srv.URL, "--webhook-private"}})
	see(t, term, "--webhook: the webhook answered 404 Not Found")
	press(t, term, "q")
	ends(t, term, 0)
}

// A webhook that can never be posted to is refused at the start, on a screen and without one.
func TestWebhookInside(t *testing.T) {
	t.Parallel()
	const why = "the webhook is on a loopback or private address: add --webhook-private to allow it"
	for _, args := range [][]string{{"stream"}, {"record", "-o", "-"}, {"run", "--", "true"}, {"export", "--listen", "127.0.0.1:0"}} {
		args = slices.Insert(args, 1, "--webhook", "http://127.0.0.1:9/")
		if r := run(t, setup{scenario: theLost, args: args}); r.code != 2 || r.out != "" || r.err != "nvpeak: "+why+"\n" {
			t.Errorf("%v: %+v", args, r)
		}
	}
	term := open(t, setup{scenario: theLost, size: [2]int{120, 30}, args: []string{"--webhook", "http://127.0.0.1:9/"}})
	ends(t, term, 2)
}

// Where the monitor has no terminal it prints one table, and refuses what that cannot honor.
func TestScreenOnlyOptions(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"--on-alert=true", "--webhook=https://example.com", "--notify=bell", "--record=x.jsonl", "--log=train.log"} {
		name, _, _ := strings.Cut(option, "=")
		if r := run(t, setup{scenario: theLost, args: []string{option}}); r.code != 2 || r.out != "" || !strings.HasPrefix(r.err, "nvpeak: "+name+" needs a screen") {
			t.Errorf("%s: %+v", option, r)
		}
	}
}
