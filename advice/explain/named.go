package explain

import (
	"path"
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// Runs says whether a command is that of the program which a log is of: the tool that its text names, the script that it names, the
// one in which its traceback begins, or the compiled program that a shell was told to run.
func Runs(typed string, c *sampler.LogContext) bool {
	if c == nil || strings.TrimSpace(typed) == "" {
		return false
	}
	words := command.Parse(typed).Words()
	if len(words) == 0 {
		return false
	}
	if shown := command.Parse(c.Command).Words(); strings.HasPrefix(c.Command, "./") && len(shown) > 0 && path.Base(words[0]) == path.Base(shown[0]) {
		return true
	}
	if slices.ContainsFunc(c.Scripts, func(script string) bool { return slices.Contains(words, path.Base(script)) }) {
		return true
	}
	if len(c.Files) > 0 && slices.Contains(words, path.Base(c.Files[0])) {
		return true
	}
	if slices.ContainsFunc(programRows, func(row programRow) bool {
		return row.name == c.Server && slices.ContainsFunc(words, func(w string) bool { return w == row.name || slices.Contains(row.words, w) })
	}) {
		return true
	}
	tool := tools.In(typed)
	return tool != nil && slices.Contains(c.Told, sampler.ToldTool+tool.Name)
}
