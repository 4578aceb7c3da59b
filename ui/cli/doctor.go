package cli

import (
	"bufio"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nvpeak/sampler"
	"nvpeak/ui/notify"
)

func doctorCommand(a *app) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "every source: ok, partial or unavailable, why, and the command that fixes it",
		Long: "doctor looks at everything nvpeak measures with and says of each whether it works, why not, and\n" +
			"the one command that fixes it. It also measures how long the driver's calls take and how fast the\n" +
			"memory is really read; --demo looks at scripted GPUs. Exit 0: at least one GPU can be measured; 1: none.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	a.opt.bind(c.Flags(), append(reporting, "peak-interval", "demo", "nvml-lib", "lang", "ascii", "no-color")...)
	c.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		a.read(cmd.Flags()) //nolint:errcheck // checkSettings reports it
	}
	return c
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	if a.listDemos() {
		return nil
	}
	c := &checkup{app: a, deliveries: notify.NewLedger(a.env).Read()}
	c.gather(ctx)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	findings := c.judge()
	out := bufio.NewWriter(a.out)
	var err error
	if asJSON {
		err = c.json(out, findings)
	} else {
		err = c.text(out, findings)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if c.openError != nil {
		return c.openError
	}
	if c.measurable() == 0 {
		return errors.New("no GPU reports its memory")
	}
	return nil
}

// judge runs the checks, in their order.
func (c *checkup) judge() []finding {
	list := make([]finding, 0, len(checks))
	for _, row := range checks {
		f := row.probe(c)
		f.Name = row.name
		f.Why, f.Fix = sampler.Clean(f.Why), sampler.Clean(f.Fix)
		list = append(list, f)
	}
	return list
}
