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
}

// Rules lists every rule, for documentation.
func Rules() []Rule {
	list := make([]Rule, len(rules))
	for i, r := range rules {
		list[i] = *r
	}
	return list
}
