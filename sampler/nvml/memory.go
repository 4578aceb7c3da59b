package nvml

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// memoryState remembers which of the driver's calls a GPU answers.
type memoryState struct {
	version  int          // 2, 1; 0: none
	host     *hostMemory  // the GPU uses the machine's memory; nil: it has its own
	refused  error        // why it is not asked any more
	answered bool         // it has answered since Open
	failing  time.Time    // since when it has not answered; zero: it does
	unknowns atomic.Int32 // UNKNOWN answers in a row

	total atomic.Uint64 // of the last reading, for Processes; 0: not known
}

// Memory reads the memory of one device with one driver call.
func (s *Source) Memory(dev int) (sampler.Reading, error) {
	c, d, err := s.begin(dev)
	if err != nil {
		return sampler.Reading{}, err
	}
	defer c.leave()
	m := &d.memory
	switch {
	case m.host != nil:
		return m.host.read()
	case m.refused != nil:
		return sampler.Reading{}, m.refused
	}
	r, ret := d.readMemory(c)
	if ret == gonvml.SUCCESS {
		m.answered, m.failing = true, time.Time{}
		m.unknowns.Store(0)
		m.total.Store(uint64(r.Total))
		return r, nil
	}
	return sampler.Reading{}, d.memoryFailed(c, ret)
}

// readMemory asks by the newest call that works. The older one counts what the driver
// reserves as used.
func (d *device) readMemory(c *conn) (sampler.Reading, gonvml.Return) {
	m := &d.memory
	if m.version == 2 {
		v, ret := d.handle.GetMemoryInfo_v2()
		if ret == gonvml.SUCCESS {
			return reading2(v), ret
		}
		// A handle that never worked did not go void: the driver does not know the call.
		if r := react(ret); m.answered || !r.forever || ret == gonvml.ERROR_NO_PERMISSION || !c.symbols.has(symMemory1) {
			return sampler.Reading{}, ret
		}
		m.version = 1
	}
	if m.version != 1 {
		return sampler.Reading{}, gonvml.ERROR_FUNCTION_NOT_FOUND
	}
	v, ret := d.handle.GetMemoryInfo()
	return sampler.Reading{Total: sampler.Bytes(v.Total), Used: sampler.Bytes(v.Used), Free: sampler.Bytes(v.Free)}, ret
}

// reading2 brings the answer into the form used + reserved + free = total. NVML's header
// says that used includes what is reserved, drivers say otherwise
// (https://github.com/wookayin/gpustat/issues/141); the sum tells.
func reading2(v gonvml.Memory_v2) sampler.Reading {
	if v.Reserved > 0 && v.Reserved <= v.Used && v.Free <= v.Total && v.Used == v.Total-v.Free {
		v.Used -= v.Reserved
	}
	return sampler.Reading{
		Total: sampler.Bytes(v.Total), Used: sampler.Bytes(v.Used), Free: sampler.Bytes(v.Free),
		Reserved: sampler.Some(sampler.Bytes(v.Reserved)),
	}
}

// unknownsInARow is how many UNKNOWN answers of every GPU mean that the connection is gone.
const unknownsInARow = 3

// memoryFailed says what a failed reading means, and remembers what need not be asked again.
func (d *device) memoryFailed(c *conn, ret gonvml.Return) error {
	m := &d.memory
	r := react(ret)
	switch {
	case r.handle && m.answered:
		return fmt.Errorf("%w: the handle of this GPU is void (%s)", sampler.ErrReconnect, r.name)
	case ret == gonvml.ERROR_UNKNOWN:
		m.unknowns.Add(1)
		if c.allUnknown() {
			return fmt.Errorf("%w: no GPU answers (%s)", sampler.ErrReconnect, r.name)
		}
	case r.forever:
		m.refused = failure("memory", ret)
		return m.refused
	}
	return m.transient(c.source.now(), failure("memory", ret))
}

// transient lets the last value stand in for a while only: then the GPU is not answering.
func (m *memoryState) transient(now time.Time, err error) error {
	if !errors.Is(err, sampler.ErrTransient) {
		return err
	}
	if m.failing.IsZero() {
		m.failing = now
	}
	if now.Sub(m.failing) > staleFor {
		return fmt.Errorf("%w for %.0f s: %v", sampler.ErrNotAnswering, now.Sub(m.failing).Seconds(), err) //nolint:errorlint // no longer transient
	}
	return err
}

func (c *conn) allUnknown() bool {
	asked := 0
	for _, d := range c.devices {
		if d.broken != nil || d.info.SharedWithHost {
			continue
		}
		if asked++; d.memory.unknowns.Load() < unknownsInARow {
			return false
		}
	}
	return asked > 0
}

// settle finds out at Open how the memory of a card can be read, and whether the card
// has memory of its own. Only a card that refuses both calls and is built into the
// machine's processor has none: the machine's memory is then read instead
// (https://docs.nvidia.com/dgx/dgx-spark/known-issues.html).
func (d *device) settle(c *conn) {
	d.memory.version = c.memoryVersion()
	if !d.integrated(c) {
		return
	}
	if d.memory.version != 0 {
		_, ret := d.readMemory(c)
		if ret == gonvml.SUCCESS || !react(ret).forever || ret == gonvml.ERROR_NO_PERMISSION {
			return
		}
	}
	d.memory.host = &hostMemory{path: c.source.meminfo}
	d.info.SharedWithHost = true
}

func (c *conn) memoryVersion() int {
	switch {
	case c.symbols.has(symMemory2):
		return 2
	case c.symbols.has(symMemory1):
		return 1
	}
	return 0
}

// integratedNames are words in the names of GPUs that share the processor's memory.
var integratedNames = []string{"GB10", "N1X", "Orin", "Xavier", "Thor", "Tegra", "Jetson", "nvgpu", "DGX Spark"}

// integrated says whether a card is one that has no memory of its own: by its name,
// because it has no memory bus, or because it uses the processor's page tables.
// Cards with memory of their own may be like that too (Grace Hopper); they answer the
// memory calls.
func (d *device) integrated(c *conn) bool {
	for _, w := range integratedNames {
		if strings.Contains(d.info.Name, w) {
			return true
		}
	}
	if c.symbols.has(symBusWidth) {
		width, ret := d.handle.GetMemoryBusWidth()
		if ret == gonvml.ERROR_NOT_SUPPORTED || ret == gonvml.SUCCESS && width == 0 {
			return true
		}
	}
	if c.symbols.has(symAddressing) {
		mode, ret := d.handle.GetAddressingMode()
		return ret == gonvml.SUCCESS && mode.Value == uint32(gonvml.DEVICE_ADDRESSING_MODE_ATS)
	}
	return false
}
