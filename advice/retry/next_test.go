package retry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// Messages of deaths. too big: a request that is small against a GPU that its job has filled.
const (
	tooBig     = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.55 GiB of which 131.75 MiB is free. Including non-PyTorch memory, this process has 22.63 GiB memory in use. Of the allocated memory 21.89 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated."
	fragmented = "Epoch 5/30 loss 0.31\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.15 GiB. GPU 0 has a total capacity of 44.53 GiB of which 3.84 GiB is free. Including non-PyTorch memory, this process has 40.68 GiB memory in use. Of the allocated memory 36.78 GiB is allocated by PyTorch, and 3.56 GiB is reserved by PyTorch but unallocated."
	crowded    = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 300.00 MiB is free. Process 4711 has 60.00 GiB memory in use. Including non-PyTorch memory, this process has 18.70 GiB memory in use. Of the allocated memory 18.00 GiB is allocated by PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated."
	validating = "Validation: 100%\nTraceback (most recent call last):\n  File \"/w/train.py\", line 9, in validate\n    out = model(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 15.82 GiB. GPU 0 has a total capacity of 47.50 GiB of which 6.17 GiB is free. Including non-PyTorch memory, this process has 41.20 GiB memory in use. Of the allocated memory 36.79 GiB is allocated by PyTorch, and 3.95 GiB is reserved by PyTorch but unallocated."
	unsaid     = "RuntimeError: CUDA error: out of memory"
	ofJAX      = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes."
)

// explained is what explain says of a log.
func explained(t *testing.T, log string, args ...string) explain.Explanation {
	t.Helper()
	events, err := oomlog.Scan(strings.NewReader(log + "\n"))
	if err != nil || len(events) == 0 {
		t.Fatalf("no failure in %q: %v", log, err)
	}
	return explain.Explain(explain.Incident{Events: events, Command: strings.Join(args, " ")})
}

// next is the next try as one text: what is set, then the arguments; or why there is none.
func next(t *testing.T, log string, env []string, gpus *GPUs, args ...string) string {
	t.Helper()
	d := Death{Explanation: explained(t, log, args...), Args: args, Env: env, GPUs: gpus}
	before := slices.Clone(args)
	c, no := Next(d)
	if !slices.Equal(before, args) {
		t.Errorf("the arguments were changed in place: %q", args)
	}
	if no != nil {
		return "no: " + strings.TrimPrefix(no.id, "retry.")
	}
	if c.What(lang.English()) == "" || strings.Contains(c.What(lang.English())+c.Note(lang.English())+c.Cause(lang.English()), "{") {
		t.Errorf("%q: %q, %q", args, c.What(lang.English()), c.Note(lang.English()))
	}
	set := ""
	for _, v := range c.Env {
		if !slices.Contains(env, v) {
			set += v + " "
		}
	}
	return set + strings.Join(c.Args, "|")
}

