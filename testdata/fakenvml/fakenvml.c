/*
 * A fake libnvidia-ml.so.1 for tests: it plays a scenario file instead of asking a driver.
 *
 *     scenario file ── load() ──> struct scenario (never changed afterwards)
 *                                     │
 *     nvml...() ── enter(): count, latency, hang, failure ── figures at this moment ── leave()
 *
 * README.md beside this file describes the scenario language and the environment variables.
 * Struct layouts, codes and symbol names follow nvml.h as bundled with go-nvml:
 * https://github.com/NVIDIA/go-nvml/blob/v0.13.0-1/pkg/nvml/nvml.h
 *
 * Calls may come from any number of threads. They allocate nothing and take no lock; only
 * Init, Shutdown and the event sets have a mutex.
 *
 * -DOLD_DRIVER=418 or =470 leaves out the symbols that drivers of that age lack.
 * -DFAKENVML_CHECK builds a program that reads scenario files and reports mistakes in them.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../fakecuda/shared.h"

#ifndef OLD_DRIVER
#define DRIVER 580
#elif OLD_DRIVER + 0 < 300 /* -DOLD_DRIVER alone */
#define DRIVER 418
#else
#define DRIVER OLD_DRIVER
#endif

#define API __attribute__((visibility("default"))) Ret
#define NEVER INT64_MAX
#define NOT_AVAILABLE UINT64_MAX
#define MAX_GPUS 256
#define MAX_DEVICES 2048 /* GPUs and MIG instances together */
#define MAX_SETS 16
#define GENERATIONS 32
#define MAX_MIG 7 /* instances a real card can have */

/* ---- codes ------------------------------------------------------------------------------ */

typedef int Ret; /* nvmlReturn_t */

#define CODES(X)                                                                      \
	X(SUCCESS, 0, "Success")                                                      \
	X(UNINITIALIZED, 1, "Uninitialized")                                          \
	X(INVALID_ARGUMENT, 2, "Invalid Argument")                                    \
	X(NOT_SUPPORTED, 3, "Not Supported")                                          \
	X(NO_PERMISSION, 4, "Insufficient Permissions")                               \
	X(ALREADY_INITIALIZED, 5, "Already Initialized")                              \
	X(NOT_FOUND, 6, "Not Found")                                                  \
	X(INSUFFICIENT_SIZE, 7, "Insufficient Size")                                  \
	X(INSUFFICIENT_POWER, 8, "Insufficient External Power")                       \
	X(DRIVER_NOT_LOADED, 9, "Driver Not Loaded")                                  \
	X(TIMEOUT, 10, "Timeout")                                                     \
	X(IRQ_ISSUE, 11, "Interrupt Request Issue")                                   \
	X(LIBRARY_NOT_FOUND, 12, "NVML Shared Library Not Found")                     \
	X(FUNCTION_NOT_FOUND, 13, "Function Not Found")                               \
	X(CORRUPTED_INFOROM, 14, "Corrupted infoROM")                                 \
	X(GPU_IS_LOST, 15, "GPU is lost")                                             \
	X(RESET_REQUIRED, 16, "GPU requires reset")                                   \
	X(OPERATING_SYSTEM, 17, "The operating system has blocked the request")       \
	X(LIB_RM_VERSION_MISMATCH, 18, "RM has detected an NVML/RM version mismatch") \
	X(IN_USE, 19, "In use by another client")                                     \
	X(MEMORY, 20, "Insufficient Memory")                                          \
	X(NO_DATA, 21, "No data")                                                     \
	X(VGPU_ECC_NOT_SUPPORTED, 22, "vGPU ECC not supported")                       \
	X(INSUFFICIENT_RESOURCES, 23, "Insufficient Resources")                       \
	X(FREQ_NOT_SUPPORTED, 24, "Frequency Not Supported")                          \
	X(ARGUMENT_VERSION_MISMATCH, 25, "Argument version mismatch")                 \
	X(DEPRECATED, 26, "Deprecated")                                               \
	X(NOT_READY, 27, "Not Ready")                                                 \
	X(GPU_NOT_FOUND, 28, "GPU not found")                                         \
	X(INVALID_STATE, 29, "Invalid state")                                         \
	X(UNKNOWN, 999, "Unknown Error")

#define X(name, value, text) name = value,
enum code { CODES(X) };
#undef X

#define X(name, value, text) {#name, value, text},
static const struct {
	const char *name;
	Ret value;
	const char *text;
} codes[] = {CODES(X)};
#undef X

/* ---- structs of nvml.h ------------------------------------------------------------------ */

typedef struct handle *Device; /* nvmlDevice_t is a struct of this one pointer: same ABI */

struct memory_v1 {
	uint64_t total, free, used;
};
struct memory_v2 {
	uint32_t version;
	uint64_t total, reserved, free, used;
};
struct utilization {
	uint32_t gpu, memory;
};
struct process_v1 {
	uint32_t pid;
	uint64_t used;
};
struct process_v2 {
	uint32_t pid;
	uint64_t used;
	uint32_t gi, ci;
};
struct pci {
	char legacy[16];
	uint32_t domain, bus, device, id;
	uint32_t subsystem; /* from _v2 on; four reserved words followed in _v2 */
	char bus_id[32];    /* from _v3 on */
};
struct event_v1 {
	Device device;
	uint64_t type, data;
};
struct event_v2 {
	Device device;
	uint64_t type, data;
	uint32_t gi, ci;
};
struct accounting {
	uint32_t gpu, memory;
	uint64_t max_memory, time, start;
	uint32_t running, reserved[5];
};
struct process_sample {
	uint32_t pid;
	uint64_t time;
	uint32_t sm, mem, enc, dec;
};
struct attributes {
	uint32_t sm, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices;
	uint64_t memory_mib;
};
struct addressing {
	uint32_t version, value;
};
struct field {
	uint32_t id, scope;
	int64_t timestamp, latency;
	uint32_t type;
	Ret ret;
	uint64_t value;
};

_Static_assert(sizeof(struct memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct process_v2) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct pci) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct event_v2) == 32, "nvmlEventData_t");
_Static_assert(sizeof(struct accounting) == 56, "nvmlAccountingStats_t");
_Static_assert(sizeof(struct process_sample) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct attributes) == 40, "nvmlDeviceAttributes_t");
_Static_assert(sizeof(struct field) == 40, "nvmlFieldValue_t");

/* ---- functions by number ---------------------------------------------------------------- */

#define FUNCS(X)                                                                                  \
	X(nvmlInit) X(nvmlInit_v2) X(nvmlInitWithFlags) X(nvmlShutdown) X(nvmlErrorString)         \
	X(nvmlSystemGetDriverVersion) X(nvmlSystemGetNVMLVersion) X(nvmlSystemGetProcessName)      \
	X(nvmlSystemGetCudaDriverVersion) X(nvmlSystemGetCudaDriverVersion_v2)                     \
	X(nvmlDeviceGetCount) X(nvmlDeviceGetCount_v2) X(nvmlDeviceGetHandleByIndex)               \
	X(nvmlDeviceGetHandleByIndex_v2) X(nvmlDeviceGetHandleByUUID)                              \
	X(nvmlDeviceGetHandleByPciBusId) X(nvmlDeviceGetHandleByPciBusId_v2)                       \
	X(nvmlDeviceGetName) X(nvmlDeviceGetUUID) X(nvmlDeviceGetSerial)                           \
	X(nvmlDeviceGetVbiosVersion) X(nvmlDeviceGetPciInfo) X(nvmlDeviceGetPciInfo_v2)            \
	X(nvmlDeviceGetPciInfo_v3) X(nvmlDeviceGetCudaComputeCapability) X(nvmlDeviceGetIndex)     \
	X(nvmlDeviceGetMemoryInfo) X(nvmlDeviceGetMemoryInfo_v2) X(nvmlDeviceGetBAR1MemoryInfo)    \
	X(nvmlDeviceGetUtilizationRates) X(nvmlDeviceGetTemperature)                               \
	X(nvmlDeviceGetTemperatureThreshold) X(nvmlDeviceGetFanSpeed) X(nvmlDeviceGetFanSpeed_v2)  \
	X(nvmlDeviceGetNumFans) X(nvmlDeviceGetPowerUsage) X(nvmlDeviceGetEnforcedPowerLimit)      \
	X(nvmlDeviceGetPowerManagementLimit) X(nvmlDeviceGetPowerManagementDefaultLimit)           \
	X(nvmlDeviceGetPowerManagementLimitConstraints) X(nvmlDeviceGetTotalEnergyConsumption)     \
	X(nvmlDeviceGetClockInfo) X(nvmlDeviceGetMaxClockInfo) X(nvmlDeviceGetClock)               \
	X(nvmlDeviceGetPerformanceState) X(nvmlDeviceGetPowerState)                                \
	X(nvmlDeviceGetCurrentClocksThrottleReasons) X(nvmlDeviceGetCurrentClocksEventReasons)     \
	X(nvmlDeviceGetSupportedClocksThrottleReasons) X(nvmlDeviceGetSupportedClocksEventReasons) \
	X(nvmlDeviceGetCurrPcieLinkGeneration) X(nvmlDeviceGetCurrPcieLinkWidth)                   \
	X(nvmlDeviceGetMaxPcieLinkGeneration) X(nvmlDeviceGetMaxPcieLinkWidth)                     \
	X(nvmlDeviceGetGpuMaxPcieLinkGeneration) X(nvmlDeviceGetPcieThroughput)                    \
	X(nvmlDeviceGetPcieReplayCounter) X(nvmlDeviceGetEncoderUtilization)                       \
	X(nvmlDeviceGetDecoderUtilization) X(nvmlDeviceGetEccMode) X(nvmlDeviceGetTotalEccErrors)  \
	X(nvmlDeviceGetPersistenceMode) X(nvmlDeviceGetComputeMode) X(nvmlDeviceGetDisplayMode)    \
	X(nvmlDeviceGetDisplayActive) X(nvmlDeviceGetArchitecture) X(nvmlDeviceGetBrand)           \
	X(nvmlDeviceGetMinorNumber) X(nvmlDeviceGetFieldValues) X(nvmlDeviceGetMemoryBusWidth)     \
	X(nvmlDeviceGetAddressingMode)                                                             \
	X(nvmlDeviceGetComputeRunningProcesses) X(nvmlDeviceGetComputeRunningProcesses_v2)         \
	X(nvmlDeviceGetComputeRunningProcesses_v3) X(nvmlDeviceGetGraphicsRunningProcesses)        \
	X(nvmlDeviceGetGraphicsRunningProcesses_v2) X(nvmlDeviceGetGraphicsRunningProcesses_v3)    \
	X(nvmlDeviceGetMPSComputeRunningProcesses) X(nvmlDeviceGetMPSComputeRunningProcesses_v2)   \
	X(nvmlDeviceGetMPSComputeRunningProcesses_v3) X(nvmlDeviceGetProcessUtilization)           \
	X(nvmlDeviceGetAccountingMode) X(nvmlDeviceGetAccountingStats)                             \
	X(nvmlDeviceGetAccountingPids) X(nvmlDeviceGetAccountingBufferSize)                        \
	X(nvmlDeviceGetMigMode) X(nvmlDeviceGetMaxMigDeviceCount)                                  \
	X(nvmlDeviceGetMigDeviceHandleByIndex) X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)     \
	X(nvmlDeviceIsMigDeviceHandle) X(nvmlDeviceGetGpuInstanceId)                               \
	X(nvmlDeviceGetComputeInstanceId) X(nvmlDeviceGetAttributes)                               \
	X(nvmlDeviceGetAttributes_v2) X(nvmlEventSetCreate) X(nvmlEventSetFree)                    \
	X(nvmlEventSetWait) X(nvmlEventSetWait_v2) X(nvmlDeviceRegisterEvents)                     \
	X(nvmlDeviceGetSupportedEventTypes)

#define X(name) F_##name,
enum func { FUNCS(X) NFUNC };
#undef X
#define X(name) #name,
static const char *const func_names[NFUNC] = {FUNCS(X)};
#undef X

/* ---- the scenario ----------------------------------------------------------------------- */

