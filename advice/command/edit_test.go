package command

import (
	"slices"
	"strings"
	"testing"
)

// A batch is divided by about k; of its divisors the largest below is taken unless it is far away.
func TestSplitBatch(t *testing.T) {
	for _, row := range []struct{ batch, k, smaller, steps int }{
		{64, 2, 32, 2}, {64, 4, 16, 4}, {5, 2, 2, 3}, {7, 2, 3, 2}, {3, 4, 1, 3}, {9, 2, 3, 3}, {15, 2, 5, 3}, {22, 3, 7, 3}, {12, 5, 2, 6}, {31, 4, 7, 4}, {1, 2, 1, 1},
	} {
		if smaller, steps := SplitBatch(row.batch, row.k); smaller != row.smaller || steps != row.steps {
			t.Errorf("%d by %d: %d in %d steps, want %d in %d", row.batch, row.k, smaller, steps, row.smaller, row.steps)
		}
	}
}

// edits are what nvpeak can do to a command besides dividing its batch; "" means that it leaves it alone.
func TestEdits(t *testing.T) {
	half := func(c Line) string {
		text, _, _ := c.WithNumber(func(n float64) float64 { return min(n/2, 100) }, "lr", "workers")
		return text
	}
	option := func(name, value string) func(Line) string {
		return func(c Line) string { text, _ := c.WithOption(name, value); return text }
	}
	bf16 := func(c Line) string {
		s, _ := c.WithSwitch(map[string]string{StyleTrainer: "--bf16 True", StyleMegatron: "--bf16", StyleUltralytics: "half=True", styleArgparse: "--amp"})
		return s.Text
	}
	launcher := func(c Line) string { s, _ := c.WithLauncherOption("--mixed_precision bf16"); return s.Text }
	evalBatch := func(c Line) string { s, _ := c.SmallerEvalBatch(4); return s.Text }
	flag := func(c Line) string { text, _ := c.WithoutFlag("--cache"); return text }
	other := func(c Line) string { text, _ := c.WithFlagFor("--cache", "--less"); return text }
	variable := func(c Line) string { text, _ := c.WithVariable("A", "1"); return text }
	smaller := func(c Line) string { s, _ := c.SmallerBatch(2); return s.Text }
	for name, row := range map[string]struct {
		edit          func(Line) string
		command, want string
	}{
		"number":                     {half, "python t.py --workers 8", "python t.py --workers 4"},
		"number, the first name":     {half, "python t.py --workers=8 --lr 3", "python t.py --workers=8 --lr 1.5"},
		"number, twice the same":     {half, "python t.py --workers 8 8 --lr2 8", "python t.py --workers 4 4 --lr2 8"},
		"number, and another":        {half, "python t.py --workers 8 6", "python t.py --workers 4 6"},
		"number that stays":          {half, "python t.py --workers 0", ""},
		"no number":                  {half, "python t.py --workers many", ""},
		"number of the shell":        {half, "python t.py --workers $N", ""},
		"number the shell completes": {half, "python t.py --workers=1$N", ""},
		"number of another command":  {half, "python t.py --workers 8 $(python x.py --workers 2)", "python t.py --workers 4 $(python x.py --workers 2)"},
		"number not there":           {half, "python t.py --epochs 8", ""},

		"flag for another":       {other, "python t.py --cache x", "python t.py --less x"},
		"flag for one not there": {other, "python t.py --cached x", ""},

		"option":                         {option("--mode", "fast"), "python t.py x | tee l", "python t.py x --mode fast | tee l"},
		"option as a flag":               {option("--fast", ""), "python t.py x", "python t.py x --fast"},
		"option in its place":            {option("--mode", "a b"), "python t.py --mode slow x", "python t.py --mode 'a b' x"},
		"joined option":                  {option("--mode", "fast"), "python t.py --mode=slow x", "python t.py --mode=fast x"},
		"joined and quoted":              {option("--mode", "fast"), `python t.py "--mode=slow x"`, "python t.py --mode=fast"},
		"option set already":             {option("--mode", "fast"), "python t.py --mode fast", ""},
		"flag set already":               {option("--fast", ""), "python t.py --fast yes", ""},
		"flag with no value":             {option("--mode", "fast"), "python t.py --mode", ""},
		"option of no command":           {option("--mode", "fast"), "", ""},
		"option of a comment":            {option("--mode", "fast"), "# t.py", ""},
		"option of a file":               {option("--mode", "fast"), "t.py x; >log", "t.py x --mode fast; >log"},
		"option before a wrong operator": {option("--mode", "fast"), "python t.py ;; x", "python t.py --mode fast ;; x"},

		"switch":                   {bf16, "python r.py --per_device_train_batch_size 8 --lr 1", "python r.py --per_device_train_batch_size 8 --bf16 True --lr 1"},
		"switch of megatron":       {bf16, "torchrun p.py --micro-batch-size 4 --global-batch-size 64", "torchrun p.py --micro-batch-size 4 --bf16 --global-batch-size 64"},
		"switch without a batch":   {bf16, "yolo train imgsz=640 data=x", "yolo train imgsz=640 data=x half=True"},
		"switched off":             {bf16, "python r.py --per_device_train_batch_size 8 --bf16 False", "python r.py --per_device_train_batch_size 8 --bf16 True"},
		"switched off, joined":     {bf16, "yolo train imgsz=640 half=False", "yolo train imgsz=640 half=True"},
		"flag switched off":        {bf16, "torchrun p.py --micro-batch-size 4 --global-batch-size 64 --bf16=0", "torchrun p.py --micro-batch-size 4 --global-batch-size 64 --bf16=True"},
		"switched on":              {bf16, "torchrun p.py --micro-batch-size 4 --global-batch-size 64 --bf16", ""},
		"switch of no known style": {bf16, "python t.py a.b=2", ""},

		"launcher":              {launcher, "accelerate launch t.py --lr 1", "accelerate launch --mixed_precision bf16 t.py --lr 1"},
		"launcher by path":      {launcher, "A=1 bin/accelerate launch t.py", "A=1 bin/accelerate launch --mixed_precision bf16 t.py"},
		"launcher has it":       {launcher, "accelerate launch --mixed_precision no t.py", "accelerate launch --mixed_precision bf16 t.py"},
		"another of accelerate": {launcher, "accelerate config", ""},
		"accelerate alone":      {launcher, "accelerate", ""},
		"no launcher":           {launcher, "python launch", ""},

		"validation":               {evalBatch, "python t.py --eval-batch-size 16", "python t.py --eval-batch-size 4"},
		"benchmarks of a training": {evalBatch, "python t.py --batch 8 --bench-batch 32", "python t.py --batch 8 --bench-batch 8"},
		"validation of two":        {evalBatch, "python t.py --eval-batch-size 2", "python t.py --eval-batch-size 1"},
		"validation of one":        {evalBatch, "python t.py --eval-batch-size 1", ""},
		"validation of the shell":  {evalBatch, "python t.py --eval-batch-size=1$N", ""},
		"validation of many":       {evalBatch, "python t.py --eval-batch-size many", ""},
		"validation accumulates":   {evalBatch, "python r.py --per_device_eval_batch_size 8 --eval_accumulation_steps 2", "python r.py --per_device_eval_batch_size 2 --eval_accumulation_steps 2"},
		"validation in a path":     {evalBatch, "python t.py +data.test.bs=8 a.b=1", "python t.py +data.test.bs=2 a.b=1"},

		"lone flag":              {flag, "python t.py --cache --lr 1", "python t.py --lr 1"},
		"flag at the end":        {flag, "python t.py --lr 1 --cache", "python t.py --lr 1"},
		"flag as the first word": {flag, "--cache python t.py", ""},
		"flag right after it":    {flag, "python --cache t.py", "python t.py"},
		"flag of the next":       {flag, "python t.py; cat --cache", ""},
		"no such flag":           {flag, "python t.py --cache-dir x", ""},

		"variable":              {variable, "B=2 env python t.py", "B=2 env A=1 python t.py"},
		"variable that is set":  {variable, "A=0 B=2 python t.py", "A=1 B=2 python t.py"},
		"variable of a name":    {variable, "_az09AZ=0 python t.py", "_az09AZ=0 A=1 python t.py"},
		"no name of a variable": {variable, "9a=0 python t.py", "A=1 9a=0 python t.py"},
		"nor this":              {variable, "a-b=0 python t.py", "A=1 a-b=0 python t.py"},
		"only assignments":      {variable, "A=0", "A=1"},
		"other assignments":     {variable, "B=0", ""},
		"podman":                {variable, "podman run x", "podman run -e A=1 x"},
		"docker alone":          {variable, "docker", ""},
		"a job":                 {variable, "sbatch job.sh", ""},
		"nothing":               {variable, " ", ""},

		"batch of two":               {smaller, "python t.py --batch-size 2", "python t.py --batch-size 1"},
		"accumulation of one":        {smaller, "python t.py --batch-size 8 --grad_accum 1", "python t.py --batch-size 4 --grad_accum 2"},
		"accumulation of none":       {smaller, "python t.py --batch-size 8 --grad_accum 0", ""},
		"accumulation of billions":   {smaller, "python t.py --batch-size 8 --grad_accum 3000000000", ""},
		"accumulation in words":      {smaller, "python t.py --batch-size 8 --grad_accum auto", ""},
		"accumulation of the shell":  {smaller, "python t.py --batch-size 8 --grad_accum=1$N", ""},
		"batch the shell completes":  {smaller, "python t.py --batch-size=1$N", ""},
		"batch with a negative seed": {smaller, "python t.py --seed -1 --batch-size 8", "python t.py --seed -1 --batch-size 4"},
		"lightning, one word":        {smaller, "python t.py --accumulate_grad_batches=2 --batch_size=8", "python t.py --accumulate_grad_batches=4 --batch_size=4"},
		"lightning, its data":        {smaller, "python t.py --data.batch_size 8", "python t.py --data.batch_size 4 --trainer.accumulate_grad_batches=2"},
		"short, the last":            {smaller, "python t.py -b 4 -bs 8", "python t.py -b 4 -bs 4"},
		"evaluation only":            {smaller, "python t.py model.eval.batch_size=8", ""},
	} {
		if got := row.edit(Parse(row.command)); got != row.want {
			t.Errorf("%s: %q\nbecame %q\n  want %q", name, row.command, got, row.want)
		}
	}
}

