package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/ui"
)

// replayFlags are those of `replay`.
type replayFlags struct {
	speed speedFlag
	at    string
}

// speedFlag is how many seconds of the recording pass in a second.
type speedFlag float64

func (s *speedFlag) String() string { return fmt.Sprintf("%g", float64(*s)) }
func (s *speedFlag) Type() string   { return "SPEED" }
func (s *speedFlag) Set(text string) error {
	v, err := ui.ParseSpeed(text)
	if err == nil {
		*s = speedFlag(v)
	}
	return err
}

func replayCommand(a *app) *cobra.Command {
	f := &replayFlags{speed: 1}
	c := &cobra.Command{
		Use:     "replay FILE",
		Short:   "the monitor over a recording or a CSV log of nvidia-smi",
		Example: "  nvpeak replay night.jsonl.zst --speed 60\n  nvpeak replay night.jsonl.zst --at 03:15:00",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which recording? nvpeak replay FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args[0], f) },
	}
	c.Flags().Var(&f.speed, "speed", "playback `SPEED`, 0.25x to 3600x")
	c.Flags().StringVar(&f.at, "at", "", "begin at this `MOMENT`: "+ui.MomentForms)
	a.opt.bind(c.Flags(), "gpu", "need", "theme", "ascii", "no-color")
	return c
}

// replay shows a recording on the screen of the monitor.
func (a *app) replay(cmd *cobra.Command, path string, f *replayFlags) error {
	switch {
	case !a.isTerminal(a.out) || !a.isTerminal(a.in):
		return usagef("replay needs a terminal; as text: nvpeak report %s", path)
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	if err := checkSelection(path, a.opt.gpus); err != nil {
		return err
	}
	need, err := a.neededIn(path)
	if err != nil {
		return err
	}
	r, err := ui.NewReplay(ctx, func() (ui.Tape, error) { return openTape(path, a.opt.gpus) }, need)
	if errors.Is(err, ui.ErrNoSnapshots) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return err
	}
	r.SetSpeed(float64(f.speed))
	if f.at != "" {
		if err := r.Begin(f.at); err != nil {
			return usageError{err}
		}
	}
	o := a.screenOptions("REPLAY")
	o.Replay, o.Interval, o.Need = r, r.Interval(), need
	err = ui.Run(ctx, a.in.(*os.File), a.out.(*os.File), ui.New(ctx, r, o))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// neededIn is the need that was typed, or that of the monitor which recorded: without it
// its alerts would be others.
func (a *app) neededIn(path string) (need sampler.Opt[sampler.Bytes], err error) {
	if a.opt.need.Known() {
		return a.opt.need.Opt, nil
	}
	t, err := tape.Open(path)
	if err != nil {
		return need, err
	}
	defer t.Close()
	if h := t.Header(); h != nil && h.Need.Or(0) < sampler.Sane {
		need = h.Need
	}
	return need, nil
}

// openedTape is a recording as the screen wants it: snapshots and failures.
type openedTape struct{ *recording }

func openTape(path string, gpus []string) (ui.Tape, error) {
	r, err := openRecording(path, gpus)
	if err != nil {
		return nil, err
	}
	return openedTape{r}, nil
}

// Next passes over what only a report needs: the snapshots carry the peaks of the readings
// between them.
func (t openedTape) Next() (ui.Entry, error) {
	for {
		record, err := t.recording.Next()
		if err != nil {
			return ui.Entry{}, err
		}
		switch {
		case record.Snapshot != nil:
			return ui.Entry{Time: record.Time, Snapshot: record.Snapshot}, nil
		case record.Event != nil && record.Event.OOM != nil:
			return ui.Entry{Time: record.Time, Failure: record.Event.OOM}, nil
		}
	}
}
