package oomlog

const (
	maxStreams  = 64
	joinedHead  = 400 // bytes of a line that may be the end of the line before it
	shortestCut = 20  // a shorter line was not wrapped
)

// stream is what one rank, process or service prints.
type stream struct {
	key   string
	prev  line
	found wordMask // words of prev
	open  *message
	used  int // line number of the last line, for eviction
}

// streams are the open streams; order is by first appearance, so that results do not depend on maps.
type streams struct {
	byKey map[string]*stream
	order []*stream
	last  *stream // of the line before
}

func (s *streams) open() bool {
	for _, st := range s.order {
		if st.open != nil {
			return true
		}
	}
	return false
}

// of returns the stream of a line, and one that had to make room for it. A line without a key right after
// a line of a stream with an open message continues that message: only first lines of a message may carry
// the prefix.
func (s *streams) of(l line) (st, evicted *stream) {
	key := l.origin.key
	if key == "" && s.last != nil && s.last.key != "" && s.last.open != nil && !l.logged {
		return s.last, nil
	}
	st = s.byKey[key]
	if st == nil {
		if len(s.order) >= maxStreams {
			evicted = s.evict()
		}
		st = &stream{key: key}
		s.byKey[key] = st
		s.order = append(s.order, st)
	}
	return st, evicted
}

// evict forgets the stream that has been silent longest.
func (s *streams) evict() *stream {
	oldest := 0
	for i, st := range s.order {
		if st.used < s.order[oldest].used {
			oldest = i
		}
	}
	st := s.order[oldest]
	delete(s.byKey, st.key)
	s.order = append(s.order[:oldest], s.order[oldest+1:]...)
	if s.last == st {
		s.last = nil
	}
	return st
}

// start finds the rows that begin a message in the line, or across the break before it.
func (st *stream) start(l line, found *wordMask, known *shapes) *message {
	if found.meets(&compiled().events) {
		if c := starts(l.part, found, 0); c != nil {
			return newMessage(c, l, l.text)
		}
	}
	return st.across(l, found, known)
}

// across finds the rows that begin a message across the break before the line.
func (st *stream) across(l line, found *wordMask, known *shapes) *message {
	prev := st.prev
	if prev.text == "" || l.number > prev.number+2 || len(prev.text) < shortestCut || st.open != nil {
		return nil
	}
	both := st.found
	words := compiled().words
	tail := l.text[:min(len(l.text), joinedHead)]
	if len(tail) == len(l.text) {
		both.merge(found)
	} else {
		words.scanString(tail, &both)
	}
	for _, glue := range []string{" ", ""} {
		words.scanString(prev.text[max(0, len(prev.text)-words.longest):]+glue+tail[:min(len(tail), words.longest)], &both)
		if !both.meets(&compiled().events) {
			continue
		}
		joined := prev.text + glue + tail
		whole := known.whole(joined)
		c := starts(whole.all(), &both, len(prev.text))
		whole.done()
		if c != nil {
			return newMessage(c, prev, prev.text+glue+l.text)
		}
	}
	return nil
}
