package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// newFailure gathers everything that is known of one event of an incident.
func newFailure(in Incident, event sampler.OOMEvent, words lang.Catalog) *failure {
	f := &failure{words: words}
	f.event, f.history, f.class, f.alerts = event, in.History, classOf(event), in.Alerts
	if event.Context != nil {
		f.context = *event.Context
	}
	f.typed = strings.TrimSpace(in.Command) != ""
	f.command = command.Parse(cmp.Or(strings.TrimSpace(in.Command), f.context.Command))
	f.environment = map[string]string{}
	maps.Copy(f.environment, f.context.Environment)
	maps.Copy(f.environment, in.Environment)
	if f.command.Known {
		maps.Copy(f.environment, f.command.Environment())
	}
	f.gpu = modelOf(cmp.Or(in.GPUName, f.context.GPUName), in.ComputeCapability)
	f.gpu.soc = f.gpu.soc || f.told(sampler.ToldJetson)
	f.tool = toolOf(&f.job)
	f.toolTyped = f.typesTool()
	f.program = programOf(&f.job)
	f.amounts(f.poolGrows())
	if slice := f.slice(); slice > 0 && !f.total.Known() && f.event.MemoryKind == sampler.MemoryGPU {
		f.total = sampler.Some(slice)
	}
	if f.peersAlike() > 0 {
		f.others = slices.Clone(f.others)
		for i := range f.others {
			f.others[i].Same = true
		}
	}
	if f.gpu.major == 0 && !f.gpu.soc && f.beforeAmpere() {
		f.gpu.major, f.gpu.minor = 7, 5 // the newest of that size
	}
	f.footprint = f.job.estimate()
	return f
}
