package request

// What is asked for on a stream comes from the GPU of the context that the stream was made in, whichever one is current meanwhile:
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MALLOC__ASYNC.html

const (
	// maxStreams of a process are kept.
	maxStreams = 4096
	// ownStreams are those that each context has by itself; their handles are numbers up to that: the default, the legacy one and
	// that of each thread.
	ownStreams = 2
)

// makesStream notes a stream. There may have been another one at that address.
func (p *process) makesStream(stream, context uint64) {
	delete(p.streams, stream)
	if context == 0 {
		return
	}
	if len(p.streams) == maxStreams { // most of them have ended
		clear(p.streams)
	}
	p.streams[stream] = context
}

// home is the context or pool where a call asks. A stream that nobody saw being made may be of another GPU than the thread's context: if the
// process uses several, it is told by itself.
func (p *process) home(c *Call, several bool) uint64 {
	if Functions[c.Function].Place != OfStream || c.Other <= ownStreams {
		return c.Context
	}
	if context, ok := p.streams[c.Other]; ok {
		return context
	}
	if !several {
		return c.Context
	}
	p.late = true
	return c.Other
}
