/* A libcuda.so.1 without a GPU: memory is only counted. It has the functions that programs ask for
 * memory with, in the calling convention of the CUDA driver API, and refuses what does not fit.
 *
 *   FAKECUDA_DEVICES   how many devices there are (2)
 *   FAKECUDA_CAPACITY  bytes of each (8 GiB)
 *   FAKECUDA_CONTEXT   bytes that a context takes (0)
 *   FAKECUDA_SLOW      seconds that cuMemAlloc_v2 takes (0)
 *   FAKECUDA_LINGER    milliseconds that giving memory back, or to reset a device, takes (0)
 *   FAKECUDA_FAULT     a kernel has failed: nothing is given back any more, and no context is made current (0)
 *   FAKECUDA_NESTED    cuMemAllocAsync calls cuMemAllocFromPoolAsync, and cuCtxCreate_v2 cuCtxPushCurrent_v2 (0)
 *   FAKECUDA_PIECES    cuMemAlloc_v2 and cuMemFree_v2 are made of cuMemCreate, cuMemMap, cuMemRelease and cuMemUnmap (0)
 *   FAKECUDA_SHARED    file in which all programs share the devices, and which the fake NVML reads
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared.h"

typedef int Result;
typedef int Dev;
typedef uint64_t Ptr;

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, ILLEGAL_ADDRESS = 700 };
enum { ON_DEVICE = 1 }; /* others are places of the host */
enum { MAX_DEVICES = 16, MAX_BLOCKS = 1 << 17, DEPTH = 16 };

#define API __attribute__((visibility("default"), noinline)) Result
#define POOL_STEP (32ull << 20)
#define PITCH 512

struct location { int type, id; };
struct allocation_prop { int type, handles; struct location at; void *win32; uint64_t flags; };
struct pool_props { int alloc, handles; struct location at; char rest[64]; };

struct context { Dev dev; bool primary; uint64_t own; };
struct pool { Dev dev; uint64_t held, used; };
struct stream { Dev dev; };
struct block { Ptr at; uint64_t size; Dev dev; struct pool *pool; int refs; struct context *ctx; bool counted; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared *shared, alone;
static int devices = 2;
static struct context primary[MAX_DEVICES];
static struct pool default_pool[MAX_DEVICES];
static struct block *blocks;
static uint64_t next_address = 0x7f4000000000ull;
static __thread struct context *stack[DEPTH];
static __thread int depth;

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void start(void)
{
	if (shared)
		return;
	devices = (int)number("FAKECUDA_DEVICES", 2);
	blocks = calloc(MAX_BLOCKS, sizeof *blocks);
	shared = &alone;
	const char *path = getenv("FAKECUDA_SHARED");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (fd >= 0 && ftruncate(fd, sizeof *shared) == 0) {
		void *at = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at != MAP_FAILED)
			shared = at;
		close(fd);
	}
	shared->capacity = number("FAKECUDA_CAPACITY", 8ull << 30);
	shared->rows = SHARED_ROWS;
	for (Dev d = 0; d < MAX_DEVICES; d++)
		primary[d] = (struct context){.dev = d, .primary = true}, default_pool[d].dev = d;
}

static void enter(void)
{
	pthread_mutex_lock(&lock);
	start();
	while (__sync_lock_test_and_set(&shared->lock, 1))
		usleep(1);
}

static Result leave(Result r)
{
	__sync_lock_release(&shared->lock);
	pthread_mutex_unlock(&lock);
	return r;
}

/* The row of this process on a device. Those of processes that are gone are taken over. */
static struct shared_row *row(Dev dev)
{
	struct shared_row *empty = NULL;
	for (int i = 0; i < SHARED_ROWS; i++) {
		struct shared_row *r = &shared->row[i];
		if (r->pid && kill(r->pid, 0) != 0)
			*r = (struct shared_row){0};
		if (r->pid == getpid() && r->device == dev)
			return r;
		if (!r->pid && !empty)
			empty = r;
	}
	if (empty)
		*empty = (struct shared_row){getpid(), dev, 0};
	return empty;
}

static bool reserve(Dev dev, uint64_t n)
{
	struct shared_row *mine = row(dev);
	uint64_t used = 0;
	for (int i = 0; i < SHARED_ROWS; i++)
		if (shared->row[i].pid && shared->row[i].device == dev)
			used += shared->row[i].bytes;
	if (!mine || n > shared->capacity || used > shared->capacity - n)
		return false;
	mine->bytes += n;
	return true;
}

