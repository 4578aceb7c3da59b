package tape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// kept is a snapshot in the precision of a recording: what came in and went out again.
func kept(t *testing.T, s *sampler.Snapshot) string {
	t.Helper()
	var out sampler.Snapshot
	b := snapshotPlan().encode(nil, reflect.ValueOf(s).Elem(), nil)
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return toJSON(t, &out)
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func create(t *testing.T, name string, o Options) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

func open(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"run.jsonl", "run.jsonl.zst"} {
		w, path := create(t, name, Options{Program: "nvpeak test", Interval: time.Second, MemoryInterval: 20 * time.Millisecond})
		tr := newTrace(4, 7)
		var want []string
		for i := range 200 {
			s, err := tr.second(w)
			if err != nil {
				t.Fatal(err)
			}
			if i == 100 {
				w.Event(Event{Time: s.Time, Kind: KindOOM, GPU: sampler.Some(1), Text: "out of memory", OOM: &sampler.OOMEvent{Kind: "x"}})
			}
			want = append(want, kept(t, s))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		if h := r.Header(); h == nil || h.Host != "box7" || len(h.GPUs) != 4 || !h.Redacted || h.MemorySeconds != 0.02 {
			t.Errorf("%s: header %+v", name, h)
		}
		n, readings, ooms := 0, 0, 0
		var end *End
		for {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			readings += len(record.Readings)
			switch {
			case record.Snapshot != nil:
				if got := toJSON(t, record.Snapshot); n < len(want) && got != want[n] {
					t.Fatalf("%s: snapshot %d\n got %s\nwant %s", name, n, got, want[n])
				}
				n++
			case record.Event != nil && record.Event.Kind == KindOOM:
				ooms++
			case record.End != nil:
				end = record.End
			}
		}
		if n != 200 || ooms != 1 || end == nil || end.Snapshots != 200 || end.Readings != readings || readings < 200 {
			t.Errorf("%s: %d snapshots, %d events, %d readings, end %+v", name, n, ooms, readings, end)
		}
		for g, p := range end.Peaks {
			if p.Peak.Bytes != tr.peak[g].Bytes || !p.Peak.Time.Equal(toMilli(tr.peak[g].Time)) {
				t.Errorf("%s: peak %+v, want %+v", name, p, tr.peak[g])
			}
		}
		if notes := r.Notes(english); len(notes) > 0 {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

// Whatever a snapshot holds, it comes out again: every field filled at random, added ones too.
func TestRoundTripOfAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var buf bytes.Buffer
	w := NewWriter(&buf, Options{NoRedact: true, Every: 10 * time.Second})
	var want []string
	s := &sampler.Snapshot{}
	for i := range 300 {
		if next := *s; rng.IntN(3) == 0 {
			fill(rng, reflect.ValueOf(&next).Elem(), 1)
			s = &next
		} else { // little changes
			next.GPUs = append([]sampler.GPU(nil), next.GPUs...)
			for g := range next.GPUs {
				fill(rng, reflect.ValueOf(&next.GPUs[g].Memory).Elem(), 0.2)
				fill(rng, reflect.ValueOf(&next.GPUs[g].Metrics).Elem(), 0.2)
			}
			s = &next
		}
		s.Type, s.Schema, s.Time = "snapshot", 1, start.Add(time.Duration(i)*time.Second)
		if s.GPUs == nil {
			s.GPUs = []sampler.GPU{}
		}
		for g := range s.GPUs { // amounts that hold together, as every source gives them
			m := &s.GPUs[g].Memory
			m.Total, m.Used, m.Reserved = sampler.Some(total), sampler.Some(m.Used.Or(0)%sampler.GiB), unknown
			m.Free = sampler.Some(total - m.Used.Or(0))
		}
		want = append(want, kept(t, s))
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("memory", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for got := range r.Snapshots() {
		if g := toJSON(t, got); g != want[n] {
			t.Fatalf("snapshot %d\n got %s\nwant %s", n, g, want[n])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d snapshots of %d; %q", n, len(want), r.Notes(english))
	}
}

// fill sets the exported fields of a struct, each with probability p.
func fill(rng *rand.Rand, v reflect.Value, p float64) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() || rng.Float64() > p {
			continue
		}
		fillOne(rng, f, p)
	}
}

var texts = []string{"", "python", "a \"quoted\" <b>&", "\x1b]0;x\a", "日本", "\u2028"}

func fillOne(rng *rand.Rand, f reflect.Value, p float64) {
	known := rng.IntN(4) > 0
	n := rng.IntN(1 << 30)
	switch x := f.Addr().Interface().(type) {
	case *sampler.Opt[int]:
		*x = opt(known, n)
	case *sampler.Opt[uint64]:
		*x = opt(known, uint64(n))
	case *sampler.Opt[float64]:
		*x = opt(known, rng.Float64()*1000)
	case *sampler.Opt[string]:
		*x = opt(known, texts[rng.IntN(len(texts))])
	case *sampler.Opt[sampler.Bytes]:
		*x = opt(known, sampler.Bytes(n))
	case *sampler.Opt[time.Time]:
		*x = opt(known, start.Add(time.Duration(n)))
	case *sampler.Opt[sampler.HostMemory]:
		*x = opt(known, sampler.HostMemory{Total: sampler.Bytes(n)})
	case *sampler.Opt[sampler.Sampling]:
		*x = opt(known, sampler.Sampling{PeriodSeconds: 0.02})
	case *time.Time:
		*x = start.Add(time.Duration(n))
	case *sampler.Bytes:
		*x = sampler.Bytes(n) % total
	case *[]sampler.Alert:
		*x = []sampler.Alert{{Time: start, Text: texts[rng.IntN(len(texts))], Evidence: []string{}, Numbers: map[string]float64{"a": 1}, Advice: []sampler.Advice{}}}
	case *sampler.Window:
		*x = sampler.Window{Min: 1, Max: sampler.Bytes(n), MaxTime: start, Readings: n}
	default:
		fillKind(rng, f, p, n)
	}
}

func fillKind(rng *rand.Rand, f reflect.Value, p float64, n int) {
	switch f.Kind() {
	case reflect.String:
		f.SetString(texts[rng.IntN(len(texts))])
	case reflect.Int:
		f.SetInt(int64(n) - 5)
	case reflect.Uint64:
		f.SetUint(uint64(n))
	case reflect.Bool:
		f.SetBool(n%2 == 0)
	case reflect.Float64:
		f.SetFloat(rng.Float64() * 100)
	case reflect.Struct:
		fill(rng, f, p)
	case reflect.Pointer:
		f.SetZero()
		if n%3 > 0 {
			f.Set(reflect.New(f.Type().Elem()))
			fillOne(rng, f.Elem(), 1)
		}
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), n%3, n%3))
		for i := range f.Len() {
			fillOne(rng, f.Index(i), 1)
		}
	case reflect.Map:
		f.SetZero()
		if n%2 == 0 {
			f.Set(reflect.ValueOf(map[string]string{"B": "1", "A": texts[n%len(texts)]}))
		}
	default:
		panic(fmt.Sprintf("a field of kind %v", f.Type()))
	}
}

func opt[T comparable](known bool, v T) sampler.Opt[T] {
	if !known {
		return sampler.Opt[T]{}
	}
	return sampler.Some(v)
}

// The complete lines of a recording are what `once --json` prints, field for field.
func TestWholeIsTheJSONForm(t *testing.T) {
	s, _ := newTrace(2, 1).second(nil)
	s.Time = toMilli(s.Time)
	for i := range s.GPUs {
		g := &s.GPUs[i]
		g.Memory.Window.MaxTime, g.Memory.Peak.Time = toMilli(g.Memory.Window.MaxTime), toMilli(g.Memory.Peak.Time)
		g.Processes[0].Peak.Time = toMilli(g.Processes[0].Peak.Time)
		g.Power, g.Processes[0].CPU = sampler.Some(412.0), sampler.Some(math.Round(99.5))
		g.PCIe.RX, g.PCIe.TX = sampler.Some(uint64(500_000)), sampler.Some(uint64(0))
	}
	s.Sampling = sampler.Some(sampler.Sampling{PeriodSeconds: 0.02, AskedSeconds: 0.02, DutyPercent: 0.25})
	got := string(snapshotPlan().encode(nil, reflect.ValueOf(s).Elem(), nil))
	if want := toJSON(t, s); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	for _, keepThem := range []bool{false, true} {
		w, path := create(t, "run.jsonl", Options{NoRedact: keepThem})
		s, _ := newTrace(1, 1).second(nil)
		s.GPUs[0].Processes[0].Command = "python train.py --hf-token=hf_abcdefghijklmnop --epochs 3"
		s.GPUs[0].Processes[0].Environment = map[string]string{"XLA_FLAGS": "--password=hunter2hunter2"}
		s.Unplaced = []sampler.Process{{PID: 1, Command: "python train.py --hf-token=hf_zzzzzzzzzzzzzzz"}}
		s.Alerts = []sampler.Alert{{Advice: []sampler.Advice{{Do: []string{"python train.py --token zyxwvuts"}}}}}
		if err := w.Snapshot(s); err != nil {
			t.Fatal(err)
		}
		w.Event(Event{Time: s.Time, Kind: KindOOM, Text: "token=abcdefgh", OOM: &sampler.OOMEvent{Text: "password: letmein99",
			Context: &sampler.LogContext{Command: "x --api-key qwertyuiop"}}})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hf_abcdef", "hf_zzz", "hunter2", "abcdefgh", "letmein99", "qwertyuiop", "zyxwvuts"} {
			if strings.Contains(string(b), secret) != keepThem {
				t.Errorf("keep %v: %s in the file: %v", keepThem, secret, !keepThem)
			}
		}
		if !strings.Contains(string(b), "--epochs 3") {
			t.Error("too much was taken out")
		}
	}
}

