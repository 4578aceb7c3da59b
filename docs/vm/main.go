//go:build linux

// Vm is what docs/vm/run starts in its virtual machine. It is a stand-in for gcc and setcap there, too.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

const (
	made     = "/made" // what run has compiled
	cuda     = made + "/libcuda.so.1"
	nvml     = made + "/libnvidia-ml.so.1"
	nobody   = 65534
	scenario = "/tmp/scenario"
	shared   = "/tmp/shared"
)

var parts = map[string]func() bool{"tests": tests, "doctor": doctor, "events": events, "cost": cost}

func main() {
	switch filepath.Base(os.Args[0]) {
	case "gcc":
		exit(compile(os.Args[1:]))
	case "setcap":
		exit(setcap(os.Args[1:]))
	}
	var name unix.Utsname
	unix.Uname(&name) //nolint:errcheck // it is then empty
	fmt.Printf("\n# Linux %s, %s, %s\n", unix.ByteSliceToString(name.Release[:]), runtime.GOARCH, os.Args[1])
	list := os.Args[2:]
	if len(list) == 0 {
		list = []string{"tests", "events", "cost", "doctor"} // the last locks the kernel down
	}
	ok := true
	for _, part := range list {
		fmt.Printf("\n## %s\n", part)
		if run := parts[part]; run != nil {
			ok = run() && ok
			continue
		}
		cmd := exec.Command("sh", "-c", part)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		ok = cmd.Run() == nil && ok
	}
	if !ok {
		os.Exit(1)
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// compile hands out what was compiled before, by the name of its source.
func compile(args []string) error {
	from := map[string]string{"fakecuda.c": "libcuda.so.1", "play.c": "play", "fakenvml.c": "libnvidia-ml.so.1", "null": "null"}
	out := ""
	for i, arg := range args {
		if arg == "-o" && i+1 < len(args) {
			out = args[i+1]
		}
	}
	for _, arg := range args {
		name := from[filepath.Base(arg)]
		if name == "libnvidia-ml.so.1" && slices.Contains(args, "-DFAKENVML_CHECK=") {
			name = "check"
		}
		if name != "" && arg != out {
			return copyTo(out, filepath.Join(made, name))
		}
	}
	return errors.New("gcc: this is none, and that was not compiled before")
}

func copyTo(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755) //nolint:gosec // it is run
}

// setcap gives a file the capabilities PERFMON and BPF.
func setcap(args []string) error {
	if len(args) != 2 || args[0] != "cap_bpf,cap_perfmon+ep" {
		return errors.New("setcap: this gives cap_bpf,cap_perfmon+ep")
	}
	// struct vfs_cap_data of linux/capability.h: permitted and inheritable, 32 of each, and again.
	const revision2, effective = 0x02000000, 1
	b := binary.LittleEndian.AppendUint32(nil, revision2|effective)
	for _, word := range []uint32{0, 0, 1<<(unix.CAP_PERFMON-32) | 1<<(unix.CAP_BPF-32), 0} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return unix.Setxattr(args[1], "security.capability", b, 0)
}

// tests are those of the repository.
func tests() bool {
	ok := true
	for _, x := range []struct{ dir, name, run, skip string }{
		{"/src/sampler/uprobe", "uprobe.test", ".", "^TestAliases$|^TestWithoutSections$"}, // these compile libraries of their own, and no kernel has a part in them
		{"/src/ui/cli/e2e", "e2e.test", "^TestExactPeaks$|^TestRefusals$|^TestDoctorFindsALibrary$|^TestRunTellsARefusal$", "^$"},
	} {
		cmd := exec.Command("./"+x.name, "-test.v", "-test.parallel=1", "-test.timeout=20m", "-test.run", x.run, "-test.skip", x.skip)
		cmd.Dir, cmd.Env = x.dir, append(os.Environ(), "NVPEAK_TEST_BINARY=/bin/nvpeak")
		out, err := cmd.CombinedOutput()
		ok = ok && err == nil
		count := map[string]int{}
		for line := range strings.Lines(string(out)) {
			for _, word := range []string{"PASS", "FAIL", "SKIP"} {
				if strings.HasPrefix(strings.TrimLeft(line, " "), "--- "+word+":") {
					count[word]++
				}
			}
		}
		fmt.Printf("%s: %d passed, %d failed, %d skipped\n", x.dir, count["PASS"], count["FAIL"], count["SKIP"])
		if err != nil || count["SKIP"] > 0 {
			text := strings.Split(string(out), "\n")
			for i, line := range text {
				if !strings.HasPrefix(line, "=== ") && !strings.Contains(line, "--- PASS") && (err != nil || strings.Contains(line, "SKIP") || i > 0 && strings.Contains(text[i-1], "SKIP")) {
					fmt.Println("   ", line)
				}
			}
		}
	}
	return ok
}

// command is a run of nvpeak on the fake driver, with the fake libcuda where systems have it.
func command(program string, args ...string) *exec.Cmd {
	os.Remove(shared) //nolint:errcheck // it may not be there
	text := "gpu 0-1 total=8GiB reserved=0 name=\"H100\"\nprograms " + shared + "\n"
	if err := errors.Join(os.MkdirAll("/usr/lib", 0o755), copyTo("/usr/lib/libcuda.so.1", cuda), os.WriteFile(scenario, []byte(text), 0o644)); err != nil { //nolint:gosec // others read it
		exit(err)
	}
	cmd := exec.Command(program, append(args, "--nvml-lib", nvml)...)
	cmd.Env = append(os.Environ(), "FAKENVML_SCENARIO="+scenario, "LANG=C.UTF-8")
	return cmd
}

// row prints the row of doctor about requests, as it is for somebody who has some capabilities whatever he starts.
func row(who, program string, uid uint32, has ...uintptr) {
	cmd := command(program, "doctor")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, AmbientCaps: has}
	cmd.Dir = "/"
	out, _ := cmd.CombinedOutput() //nolint:errcheck // what it says counts
	said := ""
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "requests ") || said != "" && strings.HasPrefix(line, "      ") {
			said += strings.TrimRight(line, "\n") + "\n"
		} else if said != "" {
			break
		}
	}
	if said == "" {
		said = string(out)
	}
	on := command("/bin/busybox", "timeout", "20", program, "stream", "--requests", "on", "--interval", "1h")
	on.SysProcAttr, on.Dir = cmd.SysProcAttr, "/"
	var errs bytes.Buffer
	on.Stderr = &errs
	out, _ = on.Output() //nolint:errcheck // what it says counts
	end := "streams"
	if len(out) == 0 {
		end = strings.TrimSpace(errs.String())
	}
	fmt.Printf("%s:\n%s    stream --requests on: %s\n", who, said, end)
}

