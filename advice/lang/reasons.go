package lang

import (
	"strings"

	"nvpeak/sampler"
)

// reasons are the sentences for what can be wrong with a driver or a GPU.
var reasons = []struct {
	err error
	id  string
}{
	{sampler.ErrNoLibrary, "reason.no_library"},
	{sampler.ErrDriverNotLoaded, "reason.not_loaded"},
	{sampler.ErrMismatch, "reason.mismatch"},
	{sampler.ErrNoGPU, "reason.no_gpu"},
	{sampler.ErrNoPermission, "reason.no_permission"},
	{sampler.ErrNotSupported, "reason.not_supported"},
	{sampler.ErrNotAnswering, "reason.not_answering"},
	{sampler.ErrLost, "reason.lost"},
	{sampler.ErrTransient, "reason.not_ready"},
	{sampler.ErrStale, "reason.stale"},
	{sampler.ErrReconnect, "reason.reconnect"},
}

// Reason is the text of an error of a driver or a GPU with what nvpeak says of it in this
// language; what the driver itself said is quoted as it is.
func (c Catalog) Reason(text string) string {
	for _, r := range reasons {
		if before, after, found := strings.Cut(text, r.err.Error()); found {
			text = before + c.Say(r.id) + after
		}
	}
	return text
}
