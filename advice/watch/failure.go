package watch

import (
	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// failure is an out-of-memory failure that was reported to the Watch.
type failure struct {
	event  sampler.OOMEvent
	gpu    sampler.GPUKey
	placed bool // gpu is known
	at     float64

	explained explain.Explanation // with what was known of the GPU at that moment
}
