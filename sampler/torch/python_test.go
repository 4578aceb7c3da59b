package torch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

const stay = "init\ntime.sleep(30)"

// What the allocator says arrives, to the byte, in a row of its own where the driver lists none.
func TestReport(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	p := s.start(stay, nil)
	row := s.allocator()
	want := sampler.Allocator{Allocated: 600 * mib, Reserved: 1000 * mib, Unallocated: 400 * mib, InactiveSplit: 150 * mib,
		LargestFree: sampler.Some(250 * mib), Retries: 3, PeakAllocated: 900 * mib, PeakReserved: 2000 * mib}
	if *row.Allocator != want {
		t.Errorf("got  %+v\nwant %+v", *row.Allocator, want)
	}
	if row.PID != p.Process.Pid || !strings.HasPrefix(row.Name, "python") || row.Type != "compute" || !row.Visible {
		t.Errorf("the row is of %+v", row)
	}
	if row.Peak == nil || row.Peak.Bytes != 2000*mib || row.Peak.Source != sampler.PeakAllocator {
		t.Errorf("peak %+v", row.Peak)
	}
}

// A refused tensor: what is known of it arrives before the program goes on.
func TestRefusedTensor(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	s.exit = 3
	p := s.start("init\ntime.sleep(0.5)\ntry: torch.refuse(3 << 30)\nexcept torch.OutOfMemoryError: sys.exit(3)", nil)
	select {
	case <-s.Refused():
	case <-time.After(15 * time.Second):
		t.Fatal("nobody says that a tensor was refused")
	}
	s.finish(p)
	row := s.allocator() // of a process that is gone
	oom := row.Allocator.LastOOM
	if oom == nil || time.Since(oom.Time) > 10*time.Second {
		t.Fatalf("no failure: %+v", oom)
	}
	got := *oom
	got.Time = time.Time{}
	want := sampler.RefusedTensor{Requested: 3 * gib, GPUFree: sampler.Some(300 * mib), Allocated: sampler.Some(600 * mib), Reserved: sampler.Some(1000 * mib),
		LargestFree: sampler.Some(250 * mib), InactiveSplit: sampler.Some(150 * mib), FreeSegments: sampler.Some(250 * mib)}
	if got != want || row.Allocator.OOMs != 1 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if list := s.reports()[0]; len(list) > 0 {
		t.Errorf("a process that is gone is told twice: %+v", list)
	}
}

// Whatever torch does, the program goes on, and what cannot be is not told.
func TestLies(t *testing.T) {
	t.Parallel()
	for _, lie := range []string{"raises", "exits", "interrupts", "odd", "evil", "flag", "over", "empty", "unready",
		"negative", "text", "nan", "huge", "true", "none", "list"} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, 1)
			out := s.run("init\ntime.sleep(0.4)\ntry: torch.refuse(3 << 30)\nexcept torch.OutOfMemoryError: print('goes on')", []string{"STANDIN=" + lie})
			if out != "goes on\n" {
				t.Errorf("printed %q", out)
			}
			if list := s.reports(); len(list) > 0 {
				t.Errorf("told: %+v", *list[0][0].Allocator)
			}
		})
	}
}

// What torch does not tell is known, and why; of a program without CUDA nothing is missing.
func TestMisses(t *testing.T) {
	t.Parallel()
	for lie, want := range map[string]Lack{
		"":     {},
		"bare": {What: "observer"}, "raises": {What: "stats"}, "exits": {What: "stats"}, "interrupts": {What: "stats"},
		"negative": {What: "odd"}, "text": {What: "odd"}, "nan": {What: "odd"}, "huge": {What: "odd"}, "none": {What: "odd"},
		"slow": {What: "slow"}, "over": {What: "odd"},
	} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, 1)
			s.run("import torch, time\ntime.sleep(0.3)", []string{"STANDIN=" + lie})
			if got := s.Misses(); got != (Lack{}) {
				t.Errorf("without CUDA: %+v", got)
			}
			s.start(stay, []string{"STANDIN=" + lie})
			for end := time.Now().Add(15 * time.Second); s.heard() == 0 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			s.snapshot() // which tells the size of the GPU
			if got := s.Misses(); got.What != want.What || (got.Why == "") != (want.What == "" || want.What == "odd") {
				t.Errorf("%+v, want %s", got, want.What)
			}
		})
	}
}

// A torch that never answers keeps neither a failure nor the end waiting, and that it does not is known.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"at a failure": "init\ntime.sleep(0.3)\ntry: torch.refuse(1 << 30)\nexcept torch.OutOfMemoryError: pass\ntime.sleep(30)",
		"at the end":   "init\ntime.sleep(0.3)",
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, 1)
			s.start(script, []string{"STANDIN=silent"})
			s.await("that it does not answer", func() bool { return s.Misses().What == "late" })
		})
	}
}

