package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// explained runs nvpeak explain --json.
func explained(t *testing.T, in string, args ...string) (e explain.Explanation, errs string, code int) {
	t.Helper()
	var out, err strings.Builder
	a := &app{in: strings.NewReader(in), out: &out, err: &err, env: func(string) string { return "" }}
	code = a.run(context.Background(), append([]string{"explain", "--json"}, args...))
	if code == exitFine {
		if err := json.Unmarshal([]byte(out.String()), &e); err != nil {
			t.Fatal(err, out.String())
		}
	}
	return e, err.String(), code
}

// A packed log that holds far more than its size is read up to the limit, and explain says so.
func TestExplainTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks some hundred MiB")
	}
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 MiB. GPU 0 has a total capacity of 79.15 GiB\n"
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprintf(w, oom, 20)
	line := strings.Repeat("a", 1<<20-1) + "\n"
	for range 400 {
		io.WriteString(w, line)
	}
	fmt.Fprintf(w, oom, 40)
	w.Close()
	dir := writeLogs(t, map[string]string{"train.log.gz": b.String()})
	e, errs, code := explained(t, "", filepath.Join(dir, "train.log.gz"))
	if code != exitFine || len(e.Events) != 1 || strings.Count(errs, "unpacks to far more") != 1 {
		t.Errorf("exit %d, %d events: %s", code, len(e.Events), errs)
	}
	stdout, errs, code := command(t, "report", "--log", filepath.Join(dir, "train.log.gz"), tapes+"leak.jsonl")
	if code != exitFine || !strings.Contains(stdout, "unpacks to far more") {
		t.Errorf("exit %d: %s%s", code, stdout, errs)
	}
}

// A library that could not start may have found a full GPU; beside a failure that tells its reason nothing is said of it.
func TestExplainDisguise(t *testing.T) {
	const status = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED\n"
	for text, want := range map[string]bool{status: true, status + wall: false, "RuntimeError: cuDNN error\n": false} {
		if _, errs, code := explained(t, text, "-"); code != exitFine || strings.Contains(errs, "CUDNN_STATUS_NOT_INITIALIZED says no more") != want {
			t.Errorf("%q: exit %d: %s", text, code, errs)
		}
	}
}

// What no want of memory brings about is said to be none, also to who asks whether it is.
func TestExplainFault(t *testing.T) {
	const fault = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
	for text, want := range map[string]bool{fault: true, fault + "\nIs this because the GPU runs out of memory?\n": true, fault + wall: false} {
		if _, errs, code := explained(t, text, "-"); code != exitFine || strings.Contains(errs, "no want of memory") != want {
			t.Errorf("%q: exit %d: %s", text, code, errs)
		}
	}
}

// TensorFlow takes nearly all of a GPU, so that cuDNN may find none beside it.
func TestExplainDisguiseOfTensorFlow(t *testing.T) {
	const text = "tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
	for text, want := range map[string]bool{text: true, "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR\n": false} {
		if _, errs, _ := explained(t, text, "-"); strings.Contains(errs, "TF_FORCE_GPU_ALLOW_GROWTH=true") != want {
			t.Errorf("%q: %s", text, errs)
		}
	}
}