// Of edits that overlap the first wins; the others are made in the order of the text.
func TestApply(t *testing.T) {
	c := Line{Text: "0123456789"}
	if got := c.Apply([]Edit{{7, 8, "C"}, {1, 4, "A"}, {3, 5, "B"}, {4, 4, "+"}}); got != "0A+456C89" {
		t.Error(got)
	}
}

func TestStyles(t *testing.T) {
	for command, want := range map[string]string{
		"yolo train":                                                StyleUltralytics,
		"python t.py imgsz=640":                                     StyleUltralytics,
		"python t.py batch=4 data=x":                                StyleUltralytics,
		"python t.py batch=4 model=x":                               StyleUltralytics,
		"python t.py batch=4 lr=1":                                  styleHydra,
		"python t.py data=x model=y":                                styleHydra,
		"t.py --weights w --cfg c --data d":                         StyleYOLOv5,
		"t.py --weights w --img 9 --data d":                         StyleYOLOv5,
		"t.py --weights w --imgsz 9 --hyp d":                        StyleYOLOv5,
		"t.py --weights w --img-size 9":                             styleArgparse,
		"t.py --img 9 --data d":                                     styleArgparse,
		"t.py --weights w --data d":                                 styleArgparse,
		"t.py --per_device_train_batch_size 4":                      StyleTrainer,
		"t_no_trainer.py --per_device_train_batch_size 4":           styleArgparse,
		"m.py --per_device_train_batch_size 4 --actor_zero_stage 3": styleArgparse,
		"fairseq-train x":                                           StyleFairseq,
		"t.py --update-freq 4":                                      StyleFairseq,
		"t.py --max-tokens 4 --arch a":                              StyleFairseq,
		"t.py --max-tokens 4":                                       styleArgparse,
		"t.py --arch a":                                             styleArgparse,
		"t.py --per_device_eval_batch_size 4":                       StyleTrainer,
		"t.py --micro-batch-size 4":                                 styleArgparse,
		"t.py --trainer.devices 4":                                  StyleLightning,
		"t.py --data.path x":                                        StyleLightning,
		"t.py --accumulate_grad_batches 2":                          StyleLightning,
		"t.py --deepspeed x.json":                                   styleDeepSpeed,
		"t.py --deepspeed x.json --bs 4":                            styleArgparse,
		"t.py --deepspeed x.json --bs many":                         styleDeepSpeed,
		"t.py --deepspeed x.json --bs 0":                            styleDeepSpeed,
		"t.py --deepspeed yes":                                      styleArgparse,
		"t.py +a=1":                                                 styleHydra,
		"t.py dir/a=1":                                              styleNone,
		"t.py x":                                                    styleNone,
		"":                                                          styleNone,
	} {
		if got := Parse(command).Style(); got != want {
			t.Errorf("%q is of %q, want %q", command, got, want)
		}
	}
}

