package nvml

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml/nvmltest"
)

// The words of sampler.Sweep.Control that these tests set and read, and the time of nvmltest.Clock at the start.
const (
	wordNext, wordTick, wordLate = 0, 7, 10

	clockStart = int64(1000 * time.Second)
)

// told is what a sweep brought back: calls per GPU, missed ones, when the next is due, its number, when a wake-up was late,
// the quickest call, and what was used when, from the first reading on.
func told(w *sampler.Sweep) string {
	text := fmt.Sprintf("%v calls, %d missed, next %v, number %d", w.Calls, w.Missed, time.Duration(w.Control[wordNext]-clockStart), w.Control[wordTick])
	if late := w.Control[wordLate]; late >= clockStart {
		text += fmt.Sprintf(", late %v", time.Duration(late-clockStart))
	}
	if w.Least[0] > 0 {
		text += fmt.Sprintf(", least %v", time.Duration(w.Least[0]))
	}
	if w.Failed[0] {
		text += ", failed"
	}
	if len(w.Readings) > 9 {
		return text + fmt.Sprintf(", %d readings", len(w.Readings))
	}
	for _, r := range w.Readings {
		text += fmt.Sprintf(", %d: %v at %v", r.Device, r.Used, r.Time.Sub(w.Readings[0].Time))
	}
	return text
}

