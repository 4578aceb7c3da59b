package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/ui/cli/e2e"
)

// trainer is a program that fills a GPU: it notes each of its starts in a file and dies where HOW says so.
const trainer = `#!/usr/bin/env python3
import argparse, os, sys, time
p = argparse.ArgumentParser()
p.add_argument("--batch-size", type=int, default=32)
p.add_argument("--gradient-accumulation-steps", type=int)
p.add_argument("--resume")
a, rest = p.parse_known_args()
notes = os.environ["NOTES"]
n = len(open(notes).readlines()) if os.path.exists(notes) else 0
conf = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
print(" ".join(sys.argv[1:]), "conf=" + conf, "gpu=" + os.environ.get("CUDA_VISIBLE_DEVICES", ""), file=open(notes, "a"))
need = float(os.environ.get("NEED", "1")) * a.batch_size
wanted = min(20, need / 10)
message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of 47.50 GiB of which 300.00 MiB is free. Including non-PyTorch memory, this process has 46.90 GiB memory in use. Of the allocated memory 46.10 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated." % wanted
fragmented = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.15 GiB. GPU 0 has a total capacity of 44.53 GiB of which 3.84 GiB is free. Including non-PyTorch memory, this process has 40.68 GiB memory in use. Of the allocated memory 36.78 GiB is allocated by PyTorch, and 3.56 GiB is reserved by PyTorch but unallocated."
crowded = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 300.00 MiB is free. Process 41000 has 60.00 GiB memory in use. Including non-PyTorch memory, this process has 18.70 GiB memory in use. Of the allocated memory 18.00 GiB is allocated by PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated."
def die(text, code=1):
    print("Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\n    loss.backward()\n" + text, file=sys.stderr, flush=True)
    sys.exit(code)
how = os.environ["HOW"]
if how == "fits" and need > 16.5: die(message)
if how == "same" and need > 16.5: die(message.replace("%.2f GiB" % wanted, "20.00 MiB"))
if how == "never": die(message.replace("%.2f GiB" % wanted, "20.00 MiB"))
if how == "shrinks": die(message)
if how == "segments": print("Epoch 5/30 loss 0.31", file=sys.stderr)
if how == "segments" and "expandable_segments:True" not in conf: die(fragmented)
if how == "gpu" and os.environ.get("CUDA_VISIBLE_DEVICES") != os.environ["ONLY"]: die(crowded)
if how == "then": die(message if n == 0 else "ValueError: bad labels", 1 if n == 0 else 7)
if how == "survives": print(message, file=sys.stderr); sys.exit(0)
if how == "old": print(message, "\nepoch 1 step 5\nepoch 1 step 6", file=sys.stderr); die("KeyError: 'x'", 1)
if how == "flaky" and n == 0: die(message)
if how == "host": die("RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)")
if how == "unknown": die("RuntimeError: CUDA error: out of memory")
if how == "saves":
    os.makedirs("ckpt", exist_ok=True)
    open("ckpt/step%d.pt" % n, "w").write("x")
    if a.resume is None or n < 2: die(message)
if how == "hangs":
    if n: time.sleep(60)
    die(message)
print("done")
`

// retried is a run of the trainer in a directory of its own.
type retried struct {
	result
	starts []string // what the trainer was started with
	state  string
	dir    string
}

type retrying struct {
	how      string
	env      []string
	flags    string
	command  []string // "train" stands for the program
	scenario string
}

func (r retrying) prepare(t *testing.T) (s setup, dir string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here")
	}
	dir = t.TempDir()
	program := filepath.Join(dir, "train.py")
	if err := os.WriteFile(program, []byte(trainer), 0o700); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"run", "--no-reporter"}, strings.Fields(r.flags)...)
	args = append(args, "--")
	if r.command == nil {
		r.command = []string{"python3", "train", "--batch-size", "32"}
	}
	for _, word := range r.command {
		args = append(args, strings.ReplaceAll(word, "train", program))
	}
	if r.scenario == "" {
		r.scenario = "h100x8"
	}
	env := append([]string{"HOW=" + r.how, "NOTES=" + filepath.Join(dir, "notes"), "XDG_STATE_HOME=" + filepath.Join(dir, "state")}, r.env...)
	return setup{scenario: r.scenario, env: env, args: args}, dir
}

