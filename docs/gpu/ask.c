/* Asks a real CUDA driver for memory in every way it offers, and says what it asked for, so that a monitor of
 * libcuda.so.1 can be judged. Prototypes and structs are those of the toolkit.
 *
 *   gcc -O2 -I/usr/local/cuda/include -o ask ask.c -ldl -lpthread
 *
 *   ask events [GROUP...]   every group, or those named; each request a line: TIME FUNCTION BYTES ANSWER DEVICE [tid=TID]
 *   ask die SIZE            ask spikes N MS GIB [BASE_GIB]      ask rate N SECONDS
 *   ask time N              ask hold GIB SECONDS                ask busy SECONDS
 *   ask list                the groups
 *
 * DEVICE -1: memory of the host. BYTES of cuMemAllocPitch_v2: pitch*height where granted, width*height where not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda.h>

_Static_assert(sizeof(CUmemAllocationProp) == 32, "prop");
_Static_assert(sizeof(CUmemPoolProps) == 88, "pool props");
_Static_assert(sizeof(CUgraphNodeParams) == 256, "node params");
_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == 120, "alloc node params");
_Static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40 && sizeof(CUDA_ARRAY_DESCRIPTOR) == 24, "arrays");
_Static_assert(sizeof(CUmemAccessDesc) == 12 && sizeof(CUdeviceptr) == 8, "access");

#define KIB (1ull << 10)
#define MIB (1ull << 20)
#define GIB (1ull << 30)
#define LEGACY ((CUstream)0x1)
#define PER_THREAD ((CUstream)0x2)

/* Name in the library, prototype in the header. */
#define ALL(X)                                                                                                   \
	X(cuInit, cuInit) X(cuDriverGetVersion, cuDriverGetVersion) X(cuDeviceGet, cuDeviceGet)                  \
	X(cuDeviceGetName, cuDeviceGetName) X(cuDeviceGetCount, cuDeviceGetCount)                                \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                                                    \
	X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease_v2)                                            \
	X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset_v2) X(cuCtxCreate_v4, cuCtxCreate_v4)              \
	X(cuCtxCreate_v2, cuCtxCreate_v2) X(cuCtxDestroy_v2, cuCtxDestroy_v2)                                    \
	X(cuCtxSetCurrent, cuCtxSetCurrent) X(cuCtxPushCurrent_v2, cuCtxPushCurrent_v2)                          \
	X(cuCtxPopCurrent_v2, cuCtxPopCurrent_v2) X(cuCtxSynchronize, cuCtxSynchronize)                          \
	X(cuMemGetInfo_v2, cuMemGetInfo_v2) X(cuMemAlloc_v2, cuMemAlloc_v2) X(cuMemFree_v2, cuMemFree_v2)        \
	X(cuMemAllocPitch_v2, cuMemAllocPitch_v2) X(cuMemAllocManaged, cuMemAllocManaged)                        \
	X(cuMemsetD8_v2, cuMemsetD8_v2) X(cuMemsetD8Async, cuMemsetD8Async)                                      \
	X(cuMemAllocAsync, cuMemAllocAsync) X(cuMemAllocAsync_ptsz, cuMemAllocAsync)                             \
	X(cuMemFreeAsync, cuMemFreeAsync) X(cuMemFreeAsync_ptsz, cuMemFreeAsync)                                 \
	X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync)                                                      \
	X(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync)                                                 \
	X(cuMemPoolCreate, cuMemPoolCreate) X(cuMemPoolDestroy, cuMemPoolDestroy)                                \
	X(cuMemPoolTrimTo, cuMemPoolTrimTo) X(cuMemPoolSetAttribute, cuMemPoolSetAttribute)                      \
	X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)                                                  \
	X(cuStreamCreate, cuStreamCreate) X(cuStreamDestroy_v2, cuStreamDestroy_v2)                              \
	X(cuStreamSynchronize, cuStreamSynchronize)                                                              \
	X(cuStreamBeginCapture_v2, cuStreamBeginCapture_v2) X(cuStreamEndCapture, cuStreamEndCapture)            \
	X(cuMemCreate, cuMemCreate) X(cuMemRelease, cuMemRelease) X(cuMemMap, cuMemMap) X(cuMemUnmap, cuMemUnmap) \
	X(cuMemSetAccess, cuMemSetAccess) X(cuMemAddressReserve, cuMemAddressReserve)                            \
	X(cuMemAddressFree, cuMemAddressFree) X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity)    \
	X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle)                                              \
	X(cuMemExportToShareableHandle, cuMemExportToShareableHandle)                                            \
	X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle)                                        \
	X(cuMemHostAlloc, cuMemHostAlloc) X(cuMemAllocHost_v2, cuMemAllocHost_v2) X(cuMemFreeHost, cuMemFreeHost) \
	X(cuArrayCreate_v2, cuArrayCreate_v2) X(cuArray3DCreate_v2, cuArray3DCreate_v2)                          \
	X(cuArrayDestroy, cuArrayDestroy) X(cuMipmappedArrayCreate, cuMipmappedArrayCreate)                      \
	X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy)                                                      \
	X(cuGraphCreate, cuGraphCreate) X(cuGraphDestroy, cuGraphDestroy)                                        \
	X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode) X(cuGraphAddMemFreeNode, cuGraphAddMemFreeNode)        \
	X(cuGraphAddNode, cuGraphAddNode) X(cuGraphAddNode_v2, cuGraphAddNode_v2)                                \
	X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags) X(cuGraphLaunch, cuGraphLaunch)              \
	X(cuGraphExecDestroy, cuGraphExecDestroy) X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim)                  \
	X(cuGetProcAddress_v2, cuGetProcAddress_v2)

#define X(name, proto) static __typeof__(proto) *p_##name;
ALL(X)
#undef X

