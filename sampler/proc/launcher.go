package proc

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"time"

	"nvpeak/sampler"
)

// launchers start the ranks of a job. Those of srun are children of a daemon: their control group tells.
var launchers = []string{"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "horovodrun"}

// launcherModules are what python -m runs of them.
var launcherModules = map[string]string{
	"torch.distributed.run": "torchrun", "torch.distributed.launch": "torchrun",
	"accelerate.commands.launch": "accelerate", "deepspeed.launcher.launch": "deepspeed", "deepspeed.launcher.runner": "deepspeed",
}

// maxUp is how many parents are looked through: shells and wrappers stand between a launcher and its ranks.
const maxUp = 6

// lineage is what a process comes from, beginning with its parent, and the nearest launcher among them:
// "torchrun 4230"; empty: there is none.
type lineage struct {
	parents []sampler.Parent
	launch  string
}

// lineFor is how long a lineage is that of every child of the same parent: all processes are read in one go at the start.
const lineFor = 250 * time.Millisecond

// lineage of those whose parent that is.
func (f *files) lineage(parent uint64, now time.Time) lineage {
	if d := now.Sub(f.linesAt); d < 0 || d >= lineFor || f.lines == nil {
		f.lines, f.linesAt = map[uint64]lineage{}, now
	}
	l, known := f.lines[parent]
	if !known {
		l.parents, l.launch = f.parents(parent)
		f.lines[parent] = l
	}
	return l
}

func (f *files) parents(parent uint64) (list []sampler.Parent, launch string) {
	for range maxUp {
		if parent <= 1 || parent > 1<<31 {
			break
		}
		pid := int(parent)
		s, err := f.stat(pid)
		if err != nil {
			break
		}
		b, _ := f.read(strconv.Itoa(pid)+"/cmdline", maxCommand) // none: it is somebody else's
		args, _ := parseCommand(b)
		name := launcherOf(args)
		if name != "" && launch == "" {
			launch = name + " " + strconv.Itoa(pid)
		}
		list = append(list, sampler.Parent{PID: pid, Name: sampler.Clean(cmp.Or(name, s.name))})
		parent = s.up
	}
	return list, launch
}

// launcherOf names the launcher that a command line runs, by itself or by python.
func launcherOf(args []string) string {
	for i, arg := range args[:min(len(args), 4)] {
		if name := path.Base(arg); slices.Contains(launchers, name) {
			return name
		}
		if i > 0 && args[i-1] == "-m" {
			return launcherModules[arg]
		}
		if i > 0 && arg != "-m" && (arg == "" || arg[0] != '-') { // the program itself
			break
		}
	}
	return ""
}
