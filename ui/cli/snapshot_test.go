package cli

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"nvpeak/advice/explain"
)

const torchData = "../../sampler/torchsnap/testdata/"

// pickled is a committed snapshot, unpacked.
func pickled(t *testing.T, cause string) string {
	t.Helper()
	file, err := os.Open(torchData + cause + ".pickle.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A snapshot is told by its content, packed or not, as a file of any name or on standard input.
func TestExplainSnapshot(t *testing.T) {
	leak := pickled(t, "leak")
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	z.Write([]byte(leak)) //nolint:errcheck // a Buffer takes everything
	z.Close()             //nolint:errcheck // the same
	dir := writeLogs(t, map[string]string{"leak.pickle": leak, "named.log": leak, "leak.zst": packed.String()})
	for _, name := range []string{filepath.Join(dir, "leak.pickle"), filepath.Join(dir, "named.log"), filepath.Join(dir, "leak.zst"), torchData + "leak.pickle.gz", "-"} {
		e, errs, code := explained(t, leak, name)
		if code != exitFine || len(e.Events) != 1 || explain.TopCause(e.Causes) != explain.CauseLeak || e.Causes[0].Site.Place() != "train.py:210" || len(e.Snapshots) != 1 {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
}

// What is no snapshot gets one line and exit 2; what is cut is explained as far as it goes.
func TestExplainNoSnapshot(t *testing.T) {
	leak := pickled(t, "leak")
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	z.Create("archive/data.pkl") //nolint:errcheck // a Buffer takes everything
	z.Close()                    //nolint:errcheck // the same
	dir := writeLogs(t, map[string]string{"model.pt": archive.String(), "x.pickle": "hello\n", "object.log": "\x80\x04}\x94.",
		"calls.pickle": "\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x02id\x94\x85\x94R\x94.", "cut.pickle": leak[:len(leak)/2], "short.pickle": leak[:40]})
	for name, want := range map[string]string{"model.pt": "zip archive", "x.pickle": "is no pickle", "object.log": "no memory snapshot", "calls.pickle": "opcode STACK_GLOBAL", "short.pickle": "after 40 bytes"} {
		_, errs, code := explained(t, "", filepath.Join(dir, name))
		if code != exitUsage || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q", name, code, errs)
		}
	}
	e, errs, code := explained(t, "", filepath.Join(dir, "cut.pickle"))
	if code != exitFine || !strings.Contains(errs, "ends in the middle") || len(e.Snapshots) != 1 || e.Snapshots[0].Devices[0].Trace == nil {
		t.Errorf("cut: exit %d, %q", code, errs)
	}
}

// report reads logs only, and says who reads a snapshot.
func TestReportLogSnapshot(t *testing.T) {
	if _, errs, code := command(t, "report", "--log", torchData+"leak.pickle.gz", tapes+"leak.jsonl"); code != exitUsage || !strings.Contains(errs, "nvpeak explain reads it") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A log and a snapshot of one refusal are one failure; of different ones they are two.
func TestExplainLogWithSnapshot(t *testing.T) {
	log := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has a total capacity of 2.90 GiB of which 20.00 MiB is free. " +
		"Including non-PyTorch memory, this process has 2.88 GiB memory in use. Of the allocated memory 2.58 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.\n"
	dir := writeLogs(t, map[string]string{"train.log": log, "other.log": wall})
	e, errs, code := explained(t, "", filepath.Join(dir, "train.log"), torchData+"leak.pickle.gz")
	if code != exitFine || len(e.Events) != 1 || explain.TopCause(e.Causes) != explain.CauseLeak || e.Events[0].Card == nil {
		t.Errorf("exit %d, %s: %d events, %+v", code, errs, len(e.Events), e.Causes)
	}
	rank := filepath.Join(dir, "rank1.pickle")
	if err := os.WriteFile(rank, []byte(pickled(t, "batch")), 0o644); err != nil {
		t.Fatal(err)
	}
	if e, _, _ := explained(t, "", torchData+"leak.pickle.gz", rank); len(e.Events) != 2 || e.Events[1].Rank.Or(-1) != 1 || strings.Contains(e.Verdict.Run, "line 0") || !strings.Contains(e.Verdict.Run, "leak.pickle.gz.") {
		t.Errorf("%d events: %s", len(e.Events), e.Verdict.Run)
	}
	if e, _, _ := explained(t, "", filepath.Join(dir, "other.log"), torchData+"leak.pickle.gz"); len(e.Events) != 2 {
		t.Errorf("%d events", len(e.Events))
	}
}

// Source lines are shown where the file can be read, and nothing but ordinary Python files is looked into.
func TestSourceLines(t *testing.T) {
	dir := writeLogs(t, map[string]string{"train.py": "import torch\n  losses.append(loss)\n", "secret.txt": "x\n"})
	if lines := sourceLines(filepath.Join(dir, "train.py")); len(lines) < 2 || lines[1] != "  losses.append(loss)" {
		t.Errorf("%q", lines)
	}
	for _, name := range []string{filepath.Join(dir, "secret.txt"), dir, "/dev/zero", "/dev/zero.py", ""} {
		if sourceLines(name) != nil {
			t.Errorf("%q is looked into", name)
		}
	}
}

// The page has the timeline, and what a pickle says cannot become a script.
func TestExplainPage(t *testing.T) {
	hostile := strings.ReplaceAll(pickled(t, "leak"), "/home/ann/job/model.py", "/home/<script>/mode.py") // of the same length
	dir := writeLogs(t, map[string]string{"a.pickle": hostile})
	page := filepath.Join(dir, "page.html")
	var out, errs strings.Builder
	a := &app{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) string { return "" }}
	if code := a.run(context.Background(), []string{"explain", "--html", page, filepath.Join(dir, "a.pickle")}); code != exitFine {
		t.Fatal(code, errs.String())
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if strings.Contains(text, "/home/<script>") || !strings.Contains(text, `class="chart"`) || !strings.Contains(text, `"kind":"oom"`) || !strings.Contains(text, "train.py:210") {
		t.Error("the page is wrong")
	}
	for _, args := range [][]string{{"explain", "--html", page, "--json", page}, {"explain", "--html", page, page}} {
		if code := a.run(context.Background(), args); code != exitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}

// The text has layers, holders and, with all details, the events up to the refusal.
func TestExplainSnapshotText(t *testing.T) {
	for args, want := range map[string][]string{
		"":          {"Memory snapshot, GPU 0", "train.py:215 train_epoch (optimizer)", "nvpeak explain --details"},
		"--details": {"20 steps seen", "Events up to the refusal", "oom", "What grew", "+240.0 MiB"},
		"--lang=zh": {"内存快照"},
	} {
		var out strings.Builder
		a := &app{in: strings.NewReader(""), out: &out, err: &out, env: func(string) string { return "" }}
		list := append([]string{"explain", torchData + "leak.pickle.gz"}, strings.Fields(args)...)
		if code := a.run(context.Background(), list); code != exitFine {
			t.Fatal(code, out.String())
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%q: no %q in\n%s", args, part, out.String())
			}
		}
	}
}
