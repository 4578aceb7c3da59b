package tape

import (
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
)

// Options of a Writer. The zero value is good.
type Options struct {
	Program        string                     // "nvpeak 1.0.0", for the header
	Interval       time.Duration              // between snapshots, for the header
	MemoryInterval time.Duration              // between readings of the memory, for the header
	Every          time.Duration              // between complete snapshots; 0 is a minute
	RotateSize     int64                      // bytes of a file after which the next part begins; 0: never
	RotateAge      time.Duration              // time after which the next part begins; 0: never
	Keep           int                        // finished parts to keep; 0: all
	NoRedact       bool                       // keep secrets in command lines
	Need           sampler.Opt[sampler.Bytes] // of the next allocation, for the header: alerts depend on it
}

// Writer records. Its methods may be called from several goroutines and never wait for
// the disk, Flush and Close excepted.
type Writer struct {
	mu     sync.Mutex
	opt    Options
	sink   *sink
	closed bool
	fields override

	buf   []byte // lines not yet handed over
	began bool
	base  time.Time         // "t" counts from here
	set   time.Duration     // how far the time of day was ahead of our times then
	ahead time.Duration     // and is now
	prev  *sampler.Snapshot // the last one written, as published
	full  time.Time         // of the last complete one
	frame time.Time         // when the current zstd frame began
	part  int
	born  time.Time // of the current part
	again time.Time // no rotation for size before

	mem   memLines
	early []earlyReading // before the first snapshot, which names the GPUs
	tally tally
}

const maxEarly = 4096 // readings that wait for the first snapshot

type earlyReading struct {
	device int
	at     time.Time
	used   sampler.Bytes
}

// frameAge is how long one zstd frame lasts: readers that seek start at a frame.
const frameAge = 10 * time.Minute

func newWriter(f file, packed bool, next func() (file, error), o Options) (*Writer, error) {
	if o.Every <= 0 {
		o.Every = time.Minute
	}
	k, err := newSink(f, packed, next)
	if err != nil {
		return nil, err
	}
	w := &Writer{opt: o, sink: k}
	if !o.NoRedact {
		w.fields = (&redactor{map[string]string{}}).fields()
	}
	return w, nil
}

// Readings records the used memory of one device, by its place among the GPUs of the
// snapshots, when it is another than before. It allocates nothing and never waits for a disk.
func (w *Writer) Readings(device int, at time.Time, used sampler.Bytes) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed || device < 0 || device >= maxDevices || used >= sampler.MaxPlausible:
	case w.part > 0:
		w.reading(device, at, used)
	case len(w.early) < maxEarly:
		w.early = append(w.early, earlyReading{device, at, used})
	}
}

func (w *Writer) reading(device int, at time.Time, used sampler.Bytes) {
	b, changed := w.mem.add(w.buf, device, w.seconds(at), used)
	if changed {
		w.buf = b
		w.tally.reading(device, at, used)
	}
}

// Snapshot records one published snapshot. It returns an error of the disk once when it
// begins; what was written before stays, and recording goes on by itself once there is
// room again. Snapshots after Close are ignored.
func (w *Writer) Snapshot(s *sampler.Snapshot) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || s == nil {
		return nil
	}
	size, err := w.sink.fault()
	now := toMilli(s.Time)
	if !w.began {
		w.begin(now, s.Ahead())
	}
	set := s.Ahead() - w.ahead
	w.ahead = s.Ahead()
	rotate := w.part > 0 && w.rotates(now, size)
	if rotate {
		w.again = now.Add(time.Minute)
		w.json(w.end(now, "rotated"))
		w.hand(chunk{})
	}
	header := w.part == 0 || rotate || !sameDevices(w.prev, s)
	if w.part == 0 || rotate {
		w.part++
		w.born = now
	}
	frame := header || now.Sub(w.frame).Abs() >= frameAge
	if header {
		w.header(s)
	}
	if frame {
		w.frame = now
	}
	for _, e := range w.early {
		w.reading(e.device, e.at, e.used)
	}
	w.early = nil
	if w.tally.lost > 0 && w.prev == nil && w.tally.snapshots > 0 {
		w.event(Event{Time: now, Kind: KindGap, Text: "the disk took nothing: " + strconv.Itoa(w.tally.lost) + " bytes are lost so far"})
	}
	if set != 0 {
		w.event(clockSet(now, set))
	}
	for _, e := range eventsBetween(w.prev, s, now) {
		w.event(e)
	}
	if header || frame || set != 0 || w.prev == nil || now.Sub(w.full).Abs() >= w.opt.Every || !w.tick(s, now) {
		w.whole(s, now)
	}
	w.tally.snapshot(s)
	w.prev = alertsByWall(s)
	w.hand(chunk{frame: frame, rotate: rotate})
	return err
}

