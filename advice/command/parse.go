package command

import (
	"slices"
	"strings"
)

// maxCommand bounds the command lines that are read; longer ones are left alone.
const maxCommand = 16 << 10

// Parse splits a command line as a POSIX shell would, without expanding anything.
func Parse(text string) Line {
	c := Line{Text: text}
	if strings.TrimSpace(text) == "" || len(text) > maxCommand || strings.IndexByte(text, 0) >= 0 {
		return c
	}
	commands, ok := readCommands(text)
	if !ok {
		return c
	}
	for _, words := range commands {
		c.commands = append(c.commands, [2]int{len(c.words), len(c.words) + len(words)})
		c.words = append(c.words, words...)
	}
	c.first, c.last = c.segment()
	c.Known = c.first < c.last
	c.options = c.readArguments()
	c.styled = readStyle(c)
	return c
}

// launchers start training; the part of a command line that holds one is the part to edit.
var launchers = []string{"python", "python2", "python3", "torchrun", "accelerate", "deepspeed", "yolo", "ultralytics",
	"lightning", "fairseq-train", "fairseq-hydra-train", "srun", "mpirun", "llamafactory-cli", "swift", "axolotl", "composer", "colossalai", "vllm", "uv", "poetry"}

// segment finds the command that starts the training: the last one with a launcher, else the
// last one.
func (c Line) segment() (first, last int) {
	found := false
	for _, at := range c.commands {
		if launches := c.launches(at[0], at[1]); at[1] > at[0] && (launches || !found) {
			first, last, found = at[0], at[1], found || launches
		}
	}
	return first, last
}

func (c Line) launches(first, last int) bool {
	return slices.ContainsFunc(c.words[first:last], func(w word) bool {
		name := lastPart(w.value)
		return slices.Contains(launchers, name) || strings.HasPrefix(name, "python3.")
	})
}
