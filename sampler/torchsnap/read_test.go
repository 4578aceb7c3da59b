package torchsnap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// golden is a committed snapshot, unpacked.
func golden(t testing.TB, cause string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", cause+".pickle.gz"))
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
	return b
}

// written is a snapshot that Python writes now.
func written(t testing.TB, cause string, options ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here to write pickles; the committed ones are tested")
	}
	file := filepath.Join(t.TempDir(), "a.pickle")
	out, err := exec.Command("python3", append([]string{"testdata/make.py", cause, file}, options...)...).CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, b []byte) sampler.TorchSnapshot {
	t.Helper()
	s, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGolden(t *testing.T) {
	s := read(t, golden(t, "leak"))
	if s.Cut != "" || !s.Frames || len(s.Devices) != 1 {
		t.Fatalf("%+v", s)
	}
	d := s.Devices[0]
	if d.Segments != 80 || d.Blocks != 80 || d.Reserved != d.Allocated || d.Allocated != (20*40+40*40+20*12)*sampler.MiB || d.Trace == nil {
		t.Fatalf("%+v", d)
	}
	tr := d.Trace
	if tr.Steps != 20 || tr.OOM == nil || tr.OOM.Requested != 100*sampler.MiB || tr.OOM.Free != sampler.Some(20*sampler.MiB) || tr.OOM.Site.Place() != "model.py:88" || len(tr.OOM.Stack) != 5 {
		t.Errorf("%+v %+v", tr, tr.OOM)
	}
	for _, l := range tr.Lines {
		if leak := l.Place() == "train.py:210"; leak != (l.Grown > 0) || leak && l.Grown < 200*sampler.MiB {
			t.Errorf("%s grew by %s", l.Place(), l.Grown)
		}
	}
	if last := tr.Last[len(tr.Last)-1]; last.Action != "oom" || len(tr.Last) != recentMost {
		t.Errorf("%d events, the last %+v", len(tr.Last), last)
	}
}

// Every protocol of Python gives the same snapshot.
func TestProtocols(t *testing.T) {
	first, second := fmt.Sprintf("%+v", read(t, written(t, "validation", "protocol=4", "device=2")).Devices), fmt.Sprintf("%+v", read(t, written(t, "validation", "protocol=4", "device=2")).Devices)
	if len(first) != len(second) {
		t.Errorf("not the same twice")
	}
	for _, protocol := range []string{"0", "1", "2", "3", "5"} {
		b := written(t, "validation", "protocol="+protocol, "device=2")
		if Sniff(b[:min(len(b), Headroom)]) != Pickle {
			t.Errorf("protocol %s is not told from a log", protocol)
		}
		s := read(t, b)
		if len(s.Devices) == 0 || s.Devices[0].Device != 2 {
			t.Fatalf("protocol %s: %+v", protocol, s.Devices)
		}
		d := s.Devices[0]
		if d.Trace == nil || d.Trace.OOM == nil || d.Trace.OOM.Site.Validation != "train.py:260 validate" || d.Holders[0].Bytes != 60*150*sampler.MiB {
			t.Errorf("protocol %s: %+v", protocol, d.Trace)
		}
	}
}

// Old keys, no frames, a ring that has lost its beginning, no events at all.
func TestForms(t *testing.T) {
	old := read(t, written(t, "leak", "old=1", "protocol=2")).Devices[0]
	if len(old.Holders) != 3 || old.Holders[0].Place() != "train.py:215" || !old.Holders[0].Optimizer {
		t.Errorf("old keys: %+v", old.Holders)
	}
	bare := read(t, written(t, "leak", "frames=0"))
	if bare.Frames || len(bare.Devices[0].Holders) != 1 || bare.Devices[0].Holders[0].File != "" || bare.Devices[0].Trace.Lines[0].Grown == 0 {
		t.Errorf("no frames: %+v", bare.Devices[0])
	}
	whole, ring := read(t, written(t, "leak")).Devices[0], read(t, written(t, "leak", "start=1000")).Devices[0]
	if whole.Trace.Live != ring.Trace.Live || whole.Trace.Live != whole.Allocated {
		t.Errorf("live %s of the whole, %s of the ring, %s allocated", whole.Trace.Live, ring.Trace.Live, whole.Allocated)
	}
	if s := read(t, written(t, "empty")); len(s.Devices) != 0 {
		t.Errorf("empty: %+v", s)
	}
}

// What could call code is refused by name, wherever it stands.
func TestRefused(t *testing.T) {
	for op, name := range refused {
		for _, b := range [][]byte{{0x80, 4, op}, append([]byte("\x80\x04}\x94("), op, 'o', 's', '\n')} {
			if _, err := Read(bytes.NewReader(b)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	calls := "\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x02id\x94\x85\x94R\x94."
	if _, err := Read(strings.NewReader(calls)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "STACK_GLOBAL") {
		t.Error(err)
	}
}

func TestNoSnapshot(t *testing.T) {
	for name, text := range map[string]string{"a number": "\x80\x02K\x01.", "an empty dictionary": "\x80\x04}\x94.", "nothing": "\x80\x04", "a list": "\x80\x04]\x94(K\x01K\x02e."} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrNoSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for head, want := range map[string]Kind{"PK\x03\x04rest": Checkpoint, "epoch 3\n": Other, "(dp0\nnothing": Other, "(dp0\nVsegments\n": Pickle, "\x80\x04\x95": Pickle, "\x80\x99": Other, "\x80\x05": Pickle, "\x80\x06": Other, "\x80": Other, "": Other} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q is %d, want %d", head, got, want)
		}
	}
}

// Hostile pickles end with an error or a result, in little memory.
func TestHostile(t *testing.T) {
	deep := "\x80\x04" + strings.Repeat("]\x94(", 1000)
	for name, text := range map[string]string{
		"nested":             deep,
		"one by one":         "\x80\x04" + strings.Repeat("]", 200_000),
		"a long text":        "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc",
		"a long number":      "\x80\x04\x8b\xff\xff\xff\x7fabc",
		"a far memo":         "\x80\x04]r\xff\xff\xff\xff.",
		"an unknown memo":    "\x80\x04j\x05\x00\x00\x00.",
		"no mark":            "\x80\x04]e.",
		"a mark too far":     "\x80\x04](]aae.",
		"appends to a text":  "\x80\x04\x8c\x01a(K\x01e.",
		"a key alone":        "\x80\x04}(K\x01u.",
		"no values":          "\x80\x04s.",
		"holds itself":       "\x80\x04]\x94h\x00a.",
		"remembered twice":   "\x80\x04]\x94\x94(h\x00h\x01e.",
		"tuples of nothing":  "\x80\x04\x87.",
		"protocol 9":         "\x80\x09.",
		"no opcode":          "\x80\x04\xff.",
		"segments of texts":  "\x80\x04}(\x8c\x08segments]\x8c\x01aas.",
		"devices of nowhere": "\x80\x04](}(\x8c\x06deviceJ\xff\xff\xff\xff\x8c\x0atotal_sizeK\x01ue.",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Read(strings.NewReader(text)) //nolint:errcheck // that it comes back is what counts
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 80<<20 {
			t.Errorf("%s: %d MiB", name, used>>20)
		}
	}
	if _, err := Read(strings.NewReader(deep)); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// bomb is a pickle that never ends: each opcode makes one more object and remembers it.
type bomb struct{ at int }

func (b *bomb) Read(p []byte) (int, error) {
	for i := range p {
		if b.at == 0 {
			p[i] = ']'
		} else {
			p[i] = "}\x94a"[(b.at-1)%3]
		}
		b.at++
	}
	return len(p), nil
}

// The memo has a bound.
func TestMemoBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 192 MiB")
	}
	if _, err := Read(&bomb{}); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// A snapshot that is cut anywhere gives what was there, and says so.
func TestCut(t *testing.T) {
	for _, cause := range []string{"leak", "fragmentation"} {
		b := golden(t, cause)
		read := 0
		for n := 0; n < len(b); n += 1000 {
			s, err := Read(bytes.NewReader(b[:n]))
			switch {
			case err != nil && !errors.Is(err, ErrNoSnapshot):
				t.Fatal(n, err)
			case err == nil && (s.Cut != fmt.Sprintf("it ends in the middle, after %d bytes", n) || !s.Devices[0].Cut):
				t.Fatalf("cut at %d: %q", n, s.Cut)
			case err == nil:
				read++
			}
		}
		if read < len(b)/1000-5 {
			t.Errorf("%s: read at %d of %d cuts", cause, read, len(b)/1000)
		}
	}
	b := golden(t, "leak")
	s, err := Read(bytes.NewReader(b[:len(b)/2]))
	if err != nil || len(s.Devices) == 0 || s.Devices[0].Trace == nil || s.Devices[0].Trace.Events < 300 {
		t.Errorf("half: %v %+v", err, s.Devices)
	}
}

func TestOwnLines(t *testing.T) {
	for _, c := range []struct {
		file, name                         string
		own, validation, optimizer, python bool
	}{
		{"/home/ann/train.py", "train", true, false, false, true},
		{"/home/ann/train.py", "validate_epoch", true, true, false, true},
		{"/home/ann/train.py", "validation_step", true, true, false, true},
		{"/home/ann/train.py", "test", true, true, false, true},
		{"/home/ann/train.py", "latest_step", true, false, false, true},
		{"/home/ann/train.py", "interval", true, false, false, true},
		{"/opt/pytorch/torch/nn/modules/linear.py", "forward", false, false, false, true},
		{"/opt/conda/lib/python3.10/site-packages/torch/optim/adam.py", "step", false, false, true, true},
		{`C:\Python310\lib\threading.py`, "run", false, false, false, true},
		{`C:\work\train.py`, "evaluate", true, true, false, true},
		{"/home/ann/optimizer/train.py", "main", true, false, false, true},
		{"/home/ann/lion.py", "step", true, false, true, true},
		{"<ipython-input-3-abc>", "<module>", true, false, false, true},
		{"??", "operator()", false, false, false, false},
		{"/usr/lib/python3/dist-packages/x/y.py", "evaluate", false, false, false, true},
		{"/v/lib/python3.11/site-packages/transformers/trainer.py", "evaluation_loop", false, true, false, true},
		{"/v/lib/python3.11/site-packages/transformers/trainer.py", "prediction_step", false, true, false, true},
		{"/v/lib/python3.11/site-packages/transformers/trainer.py", "_maybe_log_save_evaluate", false, false, false, true},
		{"/v/lib/python3.11/site-packages/transformers/trainer.py", "training_step", false, false, false, true},
		{"/v/lib/python3.11/site-packages/lightning/pytorch/loops/evaluation_loop.py", "run", false, true, false, true},
		{"/v/lib/python3.11/site-packages/ultralytics/engine/validator.py", "__call__", false, true, false, true},
		{"/v/lib/python3.11/site-packages/pydantic/validate_call.py", "validate", false, false, false, true},
		{"/v/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", "_fn", false, false, false, true},
		{"/home/ann/train.py", "log_validation", true, true, false, true},
		{"/home/ann/train.py", "compute_val_loss", true, true, false, true},
		{"/home/ann/train.py", "predict_val", true, true, false, true},
		{"/home/ann/seg.py", "compute_val_miou", true, true, false, true},
		{"/home/ann/seg.py", "compute_interval_scores", true, false, false, true},
		{"/home/ann/evaluate.py", "run", true, true, false, true},
		{"/home/ann/medieval.py", "run", true, false, false, true},
		{"/home/ann/train.py", "interval_loss", true, false, false, true},
		{"/v/lib/python3.11/site-packages/deepspeed/runtime/zero/stage_1_and_2.py", "initialize_optimizer_states", false, false, true, true},
	} {
		if got, want := kindOfFrame(c.file, c.name), (frameKind{python: c.python, own: c.own, validation: c.validation, optimizer: c.optimizer, module: strings.Contains(c.file, "nn/modules")}); got != want {
			t.Errorf("%s %s: %+v, want %+v", c.file, c.name, got, want)
		}
	}
}

// Tokens are made one by one in functions of such names.
func TestGenerationNames(t *testing.T) {
	for name, want := range map[string]bool{"generate": true, "decode_step": true, "_generate_step": true, "ar_decode": true, "next_token": true,
		"generate_images": false, "decode_image": false, "generation_loss": false, "context_token": false} {
		if kindOfFrame("/w/model.py", name).generates != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

func TestGrown(t *testing.T) {
	line := func(n int, f func(int) int64) (list []int64) {
		for i := range n {
			list = append(list, f(i))
		}
		return list
	}
	for name, c := range map[string]struct {
		levels []int64
		grows  bool
	}{
		"a leak":                 {line(60, func(i int) int64 { return int64(i) }), true},
		"stairs":                 {line(60, func(i int) int64 { return int64(i / 10) }), true},
		"with ups and downs":     {line(60, func(i int) int64 { return int64(i) + 30*int64(i%2) }), true},
		"from the middle on":     {line(60, func(i int) int64 { return max(0, int64(i-30)) }), true},
		"weights":                {line(60, func(i int) int64 { return min(int64(i), 10) }), false},
		"in the end":             {line(60, func(i int) int64 { return max(0, int64(i-50)) }), false},
		"steps":                  {line(60, func(i int) int64 { return int64(i % 10) }), false},
		"two stairs":             {line(60, func(i int) int64 { return int64(i / 25) }), false},
		"too short to say":       {line(6, func(i int) int64 { return int64(i) }), false},
		"nothing":                {nil, false},
		"from more to less":      {line(60, func(i int) int64 { return int64(100 - i) }), false},
		"after weights":          {line(60, func(i int) int64 { return min(int64(i), 5)*100 + int64(i) }), true},
		"one jump in the middle": {line(60, func(i int) int64 { return int64(i / 30) }), false},
	} {
		if got := Grown(c.levels); (got.Gain > 0) != c.grows {
			t.Errorf("%s: grows %v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, cause := range []string{"optimizer", "fragmentation"} {
		b := golden(f, cause)
		f.Add(b[:3000]) // large ones are slow to vary
		f.Add(append([]byte("\x80\x04"), b[len(b)-300:]...))
	}
	f.Add([]byte("(dp0\nVsegments\np1\n(lp2\n(dp3\nVtotal_size\np4\nI12\nsas."))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, d := range s.Devices {
			if d.Trace != nil && d.Trace.Events < len(d.Trace.Last) {
				t.Errorf("%d events of %d", len(d.Trace.Last), d.Trace.Events)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := written(b, "leak", "steps=2000")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		read(b, data)
	}
}
