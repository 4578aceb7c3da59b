package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// machine is a snapshot of a machine, as nvpeak stream prints it there.
func machine(at time.Time, gpus, processes, step int) *sampler.Snapshot {
	s := &sampler.Snapshot{Type: "snapshot", Schema: 1, Time: at, Host: "box", Driver: "580.1", CUDA: "13.0", Alerts: []sampler.Alert{}}
	for i := range gpus {
		g := sampler.GPU{Index: i, UUID: fmt.Sprint("GPU-10000000-5eed-4000-8000-", i), PCI: "00000000:01:00.0", Name: "NVIDIA H100 80GB HBM3"}
		g.Throttle = []string{}
		m := &g.Memory
		used := 42*sampler.GiB + sampler.Bytes(step%100)*sampler.MiB
		m.Total, m.Used, m.Reserved, m.Free = sampler.Some(80*sampler.GiB), sampler.Some(used), sampler.Some(sampler.GiB), sampler.Some(79*sampler.GiB-used)
		m.Window = &sampler.Window{Min: used - sampler.GiB, Max: used + sampler.GiB, MaxTime: at, Readings: 50, Falls: sampler.Some(0)}
		m.Peak = &sampler.Peak{Bytes: 60 * sampler.GiB, Time: at, Source: sampler.PeakSampled}
		m.WorstFree = sampler.Some(19 * sampler.GiB)
		g.Utilization.GPU, g.Temperature, g.Power = sampler.Some(97), sampler.Some(62), sampler.Some(412.0)
		for n := range processes {
			g.Processes = append(g.Processes, sampler.Process{PID: 4000 + 10*i + n, StartTime: sampler.Some(at.Truncate(time.Hour)), User: "ann", Name: "python",
				Command: "python train.py --batch-size 64 --config configs/large.yaml", Type: "compute", Visible: true,
				Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, Memory: sampler.Some(10 * sampler.GiB),
				Peak: &sampler.Peak{Bytes: 11 * sampler.GiB, Time: at, Source: sampler.PeakSampled}, Framework: sampler.Some("pytorch"),
				Parents: []sampler.Parent{{PID: 4000, Name: "torchrun"}}})
		}
		s.GPUs = append(s.GPUs, g)
	}
	return s
}

// lineOf is the line of a snapshot; without a test to fail there is none where it has no JSON.
func lineOf(tb testing.TB, s *sampler.Snapshot) []byte {
	line, err := json.Marshal(s)
	if err != nil && tb != nil {
		tb.Fatal(err)
	}
	return append(line, '\n')
}

// BenchmarkSecondOf125 is a second of 125 hosts with 8 GPUs and 32 processes each, from the bytes that ssh gives to what a front end gets.
// What it takes of a core is ns/op divided by 10⁷, in percent.
func BenchmarkSecondOf125(b *testing.B) {
	f := newFleet(Options{})
	var sessions []*session
	for i := range 125 {
		specs, err := Parse(fmt.Sprint("ssh://box", i))
		if err != nil {
			b.Fatal(err)
		}
		if err := f.add(specs); err != nil {
			b.Fatal(err)
		}
		s := f.slots[i]
		sessions = append(sessions, &session{shell: newShell(f, &s.spec, s.hosts[0]), lines: tape.NewDecoder(), alive: func() {}, began: true})
	}
	at := time.Now().Add(-time.Hour)
	lines := make([][]byte, 8)
	for i := range lines {
		lines[i] = lineOf(b, machine(at.Add(time.Duration(i)*time.Second), 8, 4, i))
	}
	b.SetBytes(int64(125 * len(lines[0])))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, s := range sessions {
			if err := s.read(bytes.NewReader(lines[n%len(lines)])); err != nil {
				b.Fatal(err)
			}
		}
		if u, err := f.Next(context.Background()); err != nil || len(u.Snapshots) != 125 {
			b.Fatal(len(u.Snapshots), err)
		}
		n++
	}
}

