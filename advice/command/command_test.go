package command

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSmallerBatch(t *testing.T) {
	tests := []struct{ name, command, want string }{
		{"argparse dashes", "python train.py --batch-size 64", "python train.py --batch-size 32"},
		{"argparse joined", "python train.py --batch_size=64 --lr 1e-3", "python train.py --batch_size=32 --lr 1e-3"},
		{"short", "python train.py -b 16 data/", "python train.py -b 8 data/"},
		{"accumulation present", "python t.py --batch_size 8 --accum_iter 4", "python t.py --batch_size 4 --accum_iter 8"},
		{"accumulation counted", "python t.py -batch_size 3000 -accum_count 2", "python t.py -batch_size 1500 -accum_count 4"},
		{"accumulation of open_clip", "python t.py --batch-size=8 --accum-freq=2", "python t.py --batch-size=4 --accum-freq=4"},
		{"trainer", "torchrun --nproc_per_node 4 run_clm.py --per_device_train_batch_size 8 --bf16", "torchrun --nproc_per_node 4 run_clm.py --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --bf16"},
		{"yacs", "python train.py --cfg x.yaml TRAIN.BATCH_SIZE_PER_GPU 32", "python train.py --cfg x.yaml TRAIN.BATCH_SIZE_PER_GPU 16"},
		{"a short name of accumulation", "deepspeed train.py --train_micro_batch_size_per_gpu 8 --gas 4", "deepspeed train.py --train_micro_batch_size_per_gpu 4 --gas 8"},
		{"trainer with both", "accelerate launch run.py --gradient_accumulation_steps 2 --per_device_train_batch_size 8", "accelerate launch run.py --gradient_accumulation_steps 4 --per_device_train_batch_size 4"},
		{"ultralytics", "yolo detect train data=coco.yaml model=yolov8x.pt batch=16 imgsz=1280", "yolo detect train data=coco.yaml model=yolov8x.pt batch=8 imgsz=1280"},
		{"yolov5", "python train.py --img 640 --batch 16 --data coco.yaml --weights yolov5s.pt", "python train.py --img 640 --batch 8 --data coco.yaml --weights yolov5s.pt"},
		{"lightning cli", "python main.py fit --data.batch_size=32 --trainer.devices 4", "python main.py fit --data.batch_size=16 --trainer.accumulate_grad_batches=2 --trainer.devices 4"},
		{"fairseq tokens", "fairseq-train data-bin --arch transformer --max-tokens 4096 --update-freq 4", "fairseq-train data-bin --arch transformer --max-tokens 2048 --update-freq 8"},
		{"fairseq alone", "fairseq-train data-bin --arch transformer --max-tokens 4096", "fairseq-train data-bin --arch transformer --max-tokens 2048 --update-freq 2"},
		{"hydra with trainer", "python train.py model.batch_size=32 trainer.max_epochs=5", "python train.py model.batch_size=16 trainer.max_epochs=5"},
		{"hydra plain", "python train.py data.batch_size=32 model=resnet", "python train.py data.batch_size=16 model=resnet"},
		{"hydra validation apart", "python train.py data.train.batch_size=32 data.val.batch_size=64 trainer.devices=1", "python train.py data.train.batch_size=16 data.val.batch_size=64 trainer.devices=1"},
		{"megatron", "torchrun pretrain_gpt.py --micro-batch-size 4 --global-batch-size 64", "torchrun pretrain_gpt.py --micro-batch-size 2 --global-batch-size 64"},
		{"the micro batch of another name", "torchrun t.py --micro_train_batch_size 4 --train_batch_size 128", "torchrun t.py --micro_train_batch_size 2 --train_batch_size 128"},
		{"the micro batch in a path", "python -m ppo a.actor.ppo_micro_batch_size_per_gpu=8 a.rollout.log_prob_micro_batch_size_per_gpu=16 data.train_batch_size=256", "python -m ppo a.actor.ppo_micro_batch_size_per_gpu=4 a.rollout.log_prob_micro_batch_size_per_gpu=16 data.train_batch_size=256"},
		{"the batch of a GPU by its path", "python t.py train.per_gpu_batch=32 data.batch_size=64", "python t.py train.per_gpu_batch=16 data.batch_size=64"},
		{"the part of a batch that is on the GPU", "python ppo.py --batch_size 64 --mini_batch_size 8 --gradient_accumulation_steps 2", "python ppo.py --batch_size 64 --mini_batch_size 4 --gradient_accumulation_steps 4"},
		{"the local batch of a global one", "torchrun t.py --training.local_batch_size 8 --training.global_batch_size 64", "torchrun t.py --training.local_batch_size 4 --training.global_batch_size 64"},
		{"in short, with the global one", "torchrun t.py --mbs 8 --gbs 64", "torchrun t.py --mbs 4 --gbs 64"},
		{"in short, with accumulation", "python t.py --bsz 32 --eval_bsz 64 --grad_accum 1", "python t.py --bsz 16 --eval_bsz 64 --grad_accum 2"},
		{"another short name", "python t.py --batch_sz 40", "python t.py --batch_sz 20"},
		{"numbers of batches", "python t.py --num-batches 64 --batches-per-epoch 30", ""},
		{"glued", "python t.py -b64 --lr 1", "python t.py -b32 --lr 1"},
		{"words of a comment", `python t.py --comment "batch_size=32" --seed 3`, ""},
		{"words of a comment and a batch", `python t.py --comment batch_size=32 --bs 8`, `python t.py --comment batch_size=32 --bs 4`},
		{"an override after an option", "python t.py --cfg-options batch_size=32", "python t.py --cfg-options batch_size=16"},
		{"several batches", "python t.py --batch-size 32 64", ""},
		{"deepspeed flag", "deepspeed train.py --train_micro_batch_size_per_gpu 8 --gradient_accumulation_steps 1 --deepspeed ds.json", "deepspeed train.py --train_micro_batch_size_per_gpu 4 --gradient_accumulation_steps 2 --deepspeed ds.json"},
		{"detectron", "python train_net.py --num-gpus 2 SOLVER.IMS_PER_BATCH 16 SOLVER.BASE_LR 0.02", "python train_net.py --num-gpus 2 SOLVER.IMS_PER_BATCH 8 SOLVER.BASE_LR 0.02"},
		{"the right part", "cd 'my dir' && CUDA_VISIBLE_DEVICES=1 python train.py --batch-size 64 2>&1 | tee log.txt", "cd 'my dir' && CUDA_VISIBLE_DEVICES=1 python train.py --batch-size 32 2>&1 | tee log.txt"},
		{"continued lines", "python train.py \\\n  --batch_size 12 \\\n  --lr 0.1", "python train.py \\\n  --batch_size 6 \\\n  --lr 0.1"},
		{"odd batch", "python train.py --batch-size 5", "python train.py --batch-size 2"},
		{"quoted", `python train.py --name "a b" --batch-size "64"`, `python train.py --name "a b" --batch-size 32`},
		{"last one counts", "python t.py --batch-size 64 --batch-size 32", "python t.py --batch-size 64 --batch-size 16"},
		{"a variable", "python train.py --batch-size $BS", ""},
		{"one already", "python train.py --batch-size 1", ""},
		{"none", "python train.py", ""},
		{"answer length", "python generate.py --max-tokens 512", ""},
		{"open quote", "python train.py --batch-size 64 'oops", ""},
		{"as many GPUs as samples", "python train.py --img 1280 --batch 4 --data d.yaml --weights w.pt --device 0,1,2,3", ""},
		{"a multiple of the GPUs", "python train.py --img 1280 --batch 9 --data d.yaml --weights w.pt --device 0,1,2", "python train.py --img 1280 --batch 3 --data d.yaml --weights w.pt --device 0,1,2"},
		{"one GPU of several", "python train.py --img 1280 --batch 4 --data d.yaml --weights w.pt --device 3", "python train.py --img 1280 --batch 2 --data d.yaml --weights w.pt --device 3"},
		{"devices of another program", "python run.py --batch-size 4 --device 0,1,2,3", "python run.py --batch-size 2 --device 0,1,2,3"},
		{"batch name is a word", "python batch 64", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, ok := Parse(test.command).SmallerBatch(2)
			if s.Text != test.want || ok != (test.want != "") {
				t.Errorf("%q\nbecame %q (%v)\n  want %q", test.command, s.Text, ok, test.want)
			}
		})
	}
}

