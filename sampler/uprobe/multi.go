//go:build linux && (amd64 || arm64)

package uprobe

import (
	"errors"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// haveMulti says whether the kernel can set many probes at once, which it can from Linux 6.6 on; where nobody may ask, yes. This is asked before anything
// is set: an older kernel loads the programs, too, and refuses the probes with no more of a word than that an argument is wrong, and
// that may be later, when somebody loads a libcuda.
var haveMulti = func() bool {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Kprobe, AttachType: ebpf.AttachTraceUprobeMulti, License: "MIT",
		KernelVersion: 1, // as in install, for which reason the library's own question gets no answer
		Instructions:  asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		return !errors.Is(err, unix.E2BIG) // it does not know of kinds of probes
	}
	defer p.Close() //nolint:errcheck // nothing can be done about it
	// link_create of union bpf_attr, of a place in a directory: who knows these probes looks at the path first.
	// https://github.com/torvalds/linux/blob/master/include/uapi/linux/bpf.h
	const linkCreate = 28
	attr := struct {
		program, target, kind, flags      uint32
		path, places, counters, cookies   uint64
		count, probeFlags, pid, alignment uint32
	}{program: uint32(p.FD()), kind: uint32(ebpf.AttachTraceUprobeMulti), count: 1, //nolint:gosec // a descriptor
		path: uint64(uintptr(unsafe.Pointer(&directory))), places: uint64(uintptr(unsafe.Pointer(&somewhere)))} //nolint:gosec // as the kernel has it
	fd, _, no := unix.Syscall(unix.SYS_BPF, linkCreate, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)) //nolint:gosec // the same
	if no == 0 {
		unix.Close(int(fd)) //nolint:errcheck // it is no file's
	}
	return no != unix.EINVAL
}

// What the kernel is told of, which does not move.
var (
	directory = [2]byte{'/'}
	somewhere uint64
)

// haveCookies says whether a probe can have a number of its own for the program, which it can from Linux 5.15 on; where nobody may ask, yes.
var haveCookies = func() bool {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Kprobe, License: "MIT", KernelVersion: 1,
		Instructions: asm.Instructions{asm.FnGetAttachCookie.Call(), asm.Return()}})
	if err != nil {
		return !errors.Is(err, unix.EINVAL)
	}
	p.Close() //nolint:errcheck // nothing can be done about it
	return true
}
