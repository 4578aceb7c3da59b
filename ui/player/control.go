package player

import (
	"strings"
	"time"

	"nvpeak/sampler"
)

// Timeline is where the player is now.
func (p *Player) Timeline() *Timeline {
	x := p.currentIndex()
	t := &Timeline{Marks: x.list()}
	t.Start, t.End, t.Read = x.bounds()
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Speed, t.Paused, t.At = p.clock.speed, p.clock.paused, p.shown
	if t.At.IsZero() {
		t.At = t.Start
	}
	return t
}

// Target is the time that will be shown when everything asked for is done.
func (p *Player) Target() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seeking != nil {
		return *p.seeking
	}
	return p.shown
}

// Seek asks for a time; the newest request counts.
func (p *Player) Seek(to time.Time) {
	start, end, _ := p.currentIndex().bounds()
	if to.Before(start) {
		to = start
	}
	if to.After(end) {
		to = end
	}
	p.mu.Lock()
	p.seeking, p.steps = &to, 0
	p.mu.Unlock()
	p.nudge()
}

// GoTo goes to a time as ParseTime reads it, counted from the one that is shown.
func (p *Player) GoTo(text string) error {
	start, end, _ := p.currentIndex().bounds()
	to, err := ParseTime(text, start.Local(), end.Local(), p.Target().Local())
	if err == nil {
		p.Seek(to)
	}
	return err
}

// Begin goes to a time before anything is played. A time that is to be subtracted is
// counted from the end, one to be added from the start.
func (p *Player) Begin(text string) error {
	x := p.currentIndex()
	select {
	case <-x.sized:
	case <-x.done:
	}
	start, end, _ := x.bounds()
	from := start
	if strings.HasPrefix(strings.TrimSpace(text), "-") {
		from = end
	}
	to, err := ParseTime(text, start.Local(), end.Local(), from.Local())
	if err == nil {
		p.Seek(to)
	}
	return err
}

// SetSpeed sets the playback speed: seconds of the recording per second.
func (p *Player) SetSpeed(speed float64) {
	p.mu.Lock()
	p.clock.change(speed, time.Now())
	p.mu.Unlock()
	p.nudge()
}

// Toggle pauses or goes on; at the end it begins again.
func (p *Player) Toggle() {
	p.mu.Lock()
	again := p.atEnd
	if p.clock.paused {
		p.clock.resume(time.Now())
	} else {
		p.clock.pause(time.Now())
		p.clock.set(p.shown, time.Now())
		again = false
	}
	p.mu.Unlock()
	if again {
		p.Seek(p.start)
	}
	p.nudge()
}

// Step pauses and shows the next snapshot, or the one before.
func (p *Player) Step(by int) {
	p.mu.Lock()
	p.clock.pause(time.Now())
	if by > 0 {
		p.steps++
		by = 0
	}
	at := p.shown
	p.mu.Unlock()
	if by < 0 {
		p.Seek(at.Add(-time.Millisecond))
	}
	p.nudge()
}

// SeekMark goes to the next mark, or to the one before, and returns what there is; nothing
// when there is none.
func (p *Player) SeekMark(by int) []Mark {
	marks := near(p.currentIndex().list(), p.Target(), by)
	if len(marks) > 0 {
		p.Seek(marks[0].At)
	}
	return marks
}

// SetNeed sets the need, whatever was recorded: what was learned of the alerts is learned
// anew with it.
func (p *Player) SetNeed(need sampler.Opt[sampler.Bytes]) {
	p.mu.Lock()
	p.index.stop()
	_, end, _ := p.index.bounds()
	p.options = Options{Need: need, Fixed: true}
	p.index = newIndex(p.ctx, p.open, p.options, p.start, p.interval)
	p.index.atLeast(end)
	if p.seeking == nil {
		to := p.shown
		p.seeking = &to
	}
	p.mu.Unlock()
	p.nudge()
}
