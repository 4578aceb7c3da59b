package proc

import (
	"path"
	"slices"
	"strconv"
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

// launcher is the nearest of them above a process, beginning with the parent: "torchrun 4230"; empty: there is none.
func (f *files) launcher(parent uint64) string {
	for range maxUp {
		if parent <= 1 || parent > 1<<31 {
			break
		}
		pid := int(parent)
		b, err := f.read(strconv.Itoa(pid)+"/cmdline", maxCommand)
		if err != nil {
			break
		}
		args, _ := parseCommand(b)
		if name := launcherOf(args); name != "" {
			return name + " " + strconv.Itoa(pid)
		}
		s, err := f.stat(pid)
		if err != nil {
			break
		}
		parent = s.up
	}
	return ""
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
