package request

// Effect is what a call does when it is answered with success.
type Effect uint8

// Effects, as probe.c of package uprobe numbers them.
const (
	Gives    Effect = iota + 1 // memory at an address
	Takes                      // it back
	Maps                       // memory that was given to an address; it is held until it is unmapped too
	Unmaps                     // it
	Names                      // a context or pool of a device
	Makes                      // a context of a device, and makes it the thread's own
	Sets                       // the thread's context
	Pushes                     // a context over the thread's own
	Pops                       // it
	Ends                       // a context, with all of its memory
	Begins                     // to use the driver
	Streams                    // a stream of a context
	Retains                    // memory that was given, which is held until that is released, too
	Hides                      // memory of the GPU, given or taken, and does not say how much
	Trims                      // takes back what pools keep and nobody uses, and does not say how much
	Captures                   // what a stream is told into a graph, from then on
	Captured                   // no more of it
	Imports                    // memory that another process was given, or the same
)

// Place is how a function says where memory is asked for.
type Place uint8

// Places, as probe.c numbers them.
const (
	OfContext  Place = iota // that of the thread's context
	Properties              // a CUmemAllocationProp or CUmemPoolProps
	OfPool                  // a pool, or a green context
	OfDevice                // the number of a device
	OfStream                // a stream, which is of the context that was the thread's when it was made
	Location                // a CUmemLocation
	OfNode                  // none: it is a CUgraphNodeParams, which begins with the type of the node
	OfPitch                 // where the bytes of a row are put, of which there are Times; it is that of the thread's context
)

// Memory is what kind of memory a function gives.
type Memory uint8

// Kinds of memory.
const (
	Device  Memory = iota // of the GPU, all of it at once
	Piece                 // of the GPU too, known by a handle, and mapped to an address by another call
	Pool                  // from a pool of the driver, which keeps what is given back
	Managed               // moves between GPU and host; more than the GPU has is no failure
	Host                  // pinned memory of the host
)

// Function is a function of libcuda: its arguments that matter, by number, 0 for none.
type Function struct {
	Name    string
	Effect  Effect
	Memory  Memory
	Size    int // bytes
	Times   int // multiplies them
	Address int // where the address, context or pool is put; of what is taken back it itself
	At      int // says where; of Maps the memory that is mapped
	Place   Place
}

// A primary context ends when it was released as often as it was retained.
const (
	primaryRetain  = "cuDevicePrimaryCtxRetain"
	primaryRelease = "cuDevicePrimaryCtxRelease_v2"
)