// doctor says why requests are not seen, and what would help: as root, as somebody, with capabilities, in a container, locked down.
func doctor() bool {
	with := "/bin/nvpeak-capable"
	if err := errors.Join(copyTo(with, "/bin/nvpeak"), setcap([]string{"cap_bpf,cap_perfmon+ep", with})); err != nil {
		fmt.Println(err)
		return false
	}
	row("root", "/bin/nvpeak", 0)
	row("somebody", "/bin/nvpeak", nobody)
	row("somebody, cap_bpf,cap_perfmon+ep", with, nobody)
	if err := os.WriteFile("/.dockerenv", nil, 0o600); err == nil {
		row("in a container", "/bin/nvpeak", nobody)
		row("in a container, --cap-add BPF --cap-add PERFMON", "/bin/nvpeak", nobody, unix.CAP_BPF, unix.CAP_PERFMON)
		row("in a container, --cap-add SYS_ADMIN", "/bin/nvpeak", nobody, unix.CAP_SYS_ADMIN)
		most := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &most) == nil {
			row("in a container, --cap-add SYS_ADMIN --ulimit memlock=-1", "/bin/nvpeak", nobody, unix.CAP_SYS_ADMIN)
		}
		os.Remove("/.dockerenv") //nolint:errcheck // it was only for this
	}
	for _, level := range []string{"integrity", "confidentiality"} {
		if err := os.WriteFile("/sys/kernel/security/lockdown", []byte(level), 0o600); err != nil {
			fmt.Printf("lockdown=%s: %v\n", level, err)
			continue
		}
		row("root, lockdown="+level, "/bin/nvpeak", 0)
	}
	row("somebody, lockdown", "/bin/nvpeak", nobody)
	row("somebody, cap_bpf,cap_perfmon+ep, lockdown", with, nobody)
	return true
}

