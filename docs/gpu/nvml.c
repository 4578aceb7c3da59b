/* How long each call of NVML takes. Prototypes are those of the toolkit.
 *
 *   gcc -O2 -I/usr/local/cuda/include -o nvml nvml.c -ldl
 *
 *   nvml                a table: name, answer, how often, median, p95, max
 *   nvml -m SECONDS     nvmlDeviceGetMemoryInfo every 20 ms
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nvml.h>

#define VERSION(type, n) ((unsigned)(sizeof(type) | (n) << 24))
enum { CALLS = 200, SLOW_CALLS = 20, INSTANT = 186, AVERAGE = 185, MOST = 1024 };

static void *nvml;
static nvmlDevice_t gpu;

static double mono(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

#define GET(f)                                                     \
	static __typeof__(f) *p;                                   \
	if (!p)                                                    \
		p = (__typeof__(f) *)dlsym(nvml, #f);              \
	if (!p)                                                    \
		return -1

#define ONE(f, ...)                                                \
	static int call_##f(void)                                  \
	{                                                          \
		GET(f);                                            \
		return (int)p(__VA_ARGS__);                        \
	}

static unsigned u, v, w, x;
static unsigned long long ull;
static char extra[256]; /* what a call has found, for the table */
static char text[128];
static nvmlMemory_t memory;
static nvmlUtilization_t utilization;
static nvmlPstates_t pstate;
static nvmlEnableState_t state;
static nvmlProcessInfo_t infos[MOST];
static nvmlProcessUtilizationSample_t samples[MOST];
static nvmlSample_t values[MOST];
static nvmlEventSet_t events;

ONE(nvmlSystemGetDriverVersion, text, sizeof text)
ONE(nvmlDeviceGetHandleByIndex_v2, 0, &gpu)
ONE(nvmlDeviceGetMemoryInfo, gpu, &memory)
ONE(nvmlDeviceGetUtilizationRates, gpu, &utilization)
ONE(nvmlDeviceGetTemperature, gpu, NVML_TEMPERATURE_GPU, &u)
ONE(nvmlDeviceGetPowerUsage, gpu, &u)
ONE(nvmlDeviceGetPcieReplayCounter, gpu, &u)
ONE(nvmlDeviceGetEnforcedPowerLimit, gpu, &u)
ONE(nvmlDeviceGetPerformanceState, gpu, &pstate)
ONE(nvmlDeviceGetCurrentClocksEventReasons, gpu, &ull)
ONE(nvmlDeviceGetFanSpeed, gpu, &u)
ONE(nvmlDeviceGetEncoderUtilization, gpu, &u, &v)
ONE(nvmlDeviceGetAccountingMode, gpu, &state)
ONE(nvmlDeviceGetMigMode, gpu, &u, &v)
ONE(nvmlDeviceGetRemappedRows, gpu, &u, &v, &w, &x)

static int call_MemoryInfo_v2(void)
{
	GET(nvmlDeviceGetMemoryInfo_v2);
	nvmlMemory_v2_t m;
	memset(&m, 0, sizeof m);
	m.version = VERSION(nvmlMemory_v2_t, 2);
	int answer = (int)p(gpu, &m);
	snprintf(extra, sizeof extra, "total %llu reserved %llu used %llu free %llu", m.total, m.reserved, m.used, m.free);
	return answer;
}

#define PROCESSES(f)                                               \
	static int call_##f(void)                                  \
	{                                                          \
		GET(f);                                            \
		u = MOST;                                          \
		int answer = (int)p(gpu, &u, infos);               \
		snprintf(extra, sizeof extra, "%u processes", answer ? 0 : u); \
		return answer;                                     \
	}
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

static int call_ProcessUtilization(void)
{
	GET(nvmlDeviceGetProcessUtilization);
	u = MOST;
	int answer = (int)p(gpu, samples, &u, 0); /* 6, not found: nobody has used it */
	snprintf(extra, sizeof extra, "%u samples", answer ? 0 : u);
	return answer;
}

static int call_ProcessesUtilizationInfo(void)
{
	GET(nvmlDeviceGetProcessesUtilizationInfo);
	static nvmlProcessUtilizationInfo_v1_t list[MOST];
	nvmlProcessesUtilizationInfo_t info;
	memset(&info, 0, sizeof info);
	info.version = VERSION(nvmlProcessesUtilizationInfo_v1_t, 1);
	info.processSamplesCount = MOST;
	info.procUtilArray = list;
	int answer = (int)p(gpu, &info);
	snprintf(extra, sizeof extra, "%u samples", answer ? 0 : info.processSamplesCount);
	return answer;
}

static int call_RunningProcessDetailList(void)
{
	GET(nvmlDeviceGetRunningProcessDetailList);
	static nvmlProcessDetail_v1_t list[MOST];
	nvmlProcessDetailList_t info;
	memset(&info, 0, sizeof info);
	info.version = VERSION(nvmlProcessDetailList_v1_t, 1);
	info.numProcArrayEntries = MOST;
	info.procArray = list;
	int answer = (int)p(gpu, &info);
	snprintf(extra, sizeof extra, "%u processes", answer ? 0 : info.numProcArrayEntries);
	return answer;
}

