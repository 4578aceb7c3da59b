package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/ui/cli/e2e"
)

// recorded is what a recording holds.
type recorded struct {
	snaps  []*sampler.Snapshot
	end    *tape.End
	events []tape.Event
	notes  []string
}

func readTape(t *testing.T, path string) (got recorded) {
	t.Helper()
	r, err := tape.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case record.Snapshot != nil:
			got.snaps = append(got.snaps, record.Snapshot)
		case record.End != nil:
			got.end = record.End
		case record.Event != nil:
			got.events = append(got.events, *record.Event)
		}
	}
	got.notes = r.Notes(lang.English().Say)
	return got
}

// peaks is all that is said of peaks, as JSON.
func peaks(t *testing.T, s *sampler.Snapshot) string {
	t.Helper()
	type process struct {
		PID  int
		Peak *sampler.Peak
	}
	type gpu struct {
		Memory    sampler.Memory
		Processes []process
	}
	var all []gpu
	for _, g := range s.GPUs {
		one := gpu{Memory: g.Memory}
		for _, p := range g.Processes {
			one.Processes = append(one.Processes, process{p.PID, p.Peak})
		}
		all = append(all, one)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const recordScenario = "gpu 0-3\nmem 0-3 used=20GiB\nspike 0-3 at=700ms width=60ms height=10GiB grow=1GiB every=700ms count=40 stagger=10ms\nproc 0-3 pid=42000 memory=rest\n"

// What stream printed and what it recorded at the same time agree to the byte.
func TestRecordedIsWhatWasLive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		path := filepath.Join(t.TempDir(), name)
		s := setup{scenario: recordScenario, args: []string{"stream", "--interval", "300ms", "--record", path}}
		cmd := exec.Command(binary, s.args...)
		cmd.Env = s.environ(t)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // then it fails below
		cmd.Wait()                          //nolint:errcheck // 143
		got := readTape(t, path)
		if got.end == nil || len(got.notes) > 0 {
			t.Errorf("end %v, notes %q", got.end, got.notes)
		}
		at := map[int64]*sampler.Snapshot{}
		for _, s := range got.snaps {
			at[s.Time.UnixNano()] = s
		}
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		if len(lines) < 8 {
			t.Fatalf("%d lines: %s", len(lines), errs.String())
		}
		var last sampler.Snapshot
		for _, line := range lines {
			var live sampler.Snapshot
			if err := json.Unmarshal(line, &live); err != nil {
				t.Fatal(err)
			}
			s := at[live.Time.UnixNano()]
			if s == nil {
				t.Fatalf("the snapshot of %v is not in the recording", live.Time)
			}
			if a, b := peaks(t, s), peaks(t, &live); a != b {
				t.Fatalf("recorded\n%s\nlive\n%s", a, b)
			}
			last = live
		}
		if n := len(got.snaps) - len(lines); n < 0 || n > 1 {
			t.Errorf("%d snapshots recorded, %d printed", len(got.snaps), len(lines))
		}
		for _, p := range got.end.Peaks {
			if live := last.GPUs[p.GPU].Memory.Peak; p.Peak.Bytes < live.Bytes {
				t.Errorf("GPU %d: peak of the end line %v, live %v", p.GPU, p.Peak, live)
			}
		}
		if got.snaps[len(got.snaps)-1].GPUs[0].Memory.Peak.Bytes <= 30*sampler.GiB {
			t.Error("there were no spikes: nothing was compared")
		}
	}
}

// However a recording is ended, it says what it did and has its end line.
func TestRecordEnds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		args   []string
		signal syscall.Signal
	}{
		{"for", []string{"--for", "2s"}, 0},
		{"TERM", nil, syscall.SIGTERM}, {"INT", nil, syscall.SIGINT}, {"HUP", nil, syscall.SIGHUP},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.jsonl.zst")
			cmd := exec.Command(binary, append([]string{"record", "--demo", "-o", path}, row.args...)...)
			cmd.Env = setup{}.environ(t)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if row.signal != 0 {
				waitSize(t, path)
				time.Sleep(2500 * time.Millisecond)
				cmd.Process.Signal(row.signal) //nolint:errcheck // then it fails below
			}
			stop := time.AfterFunc(patience, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
			defer stop.Stop()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, errs.String())
			}
			lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], "recording 4 GPUs of box7 to "+path) || !strings.Contains(lines[1], "of 4 GPUs to "+path) || !strings.Contains(lines[1], "KiB") {
				t.Errorf("said %q", lines)
			}
			got := readTape(t, path)
			if got.end == nil || got.end.Reason != "closed" || len(got.notes) > 0 || len(got.snaps) < 2 {
				t.Errorf("end %+v, notes %q, %d snapshots", got.end, got.notes, len(got.snaps))
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
		})
	}
}