static CUcontext primary;
static const int device = 0;
static const char *group = "begin";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long held, peak; /* of the GPU, as asked for; arrays, graphs and managed memory are not in it */
static pid_t child;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double mono(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pause_ms(double ms)
{
	struct timespec t = {(time_t)(ms / 1e3), (long)((ms - 1e3 * (double)(time_t)(ms / 1e3)) * 1e6)};
	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	pthread_mutex_lock(&lock);
	vprintf(format, list);
	putchar('\n');
	fflush(stdout);
	pthread_mutex_unlock(&lock);
	va_end(list);
}

/* One request; t is when it was answered. */
static void say_at(double t, const char *function, unsigned long long n, int answer, int on)
{
	char tid[32] = "";
	pid_t me = (pid_t)syscall(SYS_gettid);
	if (me != getpid())
		snprintf(tid, sizeof tid, " tid=%d", (int)me);
	note("%.6f %s %llu %d %d%s", t, function, n, answer, on, tid);
}

static void say(const char *function, unsigned long long n, int answer) { say_at(now(), function, n, answer, device); }

static void count(long long n)
{
	pthread_mutex_lock(&lock);
	held += n;
	peak = held > peak ? held : peak;
	pthread_mutex_unlock(&lock);
}

static size_t gpu_free(void)
{
	size_t is_free = 0, total = 0;
	if (p_cuMemGetInfo_v2)
		p_cuMemGetInfo_v2(&is_free, &total);
	return is_free;
}

static void told(const char *word) { note("# %s %lld free %zu peak %lld", word, held, gpu_free(), peak); }

/* While a group holds what it has: time for the monitor to read it. */
static void holding(void)
{
	told("holding");
	pause_ms(60);
}

static void skipped(const char *what, int code) { note("# skipped %s %s %d", group, what, code); }

#define NEED(...)                                                                               \
	do {                                                                                    \
		void *all[] = {__VA_ARGS__};                                                    \
		for (size_t i = 0; i < sizeof all / sizeof *all; i++)                           \
			if (!all[i]) {                                                          \
				skipped("missing: " #__VA_ARGS__, -1);                          \
				return;                                                         \
			}                                                                       \
	} while (0)

/* ---- requests ------------------------------------------------------------------------------ */

struct blk { CUdeviceptr at; size_t n; };

static int alloc_by(__typeof__(cuMemAlloc_v2) *f, struct blk *b, size_t n)
{
	*b = (struct blk){0, 0};
	int answer = f(&b->at, n);
	say("cuMemAlloc_v2", n, answer);
	if (answer == 0)
		b->n = n, count((long long)n);
	return answer;
}

static int alloc(struct blk *b, size_t n) { return alloc_by(p_cuMemAlloc_v2, b, n); }

static int drop(struct blk *b)
{
	if (!b->at)
		return 0;
	double t = now();
	int answer = p_cuMemFree_v2(b->at);
	say_at(t, "cuMemFree_v2", b->n, answer, device);
	if (answer == 0)
		count(-(long long)b->n);
	*b = (struct blk){0, 0};
	return answer;
}

/* "graph": it is not counted, for it is only taken when the graph runs */
static int async_alloc(struct blk *b, size_t n, CUstream s, bool ptsz, bool graph)
{
	*b = (struct blk){0, 0};
	int answer = (ptsz ? p_cuMemAllocAsync_ptsz : p_cuMemAllocAsync)(&b->at, n, s);
	say(ptsz ? "cuMemAllocAsync_ptsz" : "cuMemAllocAsync", n, answer);
	if (answer == 0 && !graph)
		b->n = n, count((long long)n);
	return answer;
}

static int pool_alloc(struct blk *b, size_t n, CUmemoryPool pool, CUstream s, bool ptsz, int on)
{
	*b = (struct blk){0, 0};
	int answer = (ptsz ? p_cuMemAllocFromPoolAsync_ptsz : p_cuMemAllocFromPoolAsync)(&b->at, n, pool, s);
	say_at(now(), ptsz ? "cuMemAllocFromPoolAsync_ptsz" : "cuMemAllocFromPoolAsync", n, answer, on);
	if (answer == 0 && on >= 0)
		b->n = n, count((long long)n);
	return answer;
}

static int async_drop(struct blk *b, CUstream s, bool ptsz)
{
	if (!b->at)
		return 0;
	double t = now();
	int answer = (ptsz ? p_cuMemFreeAsync_ptsz : p_cuMemFreeAsync)(b->at, s);
	say_at(t, ptsz ? "cuMemFreeAsync_ptsz" : "cuMemFreeAsync", b->n, answer, device);
	if (answer == 0)
		count(-(long long)b->n);
	*b = (struct blk){0, 0};
	return answer;
}

static CUmemAllocationProp on_gpu(void)
{
	CUmemAllocationProp prop;
	memset(&prop, 0, sizeof prop);
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	return prop;
}

struct piece { CUmemGenericAllocationHandle handle; CUdeviceptr at; size_t n; };

static int create_by(struct piece *p, size_t n, const CUmemAllocationProp *prop, int on)
{
	*p = (struct piece){0, 0, 0};
	int answer = p_cuMemCreate(&p->handle, n, prop, 0);
	say_at(now(), "cuMemCreate", n, answer, on);
	if (answer == 0) {
		p->n = n;
		if (on >= 0)
			count((long long)n);
	}
	return answer;
}

static int create(struct piece *p, size_t n)
{
	CUmemAllocationProp prop = on_gpu();
	return create_by(p, n, &prop, device);
}

static int map(struct piece *p, CUdeviceptr at)
{
	int answer = p_cuMemMap(at, p->n, 0, p->handle, 0);
	say("cuMemMap", p->n, answer);
	if (answer)
		return answer;
	p->at = at;
	CUmemAccessDesc access;
	memset(&access, 0, sizeof access);
	access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location.id = device;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	answer = p_cuMemSetAccess(at, p->n, &access, 1);
	say("cuMemSetAccess", p->n, answer);
	return answer;
}

static void unmap(struct piece *p)
{
	if (!p->at)
		return;
	double t = now();
	int answer = p_cuMemUnmap(p->at, p->n);
	say_at(t, "cuMemUnmap", p->n, answer, device);
	p->at = 0;
	if (answer == 0 && !p->handle)
		count(-(long long)p->n);
}

static void release(struct piece *p)
{
	if (!p->n || !p->handle)
		return;
	double t = now();
	int answer = p_cuMemRelease(p->handle);
	say_at(t, "cuMemRelease", p->n, answer, device);
	p->handle = 0;
	if (answer == 0 && !p->at)
		count(-(long long)p->n);
}

static CUmemoryPool make_pool(size_t most, int place)
{
	CUmemPoolProps props;
	memset(&props, 0, sizeof props);
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	props.location.type = (CUmemLocationType)place;
	props.location.id = 0;
	props.maxSize = most;
	CUmemoryPool pool = NULL;
	int answer = p_cuMemPoolCreate(&pool, &props);
	say_at(now(), "cuMemPoolCreate", most, answer, place == CU_MEM_LOCATION_TYPE_DEVICE ? device : -1);
	return answer ? NULL : pool;
}

static void keeps(CUmemoryPool pool, cuuint64_t n)
{
	if (p_cuMemPoolSetAttribute)
		p_cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &n);
}

static void trim(CUmemoryPool pool, size_t n)
{
	if (!p_cuMemPoolTrimTo)
		return;
	double t = now();
	int answer = p_cuMemPoolTrimTo(pool, n);
	say_at(t, "cuMemPoolTrimTo", n, answer, device);
}

static void trim_default(void)
{
	CUmemoryPool pool = NULL;
	p_cuCtxSynchronize();
	if (p_cuDeviceGetDefaultMemPool && p_cuDeviceGetDefaultMemPool(&pool, device) == 0)
		trim(pool, 0);
}

/* ---- filling the card ----------------------------------------------------------------------- */

enum { MOST = 256 };
static struct blk filled[MOST];
static int fills;

/* Until about so much is free, in blocks of 2 GiB and a rest. */
static int fill(size_t leave)
{
	fills = 0;
	while (fills < MOST) {
		size_t is_free = gpu_free(), n = 2 * GIB;
		size_t slack = leave / 8 < 2 * MIB ? 2 * MIB : leave / 8 > 16 * MIB ? 16 * MIB : leave / 8;
		if (is_free <= leave + slack)
			return 0;
		if (is_free - leave < n)
			n = (is_free - leave) & ~(2 * MIB - 1);
		int answer = n ? alloc(&filled[fills], n) : 0;
		if (answer == 2 && is_free < leave + 512 * MIB)
			return 0; /* not all that is free can be had */
		if (answer || !n)
			return answer;
		fills++;
	}
	return -1;
}

static void empty(void)
{
	while (fills > 0)
		drop(&filled[--fills]);
}

/* ---- groups --------------------------------------------------------------------------------- */

static void sizes(void)
{
	static const size_t all[] = {1, 7, 255, 256, 4097, 65536, 1000003, 2 * MIB, 2 * MIB + 1, 20 * MIB - 3, 1000000007, 5 * GIB, 0};
	enum { N = sizeof all / sizeof *all };
	struct blk b[N];
	for (int i = 0; i < N; i++)
		alloc(&b[i], all[i]); /* the last one is answered with 1 */
	holding();
	for (int i = 0; i < N; i += 2)
		drop(&b[i]);
	for (int i = N - 1; i >= 0; i--)
		drop(&b[i]);
	int answer = p_cuMemFree_v2(0);
	say("cuMemFree_v2", 0, answer);
}

static void pitch(void)
{
	NEED(p_cuMemAllocPitch_v2);
	static const size_t all[][3] = {{3600, 1000, 4}, {1, 777, 4}, {4096, 4096, 16}, {100001, 3001, 8}};
	struct blk b[4] = {{0, 0}};
	for (int i = 0; i < 4; i++) {
		size_t row = 0;
		int answer = p_cuMemAllocPitch_v2(&b[i].at, &row, all[i][0], all[i][1], (unsigned)all[i][2]);
		double t = now();
		size_t n = (answer ? all[i][0] : row) * all[i][1];
		say_at(t, "cuMemAllocPitch_v2", n, answer, device);
		note("# pitch width*height %zu pitch*height %zu", all[i][0] * all[i][1], row * all[i][1]);
		if (answer) {
			skipped("cuMemAllocPitch_v2", answer);
			b[i].at = 0;
		} else {
			b[i].n = n, count((long long)n);
		}
	}
	holding();
	for (int i = 0; i < 4; i++)
		drop(&b[i]);
}

static void managed(void)
{
	NEED(p_cuMemAllocManaged);
	static const size_t all[] = {4096, 100000001, 256 * MIB};
	CUdeviceptr at[3] = {0};
	for (int i = 0; i < 3; i++) {
		int answer = p_cuMemAllocManaged(&at[i], all[i], CU_MEM_ATTACH_GLOBAL);
		say("cuMemAllocManaged", all[i], answer);
		if (answer) {
			skipped("cuMemAllocManaged", answer);
			at[i] = 0;
		}
	}
	told("holding"); /* nothing touched yet */
	if (at[2] && p_cuMemsetD8_v2) {
		int answer = p_cuMemsetD8_v2(at[2], 1, all[2]);
		p_cuCtxSynchronize();
		note("# touched %zu on the GPU, answer %d", all[2], answer);
	}
	holding();
	for (int i = 0; i < 3; i++)
		if (at[i]) {
			double t = now();
			say_at(t, "cuMemFree_v2", all[i], p_cuMemFree_v2(at[i]), device);
		}
}

static void async(void)
{
	NEED(p_cuMemAllocAsync, p_cuMemFreeAsync, p_cuStreamCreate);
	CUstream s = NULL;
	int answer = p_cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
	if (answer) {
		skipped("cuStreamCreate", answer);
		return;
	}
	struct { CUstream s; bool ptsz; const char *name; } on[] = {
		{s, false, "created"}, {NULL, false, "null"}, {LEGACY, false, "legacy"}, {PER_THREAD, false, "per thread"},
		{s, true, "created, _ptsz"}, {NULL, true, "null, _ptsz"},
	};
	enum { N = sizeof on / sizeof *on };
	struct blk b[N][3];
	memset(b, 0, sizeof b);
	static const size_t all[] = {513, 64 * KIB, 70000001};
	for (int i = 0; i < N; i++) {
		if (on[i].ptsz && (!p_cuMemAllocAsync_ptsz || !p_cuMemFreeAsync_ptsz)) {
			skipped("missing: cuMemAllocAsync_ptsz", -1);
			continue;
		}
		note("# stream %s", on[i].name);
		for (int j = 0; j < 3; j++)
			if ((answer = async_alloc(&b[i][j], all[j], on[i].s, on[i].ptsz, false)) != 0)
				skipped(on[i].name, answer);
	}
	p_cuCtxSynchronize();
	holding();
	for (int i = 0; i < N; i++)
		for (int j = 0; j < 3; j++)
			async_drop(&b[i][j], on[i].s, on[i].ptsz);
	/* What was given on a stream may be given back without one. */
	struct blk other;
	p_cuCtxSynchronize();
	if (async_alloc(&other, 3000001, s, false, false) == 0) {
		p_cuStreamSynchronize(s);
		drop(&other);
	}
	trim_default();
	p_cuStreamDestroy_v2(s);
}

static void pool(void)
{
	NEED(p_cuMemPoolCreate, p_cuMemAllocFromPoolAsync, p_cuMemFreeAsync, p_cuMemPoolDestroy);
	CUmemoryPool pool = make_pool(0, CU_MEM_LOCATION_TYPE_DEVICE);
	if (!pool) {
		skipped("cuMemPoolCreate", -1);
		return;
	}
	keeps(pool, UINT64_MAX);
	struct blk b[5];
	memset(b, 0, sizeof b);
	pool_alloc(&b[0], 64000000, pool, NULL, false, device);
	pool_alloc(&b[1], 1, pool, LEGACY, false, device);
	pool_alloc(&b[2], GIB + 1, pool, PER_THREAD, false, device);
	if (p_cuMemAllocFromPoolAsync_ptsz)
		pool_alloc(&b[3], 33333333, pool, NULL, true, device);
	p_cuCtxSynchronize();
	holding();
	for (int i = 0; i < 4; i++)
		async_drop(&b[i], i == 2 ? PER_THREAD : NULL, false);
	p_cuCtxSynchronize();
	told("kept by the pool:");
	trim(pool, 100 * MIB);
	told("trimmed:");
	trim(pool, 0);
	told("trimmed:");
	pool_alloc(&b[4], 5000000, pool, NULL, false, device);
	async_drop(&b[4], NULL, false);
	p_cuCtxSynchronize();
	double t = now();
	say_at(t, "cuMemPoolDestroy", 0, p_cuMemPoolDestroy(pool), device);
}

static void vmm(void)
{
	NEED(p_cuMemCreate, p_cuMemRelease, p_cuMemMap, p_cuMemUnmap, p_cuMemSetAccess, p_cuMemAddressReserve, p_cuMemAddressFree, p_cuMemGetAllocationGranularity);
	CUmemAllocationProp prop = on_gpu();
	size_t step = 0;
	int answer = p_cuMemGetAllocationGranularity(&step, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	note("# granularity %zu answer %d", step, answer);
	if (answer || step == 0 || (2 * MIB) % step) {
		skipped("cuMemGetAllocationGranularity", answer);
		return;
	}
	enum { SMALL = 8, LARGE = 12, N = SMALL + LARGE };
	struct piece p[N];
	memset(p, 0, sizeof p);
	size_t room = SMALL * 2 * MIB + LARGE * 20 * MIB, at = 0;
	CUdeviceptr va = 0;
	answer = p_cuMemAddressReserve(&va, room, 2 * MIB, 0, 0);
	say("cuMemAddressReserve", room, answer);
	if (answer) {
		skipped("cuMemAddressReserve", answer);
		return;
	}
	for (int i = 0; i < N; i++) {
		size_t n = i < SMALL ? 2 * MIB : 20 * MIB;
		if ((answer = create(&p[i], n)) != 0 || (answer = map(&p[i], va + at)) != 0) {
			skipped("piece", answer);
			break;
		}
		if (i % 4 == 3)
			release(&p[i]); /* before it is unmapped: held until then */
		at += n;
	}
	/* Another handle of a mapped piece keeps it, too. */
	CUmemGenericAllocationHandle other = 0;
	if (p_cuMemRetainAllocationHandle && p[0].at) {
		answer = p_cuMemRetainAllocationHandle(&other, (void *)(uintptr_t)p[0].at);
		say("cuMemRetainAllocationHandle", p[0].n, answer);
		if (answer)
			other = 0;
	}
	holding();
	/* A few in the middle go and come again, as PyTorch gives back what is free. */
	for (int i = SMALL; i < SMALL + 3; i++) {
		CUdeviceptr was = p[i].at;
		if (!was)
			continue;
		unmap(&p[i]);
		release(&p[i]);
		if (create(&p[i], 20 * MIB) == 0)
			map(&p[i], was);
	}
	for (int i = 0; i < N; i++) {
		unmap(&p[i]);
		release(&p[i]);
	}
	if (other) {
		double t = now();
		say_at(t, "cuMemRelease", 2 * MIB, p_cuMemRelease(other), device);
	}
	answer = p_cuMemAddressFree(va, room);
	say("cuMemAddressFree", room, answer);
	/* One that is never mapped; a size that is none. */
	struct piece q;
	if (create(&q, 6 * MIB) == 0)
		release(&q);
	if (create(&q, 3000000) == 0)
		release(&q);
}

static void import(void)
{
	NEED(p_cuMemCreate, p_cuMemRelease, p_cuMemExportToShareableHandle, p_cuMemImportFromShareableHandle);
	CUmemAllocationProp prop = on_gpu();
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	struct piece p;
	int answer = create_by(&p, 64 * MIB, &prop, device), fd = -1;
	if (answer) {
		skipped("cuMemCreate", answer);
		return;
	}
	answer = p_cuMemExportToShareableHandle(&fd, p.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	say("cuMemExportToShareableHandle", p.n, answer);
	if (answer == 0) {
		CUmemGenericAllocationHandle h = 0;
		answer = p_cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
		say("cuMemImportFromShareableHandle", p.n, answer);
		close(fd);
		if (answer == 0) {
			double t = now();
			say_at(t, "cuMemRelease", p.n, p_cuMemRelease(h), device);
		}
	} else {
		skipped("cuMemExportToShareableHandle", answer);
	}
	release(&p);
}

static void host(void)
{
	NEED(p_cuMemHostAlloc, p_cuMemFreeHost);
	void *p = NULL;
	int answer = p_cuMemHostAlloc(&p, 10000001, 1 /* portable */);
	say_at(now(), "cuMemHostAlloc", 10000001, answer, -1);
	if (answer == 0)
		say_at(now(), "cuMemFreeHost", 10000001, p_cuMemFreeHost(p), -1);
	else
		skipped("cuMemHostAlloc", answer);
	if (p_cuMemAllocHost_v2) {
		answer = p_cuMemAllocHost_v2(&p, 4 * MIB);
		say_at(now(), "cuMemAllocHost_v2", 4 * MIB, answer, -1);
		if (answer == 0)
			say_at(now(), "cuMemFreeHost", 4 * MIB, p_cuMemFreeHost(p), -1);
	}
	/* Pieces and pools of the host, which are no request for memory of the GPU. */
	if (p_cuMemCreate && p_cuMemRelease) {
		CUmemAllocationProp prop = on_gpu();
		prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
		prop.location.id = 0;
		struct piece q;
		if ((answer = create_by(&q, 4 * MIB, &prop, -1)) == 0)
			say_at(now(), "cuMemRelease", 4 * MIB, p_cuMemRelease(q.handle), -1);
		else
			skipped("cuMemCreate on the host", answer);
	}
	if (p_cuMemPoolCreate && p_cuMemAllocFromPoolAsync) {
		CUmemoryPool pool = make_pool(0, CU_MEM_LOCATION_TYPE_HOST_NUMA);
		struct blk b;
		if (!pool)
			skipped("cuMemPoolCreate on the host", -1);
		else if ((answer = pool_alloc(&b, 4 * MIB, pool, NULL, false, -1)) != 0)
			skipped("cuMemAllocFromPoolAsync on the host", answer);
		else
			say_at(now(), "cuMemFreeAsync", 4 * MIB, p_cuMemFreeAsync(b.at, NULL), -1);
		p_cuCtxSynchronize();
		if (pool)
			say_at(now(), "cuMemPoolDestroy", 0, p_cuMemPoolDestroy(pool), -1);
	}
}

static void array(void)
{
	NEED(p_cuArrayCreate_v2, p_cuArray3DCreate_v2, p_cuArrayDestroy);
	CUarray a = NULL, b = NULL;
	CUmipmappedArray m = NULL;
	CUDA_ARRAY_DESCRIPTOR flat;
	memset(&flat, 0, sizeof flat);
	flat.Width = 4096, flat.Height = 4096, flat.Format = CU_AD_FORMAT_FLOAT, flat.NumChannels = 1;
	int answer = p_cuArrayCreate_v2(&a, &flat);
	say("cuArrayCreate_v2", 64 * MIB, answer);
	if (answer)
		skipped("cuArrayCreate_v2", answer), a = NULL;
	CUDA_ARRAY3D_DESCRIPTOR deep;
	memset(&deep, 0, sizeof deep);
	deep.Width = 256, deep.Height = 256, deep.Depth = 256, deep.Format = CU_AD_FORMAT_FLOAT, deep.NumChannels = 4;
	answer = p_cuArray3DCreate_v2(&b, &deep);
	say("cuArray3DCreate_v2", 256 * MIB, answer);
	if (answer)
		skipped("cuArray3DCreate_v2", answer), b = NULL;
	if (p_cuMipmappedArrayCreate && p_cuMipmappedArrayDestroy) {
		memset(&deep, 0, sizeof deep);
		deep.Width = 4096, deep.Height = 4096, deep.Format = CU_AD_FORMAT_FLOAT, deep.NumChannels = 1;
		answer = p_cuMipmappedArrayCreate(&m, &deep, 5);
		say("cuMipmappedArrayCreate", 64 * MIB, answer); /* the first level */
		if (answer)
			skipped("cuMipmappedArrayCreate", answer), m = NULL;
	}
	holding();
	if (a)
		say("cuArrayDestroy", 64 * MIB, p_cuArrayDestroy(a));
	if (b)
		say("cuArrayDestroy", 256 * MIB, p_cuArrayDestroy(b));
	if (m)
		say("cuMipmappedArrayDestroy", 64 * MIB, p_cuMipmappedArrayDestroy(m));
}

/* The node is made by one of three functions, the memory of it given back by a node or not. */
static void one_graph(int how, size_t n, bool frees, CUstream s)
{
	CUgraph g = NULL;
	CUgraphNode node = NULL, last = NULL;
	CUgraphExec run = NULL;
	CUdeviceptr at = 0;
	int answer = p_cuGraphCreate(&g, 0);
	if (answer) {
		skipped("cuGraphCreate", answer);
		return;
	}
	CUDA_MEM_ALLOC_NODE_PARAMS a;
	memset(&a, 0, sizeof a);
	a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	a.poolProps.location.id = device;
	a.bytesize = n;
	CUgraphNodeParams p;
	memset(&p, 0, sizeof p);
	p.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
	p.alloc.poolProps = a.poolProps;
	p.alloc.bytesize = n;
	if (how == 0)
		answer = p_cuGraphAddMemAllocNode(&node, g, NULL, 0, &a), at = a.dptr;
	else if (how == 1)
		answer = p_cuGraphAddNode(&node, g, NULL, 0, &p), at = p.alloc.dptr;
	else
		answer = p_cuGraphAddNode_v2(&node, g, NULL, NULL, 0, &p), at = p.alloc.dptr;
	say(how == 0 ? "cuGraphAddMemAllocNode" : how == 1 ? "cuGraphAddNode" : "cuGraphAddNode_v2", n, answer);
	if (answer == 0 && frees)
		if ((answer = p_cuGraphAddMemFreeNode(&last, g, &node, 1, at)) != 0)
			skipped("cuGraphAddMemFreeNode", answer);
	if (answer == 0 && (answer = p_cuGraphInstantiateWithFlags(&run, g, 0)) != 0)
		skipped("cuGraphInstantiateWithFlags", answer), run = NULL;
	if (answer == 0) {
		int launched = p_cuGraphLaunch(run, s);
		say("cuGraphLaunch", n, launched);
		p_cuStreamSynchronize(s);
		told("holding");
		if (launched == 0 && !frees) {
			double t = now();
			say_at(t, "cuMemFreeAsync", n, p_cuMemFreeAsync(at, s), device);
			p_cuStreamSynchronize(s);
		}
	} else if (!run) {
		skipped("graph", answer);
	}
	if (run)
		p_cuGraphExecDestroy(run);
	p_cuGraphDestroy(g);
}

static void graph_trim(void)
{
	p_cuCtxSynchronize();
	if (p_cuDeviceGraphMemTrim)
		say("cuDeviceGraphMemTrim", 0, p_cuDeviceGraphMemTrim(device));
}

static void graph(void)
{
	NEED(p_cuGraphCreate, p_cuGraphAddMemAllocNode, p_cuGraphAddMemFreeNode, p_cuGraphInstantiateWithFlags, p_cuGraphLaunch, p_cuGraphExecDestroy, p_cuGraphDestroy, p_cuStreamCreate, p_cuMemFreeAsync);
	CUstream s = NULL;
	if (p_cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) != 0) {
		skipped("cuStreamCreate", -1);
		return;
	}
	one_graph(0, 100 * MIB, true, s);
	one_graph(0, 200 * MIB + 1, false, s);
	if (p_cuGraphAddNode)
		one_graph(1, 30 * MIB, true, s);
	else
		skipped("missing: cuGraphAddNode", -1);
	if (p_cuGraphAddNode_v2)
		one_graph(2, 40 * MIB, true, s);
	else
		skipped("missing: cuGraphAddNode_v2", -1);
	told("before the trim:");
	graph_trim();
	p_cuStreamDestroy_v2(s);
}

static void capture(void)
{
	NEED(p_cuStreamBeginCapture_v2, p_cuStreamEndCapture, p_cuMemAllocAsync, p_cuMemFreeAsync, p_cuGraphInstantiateWithFlags, p_cuGraphLaunch, p_cuGraphExecDestroy, p_cuGraphDestroy, p_cuStreamCreate);
	CUstream s = NULL;
	CUgraph g = NULL;
	CUgraphExec run = NULL;
	if (p_cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) != 0) {
		skipped("cuStreamCreate", -1);
		return;
	}
	int answer = p_cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	say("cuStreamBeginCapture_v2", 0, answer);
	if (answer == 0) {
		struct blk b;
		if (async_alloc(&b, 50000000, s, false, true) == 0) {
			double t = now();
			say_at(t, "cuMemFreeAsync", 50000000, p_cuMemFreeAsync(b.at, s), device);
		}
		answer = p_cuStreamEndCapture(s, &g);
		say("cuStreamEndCapture", 0, answer);
	}
	if (answer == 0 && g) {
		if ((answer = p_cuGraphInstantiateWithFlags(&run, g, 0)) == 0) {
			say("cuGraphLaunch", 50000000, p_cuGraphLaunch(run, s));
			p_cuStreamSynchronize(s);
			p_cuGraphExecDestroy(run);
		} else {
			skipped("cuGraphInstantiateWithFlags", answer);
		}
		p_cuGraphDestroy(g);
	} else {
		skipped("capture", answer);
	}
	graph_trim();
	p_cuStreamDestroy_v2(s);
}

static void context(void)
{
	NEED(p_cuCtxDestroy_v2, p_cuCtxPushCurrent_v2, p_cuCtxPopCurrent_v2);
	CUcontext c = NULL, was = NULL;
	struct blk a, b, d;
	int answer = -1;
	if (p_cuCtxCreate_v4) {
		CUctxCreateParams params;
		memset(&params, 0, sizeof params);
		answer = p_cuCtxCreate_v4(&c, &params, 0, device);
		say("cuCtxCreate_v4", 0, answer);
	}
	if (answer && p_cuCtxCreate_v2) {
		answer = p_cuCtxCreate_v2(&c, 0, device);
		say("cuCtxCreate_v2", 0, answer);
	}
	if (answer) {
		skipped("cuCtxCreate", answer);
		p_cuCtxSetCurrent(primary);
		return;
	}
	alloc(&a, 111111111); /* of the second one */
	p_cuCtxPopCurrent_v2(&was);
	p_cuCtxSetCurrent(primary);
	alloc(&b, 222222222); /* of the primary one */
	p_cuCtxPushCurrent_v2(c);
	alloc(&d, 33333333);
	p_cuCtxPopCurrent_v2(&was);
	holding();
	drop(&b);
	double t = now();
	answer = p_cuCtxDestroy_v2(c); /* takes a and d with it */
	say_at(t, "cuCtxDestroy_v2", a.n + d.n, answer, device);
	if (answer == 0)
		count(-(long long)(a.n + d.n));
	p_cuCtxSetCurrent(primary);
	if (p_cuDevicePrimaryCtxRelease_v2) { /* once more, and back */
		CUcontext again = NULL;
		say("cuDevicePrimaryCtxRetain", 0, p_cuDevicePrimaryCtxRetain(&again, device));
		say("cuDevicePrimaryCtxRelease_v2", 0, p_cuDevicePrimaryCtxRelease_v2(device));
	}
	if (alloc(&b, 4444444) == 0)
		drop(&b);
}

static void *work(void *size)
{
	p_cuCtxSetCurrent(primary);
	size_t n = (size_t)(uintptr_t)size;
	struct blk b[4];
	for (int i = 0; i < 4; i++)
		alloc(&b[i], n + (size_t)i);
	if (p_cuMemAllocAsync && p_cuMemFreeAsync) {
		struct blk p;
		if (async_alloc(&p, n + 9, PER_THREAD, false, false) == 0)
			async_drop(&p, PER_THREAD, false);
	}
	for (int i = 0; i < 4; i++)
		drop(&b[i]);
	return NULL;
}

static void thread(void)
{
	pthread_t other;
	if (pthread_create(&other, NULL, work, (void *)(uintptr_t)7000001) == 0)
		pthread_join(other, NULL);
	else
		skipped("pthread_create", errno);
	trim_default();
}

/* At the same time: their order counts only by thread. */
static void threads(void)
{
	pthread_t other[4];
	int n = 0;
	for (; n < 4; n++)
		if (pthread_create(&other[n], NULL, work, (void *)(uintptr_t)(8000001 + n * 1000)) != 0)
			break;
	work((void *)(uintptr_t)9000001);
	while (n > 0)
		pthread_join(other[--n], NULL);
	trim_default();
}

static const char *where(void *f, char *text, size_t n)
{
	Dl_info info;
	if (f && dladdr(f, &info) && info.dli_fname) {
		const char *slash = strrchr(info.dli_fname, '/');
		snprintf(text, n, "%s+0x%lx(%s)", slash ? slash + 1 : info.dli_fname, (unsigned long)((char *)f - (char *)info.dli_fbase), info.dli_sname ? info.dli_sname : "?");
	} else {
		snprintf(text, n, "%p", f);
	}
	return text;
}

/* What cuGetProcAddress says, as the CUDA runtime asks for it: the same code as what is exported? */
static void procaddress(void)
{
	NEED(p_cuGetProcAddress_v2);
	int version = 12000;
	if (p_cuDriverGetVersion)
		p_cuDriverGetVersion(&version);
	static const struct { const char *name, *exported; int version; } all[] = {
		{"cuMemAlloc", "cuMemAlloc_v2", 3020}, {"cuMemAlloc", "cuMemAlloc_v2", 0}, {"cuMemFree", "cuMemFree_v2", 0}, {"cuMemAllocPitch", "cuMemAllocPitch_v2", 0},
		{"cuMemAllocManaged", "cuMemAllocManaged", 0}, {"cuMemAllocAsync", "cuMemAllocAsync", 0}, {"cuMemFreeAsync", "cuMemFreeAsync", 0},
		{"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", 0}, {"cuMemCreate", "cuMemCreate", 0}, {"cuMemRelease", "cuMemRelease", 0},
		{"cuMemRetainAllocationHandle", "cuMemRetainAllocationHandle", 0}, {"cuMemMap", "cuMemMap", 0}, {"cuMemUnmap", "cuMemUnmap", 0},
		{"cuMemHostAlloc", "cuMemHostAlloc", 0}, {"cuMemAllocHost", "cuMemAllocHost_v2", 0}, {"cuMemFreeHost", "cuMemFreeHost", 0},
		{"cuArrayCreate", "cuArrayCreate_v2", 0}, {"cuArray3DCreate", "cuArray3DCreate_v2", 0}, {"cuArrayDestroy", "cuArrayDestroy", 0},
		{"cuMipmappedArrayCreate", "cuMipmappedArrayCreate", 0}, {"cuMipmappedArrayDestroy", "cuMipmappedArrayDestroy", 0},
		{"cuMemPoolCreate", "cuMemPoolCreate", 0}, {"cuMemPoolDestroy", "cuMemPoolDestroy", 0}, {"cuMemPoolTrimTo", "cuMemPoolTrimTo", 0},
		{"cuDeviceGetDefaultMemPool", "cuDeviceGetDefaultMemPool", 0}, {"cuDeviceGetMemPool", "cuDeviceGetMemPool", 0},
		{"cuMemGetDefaultMemPool", "cuMemGetDefaultMemPool", 0}, {"cuMemGetMemPool", "cuMemGetMemPool", 0},
		{"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", 0}, {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 0},
		{"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", 0}, {"cuCtxCreate", "cuCtxCreate_v2", 12000}, {"cuCtxCreate", "cuCtxCreate_v4", 0},
		{"cuCtxSetCurrent", "cuCtxSetCurrent", 0}, {"cuCtxPushCurrent", "cuCtxPushCurrent_v2", 0}, {"cuCtxPopCurrent", "cuCtxPopCurrent_v2", 0},
		{"cuCtxDestroy", "cuCtxDestroy_v2", 0}, {"cuStreamCreate", "cuStreamCreate", 0}, {"cuStreamCreateWithPriority", "cuStreamCreateWithPriority", 0},
		{"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 0}, {"cuStreamBeginCaptureToGraph", "cuStreamBeginCaptureToGraph", 0},
		{"cuStreamEndCapture", "cuStreamEndCapture", 0}, {"cuGraphAddMemAllocNode", "cuGraphAddMemAllocNode", 0}, {"cuGraphAddNode", "cuGraphAddNode", 12020},
		{"cuGraphAddNode", "cuGraphAddNode_v2", 0}, {"cuDeviceGraphMemTrim", "cuDeviceGraphMemTrim", 0}, {"cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", 0},
		{"cuMemImportFromShareableHandle", "cuMemImportFromShareableHandle", 0}, {"cuGreenCtxCreate", "cuGreenCtxCreate", 0},
		{"cuGreenCtxStreamCreate", "cuGreenCtxStreamCreate", 0}, {"cuInit", "cuInit", 0},
	};
	static const struct { int flags; const char *end, *name; } ways[] = {{0, "", "default"}, {1, "", "legacy"}, {2, "_ptsz", "per thread"}};
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int same = 0, differ = 0, none = 0, others = 0;
	if (!cuda) {
		skipped("dlopen", -1);
		return;
	}
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (int w = 0; w < 3; w++) {
			void *f = NULL;
			char name[96], one[300], two[300];
			CUdriverProcAddressQueryResult found = 0;
			int answer = p_cuGetProcAddress_v2(all[i].name, &f, all[i].version ? all[i].version : version, (cuuint64_t)ways[w].flags, &found);
			snprintf(name, sizeof name, "%s%s", all[i].exported, ways[w].end);
			void *exported = dlsym(cuda, name);
			if (!exported && w == 2)
				exported = dlsym(cuda, strcpy(name, all[i].exported)); /* most have no twin */
			if (!f && !exported) {
				none++;
			} else if (f == exported) {
				same++;
			} else {
				Dl_info info;
				bool other = f && dladdr(f, &info) && info.dli_saddr == f; /* one that is exported, by another name */
				others += other, differ += !other;
				note("# procaddress %s %s version %d answer %d found %d: %s is not %s %s%s", all[i].name, ways[w].name, all[i].version ? all[i].version : version, answer, (int)found, where(f, one, sizeof one), name, where(exported, two, sizeof two), other ? ", but another export" : f ? ", and NO EXPORT" : "");
			}
		}
	note("# procaddress same %d, another export %d, no export or not given %d, in neither %d", same, others, differ, none);
	void *f = NULL;
	CUdriverProcAddressQueryResult found = 0;
	if (p_cuGetProcAddress_v2("cuMemAlloc", &f, 3020, 0, &found) == 0 && f) {
		struct blk b;
		note("# cuMemAlloc by cuGetProcAddress: %s", f == (void *)p_cuMemAlloc_v2 ? "the same address" : "ANOTHER address");
		if (alloc_by((__typeof__(cuMemAlloc_v2) *)f, &b, 12345678) == 0)
			drop(&b);
	} else {
		skipped("cuGetProcAddress_v2", (int)found);
	}
	dlclose(cuda);
}

static void run_child(void)
{
	fflush(stdout);
	child = fork();
	if (child == 0) {
		execl("/proc/self/exe", "ask", "child", (char *)NULL);
		_exit(127);
	}
	if (child < 0) {
		skipped("fork", errno);
		return;
	}
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	note("# pid %d", (int)getpid());
	note("# child ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void refuse(void)
{
	int answer = fill(3 * GIB);
	struct blk b;
	if (answer) {
		skipped("fill", answer);
	} else if ((answer = alloc(&b, 4 * GIB)) != 2) {
		skipped("not refused", answer);
		drop(&b);
	}
	holding();
	empty();
}

static void torch(void)
{
	int answer = fill(3 * GIB);
	struct blk b = {0, 0};
	if (answer || fills < 3) {
		skipped("fill", answer);
	} else if (alloc(&b, 4 * GIB) == 2) {
		drop(&filled[0]); /* what was cached; the first one is of 2 GiB */
		if ((answer = alloc(&b, 4 * GIB)) != 0)
			skipped("refused again", answer);
	} else {
		skipped("not refused", 0);
	}
	holding();
	drop(&b);
	empty();
}

static void refuse_create(void)
{
	NEED(p_cuMemCreate, p_cuMemRelease);
	int answer = fill(3 * GIB);
	struct piece p;
	if (answer) {
		skipped("fill", answer);
	} else if ((answer = create(&p, 4 * GIB)) != 2) {
		skipped("not refused", answer);
		release(&p);
	}
	empty();
}

/* Expandable segments: a piece of 20 MiB is refused, some are given back, and it is granted. */
static void refuse_pieces(void)
{
	NEED(p_cuMemCreate, p_cuMemRelease);
	enum { N = 64 };
	static struct piece p[N];
	memset(p, 0, sizeof p);
	int answer = fill(200 * MIB), n = 0;
	if (answer)
		skipped("fill", answer);
	else
		while (n < N && (answer = create(&p[n], 20 * MIB)) == 0)
			n++;
	if (answer == 2 && n > 2) {
		release(&p[0]);
		release(&p[1]);
		create(&p[0], 20 * MIB);
	} else {
		skipped("not refused", answer);
	}
	holding();
	for (int i = 0; i < n; i++)
		release(&p[i]);
	empty();
}

static void refuse_async(void)
{
	NEED(p_cuMemAllocAsync, p_cuMemFreeAsync);
	int answer = fill(3 * GIB);
	struct blk b;
	if (answer) {
		skipped("fill", answer);
	} else if ((answer = async_alloc(&b, 4 * GIB, NULL, false, false)) != 2) {
		skipped("not refused", answer);
		async_drop(&b, NULL, false);
	} else if (async_alloc(&b, 20000001, NULL, false, false) == 0) {
		async_drop(&b, NULL, false);
	}
	trim_default();
	empty();
}

static void refuse_pool(void)
{
	NEED(p_cuMemPoolCreate, p_cuMemAllocFromPoolAsync, p_cuMemFreeAsync, p_cuMemPoolDestroy);
	struct blk b;
	/* By a limit of its own, while the card is free. */
	CUmemoryPool pool = make_pool(256 * MIB, CU_MEM_LOCATION_TYPE_DEVICE);
	int answer;
	if (!pool) {
		skipped("cuMemPoolCreate", -1);
	} else {
		if ((answer = pool_alloc(&b, 512 * MIB, pool, NULL, false, device)) != 2) {
			skipped("not refused by its limit", answer);
			async_drop(&b, NULL, false);
		}
		p_cuCtxSynchronize();
		say("cuMemPoolDestroy", 0, p_cuMemPoolDestroy(pool));
	}
	pool = make_pool(0, CU_MEM_LOCATION_TYPE_DEVICE);
	if (!pool) {
		skipped("cuMemPoolCreate", -1);
		return;
	}
	if ((answer = fill(3 * GIB)) != 0) {
		skipped("fill", answer);
	} else if ((answer = pool_alloc(&b, 4 * GIB, pool, NULL, false, device)) != 2) {
		skipped("not refused", answer);
		async_drop(&b, NULL, false);
	}
	p_cuCtxSynchronize();
	empty();
	say("cuMemPoolDestroy", 0, p_cuMemPoolDestroy(pool));
}

static void bfc(void)
{
	int answer = fill(3 * GIB);
	struct blk b = {0, 0};
	if (answer) {
		skipped("fill", answer);
	} else {
		size_t n = 4 * GIB;
		while (n > GIB && alloc(&b, n) != 0)
			n = (size_t)((double)n * 0.9) & ~(size_t)255;
		holding();
	}
	drop(&b);
	empty();
}

static void fill64(void)
{
	enum { N = 8192 };
	static struct blk b[N];
	int n = 0, answer = 0;
	while (n < N && (answer = alloc(&b[n], 64 * MIB)) == 0)
		n++;
	if (answer != 2)
		skipped("not refused", answer);
	holding();
	while (n > 0)
		drop(&b[--n]);
}

static void reset(void)
{
	NEED(p_cuDevicePrimaryCtxReset_v2);
	struct blk a, b;
	alloc(&a, 55555555);
	double t = now();
	int answer = p_cuDevicePrimaryCtxReset_v2(device); /* takes everything with it */
	say_at(t, "cuDevicePrimaryCtxReset_v2", (unsigned long long)held, answer, device);
	if (answer == 0)
		count(-held);
	if (p_cuDevicePrimaryCtxRelease_v2) /* the answer may be 201 */
		say("cuDevicePrimaryCtxRelease_v2", 0, p_cuDevicePrimaryCtxRelease_v2(device));
	answer = p_cuDevicePrimaryCtxRetain(&primary, device);
	say("cuDevicePrimaryCtxRetain", 0, answer);
	if (answer || p_cuCtxSetCurrent(primary) != 0) {
		skipped("again", answer);
		return;
	}
	if (alloc(&b, 6666666) == 0)
		drop(&b);
}

static const struct { const char *name; void (*run)(void); } groups[] = {
	{"procaddress", procaddress}, {"sizes", sizes}, {"pitch", pitch}, {"managed", managed}, {"async", async}, {"pool", pool}, {"vmm", vmm}, {"import", import},
	{"host", host}, {"thread", thread}, {"threads", threads}, {"context", context}, {"child", run_child},
	{"refuse", refuse}, {"torch", torch}, {"refuse_create", refuse_create}, {"refuse_pieces", refuse_pieces}, {"refuse_async", refuse_async},
	{"refuse_pool", refuse_pool}, {"bfc", bfc}, {"fill64", fill64},
	/* from here on the monitor knows that it does not see all */
	{"array", array}, {"graph", graph}, {"capture", capture}, {"reset", reset},
};
enum { GROUPS = sizeof groups / sizeof *groups };

/* ---- the program ---------------------------------------------------------------------------- */

static void late(int unused)
{
	(void)unused;
	static const char text[] = "\n# skipped timeout: took too long, and ends\n";
	if (write(1, text, sizeof text - 1) < 0)
		_exit(4);
	if (child > 0)
		kill(child, SIGKILL);
	_exit(3); /* the driver takes everything back */
}

static int begin(unsigned seconds)
{
	signal(SIGALRM, late);
	alarm(seconds);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	if (!cuda) {
		fprintf(stderr, "ask: %s\n", dlerror());
		return 1;
	}
#define X(name, proto) p_##name = (__typeof__(proto) *)dlsym(cuda, #name);
	ALL(X)
#undef X
	if (!p_cuInit || !p_cuDevicePrimaryCtxRetain || !p_cuCtxSetCurrent || !p_cuMemAlloc_v2 || !p_cuMemFree_v2 || !p_cuMemGetInfo_v2 || !p_cuCtxSynchronize) {
		fprintf(stderr, "ask: libcuda.so.1 lacks a function that everything needs\n");
		return 1;
	}
	int answer = p_cuInit(0);
	if (answer == 0)
		answer = p_cuDevicePrimaryCtxRetain(&primary, device);
	if (answer == 0)
		answer = p_cuCtxSetCurrent(primary);
	if (answer)
		fprintf(stderr, "ask: the driver cannot begin: %d\n", answer);
	return answer != 0;
}

static int events(int n, char **names)
{
	note("# pid %d", (int)getpid());
	if (begin(60))
		return 1;
	int version = 0;
	char name[128] = "?";
	size_t is_free = 0, total = 0;
	if (p_cuDriverGetVersion)
		p_cuDriverGetVersion(&version);
	if (p_cuDeviceGetName)
		p_cuDeviceGetName(name, sizeof name, device);
	p_cuMemGetInfo_v2(&is_free, &total);
	note("# driver %d device %s total %zu free %zu", version, name, total, is_free);
#define X(f, proto)                      \
	if (!p_##f)                      \
		note("# missing %s", #f);
	ALL(X)
#undef X
	for (int i = 0; i < GROUPS; i++) {
		bool wanted = n == 0;
		for (int j = 0; j < n; j++)
			wanted = wanted || strcmp(names[j], groups[i].name) == 0;
		if (!wanted)
			continue;
		group = groups[i].name;
		note("# group %s", group);
		pause_ms(40);
		peak = held;
		groups[i].run();
		p_cuCtxSynchronize();
		told("held");
		pause_ms(40);
	}
	note("# done");
	pause_ms(1500); /* a monitor learns where it is while it lives */
	return 0;
}

static int be_child(void)
{
	note("# pid %d", (int)getpid());
	if (begin(25))
		return 1;
	struct blk a, b, c;
	alloc(&a, 77777777);
	alloc(&b, GIB + 77);
	drop(&a);
	alloc(&c, 7);
	holding();
	pause_ms(300);
	drop(&c);
	return 0; /* b goes with it */
}

static size_t size_of(const char *text)
{
	char *end;
	double n = strtod(text, &end);
	switch (*end) {
	case 'k': case 'K': n *= (double)KIB; break;
	case 'm': case 'M': n *= (double)MIB; break;
	case 'g': case 'G': n *= (double)GIB; break;
	}
	return (size_t)n;
}

static int die(const char *size)
{
	if (begin(60))
		return 1;
	size_t n = size_of(size);
	note("# pid %d", (int)getpid());
	int answer = n ? fill(n) : -1;
	struct blk b;
	told("held");
	pause_ms(300);
	if (answer == 0 && alloc(&b, 2 * n) == 0) {
		fprintf(stderr, "ask: it was granted\n");
		return 2;
	}
	if (answer != 0) {
		fprintf(stderr, "ask: the card could not be filled\n");
		return 2;
	}
	fprintf(stderr, "ask: CUDA error: out of memory\n");
	return 1;
}

static int spikes(int n, double ms, double gib, double base)
{
	if (begin((unsigned)(n * (1.3 + ms / 1e3) + 30)))
		return 1;
	note("# pid %d", (int)getpid());
	struct blk b = {0, 0}, spike;
	if (base > 0 && alloc(&b, (size_t)(base * (double)GIB)) != 0)
		note("# base refused");
	pause_ms(1000);
	told("base");
	unsigned seed = 12345;
	double next = mono();
	note("# spike N alloc-began alloc-ended free-began free-ended bytes answer");
	for (int i = 1; i <= n; i++) {
		size_t size = (size_t)((gib + 0.25 * i) * (double)GIB); // each is higher than the one before
		spike = (struct blk){0, size};
		double t[4];
		t[0] = now();
		int answer = p_cuMemAlloc_v2(&spike.at, size);
		t[1] = now();
		if (answer == 0)
			pause_ms(ms);
		t[2] = now();
		if (answer == 0)
			p_cuMemFree_v2(spike.at);
		t[3] = now();
		note("spike %d %.6f %.6f %.6f %.6f %zu %d", i, t[0], t[1], t[2], t[3], size, answer);
		seed = seed * 1664525u + 1013904223u;
		next += 0.7 + 0.6 * (double)(seed >> 8) / (double)(1 << 24);
		double left = next - mono();
		if (left > 0)
			pause_ms(left * 1e3);
		else
			next = mono();
	}
	drop(&b);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int rate(double per_second, double seconds)
{
	if (begin((unsigned)seconds + 30) || per_second <= 0)
		return 1;
	note("# pid %d", (int)getpid());
	size_t most = (size_t)(per_second * seconds) + 1, n = 0, failed = 0;
	double *took = calloc(most, sizeof *took), began = mono();
	while (took && n < most) {
		double left = began + (double)n / per_second - mono();
		if (mono() - began >= seconds)
			break;
		if (left > 0)
			pause_ms(left * 1e3);
		CUdeviceptr at = 0;
		double t = mono();
		if (p_cuMemAlloc_v2(&at, 2 * MIB) == 0)
			p_cuMemFree_v2(at);
		else
			failed++;
		took[n++] = mono() - t;
	}
	double all = mono() - began;
	if (!n)
		return 1;
	qsort(took, n, sizeof *took, by_size);
	note("rate %.0f pairs %zu calls %zu in %.3f s, %.1f pairs a second, failed %zu: pair median %.2f us p95 %.2f us max %.2f us", per_second, n, 2 * n, all, (double)n / all, failed,
	     took[n / 2] * 1e6, took[n * 95 / 100] * 1e6, took[n - 1] * 1e6);
	free(took);
	return 0;
}

static int timed(long n)
{
	if (begin(300) || n <= 0)
		return 1;
	note("# pid %d", (int)getpid());
	double took[5];
	CUdeviceptr at;
	int failed = 0;
	for (int k = -1; k < 5; k++) { /* the first one is not counted */
		double t = mono();
		for (long i = 0; i < n; i++) {
			failed += p_cuMemAlloc_v2(&at, 2 * MIB) != 0;
			p_cuMemFree_v2(at);
		}
		if (k >= 0)
			took[k] = (mono() - t) * 1e9 / (double)n;
	}
	qsort(took, 5, sizeof *took, by_size);
	note("time cuMemAlloc_v2+cuMemFree_v2 %ld x5: median %.0f ns a pair (%.0f to %.0f), failed %d", n, took[2], took[0], took[4], failed);
	CUstream s = NULL;
	if (!p_cuMemAllocAsync || !p_cuMemFreeAsync || p_cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) != 0) {
		note("# skipped async -1");
		return 0;
	}
	failed = 0;
	for (int k = -1; k < 5; k++) {
		double t = mono();
		for (long i = 0; i < n; i++) {
			failed += p_cuMemAllocAsync(&at, 64 * KIB, s) != 0;
			p_cuMemFreeAsync(at, s);
		}
		if (k >= 0)
			took[k] = (mono() - t) * 1e9 / (double)n;
		p_cuStreamSynchronize(s);
	}
	qsort(took, 5, sizeof *took, by_size);
	note("time cuMemAllocAsync+cuMemFreeAsync %ld x5: median %.0f ns a pair (%.0f to %.0f), failed %d", n, took[2], took[0], took[4], failed);
	return 0;
}

static int hold(double gib, double seconds)
{
	if (begin((unsigned)seconds + 30))
		return 1;
	note("# pid %d", (int)getpid());
	struct blk b;
	int answer = alloc(&b, (size_t)(gib * (double)GIB));
	told("held");
	if (answer)
		return 1;
	pause_ms(seconds * 1e3);
	drop(&b);
	return 0;
}

/* Keeps the GPU busy by writing to its memory. */
static int busy(double seconds)
{
	if (begin((unsigned)seconds + 30))
		return 1;
	note("# pid %d", (int)getpid());
	struct blk b;
	long n = 0;
	if (!p_cuMemsetD8Async || alloc(&b, 4 * GIB) != 0)
		return 1;
	for (double until = mono() + seconds; mono() < until;) {
		for (int i = 0; i < 16; i++, n++)
			if (p_cuMemsetD8Async(b.at, (unsigned char)n, 4 * GIB, NULL) != 0)
				return 1;
		p_cuCtxSynchronize();
	}
	note("busy %ld times 4 GiB", n);
	drop(&b);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "events") == 0)
		return events(argc - 2, argv + 2);
	if (strcmp(what, "child") == 0)
		return be_child();
	if (strcmp(what, "die") == 0 && argc > 2)
		return die(argv[2]);
	if (strcmp(what, "spikes") == 0 && argc > 4)
		return spikes(atoi(argv[2]), atof(argv[3]), atof(argv[4]), argc > 5 ? atof(argv[5]) : 0);
	if (strcmp(what, "rate") == 0 && argc > 3)
		return rate(atof(argv[2]), atof(argv[3]));
	if (strcmp(what, "time") == 0 && argc > 2)
		return timed(atol(argv[2]));
	if (strcmp(what, "hold") == 0 && argc > 3)
		return hold(atof(argv[2]), atof(argv[3]));
	if (strcmp(what, "busy") == 0 && argc > 2)
		return busy(atof(argv[2]));
	if (strcmp(what, "list") == 0) {
		for (int i = 0; i < GROUPS; i++)
			puts(groups[i].name);
		return 0;
	}
	fprintf(stderr, "usage: ask events [GROUP...] | die SIZE | spikes N MS GIB [BASE_GIB] | rate N SECONDS | time N | hold GIB SECONDS | busy SECONDS | list\n");
	return 2;
}
