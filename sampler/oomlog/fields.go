package oomlog

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// findings is an event while its numbers are being read.
type findings struct {
	sampler.OOMEvent
	row       *compiledRow
	sentinels []string // what was printed but is no fact
	more      bool     // numbers beside the request
}

// build reads the numbers of a message as one row understands them. It is false when the text is no failure.
func (p *Parser) build(m *message, c candidate, around string) (*findings, bool) {
	r := c.row
	body := firstTelling(m.body(c, " "), r)
	f := &findings{row: r}
	f.Framework, f.Kind, f.MemoryKind = r.framework, r.kind, r.memory
	f.OtherProcesses = []sampler.OtherProcess{}
	f.Line, f.Occurrences, f.Recovered = m.first.number, 1, r.recovered || m.recovered
	if r.hostNear != nil && r.hostNear.MatchString(around) {
		f.MemoryKind = sampler.MemoryHost
	} else if r.gpuNear != nil && r.gpuNear.MatchString(around) {
		f.MemoryKind = sampler.MemoryGPU
	}
	f.capture(r.start, r.start.re, body, 1)
	lower := strings.ToLower(body)
	for _, t := range r.fields {
		if strings.Contains(lower, t.needs) {
			f.capture(t, t.re, body, 64)
		}
	}
	if len(m.lines) > 1 && len(r.fields) > 0 {
		f.unbreak(firstTelling(m.body(c, ""), r))
	}
	f.settle(m)
	if r.numbers && !f.more || !isFailure(m, c, f, body) {
		return nil, false
	}
	f.Text = strings.Join(strings.Fields(body), " ")
	if len(f.Text) > 2000 {
		f.Text = strings.ToValidUTF8(f.Text[:2000], "")
	}
	return f, true
}

// firstTelling cuts a body where the same message begins again, keeping the first copy that has numbers.
func firstTelling(body string, r *compiledRow) string {
	at := r.start.re.FindAllStringIndex(body, 8)
	for i := 0; i+1 < len(at); i++ {
		part := body[at[i][0]:at[i+1][0]]
		if len(r.fields) == 0 || tells(part, r) {
			return part
		}
	}
	if len(at) > 0 {
		return body[at[len(at)-1][0]:]
	}
	return body
}

func tells(part string, r *compiledRow) bool {
	for _, t := range r.fields {
		if t.re.MatchString(part) {
			return true
		}
	}
	return false
}

// unbreak looks for what was not found in the text joined without blanks: terminals of a fixed width
// break words and numbers.
func (f *findings) unbreak(body string) {
	others := f.OtherProcesses
	f.OtherProcesses = nil
	lower := strings.ToLower(body)
	for _, t := range f.row.fields {
		if strings.Contains(lower, t.needs) {
			f.capture(t, t.glued, body, 64)
		}
	}
	if len(f.OtherProcesses) <= len(others) {
		f.OtherProcesses = others
	}
}

// capture applies a pattern; matches is how many times it may at most.
func (f *findings) capture(t *template, re *lazy, body string, matches int) {
	if len(t.names) == 0 {
		return
	}
	for _, at := range re.FindAllStringSubmatchIndex(body, matches) {
		for i, name := range t.names {
			if at[2*i+2] >= 0 {
				f.set(name, t.kinds[i], body[at[2*i+2]:at[2*i+3]])
			}
		}
	}
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
			f.odd("process memory " + text + " means not available")
			return
		}
		f.OtherProcesses[last].Bytes = v
		return
	}
	if !ok {
		f.odd(name + " " + text + " means not available")
		return
	}
	t := f.target(name)
	if t == nil || t.Known() {
		return
	}
	*t = sampler.Some(v)
	f.more = f.more || name != "req"
}

// odd notes something that was printed but is no fact, once.
func (f *findings) odd(note string) {
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
			f.odd(name + " " + text + " means not available")
		}
	}
}

// settle draws what follows from the numbers together.
func (f *findings) settle(m *message) {
	if m.origin.rank >= 0 {
		f.Rank = f.Rank.Else(sampler.Some(m.origin.rank))
	}
	if m.origin.pid > 0 {
		f.PID = f.PID.Else(sampler.Some(m.origin.pid))
	}
	if v, ok := f.Requested.Value(); ok && v == 0 {
		f.Requested = sampler.Opt[sampler.Bytes]{}
		f.odd("a request of 0 bytes cannot fail: the size did not fit the unit or is not known")
	}
	alloc := f.Allocated.Or(0)
	if v, ok := f.ProcessInUse.Value(); ok && v == 0 && alloc > 0 {
		f.ProcessInUse = sampler.Opt[sampler.Bytes]{}
		f.sentinels = append(f.sentinels, "this process has 0 bytes in use while it has allocated some: not available")
	}
	f.SelfUnknown = f.hasProcessClause() && !f.processClauseOwn()
	if total, ok := f.GPUTotal.Value(); ok && alloc > total && total > 0 {
		f.sentinels = append(f.sentinels, "allocated above total: system memory stands in for the card")
	}
	if total, ok := f.GPUTotal.Value(); ok && f.GPUFree.Or(0) > total && total > 0 {
		f.sentinels = append(f.sentinels, "free above total: shared system memory is counted")
	}
	if l := f.MemoryLimit; l != nil && !l.Allowed.Known() && !l.Fraction.Known() {
		f.MemoryLimit = nil
	}
	f.deriveShape()
	if len(f.sentinels) > 0 {
		if f.Extra == nil {
			f.Extra = map[string]any{}
		}
		if s, ok := f.Extra["sentinel"].(string); ok {
			f.sentinels = append(f.sentinels, s)
		}
		f.Extra["sentinel"] = strings.Join(f.sentinels, "; ")
	}
}

// hasProcessClause says whether some "Process N has" clause was read, a dropped one included.
func (f *findings) hasProcessClause() bool {
	if len(f.OtherProcesses) > 0 {
		return f.Framework == "pytorch"
	}
	for _, s := range f.sentinels {
		if strings.HasPrefix(s, "process memory ") {
			return true
		}
	}
	return false
}

// processClauseOwn says whether a "this process" clause was printed, even one without a usable number.
func (f *findings) processClauseOwn() bool {
	if f.ProcessInUse.Known() {
		return true
	}
	for _, s := range f.sentinels {
		if strings.HasPrefix(s, "proc ") || strings.HasPrefix(s, "this process ") {
			return true
		}
	}
	return false
}
