package tape

import (
	"bytes"
	"reflect"
	"slices"
	"unicode/utf8"

	"nvpeak/sampler"
)

// What one line and one file may make a reader hold: many times what a machine has, and little
// enough for any file to be read in some hundred megabytes. "{}," takes three bytes and a GPU
// seven hundred, and 3 KB of zstd unpack to gigabytes. What is beyond is left out and noted.
const (
	// maxLine bounds one line, in bytes: a snapshot of 64 GPUs with 32 processes each has 1.3 MiB.
	maxLine = 8 << 20
	// maxGPUs bounds the GPUs of a line, and all of a file; 64 GPUs of 7 MIG instances are 448.
	maxGPUs = 512
	// maxProcesses bounds the processes of a line, those of all GPUs together: 64 with 32 each.
	maxProcesses = 2048
	// maxText bounds one text; the kernel lets a command line have more, and nobody reads it.
	maxText = 16 << 10
	// maxParts bounds the commas of the values of a line that are decoded whole, and so what those
	// are made of: alerts, environments, an event. One alert has some 50.
	maxParts = 32 << 10
	// maxColumns bounds the columns of a tick; there are fewer, and each comes once.
	maxColumns = 256
	// maxFailures bounds the failures of a file, in bytes as written and 32 for each of their parts.
	maxFailures = 48 << 20
	// A file may hold plainSpare bytes unpacked, and plainRatio for each of its own: a recording
	// of nvpeak unpacks to six, an idle one to forty.
	plainSpare = 256 << 20
	plainRatio = 256
	// A file may hold figureSpare GPUs and processes, each counted with every snapshot, and
	// figureRatio for each of its bytes: a tick is short where little changes.
	figureSpare = 8 << 20
	figureRatio = 4
	// maxTotal TiB are more than a GPU will have for long, also where it shares those of the host.
	maxTotal = 16
	// maxDamaged damaged places end a file: nothing is found between so many.
	maxDamaged = 10_000
)

// flaw is something wrong with a line that is read all the same, or why it is not.
type flaw int

const (
	manyGPUs flaw = iota
	manyProcesses
	longLine
	longText
	manyParts
	manyFailures
	manyColumns
	hugeTotal // more than any GPU has
	overTotal // more used than that
	badCells  // of a CSV log, as the following
	badTime
	badAmount
	badIndex
	noTotal
	otherTotal // than before, of the same GPU
	unsureAmount
	unsureDate
	flaws // how many there are
)

// flawTexts has the sentence of each flaw, and the limit that was exceeded.
var flawTexts = [flaws]struct {
	id   string
	most int
}{
	manyGPUs:      {"tape.many_gpus", maxGPUs},
	manyProcesses: {"tape.many_processes", maxProcesses},
	longLine:      {"tape.long_line", maxLine >> 20},
	longText:      {"tape.long_text", maxText >> 10},
	manyParts:     {"tape.many_parts", maxParts},
	manyFailures:  {"tape.many_failures", maxFailures >> 20},
	manyColumns:   {"tape.many_columns", maxColumns},
	hugeTotal:     {"tape.huge_total", maxTotal},
	overTotal:     {"tape.over_total", 0},
	badCells:      {"tape.bad_cells", 0},
	badTime:       {"tape.bad_time", 0},
	badAmount:     {"tape.bad_amount", 0},
	badIndex:      {"tape.bad_index", maxDevices - 1},
	noTotal:       {"tape.no_total", 0},
	otherTotal:    {"tape.other_total", 0},
	unsureAmount:  {"tape.unsure_amount", 0},
	unsureDate:    {"tape.unsure_date", 0},
}

// meter counts what a line is made of, and notes its flaws.
type meter struct {
	gpus, processes, parts int
	flaws                  [flaws]bool
}

// room says whether the line may have another element of a list.
func (m *meter) room(list reflect.Type) bool {
	if list == reflect.TypeFor[[]sampler.GPU]() {
		m.gpus++
		return m.within(m.gpus, maxGPUs, manyGPUs)
	}
	m.processes++
	return m.within(m.processes, maxProcesses, manyProcesses)
}

// within says whether there are no more than most, and notes the flaw where there are.
func (m *meter) within(n, most int, f flaw) bool {
	if n > most {
		m.flaws[f] = true
		return false
	}
	return true
}

// whole says whether a value may be decoded whole.
func (m *meter) whole(raw []byte) bool {
	m.parts += bytes.Count(raw, []byte{','})
	return m.within(m.parts, maxParts, manyParts)
}

// clip cuts a text that is too long.
func (m *meter) clip(text []byte) []byte {
	if len(text) <= maxText {
		return text
	}
	m.flaws[longText] = true
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// budget is what a file has used of its limits.
type budget struct {
	read     int64 // bytes of its lines
	figures  int64 // GPUs and processes of its snapshots
	failures int
	known    map[sampler.GPUKey]bool
}

// snapshot says whether the file may have another snapshot.
func (u *budget) snapshot(s *sampler.Snapshot, m *meter) bool {
	for i := range s.GPUs {
		m.flaws[hugeTotal] = m.flaws[hugeTotal] || s.GPUs[i].Memory.Total.Or(0) >= maxTotal*sampler.TiB
		u.figures += 1 + int64(len(s.GPUs[i].Processes))
	}
	return u.figures <= figureSpare+figureRatio*u.read
}

// failure says whether the file may have another failure.
func (u *budget) failure(line []byte, m *meter) bool {
	u.failures += len(line) + 32*m.parts
	return m.within(u.failures, maxFailures, manyFailures)
}

// devices is the snapshot without GPUs beyond those that a file may have.
func (u *budget) devices(s *sampler.Snapshot, m *meter) *sampler.Snapshot {
	if u.known == nil {
		u.known = map[sampler.GPUKey]bool{}
	}
	beyond := func(g sampler.GPU) bool {
		key := g.Key()
		if len(u.known) < maxGPUs {
			u.known[key] = true
		}
		return !u.known[key]
	}
	if !slices.ContainsFunc(s.GPUs, beyond) {
		return s
	}
	m.flaws[manyGPUs] = true
	c := *s // the ticks that follow build on the whole
	c.GPUs = slices.DeleteFunc(slices.Clone(s.GPUs), beyond)
	return &c
}

// tooMuch says whether more was unpacked from a file than one of its size may hold.
func tooMuch(plain, size int64) bool { return plain > plainSpare+plainRatio*size }
