package prom

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/kubelet"
)

// rich is a snapshot in which everything is known.
func rich(r *rig) *sampler.Snapshot {
	s := r.snapshot(10)
	g := &s.GPUs[0]
	g.Memory.Free, g.Memory.Unattributed, g.Memory.WorstFree, g.Memory.Peak = sampler.Some(gib(69)), sampler.Some(gib(0)), sampler.Some(gib(60)), &sampler.Peak{Bytes: gib(19)}
	g.Utilization = sampler.Utilization{GPU: sampler.Some(97), Memory: sampler.Some(40), Encoder: sampler.Some(0), Decoder: sampler.Some(0)}
	g.Temperature, g.Fan, g.Power, g.PowerLimit = sampler.Some(60), sampler.Some(30), sampler.Some(400.5), sampler.Some(700.0)
	g.Clocks, g.PCIe = sampler.Clocks{SM: sampler.Some(1755), Memory: sampler.Some(2619)}, sampler.PCIe{Generation: sampler.Some(5), Width: sampler.Some(16), RX: sampler.Some(uint64(1)), TX: sampler.Some(uint64(2))}
	g.Throttle, g.ECCUncorrected = []string{"power cap"}, sampler.Some(uint64(0))
	g.LastXID, g.LastXIDTime = sampler.Some(uint64(31)), sampler.Some(begin)
	g.Processes = []sampler.Process{{PID: 7, Name: "python", Memory: sampler.Some(gib(9)), Peak: &sampler.Peak{Bytes: gib(9), Source: sampler.PeakSampled},
		Allocator: &sampler.Allocator{LargestFree: sampler.Some(gib(1))}, Requests: &sampler.Requests{}}}
	s.Sampling, s.HostMemory = sampler.Some(sampler.Sampling{PeriodSeconds: 0.02}), sampler.Some(sampler.HostMemory{Total: gib(512), Available: gib(100)})
	s.Alerts = []sampler.Alert{{ID: "1", Kind: sampler.AlertGrowth, Level: "warning"}}
	return s
}

// names of the metrics that there are.
func exported(t *testing.T) []string {
	r := newRig(t, Options{Processes: 9, Pods: func(*sampler.GPU) []kubelet.Pod { return []kubelet.Pod{{Name: "p"}} }})
	r.Observe(rich(r))
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (nvpeak_\S+)`).FindAllStringSubmatch(r.text(), -1) {
		list = append(list, m[1])
	}
	if len(list) < 45 {
		t.Fatalf("only %d metrics", len(list))
	}
	return list
}

// The documents name no metric that there is not, and the table of docs/prometheus.md names each.
func TestDocumentsNameTheMetrics(t *testing.T) {
	have := exported(t)
	root := filepath.Join("..", "..", "docs")
	files, err := filepath.Glob(filepath.Join(root, "prometheus", "*"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	table := filepath.Join(root, "prometheus.md")
	for _, name := range append(files, table) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		named := metricsNamed(string(text))
		for _, m := range named {
			if !slices.Contains(have, m) {
				t.Errorf("%s names %s", name, m)
			}
		}
		for _, m := range have {
			if name == table && !slices.Contains(named, m) && !strings.HasPrefix(m, "nvpeak_host_") && m != "nvpeak_processes_left_out" {
				t.Errorf("%s does not name %s", name, m)
			}
		}
	}
}

// metricsNamed are the names in a text, those with alternatives in braces as well.
func metricsNamed(text string) (list []string) {
	for _, m := range regexp.MustCompile(`\bnvpeak_[a-z_]*_\{[a-z_,]+\}[a-z_]*|\bnvpeak_[a-z_]+`).FindAllString(text, -1) {
		before, rest, braces := strings.Cut(m, "{")
		of, after, _ := strings.Cut(rest, "}")
		if !braces {
			list = append(list, m)
			continue
		}
		for one := range strings.SplitSeq(of, ",") {
			list = append(list, before+one+after)
		}
	}
	return list
}

// The dashboard is one that Grafana imports: panels with their own ids in a grid of 24 columns, none above another, each with a query.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "prometheus", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID          int
			Title, Type string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil || d.Title == "" || d.UID == "" || d.SchemaVersion < 36 {
		t.Fatal(err, d)
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		g := p.GridPos
		if p.Title == "" || p.Type == "" || ids[p.ID] || len(p.Targets) == 0 || g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s stands on %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, q := range p.Targets {
			if !strings.Contains(q.Expr, "nvpeak_") || strings.Count(q.Expr, "(") != strings.Count(q.Expr, ")") || strings.Count(q.Expr, "{") != strings.Count(q.Expr, "}") {
				t.Errorf("%s: %s", p.Title, q.Expr)
			}
		}
	}
}
