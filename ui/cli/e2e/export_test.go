package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// exporting starts `export` on a free port and returns its address; stop ends it, and says how.
func exporting(t *testing.T, s setup) (url string, stop func() (code int, said string)) {
	t.Helper()
	url, stop, _ = exportingWith(t, s)
	return url, stop
}

// exportingWith also returns what sends it signals.
func exportingWith(t *testing.T, s setup) (url string, stop func() (code int, said string), signal func(os.Signal)) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"export", "--listen", "127.0.0.1:0"}, s.args...)...)
	cmd.Env = s.environ(t)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	lines := bufio.NewReader(errs)
	first, err := lines.ReadString('\n')
	where := regexp.MustCompile(`https?://\S+/metrics`).FindString(first)
	if where == "" {
		t.Fatalf("%v: %q", err, first)
	}
	return where, func() (int, string) {
			cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // then it has ended
			rest, _ := io.ReadAll(lines)        //nolint:errcheck // the end of the pipe
			cmd.Wait()                          //nolint:errcheck // the exit code tells
			return cmd.ProcessState.ExitCode(), string(rest)
		}, func(sig os.Signal) {
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
}

// status is that of an answer, and its text.
func status(t *testing.T, url, user, password string) (int, string) {
	t.Helper()
	ask, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		ask.SetBasicAuth(user, password)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func fetched(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	answer, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v %s: %s", err, answer.Status, text)
	}
	return string(text)
}

// Two scrapers from one address, as replicas of Prometheus are, are both told every spike of 50 ms between their scrapes.
func TestExportTellsEverySpikeToEveryScraper(t *testing.T) {
	t.Parallel()
	url, stop := exporting(t, setup{scenario: "gpu 0-1\nmem 0-1 used=42GiB\nspike 0 at=1.5s width=50ms height=10GiB every=2.1s count=5\n"})
	clients := []*http.Client{{Transport: &http.Transport{}}, {Transport: &http.Transport{}}}
	told := make([]int, len(clients))
	peak := regexp.MustCompile(`nvpeak_gpu_memory_scrape_peak_bytes\{gpu="0",[^}]*\} (\S+)`)
	for _, c := range clients { // whoever comes first gets the past, too
		fetched(t, c, url)
	}
	for end := time.Now().Add(13 * time.Second); time.Now().Before(end); {
		time.Sleep(time.Second)
		for i, c := range clients {
			found := peak.FindStringSubmatch(fetched(t, c, url))
			if found == nil {
				t.Fatal("no peak")
			}
			var bytes float64
			if _, err := fmt.Sscan(found[1], &bytes); err != nil {
				t.Fatal(err)
			}
			if bytes > 50*(1<<30) {
				told[i]++
			}
		}
	}
	for i, n := range told { // one that stands while it is scraped is told once more, rightly
		if n < 5 || n > 7 {
			t.Errorf("scraper %d was told %d times of 5 spikes", i, n)
		}
	}
	if code, said := stop(); code != 128+int(syscall.SIGTERM) || said != "" {
		t.Errorf("it ended with %d and %q", code, said)
	}
}

// What it cannot serve on, or may not, is one line.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	url, _ := exporting(t, setup{args: []string{"--demo"}})
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	config := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(config, []byte("basic_auth_users: {ann: secret}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args string
		code int
		says string
	}{
		{"--listen " + taken, 1, "address already in use"},
		{"--listen 9835", 2, "an address and a port"},
		{"--systemd-socket", 2, "handed over no socket"},
		{"--processes 5000", 2, "from 0 to 1024"},
		{"--web-config " + config, 2, "no bcrypt hash"},
		{"--web-config " + config + ".no", 2, "no such file"},
	} {
		got := run(t, setup{args: append([]string{"export", "--demo"}, strings.Fields(row.args)...)})
		if got.code != row.code || !strings.Contains(got.err, row.says) || strings.Count(got.err, "\n") != 1 || strings.Contains(got.err, "secret") {
			t.Errorf("%s: %d %q", row.args, got.code, got.err)
		}
	}
}

