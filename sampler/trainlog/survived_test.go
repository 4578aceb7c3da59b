package trainlog

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSurvived(t *testing.T) {
	steps := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("step %d loss 0.1\n", i)
		}
		return text
	}
	const refused = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	epochs := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("Epoch %d: loss 0.1\n", i)
		}
		return text
	}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"goes on":                  {steps(0, 40) + refused + "retrying with batch size 16\n" + steps(40, 90), true},
		"with the same step again": {steps(0, 40) + refused + steps(39, 90), true},
		"epochs":                   {epochs(0, 3) + refused + epochs(3, 12), true},
		"dies":                     {steps(0, 40) + refused, false},
		"others print on":          {steps(0, 40) + refused + steps(40, 43), false},
		"started anew":             {steps(0, 40) + refused + "loading\n" + steps(0, 90), false},
		"from a checkpoint":        {steps(0, 40) + refused + "resuming\n" + steps(30, 90), false},
		"dies in the end":          {steps(0, 40) + refused + steps(40, 90) + refused, false},
		"nothing counts":           {refused + "loading\n", false},
		"progress bars":            {"  3%|# | 30/900 [00:01<\r  4%|# | 36/900 [00:01<\n" + refused + strings.ReplaceAll(steps(37, 50), "step ", "%| ") + "| 37/900 [0\r| 38/900 [0\r| 39/900 [0\r| 40/900 [0\r| 41/900 [0\r\n", true},
	} {
		var s Survival
		io.Copy(&s, strings.NewReader(c.text)) //nolint:errcheck // it has none
		line := 1 + strings.Count(c.text[:strings.LastIndex(c.text, refused)], "\n")
		if got := s.Survived(line, false, false); got != c.want {
			t.Errorf("%s: %v, %+v", name, got, s.all)
		}
	}
	var s Survival
	text := steps(0, 40) + refused + steps(40, 300) + refused
	io.Copy(&s, strings.NewReader(text)) //nolint:errcheck // it has none
	if first, again := s.Survived(41, false, false), s.Survived(41, true, false); !first || again {
		t.Errorf("the first of two: %v, as one of equal ones: %v", first, again)
	}
}

