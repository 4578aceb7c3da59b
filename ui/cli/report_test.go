package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
)

var updateReport = flag.Bool("update-report", false, "rewrite testdata/tapes/report/*.want.txt")

const tapes = "../../testdata/tapes/report/"

// command runs nvpeak with arguments, as if typed.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) string { return "" }}
	code = a.run(context.Background(), args)
	return out.String(), errs.String(), code
}

// utc makes times without a zone UTC for the length of a test.
func utc(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
}

// Each row is a report whose text is kept.
func TestReportTexts(t *testing.T) {
	utc(t)
	for name, args := range map[string][]string{
		"validation": {"--log", tapes + "validation.log", tapes + "validation.jsonl"},
		"leak":       {tapes + "leak.jsonl"},
		"hostile":    {tapes + "hostile.jsonl"},
		"smi":        {tapes + "smi.csv"},
		"ascii":      {"--ascii", tapes + "validation.jsonl"},
		"hosts":      {tapes + "smi.csv", tapes + "hostile.jsonl"},
		"compare":    {"--compare", tapes + "validation.jsonl", tapes + "smi.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs, code := command(t, append([]string{"report"}, args...)...)
			if code != 0 || errs != "" {
				t.Fatalf("exit %d: %s", code, errs)
			}
			got = withoutWords(got)
			file := tapes + name + ".want.txt"
			if *updateReport {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.ContainsAny(got, "\x1b\x07\x00") {
				t.Error("a control character got out")
			}
		})
	}
}

// withoutWords leaves out the conclusion and the details, whose words belong to package
// advice and are kept by its own tests.
func withoutWords(text string) string {
	var kept strings.Builder
	skip := false
	for line := range strings.Lines(text) {
		rule := strings.HasPrefix(line, "── ") || strings.HasPrefix(line, "-- ")
		switch {
		case rule && !strings.Contains(line, "Details"):
			skip = false
		case rule, strings.HasPrefix(line, "Cause "), strings.Contains(line, "CUDA out of memory on") && !skip && !strings.HasPrefix(line, "  "):
			skip = true
		}
		if !skip {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// A report says of a log's failures how many it leaves out.
func TestReportManyFailures(t *testing.T) {
	utc(t)
	var log strings.Builder
	for i := range maxFailures + 50 {
		log.WriteString(strings.Replace(wall, "2.50 GiB", strconv.Itoa(3000+i)+".00 MiB", 1))
	}
	dir := writeLogs(t, map[string]string{"train.log": log.String()})
	out, errs, code := command(t, "report", "--log", filepath.Join(dir, "train.log"), tapes+"validation.jsonl")
	if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "50 more failures are only counted") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
}

// The keys that scripts rely on are there, with the right values.
func TestReportJSON(t *testing.T) {
	utc(t)
	out, _, code := command(t, "report", "--json", "--log", tapes+"validation.log", tapes+"validation.jsonl")
	var r map[string]any
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, %v", code, err)
	}
	for _, key := range []string{"schema", "start", "duration_s", "gpus", "processes", "alerts", "events", "causes", "advice"} {
		if r[key] == nil {
			t.Errorf("no %q", key)
		}
	}
	gpu := r["gpus"].([]any)[0].(map[string]any)
	const gib = 1 << 30
	for key, want := range map[string]any{"index": 0.0, "total_bytes": 47.5 * gib, "typical_bytes": 9.0 * gib, "worst_free_bytes": 3.5 * gib,
		"free_after_exit_bytes": 47.5*gib - 500*(1<<20), "growth_bytes_per_hour": 0.0} {
		if gpu[key] != want {
			t.Errorf("%s: %v, want %v", key, gpu[key], want)
		}
	}
	if peak := gpu["peak"].(map[string]any); peak["bytes"] != 44.0*gib || peak["t"] != 440.0 || peak["source"] != "sampled" || peak["time"] != "2026-11-20T09:07:20Z" {
		t.Errorf("peak %v", peak)
	}
	spikes := gpu["spikes"].([]any)
	if len(spikes) != 2 {
		t.Fatalf("%d spikes", len(spikes))
	}
	if s := spikes[0].(map[string]any); s["t"] != 120.0 || s["bytes"] != 34.0*gib || s["duration_s"] != 20.0 {
		t.Errorf("spike %v", s)
	}
	if c := r["causes"].([]any)[0].(map[string]any); c["id"] != "validation_spike" {
		t.Errorf("cause %v", c)
	}
	if a := r["advice"].([]any)[0].(map[string]any); a["id"] != "shrink_validation_batch" || a["rank"] != 1.0 {
		t.Errorf("advice %v", a)
	}
	alert := r["alerts"].([]any)[0].(map[string]any)
	if alert["kind"] != "oom" || alert["t"] != 448.001 || alert["gpu"] != 0.0 || alert["level"] != "critical" {
		t.Errorf("alert %v", alert)
	}
	if len(r["phases"].([]any)) != 9 || len(r["allocator_readings"].([]any)) != 3 {
		t.Errorf("%d phases, %d readings", len(r["phases"].([]any)), len(r["allocator_readings"].([]any)))
	}
}

// The page loads nothing, and what a recording calls things stays text.
func TestReportPage(t *testing.T) {
	page, errs, code := command(t, "report", "--html", "-", tapes+"hostile.jsonl")
	if code != 0 || errs != "" {
		t.Fatal(errs)
	}
	if m := regexp.MustCompile(`(?i)<(?:script|link|img|iframe|object|embed|source|video|audio)\b[^>]*\b(?:src|href|data)\s*=`).FindString(page); m != "" {
		t.Errorf("the page loads something: %s", m)
	}
	if m := regexp.MustCompile(`(?i)(?:@import|url\(|fetch\(|XMLHttpRequest|importScripts|new WebSocket)`).FindString(page); m != "" {
		t.Errorf("the page may load something: %s", m)
	}
	if n := strings.Count(page, "<script"); n != 3 {
		t.Errorf("%d scripts, want 3", n)
	}
	for _, bad := range []string{"<script>alert", "<img", "\x1b", "hunter2secret"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q got through", bad)
		}
	}
	if !strings.Contains(page, "Content-Security-Policy") || !strings.Contains(page, "var uPlot=") {
		t.Error("no policy or no charts")
	}
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	var charts []struct {
		GPUs []struct {
			T    []float64  `json:"t"`
			High []*float64 `json:"high"`
		} `json:"gpus"`
	}
	if data == nil || json.Unmarshal([]byte(data[1]), &charts) != nil || len(charts) != 1 || len(charts[0].GPUs[0].T) < 50 {
		t.Fatal("the data of the charts cannot be read")
	}
	if g := charts[0].GPUs[0]; len(g.T) != len(g.High) || *g.High[10] != 6 {
		t.Errorf("%d times, %d values, %v GiB", len(g.T), len(g.High), *g.High[10])
	}
}