func (r retrying) run(t *testing.T) retried {
	t.Helper()
	s, dir := r.prepare(t)
	return retried{run(t, s), notes(t, dir), filepath.Join(dir, "state"), dir}
}

func notes(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "notes"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// What each program is started with, and how it ends.
func TestRetry(t *testing.T) {
	t.Parallel()
	const batch, none = "--batch-size %s conf= gpu=", "conf= gpu="
	tries := func(batches ...string) (list []string) {
		for _, b := range batches {
			list = append(list, fmt.Sprintf(batch, b))
		}
		return list
	}
	for name, row := range map[string]struct {
		retrying
		code   int
		starts []string
		says   []string
	}{
		"half":          {retrying{how: "fits", flags: "--retry 3"}, 0, tries("32", "16"), []string{"try 2 of 4: --batch-size 16 instead of 32", "effective batch becomes 16", "try 2 came through: --batch-size 16 instead of 32 was enough"}},
		"a quarter":     {retrying{how: "fits", flags: "--retry 3", env: []string{"NEED=2"}}, 0, tries("32", "16", "8"), []string{"try 3 came through: --batch-size 8 instead of 32 was enough"}},
		"not seen yet":  {retrying{how: "same", flags: "--retry 3", env: []string{"NEED=2"}}, 0, tries("32", "16", "8"), nil},
		"accumulation":  {retrying{how: "fits", flags: "--retry 1", command: []string{"python3", "train", "--batch-size", "32", "--gradient-accumulation-steps", "2"}}, 0, []string{"--batch-size 32 --gradient-accumulation-steps 2 conf= gpu=", "--batch-size 16 --gradient-accumulation-steps 4 conf= gpu="}, []string{"effective batch stays"}},
		"segments":      {retrying{how: "segments", flags: "--retry 3", env: []string{"PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8"}}, 0, []string{"--batch-size 32 conf=garbage_collection_threshold:0.8 gpu=", "--batch-size 32 conf=garbage_collection_threshold:0.8,expandable_segments:True gpu="}, []string{"came through: PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8,expandable_segments:True was enough"}},
		"never":         {retrying{how: "never", flags: "--retry 9"}, 1, tries("32", "16", "8"), []string{"not tried again: the last changes brought nothing"}},
		"to the end":    {retrying{how: "shrinks", flags: "--retry 9", command: []string{"python3", "train", "--batch-size", "4"}}, 1, tries("4", "2", "1"), []string{"not tried again: --batch-size is 1 already"}},
		"N tries":       {retrying{how: "shrinks", flags: "--retry 2"}, 1, tries("32", "16", "8"), []string{"that was the last of 3 tries"}},
		"other death":   {retrying{how: "then", flags: "--retry 3"}, 7, tries("32", "16"), []string{"not tried again: it did not die of GPU memory (exit 7)"}},
		"survives":      {retrying{how: "survives", flags: "--retry 3"}, 0, tries("32"), nil},
		"old message":   {retrying{how: "old", flags: "--retry 3"}, 1, tries("32"), []string{"ended with something else: KeyError"}},
		"flaky":         {retrying{how: "flaky", flags: "--retry 3"}, 0, tries("32", "16"), nil},
		"host":          {retrying{how: "host", flags: "--retry 3"}, 1, tries("32"), []string{"not tried again: the machine's RAM"}},
		"unknown":       {retrying{how: "unknown", flags: "--retry 3"}, 1, tries("32"), []string{"not tried again: what it died of is not known"}},
		"not asked for": {retrying{how: "fits"}, 1, tries("32"), nil},
		"no option":     {retrying{how: "fits", flags: "--retry 3", command: []string{"python3", "train"}}, 1, []string{none}, []string{"not tried again: the command has no option for the batch"}},
		"a config":      {retrying{how: "fits", flags: "--retry 3", command: []string{"python3", "train", "--config", "c.yaml"}}, 1, []string{"--config c.yaml " + none}, []string{"config files are never changed: set it in c.yaml"}},
		"a shell":       {retrying{how: "fits", flags: "--retry 3", command: []string{"bash", "-c", "cd / && python3 train --batch-size 32 | cat; exit ${PIPESTATUS[0]}"}}, 0, tries("32", "16"), nil},
		"in Chinese":    {retrying{how: "fits", flags: "--retry 3 --lang zh"}, 0, tries("32", "16"), []string{"第 2 次尝试（最多 4 次）：--batch-size 16（原为 32）", "第 2 次尝试成功"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := row.run(t)
			if got.code != row.code || strings.Join(got.starts, "\n") != strings.Join(row.starts, "\n") {
				t.Errorf("exit code %d, want %d; started with\n%s\nwant\n%s\n%s", got.code, row.code, strings.Join(got.starts, "\n"), strings.Join(row.starts, "\n"), got.err)
			}
			for _, text := range row.says {
				if !strings.Contains(got.err, "nvpeak: ") || !strings.Contains(got.err, text) {
					t.Errorf("no %q in %s", text, got.err)
				}
			}
			if row.says == nil && row.code == 0 && len(row.starts) == 1 && strings.Contains(got.err, "nvpeak:") {
				t.Errorf("said: %s", got.err)
			}
		})
	}
}

// A recording in a file of the user's is of all tries; the pauses between them are gaps.
func TestRetryRecordsAll(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "all.jsonl.zst")
	got := retrying{how: "fits", flags: "--retry 3 --record=" + file, env: []string{"NEED=2"}}.run(t)
	if all := readTape(t, file); got.code != 0 || len(got.starts) != 3 || failuresIn(all) != 2 || all.end == nil {
		t.Errorf("%d starts, %d failures, notes %q: %s", len(got.starts), failuresIn(all), all.notes, got.err)
	}
}

