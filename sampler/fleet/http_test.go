package fleet

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// scraping follows a page of one server; each ask is one answer.
func scraping(t *testing.T, spec Spec) (*rig, *scraper) {
	t.Helper()
	r := &rig{Fleet: newFleet(Options{}), at: noon}
	r.now = func() time.Time { return r.at }
	if err := r.add([]Spec{spec}); err != nil {
		t.Fatal(err)
	}
	p, err := newScraper(r.Fleet, &r.slots[0].spec, r.member(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.client.http.CloseIdleConnections)
	return r, p
}

func page(t *testing.T, url string) (*rig, *scraper) {
	t.Helper()
	list, err := Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return scraping(t, list[0])
}

func serve(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

// What a server does wrong is one line, of what is wrong, in no more time and memory than any other.
func TestHostileServers(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	text := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, text) } //nolint:errcheck // the client may have left
	}
	for name, row := range map[string]struct {
		url  string
		says string
	}{
		"HTML":      {serve(t, text(200, "<html>"+strings.Repeat("<p>\x1b[2J</p>\n", 100))).URL, "no page of metrics"},
		"nothing":   {serve(t, text(200, "")).URL, "no page of metrics"},
		"no GPU":    {serve(t, text(200, "# HELP up x\nup 1\n")).URL, "tells of no GPU"},
		"401":       {serve(t, text(401, "")).URL, "another name and password"},
		"403":       {serve(t, text(403, "")).URL, "another name and password"},
		"404":       {serve(t, text(404, "")).URL, "nothing at /metrics"},
		"500":       {serve(t, text(500, "it is \x1b[31mbroken\nand more")).URL, "it answers 500: it is ?[31mbroken"},
		"503":       {serve(t, text(503, "<html>")).URL, "it answers 503: Service Unavailable"},
		"redirects": {serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }).URL, "it sends elsewhere (302), which is not followed"},
		"cut": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "nvpeak_gpu_up 1\n") //nolint:errcheck // as above
		}).URL, "unexpected EOF"},
		"100 MB": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			io.Copy(w, io.LimitReader(&endless{text: []byte("up 1\n")}, 100<<20)) //nolint:errcheck // as above
		}).URL, "larger than 32 MiB"},
		"a bomb": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.Copy(z, io.LimitReader(&endless{text: []byte("up 1\n")}, 48<<20)) //nolint:errcheck // as above
		}).URL, "larger than 32 MiB"},
		"damaged gzip": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "nvpeak_gpu_up 1\n") //nolint:errcheck // as above
		}).URL, "gzip"},
		"certificate": {secure.URL, "ca-file"},
		"TLS":         {strings.Replace(secure.URL, "https", "http", 1), "400"},
		"no TLS":      {strings.Replace(serve(t, text(200, "")).URL, "http", "https", 1), "does not speak TLS"},
		"nobody":      {gone.URL, "connection refused"},
		"no name":     {"http://nosuch.invalid:1", "no host of that name"},
	} {
		_, p := page(t, row.url)
		err := p.ask(context.Background())
		if err == nil || !strings.Contains(err.Error(), row.says) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
}

