package fleet

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Silence is given up when all of it has passed without a word, and not for time in which this program did not run.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, gaveUp := time.Now(), atomic.Int64{}
		s := newSilence(8*time.Second, func() { gaveUp.Store(int64(time.Since(began))) })
		defer s.end()
		time.Sleep(6*time.Second + time.Millisecond)
		s.over()
		time.Sleep(7 * time.Second)
		if after := time.Duration(gaveUp.Load()); after != 0 {
			t.Errorf("given up after %v", after)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if after := time.Duration(gaveUp.Load()); after != 14*time.Second {
			t.Errorf("given up after %v", after)
		}
	})
	fired := atomic.Int64{}
	s := newSilence(8*time.Hour, func() { fired.Add(1) })
	defer s.end()
	s.timer.Reset(0) // as it is when a minute has passed while the program was stopped: only one part is over
	for range 100 {
		if time.Sleep(time.Millisecond); s.parts.Load() > 0 {
			break
		}
	}
	if s.parts.Load() != 1 || fired.Load() != 0 {
		t.Errorf("%d parts, given up %d times", s.parts.Load(), fired.Load())
	}
}
