package request

import "testing"

// Of a process that is looked at from some time on, something may be missed if it made a context before.
func TestLookedAt(t *testing.T) {
	for name, row := range map[string]struct {
		before, heard bool // it made a context before, and that is heard by then
		whole         bool
	}{"before": {true, true, false}, "heard later": {true, false, false}, "after": {false, false, true}} {
		s := newScene(t, 1, people{7: {}})
		at := s.now.Add(ms(10))
		if !row.heard {
			s.LookedAt(7, at)
		}
		if !row.before {
			s.later(ms(20))
		}
		s.context(0)
		if row.heard {
			s.LookedAt(7, at)
		}
		s.later(ms(20))
		s.alloc(1, gib)
		if r := s.requests(0); r.Whole != row.whole {
			t.Errorf("%s: whole %v", name, r.Whole)
		}
	}
}
