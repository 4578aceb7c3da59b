package ui

import (
	"cmp"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// procRow is one row of the process table: a process on one GPU, or what is used by no
// process the driver names (proc nil).
type procRow struct {
	gpu  *sampler.GPU
	proc *sampler.Process
	snap *sampler.Snapshot
	head *group // it stands above the rows of a group, and is no process
	host string // its machine, in a table of several; empty: there is one

	indent string // what stands before the command in the tree
}

// key is the identity that the cursor follows.
func (p procRow) key() sampler.ProcessKey {
	if p.head != nil {
		return sampler.ProcessKey{PID: -p.head.order}
	}
	if p.proc == nil {
		return sampler.ProcessKey{GPU: p.gpuKey()}
	}
	return p.proc.Key(p.gpuKey())
}

// gpuKey is that of its GPU, on whatever machine.
func (p procRow) gpuKey() sampler.GPUKey {
	return sampler.GPUKey{Host: p.machine(), ID: p.gpu.Key().ID}
}

// machine is where it is; empty: there is one.
func (p procRow) machine() string { return cmp.Or(p.gpu.Host, p.host) }

func (p procRow) memory() sampler.Opt[sampler.Bytes] {
	if p.proc == nil {
		return p.gpu.Memory.Unattributed
	}
	return p.proc.Memory
}

func pidOf(r procRow) int {
	if r.proc == nil {
		return 0
	}
	return r.proc.PID
}

func commandOf(r procRow, words lang.Catalog) string {
	switch {
	case r.proc == nil:
		return words.Say("report.unattributed")
	case r.proc.Ended:
		return words.Say("table.ended", "command", cmp.Or(r.proc.Command, r.proc.Name))
	case !r.proc.Visible && r.proc.Command == "":
		return words.Say("report.now_other")
	case r.proc.Command != "":
		return r.proc.Command
	}
	return r.proc.Name
}

func shortType(t string) string {
	switch t {
	case "compute":
		return "C"
	case "graphics":
		return "G"
	case "compute+graphics":
		return "C+G"
	case "mps":
		return "M"
	}
	return t
}
