package explain

// causesAlerts are the causes that open alerts speak for, and how surely, if the run died of
// what was alerted.
var causesAlerts = []causeRow{
	{alert: "growth", cause: CauseLeak, confidence: always(0.85)},
	{alert: "repeat_spike", cause: CauseValidationSpike, confidence: always(0.8)},
	{alert: "neighbour", cause: CauseOtherProcess, confidence: always(0.85)},
	{alert: "flush", cause: CauseFragmentation, confidence: always(0.5)},
	{alert: "imbalance", cause: CauseImbalance, confidence: always(0.6)},
	{alert: "unattributed", cause: CauseUnattributed, confidence: always(0.5)},
	{alert: "host_memory", cause: CauseHostMemory, confidence: always(0.85)},
	{alert: "swap", cause: CauseHostMemory, confidence: always(0.5)},
}
