package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"nvpeak/sampler"
)

// dcgmPage is written in the form of dcgm-exporter: two GPUs, the second with an instance, and what is not looked at between.
const dcgmPage = `# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-aa",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="box7",DCGM_FI_DRIVER_VERSION="580.1"} 1980
# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-aa",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="box7",DCGM_FI_DRIVER_VERSION="580.1"} 41
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aa",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="box7"} 72.5
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-aa",Hostname="box7",namespace="",pod="",container=""} 97
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-aa",Hostname="box7"} 0.9
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-aa",Hostname="box7"} 70000
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aa",Hostname="box7"} 11000
DCGM_FI_DEV_FB_RESERVED{gpu="0",UUID="GPU-aa",Hostname="box7"} 559
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-bb",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7",Hostname="box7"} 100
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-bb",GPU_I_PROFILE="1g.10gb",GPU_I_ID="7",Hostname="box7"} 9628
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-aa",Hostname="box7",err_code="31",err_msg="MMU \"fault\""} 31
`

func read(t *testing.T, text string) *sampler.Snapshot {
	t.Helper()
	var p pages
	if err := new(pageReader).read(strings.NewReader(text), known, p.take); err != nil {
		t.Fatal(err)
	}
	if p.best() == nil {
		t.Fatal("no GPU")
	}
	s := p.best().snapshot(noon)
	possible(s)
	s.Host = p.best().host
	return s
}

func TestDCGM(t *testing.T) {
	s := read(t, dcgmPage)
	if len(s.GPUs) != 2 || s.Host != "box7" {
		t.Fatalf("%+v", s)
	}
	g, m := &s.GPUs[0], &s.GPUs[0].Memory
	if g.UUID != "GPU-aa" || g.Name != "NVIDIA H100 80GB HBM3" || g.PCI != "00000000:18:00.0" || m.Used != sampler.Some(11000*sampler.MiB) ||
		m.Total != sampler.Some(81559*sampler.MiB) || m.Reserved != sampler.Some(559*sampler.MiB) || g.Power != sampler.Some(72.5) || g.Temperature != sampler.Some(41) ||
		g.Clocks.SM != sampler.Some(1980) || g.Utilization.GPU != sampler.Some(97) || g.LastXID != sampler.Some(uint64(31)) || m.Window != nil || m.Peak != nil {
		t.Errorf("%+v", g)
	}
	if i := &s.GPUs[1]; i.MIG == nil || i.MIG.Profile != "1g.10gb" || i.MIG.GPUInstance != 7 || i.Memory.Total != sampler.Some(9728*sampler.MiB) || i.Key() == g.Key() {
		t.Errorf("%+v", i)
	}
}

