package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// Times of a connection. ssh gives up by itself where nothing answers; what answers and then says nothing is given up here.
const (
	connectSeconds = 10
	aliveSeconds   = 5 // and three of them missed: the network is away
	greetTimeout   = 30 * time.Second
	leastSilence   = 30 * time.Second
	killAfter      = 2 * time.Second // an ssh that does not end when it is asked to
)

// shell follows one machine over ssh.
type shell struct {
	fleet   *Fleet
	spec    *Spec
	member  *member
	backOff backOff
	smi     string // why nvidia-smi is asked, not nvpeak; empty: not known to be needed
	offset  offset
}

func newShell(f *Fleet, s *Spec, m *member) *shell { return &shell{fleet: f, spec: s, member: m} }

// stagger keeps many connections from being made at the same moment.
const stagger = 15 * time.Millisecond

// run follows the machine until the context ends.
func (s *shell) run(ctx context.Context) {
	wait := time.Duration(s.fleet.place(s.member)) * stagger
	for pause(ctx, wait) {
		reason, again := s.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		if wait = 0; !again {
			wait = s.backOff.next(s.fleet.random())
			s.member.lose(reason, s.fleet.now().Add(wait))
		}
	}
}

// pause waits; false: the context has ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// arguments of ssh. BatchMode asks for nothing: who would answer? A master connection that stands is used, none is made.
func (s *shell) arguments() []string {
	args := s.spec.Command
	if len(args) == 0 {
		args = []string{"ssh"}
	}
	args = append(args[:len(args):len(args)], "-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout="+strconv.Itoa(connectSeconds), "-o", "ServerAliveInterval="+strconv.Itoa(aliveSeconds),
		"-o", "ServerAliveCountMax=3", "-o", "ClearAllForwardings=yes", "-o", "ControlMaster=no", "-o", "PermitLocalCommand=no", "-o", "EscapeChar=none", "-o", "LogLevel=ERROR")
	if s.spec.Port != 0 {
		args = append(args, "-p", strconv.Itoa(s.spec.Port))
	}
	return append(args, "--", s.spec.destination(), remoteCommand(s.spec, &s.fleet.opt, s.smi != ""))
}

// connect follows the machine over one connection and says why that has ended. again: it is tried at once in another way.
func (s *shell) connect(parent context.Context) (reason string, again bool) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	args := s.arguments()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // keys of the terminal are not for it
	cmd.WaitDelay = killAfter
	said := &lastWords{}
	cmd.Stderr = said
	lifeline, err := cmd.StdinPipe() // closed when this process ends, in whatever way
	if err != nil {
		return err.Error(), false
	}
	defer lifeline.Close() //nolint:errcheck // nothing was written
	cmd.Cancel = func() error {
		lifeline.Close() //nolint:errcheck // as above
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err.Error(), false
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return args[0] + " is not installed here", false
		}
		return err.Error(), false
	}
	greeted, quiet := false, max(s.fleet.quiet, 5*s.fleet.opt.Interval)
	silence := newSilence(greetTimeout, func() { cancel(fmt.Errorf("it has said nothing for %v", greetTimeout)) })
	defer func() { silence.end() }()
	session := &session{shell: s, lines: tape.NewDecoder(), alive: func() {
		if !greeted {
			greeted = true
			silence.end()
			silence = newSilence(quiet, func() { cancel(fmt.Errorf("it has said nothing more for %v", quiet)) })
		}
		silence.over()
	}}
	readErr := session.read(out)
	if readErr == nil { // nothing more comes, and by what it has ended comes last
		defer time.AfterFunc(killAfter, func() { cancel(nil) }).Stop()
	} else {
		cancel(readErr)
	}
	cmd.Wait() //nolint:errcheck // its code tells
	return s.why(cmd.ProcessState.ExitCode(), said.String(), context.Cause(ctx), readErr, session)
}

