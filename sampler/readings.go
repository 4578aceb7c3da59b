package sampler

import "time"

// milli cuts a time to the millisecond. Recordings keep no more, so what the live monitor
// says of a moment and what a recording says of it agree to the byte. The monotonic part
// stays: how long ago something was does not depend on the wall clock.
func milli(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Nanosecond()) % time.Millisecond)
}

// now is the time of everything that is published.
func (l *Loop) now() time.Time { return milli(l.opt.Clock.Now()) }

// tell passes the used memory of a device on when it is another than before. Only the
// goroutine of the memory lane calls it.
func (l *Loop) tell(dev int, at time.Time) {
	if l.opt.Readings == nil {
		return
	}
	l.c.mu.Lock()
	used := l.c.gpus[dev].mem.Used
	l.c.mu.Unlock()
	for len(l.told) <= dev {
		l.told = append(l.told, Opt[Bytes]{})
	}
	if v, ok := used.Value(); ok && !used.Equal(l.told[dev]) {
		l.told[dev] = used
		l.opt.Readings(dev, at, v)
	}
}