static void unreserve(Dev dev, uint64_t n)
{
	struct shared_row *mine = row(dev);
	if (mine)
		mine->bytes -= n < mine->bytes ? n : mine->bytes;
}

static struct context *current(void) { return depth > 0 ? stack[depth - 1] : NULL; }

/* Where to begin to look for a block: it is there or soon after. */
static struct block *slot(Ptr at, int i) { return &blocks[((at >> 21) + i) % MAX_BLOCKS]; }

static struct block *find(Ptr at)
{
	for (int i = 0; i < MAX_BLOCKS; i++)
		if (slot(at, i)->refs && slot(at, i)->at == at)
			return slot(at, i);
	return NULL;
}

static Result give(Ptr *out, uint64_t n, Dev dev, struct pool *pool, bool counted)
{
	if (!out || !n)
		return INVALID_VALUE;
	if (dev < 0 || dev >= devices)
		return INVALID_CONTEXT;
	int i = 0;
	for (; i < MAX_BLOCKS && slot(next_address, i)->refs; i++)
		;
	if (i == MAX_BLOCKS)
		return OUT_OF_MEMORY;
	if (pool && pool->used + n > pool->held) {
		uint64_t more = (pool->used + n - pool->held + POOL_STEP - 1) / POOL_STEP * POOL_STEP;
		if (!reserve(dev, more))
			return OUT_OF_MEMORY;
		pool->held += more;
	}
	if (!pool && counted && !reserve(dev, n))
		return OUT_OF_MEMORY;
	if (pool)
		pool->used += n;
	struct block *b = slot(next_address, i);
	*b = (struct block){next_address, n, dev, pool, 1, pool ? NULL : current(), counted};
	next_address += (n + 0x1fffff) & ~0x1fffffull;
	*out = b->at;
	return SUCCESS;
}

static Result drop(Ptr at)
{
	struct block *b = find(at);
	if (!b)
		return at ? INVALID_VALUE : SUCCESS;
	if (--b->refs)
		return SUCCESS;
	if (b->pool)
		b->pool->used -= b->size;
	else if (b->counted)
		unreserve(b->dev, b->size);
	return SUCCESS;
}

/* Memory of the host, which has as much as a device. */
static Result give_host(Ptr *out, uint64_t n)
{
	return n > shared->capacity ? OUT_OF_MEMORY : give(out, n, 0, NULL, false);
}

API cuInit(unsigned flags)
{
	enter();
	return leave(flags ? INVALID_VALUE : SUCCESS);
}

API cuDeviceGetCount(int *n)
{
	enter();
	*n = devices;
	return leave(SUCCESS);
}

/* ---- contexts --------------------------------------------------------------------------- */

static bool born(struct context *c)
{
	uint64_t own = number("FAKECUDA_CONTEXT", 0);
	if (c->own || !own)
		return true;
	if (!reserve(c->dev, own))
		return false;
	c->own = own;
	return true;
}

/* What cuMemCreate gives, and pools, are of no context. */
static void end(struct context *c)
{
	for (int i = 0; i < MAX_BLOCKS; i++)
		if (blocks[i].refs && blocks[i].ctx == c) {
			blocks[i].refs = 1;
			drop(blocks[i].at);
		}
	unreserve(c->dev, c->own);
	c->own = 0;
}

API cuDevicePrimaryCtxRetain(struct context **out, Dev dev)
{
	enter();
	if (dev < 0 || dev >= devices)
		return leave(INVALID_VALUE);
	if (!born(&primary[dev]))
		return leave(OUT_OF_MEMORY);
	*out = &primary[dev];
	return leave(SUCCESS);
}

static void linger(void) { usleep((unsigned)number("FAKECUDA_LINGER", 0) * 1000); }

API cuDevicePrimaryCtxReset_v2(Dev dev)
{
	linger();
	enter();
	end(&primary[dev]);
	return leave(SUCCESS);
}

API cuCtxPushCurrent_v2(struct context *c);

API cuCtxCreate_v2(struct context **out, unsigned flags, Dev dev)
{
	(void)flags;
	enter();
	struct context *c = calloc(1, sizeof *c);
	c->dev = dev;
	if (dev < 0 || dev >= devices || !born(c))
		return leave(INVALID_VALUE);
	*out = c;
	if (number("FAKECUDA_NESTED", 0))
		cuCtxPushCurrent_v2(c);
	else if (depth < DEPTH)
		stack[depth++] = c;
	return leave(SUCCESS);
}

API cuCtxDestroy_v2(struct context *c)
{
	enter();
	end(c);
	if (current() == c)
		depth--;
	return leave(SUCCESS);
}

