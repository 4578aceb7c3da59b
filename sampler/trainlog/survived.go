package trainlog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

const (
	stoodLines    = 200     // in which it is looked for where a run stood
	survivalLine  = 4 << 10 // bytes of a line that count
	oneFailure    = 80      // lines in which a failure may be named more than once
	mostRefusals  = 1000    // that are followed; of more, nothing is said
	stepsFurther  = 50      // beyond where it stood may the first further step be
	memoryFailure = "out of memory"
)

// Survival hears a log, and tells which out-of-memory errors in it were survived: after them the program printed
// further steps, and counted on from where it stood. One that is started anew counts from its beginning, or from a
// checkpoint before that. The zero value is ready.
type Survival struct {
	number  int // of the line, from 1
	partial []byte
	lines   []string // the newest, the last of them last
	all     []refusal
}

// refusal is an error of memory, and what came after it.
type refusal struct {
	line  int
	stood map[string]int // what each word had counted to
	steps map[string]bool
	anew  bool
}

func (s *Survival) Write(b []byte) (int, error) {
	n := len(b)
	for len(s.all) < mostRefusals {
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			break
		}
		s.number++
		s.hear(string(append(s.partial, b[:min(i, survivalLine)]...)))
		if b[i] == '\r' {
			s.number--
		}
		s.partial, b = s.partial[:0], b[i+1:]
	}
	s.partial = append(s.partial, b[:min(len(b), max(0, survivalLine-len(s.partial)))]...)
	return n, nil
}

func (s *Survival) hear(line string) {
	if strings.Contains(line, "emory") && strings.Contains(strings.ToLower(line), memoryFailure) && !stepLine.Get().MatchString(line) {
		s.all = append(s.all, refusal{line: s.number, stood: stoodAt(s.lines), steps: map[string]bool{}})
	} else if n := len(s.all); n > 0 && len(s.all[n-1].steps) < wentOnSteps && !s.all[n-1].anew {
		s.all[n-1].hear(line)
	}
	if len(s.lines) >= 2*stoodLines {
		s.lines = slices.Delete(s.lines, 0, stoodLines)
	}
	s.lines = append(s.lines, line)
}

// counts calls for each number that a line counts, with the word that names it.
func counts(line string, to func(word string, n int)) {
	for _, m := range stepLine.Get().FindAllStringSubmatch(line, 4) {
		digits := m[1] + m[2]
		if n, err := strconv.Atoi(digits); err == nil {
			to(strings.TrimRight(strings.ToLower(m[0][:strings.Index(m[0], digits)]), " :=#[("), n)
		}
	}
}

func stoodAt(lines []string) map[string]int {
	stood := map[string]int{}
	for _, line := range lines[max(0, len(lines)-stoodLines):] {
		counts(line, func(word string, n int) { stood[word] = n })
	}
	return stood
}

// hear takes a line that came later.
func (r *refusal) hear(line string) {
	counts(line, func(word string, n int) {
		at, known := r.stood[word]
		switch {
		case !known || n == at:
		case n < at && strings.HasPrefix(word, "epoch"), n < at && !r.nextEpoch(), n > at+stepsFurther*max(1, len(r.steps)):
			r.anew = len(r.steps) == 0
		default:
			r.steps[word+strconv.Itoa(n)] = true
		}
	})
}

// nextEpoch: its number has risen since, so steps begin anew.
func (r *refusal) nextEpoch() bool {
	for key := range r.steps {
		if strings.HasPrefix(key, "epoch") {
			return true
		}
	}
	return false
}

// Survived says whether the failure that was printed at a line was survived, and, in an error that is printed again and
// again, all of them.
func (s *Survival) Survived(line int, again bool) bool {
	if len(s.all) == 0 || len(s.all) >= mostRefusals {
		return false
	}
	survived := func(r refusal) bool { return len(r.steps) >= wentOnSteps }
	if last := s.all[len(s.all)-1]; survived(last) {
		return true // and all before it were
	}
	if again {
		return false
	}
	for i, r := range s.all {
		if r.line < line-oneFailure || r.line > line+oneFailure {
			continue
		}
		if next := i + 1; next == len(s.all) || s.all[next].line > line+oneFailure {
			return survived(r)
		}
	}
	return false
}