/* Figures of a device that may change with time, by the name the scenario gives them. */
#define FIGURES(X)                                                                         \
	X(UTIL, "util", 1, 0) X(MEMUTIL, "memutil", 1, 0) X(TEMP, "temp", 1, 35)            \
	X(FAN, "fan", 1, 30) X(FANS, "fans", 1, 1) X(POWER, "power", 1000, 70000)           \
	X(LIMIT, "limit", 1000, 700000) X(SM, "sm", 1, 1980) X(MEMCLK, "memclk", 1, 2619)   \
	X(VIDEO, "video", 1, 1545) X(MAXSM, "maxsm", 1, 1980)                               \
	X(MAXMEMCLK, "maxmemclk", 1, 2619) X(PSTATE, "pstate", 1, 0)                        \
	X(THROTTLE, "throttle", 1, 0) X(GEN, "gen", 1, 5) X(WIDTH, "width", 1, 16)          \
	X(MAXGEN, "maxgen", 1, 5) X(MAXWIDTH, "maxwidth", 1, 16) X(RX, "rx", 1, 0)          \
	X(TX, "tx", 1, 0) X(ENC, "enc", 1, 0) X(DEC, "dec", 1, 0) X(ECC, "ecc", 1, 0)       \
	X(CORRECTED, "corrected", 1, 0) X(ECCMODE, "eccmode", 1, 1)                         \
	X(PERSISTENCE, "persistence", 1, 1) X(BRAND, "brand", 1, 14) X(ARCH, "arch", 1, 9)  \
	X(MINOR, "minor", 1, 0) X(EVENTS, "events", 1, 0x1f)                                \
	X(BUSWIDTH, "buswidth", 1, 5120) X(ADDRESSING, "addressing", 1, 1)

#define X(id, name, scale, initial) M_##id,
enum figure { FIGURES(X) NFIGURE };
#undef X
#define X(id, name, scale, initial) {name, scale, initial},
static const struct {
	const char *name;
	double scale;
	uint64_t initial;
} figures[NFIGURE] = {FIGURES(X)};
#undef X

struct step { /* a figure from a moment on; jitter moves it each second */
	int64_t at;
	uint64_t value, jitter;
	bool absent;
};
struct point { /* memory from a moment on, reached within ramp */
	int64_t at, ramp;
	uint64_t value;
};
struct spike {
	int64_t at, width, every;
	uint64_t height, grow, count;
};
struct span { /* a figure during a span of time */
	int64_t from, to;
	uint64_t value;
};
struct raw { /* figures reported as they stand, whatever the rest says */
	int64_t from, to;
	bool has[4];
	uint64_t value[4]; /* total, used, free, reserved */
};

enum { COMPUTE = 1, GRAPHICS = 2, MPS = 4 };

struct process {
	uint32_t pid;
	int type;
	uint64_t memory;
	bool rest, absent; /* memory: what no other process has; not told */
	int64_t start, stop;
	uint32_t sm, mem, enc, dec;
	uint64_t max;
	bool has_max;
	char *name;
};

#define VECTOR(T)         \
	struct {          \
		T *v;     \
		int n, cap; \
	}

struct device {
	int gpu, mig; /* mig is -1 for a whole GPU */
	int parent;   /* its place in devices, -1 for a whole GPU */
	int child[MAX_MIG + 1];
	char *name, *uuid, *serial;
	struct pci pci;
	int major, minor;
	uint64_t total, reserved;
	bool unified, mig_on, mig_capable, aggregate, accounting;
	uint32_t buffer;
	uint32_t gi, ci;
	struct attributes attributes;
	int64_t cycle;
	uint64_t wobble;
	int64_t wobble_every;
	VECTOR(struct step) figure[NFIGURE];
	VECTOR(struct point) curve;
	VECTOR(struct spike) spikes;
	VECTOR(struct span) hidden;
	VECTOR(struct raw) raw;
	VECTOR(struct process) procs;
};

struct range {
	int lo, hi, mig; /* mig -1: the card and all its instances */
};
struct set {
	int n;
	struct range r[64];
};

enum kind { FAIL, LATENCY, HANG, CRASH, INSUFFICIENT };

struct rule {
	enum kind kind;
	char func[80]; /* a glob */
	bool any_gpu;
	struct set gpus;
	int64_t from, to, latency;
	Ret code;
	int how; /* latency: 0 by its length, 1 busy, 2 asleep; crash: 1 by abort, 2 raised, 3 by exit */
};
struct event {
	int64_t at;
	int device;
	uint64_t type, data;
	bool again; /* told at every wait from then on */
};
struct reload {
	int64_t at, down;
	Ret code;
	bool ordered;
	int n, order[MAX_GPUS];
};

struct scenario {
	char *driver, *nvml;
	int cuda;
	bool no_gpu;
	int ngpu, gpu[MAX_GPUS]; /* places in devices */
	VECTOR(struct device) devices;
	VECTOR(struct rule) rules;
	VECTOR(struct event) events;
	VECTOR(struct reload) reloads;
	VECTOR(int) rule_of[NFUNC];
};

/* ---- state ------------------------------------------------------------------------------ */

static struct scenario *scene;
static pthread_mutex_t init_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int refs;       /* Init minus Shutdown */
static atomic_int generation; /* of handles: each new Init voids the old ones */
static atomic_int reloaded;   /* reloads that an Init has followed */
static int64_t start_mono, start_real, shift, frozen = -1;
static const char *stats_path;

static _Atomic uint64_t calls[NFUNC], busy[NFUNC];

/* Handles are addresses within this array, so that Go's runtime sees pointers it need not mind. */
struct handle {
	char byte;
};
static struct handle handles[GENERATIONS][MAX_DEVICES];

struct event_set {
	atomic_bool used;
	pthread_mutex_t mutex;
	int next;
	uint64_t mask[MAX_DEVICES];
	int64_t since[MAX_DEVICES];
};
static struct event_set sets[MAX_SETS] = {[0 ... MAX_SETS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}};

/* ---- time ------------------------------------------------------------------------------- */

#define SECOND 1000000000LL

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static int64_t mono(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Time of the scenario: since the first Init, unless FAKENVML_TIME or FAKENVML_START say otherwise. */
static int64_t scene_time(int64_t mono_ns)
{
	return frozen >= 0 ? frozen : mono_ns - start_mono + shift;
}

static void sleep_ns(int64_t ns)
{
	struct timespec t = {ns / SECOND, ns % SECOND};
	while (nanosleep(&t, &t) && errno == EINTR) /* Go interrupts threads with signals */
		;
}

static uint64_t hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ b * 0xbf58476d1ce4e5b9u ^ c * 0x94d049bb133111ebu;
	h ^= h >> 31;
	h *= 0x7fb5d329728ea185u;
	return h ^ h >> 29;
}

/* ---- figures at a moment ---------------------------------------------------------------- */

static int place(const struct device *d)
{
	return (int)(d - scene->devices.v);
}

static Ret figure(const struct device *d, enum figure m, int64_t t, uint64_t *out)
{
	const struct step *s = NULL;
	for (int i = 0; i < d->figure[m].n; i++)
		if (d->figure[m].v[i].at <= t)
			s = &d->figure[m].v[i];
	if (!s || s->absent)
		return NOT_SUPPORTED;
	*out = s->value;
	if (s->jitter) {
		uint64_t move = hash((uint64_t)place(d), m, (uint64_t)(t / SECOND)) % (2 * s->jitter + 1);
		*out = s->value + move > s->jitter ? s->value + move - s->jitter : 0;
	}
	return SUCCESS;
}

static Ret figure_u32(const struct device *d, enum figure m, int64_t t, uint32_t *out)
{
	uint64_t v;
	Ret r = out ? figure(d, m, t, &v) : INVALID_ARGUMENT;
	if (r == SUCCESS)
		*out = (uint32_t)v;
	return r;
}

static uint64_t curve_at(const struct device *d, int64_t t)
{
	uint64_t before = 0;
	if (d->cycle > 0)
		t %= d->cycle;
	for (int i = d->curve.n - 1; i >= 0; i--) {
		const struct point *p = &d->curve.v[i];
		if (p->at > t)
			continue;
		if (t - p->at >= p->ramp)
			return p->value;
		before = i > 0 ? d->curve.v[i - 1].value : 0;
		double part = (double)(t - p->at) / (double)p->ramp;
		return (uint64_t)((double)before + ((double)p->value - (double)before) * part);
	}
	return before;
}

static uint64_t spike_at(const struct spike *s, int64_t t)
{
	if (t < s->at)
		return 0;
	uint64_t k = s->every > 0 ? (uint64_t)((t - s->at) / s->every) : 0;
	if (k >= s->count || t - s->at - (int64_t)k * s->every >= s->width)
		return 0;
	return s->height + k * s->grow;
}

static uint64_t hidden_at(const struct device *d, int64_t t)
{
	uint64_t sum = 0;
	for (int i = 0; i < d->hidden.n; i++)
		if (t >= d->hidden.v[i].from && t < d->hidden.v[i].to)
			sum += d->hidden.v[i].value;
	return sum;
}

static bool running(const struct process *p, int64_t t)
{
	return t >= p->start && t < p->stop;
}

static uint64_t told_at(const struct device *d, int64_t t)
{
	uint64_t sum = 0;
	for (int i = 0; i < d->procs.n; i++)
		if (running(&d->procs.v[i], t))
			sum += d->procs.v[i].memory;
	return sum;
}

/* What programs on the fake CUDA driver hold: rows of a file that they share. */
static const struct shared *cuda;

static bool cuda_row(const struct device *d, int i)
{
	const struct shared_row *r = &cuda->row[i];
	return d->mig < 0 && r->pid && r->device == d->gpu && kill(r->pid, 0) == 0;
}

static uint64_t cuda_at(const struct device *d)
{
	uint64_t sum = 0;
	for (int i = 0; cuda && i < SHARED_ROWS; i++)
		if (cuda_row(d, i))
			sum += cuda->row[i].bytes;
	return sum;
}

static uint64_t used_at(const struct device *d, int64_t t)
{
	uint64_t used;
	if (d->curve.n)
		used = curve_at(d, t);
	else {
		used = told_at(d, t) + hidden_at(d, t);
		for (int i = 0; d->mig_on && i < MAX_MIG; i++)
			if (d->child[i] >= 0)
				used += used_at(&scene->devices.v[d->child[i]], t);
	}
	uint64_t spikes = 0;
	for (int i = 0; i < d->spikes.n; i++)
		spikes += spike_at(&d->spikes.v[i], t);
	if (d->wobble && !spikes) /* a spike's top is exact */
		used += hash((uint64_t)place(d), 99, (uint64_t)(t / d->wobble_every)) % (d->wobble + 1);
	return used + spikes + cuda_at(d);
}

static uint64_t process_memory_at(const struct device *d, const struct process *p, int64_t t)
{
	if (p->absent)
		return NOT_AVAILABLE;
	if (!p->rest)
		return p->memory;
	uint64_t used = used_at(d, t), gone = told_at(d, t) + hidden_at(d, t), sharers = 0;
	bool first = true;
	for (int i = 0; i < d->procs.n; i++) {
		const struct process *o = &d->procs.v[i];
		if (!o->rest || !running(o, t))
			continue;
		if (o < p)
			first = false;
		sharers++;
	}
	if (used <= gone || !sharers)
		return 0;
	used -= gone;
	return used / sharers + (first ? used % sharers : 0);
}

/* The most memory a process has had up to t. Memory moves in straight lines between the corners
 * looked at here, so nothing between them is larger; wobble is looked at each time it moves. */
static uint64_t process_max_at(const struct device *d, const struct process *p, int64_t t)
{
	uint64_t max = 0;
	if (p->has_max)
		return p->max;
	if (!p->rest || p->absent)
		return process_memory_at(d, p, t);
	int64_t end = t < p->stop ? t : p->stop - 1;
#define LOOK(at)                                                          \
	do {                                                              \
		int64_t when = (at);                                      \
		if (when >= p->start && when <= end) {                    \
			uint64_t m = process_memory_at(d, p, when);       \
			max = m > max ? m : max;                          \
		}                                                         \
	} while (0)
	LOOK(p->start);
	LOOK(end);
	int64_t cycle = d->cycle > 0 ? d->cycle : NEVER;
	for (int64_t base = 0; base <= end; base += cycle) {
		LOOK(base - 1);
		for (int i = 0; i < d->curve.n; i++) {
			LOOK(base + d->curve.v[i].at - 1);
			LOOK(base + d->curve.v[i].at);
			LOOK(base + d->curve.v[i].at + d->curve.v[i].ramp);
		}
		if (cycle == NEVER)
			break;
	}
	for (int i = 0; i < d->spikes.n; i++) {
		const struct spike *s = &d->spikes.v[i];
		int64_t at = s->at;
		for (uint64_t k = 0; k < s->count && at <= end; k++, at += s->every) {
			LOOK(at);
			LOOK(at + s->width - 1);
			if (s->every <= 0)
				break;
		}
	}
	for (int64_t at = 0; d->wobble && at <= end; at += d->wobble_every)
		LOOK(at);
#undef LOOK
	return max;
}

/* ---- reading the scenario --------------------------------------------------------------- */

struct reader {
	struct scenario *s;
	const char *file;
	int line;
	char *word[64];
	bool taken[64];
	int n;
	char error[256];
};

static bool complain(struct reader *r, const char *format, ...)
{
	char text[160];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (!r->error[0])
		snprintf(r->error, sizeof r->error, "%s:%d: %s", r->file, r->line, text);
	return false;
}

