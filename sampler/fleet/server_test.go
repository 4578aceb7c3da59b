package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// store is what a Prometheus server knows, and answers.
type store struct {
	t      *testing.T
	series []stored
	asked  []string
	down   []string // instances that it cannot scrape
	fail   int      // status
	body   string
}

// stored is a series with its samples, the newest last.
type stored struct {
	labels map[string]string
	at     []time.Time
	values []float64
	stale  bool // the scrape after the newest has failed
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", noon.Format(http.TimeFormat)) // the clock of the rig, too
	query := r.FormValue("query")
	s.asked = append(s.asked, query)
	switch {
	case strings.HasPrefix(query, "up == 0") && s.fail == 0 && s.body == "":
		result := []any{}
		for _, instance := range s.down {
			result = append(result, map[string]any{"metric": map[string]string{"__name__": "up", "instance": instance, "job": "gpu"}, "value": [2]any{1, "0"}})
		}
		json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"result": result}}) //nolint:errcheck // the client reads it
		return
	case s.fail != 0:
		w.WriteHeader(s.fail)
		fmt.Fprint(w, s.body)
		return
	case s.body != "":
		fmt.Fprint(w, s.body)
		return
	}
	found := regexp.MustCompile(`__name__=~"([^"]*)"`).FindStringSubmatch(query)
	if r.URL.Path != "/api/v1/query" || found == nil {
		s.t.Errorf("%s %s", r.URL.Path, query)
		return
	}
	names := regexp.MustCompile("^(?:" + found[1] + ")$")
	result := []any{}
	for _, one := range s.series {
		if !names.MatchString(one.labels["__name__"]) {
			continue
		}
		var points [][2]any
		for i, at := range one.at {
			points = append(points, [2]any{float64(at.UnixMilli()) / 1000, fmt.Sprint(one.values[i])})
		}
		if strings.HasSuffix(query, "]") {
			result = append(result, map[string]any{"metric": one.labels, "values": points})
		} else if !one.stale {
			result = append(result, map[string]any{"metric": one.labels, "value": points[len(points)-1]})
		}
	}
	json.NewEncoder(w).Encode(map[string]any{"status": "success", "warnings": []string{"x"}, "data": map[string]any{"resultType": "?", "result": result}}) //nolint:errcheck // the client reads it
}

// nvpeakSeries are those of one exporter of nvpeak.
func nvpeakSeries(instance, host, uuid string, at []time.Time, peaks ...float64) (list []stored) {
	add := func(name string, labels map[string]string, values ...float64) {
		labels["__name__"], labels["instance"], labels["job"] = name, instance, "gpu"
		for len(values) < len(at) {
			values = append([]float64{values[0]}, values...)
		}
		list = append(list, stored{labels, at, values, false})
	}
	gpu := func() map[string]string { return map[string]string{"gpu": "0", "uuid": uuid, "mig": ""} }
	add("nvpeak_info", map[string]string{"hostname": host}, 1)
	add("nvpeak_gpu_memory_total_bytes", gpu(), 80<<30)
	add("nvpeak_gpu_memory_used_bytes", gpu(), 40<<30)
	add("nvpeak_gpu_memory_scrape_peak_bytes", gpu(), peaks...)
	add("nvpeak_scrape_window_seconds", map[string]string{}, 15)
	add("nvpeak_memory_reading_period_seconds", map[string]string{}, 0.02)
	return list
}

