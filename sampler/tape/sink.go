package tape

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// chunk is a run of whole lines that are written together.
type chunk struct {
	lines  []byte
	frame  bool // begin a new zstd frame: readers can start here
	rotate bool // begin a new file
}

// file is where a sink writes; os.File in life.
type file interface {
	io.Writer
	io.Closer
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
}

// maxBacklog bounds what waits for a slow or full disk, in bytes.
const maxBacklog = 16 << 20

// sink writes chunks on its own goroutine, so that a disk that hangs holds nobody up.
// What was written stays: after an error the file is cut back to the last whole chunk,
// the chunk is kept and tried again with the next one.
type sink struct {
	file   file
	next   func() (file, error) // opens the file after a rotation; nil: cannot rotate
	packed bool

	// Only the goroutine touches these.
	encoder *zstd.Encoder
	out     bytes.Buffer
	open    bool // the encoder is within a frame
	broken  bool // the file ends within a frame that the encoder has lost

	mu      sync.Mutex
	wake    *sync.Cond
	queue   []chunk
	waiting int   // bytes in queue
	size    int64 // of the current file, whole chunks only
	err     error // to be reported, once
	failing bool
	cause   error // why it fails
	closing bool
	done    chan struct{}
}

func newSink(f file, packed bool, next func() (file, error)) (*sink, error) {
	k := &sink{file: f, next: next, packed: packed, done: make(chan struct{})}
	k.wake = sync.NewCond(&k.mu)
	if packed {
		// One goroutine and a small window: a monitor must stay small. The checksum is off
		// because it could not be written when a frame is closed by hand.
		encoder, err := zstd.NewWriter(&k.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
		if err != nil {
			return nil, err
		}
		k.encoder = encoder
	}
	go k.run()
	return k, nil
}

// put hands a chunk over. It returns false when too much is waiting and the chunk is lost.
func (k *sink) put(c chunk) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting+len(c.lines) > maxBacklog {
		return false
	}
	k.queue = append(k.queue, c)
	k.waiting += len(c.lines)
	k.wake.Broadcast()
	return true
}

// fault returns the error that began since the last call, once, and the size of the file.
func (k *sink) fault() (size int64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err, k.err = k.err, nil
	return k.size, err
}

// drain waits until everything is written or a write has failed.
func (k *sink) drain() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.queue) > 0 && !k.failing {
		k.wake.Wait()
	}
}

// close writes what waits, as far as it can, and ends the goroutine.
func (k *sink) close() error {
	k.mu.Lock()
	k.closing = true
	k.wake.Broadcast()
	k.mu.Unlock()
	<-k.done
	_, err := k.fault()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) > 0 { // reported before, but now it is final
		return fmt.Errorf("the end of the recording is missing: %w", k.cause)
	}
	return err
}

func (k *sink) run() {
	defer close(k.done)
	tried := 0 // chunks that were in the queue at the last failure
	last := false
	for {
		k.mu.Lock()
		if k.closing && !last {
			last, tried = true, -1 // there may be room by now
		}
		for !k.closing && (len(k.queue) == 0 || k.failing && len(k.queue) == tried) {
			k.wake.Wait() // a failed chunk is tried again when the next one comes
		}
		if len(k.queue) == 0 || k.closing && k.failing && len(k.queue) == tried {
			k.mu.Unlock()
			k.finish()
			return
		}
		c := k.queue[0]
		k.mu.Unlock()

		n, err := k.write(c)

		k.mu.Lock()
		k.size += n
		if err == nil {
			k.queue = k.queue[1:]
			k.waiting -= len(c.lines)
			k.failing = false
		} else {
			if !k.failing {
				k.err = err
			}
			k.failing, k.cause, tried = true, err, len(k.queue)
		}
		k.wake.Broadcast()
		k.mu.Unlock()
	}
}

// lastBlock ends a zstd frame that has no checksum: an empty raw block marked as the last,
// https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.2
var lastBlock = []byte{1, 0, 0}

// write brings one chunk to the file, whole or not at all, and returns the bytes added.
func (k *sink) write(c chunk) (int64, error) {
	if c.rotate && k.next != nil {
		k.rotate()
	}
	data := c.lines
	if k.packed {
		data = k.pack(c)
	}
	n, err := k.file.Write(data)
	if err == nil {
		k.broken = false
		return int64(n), nil
	}
	k.cutBack()
	return 0, err
}

func (k *sink) pack(c chunk) []byte {
	k.out.Reset()
	if k.broken {
		k.out.Write(lastBlock)
	}
	if c.frame && k.open {
		k.encoder.Close()
		k.open = false
	}
	if !k.open {
		k.encoder.Reset(&k.out)
		k.open = true
	}
	k.encoder.Write(c.lines) // into memory: cannot fail
	k.encoder.Flush()
	return k.out.Bytes()
}

// cutBack removes what a failed write left, so that the file ends with a whole line.
func (k *sink) cutBack() {
	k.mu.Lock()
	size := k.size
	k.mu.Unlock()
	if k.file.Truncate(size) == nil {
		k.file.Seek(size, io.SeekStart) //nolint:errcheck // the next write reports it
	}
	// The encoder believes the lost bytes written: its frame cannot go on. Whether the
	// file ends within a frame does not matter: an ended one is followed by a new one.
	k.broken = k.broken || k.open && size > 0
	k.open = false
}

// rotate goes on in a new file; when there can be none, in the old one.
func (k *sink) rotate() {
	k.endFrame()
	f, err := k.next()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.err = err
		return
	}
	k.file.Close()
	k.file, k.broken, k.size = f, false, 0
}

// endFrame completes the compressed stream; its loss does not matter to readers of ours.
func (k *sink) endFrame() {
	if !k.packed {
		return
	}
	k.out.Reset()
	if k.open {
		k.encoder.Close()
		k.open = false
	} else if k.broken {
		k.out.Write(lastBlock)
	}
	if n, err := k.file.Write(k.out.Bytes()); err != nil {
		k.cutBack()
	} else {
		k.broken = false
		k.mu.Lock()
		k.size += int64(n)
		k.mu.Unlock()
	}
}

func (k *sink) finish() {
	k.endFrame()
	if err := k.file.Close(); err != nil {
		k.mu.Lock()
		if k.err == nil && !k.failing {
			k.err = err
		}
		k.mu.Unlock()
	}
	if k.encoder != nil {
		k.encoder.Close()
	}
}
