package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"nvpeak/ui/cli/e2e"
)

// bombRoom is the most memory that any command may take for any file up to 64 MiB, in KiB.
const bombRoom = 300 << 10

// bombsAlone is set where a process runs nothing but TestBombs.
const bombsAlone = "NVPEAK_TEST_BOMBS"

const bombStart = `{"type":"header","schema":1,"time":"2026-11-20T14:00:00Z","even":true,"gpus":[]}` + "\n"

// bombSnapshot is one at that tenth of a second.
func bombSnapshot(tenth int, more, gpus string) string {
	return fmt.Sprintf(`{"type":"snapshot","time":"2026-11-20T14:%02d:%02d.%dZ"%s,"gpus":[%s]}`+"\n", tenth/600, tenth/10%60, tenth%10, more, gpus)
}

func bombGPU(index int, processes string) string {
	return fmt.Sprintf(`{"index":%d,"memory":{"total_bytes":85899345920,"used_bytes":5368709120},"processes":[%s]}`, index, processes)
}

// listed is n elements of a JSON list or of an object.
func listed(n int, make func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(make(i))
	}
	return b.String()
}

// bombs are files that are small, or hold little, and ask for much. They are written piece by piece, so that this
// process stays small.
func bombs() map[string]func(w io.Writer) {
	wide := bombGPU(0, listed(2000, empty))
	plain := bombGPU(0, "")
	line := func(w io.Writer) {
		io.WriteString(w, bombStart)
		for i := range 9 {
			io.WriteString(w, bombSnapshot(10*i, "", listed(200, func(int) string { return wide })))
		}
	}
	unpacked := func(w io.Writer) {
		for range 1 << 19 {
			io.WriteString(w, bombStart)
		}
	}
	const csv = "timestamp, index, memory.used [MiB], memory.total [MiB]\n2026/11/20 14:00:00.000, 0, 100 MiB, 80000 MiB\n"
	return map[string]func(w io.Writer){
		"line.jsonl": line, "line.jsonl.zst": packed(line), "huge.jsonl.zst": packed(unpacked),
		"ids.jsonl": fresh(300, 1, 400), "crowds.jsonl": fresh(40, 256, 8),
		"alerts.jsonl": snapshots(60, func(i int) string { return bombSnapshot(10*i, `,"alerts":[`+listed(30000, empty)+"]", plain) }),
		"gpus.jsonl": snapshots(200, func(s int) string {
			return bombSnapshot(10*s, "", listed(100, func(g int) string { return fmt.Sprintf(`{"uuid":"GPU-%d-%d"}`, s, g) }))
		}),
		"ticks.jsonl": snapshots(400, func(i int) string {
			if i == 0 {
				return bombSnapshot(0, `,"t":0`, listed(500, func(g int) string { return bombGPU(g, "{},{},{}") }))
			}
			return fmt.Sprintf(`{"type":"tick","t":%d,"of":0}`+"\n", i)
		}),
		"events.jsonl": snapshots(200_000, func(i int) string {
			if i%199_999 == 0 {
				return bombSnapshot(i/1000, "", plain)
			}
			return `{"type":"event","time":"2026-11-20T14:00:00Z","kind":"need","need_bytes":1}` + "\n"
		}),
		"years.jsonl": snapshots(60, func(i int) string {
			return fmt.Sprintf(`{"type":"snapshot","time":"%d-11-20T14:00:00Z","gpus":[%s]}`+"\n", 2000+i, plain)
		}),
		"commas.csv": func(w io.Writer) {
			io.WriteString(w, csv)
			repeat(w, 20<<20, ",")
			io.WriteString(w, "\n"+csv)
		},
		"names.csv": func(w io.Writer) {
			names, rows, _ := strings.Cut(csv, "\n")
			io.WriteString(w, names)
			repeat(w, 2<<20, ", x")
			io.WriteString(w, "\n"+rows)
		},
		"frames.zst": func(w io.Writer) { repeat(w, 1<<18, "\x28\xb5\x2f\xfd") },
		"blocks.zst": func(w io.Writer) { repeat(w, 1<<17, "\x28\xb5\x2f\xfd\x00\x58\x02\x00\x00\x00") },
		"zst.log":    packed(func(w io.Writer) { repeat(w, 2<<20, strings.Repeat("a", 1023)+"\n") }), // 2 GiB
		"one.log":    func(w io.Writer) { repeat(w, 30<<20, "a") },
		"ooms.log": func(w io.Writer) {
			for i := range 40000 {
				fmt.Fprintf(w, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 MiB. GPU 0 has a total capacity of 79.15 GiB\n", i+20)
			}
		},
	}
}

func empty(int) string { return "{}" }

func repeat(w io.Writer, n int, text string) {
	for range n {
		io.WriteString(w, text)
	}
}

func snapshots(n int, make func(i int) string) func(io.Writer) {
	return func(w io.Writer) {
		io.WriteString(w, bombStart)
		for i := range n {
			io.WriteString(w, make(i))
		}
	}
}

// fresh has other processes with every snapshot.
func fresh(n, gpus, processes int) func(io.Writer) {
	return snapshots(n, func(s int) string {
		return bombSnapshot(s, "", listed(gpus, func(g int) string {
			return bombGPU(g, listed(processes, func(p int) string { return fmt.Sprintf(`{"pid":%d,"memory_bytes":9000000}`, s*processes+p+1) }))
		}))
	})
}

func packed(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		write(z)
		z.Close() //nolint:errcheck // the file shows it
	}
}