// What is edited of a command, and what is left alone.
func TestHalvesTheBatch(t *testing.T) {
	for _, row := range [][2]string{
		{"python|train.py|--batch-size|32", "python|train.py|--batch-size|16"},
		{"python|train.py|--batch-size=32|--name|a b $x", "python|train.py|--batch-size=16|--name|a b $x"},
		{"python3|-m|pkg.train|-b|8|x;y", "python3|-m|pkg.train|-b|4|x;y"},
		{"python|train.py|--batch-size|32|--gradient-accumulation-steps|2", "python|train.py|--batch-size|16|--gradient-accumulation-steps|4"},
		{"python|run.py|--per_device_train_batch_size|8", "python|run.py|--per_device_train_batch_size|4|--gradient_accumulation_steps|2"},
		{"torchrun|--nproc-per-node|4|train.py|--batch-size|32", "torchrun|--nproc-per-node|4|train.py|--batch-size|16"},
		{"accelerate|launch|--num_processes|2|train.py|--train_batch_size|6", "accelerate|launch|--num_processes|2|train.py|--train_batch_size|3"},
		{"srun|-n|4|python|train.py|--batch-size|32", "srun|-n|4|python|train.py|--batch-size|16"},
		{"mpirun|-np|2|python|train.py|--bs|4", "mpirun|-np|2|python|train.py|--bs|2"},
		{"uv|run|train.py|--batch-size|32", "uv|run|train.py|--batch-size|16"},
		{"poetry|run|python|train.py|--batch-size|32", "poetry|run|python|train.py|--batch-size|16"},
		{"conda|run|-n|env|python|train.py|--batch-size|32", "conda|run|-n|env|python|train.py|--batch-size|16"},
		{"yolo|detect|train|data=coco.yaml|model=yolov8x.pt|batch=16", "yolo|detect|train|data=coco.yaml|model=yolov8x.pt|batch=8"},
		{"env|A=1|python|train.py|--batch-size|2", "env|A=1|python|train.py|--batch-size|1"},
		{"env|A=1|BATCH_SIZE=32|python|train.py", "env|A=1|BATCH_SIZE=16|python|train.py"},
		{"python|train.py|--img-per-batch|16", "python|train.py|--img-per-batch|8"},
		{"time|python|train.py|--batch-size|2", "time|python|train.py|--batch-size|1"},
		{"docker|run|--rm|img|python|train.py|--batch-size|4", "docker|run|--rm|img|python|train.py|--batch-size|2"},
		{"bash|-c|python train.py --batch-size 32 | tee log", "bash|-c|python train.py --batch-size 16 | tee log"},
		{"bash|-lc|cd x && A=$HOME python 'train.py' --batch-size=32 2>&1", "bash|-lc|cd x && A=$HOME python 'train.py' --batch-size=16 2>&1"},
		{"nohup|sh|-c|python train.py --batch-size 32", "nohup|sh|-c|python train.py --batch-size 16"},
		{"bash|-euo|pipefail|-c|python train.py --batch-size 32", "bash|-euo|pipefail|-c|python train.py --batch-size 16"},
		{"sh|-c|python train.py \"$@\"|x|--batch-size|32", "sh|-c|python train.py \"$@\"|x|--batch-size|16"},
		{"sh|train.sh|--batch-size|32", "sh|train.sh|--batch-size|16"},
		{"./train.sh|--per_device_train_batch_size|8", "./train.sh|--per_device_train_batch_size|4"}, // no option is added to a script
		{"python|train.py|--batch-size|1", "no: batch_one"},
		{"bash|-c|python train.py --batch-size 1", "no: batch_one"},
		{"python|train.py", "no: no_batch"},
		{"python|-b|16|train.py", "no: no_batch"},
		{"python|train.py|--config|big.yaml", "no: in_config"},
		{"python|train.py|--config=big.json", "no: in_config"},
		{"sh|train.sh", "no: in_script"},
		{"bash|-x|train.sh|32", "no: in_script"},
		{"bash|-c|python train.py --batch-size $BS", "no: no_batch"},
		{"bash|-c|for b in 1 2; do python train.py --batch-size 32; done", "no: several"},
		{"bash|-c|python prepare.py --batch-size 64; python train.py --batch-size 32", "no: several"},
		{"bash|-c|python train.py --batch-size 32 'oops", "no: unreadable"},
	} {
		if got := next(t, tooBig, nil, nil, splitWords(row[0])...); got != row[1] {
			t.Errorf("%s\nbecame %s\n  want %s", row[0], got, row[1])
		}
	}
}

// The batch of validation becomes what the explanation says to type.
func TestShrinksValidationAsExplained(t *testing.T) {
	const log = "Validation: 100%%\nTraceback (most recent call last):\n  File \"/w/train.py\", line 9, in validate\n    out = model(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 39.39 GiB of which 312.19 MiB is free. Including non-PyTorch memory, this process has 39.07 GiB memory in use. Of the allocated memory 37.10 GiB is allocated by PyTorch, and %s is reserved by PyTorch but unallocated."
	for _, unallocated := range []string{"410.22 MiB", "10.22 MiB", "900.00 MiB"} {
		args := []string{"python", "train.py", "--eval-batch-size", "64"}
		text := fmt.Sprintf(log, unallocated)
		typed := ""
		for _, a := range explained(t, text, args...).Advice {
			if a.ID == explain.FixShrinkValidationBatch {
				typed = a.Do[0]
			}
		}
		if got := next(t, text, nil, nil, args...); got != strings.ReplaceAll(typed, " ", "|") || typed == "" {
			t.Errorf("%s unallocated: %q, typed %q", unallocated, got, typed)
		}
	}
}

// splitWords splits at bars that have no blank beside them.
func splitWords(text string) []string {
	words := strings.Split(strings.ReplaceAll(text, " | ", "\x00"), "|")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\x00", " | ")
	}
	return words
}

