package tape

import (
	"strconv"

	"nvpeak/sampler"
)

// memLines writes the changes of the memory: one line per sweep that brought any.
type memLines struct {
	last []sampler.Opt[sampler.Bytes]
	line bool  // a line is being built
	at   int64 // its time, in milliseconds
}

// maxDevices bounds the places of GPUs in "mem" lines; 64 GPUs of 7 MIG instances are 448.
const maxDevices = 1024

// add writes a reading at t, in milliseconds, and says whether it is another than before.
func (l *memLines) add(b []byte, device int, t int64, used sampler.Bytes) ([]byte, bool) {
	for len(l.last) <= device {
		l.last = append(l.last, sampler.Opt[sampler.Bytes]{})
	}
	if was, ok := l.last[device].Value(); ok && was == used {
		return b, false
	}
	l.last[device] = sampler.Some(used)
	if l.at != t {
		b = l.close(b)
	}
	if !l.line {
		b = append(b, `{"type":"mem","t":`...)
		b = appendMilli(b, t)
		l.line, l.at = true, t
	}
	b = append(b, ',', '"')
	b = strconv.AppendInt(b, int64(device), 10)
	b = append(b, '"', ':')
	return appendUint(b, uint64(used)), true
}

// close ends the line that is being built.
func (l *memLines) close(b []byte) []byte {
	if l.line {
		b = append(b, '}', '\n')
		l.line = false
	}
	return b
}

// forget makes the next reading of every device a change.
func (l *memLines) forget() { clear(l.last) }