// Who held the memory comes back from a recording, and what somebody wrote into one harms no terminal.
func TestHeldRoundTrip(t *testing.T) {
	site := sampler.TorchSite{File: "/a\x1b[2J/train.py", Line: -3, Function: "f\x07"}
	held := &sampler.TorchDevice{Reserved: 5, Holders: []sampler.TorchHolder{{TorchSite: site, Bytes: 4, Blocks: -1}},
		Trace: &sampler.TorchTrace{Steps: -1, OOM: &sampler.TorchOOM{Site: site, Stack: []sampler.TorchSite{site}}, Lines: []sampler.TorchLine{{TorchSite: site, Live: 4, Steps: -7}}}}
	var b bytes.Buffer
	w := NewWriter(&b, Options{})
	if err := w.Snapshot(&sampler.Snapshot{Time: start}); err != nil {
		t.Fatal(err)
	}
	w.Event(Event{Time: start, Kind: KindOOM, OOM: &sampler.OOMEvent{Kind: "x", Held: held, Refused: &sampler.RefusedTensor{Requested: 7}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("x", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for {
		record, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if record.Event == nil {
			continue
		}
		e := record.Event.OOM
		if e.Held == nil || e.Refused == nil || e.Refused.Requested != 7 || e.Held.Reserved != 5 || e.Held.Trace.Steps != 0 || e.Held.Trace.Lines[0].Steps != 0 {
			t.Fatalf("%+v", e)
		}
		for _, s := range []sampler.TorchSite{e.Held.Holders[0].TorchSite, e.Held.Trace.OOM.Site, e.Held.Trace.OOM.Stack[0], e.Held.Trace.Lines[0].TorchSite} {
			if strings.ContainsAny(s.File+s.Function, "\x1b\x07") || s.Line != 0 || !strings.HasSuffix(s.File, "/train.py") {
				t.Errorf("%+v", s)
			}
		}
		return
	}
}
