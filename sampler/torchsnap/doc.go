// Package torchsnap reads memory snapshots of PyTorch, which are pickles, without running anything in them.
//
//	bytes ─ input.go ─► opcodes ─ machine.go ─► a stack of small values; what could call code is refused (opcodes.go)
//	     ─ object.go ─► lists and dictionaries, which live only until what holds them has taken them in
//	     ─ stacks.go ─► frames and stacks, each kept once; the line worth naming
//	     ─ segments.go ─► layers and holders   ─ trace.go, tracker.go, growth.go ─► the history
//	     ─ result.go ─► sampler.TorchSnapshot
//
// Memory does not follow the file: of each object that a pickle remembers four bytes are kept, and frames,
// texts, lines and open objects are bounded. Nothing in here panics on any input; a fuzz target looks after that.
package torchsnap
