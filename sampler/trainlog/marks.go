package trainlog

import (
	"regexp"
	"strings"
	"sync"

	"nvpeak/sampler"
)

// markForm is one way in which logs say where the run stands. Groups: n (epoch), gpu,
// alloc, res, and their units.
type markForm struct {
	word string // in lower case; a line without it is not looked at further
	kind string
	re   *regexp.Regexp

	anchored bool // it speaks of the beginning of the line
}

func markRow(word, kind, pattern string) markForm {
	return markForm{word, kind, regexp.MustCompile(`(?i)` + pattern), strings.HasPrefix(pattern, "^")}
}

const sizePart = `[\d.]+)\s*(?P<unit>GiB|GB|G|MiB|MB|M)\b`

// markForms, in the order in which they are tried; the first that fits says what a line
// is. Readings of the allocator are looked for beside. Forms are compiled at first use: a
// program that reads no log needs none.
var markForms = sync.OnceValue(func() []markForm {
	return []markForm{
		// Validation begins. The table of Ultralytics has no word for it.
		markRow("instances", sampler.MarkValidation, `^\s*Class\s+Images\s+Instances\s`),
		markRow("val", sampler.MarkValidation, `\b(?:validating\b|evaluating\b|(?:running|start\w*|begin\w*|before|enter\w*|perform\w*) (?:the )?(?:validation|evaluation|eval)\b|`+
			`(?:validation|evaluation|eval) (?:start\w*|begin\w*|dataloader|sanity|at step)|(?:validation|evaluating|evaluation|val|eval): *\d+%|`+
			`\[val(?:idation)?\])`),
		markRow("validation", sampler.MarkValidation, `^[\W]*validation[\W]*$`),
		markRow("sav", sampler.MarkSaving, `\bsav(?:ing|ed) (?:the |current |best |last |model |state )*(?:checkpoint|weights|model|snapshot|state)`),
		// Ultralytics: "  134/300      9.2G   1.02 …"
		markRow("g", sampler.MarkEpoch, `^\s*(?P<n>\d+)/\d+\s+(?P<res>[\d.]+)(?P<unit>G)\s`),
		markRow("epoch", sampler.MarkEpoch, `\bepochs?["']?[\s:=#\[(]{0,4}(?P<n>\d+)`),
		// What follows validation.
		markRow("val", sampler.MarkTraining, `\b(?:validation|val|eval(?:uation)?)[ _/]?(?:loss|acc\w*|metrics?|results?|map|score|psnr|ssim|done|finished|complete\w*|took)\b`),
		markRow("train", sampler.MarkTraining, `\b(?:start\w*|begin\w*|resum\w*|running|back to) training\b`),
	}
})

var (
	allocatedForms = compiled(
		`(?i)\b(?:gpu|cuda:?)?(?P<gpu>\d{1,2})?_?(?:memory_)?allocated(?P<unit>_gb|_gib|_mb|_mib)\b["']?\s*[:=]\s*(?P<size>[\d.]+)`,
		`(?i)\balloc(?:ated)?(?: memory)?["']?\s*[:=]?\s*(?P<size>`+sizePart,
		`(?i)(?P<size>`+sizePart+` allocated\b`,
	)
	reservedForms = compiled(
		`(?i)\b(?:gpu|cuda:?)?(?P<gpu>\d{1,2})?_?(?:memory_)?(?:reserved|cached)(?P<unit>_gb|_gib|_mb|_mib)\b["']?\s*[:=]\s*(?P<size>[\d.]+)`,
		`(?i)\b(?:reserved|cached)(?: memory)?["']?\s*[:=]?\s*(?P<size>`+sizePart,
		`(?i)(?P<size>`+sizePart+` (?:reserved|cached)\b`,
	)
	gpuForm = compiled(`(?i)\b(?:gpu|cuda|device)[ :#_]?(\d{1,2})\b`)
)

// compiled are the forms, once somebody asks for them.
func compiled(patterns ...string) func() []*regexp.Regexp {
	return sync.OnceValue(func() (list []*regexp.Regexp) {
		for _, p := range patterns {
			list = append(list, regexp.MustCompile(p))
		}
		return list
	})
}

// markBytes of a line are looked at: what says where a run stands stands in front.
const markBytes = 600

// marksOf is what a line says, without its time. Without readings, what it says of the
// allocator is only noticed.
func marksOf(line string, readings bool) []sampler.LogMark {
	if len(line) > markBytes {
		line = line[:markBytes]
	}
	low := lower(line)
	if strings.Contains(low, "out of memory") || strings.Contains(low, "tried to allocate") {
		return nil // its numbers belong to the failure
	}
	var list []sampler.LogMark
	forms := markForms()
	for i := range forms {
		f := &forms[i]
		m := f.find(line, low)
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
	if stage, ok := stageOf(line); ok {
		list = append(list, stage)
	}
	for _, word := range []string{"alloc", "reserved", "cached"} {
		if at := strings.Index(low, word); at >= 0 {
			if !readings {
				return append(list, sampler.LogMark{Kind: sampler.MarkAllocator})
			}
			if mark, ok := allocatorOf(around(line, at)); ok {
				return append(list, mark)
			}
		}
	}
	return list
}

// find applies the form around each place of its word: regular expressions are slow on
// whole lines.
func (f *markForm) find(line, low string) []string {
	if f.anchored {
		if !strings.Contains(low, f.word) {
			return nil
		}
		return f.re.FindStringSubmatch(line)
	}
	for from := 0; ; {
		at := strings.Index(low[from:], f.word)
		if at < 0 {
			return nil
		}
		at += from
		if m := f.re.FindStringSubmatch(around(line, at)); m != nil {
			return m
		}
		from = at + len(f.word)
	}
}

// around is the part of a line near a place.
func around(line string, at int) string { return line[max(0, at-40):min(len(line), at+80)] }

// lower is the line with its ASCII letters in lower case, of the same length.
func lower(line string) string {
	b := []byte(line)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func allocatorOf(line string) (sampler.LogMark, bool) {
	mark := sampler.LogMark{Kind: sampler.MarkAllocator}
	var gpu string
	mark.Allocated, gpu = findSize(allocatedForms(), line)
	reserved, gpu2 := findSize(reservedForms(), line)
	mark.Reserved = reserved
	if gpu == "" {
		gpu = gpu2
	}
	if gpu == "" {
		if m := gpuForm()[0].FindStringSubmatch(line); m != nil {
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
	b, ok := sampler.Amount(strings.TrimSuffix(digits, "."), sampler.Unit(strings.TrimPrefix(unit, "_")))
	if !ok {
		return sampler.Opt[sampler.Bytes]{}
	}
	return sampler.Some(b)
}
