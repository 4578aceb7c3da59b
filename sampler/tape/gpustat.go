package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
)

// gpuStat decodes what `gpustat --json` prints: one object for each sweep, on one line or
// indented over many.
type gpuStat struct {
	foreign
	text   []byte // of the object that is being read
	depth  int
	quoted bool
}

// gpuStatObject is one such object. Amounts are MiB.
type gpuStatObject struct {
	Host   string       `json:"hostname"`
	Driver string       `json:"driver_version"`
	Time   string       `json:"query_time"`
	GPUs   []gpuStatGPU `json:"gpus"`
}

type gpuStatGPU struct {
	Index     int              `json:"index"`
	UUID      string           `json:"uuid"`
	Name      string           `json:"name"`
	Heat      *float64         `json:"temperature.gpu"`
	Fan       *float64         `json:"fan.speed"`
	GPU       *float64         `json:"utilization.gpu"`
	Encoder   *float64         `json:"utilization.enc"`
	Decoder   *float64         `json:"utilization.dec"`
	Power     *float64         `json:"power.draw"`
	Limit     *float64         `json:"enforced.power.limit"`
	Used      *float64         `json:"memory.used"`
	Total     *float64         `json:"memory.total"`
	Processes []gpuStatProcess `json:"processes"`
}

type gpuStatProcess struct {
	PID     int      `json:"pid"`
	User    string   `json:"username"`
	Command string   `json:"command"`
	Full    []string `json:"full_command"`
	Memory  *float64 `json:"gpu_memory_usage"`
	CPU     *float64 `json:"cpu_percent"`
	Host    *float64 `json:"cpu_memory_usage"` // bytes
}

func openGPUStat(line string, rest []byte) (decoder, error) {
	if !strings.HasPrefix(line, "{") || line != "{" && !strings.Contains(line, `"memory.used"`) && !strings.Contains(line, `"query_time"`) {
		return nil, nil
	}
	if !bytes.Contains(rest, []byte(`"query_time"`)) && !bytes.Contains(rest, []byte(`"memory.used"`)) {
		return nil, nil
	}
	return &gpuStat{}, nil
}

func (s *gpuStat) restart() { *s = gpuStat{} }

func (s *gpuStat) line(p *progress, b []byte, out *Record) error {
	text := plainLine(b)
	again := s.depth > 0 && (text == "{" && b[0] == '{' || strings.HasPrefix(text, `{"hostname"`))
	if s.depth == 0 || again {
		if again {
			p.notes.corrupt(out.Line - 1) // the object before has no end
		}
		if !strings.HasPrefix(text, "{") {
			if text == "" {
				return errNone
			}
			return errLine
		}
		s.text, s.depth, s.quoted = s.text[:0], 0, false
		s.begin(out.Line, time.Time{})
	}
	if len(s.text)+len(text) > maxLine {
		s.depth = 0
		return ErrLongLine
	}
	s.text = append(append(s.text, text...), '\n')
	s.count(text)
	if s.depth > 0 {
		return errNone
	}
	return s.object(p, out)
}

// count follows the brackets of a line.
func (s *gpuStat) count(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case s.quoted && c == '\\':
			i++
		case c == '"':
			s.quoted = !s.quoted
		case s.quoted:
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
	s.quoted = false // no text goes over the end of a line
}

// object reads an object that is complete.
func (s *gpuStat) object(p *progress, out *Record) error {
	s.depth = 0
	var o gpuStatObject
	if !s.meter.whole(s.text) {
		p.notes.flawed(s.line1, &s.meter)
		return errNone
	}
	var kind *json.UnmarshalTypeError // such a value is absent
	if err := json.Unmarshal(s.text, &o); err != nil && !errors.As(err, &kind) {
		return errLine
	}
	if o.Time != "" {
		at, ok := parseTime(o.Time)
		if !ok {
			s.meter.flaws[badTime] = true
			p.notes.flawed(s.line1, &s.meter)
			return errLine
		}
		s.at = at
	}
	s.sweep.Host, s.sweep.Driver = o.Host, o.Driver
	for i := range o.GPUs {
		s.take(&o.GPUs[i])
	}
	if s.give(p, out) {
		return nil
	}
	return errNone
}

func (s *gpuStat) take(o *gpuStatGPU) {
	if o.Index < 0 || o.Index >= maxDevices {
		s.meter.flaws[badIndex] = true
		return
	}
	g := s.gpu(sampler.GPU{Index: o.Index, UUID: o.UUID, Name: o.Name})
	if g == nil {
		return
	}
	g.Memory.Used, g.Memory.Total = amountOf(o.Used, sampler.MiB), amountOf(o.Total, sampler.MiB)
	g.Utilization = sampler.Utilization{GPU: wholeOf(o.GPU), Encoder: wholeOf(o.Encoder), Decoder: wholeOf(o.Decoder)}
	g.Temperature, g.Fan = wholeOf(o.Heat), wholeOf(o.Fan)
	g.Power, g.PowerLimit = plainOf(o.Power), plainOf(o.Limit)
	for i := range o.Processes {
		r := &o.Processes[i]
		command := strings.Join(r.Full, " ")
		if command == "" {
			command = r.Command
		}
		before := len(g.Processes)
		s.process(g, r.PID, "C", command, amountOf(r.Memory, sampler.MiB))
		if len(g.Processes) > before {
			q := &g.Processes[before]
			q.User, q.CPU, q.HostMemory = r.User, plainOf(r.CPU), amountOf(r.Host, 1)
			if r.Command != "" {
				q.Name = programOf(r.Command)
			}
		}
	}
}

