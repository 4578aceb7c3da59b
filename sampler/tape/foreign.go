package tape

import (
	"strings"
	"time"

	"nvpeak/sampler"
)

// format is a form of log of another program: open makes its decoder where a line, with what
// comes after it, is of one.
type format struct {
	open func(line string, rest []byte) (decoder, error)
}

// formats are those logs. A new one is one row, and a file of its own.
var formats = []format{
	{openGPUStat},
	{openPlainGPUStat},
	{openSMITable},
	{openSMIXML},
	{openMonitorLog},
}

// openForeign makes the decoder of a log of another program; nil where the line begins none.
func openForeign(line string, rest []byte) (decoder, error) {
	for _, f := range formats {
		if decode, err := f.open(line, rest); decode != nil || err != nil {
			return decode, err
		}
	}
	return nil, nil
}

// foreign is what the decoders of such logs share: the sweep over the GPUs that is being read,
// and the times of those that were.
type foreign struct {
	sweep     sampler.Snapshot
	at        time.Time // of the sweep; zero: the log does not tell
	line1     int       // the first line of the sweep
	processes int
	given     int // sweeps so far
	meter     meter
}

// begin takes a line as the first one of a sweep.
func (f *foreign) begin(line int, at time.Time) {
	f.sweep = sampler.Snapshot{Driver: f.sweep.Driver, CUDA: f.sweep.CUDA, Host: f.sweep.Host}
	f.at, f.line1, f.processes, f.meter = at, line, 0, meter{}
}

// gpu adds a GPU to the sweep; nil where it has too many.
func (f *foreign) gpu(g sampler.GPU) *sampler.GPU {
	if !f.meter.within(len(f.sweep.GPUs)+1, maxGPUs, manyGPUs) {
		return nil
	}
	g.Throttle, g.Processes = []string{}, []sampler.Process{}
	f.sweep.GPUs = append(f.sweep.GPUs, g)
	return f.last()
}

// last is the GPU that came last; nil where there is none.
func (f *foreign) last() *sampler.GPU {
	if n := len(f.sweep.GPUs); n > 0 {
		return &f.sweep.GPUs[n-1]
	}
	return nil
}

// process adds a process to a GPU, by what the log says of it.
func (f *foreign) process(g *sampler.GPU, pid int, kind, command string, memory sampler.Opt[sampler.Bytes]) {
	if g == nil || pid < 0 {
		return
	}
	f.processes++
	if !f.meter.within(f.processes, maxProcesses, manyProcesses) {
		return
	}
	command = string(f.meter.clip([]byte(command)))
	g.Processes = append(g.Processes, sampler.Process{PID: pid, Name: programOf(command), Command: command,
		Type: processKinds[kind], Memory: memory, Visible: true})
}

// processKinds are the kinds of processes as nvidia-smi abbreviates them.
var processKinds = map[string]string{"C": "compute", "G": "graphics", "C+G": "compute+graphics", "M": "mps", "M+C": "mps"}

// programOf is the name of the program of a command line or of a path, which may be cut on the left.
func programOf(command string) string {
	if !strings.Contains(command, `\`) {
		command, _, _ = strings.Cut(command, " ")
	}
	return command[strings.LastIndexAny(command, `/\`)+1:]
}

// give makes a snapshot of the sweep. What has no GPU is none.
func (f *foreign) give(p *progress, out *Record) bool {
	if len(f.sweep.GPUs) == 0 {
		p.notes.flawed(f.line1, &f.meter)
		return false
	}
	s := f.sweep
	s.Type, s.Schema, s.Alerts, s.Time = "snapshot", sampler.Schema, []sampler.Alert{}, f.at
	if f.at.IsZero() {
		p.untimed()
		s.Time = p.undated(f.given)
	}
	for i := range s.GPUs {
		possibleUse(&s.GPUs[i], &f.meter)
		fillDerived(&s.GPUs[i], true, &f.meter)
	}
	p.notes.flawed(f.line1, &f.meter)
	f.given++
	out.Line, out.Time, out.Snapshot = f.line1, s.Time, &s
	f.sweep.GPUs = nil
	return true
}

// possibleUse drops more use than any GPU has, where the total that would bound it is not known.
func possibleUse(g *sampler.GPU, m *meter) {
	if used, ok := g.Memory.Used.Value(); ok && used >= maxTotal*sampler.TiB {
		g.Memory.Used = unknown
		m.flaws[badAmount] = true
	}
}

// undated is the time of the nth reading of a log that tells none: on a day of 1970, so that
// nobody takes it for a date.
func (p *progress) undated(n int) time.Time {
	return undatedDay().Add(time.Duration(n) * p.every()).UTC()
}

// every is how far the readings of a log without times are apart.
func (p *progress) every() time.Duration {
	if p.step > 0 {
		return p.step
	}
	return time.Second
}

// undatedDay is the day of times without a date: the second one, for the first is of 1969 in half of the world.
func undatedDay() time.Time { return time.Date(1970, 1, 2, 0, 0, 0, 0, time.Local) }

// untimed notes, once, that the log has no times.
func (p *progress) untimed() {
	if !p.saidUntimed {
		p.saidUntimed = true
		p.notes.add("tape.no_time", "span", p.every())
	}
}

// clockForm is how nvidia-smi and gpustat print a time, which is that of the place.
const clockForm = "Mon Jan _2 15:04:05 2006"

var clockTime = sampler.Pattern{Source: `\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b`}

// parseClock finds such a time in a line.
func parseClock(text string) (time.Time, bool) {
	t, err := time.ParseInLocation(clockForm, clockTime.Get().FindString(text), time.Local)
	return t.UTC(), err == nil && isTime(t)
}

var escapes = sampler.Pattern{Source: `\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Za-z0-9])`}

// plainLine is a line without the colors and the cursor movements that a terminal was sent.
func plainLine(b []byte) string {
	text := string(b)
	if strings.Contains(text, "\x1b") {
		text = escapes.Get().ReplaceAllString(text, "")
	}
	return strings.TrimSpace(text)
}

// mebibytes is an amount as nvidia-smi prints it: "9216MiB", "9216 MiB", "9216"; absent for anything else.
func mebibytes(text string) sampler.Opt[sampler.Bytes] {
	return cell{text: strings.TrimSpace(text)}.bytes()
}

// whole is a number with or without a unit: "97%", "97 %", "35C".
func whole(text string) sampler.Opt[int] {
	return cell{text: strings.TrimSpace(text)}.whole()
}

// watts is a power: "51W", "51.20 W".
func watts(text string) sampler.Opt[float64] {
	return cell{text: strings.TrimSpace(text)}.float()
}
