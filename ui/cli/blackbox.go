package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	commandline "nvpeak/advice/command"
	"nvpeak/advice/explain"
	"nvpeak/sampler"
	"nvpeak/sampler/child"
	"nvpeak/sampler/proc"
	"nvpeak/sampler/redact"
)

// boxMeta is run.json of a black box.
type boxMeta struct {
	Schema      int                  `json:"schema"`
	Program     string               `json:"program"`
	Host        string               `json:"host"`
	Command     string               `json:"command"`
	Directory   string               `json:"directory"`
	Environment map[string]string    `json:"environment"` // that concerns memory and the choice of devices
	PID         int                  `json:"pid"`         // of nvpeak
	Start       time.Time            `json:"start"`
	End         *time.Time           `json:"end"`       // null: it runs, or nvpeak was killed
	ExitCode    *int                 `json:"exit_code"` // of the command
	Driver      string               `json:"driver"`
	CUDA        string               `json:"cuda"`
	GPUs        []string             `json:"gpus"`
	Explanation *explain.Explanation `json:"explanation"` // why it died; null where nothing says so
	Retry       *boxRetry            `json:"retry"`       // which try of a run it is; null: it is tried once
}

// blackBox is the directory in which a run is kept. It is written as the run goes on, so that it is there after
// kill -9, and removed when the run ends well.
type blackBox struct {
	dir     string
	whole   bool // it is kept in any case
	broken  error
	removed bool
	lock    *os.File // of the directory: nvpeak is alive

	mu      sync.Mutex
	meta    boxMeta
	printed int64     // of the output, when its end was written last
	written time.Time // when
}

// The files of a box.
const (
	boxMetaFile   = "run.json"
	boxLog        = "output.log" // the end of what was printed
	boxRecording  = "recording.jsonl.zst"
	maxBoxes      = 20
	boxDirectory  = "nvpeak/runs"
	boxTimeFormat = "20060102-150405"
)

// runsDirectory is where black boxes are.
func (a *app) runsDirectory() string {
	state := a.env("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as the specification has it
		state = filepath.Join(a.env("HOME"), ".local", "state")
	}
	return filepath.Join(state, boxDirectory)
}

var notInNames = sampler.Pattern{Source: `[^A-Za-z0-9._-]+`}

// newBox makes the box of a run. Without room for one it is broken, and the run goes on.
func (a *app) newBox(args, env []string, whole bool, note *boxRetry) *blackBox {
	now := time.Now()
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	variables := proc.Environment(env)
	for name, value := range variables {
		variables[name] = redact.Value(name, sampler.Clean(value))
	}
	b := &blackBox{whole: whole, meta: boxMeta{Schema: sampler.Schema, Program: "nvpeak " + version(), Host: host, Command: redact.Text(asTyped(args)),
		Directory: redact.Text(sampler.Clean(dir)), Environment: variables, PID: os.Getpid(), Start: now, Retry: note}}
	name := notInNames.Get().ReplaceAllString(redact.Text(filepath.Base(args[0])), "_")
	runs := a.runsDirectory()
	b.broken = os.MkdirAll(runs, 0o700)
	for n := 0; b.broken == nil; n++ { // pids come again in containers
		b.dir = filepath.Join(runs, now.UTC().Format(boxTimeFormat)+"-"+name[:min(len(name), 40)]+"-"+itoa(os.Getpid()+n<<22))
		if b.broken = os.Mkdir(b.dir, 0o700); !errors.Is(b.broken, os.ErrExist) {
			break
		}
		b.broken = nil
	}
	if b.broken == nil {
		b.lock, b.broken = os.Open(b.dir)
	}
	if note != nil && note.Run == "" {
		note.Run = filepath.Base(b.dir)
	}
	if b.broken == nil {
		unix.Flock(int(b.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) //nolint:errcheck // not every file system can
		b.broken = b.writeMeta()
	}
	return b
}

// asTyped is a command line as one would type it.
func asTyped(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = commandline.Quote(sampler.Clean(arg))
	}
	return strings.Join(words, " ")
}

func (b *blackBox) recording() string { return filepath.Join(b.dir, boxRecording) }

// fail remembers the first reason why the box is not whole.
func (b *blackBox) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = cmp.Or(b.broken, err)
}

