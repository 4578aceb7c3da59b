package tape

import (
	"html"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
)

// smiXML decodes `nvidia-smi -q -x`, one document or many in a row. It goes from tag to tag, by
// line, so that a document which is cut, or far too large, costs nothing but itself.
type smiXML struct {
	foreign
	path    []string // names of the elements that are open
	text    strings.Builder
	open    bool // within a document
	parent  int  // place of the GPU that is being read, -1 for none
	process xmlProcess
}

// xmlProcess is one process_info.
type xmlProcess struct {
	pid, kind, name, memory string
	gi, ci                  string
}

const maxDepth = 32 // nvidia-smi has 7

func openSMIXML(line string, _ []byte) (decoder, error) {
	if !strings.Contains(line, "<nvidia_smi_log") && !strings.Contains(line, "<!DOCTYPE nvidia_smi_log") {
		return nil, nil
	}
	return &smiXML{}, nil
}

func (x *smiXML) restart() { *x = smiXML{} }

func (x *smiXML) line(p *progress, b []byte, out *Record) error {
	text, line, result := plainLine(b), out.Line, errNone
	for text != "" {
		words, rest, more := strings.Cut(text, "<")
		if room := maxText - x.text.Len(); room > 0 {
			x.text.WriteString(words[:min(len(words), room)])
		}
		if !more {
			if !x.open && strings.TrimSpace(words) != "" {
				return errLine
			}
			break
		}
		tag, after, closed := strings.Cut(rest, ">")
		if !closed {
			return errLine // a tag that does not end
		}
		text = after
		if err := x.tag(p, tag, line, out); err != errNone {
			result = err
		}
		x.text.Reset()
	}
	return result
}

// tag takes what stands between < and >.
func (x *smiXML) tag(p *progress, tag string, line int, out *Record) error {
	switch {
	case tag == "" || tag[0] == '?' || tag[0] == '!':
		return errNone
	case tag[0] == '/':
		return x.leave(p, strings.TrimSpace(tag[1:]), out)
	case strings.HasSuffix(tag, "/"):
		return errNone // empty
	}
	name, attributes, _ := strings.Cut(tag, " ")
	if name == "nvidia_smi_log" {
		cut := x.open
		x.begin(line, time.Time{})
		x.path, x.open, x.parent = x.path[:0], true, -1
		if cut {
			p.notes.corrupt(line - 1)
		}
	}
	if !x.open || len(x.path) >= maxDepth {
		return errNone
	}
	x.path = append(x.path, name)
	x.enter(name, attributes)
	return errNone
}

var xmlID = sampler.Pattern{Source: `\bid\s*=\s*["']([^"']*)`}

func (x *smiXML) enter(name, attributes string) {
	switch at := x.place(); {
	case name == "gpu" && at == "gpu":
		g := sampler.GPU{Index: x.count()}
		if m := xmlID.Get().FindStringSubmatch(attributes); m != nil {
			g.PCI = m[1]
		}
		x.parent = -1
		if x.gpu(g) != nil {
			x.parent = len(x.sweep.GPUs) - 1
		}
	case at == "gpu/mig_devices/mig_device" && x.parent >= 0:
		parent := x.sweep.GPUs[x.parent]
		x.gpu(sampler.GPU{Index: parent.Index, Name: parent.Name, PCI: parent.PCI, MIG: &sampler.MIG{}})
	case at == "gpu/processes/process_info":
		x.process = xmlProcess{}
	}
}

// count is how many GPUs there are, which nvidia-smi lists by their index.
func (x *smiXML) count() (n int) {
	for i := range x.sweep.GPUs {
		if x.sweep.GPUs[i].MIG == nil {
			n++
		}
	}
	return n
}

// place is where in the document we are.
func (x *smiXML) place() string {
	if len(x.path) < 2 {
		return ""
	}
	return strings.Join(x.path[1:], "/")
}

// leave takes the end of an element.
func (x *smiXML) leave(p *progress, name string, out *Record) error {
	if !x.open || len(x.path) == 0 || x.path[len(x.path)-1] != name {
		return errNone
	}
	at, text := x.place(), html.UnescapeString(strings.TrimSpace(x.text.String()))
	x.path = x.path[:len(x.path)-1]
	if len(x.path) == 0 {
		x.open = false
		if out.Snapshot == nil && x.give(p, out) {
			return nil
		}
		return errNone
	}
	switch {
	case at == "timestamp":
		x.at = xmlTime(text)
	case at == "driver_version":
		x.sweep.Driver = text
	case at == "cuda_version":
		x.sweep.CUDA = text
	case x.parent < 0:
	case at == "gpu":
		x.nameParent()
	case at == "gpu/processes/process_info":
		x.addProcess()
	case strings.HasPrefix(at, "gpu/processes/process_info/"):
		x.process.set(name, text)
	case strings.HasPrefix(at, "gpu/mig_devices/mig_device/"):
		if g := x.last(); g != nil && g.MIG != nil {
			setXML(g, strings.TrimPrefix(at, "gpu/mig_devices/mig_device/"), text)
		}
	case strings.HasPrefix(at, "gpu/"):
		setXML(&x.sweep.GPUs[x.parent], strings.TrimPrefix(at, "gpu/"), text)
	}
	return errNone
}

