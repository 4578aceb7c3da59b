package nvml

import (
	"errors"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// openError is why Open failed: one line that says what, and what to do about it.
type openError struct {
	kind   error  // one of the errors of sampler
	text   string // instead of kind's own text; may be empty
	detail string
	remedy string
}

func (e *openError) Error() string { return e.Reason() + ": " + e.remedy }

// Reason is what failed, without what to do about it.
func (e *openError) Reason() string {
	s := e.text
	if s == "" {
		s = e.kind.Error()
	}
	if e.detail != "" {
		s += " (" + sampler.Clean(e.detail) + ")"
	}
	return s
}

func (e *openError) Unwrap() error { return e.kind }

// remedies has one row per thing that can be wrong at Open.
var remedies = []struct {
	kind   error
	remedy string
}{
	{sampler.ErrNoLibrary, "install the NVIDIA driver; in a container, run it with --gpus all and NVIDIA_DRIVER_CAPABILITIES=utility,compute; " +
		"or name the file with --nvml-lib PATH"},
	{sampler.ErrDriverNotLoaded, "run sudo modprobe nvidia; if that fails, sudo dmesg | grep -i nvrm says why"},
	{sampler.ErrMismatch, "the driver was updated but the old kernel module still runs: reboot, or stop what uses the GPU and reload it " +
		"(sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia; sudo modprobe nvidia)"},
	{sampler.ErrNoGPU, "the driver is loaded but lists none: see lspci -d 10de: and nvidia-smi -L; in a container, run it with --gpus all"},
	{sampler.ErrNoPermission, "this user may not open the GPU: see ls -l /dev/nvidia*, the groups video and render, and a container's device rules"},
	{sampler.ErrLost, "a GPU does not answer the driver: see sudo dmesg | grep -i nvrm; a reset or a reboot is needed"},
	{sampler.ErrTransient, "the driver gave no clear reason: see nvidia-smi and sudo dmesg | grep -i nvrm; " +
		"a container that lost its devices has to be started again"},
}

// restartRemedy replaces the one of ErrMismatch when the driver was changed under a running nvpeak:
// the old library stays mapped until the process ends.
const restartRemedy = "the driver was changed while nvpeak was running: start nvpeak again"

// callFailure is the error of Open for the return code of an initial call.
func callFailure(call string, ret gonvml.Return, reopened bool) error {
	r := react(ret)
	kind := r.err
	if r.cause != nil {
		kind = r.cause
	}
	e := openFailure(kind, call+": "+r.name)
	if errors.Is(kind, sampler.ErrMismatch) && reopened {
		e.remedy = restartRemedy
	}
	return e
}

func openFailure(kind error, detail string) *openError {
	for _, r := range remedies {
		if errors.Is(kind, r.kind) {
			return &openError{kind: kind, detail: detail, remedy: r.remedy}
		}
	}
	return &openError{
		kind: sampler.ErrTransient, text: "the NVIDIA driver cannot be used", detail: detail,
		remedy: remedies[len(remedies)-1].remedy,
	}
}