// polling follows a store by one poll at a time.
func polling(t *testing.T, s *store, source string) (*rig, *server) {
	t.Helper()
	url := serve(t, s.ServeHTTP).URL
	r := newRig(t, Options{}, strings.Replace(source, "SERVER", strings.TrimPrefix(url, "http://"), 1))
	p, err := newServer(r.Fleet, r.slots[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.client.http.CloseIdleConnections)
	return r, p
}

func poll(t *testing.T, r *rig, p *server) Update {
	t.Helper()
	if err := p.poll(context.Background()); err != nil {
		t.Fatal(err)
	}
	u, _ := r.take()
	return u
}

// Every peak that was scraped between two polls is in the window of the second, with its own time; a sample is told once; hosts are those of the labels.
func TestServerPeaks(t *testing.T) {
	s := &store{t: t}
	r, p := polling(t, s, "prometheus://SERVER")
	scrape := func(i int) time.Time { return r.at.Add(time.Duration(15*i)*time.Second - 100*time.Second) }
	at := []time.Time{scrape(0), scrape(1)}
	s.series = append(nvpeakSeries("10.0.0.7:9835", "box7", "GPU-7", at, 75<<30, 41<<30), nvpeakSeries("10.0.0.8:9835", "", "GPU-8", at, 41<<30)...)
	u := poll(t, r, p)
	if len(u.Hosts) != 2 || u.Hosts[0].Name != "10.0.0.8" || u.Hosts[1].Name != "box7" || u.Hosts[1].Via != "nvpeak by prometheus" || u.Hosts[1].State != OK || len(u.Snapshots) != 2 {
		t.Fatalf("%+v", u)
	}
	for _, snap := range u.Snapshots {
		if m := snap.GPUs[0].Memory; m.Window != nil || !snap.Time.Equal(scrape(1)) || snap.Host == "box7" && (m.Peak.Bytes != 75*sampler.GiB || !m.Peak.Time.Equal(scrape(0))) {
			t.Errorf("%s at %v: %+v", snap.Host, snap.Time, m.Peak)
		}
	}
	if u := poll(t, r, p); len(u.Snapshots) != 0 {
		t.Error("what is known is told again")
	}
	at = append(at, scrape(2), scrape(3), scrape(4))
	s.series = append(nvpeakSeries("10.0.0.7:9835", "box7", "GPU-7", at, 75<<30, 41<<30, 41<<30, 79<<30, 42<<30), nvpeakSeries("10.0.0.8:9835", "", "GPU-8", at, 41<<30)...)
	u = poll(t, r, p)
	if len(u.Snapshots) != 2 {
		t.Fatalf("%+v", u.Snapshots)
	}
	for _, snap := range u.Snapshots {
		w := snap.GPUs[0].Memory.Window
		if w == nil || !snap.Time.Equal(scrape(4)) || snap.Host == "box7" && (w.Max != 79*sampler.GiB || !w.MaxTime.Equal(scrape(3))) || snap.Host != "box7" && w.Max != 41*sampler.GiB {
			t.Errorf("%s: %+v", snap.Host, w)
		}
	}
	if p.gap != 15*time.Second {
		t.Errorf("scrapes are %v apart", p.gap)
	}
}

// The same GPU by two exporters is one: that of the better counts. A host that the server knows no more is lost, and forgotten in the end; the server is
// asked on, and what it does wrong is said at all its hosts.
func TestServerHosts(t *testing.T) {
	s := &store{t: t}
	r, p := polling(t, s, `prometheus://SERVER?match={job="gpu"}`)
	at := []time.Time{r.at.Add(-5 * time.Second)}
	dcgm := func(host, uuid string) (list []stored) {
		for _, name := range []string{"USED", "FREE"} {
			list = append(list, stored{map[string]string{"__name__": "DCGM_FI_DEV_FB_" + name, "gpu": "0", "UUID": uuid, "Hostname": host, "instance": host + ":9400", "job": "dcgm"}, at, []float64{1000}, false})
		}
		return list
	}
	s.series = append(nvpeakSeries("box7:9835", "box7", "GPU-7", at, 41<<30), append(dcgm("box7", "GPU-7"), dcgm("box9", "GPU-9")...)...)
	u := poll(t, r, p)
	if len(u.Hosts) != 2 || u.Hosts[0].Via != "nvpeak by prometheus" || u.Hosts[1].Name != "box9" || u.Hosts[1].Via != "dcgm-exporter by prometheus" || u.Hosts[1].Reason == "" {
		t.Fatalf("%+v %+v", u.Hosts[0], u.Hosts)
	}
	if !strings.Contains(s.asked[0], `",job="gpu"}`) || !strings.Contains(s.asked[1], `,job="gpu"}[300s]`) {
		t.Errorf("%q", s.asked)
	}
	for i := range s.series { // samples of before are there, and no series is now
		s.series[i].stale = s.series[i].labels["job"] == "dcgm"
	}
	if u = poll(t, r, p); u.Hosts[1].State != Lost || !strings.Contains(u.Hosts[1].Reason, "no series of it any more") {
		t.Errorf("%+v", u.Hosts[1])
	}
	r.at = r.at.Add(time.Hour)
	if u = poll(t, r, p); len(u.Hosts) != 1 {
		t.Errorf("%+v", u.Hosts)
	}
	s.series = nil
	clear(p.targets)
	for _, row := range []struct {
		fail int
		body string
		says string
	}{
		{0, "", `no series of GPUs: neither by the names of nvpeak, dcgm-exporter, nvidia_gpu_exporter nor by those of nvitop-exporter, that fit {job="gpu"}`},
		{401, "", "(401)"}, {400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:31: parse error: error parsing regexp"}`, "it answers 400: invalid parameter \"query\": 1:31: parse error"},
		{502, "<html>", "it answers 502: Bad Gateway"}, {503, "{", "it answers 503: Service Unavailable"}, {0, "<html>", "none of Prometheus' HTTP API"}, {0, `{"status":"success"}`, "none of Prometheus' HTTP API"},
		{0, `{"status":"error","error":"query\nprocessing \u001b[1mwould load too many samples"}`, "it answers: query processing ?[1mwould load"},
		{0, `{"status":"success","data":{"result":[{"metric":{"__name__":"nvpeak_gpu_up"},"value":[1,`, "none of Prometheus' HTTP API"},
		{0, strings.Repeat(" ", mostPage+1), "larger than 32 MiB"},
	} {
		s.fail, s.body = row.fail, row.body
		err := p.poll(context.Background())
		if err == nil || !strings.Contains(err.Error(), row.says) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%v, want %q", err, row.says)
		}
	}
	p.loseAll("it is away", r.at)
	if u, _ = r.take(); u.Hosts[0].State != Lost || u.Hosts[0].Reason != "the server: it is away" {
		t.Errorf("%+v", u.Hosts[0])
	}
}