// player is a program that asks the fake driver for memory.
type player struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func play(env ...string) *player {
	p := &player{cmd: exec.Command(made+"/play", "/usr/lib/libcuda.so.1")}
	p.cmd.Env = append(append(os.Environ(), "FAKECUDA_SHARED="+shared, "FAKECUDA_CAPACITY=8589934592"), env...)
	p.in, _ = p.cmd.StdinPipe()   //nolint:errcheck // Start tells
	out, _ := p.cmd.StdoutPipe()  //nolint:errcheck // the same
	p.out = bufio.NewScanner(out) //
	if err := p.cmd.Start(); err != nil {
		exit(err)
	}
	return p
}

func (p *player) do(commands ...string) (said []string) {
	for _, c := range append(commands, "echo done") {
		fmt.Fprintln(p.in, c) //nolint:errcheck // the answers tell
	}
	for p.out.Scan() && p.out.Text() != "done" {
		said = append(said, p.out.Text())
	}
	return said
}

func (p *player) end(commands ...string) {
	for _, c := range commands {
		fmt.Fprintln(p.in, c) //nolint:errcheck // it ends
	}
	p.in.Close() //nolint:errcheck // the same
	for p.out.Scan() {
	}
	p.cmd.Wait() //nolint:errcheck // however it ended
}

// watcher is `nvpeak stream`.
type watcher struct {
	cmd  *exec.Cmd
	lock sync.Mutex
	seen []sampler.Request
	last sampler.Snapshot
	of   map[int]sampler.Requests // the last of each process
	errs bytes.Buffer
	n    int
}