func xmlTime(text string) time.Time {
	if at, ok := parseClock(text); ok {
		return at
	}
	at, _ := parseTime(text)
	return at
}

func (s *xmlProcess) set(name, text string) {
	switch name {
	case "pid":
		s.pid = text
	case "type":
		s.kind = text
	case "process_name":
		s.name = text
	case "used_memory":
		s.memory = text
	case "gpu_instance_id":
		s.gi = text
	case "compute_instance_id":
		s.ci = text
	}
}

func (x *smiXML) addProcess() {
	pid, err := strconv.ParseInt(x.process.pid, 10, 32)
	if err != nil {
		return
	}
	on := &x.sweep.GPUs[x.parent]
	for i := x.parent + 1; i < len(x.sweep.GPUs); i++ {
		m := x.sweep.GPUs[i].MIG
		if m != nil && strconv.Itoa(m.GPUInstance) == x.process.gi && strconv.Itoa(m.ComputeInstance) == x.process.ci {
			on = &x.sweep.GPUs[i]
		}
	}
	x.foreign.process(on, int(pid), x.process.kind, x.process.name, mebibytes(x.process.memory))
}

// nameParent tells the instances of a GPU its UUID, which comes after them.
func (x *smiXML) nameParent() {
	for i := x.parent + 1; i < len(x.sweep.GPUs); i++ {
		x.sweep.GPUs[i].MIG.ParentUUID = x.sweep.GPUs[x.parent].UUID
	}
}

// xmlFields has a row for each element of a GPU that is read, by its place in it.
var xmlFields = map[string]func(g *sampler.GPU, text string){
	"product_name":                           func(g *sampler.GPU, text string) { g.Name = text },
	"uuid":                                   func(g *sampler.GPU, text string) { g.UUID = text },
	"performance_state":                      func(g *sampler.GPU, text string) { g.PerformanceState = cell{text: text}.word() },
	"fan_speed":                              func(g *sampler.GPU, text string) { g.Fan = whole(text) },
	"fb_memory_usage/total":                  func(g *sampler.GPU, text string) { g.Memory.Total = mebibytes(text) },
	"fb_memory_usage/reserved":               func(g *sampler.GPU, text string) { g.Memory.Reserved = mebibytes(text) },
	"fb_memory_usage/used":                   func(g *sampler.GPU, text string) { g.Memory.Used = mebibytes(text) },
	"fb_memory_usage/free":                   func(g *sampler.GPU, text string) { g.Memory.Free = mebibytes(text) },
	"utilization/gpu_util":                   func(g *sampler.GPU, text string) { g.Utilization.GPU = whole(text) },
	"utilization/memory_util":                func(g *sampler.GPU, text string) { g.Utilization.Memory = whole(text) },
	"utilization/encoder_util":               func(g *sampler.GPU, text string) { g.Utilization.Encoder = whole(text) },
	"utilization/decoder_util":               func(g *sampler.GPU, text string) { g.Utilization.Decoder = whole(text) },
	"temperature/gpu_temp":                   func(g *sampler.GPU, text string) { g.Temperature = whole(text) },
	"clocks/sm_clock":                        func(g *sampler.GPU, text string) { g.Clocks.SM = whole(text) },
	"clocks/mem_clock":                       func(g *sampler.GPU, text string) { g.Clocks.Memory = whole(text) },
	"power_readings/power_draw":              setPower,
	"power_readings/power_limit":             setPowerLimit,
	"gpu_power_readings/power_draw":          setPower,
	"gpu_power_readings/average_power_draw":  setPower,
	"gpu_power_readings/instant_power_draw":  func(g *sampler.GPU, text string) { g.Power = g.Power.Else(watts(text)) },
	"gpu_power_readings/current_power_limit": setPowerLimit,
	"gpu_instance_id": func(g *sampler.GPU, text string) {
		setInstance(g, func(m *sampler.MIG) *int { return &m.GPUInstance }, text)
	},
	"compute_instance_id": func(g *sampler.GPU, text string) {
		setInstance(g, func(m *sampler.MIG) *int { return &m.ComputeInstance }, text)
	},
	"index": func(g *sampler.GPU, text string) { setInstance(g, func(m *sampler.MIG) *int { return &m.Index }, text) },
}

func setPower(g *sampler.GPU, text string)      { g.Power = watts(text).Else(g.Power) }
func setPowerLimit(g *sampler.GPU, text string) { g.PowerLimit = watts(text).Else(g.PowerLimit) }

// setInstance sets a number of a MIG instance.
func setInstance(g *sampler.GPU, field func(*sampler.MIG) *int, text string) {
	if n, ok := whole(text).Value(); ok && g.MIG != nil && n >= 0 && n < maxDevices {
		*field(g.MIG) = n
	}
}

func setXML(g *sampler.GPU, at, text string) {
	if set := xmlFields[at]; set != nil {
		set(g, text)
	}
}

// end notes a document that was cut. Where it is the only one, what there is of it counts.
func (x *smiXML) end(p *progress, out *Record) bool {
	if !x.open {
		return false
	}
	p.notes.cut = out.Line
	return x.given == 0 && x.give(p, out)
}
