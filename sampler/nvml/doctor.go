package nvml

import (
	"slices"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// Diagnosis is what an open connection knows of driver and library, for doctor.
type Diagnosis struct {
	Library string   // the file or name that was loaded
	Missing []string // functions that this library lacks, by their newest name; sorted
	Samples bool     // it has per-process utilization
	Devices []DeviceDiagnosis
}

// DeviceDiagnosis is what is known of one device, in the order of Inventory.Devices.
type DeviceDiagnosis struct {
	Broken        error // why there is no handle; nil: there is one
	MemoryVersion int   // 2 or 1: of the driver's memory call; 0: none
	HostMemory    bool  // the machine's memory is read instead
	Accounting    sampler.Opt[bool]
	Persistence   sampler.Opt[bool]
}

// symPersistence is asked for by doctor only.
const symPersistence = "nvmlDeviceGetPersistenceMode"

// Diagnose reports on the open connection. A device that does not answer within timeout is
// left unknown; ErrReconnect when nothing is open.
func (s *Source) Diagnose(timeout time.Duration) (Diagnosis, error) {
	c, err := s.connected()
	if err != nil {
		return Diagnosis{}, err
	}
	defer c.leave()
	path, _, err := load(s.library)
	if err != nil {
		return Diagnosis{}, err
	}
	out := Diagnosis{Library: path, Missing: missing(c.symbols), Samples: c.samples.pointer != nil}
	persistence := hasFunction(path, symPersistence)
	for _, d := range c.devices {
		found := make(chan DeviceDiagnosis, 1)
		if !c.enter() {
			return out, errClosed
		}
		go func() {
			defer c.leave()
			found <- d.diagnose(persistence)
		}()
		select {
		case one := <-found:
			out.Devices = append(out.Devices, one)
		case <-time.After(timeout):
			out.Devices = append(out.Devices, DeviceDiagnosis{Broken: sampler.ErrNotAnswering})
		}
	}
	return out, nil
}

func (d *device) diagnose(persistence bool) DeviceDiagnosis {
	out := DeviceDiagnosis{Broken: d.broken, MemoryVersion: d.memory.version, HostMemory: d.memory.host != nil}
	if d.broken != nil {
		return out
	}
	whole := d
	if d.parent != nil { // modes are those of the whole GPU
		whole = d.parent
	}
	if d.handle.symbols.has(symAccountingMode) {
		out.Accounting = enabled(whole.handle.GetAccountingMode())
	}
	if persistence {
		out.Persistence = enabled(whole.handle.GetPersistenceMode())
	}
	return out
}

func enabled(state gonvml.EnableState, ret gonvml.Return) (none sampler.Opt[bool]) {
	if ret != gonvml.SUCCESS {
		return none
	}
	return sampler.Some(state == gonvml.FEATURE_ENABLED)
}

// hasFunction asks the library, which is mapped already, for one function.
func hasFunction(path, name string) bool {
	lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_GLOBAL|dl.RTLD_NODELETE)
	if lib.Open() != nil {
		return false
	}
	defer lib.Close() //nolint:errcheck // the mapping stays, see load
	return lib.Lookup(name) == nil
}

// missing are the functions of which the library has no version.
func missing(set symbolSet) []string {
	var list []string
	for _, names := range optional {
		if !set.any(names) {
			list = append(list, names[0])
		}
	}
	for _, m := range metrics {
		if len(m.symbols) > 0 && !set.any(m.symbols) && !set.any(m.unless) {
			list = append(list, m.symbols[0])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
