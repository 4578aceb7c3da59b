//go:build linux && (amd64 || arm64)

package uprobe

import (
	"time"

	"golang.org/x/sys/unix"
)

// loads is a process that loads a libcuda.
type loads struct {
	pid   int
	inode uint64    // of that file; 0: not known
	at    time.Time // no earlier; by the clock of the door
	tries int
}

const (
	// The kernel tells of a mapping some microseconds before it is there, and who makes it may not run meanwhile.
	triesToLoad = 8
	firstTry    = time.Millisecond // each further pause is twice as long

	// noContextWithin: a driver takes longer to begin and to make a context, and the probes are set some milliseconds later.
	noContextWithin = 50 * time.Millisecond
)

// toldOfLoads says whether the kernel tells who loads a libcuda.
func (d *Door) toldOfLoads() bool { return d.loading || d.mappings != nil }

// load looks at a libcuda as soon as it is there. What the process calls before that is missed, and it may have ended by now.
func (d *Door) load(l loads) {
	if l.pid == anybody {
		d.missed = true
		return
	}
	if l.tries == 0 {
		d.tracker.Meet(l.pid)
	}
	lib := d.withInode(l.inode)
	if l.inode != 0 && (lib == nil || l.at.Before(lib.since) && !lib.heardOf(l.pid)) {
		if now := d.clock.Now(); now.Sub(l.at) <= noContextWithin && !d.single {
			d.fresh = l.pid
			d.tracker.Loads(l.pid, now)
		} else {
			d.tracker.Late(l.pid, now)
		}
		defer func() { d.fresh = 0 }()
	}
	d.searched[l.pid] = 0      // it may be its second one
	found := d.searchIn(l.pid) // of any: it may be one that it has had before
	if (!found || d.withInode(l.inode) == nil) && l.inode != 0 && l.tries < triesToLoad && unix.Kill(l.pid, 0) != unix.ESRCH {
		time.AfterFunc(firstTry<<l.tries, func() {
			l.tries++
			d.tell(l)
		})
	}
}

// withInode is a library whose file has that number; nil: there is none. Which file system it is on is told in other ways by the kernel and by
// what reads files.
func (d *Door) withInode(inode uint64) *library {
	for id, lib := range d.files {
		if id.inode == inode {
			return lib
		}
	}
	return nil
}
