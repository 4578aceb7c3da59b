package watch

// rules is every rule there is, the most urgent first among alerts of one level.
var rules = []*Rule{
	&ruleGPULost,
	&ruleOOM,
	&ruleRepeatSpike,
	&ruleNeed,
	&ruleNeighbor,
	&ruleGrowth,
	&ruleFlush,
	&ruleHostMemory,
	&ruleSwap,
	&ruleXID,
	&ruleImbalance,
	&ruleUnattributed,
	&ruleLevel,
}