static int call_power(void)
{
	GET(nvmlDeviceGetFieldValues);
	nvmlFieldValue_t f[2];
	memset(f, 0, sizeof f);
	f[0].fieldId = AVERAGE, f[1].fieldId = INSTANT;
	int answer = (int)p(gpu, 2, f);
	snprintf(extra, sizeof extra, "average %u mW (%d) instant %u mW (%d)", f[0].value.uiVal, (int)f[0].nvmlReturn, f[1].value.uiVal, (int)f[1].nvmlReturn);
	return answer;
}

static int clock_of(nvmlClockType_t type)
{
	GET(nvmlDeviceGetClockInfo);
	return (int)p(gpu, type, &u);
}

static int call_clock_sm(void) { return clock_of(NVML_CLOCK_SM); }
static int call_clock_mem(void) { return clock_of(NVML_CLOCK_MEM); }

static int ecc(nvmlMemoryErrorType_t type)
{
	GET(nvmlDeviceGetTotalEccErrors);
	return (int)p(gpu, type, NVML_VOLATILE_ECC, &ull);
}

static int call_ecc_corrected(void) { return ecc(NVML_MEMORY_ERROR_TYPE_CORRECTED); }
static int call_ecc_uncorrected(void) { return ecc(NVML_MEMORY_ERROR_TYPE_UNCORRECTED); }

static int pcie(nvmlPcieUtilCounter_t way)
{
	GET(nvmlDeviceGetPcieThroughput);
	int answer = (int)p(gpu, way, &u);
	snprintf(extra, sizeof extra, "%u KB/s", u);
	return answer;
}

static int call_pcie_tx(void) { return pcie(NVML_PCIE_UTIL_TX_BYTES); }
static int call_pcie_rx(void) { return pcie(NVML_PCIE_UTIL_RX_BYTES); }

static int call_samples(void)
{
	GET(nvmlDeviceGetSamples);
	nvmlValueType_t type;
	u = MOST;
	int answer = (int)p(gpu, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &u, values);
	snprintf(extra, sizeof extra, "%u samples", answer ? 0 : u);
	return answer;
}

static int call_event_create(void)
{
	GET(nvmlEventSetCreate);
	static __typeof__(nvmlEventSetFree) *freed;
	freed = (__typeof__(nvmlEventSetFree) *)dlsym(nvml, "nvmlEventSetFree");
	if (events && freed)
		freed(events);
	events = NULL;
	return (int)p(&events);
}

static int call_event_register(void)
{
	GET(nvmlDeviceRegisterEvents);
	return events ? (int)p(gpu, 0x8 /* nvmlEventTypeXidCriticalError */, events) : -2;
}

static int call_event_wait(void)
{
	GET(nvmlEventSetWait_v2);
	nvmlEventData_t data;
	return events ? (int)p(events, &data, 0) : -2; /* 10: a timeout, as it should be */
}

static int call_init(void)
{
	GET(nvmlInit_v2);
	return (int)p();
}

static int call_shutdown(void)
{
	GET(nvmlShutdown);
	return (int)p();
}

static double started;

static void row(const char *name, int (*call)(void), int most)
{
	static double took[CALLS];
	double began = mono();
	int n = 0, answer = 0, others = 0;
	extra[0] = 0;
	if (began - started > 14) /* not for ever: 20 s in all */
		most = most < 3 ? most : 3;
	while (n < most) {
		double t = mono();
		int a = call();
		took[n++] = (mono() - t) * 1e6;
		if (n == 1)
			answer = a;
		others += a != answer;
		if (a == -1 || a == -2)
			break;
		if (n == 2 && took[1] > 5000 && most > SLOW_CALLS) /* the first one may have to begin something */
			most = SLOW_CALLS;
		if (mono() - began > 1.0)
			break;
	}
	if (answer == -1) {
		printf("%-46s missing\n", name);
	} else {
		double first = took[0];
		qsort(took, (size_t)n, sizeof *took, by_size);
		printf("%-46s %6d %5d %12.1f %12.1f %12.1f %12.1f  %s", name, answer, n, took[n / 2], took[n * 95 / 100], took[n - 1], first, extra);
		if (others)
			printf("  (%d answers differ)", others);
		putchar('\n');
	}
	fflush(stdout);
}

static void late(int unused)
{
	(void)unused;
	static const char said[] = "\nnvml: took too long\n";
	if (write(1, said, sizeof said - 1) >= 0)
		_exit(3);
	_exit(4);
}