// Of a program that ended with an error, what stands below a traceback may have been printed before it: steps count that
// another end follows, or that are more than standard output holds back.
func TestSurvivedOfFailed(t *testing.T) {
	steps := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("Epoch 3 step %d loss 0.1\n", i)
		}
		return text
	}
	bar := ""
	for i := range 40 {
		bar += fmt.Sprintf("\r%3d%%|###| %d/300 [00:01<00:01, 5.4it/s]", i+30, i+30)
	}
	trace := func(err string) string {
		return "Traceback (most recent call last):\n  File \"/home/ann/train.py\", line 88, in main\n    loss = model(x)\n" + err + "\n"
	}
	const tried = "CUDA out of memory. Tried to allocate 2.00 GiB."
	refused, other := trace("torch.OutOfMemoryError: "+tried), trace("KeyError: 'x'")
	caught := "WARNING: no room in batch 10, skipping: " + tried + "\n"
	requests := strings.Repeat("10.0.0.2 - \"POST /generate HTTP/1.1\" 200 OK\n", 9)
	for name, c := range map[string]struct {
		text           string
		failed, ofSome bool // survived by a program that ended with an error, and by one of which that is not known
	}{
		"caught, and much later another error": {steps(0, 10) + "batch failed\n" + refused + steps(11, 300) + other, true, true},
		"progress bar":                         {"30/300 [00:01\n" + refused + bar + "\n" + other, true, true},
		"a bar, then lines":                    {"30/300 [00:01\n" + refused + steps(34, 60) + other, true, true},
		"the first of other lines":             {"epoch 1\n" + refused + "epoch 1\n" + steps(0, 60) + other, false, false},
		"standard output comes last":           {steps(0, 10) + refused + steps(11, 300) + other + "epoch 12\n" + steps(1, 9), true, true},
		"refused after it":                     {steps(0, 9) + other + steps(9, 30) + "RuntimeError: CUDA out of memory\n", false, false},
		"refused after it, in a log's words":   {refused + steps(0, 9) + other + "12:00:01 [rank0] allocation failed: out of memory\n", false, false},
		"the error itself":                     {steps(0, 10) + refused, false, false},
		"nothing between":                      {steps(0, 10) + refused + other, false, false},
		"handled badly":                        {steps(0, 10) + refused + "\nDuring handling of the above exception, another exception occurred:\n\n" + other, false, false},
		"again at the end":                     {steps(0, 10) + refused + steps(11, 300) + refused, false, false},
		"other ranks print on":                 {steps(0, 10) + refused + steps(10, 12) + other, false, false},
		"held back":                            {steps(0, 10) + refused + steps(11, 300), false, true},
		"held back, and a launcher":            {steps(0, 10) + refused + steps(11, 300) + trace("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\ntrain.py FAILED"), false, true},
		"more than is held back":               {steps(0, 10) + refused + steps(11, 15000), true, true},
		"told, and goes on":                    {steps(0, 10) + caught + steps(11, 40), true, true},
		"told, and a time limit":               {steps(0, 10) + refused + steps(11, 40) + "slurmstepd: error: *** JOB 3 ON n1 CANCELLED DUE TO TIME LIMIT ***\n", true, true},
		"segmentation fault":                   {steps(0, 10) + refused + steps(11, 40) + "Fatal Python error: Segmentation fault\n", true, true},
		"collective timeout":                   {steps(0, 10) + refused + steps(11, 40) + "[rank0]:[E] Watchdog caught collective operation timeout: ALLREDUCE\n", true, true},
		"full disk":                            {steps(0, 10) + refused + steps(11, 40) + "write error: No space left on device\n", true, true},
		"illegal access":                       {steps(0, 10) + refused + steps(11, 40) + trace("RuntimeError: CUDA error: an illegal memory access was encountered"), true, true},
		"cuBLAS at the end":                    {steps(0, 10) + refused + steps(11, 40) + trace("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), false, false},
		"search for a batch":                   {"Trying batch size 64\n" + tried + "\nTrying batch size 32\n" + tried + "\nIt will be 16\n" + steps(0, 40), true, true},
		"trials":                               {"Trial 6 failed with parameters: {'n': 9} because of the following error: OutOfMemoryError('" + tried + "')\nTrial 7 finished with value: 0.9\n", true, true},
		"the trial itself":                     {"Trial 5 finished with value: 0.9\nTrial 6 failed because of the following error: OutOfMemoryError('" + tried + "')\n", false, false},
		"a server answers on":                  {requests + refused + requests + "shutting down\n", false, true},
		"a server answers the next":            {requests + "ERROR request 81 failed: torch.OutOfMemoryError: " + tried + "\n\"POST /generate HTTP/1.1\" 500 Internal Server Error\n10.0.0.2 - \"POST /generate HTTP/1.1\" 200 OK\n", true, true},
		"a server answers no more":             {requests + "ERROR request 81 failed: torch.OutOfMemoryError: " + tried + "\n\"POST /generate HTTP/1.1\" 500 Internal Server Error\n\"POST /generate HTTP/1.1\" 500 Internal Server Error\n", false, false},
		"later epochs end":                     {"Epoch 1: 100%|####| 50/50 [00:10<00:00]\ncaught OOM, halving (torch.OutOfMemoryError: " + tried + ")\nEpoch 2: 100%|####| 100/100 [00:10<00:00]\n", true, true},
		"the same epoch ends elsewhere":        {"Epoch 2: 50%|##  | 25/50 [00:10<00:00]\n[rank1] torch.OutOfMemoryError: " + tried + "\nEpoch 2: 100%|####| 50/50 [00:10<00:00]\n", false, false},
		"only its health is asked":             {requests + refused + strings.Repeat("10.0.0.2 - \"GET /health HTTP/1.1\" 200 OK\n", 99), false, false},
	} {
		var s Survival
		io.Copy(&s, strings.NewReader(c.text)) //nolint:errcheck // it has none
		line := 1 + strings.Count(c.text, "\n")
		if n := len(s.all); n > 0 {
			line = s.all[n-1].line
		}
		if failed, some := s.Survived(line, false, true), s.Survived(line, false, false); failed != c.failed || some != c.ofSome {
			t.Errorf("%s: with an error %v, else %v", name, failed, some)
		}
	}
	var s Survival
	io.Copy(&s, strings.NewReader(steps(0, 10)+caught+steps(11, 300))) //nolint:errcheck // it has none
	if s.Survived(290, false, false) {
		t.Error("an error in words that it does not know was survived")
	}
}

// BenchmarkSurvival hears a log of nothing but failures, each with steps before it.
func BenchmarkSurvival(b *testing.B) {
	var log bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&log, "epoch %d step %d/2000 loss 0.%d\nRuntimeError: CUDA out of memory. Tried to allocate %d.00 MiB\n", i/100, i, i, 20+i)
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		var s Survival
		if _, err := s.Write(log.Bytes()); err != nil || s.Refusals() == 0 {
			b.Fatal(err, s.Refusals())
		}
	}
}

// A line that is spared the search for what it counts has nothing of it.
func TestSparedLinesCountNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := strings.Split(`step|Steps|iter|iterations|batch|it|idx|EPOCH|trial|trials|ſtep|stepſ|x|_|"|'|(|[| |=|:|#|/|12|7|\t|é|loss`, "|")
	spared, counting := 0, 0
	for range 200_000 {
		line := ""
		for range 1 + r.IntN(7) {
			line += pieces[r.IntN(len(pieces))]
		}
		switch may, counts := mayCount(line), stepLine.Get().MatchString(line); {
		case counts && !may:
			t.Fatalf("%q counts", line)
		case counts:
			counting++
		case !may:
			spared++
		}
	}
	if spared < 10_000 || counting < 1000 {
		t.Errorf("%d spared, %d that count", spared, counting)
	}
}
