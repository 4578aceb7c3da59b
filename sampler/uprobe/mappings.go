//go:build linux && (amd64 || arm64)

package uprobe

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mappings is what the kernel tells of files that processes map to run them, a ring of records for each processor: a libcuda that nobody
// has had before is looked at when it is loaded, which is long before it is used. They name each library of each program that begins, so this is
// for kernels where a program of probe.c cannot tell of libcuda alone.
type mappings struct {
	rings []ring
	poll  int // of epoll
	end   int // an event that ends it
	done  chan struct{}
}

// ring is that of one processor.
type ring struct {
	fd   int
	page *unix.PerfEventMmapPage
	data []byte // of records, after the page
	all  []byte
}

const (
	ringPages = 16 // of records; a program that begins makes some five of 90 bytes
	// To wake up costs more than what a record says, some 80 us each time, and programs that are not for the GPU begin all the time: soon at first,
	// seldom where many do.
	wakesPerSecond = 4
	wakesAtOnce    = 20
	wakesApart     = 20 * time.Millisecond // a program that begins maps one file after another
	wakesSeldom    = time.Second / wakesPerSecond
	wakesFilled    = time.Second / 20 // while a ring fills up to its half within that
)

// anybody is no process: any of them may have mapped one.
const anybody = 0

// listen tells of each process that maps a libcuda, until close; nil: the kernel, or the right to it, is missing.
func listen(tell func(loads)) *mappings {
	m := &mappings{poll: -1, end: -1, done: make(chan struct{})}
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err == nil {
		m.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	}
	if err == nil {
		m.end, err = unix.Eventfd(0, unix.EFD_CLOEXEC)
	}
	if err == nil {
		err = m.await(m.end)
	}
	for _, cpu := range numbers(string(online)) {
		if err == nil {
			err = m.open(cpu)
		}
	}
	if err != nil || len(m.rings) == 0 {
		close(m.done)
		m.close()
		return nil
	}
	go m.read(tell)
	return m
}

// numbers reads a list as of "0-3,8".
func numbers(list string) (all []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, span := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if span && err == nil {
			last, err = strconv.Atoi(to)
		}
		for n := first; err == nil && n <= last && len(all) < maxCPUs; n++ {
			all = append(all, n)
		}
	}
	return all
}

// maxCPUs is more than Linux takes.
const maxCPUs = 8192

func (m *mappings) await(fd int) error {
	return unix.EpollCtl(m.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}) //nolint:gosec // a descriptor
}

// open makes the ring of a processor.
func (m *mappings) open(cpu int) error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitWatermark | unix.PerfBitExcludeKernel, Wakeup: 1}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	page := os.Getpagesize()
	all, err := unix.Mmap(fd, 0, (1+ringPages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd) //nolint:errcheck // that it failed before is what counts
		return err
	}
	m.rings = append(m.rings, ring{fd, (*unix.PerfEventMmapPage)(unsafe.Pointer(&all[0])), all[page:], all}) //nolint:gosec // as the kernel has it
	return m.await(fd)
}

// read keeps its thread: the runtime's timers wake at twice the cost.
func (m *mappings) read(tell func(loads)) {
	runtime.LockOSThread()
	defer close(m.done)
	events, end := make([]unix.EpollEvent, 8), []unix.PollFd{{Fd: int32(m.end), Events: unix.POLLIN}} //nolint:gosec // a descriptor
	pace := pace{left: wakesAtOnce, last: time.Now()}
	for last := pace.last; ; {
		n, err := unix.EpollWait(m.poll, events, -1)
		if err != nil && err != unix.EINTR || slices.ContainsFunc(events[:max(n, 0)], func(e unix.EpollEvent) bool { return int(e.Fd) == m.end }) {
			return
		}
		filled, now := false, time.Now()
		for i := range m.rings {
			r := &m.rings[i]
			filled = filled || r.fill() > len(r.data)/2
			r.read(func(l loads) {
				l.at = last
				tell(l)
			})
		}
		last = now
		if n, _ := unix.Poll(end, int(pace.pause(now, filled).Milliseconds())+1); n > 0 { //nolint:errcheck // it then looks too soon
			return
		}
	}
}