// Of machines that say the same name each stays the one that it was, whoever comes and goes; one that comes by another address is the same again.
func TestServerSameName(t *testing.T) {
	s := &store{t: t}
	r, p := polling(t, s, "prometheus://SERVER")
	at := []time.Time{r.at.Add(-5 * time.Second)}
	one := func(instance, uuid string) []stored { return nvpeakSeries(instance, "box", uuid, at, 41<<30) }
	who := func() string {
		t.Helper()
		u := poll(t, r, p)
		names := ""
		for _, snap := range u.Snapshots {
			names += snap.Host + "=" + snap.GPUs[0].UUID + " "
		}
		at = []time.Time{at[0].Add(time.Second)}
		return names
	}
	s.series = one("b:1", "GPU-b")
	if got := who(); got != "box=GPU-b " {
		t.Error(got)
	}
	s.series = append(one("a:1", "GPU-a"), one("b:1", "GPU-b")...)
	if got := who(); got != "a:1=GPU-a box=GPU-b " {
		t.Error(got)
	}
	s.series = append(one("a:1", "GPU-a"), one("c:1", "GPU-b")...)
	if got := who(); got != "a:1=GPU-a box=GPU-b " {
		t.Error(got)
	}
	r, p = polling(t, s, "prometheus://SERVER") // who begins with both gives the name to neither
	if got := who(); got != "a:1=GPU-a c:1=GPU-b " {
		t.Error(got)
	}
}

// A server that was away for ten minutes is asked for the samples of all that time: no peak that it has scraped is missing.
func TestServerAway(t *testing.T) {
	s := &store{t: t}
	r, p := polling(t, s, "prometheus://SERVER")
	begin := r.at
	at := []time.Time{begin.Add(-20 * time.Second), begin.Add(-5 * time.Second)}
	s.series = nvpeakSeries("a:1", "box", "GPU-1", at, 41<<30)
	poll(t, r, p)
	s.fail = http.StatusServiceUnavailable
	for range 5 {
		r.at = r.at.Add(2 * time.Minute)
		if err := p.poll(context.Background()); err == nil || !strings.Contains(err.Error(), "503") {
			t.Fatal(err)
		}
		p.loseAll("away", r.at)
	}
	s.fail = 0
	s.series = nvpeakSeries("a:1", "box", "GPU-1", append(at, begin.Add(10*time.Second), begin.Add(25*time.Second), r.at.Add(-3*time.Second)), 41<<30, 41<<30, 78<<30, 41<<30, 41<<30)
	u := poll(t, r, p)
	if asked := s.asked[len(s.asked)-2]; !strings.HasSuffix(asked, "[1205s]") {
		t.Error(asked)
	}
	if len(u.Snapshots) != 1 || u.Snapshots[0].GPUs[0].Memory.Window == nil || u.Snapshots[0].GPUs[0].Memory.Window.Max != 78*sampler.GiB || u.Hosts[0].State != OK {
		t.Errorf("%+v", u)
	}
}

