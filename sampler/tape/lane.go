package tape

import (
	"strconv"
	"time"

	"nvpeak/sampler"
)

// lane writes the changes of the fast lane: one line per sweep that brought any.
type lane struct {
	last []sampler.Opt[sampler.Bytes]
	line bool  // a line is being built
	at   int64 // its time, in milliseconds
}

type earlyReading struct {
	device int
	at     time.Time
	used   sampler.Bytes
}

// maxDevices bounds the places of GPUs in "mem" lines; 64 cards of 7 MIG instances are 448.
const maxDevices = 1024

const maxEarly = 4096 // readings that wait for the first snapshot, which names the GPUs

// Readings records the used memory of one device, by its place among the GPUs of the
// snapshots, when it is another than before. It allocates nothing and never waits for a disk.
func (w *Writer) Readings(device int, at time.Time, used sampler.Bytes) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed || device < 0 || device >= maxDevices || used >= sampler.Sane:
	case w.part > 0:
		w.reading(device, at, used)
	case len(w.early) < maxEarly:
		w.early = append(w.early, earlyReading{device, at, used})
	}
}

// play writes the readings that waited for the first snapshot.
func (w *Writer) play(now time.Time) {
	for _, e := range w.early {
		w.reading(e.device, e.at, e.used)
	}
	w.early = nil
}

func (w *Writer) reading(device int, at time.Time, used sampler.Bytes) {
	l := &w.lane
	for len(l.last) <= device {
		l.last = append(l.last, sampler.Opt[sampler.Bytes]{})
	}
	if was, ok := l.last[device].Value(); ok && was == used {
		return
	}
	l.last[device] = sampler.Some(used)
	w.tally.reading(device, at, used)
	t := w.seconds(at)
	if l.line && l.at != t {
		l.close(&w.buf)
	}
	if !l.line {
		w.buf = append(w.buf, `{"type":"mem","t":`...)
		w.buf = appendMilli(w.buf, t)
		l.line, l.at = true, t
	}
	w.buf = append(w.buf, ',', '"')
	w.buf = strconv.AppendInt(w.buf, int64(device), 10)
	w.buf = append(w.buf, '"', ':')
	w.buf = appendUint(w.buf, uint64(used))
}

func (l *lane) close(buf *[]byte) {
	if l.line {
		*buf = append(*buf, '}', '\n')
		l.line = false
	}
}

// forget makes the next reading of every device a change.
func (l *lane) forget() { clear(l.last) }

// appendMilli writes milliseconds as seconds: 12, 12.02, -0.5.
func appendMilli(b []byte, ms int64) []byte {
	if ms < 0 {
		b = append(b, '-')
		ms = -ms
	}
	b = strconv.AppendInt(b, ms/1000, 10)
	if ms %= 1000; ms == 0 {
		return b
	}
	b = append(b, '.', byte('0'+ms/100))
	if ms %= 100; ms == 0 {
		return b
	}
	b = append(b, byte('0'+ms/10))
	if ms %= 10; ms == 0 {
		return b
	}
	return append(b, byte('0'+ms))
}
