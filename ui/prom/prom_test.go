package prom

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nvpeak/sampler"
)

var begin = time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)

// rig is an exporter with one GPU of 80 GiB, a clock that stands still, and a server.
type rig struct {
	*Exporter
	t    *testing.T
	mu   sync.Mutex
	now  time.Time
	addr string
}

func newRig(t *testing.T, o Options) *rig {
	r := &rig{Exporter: New(o), t: t, now: begin}
	r.Clock(func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now })
	s := httptest.NewUnstartedServer(r.Exporter)
	s.Config.ConnContext = Connection
	s.Start()
	t.Cleanup(s.Close)
	r.addr = s.URL
	r.Observe(r.snapshot(10))
	return r
}

func gib(n float64) sampler.Bytes { return sampler.Bytes(n * float64(sampler.GiB)) }

func (r *rig) snapshot(used float64) *sampler.Snapshot {
	return &sampler.Snapshot{Time: r.now, Driver: "580.95.05", GPUs: []sampler.GPU{{UUID: "GPU-a", Name: "H100", Memory: sampler.Memory{Total: sampler.Some(gib(80)), Used: sampler.Some(gib(used)), Reserved: sampler.Some(gib(1))}}}}
}

// after lets time pass, and then the memory be so much.
func (r *rig) after(d time.Duration, used float64) {
	r.mu.Lock()
	r.now = r.now.Add(d)
	at := r.now
	r.mu.Unlock()
	r.Reading(0, at, gib(used))
}

// client keeps its connection, as Prometheus does.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: 10 * time.Second}
}

// scrape is what an answer says by series.
func (r *rig) scrape(c *http.Client, query string, header ...string) map[string]float64 {
	r.t.Helper()
	ask, err := http.NewRequest(http.MethodGet, r.addr+"/metrics"+query, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		ask.Header.Set(header[i], header[i+1])
	}
	answer, err := c.Do(ask)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.t.Fatalf("%v, %s: %s", err, answer.Status, text)
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if !ok {
			name, value, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		name, _, _ = strings.Cut(name, "{")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.HasPrefix(line, "#") {
			found[name] = v
		}
	}
	return found
}

func (r *rig) peak(c *http.Client, query string, header ...string) float64 {
	r.t.Helper()
	return r.scrape(c, query, header...)["nvpeak_gpu_memory_scrape_peak_bytes"] / float64(sampler.GiB)
}

// Each scraper is told each spike of 50 ms, once, however often another one asks in between.
func TestScrapersDoNotStealFromEachOther(t *testing.T) {
	r := newRig(t, Options{})
	a, b := client(), client()
	r.peak(a, "")
	r.peak(b, "")
	for n := range 20 {
		spike := 40 + float64(n)
		r.after(7*time.Second, 10)
		r.after(time.Second, spike)
		r.after(50*time.Millisecond, 10)
		if n%2 == 0 { // one more asks, and then again
			r.peak(b, "")
			r.after(time.Second, 11)
			if got := r.peak(b, ""); got != 11 {
				t.Errorf("spike %d: the one who asks more often is told %v GiB twice", n, got)
			}
		}
		r.after(21*time.Second, 10)
		if got := r.peak(a, ""); got != spike {
			t.Errorf("spike %d: %v GiB, want %v", n, got, spike)
		}
	}
	if got := r.scrape(a, ""); got["nvpeak_gpu_memory_scrape_peak_bytes"] != float64(gib(10)) || got["nvpeak_gpu_memory_scrape_lowest_free_bytes"] != float64(gib(69)) {
		t.Errorf("at rest: %v", got)
	}
}