// A host whose exporter was down before nvpeak began is lost, not unknown, for as long as the server misses it; it is the same when it comes back.
func TestServerDown(t *testing.T) {
	s := &store{t: t, down: []string{"box7:9835", "box8:9835", "box9"}}
	r, p := polling(t, s, "prometheus://SERVER")
	state := func() string {
		t.Helper()
		said := ""
		for _, h := range poll(t, r, p).Hosts {
			said += fmt.Sprint(h.Name, " ", h.State, " ")
			if h.State == Lost && h.Reason != downReason {
				t.Error(h.Reason)
			}
		}
		return said
	}
	if got := state(); got != "box7 lost box8 lost box9 lost " {
		t.Errorf("all are down: %s", got)
	}
	r.at = r.at.Add(time.Hour)
	s.down = s.down[:2]
	s.series = nvpeakSeries("box7:9835", "seven", "GPU-7", []time.Time{r.at.Add(-5 * time.Second)}, 41<<30)
	if got := state(); got != "box7 ok box8 lost " {
		t.Errorf("one is back, one was taken away: %s", got)
	}
	if q := s.asked[2]; !strings.Contains(q, "DCGM_FI_DEV_FB_USED|") || !strings.HasSuffix(q, "[86400s])") {
		t.Error(q)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"nvpeak_gpu_memory_used_bytes","gpu":"0","uuid":"GPU-1","instance":"a:1"},"value":[1700000000,"5"]}]}}`))
	f.Add([]byte(`{"data":{"result":[{"values":[[1,"2"],[3,"NaN"]],"metric":{"__name__":"DCGM_FI_DEV_FB_USED","gpu":"0","UUID":"x"}}]},"status":"success"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		groups := map[string]*group{}
		s := &server{}
		if readAnswer(body, func(j *tape.JSON) { s.readSeries(j, groups) }) != nil {
			return
		}
		for _, g := range groups {
			if best := g.best(); best != nil {
				k := knownGroup{group: g, figures: best}
				k.windows(noon)
				possible(best.snapshot(noon))
			}
		}
	})
}

// Where the driver was away before the first scrape there are no figures of its GPUs at all, and it is said at once why.
func TestServerNeverHadADriver(t *testing.T) {
	s := &store{t: t}
	r, p := polling(t, s, "prometheus://SERVER")
	at := []time.Time{r.at.Add(-10 * time.Second)}
	for name, v := range map[string]float64{"nvpeak_info": 1, "nvpeak_driver_up": 0, "nvpeak_gpu_up": 0} {
		s.series = append(s.series, stored{map[string]string{"__name__": name, "gpu": "0", "uuid": "GPU-7", "instance": "box7:9835", "job": "gpu"}, at, []float64{v}, false})
	}
	if u := poll(t, r, p); len(u.Hosts) != 1 || u.Hosts[0].Name != "box7" || u.Hosts[0].State != Late || u.Hosts[0].Reason != driverAway {
		t.Errorf("%+v", *u.Hosts[0])
	}
}

// A driver that does not answer makes its host late, though its exporter is scraped.
func TestServerTellsOfADriver(t *testing.T) {
	for down, want := range map[float64]State{1: OK, 0: Late} {
		s := &store{t: t}
		r, p := polling(t, s, "prometheus://SERVER")
		at := []time.Time{r.at.Add(-10 * time.Second)}
		s.series = append(nvpeakSeries("box7:9835", "box7", "GPU-7", at, 41<<30),
			stored{map[string]string{"__name__": "nvpeak_driver_up", "instance": "box7:9835", "job": "gpu"}, at, []float64{down}, false})
		if u := poll(t, r, p); len(u.Hosts) != 1 || u.Hosts[0].State != want || (u.Hosts[0].Reason == driverAway) != (want == Late) {
			t.Errorf("up %v: %+v", down, *u.Hosts[0])
		}
		// A server that was away says nothing new at first, and the host is what it was.
		p.loseAll("it wants a token", r.at)
		if u := poll(t, r, p); len(u.Hosts) != 1 || u.Hosts[0].State != want || (u.Hosts[0].Reason == driverAway) != (want == Late) || len(u.Snapshots) != 0 {
			t.Errorf("after the server was away, up %v: %+v", down, *u.Hosts[0])
		}
	}
}