static int watch(double seconds)
{
	size_t most = (size_t)(seconds * 50) + 2, n = 0;
	double *took = calloc(most, sizeof *took), began = mono();
	int failed = 0, over[3] = {0};
	__typeof__(nvmlDeviceGetMemoryInfo) *f = (__typeof__(nvmlDeviceGetMemoryInfo) *)dlsym(nvml, "nvmlDeviceGetMemoryInfo");
	unsigned long long least = -1ull, largest = 0;
	if (!took || !f)
		return 1;
	for (double next = began; n < most && mono() - began < seconds; next += 0.02) {
		double left = next - mono();
		if (left > 0)
			usleep((useconds_t)(left * 1e6));
		else
			next = mono();
		double t = mono();
		failed += f(gpu, &memory) != 0;
		t = (mono() - t) * 1e3;
		least = memory.used < least ? memory.used : least;
		largest = memory.used > largest ? memory.used : largest;
		over[0] += t > 1, over[1] += t > 5, over[2] += t > 20;
		took[n++] = t * 1e3;
	}
	if (!n)
		return 1;
	qsort(took, n, sizeof *took, by_size);
	printf("nvmlDeviceGetMemoryInfo %zu calls, %d failed: median %.1f us p95 %.1f us max %.1f us; over 1 ms %d, 5 ms %d, 20 ms %d; used %llu to %llu\n", n, failed, took[n / 2], took[n * 95 / 100],
	       took[n - 1], over[0], over[1], over[2], least, largest);
	free(took);
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 && strcmp(argv[1], "-m") == 0 ? atof(argv[2]) : 0;
	signal(SIGALRM, late);
	alarm((unsigned)seconds + 30);
	nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	if (!nvml) {
		fprintf(stderr, "nvml: %s\n", dlerror());
		return 1;
	}
	double t = started = mono();
	int answer = call_init();
	double took = (mono() - t) * 1e6;
	if (answer || (answer = call_nvmlDeviceGetHandleByIndex_v2()) != 0) {
		fprintf(stderr, "nvml: the library cannot begin: %d\n", answer);
		return 1;
	}
	if (seconds > 0)
		return watch(seconds);
	call_nvmlSystemGetDriverVersion();
	printf("# driver %s\n%-46s %6s %5s %12s %12s %12s %12s\n", text, "function", "answer", "calls", "median us", "p95 us", "max us", "first us");
	printf("%-46s %6d %5d %12.1f %12.1f %12.1f %12.1f\n", "nvmlInit_v2, the first", 0, 1, took, took, took, took);
	row("nvmlInit_v2, again", call_init, SLOW_CALLS); /* counted: as many shutdowns below */
	row("nvmlShutdown, not the last", call_shutdown, SLOW_CALLS);
#define ROW(f) row(#f, call_##f, CALLS);
	ROW(nvmlSystemGetDriverVersion)
	ROW(nvmlDeviceGetHandleByIndex_v2)
	ROW(nvmlDeviceGetMemoryInfo)
	row("nvmlDeviceGetMemoryInfo_v2", call_MemoryInfo_v2, CALLS);
	ROW(nvmlDeviceGetUtilizationRates)
	ROW(nvmlDeviceGetComputeRunningProcesses_v3)
	ROW(nvmlDeviceGetGraphicsRunningProcesses_v3)
	ROW(nvmlDeviceGetMPSComputeRunningProcesses_v3)
	row("nvmlDeviceGetRunningProcessDetailList", call_RunningProcessDetailList, CALLS);
	row("nvmlDeviceGetProcessUtilization", call_ProcessUtilization, CALLS);
	row("nvmlDeviceGetProcessesUtilizationInfo", call_ProcessesUtilizationInfo, CALLS);
	ROW(nvmlDeviceGetTemperature)
	ROW(nvmlDeviceGetPowerUsage)
	row("nvmlDeviceGetFieldValues (2 of power)", call_power, CALLS);
	row("nvmlDeviceGetClockInfo SM", call_clock_sm, CALLS);
	row("nvmlDeviceGetClockInfo MEM", call_clock_mem, CALLS);
	row("nvmlDeviceGetPcieThroughput TX", call_pcie_tx, CALLS);
	row("nvmlDeviceGetPcieThroughput RX", call_pcie_rx, CALLS);
	ROW(nvmlDeviceGetPcieReplayCounter)
	ROW(nvmlDeviceGetEnforcedPowerLimit)
	ROW(nvmlDeviceGetPerformanceState)
	ROW(nvmlDeviceGetCurrentClocksEventReasons)
	row("nvmlDeviceGetTotalEccErrors corrected", call_ecc_corrected, CALLS);
	row("nvmlDeviceGetTotalEccErrors uncorrected", call_ecc_uncorrected, CALLS);
	ROW(nvmlDeviceGetRemappedRows)
	ROW(nvmlDeviceGetFanSpeed)
	ROW(nvmlDeviceGetEncoderUtilization)
	ROW(nvmlDeviceGetAccountingMode)
	ROW(nvmlDeviceGetMigMode)
	row("nvmlDeviceGetSamples (GPU utilization)", call_samples, CALLS);
	row("nvmlEventSetCreate", call_event_create, SLOW_CALLS);
	row("nvmlDeviceRegisterEvents", call_event_register, 1);
	row("nvmlEventSetWait_v2 0 ms", call_event_wait, CALLS);
	row("nvmlShutdown, the last", call_shutdown, 1);
	t = mono();
	answer = call_init();
	took = (mono() - t) * 1e6;
	printf("%-46s %6d %5d %12.1f\n", "nvmlInit_v2, the first after that", answer, 1, took);
	call_shutdown();
	return 0;
}
