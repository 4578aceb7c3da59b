package oomlog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// denseForms are failures as they come by the thousand: a search over batch sizes, a server that refuses
// request after request, ranks that try again. Each call writes one, unlike all others.
var denseForms = []struct {
	name  string
	write func(b *bytes.Buffer, r *rand.Rand, i int)
}{
	{"lines", denseLine},
	{"tracebacks", denseTraceback},
	{"timestamps", func(b *bytes.Buffer, r *rand.Rand, i int) {
		fmt.Fprintf(b, "%s - trainer - ERROR - step %d failed\n%s - trainer - ERROR - %s\n", clock(i), i, clock(i), newTorch(r, i))
		fmt.Fprintf(b, "%s - trainer - WARNING - out of memory, skipping batch %d\n", clock(i), i)
	}},
	{"docker", func(b *bytes.Buffer, r *rand.Rand, i int) {
		fmt.Fprintf(b, `{"log":"torch.OutOfMemoryError: %s\n","stream":"stderr","time":"2026-11-22T07:%02d:%02d.%06dZ"}`+"\n", newTorch(r, i), i/60%60, i%60, i)
	}},
	{"tensorflow", func(b *bytes.Buffer, r *rand.Rand, i int) {
		fmt.Fprintf(b, "%s: W tensorflow/core/framework/op_kernel.cc:1839] OP_REQUIRES failed at conv_ops_impl.h:1192 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[%d,%d,288,512] and type float on /job:localhost/replica:0/task:0/device:GPU:%d by allocator GPU_%d_bfc\n", clock(i), 1+i, 1+r.IntN(512), i%8, i%8)
	}},
	{"jax", func(b *bytes.Buffer, r *rand.Rand, i int) {
		fmt.Fprintf(b, "%s: W external/xla/xla/tsl/framework/bfc_allocator.cc:482] Allocator (GPU_0_bfc) ran out of memory trying to allocate %.2fGiB (rounded to %d)requested by op \n", clock(i), 1+r.Float64()*60, 1<<30+i)
		fmt.Fprintf(b, "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate %d bytes.\n", 1<<30+r.IntN(1<<40))
	}},
	{"vllm", denseServer},
	{"driver", func(b *bytes.Buffer, r *rand.Rand, i int) {
		fmt.Fprintf(b, "(Worker pid=%d) RuntimeError: CUDA error: out of memory\n(Worker pid=%d) CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n", 1000+i, 1000+i)
		fmt.Fprintf(b, "node-%d:%d:%d [%d] include/alloc.h:%d NCCL WARN Cuda failure 2 'out of memory'\n", i%16, 1000+i, 2000+i, i%8, 100+r.IntN(300))
	}},
}

func clock(i int) string {
	return fmt.Sprintf("2026-11-%02d %02d:%02d:%02d,%03d", 1+i/86400%28, i/3600%24, i/60%60, i%60, i*7%1000)
}

func oldTorch(r *rand.Rand, i int) string {
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %.2f GiB (GPU %d; %d.00 GiB total capacity; %.2f GiB already allocated; %.2f MiB free; %.2f GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb",
		0.5+r.Float64()*60, i%8, 24+i%60, r.Float64()*20, r.Float64()*10, r.Float64()*23)
}

func newTorch(r *rand.Rand, i int) string {
	return fmt.Sprintf("CUDA out of memory. Tried to allocate %d.00 MiB. GPU %d has a total capacity of 79.15 GiB of which %.2f MiB is free. Process %d has %.2f GiB memory in use. Including non-PyTorch memory, this process has %.2f GiB memory in use. Of the allocated memory %.2f GiB is allocated by PyTorch, and %.2f MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
		20+i, i%8, r.Float64()*20, 4000+i, r.Float64()*9, 60+r.Float64()*10, 40+r.Float64()*20, r.Float64()*900)
}

func denseLine(b *bytes.Buffer, r *rand.Rand, i int) {
	fmt.Fprintf(b, "[%d] RuntimeError: %s\n", i, oldTorch(r, i))
}

func denseTraceback(b *bytes.Buffer, r *rand.Rand, i int) {
	rank := i % 8
	fmt.Fprintf(b, "[rank%d]: epoch %d step %d/40000 loss %.3f\n[rank%d]: Traceback (most recent call last):\n", rank, i/1000, i, r.Float64(), rank)
	for j, call := range []string{"main", "train_one_epoch", "forward", "attention", "_call_impl"}[:2+i%4] {
		fmt.Fprintf(b, "[rank%d]:   File \"/home/u/run/model_%d.py\", line %d, in %s\n[rank%d]:     x = self.block%d(x, mask=mask)\n", rank, j, 10+(i*7+j)%900, call, rank, i%40)
	}
	fmt.Fprintf(b, "[rank%d]: torch.OutOfMemoryError: %s\n", rank, newTorch(r, i))
}

func denseServer(b *bytes.Buffer, r *rand.Rand, i int) {
	at := fmt.Sprintf("(EngineCore_0 pid=%d) ERROR 04-27 %02d:%02d:%02d [core.py:%d]", 700+i, i/3600%24, i/60%60, i%60, 100+i%400)
	fmt.Fprintf(b, "%s Traceback (most recent call last):\n", at)
	fmt.Fprintf(b, "%s   File \"/usr/lib/python3.12/site-packages/vllm/v1/engine/core.py\", line %d, in run_engine_core\n", at, 100+i%400)
	fmt.Fprintf(b, "%s     engine_core = EngineCoreProc(*args, **kwargs)\n%s torch.OutOfMemoryError: %s\n", at, at, newTorch(r, i))
}

// denseLog is a text of a form, of n failures; mixed for an empty name.
func denseLog(form string, n int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		for j, f := range denseForms {
			if f.name == form || form == "" && r.IntN(len(denseForms)) == j {
				f.write(&b, r, i)
			}
		}
	}
	return b.Bytes()
}

// BenchmarkDense reads logs of nothing but failures, no two alike, as nvpeak explain does.
func BenchmarkDense(b *testing.B) {
	for _, f := range denseForms {
		b.Run(f.name, func(b *testing.B) {
			log := denseLog(f.name, 1000)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				if events, _, err := ScanUpTo(bytes.NewReader(log), 200); err != nil || len(events) == 0 {
					b.Fatal(err, len(events))
				}
			}
		})
	}
}

// What came before a failure is read later as it would have been read at once, whatever was printed since.
func TestContextsReadLater(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var log bytes.Buffer
	for i := range 700 {
		for range r.IntN(3) {
			fmt.Fprintf(&log, "\repoch %d step %d/900 [00:%02d<00:10, loss=%d]", i/50, i, i%60, r.IntN(9))
		}
		fmt.Fprintf(&log, "%sbatch_size=%d\n", []string{"\r", "\n"}[r.IntN(2)], 1+r.IntN(500))
		denseForms[r.IntN(len(denseForms))].write(&log, r, i)
	}
	var atOnce repeats
	p := newParser()
	for line := range bytes.Lines(log.Bytes()) {
		p.write(line)
		p.held.settle()
		atOnce.add(p.events())
	}
	atOnce.add(p.flush())
	later, err := Scan(&log)
	if err != nil || len(later) < 500 {
		t.Fatal(err, len(later))
	}
	want := atOnce.list()
	for i, e := range later {
		if !reflect.DeepEqual(e, want[i]) {
			t.Fatalf("event %d of line %d:\n%+v, at once\n%+v", i, e.Line, e.Context, want[i].Context)
		}
	}
}