// A server that answers slowly keeps only its own host up.
func TestSlowServerStopsNothing(t *testing.T) {
	end := make(chan struct{})
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(end) })
	quick := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, dcgmPage) }) //nolint:errcheck // the client reads it
	var specs []Spec
	for _, url := range []string{slow.URL, quick.URL} {
		list, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, list...)
	}
	f, err := Open(context.Background(), specs, Options{Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(5 * time.Second)
	got := 0
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	var hosts []*Host
	for got < 5 {
		u, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if u.Hosts != nil {
			hosts = u.Hosts
		}
		got += len(u.Snapshots)
	}
	if hosts[0].State != Connecting || hosts[1].State != OK || hosts[1].Name != "box7" || hosts[1].Via != "dcgm-exporter" || hosts[1].Reason == "" {
		t.Errorf("%+v %+v", hosts[0], hosts[1])
	}
}

// Passwords, tokens and certificates come from files, are read anew, and are in nothing that is shown.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user == "ann" && password == "s3cret" || r.Header.Get("Authorization") == "Bearer t0ken" {
			io.WriteString(w, dcgmPage) //nolint:errcheck // the client reads it
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	ca := file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	spec := Spec{Kind: Page, URL: s.URL + "/metrics", CAFile: ca, User: "ann", PasswordFile: file("password", "wrong\n")}
	r, p := scraping(t, spec)
	if err := p.ask(context.Background()); err == nil || !strings.Contains(err.Error(), "(401)") {
		t.Error(err)
	}
	file("password", "s3cret\n")
	if err := p.ask(context.Background()); err != nil {
		t.Error(err)
	}
	if h := r.update(t).Hosts[0]; strings.Contains(fmt.Sprint(*h), "s3cret") || h.State != OK {
		t.Errorf("%+v", h)
	}
	_, p = scraping(t, Spec{Kind: Page, URL: s.URL, CAFile: ca, BearerFile: file("token", "t0ken")})
	if err := p.ask(context.Background()); err != nil {
		t.Error(err)
	}
	_, p = scraping(t, Spec{Kind: Page, URL: s.URL, CAFile: ca, BearerFile: filepath.Join(dir, "none")})
	if err := p.ask(context.Background()); err == nil || !strings.Contains(err.Error(), "bearer-file") {
		t.Error(err)
	}
	if _, err := newClient(&Spec{Kind: Page, URL: s.URL, CAFile: file("empty.pem", "x")}, time.Now); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Error(err)
	}
}

// nvpeak tells a connection the peaks since the answer before. After one that was missed it is asked for those since; those of another time are a peak, but
// not of this window.
func TestPagePeaks(t *testing.T) {
	var asked string
	fail := false
	window, peak, age := 300.0, 70, 0.2
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		if fail {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "nvpeak_info{hostname=\"box7\",driver_version=\"580\"} 1\nnvpeak_snapshot_age_seconds %g\nnvpeak_scrape_window_seconds %g\nnvpeak_memory_reading_period_seconds 0.02\n", age, window)
		for name, gib := range map[string]int{"total": 80, "used": 40, "scrape_peak": peak, "peak": 72} {
			fmt.Fprintf(w, "nvpeak_gpu_memory_%s_bytes{gpu=\"0\",uuid=\"GPU-1\",mig=\"\"} %d\n", name, gib<<30)
		}
	})
	r, p := page(t, s.URL)
	ask := func(later time.Duration, query string) *sampler.Memory {
		t.Helper()
		r.at = r.at.Add(later)
		if err := p.ask(context.Background()); (err != nil) != fail || asked != query {
			t.Fatalf("%v, asked %q, want %q", err, asked, query)
		}
		p.missed = p.missed || fail // as run does
		if u, ok := r.take(); ok && len(u.Snapshots) > 0 {
			return &u.Snapshots[0].GPUs[0].Memory
		}
		return nil
	}
	if m := ask(0, ""); m.Window != nil || m.Peak.Bytes != 72*sampler.GiB {
		t.Errorf("at first: %+v", m)
	}
	window = 1
	if m := ask(time.Second, ""); m.Window == nil || m.Window.Max != 70*sampler.GiB || m.Window.Min != 40*sampler.GiB || m.Window.Readings != 50 || p.member.host.Name != "box7" {
		t.Errorf("a second later: %+v", m)
	}
	fail = true
	ask(time.Second, "")
	fail, age, window, peak = false, 2.2, 3, 77
	if m := ask(time.Second, "window=3000ms"); m != nil {
		t.Errorf("figures that are known: %+v", m)
	}
	age, window, peak = 0.1, 1, 41
	if m := ask(time.Second, ""); m == nil || m.Window == nil || m.Window.Max != 77*sampler.GiB {
		t.Errorf("the peak of an answer with known figures: %+v", m)
	}
	if m := ask(time.Second, ""); m.Window.Max != 41*sampler.GiB {
		t.Errorf("it is told twice: %+v", m)
	}
	window, peak = 300, 79 // by another connection
	if m := ask(time.Second, ""); m.Window != nil || m.Peak.Bytes != 79*sampler.GiB {
		t.Errorf("of another time: %+v", m)
	}
	window = 3
	if m := ask(time.Second, "window=3000ms"); m.Window == nil {
		t.Errorf("then: %+v", m)
	}
	window = 1
	if m := ask(time.Second, ""); m.Window == nil || !p.covered.Equal(r.at) {
		t.Errorf("and on: %+v", m)
	}
}