// What a command line says: its words, scripts and options.
func TestReading(t *testing.T) {
	for name, row := range map[string]struct{ got, want []string }{
		"words":           {Parse("A=1 /usr/bin/python a/t.py 'x y'; ls").Words(), []string{"A=1", "python", "t.py", "x y"}},
		"scripts":         {Parse("python a/t.py b.ipynb c.sh --x.py -m d e").Scripts(), []string{"t.py", "b.ipynb", "c.sh", "d"}},
		"a module":        {Parse("python -m torch.distributed.run t.py").Scripts(), []string{"torch.distributed.run", "t.py"}},
		"subcommands":     {Parse("trlx detect train data=x val").Scripts(), []string{"detect", "train"}},
		"a task and mode": {Parse("yolo detect train data=x").Scripts(), []string{"train"}},
		"the fourth":      {Parse("yolo a b c d").Scripts(), []string{"a", "b", "c"}},
		"a mode":          {Parse("yolo mode=val x=1").Scripts(), []string{"val"}},
		"no words":        {Parse("yolo Abc a1 {x").Scripts(), nil},
		"ends of the abc": {Parse("yolo az").Scripts(), []string{"az"}},
		"escapes":         {Parse(`python a\"b "c\"d\e" 'f\g' h\\`).Words(), []string{"python", `a"b`, `c"d\e`, `f\g`, `h\`}},
		"a line goes on":  {Parse("python a\\\nb \"c\\\nd\"").Words(), []string{"python", "ab", "cd"}},
	} {
		if !slices.Equal(row.got, row.want) {
			t.Errorf("%s: %q, want %q", name, row.got, row.want)
		}
	}
	c := Parse("torchrun t.py --fp16 --bf16 True --tf32=False --off 0 --neg -1 -- A.B 3 a 4 =5")
	for name, want := range map[string][2]bool{"fp16": {true, true}, "bf16": {true, true}, "tf32": {false, true}, "off": {false, true}, "none": {false, false}} {
		if on, known := c.SwitchedOn(name); on != want[0] || known != want[1] {
			t.Errorf("%s: on %v, known %v", name, on, known)
		}
	}
	var options []string
	for _, a := range c.Arguments() {
		if a.Plain != "1" { // -1 is a value of the option before it
			options = append(options, a.Plain+" "+a.Value)
		}
	}
	if got := strings.Join(options, ", "); got != "fp16 , bf16 True, tf32 False, off 0, neg -1,  A.B, b 3" {
		t.Errorf("options %q", got)
	}
}

// Variables count when they stand before the program, or are exported before it; not when the shell has to fill them in.
func TestEnvironment(t *testing.T) {
	for command, want := range map[string]string{
		"A=1 python t.py":                "1",
		"env A=1 python t.py":            "1",
		"export A=1; python t.py":        "1",
		"set A=1; python t.py":           "1",
		"A=1 export B=2; python t.py":    "",
		"A=1 ls; python t.py":            "",
		"A=1; python t.py":               "",
		"python t.py; export A=1":        "",
		"python A=1":                     "",
		"A=$B python t.py":               "",
		`A="$B" python t.py`:             "",
		`A="1"$B python t.py`:            "",
		`A="1 2" python t.py`:            "1 2",
		"A+=1 python t.py":               "",
		"A[0]=1 python t.py":             "",
		"export A; python t.py":          "",
		"export export A=1; python t.py": "",
	} {
		if got := Parse(command).Environment()["A"]; got != want {
			t.Errorf("%q: A is %q, want %q", command, got, want)
		}
	}
}

// A command line of 16 KiB is read, a longer one and one with a NUL are left alone.
func TestLongestCommand(t *testing.T) {
	text := "python " + strings.Repeat("x", maxCommand-len("python "))
	for text, want := range map[string]bool{text: true, text + "x": false, "python\x00": false, "\x00": false, ";": false} {
		if got := Parse(text).Known; got != want {
			t.Errorf("%d bytes: known %v", len(text), got)
		}
	}
}

// A batch of no whole number above 0 is none, and what is no number is not changed.
func TestNumbers(t *testing.T) {
	for value, want := range map[string]bool{"8": true, "0": false, "-4": false, "auto": false, "99999999999999999999": false} {
		if _, n, ok := Parse("python train.py --batch-size=" + value).BatchArgument(); ok != want {
			t.Errorf("a batch of %s: %d, %v", value, n, ok)
		}
	}
	half := func(x float64) float64 { return x/2 + 1 }
	for value, want := range map[string]bool{"512": true, "auto": false, "1e999": false} {
		if text, _, ok := Parse("python train.py --max-model-len "+value).WithNumber(half, "max_model_len"); ok != want {
			t.Errorf("a length of %s: %q, %v", value, text, ok)
		}
	}
}

// What export and declare say of a variable without giving it a value is kept as it is.
func TestDeclarations(t *testing.T) {
	for _, before := range []string{"export FOO", "declare -x", "declare -x FOO=1", "export FOO+=x", "declare FOO[0]=1", "export FOO="} {
		if _, n, ok := Parse(before + "; python train.py --batch-size=8").BatchArgument(); !ok || n != 8 {
			t.Errorf("behind %s: a batch of %d, %v", before, n, ok)
		}
	}
}

// What is to become less never becomes more, and never what it is.
func TestLessIsLess(t *testing.T) {
	line := Parse("python run.py --H 20 --length 512 --beams 4")
	for _, row := range []struct {
		option string
		most   float64
		want   string
	}{
		{"--H", 384, ""}, {"--H", 20, ""}, {"--length", 256, "python run.py --H 20 --length 256 --beams 4"},
		{"--W", 384, "python run.py --H 20 --length 512 --beams 4 --W 384"},
	} {
		if text, ok := line.WithAtMost(row.option, row.most); text != row.want || ok != (row.want != "") {
			t.Errorf("%s %v: %q, %v", row.option, row.most, text, ok)
		}
	}
	if text, _, ok := line.WithLess(func(v float64) float64 { return max(8, v/2) }, "beams"); ok {
		t.Errorf("beams: %q", text)
	}
}
