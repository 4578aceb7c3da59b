package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// recorder writes a recording: snapshots with the alerts that are open then, failures of a
// followed log, changes of the need, and between two snapshots the readings of the
// memory. The alerts are those of whoever watches; without anybody it has a watch of its own.
type recorder struct {
	path string
	opt  tape.Options

	mu      sync.Mutex // memory sampling must not wait for anything else
	changes []change

	taking    sync.Mutex
	w         *tape.Writer
	file      bool
	watch     *watch.Watch                                      // of a recording that nobody watches
	announce  func(alerts []sampler.Alert, ahead time.Duration) // of such a recording
	also      *recorder                                         // gets all that is recorded of it; nil: there is none
	trouble   func(string)                                      // hears what fails of that
	alerts    []sampler.Alert                                   // as recorded last
	rendered  time.Time                                         // when
	prev      *sampler.Snapshot
	gpus      int
	snapshots int
	first     time.Time
	last      time.Time
}

// change is a reading that is not yet written.
type change struct {
	dev  int
	at   time.Time
	used sampler.Bytes
}

// maxChanges bounds the readings that wait for a snapshot: 64 GPUs that change with every
// reading for a minute. Beyond that they are dropped; snapshots know the peak all the same.
const maxChanges = 1 << 17

// errReaderGone: the recording went to a pipe whose reader has ended.
var errReaderGone = errors.New("the reader of the recording has gone")

// newRecorder makes a recorder that writes to path; without a path there is none.
func (a *app) newRecorder(path string) *recorder {
	if path == "" {
		return nil
	}
	return &recorder{path: path, watch: watch.New(watch.Options{Need: a.opt.need.Opt, Lang: string(a.opt.lang), Log: a.opt.log, Levels: a.levels()}),
		announce: func([]sampler.Alert, time.Duration) {}, trouble: a.say,
		opt: tape.Options{Program: "nvpeak " + version(), Interval: a.opt.interval, MemoryInterval: a.opt.peakInterval,
			Need: a.opt.need.Opt}}
}

// readings is what the loop calls with each reading; nil without a recorder.
func (r *recorder) readings() readings {
	if r == nil {
		return nil
	}
	return r.reading
}

// create makes the file.
func (r *recorder) create(out io.Writer) (err error) {
	if r.path == "-" && out != nil {
		r.w = tape.NewWriter(out, r.opt)
		return nil
	}
	if slices.Contains(otherPacked, strings.ToLower(filepath.Ext(r.path))) {
		return usagef("%s: a recording is .jsonl, or compressed .jsonl.zst", r.path)
	}
	if r.w, err = tape.Create(r.path, r.opt); err != nil {
		return creationError(r.path, err)
	}
	r.file = true
	return nil
}

// otherPacked are the endings of names that promise a form of compression that recordings are not written in.
var otherPacked = []string{".gz", ".tgz", ".xz", ".bz2", ".lz4", ".lzma", ".br", ".zip", ".7z", ".z"}

// reading gets the readings of the memory.
func (r *recorder) reading(dev int, at time.Time, used sampler.Bytes) {
	if r.also != nil {
		r.also.reading(dev, at, used)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.changes) < maxChanges {
		r.changes = append(r.changes, change{dev, at, used})
	}
}

// until takes the readings up to a moment.
func (r *recorder) until(at time.Time) []change {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for n < len(r.changes) && !r.changes[n].at.After(at) {
		n++
	}
	taken := slices.Clone(r.changes[:n])
	r.changes = append(r.changes[:0], r.changes[n:]...)
	return taken
}

// take records a snapshot that nobody watches. The error is one of the disk, reported once.
func (r *recorder) take(s *sampler.Snapshot) error {
	r.taking.Lock()
	defer r.taking.Unlock()
	alerts := r.watch.Add(*s)
	r.announce(alerts, s.Ahead())
	if r.also != nil {
		if err := r.also.Snapshot(s, alerts); err != nil {
			r.trouble(diskError(err))
		}
	}
	return r.write(s, alerts)
}

// Snapshot records a snapshot with the alerts of whoever watches.
func (r *recorder) Snapshot(s *sampler.Snapshot, alerts []sampler.Alert) error {
	r.taking.Lock()
	defer r.taking.Unlock()
	return r.write(s, alerts)
}

// rest records snapshots that came after whoever watches had ended, with the alerts that were open then.
func (r *recorder) rest(snaps []*sampler.Snapshot) (err error) {
	for _, s := range snaps {
		err = errors.Join(err, r.Snapshot(s, r.alerts))
	}
	return err
}

// write writes a snapshot, and the readings before it.
func (r *recorder) write(s *sampler.Snapshot, alerts []sampler.Alert) error {
	changes := r.until(s.Time)
	if r.prev != nil && s.Time.Before(r.prev.Time) { // the clock was set back: what waits is from before
		changes = append(changes, r.until(r.prev.Time.Add(time.Hour))...)
	}
	if r.prev == nil || sameGPUs(r.prev, s) {
		for _, c := range changes {
			r.w.Readings(c.dev, c.at, c.used)
		}
	} // else: the places of the GPUs changed in between; the windows of the snapshot know the peaks
	if r.snapshots == 0 {
		r.first = s.Time
	}
	r.snapshots++
	r.prev, r.gpus, r.last = s, len(s.GPUs), s.Time
	c := *s
	c.Alerts = r.open(alerts, s.Time)
	err := r.w.Snapshot(&c)
	if errors.Is(err, syscall.EPIPE) {
		return errReaderGone
	}
	return err
}

