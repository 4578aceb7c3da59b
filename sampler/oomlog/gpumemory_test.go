package oomlog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

func mib(v ...float64) []sampler.Bytes {
	var out []sampler.Bytes
	for _, f := range v {
		out = append(out, sampler.Bytes(f*float64(sampler.MiB)+0.5))
	}
	return out
}

func gibOf(v ...float64) []sampler.Bytes {
	var out []sampler.Bytes
	for _, f := range v {
		out = append(out, sampler.Bytes(f*float64(sampler.GiB)+0.5))
	}
	return out
}

func TestGPUMemoryOfLogs(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      []sampler.Bytes
	}{
		// https://github.com/ultralytics/ultralytics/issues/18642
		{"ultralytics", "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n" +
			"       1/25      11.2G      2.313      3.611      2.956        114       1920:   1%|          | 1/100 [00:00<01:12,  1.36it/s]\r" +
			"\x1b[K       1/25      14.5G      1.401      2.591       2.08        100       1920:  87%|████████▋ | 87/100 [00:15<00:02,  6.38it/s]\n" +
			"                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95):  11%|█         | 2/19\n" +
			"       2/25      15G      1.373      2.501      2.048        193       1920: 100%|██████████| 100/100 [00:17<00:00,  5.73it/s]\n", gibOf(14.5, 15)},
		{"ultralytics on a CPU", "       1/25         0G      2.313      3.611      2.956        114       1920: 1/100\n", nil},
		{"a second run begins", "  1/9   3G    1.1\n  2/9   4G    1.1\n  1/9   5G    1.1\n", gibOf(5)},
		// https://github.com/open-mmlab/mmdetection/issues/2672
		{"mmdetection", "2020-05-08 18:44:23,494 - mmdet - INFO - Epoch [1][1200/7517]\tlr: 0.00125, eta: 4:44:04, time: 0.593, data_time: 0.031, memory: 6836, loss: 0.4606\n", mib(6836)},
		// https://github.com/open-mmlab/mmengine/pull/155
		{"mmengine", "04/21 21:03:53 - mmengine - INFO - Epoch(train) [1][10/90]  lr: 1.000e-02  eta: 0:00:25  time: 0.010  data_time: 0.000  memory: 9120  loss: 11.4723\n", mib(9120)},
		{"mmengine on a CPU", "Epoch(train) [1][10/90]  time: 0.010  data_time: 0.000  memory: 0  loss: 11.4723\n", nil},
		// https://github.com/facebookresearch/detectron2/issues/195
		{"detectron2", "[11/01 11:23:38 d2.utils.events]: eta: 8:08:27  iter: 639  total_loss: 1.194  time: 0.3326  data_time: 0.0328  lr: 0.006394  max_mem: 3961M\n", mib(3961)},
		{"detr", "Epoch: [0]  [  10/2500]  eta: 1:10:22  lr: 0.000100  loss: 2.71  time: 0.41  data: 0.01  max mem: 12345\n", mib(12345)},
		{"megatron", "[Rank 0] (after 10 iterations) memory (MB) | allocated: 1234.5 | max allocated: 18706.66 | reserved: 20000.0 | max reserved: 23816.0\n", mib(23816)},
		// https://github.com/InternLM/xtuner/issues/319
		{"deepspeed", "[2024-01-16 02:14:43,936] [INFO] [utils.py:792:see_memory_usage] MA 5.63 GB         Max_MA 5.93 GB         CA 6.32 GB         Max_CA 6 GB\n", gibOf(5.93)},
		{"torchtitan", "[titan] 2024-11-02 - root - INFO - step: 10  loss:  7.9  memory: 30.91GiB(38.99%)  tps: 5,432\n", gibOf(30.91)},
		// https://github.com/huggingface/optimum-habana/pull/89
		{"gaudi", "{'loss': 0.6188, 'epoch': 0.09, 'memory_allocated (GB)': 3.82, 'max_memory_allocated (GB)': 6.32, 'total_memory_available (GB)': 29.85}\n", gibOf(6.32)},
		// https://github.com/DeepLabCut/DeepLabCut/pull/3077
		{"deeplabcut", "Epoch 1/100 (lr=0.0001), train loss 0.10713, GPU: 2798.0/11011.5 MiB\nEpoch 2/100 (lr=0.0001), train loss 0.02403, GPU: 3166.0/11011.5 MiB\n", mib(2798, 3166)},
		// https://github.com/rwth-i6/returnn/issues/1626
		{"returnn", "ep 13 train, step 95, ctc 4.293, max_size:time 225760, mem_usage:cuda:0 8.9GB, 0.750 sec/step\nep 13 train, step 95, ctc 4.541, mem_usage:cuda:3 8.8GB, 0.799 sec/step\n", gibOf(8.9)},
		{"print", "epoch 1: 12.3 GB allocated\nepoch 2: 12.5 GB allocated\n", gibOf(12.3, 12.5)},
		{"torch names", "torch.cuda.max_memory_allocated: 22.34 GB\n", gibOf(22.34)},
		{"one rank of two", "[rank1]: loss 1 GPU memory: 10 GB\n[rank0]: loss 1 GPU memory: 20 GB\n[rank1]: loss 1 GPU memory: 11 GB\n", gibOf(10, 11)},
		{"allocated behind a loss", "epoch 1/3 step 119/1000 loss 0.017 allocated: 20480.0 MiB\n", gibOf(20)},
		{"allocated without a loss", "epoch 1/3 step 119/1000 allocated: 20480.0 MiB\n", nil},
		{"behind an equals sign", "epoch 0 step 7 loss 2.1 mem_alloc=8.50GiB\nepoch 1 step 8 loss=2.1 mem=9.00G\n", gibOf(8.5, 9)},
		{"of the host", "epoch 0 step 7 loss 2.1 cpu_mem=8.50GiB\n", nil},
		{"without a unit", "epoch 1/3 step 119/1000 loss 0.017 vram: 20480\n", nil},
		{"allocated between steps", "Epoch 0 Step 1/1500 loss 3.53 lr 1e-4 0.37 it/s mem alloc 19.41G reserved 45.65G max 45.65G\n", gibOf(19.41)},
		{"no unit", "GPU memory: 22\nmemory: 5\n", nil},
		{"nonsense", "max mem: 99999999999999999999\nmax_mem: -3M\nGPU memory: ....... GB\n", nil},
		{"not a run's figure", "Requested memory: 47996\nCPU Virtual Memory:  used = 2.49 GB, percent = 4.5%\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := contextOf(t, c.log).GPUMemory
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// contextOf is the context of a failure behind a log.
func contextOf(t *testing.T, log string) *sampler.LogContext {
	t.Helper()
	events, err := Scan(strings.NewReader(log + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"))
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	return events[0].Context
}

func TestGPUMemoryOfLongRunsIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "step %d loss 1.0 max mem: %d\n", i, 1000+i)
	}
	got := contextOf(t, b.String()).GPUMemory
	if len(got) > maxStretches || len(got) < maxStretches/2 || !slices.IsSorted(got) {
		t.Errorf("%d values: %v", len(got), got)
	}
	if last := got[len(got)-1]; last != 10_999*sampler.MiB {
		t.Errorf("the last is %v", last)
	}
}

func TestClausesAreNoVersions(t *testing.T) {
	for _, text := range []string{"- Allocated by PyTorch: 36.78 GiB\n", "reserved by PyTorch 3.56 GiB\n", "9.21 GiB reserved in total by PyTorch 2.00 GiB\n"} {
		if v := contextOf(t, text).FrameworkVersion; v != "" {
			t.Errorf("%q: version %q", text, v)
		}
	}
	if v := contextOf(t, "PyTorch 2.5.1+cu124\n").FrameworkVersion; v != "2.5.1+cu124" {
		t.Errorf("version %q", v)
	}
}

// The most that tensors held is kept where the figures are of that, and not that of a run before in the same log; the pool that a
// framework makes at start is kept, too.
func TestMostAllocatedAndPool(t *testing.T) {
	for text, want := range map[string]sampler.Bytes{
		"Epoch: [0]  [10/90]  loss: 1.2  max mem: 9000\nEpoch: [0]  [20/90]  loss: 1.2  max mem: 9400\n": 9400 * sampler.MiB,
		"step 1 loss: 1.2  max mem: 9000\nstep 1 loss: 1.2  max mem: 300\nstep 2 max mem: 900\n":         900 * sampler.MiB,
		"epoch 1: loss 2, gpu_mem 9.1G\n": 0,
	} {
		if got := contextOf(t, text).MostAllocated.Or(0); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]sampler.Bytes{
		"Created device /job:localhost/replica:0/task:0/device:GPU:0 with 14879 MB memory:  -> device: 0, name: NVIDIA RTX A4000\n": 14879 * sampler.MiB,
		"I external/xla/pjrt/gpu_helpers.cc:132] XLA backend allocating 12884901888 bytes on device 0 for BFCAllocator.\n":          12 * sampler.GiB,
	} {
		if got := contextOf(t, text).PoolLimit.Or(0); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
