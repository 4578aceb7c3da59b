package tape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// What one line makes: a record, nothing, or a note that it is corrupt or lacks what it builds on.
func TestOneLine(t *testing.T) {
	const tick = `{"type":"tick","t":1,"of":0,"gpu":{},"process":{}}`
	for line, want := range map[string]string{
		tick:                               "snapshot",
		`{"type":"tick","of":0,"gpu":{}}`:  "corrupt",
		`{"type":"tick","t":1,"gpu":{}}`:   "corrupt",
		`{"type":"tick","t":1,"of":0}x`:    "corrupt",
		`{"type":"tick","t":1,"of":0.001}`: "orphan",
		`{"type":"tick","t":1,"of":0,"gpu":{"memory.used_bytes":[1,2]}}`:                                   "orphan",
		`{"type":"tick","t":1,"of":0,"gpu":{"memory.used_bytes":1}}`:                                       "corrupt",
		`{"type":"tick","t":1,"of":0,"gpu":{"memory.used_bytes":[1]}}`:                                     "snapshot",
		`{"type":"mem","t":1,"0":5}`:                                                                       "readings 1",
		`{"type":"mem","t":1,"0":5,"1023":6,"1024":7,"x":8,"2":"y"}`:                                       "readings 2",
		`{"type":"mem","t":1}`:                                                                             "",
		`{"type":"mem","0":5}`:                                                                             "corrupt",
		`{"type":"mem","t":1,"0":5}x`:                                                                      "corrupt",
		`{"type":"mem","t":1` + strings.Repeat(`,"0":5`, maxDevices+1) + `}`:                               "readings 1024",
		`{"type":"snapshot","time":"2026-11-20T14:00:01Z","gpus":[]}`:                                      "snapshot",
		`{"type":"snapshot","time":"2026-11-20T14:00:01Z"}`:                                                "corrupt",
		`{"type":"snapshot","gpus":[]}`:                                                                    "corrupt",
		`{"type":"snapshot","time":"2026-11-20T14:00:01Z","gpus":[]}}`:                                     "corrupt",
		`{"type":"event","kind":"oom"}`:                                                                    "event 0001-01-01T00:00:00Z",
		`{"type":"event","kind":"oom","time":"2026-11-20T14:00:01Z"}`:                                      "event 2026-11-20T14:00:01Z",
		`{"type":"event","kind":"oom","time":"2026-11-20T14:00:01Z","t":2}`:                                "event 2026-11-20T14:00:02Z",
		`{"type":"event","kind":"oom","time":"2026-11-20T14:00:01Z","t":0}`:                                "event 2026-11-20T14:00:01Z",
		`{"type":"event","kind":"oom","time":"2026-11-20T14:00:01Z","t":1e9}`:                              "event 2026-11-20T14:00:01Z",
		`{"type":"event","kind":"oom","time":"1969-11-20T14:00:01Z"}`:                                      "corrupt",
		`{"type":"event","kind":5}`:                                                                        "corrupt",
		`{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z"}`:                                       "header 2s",
		`{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","interval_s":86399}`:                    "header 23h59m59s",
		`{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","interval_s":86400}`:                    "header 2s",
		`{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","interval_s":-1}`:                       "header 2s",
		`{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","interval_s":0}`:                        "header 2s",
		`{"type":"header","schema":1,"time":"1969-11-20T14:00:00Z"}`:                                       "corrupt",
		`{"type":"header","schema":1,"time":5}`:                                                            "corrupt",
		`{"type":"end"}`:                                                                                   "end",
		`{"type":"end","snapshots":"x"}`:                                                                   "corrupt",
		`{"type":"else"}`:                                                                                  "",
		`{"what":"else"}`:                                                                                  "corrupt",
		`{"type":"else"`:                                                                                   "corrupt",
		"[]":                                                                                               "corrupt",
		bombHeader[:len(bombHeader)-1] + " ":                                                               "header 2s",
		strings.TrimSuffix(bombLine(0, `,"t":0`, plainGPU), "\n"):                                          "",
		`{"type":"event","kind":"oom","oom":{},"time":"2026-11-20T14:00:01Z","text":"` + "\x1b[1m" + `x"}`: "corrupt",
	} {
		j, p := &jsonLines{}, &progress{}
		for _, first := range []string{bombHeader, bombLine(0, `,"t":0`, plainGPU)} {
			if err := j.line(p, []byte(strings.TrimSuffix(first, "\n")), &Record{}); err != nil {
				t.Fatal(err)
			}
		}
		p.check.usual = 2 * time.Second
		out := Record{Line: 3}
		err := j.line(p, []byte(line), &out)
		got := ""
		switch {
		case err == errLine:
			got = "corrupt"
		case p.notes.orphan.n > 0:
			got = "orphan"
		case err == errNone:
		case out.Readings != nil:
			got = fmt.Sprint("readings ", len(out.Readings))
		case out.Snapshot != nil:
			got = "snapshot"
		case out.Event != nil:
			got = "event " + out.Event.Time.Format(time.RFC3339)
		case out.Header != nil:
			got = "header " + p.check.usual.String()
		case out.End != nil:
			got = "end"
		}
		if got != want {
			t.Errorf("%.90s: %q (%v), want %q", line, got, err, want)
		}
	}
}

