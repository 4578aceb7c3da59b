package sampler

import (
	"strconv"
	"time"
)

// Schema is the version of the JSON form. Keys may be added under the same number.
const Schema = 1

// Snapshot is everything that was known at one time. A published Snapshot is never changed.
type Snapshot struct {
	Type       string          `json:"type"` // "snapshot"
	Schema     int             `json:"schema"`
	Time       time.Time       `json:"time"` // goes on evenly whatever is done to the clock: see Ahead
	Host       string          `json:"host"`
	Driver     string          `json:"driver"`
	CUDA       string          `json:"cuda"`
	GPUs       []GPU           `json:"gpus"`
	HostMemory Opt[HostMemory] `json:"host_memory"`
	Sampling   Opt[Sampling]   `json:"memory_lane"`
	Alerts     []Alert         `json:"alerts"`
	Lost       int             `json:"lost_snapshots,omitempty"`     // left out before this one: the reader was too slow
	Door       *Door           `json:"requests_door,omitempty"`      // how requests are seen; absent: they are not
	Requests   []Request       `json:"requests,omitempty"`           // since the snapshot before, oldest first
	Unplaced   []Process       `json:"unplaced_processes,omitempty"` // have ended since then, refused memory on a GPU that is not known
	Delivery   []Delivery      `json:"alert_delivery,omitempty"`     // how passing alerts on has fared, one entry for each way

	ahead time.Duration
}

// Sampling says how the memory is really read.
type Sampling struct {
	PeriodSeconds float64 `json:"period_s"` // in force where memory moves; longer than asked for when the driver is slow
	AskedSeconds  float64 `json:"asked_period_s"`
	DutyPercent   float64 `json:"duty_percent"` // share of one thread spent in driver calls
}

// GPU is one GPU or one MIG instance.
type GPU struct {
	Index             int         `json:"index"` // as NVML and nvidia-smi number GPUs; a MIG instance has its GPU's
	UUID              string      `json:"uuid"`
	Host              string      `json:"host,omitempty"` // where it is, if not on the snapshot's host
	PCI               string      `json:"pci"`
	Name              string      `json:"name"`
	MIG               *MIG        `json:"mig"`
	Unsplit           bool        `json:"mig_without_instances,omitempty"` // no program can run on it
	ComputeCapability Opt[string] `json:"compute_capability"`
	Memory            Memory      `json:"memory"`
	Metrics
	LastXID     Opt[uint64]    `json:"last_xid"`
	LastXIDTime Opt[time.Time] `json:"last_xid_time"`
	XIDs        []XID          `json:"xids,omitempty"` // since the snapshot before, oldest first
	Error       Opt[string]    `json:"error"`          // why this GPU gives no figures now, or lacks some
	Processes   []Process      `json:"processes"`
}

// Silent says whether the GPU gives no figure of its memory, and why not is known. One with an error that does lacks
// something else, such as its process list.
func (g *GPU) Silent() bool { return g.Error.Known() && !g.Memory.Used.Known() }

// Metrics are the figures of a GPU that are read once a second.
type Metrics struct {
	Utilization      Utilization  `json:"utilization"`
	Temperature      Opt[int]     `json:"temperature_celsius"`
	Fan              Opt[int]     `json:"fan_percent"`
	Power            Opt[float64] `json:"power_watts"`
	PowerLimit       Opt[float64] `json:"power_limit_watts"`
	Clocks           Clocks       `json:"clocks"`
	PCIe             PCIe         `json:"pcie"`
	PerformanceState Opt[string]  `json:"performance_state"`
	Throttle         []string     `json:"throttle"`
	ECCUncorrected   Opt[uint64]  `json:"ecc_uncorrected"`

	Oldest time.Time `json:"-"` // when the oldest of these was read, as a Source tells it; zero: all were read now
}

// MIG names one instance of a GPU that is split by Multi-Instance GPU.
type MIG struct {
	Index           int    `json:"index"` // of the instance on its GPU, as nvidia-smi numbers it
	ParentUUID      string `json:"parent_uuid"`
	GPUInstance     int    `json:"gpu_instance"`
	ComputeInstance int    `json:"compute_instance"`
	Profile         string `json:"profile"` // "1g.10gb"
}

// Memory of one GPU: used + reserved + free = total. Unknown parts are absent.
type Memory struct {
	Total          Opt[Bytes] `json:"total_bytes"`
	Reserved       Opt[Bytes] `json:"reserved_bytes"` // by driver and firmware; absent where the driver counts it as used
	Used           Opt[Bytes] `json:"used_bytes"`
	Free           Opt[Bytes] `json:"free_bytes"`
	Unattributed   Opt[Bytes] `json:"unattributed_bytes"` // used, but by no process the driver names
	SharedWithHost bool       `json:"shared_with_host"`   // host memory serves as GPU memory (GB10, Jetson)
	Window         *Window    `json:"window"`
	Peak           *Peak      `json:"peak"`
	PeakPID        Opt[int]   `json:"peak_pid"`         // whose rise made the peak; absent: not known
	WorstFree      Opt[Bytes] `json:"worst_free_bytes"` // least free since the monitor began
}

