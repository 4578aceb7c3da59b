package cli

import (
	"nvpeak/sampler"
	"nvpeak/sampler/torch"
)

// reports adds to the options who hears from the allocators inside the processes of this user. Where that cannot be it
// does nothing: the receiver is nil, and the monitor goes on without.
func (a *app) reports(o *sampler.Options) *torch.Receiver {
	r, err := torch.Listen(torch.Options{Host: o.Host, Clock: o.Clock, Env: a.env})
	if err != nil {
		return nil
	}
	o.Inside = r
	return r
}
