package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui/player"
)

// The fuzz targets put any bytes where a file or a driver is read, and look at what comes out: no panic, nothing
// that a terminal obeys, no more than can be read, JSON that is JSON.

// Bounds of what is written of an input: the most that is fixed, and for each of its bytes.
const (
	spareOutput = 256 << 10
	ratioOutput = 400
)

// forms is an app with options by the bits of a byte, so that the fuzzer reaches each of them.
func forms(bits uint8, in []byte) (a *app, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	a = &app{in: bytes.NewReader(in), out: out, err: &bytes.Buffer{}, env: func(string) string { return "" }}
	a.opt.lang = langFlag(lang.Names()[bits&1])
	a.opt.ascii = bits&2 != 0
	return a, out
}

// checkOutput looks at what was written of so many bytes.
func checkOutput(t *testing.T, form, text string, read int) {
	t.Helper()
	if len(text) > spareOutput+ratioOutput*read {
		t.Errorf("%s: %d bytes of %d", form, len(text), read)
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8", form)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && orders(form, r) }); i >= 0 {
		t.Errorf("%s: %q", form, text[max(0, i-80):min(len(text), i+40)])
	}
	if form == "json" && !json.Valid([]byte(text)) {
		t.Errorf("no JSON: %.2000s", text)
	}
	if form == "html" && (strings.Count(text, "<script") != 3 || strings.Count(text, "</script") != 3) {
		t.Errorf("%d scripts begin, %d end", strings.Count(text, "<script"), strings.Count(text, "</script"))
	}
}

// orders says whether a terminal or a browser could take a character for anything but a sign. Text has no
// character without width either; the page has the tabs of its scripts.
func orders(form string, r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	switch form {
	case "text":
		return !unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf)
	case "html":
		return r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control)
	}
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control)
}

// checkError looks at the line of an error; it is the end of what was read.
func checkError(t *testing.T, err error) {
	t.Helper()
	var line bytes.Buffer
	exitCode(err, &line)
	text := line.String()
	checkOutput(t, "text", text, 0)
	if strings.Count(text, "\n") != 1 || strings.Contains(text, "internal error") {
		t.Errorf("%q", text)
	}
}