#define PUSH(vec, item)                                                                     \
	do {                                                                                \
		if ((vec).n == (vec).cap) {                                                 \
			(vec).cap = (vec).cap ? 2 * (vec).cap : 4;                          \
			(vec).v = realloc((vec).v, (size_t)(vec).cap * sizeof *(vec).v);    \
			if (!(vec).v)                                                       \
				abort();                                                    \
		}                                                                           \
		(vec).v[(vec).n++] = (item);                                                \
	} while (0)

static int hex(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Copies one character of a word, undoing \n \r \t \e \\ \" \xHH. */
static char unescape(const char **in)
{
	const char *p = *in;
	if (*p != '\\' || !p[1]) {
		*in = p + 1;
		return *p;
	}
	*in = p + 2;
	switch (p[1]) {
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	case 'e': return '\033';
	case 'x':
		if (hex(p[2]) >= 0 && hex(p[3]) >= 0) {
			*in = p + 4;
			return (char)(hex(p[2]) * 16 + hex(p[3]));
		}
	}
	return p[1];
}

/* Splits a line, in place, at blanks outside quotes. */
static bool split(struct reader *r, char *line)
{
	const char *in = line;
	char *out = line;
	r->n = 0;
	for (;;) {
		while (*in && isspace((unsigned char)*in))
			in++;
		if (!*in || *in == '#')
			return true;
		if (r->n == 64)
			return complain(r, "more than 64 words");
		r->taken[r->n] = false;
		r->word[r->n++] = out;
		bool quoted = false;
		while (*in && (quoted || !isspace((unsigned char)*in))) {
			if (*in == '"') {
				quoted = !quoted;
				in++;
			} else
				*out++ = unescape(&in);
		}
		if (quoted)
			return complain(r, "quote is not closed");
		if (*in)
			in++;
		*out++ = 0;
	}
}

/* The text of key=text, or NULL. */
static const char *value_of(struct reader *r, const char *key)
{
	size_t n = strlen(key);
	for (int i = 1; i < r->n; i++)
		if (!strncmp(r->word[i], key, n) && r->word[i][n] == '=') {
			r->taken[i] = true;
			return r->word[i] + n + 1;
		}
	return NULL;
}

static bool flag(struct reader *r, const char *key)
{
	for (int i = 1; i < r->n; i++)
		if (!strcmp(r->word[i], key))
			return r->taken[i] = true;
	return false;
}

static bool all_taken(struct reader *r)
{
	for (int i = 1; i < r->n; i++)
		if (!r->taken[i])
			return complain(r, "%s: do not know \"%s\"", r->word[0], r->word[i]);
	return true;
}

struct unit {
	const char *name;
	double factor;
};
static const struct unit time_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {0}};
static const struct unit size_units[] = {{"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.}, {"TiB", 1099511627776.}, {0}};
static const struct unit no_units[] = {{"", 1}, {0}};

static bool parse_number(struct reader *r, const char *text, const struct unit *units, uint64_t *out)
{
	char *end;
	if (!strcmp(text, "max")) {
		*out = UINT64_MAX;
		return true;
	}
	errno = 0;
	uint64_t whole = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && *text != '-' && !*units[0].name) {
		*out = whole;
		return true;
	}
	double v = strtod(text, &end);
	if (end == text || !(v >= 0))
		return complain(r, "\"%s\" is not a number", text);
	for (; units->name; units++)
		if (!strcmp(end, units->name) && v * units->factor < 1.8e19) {
			*out = (uint64_t)(v * units->factor + 0.5);
			return true;
		}
	return complain(r, "\"%s\" has no known unit", text);
}

static bool get_number(struct reader *r, const char *key, const struct unit *units, uint64_t *out)
{
	const char *text = value_of(r, key);
	return !text || parse_number(r, text, units, out);
}

static bool get_time(struct reader *r, const char *key, int64_t *out)
{
	const char *text = value_of(r, key);
	uint64_t v;
	if (!text)
		return true;
	if (!strcmp(text, "0")) {
		*out = 0;
		return true;
	}
	if (!parse_number(r, text, time_units, &v))
		return false;
	*out = v > INT64_MAX ? NEVER : (int64_t)v;
	return true;
}

static bool get_span(struct reader *r, int64_t *from, int64_t *to)
{
	*from = 0;
	*to = NEVER;
	return get_time(r, "from", from) && get_time(r, "to", to);
}

static bool parse_code(struct reader *r, const char *text, Ret *out)
{
	if (!strncmp(text, "NVML_", 5))
		text += 5;
	if (!strncmp(text, "ERROR_", 6))
		text += 6;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (!strcmp(codes[i].name, text)) {
			*out = codes[i].value;
			return true;
		}
	char *end;
	*out = (Ret)strtol(text, &end, 10);
	return (end != text && !*end) || complain(r, "\"%s\" is no return code", text);
}

/* "3", "0-7", "0,2,4-6", "*", and "3.1" for the MIG instance 1 of GPU 3. */
static bool parse_set(struct reader *r, const char *text, struct set *set)
{
	set->n = 0;
	if (!strcmp(text, "*")) {
		set->r[set->n++] = (struct range){0, MAX_GPUS, -1};
		return true;
	}
	for (const char *p = text; *p;) {
		char *end;
		struct range g = {0, 0, -1};
		g.lo = g.hi = (int)strtol(p, &end, 10);
		if (end == p || !isdigit((unsigned char)*p) || set->n == 64)
			return complain(r, "\"%s\" is no list of GPUs", text);
		if (*end == '-')
			g.hi = (int)strtol(p = end + 1, &end, 10);
		if (*end == '.')
			g.mig = (int)strtol(p = end + 1, &end, 10);
		if (end == p || (*end && *end != ',') || g.hi < g.lo || g.hi >= MAX_GPUS)
			return complain(r, "\"%s\" is no list of GPUs", text);
		set->r[set->n++] = g;
		p = *end ? end + 1 : end;
	}
	return set->n > 0 || complain(r, "list of GPUs is missing");
}

/* with_instances: GPU 3 means its MIG instances as well. */
static bool in_set(const struct set *set, const struct device *d, bool with_instances)
{
	for (int i = 0; i < set->n; i++) {
		const struct range *g = &set->r[i];
		if (d->gpu >= g->lo && d->gpu <= g->hi && (g->mig == d->mig || (with_instances && g->mig < 0)))
			return true;
	}
	return false;
}

/* The devices that word 1 names; complains about none. */
static bool targets(struct reader *r, struct set *set)
{
	if (r->n < 2 || !parse_set(r, r->word[1], set))
		return complain(r, "%s: which GPU?", r->word[0]);
	r->taken[1] = true;
	for (int i = 0; i < r->s->devices.n; i++)
		if (in_set(set, &r->s->devices.v[i], false))
			return true;
	return complain(r, "%s: no GPU \"%s\" yet", r->word[0], r->word[1]);
}

#define EACH_TARGET(r, set, d)                                                             \
	for (struct device *d = (r)->s->devices.v; d < (r)->s->devices.v + (r)->s->devices.n; d++) \
		if (in_set(&(set), d, false))

static char *copy(const char *s)
{
	char *c = strdup(s);
	if (!c)
		abort();
	return c;
}

/* Replaces {i} by the GPU's number. */
static char *numbered(const char *text, int i)
{
	const char *at = strstr(text, "{i}");
	char *out;
	if (!at)
		return copy(text);
	if (asprintf(&out, "%.*s%d%s", (int)(at - text), text, i, at + 3) < 0)
		abort();
	return out;
}

static void set_pci(struct device *d, unsigned domain, unsigned bus, unsigned dev, unsigned fn)
{
	struct pci *p = &d->pci;
	p->domain = domain;
	p->bus = bus & 255;
	p->device = dev & 31;
	p->id = 0x233010de;
	p->subsystem = 0x16c110de;
	snprintf(p->legacy, sizeof p->legacy, "%04X:%02X:%02X.%X", domain & 0xffff, p->bus, p->device, fn & 7);
	snprintf(p->bus_id, sizeof p->bus_id, "%08X:%02X:%02X.%X", domain, p->bus, p->device, fn & 7);
}

static void add_step(struct device *d, enum figure m, struct step s)
{
	int i = 0;
	while (i < d->figure[m].n && d->figure[m].v[i].at < s.at)
		i++;
	if (i < d->figure[m].n && d->figure[m].v[i].at == s.at) {
		d->figure[m].v[i] = s;
		return;
	}
	PUSH(d->figure[m], s);
	memmove(d->figure[m].v + i + 1, d->figure[m].v + i, (size_t)(d->figure[m].n - 1 - i) * sizeof s);
	d->figure[m].v[i] = s;
}

static struct device *new_device(struct scenario *s)
{
	struct device d;
	memset(&d, 0, sizeof d);
	d.mig = d.parent = -1;
	for (int i = 0; i <= MAX_MIG; i++)
		d.child[i] = -1;
	d.gi = d.ci = UINT32_MAX;
	d.aggregate = true;
	d.buffer = 4000;
	PUSH(s->devices, d);
	return &s->devices.v[s->devices.n - 1];
}

static struct device *new_gpu(struct scenario *s)
{
	int i = s->ngpu;
	struct device *d = new_device(s);
	s->gpu[s->ngpu++] = s->devices.n - 1;
	d->gpu = i;
	d->name = copy("NVIDIA H100 80GB HBM3");
	if (asprintf(&d->uuid, "GPU-%08x-5eed-4000-8000-%012x", 0x10000000 + i, i) < 0 || asprintf(&d->serial, "165432%07d", i) < 0)
		abort();
	d->major = 9;
	d->total = 81559ull << 20;
	d->reserved = 551ull << 20;
	set_pci(d, 0, 0x10u + (unsigned)i, 0, 0);
	for (int m = 0; m < NFIGURE; m++)
		add_step(d, m, (struct step){.value = m == M_MINOR ? (uint64_t)i : figures[m].initial});
	return d;
}

/* Figures given as name=value, name=value~jitter or name=na. */
static bool read_figures(struct reader *r, struct device *d, int64_t at)
{
	for (int m = 0; m < NFIGURE; m++) {
		const char *text = value_of(r, figures[m].name);
		if (!text)
			continue;
		struct step s = {.at = at, .absent = !strcmp(text, "na")};
		char part[64];
		snprintf(part, sizeof part, "%s", text);
		char *jitter = strchr(part, '~');
		if (jitter)
			*jitter++ = 0;
		struct unit unit[] = {{figures[m].scale == 1 ? "" : "?", 1}, {"", figures[m].scale}, {0}};
		if (!s.absent && !parse_number(r, part, unit, &s.value))
			return false;
		if (jitter && !parse_number(r, jitter, unit, &s.jitter))
			return false;
		add_step(d, m, s);
	}
	return true;
}

static bool read_gpu_fields(struct reader *r, struct device *d, int first)
{
	const char *text;
	unsigned domain, bus, dev, fn;
	if ((text = value_of(r, "name")))
		d->name = copy(text);
	if ((text = value_of(r, "uuid")))
		d->uuid = numbered(text, d->gpu);
	if ((text = value_of(r, "serial")))
		d->serial = numbered(text, d->gpu);
	if ((text = value_of(r, "pci"))) {
		if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) != 4)
			return complain(r, "pci must look like 00000000:1B:00.0");
		set_pci(d, domain, bus + (unsigned)(d->gpu - first), dev, fn);
	}
	if ((text = value_of(r, "cc")) && sscanf(text, "%d.%d", &d->major, &d->minor) != 2)
		return complain(r, "cc must look like 9.0");
	if ((text = value_of(r, "aggregate")))
		d->aggregate = strcmp(text, "no") != 0;
	if (flag(r, "unified")) {
		d->unified = true;
		add_step(d, M_BUSWIDTH, (struct step){.absent = true});
		add_step(d, M_ADDRESSING, (struct step){.value = 2}); /* ATS */
	}
	d->mig_on |= flag(r, "mig");
	d->mig_capable |= d->mig_on | flag(r, "migcapable");
	if (flag(r, "mig")) /* utilisation is not told of a card that is split */
		for (int m = 0; m < NFIGURE; m++)
			if (m == M_UTIL || m == M_MEMUTIL || m == M_ENC || m == M_DEC)
				add_step(d, m, (struct step){.absent = true});
	return get_number(r, "total", size_units, &d->total) && get_number(r, "reserved", size_units, &d->reserved) &&
	       read_figures(r, d, 0);
}

static bool read_gpu(struct reader *r)
{
	struct set set;
	if (r->n < 2 || !parse_set(r, r->word[1], &set) || !strcmp(r->word[1], "*"))
		return complain(r, "gpu: which number?");
	r->taken[1] = true;
	for (int k = 0; k < set.n; k++)
		for (int i = set.r[k].lo; i <= set.r[k].hi; i++) {
			if (i > r->s->ngpu)
				return complain(r, "gpu %d comes before gpu %d", i, r->s->ngpu);
			if (r->s->devices.n == MAX_DEVICES)
				return complain(r, "too many devices");
			struct device *d = i == r->s->ngpu ? new_gpu(r->s) : &r->s->devices.v[r->s->gpu[i]];
			if (!read_gpu_fields(r, d, set.r[k].lo))
				return false;
		}
	return true;
}