func TestOtherExporters(t *testing.T) {
	s := read(t, `nvidia_smi_gpu_info{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa",name="NVIDIA GeForce RTX 2080",driver_version="471.11",cuda_version="11.4",pci_bus_id="00000000:71:00.0",index="3"} 1
nvidia_smi_memory_used_bytes{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 7.06740224e+08
nvidia_smi_memory_total_bytes{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 8.589934592e+09
nvidia_smi_utilization_gpu_ratio{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 0.42
nvidia_smi_clocks_current_sm_clock_hz{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 1.98e+09
nvidia_smi_compute_app_used_memory_bytes{pid="10291",process_name="/root/tools/memhog",uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 1048576
`)
	if g := &s.GPUs[0]; g.UUID != "GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa" || g.Index != 3 || s.Driver != "471.11" || g.Memory.Free != sampler.Some(sampler.Bytes(8589934592-706740224)) ||
		g.Utilization.GPU != sampler.Some(42) || g.Clocks.SM != sampler.Some(1980) || len(g.Processes) != 1 || g.Processes[0].Name != "memhog" || g.Processes[0].Memory != sampler.Some(sampler.MiB) {
		t.Errorf("%+v", s.GPUs)
	}
	s = read(t, `gpu_memory_total_MiB{hostname="10.0.0.7",index="0",devicename="NVIDIA A100",uuid="GPU-1"} 40960.0
gpu_memory_used_MiB{hostname="10.0.0.7",index="0",devicename="NVIDIA A100",uuid="GPU-1"} 1024.0
gpu_memory_free_MiB{hostname="10.0.0.7",index="0",devicename="NVIDIA A100",uuid="GPU-1"} 39000.0
gpu_memory_used_MiB{hostname="10.0.0.7",index="1:2",devicename="NVIDIA A100 MIG 1g.5gb",uuid="MIG-1"} 1.0
gpu_fan_speed_Percentage{hostname="10.0.0.7",index="0",devicename="NVIDIA A100",uuid="GPU-1"} NaN
process_gpu_memory_MiB{hostname="10.0.0.7",index="0",devicename="NVIDIA A100",uuid="GPU-1",pid="7",username="ann"} 1000.0
process_info_info{command="python train.py",hostname="10.0.0.7",index="0",devicename="NVIDIA A100",uuid="GPU-1",pid="7",username="ann",status="running"} 1.0
`)
	if g := &s.GPUs[0]; s.Host != "10.0.0.7" || g.Memory.Used != sampler.Some(sampler.GiB) || g.Fan.Known() || len(g.Processes) != 1 || g.Processes[0].User != "ann" || g.Processes[0].Command != "python train.py" ||
		s.GPUs[1].Label() != "1:2" {
		t.Errorf("%+v", s.GPUs)
	}
}

// Labels may hold anything: quotes, commas, braces, terminal sequences, nothing at all.
func TestLabels(t *testing.T) {
	s := read(t, "nvpeak_gpu_memory_used_bytes{gpu=\"0\",uuid=\"GPU-1\",mig=\"\"} 5 1700000000000\r\n"+
		"nvpeak_process_memory_bytes{ gpu=\"0\" , uuid=\"GPU-1\",mig=\"\",pid=\"1\",user=\"a\\\"}\\\\,{\",name=\"\x1b[2J\\n\u202ex\",} 7 # {trace_id=\"x\"} 1\n"+
		"nvpeak_info{hostname=\"\x1b]0;x\x07box\",driver_version=\"580\"} 1\n")
	p := s.GPUs[0].Processes[0]
	if p.User != `a"}\,{` || p.Name != "?[2J ?x" || s.Host != "?]0;x?box" || s.GPUs[0].Memory.Used != sampler.Some(sampler.Bytes(5)) || p.Memory != sampler.Some(sampler.Bytes(7)) {
		t.Errorf("%q %+v %+v", s.Host, p, s.GPUs[0])
	}
}

