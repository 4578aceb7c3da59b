package oomlog

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

func ints(text string) []int {
	out := []int{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.ParseInt(w, 10, 62); err == nil {
			out = append(out, int(n))
		}
	}
	return out
}

// unitOf is the unit of each kind of bare number.
var unitOf = map[captureKind]sampler.Bytes{kindMiB: sampler.MiB, kindGiB: sampler.GiB, kindKiB: sampler.KiB}

// parseSize reads "4,770.5 MiB" as printed. It is false for what cannot be an amount of memory: 2^60 and
// more, which is how 2^64-1 prints.
func parseSize(text string, kind captureKind) (sampler.Bytes, bool) {
	n := len(text) - len(strings.TrimLeft(text, "0123456789.,"))
	unit := unitOf[kind]
	if unit == 0 {
		unit = sampler.Unit(text[n:])
	}
	return sampler.Amount(text[:n], unit)
}

// elementSize is bytes per element as TensorFlow and XLA name types.
var elementSize = map[string]float64{
	"float": 4, "float32": 4, "f32": 4, "half": 2, "float16": 2, "f16": 2, "bfloat16": 2, "bf16": 2, "double": 8, "float64": 8,
	"f64": 8, "int32": 4, "s32": 4, "int64": 8, "s64": 8, "int8": 1, "uint8": 1, "s8": 1, "u8": 1, "bool": 1, "pred": 1, "int16": 2,
	"uint16": 2, "complex64": 8, "complex128": 16, "uint32": 4, "uint64": 8,
}

// shapeBytes is what a tensor of a printed shape takes; false when the shape does not tell.
func shapeBytes(shape []int, dtype string) (uint64, bool) {
	size := elementSize[dtype]
	if len(shape) == 0 {
		return 0, false
	}
	for _, d := range shape {
		size *= float64(d)
	}
	return uint64(size), size > 0 && size < float64(sampler.MaxPlausible)
}

func number(s string) sampler.Opt[int] {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return sampler.Opt[int]{}
	}
	return sampler.Some(n)
}
