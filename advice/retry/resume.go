package retry

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// Resume are the words with which a program goes on from a checkpoint.
type Resume struct{ words []string }

// placeholder is what stands for the path of a checkpoint.
var placeholder = sampler.Pattern{Source: `\{latest(?::([^{}]*))?\}`}

// ParseResume reads words such as "--resume {latest}" or "--resume {latest:ckpt/*.pt}". It is split as a shell does;
// nothing is left to one.
func ParseResume(text string) (Resume, error) {
	words, ok := command.Parse(text).Argv()
	if !ok {
		return Resume{}, fmt.Errorf("%q is not words of a command line: such as '--resume {latest}'", text)
	}
	for _, w := range words {
		if strings.ContainsAny(placeholder.Get().ReplaceAllString(w, ""), "{}") {
			return Resume{}, fmt.Errorf("%q: what stands in braces is {latest} or {latest:GLOB}, such as {latest:ckpt/*.pt}", w)
		}
		for _, m := range placeholder.Get().FindAllStringSubmatch(w, -1) {
			if err := badGlob(m[0], m[1]); err != nil {
				return Resume{}, err
			}
		}
	}
	return Resume{words}, nil
}

func badGlob(whole, glob string) error {
	switch _, err := filepath.Match(glob, ""); {
	case err != nil:
		return fmt.Errorf("%s: %q is no pattern of file names", whole, glob)
	case strings.Contains(glob, "**"):
		return fmt.Errorf("%s: ** is not known: one * for each directory, such as runs/*/*.pt", whole)
	case glob == "" && strings.Contains(whole, ":"):
		return errors.New(whole + ": a pattern is missing, such as {latest:ckpt/*.pt}")
	}
	return nil
}

// Empty says whether there are none.
func (r Resume) Empty() bool { return len(r.words) == 0 }

// Fill puts checkpoints in: latest is the newest of a pattern, or of what looks like one where the pattern is empty. ok
// is false where there is none; missing is its pattern then.
func (r Resume) Fill(latest func(glob string) string) (words []string, missing string, ok bool) {
	words, ok = slices.Clone(r.words), true
	for i, w := range words {
		words[i] = placeholder.Get().ReplaceAllStringFunc(w, func(m string) string {
			glob := placeholder.Get().FindStringSubmatch(m)[1]
			path := latest(glob)
			if path == "" {
				missing, ok = glob, false
			}
			return path
		})
	}
	return words, missing, ok
}