// Who comes anew, keeps no connection or comes through a proxy gets the last minutes, and who says how far back, that.
func TestScrapeWindows(t *testing.T) {
	r := newRig(t, Options{})
	known := client()
	r.peak(known, "")
	r.after(10*time.Second, 60)
	r.after(50*time.Millisecond, 10)
	r.peak(known, "")
	r.after(time.Minute, 10)
	for _, row := range []struct {
		name  string
		c     *http.Client
		query string
		proxy string
		want  float64
	}{
		{"the one who knows it", known, "", "", 10},
		{"anew", client(), "", "", 60},
		{"no connection kept", &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "", "", 60},
		{"through a proxy", known, "", "10.0.0.1", 60},
		{"half a minute", known, "?window=30s", "", 10},
		{"two minutes", known, "?window=2m", "", 60},
		{"some metrics only", known, "?name[]=nvpeak_gpu_memory_scrape_peak_bytes", "", 60},
		{"still the one who knows it", known, "", "", 10},
	} {
		var header []string
		if row.proxy != "" {
			header = []string{"X-Forwarded-For", row.proxy}
		}
		if got := r.peak(row.c, row.query, header...); got != row.want {
			t.Errorf("%s: %v GiB, want %v", row.name, got, row.want)
		}
	}
	r.after(5*time.Minute, 10)
	if got := r.peak(client(), ""); got != 10 {
		t.Errorf("after more than the last minutes: %v", got)
	}
	for _, query := range []string{"window=x", "window=-1s", "window=0s", "window=16m", "window=", "window", "window=30s&window=5m", "Window=30s", "windows=30s", "since=3", "window=30s&x", "%zz", "window=1m;x=2"} {
		answer, err := http.Get(r.addr + "/metrics?" + query)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: %s %q", query, answer.Status, text)
		}
	}
}

