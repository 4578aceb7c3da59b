package sampler

import (
	"errors"
	"fmt"
	"strings"
)

// What to do about a GPU whose memory was never known. An error ends with one of them.
const (
	RemedyDriver     = "if nvidia-smi has no figure either, update the driver"
	RemedyPermission = "see ls -l /dev/nvidia* and the device rules of the container"
	RemedyLog        = "sudo dmesg | grep -i nvrm may say why"
)

// withRemedy is an error that ends with what to do about it.
func withRemedy(err error) error { return fmt.Errorf("%w; %s", err, Remedy(err)) }

// CutRemedy takes what to do off the text of an error; empty: it has none.
func CutRemedy(text string) (said, remedy string) {
	for _, r := range []string{RemedyDriver, RemedyPermission, RemedyLog} {
		if said, found := strings.CutSuffix(text, "; "+r); found {
			return said, r
		}
	}
	return text, ""
}

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