// What cannot be read is one line and exit code 1; wrong usage is 2.
func TestReportRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := tapes + "hostile.jsonl"
	for _, tt := range []struct {
		code int
		say  string
		args []string
	}{
		{1, "empty", []string{file("empty", "")}},
		{1, "neither a recording", []string{file("binary", "\x7fELF\x02\x01\x00\x00\x00")}},
		{1, "newer nvpeak", []string{file("future", `{"type":"header","schema":7,"time":"2026-11-20T09:00:00Z"}`+"\n")}},
		{1, "memory.used", []string{file("columns.csv", "timestamp, index, utilization.gpu [%]\n2026/11/20 09:00:00.000, 0, 9 %\n")}},
		{1, "no snapshot", []string{file("header", `{"type":"header","schema":1,"time":"2026-11-20T09:00:00Z"}`+"\n")}},
		{1, "no such file", []string{filepath.Join(dir, "nothing")}},
		{1, "log cannot be read", []string{"--log", filepath.Join(dir, "nothing"), good}},
		{2, "name a recording", nil},
		{2, "takes two recordings", []string{"--compare", good}},
		{2, "exclude", []string{"--json", "--html", "-", good}},
	} {
		out, errs, code := command(t, append([]string{"report"}, tt.args...)...)
		if code != tt.code || out != "" || !strings.Contains(errs, tt.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, %q; want %d and %q", tt.args, code, out, errs, tt.code, tt.say)
		}
	}
}

