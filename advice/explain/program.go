package explain

import (
	"slices"
)

// kinds is a set of kinds of programs. What can be changed depends on the kind: who trains can
// halve a batch, who serves has the server's options only.
type kinds uint

const (
	training   kinds = 1 << iota
	evaluation       // own code that tests a model
	inference        // own code that runs a model
	imageTool        // ComfyUI, the web UIs of Stable Diffusion
	server           // an inference server with options of its own
	undecided        // nothing tells

	ownCode = training | evaluation | inference | undecided
	running = evaluation | inference | imageTool | server // a model that is not trained
)

// program is what failed. name is that of a known tool, else empty.
type program struct {
	name string
	kind kinds
}

func (p program) is(k kinds) bool { return p.kind&k != 0 }

// reserves: it takes a share of the GPU at start, for weights and KV cache.
func (p program) reserves() bool {
	return slices.Contains([]string{"vllm", "sglang", "tgi", "tensorrt-llm", "lmdeploy"}, p.name)
}

// programRow tells a program by what the log says of it, or by a word of its command.
type programRow struct {
	program
	words     []string // of the command: last parts of paths, or modules
	options   []string // of the command, plain names that no other program has
	framework string   // that is used by it alone
	// unlessTrains: the log names a library that is also trained with, so a training step decides first.
	unlessTrains bool
}
