package sampler

import "errors"

// What can go wrong with a source or a device. Sources wrap these with %w and say
// what failed; the Loop, the screens and the exit code go by them.
var (
	ErrNoLibrary       = errors.New("the NVIDIA driver library is not installed")
	ErrDriverNotLoaded = errors.New("the NVIDIA driver is not loaded")
	ErrMismatch        = errors.New("driver and library versions do not match")
	ErrNoGPU           = errors.New("no GPU found")
	ErrNoPermission    = errors.New("no permission")
	ErrNotSupported    = errors.New("not supported")
	ErrCrashed         = errors.New("the NVIDIA driver library has crashed in a call")
	ErrNotAnswering    = errors.New("not answering")
	ErrLost            = errors.New("GPU is lost")
	ErrTransient       = errors.New("not ready")              // keep the last value, ask again later
	ErrImplausible     = errors.New("no plausible figure")    // the driver answered, but that cannot be
	ErrStale           = errors.New("out of date")            // the memory was read too long ago
	ErrGone            = errors.New("the process has ended")  // or its pid is that of a later process
	ErrReconnect       = errors.New("driver connection lost") // all handles are void: open again
)