// A run is one run in the list, whatever its tries; the newest box knows how it ended.
func TestRetryBoxes(t *testing.T) {
	t.Parallel()
	got := retrying{how: "fits", flags: "--retry 3", env: []string{"NEED=2"}}.run(t)
	if list := boxesIn(t, got.state); len(list) != 2 {
		t.Fatalf("boxes: %v", list)
	}
	r := nvpeakIn(t, got.state, nil, "runs")
	for _, part := range []string{"exit 0 at try 3", "try 1: exit 1, CUDA out of memory on GPU 0", "try 2 (--batch-size 16 instead of 32): exit 1", "try 3 (--batch-size 8 instead of 32): exit 0, peak "} {
		if strings.Count(r.out, part) != 1 {
			t.Errorf("no %q in\n%s", part, r.out)
		}
	}
	type box struct {
		Name     string
		ExitCode int `json:"exit_code"`
		Command  string
		Retry    struct {
			Run     string
			Try     int
			Most    int
			Outcome *struct {
				Try      int
				ExitCode int `json:"exit_code"`
			}
		}
	}
	var list struct {
		Runs []struct {
			box
			Tries []box
		}
	}
	if err := json.Unmarshal([]byte(nvpeakIn(t, got.state, nil, "runs", "--json").out), &list); err != nil || len(list.Runs) != 1 {
		t.Fatalf("%v: %+v", err, list)
	}
	one := list.Runs[0]
	if len(one.Tries) != 2 || one.Retry.Try != 2 || one.Retry.Most != 4 || one.Retry.Outcome == nil || one.Retry.Outcome.Try != 3 || one.Retry.Outcome.ExitCode != 0 ||
		one.Tries[0].Retry.Run != one.Tries[0].Name || one.Tries[1].Retry.Run != one.Tries[0].Name || !strings.Contains(one.Tries[1].Command, "--batch-size 16") {
		t.Errorf("%+v", one)
	}
	if r := nvpeakIn(t, got.state, nil, "report", "LAST"); r.code != 0 || !strings.Contains(r.out+r.err, "try 3") || !strings.Contains(r.out, "CUDA out of memory on GPU 0") {
		t.Errorf("report: %+v", r)
	}
	if r := nvpeakIn(t, got.state, nil, "report", "LAST", "--json"); !regexp.MustCompile(`"retry": \{\s+"run": "[^"]+",\s+"try": 2,`).MatchString(r.out) {
		t.Errorf("report: %.300s", r.out[max(0, len(r.out)-300):])
	}
	if r := nvpeakIn(t, got.state, nil, "run", "--retry", "2", "--record", "--", "true"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if r := nvpeakIn(t, got.state, nil, "runs"); strings.Count(r.out, "exit 0") != 3 {
		t.Errorf("a run that came through at once: %s", r.out)
	}
}

// crowdedBox is a machine whose first GPU is full.
const crowdedBox = `
gpu 0-3 total=80GiB uuid=GPU-aaaaaaaa-bbbb-cccc-dddd-00000000000{i}
mem 0 used=79GiB
mem 1 used=40GiB
mem 2 used=2GiB
mem 3 used=70GiB
proc 0-3 pid=41000 memory=rest
`

// Another GPU is one that has the need, and one that the user lets the command see.
func TestRetryOnAnotherGPU(t *testing.T) {
	t.Parallel()
	const gpu = "GPU-aaaaaaaa-bbbb-cccc-dddd-00000000000"
	for _, row := range []struct {
		name, flags, mask, only string
		code                    int
		last                    string
	}{
		{"freest", "--retry 1 --need 20GiB", "", gpu + "2", 0, gpu + "2"},
		{"mask", "--retry 1 --need 20GiB", "0,1,3", gpu + "1", 0, gpu + "1"},
		{"mask of one", "--retry 1 --need 20GiB", "0", gpu + "2", 1, "0"},
		{"no need", "--retry 1", "", gpu + "2", 1, ""},
		{"none free", "--retry 1 --need 79GiB", "", gpu + "2", 1, ""},
		{"mask by UUID", "--retry 1 --need 20GiB", gpu + "0," + gpu + "3," + gpu + "1", gpu + "1", 0, gpu + "1"},
		{"chosen", "--retry 1 --need 20GiB -i 0,1", "", gpu + "1", 0, gpu + "1"},
		{"wait", "--wait --need 20GiB", "", gpu + "2", 0, gpu + "2"},
		{"wait, then another", "--wait --retry 1 --need 7GiB --gpus 1", "0,1,2,3", gpu + "1", 1, gpu + "2"},
		{"wait and mask", "--wait --need 20GiB --gpus 1", "1,3", gpu + "1", 0, gpu + "1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := retrying{how: "gpu", flags: row.flags, env: []string{"ONLY=" + row.only}, scenario: crowdedBox, command: []string{"python3", "train"}}
			if row.mask != "" {
				r.env = append(r.env, "CUDA_VISIBLE_DEVICES="+row.mask)
			}
			got := r.run(t)
			if len(got.starts) == 0 || got.code != row.code || !strings.HasSuffix(got.starts[len(got.starts)-1], "gpu="+row.last) {
				t.Errorf("exit code %d, started with %q: %s", got.code, got.starts, got.err)
			}
		})
	}
}

