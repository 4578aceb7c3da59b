/* A program that asks the CUDA driver for memory as allocators do. It reads commands, a line each, and
 * writes what it has asked for and was answered, a line each, so that a test can compare:
 *
 *     FUNCTION BYTES ANSWER DEVICE
 *
 *   device N          the current device of this thread from now on
 *   make N            cuCtxCreate_v2, until pop
 *   set N             cuCtxSetCurrent of a device that was current before; push N   cuCtxPushCurrent_v2; pop   cuCtxPopCurrent_v2
 *   thread            the following commands run in another thread
 *   alloc NAME SIZE   cuMemAlloc_v2          free NAME      cuMemFree_v2
 *   async NAME SIZE   cuMemAllocAsync        freeasync NAME
 *   stream            cuStreamCreate: from now on async asks there, also while another device is current; stream -: no more
 *   managed NAME SIZE                        host SIZE
 *   piece NAME SIZE   cuMemCreate and cuMemMap, its handle is released at once
 *   pieces SIZE N     N of them, that are not said
 *   unpiece NAME      cuMemUnmap
 *   retain NAME OTHER cuMemRetainAllocationHandle of a piece, and release OTHER   cuMemRelease
 *   pitch NAME WIDTH  cuMemAllocPitch_v2 of 1,000 rows
 *   array SIZE        cuArrayCreate_v2, of bytes
 *   fault N           1: nothing is given back and no context made current from now on, for a kernel has failed; what is not, can be later, once it is 0
 *   trim              cuMemPoolTrimTo of the default pool of the current device, to nothing
 *   capture           cuStreamBeginCapture_v2, captured   cuStreamEndCapture
 *   node TYPE         cuGraphAddNode of that type, edges TYPE   cuGraphAddNode_v2
 *   pooled NAME SIZE  from a pool of the current device
 *   at TYPE           from now on piece and pooled ask for memory of this type of place: 1 a device, 2, 3 and 4 the host
 *   torch NAME SIZE   as PyTorch's caching allocator: a whole segment; when refused, what is cached is freed
 *                     and it asks again, then everything cached is freed and it asks a last time
 *   cache NAME        gives NAME to the cache
 *   bfc NAME SIZE     as JAX and TensorFlow: when refused, nine tenths, and so on
 *   fill SIZE         pieces of SIZE until one is refused
 *   rate SIZE N       N allocations a second for one second, each freed at once
 *   time SIZE N       N pairs of cuMemAlloc_v2 and cuMemFree_v2 as fast as can be, and how long one took: time NS
 *   signal NAME SIZE  the next alloc is interrupted by a signal handler that asks for this
 *   jump SIZE         an alloc that a signal handler leaves by a jump
 *   load PATH         goes on with another libcuda
 *   exec PROGRAM      gives way to another program
 *   again             gives way to itself
 *   sleep MS          echo WORD          reset          exit CODE          die
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION(name, ...) static int (*name)(__VA_ARGS__);
#define ALL                                                                            \
	FUNCTION(cuInit, unsigned)                                                     \
	FUNCTION(cuDevicePrimaryCtxRetain, void **, int)                               \
	FUNCTION(cuDevicePrimaryCtxReset_v2, int)                                      \
	FUNCTION(cuCtxSetCurrent, void *)                                              \
	FUNCTION(cuCtxCreate_v2, void **, unsigned, int)                               \
	FUNCTION(cuCtxPushCurrent_v2, void *)                                          \
	FUNCTION(cuCtxPopCurrent_v2, void **)                                          \
	FUNCTION(cuMemAlloc_v2, uint64_t *, size_t)                                    \
	FUNCTION(cuMemAllocManaged, uint64_t *, size_t, unsigned)                      \
	FUNCTION(cuMemAllocAsync, uint64_t *, size_t, void *)                          \
	FUNCTION(cuMemAllocFromPoolAsync, uint64_t *, size_t, void *, void *)          \
	FUNCTION(cuMemPoolCreate, void **, const void *)                               \
	FUNCTION(cuDeviceGetDefaultMemPool, void **, int)                              \
	FUNCTION(cuMemPoolTrimTo, void *, size_t)                                      \
	FUNCTION(cuStreamBeginCapture_v2, void *, int)                                 \
	FUNCTION(cuStreamEndCapture, void *, void **)                                  \
	FUNCTION(cuGraphAddNode, void **, void *, const void *, size_t, const int *)   \
	FUNCTION(cuGraphAddNode_v2, void **, void *, const void *, const void *, size_t, const int *) \
	FUNCTION(cuStreamCreate, void **, unsigned)                                    \
	FUNCTION(cuMemFree_v2, uint64_t)                                               \
	FUNCTION(cuMemFreeAsync, uint64_t, void *)                                     \
	FUNCTION(cuMemCreate, uint64_t *, size_t, const void *, unsigned long long)    \
	FUNCTION(cuMemRelease, uint64_t)                                               \
	FUNCTION(cuMemMap, uint64_t, size_t, size_t, uint64_t, unsigned long long)     \
	FUNCTION(cuMemUnmap, uint64_t, size_t)                                         \
	FUNCTION(cuMemRetainAllocationHandle, uint64_t *, uint64_t)                    \
	FUNCTION(cuMemAllocPitch_v2, uint64_t *, size_t *, size_t, size_t, unsigned)   \
	FUNCTION(cuArrayCreate_v2, uint64_t *, const void *)                           \
	FUNCTION(cuMemHostAlloc, void **, size_t, unsigned)
ALL
#undef FUNCTION

struct named { char name[32]; uint64_t at; size_t size; int cached; };
static struct named all[4096];
static __thread int device = -1;
static __thread int below[8], pushed; /* devices under the current one */
static void *contexts[16];
static void *stream;
static int stream_device, place = 1;
static uint64_t where = 0x600000000000ull;

