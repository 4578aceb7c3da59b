package trainlog

import (
	"regexp"
	"strings"

	"nvpeak/sampler"
)

// markForm is one way in which logs say where the run stands. Groups: n (epoch), gpu,
// alloc, res, and their units.
type markForm struct {
	word string // in lower case; a line without it is not looked at further
	kind string
	re   *regexp.Regexp
}

func markRow(word, kind, pattern string) markForm {
	return markForm{word, kind, regexp.MustCompile(`(?i)` + pattern)}
}

const sizePart = `[\d.]+)\s*(?P<unit>GiB|GB|G|MiB|MB|M)\b`

// markForms, in the order in which they are tried; the first that fits says what a line
// is. Readings of the allocator are looked for beside.
var markForms = []markForm{
	// What follows validation.
	markRow("val", sampler.MarkTraining, `\b(?:validation|val|eval(?:uation)?)[ _/]?(?:loss|acc\w*|metrics?|results?|map|score|psnr|ssim|done|finished|complete\w*|took)\b`),
	// Validation begins. The table of Ultralytics has no word for it.
	markRow("instances", sampler.MarkValidation, `^\s*Class\s+Images\s+Instances\s`),
	markRow("val", sampler.MarkValidation, `\b(?:validating\b|evaluating\b|(?:running|start\w*|begin\w*|before|enter\w*|perform\w*) (?:the )?(?:validation|evaluation|eval)\b|(?:validation|evaluation|eval) (?:start\w*|begin\w*|dataloader|sanity|at step)|(?:validation|evaluating|evaluation|val|eval): *\d+%|\[val(?:idation)?\])`),
	markRow("validation", sampler.MarkValidation, `^[\W]*validation[\W]*$`),
	markRow("sav", sampler.MarkSaving, `\bsav(?:ing|ed) (?:the |current |best |last |model |state )*(?:checkpoint|weights|model|snapshot|state)`),
	// Ultralytics: "  134/300      9.2G   1.02 …"
	markRow("g", sampler.MarkEpoch, `^\s*(?P<n>\d+)/\d+\s+(?P<res>[\d.]+)(?P<unit>G)\s`),
	markRow("epoch", sampler.MarkEpoch, `\bepochs?["']?[\s:=#\[(]{0,4}(?P<n>\d+)`),
	markRow("train", sampler.MarkTraining, `\b(?:start\w*|begin\w*|resum\w*|running|back to) training\b`),
}

var (
	allocatedForms = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b(?:gpu|cuda:?)?(?P<gpu>\d{1,2})?_?(?:memory_)?allocated(?P<unit>_gb|_gib|_mb|_mib)\b["']?\s*[:=]\s*(?P<size>[\d.]+)`),
		regexp.MustCompile(`(?i)\ballocated(?: memory)?["']?\s*[:=]?\s*(?P<size>` + sizePart),
		regexp.MustCompile(`(?i)(?P<size>` + sizePart + ` allocated\b`),
	}
	reservedForms = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b(?:gpu|cuda:?)?(?P<gpu>\d{1,2})?_?(?:memory_)?(?:reserved|cached)(?P<unit>_gb|_gib|_mb|_mib)\b["']?\s*[:=]\s*(?P<size>[\d.]+)`),
		regexp.MustCompile(`(?i)\b(?:reserved|cached)(?: memory)?["']?\s*[:=]?\s*(?P<size>` + sizePart),
		regexp.MustCompile(`(?i)(?P<size>` + sizePart + ` (?:reserved|cached)\b`),
	}
	gpuForm = regexp.MustCompile(`(?i)\b(?:gpu|cuda|device)[ :#_]?(\d{1,2})\b`)
)

// marksOf is what a line says, without its time.
func marksOf(line string) []sampler.LogMark {
	low := strings.ToLower(line)
	if strings.Contains(low, "out of memory") || strings.Contains(low, "tried to allocate") {
		return nil // its numbers belong to the failure
	}
	var list []sampler.LogMark
	for _, f := range markForms {
		if !strings.Contains(low, f.word) {
			continue
		}
		m := f.re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		mark := sampler.LogMark{Kind: f.kind}
		if i := f.re.SubexpIndex("n"); i >= 0 {
			mark.N = sampler.Some(number(m[i]))
		}
		list = append(list, mark)
		if i := f.re.SubexpIndex("res"); i >= 0 {
			list = append(list, sampler.LogMark{Kind: sampler.MarkAllocator, Reserved: sizeOf(m[i], m[f.re.SubexpIndex("unit")])})
		}
		break
	}
	if strings.Contains(low, "alloc") || strings.Contains(low, "reserved") || strings.Contains(low, "cached") {
		if mark, ok := allocatorOf(line); ok {
			list = append(list, mark)
		}
	}
	return list
}

func allocatorOf(line string) (sampler.LogMark, bool) {
	mark := sampler.LogMark{Kind: sampler.MarkAllocator}
	var gpu string
	mark.Allocated, gpu = findSize(allocatedForms, line)
	reserved, gpu2 := findSize(reservedForms, line)
	mark.Reserved = reserved
	if gpu == "" {
		gpu = gpu2
	}
	if gpu == "" {
		if m := gpuForm.FindStringSubmatch(line); m != nil {
			gpu = m[1]
		}
	}
	if gpu != "" {
		mark.GPU = sampler.Some(number(gpu))
	}
	return mark, mark.Allocated.Known() || mark.Reserved.Known()
}

func findSize(forms []*regexp.Regexp, line string) (size sampler.Opt[sampler.Bytes], gpu string) {
	for _, re := range forms {
		m := re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if i := re.SubexpIndex("gpu"); i >= 0 {
			gpu = m[i]
		}
		return sizeOf(m[re.SubexpIndex("size")], m[re.SubexpIndex("unit")]), gpu
	}
	return sampler.Opt[sampler.Bytes]{}, ""
}

// sizeOf reads a size; absent when it is none.
func sizeOf(digits, unit string) sampler.Opt[sampler.Bytes] {
	b, err := sampler.ParseBytes(strings.TrimSuffix(digits, ".") + strings.TrimPrefix(strings.ToUpper(unit), "_"))
	if err != nil || b >= sampler.Sane {
		return sampler.Opt[sampler.Bytes]{}
	}
	return sampler.Some(b)
}