func waitSize(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatal("nothing is recorded")
}

// After kill -9 everything up to the last second is there.
func TestRecordKilled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.jsonl", "a.jsonl.zst"} {
		path := filepath.Join(t.TempDir(), name)
		cmd := exec.Command(binary, "record", "--demo", "-o", path)
		cmd.Env = setup{}.environ(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitSize(t, path)
		time.Sleep(3300 * time.Millisecond)
		killed := time.Now()
		cmd.Process.Kill() //nolint:errcheck // it runs
		cmd.Wait()         //nolint:errcheck // killed
		got := readTape(t, path)
		if n := len(got.snaps); n < 3 {
			t.Fatalf("%d snapshots", n)
		} else if missing := killed.Sub(got.snaps[n-1].Time); missing > 1500*time.Millisecond {
			t.Errorf("%v before the end are missing", missing)
		}
		if got.end != nil || len(got.notes) == 0 {
			t.Errorf("end %v, notes %q: a cut must be told", got.end, got.notes)
		}
	}
}

// What cannot be recorded to is refused in one line that says what to do.
func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full, link := filepath.Join(dir, "full.jsonl"), filepath.Join(dir, "link.jsonl")
	if err := os.WriteFile(full, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "x"), link); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args []string
		says string
		code int
	}{
		{[]string{"record", "-o", full}, "choose another name or remove it", 1},
		{[]string{"record", "-o", link}, "choose the name of a new file", 1},
		{[]string{"record", "-o", filepath.Join(dir, "no", "a.jsonl")}, "make its directory first", 1},
		{[]string{"stream", "--record", full}, "choose another name or remove it", 1},
		{[]string{"record", "-o", filepath.Join(dir, "y.jsonl.gz")}, "y.jsonl.gz: a recording is .jsonl, or compressed .jsonl.zst", 2},
		{[]string{"stream", "--record", filepath.Join(dir, "y.XZ")}, "a recording is .jsonl, or compressed .jsonl.zst", 2},
		{[]string{"run", "--record=" + filepath.Join(dir, "y.gz"), "--", "true"}, "a recording is .jsonl, or compressed .jsonl.zst", 2},
		{[]string{"record"}, "add -o FILE", 2},
		{[]string{"record", "-o", "x", "--keep", "3"}, "with --rotate", 2},
		{[]string{"record", "-o", "x", "--rotate", "1ms"}, "such as 1h, nor a size", 2},
		{[]string{"replay", full}, "nvpeak report " + full, 2},
		{[]string{"replay"}, "nvpeak replay FILE", 2},
	} {
		got := run(t, setup{args: row.args, env: []string{"NVPEAK_DEMO=training"}})
		if got.code != row.code || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, row.says) || got.out != "" {
			t.Errorf("%q: %+v, want %d and %q", row.args, got, row.code, row.says)
		}
	}
	if b, err := os.ReadFile(full); err != nil || string(b) != "{}\n" {
		t.Errorf("the file was touched: %q %v", b, err)
	}
}

// A disk that takes nothing more is told once; what was written stays.
func TestRecordFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	cmd := exec.Command("sh", "-c", `ulimit -f 40; exec "$0" record --demo=eight --interval 100ms -o "$1" --for 4s`, binary, path)
	cmd.Env = setup{}.environ(t)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	if n := strings.Count(errs.String(), "file too large"); n != 2 || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v: %s", err, errs.String())
	}
	if !strings.Contains(errs.String(), "goes on when there is room") || !strings.Contains(errs.String(), "the end of the recording is missing") {
		t.Error(errs.String())
	}
	if got := readTape(t, path); len(got.snaps) == 0 {
		t.Errorf("%d snapshots, notes %q", len(got.snaps), got.notes)
	}
}

