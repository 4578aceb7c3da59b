package trainlog

import (
	"fmt"
	"io"
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
		if got := s.Survived(line, false); got != c.want {
			t.Errorf("%s: %v, %+v", name, got, s.all)
		}
	}
	var s Survival
	text := steps(0, 40) + refused + steps(40, 300) + refused
	io.Copy(&s, strings.NewReader(text)) //nolint:errcheck // it has none
	if first, again := s.Survived(41, false), s.Survived(41, true); !first || again {
		t.Errorf("the first of two: %v, as one of equal ones: %v", first, again)
	}
}