// A recording cut or damaged anywhere is reported on as far as it goes, and says so.
func TestReportDamaged(t *testing.T) {
	whole, err := os.ReadFile(tapes + "validation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	path := filepath.Join(t.TempDir(), "damaged.jsonl")
	for i := range 60 {
		b := bytes.Clone(whole)
		at := 400 + rng.IntN(len(b)-400)
		if i%2 == 0 {
			b = b[:at]
		} else {
			copy(b[at:], []byte{0, 0xff, '{', '\n', '"', 0x1b})
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := command(t, "report", path)
		if code != 0 || !strings.Contains(out, "GPU 0") || errs != "" {
			t.Fatalf("damaged at %d: exit %d, %s", at, code, errs)
		}
		if i%2 == 1 && !strings.Contains(out, "corrupt line") {
			t.Errorf("damaged at %d: nothing said of it\n%s", at, out)
		}
	}
}

// --compare as JSON has both reports and the differences.
func TestReportCompareJSON(t *testing.T) {
	out, _, code := command(t, "report", "--compare", "--json", tapes+"validation.jsonl", tapes+"smi.csv")
	var r struct {
		Compare []struct {
			ID                        string
			Before, After, Difference *float64
			Percent                   *float64
			Better                    string
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	for _, c := range r.Compare {
		if c.ID == "peak" {
			if *c.Before != 44<<30 || *c.After != 47000<<20 || *c.Difference != *c.After-*c.Before || *c.Percent != 4.3 || c.Better != "no" {
				t.Errorf("peak %v %v %v %v %s", *c.Before, *c.After, *c.Difference, *c.Percent, c.Better)
			}
			return
		}
	}
	t.Error("no peak")
}

// Totals that no GPU has are plotted all the same, and said.
func TestReportHugeTotals(t *testing.T) {
	for _, total := range []string{"99999", "100000", "200000", "1000000000"} {
		var b strings.Builder
		for i := range 5 {
			fmt.Fprintf(&b, `{"type":"snapshot","time":"2026-11-20T09:00:0%dZ","gpus":[{"index":0,"memory":{"total_bytes":%s073741824,"used_bytes":%d073741824}}]}`+"\n", i, total, i+1)
		}
		path := filepath.Join(t.TempDir(), "huge.jsonl")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := command(t, "report", path)
		if code != 0 || !strings.Contains(out, "a GPU with 16 TiB or more cannot be") {
			t.Errorf("%s GiB: exit %d, %s%s", total, code, errs, out)
		}
	}
	path := filepath.Join(t.TempDir(), "bytes.csv")
	text := "timestamp, index, memory.used [MiB], memory.total [MiB]\n2026/11/20 09:00:00.000, 0, 9663676416, 85899345920\n2026/11/20 09:00:01.000, 0, 9663676417, 85899345920\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := command(t, "report", path); code != 0 || !strings.Contains(out, "lines 2, 3: a GPU with 16 TiB or more cannot be: is the header of bytes MiB?") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
}

// A file without a snapshot says why there is none.
func TestReportNothingReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dates.csv")
	text := "timestamp, index, memory.used [MiB], memory.total [MiB]\nyesterday, 0, 7, 9\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := command(t, "report", path); code != 1 || !strings.Contains(errs, "holds no snapshot: 1 corrupt line(s) skipped: line 2; line 2: a time that cannot be read") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// What a terminal would obey does not come out of a recording, in no form.
func TestReportEscapes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "escapes.jsonl")
	text := `{"type":"header","schema":1,"time":"2026-11-20T09:00:00Z","gpus":[]}` + "\n" +
		`{"type":"snapshot","time":"2026-11-20T09:00:00Z","gpus":[{"index":0,"uuid":"GPU-\u009b31m\u202e\u007f","memory":{"total_bytes":9663676416,"used_bytes":966367641}}]}` + "\n" +
		`{"type":"event","time":"2026-11-20T09:00:01Z","kind":"\u001b[31m\u009b\u202eleak","gpu":0,"text":"\u009b"}` + "\n" +
		`{"type":"snapshot","time":"2026-11-20T09:00:02Z","gpus":[{"index":0,"memory":{"total_bytes":9663676416,"used_bytes":966367641}}]}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"report", path}, {"report", "--json", path}, {"report", "--html", "-", path}} {
		out, errs, code := command(t, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		if i := strings.IndexFunc(out, func(r rune) bool {
			return r != '\n' && r != '\t' && r != '\r' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r))
		}); i >= 0 {
			t.Errorf("%v: %q", args, out[max(0, i-40):min(len(out), i+40)])
		}
	}
	if out, _, _ := command(t, "report", "--json", path); strings.Contains(out, `u001b`) {
		t.Error("the kind of an event is not cleaned")
	}
}

// A page goes through no symbolic link, and nobody may read it who may not read the recording.
func TestReportPageIsPrivate(t *testing.T) {
	dir := t.TempDir()
	private, page, link := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "page.html"), filepath.Join(dir, "link.html")
	b, err := os.ReadFile(tapes + "leak.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ mode, want os.FileMode }{{0o600, 0o600}, {0o644, 0o644}} {
		os.Remove(private)                                  //nolint:errcheck // it may not be there
		os.WriteFile(private, b, row.mode)                  //nolint:errcheck // the report shows it
		os.WriteFile(page, []byte("what was there"), 0o644) //nolint:errcheck // the report shows it
		os.Chmod(page, 0o644)                               //nolint:errcheck // the report shows it
		out, errs, code := command(t, "report", "--html", page, private)
		if code != 0 || out != "" || !regexp.MustCompile(`^nvpeak: wrote `+regexp.QuoteMeta(page)+`, \d+\.\d KiB\n$`).MatchString(errs) {
			t.Fatalf("exit %d, %q, %q", code, out, errs)
		}
		if info, err := os.Stat(page); err != nil || info.Mode().Perm() != row.want || info.Size() < 1000 {
			t.Errorf("of %v: %v, %v", row.mode, info.Mode(), err)
		}
	}
	victim := filepath.Join(dir, "victim")
	os.WriteFile(victim, []byte("mine"), 0o600) //nolint:errcheck // read below
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	_, errs, code := command(t, "report", "--html", link, private)
	if b, err := os.ReadFile(victim); code != 1 || !strings.Contains(errs, "is a symbolic link") || string(b) != "mine" || err != nil {
		t.Errorf("exit %d, %s; the victim holds %q", code, errs, b)
	}
}

// A clock that jumps to the year 9999 and back is no gap of centuries.
func TestReportYear9999(t *testing.T) {
	path := filepath.Join(t.TempDir(), "year.jsonl")
	line := `{"type":"snapshot","time":"%s","gpus":[{"index":0,"memory":{"total_bytes":9663676416,"used_bytes":966367641}}]}` + "\n"
	text := fmt.Sprintf(line, "2026-11-20T09:00:00Z") + fmt.Sprintf(line, "9999-11-20T09:00:01Z") + fmt.Sprintf(line, "2026-11-20T09:00:02Z")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := command(t, "report", path); code != 0 || !strings.Contains(out, "2 s, 2 snapshots") || !strings.Contains(out, "1 corrupt line(s) skipped: line 2") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
}

// A report on a black box says of the death what was said at the death, where more was known; with a log, or in another
// language, what the recording and the log tell.
func TestReportSaysTheVerdict(t *testing.T) {
	dir := t.TempDir()
	recording := filepath.Join(dir, boxRecording)
	tape, err := os.ReadFile(tapes + "leak.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	meta := `{"explanation": {"lang": "en", "verdict": {"headline": "CUDA out of memory", "detail": "train.py:9 keeps it.", "event": 0}, "events": [],
		"causes": [{"id": "leak", "confidence": 0.9, "site": {"file": "/me/train.py", "line": 9}}], "advice": [{"id": "fix_leak"}]}}`
	if err := errors.Join(os.WriteFile(recording, tape, 0o600), os.WriteFile(filepath.Join(dir, boxMetaFile), []byte(meta), 0o600)); err != nil {
		t.Fatal(err)
	}
	for said, args := range map[bool][]string{true: {"report", recording}, false: {"report", "--lang", "zh", recording}} {
		out, errs, code := command(t, args...)
		if code != 0 || strings.Contains(out, "train.py:9 keeps it.") != said {
			t.Errorf("%s: exit %d, %s%s", args, code, errs, out)
		}
	}
}
