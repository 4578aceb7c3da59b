package cli

import (
	"bytes"
	"fmt"
	"io"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
	"nvpeak/sampler/redact"
	"nvpeak/ui/plain"
)

// verdictLines are those of what is said below the last lines of a command that died; the last one names
// the black box.
const verdictLines = 12

// sayVerdict says on standard error why a command died, and where its black box is. ended: the last line of the
// command has its end.
func (a *app) sayVerdict(e explain.Explanation, kept error, ended bool) {
	o := plain.Options{Width: 100, ASCII: bool(a.opt.ascii)}
	if w, _ := sizeOf(a.err); w > 0 {
		o.Width = w
	}
	if a.isTerminal(a.err) {
		o.Color = !bool(a.opt.noColor)
	} else {
		e = redact.Copy(e)
	}
	var text bytes.Buffer
	if !ended {
		fmt.Fprintln(&text)
	}
	fmt.Fprintln(&text, "nvpeak:")
	plain.Brief(&text, e, verdictLines-2, o) //nolint:errcheck // into memory
	if kept == nil {
		fmt.Fprintln(&text, a.words().Say("runs.kept"))
	} else {
		fmt.Fprintln(&text, a.words().Say("runs.not_kept", "why", sampler.Clean(kept.Error())))
	}
	io.WriteString(a.err, a.drawable(text.String())) //nolint:errcheck // there is nobody to tell
}