// The monitor records while it shows, failures of a log included.
func TestMonitorRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, log := filepath.Join(dir, "a.jsonl.zst"), filepath.Join(dir, "train.log")
	term := open(t, setup{scenario: "h100x8", args: []string{"--record", path, "--log", log}})
	see(t, term, "62.5 / ")
	text := "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB (GPU 0; 79.15 GiB total capacity; 60.00 GiB already allocated; 10.00 GiB free; 61.00 GiB reserved in total by PyTorch)\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	see(t, term, "20.0")
	time.Sleep(1200 * time.Millisecond)
	press(t, term, "q")
	ends(t, term, 0)
	got := readTape(t, path)
	if got.end == nil || len(got.snaps) < 2 {
		t.Fatalf("end %v, %d snapshots, %q", got.end, len(got.snaps), got.notes)
	}
	oom := 0
	for _, e := range got.events {
		if e.Kind == tape.KindOOM && e.OOM != nil && e.OOM.Requested.Or(0) == 20*sampler.GiB {
			oom++
		}
	}
	if oom != 1 {
		t.Errorf("%d failures in the recording: %+v", oom, got.events)
	}
	if alerts := got.snaps[len(got.snaps)-1].Alerts; len(alerts) == 0 || alerts[0].Kind != "oom" {
		t.Errorf("alerts recorded: %+v", alerts)
	}
}

// writeTape records some minutes of snapshots: memory rises at 5:00 for a moment.
func writeTape(t *testing.T, path string, seconds int) time.Time {
	t.Helper()
	w, err := tape.Create(path, tape.Options{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 20, 3, 0, 0, 0, time.Local)
	marks := sampler.NewWatermarks()
	for i := range seconds {
		used := 10 * sampler.GiB
		if i == 300 {
			used = 41 * sampler.GiB
		}
		s := &sampler.Snapshot{Time: start.Add(time.Duration(i) * time.Second), Host: "night-box", GPUs: []sampler.GPU{{UUID: "GPU-1", Name: "NVIDIA H100 80GB HBM3",
			Memory:    sampler.Memory{Total: sampler.Some(80 * sampler.GiB), Used: sampler.Some(used), Free: sampler.Some(80*sampler.GiB - used)},
			Processes: []sampler.Process{{PID: 4242, Name: "python", Command: "python train.py", User: "ann", Memory: sampler.Some(used)}}}}}
		marks.Apply(s)
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return start
}

// Pause, seek, jump to the peak, and quit, on a real terminal.
func TestReplay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "night.jsonl.zst")
	writeTape(t, path, 900)
	term := open(t, setup{args: []string{"replay", path, "--at", "+1m", "--speed", "2"}, size: [2]int{100, 24}})
	see(t, term, "REPLAY", "night-box", "10.0 / ", "2x", "/ 0:14:59", "03:01:")
	press(t, term, "p")
	see(t, term, "PAUSED")
	for _, row := range []struct{ keys, see string }{
		{":03:02:00\r", "03:02:00"},
		{"\x1b[C", "03:02:10"},
		{"\x1b[1;2C", "03:07:10"},
		{"{", "03:02:10"},
		{".", "03:02:11"},
		{",", "03:02:10"},
		{"N", "peak of GPU 0: 41.0 GiB"},
		{"", "03:05:00"},
		{"", "41.0 / "},
		{".", "▲41.0"},
		{"B", "03:05:00"},
		{"{", "▲10.0"},
		{"\x1b[F", "03:14:59"},
		{"\x1b[H", "03:00:00"},
		{"?", "pause, resume"},
	} {
		press(t, term, row.keys)
		see(t, term, row.see)
	}
	press(t, term, "x")
	gone(t, term, "pause, resume")
	press(t, term, "<p")
	see(t, term, "1x")
	press(t, term, ">>>>>>>>>>>>")
	see(t, term, "3600x")
	see(t, term, "the end of the recording", "PAUSED", "03:14:59")
	press(t, term, "q")
	ends(t, term, 0)
}