// Waiting ends with the need, the timeout or Ctrl-C; the command is not started before.
func TestRunWaits(t *testing.T) {
	t.Parallel()
	full := "\ngpu 0 total=80GiB\nmem 0 used=79GiB\nmem 0 used=1GiB at=3s\nproc 0 pid=41000 memory=rest stop=3s\n"
	began := time.Now()
	got := retrying{how: "fits", env: []string{"NEED=0"}, flags: "--wait --need 20GiB", scenario: full}.run(t)
	if got.code != 0 || len(got.starts) != 1 || time.Since(began) < 2*time.Second || !strings.Contains(got.err, "waiting until 20.0 GiB is free on 1 GPU") {
		t.Errorf("%+v", got)
	}
	devices := "\ngpu 0-1 total=80GiB\nmem 0 used=1GiB\nmem 1 used=79GiB\nmem 1 used=1GiB at=3s\n"
	began = time.Now()
	got = retrying{how: "fits", env: []string{"NEED=0"}, flags: "--wait --need 20GiB", scenario: devices, command: []string{"python3", "train", "--device", "cuda:1"}}.run(t)
	if got.code != 0 || time.Since(began) < 2*time.Second || len(got.starts) != 1 || !strings.HasSuffix(got.starts[0], "gpu=") {
		t.Errorf("%+v", got)
	}
	got = retrying{how: "fits", flags: "--wait --need 20GiB --timeout 600ms", scenario: "\ngpu 0 total=80GiB\nmem 0 used=79GiB\n"}.run(t)
	if got.code != 3 || len(got.starts) != 0 || !regexp.MustCompile(`^nvpeak: 20\.0 GiB was not free within 600 ms: wanted 1 GPU, 0 have it now, the most free is \d+ MiB\n$`).MatchString(got.err) {
		t.Errorf("%+v", got)
	}
	s, dir := retrying{how: "fits", flags: "--wait --need 20GiB", scenario: "\ngpu 0 total=80GiB\nmem 0 used=79GiB\n"}.prepare(t)
	cmd := exec.Command(binary, s.args...)
	cmd.Env = s.environ(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	ended := time.Now()
	cmd.Process.Signal(syscall.SIGINT) //nolint:errcheck // then it fails below
	if code := codeOf(cmd.Wait()); code != 130 || time.Since(ended) > busy || notes(t, dir) != nil {
		t.Errorf("exit code %d after %v, started %v", code, time.Since(ended), notes(t, dir))
	}
}

// A signal between tries and in one ends all.
func TestRetryInterrupted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		how   string
		after string
		code  int
		most  int
	}{{"shrinks", "Ctrl-C ends all", 130, 1}, {"hangs", "", 130, 2}} {
		s, dir := retrying{how: row.how, flags: "--retry 5"}.prepare(t)
		cmd := exec.Command(binary, s.args...)
		cmd.Env = s.environ(t)
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf, text := make([]byte, 4096), ""
		for row.after != "" && !strings.Contains(text, row.after) {
			n, err := errs.Read(buf)
			if text += string(buf[:n]); err != nil {
				t.Fatal(err, text)
			}
		}
		for end := time.Now().Add(patience); row.how == "hangs" && len(notes(t, dir)) < 2 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		cmd.Process.Signal(syscall.SIGINT) //nolint:errcheck // then it fails below
		err = cmd.Wait()
		if code := codeOf(err); code != row.code && err.Error() != "signal: interrupt" || len(notes(t, dir)) != row.most || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v: %q", row.how, err, time.Since(began), notes(t, dir))
		}
	}
}

