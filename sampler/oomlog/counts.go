package oomlog

import (
	"slices"
	"strconv"
	"strings"
)

// A progress bar on the line of a failure that counts on after it shows that the program went on. A bar elsewhere
// can be that of another process.

// counted is how far a progress bar is, and of how many.
var counted = pattern(`\|\s*(\d{1,9})/(\d{1,9}) \[`)

// count is a bar on the line of a failure.
type count struct {
	event    *held
	key      string // stream
	done, of int
}

// countIn reads the last bar in a line.
func countIn(text string) (c count, ok bool) {
	if !strings.Contains(text, "/") || !strings.Contains(text, "[") {
		return c, false
	}
	all := counted.FindAllStringSubmatch(text, 8)
	if len(all) == 0 {
		return c, false
	}
	last := all[len(all)-1]
	c.done, _ = strconv.Atoi(last[1])
	c.of, _ = strconv.Atoi(last[2])
	return c, true
}

// waitForCount keeps the bar on the first line of a message that became an event.
func (p *parser) waitForCount(m *message, key string) {
	c, ok := countIn(m.lines[0])
	if !ok {
		return
	}
	if c.event = p.held.latest(key, m.first.number); c.event != nil && len(p.counts) < maxHeld {
		c.key = key
		p.counts = append(p.counts, c)
	}
}

// countOn marks the failures whose bar has gone on in a line.
func (p *parser) countOn(st *stream, l line) {
	if len(p.counts) == 0 {
		return
	}
	now, ok := countIn(l.text)
	p.counts = slices.DeleteFunc(p.counts, func(c count) bool {
		on := ok && c.key == st.key && c.of == now.of && c.done < now.done
		if on {
			c.event.Recovered = true
		}
		return on || l.number-c.event.last > recoverWithin
	})
}
