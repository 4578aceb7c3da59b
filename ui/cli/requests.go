package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe"
)

// requestsFlag says whether requests at the driver are looked at. Zero: by a command that has no such option, no.
type requestsFlag string

// What it can be.
const (
	requestsAuto requestsFlag = "auto" // if it is allowed
	requestsOn   requestsFlag = "on"   // or it is an error
	requestsOff  requestsFlag = "off"
)

func (r *requestsFlag) String() string { return string(*r) }
func (r *requestsFlag) Type() string   { return "WHEN" }
func (r *requestsFlag) Set(text string) error {
	all := []string{string(requestsAuto), string(requestsOn), string(requestsOff)}
	if !slices.Contains(all, text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(all, ", "))
	}
	*r = requestsFlag(text)
	return nil
}

// listenAfter is when the probes are set, if nobody insists: after the first figures, which they would delay. What run runs may die before.
const listenAfter = 500 * time.Millisecond

// requests adds to the options who sees requests, and returns what begins to look. Where it is not allowed it does nothing.
func (a *app) requests(o *sampler.Options) (listen func(context.Context), err error) {
	if a.opt.requests == "" || a.opt.requests == requestsOff {
		return func(context.Context) {}, nil
	}
	tracker := request.New(o.Host)
	o.Asking = tracker
	if a.opt.requests == requestsOn {
		door, err := uprobe.Open(tracker, uprobe.Options{Clock: o.Clock})
		if err != nil {
			err = fmt.Errorf("--requests on: %w; see what it needs with: nvpeak doctor", err)
			if !a.runs {
				return nil, err
			}
			if err := a.unusable("requests", err, func() { a.opt.requests = requestsAuto }); err != nil {
				return nil, err
			}
			return a.requests(o)
		}
		return door.Run, nil
	}
	after := listenAfter
	if a.runs {
		after = 0
	}
	return func(ctx context.Context) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(after):
		}
		if !uprobe.Await(ctx, tracker, nil) {
			return
		}
		if door, err := uprobe.Open(tracker, uprobe.Options{Clock: o.Clock}); err == nil {
			door.Run(ctx)
		}
	}, nil
}