static bool failed(void) { return number("FAKECUDA_FAULT", 0); }

API cuCtxSetCurrent(struct context *c)
{
	if (failed())
		return ILLEGAL_ADDRESS;
	if (depth == 0)
		depth = 1;
	stack[depth - 1] = c;
	return SUCCESS;
}

API cuCtxPushCurrent_v2(struct context *c)
{
	if (failed())
		return ILLEGAL_ADDRESS;
	if (depth < DEPTH)
		stack[depth++] = c;
	return SUCCESS;
}

API cuCtxPopCurrent_v2(struct context **c)
{
	if (failed())
		return ILLEGAL_ADDRESS;
	if (c)
		*c = current();
	if (depth > 0)
		depth--;
	return SUCCESS;
}

/* ---- memory ----------------------------------------------------------------------------- */

static Dev here(void) { return current() ? current()->dev : -1; }

static Result alloc_piece(Ptr *p, size_t n);
static Result free_piece(Ptr p);

API cuMemAlloc_v2(Ptr *p, size_t n)
{
	if (number("FAKECUDA_PIECES", 0))
		return alloc_piece(p, n);
	sleep((unsigned)number("FAKECUDA_SLOW", 0));
	enter();
	return leave(give(p, n, here(), NULL, true));
}

API cuMemAllocPitch_v2(Ptr *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
	(void)element;
	enter();
	*pitch = (width + PITCH - 1) / PITCH * PITCH;
	return leave(give(p, *pitch * height, here(), NULL, true));
}

API cuMemAllocManaged(Ptr *p, size_t n, unsigned flags)
{
	(void)flags;
	enter();
	return leave(give(p, n, here(), NULL, false));
}

/* What an application calls to give memory back. */
static Result take(Ptr p)
{
	if (failed())
		return ILLEGAL_ADDRESS;
	linger();
	enter();
	return leave(drop(p));
}

API cuMemFree_v2(Ptr p) { return number("FAKECUDA_PIECES", 0) ? free_piece(p) : take(p); }

struct array_descriptor { size_t width, height; int format; unsigned channels; };
struct array_descriptor_3d { size_t width, height, depth; int format; unsigned channels, flags; };

/* Formats of one byte only. */
API cuArrayCreate_v2(Ptr *out, const struct array_descriptor *d)
{
	enter();
	return leave(give(out, d->width * (d->height ? d->height : 1) * d->channels, here(), NULL, true));
}

API cuArray3DCreate_v2(Ptr *out, const struct array_descriptor_3d *d)
{
	enter();
	return leave(give(out, d->width * (d->height ? d->height : 1) * (d->depth ? d->depth : 1) * d->channels, here(), NULL, true));
}

API cuArrayDestroy(Ptr array) { return take(array); }

/* Where a stream is: 0, 1 and 2 are those that each context has by itself. */
static Dev stream_at(const struct stream *s) { return (uintptr_t)s <= 2 ? here() : s->dev; }

API cuStreamCreate(struct stream **out, unsigned flags)
{
	(void)flags;
	*out = calloc(1, sizeof **out);
	(*out)->dev = here();
	return (*out)->dev < 0 ? INVALID_CONTEXT : SUCCESS;
}

API cuStreamCreateWithPriority(struct stream **out, unsigned flags, int priority)
{
	(void)priority;
	return cuStreamCreate(out, flags);
}

static Result give_async(Ptr *p, size_t n, const struct stream *stream)
{
	enter();
	Dev dev = stream_at(stream);
	return leave(give(p, n, dev, dev < 0 ? NULL : &default_pool[dev], true));
}

API cuMemAllocFromPoolAsync(Ptr *p, size_t n, struct pool *pool, void *stream);

API cuMemAllocAsync(Ptr *p, size_t n, void *stream)
{
	if (number("FAKECUDA_NESTED", 0) && stream_at(stream) >= 0)
		return cuMemAllocFromPoolAsync(p, n, &default_pool[stream_at(stream)], stream);
	return give_async(p, n, stream);
}

API cuMemAllocAsync_ptsz(Ptr *p, size_t n, void *stream) { return give_async(p, n, stream); }

API cuMemAllocFromPoolAsync(Ptr *p, size_t n, struct pool *pool, void *stream)
{
	(void)stream;
	enter();
	return leave(pool->dev < 0 ? give_host(p, n) : give(p, n, pool->dev, pool, true));
}

API cuMemFreeAsync(Ptr p, void *stream)
{
	(void)stream;
	return take(p);
}