// Functions are those that are looked at, a row each; libraries lack some. From the CUDA driver API reference,
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MEM.html and group__CUDA__VA.html, group__CUDA__MALLOC__ASYNC.html,
// group__CUDA__CTX.html, group__CUDA__STREAM.html, group__CUDA__GRAPH.html, group__CUDA__GREEN__CONTEXTS.html beside it. _ptsz: the same with a default stream for each thread.
var Functions = []Function{
	{Name: "cuMemAlloc_v2", Effect: Gives, Address: 1, Size: 2},
	{Name: "cuMemAllocPitch_v2", Effect: Gives, Address: 1, Size: 3, Times: 4, At: 2, Place: OfPitch},
	{Name: "cuMemAllocManaged", Effect: Gives, Memory: Managed, Address: 1, Size: 2},
	{Name: "cuMemAllocAsync", Effect: Gives, Memory: Pool, Address: 1, Size: 2, At: 3, Place: OfStream},
	{Name: "cuMemAllocAsync_ptsz", Effect: Gives, Memory: Pool, Address: 1, Size: 2, At: 3, Place: OfStream},
	{Name: "cuMemAllocFromPoolAsync", Effect: Gives, Memory: Pool, Address: 1, Size: 2, At: 3, Place: OfPool},
	{Name: "cuMemAllocFromPoolAsync_ptsz", Effect: Gives, Memory: Pool, Address: 1, Size: 2, At: 3, Place: OfPool},
	{Name: "cuMemCreate", Effect: Gives, Memory: Piece, Address: 1, Size: 2, At: 3, Place: Properties},
	{Name: "cuMemAllocHost_v2", Effect: Gives, Memory: Host, Address: 1, Size: 2},
	{Name: "cuMemHostAlloc", Effect: Gives, Memory: Host, Address: 1, Size: 2},

	{Name: "cuMemFree_v2", Effect: Takes, Address: 1},
	{Name: "cuMemFreeAsync", Effect: Takes, Address: 1},
	{Name: "cuMemFreeAsync_ptsz", Effect: Takes, Address: 1},
	{Name: "cuMemFreeHost", Effect: Takes, Memory: Host, Address: 1},
	{Name: "cuMemRelease", Effect: Takes, Memory: Piece, Address: 1},
	{Name: "cuMemRetainAllocationHandle", Effect: Retains, Memory: Piece, Address: 1},
	{Name: "cuMemMap", Effect: Maps, Address: 1, Size: 2, At: 4},
	{Name: "cuMemUnmap", Effect: Unmaps, Address: 1, Size: 2},

	{Name: "cuMemImportFromShareableHandle", Effect: Imports, Memory: Piece, Address: 1},
	{Name: "cuIpcOpenMemHandle_v2", Effect: Imports, Address: 1},

	{Name: "cuArrayCreate_v2", Effect: Hides},
	{Name: "cuArray3DCreate_v2", Effect: Hides},
	{Name: "cuMipmappedArrayCreate", Effect: Hides},
	{Name: "cuArrayDestroy", Effect: Hides},
	{Name: "cuMipmappedArrayDestroy", Effect: Hides},
	{Name: "cuGraphAddMemAllocNode", Effect: Hides},
	{Name: "cuGraphAddNode", Effect: Hides, At: 5, Place: OfNode},
	{Name: "cuGraphAddNode_v2", Effect: Hides, At: 6, Place: OfNode},

	{Name: "cuStreamBeginCapture_v2", Effect: Captures},
	{Name: "cuStreamBeginCapture_v2_ptsz", Effect: Captures},
	{Name: "cuStreamBeginCaptureToGraph", Effect: Captures},
	{Name: "cuStreamBeginCaptureToGraph_ptsz", Effect: Captures},
	{Name: "cuStreamEndCapture", Effect: Captured},
	{Name: "cuStreamEndCapture_ptsz", Effect: Captured},

	{Name: "cuMemPoolTrimTo", Effect: Trims, Address: 1},
	{Name: "cuMemPoolDestroy", Effect: Trims, Address: 1},
	{Name: "cuDeviceGraphMemTrim", Effect: Trims, At: 1, Place: OfDevice},

	{Name: primaryRetain, Effect: Names, Address: 1, At: 2, Place: OfDevice},
	{Name: "cuDeviceGetDefaultMemPool", Effect: Names, Address: 1, At: 2, Place: OfDevice},
	{Name: "cuDeviceGetMemPool", Effect: Names, Address: 1, At: 2, Place: OfDevice},
	{Name: "cuMemGetDefaultMemPool", Effect: Names, Address: 1, At: 2, Place: Location},
	{Name: "cuMemGetMemPool", Effect: Names, Address: 1, At: 2, Place: Location},
	{Name: "cuMemPoolCreate", Effect: Names, Address: 1, At: 2, Place: Properties},
	{Name: "cuCtxCreate_v2", Effect: Makes, Address: 1, At: 3, Place: OfDevice},
	{Name: "cuCtxCreate_v3", Effect: Makes, Address: 1, At: 5, Place: OfDevice},
	{Name: "cuCtxCreate_v4", Effect: Makes, Address: 1, At: 4, Place: OfDevice},
	{Name: "cuCtxSetCurrent", Effect: Sets, Address: 1},
	{Name: "cuCtxPushCurrent_v2", Effect: Pushes, Address: 1},
	{Name: "cuCtxPopCurrent_v2", Effect: Pops, Address: 1},
	{Name: "cuCtxDestroy_v2", Effect: Ends, Address: 1},
	{Name: "cuDevicePrimaryCtxReset_v2", Effect: Ends, At: 1, Place: OfDevice},
	{Name: primaryRelease, Effect: Ends, At: 1, Place: OfDevice},

	{Name: "cuStreamCreate", Effect: Streams, Address: 1},
	{Name: "cuStreamCreateWithPriority", Effect: Streams, Address: 1},
	{Name: "cuGreenCtxCreate", Effect: Names, Address: 1, At: 3, Place: OfDevice},
	{Name: "cuCtxFromGreenCtx", Effect: Names, Address: 1, At: 2, Place: OfPool},
	{Name: "cuGreenCtxStreamCreate", Effect: Streams, Address: 1, At: 2, Place: OfPool},

	{Name: "cuInit", Effect: Begins},
}

// Cookie is the function as probe.c reads it, in a library that is looked at by a set of probes.
func Cookie(n int, library, set uint16) uint64 {
	f := Functions[n]
	return uint64(library)<<48 | uint64(set)<<32 | uint64(n) | uint64(f.Effect)<<8 | uint64(f.Size)<<16 | uint64(f.Times)<<19 | uint64(f.Address)<<22 |
		uint64(f.At)<<25 | uint64(f.Place)<<28
}

// Answered says whether the answer of the function matters, which is known when it returns.
func (f *Function) Answered() bool {
	switch f.Effect {
	case Gives, Takes, Maps, Unmaps, Names, Makes, Sets, Pushes, Pops, Ends, Streams, Retains, Captures, Imports:
		return true
	}
	return false
}

// moves says whether the function gives memory or takes it back.
func (f *Function) moves() bool { return f.Effect >= Gives && f.Effect <= Unmaps || f.Effect == Ends }

// takesBack says whether it gives memory back to a GPU, as nearly always.
func (f *Function) takesBack() bool {
	return f.Effect == Takes || f.Effect == Unmaps || f.Effect == Ends
}

// context says whether the function makes a context, which takes some hundred MiB of the GPU.
func (f *Function) context() bool { return f.Effect == Makes || f.Name == primaryRetain }
