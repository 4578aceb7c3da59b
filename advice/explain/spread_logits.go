package explain

import (
	"strconv"

	"nvpeak/sampler"
)

// spreadLogits: one process has spread the layers of a model over several GPUs, and the last of these, which alone makes the logits, was asked for them.
func (f *failure) spreadLogits() bool {
	n := len(f.context.Code)
	spread := f.command.HasPlain("device_map") || f.told(sampler.ToldInForce+`device_map="auto"`) || f.inFile("accelerate/hooks.py")
	return !f.onHost() && spread && !f.ranks() && f.event.GPUIndex.Or(0) > 0 && f.bigRequest() && n > 0 && logits.Get().MatchString(f.context.Code[n-1])
}

// logits is a line that makes them, or makes more of them.
var logits = sampler.Pattern{Source: `\blogits\b|\blm_head\(`}

var causesSpread = []causeRow{
	{id: "logits", cause: CauseImbalance, reason: "https://huggingface.co/docs/accelerate/usage_guides/big_modeling",
		when:       func(f *failure) bool { return f.spreadLogits() },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.6) }, // a shorter input has fewer of them, too
		evidence: func(f *failure) string {
			return f.words.Say("why.spread_logits", "gpu", f.event.GPUIndex.Or(0), "need", printed(f.requested.Or(0)))
		}},
}

// lessForLast leaves room on that GPU: half of it for layers (own estimate).
func (f *failure) lessForLast() string {
	if !f.ownLoading() || !f.total.Known() {
		return f.comment("do.last_less")
	}
	room := func(part float64) string { return strconv.Itoa(int(partOf(f.total.Or(0), part)/sampler.GiB)) + "GiB" }
	return `from_pretrained(name, device_map="auto", max_memory={0: "` + room(0.9) + `", …, ` + strconv.Itoa(f.event.GPUIndex.Or(0)) + `: "` + room(0.5) + `"})  ` + f.comment("do.last_less")
}
