// Package nvml is the live source: it asks the NVIDIA driver through
// libnvidia-ml.so.1 (NVML). It is the only importer of go-nvml.
//
//	Open ── source.go ──► open.go  load, init, one device per GPU and MIG instance (mig.go)
//	                       symbols.go, functions.go  what this driver has
//	Memory ─────┐           memory.go      one driver call, made most often
//	Metrics ────┤ answers ► metrics.go     one row per figure, each with its interval (rows.go)
//	Throughput ─┤           throughput.go
//	Processes ──┘           processes.go ◄── lists.go  bounded list calls (cgo)
//	Sweep ── sweep.go       the memory of many devices below Go (cgo), on a thread that goes first (first.c)
//	Overdue ── overdue.go   a call of a sweep has lasted too long
//	WaitXID ── xid.go ◄── xidwatch.go
//	conn.go ► device.go ► handle.go   one connection, its devices, what the driver calls them
//	codes.go                what each return code means
//
// # Rules
//
// A function that the driver does not have must never be called: the dynamic linker
// then ends the process with exit code 127, past every deferred function. Each use of
// a function is therefore guarded by the set of symbols found at Open.
//
// go-nvml binds NVML's functions at their first call. A program linked with -z now, or
// started with LD_BIND_NOW=1, dies at its start. Go accepts no "-z lazy" in a cgo
// directive, so packagers whose compiler defaults to -z now have to build with
//
//	go build -ldflags '-extldflags=-Wl,-z,lazy'
//
// (https://github.com/NVIDIA/go-nvml/issues/18). go-nvml also makes one library a
// matter of the whole process: after one Source has been opened, every other one must
// name the same library.
//
// Strings of go-nvml's Return are never used: they point into the driver's memory.
package nvml
