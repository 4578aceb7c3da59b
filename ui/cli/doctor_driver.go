package cli

import (
	"errors"
	"fmt"
	"strings"

	"nvpeak/sampler"
)

// openFixes is the one command to try first for each reason; the error itself says more.
var openFixes = map[error]string{
	sampler.ErrNoLibrary:       "sudo apt install nvidia-driver (in a container: docker run --gpus all …)",
	sampler.ErrDriverNotLoaded: "sudo modprobe nvidia",
	sampler.ErrMismatch:        "sudo reboot",
	sampler.ErrNoGPU:           "nvidia-smi -L (in a container: docker run --gpus all …)",
	sampler.ErrNoPermission:    "sudo usermod -aG video,render $USER",
	sampler.ErrLost:            "sudo reboot",
	sampler.ErrTransient:       "sudo dmesg | grep -i nvrm",
}

// reason is an error in the language that was chosen, without what to do about it: that is
// the finding's own.
func (c *checkup) reason(err error) string {
	text := err.Error()
	var e interface{ Reason() string }
	if errors.As(err, &e) {
		text = e.Reason()
	}
	return c.app.words().Reason(text)
}

// list joins as the language does.
func (c *checkup) list(items []string) string { return strings.Join(items, c.say("list.items")) }

// failsWith judges one reason for which the driver cannot be opened; what comes before it
// must work to tell.
func (c *checkup) failsWith(reason error, before ...error) (f finding, failed bool) {
	if c.openError == nil {
		return finding{}, false
	}
	if errors.Is(c.openError, reason) {
		return unavailable(openFixes[reason], c.reason(c.openError)), true
	}
	for _, b := range before {
		if errors.Is(c.openError, b) {
			return c.unknown(), true
		}
	}
	return finding{}, false
}

func checkLibrary(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrNoLibrary); failed {
		return f
	}
	if c.diagnosis.Library == "" {
		return ok(c.say("doctor.loaded"))
	}
	return ok(c.diagnosis.Library)
}

func checkDriver(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrDriverNotLoaded, sampler.ErrNoLibrary); failed {
		return f
	}
	for _, reason := range []error{sampler.ErrLost, sampler.ErrTransient} {
		if f, failed := c.failsWith(reason); failed {
			return f
		}
	}
	if c.openError != nil && !errors.Is(c.openError, sampler.ErrMismatch) && !errors.Is(c.openError, sampler.ErrNoGPU) && !errors.Is(c.openError, sampler.ErrNoPermission) {
		return unavailable("sudo dmesg | grep -i nvrm", c.reason(c.openError)) // it hangs
	}
	if c.inventory.Driver == "" {
		return ok(c.say("doctor.loaded"))
	}
	return ok(c.say("doctor.versions", "driver", c.inventory.Driver, "cuda", c.orUnknown(c.inventory.CUDA)))
}

func (c *checkup) orUnknown(s string) string {
	if s == "" {
		return c.say("doctor.unknown")
	}
	return s
}

func checkVersions(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrMismatch, sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded); failed {
		return f
	}
	if !c.initialized() {
		return c.unknown()
	}
	return ok(c.say("doctor.fit"))
}

func checkGPUs(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrNoGPU, sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded, sampler.ErrMismatch, sampler.ErrNoPermission); failed {
		return f
	}
	if c.openError != nil {
		return c.unknown()
	}
	var broken []string
	for i, d := range c.diagnosis.Devices {
		if d.Broken != nil {
			broken = append(broken, fmt.Sprintf("GPU %d: %s", c.inventory.Devices[i].Index, c.reason(d.Broken)))
		}
	}
	n := len(c.inventory.Devices)
	if len(broken) > 0 {
		return partial("sudo dmesg | grep -i nvrm", c.say("doctor.broken", "count", len(broken), "all", n, "list", strings.Join(broken, c.say("list.semicolon"))))
	}
	names := map[string]int{}
	var order []string
	for _, d := range c.inventory.Devices {
		if names[d.Name]++; names[d.Name] == 1 {
			order = append(order, d.Name)
		}
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%d x %s", names[name], name)
	}
	return ok(c.list(order))
}

func checkPermissions(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrNoPermission, sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded); failed {
		return f
	}
	if !c.initialized() {
		return c.unknown()
	}
	for i, err := range c.memError {
		if errors.Is(err, sampler.ErrNoPermission) {
			return partial("sudo nvpeak", c.say("doctor.may_not", "gpu", c.inventory.Devices[i].Index))
		}
	}
	return ok(c.say("doctor.may"))
}

// initialized says whether the driver has let itself be opened, or has said why it has not: one that hangs or crashes there tells nothing.
func (c *checkup) initialized() bool {
	return c.openError == nil || len(c.inventory.Devices) > 0 || errors.Is(c.openError, sampler.ErrNoGPU) || errors.Is(c.openError, sampler.ErrNoPermission) || errors.Is(c.openError, sampler.ErrMismatch)
}