// Where the command sets the batch of all beside that of one GPU, accumulation follows by itself.
func TestWholeBatch(t *testing.T) {
	for command, note := range map[string]string{
		"torchrun t.py --mbs 8 --gbs 64":                                              "edit.global_batch",
		"torchrun t.py --training.local_batch_size 8 --training.global_batch_size 64": "edit.global_batch",
		"python -m base_train --device_batch_size=32 --total_batch_size=524288":       "edit.global_batch",
		"python t.py --mbs 8": "",
		"python ppo.py --mini_batch_size 8 --total_batch_size 64 --gradient_accumulation_steps 2": "",
	} {
		if s, ok := Parse(command).SmallerBatch(2); !ok || s.Note != note && note != "" || note == "" && (s.Note != "" || s.Steps < 2) {
			t.Errorf("%s: %q, %d steps, want %q", command, s.Note, s.Steps, note)
		}
	}
}

func TestGuessedOptionsAreSaid(t *testing.T) {
	for command, guessed := range map[string]bool{
		"python train.py --batch-size 64":                                                 true,
		"python run.py --per_device_train_batch_size 8":                                   false,
		"python t.py --batch_size 8 --grad_accum 4":                                       false,
		"yolo train batch=16":                                                             false,
		"python train.py model.batch_size=32 trainer.max_epochs=5":                        true,
		"fairseq-train data-bin --arch transformer --max-tokens 4096 --fp16 --max-update": false,
	} {
		s, ok := Parse(command).SmallerBatch(2)
		if !ok || (len(s.Unsure) > 0) != guessed {
			t.Errorf("%s: guessed options %v, want %v (%v)", command, s.Unsure, guessed, ok)
		}
		if strings.Contains(command, "yolo") && strings.Contains(s.Text, "accumulate") {
			t.Errorf("accumulate is no argument of Ultralytics: %s", s.Text)
		}
	}
}