// session reads what comes over one connection.
type session struct {
	*shell
	lines         *tape.Decoder
	alive         func() // something has come
	began         bool   // its first line has
	smi           *smi
	taken         int
	before, bytes int // lines before the first figures
}

var errSMIWanted = errors.New("its nvpeak cannot be used")

// read takes lines until there are no more. The error is why it does not want more of them.
func (s *session) read(out io.Reader) error {
	lines := tape.NewLines(out)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, tape.ErrLongLine):
			if s.foreign(line) {
				return errForeign
			}
			continue
		case err != nil:
			return nil
		}
		if !s.began { // what its login prints comes before
			s.began = string(line) == lineHello || strings.HasPrefix(string(line[:min(len(line), len(lineHello)+1)]), lineHello+" ")
			continue
		}
		s.alive()
		if err := s.line(line); err != nil {
			return err
		}
		if s.foreign(line) {
			return errForeign
		}
	}
}

// foreign counts what came before the first figures, and says that it is too much to be of nvpeak or nvidia-smi.
func (s *session) foreign(line []byte) bool {
	if s.taken > 0 {
		return false
	}
	s.before++
	s.bytes += len(line)
	return s.before > mostForeign || s.bytes > mostForeignBytes
}

const (
	mostForeign      = 10_000 // lines; nvidia-smi prints one for each GPU and process
	mostForeignBytes = 64 << 20
)

var errForeign = errors.New("what comes from there is neither of nvpeak nor of nvidia-smi: see what they print there")

func (s *session) line(line []byte) error {
	came := s.fleet.now()
	if len(line) > 0 && line[0] == '{' {
		return s.peak(line, came)
	}
	if s.smi == nil && string(line) == lineSMI {
		s.smi = &smi{}
		return nil
	}
	if s.smi == nil {
		return nil
	}
	if snap, written := s.smi.line(line); snap != nil {
		if !written.IsZero() {
			s.shell.offset.note(written, came)
		}
		snap.Time = came
		why := s.shell.smi
		if why == "" {
			why = "nvpeak is not installed there"
			if s.spec.Program != "" {
				why = s.spec.Program + " is not there"
			}
		}
		s.figures(snap, news{via: "nvidia-smi", reason: why + ": peaks between two readings of nvidia-smi are not seen", gap: smiEvery(&s.fleet.opt)})
	}
	return nil
}

// peak takes a line of nvpeak.
func (s *session) peak(line []byte, came time.Time) error {
	snap, err := s.lines.Snapshot(line)
	switch {
	case errors.Is(err, tape.ErrNewer):
		s.shell.smi = "nvpeak there is newer than this one, which cannot read it"
		return errSMIWanted
	case err != nil:
		return nil
	}
	if needsCleaning(line) {
		cleanTexts(snap)
	}
	if s.taken == 0 && notYet(snap) {
		return nil
	}
	s.shell.offset.note(snap.Time, came)
	d, _ := s.shell.offset.value()
	here(snap, d)
	s.figures(snap, news{via: "nvpeak"})
	return nil
}

// notYet says whether a snapshot is from before the driver has answered, for each GPU, an nvpeak that has just begun.
func notYet(s *sampler.Snapshot) bool {
	return slices.ContainsFunc(s.GPUs, func(g sampler.GPU) bool {
		return g.Silent() && strings.HasPrefix(g.Error.Or(""), sampler.ErrTransient.Error())
	})
}

func (s *session) figures(snap *sampler.Snapshot, n news) {
	possible(snap)
	n.tellErrors(snap)
	if d, ok := s.shell.offset.value(); ok {
		n.offset = sampler.Some(d)
	}
	s.taken++
	s.backOff.reset()
	s.member.figures(snap, n)
	if s.member.full() { // many lines have waited for us: whoever takes their figures is to have a turn before there are more
		runtime.Gosched()
	}
}

