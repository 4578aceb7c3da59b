package plain

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/sampler"
)

// chartWords are what the charts say, by the names that the script knows.
func chartWords(words lang.Catalog) string {
	list := map[string]string{"time": words.Say("col.time"), "used": words.Say("html.used"), "least": words.Say("html.least"),
		"allocated": words.Say("html.allocated"), "reserved": words.Say("html.reserved"), "at": words.Say("report.size_at")}
	for _, kind := range []string{sampler.MarkTraining, sampler.MarkEpoch, sampler.MarkValidation, sampler.MarkSaving} {
		list[kind] = words.Say("mark." + kind)
	}
	b, _ := json.Marshal(list) // texts only: it cannot fail
	return string(b)
}

// chartReport is what the charts of one report need; amounts in GiB, times in seconds.
type chartReport struct {
	GPUs   []chartGPU     `json:"gpus"`
	Marks  []chartMark    `json:"marks"`
	Phases []report.Phase `json:"phases"`
}

type chartGPU struct {
	Index     int            `json:"index"`
	Label     string         `json:"label"`
	Top       float64        `json:"top"`
	T         []float64      `json:"t"`
	High      []*float64     `json:"high"` // null: a gap
	Low       []*float64     `json:"low"`
	Peak      *chartPeak     `json:"peak"`
	Processes []chartProcess `json:"processes"`
	Allocated []*float64     `json:"allocated"`
	Reserved  []*float64     `json:"reserved"`
}

type chartPeak struct {
	T   float64 `json:"t"`
	GiB float64 `json:"gib"`
}

type chartProcess struct {
	Name string     `json:"name"`
	GiB  []*float64 `json:"gib"`
}

type chartMark struct {
	T     float64          `json:"t"`
	Kind  string           `json:"kind"` // oom, alert, start, end
	GPU   sampler.Opt[int] `json:"gpu"`
	Label string           `json:"label,omitempty"` // which MIG instance of it, or it; empty: not known
}

// on says whether a mark belongs to the chart of a GPU.
func (m chartMark) on(g *report.GPU) bool {
	return m.GPU.Or(g.Index) == g.Index && (m.Label == "" || m.Label == g.Label)
}

// Bounds of a chart: more is not seen any more.
const (
	chartProcesses = 6
	chartMarks     = 400
)

func chartsOf(r report.Report) chartReport {
	c := chartReport{GPUs: []chartGPU{}, Marks: marksOf(r), Phases: append([]report.Phase{}, r.Phases...)}
	for i := range r.GPUs {
		c.GPUs = append(c.GPUs, chartOf(r, &r.GPUs[i]))
	}
	return c
}

func chartOf(r report.Report, g *report.GPU) chartGPU {
	c := chartGPU{Index: g.Index, Label: g.Label, T: []float64{}, High: []*float64{}, Low: []*float64{}, Processes: []chartProcess{}, Allocated: []*float64{}, Reserved: []*float64{}}
	c.Top = g.Total.Or(0).GiB()
	for _, p := range g.Plot {
		c.T = append(c.T, round3(p.T))
		c.High, c.Low = append(c.High, inGiB(p.High)), append(c.Low, inGiB(p.Low))
	}
	if n := len(c.T); n > 0 && r.Duration > c.T[n-1] { // the last value lasts to the end
		c.T, c.High, c.Low = append(c.T, round3(r.Duration)), append(c.High, c.High[n-1]), append(c.Low, c.Low[n-1])
	}
	if g.Peak != nil {
		c.Peak = &chartPeak{round3(g.Peak.T), round3(g.Peak.Bytes.GiB())}
		c.Top = max(c.Top, g.Peak.Bytes.GiB())
	}
	c.Top = round3(max(c.Top*1.02, 0.1))
	for i := range r.Processes {
		if p := &r.Processes[i]; p.Label == g.Label && len(c.Processes) < chartProcesses {
			c.Processes = append(c.Processes, chartProcess{chartName(p), sampled(p, c.T, c.High)})
		}
	}
	c.readings(r, g)
	return c
}

func chartName(p *report.Process) string {
	name := strconv.Itoa(p.PID) + " " + p.Name
	if p.User != "" {
		name += " (" + p.User + ")"
	}
	return strings.TrimSpace(name)
}

// sampled is the memory of a process at the times of its GPU's chart. What is a gap there is one here.
func sampled(p *report.Process, times []float64, gpu []*float64) []*float64 {
	list := make([]*float64, len(times))
	at := 0
	for i, t := range times {
		for at < len(p.Plot) && p.Plot[at].T <= t+0.01 {
			at++
		}
		if at > 0 && t <= p.Last+1e-3 && gpu[i] != nil {
			list[i] = inGiB(p.Plot[at-1].High)
		}
	}
	return list
}

// readings puts what the log prints of the allocator at the nearest times of the chart.
// They belong to this GPU when the log names it, or when there is only one.
func (c *chartGPU) readings(r report.Report, g *report.GPU) {
	var allocated, reserved []*float64
	for _, a := range r.Readings {
		if len(c.T) == 0 || a.GPU.Or(g.Index) != g.Index || !a.GPU.Known() && len(r.GPUs) > 1 {
			continue
		}
		i, _ := slices.BinarySearchFunc(c.T, a.T, func(t, at float64) int { return cmp.Compare(t, at) })
		i = min(i, len(c.T)-1)
		put := func(list []*float64, o sampler.Opt[sampler.Bytes]) []*float64 {
			b, ok := o.Value()
			if !ok {
				return list
			}
			if list == nil {
				list = make([]*float64, len(c.T))
			}
			list[i] = inGiB(float64(b))
			return list
		}
		allocated, reserved = put(allocated, a.Allocated), put(reserved, a.Reserved)
	}
	if allocated != nil {
		c.Allocated = allocated
	}
	if reserved != nil {
		c.Reserved = reserved
	}
}

// marksOf are the moments that charts show.
func marksOf(r report.Report) []chartMark {
	list := []chartMark{}
	place := func(t float64) float64 { return round3(min(t, r.Duration)) } // a failure may come after the last snapshot
	for _, a := range r.Alerts {
		if a.Kind != sampler.AlertOOM {
			list = append(list, chartMark{place(a.T), "alert", a.GPU, a.Label()})
		}
	}
	kinds := map[string]string{"process_start": "start", "process_end": "end"}
	for _, e := range r.Events {
		switch kind := kinds[e.Kind]; {
		case e.Kind == "oom":
			list = append(list, chartMark{place(e.T), "oom", e.GPU, ""})
		case kind != "":
			list = append(list, chartMark{place(e.T), kind, e.GPU, ""})
		}
	}
	return list[:min(len(list), chartMarks)]
}

func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

// inGiB is an amount for a chart; nil for a gap.
func inGiB(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	v = round3(v / float64(sampler.GiB))
	return &v
}