/* mig GPU index=0 gi=7 ci=0 profile=1g.10gb total=9856MiB */
static bool read_mig_fields(struct reader *r, int gpu)
{
	uint64_t index = 0, gi = 1, ci = 0, slices = 1, sm = 16;
	const char *profile = value_of(r, "profile"), *uuid = value_of(r, "uuid");
	if (!profile)
		profile = "1g.10gb";
	if (!get_number(r, "index", no_units, &index) || !get_number(r, "gi", no_units, &gi) || !get_number(r, "ci", no_units, &ci) ||
	    !get_number(r, "multiprocessors", no_units, &sm))
		return false;
	if (index >= MAX_MIG || r->s->devices.n == MAX_DEVICES)
		return complain(r, "mig: index must be below %d", MAX_MIG);
	if (r->s->devices.v[r->s->gpu[gpu]].child[index] >= 0)
		return complain(r, "mig: index %d is taken", (int)index);
	struct device *d = new_device(r->s), *parent = &r->s->devices.v[r->s->gpu[gpu]];
	if (!parent->mig_on)
		return complain(r, "gpu %d is not in MIG mode: give it the word mig", gpu);
	parent->child[index] = r->s->devices.n - 1;
	d->gpu = gpu;
	d->mig = (int)index;
	d->parent = r->s->gpu[gpu];
	d->gi = (uint32_t)gi;
	d->ci = (uint32_t)ci;
	d->major = parent->major;
	d->minor = parent->minor;
	d->pci = parent->pci;
	d->total = 9856ull << 20;
	d->reserved = 14ull << 20;
	d->serial = parent->serial;
	if (asprintf(&d->name, "%s MIG %s", parent->name, profile) < 0 ||
	    asprintf(&d->uuid, "MIG-%08x-5eed-5000-8000-%012x", 0x20000000 + gpu, (unsigned)index) < 0)
		abort();
	if (uuid)
		d->uuid = numbered(uuid, gpu);
	slices = (uint64_t)atoi(profile) ? (uint64_t)atoi(profile) : 1;
	if (!get_number(r, "total", size_units, &d->total) || !get_number(r, "reserved", size_units, &d->reserved))
		return false;
	d->attributes = (struct attributes){.sm = (uint32_t)sm, .copy = 1, .gpu_slices = (uint32_t)slices, .compute_slices = (uint32_t)slices, .memory_mib = d->total >> 20};
	return true;
}

static bool read_mig(struct reader *r)
{
	struct set set;
	if (!targets(r, &set))
		return false;
	for (int i = 0; i < r->s->ngpu; i++)
		if (in_set(&set, &r->s->devices.v[r->s->gpu[i]], false) && !read_mig_fields(r, i))
			return false;
	return true;
}

static bool read_mem(struct reader *r)
{
	struct set set;
	struct point p = {0, 0, 0};
	if (!targets(r, &set) || !get_time(r, "at", &p.at) || !get_time(r, "ramp", &p.ramp))
		return false;
	if (!value_of(r, "used"))
		return complain(r, "mem: used=SIZE is missing");
	if (!get_number(r, "used", size_units, &p.value))
		return false;
	EACH_TARGET(r, set, d) {
		if (d->curve.n && d->curve.v[d->curve.n - 1].at > p.at)
			return complain(r, "mem: at must not go back");
		PUSH(d->curve, p);
	}
	return true;
}

static bool read_spike(struct reader *r)
{
	struct set set;
	struct spike s = {.count = UINT64_MAX};
	int64_t stagger = 0;
	if (!targets(r, &set) || !get_time(r, "at", &s.at) || !get_time(r, "width", &s.width) || !get_time(r, "every", &s.every) ||
	    !get_time(r, "stagger", &stagger) || !get_number(r, "height", size_units, &s.height) ||
	    !get_number(r, "grow", size_units, &s.grow) || !get_number(r, "count", no_units, &s.count))
		return false;
	if (s.width <= 0 || !s.height)
		return complain(r, "spike: width and height are needed");
	if (s.every <= 0)
		s.count = 1;
	EACH_TARGET(r, set, d) {
		struct spike own = s;
		own.at += stagger * d->gpu;
		PUSH(d->spikes, own);
	}
	return true;
}

static bool read_wobble(struct reader *r)
{
	struct set set;
	uint64_t height = 0;
	int64_t every = SECOND;
	if (!targets(r, &set) || !get_number(r, "height", size_units, &height) || !get_time(r, "every", &every) || every <= 0)
		return complain(r, "wobble: height and every");
	EACH_TARGET(r, set, d) {
		d->wobble = height;
		d->wobble_every = every;
	}
	return true;
}

static bool read_cycle(struct reader *r)
{
	struct set set;
	int64_t every = 0;
	if (!targets(r, &set) || !get_time(r, "every", &every) || every <= 0)
		return complain(r, "cycle: every=TIME is missing");
	EACH_TARGET(r, set, d) d->cycle = every;
	return true;
}

static bool read_hidden(struct reader *r)
{
	struct set set;
	struct span s = {0, 0, 0};
	if (!targets(r, &set) || !get_span(r, &s.from, &s.to) || !get_number(r, "size", size_units, &s.value) || !s.value)
		return complain(r, "hidden: size=SIZE is missing");
	EACH_TARGET(r, set, d) PUSH(d->hidden, s);
	return true;
}

static bool read_raw(struct reader *r)
{
	static const char *const names[4] = {"total", "used", "free", "reserved"};
	struct set set;
	struct raw w = {0};
	if (!targets(r, &set) || !get_span(r, &w.from, &w.to))
		return false;
	for (int i = 0; i < 4; i++) {
		w.has[i] = value_of(r, names[i]) != NULL;
		if (!get_number(r, names[i], size_units, &w.value[i]))
			return false;
	}
	EACH_TARGET(r, set, d) PUSH(d->raw, w);
	return true;
}

static bool read_set(struct reader *r)
{
	struct set set;
	int64_t at = 0;
	if (!targets(r, &set) || !get_time(r, "at", &at))
		return false;
	EACH_TARGET(r, set, d) if (!read_figures(r, d, at)) return false;
	return true;
}

static bool read_type(struct reader *r, int *type)
{
	const char *text = value_of(r, "type");
	if (!text)
		return true;
	*type = (strstr(text, "compute") ? COMPUTE : 0) | (strstr(text, "graphics") ? GRAPHICS : 0) | (strstr(text, "mps") ? MPS : 0);
	return *type || complain(r, "type is compute, graphics, mps or several with +");
}

static bool read_proc(struct reader *r)
{
	struct set set;
	struct process p = {.type = COMPUTE, .stop = NEVER};
	uint64_t count = 1, sm = 0, mem = 0, enc = 0, dec = 0, pid = 0;
	const char *text = value_of(r, "pid"), *memory = value_of(r, "memory");
	bool same = flag(r, "same");
	if (!targets(r, &set) || !text)
		return complain(r, "proc: pid is missing");
	if (!strcmp(text, "self") || !strcmp(text, "parent")) {
		pid = (uint64_t)(*text == 's' ? getpid() : getppid());
		same = true;
	} else if (!parse_number(r, text, no_units, &pid))
		return false;
	p.rest = memory && !strcmp(memory, "rest");
	p.absent = memory && !strcmp(memory, "na");
	if ((memory && !p.rest && !p.absent && !parse_number(r, memory, size_units, &p.memory)) || !read_type(r, &p.type) ||
	    !get_time(r, "start", &p.start) || !get_time(r, "stop", &p.stop) || !get_number(r, "count", no_units, &count) ||
	    !get_number(r, "sm", no_units, &sm) || !get_number(r, "memutil", no_units, &mem) || !get_number(r, "enc", no_units, &enc) ||
	    !get_number(r, "dec", no_units, &dec) || !get_number(r, "max", size_units, &p.max))
		return false;
	p.has_max = value_of(r, "max") != NULL;
	p.sm = (uint32_t)sm;
	p.mem = (uint32_t)mem;
	p.enc = (uint32_t)enc;
	p.dec = (uint32_t)dec;
	text = value_of(r, "name");
	p.name = text ? copy(text) : NULL;
	EACH_TARGET(r, set, d) for (uint64_t i = 0; i < count && i < 100000; i++) {
		p.pid = (uint32_t)pid;
		PUSH(d->procs, p);
		pid += same ? 0 : 1;
	}
	return true;
}

static bool read_programs(struct reader *r)
{
	if (r->n < 2)
		return complain(r, "programs: which file?");
	r->taken[1] = true;
	int fd = open(r->word[1], O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof *cuda))
		return complain(r, "programs: %s: %s", r->word[1], strerror(errno));
	const void *at = mmap(NULL, sizeof *cuda, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	cuda = at == MAP_FAILED ? NULL : at;
	return cuda || complain(r, "programs: %s: %s", r->word[1], strerror(errno));
}

static bool read_accounting(struct reader *r)
{
	struct set set;
	uint64_t buffer = 4000;
	if (!targets(r, &set) || !get_number(r, "buffer", no_units, &buffer))
		return false;
	EACH_TARGET(r, set, d) {
		d->accounting = true;
		d->buffer = (uint32_t)buffer;
	}
	return true;
}

static bool read_xid(struct reader *r)
{
	struct set set;
	struct event e = {.type = 8 /* nvmlEventTypeXidCriticalError */, .again = flag(r, "again")};
	if (!targets(r, &set) || !get_time(r, "at", &e.at) || !get_number(r, "code", no_units, &e.data) || !get_number(r, "type", no_units, &e.type))
		return false;
	EACH_TARGET(r, set, d) {
		e.device = (int)(d - r->s->devices.v);
		PUSH(r->s->events, e);
	}
	return true;
}

static bool known_function(const char *glob)
{
	for (int f = 0; f < NFUNC; f++)
		if (!fnmatch(glob, func_names[f], 0))
			return true;
	return false;
}

/* fail, latency, hang, crash and insufficient: FUNCTION [gpu=] [from=] [to=] and what is their own. */
static bool read_rule(struct reader *r, enum kind kind)
{
	struct rule u = {.kind = kind, .code = UNKNOWN, .any_gpu = true};
	const char *text;
	if (r->n < 2 || !known_function(r->word[1]))
		return complain(r, "%s: no function \"%s\"", r->word[0], r->n < 2 ? "" : r->word[1]);
	r->taken[1] = true;
	snprintf(u.func, sizeof u.func, "%s", r->word[1]);
	if (!get_span(r, &u.from, &u.to))
		return false;
	if ((text = value_of(r, "gpu"))) {
		u.any_gpu = false;
		if (!parse_set(r, text, &u.gpus))
			return false;
	}
	if (kind == FAIL) {
		text = value_of(r, "code");
		if (!text || !parse_code(r, text, &u.code))
			return complain(r, "fail: code is missing");
	}
	if (kind == LATENCY) {
		uint64_t v;
		if (r->n < 3 || !parse_number(r, r->word[2], time_units, &v))
			return complain(r, "latency: how long?");
		r->taken[2] = true;
		u.latency = (int64_t)v;
		u.how = flag(r, "busy") ? 1 : flag(r, "sleep") ? 2 : 0;
	}
	if (kind == CRASH)
		u.how = flag(r, "abort") ? 1 : flag(r, "raise") ? 2 : flag(r, "exit") ? 3 : 0;
	PUSH(r->s->rules, u);
	return true;
}

static bool read_fail(struct reader *r) { return read_rule(r, FAIL); }
static bool read_latency(struct reader *r) { return read_rule(r, LATENCY); }
static bool read_hang(struct reader *r) { return read_rule(r, HANG); }
static bool read_crash(struct reader *r) { return read_rule(r, CRASH); }
static bool read_insufficient(struct reader *r) { return read_rule(r, INSUFFICIENT); }

static bool read_init(struct reader *r)
{
	struct rule u = {.kind = FAIL, .any_gpu = true, .func = "nvmlInit*"};
	if (r->n < 2 || !parse_code(r, r->word[1], &u.code) || !get_span(r, &u.from, &u.to))
		return complain(r, "init: which code?");
	r->taken[1] = true;
	PUSH(r->s->rules, u);
	return true;
}

static bool read_reload(struct reader *r)
{
	struct reload l = {.code = UNINITIALIZED};
	const char *text;
	if (!get_time(r, "at", &l.at) || !get_time(r, "down", &l.down))
		return false;
	if ((text = value_of(r, "code")) && !parse_code(r, text, &l.code))
		return false;
	if ((text = value_of(r, "order"))) {
		struct set set;
		l.ordered = true;
		if (!parse_set(r, text, &set))
			return false;
		for (int k = 0; k < set.n; k++)
			for (int i = set.r[k].lo; i <= set.r[k].hi; i++) {
				if (i >= r->s->ngpu || l.n == MAX_GPUS)
					return complain(r, "reload: no GPU %d", i);
				l.order[l.n++] = i;
			}
	}
	if (r->s->reloads.n && r->s->reloads.v[r->s->reloads.n - 1].at >= l.at)
		return complain(r, "reload: at must grow");
	PUSH(r->s->reloads, l);
	return true;
}