// why is the reason for the end of a connection.
func (s *shell) why(code int, said string, cause, read error, of *session) (reason string, again bool) {
	last := lastLine(said)
	switch {
	case read == errSMIWanted:
		return read.Error(), true
	case read == errForeign:
		return read.Error(), false
	case cause != nil && !errors.Is(cause, context.Canceled) && cause != read:
		return cause.Error(), false
	case code == codeNothing:
		return s.lacking(), false
	case code == 255 || !of.began:
		return s.failure(said), false
	case of.smi == nil && code == 2 && !strings.Contains(said, sampler.ErrSelect.Error()) && of.taken == 0:
		s.smi = "nvpeak there is too old"
		return last, true
	case last != "":
		return strings.TrimPrefix(last, "nvpeak: "), false
	case of.smi != nil && of.taken == 0:
		return strings.TrimSuffix("nvidia-smi there has failed ("+strconv.Itoa(code)+"): "+of.smi.says(), ": "), false
	}
	if of.smi == nil && of.taken == 0 {
		program := cmp.Or(s.spec.Program, "nvpeak")
		return program + " there has ended before its first figures (" + strconv.Itoa(code) + "): " + s.byHand() + " " + program + " stream", false
	}
	return "it has ended there (" + strconv.Itoa(code) + ")", false
}

// lacking is the reason of a machine without nvidia-smi whose nvpeak cannot be used or found.
func (s *shell) lacking() string {
	switch {
	case s.smi != "":
		return s.smi + ", and nvidia-smi is not installed there"
	case s.spec.Program != "":
		return s.spec.Program + " is not there, nor is nvidia-smi installed"
	}
	return "neither nvpeak nor nvidia-smi is installed there"
}

// failures of ssh, by what it prints in English; %s is the command to try by hand. A new one is a row.
var failures = []struct{ has, reason string }{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key is not the one that is known here: find out why, then: %s"},
	{"Host key verification failed", "its host key is not known here: connect once by hand: %s"},
	{"Permission denied", "ssh wants a password, or does not take the key, and is not asked for one here: make this work without a question: %s"},
	{"command-line and remote command", "the configuration of ssh has a RemoteCommand for it: put ssh = \"ssh -o RemoteCommand=none\" in hosts.toml; to see it: %s true"},
	{"Too many authentication failures", "ssh offers too many keys: make this work without a question: %s"},
	{"Could not resolve hostname", "there is no host of that name: %s"},
	{"Connection refused", "nothing listens for ssh there (connection refused): %s"},
	{"timed out", "it does not answer (timeout): %s"},
	{"timeout", "it does not answer (timeout): %s"},
	{"No route to host", "there is no way to it (no route to host): %s"},
	{"Network is unreachable", "there is no way to it (network is unreachable): %s"},
	{"not responding", "it has stopped answering: %s"},
	{"Connection reset", "the connection was reset: %s"},
	{"Connection closed", "the connection was closed: %s"},
	{"Broken pipe", "the connection was lost: %s"},
}

// failure says in our words why ssh has failed.
func (s *shell) failure(said string) string {
	try := s.byHand()
	for _, f := range failures {
		if strings.Contains(said, f.has) {
			return fmt.Sprintf(f.reason, try)
		}
	}
	if last := lastLine(said); last != "" {
		return last
	}
	return "the connection has ended: " + try
}

// byHand is the command that connects as nvpeak does.
func (s *shell) byHand() string {
	try := "ssh "
	if len(s.spec.Command) > 0 {
		try = strings.Join(s.spec.Command, " ") + " "
	}
	if s.spec.Port != 0 {
		try += "-p " + strconv.Itoa(s.spec.Port) + " "
	}
	return try + s.spec.destination()
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// lastWords keeps the end of what is written.
type lastWords struct {
	mu   sync.Mutex
	kept []byte
}

const mostWords = 4 << 10

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p[max(0, len(p)-mostWords):]...)
	if extra := len(w.kept) - mostWords; extra > 0 {
		w.kept = append(w.kept[:0], w.kept[extra:]...)
	}
	return len(p), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.kept)
}