// Time above 90 and 95 % is counted between readings, and while none comes for nothing moves.
func TestTimeAbove(t *testing.T) {
	r := newRig(t, Options{})
	r.after(time.Second, 72) // 90 % of 80 is not more than 90 %
	r.after(time.Second, 73)
	r.after(2*time.Second, 77)
	r.after(500*time.Millisecond, 10)
	r.after(time.Second, 77)
	r.mu.Lock()
	r.now = r.now.Add(3 * time.Second)
	r.mu.Unlock()
	text := r.text()
	for _, want := range []string{`share="0.90",uuid="GPU-a"} 5.5`, `share="0.95",uuid="GPU-a"} 3.5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func (r *rig) text() string {
	r.t.Helper()
	answer, err := http.Get(r.addr + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		r.t.Fatal(err, answer.Status, string(text))
	}
	return string(text)
}

// What is not known has no series: memory of a GPU that does not answer is not 0, nor what it was.
func TestUnknownHasNoSeries(t *testing.T) {
	r := newRig(t, Options{Processes: 9})
	r.after(time.Second, 70)
	s := r.snapshot(70)
	s.GPUs[0].Memory, s.GPUs[0].Error = sampler.Memory{Total: sampler.Some(gib(80))}, sampler.Some("lost")
	r.Observe(s)
	r.mu.Lock()
	r.now = r.now.Add(20 * time.Minute)
	r.mu.Unlock()
	text := r.text()
	for _, name := range []string{"nvpeak_gpu_memory_used_bytes{", "nvpeak_gpu_memory_scrape_peak_bytes{", "nvpeak_gpu_power_watts{"} {
		if strings.Contains(text, name) {
			t.Errorf("%s of a GPU that is lost", name)
		}
	}
	if !strings.Contains(text, `nvpeak_gpu_up{gpu="0",mig="",uuid="GPU-a"} 0`) {
		t.Errorf("it is up:\n%s", text)
	}
}

// Names of programs and drivers may hold anything, the same process may be listed twice, and there may be thousands.
func TestHostileLabels(t *testing.T) {
	r := newRig(t, Options{Processes: 5, DCGM: true})
	s := r.snapshot(70)
	g := &s.GPUs[0]
	g.Name, g.Throttle = "H\x1b[31m\xff\"\n\\{}", []string{"a\x00", "a\x01", "a\x00"}
	for i := range 3000 {
		g.Processes = append(g.Processes, sampler.Process{PID: i / 2, Name: "x\x1b]0;\xff" + strings.Repeat("n", 300), User: "\u202eu\n", Memory: sampler.Some(gib(float64(i) / 1000)),
			Container: sampler.Some("slurm:12"), Peak: &sampler.Peak{Bytes: gib(1), Source: "sampled"}, Allocator: &sampler.Allocator{}, Requests: &sampler.Requests{Granted: 3}})
	}
	s.Alerts = []sampler.Alert{{ID: "1", Kind: "a\x1bb", Level: "critical"}, {ID: "1", Kind: "a\x1bb", Level: "critical"}}
	r.Observe(s)
	text := r.text()
	if n := strings.Count(text, "\nnvpeak_process_memory_bytes{"); n != 5 || !strings.Contains(text, "nvpeak_processes_left_out 1495") || !strings.Contains(text, `slurm_job="12"`) {
		t.Errorf("%d processes\n%.2000s", n, text)
	}
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f || c == '\ufffd' && false || c == '\u202e' }); i >= 0 {
		t.Errorf("a control character at %d: %q", i, text[max(0, i-40):i+20])
	}
	for line := range strings.Lines(text) {
		if len(line) > 1500 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// An Xid counts once, an alert once at each level, and an open one that ends goes to 0 and not away.
func TestCounters(t *testing.T) {
	r := newRig(t, Options{})
	show := func(xid int, at time.Duration, alerts ...sampler.Alert) string {
		s := r.snapshot(10)
		if xid > 0 {
			s.GPUs[0].LastXID, s.GPUs[0].LastXIDTime = sampler.Some(uint64(xid)), sampler.Some(begin.Add(at))
		}
		s.Alerts = alerts
		r.Observe(s)
		return r.text()
	}
	growth := sampler.Alert{ID: "7", Kind: "growth", Level: "warning", GPU: sampler.Some(0), Key: sampler.GPUKey{ID: "GPU-a"}}
	show(31, time.Second, growth)
	show(31, time.Second, growth)
	worse := growth
	worse.Level = "critical"
	together := r.snapshot(10)
	together.GPUs[0].LastXID, together.GPUs[0].XIDs = sampler.Some(uint64(43)), []sampler.XID{{Code: 31}, {Code: 43}}
	r.Observe(together)
	text := show(31, 2*time.Second, worse)
	for series, want := range map[string]int{`nvpeak_gpu_xid_errors_total{gpu="0",mig="",uuid="GPU-a",xid="31"}`: 3,
		`nvpeak_gpu_xid_errors_total{gpu="0",mig="",uuid="GPU-a",xid="43"}`:       1,
		`nvpeak_alerts_total{gpu="0",kind="growth",level="warning",uuid="GPU-a"}`: 1, `nvpeak_alerts_total{gpu="0",kind="growth",level="critical",uuid="GPU-a"}`: 1,
		`nvpeak_alert{gpu="0",kind="growth",level="warning",uuid="GPU-a"}`: 0, `nvpeak_alert{gpu="0",kind="growth",level="critical",uuid="GPU-a"}`: 1} {
		if !strings.Contains(text, fmt.Sprintf("%s %d\n", series, want)) {
			t.Errorf("not %s %d in\n%s", series, want, text)
		}
	}
}

// Readings, snapshots and scrapes come from several goroutines.
func TestTogether(t *testing.T) {
	r := newRig(t, Options{Processes: 3})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 2000 {
			r.after(time.Millisecond, float64(i%70))
		}
	}()
	c := client()
	for i := range 20 {
		s := r.snapshotNow(float64(i))
		r.Observe(s)
		r.scrape(c, "")
	}
	<-done
}

func (r *rig) snapshotNow(used float64) *sampler.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot(used)
}

// slowWriter takes its answer when it likes.
type slowWriter struct {
	http.ResponseWriter
	begun, proceed chan struct{}
	once           sync.Once
}

func (w *slowWriter) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.begun); <-w.proceed })
	return w.ResponseWriter.Write(b)
}

// Scrapers that read slowly do not pile up, and when one has gone another is answered.
func TestScrapesAreBounded(t *testing.T) {
	said := &heard{}
	e := New(Options{Trouble: said.say})
	e.Clock(func() time.Time { return begin })
	e.wait = time.Millisecond
	ask := func(w http.ResponseWriter) { e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil)) }
	release := make(chan struct{})
	var all sync.WaitGroup
	for range mostScrapes {
		w := &slowWriter{ResponseWriter: httptest.NewRecorder(), begun: make(chan struct{}), proceed: release}
		all.Go(func() { ask(w) })
		<-w.begun
	}
	one := httptest.NewRecorder()
	if ask(one); one.Code != http.StatusServiceUnavailable || one.Header().Get("Retry-After") != "1" || len(said.all()) != 1 {
		t.Errorf("one more: %d %v, said %q", one.Code, one.Header(), said.all())
	}
	e.wait = time.Minute
	waiting := httptest.NewRecorder()
	all.Go(func() { ask(waiting) })
	close(release)
	all.Wait()
	if waiting.Code != http.StatusOK || !strings.Contains(waiting.Body.String(), "nvpeak_scrapes_refused_total 1\n") {
		t.Errorf("the one who waits: %d %s", waiting.Code, waiting.Body)
	}
}