func TestWithVariable(t *testing.T) {
	const name, value = "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"
	tests := []struct{ command, want string }{
		{"python train.py", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py"},
		{"A=1 python train.py", "A=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py"},
		{"PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 python t.py", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python t.py"},
		{"env B=2 python t.py", "env B=2 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python t.py"},
		{"cd x && torchrun t.py | tee l", "cd x && PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True torchrun t.py | tee l"},
		{"docker run img python t.py", "docker run -e PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True img python t.py"},
		{"docker exec box python t.py", ""},
		{"sudo python t.py", ""},
	}
	for _, test := range tests {
		got, _ := Parse(test.command).WithVariable(name, value)
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.command, got, test.want)
		}
	}
}

func TestCommandEnvironment(t *testing.T) {
	got := Parse(`export A=1; B=2 ./prepare; C="x y" D=$HOME env E=5 python t.py F=6`).Environment()
	if len(got) != 3 || got["A"] != "1" || got["C"] != "x y" || got["E"] != "5" {
		t.Errorf("environment %v", got)
	}
}

func TestSmallerEvalBatch(t *testing.T) {
	for command, want := range map[string]string{
		"python t.py --batch-size 64 --val-batch-size 16":                                         "python t.py --batch-size 64 --val-batch-size 4",
		"python t.py data.train.batch_size=32 data.val.batch_size=64":                             "python t.py data.train.batch_size=32 data.val.batch_size=16",
		"python r.py --per_device_train_batch_size 8":                                             "python r.py --per_device_train_batch_size 8 --per_device_eval_batch_size 2 --eval_accumulation_steps 8",
		"python r.py --per_device_train_batch_size 8 --per_device_eval_batch_size 8":              "python r.py --per_device_train_batch_size 8 --per_device_eval_batch_size 2 --eval_accumulation_steps 8",
		"yolo train batch=64 imgsz=640":                                                           "yolo train batch=16 imgsz=640",
		"python t.py --batch-size 64":                                                             "",
		"python t.py --eval-batch-size 64 32":                                                     "",
		"python3 -m MaxText.train base.yml per_device_batch_size=4 eval_per_device_batch_size=16": "python3 -m MaxText.train base.yml per_device_batch_size=4 eval_per_device_batch_size=4",
		"accelerate launch run_x_no_trainer.py --per_device_eval_batch_size 64":                   "accelerate launch run_x_no_trainer.py --per_device_eval_batch_size 16",
		"accelerate launch run_x_no_trainer.py --per_device_train_batch_size 8":                   "",
	} {
		if s, _ := Parse(command).SmallerEvalBatch(4); s.Text != want {
			t.Errorf("%q\nbecame %q\n  want %q", command, s.Text, want)
		}
	}
}

