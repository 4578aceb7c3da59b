package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// recordFlags are those of `record`.
type recordFlags struct {
	out      string
	span     time.Duration
	rotate   rotateFlag
	keep     int
	noRedact bool
}

// rotateFlag is a time or a size after which the next file begins.
type rotateFlag struct {
	age  time.Duration
	size int64
	text string
}

const (
	leastRotateAge  = time.Second
	leastRotateSize = 64 * sampler.KiB
)

func (r *rotateFlag) String() string { return r.text }
func (r *rotateFlag) Type() string   { return "DURATION|SIZE" }
func (r *rotateFlag) Set(text string) error {
	if d, err := time.ParseDuration(text); err == nil && d >= leastRotateAge {
		*r = rotateFlag{age: d, text: text}
		return nil
	}
	if b, err := sampler.ParseBytes(text); err == nil && b >= leastRotateSize && b < sampler.MaxPlausible {
		*r = rotateFlag{size: int64(b), text: text}
		return nil
	}
	return fmt.Errorf("%q is neither a time from %v, such as 1h, nor a size from %v, such as 100MiB", text, leastRotateAge, leastRotateSize)
}

func recordCommand(a *app) *cobra.Command {
	f := &recordFlags{}
	c := &cobra.Command{
		Use:     "record -o FILE",
		Short:   "record without a screen, until stopped: .jsonl, or compressed .jsonl.zst",
		Example: "  nvpeak record -o night.jsonl.zst --for 12h\n  nvpeak record -o box.jsonl.zst --rotate 24h --keep 7",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.record(cmd.Context(), f) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "the `FILE`; compressed when its name ends in .zst; - is standard output")
	c.Flags().Var(durationFlag{&f.span, time.Second, 10 * 365 * 24 * time.Hour}, "for", "end after this `DURATION`")
	c.Flags().Var(&f.rotate, "rotate", "begin a new file after this time or size, a `LIMIT` such as 1h or 100MiB, and after the recording that FILE holds")
	c.Flags().IntVar(&f.keep, "keep", 0, "with --rotate: keep this `NUMBER` of finished files, all if 0")
	noRedactFlag(c.Flags(), &f.noRedact)
	a.opt.bind(c.Flags(), slices.Concat(following, passingOn, []string{"need", "gpu-levels", "host-levels", "interval", "log", "requests", "lang"})...)
	return c
}

// recordingDone ends a recording that was asked to last for some time.
type recordingDone struct{}

func (recordingDone) Error() string { return "the recording is over" }

// record writes snapshots and readings to a file until it is stopped. However it is
// stopped, short of kill -9, the recording is complete and has its end line.
func (a *app) record(ctx context.Context, f *recordFlags) error {
	switch {
	case a.listDemos():
		return nil
	case f.out == "":
		return usagef("where to? add -o FILE, such as -o run.jsonl.zst")
	case f.keep < 0 || f.keep > 0 && f.rotate.text == "":
		return usagef("--keep %d: a number of finished files to keep, with --rotate", f.keep)
	}
	if a.remote() {
		return a.fleetRecord(ctx, f)
	}
	if err := a.followable(); err != nil {
		return err
	}
	r := a.newRecorder(f.out)
	r.opt.RotateAge, r.opt.RotateSize, r.opt.Keep, r.opt.NoRedact = f.rotate.age, f.rotate.size, f.keep, f.noRedact
	announcer, err := a.announcer()
	if err != nil {
		return err
	}
	defer announcer.close()
	r.announce = announcer.take
	l, ctx, end, err := a.measure(ctx, sampler.Options{Readings: r.readings()})
	if err != nil {
		return err
	}
	defer end(nil)
	if err := r.create(a.out); err != nil {
		return err
	}
	begun := func() {}
	if f.span > 0 { // of what is recorded: from the first snapshot on, if one comes
		over := time.AfterFunc(f.span, func() { end(recordingDone{}) })
		defer over.Stop()
		begun = func() { over.Reset(f.span) }
	}
	if a.opt.log != "" {
		go func() {
			for e := range oomlog.Follow(ctx, a.opt.log) {
				r.failed(e)
			}
		}()
	}
	if err = a.recordAll(ctx, l, r, f, begun); errors.Is(err, errReaderGone) {
		err = nil
	}
	r.ended(l.now())
	end(nil)
	return errors.Join(err, r.finish(a.err))
}

// recordAll passes everything that comes to the recorder; begun is told of the first of it. Being stopped is no error.
func (a *app) recordAll(ctx context.Context, l *live, r *recorder, f *recordFlags, begun func()) error {
	for first := true; ; first = false {
		snaps, err := l.Next(ctx)
		if err != nil {
			var sig signalError
			cause := context.Cause(ctx)
			switch {
			case errors.As(cause, &sig), errors.Is(cause, recordingDone{}):
				return a.recordSome(l.Rest(), r, f)
			case cause != nil:
				return cause
			}
			return err
		}
		if first && len(snaps) > 0 {
			begun()
			a.say(r.beginning(snaps[0], f.span))
		}
		if err := a.recordSome(snaps, r, f); err != nil {
			return err
		}
	}
}

// recordSome passes snapshots to the recorder.
func (a *app) recordSome(snaps []*sampler.Snapshot, r *recorder, f *recordFlags) error {
	for _, s := range snaps {
		if err := r.take(s); errors.Is(err, errReaderGone) || err != nil && f.out == "-" {
			return err // what was cut cannot be taken back, as in a file
		} else if err != nil {
			a.say(diskError(err))
		}
	}
	return nil
}

// beginning is what is said when a recording begins.
func (r *recorder) beginning(s *sampler.Snapshot, span time.Duration) string {
	text := fmt.Sprintf("recording %s", gpusOf(len(s.GPUs)))
	if s.Host != "" {
		text += " of " + s.Host
	}
	text += " to " + r.name()
	if span > 0 {
		return text + fmt.Sprintf(" for %v", span)
	}
	return text + "; Ctrl-C ends it"
}

// lasted is a time to the second, or below ten of them to a tenth: it must not say more than there is.
func lasted(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Second / 10)
	}
	return d.Round(time.Second)
}

func gpusOf(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}

// ended notes until when the memory was read, which was mostly after the last snapshot.
func (r *recorder) ended(at time.Time) {
	r.taking.Lock()
	defer r.taking.Unlock()
	if at.After(r.last) {
		r.last = at
	}
}

// finish closes the recording and says what there is.
func (r *recorder) finish(to io.Writer) error {
	err := r.close()
	text := "nothing was recorded: there was no snapshot yet"
	if r.snapshots > 0 {
		text = fmt.Sprintf("recorded %v of %s to %s: %d snapshots", lasted(r.last.Sub(r.first)), gpusOf(r.gpus), r.name(), r.snapshots)
		if info, statErr := os.Stat(r.path); r.path != "-" && statErr == nil {
			text += fmt.Sprintf(", %s", sampler.Bytes(info.Size()))
			if r.opt.RotateAge+time.Duration(r.opt.RotateSize) > 0 {
				text += " in the newest file"
			}
		}
	}
	fmt.Fprintln(to, "nvpeak: "+sampler.Clean(text))
	return err
}