API cuDeviceGetDefaultMemPool(struct pool **out, Dev dev)
{
	enter();
	*out = &default_pool[dev];
	return leave(SUCCESS);
}

API cuMemPoolCreate(struct pool **out, const struct pool_props *props)
{
	enter();
	*out = calloc(1, sizeof **out);
	(*out)->dev = props->at.type == ON_DEVICE ? props->at.id : -1;
	return leave(SUCCESS);
}

API cuMemPoolTrimTo(struct pool *pool, size_t keep)
{
	enter();
	uint64_t stays = pool->used > keep ? pool->used : keep;
	if (pool->held > stays) {
		unreserve(pool->dev, pool->held - stays);
		pool->held = stays;
	}
	return leave(SUCCESS);
}

/* ---- graphs: nothing is run, so they take no memory --------------------------------------- */

API cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)stream, (void)mode;
	return SUCCESS;
}

API cuStreamEndCapture(void *stream, void **graph)
{
	(void)stream, (void)graph;
	return SUCCESS;
}

API cuGraphAddNode(void **node, void *graph, const void *after, size_t n, const int *params)
{
	(void)node, (void)graph, (void)after, (void)n;
	return params ? SUCCESS : INVALID_VALUE;
}

API cuGraphAddNode_v2(void **node, void *graph, const void *after, const void *edges, size_t n, const int *params)
{
	(void)edges;
	return cuGraphAddNode(node, graph, after, n, params);
}

/* ---- pieces ------------------------------------------------------------------------------ */

API cuMemCreate(Ptr *handle, size_t n, const struct allocation_prop *prop, unsigned long long flags)
{
	(void)flags;
	enter();
	Result answer = prop->at.type == ON_DEVICE ? give(handle, n, prop->at.id, NULL, true) : give_host(handle, n);
	if (answer == SUCCESS)
		find(*handle)->ctx = NULL;
	return leave(answer);
}

API cuMemRelease(Ptr handle) { return take(handle); }

/* A mapping is known by its address; its handle is what it holds. */
static struct { Ptr at, handle; uint64_t size; } mapped[MAX_BLOCKS];

API cuMemMap(Ptr at, size_t n, size_t offset, Ptr handle, unsigned long long flags)
{
	(void)offset, (void)flags;
	enter();
	struct block *b = find(handle);
	for (int i = 0; b && i < MAX_BLOCKS; i++)
		if (!mapped[i].size) {
			mapped[i].at = at, mapped[i].handle = handle, mapped[i].size = n;
			b->refs++;
			return leave(SUCCESS);
		}
	return leave(INVALID_VALUE);
}

API cuMemRetainAllocationHandle(Ptr *handle, Ptr at)
{
	enter();
	for (int i = 0; i < MAX_BLOCKS; i++)
		if (mapped[i].size && at >= mapped[i].at && at - mapped[i].at < mapped[i].size) {
			*handle = mapped[i].handle;
			find(*handle)->refs++;
			return leave(SUCCESS);
		}
	return leave(INVALID_VALUE);
}

API cuMemUnmap(Ptr at, size_t n)
{
	if (failed())
		return ILLEGAL_ADDRESS;
	enter();
	for (int i = 0; i < MAX_BLOCKS; i++)
		if (mapped[i].size && mapped[i].at >= at && mapped[i].at < at + n) {
			drop(mapped[i].handle);
			mapped[i].size = 0;
		}
	return leave(SUCCESS);
}

static Result alloc_piece(Ptr *p, size_t n)
{
	static Ptr next = 0x500000000000ull;
	struct allocation_prop prop = {.type = 1, .at = {ON_DEVICE, here()}};
	Ptr handle = 0;
	n = (n + 0x1fffff) & ~0x1fffffull;
	Result r = cuMemCreate(&handle, n, &prop, 0);
	if (r != SUCCESS)
		return r;
	*p = __sync_fetch_and_add(&next, n);
	cuMemMap(*p, n, 0, handle, 0);
	return cuMemRelease(handle);
}

static Result free_piece(Ptr p)
{
	for (int i = 0; i < MAX_BLOCKS; i++)
		if (mapped[i].size && mapped[i].at == p)
			return cuMemUnmap(p, mapped[i].size);
	return INVALID_VALUE;
}

API cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
	(void)flags;
	return (*p = malloc(n < 4096 ? n : 4096)) ? SUCCESS : OUT_OF_MEMORY;
}

API cuMemFreeHost(void *p)
{
	free(p);
	return SUCCESS;
}
