package trainlog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

const (
	wentOnSteps  = 5         // further ones show that a program lives on
	stoodLines   = 200       // in which it is looked for where a run stood
	survivalLine = 4 << 10   // bytes of a line that count
	oneFailure   = 80        // lines in which a failure may be named more than once
	mostRefusals = 1000      // that are followed; of more, nothing is said
	mostHeard    = 20_000    // lines after a failure in which steps are looked for
	stepsFurther = 50        // beyond where it stood may the first further step be
	lateBytes    = 256 << 10 // of standard output may a program hold back until its traceback is out; Python does 8 to 128 KiB
)

var (
	exceptionLine = sampler.Pattern{Source: `^(?:\S+: ?|\[\S+\]:? ?)?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Stop\w*)\b`}
	stepLine      = sampler.Pattern{Source: `(?i)\b(?:steps?|iters?|iterations?|batch|it|idx|epochs?|trials?)\b["']?[\s:=#\[(]{0,4}(\d+)|\b(\d+)/\d+ \[`}
	// refusedStep is a failure in a line that counts as well.
	refusedStep = sampler.Pattern{Source: `(?i)tried to allocate|error\b|exception\b`}
	trialEnded  = sampler.Pattern{Source: `(?i)\btrial[ #:]{1,2}(\d+) (?:finished|complete|pruned|terminated)`}
	// answered is a request of a model's client: those that ask how a server feels are answered by dead ones too.
	answered = sampler.Pattern{Source: `"POST \S+ HTTP/[\d.]+" 2\d\d\b`}
	// refusedRequest is what the client of a failed request gets: from a server that lives on.
	refusedRequest = sampler.Pattern{Source: `"POST \S+ HTTP/[\d.]+" 5\d\d\b`}
	// epochEnded is a bar of an epoch that is full.
	epochEnded = sampler.Pattern{Source: `(?i)\bepoch\b["']?[\s:=#\[(]{0,4}(\d+).{0,20}\b100%\|`}
	// otherEnd is how a program ends of something else than memory.
	otherEnd = sampler.Pattern{Source: `(?i)segmentation fault|due to time limit|no space left on device|disk quota exceeded|illegal memory access|watchdog caught collective|device-side assert|^\W*(?:keyboardinterrupt|terminated)\W*$`}
	// follows are errors that a launcher or another rank raises when a process has died.
	follows = sampler.Pattern{Source: `ChildFailedError|CalledProcessError|ProcessRaisedException|ProcessExitedException|DistBackendError|DistNetworkError|DistStoreError|RayTaskError|` +
		`ActorDied|WorkerCrashed|BrokenPipe|ConnectionReset|EOFError|BrokenProcessPool`}
)

const traceHead = "Traceback (most recent call last)"

// Survival hears a log or what a command prints, and tells which out-of-memory errors in it were survived: after them the
// program printed further steps, and counted on from where it stood; or epochs or trials of a search ended, or requests were
// answered. One that is started anew counts from its beginning, or from a checkpoint before that. The zero value is
// ready.
type Survival struct {
	number  int // of the line, from 1
	partial []byte
	lines   [stoodLines]printed // the newest, in a ring
	heard   int                 // in all
	all     []refusal
}

// printed is a line, and what it counts once somebody has asked.
type printed struct {
	text   []byte
	asked  bool
	counts []counted
	head   bool // a traceback begins
}

// counted is a number, and the word that names it.
type counted struct {
	word string
	n    int
}

func (p *printed) set(line []byte) { p.text, p.asked = append(p.text[:0], line...), false }

// read finds what the line counts: once, for each of many failures looks at the same lines before it.
func (p *printed) read() {
	if p.asked {
		return
	}
	p.asked, p.counts, p.head = true, p.counts[:0], bytes.Contains(p.text, []byte(traceHead))
	counts(string(p.text), func(word string, n int) { p.counts = append(p.counts, counted{word, n}) })
}

// refusal is an error of memory, and what came after it.
type refusal struct {
	line   int
	stood  map[string]int // what each word had counted to
	steps  map[string]bool
	anew   bool
	trial  bool // one that came later has ended; or a later epoch; or a request was answered after the one that failed
	denied bool // the client of the request that failed was told so
	fresh  bool // nothing had been counted, and the program told it in words of its own: a search for a batch, say
	raised bool // it ends a traceback
	after  int  // lines
	bytes  int
	proved bool // what came after it cannot have been printed before
}

// Refusals is how many errors of memory were heard so far.
func (s *Survival) Refusals() int { return len(s.all) }

