package report

import (
	"slices"
	"testing"

	"nvpeak/sampler"
)

// A message without amounts is of the process that runs the program which the log is of, not of the largest one.
func TestMeantByProgram(t *testing.T) {
	chat, md, script := job(5, 5*gibs), job(7, 4*gibs), job(9, 2*gibs)
	big := job(3, 30*gibs)
	big.Command, chat.Command, md.Command, script.Command = "python long.py", "ollama runner --model m", "gmx mdrun -deffnm npt", "python runs/fit.py --lr 1e-3"
	for name, row := range map[string]struct {
		context sampler.LogContext
		want    int
	}{
		"nothing named":             {sampler.LogContext{}, 3},
		"a tool":                    {sampler.LogContext{Told: []string{sampler.ToldTool + "GROMACS"}}, 7},
		"a tool that is not there":  {sampler.LogContext{Told: []string{sampler.ToldTool + "LAMMPS"}}, 3},
		"the script of a traceback": {sampler.LogContext{Files: []string{"runs/fit.py", "torch/functional.py"}}, 9},
		"a script that is named":    {sampler.LogContext{Scripts: []string{"fit.py"}}, 9},
		"a server":                  {sampler.LogContext{Server: "ollama"}, 5},
		"another script":            {sampler.LogContext{Files: []string{"runs/train.py", "runs/fit.py"}}, 3},
	} {
		r := New(Options{Outline: true})
		r.Snapshot(card(0, 48*gibs, 12*gibs, big, chat, md, script))
		e := sampler.OOMEvent{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Context: &row.context}
		if got := r.meant(e, 0).PID.Or(0); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// A message that names a rank is of the process that has it, not of the largest one.
func TestMeantByRank(t *testing.T) {
	zero, one := job(5, 9*gibs), job(7, 4*gibs)
	zero.Environment, one.Environment = map[string]string{"RANK": "0"}, map[string]string{"OMPI_COMM_WORLD_RANK": "1"}
	r := New(Options{Outline: true})
	r.Snapshot(card(0, 48*gibs, 12*gibs, zero, one))
	for rank, want := range map[int]int{0: 5, 1: 7, 2: 5} {
		e := sampler.OOMEvent{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Rank: sampler.Some(rank)}
		if got := r.meant(e, 0).PID.Or(0); got != want {
			t.Errorf("rank %d: %d, want %d", rank, got, want)
		}
	}
}

// Of ranks that end together the one failed of whose GPU more than a notice was open.
func TestExitThatWasAlerted(t *testing.T) {
	large := exit{Exit: Exit{T: 300, GPU: 3, PID: 4, Bytes: 24 * gibs}}
	alerted := exit{Exit: Exit{T: 301, GPU: 2, PID: 3, Bytes: 23 * gibs}, open: []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, GPU: sampler.Some(2), PID: sampler.Some(3)}}}
	for name, row := range map[string]struct {
		change func(x *exit)
		want   int
	}{
		"alerted":    {func(*exit) {}, 3},
		"a notice":   {func(x *exit) { x.open[0].Level = sampler.LevelNotice }, 4},
		"much later": {func(x *exit) { x.T = 320 }, 4},
		"elsewhere":  {func(x *exit) { x.open[0].GPU = sampler.Some(0) }, 4},
	} {
		x := alerted
		x.open = slices.Clone(alerted.open)
		row.change(&x)
		r := &Reporter{exits: []exit{large, x}}
		if got := r.exitNear(&failed{t: 300}); got == nil || got.PID != row.want {
			t.Errorf("%s: %+v, want %d", name, got, row.want)
		}
	}
}
