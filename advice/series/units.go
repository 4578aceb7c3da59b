package series

import "nvpeak/sampler"

// MiB is an amount as series keep it.
func MiB(b sampler.Bytes) float64 { return float64(b) / float64(sampler.MiB) }

// Bytes is an amount of a series as everybody else has it; less than nothing is nothing.
func Bytes(m float64) sampler.Bytes {
	if !(m > 0) {
		return 0
	}
	if m >= MiB(sampler.MaxPlausible) {
		return sampler.MaxPlausible - 1
	}
	return sampler.Bytes(m*float64(sampler.MiB) + 0.5)
}