static bool read_text(struct reader *r, char **into)
{
	if (r->n != 2)
		return complain(r, "%s: one word is needed", r->word[0]);
	r->taken[1] = true;
	*into = copy(r->word[1]);
	return true;
}

static bool read_driver(struct reader *r) { return read_text(r, &r->s->driver); }
static bool read_nvml(struct reader *r) { return read_text(r, &r->s->nvml); }

static bool read_cuda(struct reader *r)
{
	int major, minor;
	if (r->n != 2 || sscanf(r->word[1], "%d.%d", &major, &minor) != 2)
		return complain(r, "cuda must look like 13.0");
	r->taken[1] = true;
	r->s->cuda = major * 1000 + minor * 10;
	return true;
}

static bool read_nogpu(struct reader *r) { return r->s->no_gpu = true; }

static const struct {
	const char *name;
	bool (*read)(struct reader *);
} directives[] = {
	{"driver", read_driver},   {"nvml", read_nvml},     {"cuda", read_cuda},       {"nogpu", read_nogpu},
	{"gpu", read_gpu},         {"mig", read_mig},       {"mem", read_mem},         {"spike", read_spike},
	{"wobble", read_wobble},   {"cycle", read_cycle},   {"hidden", read_hidden},   {"programs", read_programs},   {"raw", read_raw},
	{"set", read_set},         {"proc", read_proc},     {"accounting", read_accounting}, {"xid", read_xid},
	{"fail", read_fail},       {"latency", read_latency}, {"hang", read_hang},     {"crash", read_crash},   {"insufficient", read_insufficient},
	{"init", read_init},       {"reload", read_reload},
};

static bool read_line(struct reader *r, char *line)
{
	if (!split(r, line))
		return false;
	if (!r->n)
		return true;
	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
		if (!strcmp(directives[i].name, r->word[0]))
			return directives[i].read(r) && all_taken(r);
	return complain(r, "do not know \"%s\"", r->word[0]);
}

static int event_order(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* What the whole file means once it is read: defaults, and the rules of each function. */
static void complete(struct scenario *s)
{
	if (!s->ngpu && !s->no_gpu)
		new_gpu(s);
	for (int i = 0; i < s->reloads.n; i++) /* no order given: as before */
		for (struct reload *l = &s->reloads.v[i]; !s->reloads.v[i].ordered && l->n < s->ngpu; l->n++)
			l->order[l->n] = l->n;
	if (s->events.n)
		qsort(s->events.v, (size_t)s->events.n, sizeof *s->events.v, event_order);
	for (int f = 0; f < NFUNC; f++)
		for (int i = 0; i < s->rules.n; i++) {
			const char *glob = s->rules.v[i].func;
			bool named = strcmp(glob, "*") != 0;
			bool exempt = f == F_nvmlErrorString || f == F_nvmlShutdown || !fnmatch("nvmlInit*", func_names[f], 0);
			if (!fnmatch(glob, func_names[f], 0) && (named || !exempt))
				PUSH(s->rule_of[f], i);
		}
}

static struct scenario *load(const char *path, char *error, size_t size)
{
	struct scenario *s = calloc(1, sizeof *s);
	struct reader r = {.s = s, .file = path};
	char *line = NULL;
	size_t cap = 0;
	if (!s)
		abort();
	s->driver = copy("580.159.03");
	s->nvml = copy("13.580.159.03");
	s->cuda = 13000;
	if (path && *path) {
		FILE *f = fopen(path, "r");
		if (!f) {
			snprintf(error, size, "%s: %s", path, strerror(errno));
			return NULL;
		}
		bool ok = true;
		while (ok && getline(&line, &cap, f) >= 0) {
			r.line++;
			ok = read_line(&r, line);
		}
		free(line);
		fclose(f);
		if (!ok) {
			snprintf(error, size, "%s", r.error);
			return NULL;
		}
	}
	complete(s);
	return s;
}

/* ---- statistics ------------------------------------------------------------------------- */

static _Atomic long long stats_writes, stats_ns; /* what this costs a program that is measured */

static void write_stats(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char temporary[4096];
	if (!stats_path)
		return;
	pthread_mutex_lock(&mutex);
	snprintf(temporary, sizeof temporary, "%s.%d.tmp", stats_path, (int)getpid());
	FILE *f = fopen(temporary, "w");
	if (f) {
		fprintf(f, "# start_unix_ns=%lld elapsed_ns=%lld\n# function calls busy_ns\n", (long long)start_real, (long long)(mono() - start_mono));
		for (int i = 0; i < NFUNC; i++)
			if (atomic_load(&calls[i]))
				fprintf(f, "%s %llu %llu\n", func_names[i], (unsigned long long)atomic_load(&calls[i]), (unsigned long long)atomic_load(&busy[i]));
		fprintf(f, "statistics %lld %lld\n", stats_writes, stats_ns);
		if (fclose(f) == 0)
			rename(temporary, stats_path);
	}
	pthread_mutex_unlock(&mutex);
}

static void *stats_loop(void *unused)
{
	for (;; stats_writes++) {
		struct timespec t;
		sleep_ns(SECOND);
		write_stats();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		stats_ns = t.tv_sec * SECOND + t.tv_nsec;
	}
	return unused;
}

static void start_stats(void)
{
	pthread_t thread;
	sigset_t all, before;
	stats_path = getenv("FAKENVML_STATS");
	if (!stats_path || !*stats_path) {
		stats_path = NULL;
		return;
	}
	stats_path = copy(stats_path);
	sigfillset(&all); /* the program's signals are none of this thread's business */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, stats_loop, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((destructor)) static void last_stats(void)
{
	write_stats();
}

/* ---- entering and leaving a call -------------------------------------------------------- */

struct call {
	int func;
	int64_t began, now;         /* clock and scenario time */
	const struct device *d;     /* of the handle */
	bool insufficient;
};

static const struct device *device_of(Device h)
{
	const struct handle *row = handles[atomic_load(&generation) % GENERATIONS];
	if (h < row || h >= row + scene->devices.n)
		return NULL;
	return &scene->devices.v[h - row];
}

static Device handle_of(const struct device *d)
{
	return &handles[atomic_load(&generation) % GENERATIONS][d - scene->devices.v];
}

static void wait_latency(const struct rule *u, int64_t began)
{
	if (u->how == 2 || (u->how == 0 && u->latency >= 100000)) {
		sleep_ns(u->latency);
		return;
	}
	while (mono() - began < u->latency)
		;
}

static void wait_hang(const struct rule *u)
{
	for (;;) {
		int64_t now = scene_time(mono());
		if (now < u->from || now >= u->to)
			return;
		int64_t left = frozen >= 0 || u->to == NEVER ? 3600 * SECOND : u->to - now;
		sleep_ns(left < 3600 * SECOND ? left : 3600 * SECOND);
	}
}

/* The rules of this function for this device: first they cost time, then they fail. */
static Ret obey(struct call *c, const struct device *d)
{
	const struct rule *latency = NULL;
	Ret ret = SUCCESS;
	for (int i = 0; i < scene->rule_of[c->func].n; i++) {
		const struct rule *u = &scene->rules.v[scene->rule_of[c->func].v[i]];
		if (c->now < u->from || c->now >= u->to || (!u->any_gpu && (!d || !in_set(&u->gpus, d, true))))
			continue;
		switch (u->kind) {
		case LATENCY: latency = u; break;
		case HANG: wait_hang(u); break;
		case CRASH:
			if (u->how == 2)
				raise(SIGSEGV);
			else if (u->how == 1)
				abort();
			else if (u->how == 3)
				exit(0);
			else
				*(volatile int *)0 = 0;
			break;
		case FAIL: ret = u->code; break;
		case INSUFFICIENT: c->insufficient = true; break;
		}
	}
	if (latency)
		wait_latency(latency, c->began);
	return ret;
}

static bool reload_due(int64_t now)
{
	int next = atomic_load(&reloaded);
	return next < scene->reloads.n && now >= scene->reloads.v[next].at;
}

static void begin(struct call *c, int func)
{
	memset(c, 0, sizeof *c);
	c->func = func;
	c->began = mono();
	c->now = scene_time(c->began);
	atomic_fetch_add_explicit(&calls[func], 1, memory_order_relaxed);
}

static Ret enter(struct call *c, int func)
{
	begin(c, func);
	if (atomic_load(&refs) <= 0)
		return UNINITIALIZED;
	if (reload_due(c->now))
		return scene->reloads.v[atomic_load(&reloaded)].code;
	return SUCCESS;
}

static Ret enter_system(struct call *c, int func)
{
	Ret r = enter(c, func);
	return r ? r : obey(c, NULL);
}

static Ret enter_device(struct call *c, int func, Device h)
{
	Ret r = enter(c, func);
	if (r)
		return r;
	c->d = device_of(h);
	r = obey(c, c->d);
	return r ? r : c->d ? SUCCESS : INVALID_ARGUMENT;
}

static Ret leave(const struct call *c, Ret r)
{
	if (stats_path)
		atomic_fetch_add_explicit(&busy[c->func], (uint64_t)(mono() - c->began), memory_order_relaxed);
	return r;
}

#define SYSTEM(func)                                \
	struct call c;                              \
	Ret r = enter_system(&c, F_##func);         \
	if (r != SUCCESS)                           \
		return leave(&c, r)

#define DEVICE(func, handle)                        \
	struct call c;                              \
	Ret r = enter_device(&c, F_##func, handle); \
	if (r != SUCCESS)                           \
		return leave(&c, r)

static Ret put_text(const char *text, char *out, uint32_t size)
{
	size_t n = strlen(text) + 1;
	if (!out)
		return INVALID_ARGUMENT;
	if (size < n)
		return INSUFFICIENT_SIZE;
	memcpy(out, text, n);
	return SUCCESS;
}

/* Whether a list of n fits the caller's room; tells the room that is needed if not. */
static Ret room(const struct call *c, uint32_t *count, uint32_t n, const void *list)
{
	if (!count)
		return INVALID_ARGUMENT;
	if (c->insufficient) { /* never satisfied: asks for more than it is given */
		*count = *count < UINT32_MAX / 2 ? *count * 2 + 1 : UINT32_MAX;
		return INSUFFICIENT_SIZE;
	}
	if (*count < n) {
		*count = n;
		return INSUFFICIENT_SIZE;
	}
	if (n && !list)
		return INVALID_ARGUMENT;
	*count = n;
	return SUCCESS;
}

/* ---- init and shutdown ------------------------------------------------------------------ */

/* NVML wrappers close the library after Shutdown. The clock, the reloads that have happened and calls
 * that still hang must outlive that. */
static void stay_loaded(void)
{
	Dl_info info;
	if (dladdr((void *)&handles, &info) && info.dli_fname)
		(void)!dlopen(info.dli_fname, RTLD_NOW | RTLD_NODELETE | RTLD_NOLOAD);
}

static void start_clock(void)
{
	const char *text;
	char *end;
	start_mono = mono();
	start_real = clock_ns(CLOCK_REALTIME);
	if ((text = getenv("FAKENVML_START")) && *text) {
		shift = start_real - (int64_t)(strtod(text, &end) * 1e9);
		start_real -= shift;
	}
	if ((text = getenv("FAKENVML_TIME")) && *text) {
		struct reader r = {.file = "FAKENVML_TIME"};
		uint64_t v;
		if (parse_number(&r, text, time_units, &v))
			frozen = (int64_t)v;
		else
			fprintf(stderr, "fakenvml: %s\n", r.error);
	}
}

static bool first_init(void)
{
	char error[256];
	const char *path = getenv("FAKENVML_SCENARIO");
	stay_loaded();
	start_clock();
	scene = load(path, error, sizeof error);
	if (!scene) {
		fprintf(stderr, "fakenvml: %s\n", error);
		return false;
	}
	start_stats();
	return true;
}

static Ret connect_driver(struct call *c)
{
	Ret r = obey(c, NULL);
	if (r)
		return r;
	if (atomic_load(&refs) > 0) {
		atomic_fetch_add(&refs, 1);
		return SUCCESS;
	}
	while (reload_due(c->now)) {
		const struct reload *l = &scene->reloads.v[atomic_load(&reloaded)];
		if (c->now < l->at + l->down)
			return DRIVER_NOT_LOADED;
		atomic_fetch_add(&reloaded, 1);
	}
	atomic_fetch_add(&generation, 1);
	atomic_store(&refs, 1);
	return SUCCESS;
}

static Ret init(int func)
{
	struct call c;
	pthread_mutex_lock(&init_mutex);
	Ret r = scene || first_init() ? SUCCESS : UNKNOWN;
	begin(&c, func);
	if (r == SUCCESS)
		r = connect_driver(&c);
	pthread_mutex_unlock(&init_mutex);
	return leave(&c, r);
}

API nvmlInit(void);
API nvmlInit_v2(void);
API nvmlInitWithFlags(unsigned flags);
API nvmlShutdown(void);
__attribute__((visibility("default"))) const char *nvmlErrorString(Ret code);

API nvmlInit(void) { return init(F_nvmlInit); }
API nvmlInit_v2(void) { return init(F_nvmlInit_v2); }
#if DRIVER >= 418
API nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return init(F_nvmlInitWithFlags);
}
#endif

API nvmlShutdown(void)
{
	struct call c;
	begin(&c, F_nvmlShutdown);
	pthread_mutex_lock(&init_mutex);
	Ret r = atomic_load(&refs) > 0 ? obey(&c, NULL) : UNINITIALIZED;
	if (r == SUCCESS && atomic_fetch_sub(&refs, 1) == 1)
		for (int i = 0; i < MAX_SETS; i++)
			sets[i].used = false;
	pthread_mutex_unlock(&init_mutex);
	r = leave(&c, r);
	write_stats();
	return r;
}

const char *nvmlErrorString(Ret code)
{
	atomic_fetch_add_explicit(&calls[F_nvmlErrorString], 1, memory_order_relaxed);
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].value == code)
			return codes[i].text;
	return "Unknown Error";
}

/* ---- the system ------------------------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the prototypes are nvml.h's */

API nvmlSystemGetDriverVersion(char *version, uint32_t size)
{
	SYSTEM(nvmlSystemGetDriverVersion);
	return leave(&c, put_text(scene->driver, version, size));
}

API nvmlSystemGetNVMLVersion(char *version, uint32_t size)
{
	SYSTEM(nvmlSystemGetNVMLVersion);
	return leave(&c, put_text(scene->nvml, version, size));
}

static Ret cuda_version(const struct call *c, int *version)
{
	if (!version)
		return leave(c, INVALID_ARGUMENT);
	*version = scene->cuda;
	return leave(c, SUCCESS);
}

API nvmlSystemGetCudaDriverVersion(int *version)
{
	SYSTEM(nvmlSystemGetCudaDriverVersion);
	return cuda_version(&c, version);
}

#if DRIVER >= 470
API nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	SYSTEM(nvmlSystemGetCudaDriverVersion_v2);
	return cuda_version(&c, version);
}
#endif

