package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"nvpeak/advice/retry"
)

// retryFlags are those of `run` that run a command more than once, or later.
type retryFlags struct {
	most    int // tries after the first
	ask     bool
	resume  string
	wait    bool
	gpus    int
	timeout time.Duration
}

// maxRetries is more than any batch can be halved.
const maxRetries = 100

// retriesAsked are the tries where each is asked for and no number is given.
const retriesAsked = 10

func (f *retryFlags) bind(fs *pflag.FlagSet) {
	fs.IntVar(&f.most, "retry", 0, "after an out-of-memory death on the GPU run again with a change that helps, `N` times at most")
	fs.BoolVar(&f.ask, "retry-ask", false, "ask on the terminal before each of these tries")
	fs.StringVar(&f.resume, "resume-flag", "", "`WORDS` to add to these tries, such as '--resume {latest}' or '--resume {latest:ckpt/*.pt}'")
	fs.BoolVar(&f.wait, "wait", false, "wait for a GPU with the --need free, before the first try and each other, and give it to the command")
	fs.IntVar(&f.gpus, "gpus", 0, "how many GPUs (`N`) --wait waits for (as many as the command says or sees)")
	fs.Var(durationFlag{&f.timeout, 0, longestWait}, "timeout", "give up waiting after this `DURATION` (exit 3)")
}

// checkRetry refuses what cannot be meant, before anything runs.
func (a *app) checkRetry(f *retryFlags, fs *pflag.FlagSet) error {
	if f.most < 0 || f.most > maxRetries {
		return usagef("--retry %d: from 1 to %d tries", f.most, maxRetries)
	}
	if f.ask && f.most == 0 && !fs.Changed("retry") {
		f.most = retriesAsked
	}
	if f.ask && !(a.isTerminal(a.in) && a.isTerminal(a.err)) {
		return usagef("--retry-ask needs a terminal to ask on: leave it out, and --retry %d tries without asking", f.most)
	}
	if fs.Changed("resume-flag") {
		r, err := retry.ParseResume(f.resume)
		switch {
		case err != nil:
			return usageError{fmt.Errorf("--resume-flag %w", err)}
		case r.Empty():
			return usagef("--resume-flag is empty: such as '--resume {latest}'")
		case f.most == 0:
			return usagef("--resume-flag is for another try: add --retry N")
		}
	}
	return a.checkWait(f, fs)
}

func (a *app) checkWait(f *retryFlags, fs *pflag.FlagSet) error {
	if f.wait {
		_, err := a.need(max(1, f.gpus))
		if err == nil && fs.Changed("gpus") && f.gpus < 1 {
			err = usagef("--gpus %d: it must be at least 1", f.gpus)
		}
		return err
	}
	for _, name := range []string{"gpus", "timeout"} {
		if fs.Changed(name) {
			return usagef("--%s is for --wait: add it, with --need SIZE", name)
		}
	}
	return nil
}
