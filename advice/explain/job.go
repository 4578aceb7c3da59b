package explain

import (
	"nvpeak/advice/command"
)

// job is what happened together with what was in force: the command as typed, the environment,
// the GPU's abilities.
type job struct {
	facts
	command     command.Line
	typed       bool // the command was given beside the text
	environment map[string]string
	gpu         gpuModel
}
