package oomlog

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// findings is an event while its numbers are being read.
type findings struct {
	held
	sentinels []string // what was printed but is no fact
	more      bool     // numbers beside the request
}

// unbreak looks for what was not found in the text joined without blanks: terminals of a fixed width
// break words and numbers.
func (f *findings) unbreak(m *message, c candidate, text part) {
	var body part
	others := f.OtherProcesses
	f.OtherProcesses = nil
	for _, t := range f.row.fields {
		if f.knows(t) || !t.glued.mayIn(text) {
			continue
		}
		if body.of == nil {
			glued := text.of.known.whole(strings.Join(m.lines, ""))
			defer glued.done()
			body = firstWithNumbers(m.body(c, glued.all(), ""), f.row)
		}
		f.capture(t, t.glued, body, 64)
	}
	if len(f.OtherProcesses) <= len(others) {
		f.OtherProcesses = others
	}
}

// capture applies a pattern until its fields are known; matches is how many times it may at most.
func (f *findings) capture(t *template, re *lazy, body part, matches int) {
	if f.knows(t) {
		return
	}
	for _, at := range re.allIn(body, matches, true) {
		for i, name := range t.names {
			if at[2*i+2] >= 0 {
				f.set(name, t.kinds[i], body.text[at[2*i+2]:at[2*i+3]])
			}
		}
		if f.knows(t) {
			return
		}
	}
}

// knows says whether all that a pattern captures is known.
func (f *findings) knows(t *template) bool {
	return !slices.ContainsFunc(t.names, func(name string) bool { return !f.known(name) })
}

func (f *findings) known(name string) bool {
	switch name {
	case "gpu":
		return f.GPUIndex.Known()
	case "rank":
		return f.Rank.Known()
	case "pid":
		return f.PID.Known()
	case "other_pid", "other":
		return false // there can be several
	case "limit":
		return f.MemoryLimit != nil && f.MemoryLimit.Allowed.Known()
	case "frac":
		return f.MemoryLimit != nil && f.MemoryLimit.Fraction.Known()
	}
	if size := f.target(name); size != nil {
		return size.Known()
	}
	_, there := f.Extra[name]
	return there
}

// set stores one captured text; the first value of a field stays.
func (f *findings) set(name string, kind captureKind, text string) {
	text = strings.TrimSpace(text)
	switch name {
	case "gpu", "rank", "pid", "other_pid":
		f.setInt(name, text)
	case "frac":
		if v, err := strconv.ParseFloat(text, 64); err == nil && f.row.limit != "" {
			f.memoryLimit().Fraction = f.memoryLimit().Fraction.Else(sampler.Some(v))
		}
	default:
		if _, field := fieldKinds[name]; field {
			f.setSize(name, kind, text)
			return
		}
		f.setExtra(name, kind, text)
	}
}

func (f *findings) setInt(name, text string) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return
	}
	v := sampler.Some(int(n))
	switch name {
	case "gpu":
		f.GPUIndex = f.GPUIndex.Else(v)
	case "rank":
		f.Rank = f.Rank.Else(v)
	case "pid":
		f.PID = f.PID.Else(v)
	case "other_pid":
		f.OtherProcesses = append(f.OtherProcesses, sampler.OtherProcess{PID: int(n)})
	}
}

// target is the field of a size.
func (f *findings) target(name string) *sampler.Opt[sampler.Bytes] {
	switch name {
	case "req":
		return &f.Requested
	case "total":
		return &f.GPUTotal
	case "free":
		return &f.GPUFree
	case "proc":
		return &f.ProcessInUse
	case "alloc":
		return &f.Allocated
	case "unalloc":
		return &f.ReservedUnallocated
	case "reserved":
		return &f.Reserved
	case "pools":
		return &f.PrivatePools
	case "limit":
		return &f.memoryLimit().Allowed
	}
	return nil
}

func (f *findings) setSize(name string, kind captureKind, text string) {
	v, ok := parseSize(text, kind)
	if name == "other" {
		last := len(f.OtherProcesses) - 1
		if last < 0 || f.OtherProcesses[last].Bytes != 0 {
			return
		}
		if !ok {
			f.OtherProcesses = f.OtherProcesses[:last]
			f.sentinel("process memory " + text + " means not available")
			return
		}
		f.OtherProcesses[last].Bytes = v
		return
	}
	if !ok {
		f.sentinel(name + " " + text + " means not available")
		return
	}
	t := f.target(name)
	if t == nil || t.Known() {
		return
	}
	*t = sampler.Some(v)
	f.more = f.more || name != "req"
}

// sentinel records, once, what was printed but is no fact.
func (f *findings) sentinel(note string) {
	if !slices.Contains(f.sentinels, note) {
		f.sentinels = append(f.sentinels, note)
	}
}

func (f *findings) memoryLimit() *sampler.MemoryLimit {
	if f.MemoryLimit == nil {
		f.MemoryLimit = &sampler.MemoryLimit{Kind: f.row.limit}
	}
	return f.MemoryLimit
}

func (f *findings) setExtra(name string, kind captureKind, text string) {
	if f.Extra == nil {
		f.Extra = map[string]any{}
	}
	if _, there := f.Extra[name]; there {
		return
	}
	switch kind {
	case kindWord, kindName, kindEB:
		f.Extra[name] = strings.TrimRight(text, ".")
	case kindList:
		f.Extra[name] = ints(text)
	case kindInt:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			f.Extra[name] = n
		}
	case kindNum:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			f.Extra[name] = n
		}
	default:
		if v, ok := parseSize(text, kind); ok {
			f.Extra[name] = uint64(v)
			f.more = true
		} else {
			f.sentinel(name + " " + text + " means not available")
		}
	}
}