// TestSweepByTheClock: what is read when, exactly, of GPUs asked every 5 ms by a clock that only sleeping moves.
func TestSweepByTheClock(t *testing.T) {
	const ms = time.Millisecond
	for name, row := range map[string]struct {
		again    bool   // it is the second sweep
		scenario string // after that of two GPUs with 1 GiB in use
		late     string
		change   func(w *sampler.Sweep)
		want     string
	}{
		"ends at the end":       {false, "", "", func(w *sampler.Sweep) { w.For = 503 * ms }, "[102] calls, 0 missed, next 508ms, number 102, 0: 1.0 GiB at 0s"},
		"and a moment later":    {false, "", "", func(w *sampler.Sweep) { w.For = 500500 * time.Microsecond }, "[101] calls, 0 missed, next 505.5ms, number 101, 0: 1.0 GiB at 0s"},
		"or up to 4 ms before":  {false, "", "", func(w *sampler.Sweep) { w.For = 501 * ms }, "[102] calls, 0 missed, next 506ms, number 102, 0: 1.0 GiB at 0s"},
		"a long period is laid": {false, "", "", func(w *sampler.Sweep) { w.Period, w.For = 100*ms, 596*ms }, "[7] calls, 0 missed, next 696ms, number 7, 0: 1.0 GiB at 0s"},
		"a longer one is not":   {false, "", "", func(w *sampler.Sweep) { w.Period, w.For = 101*ms, 596*ms }, "[6] calls, 0 missed, next 606ms, number 6, 0: 1.0 GiB at 0s"},
		"two periods are laid":  {false, "", "", func(w *sampler.Sweep) { w.Control[wordNext], w.For = clockStart+int64(2*ms), 10*ms }, "[3] calls, 0 missed, next 15ms, number 3, 0: 1.0 GiB at 0s"},
		"less are not":          {false, "", "", func(w *sampler.Sweep) { w.Control[wordNext], w.For = clockStart+int64(2*ms), 10*ms-1 }, "[2] calls, 0 missed, next 12ms, number 2, 0: 1.0 GiB at 0s"},
		"goes on": {false, "", "", func(w *sampler.Sweep) {
			w.Control[wordNext], w.Control[wordTick], w.For = clockStart+int64(17*ms), 9, 32*ms
		}, "[7] calls, 0 missed, next 37ms, number 13, 0: 1.0 GiB at 0s"},
		"goes on a period later": {false, "", "", func(w *sampler.Sweep) {
			w.Control[wordNext], w.Control[wordTick], w.For = clockStart+int64(5*ms), 9, 30*ms
		}, "[6] calls, 0 missed, next 35ms, number 15, 0: 1.0 GiB at 0s"},
		"no time at all":         {false, "", "", func(w *sampler.Sweep) { w.For = 0 }, "[1] calls, 0 missed, next 5ms, number 1, 0: 1.0 GiB at 0s"},
		"stands still":           {false, "", "", func(w *sampler.Sweep) { w.Still[0], w.For = 2, 200*ms }, "[31] calls, 0 missed, next 210ms, number 42, 0: 1.0 GiB at 0s"},
		"to an odd end":          {false, "", "", func(w *sampler.Sweep) { w.Still[0], w.Control[wordTick], w.For = 2, 1, 205*ms }, "[31] calls, 0 missed, next 215ms, number 44, 0: 1.0 GiB at 0s"},
		"from an odd period":     {false, "", "", func(w *sampler.Sweep) { w.Still[0], w.Control[wordTick], w.For = 2, 1, 200*ms }, "[31] calls, 0 missed, next 210ms, number 44, 0: 1.0 GiB at 0s"},
		"moves after a while":    {false, "mem 0 used=2GiB at=150ms\n", "", func(w *sampler.Sweep) { w.Still[0], w.For = 4, 400*ms }, "[51] calls, 0 missed, next 420ms, number 84, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 160ms"},
		"was late before":        {false, "", "", func(w *sampler.Sweep) { w.Still[0], w.For, w.Control[wordLate] = 2, 300*ms, clockStart-int64(1855*ms) }, "[45] calls, 0 missed, next 310ms, number 62, 0: 1.0 GiB at 0s"},
		"is late":                {false, "", "100000000,100000001,5000001", func(w *sampler.Sweep) { w.For = 120 * ms }, "[24] calls, 1 missed, next 125ms, number 25, late 105.000001ms, 0: 1.0 GiB at 0s"},
		"is just not late":       {false, "", "100000000,100000001,5000000", func(w *sampler.Sweep) { w.For = 120 * ms }, "[24] calls, 1 missed, next 125ms, number 25, 0: 1.0 GiB at 0s"},
		"misses two":             {false, "", "100000000,100000001,14000000", func(w *sampler.Sweep) { w.For = 150 * ms }, "[29] calls, 2 missed, next 155ms, number 31, late 114ms, 0: 1.0 GiB at 0s"},
		"misses three":           {false, "", "100000000,100000001,15000000", func(w *sampler.Sweep) { w.For = 150 * ms }, "[28] calls, 3 missed, next 155ms, number 31, late 115ms, 0: 1.0 GiB at 0s"},
		"every third":            {false, "", "", func(w *sampler.Sweep) { w.Every[0], w.Still[0], w.For = 3, 3, 101*ms }, "[8] calls, 0 missed, next 116ms, number 24, 0: 1.0 GiB at 0s"},
		"every third beside all": {false, "", "", func(w *sampler.Sweep) { *w = *sweepOf(2, 101*ms); w.Every[1], w.Still[1] = 3, 3 }, "[22 8] calls, 0 missed, next 106ms, number 22, 0: 1.0 GiB at 0s, 1: 1.0 GiB at 0s"},
		"in turn": {false, "", "", func(w *sampler.Sweep) {
			*w = *sweepOf(2, 101*ms)
			w.Every[0], w.Still[0], w.Every[1], w.Still[1], w.Phase[1] = 10, 10, 10, 10, 5
		}, "[3 2] calls, 0 missed, next 121ms, number 25, 0: 1.0 GiB at 0s, 1: 1.0 GiB at 21ms"},
		"calls of half a period": {false, "latency nvmlDeviceGetMemoryInfo_v2 2500us sleep\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[11] calls, 0 missed, next 55ms, number 11, least 2.5ms, 0: 1.0 GiB at 0s"},
		"calls of more":          {false, "latency nvmlDeviceGetMemoryInfo_v2 2501us sleep\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[2] calls, 0 missed, next 10ms, number 2, least 2.501ms, 0: 1.0 GiB at 0s"},
		"calls of more together": {false, "latency nvmlDeviceGetMemoryInfo_v2 1251us sleep\n", "", func(w *sampler.Sweep) { *w = *sweepOf(2, 50*ms) }, "[2 2] calls, 0 missed, next 10ms, number 2, least 1.251ms, 0: 1.0 GiB at 0s, 1: 1.0 GiB at 1.251ms"},
		"one call of more":       {false, "latency nvmlDeviceGetMemoryInfo_v2 3ms sleep from=10ms to=11ms\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[11] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s"},
		"one call of a period":   {false, "latency nvmlDeviceGetMemoryInfo_v2 5ms sleep from=10ms to=11ms\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[10] calls, 1 missed, next 55ms, number 11, 0: 1.0 GiB at 0s"},
		"some calls of more":     {false, "latency nvmlDeviceGetMemoryInfo_v2 3ms sleep from=10ms to=11ms\nlatency nvmlDeviceGetMemoryInfo_v2 3ms sleep from=20ms to=21ms\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[11] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s"},
		"one quicker call":       {false, "latency nvmlDeviceGetMemoryInfo_v2 200us sleep\nlatency nvmlDeviceGetMemoryInfo_v2 150us sleep from=10ms to=11ms\n", "", func(w *sampler.Sweep) { w.For = 30 * ms }, "[7] calls, 0 missed, next 35ms, number 7, least 150µs, 0: 1.0 GiB at 0s"},
		"one slower call":        {false, "latency nvmlDeviceGetMemoryInfo_v2 150us sleep\nlatency nvmlDeviceGetMemoryInfo_v2 200us sleep from=10ms to=11ms\n", "", func(w *sampler.Sweep) { w.For = 30 * ms }, "[7] calls, 0 missed, next 35ms, number 7, least 150µs, 0: 1.0 GiB at 0s"},
		"rises to the mark":      {false, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) { w.For, w.Step, w.Above[0] = 50*ms, uint64(sampler.GiB), uint64(2*sampler.GiB) }, "[11] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"rises above the mark": {false, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) {
			w.For, w.Step, w.Above[0] = 50*ms, uint64(sampler.GiB), uint64(2*sampler.GiB-1)
		}, "[5] calls, 0 missed, next 25ms, number 5, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"rises to the news":    {false, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) { w.For, w.News[0] = 50*ms, uint64(2*sampler.GiB) }, "[11] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"rises above the news": {false, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) { w.For, w.News[0] = 50*ms, uint64(2*sampler.GiB-1) }, "[5] calls, 0 missed, next 25ms, number 5, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"the mark follows": {false, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) {
			w.For, w.Above[0], w.Step = 50*ms, uint64(3*sampler.GiB), uint64(sampler.GiB)-1
		}, "[5] calls, 0 missed, next 25ms, number 5, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"but not a step": {false, "mem 0 used=2GiB at=20ms\nmem 0 used=3GiB at=30ms\n", "", func(w *sampler.Sweep) {
			w.For, w.Above[0], w.Step = 50*ms, uint64(3*sampler.GiB), uint64(2*sampler.GiB)
		}, "[11] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms, 0: 3.0 GiB at 30ms"},
		"without a mark":             {false, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) { w.For, w.Step = 50*ms, uint64(sampler.GiB)/2 }, "[11] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"a quiet one stays":          {true, "", "", func(w *sampler.Sweep) { w.For, w.Quiet[0] = 50*ms, 1 }, "[10] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s"},
		"a quiet one moves":          {true, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) { w.For, w.Quiet[0] = 50*ms, 1 }, "[4] calls, 0 missed, next 25ms, number 5, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 15ms"},
		"another one moves":          {true, "mem 0 used=2GiB at=20ms\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[10] calls, 0 missed, next 55ms, number 11, 0: 1.0 GiB at 0s, 0: 2.0 GiB at 15ms"},
		"only free memory moves":     {false, "raw 0 total=8GiB used=2GiB free=6GiB\nraw 0 total=8GiB used=2GiB free=5GiB from=20ms\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[11] calls, 0 missed, next 55ms, number 11, 0: 2.0 GiB at 0s, 0: 2.0 GiB at 20ms"},
		"fails":                      {false, "fail nvmlDeviceGetMemoryInfo_v2 code=TIMEOUT from=20ms\n", "", func(w *sampler.Sweep) { w.For = 50 * ms }, "[5] calls, 0 missed, next 25ms, number 5, failed, 0: 1.0 GiB at 0s"},
		"more changes than it holds": {false, "wobble 0 height=9MiB every=5ms\n", "", func(w *sampler.Sweep) { w.For = 30 * time.Second }, "[4097] calls, 0 missed, next 20.485s, number 4097, 4097 readings"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s, inside := playText(t, "gpu 0-1\nmem * used=1GiB\n"+row.scenario, nvmltest.Clock(t, row.late)...)
			if !inside {
				return
			}
			mustOpen(t, s)
			w := sweepOf(1, 0)
			sweep := func() {
				if err := s.Sweep(w); err != nil {
					t.Fatal(err)
				}
			}
			if row.again {
				sweep()
				w.Readings = nil
			}
			row.change(w)
			if sweep(); told(w) != row.want {
				t.Errorf("%s\nwant %s", told(w), row.want)
			}
		})
	}
}