// LastSurvived says whether the newest error of memory was survived; failed as for Survived.
func (s *Survival) LastSurvived(failed bool) bool {
	n := len(s.all)
	return n > 0 && s.all[n-1].survived(failed)
}

// Write takes more of the log.
func (s *Survival) Write(b []byte) (int, error) {
	n := len(b)
	for len(s.all) < mostRefusals {
		i := lineEnd(b)
		if i < 0 {
			break
		}
		s.number++
		if line := b[:min(i, survivalLine)]; len(s.partial) > 0 {
			s.partial = append(s.partial, line...)
			s.hear(s.partial)
		} else {
			s.hear(line)
		}
		if b[i] == '\r' {
			s.number--
		}
		s.partial, b = s.partial[:0], b[i+1:]
	}
	s.partial = append(s.partial, b[:min(len(b), max(0, survivalLine-len(s.partial)))]...)
	return n, nil
}

// lineEnd is where the first line ends, in \n or \r; less than 0: nowhere.
func lineEnd(b []byte) int {
	for i, c := range b {
		if c == '\n' || c == '\r' {
			return i
		}
	}
	return -1
}

func (s *Survival) hear(line []byte) {
	n := len(s.all)
	if refuses(line) {
		s.all = append(s.all, s.refusal(string(line)))
	} else if n > 0 && s.all[n-1].open() {
		s.all[n-1].hear(string(line))
	}
	s.lines[s.heard%stoodLines].set(line)
	s.heard++
}

// refuses says whether a line tells of memory that was refused.
func refuses(line []byte) bool {
	if !bytes.Contains(line, []byte("emory")) && !bytes.Contains(line, []byte("ALLOC_FAILED")) {
		return false
	}
	text := string(line)
	if !strings.Contains(text, "ALLOC_FAILED") && !strings.Contains(strings.ToLower(text), "out of memory") {
		return false
	}
	return !mayCount(text) || !stepLine.Get().MatchString(text) || refusedStep.Get().MatchString(text)
}

func (s *Survival) refusal(line string) refusal {
	r := refusal{line: s.number, stood: map[string]int{}, steps: map[string]bool{}}
	for i := max(0, s.heard-stoodLines); i < s.heard; i++ {
		before := &s.lines[i%stoodLines]
		before.read()
		for _, c := range before.counts {
			r.stood[c.word], r.raised = c.n, false
		}
		r.raised = r.raised || before.head
	}
	r.raised = r.raised || exceptionLine.Get().MatchString(line)
	counts(line, func(word string, n int) { r.stood[word] = n })
	r.fresh = len(r.stood) == 0 && !r.raised
	return r
}

// counts calls for each number that a line counts, with the word that names it.
func counts(line string, to func(word string, n int)) {
	if !mayCount(line) {
		return
	}
	for _, m := range stepLine.Get().FindAllStringSubmatch(line, 4) {
		digits := m[1] + m[2]
		if n, err := strconv.Atoi(digits); err == nil {
			to(strings.TrimRight(strings.ToLower(m[0][:strings.Index(m[0], digits)]), " :=#[("), n)
		}
	}
}

// mayCount spares most lines the search for what stepLine finds: there must be a figure behind one of its words, with a
// blank or sign between, or one of two figures in a bar. A letter beyond ASCII can stand for an s.
func mayCount(line string) bool {
	if strings.Contains(line, "/") && strings.Contains(line, " [") || strings.Contains(line, "\u017f") {
		return true
	}
	for i := 1; i < len(line); i++ {
		if isDigit(line[i]) && strings.IndexByte(betweenCount, line[i-1]) >= 0 && countsBy(strings.TrimRight(line[:i], betweenCount)) {
			return true
		}
	}
	return false
}

// betweenCount are what may stand between a word and what it counts to.
const betweenCount = " \t\n\f\r:=#[(\"'"

