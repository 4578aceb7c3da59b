package explain

import (
	"slices"
	"strconv"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// noSmaller: the model that a lever names is no smaller than the one that the text says is loaded.
func (f *failure) noSmaller(l tools.Lever) bool {
	at := namedSize.Get().FindStringSubmatch(l.Type)
	if at == nil || f.weightsIn(16) == 0 {
		return false
	}
	billions, err := strconv.ParseFloat(at[2], 64)
	return err == nil && sampler.Bytes(billions*2e9) >= f.weightsIn(16)
}

// fewBitsInstead: who runs a language model by a program that names no smaller one can load the same in fewer bits, for which it has an option.
func (f *failure) fewBitsInstead() bool {
	of := func(of tools.Of) bool {
		return slices.ContainsFunc(f.levers(), func(l tools.Lever) bool {
			l, ok := f.agreeing(l)
			return ok && l.Of == of && (of != tools.Bits || l.By == "bits4" || l.By == "bits8") && !f.told(sampler.ToldInForce+l.Type)
		})
	}
	return f.program.is(inference) && !f.onHost() && f.loadsLanguage() && !of(tools.Model) && of(tools.Bits)
}
