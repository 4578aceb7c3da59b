package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler/tape"
)

// dying is a script that dies of memory, with a secret in its output.
func dying(t *testing.T) string {
	t.Helper()
	sample, err := filepath.Abs("../../../testdata/oom/samples/01-seed-yolo-300mib.txt")
	if err != nil {
		t.Fatal(err)
	}
	return "echo epoch 12; echo HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH; cat " + sample + " >&2; exit 1"
}

// nvpeakIn runs nvpeak with a state directory.
func nvpeakIn(t *testing.T, state string, env []string, args ...string) result {
	t.Helper()
	return run(t, setup{scenario: "h100x8", env: append(env, "XDG_STATE_HOME="+state), args: args})
}

func boxesIn(t *testing.T, state string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(state, "nvpeak", "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A command that dies of memory has the reason below its last lines, and a black box that tells no secret.
func TestRunBlackBox(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	secret := []string{"PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64", "AWS_SECRET_ACCESS_KEY=abcdefgh12345678"}
	r := nvpeakIn(t, state, secret, "run", "--", "sh", "-c", dying(t), "--api-key", "sk-abcdefghijklmnopqrstuvwxyz123456")
	if r.code != 1 || !strings.Contains(r.out, "hf_abcdefgh") {
		t.Errorf("exit code %d, %q", r.code, r.out)
	}
	_, verdict, ok := strings.Cut(r.err, "\nnvpeak:\n")
	if lines := strings.Count(verdict, "\n") + 1; !ok || lines > 12 || lines < 5 {
		t.Errorf("%d lines: %s", lines, r.err)
	}
	for _, part := range []string{"CUDA out of memory on GPU 3, in training (epoch 12, step 932)", "Cause", "Do ", "nvpeak report LAST"} {
		if !strings.Contains(verdict, part) {
			t.Errorf("no %q in %s", part, verdict)
		}
	}
	list := boxesIn(t, state)
	if len(list) != 1 {
		t.Fatal(list)
	}
	for _, name := range []string{"", "run.json", "output.log", "recording.jsonl.zst"} {
		path := filepath.Join(list[0], name)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		text, _ := os.ReadFile(path)
		if regexp.MustCompile("hf_abcdef|abcdefgh1234|sk-abcdef").Match(text) {
			t.Errorf("%s tells a secret: %s", name, text)
		}
	}
	var meta struct {
		Command     string
		Environment map[string]string
		ExitCode    int `json:"exit_code"`
		Driver      string
		Explanation struct{ Verdict struct{ Headline string } }
	}
	text, err := os.ReadFile(filepath.Join(list[0], "run.json"))
	if err != nil || json.Unmarshal(text, &meta) != nil || meta.ExitCode != 1 || meta.Driver == "" || meta.Explanation.Verdict.Headline == "" || meta.Environment["PYTORCH_CUDA_ALLOC_CONF"] == "" || len(meta.Environment) != 1 {
		t.Errorf("%v %+v", err, meta)
	}
	if got := nvpeakIn(t, state, nil, "runs"); got.code != 0 || !strings.Contains(got.out, "exit 1") || !strings.Contains(got.out, "CUDA out of memory on GPU 3") || strings.Contains(got.out, "sk-abc") {
		t.Errorf("runs: %+v", got)
	}
	for _, name := range []string{"LAST", filepath.Base(list[0])} {
		if got := nvpeakIn(t, state, nil, "report", name); got.code != 0 || !strings.Contains(got.out, "CUDA out of memory on GPU 3") || !strings.Contains(got.out, "GPU 7") {
			t.Errorf("report %s: %+v", name, got)
		}
	}
}

// No box is left by a command that ends well, survives the failure, is killed by hand or only fails.
func TestRunLeavesNothing(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	caught := strings.Replace(dying(t), "exit 1", "for i in 1 2 3 4 5 6 7 8; do echo epoch 12 step 94$i >&2; done; printf 'Traceback (most recent call last):\\n  File \"a.py\", line 3\\nKeyError: 1\\n' >&2; exit 1", 1)
	limit := strings.Replace(dying(t), "exit 1", "for i in 1 2 3 4 5 6 7 8; do echo epoch 12 step 94$i >&2; done; echo 'slurmstepd: error: *** JOB 1 CANCELLED DUE TO TIME LIMIT ***' >&2; kill -TERM $$", 1)
	skipped := "echo epoch 1 step 7; echo 'skipped it: CUDA out of memory. Tried to allocate 2.00 GiB.'; for i in 1 2 3 4 5 6 7 8; do echo epoch 1 step 1$i; done; exit 1"
	for _, script := range []string{"true", caught, limit, skipped, strings.Replace(dying(t), "exit 1", "exit 0", 1), "exit 1", "kill -9 $$", "kill -INT $$"} {
		if r := nvpeakIn(t, state, nil, "run", "--", "sh", "-c", script); strings.Contains(r.err, "nvpeak:") {
			t.Errorf("%s: %q", script, r.err)
		}
	}
	if list := boxesIn(t, state); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
	if r := nvpeakIn(t, state, nil, "runs"); r.code != 0 || r.out != "" || !strings.Contains(r.err, "no black boxes") {
		t.Errorf("runs: %+v", r)
	}
	if r := nvpeakIn(t, state, nil, "report", "LAST"); r.code != 1 || !strings.Contains(r.err, "no black box") {
		t.Errorf("report: %+v", r)
	}
	if r := nvpeakIn(t, state, nil, "run", "--record", "--", "sleep", "0.3"); r.code != 0 || len(boxesIn(t, state)) != 1 {
		t.Errorf("--record: %+v", r)
	}
	if r := nvpeakIn(t, t.TempDir(), []string{"NVPEAK_RECORD=true"}, "run", "--record=false", "--", "true"); r.code != 0 || r.err != "" {
		t.Errorf("--record=false: %+v", r)
	}
	if r := nvpeakIn(t, state, nil, "report", "LAST"); r.code != 0 || !strings.Contains(r.out, "GPU 7") {
		t.Errorf("report: %+v", r)
	}
}

// After kill -9 of nvpeak and the command the box is there, with what was printed.
func TestRunBoxAfterKill(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"both", "nvpeak", "group"} {
		cmd, state := watched(t, "sh", "-c", "echo $$; "+strings.Replace(dying(t), "exit 1", "exec sleep 60", 1))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		fmt.Fscan(out, &pid)        //nolint:errcheck // then it fails below
		go io.Copy(io.Discard, out) //nolint:errcheck // it ends with the command
		time.Sleep(2200 * time.Millisecond)
		if r := nvpeakIn(t, state, nil, "runs"); !strings.Contains(r.out, "running") {
			t.Errorf("%s: runs: %+v", what, r)
		}
		switch what {
		case "both":
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // then it fails below
			cmd.Process.Kill()                 //nolint:errcheck // then it fails below
		case "nvpeak":
			cmd.Process.Kill() //nolint:errcheck // then it fails below
		case "group":
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // then it fails below
		}
		cmd.Wait() //nolint:errcheck // killed
		list := boxesIn(t, state)
		if len(list) != 1 {
			t.Fatal(what, list)
		}
		log, err := os.ReadFile(filepath.Join(list[0], "output.log"))
		if err != nil || !bytes.Contains(log, []byte("OutOfMemoryError")) || bytes.Contains(log, []byte("hf_abc")) {
			t.Errorf("%s: %v, %s", what, err, log)
		}
		meta, err := os.ReadFile(filepath.Join(list[0], "run.json"))
		if err != nil || !regexp.MustCompile(`"driver": "\d`).Match(meta) || !regexp.MustCompile(`"gpus": \[\s+"\w`).Match(meta) {
			t.Errorf("%s: %v, %s", what, err, meta)
		}
		if r := nvpeakIn(t, state, nil, "runs"); !strings.Contains(r.out, "cut off") && (what != "both" || !strings.Contains(r.out, "exit 137")) {
			t.Errorf("%s: runs: %+v", what, r)
		}
		if r := nvpeakIn(t, state, nil, "report", "LAST"); r.code != 0 || !strings.Contains(r.out, "GPU 7") {
			t.Errorf("%s: report: %+v", what, r)
		}
	}
}

// The newest 20 boxes are kept.
func TestRunKeepsTwenty(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for i := range 22 {
		dir := filepath.Join(state, "nvpeak", "runs", fmt.Sprintf("20200101-0000%02d-old-1", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"end":"2020-01-01T00:00:00Z","exit_code":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nvpeakIn(t, state, nil, "run", "--", "sh", "-c", dying(t))
	list := boxesIn(t, state)
	if len(list) != 20 || !strings.Contains(list[0], "000003-old") || !strings.Contains(list[19], "-sh-") {
		t.Errorf("%d boxes: %v", len(list), list)
	}
}

// Where there is no room for a box, the run goes on, and one line says so.
func TestRunWithoutRoom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{file, "/proc/nvpeak", "/dev/full"} {
		r := nvpeakIn(t, state, nil, "run", "--", "sh", "-c", dying(t))
		if r.code != 1 || !strings.Contains(r.err, "There is no black box: ") || !strings.Contains(r.err, "CUDA out of memory on GPU 3") {
			t.Errorf("%s: %+v", state, r)
		}
		if r := nvpeakIn(t, state, nil, "run", "--", "sh", "-c", "exit 3"); r.code != 3 || r.err != "" {
			t.Errorf("%s: %+v", state, r)
		}
	}
}

// Without a driver a box has what was printed, and report explains that.
func TestRunBoxWithoutDriver(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	env := []string{"NVPEAK_NVML=/nonexistent.so", "XDG_STATE_HOME=" + state}
	if r := run(t, setup{env: env, args: []string{"run", "--", "sh", "-c", dying(t)}}); r.code != 1 || !strings.Contains(r.err, "CUDA out of memory on GPU 3") {
		t.Errorf("%+v", r)
	}
	if r := run(t, setup{env: env, args: []string{"report", "LAST"}}); r.code != 0 || !strings.Contains(r.out, "CUDA out of memory on GPU 3") {
		t.Errorf("%+v", r)
	}
}

// A recording in a file of the user's is of the whole run, whether it dies or not; the black box is as without it. What is there
// already is not written over: where the file was typed, nothing runs.
func TestRunRecordsToFile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		flags, env, command string
		failures, boxes     int
		again               string
	}{
		{"--record=FILE", "", "sleep 0.3; " + dying(t), 1, 1, "choose another name"},
		{"--record FILE --keep 10s", "", "sleep 0.3", 0, 0, "choose another name"},
		{"--keep 10s", "NVPEAK_RECORD=FILE", "sleep 0.3", 0, 0, "NVPEAK_RECORD: "},
	} {
		file, state := filepath.Join(t.TempDir(), "run.jsonl"), t.TempDir()
		args := append([]string{"run"}, strings.Fields(strings.ReplaceAll(row.flags, "FILE", file))...)
		args = append(args, "--", "sh", "-c", row.command)
		env := []string{strings.ReplaceAll(row.env, "FILE", file)}
		if r := nvpeakIn(t, state, env, args...); row.failures == 0 && (r.code != 0 || r.err != "") {
			t.Errorf("%+v: %+v", row, r)
		}
		got := readTape(t, file)
		failures := failuresIn(got)
		if boxes := len(boxesIn(t, state)); failures != row.failures || boxes != row.boxes || len(got.snaps) == 0 || got.end == nil {
			t.Errorf("%+v: %d failures, %d boxes, %d snapshots", row, failures, boxes, len(got.snaps))
		}
		if r := nvpeakIn(t, state, env, args...); (r.code == 0) != (row.env != "") || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, row.again) {
			t.Errorf("again: %+v", r)
		}
	}
}

