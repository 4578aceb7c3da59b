package plain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// Field is one column of the CSV, by nvidia-smi's name.
type Field struct {
	Name  string
	alias string // nvidia-smi's other name for it
	unit  string
	text  func(*sampler.Snapshot, *sampler.GPU) string
}

// DefaultFields are those of --csv without a list.
var DefaultFields = []string{"timestamp", "index", "name", "temperature.gpu", "utilization.gpu", "memory.total",
	"memory.used", "memory.free", "memory.peak", "power.draw"}

// textFields are the columns that are no figures.
var textFields = []Field{
	{"timestamp", "", "", func(s *sampler.Snapshot, _ *sampler.GPU) string {
		return s.Time.Local().Format("2006/01/02 15:04:05.000")
	}},
	{"index", "", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.Label() }},
	{"name", "gpu_name", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.Name }},
	{"uuid", "gpu_uuid", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.UUID }},
	{"pci.bus_id", "gpu_bus_id", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.PCI }},
	{"driver_version", "", "", func(s *sampler.Snapshot, _ *sampler.GPU) string { return s.Driver }},
	{"pstate", "", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.PerformanceState.Or("") }},
	{"compute_cap", "", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.ComputeCapability.Or("") }},
	{"throttle", "", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return strings.Join(g.Throttle, " ") }},
	{"error", "", "", func(_ *sampler.Snapshot, g *sampler.GPU) string { return g.Error.Or("") }},
	HostField(),
}

// HostField is the column of the machine.
func HostField() Field {
	return Field{"host", "", "", func(s *sampler.Snapshot, _ *sampler.GPU) string { return s.Host }}
}

// requestFields are the columns about requests for memory: of the processes that are on the GPU. Where nobody sees
// requests they are not known.
var requestFields = []Field{
	{"requests.largest", "", "MiB", ofRequests("MiB", func(r *sampler.Requests, n float64) float64 { return max(n, r.Largest.MiB()) })},
	{"requests.largest_recent", "", "MiB", ofRequests("MiB", func(r *sampler.Requests, n float64) float64 { return max(n, r.LargestRecent.MiB()) })},
	{"requests.granted", "", "", ofRequests("", func(r *sampler.Requests, n float64) float64 { return n + float64(r.Granted) })},
	{"requests.refused", "", "", ofRequests("", func(r *sampler.Requests, n float64) float64 { return n + float64(r.Refused) })},
	{"requests.flushes", "", "", ofRequests("", func(r *sampler.Requests, n float64) float64 { return n + float64(r.Flushes) })},
}

// ofRequests folds what the processes of a GPU asked for.
func ofRequests(unit string, fold func(*sampler.Requests, float64) float64) func(*sampler.Snapshot, *sampler.GPU) string {
	return func(s *sampler.Snapshot, g *sampler.GPU) string {
		if s.Door == nil || g.Silent() {
			return ""
		}
		n := 0.0
		for i := range g.Processes {
			if r := g.Processes[i].Requests; r != nil {
				n = fold(r, n)
			}
		}
		return figure(sampler.Some(n), unit)
	}
}

// allFields are the text fields, those of requests, then every metric.
func allFields() []Field {
	fields := append(append([]Field(nil), textFields...), requestFields...)
	for _, m := range sampler.MetricTable() {
		alias := m.CSV
		if alias == m.Name {
			alias = ""
		}
		fields = append(fields, Field{m.Name, alias, m.Unit, func(_ *sampler.Snapshot, g *sampler.GPU) string {
			return figure(m.Of(g), m.Unit)
		}})
	}
	return fields
}

// figure is a value with its unit, as nvidia-smi writes it: "41 MiB", "61.20 W", "97 %".
func figure(o sampler.Opt[float64], unit string) string {
	v, ok := o.Value()
	if !ok {
		return ""
	}
	text := strconv.FormatFloat(v, 'f', 0, 64)
	if unit == "W" {
		text = strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strings.TrimSpace(text + " " + unit)
}

// Fields finds the columns of those names. An unknown one is an error that lists them.
func Fields(names []string) ([]Field, error) {
	var chosen []Field
	all := allFields()
next:
	for _, n := range names {
		n = strings.TrimSpace(n)
		for _, f := range all {
			if n == f.Name || n == f.alias && n != "" {
				f.Name = n
				chosen = append(chosen, f)
				continue next
			}
		}
		return nil, fmt.Errorf("there is no field %q; there are %s", n, strings.Join(FieldNames(), ", "))
	}
	return chosen, nil
}

// FieldNames are the names of all columns.
func FieldNames() (names []string) {
	for _, f := range allFields() {
		names = append(names, f.Name)
	}
	return names
}

// CSV writes one line per GPU in the form of `nvidia-smi --format=csv`: a header with
// units if asked for, values with units, ", " between them, [N/A] for what is not known.
func CSV(w io.Writer, s *sampler.Snapshot, fields []Field, header bool) error {
	if header {
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Name
			if f.unit != "" {
				names[i] += " [" + f.unit + "]"
			}
		}
		if _, err := io.WriteString(w, strings.Join(names, ", ")+"\n"); err != nil {
			return err
		}
	}
	for i := range s.GPUs {
		cells := make([]string, len(fields))
		for j, f := range fields {
			cells[j] = cell(f.text(s, &s.GPUs[i]))
		}
		if _, err := io.WriteString(w, strings.Join(cells, ", ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// cell quotes what would break the line apart.
func cell(text string) string {
	switch {
	case text == "":
		return "[N/A]"
	case strings.ContainsAny(text, ",\""):
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}
