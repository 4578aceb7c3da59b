package nvml

import (
	"errors"
	"fmt"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// reaction is what a return code means for the call that got it.
type reaction struct {
	name    string // as nvml.h has it, without NVML_ERROR_
	err     error  // what the caller of the Source sees
	cause   error  // a second, more exact error, or nil
	forever bool   // this GPU will not answer this question until it is opened again
	stale   bool   // the last value may stand in for a while
	handle  bool   // from a call that worked before: the handle may be void
	every   bool   // the connection is gone if no GPU answers otherwise; one alone may be shut off
}

// codes has one row per return code that NVML defines
// (https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html).
var codes = map[gonvml.Return]reaction{
	gonvml.SUCCESS:                         {name: "SUCCESS"},
	gonvml.ERROR_UNINITIALIZED:             {name: "UNINITIALIZED", err: sampler.ErrReconnect, every: true},
	gonvml.ERROR_INVALID_ARGUMENT:          {name: "INVALID_ARGUMENT", err: sampler.ErrNotSupported, forever: true, handle: true},
	gonvml.ERROR_NOT_SUPPORTED:             {name: "NOT_SUPPORTED", err: sampler.ErrNotSupported, forever: true},
	gonvml.ERROR_NO_PERMISSION:             {name: "NO_PERMISSION", err: sampler.ErrNoPermission, forever: true},
	gonvml.ERROR_ALREADY_INITIALIZED:       {name: "ALREADY_INITIALIZED", err: sampler.ErrTransient},
	gonvml.ERROR_NOT_FOUND:                 {name: "NOT_FOUND", err: sampler.ErrTransient, handle: true},
	gonvml.ERROR_INSUFFICIENT_SIZE:         {name: "INSUFFICIENT_SIZE", err: sampler.ErrTransient},
	gonvml.ERROR_INSUFFICIENT_POWER:        {name: "INSUFFICIENT_POWER", err: sampler.ErrTransient},
	gonvml.ERROR_DRIVER_NOT_LOADED:         {name: "DRIVER_NOT_LOADED", err: sampler.ErrReconnect, cause: sampler.ErrDriverNotLoaded, every: true},
	gonvml.ERROR_TIMEOUT:                   {name: "TIMEOUT", err: sampler.ErrTransient, stale: true},
	gonvml.ERROR_IRQ_ISSUE:                 {name: "IRQ_ISSUE", err: sampler.ErrLost},
	gonvml.ERROR_LIBRARY_NOT_FOUND:         {name: "LIBRARY_NOT_FOUND", err: sampler.ErrNoLibrary},
	gonvml.ERROR_FUNCTION_NOT_FOUND:        {name: "FUNCTION_NOT_FOUND", err: sampler.ErrNotSupported, forever: true},
	gonvml.ERROR_CORRUPTED_INFOROM:         {name: "CORRUPTED_INFOROM", err: sampler.ErrTransient},
	gonvml.ERROR_GPU_IS_LOST:               {name: "GPU_IS_LOST", err: sampler.ErrLost},
	gonvml.ERROR_RESET_REQUIRED:            {name: "RESET_REQUIRED", err: sampler.ErrLost},
	gonvml.ERROR_OPERATING_SYSTEM:          {name: "OPERATING_SYSTEM", err: sampler.ErrReconnect, every: true},
	gonvml.ERROR_LIB_RM_VERSION_MISMATCH:   {name: "LIB_RM_VERSION_MISMATCH", err: sampler.ErrReconnect, cause: sampler.ErrMismatch, every: true},
	gonvml.ERROR_IN_USE:                    {name: "IN_USE", err: sampler.ErrTransient, stale: true},
	gonvml.ERROR_MEMORY:                    {name: "MEMORY", err: sampler.ErrTransient, stale: true},
	gonvml.ERROR_NO_DATA:                   {name: "NO_DATA", err: sampler.ErrTransient},
	gonvml.ERROR_VGPU_ECC_NOT_SUPPORTED:    {name: "VGPU_ECC_NOT_SUPPORTED", err: sampler.ErrNotSupported, forever: true},
	gonvml.ERROR_INSUFFICIENT_RESOURCES:    {name: "INSUFFICIENT_RESOURCES", err: sampler.ErrTransient, stale: true},
	gonvml.ERROR_FREQ_NOT_SUPPORTED:        {name: "FREQ_NOT_SUPPORTED", err: sampler.ErrNotSupported, forever: true},
	gonvml.ERROR_ARGUMENT_VERSION_MISMATCH: {name: "ARGUMENT_VERSION_MISMATCH", err: sampler.ErrNotSupported, forever: true},
	gonvml.ERROR_DEPRECATED:                {name: "DEPRECATED", err: sampler.ErrNotSupported, forever: true},
	gonvml.ERROR_NOT_READY:                 {name: "NOT_READY", err: sampler.ErrTransient, stale: true},
	gonvml.ERROR_GPU_NOT_FOUND:             {name: "GPU_NOT_FOUND", err: sampler.ErrReconnect, cause: sampler.ErrNoGPU, every: true},
	gonvml.ERROR_INVALID_STATE:             {name: "INVALID_STATE", err: sampler.ErrTransient, stale: true},
	gonvml.ERROR_RESET_TYPE_NOT_SUPPORTED:  {name: "RESET_TYPE_NOT_SUPPORTED", err: sampler.ErrNotSupported, forever: true},
	// One GPU alone may say UNKNOWN for a moment; when all do, the connection is gone
	// (a container that lost its devices). Memory counts them.
	gonvml.ERROR_UNKNOWN: {name: "UNKNOWN", err: sampler.ErrTransient, stale: true, every: true},
}

// react returns the row of a code. Codes that NVML may grow later are transient.
func react(ret gonvml.Return) reaction {
	if r, ok := codes[ret]; ok {
		return r
	}
	return reaction{name: fmt.Sprintf("code %d", int(ret)), err: sampler.ErrTransient}
}

// failure is the error of a call that returned ret: "GPU is lost: memory (GPU_IS_LOST)".
func failure(what string, ret gonvml.Return) error {
	r := react(ret)
	if r.cause != nil {
		return fmt.Errorf("%w: %w: %s (%s)", r.err, r.cause, what, r.name)
	}
	return fmt.Errorf("%w: %s (%s)", r.err, what, r.name)
}

// ends says whether a code concerns the whole GPU or the whole connection, so that
// nothing else need be asked of this GPU now.
func (r reaction) ends() bool {
	return errors.Is(r.err, sampler.ErrLost) || errors.Is(r.err, sampler.ErrReconnect)
}