// What is no page is refused with one line, in bounded memory, however it comes.
func TestNoPage(t *testing.T) {
	one := "nvpeak_gpu_memory_used_bytes{gpu=\"0\",uuid=\"GPU-1\"} 5\n"
	for name, row := range map[string]struct {
		page io.Reader
		want error
	}{
		"nothing": {strings.NewReader(""), errNoPage}, "HTML": {strings.NewReader("<!DOCTYPE html><html>\n<body>" + strings.Repeat("<p>x</p>\n", 100)), errNoPage},
		"one line": {strings.NewReader(strings.Repeat("x", 10<<20)), errNoPage}, "JSON": {strings.NewReader(`{"status":"success"}`), errNoPage},
		"a long line":        {strings.NewReader(one + "x{y=\"" + strings.Repeat("z", 1<<20) + "\"} 1\n"), errLineLong},
		"100 MB of it":       {io.LimitReader(&endless{text: []byte("x 1\n" + one)}, 100<<20), errPageLong},
		"100 MB of nothing":  {io.LimitReader(&endless{text: []byte("\n")}, 100<<20), errNoPage},
		"cut in the middle":  {io.MultiReader(strings.NewReader(one), iotest.ErrReader(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF},
		"byte by byte":       {iotest.OneByteReader(strings.NewReader(dcgmPage)), nil},
		"without a last end": {strings.NewReader(strings.TrimSpace(one)), nil},
	} {
		var r pageReader
		if err := r.read(row.page, known, func(*sample) {}); !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
		if cap(r.buffer) > mostLine {
			t.Errorf("%s: %d bytes are held", name, cap(r.buffer))
		}
	}
}

// endless gives a text over and over.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(p []byte) (n int, _ error) {
	for n < len(p) {
		m := copy(p[n:], e.text[e.at:])
		n, e.at = n+m, (e.at+m)%len(e.text)
	}
	return n, nil
}

// Numbers that cannot be are absent; GPUs and processes beyond the bounds are left out; the last of duplicate series counts.
func TestImpossible(t *testing.T) {
	var page bytes.Buffer
	for _, v := range []string{"NaN", "+Inf", "-1", "1e300", "9.3e18"} {
		fmt.Fprintf(&page, "nvpeak_gpu_memory_total_bytes{gpu=\"1\",uuid=\"GPU-1\"} %s\nnvpeak_gpu_power_watts{gpu=\"1\",uuid=\"GPU-1\"} %s\nnvpeak_gpu_temperature_celsius{gpu=\"1\",uuid=\"GPU-1\"} %s\n", v, v, v)
	}
	page.WriteString("nvpeak_gpu_memory_total_bytes{gpu=\"2\",uuid=\"GPU-2\"} 100\nnvpeak_gpu_memory_used_bytes{gpu=\"2\",uuid=\"GPU-2\"} 99\nnvpeak_gpu_memory_used_bytes{gpu=\"2\",uuid=\"GPU-2\"} 50\n" +
		"nvpeak_gpu_memory_used_bytes{gpu=\"-1\"} 5\nnvpeak_gpu_memory_used_bytes{gpu=\"1e9\"} 5\nnvpeak_gpu_memory_used_bytes 5\n")
	s := read(t, page.String())
	if len(s.GPUs) != 2 || s.GPUs[0].Memory.Total.Known() || s.GPUs[0].Power.Known() || s.GPUs[1].Memory.Used != sampler.Some(sampler.Bytes(50)) {
		t.Errorf("%+v", s.GPUs)
	}
	page.Reset()
	for i := range 5000 {
		fmt.Fprintf(&page, "nvpeak_gpu_memory_used_bytes{gpu=\"%d\",uuid=\"GPU-%d\"} 1\nnvpeak_process_memory_bytes{gpu=\"0\",uuid=\"GPU-0\",pid=\"%d\"} 1\n", i, i, i)
	}
	if s := read(t, page.String()); len(s.GPUs) != mostGPUs || len(s.GPUs[0].Processes) != mostProcesses {
		t.Error(len(s.GPUs), len(s.GPUs[0].Processes))
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte(dcgmPage))
	f.Add([]byte("nvpeak_process_memory_bytes{gpu=\"0\",pid=\"1\",user=\"a\\\"\"} 7\n"))
	f.Fuzz(func(t *testing.T, page []byte) {
		var p pages
		if new(pageReader).read(bytes.NewReader(page), known, p.take) != nil || p.best() == nil {
			return
		}
		s := p.best().snapshot(noon)
		possible(s)
		for i := range s.GPUs {
			if g := &s.GPUs[i]; strings.ContainsAny(g.Name+g.UUID+g.PCI, "\x1b\n\x07") {
				t.Errorf("%+v", g)
			}
		}
	})
}

// A GPU that is split into MIG instances is no place to run on, though the pages of exporters do not say whose these are.
func TestSplitGPUIsNotAssignable(t *testing.T) {
	page := ""
	for _, at := range []string{`gpu="0",uuid="GPU-1",mig=""`, `gpu="0",uuid="MIG-1",mig="0"`, `gpu="0",uuid="MIG-2",mig="3"`, `gpu="1",uuid="GPU-2",mig=""`} {
		page += "nvpeak_gpu_memory_used_bytes{" + at + "} 5\nnvpeak_gpu_memory_total_bytes{" + at + "} 80000000000\n"
	}
	got := ""
	for _, g := range read(t, page).Assignable() {
		got += g.Label() + " "
	}
	if got != "0:0 0:3 1 " {
		t.Error(got)
	}
}
