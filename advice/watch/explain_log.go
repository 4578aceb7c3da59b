package watch

import (
	"strings"

	"nvpeak/sampler"
)

// lineOfLog says where a failure was printed, and what tells all of it.
func lineOfLog(f *Facts, line int) string {
	if f.log == "" {
		return f.words.Say("alert.oom.line", "line", line)
	}
	return f.words.Say("alert.oom.line_of", "line", line, "log", shellWord(f.log))
}

// howToExplain says what tells why a process died: the log that is followed, or how to get one.
func howToExplain(f *Facts) string {
	if f.log == "" {
		return f.words.Say("alert.oom.rerun")
	}
	return f.words.Say("alert.oom.explain", "log", shellWord(f.log))
}

// plainWord are the characters that a shell takes as they are.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:@,"

// shellWord is a file as one types it.
func shellWord(file string) string {
	file = sampler.Clean(file)
	if strings.Trim(file, plainWord) == "" {
		return file
	}
	return "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}
