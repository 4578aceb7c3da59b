package nvml

import (
	"errors"
	"fmt"
	"slices"
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
	refused  error        // why it is not asked for a while
	again    time.Time    // when it is
	answered bool         // it has answered since Open
	failing  time.Time    // since when it has not answered; zero: it does
	answers  atomic.Bool  // the last call did
	gone     atomic.Int32 // answers in a row of a connection that is gone

	total atomic.Uint64 // of the last reading, for Processes; 0: not known
	last  uint64        // what Sweep saw last, to tell whether it moves
	moved int64         // when it did last, by the monotonic clock in nanoseconds
	seen  int64         // when Sweep saw it last, by that clock
}

// around is what a failure of one GPU is judged by.
type around interface {
	gone() bool // no GPU answers
	void() bool // the driver has another handle for this one by now, or none
}

// answer reads the memory with one driver call.
func (m *memoryState) answer(h handle, a around, now func() time.Time) (sampler.Reading, error) {
	switch {
	case m.host != nil:
		return m.host.read()
	case m.refused != nil && now().Before(m.again):
		return sampler.Reading{}, m.refused
	}
	r, ret := m.read(h)
	if ret == gonvml.SUCCESS {
		m.failing, m.refused = time.Time{}, nil
		m.good(r)
		return r, nil
	}
	return sampler.Reading{}, m.failed(ret, a, now)
}

// good notes an answer.
func (m *memoryState) good(r sampler.Reading) {
	m.answered = true
	m.answers.Store(true)
	m.gone.Store(0)
	m.total.Store(uint64(r.Total))
}

// read asks by the newest call that works. The older one counts what the driver
// reserves as used.
func (m *memoryState) read(h handle) (sampler.Reading, gonvml.Return) {
	if m.version == 2 {
		v, ret := h.GetMemoryInfo_v2()
		if ret == gonvml.SUCCESS {
			return reading2(v), ret
		}
		// A handle that never worked did not go void: the driver does not know the call.
		if r := react(ret); m.answered || !r.forever || ret == gonvml.ERROR_NO_PERMISSION || !h.symbols.has(symMemory1) {
			return sampler.Reading{}, ret
		}
		m.version = 1
	}
	if m.version != 1 {
		return sampler.Reading{}, gonvml.ERROR_FUNCTION_NOT_FOUND
	}
	v, ret := h.GetMemoryInfo()
	return sampler.Reading{Total: sampler.Bytes(v.Total), Used: sampler.Bytes(v.Used), Free: sampler.Bytes(v.Free)}, ret
}

func reading2(v gonvml.Memory_v2) sampler.Reading {
	return sampler.Reading{
		Total: sampler.Bytes(v.Total), Used: sampler.Bytes(v.Used), Free: sampler.Bytes(v.Free),
		Reserved: sampler.Some(sampler.Bytes(v.Reserved)),
	}
}

// goneInARow is how many such answers of every GPU mean that the connection is gone.
const goneInARow = 3

// refusedFor is how long a GPU is left alone that refuses the call: less than the caller's second, for some did answer before.
const refusedFor = 500 * time.Millisecond

// failed says what a failed reading means, and remembers what need not be asked soon.
func (m *memoryState) failed(ret gonvml.Return, a around, now func() time.Time) error {
	r := react(ret)
	if !r.every || m.gone.Add(1) >= goneInARow {
		m.answers.Store(false)
	}
	switch {
	case r.every && a.gone() && r.cause != nil:
		return failure("memory", ret)
	case r.every && a.gone():
		return fmt.Errorf("%w: no GPU answers (%s)", sampler.ErrReconnect, r.name)
	case r.every, r.handle && m.answered && !a.void():
		return m.transient(now(), fmt.Errorf("%w: memory (%s)", sampler.ErrTransient, r.name))
	case r.handle && m.answered:
		return fmt.Errorf("%w: the handle of this GPU is void (%s)", sampler.ErrReconnect, r.name)
	case r.forever:
		m.refused, m.again = failure("memory", ret), now().Add(refusedFor)
		return m.refused
	}
	return m.transient(now(), failure("memory", ret))
}

// silentFor is how long the memory may be not ready before it is said that the GPU does not answer.
const silentFor = 10 * time.Second

// transient lets the last value stand in for a while only: then the GPU is not answering.
func (m *memoryState) transient(now time.Time, err error) error {
	if !errors.Is(err, sampler.ErrTransient) {
		return err
	}
	if m.failing.IsZero() {
		m.failing = now
	}
	if now.Sub(m.failing) > silentFor {
		return fmt.Errorf("%w for %.0f s: %v", sampler.ErrNotAnswering, now.Sub(m.failing).Seconds(), err) //nolint:errorlint // no longer transient
	}
	return err
}

// choose finds out at Open how the memory of a GPU can be read, and whether it shares the
// machine's. Only a GPU that does not support both calls and is built into the machine's processor
// has no memory of its own: the machine's memory is then read instead
// (https://docs.nvidia.com/dgx/dgx-spark/known-issues.html).
func (m *memoryState) choose(h handle, info *sampler.Device, meminfo string) (shared bool) {
	m.version = memoryVersion(h.symbols)
	if !integrated(h, info) {
		return false
	}
	if m.version != 0 {
		if _, ret := m.read(h); ret != gonvml.ERROR_NOT_SUPPORTED && ret != gonvml.ERROR_FUNCTION_NOT_FOUND {
			return false
		}
	}
	m.host = &hostMemory{path: meminfo}
	return true
}

func memoryVersion(symbols symbolSet) int {
	switch {
	case symbols.has(symMemory2):
		return 2
	case symbols.has(symMemory1):
		return 1
	}
	return 0
}

// integratedNames are words in the names of GPUs that share the processor's memory.
var integratedNames = []string{"GB10", "N1X", "Orin", "Xavier", "Thor", "Tegra", "Jetson", "nvgpu", "DGX Spark"}

// onCards are the compute capabilities that only GPUs with memory of their own have
// (https://developer.nvidia.com/cuda-gpus, legacy ones from the CUDA C++ programming guide): a GPU of a later one
// may be of either kind.
var onCards = []string{"3.5", "3.7", "5.0", "5.2", "6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0"}

// integrated says whether a GPU is one that has no memory of its own: by its name,
// because it has no memory bus, or because it uses the processor's page tables.
// GPUs with memory of their own may be like that too (Grace Hopper); they answer the
// memory calls, but for some time when something is wrong: they are told by their capability.
func integrated(h handle, info *sampler.Device) bool {
	for _, w := range integratedNames {
		if strings.Contains(info.Name, w) {
			return true
		}
	}
	if slices.Contains(onCards, info.ComputeCapability.Or("")) {
		return false
	}
	if h.symbols.has(symBusWidth) {
		width, ret := h.GetMemoryBusWidth()
		if ret == gonvml.ERROR_NOT_SUPPORTED || ret == gonvml.SUCCESS && width == 0 {
			return true
		}
	}
	if h.symbols.has(symAddressing) {
		mode, ret := h.GetAddressingMode()
		return ret == gonvml.SUCCESS && mode.Value == uint32(gonvml.DEVICE_ADDRESSING_MODE_ATS)
	}
	return false
}