// seedRecordings are small: a fuzzer changes a byte here and there.
func seedRecordings(f *testing.F) (list [][]byte) {
	f.Helper()
	for _, name := range []string{"hostile.jsonl", "validation.jsonl", "smi.csv"} {
		b, err := os.ReadFile(tapes + name)
		if err != nil {
			f.Fatal(err)
		}
		b = b[:1500] // also what is cut within a line is read
		list = append(list, b)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(list[0])
	z.Close()
	return append(list, packed.Bytes(),
		[]byte(`{"type":"snapshot","time":"2026-11-20T14:03:22Z","gpus":[{"index":0,"uuid":"\u001b[31m\u009b","memory":{"total_bytes":1000,"used_bytes":400}}]}`+"\n"+
			`{"type":"snapshot","time":"2026-11-20T14:03:23Z","gpus":[{"index":0,"memory":{"total_bytes":9000000000,"used_bytes":8000000000},"processes":[{"pid":7,"name":"\u001b[31mpython","memory_bytes":8000000000}]}]}`+"\n"+
			`{"type":"event","time":"2026-11-20T14:03:23Z","kind":"oom","gpu":0,"text":"\u001b]0;x\u0007","oom":{"text":"\u202e","kind":"oom"}}`))
}

// FuzzReport: a report of any recording with any log, as text, JSON and a page.
func FuzzReport(f *testing.F) {
	for i, b := range seedRecordings(f) {
		f.Add(b, []byte(wall), uint8(i%3)<<2)
		f.Add(b, []byte{}, uint8((i+1)%3)<<2|3)
	}
	dir := f.TempDir()
	path, log := filepath.Join(dir, "run"), filepath.Join(dir, "log")
	f.Fuzz(func(t *testing.T, recording, text []byte, bits uint8) {
		write(t, path, recording)
		write(t, log, text)
		a, out := forms(bits, nil)
		if len(text) > 0 {
			a.opt.log = log
		}
		r, err := a.readReport(one(path, nil))
		if err != nil {
			checkError(t, err)
			return
		}
		form := []string{"text", "json", "html"}[bits>>2%3]
		if err := a.writeReports(context.Background(), []string{path}, []report.Report{r}, map[string]*reportFlags{"text": {}, "json": {json: true}, "html": {html: "-"}}[form]); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		checkOutput(t, form, out.String(), len(recording)+len(text))
	})
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzExplain: an explanation of any log, with any command line, as text and JSON.
func FuzzExplain(f *testing.F) {
	f.Add([]byte(wall), "python train.py --batch-size 64", uint8(0))
	f.Add([]byte("Epoch 3\n"+wall+"\x1b[31m\u202e\u009b"), "yolo batch=-1 \x1b", uint8(15))
	f.Add([]byte("batch_size: 9000000000000000000\n"+wall), "", uint8(5))
	f.Fuzz(func(t *testing.T, log []byte, typed string, bits uint8) {
		form := []string{"text", "json"}[bits>>3%2]
		a, out := forms(bits, log)
		if err := a.explain(t.Context(), nil, &explainFlags{json: form == "json", details: bits&4 != 0, command: typed}); err != nil {
			checkError(t, err)
			return
		}
		checkOutput(t, form, out.String(), len(log)+len(typed))
		checkOutput(t, "text", a.err.(*bytes.Buffer).String(), 0)
	})
}

// FuzzReplay: the index of any recording, seeks in it, and playing it to its end.
func FuzzReplay(f *testing.F) {
	for _, b := range seedRecordings(f) {
		f.Add(b, uint16(1<<15))
	}
	path := filepath.Join(f.TempDir(), "run")
	f.Fuzz(func(t *testing.T, recording []byte, part uint16) {
		write(t, path, recording)
		a, _ := forms(0, nil)
		synctest.Test(t, func(t *testing.T) { // in which waiting for the next scene takes no time
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := player.Open(ctx, func() (player.Tape, error) { return openTape(one(path, nil), a.words().Say) }, player.Options{})
			if err != nil {
				checkError(t, err)
				return
			}
			defer p.Close()
			play(ctx, t, p, float64(part)/(1<<16))
		})
	})
}

// play goes to a place of a recording, to the marks beside it, and to the end.
func play(ctx context.Context, t *testing.T, p *player.Player, part float64) {
	t.Helper()
	next := func() (s *player.Scene) {
		s, err := p.Scene(ctx)
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, "text", s.Notice, 1<<20)
		return s
	}
	jump := func() {
		for n := 0; next().Jump == nil; n++ {
			if n > 1000 {
				t.Fatal("a seek does not end")
			}
		}
	}
	jump() // to the start
	line := p.Timeline()
	p.Seek(line.Start.Add(time.Duration(part * float64(line.End.Sub(line.Start)))))
	jump()
	for _, by := range []int{1, -1} {
		if len(p.SeekMark(by)) > 0 {
			jump()
		}
	}
	line = p.Timeline()
	checkTimeline(t, line)
	p.SetSpeed(3600)
	for n := 0; !p.Timeline().Paused; n++ {
		if n > 100_000 {
			t.Fatal("playing does not end")
		}
		next()
	}
}

func checkTimeline(t *testing.T, line *player.Timeline) {
	t.Helper()
	if line.End.Before(line.Start) || line.Read < 0 || line.Read > 1 {
		t.Errorf("from %v to %v, %v is read", line.Start, line.End, line.Read)
	}
	last := time.Time{}
	for _, m := range line.Marks {
		if m.At.Before(last) {
			t.Errorf("%+v after %v", m, last)
		}
		last = m.At
		checkOutput(t, "text", m.Text, 0)
	}
}

// FuzzFits: check and wait over any snapshots.
func FuzzFits(f *testing.F) {
	seed := []byte(`[{"time":"2026-11-20T14:03:22Z","gpus":[{"index":0,"uuid":"GPU-1","memory":{"total_bytes":9000000000,"used_bytes":400,"free_bytes":8999999600,` +
		`"window":{"max_bytes":500}},"processes":[{"pid":7,"user":"ann","name":"py\u001b[31mthon","memory_bytes":300}]},{"index":1,"mig":{"gpu_instance":1}}]},` +
		`{"time":"2026-11-20T14:03:23Z","gpus":[{"index":0,"uuid":"GPU-1","error":"\u009b","memory":{"total_bytes":1,"used_bytes":18446744073709551615}}]}]`)
	f.Add(seed, uint64(1<<20), uint8(1))
	f.Add([]byte(`[{"gpus":[{"uuid":"\u001b[31m","memory":{"total_bytes":9000000000,"used_bytes":8000000000,"free_bytes":1000000000},"processes":[{"pid":7,"user":"a\u001b[m","name":"py\u009b","memory_bytes":300}]}]}]`), uint64(8<<30), uint8(0))
	f.Add([]byte(`[{"gpus":[{"uuid":"\u001b[31m","mig":{},"memory":{"total_bytes":9000000000,"used_bytes":0,"free_bytes":9000000000}}]}]`), uint64(8<<30), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, need uint64, bits uint8) {
		var snaps []sampler.Snapshot
		if json.Unmarshal(text, &snaps) != nil || need == 0 {
			return
		}
		gpus := int(bits>>4) + 1
		a, out := forms(bits, nil)
		checker := watch.NewChecker(sampler.Bytes(need))
		waiter := watch.NewWaiter(watch.WaitOptions{Need: sampler.Bytes(need), GPUs: gpus, Hold: time.Duration(bits%4) * time.Second})
		for _, s := range snaps {
			checker.Add(s)
			if ready, done := waiter.Add(s); done != (len(ready) == gpus) {
				t.Errorf("%d of %d are ready, done %v", len(ready), gpus, done)
			} else {
				checkOutput(t, "text", visible(ready, formatUUID)+visible(ready, formatEnv)+"\n", len(text))
			}
			for _, fit := range waiter.Status() {
				if free, known := fit.WorstFree.Value(); fit.Free && known && uint64(free) < need {
					t.Errorf("%d of %d are free, and enough", free, need)
				}
			}
		}
		answer := checker.Answer()
		for _, fit := range answer.Fitting() {
			if free, known := fit.WorstFree.Value(); !known || uint64(free) < need {
				t.Errorf("%v of %d fit", fit.WorstFree, need)
			}
		}
		if err := checkText(out, a.words(), answer, 0); err != nil {
			t.Error(err)
		}
		checkOutput(t, "text", out.String(), len(text))
		out.Reset()
		if err := checkJSON(out, answer, gpus); err != nil {
			t.Error(err)
		}
		checkOutput(t, "json", out.String(), len(text))
	})
}