// Window is what the memory poller saw since the snapshot before.
type Window struct {
	Min      Bytes     `json:"min_bytes"`
	Max      Bytes     `json:"max_bytes"`
	MaxTime  time.Time `json:"max_time"`
	Readings int       `json:"readings"`
	Missed   int       `json:"missed"` // readings that came a period late or more and were given up

	Falls       Opt[int]   `json:"falls"`              // near misses, see FallCounter; absent: not counted
	DeepestFall Opt[Bytes] `json:"deepest_fall_bytes"` // of those
	LimitFalls  Opt[int]   `json:"limit_falls"`        // of those, how many also began at the limit

	// The highest rise of the memory by 32 MiB or more that was noticed since; absent: there was none, or processes
	// are not listed.
	Rise     Opt[Bytes]     `json:"rise_bytes"` // above the level before it
	RiseTime Opt[time.Time] `json:"rise_time"`  // when it was highest
	RisePID  Opt[int]       `json:"rise_pid"`   // whose it was; absent: not known
}

// Where a peak comes from.
const (
	PeakSampled   = "sampled"      // the largest reading of nvpeak
	PeakDriver    = "driver"       // NVML accounting, exact
	PeakAllocator = "allocator"    // from inside the process
	PeakCalls     = "driver calls" // every call to the driver was seen, exact
	// Every call was seen, but one thread gave memory back while another was given some: which came first is not known. Or the GPU of
	// the calls is not known for sure.
	PeakOverlapping = "overlapping calls"
	// Every call was seen, but the driver's figure came so near to some that it may have them or not: it was that much at least.
	PeakAtLeast = "calls at least"
	// What the calls gave; what none asks for, such as the context, is missing, since the driver's figure is not known, or does not follow
	// the calls. Or what none tells, such as the size of an array: then it is the least that was held.
	PeakCallsAlone = "calls alone"
)

// Peak is the most memory seen, with its time and its source.
type Peak struct {
	Bytes  Bytes     `json:"bytes"`
	Time   time.Time `json:"time"`
	Source string    `json:"source"`
}

// OfCalls says whether the calls of a process to the driver tell it.
func (p Peak) OfCalls() bool {
	switch p.Source {
	case PeakCalls, PeakOverlapping, PeakAtLeast, PeakCallsAlone:
		return true
	}
	return false
}

// Utilization in percent of the last driver interval.
type Utilization struct {
	GPU     Opt[int] `json:"gpu_percent"`
	Memory  Opt[int] `json:"memory_percent"`
	Encoder Opt[int] `json:"encoder_percent"`
	Decoder Opt[int] `json:"decoder_percent"`
}

// Clocks in MHz.
type Clocks struct {
	SM     Opt[int] `json:"sm_mhz"`
	Memory Opt[int] `json:"memory_mhz"`
}

// PCIe link as it runs now, and its traffic.
type PCIe struct {
	Generation Opt[int]    `json:"generation"`
	Width      Opt[int]    `json:"width"`
	RX         Opt[uint64] `json:"rx_bytes_per_second"`
	TX         Opt[uint64] `json:"tx_bytes_per_second"`
}

// Process on a GPU. Its identity is PID and StartTime: pids are used again.
type Process struct {
	PID         int               `json:"pid"`
	StartTime   Opt[time.Time]    `json:"start_time"`
	User        string            `json:"user"`
	Name        string            `json:"name"`
	Command     string            `json:"command"`
	Type        string            `json:"type"` // compute, graphics, compute+graphics, mps
	Environment map[string]string `json:"environment"`
	Memory      Opt[Bytes]        `json:"memory_bytes"`
	Peak        *Peak             `json:"peak"`
	SM          Opt[int]          `json:"sm_percent"`
	HostMemory  Opt[Bytes]        `json:"host_memory_bytes"`
	CPU         Opt[float64]      `json:"cpu_percent"` // of one core
	Container   Opt[string]       `json:"container"`
	Framework   Opt[string]       `json:"framework"`
	Launch      string            `json:"launch,omitempty"`  // what has started it with the other ranks of its job: "torchrun 4230"
	Parents     []Parent          `json:"parents,omitempty"` // what it comes from, the nearest first; a few, which nobody changes
	Visible     bool              `json:"visible"`           // false: the pid is of another pid namespace, or it has ended
	Ended       bool              `json:"ended,omitempty"`   // it was seen here and is no more, and the driver still lists it; what is told of it is of then
	Allocator   *Allocator        `json:"allocator"`
	Requests    *Requests         `json:"requests"` // absent: nobody listens, or it asked for nothing
}

// rankNames are the variables in which launchers tell a process which of its job it is, those for all machines of the job first.
var rankNames = []string{"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK"}

// Rank is which process of its job it is, as far as its environment tells.
func (p *Process) Rank() (rank Opt[int]) {
	for _, name := range rankNames {
		if n, err := strconv.Atoi(p.Environment[name]); err == nil && n >= 0 {
			return Some(n)
		}
	}
	return rank
}

// Parent is a process that another one comes from.
type Parent struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // that of a launcher, or what the kernel calls it
}

// HostMemory of the machine.
type HostMemory struct {
	Total     Bytes `json:"total_bytes"`
	Available Bytes `json:"available_bytes"`
	SwapUsed  Bytes `json:"swap_used_bytes"`
}