// countsBy says whether a text ends in a word that counts.
func countsBy(text string) bool {
	from := len(text)
	for from > 0 && isLetter(text[from-1]) {
		from--
	}
	switch strings.ToLower(text[max(from, len(text)-len("iterations")):]) {
	case "step", "steps", "iter", "iters", "iteration", "iterations", "batch", "it", "idx", "epoch", "epochs", "trial", "trials":
		return true
	}
	return false
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// open: more lines may tell more.
func (r *refusal) open() bool { return !r.anew && !r.proved && r.after < mostHeard }

// hear takes a line that came later.
func (r *refusal) hear(line string) {
	r.after++
	r.bytes += len(line) + 1
	steps := len(r.steps)
	if answered.Get().MatchString(line) {
		r.steps["answer"+strconv.Itoa(r.after)] = true
		r.trial = r.trial || r.denied
	}
	r.denied = r.denied || refusedRequest.Get().MatchString(line)
	r.trial = r.trial || r.ends(line)
	counts(line, func(word string, n int) { r.count(word, n) })
	r.trial = r.trial || r.steps[trialOf(line)]
	switch {
	case !r.wentOn():
	case len(r.steps) > steps && r.bytes > lateBytes,
		otherEnd.Get().MatchString(line),
		exceptionLine.Get().MatchString(line) && !follows.Get().MatchString(line):
		r.proved = true
	}
}

func (r *refusal) count(word string, n int) {
	at, known := r.stood[word]
	if !known {
		if at, known = r.unnamed(n); r.fresh {
			at, known = n, true
		}
		if known {
			r.stood[word] = at
		}
	}
	switch {
	case !known || n == at:
	case n < at && strings.HasPrefix(word, "epoch"), n < at && !r.nextEpoch(), n > at+stepsFurther*max(1, len(r.steps)):
		r.anew = len(r.steps) == 0
	default:
		r.steps[word+strconv.Itoa(n)] = true
	}
}

// unnamed is where another word had counted to that a number of a new word goes on from: a progress bar and "step" count the same.
func (r *refusal) unnamed(n int) (at int, known bool) {
	for word, stood := range r.stood {
		if !strings.HasPrefix(word, "epoch") && stood <= n && n <= stood+stepsFurther && (!known || stood > at) {
			at, known = stood, true
		}
	}
	return at, known
}

// ends says whether an epoch after the one in which it stood is done.
func (r *refusal) ends(line string) bool {
	m := epochEnded.Get().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	at, known := r.stood["epoch"]
	return err == nil && known && n > at
}

// trialOf is the key of the trial that a line says has ended; empty: of none.
func trialOf(line string) string {
	m := trialEnded.Get().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return "trial" + m[1]
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

// wentOn: so much came after it as only a program prints that lives on.
func (r *refusal) wentOn() bool { return r.trial || len(r.steps) >= wentOnSteps }

// survived: where the program is known to have failed, what came after a traceback may have been printed before it.
func (r *refusal) survived(failed bool) bool {
	return r.wentOn() && (r.proved || !failed || !r.raised)
}

// Survived says whether the failure that was printed at a line was survived, and, in an error that is printed again and
// again, all of them. failed: the program has ended by itself with an error, so that what it had held back of its
// standard output may stand below the traceback of its death.
func (s *Survival) Survived(line int, again, failed bool) bool {
	if len(s.all) == 0 || len(s.all) >= mostRefusals {
		return false
	}
	last := &s.all[len(s.all)-1]
	switch {
	case line > last.line+oneFailure:
		return false // it is told in other words
	case last.survived(failed):
		return true // and all before it were
	case again:
		return false
	}
	i := slices.IndexFunc(s.all, func(r refusal) bool { return r.line >= line })
	if i < 0 || s.all[i].line > line+oneFailure { // it is told in other words below it
		i = slices.IndexFunc(s.all, func(r refusal) bool { return r.line >= line-oneFailure })
	}
	for ; i >= 0 && i < len(s.all) && s.all[i].line <= line+oneFailure; i++ {
		if s.all[i].survived(failed) {
			return true // what comes after it is another failure
		}
	}
	return false
}

// Judge marks the failures of a text as recovered that were survived. One that was printed again after the program
// had gone on becomes two: the last printing is another failure. failed is as for Survived.
func (s *Survival) Judge(events []sampler.OOMEvent, failed bool) []sampler.OOMEvent {
	out := make([]sampler.OOMEvent, 0, len(events))
	for _, e := range events {
		last := e.Again
		e.Again = nil
		gpu := e.MemoryKind == sampler.MemoryGPU
		if again := e.Occurrences > 1; gpu && !e.Recovered && again && last != nil && !s.Survived(e.Line, again, failed) && s.Survived(e.Line, false, failed) {
			before := e
			before.Recovered, before.Occurrences = true, max(1, e.Occurrences-last.Occurrences)
			out = append(out, before)
			e = *last
			e.Again, e.Recovered = nil, false
		}
		e.Recovered = e.Recovered || gpu && s.Survived(e.Line, e.Occurrences > 1, failed)
		out = append(out, e)
	}
	return out
}