// pace is how often it is looked: wakesAtOnce may be a pause of wakesApart from one another, and wakesPerSecond more each second.
type pace struct {
	left int
	last time.Time // to which they are counted
}

// pause is how long it is until the next look; filled: a ring is half full.
func (p *pace) pause(now time.Time, filled bool) time.Duration {
	if since := now.Sub(p.last); since >= wakesSeldom {
		p.left, p.last = min(p.left+int(since/wakesSeldom), wakesAtOnce), now
	}
	p.left--
	switch {
	case p.left > 0:
		return wakesApart
	case filled:
		return wakesFilled
	}
	return now.Truncate(wakesSeldom).Add(wakesSeldom).Sub(now) // with the rest of the program
}

// fill is how many bytes of records are there.
func (r *ring) fill() int { return int(atomic.LoadUint64(&r.page.Data_head) - r.page.Data_tail) } //nolint:gosec // below its size

// read takes the records that are there.
func (r *ring) read(tell func(loads)) {
	tail, head := r.page.Data_tail, atomic.LoadUint64(&r.page.Data_head)
	for tail < head {
		header := r.at(tail, 8)
		size := uint64(binary.NativeEndian.Uint16(header[6:]))
		if size < 8 || size > head-tail {
			break // not as the kernel writes it
		}
		switch binary.NativeEndian.Uint32(header) {
		case unix.PERF_RECORD_MMAP2:
			if l := loadsCuda(r.at(tail, int(size))); l.pid > 0 { //nolint:gosec // 16 bits
				tell(l)
			}
		case unix.PERF_RECORD_LOST: // more programs began at a time than the ring has room for
			tell(loads{pid: anybody})
		}
		tail += size
	}
	atomic.StoreUint64(&r.page.Data_tail, head)
}

// at are n bytes of the ring, in one piece.
func (r *ring) at(from uint64, n int) []byte {
	size := uint64(len(r.data))
	piece := r.data[from%size:]
	if len(piece) >= n {
		return piece[:n]
	}
	return append(slices.Clone(piece), r.data[:n-len(piece)]...)
}

// loadsCuda is the process of a record of a mapping, if the file has the name of libcuda. A record is of a header of 8 bytes, a process, a
// thread, three numbers of 8 bytes, two of 4 for the device of the file, its inode and generation of 8, protection and flags of 4, and
// the path, which ends with a 0: https://man7.org/linux/man-pages/man2/perf_event_open.2.html
func loadsCuda(record []byte) (l loads) {
	const inodeAt, pathAt = 48, 72
	if len(record) <= pathAt {
		return l
	}
	name, _, _ := bytes.Cut(record[pathAt:], []byte{0})
	if !bytes.Contains(name, []byte("/libcuda.so")) || !strings.HasPrefix(path.Base(string(name)), "libcuda.so") { // as nearly always
		return l
	}
	l.pid = int(int32(binary.NativeEndian.Uint32(record[8:]))) //nolint:gosec // signed in C too
	l.inode = binary.NativeEndian.Uint64(record[inodeAt:])
	return l
}

// close ends it.
func (m *mappings) close() {
	if m == nil {
		return
	}
	unix.Write(m.end, binary.NativeEndian.AppendUint64(nil, 1)) //nolint:errcheck // it is there, or nobody reads
	<-m.done
	for _, r := range m.rings {
		unix.Munmap(r.all) //nolint:errcheck // nothing can be done about it
		unix.Close(r.fd)   //nolint:errcheck // the same
	}
	unix.Close(m.end)  //nolint:errcheck // the same
	unix.Close(m.poll) //nolint:errcheck // the same
}
