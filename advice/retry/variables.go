package retry

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// The names of the variable with the options of PyTorch's allocator. Versions that know the last prefer it where it is
// set, but for some that ignore it (https://github.com/pytorch/pytorch/issues/183387): so both are set alike.
const (
	cudaOptions = "PYTORCH_CUDA_ALLOC_CONF"
	hipOptions  = "PYTORCH_HIP_ALLOC_CONF"
	anyOptions  = "PYTORCH_ALLOC_CONF"
)

// expandSegments turns the segments on beside what is set already.
func expandSegments(d *Death) (Change, *Refusal) {
	p := placeOf(d.Args)
	name := cudaOptions
	if d.event().Kind == sampler.KindHIP {
		name = hipOptions
	}
	if d.event().Reserved.Known() || d.older(2, 1) {
		return Change{}, refuse("retry.old_torch") // it would not start with an option that it does not know
	}
	c := Change{Args: d.Args, Env: d.Env, what: sentence{"retry.setting", nil}}
	for _, n := range []string{name, anyOptions} {
		own, at, no := p.ownOptions(d.Env, n, name)
		if no != nil {
			return Change{}, no
		}
		without := ""
		if d.older(2, 5) {
			without = "max_split_size_mb" // an assertion fails: https://github.com/pytorch/pytorch/pull/134338
		}
		next := merged(own, "expandable_segments:True", without)
		if c.what.pairs == nil {
			c.what.pairs = []any{"setting", n + "=" + next}
		}
		if at >= 0 {
			c.Args = slices.Clone(c.Args)
			c.Args[at] = n + "=" + next
		} else if no := c.set(&p, n, next); no != nil {
			return Change{}, no
		}
	}
	return c, nil
}

// ownOptions are the options that the user has set under a name, or else under the other one: they hold under both.
// at is the argument that sets them; -1: none does.
func (p *place) ownOptions(env []string, name, first string) (own string, at int, no *Refusal) {
	at, named := p.names(name)
	if named && (at < 0 || p.border() != "") {
		return "", at, refuse("retry.named", "variable", name)
	}
	own, set := Get(env, name)
	switch {
	case named:
		own = strings.TrimPrefix(p.args[at], name+"=")
	case !set && name == first:
		own, _ = Get(env, anyOptions)
	case !set:
		own, _ = Get(env, first)
		if at, _ := p.names(first); at >= 0 {
			own = strings.TrimPrefix(p.args[at], first+"=")
		}
	}
	for _, key := range []string{"expandable_segments", "backend"} {
		if _, typed := option(own, key); typed {
			return own, at, refuse("retry.own_option", "variable", name, "value", own)
		}
	}
	return own, at, nil
}

// older says whether the version of PyTorch is known to be before one.
func (d *Death) older(major, minor int) bool {
	context := d.event().Context
	if context == nil || d.event().Framework != "pytorch" {
		return false
	}
	parts := strings.SplitN(context.FrameworkVersion, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (a < major || a == major && b < minor)
}

// set gives the program a variable: by the environment, or by an option of what starts it in a container.
func (c *Change) set(p *place, name, value string) *Refusal {
	switch border := p.border(); {
	case border == "":
		c.Env = With(c.Env, name, value)
		return nil
	case p.script < 0 && (border == "docker" || border == "podman"):
		text, ok := command.OfArgs(c.Args).WithVariable(name, value)
		if args, fits := command.Parse(text).Argv(); ok && fits {
			c.Args = args
			return nil
		}
		fallthrough
	default:
		return refuse("retry.border", "program", border, "variable", name+"="+value)
	}
}

// settable are the variables of JAX and TensorFlow that explain advises.
var settable = []string{"XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_PYTHON_CLIENT_MEM_FRACTION", "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR"}

// setVariable sets the variable that an advice names first, for a program of that library, unless it is set.
func setVariable(fix string) func(*Death) (Change, *Refusal) {
	return func(d *Death) (Change, *Refusal) {
		a, e := d.advice(fix), d.event()
		own := e.Kind == sampler.KindXLA || e.Kind == sampler.KindTensorFlow || e.Framework == "jax" || e.Framework == "tensorflow"
		if len(a.Do) == 0 || !own {
			return Change{}, refuse("retry.nothing")
		}
		line, _, _ := strings.Cut(a.Do[0], "  #")
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok || !strings.HasPrefix(line, "export ") || !slices.Contains(settable, name) {
			return Change{}, refuse("retry.nothing")
		}
		p := placeOf(d.Args)
		if old, set := Get(d.Env, name); set {
			return Change{}, refuse("retry.own_option", "variable", name, "value", old)
		}
		if _, named := p.names(name); named {
			return Change{}, refuse("retry.named", "variable", name)
		}
		c := Change{Args: d.Args, Env: d.Env, what: sentence{"retry.setting", []any{"setting", name + "=" + value}}}
		if no := c.set(&p, name, value); no != nil {
			return Change{}, no
		}
		return c, nil
	}
}
