package watch

import "nvpeak/sampler"

// xidLevels is how bad an Xid is, after the catalog at
// https://docs.nvidia.com/deploy/xid-errors/index.html; what it means is in package lang.
var xidLevels = map[uint64]string{
	13:  sampler.LevelWarning,
	31:  sampler.LevelWarning,
	43:  sampler.LevelWarning,
	45:  sampler.LevelNotice,
	48:  sampler.LevelCritical,
	61:  sampler.LevelCritical,
	62:  sampler.LevelCritical,
	63:  sampler.LevelWarning,
	64:  sampler.LevelCritical,
	74:  sampler.LevelCritical,
	79:  sampler.LevelCritical,
	92:  sampler.LevelWarning,
	94:  sampler.LevelWarning,
	95:  sampler.LevelCritical,
	119: sampler.LevelCritical,
	120: sampler.LevelCritical,
}
