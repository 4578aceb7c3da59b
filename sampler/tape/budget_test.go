package tape

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"nvpeak/sampler"
)

const bombHeader = `{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","even":true,"gpus":[]}` + "\n"

// bombLine is a snapshot with these GPUs.
func bombLine(second int, more, gpus string) string {
	return fmt.Sprintf(`{"type":"snapshot","time":"2026-11-20T14:%02d:%02dZ"%s,"gpus":[%s]}`+"\n", second/60%60, second%60, more, gpus)
}

const plainGPU = `{"index":0,"memory":{"total_bytes":85899345920,"used_bytes":5368709120}}`

// much is n times a text, with commas between.
func much(n int, text string) string { return strings.Repeat(text+",", n-1) + text }

// However much a line says that there is, what is made of it is bounded, the rest is named by
// its line, and what comes after it is read.
func TestLineBudget(t *testing.T) {
	crowded := `{"processes":[` + much(maxProcesses, "{}") + `]}`
	for _, c := range []struct{ what, line, note string }{
		{"GPUs", bombLine(1, "", much(maxGPUs+1, "{}")), "line 3: more than 512 GPUs"},
		{"GPUs x processes", bombLine(1, "", crowded+","+crowded), "line 3: more than 2048 processes"},
		{"alerts", bombLine(1, `,"alerts":[`+much(maxParts+2, "{}")+"]", plainGPU), "line 3: a list of more than 32768 parts"},
		{"environments", bombLine(1, "", `{"processes":[{"environment":{`+much(maxParts+2, `"a":""`)+`}}]}`), "line 3: a list of more than 32768 parts"},
		{"a text", bombLine(1, `,"host":"`+strings.Repeat("é", maxText)+`"`, plainGPU), "line 3: a text of more than 16 KiB"},
		{"a line", bombLine(1, `,"host":"`+strings.Repeat("é", maxLine)+`"`, plainGPU), "line 3: longer than 8 MiB"},
		{"a header", `{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","gpus":[` + much(maxParts+2, "{}") + "]}\n", "line 3: a list of more"},
		{"an event", `{"type":"event","kind":"oom","oom":{"other_processes":[` + much(maxParts+2, "{}") + "]}}\n", "line 3: a list of more"},
		{"an end", `{"type":"end","process_peaks":[` + much(maxParts+2, "{}") + "]}\n", "line 3: a list of more"},
		{"columns", `{"type":"tick","t":1,"of":0,"gpu":{` + much(maxColumns+1, `"power_watts":[1]`) + "}}\n", "line 3: more than 256 columns"},
	} {
		text := bombHeader + bombLine(0, `,"t":0`, plainGPU) + c.line + bombLine(2, "", plainGPU)
		r, err := NewReader("file", strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		var last *sampler.Snapshot
		for {
			record, err := r.Next()
			if err != nil {
				break
			}
			if record.Header == nil && record.Snapshot == nil {
				t.Errorf("%s: line %d is a record of nothing", c.what, record.Line)
			}
			s := record.Snapshot
			if s == nil {
				continue
			}
			last = s
			processes := 0
			for i := range s.GPUs {
				processes += len(s.GPUs[i].Processes)
			}
			if len(s.GPUs) > maxGPUs || processes > maxProcesses || len(s.Alerts) > maxParts || len(s.Host) > maxText {
				t.Errorf("%s: %d GPUs, %d processes, %d alerts, host of %d", c.what, len(s.GPUs), processes, len(s.Alerts), len(s.Host))
			}
		}
		if last == nil || last.Time.Second() != 2 {
			t.Errorf("%s: the last snapshot is %v", c.what, last)
		}
		if notes := strings.Join(r.Notes(english), "|"); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q; want %q", c.what, notes, c.note)
		}
	}
}