// The newest checkpoint of this run, or of the user's pattern, goes to the next try.
func TestRetryResumes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ words, want, says string }{
		{"--resume {latest}", "--batch-size 8 --resume ckpt/step1.pt", "goes on with --resume ckpt/step1.pt"},
		{"--resume={latest:ckpt/*.pt}", "--batch-size 8 --resume=ckpt/step1.pt", "goes on with"},
		{"--resume {latest:none/*.pt}", "--batch-size 8", "no file fits none/*.pt"},
	} {
		s, dir := retrying{how: "saves", env: []string{"NEED=1"}}.prepare(t)
		at := len(s.args) - 5
		s.args = append(append(append([]string{}, s.args[:at]...), "--retry", "2", "--resume-flag", row.words), s.args[at:]...)
		cmd := exec.Command(binary, s.args...)
		cmd.Env, cmd.Dir = s.environ(t), dir
		if err := os.WriteFile(filepath.Join(dir, "pretrained.pt"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "pretrained.pt"), old, old); err != nil {
			t.Fatal(err)
		}
		out, _ := cmd.CombinedOutput() //nolint:errcheck // it is looked at below
		starts := notes(t, dir)
		if len(starts) != 3 || !strings.HasPrefix(starts[2], row.want+" conf=") || !strings.Contains(string(out), row.says) {
			t.Errorf("%s: %q\n%s", row.words, starts, out)
		}
	}
}

// What cannot be meant is refused before anything runs.
func TestRetryUsage(t *testing.T) {
	t.Parallel()
	for _, row := range [][2]string{
		{"--retry -1", "from 1 to 100"},
		{"--retry x", "no whole number"},
		{"--retry 1 --retry-ask", "needs a terminal"},
		{"--resume-flag --resume", "add --retry N"},
		{"--retry 1 --resume-flag={lastest}", "{latest}"},
		{"--retry 1 --resume-flag=", "--resume-flag"},
		{"--wait", "--need SIZE"},
		{"--timeout 3s", "--wait"},
		{"--gpus 2", "--wait"},
		{"--wait --need 1GiB --gpus 99", "99"},
	} {
		got := retrying{how: "fits", flags: row[0]}.run(t)
		if got.code != 2 || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, row[1]) || len(got.starts) > 0 {
			t.Errorf("%s: %+v", row[0], got)
		}
	}
}

