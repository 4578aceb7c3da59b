package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"nvpeak/sampler"
)

// streamed is a line of nvpeak stream of a machine with so many GPUs and processes on each.
func streamed(t testing.TB, gpus, processes int) []byte {
	t.Helper()
	at := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	s := sampler.Snapshot{Type: "snapshot", Schema: 1, Time: at, Host: "box", Driver: "580.1", CUDA: "13.0", Alerts: []sampler.Alert{}}
	for i := range gpus {
		g := sampler.GPU{Index: i, UUID: fmt.Sprint("GPU-", i), PCI: "00000000:01:00.0", Name: "NVIDIA H100 80GB HBM3"}
		g.Throttle = []string{}
		m := &g.Memory
		m.Total, m.Used, m.Reserved, m.Free = sampler.Some(80*sampler.GiB), sampler.Some(42*sampler.GiB), sampler.Some(sampler.GiB), sampler.Some(37*sampler.GiB)
		m.Window = &sampler.Window{Min: 41 * sampler.GiB, Max: 43 * sampler.GiB, MaxTime: at, Readings: 50, Falls: sampler.Some(0)}
		m.Peak = &sampler.Peak{Bytes: 60 * sampler.GiB, Time: at, Source: sampler.PeakSampled}
		m.WorstFree = sampler.Some(19 * sampler.GiB)
		g.Utilization.GPU, g.Temperature, g.Power = sampler.Some(97), sampler.Some(62), sampler.Some(412.0)
		for n := range processes {
			g.Processes = append(g.Processes, sampler.Process{PID: 4000 + 10*i + n, StartTime: sampler.Some(at), User: "ann", Name: "python",
				Command: "python train.py --batch-size 64 --config configs/large.yaml", Type: "compute", Visible: true,
				Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, Memory: sampler.Some(10 * sampler.GiB),
				Peak: &sampler.Peak{Bytes: 11 * sampler.GiB, Time: at, Source: sampler.PeakSampled}, Framework: sampler.Some("pytorch"),
				Parents: []sampler.Parent{{PID: 4000, Name: "torchrun"}}})
		}
		s.GPUs = append(s.GPUs, g)
	}
	line, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func BenchmarkDecodeSnapshot(b *testing.B) {
	line := streamed(b, 8, 4)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	d := NewDecoder()
	for b.Loop() {
		if _, err := d.Snapshot(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeSnapshotByReflection(b *testing.B) {
	line := streamed(b, 8, 4)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		var s sampler.Snapshot
		if err := json.Unmarshal(line, &s); err != nil {
			b.Fatal(err)
		}
	}
}

// A line comes back as it was written.
func TestDecodeSnapshot(t *testing.T) {
	line := streamed(t, 8, 4)
	s, err := NewDecoder().Snapshot(line)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(s); err != nil || !bytes.Equal(line, again) {
		t.Errorf("%v\n%s\n%s", err, line, again)
	}
	for text, want := range map[string]error{
		"": ErrNotRecording, "{": ErrNotRecording, `{"type":"tick"}`: ErrNotRecording, "Welcome to box7": ErrNotRecording,
		`{"type":"snapshot","schema":99}`: ErrNewer, `{"type":"snapshot","schema":1,"gpus":[]}`: ErrNotRecording, string(line[:len(line)-1]): ErrNotRecording,
	} {
		if s, err := NewDecoder().Snapshot([]byte(text)); s != nil || !errors.Is(err, want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// What a line before said changes nothing of what a line says.
func TestDecoderOfManyLines(t *testing.T) {
	first := streamed(t, 2, 3)
	other := bytes.ReplaceAll(bytes.ReplaceAll(first, []byte("train.py"), []byte("valid.py")), []byte(`"0,1,2,3"`), []byte(`"3,2"`))
	d := NewDecoder()
	for i, line := range [][]byte{first, streamed(t, 8, 1), first, other, first, other} {
		s, err := d.Snapshot(line)
		if err != nil {
			t.Fatal(i, err)
		}
		if again, err := json.Marshal(s); err != nil || !bytes.Equal(line, again) {
			t.Errorf("line %d: %v\n%s\n%s", i, err, line, again)
		}
	}
}

// What is read in the usual form is what encoding/json reads, and so is what is written in another.
func TestUsualForms(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"A":"b","C":"\u4f60\n\"d"}`, `{"A":null}`, `{"A":1}`, `null`, `[]`, `["a","b\\"]`, `["a",null]`, `[1]`, ` [ "a" ] `, `{"A":{"b":"c"}}`, `["a"`, `{"A":"b"`,
		`[{"pid":1,"name":"a"}]`, `[{"pid":1,"name":"a","x":[2]},{}]`, `[null]`, `[{"pid":"x"}]`, `[[]]`,
	} {
		for _, kind := range []reflect.Type{reflect.TypeFor[map[string]string](), reflect.TypeFor[[]string](), reflect.TypeFor[[]sampler.Parent]()} {
			want, got := reflect.New(kind), reflect.New(kind)
			wrong := json.Unmarshal([]byte(text), want.Interface())
			s := scanner{b: []byte(text)}
			wholeCodec(kind).decode(&s, got.Elem())
			if wrong != nil {
				want = reflect.New(kind)
			}
			if !reflect.DeepEqual(got.Interface(), want.Interface()) && text != `[{"pid":"x"}]` { // lenient as everywhere: only the pid is absent
				t.Errorf("%s as %v: %v, want %v", text, kind, got.Elem(), want.Elem())
			}
		}
	}
}

// What nvidia-smi prints in one call is one snapshot, whatever stands around it.
func TestDecodeQuery(t *testing.T) {
	text := "index, uuid, name, driver_version, memory.total [MiB], memory.used [MiB], memory.free [MiB], memory.reserved [MiB], power.draw [W]\n" +
		"0, GPU-1, NVIDIA H100, 580.1, 81559 MiB, 1000 MiB, 80000 MiB, 559 MiB, 61.20 W\n" +
		"1, GPU-2, NVIDIA H100, 580.1, [N/A], [N/A], [N/A], [N/A], [N/A]\n"
	s := DecodeQuery(bytes.Split([]byte(text), []byte("\n")))
	if s == nil || len(s.GPUs) != 2 || s.GPUs[0].Memory.Used != sampler.Some(1000*sampler.MiB) || s.GPUs[0].Memory.Free != sampler.Some(80000*sampler.MiB) ||
		s.GPUs[1].UUID != "GPU-2" || s.GPUs[1].Memory.Used.Known() || s.Driver != "580.1" {
		t.Errorf("%+v", s)
	}
	if s := DecodeQuery([][]byte{[]byte("NVIDIA-SMI has failed"), nil, []byte("x, y")}); s != nil {
		t.Errorf("%+v", s)
	}
}