// No file makes a command take more than its room, or more than linear time.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	if os.Getenv(bombsAlone) == "" {
		t.Parallel() // beside tests that wait, in a process of its own: a child is counted the memory of its parent
		cmd := exec.Command(os.Args[0], "-test.run=^TestBombs$", "-test.v")
		cmd.Env = append(os.Environ(), bombsAlone+"=1", "NVPEAK_TEST_BINARY="+binary)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	for name, write := range bombs() {
		path := filepath.Join(dir, name)
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewWriter(file)
		write(out)
		if err := errors.Join(out.Flush(), file.Close()); err != nil {
			t.Fatal(err)
		}
		commands := [][]string{{"report", path}, {"report", "--json", path}, {"report", "--html", "-", path}}
		if strings.HasSuffix(name, ".log") {
			commands = [][]string{{"explain", path}, {"explain", "--json", path}}
		}
		if slices.Contains([]string{"huge.jsonl.zst", "ticks.jsonl", "alerts.jsonl", "events.jsonl", "ids.jsonl"}, name) { // they take long to read, and what is shown is little
			commands = commands[1:2]
		}
		for _, args := range commands {
			cmd := exec.Command(binary, args...)
			cmd.Env = setup{}.environ(t)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			cmd.Run() //nolint:errcheck // 1 where there is nothing in it
			bombUse(t, strings.Join(args[:len(args)-1], " ")+" "+name, cmd.ProcessState, errs.String())
		}
		if !strings.HasSuffix(name, ".log") {
			replayBomb(t, path)
		}
	}
}

// bombSeconds is generous: the slowest takes 7 on a slow processor, and what is not linear takes minutes.
const bombSeconds = 20

func bombUse(t *testing.T, what string, s *os.ProcessState, errs string) {
	t.Helper()
	use := s.SysUsage().(*syscall.Rusage)
	seconds := (s.UserTime() + s.SystemTime()).Seconds()
	t.Logf("%-32s %4d MiB  %5.1f s", what, use.Maxrss>>10, seconds)
	if use.Maxrss > bombRoom || seconds > bombSeconds || strings.Contains(errs, "panic") || strings.Contains(errs, "goroutine ") {
		t.Errorf("%s: %d MiB, %.0f s, %s", what, use.Maxrss>>10, seconds, errs)
	}
}

// replayBomb replays a file until it is read in the background: then little happens any more.
func replayBomb(t *testing.T, path string) {
	t.Helper()
	term, err := e2e.Start(e2e.Options{Args: []string{binary, "replay", path}, Env: setup{}.environ(t), Cols: 120, Rows: 40})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.Type(" "); err != nil { // paused
		t.Fatal(err)
	}
	for begin, last := time.Now(), -1.0; time.Since(begin) < 2*bombSeconds*time.Second; {
		time.Sleep(time.Second / 2)
		now := spent(term.Cmd.Process.Pid)
		if now-last < 0.05 {
			break
		}
		last = now
	}
	term.Type("q")      //nolint:errcheck // it may have ended
	term.Wait(patience) //nolint:errcheck // 1 where there is nothing in it
	if term.Cmd.ProcessState == nil {
		t.Errorf("replay %s does not end", filepath.Base(path))
		return
	}
	bombUse(t, "replay "+filepath.Base(path), term.Cmd.ProcessState, "")
}

// spent is the processor time of a process in seconds, 0 when it is gone.
func spent(pid int) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(b), ") ")
	if f := strings.Fields(after); len(f) > 12 {
		var user, system float64
		fmt.Sscan(f[11], &user)   //nolint:errcheck // digits
		fmt.Sscan(f[12], &system) //nolint:errcheck // digits
		return (user + system) / 100
	}
	return 0
}