// The option of the allocator is added to what is set, under each name that is read.
func TestSetsTheAllocator(t *testing.T) {
	const on = "expandable_segments:True"
	both := func(value string) string {
		return "PYTORCH_CUDA_ALLOC_CONF=" + value + " PYTORCH_ALLOC_CONF=" + value + " "
	}
	train := []string{"python", "train.py", "--batch-size", "32"}
	for _, row := range []struct {
		env  []string
		args []string
		want string
	}{
		{nil, train, both(on) + "python|train.py|--batch-size|32"},
		{[]string{"PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8"}, train, both("garbage_collection_threshold:0.8,"+on) + "python|train.py|--batch-size|32"},
		{[]string{"PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128"}, train, both("max_split_size_mb:128,"+on) + "python|train.py|--batch-size|32"},
		{[]string{"PYTORCH_ALLOC_CONF=max_split_size_mb:64"}, train, both("max_split_size_mb:64,"+on) + "python|train.py|--batch-size|32"},
		{[]string{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False"}, train, "python|train.py|--batch-size|16"},
		{[]string{"PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync"}, train, "python|train.py|--batch-size|16"},
		{nil, []string{"env", "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64", "python", "t.py"}, "PYTORCH_ALLOC_CONF=max_split_size_mb:64," + on + " env|PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64," + on + "|python|t.py"},
		{nil, []string{"bash", "-c", "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64 python t.py"}, "no: named"},
		{nil, []string{"bash", "-c", "for i in 1 2; do python t.py; done"}, both(on) + "bash|-c|for i in 1 2; do python t.py; done"},
		{nil, []string{"docker", "run", "img", "python", "t.py"}, "docker|run|-e|PYTORCH_ALLOC_CONF=" + on + "|-e|PYTORCH_CUDA_ALLOC_CONF=" + on + "|img|python|t.py"},
		{nil, []string{"sudo", "python", "t.py"}, "no: border"},
		{nil, []string{"env", "-i", "python", "t.py"}, "no: border"},
	} {
		if got := next(t, fragmented, row.env, nil, row.args...); got != row.want {
			t.Errorf("%q %q\nbecame %s\n  want %s", row.env, row.args, got, row.want)
		}
	}
}

// What the evidence does not show changes nothing, and what is in force is not set again.
func TestOtherMeasures(t *testing.T) {
	for _, row := range []struct {
		log  string
		env  []string
		args string
		want string
	}{
		{unsaid, nil, "python train.py --batch-size 32", "no: unknown"},
		{validating, nil, "python train.py --batch-size 8 --val-batch-size 16", "python|train.py|--batch-size|8|--val-batch-size|4"},
		{validating, nil, "python train.py --batch-size 8 --val-batch-size 1", "no: batch_one"},
		{validating, nil, "python train.py --batch-size 8", "no: no_eval"},
		{validating, nil, "python run.py --per_device_eval_batch_size 64", "python|run.py|--per_device_eval_batch_size|16"},
		{validating, nil, "python run.py --per_device_train_batch_size 8", "python|run.py|--per_device_train_batch_size|8|--per_device_eval_batch_size|2"},
		{ofJAX, nil, "python train.py", "XLA_PYTHON_CLIENT_MEM_FRACTION=.95 python|train.py"},
		{ofJAX, []string{"XLA_PYTHON_CLIENT_MEM_FRACTION=.8"}, "python train.py", "no: no_batch"},
		{crowded, nil, "python train.py", "no: no_need"},
		{crowded, nil, "python train.py --batch-size 4", "python|train.py|--batch-size|2"},
	} {
		if got := next(t, row.log, row.env, nil, strings.Fields(row.args)...); got != row.want {
			t.Errorf("%.60s…, %s: %s, want %s", row.log, row.args, got, row.want)
		}
	}
}

// A GPU is left only for a freer one that has the need, and only by commands that do not choose theirs.
func TestMovesToAFreerGPU(t *testing.T) {
	gpu := func(uuid string, free int, fits bool) GPU {
		return GPU{UUID: uuid, Label: uuid, Free: sampler.Some(sampler.Bytes(free) * sampler.GiB), Fits: fits}
	}
	busy := &GPUs{List: []GPU{gpu("GPU-a", 1, false), gpu("GPU-b", 30, true), gpu("GPU-c", 60, true)}, Failed: "GPU-a", Need: 20 * sampler.GiB}
	full := &GPUs{List: []GPU{gpu("GPU-a", 1, false), gpu("GPU-b", 2, false)}, Failed: "GPU-a", Need: 20 * sampler.GiB}
	waits := *full
	waits.Waits = true
	free := &GPUs{List: []GPU{gpu("GPU-a", 60, true), gpu("GPU-b", 61, true)}, Failed: "GPU-a", Need: 20 * sampler.GiB}
	roomier := &GPUs{List: []GPU{gpu("GPU-a", 23, true), gpu("GPU-b", 79, true)}, Failed: "GPU-a", Need: 20 * sampler.GiB}
	for _, row := range []struct {
		log  string
		gpus *GPUs
		args string
		want string
	}{
		{crowded, busy, "python train.py", "CUDA_VISIBLE_DEVICES=GPU-c python|train.py"},
		{tooBig, busy, "python train.py --batch-size 32", "CUDA_VISIBLE_DEVICES=GPU-c python|train.py|--batch-size|32"},
		{crowded, busy, "python train.py --device cuda:0", "CUDA_VISIBLE_DEVICES=GPU-c python|train.py|--device|cuda:0"},
		{crowded, busy, "python train.py --device cuda:1", "no: own_gpu"},
		{crowded, busy, "torchrun --nproc-per-node 2 train.py", "no: many_gpus"},
		{crowded, busy, "srun python train.py", "no: scheduled"},
		{crowded, busy, "docker run img python train.py", "no: gpu_border"},
		{crowded, busy, "env CUDA_VISIBLE_DEVICES=0 python train.py", "no: named"},
		{crowded, full, "python train.py", "no: no_freer"},
		{crowded, full, "python train.py --batch-size 4", "python|train.py|--batch-size|2"},
		{crowded, &waits, "python train.py --batch-size 4", "python|train.py|--batch-size|4"},
		{tooBig, free, "python train.py --batch-size 4", "python|train.py|--batch-size|2"},
		{tooBig, roomier, "python train.py --batch-size 4", "CUDA_VISIBLE_DEVICES=GPU-b python|train.py|--batch-size|4"},
	} {
		if got := next(t, row.log, nil, row.gpus, strings.Fields(row.args)...); got != row.want {
			t.Errorf("%s: %s, want %s", row.args, got, row.want)
		}
	}
}

// Every real failure of the samples is changed in a way that can be said, or refused with a reason.
func TestEverySample(t *testing.T) {
	files, err := filepath.Glob("../../testdata/oom/samples/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		events, _ := oomlog.Scan(strings.NewReader(string(text))) //nolint:errcheck // from memory
		if len(events) == 0 {
			continue
		}
		e := explain.Explain(explain.Incident{Events: events, Command: "python train.py --batch-size 32"})
		if no := Died(e, 1, ""); no != nil {
			if lang.English().Say(no.id) == no.id {
				t.Errorf("%s: no sentence %s", name, no.id)
			}
			continue
		}
		c, no := Next(Death{Explanation: e, Args: []string{"python", "train.py", "--batch-size", "32"}})
		if no != nil && !lang.English().Has(no.id) || no == nil && strings.Contains(c.What(lang.English()), "{") {
			t.Errorf("%s: %v, %s", name, no, c.What(lang.English()))
		}
	}
}

// A leak that was seen only dies later with a smaller batch; one that is guessed is worth a try.
func TestLeaks(t *testing.T) {
	args := []string{"python", "train.py", "--batch-size", "32"}
	for confidence, want := range map[float64]string{0.92: "retry.leak", leakSeen: "retry.leak", 0.62: ""} {
		e := explained(t, tooBig, args...)
		e.Causes = append([]sampler.Cause{{ID: explain.CauseLeak, Confidence: confidence}}, e.Causes...)
		c, no := Next(Death{Explanation: e, Args: args})
		if want == "" && (no != nil || !slices.Contains(c.Args, "16")) || want != "" && (no == nil || no.id != want) {
			t.Errorf("%v: %v, %v", confidence, c.Args, no)
		}
	}
}

// After a change that brought nothing any other measure goes before the same once more: JAX may be kept from the GPU by its
// own limit, however small the batch. Where there is no other, the same is done again.
func TestIdleMeasureGoesLast(t *testing.T) {
	args := []string{"python", "train.py", "--batch-size", "32"}
	for _, row := range []struct{ log, idle, first string }{
		{ofJAX, "", explain.FixHalveBatchAccumulate},
		{ofJAX, explain.FixHalveBatchAccumulate, explain.FixRaiseLimit},
		{ofJAX, explain.FixRaiseLimit, explain.FixHalveBatchAccumulate},
		{tooBig, explain.FixHalveBatchAccumulate, explain.FixHalveBatchAccumulate},
	} {
		c, no := Next(Death{Explanation: explained(t, row.log, args...), Args: args, Idle: row.idle})
		if no != nil || c.Fix != row.first {
			t.Errorf("after %q: %q, want %q (%v)", row.idle, c.Fix, row.first, no)
		}
	}
}

// A cause that is a guess is said to be one.
func TestGuessedCause(t *testing.T) {
	for _, row := range []struct {
		log  string
		want bool
	}{{tooBig, false}, {ofJAX, true}} {
		e := explained(t, row.log)
		c, no := Next(Death{Explanation: e, Args: []string{"python", "t.py", "--batch-size", "8"}})
		if no != nil || strings.HasPrefix(c.Cause(lang.English()), "perhaps ") != row.want || row.want == (e.Causes[0].Confidence >= leakSeen) {
			t.Errorf("%q, sure %.2f, %v", c.Cause(lang.English()), e.Causes[0].Confidence, no)
		}
	}
}
