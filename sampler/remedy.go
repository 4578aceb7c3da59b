package sampler

import "errors"

// What to do about a GPU whose memory was never known. An error ends with one of them.
const (
	RemedyDriver     = "if nvidia-smi has no figure either, update the driver"
	RemedyPermission = "see ls -l /dev/nvidia* and the device rules of the container"
	RemedyLog        = "sudo dmesg | grep -i nvrm may say why"
)

// Remedy is the one for an error.
func Remedy(err error) string {
	switch {
	case errors.Is(err, ErrNotSupported), errors.Is(err, ErrImplausible):
		return RemedyDriver
	case errors.Is(err, ErrNoPermission):
		return RemedyPermission
	}
	return RemedyLog
}