func amountOf(f *float64, unit sampler.Bytes) sampler.Opt[sampler.Bytes] {
	if f == nil {
		return unknown
	}
	if b, ok := unit.Times(*f); ok {
		return sampler.Some(b)
	}
	return unknown
}

func plainOf(f *float64) sampler.Opt[float64] {
	if f == nil || *f < 0 || *f > 1e9 {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(*f)
}

func wholeOf(f *float64) sampler.Opt[int] {
	if v, ok := plainOf(f).Value(); ok {
		return sampler.Some(int(v))
	}
	return sampler.Opt[int]{}
}

func (s *gpuStat) end(p *progress, out *Record) bool {
	if s.depth > 0 {
		p.notes.cut = out.Line
	}
	return false
}

// plainGPUStat decodes what `gpustat` prints for people: a line of host and time, and one for
// each GPU. Processes are told by -p only.
type plainGPUStat struct{ foreign }

var (
	statRow     = sampler.Pattern{Source: `^\[(\d{1,4})\]\s+([^|]*?)\s*\|([^|]*)\|\s*(\d+)\s*/\s*(\d+)\s*MB\s*(?:\|(.*))?$`}
	statHeat    = sampler.Pattern{Source: `(\d+)\s*(?:'|°)C`}
	statUse     = sampler.Pattern{Source: `(\d+)\s*%`}
	statWatts   = sampler.Pattern{Source: `(\d+)\s*/\s*(\d+)\s*W`}
	statProcess = sampler.Pattern{Source: `(?:([^\s:/()]+):)?([^\s:/()]*)/(\d{1,10})\((\d+|\?)M\)`}
)

func openPlainGPUStat(line string, rest []byte) (decoder, error) {
	_, timed := parseClock(line)
	if !statRow.Get().MatchString(line) && !(timed && statRow.Get().MatchString(secondLine(rest))) {
		return nil, nil
	}
	return &plainGPUStat{}, nil
}

func secondLine(text []byte) string {
	_, text, _ = bytes.Cut(text, []byte("\n"))
	text, _, _ = bytes.Cut(text, []byte("\n"))
	return plainLine(text)
}

func (s *plainGPUStat) restart() { *s = plainGPUStat{} }

func (s *plainGPUStat) line(p *progress, b []byte, out *Record) error {
	text, line, result := plainLine(b), out.Line, errNone
	m := statRow.Get().FindStringSubmatch(text)
	at, timed := parseClock(text)
	index := -1
	if m != nil {
		index, _ = strconv.Atoi(m[1])
	}
	g := s.last()
	switch {
	case text == "":
		return errNone
	case m == nil && !timed || index >= maxDevices:
		return errLine
	case m == nil, g != nil && index <= g.Index:
		if s.give(p, out) {
			result = nil
		}
		s.begin(line, at)
		if timed && m == nil {
			s.head(text)
			return result
		}
	case g == nil && s.line1 == 0:
		s.begin(line, at)
	}
	s.row(index, m)
	return result
}

// head takes host and driver from the line of the time.
func (s *plainGPUStat) head(text string) {
	at := clockTime.Get().FindStringIndex(text)
	s.sweep.Host = strings.TrimSpace(text[:at[0]])
	if driver := strings.TrimSpace(text[at[1]:]); !strings.Contains(driver, " ") {
		s.sweep.Driver = driver
	}
}

func (s *plainGPUStat) row(index int, m []string) {
	g := s.gpu(sampler.GPU{Index: index, Name: m[2]})
	if g == nil {
		return
	}
	g.Memory.Used, g.Memory.Total = mebibytes(m[4]), mebibytes(m[5])
	if heat := statHeat.Get().FindStringSubmatch(m[3]); heat != nil {
		g.Temperature = whole(heat[1])
	}
	if all := statUse.Get().FindAllStringSubmatch(m[3], -1); len(all) > 0 { // that of the fan comes before
		g.Utilization.GPU = whole(all[len(all)-1][1])
	}
	if power := statWatts.Get().FindStringSubmatch(m[3]); power != nil {
		g.Power, g.PowerLimit = watts(power[1]), watts(power[2])
	}
	for _, r := range statProcess.Get().FindAllStringSubmatch(m[6], maxProcesses) {
		pid, err := strconv.ParseInt(r[3], 10, 32)
		if err != nil {
			continue
		}
		before := len(g.Processes)
		s.process(g, int(pid), "C", r[2], mebibytes(r[4]))
		if len(g.Processes) > before {
			g.Processes[before].User = r[1]
		}
	}
}

func (s *plainGPUStat) end(p *progress, out *Record) bool { return s.give(p, out) }