func (w *Writer) rotates(now time.Time, size int64) bool {
	// The size falls when the sink has rotated; where it cannot, asking each second is no use.
	big := w.opt.RotateSize > 0 && size >= w.opt.RotateSize && !now.Before(w.again)
	return big || w.opt.RotateAge > 0 && now.Sub(w.born) >= w.opt.RotateAge
}

// begin fixes the clock base at the first thing recorded.
func (w *Writer) begin(now time.Time, ahead time.Duration) {
	w.began, w.base, w.set, w.ahead = true, now, ahead, ahead
	if len(w.early) > 0 && w.early[0].at.Before(now) {
		w.base = toMilli(w.early[0].at)
	}
}

// hand passes the lines so far to the sink. When they are lost the next snapshot is a
// complete one, and an event says what is missing.
func (w *Writer) hand(c chunk) {
	w.buf = w.mem.close(w.buf)
	if len(w.buf) == 0 {
		return
	}
	c.lines, w.buf = sampler.EscapeJSON(w.buf), make([]byte, 0, max(1024, len(w.buf)))
	if !w.sink.put(c) {
		w.tally.lost += len(c.lines)
		w.prev = nil
		w.mem.forget()
		if c.rotate || c.frame {
			w.frame = time.Time{}
		}
	}
}

// seconds since the clock base, as written.
func (w *Writer) seconds(at time.Time) int64 { return toMilli(at).Sub(w.base).Milliseconds() }

func (w *Writer) header(s *sampler.Snapshot) {
	h := Header{Type: "header", Schema: sampler.Schema, Program: w.opt.Program, Time: w.base.Add(w.set), Even: true, Host: s.Host,
		Driver: s.Driver, CUDA: s.CUDA, IntervalSeconds: w.opt.Interval.Seconds(), MemorySeconds: w.opt.MemoryInterval.Seconds(),
		SnapshotsSeconds: w.opt.Every.Seconds(), Redacted: !w.opt.NoRedact, Part: w.part, Need: w.opt.Need, GPUs: []Device{}}
	for i := range s.GPUs {
		g := &s.GPUs[i]
		h.GPUs = append(h.GPUs, Device{g.Index, g.UUID, g.PCI, g.Name, g.MIG, g.ComputeCapability,
			g.Memory.Total, g.Memory.Reserved, g.Memory.SharedWithHost})
	}
	w.json(h)
	w.mem.forget() // every part stands alone
}

// json writes an event or an end, without secrets.
func (w *Writer) json(v any) {
	w.buf = w.mem.close(w.buf)
	j, err := json.Marshal(v)
	if err != nil { // a NaN in the extra fields of an event
		return
	}
	if !w.opt.NoRedact {
		j = redact.JSON(j)
	}
	w.buf = append(append(w.buf, j...), '\n')
}

// tick writes what changed since the snapshot before; false when only a complete one can.
func (w *Writer) tick(s *sampler.Snapshot, now time.Time) bool {
	w.buf = w.mem.close(w.buf)
	b, ok := appendTick(w.buf, w.prev, alertsByWall(s), now, w.seconds(now), w.seconds(w.full), w.fields)
	if ok {
		w.buf = b
	}
	return ok
}

// whole writes a complete snapshot, in the form that every other surface has.
func (w *Writer) whole(s *sampler.Snapshot, now time.Time) {
	w.buf = w.mem.close(w.buf)
	c := *s.Wall()
	c.Type, c.Schema = "snapshot", sampler.Schema
	if c.GPUs == nil {
		c.GPUs = []sampler.GPU{} // a line without "gpus" counts as corrupt
	}
	w.buf = snapshotPlan().encode(w.buf, reflect.ValueOf(&c).Elem(), w.fields)
	if w.ahead != w.set { // "time" alone does not tell how long it has been
		w.buf = append(appendMilli(append(w.buf[:len(w.buf)-1], `,"t":`...), w.seconds(now)), '}')
	}
	w.buf = append(w.buf, '\n')
	w.full = now
}

// Event records something that happened. Starts and ends of processes, Xid errors and
// lost GPUs are recorded without it, from the snapshots. A change of the need is in every
// header from then on; before the first header that is all there is to write.
func (w *Writer) Event(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == KindNeed {
		w.opt.Need = e.Need
	}
	if !w.closed && (w.began || e.Kind != KindNeed) {
		w.event(e)
	}
}

func (w *Writer) event(e Event) {
	e.Type = "event"
	if w.ahead != w.set {
		e.T = sampler.Some(float64(w.seconds(e.Time)) / 1000)
	}
	e.Time = toMilli(e.Time.Add(w.ahead))
	w.json(e)
}

// Flush waits until everything so far is written, or writing fails.
func (w *Writer) Flush() {
	w.mu.Lock()
	if w.began {
		w.hand(chunk{})
	}
	w.mu.Unlock()
	w.sink.drain()
}

// Close writes the end of the recording and closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	if w.prev != nil {
		w.json(w.end(toMilli(w.prev.Time), "closed"))
	}
	if w.began {
		w.hand(chunk{})
	}
	w.mu.Unlock()
	return w.sink.close()
}
