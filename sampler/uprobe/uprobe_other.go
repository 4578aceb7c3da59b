//go:build !linux || (!amd64 && !arm64)

package uprobe

import (
	"context"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

// Options of a Door.
type Options struct {
	Clock     sampler.Clock
	Libraries []string
	Single    bool
}

// Door is none on this system.
type Door struct{}

// Open says that there is no door here.
func Open(*request.Tracker, Options) (*Door, error) { return nil, ErrKernel }

// Await says that there is nothing to wait for.
func Await(context.Context, *request.Tracker, []string) bool { return false }

// Run does nothing.
func (*Door) Run(context.Context) {}

// Close does nothing.
func (*Door) Close() {}

// Single is false.
func (*Door) Single() bool { return false }

// Inside is false.
func (*Door) Inside() bool { return false }

// Libraries is 0.
func (*Door) Libraries() int { return 0 }