func sameGPUs(a, b *sampler.Snapshot) bool {
	return slices.EqualFunc(a.GPUs, b.GPUs, func(x, y sampler.GPU) bool { return x.Key() == y.Key() })
}

// alertsEvery is how often the words of open alerts are recorded anew: their numbers move
// with every snapshot, and a day of that would be larger than everything else.
const alertsEvery = time.Minute

// open is what is recorded of the alerts: anew when one comes, goes, changes its level or is known to be of a process or
// GPU, and each minute.
func (r *recorder) open(alerts []sampler.Alert, now time.Time) []sampler.Alert {
	same := slices.EqualFunc(alerts, r.alerts, func(a, b sampler.Alert) bool {
		return a.ID == b.ID && a.Level == b.Level && a.Label() == b.Label() && a.PID.Equal(b.PID)
	})
	if !same || now.Sub(r.rendered).Abs() >= alertsEvery {
		r.alerts, r.rendered = append([]sampler.Alert{}, alerts...), now
	}
	return r.alerts
}

// failed records a failure found in a log that nobody watches. It counts from the newest
// snapshot on.
func (r *recorder) failed(e sampler.OOMEvent) {
	r.taking.Lock()
	defer r.taking.Unlock()
	at := r.eventTime(r.last)
	r.watch.Event(e, at)
	r.failure(e, at)
	if r.also != nil {
		r.also.Failure(e, at)
	}
}

// incident is what the snapshots tell of a failure. (See watch.Incident.)
func (r *recorder) incident(e sampler.OOMEvent) explain.Incident {
	r.taking.Lock()
	defer r.taking.Unlock()
	return r.watch.Incident(e)
}

// deaths are those of processes that were refused memory. (See watch.Deaths.)
func (r *recorder) deaths() []watch.Death {
	r.taking.Lock()
	defer r.taking.Unlock()
	return r.watch.Deaths()
}

// completed is the death of which a text told without figures. (See watch.Completed.)
func (r *recorder) completed(e sampler.OOMEvent) (watch.Death, bool) {
	r.taking.Lock()
	defer r.taking.Unlock()
	return r.watch.Completed(e)
}

// mark takes what a log says of where its run stands.
func (r *recorder) mark(m sampler.LogMark) {
	r.taking.Lock()
	defer r.taking.Unlock()
	r.watch.Mark(m)
}

// Failure records a failure found in a log, at the time when the screen counts it.
func (r *recorder) Failure(e sampler.OOMEvent, at time.Time) {
	r.taking.Lock()
	defer r.taking.Unlock()
	r.failure(e, r.eventTime(at))
}

func (r *recorder) failure(e sampler.OOMEvent, at time.Time) {
	gpu := r.watch.GPUOf(e)
	if n, ok := e.GPUIndex.Value(); ok && !gpu.Known() && n >= 0 && n < r.gpus {
		gpu = sampler.Some(n)
	}
	r.w.Event(tape.Event{Time: at, Kind: tape.KindOOM, GPU: gpu, PID: e.PID, Text: e.Kind, OOM: &e})
}

// Need records a change of the need: alerts depend on it from then on.
func (r *recorder) Need(need sampler.Opt[sampler.Bytes], at time.Time) {
	r.taking.Lock()
	defer r.taking.Unlock()
	text := "no need"
	if b, ok := need.Value(); ok {
		text = b.String()
	}
	r.w.Event(tape.Event{Time: r.eventTime(at), Kind: tape.KindNeed, Need: need, Text: text})
}

// eventTime is the time of an event, which may come before the first snapshot.
func (r *recorder) eventTime(at time.Time) time.Time {
	if at.IsZero() {
		return time.Now()
	}
	return at
}

// close writes the end. A file into which nothing was written is taken away again.
func (r *recorder) close() error {
	r.taking.Lock()
	defer r.taking.Unlock()
	for _, c := range r.until(r.last.Add(time.Hour)) {
		r.w.Readings(c.dev, c.at, c.used)
	}
	err := r.end()
	if r.snapshots == 0 && r.file {
		if info, statErr := os.Stat(r.path); statErr == nil && info.Size() == 0 {
			os.Remove(r.path) //nolint:errcheck // an empty file stays
		}
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// diskTimeout is how long the end waits for a disk that hangs.
const diskTimeout = 10 * time.Second

func (r *recorder) end() error {
	closed := make(chan error, 1)
	go func() { closed <- r.w.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(diskTimeout):
		return fmt.Errorf("the disk does not answer: the end of %s may be missing", r.name())
	}
}

// screenRecorder records what the screen shows, and words errors for its footer.
type screenRecorder struct{ *recorder }

func (r screenRecorder) Snapshot(s *sampler.Snapshot, alerts []sampler.Alert) error {
	if err := r.recorder.Snapshot(s, alerts); err != nil {
		return errors.New(diskError(err))
	}
	return nil
}

func (r *recorder) name() string {
	if r.path == "-" {
		return "standard output"
	}
	return r.path
}

// diskError is an error of the disk in words, reported once: nvpeak goes on.
func diskError(err error) string {
	return fmt.Sprintf("recording: %v; what is written stays, and it goes on when there is room again", err)
}

// creationError says what to do about a file that cannot be recorded to.
func creationError(path string, err error) error {
	switch {
	case errors.Is(err, tape.ErrBusy):
		return fmt.Errorf("%w: choose another name", err)
	case errors.Is(err, tape.ErrNoFile):
		return fmt.Errorf("%w: choose the name of a new file", err)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: make its directory first", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: choose a directory of your own", err)
	}
	return err
}