func writeLogs(t *testing.T, logs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range logs {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const wall = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of 79.10 GiB of which 1.10 GiB is free. " +
	"Including non-PyTorch memory, this process has 77.90 GiB memory in use. Of the allocated memory 74.00 GiB is allocated by PyTorch, and 3.10 GiB is reserved by PyTorch but unallocated.\n"

func TestExplainRankLogs(t *testing.T) {
	late := "2026-11-20 14:03:25,500 - ERROR - peer gone\nRuntimeError: CUDA error: out of memory\n"
	early := "2026-11-20 14:03:24,000 - ERROR - caught\n" + wall
	for _, c := range []struct {
		name     string
		logs     map[string]string
		args     []string
		first    int
		file     string // that began it
		events   int
		victims  int
		repeated int // occurrences of the first
	}{
		{"the earlier time began it", map[string]string{"rank0.log": late, "rank1.log": early}, []string{"rank0.log", "rank1.log"}, 1, "rank1.log", 2, 1, 1},
		{"torchrun's directories", map[string]string{"0/stderr.log": late, "3/stderr.log": early}, []string{"0/stderr.log", "3/stderr.log"}, 3, "3/stderr.log", 2, 1, 1},
		{"without times as named", map[string]string{"rank2.log": wall, "rank0.log": "RuntimeError: CUDA error: out of memory\n"}, []string{"rank2.log", "rank0.log"}, 2, "rank2.log", 2, 1, 1},
		{"one failure in two logs", map[string]string{"train.log": early, "train.err": early}, []string{"train.log", "train.err"}, -1, "train.log", 1, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writeLogs(t, c.logs)
			t.Chdir(dir)
			e, errs, code := explained(t, "", c.args...)
			if code != exitFine {
				t.Fatal(code, errs)
			}
			v := e.Verdict
			if len(e.Events) != c.events || v.FirstRank.Or(-1) != c.first || len(v.Victims) != c.victims {
				t.Errorf("%d events, first rank %v, victims %v: %s", len(e.Events), v.FirstRank, v.Victims, v.Run)
			}
			if got := e.Events[v.Event]; got.File != c.file || got.Occurrences != c.repeated {
				t.Errorf("began in %q, %d times", got.File, got.Occurrences)
			}
		})
	}
}

func TestRankOfLog(t *testing.T) {
	for name, want := range map[string]int{"rank0.log": 0, "out/rank_12.err": 12, "worker-3": 3, "logs/attempt_0/5/stderr.log": 5, "7/stdout": 7,
		"train.log": -1, "2026/log.txt": -1, "frank.log": -1, "model3.log": -1, "-": -1} {
		if got := rankOfLog(name).Or(-1); got != want {
			t.Errorf("%s: rank %d, want %d", name, got, want)
		}
	}
}

// A failure of which the log says nothing is explained by what the recording shows of that moment.
func TestExplainRecording(t *testing.T) {
	const tape = "../../testdata/tapes/report/validation.jsonl"
	bare := "2026-11-20 09:07:20,000 INFO Running validation\nRuntimeError: CUDA error: out of memory\n"
	dir := writeLogs(t, map[string]string{"train.log": bare})
	e, errs, code := explained(t, "", "--recording", tape, filepath.Join(dir, "train.log"))
	if code != exitFine || len(e.Events) != 1 {
		t.Fatal(code, errs, len(e.Events))
	}
	card := e.Events[0].Card
	if card == nil || card.Total != sampler.Bytes(47.5*float64(sampler.GiB)) || card.Outside+card.Allocated < 40*sampler.GiB {
		t.Errorf("card %+v", card)
	}
	if alone, _, _ := explained(t, bare); alone.Events[0].Card != nil {
		t.Error("the log alone knows the card")
	}
	if e, _, _ := explained(t, bare, "--recording", tape); len(e.Events) != 1 || e.Events[0].Card == nil {
		t.Error("the recording does not help a log on standard input")
	}
	packed := filepath.Join(t.TempDir(), "a.xz")
	if err := os.WriteFile(packed, []byte("\xfd7zXZ\x00\x00\x04"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := command(t, "explain", packed); code != exitFailed || errs != "nvpeak: "+packed+": its compression is not read here: pipe it through xz -dc\n" {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, errs, code := explained(t, bare, "--recording", "no-such-file"); code != exitFailed || errs == "" {
		t.Error(code, errs)
	}
}

// A log that was rotated and packed, or written by PowerShell, is read as any other.
func TestExplainPackedLogs(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("epoch 3\n" + wall))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	wide := "\xff\xfe"
	for _, r := range "epoch 3\r\n" + wall {
		wide += string([]byte{byte(r), 0})
	}
	dir := writeLogs(t, map[string]string{"train.log.gz": packed.String(), "wide.log": wide})
	for _, name := range []string{"train.log.gz", "wide.log"} {
		e, errs, code := explained(t, "", filepath.Join(dir, name))
		if code != exitFine || len(e.Events) != 1 || e.Events[0].Line != 2 {
			t.Errorf("%s: %d, %s, %+v", name, code, errs, e.Events)
		}
	}
}

// Of thousands of failures the most telling are explained, and the others are counted in words and JSON.
func TestExplainManyFailures(t *testing.T) {
	log := func(rank, count int, after string) string {
		var b strings.Builder
		for i := range count {
			b.WriteString(strings.Replace(wall, "2.50 GiB", strconv.Itoa(3000+1000*rank+i)+".00 MiB", 1) + after)
		}
		return b.String()
	}
	e, errs, code := explained(t, log(0, 300, ""))
	if code != exitFine || len(e.Events) != maxFailures || e.Omitted != 100 || !strings.Contains(e.Verdict.Run, "100 more failures are only counted") {
		t.Errorf("%d %s: %d events, %d omitted, %q", code, errs, len(e.Events), e.Omitted, e.Verdict.Run)
	}
	e, _, _ = explained(t, log(0, 300, "out of memory, skipping batch\n"))
	if !e.Verdict.Recovered || !strings.HasPrefix(e.Verdict.Headline, "300 ") || !strings.Contains(e.Verdict.Run, "100 more") {
		t.Errorf("recovered: %+v", e.Verdict)
	}
	dir := writeLogs(t, map[string]string{"rank0.log": log(0, 150, ""), "rank1.log": log(1, 250, "")})
	e, _, _ = explained(t, "", filepath.Join(dir, "rank0.log"), filepath.Join(dir, "rank1.log"))
	if len(e.Events) != maxFailures || e.Omitted != 200 || e.Events[0].Rank != sampler.Some(0) || e.Events[maxFailures-1].Rank != sampler.Some(1) || e.Events[maxFailures-1].File == "" {
		t.Errorf("two logs: %d events, %d omitted", len(e.Events), e.Omitted)
	}
	if e, _, _ = explained(t, log(0, maxFailures, "")); len(e.Events) != maxFailures || e.Omitted != 0 || strings.Contains(e.Verdict.Run, "counted") {
		t.Errorf("a few: %d events, %d omitted, %q", len(e.Events), e.Omitted, e.Verdict.Run)
	}
	var out strings.Builder
	a := &app{in: strings.NewReader(log(0, 300, "")), out: &out, err: &out, env: func(string) string { return "" }}
	if code := a.run(context.Background(), []string{"explain", "--details"}); code != exitFine || !strings.Contains(out.String(), "and 288 more") {
		t.Errorf("%d: %s", code, out.String())
	}
}

// A failure after which the training went on is told as one that was survived.
func TestExplainSurvived(t *testing.T) {
	steps := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("epoch 1 step %d loss 0.3\n", i)
		}
		return text
	}
	const refused = "Traceback (most recent call last):\n  File \"train.py\", line 88, in main\n    loss = model(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.50 GiB is free.\n"
	for name, c := range map[string]struct {
		log  string
		says string
	}{
		"it went on": {steps(0, 40) + refused + "halving the batch\n" + steps(40, 300), "the program recovered by itself"},
		"it skipped": {steps(0, 40) + "WARNING: out of room in batch 40, skipping it: CUDA out of memory. Tried to allocate 2.00 GiB.\n" + steps(41, 300) + "Training finished.\n", "Nothing died"},
		"it went on and died in cuDNN": {steps(0, 40) + refused + "going on\n" + steps(40, 300) + "Traceback (most recent call last):\n  File \"train.py\", line 90, in main\nRuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED\n",
			"It died at line 308; 1 before it survived: line 44."},
		"it died": {steps(0, 40) + refused, "CUDA out of memory on GPU 0, in training"},
		"it went on and died of another": {steps(0, 40) + refused + steps(40, 300) + strings.ReplaceAll(strings.ReplaceAll(refused, "2.00 GiB", "3.00 GiB"), "line 88", "line 90"),
			"It asked for 3.00 GiB"},
	} {
		file := filepath.Join(t.TempDir(), "train.log")
		if err := os.WriteFile(file, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, _ := command(t, "explain", file); !strings.Contains(out, c.says) {
			t.Errorf("%s: %s%s", name, out, errs)
		}
	}
}
