package report

import (
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
