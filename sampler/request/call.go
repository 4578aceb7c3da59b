package request

import "time"

// Call is one call of a function of libcuda. Numbers are as the program gave them.
type Call struct {
	Time     time.Time // when it was answered; of what gives memory back, when it began
	Took     time.Duration
	PID, TID int
	Function int    // of Functions
	Size     uint64 // bytes
	Address  uint64 // given, taken back, mapped; of contexts and pools their handle
	Other    uint64 // the memory that is mapped, the stream; of what gives memory back a number of the call
	Context  uint64 // current in the thread, or the pool; 0: not known
	Era      int    // of a context that is not known: how many of those that the thread had before are popped
	Device   int    // ordinal as the program counts; -1: not known; onHost
	Answer   int    // CUresult
}

// onHost is in the place of a device where memory of the host is asked for.
const onHost = -2

// Answers of the driver: https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html
const (
	success     = 0
	outOfMemory = 2
)
