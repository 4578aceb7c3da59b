package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dcgmPage is a page in the form of dcgm-exporter, on a machine of two GPUs.
const dcgmPage = `# HELP DCGM_FI_DEV_FB_FREE Framebuffer memory free (in MiB).
# TYPE DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-d0",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="dcgm-box",DCGM_FI_DRIVER_VERSION="580.1"} 70000
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-d1",pci_bus_id="00000000:2a:00.0",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="dcgm-box",DCGM_FI_DRIVER_VERSION="580.1"} 81000
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-d0",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="dcgm-box",DCGM_FI_DRIVER_VERSION="580.1"} 11000
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-d1",pci_bus_id="00000000:2a:00.0",device="nvidia1",modelName="NVIDIA H100 80GB HBM3",Hostname="dcgm-box",DCGM_FI_DRIVER_VERSION="580.1"} 0
`

// scraped starts a real Prometheus that scrapes these addresses every 2 s, and returns its own.
func scraped(t *testing.T, targets ...string) string {
	t.Helper()
	program := engine(t, "prometheus", "prometheus")
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := "global: { scrape_interval: 2s, scrape_timeout: 2s }\nscrape_configs:\n  - job_name: gpus\n    static_configs: [{ targets: [\"" + strings.Join(targets, `","`) + "\"] }]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	background(t, os.Environ(), program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	fetchable(t, "http://"+address+"/-/ready")
	return address
}

// A spike of 50 ms between two scrapes of a real Prometheus is in the windows of its host, each once; so it is for who asks the exporter itself. Beside are
// seven other exporters, one of dcgm's names, and one that knows of no GPU.
func TestFleetPrometheus(t *testing.T) {
	t.Parallel()
	const spikes, every = 5, 3100 * time.Millisecond // so many are to be seen; a reader that is kept from reading for 50 ms by a busy machine sees the next
	var targets []string
	for i := range 8 {
		text := fmt.Sprintf("gpu 0-1 uuid=GPU-%d-{i} total=80GiB\nmem 0-1 used=42GiB\n", i)
		if i == 0 {
			text += fmt.Sprintf("spike 0 at=10s width=50ms height=10GiB every=%v count=100\n", every)
		}
		url, _ := exporting(t, setup{scenario: text})
		targets = append(targets, strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics"))
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, dcgmPage) })) //nolint:errcheck // who reads it has it
	t.Cleanup(page.Close)
	node := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	background(t, os.Environ(), engine(t, "prometheus-node-exporter", "prometheus-node-exporter"), "--web.listen-address="+node)
	server := scraped(t, append(targets, strings.TrimPrefix(page.URL, "http://"), node)...)
	told := map[string]int{}
	hosts := map[string]line{}
	args := []string{"--from", "prometheus://" + server, "--from", "http://" + targets[0]}
	direct, first := "", time.Time{}
	streaming(t, setup{args: args}, time.Minute, func(l line) bool {
		if l.Type == "host" {
			hosts[l.Host] = l
			if l.Via == "nvpeak" {
				direct = l.Host
			}
			return false
		}
		if w := l.GPUs[0].Memory.Window; w != nil && w.Max == 52<<30 {
			if told[l.Host]++; first.IsZero() {
				first = l.Time
			}
		}
		all := told[direct] >= spikes
		for host, n := range told {
			all = all && (n >= spikes || host == direct)
		}
		return all && len(told) == 2
	})
	if d := hosts["dcgm-box"]; d.Via != "dcgm-exporter by prometheus" || !strings.Contains(d.Reason, "not seen") {
		t.Errorf("%+v", d)
	}
	ok := 0
	for _, h := range hosts {
		if h.State == "ok" {
			ok++
		}
		if strings.HasPrefix(h.Host, node) {
			t.Errorf("a machine without GPUs: %+v", h)
		}
	}
	if ok != 10 {
		t.Errorf("%d hosts: %+v", ok, hosts)
	}
	for host, n := range told {
		if most := int(time.Since(first)/every) + 3; n > most { // one that stands while it is scraped is told once more, rightly
			t.Errorf("%s was told %d times of %d spikes", host, n, most)
		}
	}
	if got := run(t, setup{args: []string{"check", "--need", "60GiB", "--from", "prometheus://" + server}}); got.code != 0 || !strings.Contains(got.out, "dcgm-box:\nGPU 1  60.0 GiB fits now") || strings.Count(got.out, "does not fit") < 16 {
		t.Errorf("%+v", got)
	}
	got := run(t, setup{args: []string{"once", "--from", "prometheus://" + server + `?match={instance="` + targets[1] + `"}`, "--csv=uuid,memory.used"}})
	if lines := strings.Split(got.out, "\n"); len(lines) != 4 || lines[0] != "host, uuid, memory.used [MiB]" || !strings.HasSuffix(lines[1], ", GPU-1-0, 43008 MiB") {
		t.Errorf("%+v", got)
	}
}