// saw takes what a snapshot tells of the machine, and writes it at once: nvpeak may be killed.
func (b *blackBox) saw(s *sampler.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.meta.GPUs) == len(s.GPUs) {
		return
	}
	b.meta.Driver, b.meta.CUDA, b.meta.GPUs = s.Driver, s.CUDA, nil
	for _, g := range s.GPUs {
		b.meta.GPUs = append(b.meta.GPUs, g.Name)
	}
	if b.broken == nil && !b.removed {
		b.broken = b.writeMeta()
	}
}

func (b *blackBox) writeMeta() error {
	text, err := json.MarshalIndent(b.meta, "", "  ")
	if err != nil {
		return err
	}
	return b.write(boxMetaFile, append(redact.JSON(text), '\n'))
}

// write writes a file of the box, whole or not at all.
func (b *blackBox) write(name string, text []byte) error {
	file, err := os.OpenFile(filepath.Join(b.dir, "."+name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = cmp.Or(err, file.Close()); err != nil {
		os.Remove(file.Name()) //nolint:errcheck // it is in nobody's way
		return err
	}
	return os.Rename(file.Name(), filepath.Join(b.dir, name))
}

const (
	spoolEvery = time.Second
	// spoolSlow is for output of which all is new each second.
	spoolSlow = 5 * time.Second
	spoolTail = 16 << 10
)

// spoolLog writes the end of the output while the command runs: less than is kept in the end, because taking
// the secrets out costs 7 ms per 64 KiB.
func (b *blackBox) spoolLog(side *child.Side, now time.Time) {
	end, printed := side.Tail()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil || printed == b.printed || printed-b.printed > spoolTail && now.Sub(b.written) < spoolSlow {
		return
	}
	b.printed, b.written = printed, now
	if cut := len(end) - spoolTail; cut > 0 {
		end = end[cut:]
		end = end[strings.IndexAny(string(end), "\r\n")+1:]
	}
	b.write(boxLog, shownLog(end)) //nolint:errcheck // the end of the run tells it
}

// shownLog is output as text without secrets and control characters.
func shownLog(b []byte) []byte {
	text := redact.Text(strings.ToValidUTF8(string(b), "?"))
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	return []byte(text)
}

// spool writes through what is only in memory, until the run ends.
func (w *watchedRun) spool(ctx context.Context) {
	tick := time.NewTicker(spoolEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			w.box.spoolLog(w.side, now)
		}
	}
}

// keep completes the box, and leaves the newest of all.
func (b *blackBox) keep(code int, why *explain.Explanation, side *child.Side) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		b.removeLocked()
		return b.broken
	}
	now := time.Now()
	b.meta.End, b.meta.ExitCode, b.meta.Explanation = &now, &code, why
	end, _ := side.Tail()
	err := errors.Join(b.write(boxLog, shownLog(end)), joinParts(b.dir), b.writeMeta())
	pruneBoxes(filepath.Dir(b.dir))
	return err
}

func (b *blackBox) remove() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removeLocked()
	pruneBoxes(filepath.Dir(b.dir))
}

func (b *blackBox) removeLocked() {
	if b.lock != nil {
		b.lock.Close() //nolint:errcheck // nothing was written
		b.lock = nil   // a descriptor, which removing may need
	}
	if b.removed = true; b.dir != "" {
		os.RemoveAll(b.dir) //nolint:errcheck // what stays is pruned some day
	}
}

// joinParts makes one recording of the part before and the newest one.
func joinParts(dir string) error {
	parts, err := filepath.Glob(filepath.Join(dir, "recording.[0-9]*.jsonl.zst"))
	if err != nil || len(parts) == 0 {
		return err
	}
	slices.Sort(parts)
	whole := filepath.Join(dir, boxRecording)
	joined, err := os.OpenFile(filepath.Join(dir, ".joined"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for _, part := range append(parts, whole) {
		err = cmp.Or(err, appendFile(joined, part))
	}
	if err = cmp.Or(err, joined.Close()); err != nil {
		os.Remove(joined.Name()) //nolint:errcheck // it is in nobody's way
		return err
	}
	if err := os.Rename(joined.Name(), whole); err != nil {
		return err
	}
	for _, part := range parts {
		os.Remove(part) //nolint:errcheck // then it is there twice
	}
	return nil
}

func appendFile(to io.Writer, name string) error {
	from, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // there was no snapshot
	}
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	_, err = io.Copy(to, from)
	return err
}
