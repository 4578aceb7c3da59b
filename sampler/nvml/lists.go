package nvml

/*
#cgo linux LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// go-nvml's wrappers of the process lists double their buffer for as long as the driver
// answers INSUFFICIENT_SIZE; with a driver that always does, memory is gone within a
// second. They cannot be bounded from outside, so the functions are called here, with
// a buffer and a number of tries of our own. Being dlsym pointers they can also be absent.

typedef int (*list_fn)(void *device, unsigned int *count, void *infos);
typedef int (*samples_fn)(void *device, void *samples, unsigned int *count, unsigned long long since);

static void *find_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static int call_list(void *fn, uintptr_t device, unsigned int *count, void *infos) {
	return ((list_fn)fn)((void *)device, count, infos);
}

static int call_samples(void *fn, uintptr_t device, void *samples, unsigned int *count, unsigned long long since) {
	return ((samples_fn)fn)((void *)device, samples, count, since);
}
*/
import "C"

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
)

const (
	listFirst = 64   // entries of the first try; more than almost every GPU has processes
	listMost  = 4096 // entries of the last one
	listTries = 3
	listSlot  = 32 // bytes reserved per entry: the widest layout ever used

	sampleSlot = 32 // sizeof(nvmlProcessUtilizationSample_t)

	// poison marks bytes the driver has not written.
	poison = 0xA5
)

// function is a pointer to a function of the loaded library; nil when it has none.
type function struct {
	pointer unsafe.Pointer
	stride  int // bytes per entry by the header of that version
}

// findFunction returns the first of names that the library, loaded with RTLD_GLOBAL, has.
func findFunction(names []string, strides ...int) function {
	for i, n := range names {
		c := append([]byte(n), 0)
		if p := C.find_symbol((*C.char)(unsafe.Pointer(&c[0]))); p != nil {
			return function{pointer: unsafe.Pointer(p), stride: strides[i]}
		}
	}
	return function{}
}

// handleOf returns the nvmlDevice_t inside go-nvml's device, whose type it does not export;
// 0 when it is not as expected. It is the driver's and no address for Go.
func handleOf(d gonvml.Device) uintptr {
	v := reflect.ValueOf(d)
	if v.Kind() != reflect.Struct || v.NumField() == 0 || v.Field(0).Kind() != reflect.Pointer {
		return 0
	}
	return v.Field(0).Pointer()
}

// listEntry is one process as a list names it.
type listEntry struct {
	pid  uint32
	used uint64
}

// buffer is memory for a list call, kept between calls. Its words keep it aligned.
type buffer struct{ words []uint64 }

func (b *buffer) bytes(entries, slot int) []byte {
	n := entries * slot / 8
	if cap(b.words) < n {
		b.words = make([]uint64, n)
	}
	b.words = b.words[:n]
	return unsafe.Slice((*byte)(unsafe.Pointer(&b.words[0])), n*8)
}

// bounded calls a list function until its buffer suffices, at most listTries times and
// with at most listMost entries. It returns the number of entries the driver wrote.
func bounded(entries *int, call func(entries int, count *C.uint) C.int) (int, gonvml.Return) {
	for try := 1; ; try++ {
		count := C.uint(*entries)
		ret := gonvml.Return(call(*entries, &count))
		if ret != gonvml.ERROR_INSUFFICIENT_SIZE {
			return min(int(count), *entries), ret
		}
		if try == listTries || *entries == listMost {
			return 0, ret
		}
		// The driver says how many it needs; some more may come before the next try.
		*entries = min(max(int(count)+int(count)/4, 2**entries), listMost)
	}
}

// processList is the state of one list of one GPU.
type processList struct {
	fn      function
	buf     buffer
	entries int // size that sufficed last
}

func (l *processList) read(device uintptr) ([]listEntry, gonvml.Return) {
	if l.entries == 0 {
		l.entries = listFirst
	}
	var raw []byte
	n, ret := bounded(&l.entries, func(entries int, count *C.uint) C.int {
		raw = l.buf.bytes(entries, listSlot)
		for i := range l.buf.words {
			l.buf.words[i] = poison * (math.MaxUint64 / math.MaxUint8) // in each byte
		}
		return C.call_list(l.fn.pointer, C.uintptr_t(device), count, unsafe.Pointer(&raw[0]))
	})
	if ret != gonvml.SUCCESS {
		l.entries = listFirst
		return nil, ret
	}
	return parseList(raw, n, l.fn.stride), ret
}

// parseList reads n entries: pid, 4 bytes of padding, used memory, and what follows.
//
// The stride cannot be told from the name of the function: _v3 has 24 bytes, but 32 in
// drivers 535.43 to 535.86 (https://github.com/XuehaiPan/nvitop/pull/79) and 16 in one
// other (https://github.com/XuehaiPan/nvitop/pull/226). How far the driver wrote shows it.
func parseList(raw []byte, n, stride int) []listEntry {
	if written := extent(raw); n > 0 {
		for _, s := range []int{16, 24, 32} {
			if written == n*s {
				stride = s
			}
		}
	}
	n = min(n, len(raw)/stride)
	list := make([]listEntry, 0, n)
	for i := range n {
		e := raw[i*stride:]
		list = append(list, listEntry{
			pid:  binary.NativeEndian.Uint32(e),
			used: binary.NativeEndian.Uint64(e[8:]),
		})
	}
	return list
}

// extent is the number of bytes up to the last one that was written.
func extent(raw []byte) int {
	n := len(raw)
	for n >= 8 && binary.NativeEndian.Uint64(raw[n-8:]) == poison*(math.MaxUint64/math.MaxUint8) {
		n -= 8
	}
	for n > 0 && raw[n-1] == poison {
		n--
	}
	return n
}

// sample is what a process used of a GPU around one time.
type sample struct {
	pid  uint32
	time uint64 // microseconds of the driver's clock
	sm   uint32 // percent
}

// sampleList is the state of the utilization samples of one GPU.
type sampleList struct {
	fn      function
	buf     buffer
	entries int
}

// read returns the samples that are younger than since.
func (l *sampleList) read(device uintptr, since uint64) ([]sample, gonvml.Return) {
	if l.entries == 0 {
		l.entries = 2 * listFirst
	}
	var raw []byte
	n, ret := bounded(&l.entries, func(entries int, count *C.uint) C.int {
		raw = l.buf.bytes(entries, sampleSlot)
		return C.call_samples(l.fn.pointer, C.uintptr_t(device), unsafe.Pointer(&raw[0]), count, C.ulonglong(since))
	})
	if ret != gonvml.SUCCESS {
		l.entries = 2 * listFirst
		return nil, ret
	}
	list := make([]sample, 0, n)
	for i := range n {
		e := raw[i*sampleSlot:]
		list = append(list, sample{
			pid:  binary.NativeEndian.Uint32(e),
			time: binary.NativeEndian.Uint64(e[8:]),
			sm:   binary.NativeEndian.Uint32(e[16:]),
		})
	}
	return list, ret
}
