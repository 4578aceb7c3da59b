package cli

import (
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
)

// noRedactFlag declares the wish to keep secrets.
func noRedactFlag(fs *pflag.FlagSet, keep *bool) {
	fs.BoolVar(keep, "no-redact", false, "keep passwords and tokens in command lines")
}

// leaves says whether the output goes to a file or another program. On a terminal a command
// line is shown as ps does.
func (a *app) leaves() bool {
	file, ok := a.out.(*os.File)
	return !ok || !term.IsTerminal(int(file.Fd()))
}

// shown is the snapshot as it may be written where the output goes.
func (a *app) shown(s *sampler.Snapshot, keep bool) *sampler.Snapshot {
	if keep || !a.leaves() {
		return s
	}
	return redact.Copy(s)
}