// While the driver is away the exporter is not healthy and says why, the alert that was open stays, and no figure is new; when it is back
// the GPU that is still lost is the same alert.
func TestExportWhileTheDriverIsAway(t *testing.T) {
	t.Parallel()
	url, stop := exporting(t, setup{scenario: "gpu 0-1 total=80GiB\nmem 0-1 used=20GiB\nfail * code=GPU_IS_LOST gpu=1 from=1s\nreload at=5s down=6s\n"})
	health := strings.TrimSuffix(url, "/metrics") + "/-/healthy"
	alert := regexp.MustCompile(`(?m)^nvpeak_alert\{gpu="1",kind="gpu_lost".* 1$`)
	var begun, away, back bool
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end) && !back; time.Sleep(200 * time.Millisecond) {
		code, why := status(t, health, "", "")
		if begun = begun || code == http.StatusOK; !begun {
			continue // the first figures are on their way
		}
		text := fetched(t, http.DefaultClient, url)
		if code != http.StatusOK {
			if code != http.StatusServiceUnavailable || !strings.HasPrefix(why, "no GPU can be read: driver connection lost") || strings.Count(why, "\n") != 1 {
				t.Fatalf("%d %q", code, why)
			}
			away = true
		}
		if away && !alert.MatchString(text) {
			t.Fatalf("the lost GPU is found:\n%s", regexp.MustCompile(`(?m)^nvpeak_(alert|gpu_up|driver_up).*$`).FindAllString(text, -1))
		}
		back = away && code == http.StatusOK && strings.Contains(text, "\nnvpeak_driver_up 1\n")
	}
	if !away || !back {
		t.Fatalf("away %v, back %v", away, back)
	}
	time.Sleep(4 * time.Second) // the alert is raised anew
	if text := fetched(t, http.DefaultClient, url); !alert.MatchString(text) || !regexp.MustCompile(`(?m)^nvpeak_alerts_total\{gpu="1",kind="gpu_lost".* 1$`).MatchString(text) {
		t.Errorf("afterwards:\n%s", regexp.MustCompile(`(?m)^nvpeak_alert.*$`).FindAllString(text, -1))
	}
	if _, said := stop(); said != "" {
		t.Errorf("it said %q", said)
	}
}

// A password that is changed counts at once, the probe needs none, and SIGHUP ends nothing and says what came of it.
func TestExportReadsItsWebConfigAgain(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "web.yml")
	write := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const red, blue = "$2a$04$k7yGMK4neLYLviWWwTa3P.nUNFfXV7faulrCiG8hK/95kxgPSZM0W", "$2a$04$YjPVphKYs.cZbCuGXiAxcuDD0mddsZEViJggGL1EJfOZSBmd.GPMG"
	write("basic_auth_users: {ann: " + red + "}")
	url, stop, signal := exportingWith(t, setup{args: []string{"--demo", "--web-config", config}})
	want := func(path, user, password string, code int) {
		t.Helper()
		if got, _ := status(t, strings.TrimSuffix(url, "/metrics")+path, user, password); got != code {
			t.Errorf("%s as %s %s: %d, want %d", path, user, password, got, code)
		}
	}
	want("/metrics", "ann", "red", 200)
	want("/metrics", "", "", 401)
	want("/-/healthy", "", "", 200)
	write("basic_auth_users: {ann: " + blue + "}")
	want("/metrics", "ann", "red", 401)
	want("/metrics", "ann", "blue", 200)
	signal(syscall.SIGHUP)
	time.Sleep(time.Second)
	write("basic_auth_users: {ann: blue}")
	signal(syscall.SIGHUP)
	time.Sleep(time.Second)
	want("/metrics", "ann", "blue", 200)
	code, said := stop()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if code != 128+int(syscall.SIGTERM) || lines[0] != "nvpeak: --web-config was read again" || !strings.Contains(said, "line 1: basic_auth_users: ann has no bcrypt hash") || strings.Contains(said, "redacted") {
		t.Errorf("it ended with %d and said %q", code, said)
	}
}
