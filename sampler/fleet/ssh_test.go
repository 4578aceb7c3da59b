package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// The test binary plays ssh, as FLEET_SSH says.
func TestMain(m *testing.M) {
	if play := os.Getenv("FLEET_SSH"); play != "" {
		os.Exit(plays[play](os.Args))
	}
	os.Exit(m.Run())
}

func hello() { fmt.Println("Last login: \x1b[2Jyesterday\n" + lineHello + " 1700000000") }

// untilHere waits until whoever has begun this is gone.
func untilHere() {
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is what is waited for
}

func says(code int, text string) func([]string) int {
	return func([]string) int {
		fmt.Fprintln(os.Stderr, text)
		return code
	}
}

// stream prints a line of nvpeak every 50 ms.
func stream(args []string, count int) {
	for i := range count {
		s := machine(time.Now().Add(time.Hour), 1, 1, i)
		s.GPUs[0].Processes[0].User = "a\x1b[2Jn\n"
		if _, err := os.Stdout.Write(lineOf(nil, s)); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// sweeps plays nvidia-smi.
func sweeps([]string) int {
	hello()
	for i := range 100 {
		fmt.Printf("%s\n%s 1700000000.000000000\nindex, uuid, name, memory.total [MiB], memory.used [MiB]\n0, GPU-1, H100, 81559 MiB, %d MiB\n%s\nGPU-1, 7, 500 MiB, a, b\nGPU-1, [N/A], x\n%s\n    7 ann python -m a, b\n%s\n", map[bool]string{true: lineSMI}[i == 0], lineSweep, 1000+i, lineApps, lineWho, lineEnd)
		time.Sleep(50 * time.Millisecond)
	}
	return 0
}

var plays = map[string]func([]string) int{
	"box": func([]string) int { // a usual machine
		hello()
		for i := 0; ; i++ {
			if _, err := os.Stdout.Write(lineOf(nil, machine(time.Now(), 8, 4, i))); err != nil {
				return 0
			}
			time.Sleep(time.Second)
		}
	},
	"peak": func(args []string) int { hello(); stream(args, 1000); return 0 },
	"ends": func(args []string) int { hello(); stream(args, 3); return 0 },
	"lifeline": func(args []string) int { // writes nothing any more, and notes when it is ended
		signal.Ignore(syscall.SIGTERM)
		hello()
		stream(args, 2)
		untilHere()
		os.WriteFile(os.Getenv("FLEET_NOTE"), []byte("ended"), 0o600) //nolint:errcheck // the test looks
		return 0
	},
	"deaf": func([]string) int { // ends neither with its input nor when it is asked to
		signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
		os.WriteFile(os.Getenv("FLEET_NOTE"), []byte(strconv.Itoa(os.Getpid())), 0o600) //nolint:errcheck // the test looks
		hello()
		time.Sleep(time.Minute)
		return 0
	},
	"hangs": func(args []string) int { hello(); stream(args, 3); time.Sleep(time.Minute); return 0 },
	"smi":   sweeps,
	"smifails": func([]string) int {
		hello()
		fmt.Println(lineSMI + "\n" + lineSweep + " 1795464671.5\nUnable to determine the device handle for GPU0: GPU is lost.  Reboot the system to recover this GPU")
		return 15
	},
	"old": func(args []string) int {
		if strings.Contains(args[len(args)-1], " stream ") {
			hello()
			return says(2, "nvpeak: unknown flag: --peak-interval")(args)
		}
		return sweeps(args)
	},
	"newer": func(args []string) int {
		if strings.Contains(args[len(args)-1], " stream ") {
			hello()
			fmt.Println(`{"type":"snapshot","schema":99}`)
			time.Sleep(time.Minute)
		}
		return sweeps(args)
	},
	"alone": func(args []string) int { // newer, and without nvidia-smi
		hello()
		if !strings.Contains(args[len(args)-1], " stream ") {
			return codeNothing
		}
		fmt.Println(`{"type":"snapshot","schema":99}`)
		return 0
	},
	"backlog": func([]string) int { // what a pipe held while its reader was stopped
		hello()
		var lines []byte
		for i := range 60 {
			lines = append(lines, lineOf(nil, machine(time.Now().Add(time.Duration(i-60)*time.Second), 1, 1, i))...)
		}
		os.Stdout.Write(lines) //nolint:errcheck // the test counts
		untilHere()
		return 0
	},
	"slowly": func([]string) int { // its output ends some time before it does
		hello()
		os.Stdout.Close() //nolint:errcheck // nothing more is written
		time.Sleep(200 * time.Millisecond)
		return codeNothing
	},
	"none":     func(args []string) int { hello(); return codeNothing },
	"nodriver": func(args []string) int { hello(); return says(1, "nvpeak: no NVIDIA driver: \x1b[31mx")(args) },
	"nogpu":    func(args []string) int { hello(); return says(2, "nvpeak: no such GPU: \"7\"; there are 0")(args) },
	"junk": func(args []string) int {
		hello()
		fmt.Println("{}\n{\"type\":\"snapshot\"\n" + strings.Repeat("x", 9<<20) + "\n{\"type\":\"snapshot\",\"schema\":1,\"time\":\"2026-11-23T12:00:00Z\",\"gpus\":[{\"index\":-5},{\"index\":0,\"memory\":{\"total_bytes\":1e19}}]}")
		stream(args, 1000)
		return 0
	},
	"flood": func(args []string) int {
		io.Copy(os.Stderr, io.LimitReader(&endless{text: []byte("x\x1b[2J\n")}, 8<<20))
		return 255
	}, //nolint:errcheck // ends with it
	"password": says(255, "ann@box7: Permission denied (publickey,password)."),
	"hostkey":  says(255, "No ED25519 host key is known for box7 and you have requested strict checking.\nHost key verification failed."),
	"changed":  says(255, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed."),
	"unknown":  says(255, "ssh: Could not resolve hostname box7: Name or service not known"),
	"refused":  says(255, "ssh: connect to host box7 port 22: Connection refused"),
	"timeout":  says(255, "ssh: connect to host box7 port 22: Connection timed out"),
	"remote":   says(255, "Cannot execute command-line and remote command."),
	"nothing":  func([]string) int { hello(); return 0 },
	"away":     says(255, "Timeout, server box7 not responding."),
}

// playing follows a host that is played.
func playing(t *testing.T, play string) (*Fleet, func() Update) {
	t.Helper()
	t.Setenv("FLEET_SSH", play)
	f, err := Open(context.Background(), []Spec{{Kind: SSH, Host: "box7", User: "ann", Command: []string{os.Args[0], "-x=y"}}}, Options{Interval: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(10 * time.Second) })
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(stop)
	return f, func() Update {
		t.Helper()
		u, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
}

// until waits for a state, and returns the host with the snapshots so far.
func until(t *testing.T, next func() Update, want State) (*Host, []*sampler.Snapshot) {
	t.Helper()
	var all []*sampler.Snapshot
	for {
		u := next()
		all = append(all, u.Snapshots...)
		for _, h := range u.Hosts {
			if h.State == want {
				return h, all
			}
		}
	}
}

// The lines of an nvpeak come with times of the clock here, cleaned, after whatever its login prints.
func TestShellPeak(t *testing.T) {
	for _, play := range []string{"peak", "junk"} {
		_, next := playing(t, play)
		h, all := until(t, next, OK)
		for len(all) < 5 {
			all = append(all, next().Snapshots...)
		}
		if d := h.Offset.Or(0); h.Via != "nvpeak" || h.Reason != "" || h.Source != "ssh://ann@box7" || play == "peak" && (d < 3590 || d > 3600) {
			t.Errorf("%s: %+v", play, h)
		}
		s := all[len(all)-1]
		if d := time.Since(s.Time); d < 0 || d > 20*time.Second || s.Host != "box7" || s.GPUs[0].Processes[0].User != "a?[2Jn " || s.GPUs[0].Memory.Peak.Time.After(time.Now().Add(time.Minute)) {
			t.Errorf("%s: %v ago, %+v", play, d, s)
		}
	}
}

// Where there is no nvpeak, or none that can be used, nvidia-smi is asked, and it is said what that lacks.
func TestShellSMI(t *testing.T) {
	for play, why := range map[string]string{"smi": "nvpeak is not installed there", "old": "nvpeak there is too old", "newer": "nvpeak there is newer than this one"} {
		_, next := playing(t, play)
		h, all := until(t, next, OK)
		for len(all) < 3 {
			all = append(all, next().Snapshots...)
		}
		s := all[len(all)-1]
		p := s.GPUs[0].Processes
		if h.Via != "nvidia-smi" || !strings.HasPrefix(h.Reason, why) || !strings.HasSuffix(h.Reason, "not seen") || len(p) != 1 || p[0].User != "ann" || p[0].Name != "a, b" || p[0].Command != "python -m a, b" ||
			p[0].Memory != sampler.Some(500*sampler.MiB) || s.GPUs[0].Memory.Peak == nil || time.Since(s.Time).Abs() > 20*time.Second {
			t.Errorf("%s: %+v %+v", play, h, s)
		}
	}
}

// Why there is no connection is said at once, in one line, with what to do.
func TestShellFailures(t *testing.T) {
	for play, says := range map[string]string{
		"password": "wants a password", "hostkey": "not known here: connect once by hand: " + os.Args[0] + " -x=y ann@box7", "changed": "not the one that is known", "unknown": "no host of that name",
		"refused": "connection refused", "timeout": "timeout", "away": "stopped answering", "none": "neither nvpeak nor nvidia-smi", "slowly": "neither nvpeak nor nvidia-smi", "alone": "newer than this one, which cannot read it, and nvidia-smi is not installed there", "nodriver": "no NVIDIA driver: ?[31mx",
		"nogpu": "no such GPU", "ends": "it has ended there (0)", "flood": "x?", "smifails": "nvidia-smi there has failed (15): Unable to determine the device handle for GPU0: GPU is lost.", "remote": "RemoteCommand=none",
		"nothing": "nvpeak there has ended before its first figures (0): " + os.Args[0] + " -x=y ann@box7 nvpeak stream",
	} {
		f, next := playing(t, play)
		h, all := until(t, next, Lost)
		if !strings.Contains(h.Reason, says) || strings.ContainsAny(h.Reason, "\n\x1b") || !h.Retry.Known() || (len(all) > 0) != (play == "ends") {
			t.Errorf("%s: %+v, %d snapshots", play, h, len(all))
		}
		f.Close(10 * time.Second)
	}
	f, err := Open(context.Background(), []Spec{{Kind: SSH, Host: "box7", Command: []string{"/nonexistent/ssh"}}, {Kind: SSH, Host: "box8", Command: []string{"no-such-ssh"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(time.Second)
	for reasons := ""; !strings.Contains(reasons, "no-such-ssh is not installed here") || !strings.Contains(reasons, "no such file"); {
		u, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err, reasons)
		}
		for _, h := range u.Hosts {
			reasons += h.Reason + "\n"
		}
	}
}

// Of lines that come all at once none is missing without a word.
func TestShellBacklog(t *testing.T) {
	_, next := playing(t, "backlog")
	for count := 0; count < 60; {
		for _, s := range next().Snapshots {
			count += 1 + s.Lost
		}
	}
}

// One over which nothing comes any more is late, and given up in the end.
func TestShellHangs(t *testing.T) {
	t.Setenv("FLEET_SSH", "hangs")
	f := newFleet(Options{Interval: 100 * time.Millisecond})
	f.quiet = 4 * time.Second
	if err := f.add([]Spec{{Kind: SSH, Host: "box7", Command: []string{os.Args[0]}}}); err != nil {
		t.Fatal(err)
	}
	if err := f.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer f.Close(10 * time.Second)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	next := func() Update {
		u, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if h, _ := until(t, next, Late); !strings.HasPrefix(h.Reason, "no figures for ") {
		t.Errorf("%+v", h)
	}
	if h, _ := until(t, next, Lost); h.Reason != "it has said nothing more for 4s" {
		t.Errorf("%+v", h)
	}
}

// A connection that has ended is made again.
func TestShellReconnects(t *testing.T) {
	_, next := playing(t, "ends")
	until(t, next, OK)
	until(t, next, Lost)
	until(t, next, OK)
}

// The end closes the pipe that everything there hangs on; an ssh that does not care is killed.
func TestShellEnds(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	t.Setenv("FLEET_NOTE", note)
	f, next := playing(t, "lifeline")
	until(t, next, OK)
	f.Close(10 * time.Second)
	for i := 0; ; i++ {
		if b, err := os.ReadFile(note); err == nil && string(b) == "ended" {
			break
		} else if i == 1000 {
			t.Fatal("it goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
	os.Remove(note) //nolint:errcheck // then it is read too early
	f, _ = playing(t, "deaf")
	pid := 0
	for i := 0; pid == 0; i++ {
		if b, err := os.ReadFile(note); err == nil {
			pid, _ = strconv.Atoi(string(b)) //nolint:errcheck // then it is looked again
		}
		if i == 1000 {
			t.Fatal("it does not begin")
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.Close(10 * time.Second)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("%d lives: %v", pid, err)
	}
}

// What the network brings is read in whatever pieces, and never panics.
func FuzzSession(f *testing.F) {
	f.Add([]byte(lineHello + "\n" + lineSMI + "\n" + lineSweep + " 1.5\nindex, uuid, memory.used [MiB]\n0, GPU-1, 5 MiB\n" + lineApps + "\nGPU-1, 7, 5 MiB, x\n" + lineWho + "\n7 ann x\n" + lineEnd + "\n"))
	f.Add(append([]byte(lineHello+" 5\n"), lineOf(f, machine(noon, 2, 1, 0))...))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newFleet(Options{})
		if err := r.add([]Spec{{Kind: SSH, Host: "box"}}); err != nil {
			t.Fatal(err)
		}
		s := &session{shell: newShell(r, &r.slots[0].spec, r.slots[0].hosts[0]), lines: tape.NewDecoder(), alive: func() {}}
		s.read(strings.NewReader(string(text))) //nolint:errcheck // whatever it is
		u, _ := r.take()
		for _, snap := range u.Snapshots {
			for i := range snap.GPUs {
				if g := &snap.GPUs[i]; strings.ContainsAny(g.Name+g.UUID+g.PCI, "\x1b\n\x07") || g.Index < 0 {
					t.Errorf("%+v", g)
				}
				for _, p := range snap.GPUs[i].Processes {
					if strings.ContainsAny(p.Name+p.User+p.Command, "\x1b\n\x07") || p.PID < 0 {
						t.Errorf("%+v", p)
					}
				}
			}
		}
	})
}

// What prints on and on, and nothing of nvpeak, is told so.
func TestForeignLines(t *testing.T) {
	for name, out := range map[string]io.Reader{
		"lines": strings.NewReader(lineHello + "\n" + strings.Repeat("yes\n", mostForeign+1)),
		"bytes": strings.NewReader(lineHello + "\n" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", mostForeignBytes>>20+1)),
	} {
		r := newRig(t, Options{}, "ssh://a")
		s := &session{shell: newShell(r.Fleet, &r.slots[0].spec, r.slots[0].hosts[0]), lines: tape.NewDecoder(), alive: func() {}}
		if err := s.read(out); !errors.Is(err, errForeign) {
			t.Errorf("%s: %v", name, err)
		}
		if why, again := s.why(0, "", errForeign, errForeign, s); again || why != errForeign.Error() {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A machine none of whose GPUs gives figures is late, and says why.
func TestSessionWithoutFigures(t *testing.T) {
	r := newRig(t, Options{}, "ssh://a")
	s := &session{shell: newShell(r.Fleet, &r.slots[0].spec, r.slots[0].hosts[0]), lines: tape.NewDecoder(), alive: func() {}}
	snap := used(noon, sampler.GiB)
	snap.GPUs[0].Error, snap.GPUs[0].Memory = sampler.Some("the driver was unloaded"), sampler.Memory{}
	s.figures(snap, news{via: "nvpeak"})
	if h := r.update(t).Hosts[0]; h.State != Late || h.Reason != "the driver was unloaded" {
		t.Errorf("%+v", h)
	}
}