// --gpu is about each host.
func TestChosen(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, dcgmPage) }) //nolint:errcheck // the client reads it
	r, p := page(t, s.URL)
	r.opt.GPUs = []string{"GPU-aa"}
	if err := p.ask(context.Background()); err != nil {
		t.Fatal(err)
	}
	if u := r.update(t); len(u.Snapshots[0].GPUs) != 1 || u.Snapshots[0].GPUs[0].UUID != "GPU-aa" {
		t.Errorf("%+v", u.Snapshots[0].GPUs)
	}
	r.opt.GPUs, r.at = []string{"5"}, r.at.Add(time.Second)
	if err := p.ask(context.Background()); err == nil || !strings.Contains(err.Error(), "no such GPU") {
		t.Error(err)
	}
}

// Figures are no older than they look: those that an exporter has had for a while, or of a driver that is away, count as late.
func TestOldFigures(t *testing.T) {
	const gpu = "nvpeak_gpu_memory_total_bytes{gpu=\"0\",uuid=\"GPU-1\"} 8e9\nnvpeak_gpu_memory_used_bytes{gpu=\"0\",uuid=\"GPU-1\"} 1e9\n"
	for name, row := range map[string]struct {
		page  string
		want  State
		why   string
		snaps int
	}{
		"fresh":              {gpu + "nvpeak_snapshot_age_seconds 1\n", OK, "", 1},
		"slow, as some are":  {gpu + "nvpeak_snapshot_age_seconds 15\n", OK, "", 1},
		"old":                {gpu + "nvpeak_snapshot_age_seconds 300\n", Late, "its newest figures are 5m0s old", 0},
		"no driver":          {gpu + "nvpeak_driver_up 0\nnvpeak_snapshot_age_seconds 300\n", Late, driverAway, 1},
		"no driver, no GPUs": {"nvpeak_driver_up 0\n", Late, driverAway, 0},
	} {
		r, p := page(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, row.page) }).URL) //nolint:errcheck // the client has left then
		if err := p.ask(context.Background()); err != nil {
			t.Fatal(name, err)
		}
		u := r.update(t)
		if h := u.Hosts[0]; h.State != row.want || !strings.HasPrefix(h.Reason, row.why) || len(u.Snapshots) != row.snaps {
			t.Errorf("%s: %s %q, %d snapshots", name, h.State, h.Reason, len(u.Snapshots))
		}
		for _, s := range u.Snapshots {
			if age := r.at.Sub(s.Time); age > staleFigures {
				t.Errorf("%s: a snapshot of %v ago", name, age)
			}
		}
	}
}

// A server that sends elsewhere is not followed, and no password goes along.
func TestRedirectsAreNotFollowed(t *testing.T) {
	asked := 0
	other := serve(t, func(http.ResponseWriter, *http.Request) { asked++ })
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/metrics", http.StatusFound)
	})
	list, err := Parse(first.URL)
	if err != nil {
		t.Fatal(err)
	}
	list[0].BearerFile = token
	_, p := scraping(t, list[0])
	if err := p.ask(context.Background()); err == nil || !strings.Contains(err.Error(), other.URL) || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

// A GPU that fell off the bus is lost, by whichever of its lines comes first; one that gives no figures may be.
func TestPageOfALostGPU(t *testing.T) {
	for xid, want := range map[string]string{"79": sampler.ErrLost.Error() + " (Xid 79)", "31": "it gives no figures there: lost, or the driver does not answer"} {
		down, fell := `nvpeak_gpu_up{gpu="0",uuid="GPU-7",mig=""} 0`, `nvpeak_gpu_xid_errors_total{gpu="0",uuid="GPU-7",mig="",xid="`+xid+`"} 1`
		for _, lines := range []string{down + "\n" + fell + "\n", fell + "\n" + down + "\n"} {
			all, r := &pages{}, &pageReader{}
			if err := r.read(strings.NewReader(lines), known, all.take); err != nil {
				t.Fatal(err)
			}
			best := all.best()
			if best == nil {
				t.Fatal("no figures")
			}
			if g := best.snapshot(noon).GPUs[0]; g.Error.Or("") != want {
				t.Errorf("%s: %q", lines, g.Error.Or(""))
			}
		}
	}
}