// BenchmarkPageOf125 is a page of dcgm-exporter's names with 1,000 GPUs.
func BenchmarkPageOf125(b *testing.B) {
	var page bytes.Buffer
	for i := range 1000 {
		for _, name := range []string{"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"} {
			fmt.Fprintf(&page, "%s{gpu=\"%d\",UUID=\"GPU-%d\",pci_bus_id=\"00000000:0%d:00.0\",device=\"nvidia%d\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"box%d\",DCGM_FI_DRIVER_VERSION=\"580.1\"} %d\n", name, i%8, i, i%8, i%8, i/8, 1000+i)
		}
	}
	b.SetBytes(int64(page.Len()))
	b.ReportAllocs()
	var r pageReader
	for b.Loop() {
		n := 0
		if err := r.read(io.Reader(bytes.NewReader(page.Bytes())), known, func(*sample) { n++ }); err != nil || n != 4000 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkAnswerOf125 is the answer of a Prometheus server on 125 exporters of nvpeak with 8 GPUs each: 22,125 series.
func BenchmarkAnswerOf125(b *testing.B) {
	var answer bytes.Buffer
	answer.WriteString(`{"status":"success","data":{"resultType":"vector","result":[`)
	n := 0
	for host := range 125 {
		instance := fmt.Sprintf("10.0.0.%d:9835", host)
		add := func(format string, args ...any) {
			if n++; n > 1 {
				answer.WriteByte(',')
			}
			fmt.Fprintf(&answer, `{"metric":{"instance":"%s","job":"nvpeak",`+format+`},"value":[1795442400.123,"45097156608"]}`, append([]any{instance}, args...)...)
		}
		add(`"__name__":"nvpeak_info","hostname":"box%d","driver_version":"580.1"`, host)
		for gpu := range 8 {
			for name, m := range metrics() {
				if m.of == exporters[0] && !m.shared {
					add(`"__name__":"%s","gpu":"%d","mig":"","uuid":"GPU-10000000-5eed-4000-8000-%d-%d"`, name, gpu, host, gpu)
				}
			}
		}
	}
	answer.WriteString("]}}")
	b.SetBytes(int64(answer.Len()))
	b.ReportAllocs()
	for b.Loop() {
		groups := map[string]*group{}
		s := &server{}
		if err := readAnswer(answer.Bytes(), func(j *tape.JSON) { s.readSeries(j, groups) }); err != nil || len(groups) != 125 {
			b.Fatal(len(groups), err)
		}
		for _, g := range groups {
			if snap := g.best().snapshot(noon); len(snap.GPUs) != 8 {
				b.Fatal(len(snap.GPUs))
			}
		}
	}
	b.ReportMetric(float64(n), "series")
}

// BenchmarkLive follows 125 hosts with 8 GPUs and 32 processes each, which processes of their own play, for ten seconds. %core is the processor time of this
// program alone, of one core: go test -run XXX -bench Live -benchtime 1x
func BenchmarkLive(b *testing.B) {
	b.Setenv("FLEET_SSH", "box")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as the program does
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	const span = 10 * time.Second
	var cost time.Duration
	for b.Loop() {
		var specs []Spec
		for i := range 125 {
			specs = append(specs, Spec{Kind: SSH, Host: fmt.Sprint("box", i), Command: []string{os.Args[0]}})
		}
		f, err := Open(context.Background(), specs, Options{})
		if err != nil {
			b.Fatal(err)
		}
		heard := map[string]bool{}
		follow := func(until func() bool) (n int) {
			for !until() {
				u, err := f.Next(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				for _, s := range u.Snapshots {
					heard[s.Host] = true
					n++
				}
			}
			return n
		}
		follow(func() bool { return len(heard) == len(specs) })
		began, before := time.Now(), processorTime(b)
		n := follow(func() bool { return time.Since(began) > span })
		cost += processorTime(b) - before
		if least := 125 * int(span/time.Second) * 9 / 10; n < least {
			b.Errorf("%d snapshots, %d are due", n, least)
		}
		f.Close(20 * time.Second)
	}
	b.ReportMetric(100*cost.Seconds()/span.Seconds()/float64(b.N), "%core")
}

// processorTime is what this process has taken.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