static struct named *get(const char *name)
{
	for (int i = 0; i < 4096; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static void put(const char *name, uint64_t at, size_t size)
{
	struct named *n = get("");
	if (n) {
		snprintf(n->name, sizeof n->name, "%s", name);
		n->at = at, n->size = size, n->cached = 0;
	}
}

static void told_at(const char *function, size_t n, int answer, int at)
{
	printf("%s %zu %d %d\n", function, n, answer, at);
	fflush(stdout);
}

static void told(const char *function, size_t n, int answer) { told_at(function, n, answer, device); }

static int alloc(const char *name, size_t n)
{
	uint64_t at = 0;
	int answer = cuMemAlloc_v2(&at, n);
	told("cuMemAlloc_v2", n, answer);
	if (answer == 0)
		put(name, at, n);
	return answer;
}

static void uncache(void)
{
	for (int i = 0; i < 4096; i++)
		if (all[i].cached) {
			cuMemFree_v2(all[i].at);
			all[i] = (struct named){0};
		}
}

static void torch(const char *name, size_t n)
{
	for (int i = 0; i < 3 && alloc(name, n) != 0; i++)
		if (i < 2)
			uncache();
}

static void piece(const char *name, size_t n)
{
	struct { int type, handles, at, id; void *win32; uint64_t flags; } prop = {1, 0, place, device, NULL, 0};
	uint64_t handle = 0;
	int answer = cuMemCreate(&handle, n, &prop, 0);
	if (place == 1)
		told("cuMemCreate", n, answer);
	if (answer)
		return;
	cuMemMap(where, n, 0, handle, 0);
	cuMemRelease(handle);
	put(name, where, n);
	where += n;
}

static void pieces(size_t n, long count)
{
	struct { int type, handles, at, id; void *win32; uint64_t flags; } prop = {1, 0, 1, device, NULL, 0};
	while (count-- > 0) {
		uint64_t handle = 0;
		if (cuMemCreate(&handle, n, &prop, 0) == 0)
			cuMemRelease(handle);
	}
}

static void pooled(const char *name, size_t n)
{
	struct { int alloc, handles, at, id; char rest[64]; } props = {1, 0, place, device, {0}};
	static void *pools[5];
	void **pool = &pools[place];
	uint64_t at = 0;
	if (!*pool)
		cuMemPoolCreate(pool, &props);
	int answer = cuMemAllocFromPoolAsync(&at, n, *pool, NULL);
	if (place == 1)
		told("cuMemAllocFromPoolAsync", n, answer);
	if (!answer)
		put(name, at, n);
}

static void pitch(const char *name, size_t width)
{
	enum { HEIGHT = 1000 };
	uint64_t at = 0;
	size_t row = 0;
	int answer = cuMemAllocPitch_v2(&at, &row, width, HEIGHT, 4);
	told("cuMemAllocPitch_v2", (answer ? width : row) * HEIGHT, answer);
	if (!answer)
		put(name, at, row * HEIGHT);
}

static void array(size_t bytes)
{
	struct { size_t width, height; int format; unsigned channels; } of = {bytes, 0, 1, 1};
	uint64_t at = 0;
	cuArrayCreate_v2(&at, &of);
}

static void rate(size_t n, long per_second)
{
	struct timespec began, now;
	clock_gettime(CLOCK_MONOTONIC, &began);
	long done = 0;
	double past = 0;
	while (past < 1) {
		for (; done < (long)(past * per_second); done++) {
			uint64_t at = 0;
			if (cuMemAllocAsync(&at, n, NULL) == 0)
				cuMemFreeAsync(at, NULL);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		past = (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9;
	}
	printf("rate %ld\n", done);
	fflush(stdout);
}

static void timed(size_t n, long pairs)
{
	struct timespec began, now;
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (long i = 0; i < pairs; i++) {
		uint64_t at = 0;
		if (cuMemAlloc_v2(&at, n) == 0)
			cuMemFree_v2(at);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("time %ld\n", ((now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec) / pairs);
	fflush(stdout);
}

static struct { char name[32]; size_t size; sigjmp_buf to; } handler; /* no name: it jumps */

static void interrupted(int unused)
{
	(void)unused;
	if (!handler.name[0])
		siglongjmp(handler.to, 1);
	alloc(handler.name, handler.size);
}

static void interrupt(const char *name, size_t n)
{
	snprintf(handler.name, sizeof handler.name, "%s", name);
	handler.size = n;
	signal(SIGALRM, interrupted);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50000}}, NULL);
}

static void jump(size_t n)
{
	uint64_t at;
	interrupt("", 0);
	if (sigsetjmp(handler.to, 1) == 0)
		cuMemAlloc_v2(&at, n);
}

static void *run(void *line);
static char **self; /* how it was called */

static int load(const char *path)
{
	void *cuda = dlopen(path, RTLD_NOW);
	if (!cuda) {
		fprintf(stderr, "play: %s\n", dlerror());
		return 1;
	}
#define FUNCTION(name, ...) *(void **)&name = dlsym(cuda, #name);
	ALL
	cuInit(0);
	return 0;
}

static int command(char *line)
{
	char word[32] = "", name[32] = "", other[32] = "";
	line[strcspn(line, "\n")] = 0;
	int words = sscanf(line, "%31s %31s %31s", word, name, other);
	unsigned long long n = strtoull(words < 3 ? name : other, NULL, 10);
	struct named *it = words > 1 ? get(name) : NULL;
	uint64_t at = 0;
	if (strcmp(word, "device") == 0) {
		void *context = NULL;
		device = (int)n;
		cuDevicePrimaryCtxRetain(&context, device);
		contexts[device & 15] = context;
		cuCtxSetCurrent(context);
		printf("device %d\n", device);
		fflush(stdout);
	} else if (strcmp(word, "set") == 0) {
		if (cuCtxSetCurrent(contexts[n & 15]) == 0)
			device = (int)n;
	} else if (strcmp(word, "push") == 0 && pushed < 8) {
		if (cuCtxPushCurrent_v2(contexts[n & 15]) == 0)
			below[pushed++] = device, device = (int)n;
	} else if (strcmp(word, "make") == 0 && pushed < 8) {
		void *context;
		if (cuCtxCreate_v2(&context, 0, (int)n) == 0)
			below[pushed++] = device, device = (int)n;
	} else if (strcmp(word, "pop") == 0 && pushed) {
		void *context;
		if (cuCtxPopCurrent_v2(&context) == 0)
			device = below[--pushed];
	} else if (strcmp(word, "alloc") == 0) {
		alloc(name, n);
	} else if (strcmp(word, "torch") == 0) {
		torch(name, n);
	} else if (strcmp(word, "cache") == 0 && it) {
		it->cached = 1;
	} else if (strcmp(word, "free") == 0 && it) {
		if (cuMemFree_v2(it->at) == 0)
			*it = (struct named){0};
	} else if (strcmp(word, "async") == 0) {
		int answer = cuMemAllocAsync(&at, n, stream);
		told_at("cuMemAllocAsync", n, answer, stream ? stream_device : device);
		if (!answer)
			put(name, at, n);
	} else if (strcmp(word, "stream") == 0) {
		stream = NULL;
		if (words == 1)
			cuStreamCreate(&stream, 0);
		stream_device = device;
	} else if (strcmp(word, "at") == 0) {
		place = n >= 1 && n <= 4 ? (int)n : 1;
	} else if (strcmp(word, "freeasync") == 0 && it) {
		if (cuMemFreeAsync(it->at, NULL) == 0)
			*it = (struct named){0};
	} else if (strcmp(word, "managed") == 0) {
		int answer = cuMemAllocManaged(&at, n, 1);
		told("cuMemAllocManaged", n, answer);
		if (!answer)
			put(name, at, n);
	} else if (strcmp(word, "host") == 0) {
		void *p;
		cuMemHostAlloc(&p, n, 0);
	} else if (strcmp(word, "piece") == 0) {
		piece(name, n);
	} else if (strcmp(word, "pieces") == 0) {
		pieces(strtoull(name, NULL, 10), (long)n);
	} else if (strcmp(word, "unpiece") == 0 && it) {
		if (cuMemUnmap(it->at, it->size) == 0)
			*it = (struct named){0};
	} else if (strcmp(word, "retain") == 0 && it) {
		if (cuMemRetainAllocationHandle(&at, it->at) == 0)
			put(other, at, it->size);
	} else if (strcmp(word, "release") == 0 && it) {
		if (cuMemRelease(it->at) == 0)
			*it = (struct named){0};
	} else if (strcmp(word, "pitch") == 0) {
		pitch(name, n);
	} else if (strcmp(word, "array") == 0) {
		array(n);
	} else if (strcmp(word, "fault") == 0) {
		setenv("FAKECUDA_FAULT", name, 1);
	} else if (strcmp(word, "trim") == 0) {
		void *pool = NULL;
		if (cuDeviceGetDefaultMemPool(&pool, device) == 0)
			cuMemPoolTrimTo(pool, 0);
	} else if (strcmp(word, "capture") == 0) {
		cuStreamBeginCapture_v2(stream, 0);
	} else if (strcmp(word, "captured") == 0) {
		void *graph = NULL;
		cuStreamEndCapture(stream, &graph);
	} else if (strcmp(word, "node") == 0) {
		int params[64] = {(int)n};
		cuGraphAddNode(NULL, NULL, NULL, 0, params);
	} else if (strcmp(word, "edges") == 0) {
		int params[64] = {(int)n};
		cuGraphAddNode_v2(NULL, NULL, NULL, NULL, 0, params);
	} else if (strcmp(word, "pooled") == 0) {
		pooled(name, n);
	} else if (strcmp(word, "bfc") == 0) {
		while (n > 1 << 20 && alloc(name, n) != 0)
			n = n / 10 * 9;
	} else if (strcmp(word, "fill") == 0) {
		while (alloc("filled", n) == 0)
			;
	} else if (strcmp(word, "rate") == 0) {
		rate(strtoull(name, NULL, 10), (long)n);
	} else if (strcmp(word, "time") == 0) {
		timed(strtoull(name, NULL, 10), (long)n);
	} else if (strcmp(word, "signal") == 0) {
		interrupt(name, n);
	} else if (strcmp(word, "jump") == 0) {
		jump(n);
	} else if (strcmp(word, "load") == 0) {
		load(line + strlen("load "));
	} else if (strcmp(word, "exec") == 0) {
		execlp(name, name, "1", NULL);
	} else if (strcmp(word, "again") == 0) {
		execv(self[0], self);
	} else if (strcmp(word, "sleep") == 0) {
		usleep((unsigned)n * 1000);
	} else if (strcmp(word, "echo") == 0) {
		printf("%s\n", name);
		fflush(stdout);
	} else if (strcmp(word, "reset") == 0) {
		cuDevicePrimaryCtxReset_v2(device);
	} else if (strcmp(word, "exit") == 0) {
		exit((int)n);
	} else if (strcmp(word, "die") == 0) {
		kill(getpid(), SIGKILL);
	}
	return strcmp(word, "thread") == 0;
}

static void *run(void *unused)
{
	(void)unused;
	static char line[256];
	while (fgets(line, sizeof line, stdin))
		if (command(line)) {
			pthread_t other;
			pthread_create(&other, NULL, run, NULL);
			pthread_join(other, NULL);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	self = argv;
	setvbuf(stdin, NULL, _IONBF, 0); /* what comes after "again" is not read before */
	if (load(argc > 1 ? argv[1] : "libcuda.so.1"))
		return 1;
	run(NULL);
	return 0;
}
