package trainlog

import (
	"fmt"
	"strings"
	"testing"
)

func TestWentOn(t *testing.T) {
	steps := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("Epoch 3 step %d loss 0.1\n", i)
		}
		return text
	}
	bar := ""
	for i := range 40 {
		bar += fmt.Sprintf("\r%3d%%|###| %d/300 [00:01<00:01, 5.4it/s]", i, i)
	}
	const refused = "Traceback (most recent call last):\n  File \"/home/ann/train.py\", line 88, in main\n    loss = model(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	const other = "Traceback (most recent call last):\n  File \"/home/ann/train.py\", line 91, in main\n    w = table[key]\nKeyError: 'x'\n"
	for _, c := range []struct {
		name, text string
		whole      bool
		want       bool
	}{
		{"caught, and much later another error", steps(0, 10) + "batch failed\n" + refused + steps(11, 300) + other, true, true},
		{"progress bar", refused + bar + "\n" + other, true, true},
		{"standard output comes last", refused + steps(11, 300) + other + "epoch 12\n" + steps(1, 9), true, true},
		{"refused after it", steps(0, 9) + other + steps(9, 30) + "RuntimeError: CUDA out of memory\n", true, false},
		{"refused after it, in a log's words", refused + steps(0, 9) + other + "12:00:01 [rank0] allocation failed: out of memory\n", true, false},
		{"scrolled out", steps(11, 300) + other, false, true},
		{"the error itself", steps(0, 10) + refused, true, false},
		{"nothing between", refused + other, true, false},
		{"handled badly", refused + "\nDuring handling of the above exception, another exception occurred:\n\n" + other, true, false},
		{"again at the end", refused + steps(11, 300) + refused, true, false},
		{"no error of memory", steps(11, 300) + other, true, false},
		{"other ranks print on", refused + steps(10, 12) + other, true, false},
		{"killed without a word", refused + steps(11, 300), true, false},
		{"launcher", steps(0, 30) + refused + strings.Replace(other, "KeyError: 'x'", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\ntrain.py FAILED", 1), true, false},
	} {
		if got := WentOn(c.text, c.whole); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
