package oomlog

import (
	"bytes"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// build reads the numbers of a message as one row understands them. It is false when the text is no failure.
func build(m *message, c candidate, text part, around *surroundings) (*findings, bool) {
	r := c.row
	body := firstWithNumbers(m.body(c, text, " "), r)
	f := &findings{held: held{row: r}}
	f.Framework, f.Kind, f.MemoryKind = r.framework, r.kind, r.memory
	f.OtherProcesses = []sampler.OtherProcess{}
	f.Line, f.Occurrences, f.Recovered = m.first.number, 1, r.recovered && !spoken.MatchString(m.head) || m.recovered
	if around.has(r.hostNear) {
		f.MemoryKind = sampler.MemoryHost
	} else if around.has(r.gpuNear) {
		f.MemoryKind = sampler.MemoryGPU
	}
	f.capture(r.start, r.start.re, body, 1)
	for _, t := range r.fields {
		f.capture(t, t.re, body, 64)
	}
	if len(m.lines) > 1 && len(r.fields) > 0 {
		f.unbreak(m, c, text)
	}
	f.fillDerived(m)
	f.fillRank(m.head[:min(c.at, len(m.head))])
	if r.numbers && !f.more || !isFailure(m, c, f, text, body) {
		return nil, false
	}
	line := oneLine(body.text)
	f.Text = strings.ToValidUTF8(line[:min(len(line), 2000)], "")
	return f, true
}

// oneLine makes every run of white space one blank.
func oneLine(text string) string {
	if isPlain(text) && !strings.Contains(text, "  ") && strings.Trim(text, " ") == text {
		return strings.Clone(text)
	}
	return strings.Join(strings.Fields(text), " ")
}

// firstWithNumbers cuts a body where the same message begins again, keeping the first copy that has numbers.
func firstWithNumbers(body part, r *compiledRow) part {
	at := r.start.re.allIn(body, 8, false)
	for i := 0; i+1 < len(at); i++ {
		one := body.cut(at[i][0], at[i+1][0])
		if len(r.fields) == 0 || hasNumbers(one, r) {
			return one
		}
	}
	if len(at) > 0 {
		return body.cut(at[len(at)-1][0], len(body.text))
	}
	return body
}

func hasNumbers(one part, r *compiledRow) bool {
	for _, t := range r.fields {
		if t.re.in(one) {
			return true
		}
	}
	return false
}

// rankBefore is a rank among the words that a logger or a program puts before a message.
var rankBefore = pattern(`(?i)(?:^|[\s\[({|:,"'-])(?:global[ _-])?rank["']?[ :=#_-]{0,2}(\d{1,4})(?:/\d{1,4})?(?:[\s\])}|:,"'-]|$)`)

// fillRank takes the rank from the words before a message, where no prefix of its line has one.
func (f *findings) fillRank(before string) {
	if f.Rank.Known() || !strings.Contains(before, "ank") && !strings.Contains(before, "ANK") || !rankBefore.MatchString(before) {
		return
	}
	f.setInt("rank", rankBefore.FindStringSubmatch(before)[1])
}

// rankOfTraceback is the rank of the line with which a traceback before a message begins, where only that line has one.
func (p *past) rankOfTraceback(m *message) (rank sampler.Opt[int]) {
	if m.origin.key != "" {
		return rank
	}
	tail := p.ring.tail(maxFrames*2 + len(m.lines))
	for _, l := range slices.Backward(tail) {
		switch {
		case l.number >= m.first.number || len(l.text) > 0 && l.text[0] == ' ':
		case bytes.HasSuffix(bytes.TrimSpace(l.text), []byte("Traceback (most recent call last):")):
			if o := toLine((&whole{text: string(l.text)}).all(), l.number).origin; o.rank >= 0 {
				rank = sampler.Some(o.rank)
			}
			return rank
		default:
			return rank
		}
	}
	return rank
}

// fillDerived adds what follows from the numbers together.
func (f *findings) fillDerived(m *message) {
	if m.origin.rank >= 0 {
		f.Rank = f.Rank.Else(sampler.Some(m.origin.rank))
	}
	if m.origin.pid > 0 {
		f.PID = f.PID.Else(sampler.Some(m.origin.pid))
	}
	if v, ok := f.Requested.Value(); ok && v == 0 {
		f.Requested = sampler.Opt[sampler.Bytes]{}
		f.sentinel("a request of 0 bytes cannot fail: the size did not fit the unit or is not known")
	}
	// CuPy's older message has the sum with what it asked for: https://github.com/cupy/cupy/pull/2242
	if sum, ok := f.Extra["with_request_bytes"].(uint64); ok && f.Requested.Known() {
		delete(f.Extra, "with_request_bytes")
		f.Allocated = f.Allocated.Else(sampler.Some(sampler.Bytes(sum).Less(f.Requested.Or(0))))
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
	shape, _ := f.Extra["shape"].([]int)
	dtype, _ := f.Extra["dtype"].(string)
	if size, ok := shapeBytes(shape, dtype); ok {
		f.Extra["derived_requested_bytes"] = size
	}
	if size, ok := f.texture(); ok {
		f.Requested = f.Requested.Else(sampler.Some(size))
	}
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

// pixelValues and valueBytes are what OpenGL's names of formats and of types say: the values of a pixel, and the bytes of each.
var (
	pixelValues = map[string]float64{"GL_RED": 1, "GL_LUMINANCE": 1, "GL_DEPTH_COMPONENT": 1, "GL_RG": 2, "GL_RGB": 3, "GL_BGR": 3, "GL_RGBA": 4, "GL_BGRA": 4}
	valueBytes  = map[string]float64{"GL_UNSIGNED_BYTE": 1, "GL_BYTE": 1, "GL_UNSIGNED_SHORT": 2, "GL_HALF_FLOAT": 2, "GL_FLOAT": 4, "GL_UNSIGNED_INT": 4, "GL_INT": 4}
)

// texture is what a texture takes whose sides, format and type a refused call had.
func (f *findings) texture() (sampler.Bytes, bool) {
	width, _ := f.Extra["texture_width"].(int64)
	height, _ := f.Extra["texture_height"].(int64)
	format, _ := f.Extra["texture_format"].(string)
	of, _ := f.Extra["texture_type"].(string)
	size := float64(width) * float64(height) * pixelValues[format] * valueBytes[of]
	return sampler.Bytes(size), size > 0 && size < float64(sampler.MaxPlausible)
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
