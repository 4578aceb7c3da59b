package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// What a program collects on the GPU, one result after another, and what it makes of that in the end.

var (
	// collecting puts something into a list that outlives the step; offGPU is what of it does not stay on the GPU.
	collecting = sampler.Pattern{Source: `[\w\])]\.(?:append|extend)\(`}
	offGPU     = sampler.Pattern{Source: `\.(?:cpu|item|numpy|tolist)\(\)|\bto\(["']cpu|["']cpu["']|\bfloat\([^)]`}
)

// collects: the line that failed makes a tensor for a list, and leaves it on the GPU.
func (f *facts) collects() bool {
	n := len(f.context.Code)
	return n > 0 && !f.inFunction("sliding_window") && collecting.Get().MatchString(f.context.Code[n-1]) && !offGPU.Get().MatchString(f.context.Code[n-1])
}

// joinsList is a call that makes one tensor of a list of them, or of all that a metric has collected.
var joinsList = sampler.Pattern{Source: `\b(?:torch|np|cupy|jnp)\.(?:cat|concat|concatenate|stack|vstack|hstack)\(\s*[\w.]+(?:\[[^\]]*\])?\s*[,)]|\bdim_zero_cat\(`}

// joinsKept: the line that failed joins what was collected, all of it at once.
func (f *facts) joinsKept() bool {
	n := len(f.context.Code)
	return n > 0 && !f.inFunction("forward", "nested_concat") && joinsList.Get().MatchString(f.context.Code[n-1])
}

// joinsInPlace: and what comes of it has the name of the list: "feats = torch.cat(feats, 0)". The parts of one output have another.
func (f *facts) joinsInPlace() bool {
	if !f.joinsKept() {
		return false
	}
	name, call, ok := strings.Cut(f.context.Code[len(f.context.Code)-1], " = ")
	_, of, _ := strings.Cut(call, "(")
	rest, same := strings.CutPrefix(of, strings.TrimSpace(name))
	return ok && same && rest != "" && strings.ContainsAny(rest[:1], ",) ")
}

// joinsOnto: a line puts more behind what it has so far, under the same name: "self.feats = torch.cat([self.feats, feats])".
func (f *facts) joinsOnto() bool {
	return slices.ContainsFunc(f.context.Code, func(line string) bool {
		name, call, ok := strings.Cut(line, " = ")
		_, of, calls := strings.Cut(call, "(")
		return ok && calls && strings.HasPrefix(strings.TrimLeft(of, "[( "), strings.TrimSpace(name)+",")
	})
}

// joinsAll: what was made of many inputs, one after another, and stayed on the GPU becomes one tensor there, beside its parts.
func (f *facts) joinsAll() bool {
	n := len(f.context.Functions)
	if f.onHost() || n == 0 || !f.joinsKept() || f.phase() == sampler.PhaseValidation {
		return false
	}
	last := strings.ToLower(f.context.Functions[n-1])
	return f.requested.Or(0) >= partOf(f.total.Or(0), 0.05) && f.requested.Known() && f.allocated.Or(0) >= f.requested.Or(0) && f.total.Known() &&
		slices.ContainsFunc([]string{"embed", "encod", "extract", "feature"}, func(part string) bool { return strings.Contains(last, part) })
}
