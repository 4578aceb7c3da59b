package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/ui"
	"nvpeak/ui/player"
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
	v, err := player.ParseSpeed(text)
	if err == nil {
		*s = speedFlag(v)
	}
	return err
}

func replayCommand(a *app) *cobra.Command {
	f := &replayFlags{speed: 1}
	c := &cobra.Command{
		Use:     "replay FILE…",
		Short:   "the monitor over a recording, or a log of nvidia-smi or gpustat",
		Example: "  nvpeak replay night.jsonl.zst --speed 60\n  nvpeak replay night.jsonl.zst --at 03:15:00",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("which recording? nvpeak replay FILE…")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args, f) },
	}
	c.Flags().Var(&f.speed, "speed", "playback `SPEED`, 0.25x to 3600x")
	c.Flags().StringVar(&f.at, "at", "", "begin at this `TIME`: "+player.TimeForms)
	a.opt.bind(c.Flags(), "gpu", "need", "interval", "lang", "theme", "columns", "sort", "span", "gpu-levels", "host-levels", "ascii", "no-color", "plot", "no-mouse")
	return c
}

// replay shows a recording on the screen of the monitor.
func (a *app) replay(cmd *cobra.Command, names []string, f *replayFlags) error {
	switch {
	case !a.isTerminal(a.out) || !a.isTerminal(a.in):
		return usagef("replay needs a terminal; as text: nvpeak report %s", strings.Join(names, " "))
	}
	list, err := a.inputs(names)
	switch {
	case err != nil:
		return err
	case len(list) != 1:
		return usagef("replay shows one recording, or the parts of one; these are %d, name one of them: %s", len(list), namesOf(list))
	}
	leanReading()
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	var p *player.Player
	var options player.Options
	err = interruptible(ctx, func() (err error) {
		p, options, err = a.openPlayer(ctx, list[0])
		return err
	})
	if err != nil {
		return err
	}
	p.SetSpeed(float64(f.speed))
	if f.at != "" {
		if err := p.Begin(f.at); err != nil {
			return usageError{err}
		}
	}
	o := a.screenOptions("REPLAY")
	o.Need = options.Need
	err = ui.Run(ctx, a.in.(*os.File), a.out.(*os.File), ui.New(ctx, p, o))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (a *app) openPlayer(ctx context.Context, from input) (*player.Player, player.Options, error) {
	options := player.Options{}
	err := cmp.Or(readable(from.Files[0]), checkSelection(from))
	if err == nil {
		options, err = a.playerOptions(from)
	}
	if err != nil {
		return nil, options, err
	}
	p, err := player.Open(ctx, func() (player.Tape, error) { return openTape(from, a.words().Say) }, options)
	if errors.Is(err, player.ErrNoSnapshots) {
		err = fmt.Errorf("%s: %w", from.Name, err)
	}
	return p, options, err
}

// playerOptions are the need that was typed, or that of the monitor which recorded: without
// it its alerts would be others.
func (a *app) playerOptions(from input) (o player.Options, err error) {
	if a.opt.need.Known() {
		return player.Options{Need: a.opt.need.Opt, Fixed: true, Lang: string(a.opt.lang), Levels: a.levels()}, nil
	}
	o.Lang, o.Levels = string(a.opt.lang), a.levels()
	t, err := tape.OpenParts(from.Files)
	if err != nil {
		return o, err
	}
	defer t.Close()
	if h := t.Header(); h != nil && h.Need.Or(0) < sampler.MaxPlausible {
		o.Need = h.Need
	}
	return o, nil
}

// namesOf are recordings in a sentence.
func namesOf(list []input) string {
	var names []string
	for _, in := range list {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

// openedTape is a recording as a player wants it.
type openedTape struct {
	*recording
	say tape.Say
}

// Notes are those of the recording, in words.
func (t openedTape) Notes() []string { return t.recording.Notes(t.say) }

func openTape(from input, say tape.Say) (player.Tape, error) {
	r, err := openRecording(from)
	if err != nil {
		return nil, err
	}
	return openedTape{r, say}, nil
}

// Next passes over what only a report needs: the snapshots carry the peaks of the readings
// between them.
func (t openedTape) Next() (player.Entry, error) {
	for {
		record, err := t.recording.Next()
		if err != nil {
			return player.Entry{}, err
		}
		switch {
		case record.Snapshot != nil:
			s := *record.Snapshot
			s.Alerts = nil // a replay makes its own
			return player.Entry{Time: record.Time, Snapshot: &s, Size: record.Size}, nil
		case record.Event != nil && record.Event.Kind == tape.KindNeed:
			return player.Entry{Time: record.Time, Need: &record.Event.Need}, nil
		case record.Event != nil && record.Event.OOM != nil:
			return player.Entry{Time: record.Time, Failure: record.Event.OOM, Size: record.Size}, nil
		}
	}
}