API nvmlSystemGetProcessName(uint32_t pid, char *name, uint32_t size)
{
	SYSTEM(nvmlSystemGetProcessName);
	if (!name)
		return leave(&c, INVALID_ARGUMENT);
	for (int i = 0; i < scene->devices.n; i++)
		for (int k = 0; k < scene->devices.v[i].procs.n; k++) {
			const struct process *p = &scene->devices.v[i].procs.v[k];
			if (p->pid == pid && p->name && running(p, c.now))
				return leave(&c, put_text(p->name, name, size));
		}
	return leave(&c, NOT_FOUND);
}

/* ---- handles ---------------------------------------------------------------------------- */

/* The GPU that has this index now, which a reload may have changed; NULL past the last. */
static const struct device *gpu_by_index(uint32_t index)
{
	int done = atomic_load(&reloaded);
	int n = done ? scene->reloads.v[done - 1].n : scene->ngpu;
	if (index >= (uint32_t)n)
		return NULL;
	int gpu = done ? scene->reloads.v[done - 1].order[index] : (int)index;
	return &scene->devices.v[scene->gpu[gpu]];
}

static Ret count_gpus(const struct call *c, uint32_t *count)
{
	if (!count)
		return leave(c, INVALID_ARGUMENT);
	for (*count = 0; gpu_by_index(*count);)
		++*count;
	return leave(c, SUCCESS);
}

API nvmlDeviceGetCount(uint32_t *count)
{
	SYSTEM(nvmlDeviceGetCount);
	return count_gpus(&c, count);
}

API nvmlDeviceGetCount_v2(uint32_t *count)
{
	SYSTEM(nvmlDeviceGetCount_v2);
	return count_gpus(&c, count);
}

/* Rules of the device looked for hold for the look-up too: a lost GPU gives no handle. */
static Ret give_handle(struct call *c, const struct device *d, Ret otherwise, Device *out)
{
	if (!out)
		return leave(c, INVALID_ARGUMENT);
	Ret r = obey(c, d);
	if (r == SUCCESS && !d)
		r = otherwise;
	if (r == SUCCESS)
		*out = handle_of(d);
	return leave(c, r);
}

static Ret handle_by_index(int func, uint32_t index, Device *out)
{
	struct call c;
	Ret r = enter(&c, func);
	return r ? leave(&c, r) : give_handle(&c, gpu_by_index(index), INVALID_ARGUMENT, out);
}

API nvmlDeviceGetHandleByIndex(uint32_t index, Device *out) { return handle_by_index(F_nvmlDeviceGetHandleByIndex, index, out); }
API nvmlDeviceGetHandleByIndex_v2(uint32_t index, Device *out) { return handle_by_index(F_nvmlDeviceGetHandleByIndex_v2, index, out); }

API nvmlDeviceGetHandleByUUID(const char *uuid, Device *out)
{
	struct call c;
	const struct device *found = NULL;
	Ret r = enter(&c, F_nvmlDeviceGetHandleByUUID);
	if (r || !uuid)
		return leave(&c, r ? r : INVALID_ARGUMENT);
	for (int i = 0; i < scene->devices.n; i++)
		if (!strcmp(scene->devices.v[i].uuid, uuid))
			found = &scene->devices.v[i];
	return give_handle(&c, found, NOT_FOUND, out);
}

static Ret handle_by_pci(int func, const char *id, Device *out)
{
	struct call c;
	unsigned domain, bus, dev;
	const struct device *found = NULL;
	Ret r = enter(&c, func);
	if (r || !id || sscanf(id, "%x:%x:%x", &domain, &bus, &dev) != 3)
		return leave(&c, r ? r : INVALID_ARGUMENT);
	for (uint32_t i = 0; gpu_by_index(i); i++) {
		const struct pci *p = &gpu_by_index(i)->pci;
		if (p->domain == domain && p->bus == bus && p->device == dev)
			found = gpu_by_index(i);
	}
	return give_handle(&c, found, NOT_FOUND, out);
}

API nvmlDeviceGetHandleByPciBusId(const char *id, Device *out) { return handle_by_pci(F_nvmlDeviceGetHandleByPciBusId, id, out); }
API nvmlDeviceGetHandleByPciBusId_v2(const char *id, Device *out) { return handle_by_pci(F_nvmlDeviceGetHandleByPciBusId_v2, id, out); }

/* ---- what a device is ------------------------------------------------------------------- */

API nvmlDeviceGetName(Device h, char *name, uint32_t size)
{
	DEVICE(nvmlDeviceGetName, h);
	return leave(&c, put_text(c.d->name, name, size));
}

API nvmlDeviceGetUUID(Device h, char *uuid, uint32_t size)
{
	DEVICE(nvmlDeviceGetUUID, h);
	return leave(&c, put_text(c.d->uuid, uuid, size));
}

API nvmlDeviceGetSerial(Device h, char *serial, uint32_t size)
{
	DEVICE(nvmlDeviceGetSerial, h);
	return leave(&c, put_text(c.d->serial, serial, size));
}

API nvmlDeviceGetVbiosVersion(Device h, char *version, uint32_t size)
{
	DEVICE(nvmlDeviceGetVbiosVersion, h);
	return leave(&c, put_text("96.00.89.00.01", version, size));
}

/* Older versions of the struct end sooner: nothing behind their end is written. */
static Ret give_pci(const struct call *c, struct pci *out, size_t size)
{
	if (!out)
		return leave(c, INVALID_ARGUMENT);
	memcpy(out, &c->d->pci, size);
	return leave(c, SUCCESS);
}

API nvmlDeviceGetPciInfo(Device h, struct pci *out)
{
	DEVICE(nvmlDeviceGetPciInfo, h);
	return give_pci(&c, out, offsetof(struct pci, subsystem));
}

API nvmlDeviceGetPciInfo_v2(Device h, struct pci *out)
{
	DEVICE(nvmlDeviceGetPciInfo_v2, h);
	return give_pci(&c, out, offsetof(struct pci, bus_id));
}

#if DRIVER >= 470
API nvmlDeviceGetPciInfo_v3(Device h, struct pci *out)
{
	DEVICE(nvmlDeviceGetPciInfo_v3, h);
	return give_pci(&c, out, sizeof *out);
}
#endif

API nvmlDeviceGetCudaComputeCapability(Device h, int *major, int *minor)
{
	DEVICE(nvmlDeviceGetCudaComputeCapability, h);
	if (!major || !minor)
		return leave(&c, INVALID_ARGUMENT);
	*major = c.d->major;
	*minor = c.d->minor;
	return leave(&c, SUCCESS);
}

API nvmlDeviceGetIndex(Device h, uint32_t *index)
{
	DEVICE(nvmlDeviceGetIndex, h);
	if (!index)
		return leave(&c, INVALID_ARGUMENT);
	if (c.d->mig >= 0) {
		*index = (uint32_t)c.d->mig;
		return leave(&c, SUCCESS);
	}
	for (uint32_t i = 0; gpu_by_index(i); i++)
		if (gpu_by_index(i) == c.d) {
			*index = i;
			return leave(&c, SUCCESS);
		}
	return leave(&c, NOT_FOUND);
}

/* ---- memory ----------------------------------------------------------------------------- */

static Ret memory_now(const struct call *c, struct memory_v2 *m)
{
	const struct device *d = c->d;
	if (d->unified) /* no memory of its own: https://github.com/Syllo/nvtop/issues/411 */
		return NOT_SUPPORTED;
	m->total = d->total;
	m->reserved = d->reserved;
	m->used = used_at(d, c->now);
	uint64_t gone = m->used + m->reserved;
	m->free = gone >= m->used && gone < m->total ? m->total - gone : 0;
	for (int i = 0; i < d->raw.n; i++) {
		const struct raw *w = &d->raw.v[i];
		uint64_t *const into[4] = {&m->total, &m->used, &m->free, &m->reserved};
		for (int k = 0; k < 4; k++)
			if (w->has[k] && c->now >= w->from && c->now < w->to)
				*into[k] = w->value[k];
	}
	return SUCCESS;
}

static bool raw_used(const struct call *c)
{
	for (int i = 0; i < c->d->raw.n; i++)
		if (c->d->raw.v[i].has[1] && c->now >= c->d->raw.v[i].from && c->now < c->d->raw.v[i].to)
			return true;
	return false;
}

API nvmlDeviceGetMemoryInfo(Device h, struct memory_v1 *out)
{
	struct memory_v2 m;
	DEVICE(nvmlDeviceGetMemoryInfo, h);
	r = out ? memory_now(&c, &m) : INVALID_ARGUMENT;
	if (r == SUCCESS) /* this version counts the reserved part as used */
		*out = (struct memory_v1){m.total, m.free, raw_used(&c) ? m.used : m.used + m.reserved};
	return leave(&c, r);
}

#if DRIVER >= 510
API nvmlDeviceGetMemoryInfo_v2(Device h, struct memory_v2 *out)
{
	struct memory_v2 m;
	DEVICE(nvmlDeviceGetMemoryInfo_v2, h);
	if (!out)
		return leave(&c, INVALID_ARGUMENT);
	if (out->version != (sizeof m | 2u << 24))
		return leave(&c, ARGUMENT_VERSION_MISMATCH);
	r = memory_now(&c, &m);
	if (r == SUCCESS) {
		m.version = out->version;
		*out = m;
	}
	return leave(&c, r);
}
#endif

API nvmlDeviceGetBAR1MemoryInfo(Device h, struct memory_v1 *out)
{
	DEVICE(nvmlDeviceGetBAR1MemoryInfo, h);
	if (!out)
		return leave(&c, INVALID_ARGUMENT);
	*out = (struct memory_v1){131072ull << 20, 131068ull << 20, 4ull << 20};
	return leave(&c, c.d->unified ? NOT_SUPPORTED : SUCCESS);
}

/* ---- figures ---------------------------------------------------------------------------- */

#define U32(func, m)                                                       \
	API func(Device h, uint32_t *out)                                  \
	{                                                                  \
		DEVICE(func, h);                                           \
		return leave(&c, figure_u32(c.d, m, c.now, out));          \
	}