// A file has as many GPUs as there can be, whatever comes new with each line.
func TestFileBudgetOfGPUs(t *testing.T) {
	var b strings.Builder
	b.WriteString(bombHeader)
	for n := range 20 {
		var gpus []string
		for i := range 100 {
			gpus = append(gpus, fmt.Sprintf(`{"uuid":"GPU-%d-%d"}`, n, i))
		}
		b.WriteString(bombLine(n, "", strings.Join(gpus, ",")))
	}
	r, err := NewReader("file", strings.NewReader(b.String()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	known := map[sampler.GPUKey]bool{}
	for s := range r.Snapshots() {
		for i := range s.GPUs {
			known[s.GPUs[i].Key()] = true
		}
	}
	if notes := strings.Join(r.Notes(english), "|"); len(known) != maxGPUs || !strings.Contains(notes, "more than 512 GPUs") {
		t.Errorf("%d GPUs, notes %q", len(known), notes)
	}
}

// Ticks of some bytes over a crowded snapshot end where no recording is so crowded.
func TestFileBudgetOfFigures(t *testing.T) {
	var b strings.Builder
	b.WriteString(bombHeader + bombLine(0, `,"t":0`, `{"processes":[`+much(maxProcesses, "{}")+`]}`))
	for n := range 6000 {
		fmt.Fprintf(&b, `{"type":"tick","t":%d,"of":0}`+"\n", n+1)
	}
	r, err := NewReader("file", strings.NewReader(b.String()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range r.Snapshots() {
		n++
	}
	if most := (figureSpare+figureRatio*b.Len())/maxProcesses + 1; n > most || n < 1000 {
		t.Errorf("%d snapshots, want at most %d", n, most)
	}
	if notes := strings.Join(r.Notes(english), "|"); !strings.Contains(notes, "more GPUs and processes than a recording of this size can hold") {
		t.Errorf("notes %q", notes)
	}
}

// counting counts what is read of a file.
type counting struct {
	io.ReaderAt
	bytes int64
}

func (c *counting) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, offset)
	c.bytes += int64(n)
	return n, err
}

// A file of frames that never end is read in linear time: each byte some few times.
func TestFramesWithoutEnd(t *testing.T) {
	start := append([]byte{}, zstdMagic...)
	for what, b := range map[string][]byte{
		"magic numbers": bytes.Repeat(start, 1<<16),
		"raw blocks":    bytes.Repeat(append(start, 0, 0x58, 2, 0, 0, 0), 1<<15),
		"headers alone": bytes.Repeat(append(start, 0, 0x58), 1<<15),
	} {
		file := &counting{ReaderAt: bytes.NewReader(b)}
		r, err := NewReader("file", file, int64(len(b)))
		if err == nil {
			for range r.Snapshots() {
				t.Errorf("%s: a snapshot", what)
			}
			r.Close()
		}
		if most := int64(16 * len(b)); file.bytes > most {
			t.Errorf("%s: %d bytes read of %d", what, file.bytes, len(b))
		}
	}
}

// Looking for a place in a file of lines without an end takes linear time, too.
func TestSeekInLongLine(t *testing.T) {
	text := `{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","gpus":[]}` + "\n" + bombLine(0, "", plainGPU) +
		`{"type":"snapshot","host":"` + strings.Repeat("y", 6<<20)
	file := &counting{ReaderAt: strings.NewReader(text)}
	r, err := NewReader("file", file, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Seek(start.AddDate(1, 0, 0)); err != nil {
		t.Error(err)
	}
	if most := int64(8 * len(text)); file.bytes > most {
		t.Errorf("%d bytes read of %d", file.bytes, len(text))
	}
}

// So small a file does not hold so much: what it unpacks to is bounded.
func TestUnpackedBudget(t *testing.T) {
	for _, c := range []struct {
		plain, size int64
		want        bool
	}{
		{plainSpare, 100, false},
		{plainSpare + plainRatio*100, 100, false},
		{plainSpare + plainRatio*100 + 1, 100, true},
		{1 << 36, 64 << 20, true},
		{40 * 64 << 20, 64 << 20, false},
	} {
		if got := tooMuch(c.plain, c.size); got != c.want {
			t.Errorf("%d of %d: %v", c.plain, c.size, got)
		}
	}
}
