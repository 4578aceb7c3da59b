package retry

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// VisibleDevices is the variable that says which GPUs a program sees.
const VisibleDevices = "CUDA_VISIBLE_DEVICES"

// GPU is one that a try may use.
type GPU struct {
	UUID  string
	Label string
	Free  sampler.Opt[sampler.Bytes] // at the least
	Fits  bool                       // the need is free
}

// GPUs are those that a try may use, and the one on which the last died.
type GPUs struct {
	List   []GPU
	Failed string        // UUID; empty: not known
	Need   sampler.Bytes // what must be free
	Waits  bool          // another try waits for it
}

func (g *GPUs) find(uuid string) *GPU {
	i := slices.IndexFunc(g.List, func(x GPU) bool { return x.UUID == uuid })
	if i < 0 {
		return nil
	}
	return &g.List[i]
}

// Leave says whether the GPU on which the try died has too little room, or much less than another, though the try is
// over.
func (g *GPUs) Leave() bool { return g.lacking() || g.freest(muchFreer) != nil }

// lacking: it has not the need free.
func (g *GPUs) lacking() bool {
	failed := g.failed()
	return failed != nil && !failed.Fits
}

func (g *GPUs) failed() *GPU {
	if g == nil {
		return nil
	}
	return g.find(g.Failed)
}

// freest is the GPU with the most free memory that has the need free, and so many times as much free as the one on
// which the try died; nil: there is none.
func (g *GPUs) freest(times float64) (best *GPU) {
	failed := g.failed()
	if failed == nil {
		return nil
	}
	for i := range g.List {
		one := &g.List[i]
		enough := one.Fits && one.UUID != "" && one.UUID != failed.UUID && float64(one.Free.Or(0)) > times*float64(failed.Free.Or(0))
		if enough && (best == nil || one.Free.Or(0) > best.Free.Or(0)) {
			best = one
		}
	}
	return best
}

// muchFreer is how many times as much another GPU must have free to be worth a move where the need is free on both.
const muchFreer = 1.25

// moveToFreer gives the program the GPU with the most free memory that has the need free. Where there is none and
// somebody waits, the same GPU is another try when it is free.
func moveToFreer(d *Death) (Change, *Refusal) {
	if d.GPUs == nil {
		return Change{}, refuse("retry.no_need")
	}
	c, no := d.move()
	if no != nil && d.GPUs.Waits && d.GPUs.lacking() {
		return Change{Args: d.Args, Env: d.Env, what: sentence{"retry.when_free", []any{"need", d.GPUs.Need.Needed()}}}, nil
	}
	return c, no
}

func (d *Death) move() (Change, *Refusal) {
	failed := d.GPUs.failed()
	p := placeOf(d.Args)
	if no := Pinned(d.Args); no != nil {
		return Change{}, no
	}
	if failed == nil {
		return Change{}, refuse("retry.which_gpu")
	}
	to := d.GPUs.freest(1.1)
	if to == nil {
		return Change{}, refuse("retry.no_freer")
	}
	c := Change{Args: d.Args, Env: d.Env, what: sentence{"retry.moved", []any{"gpu", to.Label, "free", to.Free.Or(0).Few(), "before", failed.Label, "left", failed.Free.Or(0).Few(), "variable", VisibleDevices + "=" + to.UUID}}}
	if no := c.set(&p, VisibleDevices, to.UUID); no != nil {
		return Change{}, no
	}
	return c, nil
}

// schedulers give their programs the GPUs themselves.
var schedulers = []string{"srun", "sbatch", "mpirun", "mpiexec", "ray", "deepspeed"}

// Pinned says why a command cannot be given another GPU: it names its GPU itself, or uses several.
func Pinned(args []string) *Refusal {
	p := placeOf(args)
	if _, named := p.names(VisibleDevices); named {
		return refuse("retry.named", "variable", VisibleDevices)
	}
	if border := p.border(); border != "" {
		return refuse("retry.gpu_border", "program", border)
	}
	for _, line := range []command.Line{p.line, command.OfArgs(args)} {
		if line.Runs(schedulers...) {
			return refuse("retry.scheduled")
		}
		if n := Count(line); n > 1 {
			return refuse("retry.many_gpus")
		}
		if a, found := line.Find(deviceNames...); found && !firstGPU(a.Value) {
			return refuse("retry.own_gpu", "option", a.Typed(), "value", a.Value)
		}
	}
	return nil
}

// deviceNames are the options with which programs choose a GPU by its number.
var deviceNames = []string{"device", "gpu", "gpu_id", "gpu_ids", "cuda_device", "cuda"}

// Devices are the numbers of the GPUs that a command chooses itself; none: it takes the first that it sees.
func Devices(args []string) (list []string) {
	p := placeOf(args)
	for _, line := range []command.Line{p.line, command.OfArgs(args)} {
		a, found := line.Find(deviceNames...)
		if !found || firstGPU(a.Value) {
			continue
		}
		for word := range strings.SplitSeq(a.Value, ",") {
			word = strings.TrimPrefix(strings.TrimSpace(word), "cuda:")
			if _, err := strconv.Atoi(word); err != nil {
				return nil
			}
			list = append(list, word)
		}
		return list
	}
	return nil
}

// firstGPU: whatever GPUs a program sees, this is the first.
func firstGPU(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "cuda", "cuda:0", "gpu", "gpu:0", "auto", "true", "yes":
		return true
	}
	return false
}

// Count is how many GPUs the options of a command say that it uses; 1 where they do not say it.
func Count(line command.Line) int {
	if a, found := line.Find("nproc_per_node", "num_processes", "num_gpus", "gpus", "devices", "n_gpus", "ngpus"); found {
		if n, err := strconv.Atoi(a.Value); err == nil && n > 1 {
			return n
		}
		if n := strings.Count(a.Value, ",") + 1; n > 1 {
			return n
		}
	}
	if a, found := line.Find("device"); found {
		return strings.Count(a.Value, ",") + 1
	}
	return 1
}

// CountOf is Count for the arguments of a command.
func CountOf(args []string) int {
	p := placeOf(args)
	return max(Count(p.line), Count(command.OfArgs(args)))
}

// Chooses says whether a command chooses its GPUs itself, so that another mask would be in its way or in vain.
func Chooses(args []string) bool {
	no := Pinned(args)
	return no != nil && no.id != "retry.many_gpus"
}
