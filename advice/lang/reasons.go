package lang

import (
	"strings"

	"nvpeak/sampler"
)

// reasons are the sentences for what can be wrong with a driver or a GPU.
var reasons = []struct {
	text string
	id   string
}{
	{sampler.ErrNoLibrary.Error(), "reason.no_library"},
	{sampler.ErrDriverNotLoaded.Error(), "reason.not_loaded"},
	{sampler.ErrMismatch.Error(), "reason.mismatch"},
	{sampler.ErrNoGPU.Error(), "reason.no_gpu"},
	{sampler.ErrNoPermission.Error(), "reason.no_permission"},
	{sampler.ErrNotSupported.Error(), "reason.not_supported"},
	{sampler.ErrNotAnswering.Error(), "reason.not_answering"},
	{sampler.ErrCrashed.Error(), "reason.crashed"},
	{sampler.ErrLost.Error(), "reason.lost"},
	{sampler.ErrTransient.Error(), "reason.not_ready"},
	{sampler.ErrImplausible.Error(), "reason.implausible"},
	{sampler.ErrStale.Error(), "reason.stale"},
	{sampler.ErrReconnect.Error(), "reason.reconnect"},
	{sampler.RemedyDriver, "remedy.driver"},
	{sampler.RemedyPermission, "remedy.permission"},
	{sampler.RemedyLog, "remedy.log"},
}

// Reason is the text of an error of a driver or a GPU with what nvpeak says of it in this
// language; what the driver itself said is quoted as it is.
func (c Catalog) Reason(text string) string {
	for _, r := range reasons {
		if before, after, found := strings.Cut(text, r.text); found {
			text = before + c.Say(r.id) + after
		}
	}
	return text
}