// Cut files and logs of nvidia-smi open too.
func TestReplayOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole, cut, log := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "cut.jsonl"), filepath.Join(dir, "smi.csv")
	writeTape(t, whole, 120)
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	csv := "timestamp, index, name, memory.used [MiB], memory.total [MiB]\n2026/11/20 03:00:00.000, 0, NVIDIA A100, 1024 MiB, 81920 MiB\n2026/11/20 03:00:01.000, 0, NVIDIA A100, 30720 MiB, 81920 MiB\n"
	for path, text := range map[string]string{cut: string(b[:len(b)/2]), log: csv, filepath.Join(dir, "empty"): "", filepath.Join(dir, "header.jsonl"): string(b[:bytes.IndexByte(b, '\n')+1])} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ path, see string }{{cut, "the file is cut"}, {log, "1.0 / "}} {
		term := open(t, setup{args: []string{"replay", row.path, "--speed", "1/4"}, size: [2]int{120, 24}})
		see(t, term, "REPLAY", row.see)
		press(t, term, "q")
		ends(t, term, 0)
	}
	for name, says := range map[string]string{"empty": "the file is empty", "header.jsonl": "holds no snapshot", "none": "no such file"} {
		term := open(t, setup{args: []string{"replay", filepath.Join(dir, name)}, size: [2]int{120, 24}})
		see(t, term, says)
		ends(t, term, 1)
	}
}

// Finished files are numbered, each can be read alone, and only the newest stay.
func TestRecordRotates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := run(t, setup{args: []string{"record", "--demo", "-o", filepath.Join(dir, "a.jsonl.zst"), "--rotate", "1s", "--keep", "2", "--interval", "250ms", "--for", "6s"}})
	if got.code != 0 || !strings.Contains(got.err, "in the newest file") {
		t.Errorf("%+v", got)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q %v", files, err)
	}
	for _, path := range files {
		part, least := readTape(t, path), 2
		if strings.HasSuffix(path, "/a.jsonl.zst") { // the one that was cut short
			least = 1
		}
		if part.end == nil || len(part.snaps) < least || len(part.notes) > 0 {
			t.Errorf("%s: end %v, %d snapshots, %q", path, part.end, len(part.snaps), part.notes)
		}
	}
}

// A full disk is told in the footer, and the monitor goes on.
func TestMonitorOnFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s := setup{size: [2]int{120, 30}}
	term, err := e2e.Start(e2e.Options{Args: []string{"sh", "-c", `ulimit -f 40; exec "$0" --demo=eight --interval 250ms --record "$1"`, binary, path}, Env: s.environ(t), Cols: 120, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	see(t, term, "recording:", "file too large")
	press(t, term, "?")
	see(t, term, "this help")
	press(t, term, "xq")
	if _, err := term.Wait(patience); err != nil {
		t.Fatal(err)
	}
	restored(t, term)
}

// A recorder that rotates comes back after every kill -9, with the same command. What it left is readable,
// and no more finished parts are kept than asked for.
func TestRecordKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	kills := 100
	if testing.Short() {
		kills = 12
	}
	path := filepath.Join(t.TempDir(), "a.jsonl.zst")
	for n := range kills {
		cmd := exec.Command(binary, "record", "--demo", "-o", path, "--rotate", "64KiB", "--keep", "5")
		cmd.Env = setup{}.environ(t)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if n%10 == 0 { // most are killed before they write
			waitSize(t, path)
		}
		time.Sleep(time.Duration(n*37%400) * time.Millisecond)
		cmd.Process.Kill() //nolint:errcheck // it may have ended, which is an error
		cmd.Wait()         //nolint:errcheck // killed
		if cmd.ProcessState.Exited() {
			t.Fatalf("run %d ended by itself: %s", n, errs.String())
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "a*.jsonl.zst"))
	if err != nil || len(left) < 2 || len(left) > 6 {
		t.Errorf("left: %v, %v", left, err)
	}
	snaps := 0
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			snaps += len(readTape(t, name).snaps)
		}
	}
	if snaps == 0 {
		t.Error("there is no snapshot in any part")
	}
}

// A device without room ends a recording to standard output: what was cut cannot be taken back there.
func TestRecordToFullDevice(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	cmd := exec.Command(binary, "record", "--demo", "-o", "-")
	cmd.Env, cmd.Stdout = setup{}.environ(t), full
	var errs bytes.Buffer
	cmd.Stderr = &errs
	begin := time.Now()
	stop := time.AfterFunc(patience, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer stop.Stop()
	err = cmd.Run()
	if err == nil || cmd.ProcessState.ExitCode() != 1 || time.Since(begin) > 5*time.Second || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("%v after %v: %s", err, time.Since(begin), errs.String())
	}
}
