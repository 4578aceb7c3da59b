package proc

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func passwd(uid string) (string, error) {
	if uid == "1001" {
		return "ann", nil
	}
	return "", errors.New("no such user")
}

func fixture(root string) (*Host, *clock) {
	c := &clock{noon}
	return New(Options{Root: root, Dev: "testdata/nowhere", Clock: c, Lookup: passwd}), c
}

func identify(h *Host, pid int) sampler.Process {
	list := []sampler.Process{{PID: pid, Type: "compute"}}
	h.Identify(list)
	return list[0]
}

func TestIdentify(t *testing.T) {
	h, _ := fixture("testdata/proc")
	page := sampler.Bytes(os.Getpagesize())
	boot := time.Unix(1795183200, 0).UTC()
	for _, want := range []sampler.Process{
		{PID: 4242, Visible: true, User: "ann", Name: "python", Command: "python train.py --batch-size 64",
			StartTime: sampler.Some(boot.Add(time.Hour)), HostMemory: sampler.Some(262144 * page),
			Container: sampler.Some("docker:3f2a91c0b1d2"), Framework: sampler.Some("pytorch"),
			Environment: map[string]string{"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "CUDA_VISIBLE_DEVICES": "0,1"}},
		{PID: 77, Visible: true, User: "0", Name: "kworker/0:1-nvidia", Command: "[kworker/0:1-nvidia]",
			StartTime: sampler.Some(boot.Add(time.Second)), Environment: map[string]string{}},
		{PID: 90, Visible: true, User: "1002", Name: "a) R (b", Command: "VLLM::EngineCore",
			StartTime: sampler.Some(boot.Add(5 * time.Second)), HostMemory: sampler.Some(10 * page),
			Container: sampler.Some("k8s:3f2a91c0b1d2"), Framework: sampler.Some("vllm")},
		{PID: 91, Visible: true, User: "ann", Name: "bad\x1b]0;x\a\xff", Command: "bad\x1b]0;pwn\a\xffname --x",
			StartTime: sampler.Some(boot.Add(9 * time.Second)), HostMemory: sampler.Some(1000 * page),
			Container: sampler.Some("slurm:1234")},
		{PID: 92},
		{PID: 31337},
		{PID: 0},
		{PID: -1},
	} {
		want.Type = "compute"
		if got := identify(h, want.PID); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("pid %d:\n got %#v\nwant %#v", want.PID, got, want)
		}
		if env := identify(h, want.PID).Environment; !maps.Equal(env, want.Environment) || (env == nil) != (want.Environment == nil) {
			t.Errorf("pid %d: environment %#v, want %#v", want.PID, env, want.Environment)
		}
	}
}

func TestHostAndMemory(t *testing.T) {
	h, _ := fixture("testdata/proc")
	if h.Name() != "box7" {
		t.Errorf("name %q", h.Name())
	}
	want := sampler.HostMemory{Total: 263856128 * sampler.KiB, Available: 201326592 * sampler.KiB, SwapUsed: 2097152 * sampler.KiB}
	if m, ok := h.Memory().Value(); !ok || m != want {
		t.Errorf("memory %+v %v, want %+v", m, ok, want)
	}
	if h, _ := fixture("testdata/nowhere"); h.Memory().Known() {
		t.Error("memory without a meminfo")
	}
}

// fake is a /proc with one process that a test can change.
type fake struct {
	t    *testing.T
	root string
}

func newFake(t *testing.T) fake {
	f := fake{t, t.TempDir()}
	f.write("stat", "btime 1795183200\n")
	return f
}

func (f fake) write(path, content string) {
	f.t.Helper()
	path = filepath.Join(f.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f fake) process(pid int, name string, cpu, start int, command string) {
	dir := strconv.Itoa(pid)
	f.write(dir+"/stat", fmt.Sprintf("%d (%s) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 %d 1 100 1 1", pid, name, cpu, start))
	f.write(dir+"/cmdline", command)
	f.write(dir+"/status", "Uid:\t1001\t0\t0\t0\n")
}

func TestCPUBetweenTicks(t *testing.T) {
	f := newFake(t)
	h, c := fixture(f.root)
	for _, step := range []struct {
		after time.Duration
		ticks int
		want  sampler.Opt[float64]
	}{
		{0, 1000, sampler.Opt[float64]{}},                      // the first look knows no share
		{time.Second, 1250, sampler.Some(250.0)},               // 2.5 s of CPU in a second
		{10 * time.Millisecond, 1251, sampler.Some(250.0)},     // for a second GPU of the same tick
		{990 * time.Millisecond, 1300, sampler.Some(50.0)},     // the window is the whole second
		{2 * time.Second, 1300, sampler.Some(0.0)},             // idle is known to be zero
		{-time.Hour, 1400, sampler.Opt[float64]{}},             // the clock was set back
		{time.Second, 1410, sampler.Some(10.0)},                // and goes on from there
		{time.Second, 1000, sampler.Opt[float64]{}},            // ticks never run backwards
		{100 * time.Millisecond, 1005, sampler.Opt[float64]{}}, // too short to say
	} {
		c.now = c.now.Add(step.after)
		f.process(7, "python", step.ticks, 100, "python\x00x.py")
		if got := identify(h, 7).CPU; !got.Equal(step.want) {
			t.Errorf("%v later, %d ticks: %v, want %v", step.after, step.ticks, got, step.want)
		}
	}
}

func TestPIDUsedAgain(t *testing.T) {
	f := newFake(t)
	h, c := fixture(f.root)
	f.process(7, "python", 100, 100, "python\x00-m\x00vllm.entrypoints.api_server")
	first := identify(h, 7)
	c.now = c.now.Add(time.Second)
	f.process(7, "python", 100, 900, "python\x00other.py")
	second := identify(h, 7)
	if first.Framework.Or("") != "vllm" || second.Framework.Known() || second.Command != "python other.py" ||
		second.CPU.Known() || first.StartTime.Equal(second.StartTime) {
		t.Errorf("first %+v\nsecond %+v", first, second)
	}
}

func TestExecTitleAndDeath(t *testing.T) {
	f := newFake(t)
	h, c := fixture(f.root)
	look := func(after time.Duration) sampler.Process {
		c.now = c.now.Add(after)
		return identify(h, 7)
	}
	f.process(7, "bash", 0, 100, "bash\x00run.sh")
	if p := look(0); p.Command != "bash run.sh" {
		t.Errorf("at first %q", p.Command)
	}
	f.process(7, "python", 0, 100, "python\x00train.py") // execve: same start, other name
	if p := look(time.Second); p.Command != "python train.py" || p.Name != "python" {
		t.Errorf("after exec %q %q", p.Command, p.Name)
	}
	f.process(7, "python", 0, 100, "ray::Trainer")
	if p := look(time.Second); p.Command != "python train.py" {
		t.Errorf("a title was read again at once: %q", p.Command)
	}
	if p := look(learnEvery); p.Command != "ray::Trainer" {
		t.Errorf("a title was never read again: %q", p.Command)
	}
	f.process(7, "python", 0, 100, "") // a zombie has no command line
	if p := look(learnEvery); p.Command != "ray::Trainer" {
		t.Errorf("the last command is lost: %q", p.Command)
	}
	if err := os.RemoveAll(filepath.Join(f.root, "7")); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the driver lists it as long as it likes
		if p := look(30 * time.Second); p.Visible || !p.Ended || p.Command != "ray::Trainer" || !p.StartTime.Known() || p.CPU.Known() || p.HostMemory.Known() {
			t.Errorf("gone: %+v", p)
		}
	}
	f.process(7, "cat", 0, 30_000, "cat")
	if p := look(time.Second); !p.Visible || p.Ended || p.Command != "cat" {
		t.Errorf("its pid is another's: %+v", p)
	}
}

// A process that is just ending has no memory any more, and so neither a command line nor an environment that could be read: that says nothing of
// what it had. One that has a command line was given no variables.
func TestEnvironmentOfWhoEnds(t *testing.T) {
	for name, row := range map[string]struct {
		command, before, after string
		known                  bool
		device                 string
	}{
		"ends before anybody looked": {"", "", "", false, ""},
		"was given none":             {"train", "", "", true, ""},
		"ends later":                 {"train", "CUDA_VISIBLE_DEVICES=2\x00", "", true, "2"},
		"was given others":           {"train", "CUDA_VISIBLE_DEVICES=2\x00", "CUDA_VISIBLE_DEVICES=1\x00", true, "1"},
	} {
		f := newFake(t)
		h, c := fixture(f.root)
		f.process(7, "train", 0, 100, row.command)
		f.write("7/environ", row.before)
		identify(h, 7)
		f.write("7/environ", row.after)
		c.now = c.now.Add(learnEvery)
		if e := identify(h, 7).Environment; (e != nil) != row.known || e["CUDA_VISIBLE_DEVICES"] != row.device {
			t.Errorf("%s: %#v", name, e)
		}
	}
}

func TestForgetting(t *testing.T) {
	f := newFake(t)
	h, c := fixture(f.root)
	for pid := 1; pid <= 50; pid++ {
		f.process(pid, "python", 0, 100, "python")
		identify(h, pid)
	}
	c.now = c.now.Add(2 * forgetAfter)
	identify(h, 1)
	if len(h.entries) != 1 {
		t.Errorf("%d entries are kept of processes that nobody asks for", len(h.entries))
	}
}

func TestHugeCommand(t *testing.T) {
	f := newFake(t)
	h, _ := fixture(f.root)
	f.process(7, "python", 0, 100, strings.Repeat("x", 1<<20))
	if n := len(identify(h, 7).Command); n != maxCommand {
		t.Errorf("%d bytes of a command, want %d", n, maxCommand)
	}
}

func TestFrameworkByLibraryIsLookedForAgain(t *testing.T) {
	f := newFake(t)
	h, c := fixture(f.root)
	f.process(7, "python", 0, 100, "python\x00train.py")
	f.write("7/maps", "7f00 r--p 0 /usr/bin/python\n")
	if p := identify(h, 7); p.Framework.Known() {
		t.Errorf("framework %v of a bare Python", p.Framework)
	}
	f.write("7/maps", "7f00 r--p 0 /x/torch/lib/libtorch_cuda.so\n7f01 r--p 0 /x/vllm/_C.abi3.so\n")
	c.now = c.now.Add(learnEvery)
	if p := identify(h, 7); p.Framework.Or("") != "vllm" {
		t.Errorf("framework %v, want vllm", p.Framework)
	}
}

// In a container a driver may name pids of the host; the same number is another process here.
func TestPIDOfAnotherNamespace(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, device, fd string
		visible               bool
	}{
		"container, no device open": {"pid:[4026532000]", "nvidiactl", "/tmp/log", false},
		"container, device open":    {"pid:[4026532000]", "nvidiactl", "/dev/nvidia0", true},
		"container without a GPU":   {"pid:[4026532000]", "null", "/tmp/log", true},
		"host":                      {initialPIDNamespace, "nvidiactl", "/tmp/log", true},
		"files not readable":        {"pid:[4026532000]", "nvidiactl", "", true},
	} {
		f := newFake(t)
		f.process(7, "python", 0, 100, "python")
		f.write("dev/"+c.device, "")
		link(t, c.namespace, filepath.Join(f.root, "self/ns/pid"))
		if c.fd != "" {
			link(t, c.fd, filepath.Join(f.root, "7/fd/3"))
		}
		h := New(Options{Root: f.root, Dev: filepath.Join(f.root, "dev"), Clock: &clock{noon}, Lookup: passwd})
		p := identify(h, 7)
		if p.Visible != c.visible || (p.User != "") != c.visible {
			t.Errorf("%s: visible %v, user %q", name, p.Visible, p.User)
		}
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// A directory service that does not answer must not hold a tick.
func TestSlowLookup(t *testing.T) {
	f := newFake(t)
	f.process(7, "python", 0, 100, "python")
	answer := make(chan struct{})
	c := &clock{noon}
	h := New(Options{Root: f.root, Dev: f.root, Clock: c, Lookup: func(string) (string, error) { <-answer; return "ann", nil }})
	if p := identify(h, 7); p.User != "1001" {
		t.Errorf("user %q while the question is out", p.User)
	}
	close(answer)
	for deadline := time.Now().Add(5 * time.Second); h.users.name("1001") != "ann"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the answer never arrived")
		}
	}
	c.now = c.now.Add(learnEvery)
	if p := identify(h, 7); p.User != "ann" {
		t.Errorf("user %q after the answer", p.User)
	}
}
