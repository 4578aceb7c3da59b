package trainlog

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

func TestStepOf(t *testing.T) {
	for line, want := range map[string]int{
		"step 1200 | loss 2.3":                                  1200,
		"[2026-11-22 10:00:00] global_step=40, lr=1":            40,
		`{"loss": 1.2, "step": 77}`:                             77,
		"Iter [350/9000] loss 0.3":                              350,
		"iteration    100/   500 | elapsed":                     100,
		"  5%|█         | 100/2000 [00:10<03:10, 9.9it/s]":      100,
		"Epoch 3:  45%|████      | 9/20 [00:01<00:01]":          9,
		"Training:  45%|████      | 18/40 [00:01<00:01]":        18,
		"batch 647, loss: 0.5983, label: 0, bag_size: 3144":     647,
		"batch 647, bag_size: 3144":                             -1,
		"Train: 1/80 [  20/1500] Loss: 4.5  Acc_iter 20  LR: 1": 20,
		"| epoch   1 |   200/ 2928 batches | lr 0.00 | loss 7":  200,
		"found 200 batches of 16":                               -1,
		"max_iter: 90000":                                       -1,
		"Validating:  45%|████      | 9/20 [00:01<00:01]":       -1,
		"Map:  45%|████      | 900/2000 [00:01<00:01]":          -1,
		"Downloading data: 100%|██████| 900/2000 [00:01<00:01]": -1,
		"  Total optimization steps = 1000":                     -1,
		"max_steps: 500, save_steps: 100":                       -1,
		"step size 12 of the scheduler":                         -1,
		"step 99999999999999999999":                             -1,
		"step 2000000000":                                       -1,
		"nothing at all":                                        -1,
	} {
		n, ok := stepOf(line)
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v; want %d", line, n, ok, want)
		}
	}
}

// Steps are told when nobody else is waiting: they come by the hundred, and push nothing out.
func TestListenerSteps(t *testing.T) {
	l := NewListener()
	l.Write([]byte("Epoch 1\n" + strings.Repeat("step 7 loss 1\n", 2*heardMarks))) //nolint:errcheck // never fails
	if m := <-l.Marks(); m.Kind != sampler.MarkEpoch || len(l.Marks()) != 0 {
		t.Errorf("%+v, and %d more", m, len(l.Marks()))
	}
	l.Write([]byte("step 8\nstep 9\nEpoch 2\n")) //nolint:errcheck // never fails
	a, b := <-l.Marks(), <-l.Marks()
	if a.Kind != sampler.MarkStep || a.N.Or(0) != 8 || b.Kind != sampler.MarkEpoch || len(l.Marks()) != 0 {
		t.Errorf("%+v, %+v, and %d more", a, b, len(l.Marks()))
	}
}

// Of a log that is read as a whole two steps are told: the first, and one by which ten more are done.
func TestScanSteps(t *testing.T) {
	for log, want := range map[string][]int{
		"step 1\nstep 10\nstep 11\nstep 12\n":   {1, 11},
		"step 500\nstep 509\n":                  {500},
		"step 100\nstep 200\nstep 300\n":        {100, 200},
		"step 700\nstep 1\nstep 5\nstep 20\n":   {700, 1, 20}, // what was printed before it began to count
		"Epoch 1\nstep 3\nEpoch 2\nstep 13\n\n": {3, 13},
		"nothing\n":                             nil,
	} {
		l, err := Scan(strings.NewReader(log), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, m := range l.marks {
			if m.Kind == sampler.MarkStep {
				got = append(got, m.N.Or(0))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", log, got, want)
		}
	}
}
