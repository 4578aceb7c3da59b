package oomlog

import (
	"fmt"
	"strings"
	"testing"
)

// Steps that take longer and longer, in each form that logs print them in.
func TestSlowdown(t *testing.T) {
	for _, form := range []string{
		"[step: %d] loss: 3.1e-02, time/iteration: %.4e ms",
		"d2.utils.events]: eta: 35:20 iter: %d total_loss: 3.3 time: 0.5500 last_time: %.4f data_time: 0.0110",
		"Epoch(train) [1][%d/220] lr: 1.0e-04 time: %.4f data_time: 0.0138 memory: 14014 loss: 3.3",
		`{"event": "train_step", "step": %d, "loss": 3.3, "step_time_s": %.3f}`,
		"epoch 1 step %d loss 2.3 %.2f s/it",
		"iteration %d/ 500 | elapsed time per iteration (ms): %.1f | loss",
		"[gpu02] (trainer:755) INFO: 1epoch:train:%d-1600batch: iter_time=2.1e-04, forward_time=0.340, loss_ctc=49.786, optim_step_time=0.031, train_time=%.3f",
		"indexing:  39%% | %d/3107 [19:13<30:23, %.2fs/batch]",
	} {
		for _, growth := range []float64{0, 0.5} {
			var b strings.Builder
			for i := range 400 {
				fmt.Fprintf(&b, form+"\n", i, 300*(1+growth*float64(i)/400))
			}
			b.WriteString("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.1 GiB already allocated; 10.00 MiB free; 9.5 GiB reserved in total by PyTorch)\n")
			events, err := Scan(strings.NewReader(b.String()))
			if err != nil || len(events) != 1 {
				t.Fatalf("%q: %d events, %v", form, len(events), err)
			}
			if got, want := events[0].Context.Slowdown, 1+growth*0.75/(1+growth*0.125); got < want-0.06 || got > want+0.06 {
				t.Errorf("%q: %.2f, want %.2f", form, got, want)
			}
		}
	}
}

// A rate is the other way round, and a few figures tell nothing.
func TestSlowdownOfRates(t *testing.T) {
	var p paceBook
	for i := range 40 {
		fmt.Fprintf(writer{&p}, " 12%%|###   | %d/100 [00:10<01:20, %.2fit/s]", i, 2/(1+float64(i)/40))
		if i == 5 && p.slowdown() != 0 {
			t.Error("six figures tell something")
		}
	}
	if got := p.slowdown(); got < 1.4 {
		t.Errorf("%.2f", got)
	}
}

// DeepSpeed tells samples in a second.
func TestSlowdownOfSamples(t *testing.T) {
	var p paceBook
	for i := range 80 {
		fmt.Fprintf(writer{&p}, "epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec=13.3333, CurrSamplesPerSec=%.4f, MemAllocated=14.22GB", i, i, 10/(0.5+float64(i)/80))
	}
	if got := p.slowdown(); got < 1.7 || got > 2.4 {
		t.Errorf("%.2f", got)
	}
}

type writer struct{ *paceBook }

func (w writer) Write(b []byte) (int, error) { w.add(b); return len(b), nil }