// One wrong figure takes no other with it.
func TestOneLie(t *testing.T) {
	t.Parallel()
	for _, lie := range []string{"negative", "text", "nan", "huge", "none"} {
		t.Run(lie, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, 1)
			s.start(stay, []string{"STANDIN=" + lie, "STANDIN_WHICH=num_"})
			if a := s.allocator().Allocator; a.Reserved != 1000*mib || a.Retries != 0 || a.PeakReserved != 2000*mib {
				t.Errorf("%+v", a)
			}
		})
	}
}

// Without private functions, or where they tell nothing, there is no failure to tell of, and no free block; the rest is there.
func TestPrivateFunctionsGone(t *testing.T) {
	t.Parallel()
	for _, lie := range []string{"bare", "shapeless", "endless"} {
		s := newScene(t, 1)
		out := s.start("init\ntime.sleep(0.5)\ntry: torch.refuse(1 << 30)\nexcept torch.OutOfMemoryError: time.sleep(30)", []string{"STANDIN=" + lie})
		if a := s.allocator().Allocator; a.Reserved != 1000*mib || a.LargestFree.Known() {
			t.Errorf("%s: %+v", lie, a)
		}
		if out.out.String() != "" {
			t.Errorf("%s: printed %q", lie, out.out.String())
		}
	}
}

// A torch that takes seconds to answer is asked less often, and keeps neither failures nor the end waiting.
func TestSlow(t *testing.T) {
	t.Parallel()
	for lie, most := range map[string]float64{"slow": 0.7, "long": 0.7} {
		s := newScene(t, 1)
		out := s.run(`init
time.sleep(0.3)
spent = []
for n in range(20):
    began = time.monotonic()
    try: torch.refuse(1 << 30)
    except torch.OutOfMemoryError: spent.append(time.monotonic() - began)
    time.sleep(0.1)
print(sum(spent), end="")`, []string{"STANDIN=" + lie})
		if spent, err := strconv.ParseFloat(out, 64); err != nil || spent > most {
			t.Errorf("%s: 20 failures took %s s longer, %v", lie, out, err)
		}
	}
}

// Not a thread, not a module, not a path is to be seen of the reporter, and CUDA stays as it is.
func TestUnnoticed(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	s.run("pass", []string{"PYTHONDONTWRITEBYTECODE="}) // its translation goes too
	out := s.run(`import sys, threading, os, time
assert 'sitecustomize' not in sys.modules, 'module'
assert not any('nvpeak' in p for p in sys.path), sys.path
assert len(os.listdir('/proc/self/task')) == 1, 'thread'
descriptors = os.listdir('/proc/self/fd')
import torch
time.sleep(0.3)
assert threading.active_count() == 1, threading.enumerate()
assert not torch.cuda.is_initialized()
torch.cuda.init()
time.sleep(0.5)
assert os.listdir('/proc/self/fd') == descriptors, os.listdir('/proc/self/fd')
print('unnoticed')`, nil)
	if out != "unnoticed\n" {
		t.Error(out)
	}
}

// Without site there is no reporter; the program runs.
func TestWithoutSite(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"-S", "-I", "-E", "-SIE"} {
		s := newScene(t, 1)
		path := "import sys\nsys.path.insert(0, " + strconv.Quote(standin(t)) + ")\nimport torch, time\ntorch.cuda.init()\ntime.sleep(0.5)\nprint('runs')"
		if out := s.run(path, nil, flag); out != "runs\n" || len(s.reports()) > 0 {
			t.Errorf("%s: %q, %v", flag, out, s.reports())
		}
	}
}

// A program's own sitecustomize is read, and one that fails is told of as without nvpeak.
func TestChained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "sitecustomize.py")
	for text, want := range map[string]string{
		"import builtins, os\nbuiltins.own = os.path.dirname(__file__)":   dir + " sitecustomize " + own,
		"import builtins, torch\nbuiltins.own = torch.cuda.init() or 'x'": "x sitecustomize " + own, // torch before the program
		"raise ValueError('mine')":                                        "Error in sitecustomize; set PYTHONVERBOSE for traceback:\nValueError: mine\nnone",
		"import nowhere_to_be_found":                                      "Error in sitecustomize; set PYTHONVERBOSE for traceback:\nModuleNotFoundError: No module named 'nowhere_to_be_found'\nnone",
	} {
		if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newScene(t, 1)
		env, err := s.Env([]string{"PYTHONPATH=" + dir + ":" + standin(t), "PYTHONDONTWRITEBYTECODE=1"})
		if err != nil {
			t.Fatal(err)
		}
		s.env = append(env, "PATH="+os.Getenv("PATH"))
		p := s.start(`import builtins, sys, time, torch
m = sys.modules.get('sitecustomize')
print(getattr(builtins, 'own', 'none'), *([m.__name__, m.__file__] if m else []), flush=True)
torch.cuda.init()
time.sleep(2)`, nil)
		s.allocator()
		lines := func(text string) []string { // 3.7 keeps what it has to say of errors to the end
			return slices.Sorted(strings.SplitSeq(strings.TrimSpace(text), "\n"))
		}
		if got := s.finish(p); !slices.Equal(lines(got), lines(want)) {
			t.Errorf("%q: printed %q, want %q", text, got, want)
		}
	}
}
