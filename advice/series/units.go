package series

import "nvpeak/sampler"

// Bytes is an amount of a series, which are in MiB, as everybody else has it; less than nothing is nothing.
func Bytes(m float64) sampler.Bytes {
	if !(m > 0) {
		return 0
	}
	if m >= sampler.MaxPlausible.MiB() {
		return sampler.MaxPlausible - 1
	}
	return sampler.Bytes(m*float64(sampler.MiB) + 0.5)
}