// On a terminal each try is asked for, and the command has the terminal again.
func TestRetryAsks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		keys   []string
		code   int
		starts int
		says   string
	}{
		{[]string{"y", "y\r"}, 0, 3, "came through"},
		{[]string{"q"}, 1, 1, "not tried again: as you wish"},
		{[]string{"n"}, 1, 1, "no other measure"},
		{[]string{"y", "\x03"}, -1, 2, ""}, // as the shell has it: by the signal itself
	} {
		s, dir := retrying{how: "fits", flags: "--retry-ask", env: []string{"NEED=2"}}.prepare(t)
		term, err := e2e.Start(e2e.Options{Args: append([]string{binary}, s.args...), Env: s.environ(t), Cols: 100, Rows: 60, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range row.keys {
			seeMatch(t, term, fmt.Sprintf(`(?s)(?:\[y/n/q\].*){%d}`, i+1))
			press(t, term, key)
		}
		code, err := term.Wait(patience)
		screen := regexp.MustCompile(`\s+`).ReplaceAllString(term.Screen(), " ")
		if err != nil || code != row.code || len(notes(t, dir)) != row.starts || !strings.Contains(screen, row.says) {
			t.Errorf("%q: exit code %d, %v, started with %q: %s", row.keys, code, err, notes(t, dir), screen)
		}
		term.Close()
	}
}

// What came through says how much it took, as its allocator tells it, and what was left.
func TestRetryPeaks(t *testing.T) {
	t.Parallel()
	standin, err := filepath.Abs("../../../sampler/torch/testdata/standin")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "nvpeak-e2e") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const script = `import sys, torch, time
torch.cuda.init()
time.sleep(1.5)
if sys.argv[2] != "8": sys.exit("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.55 GiB of which 131.75 MiB is free. Including non-PyTorch memory, this process has 22.63 GiB memory in use. Of the allocated memory 21.89 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.")`
	s := setup{scenario: "\ngpu 0 total=24GiB\nmem 0 used=4GiB\n", env: []string{"PYTHONPATH=" + standin, "PYTHONDONTWRITEBYTECODE=1", "XDG_RUNTIME_DIR=" + dir, "XDG_STATE_HOME=" + dir},
		args: []string{"run", "--retry", "1", "--", "python3", "-c", script, "--batch-size", "16"}}
	got := run(t, s)
	if got.code != 0 || !strings.Contains(got.err, "peak of the job on GPU 0: 22.6 GiB before, 2.0 GiB now; 20.0 GiB of 24.0 GiB was left") {
		t.Errorf("%+v", got)
	}
	if r := nvpeakIn(t, dir, nil, "runs", "--json"); !regexp.MustCompile(`"outcome": \{[^}]*"peak_bytes": 2097152000,\s+"headroom_bytes": 21474836480`).MatchString(r.out) {
		t.Errorf("%s", r.out)
	}
}

// Whatever ends the tries, the exit code is that of the last one, and one line says why there is no other.
func TestRetryEnds(t *testing.T) {
	t.Parallel()
	// Within 4 s the need must be free for 2 s: it is at first, and from when the first try has died it is not for so long.
	full := "\ngpu 0 total=80GiB\nmem 0 used=1GiB\nmem 0 used=79GiB at=3900ms\nproc 0 pid=41000 memory=rest start=3900ms\n"
	got := retrying{how: "shrinks", flags: "--retry 3 --wait --need 20GiB --timeout 4s", scenario: full, env: []string{fmt.Sprintf("FAKENVML_START=%.3f", float64(time.Now().UnixMilli())/1000)}}.run(t)
	if got.code != 1 || len(got.starts) != 1 || !strings.Contains(got.err, "not tried again: 20.0 GiB was not free within 4 s") {
		t.Errorf("%+v", got)
	}
	got = retrying{how: "fits", flags: "--retry 2 --nvml-lib /nonexistent"}.run(t)
	if got.code != 0 || strings.Count(got.err, "without figures") != 1 || !strings.Contains(got.err, "how much it took is not known") {
		t.Errorf("%+v", got)
	}
	for _, row := range []struct {
		command []string
		code    int
		says    string
	}{
		{[]string{"/nonexistent"}, 127, "not tried again: it did not start"},
		{[]string{"sh", "-c", "kill -TERM $$"}, 143, "not tried again: it was ended by a signal (exit 143)"},
		{[]string{"sh", "-c", "printf half; exit 5"}, 5, "\nnvpeak: not tried again: it did not die of GPU memory (exit 5)"},
	} {
		got := retrying{how: "fits", flags: "--retry 3", command: row.command}.run(t)
		if got.code != row.code || !strings.Contains(got.err, row.says) {
			t.Errorf("%q: %+v", row.command, got)
		}
	}
}