// Falls are counted from readings where the windows of a recording have none, and nothing that was given is changed.
func TestFallLines(t *testing.T) {
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	snapshot := func(ms int, falls sampler.Opt[int], windows ...bool) *sampler.Snapshot {
		s := &sampler.Snapshot{Time: at(ms)}
		for _, has := range windows {
			var g sampler.GPU
			g.Memory.Total, g.Memory.Used = sampler.Some(100*sampler.GiB), sampler.Some(98*sampler.GiB)
			if has {
				g.Memory.Window = &sampler.Window{Max: 99 * sampler.GiB, Falls: falls}
			}
			s.GPUs = append(s.GPUs, g)
		}
		return s
	}
	fall := func(f *fallLines, s *sampler.Snapshot, ms int) {
		for i, used := range []sampler.Bytes{98, 60, 98, 98} {
			f.add(s, []Reading{{0, used * sampler.GiB}, {len(s.GPUs), 1}}, at(ms+20*i))
		}
	}
	none := sampler.Opt[int]{}
	for name, row := range map[string]struct {
		s    *sampler.Snapshot
		want []sampler.Opt[int]
	}{
		"counted":              {snapshot(1000, none, true, true), []sampler.Opt[int]{sampler.Some(1), none}},
		"counted before":       {snapshot(1000, sampler.Some(0), true, true), []sampler.Opt[int]{sampler.Some(0), sampler.Some(0)}},
		"no window":            {snapshot(1000, none, false, true), []sampler.Opt[int]{none, none}},
		"fewer GPUs than were": {snapshot(1000, none, true), []sampler.Opt[int]{sampler.Some(1)}},
	} {
		var f fallLines
		f.add(nil, []Reading{{0, 1}}, at(0))
		before := snapshot(0, none, true, true)
		fall(&f, before, 100)
		was := toJSON(t, row.s)
		filled := f.fill(row.s)
		for i := range filled.GPUs {
			var got sampler.Opt[int]
			if w := filled.GPUs[i].Memory.Window; w != nil {
				got = w.Falls
			}
			if got != row.want[i] {
				t.Errorf("%s: GPU %d fell %v times, want %v", name, i, got, row.want[i])
			}
		}
		if toJSON(t, row.s) != was {
			t.Errorf("%s: the snapshot that was given is another now", name)
		}
		if again := f.fill(row.s); again != row.s {
			t.Errorf("%s: the same falls count again", name)
		}
	}
}

// A column behind a pointer is written into a copy where the snapshot before shares it.
func TestOwn(t *testing.T) {
	i := gpuColumns().byKey["memory.window.max_bytes"]
	c := &gpuColumns().list[i]
	shared := &sampler.Window{Max: 5}
	gpus := []sampler.GPU{{}, {}, {}}
	gpus[0].Memory.Window, gpus[1].Memory.Window = shared, shared
	values := gpusOf(&sampler.Snapshot{GPUs: gpus})
	if v, ok := c.own(values[0], values[1]); !ok || gpus[0].Memory.Window == shared || v.Uint() != 5 {
		t.Errorf("shared with the one before: %v", v)
	}
	if _, ok := c.own(values[1], values[2]); !ok || gpus[1].Memory.Window != shared {
		t.Error("one that is nobody else's was copied")
	}
	if _, ok := c.own(values[2], values[1]); ok {
		t.Error("nothing is behind no pointer")
	}
	if _, ok := c.in(values[2]); ok {
		t.Error("nothing can be read behind no pointer")
	}
}

// After some thousand records nothing more is held for a place that is sought.
func TestSeekHoldsSoMuch(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(bombHeader + bombLine(1, `,"t":1`, plainGPU))
	for range maxHeld + 5 {
		b.WriteString(`{"type":"mem","t":1.5,"0":5}` + "\n")
	}
	b.WriteString(bombLine(2, `,"t":2`, plainGPU) + bombLine(3, `,"t":3`, plainGPU))
	r, err := NewReader("file", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Seek(time.Date(2026, 11, 20, 14, 0, 1, 5e8, time.UTC)); err != nil {
		t.Fatal(err)
	}
	readings, snapshots := 0, 0
	for {
		record, err := r.Next()
		if err != nil {
			break
		}
		if record.Readings != nil {
			readings++
		}
		if record.Snapshot != nil {
			snapshots++
		}
	}
	if readings != maxHeld || snapshots != 3 {
		t.Errorf("%d readings of %d, %d snapshots", readings, maxHeld+5, snapshots)
	}
}

// Where no snapshot is there is nothing to seek, and what a newer nvpeak wrote ends the search.
func TestSeekWithoutSnapshots(t *testing.T) {
	newer := strings.Replace(bombLine(2, "", plainGPU), `"time"`, `"schema":9,"time"`, 1)
	for text, want := range map[string]error{bombHeader: io.EOF, bombHeader + bombLine(1, "", plainGPU): nil, bombHeader + bombLine(1, "", plainGPU) + newer: ErrNewer} {
		r, err := NewReader("file", strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Seek(start); !errors.Is(err, want) {
			t.Errorf("%.200s: %v, want %v", text, err, want)
		}
	}
}