// A page of dcgm-exporter, a server that is none, and one that asks for a password: each is one line at its host.
func TestFleetPages(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/dcgm", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, dcgmPage) }) //nolint:errcheck // as above
	mux.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("<p>\x1b[2J</p>\n", 1000))
	}) //nolint:errcheck // as above
	mux.HandleFunc("/locked", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	got := run(t, setup{args: []string{"once", "--from", s.URL + "/html", "--from", s.URL + "/dcgm", "--from", s.URL + "/locked", "--from", "prometheus://" + strings.TrimPrefix(s.URL, "http://")}})
	if got.code != 0 || !strings.HasPrefix(got.out, "dcgm-box  ") || !strings.Contains(got.out, "10.7 GiB") || !strings.Contains(got.out, "not seen") || strings.Count(got.err, "\n") != 3 ||
		!strings.Contains(got.err, "no page of metrics") || !strings.Contains(got.err, "(401)") || !strings.Contains(got.err, "the server: there is nothing at /api/v1/query") || strings.Contains(got.err, "\x1b") {
		t.Errorf("%+v", got)
	}
}

// What makes no sense for other machines, and sources that cannot be read, are refused in one line, exit 2.
func TestFleetRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for args, says := range map[string]string{
		"once --from ssh://a --demo": "--demo and --from exclude each other", "stream --from ssh://a --nvml-lib x": "--nvml-lib and --from exclude each other", "record -o x --from ssh://a --log y": "--log and --from exclude each other",
		"stream --from ssh://a --requests on": "--requests and --from exclude each other", "stream --from ssh://a --record x": "--record and --from exclude each other", "once --from ssh://a --size 80x24": "leave out --from",
		"check --need 1GiB --from ssh://a --format uuid": "nvpeak wait --from", "record --from ssh://a,b -o x.jsonl": "-o fleet/", "once --from box7": "is no source", "once --from ftp://a": "no sources ftp://",
		"once --from ssh://a:b@c": "ssh-copy-id c", "once --from " + file("none.toml", ""): "no hosts in it", "once --from ./missing.toml": "no such file", "once --from " + file("bad.toml", "x = 1\n"): "line 1: there is no x",
		"once --from " + file("key.toml", "[a]\nprot = 5\n"): "line 2: there is no key \"prot\": did you mean port?", "once --from " + file("port.toml", "[a]\nport = 0\n"): "is no port",
		"once --from " + file("kind.toml", "[a]\nsource = \"http://b:1\"\nport = 5\n"): "port means nothing for http://b:1", "once --from " + file("program.toml", "[a]\nnvpeak = \"x; rm\"\n"): "is no path of a program",
		"once --from ssh://a --gpu $(x)": "no such GPU", "once --from " + file("ca.toml", "[a]\nsource = \"https://b\"\nca-file = \"/nonexistent\"\n"): "ca-file",
	} {
		got := run(t, setup{args: strings.Fields(args)})
		if got.code != 2 || got.out != "" || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, says) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