U32(nvmlDeviceGetFanSpeed, M_FAN)
U32(nvmlDeviceGetPowerUsage, M_POWER)
U32(nvmlDeviceGetEnforcedPowerLimit, M_LIMIT)
U32(nvmlDeviceGetPowerManagementLimit, M_LIMIT)
U32(nvmlDeviceGetPowerManagementDefaultLimit, M_LIMIT)
U32(nvmlDeviceGetPerformanceState, M_PSTATE)
U32(nvmlDeviceGetPowerState, M_PSTATE)
U32(nvmlDeviceGetCurrPcieLinkGeneration, M_GEN)
U32(nvmlDeviceGetCurrPcieLinkWidth, M_WIDTH)
U32(nvmlDeviceGetMaxPcieLinkGeneration, M_MAXGEN)
U32(nvmlDeviceGetMaxPcieLinkWidth, M_MAXWIDTH)
U32(nvmlDeviceGetPersistenceMode, M_PERSISTENCE)
U32(nvmlDeviceGetBrand, M_BRAND)
U32(nvmlDeviceGetMinorNumber, M_MINOR)
#if DRIVER >= 470
U32(nvmlDeviceGetArchitecture, M_ARCH)
#endif
#if DRIVER >= 510
U32(nvmlDeviceGetNumFans, M_FANS)
U32(nvmlDeviceGetGpuMaxPcieLinkGeneration, M_MAXGEN)
U32(nvmlDeviceGetMemoryBusWidth, M_BUSWIDTH)
#endif

#define CONSTANT(func, value)                      \
	API func(Device h, uint32_t *out)          \
	{                                          \
		DEVICE(func, h);                   \
		if (out)                           \
			*out = value;              \
		return leave(&c, out ? SUCCESS : INVALID_ARGUMENT); \
	}

CONSTANT(nvmlDeviceGetPcieReplayCounter, 0)
CONSTANT(nvmlDeviceGetComputeMode, 0)
CONSTANT(nvmlDeviceGetDisplayMode, 0)
CONSTANT(nvmlDeviceGetDisplayActive, 0)

API nvmlDeviceGetUtilizationRates(Device h, struct utilization *out)
{
	DEVICE(nvmlDeviceGetUtilizationRates, h);
	struct utilization u;
	r = out ? figure_u32(c.d, M_UTIL, c.now, &u.gpu) : INVALID_ARGUMENT;
	if (r == SUCCESS)
		r = figure_u32(c.d, M_MEMUTIL, c.now, &u.memory);
	if (r == SUCCESS)
		*out = u;
	return leave(&c, r);
}

API nvmlDeviceGetTemperature(Device h, uint32_t sensor, uint32_t *out)
{
	DEVICE(nvmlDeviceGetTemperature, h);
	return leave(&c, sensor ? INVALID_ARGUMENT : figure_u32(c.d, M_TEMP, c.now, out));
}

API nvmlDeviceGetTemperatureThreshold(Device h, uint32_t type, uint32_t *out)
{
	DEVICE(nvmlDeviceGetTemperatureThreshold, h);
	if (!out || type > 3)
		return leave(&c, out ? NOT_SUPPORTED : INVALID_ARGUMENT);
	*out = type == 0 ? 95 : type == 1 ? 90 : 87; /* shutdown, slowdown, memory and GPU maximum */
	return leave(&c, c.d->mig >= 0 ? NOT_SUPPORTED : SUCCESS);
}

API nvmlDeviceGetFanSpeed_v2(Device h, uint32_t fan, uint32_t *out)
{
	uint64_t fans;
	DEVICE(nvmlDeviceGetFanSpeed_v2, h);
	r = figure(c.d, M_FANS, c.now, &fans);
	if (r == SUCCESS && fan >= fans)
		r = fans ? INVALID_ARGUMENT : NOT_SUPPORTED;
	return leave(&c, r ? r : figure_u32(c.d, M_FAN, c.now, out));
}

API nvmlDeviceGetPowerManagementLimitConstraints(Device h, uint32_t *min, uint32_t *max)
{
	DEVICE(nvmlDeviceGetPowerManagementLimitConstraints, h);
	r = figure_u32(c.d, M_LIMIT, c.now, max);
	if (r == SUCCESS && min)
		*min = *max / 3;
	return leave(&c, min ? r : INVALID_ARGUMENT);
}

API nvmlDeviceGetTotalEnergyConsumption(Device h, uint64_t *millijoule)
{
	uint64_t power;
	DEVICE(nvmlDeviceGetTotalEnergyConsumption, h);
	r = millijoule ? figure(c.d, M_POWER, c.now, &power) : INVALID_ARGUMENT;
	if (r == SUCCESS)
		*millijoule = power * (uint64_t)(c.now / SECOND);
	return leave(&c, r);
}

static Ret clock_mhz(const struct call *c, uint32_t type, bool maximum, uint32_t *out)
{
	static const enum figure now[4] = {M_SM, M_SM, M_MEMCLK, M_VIDEO}, most[4] = {M_MAXSM, M_MAXSM, M_MAXMEMCLK, M_VIDEO};
	if (type > 3)
		return leave(c, INVALID_ARGUMENT);
	return leave(c, figure_u32(c->d, maximum ? most[type] : now[type], c->now, out));
}

API nvmlDeviceGetClockInfo(Device h, uint32_t type, uint32_t *out)
{
	DEVICE(nvmlDeviceGetClockInfo, h);
	return clock_mhz(&c, type, false, out);
}

API nvmlDeviceGetMaxClockInfo(Device h, uint32_t type, uint32_t *out)
{
	DEVICE(nvmlDeviceGetMaxClockInfo, h);
	return clock_mhz(&c, type, true, out);
}

API nvmlDeviceGetClock(Device h, uint32_t type, uint32_t id, uint32_t *out)
{
	DEVICE(nvmlDeviceGetClock, h);
	return id > 3 ? leave(&c, INVALID_ARGUMENT) : clock_mhz(&c, type, id == 3, out);
}

static Ret reasons(const struct call *c, bool supported, uint64_t *out)
{
	if (!out)
		return leave(c, INVALID_ARGUMENT);
	Ret r = figure(c->d, M_THROTTLE, c->now, out);
	if (r == SUCCESS && supported)
		*out = 0x1ff;
	return leave(c, r);
}

API nvmlDeviceGetCurrentClocksThrottleReasons(Device h, uint64_t *out)
{
	DEVICE(nvmlDeviceGetCurrentClocksThrottleReasons, h);
	return reasons(&c, false, out);
}

API nvmlDeviceGetSupportedClocksThrottleReasons(Device h, uint64_t *out)
{
	DEVICE(nvmlDeviceGetSupportedClocksThrottleReasons, h);
	return reasons(&c, true, out);
}

#if DRIVER >= 535
API nvmlDeviceGetCurrentClocksEventReasons(Device h, uint64_t *out)
{
	DEVICE(nvmlDeviceGetCurrentClocksEventReasons, h);
	return reasons(&c, false, out);
}

API nvmlDeviceGetSupportedClocksEventReasons(Device h, uint64_t *out)
{
	DEVICE(nvmlDeviceGetSupportedClocksEventReasons, h);
	return reasons(&c, true, out);
}
#endif

API nvmlDeviceGetPcieThroughput(Device h, uint32_t counter, uint32_t *kib)
{
	DEVICE(nvmlDeviceGetPcieThroughput, h);
	if (counter > 1)
		return leave(&c, INVALID_ARGUMENT);
	return leave(&c, figure_u32(c.d, counter == 0 ? M_TX : M_RX, c.now, kib));
}

static Ret codec(const struct call *c, enum figure m, uint32_t *out, uint32_t *period)
{
	if (!period)
		return leave(c, INVALID_ARGUMENT);
	*period = 167000;
	return leave(c, figure_u32(c->d, m, c->now, out));
}

API nvmlDeviceGetEncoderUtilization(Device h, uint32_t *out, uint32_t *period)
{
	DEVICE(nvmlDeviceGetEncoderUtilization, h);
	return codec(&c, M_ENC, out, period);
}

API nvmlDeviceGetDecoderUtilization(Device h, uint32_t *out, uint32_t *period)
{
	DEVICE(nvmlDeviceGetDecoderUtilization, h);
	return codec(&c, M_DEC, out, period);
}

API nvmlDeviceGetEccMode(Device h, uint32_t *current, uint32_t *pending)
{
	DEVICE(nvmlDeviceGetEccMode, h);
	r = figure_u32(c.d, M_ECCMODE, c.now, current);
	return leave(&c, r ? r : figure_u32(c.d, M_ECCMODE, c.now, pending));
}

API nvmlDeviceGetTotalEccErrors(Device h, uint32_t error, uint32_t counter, uint64_t *out)
{
	uint64_t on;
	DEVICE(nvmlDeviceGetTotalEccErrors, h);
	if (!out || error > 1 || counter > 1)
		return leave(&c, INVALID_ARGUMENT);
	r = figure(c.d, M_ECCMODE, c.now, &on);
	if (r == SUCCESS && !on)
		r = NOT_SUPPORTED;
	return leave(&c, r ? r : figure(c.d, error ? M_ECC : M_CORRECTED, c.now, out));
}

#if DRIVER >= 580
API nvmlDeviceGetAddressingMode(Device h, struct addressing *out)
{
	DEVICE(nvmlDeviceGetAddressingMode, h);
	if (!out)
		return leave(&c, INVALID_ARGUMENT);
	if (out->version != (sizeof *out | 1u << 24))
		return leave(&c, ARGUMENT_VERSION_MISMATCH);
	return leave(&c, figure_u32(c.d, M_ADDRESSING, c.now, &out->value));
}
#endif

API nvmlDeviceGetFieldValues(Device h, int n, struct field *values)
{
	DEVICE(nvmlDeviceGetFieldValues, h);
	if (!values || n <= 0)
		return leave(&c, INVALID_ARGUMENT);
	for (int i = 0; i < n; i++)
		values[i].ret = NOT_SUPPORTED;
	return leave(&c, SUCCESS);
}

/* ---- processes -------------------------------------------------------------------------- */

struct listing {
	const struct call *c;
	int type; /* 0: whatever the type */
	uint32_t n, max;
	void *out;
	void (*put)(struct listing *, const struct device *, const struct process *);
};

static void put_v1(struct listing *l, const struct device *d, const struct process *p)
{
	((struct process_v1 *)l->out)[l->n] = (struct process_v1){p->pid, process_memory_at(d, p, l->c->now)};
}

#if DRIVER >= 470
static void put_v2(struct listing *l, const struct device *d, const struct process *p)
{
	((struct process_v2 *)l->out)[l->n] = (struct process_v2){p->pid, process_memory_at(d, p, l->c->now), d->gi, d->ci};
}
#endif

/* With max 0 it only counts. The list of a card holds the processes of its MIG instances. */
static void walk(struct listing *l, const struct device *d)
{
	for (int i = 0; i < d->procs.n; i++) {
		const struct process *p = &d->procs.v[i];
		if (!running(p, l->c->now) || (l->type && !(p->type & l->type)))
			continue;
		if (l->n < l->max)
			l->put(l, d, p);
		l->n++;
	}
	for (int i = 0; cuda && i < SHARED_ROWS; i++) {
		if (!cuda_row(d, i) || (l->type && !(COMPUTE & l->type)))
			continue;
		struct process p = {.pid = (uint32_t)cuda->row[i].pid, .memory = cuda->row[i].bytes};
		if (l->n < l->max)
			l->put(l, d, &p);
		l->n++;
	}
	for (int i = 0; d->mig_on && i < MAX_MIG; i++)
		if (d->child[i] >= 0)
			walk(l, &scene->devices.v[d->child[i]]);
}

static Ret list(const struct call *c, int type, uint32_t *count, void *out, void (*put)(struct listing *, const struct device *, const struct process *))
{
	struct listing l = {.c = c, .type = type, .out = out, .put = put};
	if (c->d->mig_on && !c->d->aggregate)
		return leave(c, NO_PERMISSION);
	walk(&l, c->d);
	Ret r = room(c, count, l.n, out);
	if (r == SUCCESS) {
		l.max = l.n;
		l.n = 0;
		walk(&l, c->d);
	}
	return leave(c, r);
}

#define LIST(func, T, type, put)                             \
	API func(Device h, uint32_t *count, T *out)          \
	{                                                    \
		DEVICE(func, h);                             \
		return list(&c, type, count, out, put);      \
	}

LIST(nvmlDeviceGetComputeRunningProcesses, struct process_v1, COMPUTE, put_v1)
LIST(nvmlDeviceGetGraphicsRunningProcesses, struct process_v1, GRAPHICS, put_v1)
#if DRIVER >= 470
LIST(nvmlDeviceGetMPSComputeRunningProcesses, struct process_v1, MPS, put_v1)
LIST(nvmlDeviceGetComputeRunningProcesses_v2, struct process_v2, COMPUTE, put_v2)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, struct process_v2, GRAPHICS, put_v2)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, struct process_v2, MPS, put_v2)
#endif
#if DRIVER >= 510
LIST(nvmlDeviceGetComputeRunningProcesses_v3, struct process_v2, COMPUTE, put_v2)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, struct process_v2, GRAPHICS, put_v2)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, struct process_v2, MPS, put_v2)
#endif