func failuresIn(r recorded) (n int) {
	for _, e := range r.events {
		if e.Kind == tape.KindOOM {
			n++
		}
	}
	return n
}

// The minutes before the newest part are in the box as well.
func TestRunKeepsThePartBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a part of ten seconds")
	}
	t.Parallel()
	state := t.TempDir()
	nvpeakIn(t, state, nil, "run", "--keep", "10s", "--", "sh", "-c", "sleep 11.6; "+dying(t))
	list := boxesIn(t, state)
	if len(list) != 1 {
		t.Fatal(list)
	}
	got := readTape(t, filepath.Join(list[0], "recording.jsonl.zst"))
	first, last := got.snaps[0].Time, got.snaps[len(got.snaps)-1].Time
	if took := last.Sub(first); took < 10500*time.Millisecond || len(got.notes) > 0 {
		t.Errorf("%v, notes %q", took, got.notes)
	}
	if r := nvpeakIn(t, state, nil, "report", "LAST"); r.code != 0 || !strings.Contains(r.out, "0:1") {
		t.Errorf("%+v", r)
	}
	if parts, _ := filepath.Glob(filepath.Join(list[0], "*.0*")); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}
}

// What the command prints is watched at the cost of a few percent of a core, and nothing of its time.
func TestRunOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	const script = "import sys,time\nb=('epoch 3 step 17 loss=0.123 |####  | 45% 12.3it/s\\n'*21000)[:1<<20]\nt=time.time()\nfor i in range(2):\n sys.stdout.write(b); sys.stdout.flush(); time.sleep(max(0,t+i+1-time.time()))\nprint(time.time()-t,file=sys.stderr)"
	var took []float64
	for _, args := range [][]string{{"python3", "-c", script}, {binary, "run", "--", "python3", "-c", script}} {
		cmd := exec.Command("sh", append([]string{"-c", `"$@" | cat > /dev/null`, "sh"}, args...)...)
		cmd.Env = setup{scenario: "h100x8"}.environ(t)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		var seconds float64
		fmt.Sscan(errs.String(), &seconds) //nolint:errcheck // then it fails below
		took = append(took, seconds)
		t.Logf("%v: %.3f s, CPU %v", args[0], seconds, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	if took[1] > 1.01*took[0] || took[0] == 0 {
		t.Errorf("bare and watched: %v", took)
	}
}

// A command that the kernel kills for host memory says nothing itself: the kernel's count does.
func TestRunOutOfHostMemory(t *testing.T) {
	t.Parallel()
	group := ""
	for _, g := range [][2]string{{"/sys/fs/cgroup/nvpeak-test", "memory.max"}, {"/sys/fs/cgroup/memory/nvpeak-test", "memory.limit_in_bytes"}} {
		dir := fmt.Sprintf("%s-%d", g[0], os.Getpid())
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })                                //nolint:errcheck // then it stays until the next start of the machine
		limit, err := os.OpenFile(filepath.Join(dir, g[1]), os.O_WRONLY, 0) // made by the kernel, or there is no such thing
		if err == nil {
			_, err = limit.WriteString("200M")
			err = errors.Join(err, limit.Close())
		}
		if err == nil {
			group = dir
			break
		}
	}
	if group == "" {
		t.Skip("no control group can be made here")
	}
	state := t.TempDir()
	cmd := exec.Command("sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$1" run -- python3 -c 'x = bytearray(600 << 20)'`, group, binary)
	cmd.Env = setup{scenario: "h100x8", env: []string{"XDG_STATE_HOME=" + state}}.environ(t)
	out, err := cmd.CombinedOutput()
	if code := codeOf(err); code != 137 || !bytes.Contains(out, []byte("Killed: out of host RAM")) {
		t.Errorf("%d, %s", code, out)
	}
	if r := nvpeakIn(t, state, nil, "report", "LAST"); r.code != 0 || !strings.Contains(r.out, "Killed: out of host RAM") {
		t.Errorf("%+v", r)
	}
}

// Python programs below the command are told where to report to, unless that is not wanted; nothing of it stays behind.
func TestRunReporter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	print := []string{"--", "sh", "-c", `echo "[$NVPEAK_REPORT]"; cat "${PYTHONPATH%%:*}/sitecustomize.py" >/dev/null && echo there`}
	for _, row := range []struct {
		flags []string
		want  bool
	}{{nil, true}, {[]string{"--no-reporter"}, false}} {
		got := run(t, setup{scenario: "h100x8", env: []string{"XDG_RUNTIME_DIR=" + dir}, args: append(append([]string{"run"}, row.flags...), print...)})
		if told := strings.Contains(got.out, "[/") && strings.HasSuffix(got.out, "there\n"); told != row.want {
			t.Errorf("%v: %q %q", row.flags, got.out, got.err)
		}
	}
	left := 0
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, _ error) error { //nolint:errcheck // it is there
		if !d.IsDir() {
			left++
		}
		return nil
	})
	if left > 0 {
		t.Errorf("%d files are left behind", left)
	}
}

// What was printed before a traceback in the other output may be read after it: it died of that all the same, and is tried again.
func TestRunDiesAmidItsOutput(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here")
	}
	script := filepath.Join(t.TempDir(), "train.py")
	text := `import sys, time
for i in range(300):
    print("step", i, "loss", 2 - i / 999, flush=True)
    time.sleep(.001)
if sys.argv[-1] == "32":
    sys.stderr.write('Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 392.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 121.31 MiB is free. Including non-PyTorch memory, this process has 23.51 GiB memory in use. Of the allocated memory 22.61 GiB is allocated by PyTorch, and 441.03 MiB is reserved by PyTorch but unallocated.\n')
    sys.exit(1)
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, setup{env: []string{"XDG_STATE_HOME=" + t.TempDir()}, args: []string{"run", "--retry", "1", "--", "python3", script, "--batch-size", "32"}})
	if r.code != 0 || !strings.Contains(r.err, "nvpeak:\nCUDA out of memory") || !strings.Contains(r.err, "--batch-size 16 instead of 32 was enough") {
		t.Errorf("%d\n%s", r.code, r.err)
	}
}
