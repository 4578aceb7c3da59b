package post

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// What is said to have helped is told as such, and what is only thought of, or is not all, is not.
func TestCures(t *testing.T) {
	const batch, noGrad, shards = sampler.ToldCured + "batch", sampler.ToldCured + "no_grad", sampler.ToldCured + "shards"
	for _, one := range []struct {
		text, what string
		told       bool
	}{
		{"I put the step into torch.no_grad() and it solved my problem.", noGrad, true},
		{"Adding no_grad fixes the leak.", noGrad, true},
		{"This can be avoided by a smaller shard size.", shards, true},
		{"I reduced the batch size to 8. It works now.", batch, true},
		{"We halved the batch size. It works but takes twice as long.", batch, true},
		{"I put no_grad there, and it did not solve the problem.", noGrad, false},
		{"Would no_grad fix this problem?", noGrad, false},
		{"If no_grad solves this problem, tell me.", noGrad, false},
		{"no_grad only solved it in part.", noGrad, false},
		{"I reduced the batch size to 8. It still fails.", batch, false},
		{"I reduced the batch size to 8. It works for ten steps and ends then.", batch, false},
		{"The batch size is 8. It works on the other machine.", batch, false},
	} {
		if got := slices.Contains(cures(sentences(one.text)), one.what); got != one.told {
			t.Errorf("%q: %s is %v", one.text, one.what, got)
		}
	}
}