/* Samples are taken at whole seconds of the scenario and stamped with the time of day. */
API nvmlDeviceGetProcessUtilization(Device h, struct process_sample *out, uint32_t *count, unsigned long long last)
{
	DEVICE(nvmlDeviceGetProcessUtilization, h);
	if (!count)
		return leave(&c, INVALID_ARGUMENT);
	if (c.d->mig_on || c.d->mig >= 0)
		return leave(&c, NOT_SUPPORTED);
	uint64_t taken = (uint64_t)((start_real + c.now / SECOND * SECOND) / 1000);
	uint32_t n = 0;
	for (int pass = 0; pass < 2; pass++) {
		uint32_t i = 0;
		for (int k = 0; k < c.d->procs.n; k++) {
			const struct process *p = &c.d->procs.v[k];
			if (!running(p, c.now) || !(p->sm | p->mem | p->enc | p->dec) || taken <= last)
				continue;
			if (pass)
				out[i] = (struct process_sample){p->pid, taken, p->sm, p->mem, p->enc, p->dec};
			i++;
		}
		n = i;
		if (pass == 0 && !n && !c.insufficient)
			return leave(&c, NOT_FOUND);
		if (pass == 0 && (!out || *count < n || c.insufficient)) {
			uint32_t none = 0;
			r = room(&c, c.insufficient || out ? count : &none, n, out);
			if (!out && !c.insufficient)
				*count = n;
			return leave(&c, r ? r : INSUFFICIENT_SIZE);
		}
	}
	*count = n;
	return leave(&c, SUCCESS);
}

/* ---- accounting ------------------------------------------------------------------------- */

API nvmlDeviceGetAccountingMode(Device h, uint32_t *mode)
{
	DEVICE(nvmlDeviceGetAccountingMode, h);
	if (!mode)
		return leave(&c, INVALID_ARGUMENT);
	*mode = c.d->accounting;
	return leave(&c, c.d->mig >= 0 ? NOT_SUPPORTED : SUCCESS);
}

API nvmlDeviceGetAccountingBufferSize(Device h, uint32_t *size)
{
	DEVICE(nvmlDeviceGetAccountingBufferSize, h);
	if (!size)
		return leave(&c, INVALID_ARGUMENT);
	*size = c.d->buffer;
	return leave(&c, c.d->mig >= 0 ? NOT_SUPPORTED : SUCCESS);
}

/* Processes that have begun, running or not; graphics alone is not accounted. */
static bool accounted(const struct process *p, int64_t t)
{
	return p->start <= t && p->type != GRAPHICS;
}

API nvmlDeviceGetAccountingPids(Device h, uint32_t *count, uint32_t *pids)
{
	DEVICE(nvmlDeviceGetAccountingPids, h);
	if (!c.d->accounting || c.d->mig_on)
		return leave(&c, NOT_SUPPORTED);
	uint32_t n = 0;
	for (int i = 0; i < c.d->procs.n; i++)
		n += accounted(&c.d->procs.v[i], c.now);
	r = room(&c, count, n, pids);
	for (int i = 0, k = 0; r == SUCCESS && i < c.d->procs.n; i++)
		if (accounted(&c.d->procs.v[i], c.now))
			pids[k++] = c.d->procs.v[i].pid;
	return leave(&c, r);
}

API nvmlDeviceGetAccountingStats(Device h, uint32_t pid, struct accounting *out)
{
	const struct process *p = NULL;
	DEVICE(nvmlDeviceGetAccountingStats, h);
	if (!out)
		return leave(&c, INVALID_ARGUMENT);
	if (!c.d->accounting || c.d->mig_on)
		return leave(&c, NOT_SUPPORTED);
	for (int i = 0; i < c.d->procs.n; i++) /* of a pid used twice, the latest */
		if (c.d->procs.v[i].pid == pid && accounted(&c.d->procs.v[i], c.now))
			p = &c.d->procs.v[i];
	if (!p)
		return leave(&c, NOT_FOUND);
	*out = (struct accounting){
		.gpu = p->sm,
		.memory = p->mem,
		.max_memory = process_max_at(c.d, p, c.now),
		.time = running(p, c.now) ? 0 : (uint64_t)((p->stop - p->start) / 1000000),
		.start = (uint64_t)((start_real + p->start) / 1000),
		.running = running(p, c.now),
	};
	return leave(&c, SUCCESS);
}

/* ---- MIG -------------------------------------------------------------------------------- */

#if DRIVER >= 450
API nvmlDeviceGetMigMode(Device h, uint32_t *current, uint32_t *pending)
{
	DEVICE(nvmlDeviceGetMigMode, h);
	if (!current || !pending)
		return leave(&c, INVALID_ARGUMENT);
	*current = *pending = c.d->mig_on;
	return leave(&c, c.d->mig_capable ? SUCCESS : NOT_SUPPORTED);
}

API nvmlDeviceGetMaxMigDeviceCount(Device h, uint32_t *count)
{
	DEVICE(nvmlDeviceGetMaxMigDeviceCount, h);
	if (!count)
		return leave(&c, INVALID_ARGUMENT);
	*count = c.d->mig_on ? MAX_MIG : 0;
	return leave(&c, SUCCESS);
}

API nvmlDeviceGetMigDeviceHandleByIndex(Device h, uint32_t index, Device *out)
{
	DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, h);
	if (!out || index >= MAX_MIG)
		return leave(&c, INVALID_ARGUMENT);
	if (!c.d->mig_on)
		return leave(&c, NOT_SUPPORTED);
	if (c.d->child[index] < 0)
		return leave(&c, NOT_FOUND);
	*out = handle_of(&scene->devices.v[c.d->child[index]]);
	return leave(&c, SUCCESS);
}

API nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device h, Device *out)
{
	DEVICE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, h);
	if (!out || c.d->mig < 0)
		return leave(&c, INVALID_ARGUMENT);
	*out = handle_of(&scene->devices.v[c.d->parent]);
	return leave(&c, SUCCESS);
}

API nvmlDeviceIsMigDeviceHandle(Device h, uint32_t *is)
{
	DEVICE(nvmlDeviceIsMigDeviceHandle, h);
	if (!is)
		return leave(&c, INVALID_ARGUMENT);
	*is = c.d->mig >= 0;
	return leave(&c, SUCCESS);
}

static Ret instance(const struct call *c, uint32_t id, uint32_t *out)
{
	if (!out)
		return leave(c, INVALID_ARGUMENT);
	if (c->d->mig < 0)
		return leave(c, NOT_SUPPORTED);
	*out = id;
	return leave(c, SUCCESS);
}

API nvmlDeviceGetGpuInstanceId(Device h, uint32_t *id)
{
	DEVICE(nvmlDeviceGetGpuInstanceId, h);
	return instance(&c, c.d->gi, id);
}

API nvmlDeviceGetComputeInstanceId(Device h, uint32_t *id)
{
	DEVICE(nvmlDeviceGetComputeInstanceId, h);
	return instance(&c, c.d->ci, id);
}

static Ret give_attributes(const struct call *c, struct attributes *out)
{
	if (!out)
		return leave(c, INVALID_ARGUMENT);
	if (c->d->mig < 0)
		return leave(c, NOT_SUPPORTED);
	*out = c->d->attributes;
	return leave(c, SUCCESS);
}

API nvmlDeviceGetAttributes(Device h, struct attributes *out)
{
	DEVICE(nvmlDeviceGetAttributes, h);
	return give_attributes(&c, out);
}

API nvmlDeviceGetAttributes_v2(Device h, struct attributes *out)
{
	DEVICE(nvmlDeviceGetAttributes_v2, h);
	return give_attributes(&c, out);
}
#endif

/* ---- events ----------------------------------------------------------------------------- */

static struct event_set *set_of(struct event_set *s)
{
	return s >= sets && s < sets + MAX_SETS && s->used ? s : NULL;
}

API nvmlEventSetCreate(struct event_set **out)
{
	SYSTEM(nvmlEventSetCreate);
	r = out ? INSUFFICIENT_RESOURCES : INVALID_ARGUMENT;
	pthread_mutex_lock(&init_mutex);
	for (int i = 0; out && i < MAX_SETS; i++)
		if (!sets[i].used) {
			pthread_mutex_lock(&sets[i].mutex); /* somebody may still wait on its former life */
			sets[i].next = 0;
			memset(sets[i].mask, 0, sizeof sets[i].mask);
			pthread_mutex_unlock(&sets[i].mutex);
			sets[i].used = true;
			*out = &sets[i];
			r = SUCCESS;
			break;
		}
	pthread_mutex_unlock(&init_mutex);
	return leave(&c, r);
}

API nvmlEventSetFree(struct event_set *s)
{
	SYSTEM(nvmlEventSetFree);
	s = set_of(s);
	if (!s)
		return leave(&c, INVALID_ARGUMENT);
	s->used = false;
	return leave(&c, SUCCESS);
}

API nvmlDeviceGetSupportedEventTypes(Device h, uint64_t *types)
{
	DEVICE(nvmlDeviceGetSupportedEventTypes, h);
	return leave(&c, types ? figure(c.d, M_EVENTS, c.now, types) : INVALID_ARGUMENT);
}

API nvmlDeviceRegisterEvents(Device h, unsigned long long types, struct event_set *s)
{
	uint64_t known;
	DEVICE(nvmlDeviceRegisterEvents, h);
	s = set_of(s);
	if (!s)
		return leave(&c, INVALID_ARGUMENT);
	r = figure(c.d, M_EVENTS, c.now, &known);
	if (r == SUCCESS && (types & ~known || !types))
		r = NOT_SUPPORTED;
	if (r == SUCCESS) {
		pthread_mutex_lock(&s->mutex);
		s->mask[place(c.d)] |= types;
		s->since[place(c.d)] = c.now;
		pthread_mutex_unlock(&s->mutex);
	}
	return leave(&c, r);
}

/* The next event that has happened and was registered for, or NULL. Sets *wake to the scenario
 * time of the event after that. */
static const struct event *next_event(struct event_set *s, int64_t now, int64_t *wake)
{
	const struct event *found = NULL;
	pthread_mutex_lock(&s->mutex);
	while (!found && s->next < scene->events.n && scene->events.v[s->next].at <= now) {
		const struct event *e = &scene->events.v[s->next++];
		if (s->mask[e->device] & e->type && e->at >= s->since[e->device])
			found = e;
	}
	if (found && found->again)
		s->next--;
	*wake = s->next < scene->events.n ? scene->events.v[s->next].at : NEVER;
	pthread_mutex_unlock(&s->mutex);
	return found;
}

static Ret wait_event(struct call *c, struct event_set *s, uint32_t timeout, const struct event **out)
{
	int64_t deadline = c->began + (int64_t)timeout * 1000000;
	s = set_of(s);
	if (!s)
		return INVALID_ARGUMENT;
	for (;;) {
		int64_t now = mono(), wake, t = scene_time(now);
		*out = next_event(s, t, &wake);
		if (*out)
			return SUCCESS;
		if (atomic_load(&refs) <= 0)
			return UNINITIALIZED;
		if (reload_due(t))
			return scene->reloads.v[atomic_load(&reloaded)].code;
		if (now >= deadline)
			return TIMEOUT;
		int next = atomic_load(&reloaded);
		if (next < scene->reloads.n && scene->reloads.v[next].at < wake)
			wake = scene->reloads.v[next].at;
		int64_t left = deadline - now;
		if (frozen < 0 && wake != NEVER && wake - t < left)
			left = wake - t;
		sleep_ns(left > 0 ? left : 1);
	}
}

API nvmlEventSetWait(struct event_set *s, struct event_v1 *out, uint32_t timeout)
{
	const struct event *e;
	SYSTEM(nvmlEventSetWait);
	r = out ? wait_event(&c, s, timeout, &e) : INVALID_ARGUMENT;
	if (r == SUCCESS)
		*out = (struct event_v1){handle_of(&scene->devices.v[e->device]), e->type, e->data};
	return leave(&c, r);
}

#if DRIVER >= 450
API nvmlEventSetWait_v2(struct event_set *s, struct event_v2 *out, uint32_t timeout)
{
	const struct event *e;
	SYSTEM(nvmlEventSetWait_v2);
	r = out ? wait_event(&c, s, timeout, &e) : INVALID_ARGUMENT;
	if (r == SUCCESS) /* of an instance's event the card's handle is told, as the driver does */
	{
		const struct device *d = &scene->devices.v[e->device];
		const struct device *card = d->mig >= 0 ? &scene->devices.v[d->parent] : d;
		*out = (struct event_v2){handle_of(card), e->type, e->data, d->gi, d->ci};
	}
	return leave(&c, r);
}
#endif

/* ---- checking scenarios ----------------------------------------------------------------- */

#ifdef FAKENVML_CHECK
int main(int argc, char **argv)
{
	int bad = 0;
	for (int i = 1; i < argc; i++) {
		char error[256];
		if (!load(argv[i], error, sizeof error)) {
			fprintf(stderr, "%s\n", error);
			bad = 1;
		}
	}
	return bad;
}
#endif
