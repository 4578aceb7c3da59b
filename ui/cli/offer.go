package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/sampler/demo"
	"nvpeak/sampler/redact"
)

// offerTimeout is how long the offer of the demo stands: a script that has a terminal must not hang.
const offerTimeout = 5 * time.Second

// offerDemo says why there is nothing to see, and opens the demo for those who want to look around.
func (a *app) offerDemo(cmd *cobra.Command, args []string, err error) error {
	if !withoutGPU(err) || a.opt.demo != "" {
		return err
	}
	fmt.Fprintf(a.err, "nvpeak: %s\n%s", redact.Text(oneLine(err)), a.words().Say("demo.offer", "seconds", int(offerTimeout.Seconds())))
	line, cause := a.typed(cmd.Context())
	if cause != nil {
		return cause
	}
	if line != "\n" && !strings.EqualFold(line, "y\n") {
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(a.err)
		}
		return errTold
	}
	a.opt.demo = demo.Default
	return a.monitor(cmd, args)
}

// typed is the line that somebody types, empty when nobody does in time.
func (a *app) typed(ctx context.Context) (line string, cause error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReaderSize(a.in, 16).ReadString('\n') //nolint:errcheck // the end of the input is no answer
		lines <- line
	}()
	select {
	case line = <-lines:
	case <-time.After(offerTimeout):
	case <-ctx.Done():
		fmt.Fprintln(a.err)
		return "", context.Cause(ctx)
	}
	return line, nil
}
