package oomlog

import (
	"math"
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

// unitOf is the factor of each kind of bare number.
var unitOf = map[captureKind]sampler.Bytes{kindMiB: sampler.MiB, kindGiB: sampler.GiB, kindKiB: sampler.KiB, kindPages: 4 * sampler.KiB}

// parseSize reads "4,770.5 MiB" as printed; all units are 1024-based. It is false for what cannot be an amount of
// memory: 2^60 and more, which is how 2^64-1 prints.
func parseSize(text string, kind captureKind) (sampler.Bytes, bool) {
	t := strings.ReplaceAll(text, ",", "")
	n := 0
	for n < len(t) && (t[n] >= '0' && t[n] <= '9' || t[n] == '.') {
		n++
	}
	unit := strings.ToUpper(strings.TrimSpace(t[n:]))
	factor := unitOf[kind]
	if factor == 0 {
		factor = sizeFactor(unit)
	}
	f, err := strconv.ParseFloat(t[:n], 64)
	if err != nil || factor == 0 {
		return 0, false
	}
	v := f * float64(factor)
	if math.IsInf(v, 0) || v >= float64(sampler.Sane) {
		return 0, false
	}
	return sampler.Bytes(math.Floor(v + 0.5)), true
}

func sizeFactor(unit string) sampler.Bytes {
	if unit == "" || unit == "B" || unit == "BYTE" || unit == "BYTES" {
		return 1
	}
	i := strings.IndexByte("KMGTPE", unit[0])
	if i < 0 {
		return 0
	}
	return 1 << (10 * (i + 1))
}

// elementSize is bytes per element as TensorFlow and XLA name types.
var elementSize = map[string]float64{
	"float": 4, "float32": 4, "f32": 4, "half": 2, "float16": 2, "f16": 2, "bfloat16": 2, "bf16": 2, "double": 8, "float64": 8,
	"f64": 8, "int32": 4, "s32": 4, "int64": 8, "s64": 8, "int8": 1, "uint8": 1, "s8": 1, "u8": 1, "bool": 1, "pred": 1, "int16": 2,
	"uint16": 2, "complex64": 8, "complex128": 16, "uint32": 4, "uint64": 8,
}

// deriveShape works out the bytes of a printed tensor shape.
func (f *findings) deriveShape() {
	shape, _ := f.Extra["shape"].([]int)
	dtype, _ := f.Extra["dtype"].(string)
	size := elementSize[dtype]
	if len(shape) == 0 || size == 0 {
		return
	}
	for _, d := range shape {
		size *= float64(d)
	}
	if size > 0 && size < float64(sampler.Sane) {
		f.Extra["derived_requested_bytes"] = uint64(size)
	}
}
