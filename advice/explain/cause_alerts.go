package explain

import "nvpeak/sampler"

// causesAlerts are the causes that open alerts speak for, and how surely, if the run died of
// what was alerted.
var causesAlerts = []causeRow{
	{alert: sampler.AlertGrowth, cause: CauseLeak, confidence: always(0.85)},
	{alert: sampler.AlertRepeatSpike, cause: CauseValidationSpike, confidence: always(0.8)},
	{alert: sampler.AlertNeighbor, cause: CauseOtherProcess, confidence: always(0.85)},
	{alert: sampler.AlertFlush, cause: CauseFragmentation, confidence: always(0.5)},
	{alert: sampler.AlertImbalance, cause: CauseImbalance, confidence: always(0.85)},
	{alert: sampler.AlertUnattributed, cause: CauseUnattributed, confidence: always(0.5)},
	{alert: sampler.AlertHostMemory, cause: CauseHostMemory, confidence: always(0.85)},
	{alert: sampler.AlertSwap, cause: CauseHostMemory, confidence: always(0.5)},
}