// Numbers that no batch has cost nothing and do not overflow.
func TestHugeBatch(t *testing.T) {
	began := time.Now()
	for _, batch := range []int{math.MaxInt, math.MaxInt / 3, 1<<53 + 1} {
		for _, k := range []int{2, 3, 4, 64} {
			if b, steps := SplitBatch(batch, k); b < 1 || steps < 1 || b > batch/k {
				t.Errorf("%d by %d: %d, %d steps", batch, k, b, steps)
			}
		}
	}
	text := "python t.py --batch-size 64 --gradient-accumulation-steps 9223372036854775807"
	if s, ok := Parse(text).SmallerBatch(2); ok {
		t.Errorf("%q became %q", text, s.Text)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A number before a redirection stays a value: 2>log would take away the steps, and send the errors to the log.
func TestRedirectionBehindNumber(t *testing.T) {
	for command, want := range map[string]string{
		`python t.py --bs "8">log`:          "python t.py --bs 4 >log",
		"python t.py --batch-size '8'<in>x": "python t.py --batch-size 4 <in>x",
		`python t.py --bs="8">log`:          "python t.py --bs=4>log",
		"yolo train batch=16>log":           "yolo train batch=8>log",
		"python t.py --bs 8 >log 2>err":     "python t.py --bs 4 >log 2>err",
		"python t.py --bs\r\"8\">log":       "python t.py --bs\r4 >log",
	} {
		if s, _ := Parse(command).SmallerBatch(2); s.Text != want {
			t.Errorf("%q\nbecame %q\n  want %q", command, s.Text, want)
		}
	}
	if s, _ := Parse("python t.py --n '2' --flag>log").WithoutFlag("--flag"); s != "python t.py --n '2'>log" {
		t.Errorf("%q", s)
	}
	if s, _ := Parse("python t.py --n 2 --flag>log").WithoutFlag("--flag"); s != "python t.py --n 2 >log" {
		t.Errorf("%q", s)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a:b": "a:b", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'"} {
		if got := Quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
		if c := Parse("x " + Quote(in)); !c.Known || c.words[1].value != strings.ReplaceAll(in, `\`, "") {
			t.Errorf("the shell reads %s as %q", Quote(in), c.words[1].value)
		}
	}
}

// FuzzCommand: whatever the text, nothing panics, and an edit keeps all words but those it
// means byte for byte and in order.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"python train.py --batch-size 64", "yolo batch=16 imgsz=640", `a "b c" $(d) --bs 8 | tee x`, "--batch=\\\n2", "x ' y", "python a.b=2 --fp16 False", "yolo batch=9000000000000000000", `python t.py --bs "8">log`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Parse(text)
		var results []string
		if s, ok := c.SmallerBatch(2); ok {
			results = append(results, s.Text)
			if _, n, _ := Parse(s.Text).BatchArgument(); n != s.Batch {
				t.Fatalf("%q became %q, whose batch is %d, not %d", text, s.Text, n, s.Batch)
			}
		}
		if s, ok := c.SmallerEvalBatch(4); ok {
			results = append(results, s.Text)
		}
		if s, ok := c.WithVariable("X_Y", "a b"); ok {
			results = append(results, s)
		}
		if s, ok := c.WithSwitch(map[string]string{StyleTrainer: "--bf16 True", StyleMegatron: "--bf16", StyleLightning: "--precision bf16-mixed"}); ok {
			results = append(results, s.Text)
		}
		for _, r := range results {
			after := Parse(r)
			if !after.Known {
				t.Fatalf("%q became %q, which no longer reads as a command", text, r)
			}
			if len(c.words) > 64 {
				continue
			}
			changed := len(c.words) - kept(raws(c), raws(after))
			if changed > 2 { // a batch and its accumulation
				t.Fatalf("%q became %q: %d words lost", text, r, changed)
			}
		}
	})
}

func raws(c Line) (list []string) {
	for _, w := range c.words {
		list = append(list, c.Text[w.start:w.end])
	}
	return list
}

// kept is the length of the longest common subsequence.
func kept(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			best := max(row[j], row[j+1])
			if x == y {
				best = diagonal + 1
			}
			diagonal, row[j+1] = row[j+1], best
		}
	}
	return row[len(b)]
}

// A command line of the greatest length that is read costs little: many are read for one table.
func BenchmarkParse(b *testing.B) {
	text := "python train.py" + strings.Repeat(` --option-name "a value" key=$x`, 500)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !Parse(text).Known {
			b.Fatal("not read")
		}
	}
}

func TestReadTolerantly(t *testing.T) {
	for text, want := range map[string]string{
		"python t.py --tag a(b) --batch-size 4": "t.py", // arguments joined without their quotes
		"python t.py --filter x>3 --bs 4":       "t.py",
		"(cd x; python t.py)":                   "t.py",
		"time python t.py":                      "t.py",
		"if true; then python t.py; fi":         "t.py",
		`python "my dir/t.py"`:                  "my dir/t.py",
		`python my\ dir/t.py`:                   "my dir/t.py",
		"python t.py 'oops":                     "",
		"$ python t.py":                         "t.py",
	} {
		c := Parse(text)
		if got := slices.ContainsFunc(c.words, func(w word) bool { return w.value == want }); got != (want != "") || c.Known != got {
			t.Errorf("%q: %v %+v", text, c.Known, c.words)
		}
	}
}