func watch(args ...string) *watcher {
	w := &watcher{cmd: command("/bin/nvpeak", append([]string{"stream"}, args...)...), of: map[int]sampler.Requests{}}
	w.cmd.Stderr = &w.errs
	out, _ := w.cmd.StdoutPipe() //nolint:errcheck // Start tells
	if err := w.cmd.Start(); err != nil {
		exit(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	first := make(chan struct{})
	go func() {
		for lines.Scan() {
			var s sampler.Snapshot
			if json.Unmarshal(lines.Bytes(), &s) != nil {
				continue
			}
			w.lock.Lock()
			w.seen, w.last = append(w.seen, s.Requests...), s
			lists := [][]sampler.Process{s.Unplaced}
			for i := range s.GPUs {
				lists = append(lists, s.GPUs[i].Processes)
			}
			for _, p := range slices.Concat(lists...) {
				if p.Requests != nil {
					w.of[p.PID] = *p.Requests
				}
			}
			if w.n++; w.n == 1 {
				close(first)
			}
			w.lock.Unlock()
		}
		if w.n == 0 {
			close(first)
		}
	}()
	<-first
	return w
}

// until waits up to 20 s for something to be seen.
func (w *watcher) until(ok func() bool) bool {
	for range 200 {
		w.lock.Lock()
		yes := ok()
		w.lock.Unlock()
		if yes {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (w *watcher) close() {
	w.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	w.cmd.Wait()                       //nolint:errcheck // however it ended
}

func say(list []sampler.Request, pid int) (lines []string) {
	for _, q := range list {
		if q.PID == pid {
			gpu := "?"
			if i, ok := q.GPU.Value(); ok {
				gpu = strconv.Itoa(i)
			}
			lines = append(lines, fmt.Sprintf("%s %d %d %s", q.Function, q.Bytes, q.Answer, gpu))
		}
	}
	return lines
}

// events compares what a program says of itself with what `stream` says of it, to the byte.
func events() bool {
	w := watch("--requests", "on", "--interval", "200ms")
	defer w.close()
	ok := true
	check := func(what string, yes bool, more ...any) {
		word := "ok"
		if !yes {
			word, ok = "WRONG", false
		}
		fmt.Println(append([]any{what + ":", word}, more...)...)
	}
	if w.n == 0 {
		w.cmd.Wait() //nolint:errcheck // standard error tells
		check("stream", false, w.errs.String())
		return false
	}
	p := play()
	var want []string
	for _, line := range p.do("device 0", "alloc a 1000000007", "alloc b 2000000000", "free a", "device 1", "torch c 3000000000", "async d 70000000", "freeasync d",
		"pooled e 64000000", "managed f 9000000000", "piece g 20971520", "piece h 20971520", "unpiece g", "pitch i 3600", "device 0", "alloc j 9000000001", "bfc k 7000000000") {
		if strings.HasPrefix(line, "cu") {
			want = append(want, line)
		}
	}
	w.until(func() bool { return len(say(w.seen, p.cmd.Process.Pid)) >= len(want) })
	got := say(w.seen, p.cmd.Process.Pid)
	check(fmt.Sprintf("%d of %d requests, with size, answer and GPU", len(got), len(want)), slices.Equal(got, want))
	if !slices.Equal(got, want) {
		fmt.Printf("seen:\n  %s\nsaid:\n  %s\n", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	p.end("exit 0")

	p = play()
	p.do("device 1", "alloc a 4000000000", "alloc b 2000000000", "cache b", "torch c 3000000000")
	near := w.until(func() bool {
		r := w.of[p.cmd.Process.Pid]
		return r.Refusal != nil && r.Refusal.Outcome == sampler.RefusalFlush
	})
	r := w.of[p.cmd.Process.Pid]
	check("near miss", near && r.Refusal.Bytes == 3000000000 && r.Live == 7000000000 && r.Peak == 7000000000, fmt.Sprintf("%+v", r.Refusal))
	p.end("exit 0")

	p = play()
	p.do("device 0", "alloc a 6442450944", "alloc b 6442450945")
	p.end("exit 3")
	died := w.until(func() bool { return w.of[p.cmd.Process.Pid].ExitStatus.Known() })
	r = w.of[p.cmd.Process.Pid]
	check("death", died && r.ExitStatus.Or(-1) == 3 && r.Refusal != nil && r.Refusal.Bytes == 6442450945, fmt.Sprintf("%+v; %q", r.Refusal, say(w.seen, p.cmd.Process.Pid)))

	// A libcuda that nobody has had before, as in a new container.
	late := "/tmp/late/libcuda.so.1"
	if err := errors.Join(os.MkdirAll("/tmp/late", 0o755), copyTo(late, cuda)); err != nil {
		exit(err)
	}
	p = play()
	p.do("load "+late, "device 1")
	fresh := w.until(func() bool {
		p.do("alloc a 5000", "free a")
		return slices.Contains(say(w.seen, p.cmd.Process.Pid), "cuMemAlloc_v2 5000 0 1")
	})
	check("a libcuda that is new", fresh, len(say(w.seen, p.cmd.Process.Pid)))
	p.end("exit 0")

	// A command that is told why it died.
	cmd := command("/bin/nvpeak", "run", "--requests", "on")
	cmd.Args = append(cmd.Args, "--", "sh", "-c", "printf 'device 0\\nalloc a 6442450944\\nsleep 300\\nalloc b 6442450944\\nexit 1\\n' | /made/play /usr/lib/libcuda.so.1 >/dev/null")
	cmd.Env = append(cmd.Env, "FAKECUDA_SHARED="+shared, "FAKECUDA_CAPACITY=8589934592", "XDG_STATE_HOME=/tmp/state")
	out, _ := cmd.CombinedOutput() //nolint:errcheck // what it says counts
	named := strings.Contains(string(out), "refused by the driver") && strings.Contains(string(out), "6.00 GiB")
	check("run names the refusal", named)
	if !named {
		fmt.Println(string(out))
	}
	if d := w.last.Door; d != nil {
		fmt.Printf("lost %d, let go of %v\n", d.Lost, d.LetGo)
	}
	return ok
}

// used is the CPU time of a process, of all its threads.
func used(pid int) (sum time.Duration) {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) //nolint:errcheck // the pattern is right
	for _, name := range list {
		b, _ := os.ReadFile(name) //nolint:errcheck // the thread has ended
		word, _, _ := strings.Cut(string(b), " ")
		ns, _ := strconv.ParseInt(word, 10, 64) //nolint:errcheck // it is then 0
		sum += time.Duration(ns)
	}
	return sum
}

// cost is what nvpeak takes and what programs pay, in turns with and without.
func cost() bool {
	const turns, seconds = 2, 5
	fmt.Println("calls a second | CPU of stream without requests, % | with | calls it made | lost")
	for _, calls := range []int{0, 100, 2000, 100000} {
		var shares [2][]float64
		asked, lost := 0, 0
		for range turns {
			for i, requests := range []string{"off", "on"} {
				w := watch("--requests", requests)
				p := play()
				p.do("device 0")
				time.Sleep(2 * time.Second) // until it is at rest
				before, began := used(w.cmd.Process.Pid), time.Now()
				if calls == 0 {
					time.Sleep(seconds * time.Second)
				}
				for n := 0; calls > 0 && n < seconds; n++ {
					for _, line := range p.do(fmt.Sprintf("rate 1000 %d", calls/2)) {
						n := 0
						fmt.Sscanf(line, "rate %d", &n) //nolint:errcheck // it is then 0
						asked += 2 * n
					}
				}
				shares[i] = append(shares[i], 100*float64(used(w.cmd.Process.Pid)-before)/float64(time.Since(began)))
				w.lock.Lock()
				if d := w.last.Door; d != nil {
					lost += d.Lost
				}
				w.lock.Unlock()
				p.end("exit 0")
				w.close()
			}
		}
		fmt.Printf("%d | %.2f | %.2f | %d | %d\n", calls, middle(shares[0]), middle(shares[1]), asked/turns/2/seconds, lost)
	}
	fmt.Println("a pair of calls, us: without | with | let go of")
	var pairs [3][]float64
	time1 := func(p *player, n int) float64 {
		ns := 0
		for _, line := range p.do(fmt.Sprintf("time 1000 %d", n)) {
			fmt.Sscanf(line, "time %d", &ns) //nolint:errcheck // it is then 0
		}
		return float64(ns) / 1000
	}
	for range turns {
		p := play()
		p.do("device 0")
		pairs[0] = append(pairs[0], time1(p, 1500))
		began := time.Now()
		w := watch("--requests", "on")
		opened := time.Since(began)
		p.end("exit 0")
		p = play()
		p.do("device 0")
		time.Sleep(time.Second)
		pairs[1] = append(pairs[1], time1(p, 1500))
		began = time.Now()
		for time.Since(began) < 5*time.Second {
			time1(p, 1500)
		}
		w.lock.Lock()
		letGo := w.last.Door != nil && len(w.last.Door.Busy) > 0
		w.lock.Unlock()
		if letGo { // a machine that is slow does not call so often
			pairs[2] = append(pairs[2], time1(p, 10000))
		}
		p.end("exit 0")
		began = time.Now()
		w.close()
		fmt.Printf("first snapshot after %d ms, ended after %d ms\n", opened.Milliseconds(), time.Since(began).Milliseconds())
	}
	fmt.Printf("%.1f | %.1f | %.1f\n", middle(pairs[0]), middle(pairs[1]), middle(pairs[2]))
	return true
}

func middle(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
