package cli

import (
	"io"
	"slices"
	"time"

	"nvpeak/advice/retry"
	"nvpeak/sampler"
)

// afterFailure is what a try printed after its last failure of memory.
func (t *try) afterFailure() string {
	end, _ := t.watched.side.Tail()
	after := afterFailure(string(end))
	if !t.watched.ordered {
		after = retry.WithoutProgress(after)
	}
	return after
}

// conclude says of a try that came through after others what was enough, and notes the end in the newest black box.
func (t *tries) conclude(now *try) {
	if len(t.done) < 2 {
		return
	}
	end := boxOutcome{Try: len(t.done), End: time.Now(), ExitCode: now.code, Changed: retry.All(t.changes, t.words())}
	if now.code == 0 {
		if !now.watched.side.Ended() {
			io.WriteString(t.err, "\n") //nolint:errcheck // there is nobody to tell
		}
		t.say(t.came(end.Changed))
		figures := comparePeaks(t.done)
		t.say(figures.say(t.words()))
		end.fill(figures)
	}
	for _, died := range slices.Backward(t.done) {
		if died.watched.box.outcome(end) {
			return
		}
	}
}

func (t *tries) came(changed string) string {
	if changed == "" {
		return t.words().Say("retry.plain", "n", len(t.done))
	}
	return t.words().Say("retry.came", "n", len(t.done), "what", changed)
}

// failedGPU is the GPU on which a try died; empty: not known.
func (t *try) failedGPU(s *sampler.Snapshot) string {
	e := t.why.Events[t.why.Verdict.Event]
	environment := map[string]string{}
	for _, name := range []string{retry.VisibleDevices, "CUDA_DEVICE_ORDER"} {
		if v, set := retry.Get(t.env, name); set {
			environment[name] = v
		}
	}
	ordinals := sampler.NewOrdinals(s)
	if n, known := e.GPUIndex.Value(); known {
		key := ordinals.Key(&sampler.Process{Environment: environment}, n)
		if g := s.Find(key); key != (sampler.GPUKey{}) && g != nil {
			return g.UUID
		}
	}
	if own := t.watched.peak.largestOwn(); own != "" {
		return own
	}
	if g := s.Find(ordinals.Only()); g != nil && ordinals.Only() != (sampler.GPUKey{}) {
		return g.UUID
	}
	return ""
}
