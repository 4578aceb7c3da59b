package post

import (
	"strings"
	"unicode"

	"nvpeak/sampler"
)

// servedModel is the model that a command gives to a server.
var servedModel = lazily(`(?:\s--(?:model|model-path|model-id)[ =]|\bserve\s+)["']?([^\s"']+)`)

// doesNotStart is how somebody says of one of several that it does not start.
var doesNotStart = lazily(`(?i)\b(?:refus\w*|fail(?:s|ed)?|crash\w*|dies|died|errors?|exceptions?|oom|out of memory|(?:not|n['’]t|cannot) (?:\w+ )?(?:start|load|run))\b`)

// namesOf are the parts of a model's name by which people call it: "14b" of "Qwen2.5-14B-Instruct".
func namesOf(model string) map[string]bool {
	list := map[string]bool{}
	for _, part := range strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) > 1 {
			list[part] = true
		}
	}
	return list
}

// failingCommand puts the command that failed into a context, where a text has several of one program with a model each, and says of one of
// these models alone that it fails.
func failingCommand(c *sampler.LogContext, all []sentence, lines []codeLine) {
	var commands []string
	var names []map[string]bool
	for _, line := range lines {
		whole := strings.TrimSpace(line.command + line.options)
		if at := servedModel.FindStringSubmatch(whole); at != nil && len(commands) < 8 {
			commands, names = append(commands, whole), append(names, namesOf(at[1]))
		}
	}
	if len(commands) < 2 || c.Command == "" {
		return
	}
	votes, best := make([]int, len(commands)), 0
	for _, s := range all {
		for _, clause := range strings.Split(s.text, ",") {
			if !doesNotStart.MatchString(clause) {
				continue
			}
			said := namesOf(clause)
			for i := range names {
				for word := range names[i] {
					if said[word] && only(names, word) {
						votes[i]++
					}
				}
			}
		}
	}
	sum := 0
	for i, n := range votes {
		sum += n
		if n > votes[best] {
			best = i
		}
	}
	if votes[best] > 0 && votes[best] == sum {
		c.Command = commands[best]
	}
}

// only says whether one of these has a word.
func only(names []map[string]bool, word string) bool {
	n := 0
	for _, list := range names {
		if list[word] {
			n++
		}
	}
	return n == 1
}

var (
	// bold is what Markdown makes bold within a command.
	bold = lazily(`\*\*([\w-][^*\n]*?)[ \t]*\*\*`)
	// proseBehind is a sentence that goes on behind the script of a command.
	proseBehind = lazily(`(\S+\.(?:py|sh|ipynb))[,;:] [a-z].*$`)
)

// typed is a command as it was typed, without what a sentence around it and Markdown added.
func typed(command string) string {
	return strings.TrimSpace(gap.ReplaceAllString(proseBehind.ReplaceAllString(bold.ReplaceAllString(command, "$1"), "$1"), " "))
}
