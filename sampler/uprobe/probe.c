//go:build ignore

// The kernel's half of requests: one program for all entries of libcuda's functions, one for
// all returns. What a call means is in its cookie (see Cookie in sampler/request), so that a new function is a
// row there and nothing here. Others tell how a process that has called ended, that one gave way to another
// program, and that one loads a libcuda. Compiled by bpf2go while developing: see generate.go.

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#define ARG1(r) ((r)->di)
#define ARG2(r) ((r)->si)
#define ARG3(r) ((r)->dx)
#define ARG4(r) ((r)->cx)
#define ARG5(r) ((r)->r8)
#define ARG6(r) ((r)->r9)
#define ANSWER(r) ((__s32)(r)->ax)
#define IS_MMAP(r) ((r)->orig_ax == 9) // of a system call; its 1st to 3rd and 5th argument are those above
#define MMAP_FLAGS(r) ((r)->r10)
#define PLACE_OF(r) ((r)->ip)
#define FRAME(r) ((r)->sp)
#define FRAME_LEFT(r) ((r)->sp - 8) // the return has taken its address
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
#define ARG1(r) ((r)->regs[0])
#define ARG2(r) ((r)->regs[1])
#define ARG3(r) ((r)->regs[2])
#define ARG4(r) ((r)->regs[3])
#define ARG5(r) ((r)->regs[4])
#define ARG6(r) ((r)->regs[5])
#define ANSWER(r) ((__s32)(r)->regs[0])
#define IS_MMAP(r) ((r)->regs[8] == 222)
#define MMAP_FLAGS(r) ((r)->regs[3])
#define PLACE_OF(r) ((r)->pc)
#define FRAME(r) ((r)->sp)
#define FRAME_LEFT(r) ((r)->sp)
#endif

// The parts of a cookie, as the Go side packs them.
#define FUNCTION(c) ((c) & 0xff)
#define EFFECT(c) ((c) >> 8 & 0xff)
#define SIZE_ARG(c) ((c) >> 16 & 7)
#define TIMES_ARG(c) ((c) >> 19 & 7)
#define ADDRESS_ARG(c) ((c) >> 22 & 7)
#define PLACE_ARG(c) ((c) >> 25 & 7)
#define PLACE_KIND(c) ((c) >> 28 & 0xf)
#define SET(c) ((c) >> 32 & 0xffff)
#define LIBRARY(c) ((c) >> 48)

enum { EFFECT_GIVES = 1, EFFECT_TAKES, EFFECT_MAPS, EFFECT_UNMAPS, EFFECT_NAMES, EFFECT_MAKES, EFFECT_SETS, EFFECT_PUSHES, EFFECT_POPS, EFFECT_ENDS, EFFECT_BEGINS, EFFECT_STREAMS, EFFECT_RETAINS, EFFECT_HIDES, EFFECT_TRIMS, EFFECT_CAPTURES, EFFECT_CAPTURED, EFFECT_IMPORTS };
enum { PLACE_CURRENT = 0, PLACE_PROPERTIES, PLACE_POOL, PLACE_DEVICE, PLACE_STREAM, PLACE_LOCATION, PLACE_NODE, PLACE_PITCH };

#define FUNCTIONS 64
#define LIBRARIES 64
#define DEPTH 16
#define ERAS 4095 // below all addresses
// In the place of a function, what has happened to the process.
#define ENDED 255  // with that status
#define EXECED 254 // it runs another program now
#define LET_GO 253 // it calls a function (other) too often, which is not looked at for so long (size, in ns)
#define FAILED 252 // the call that began then (other, in ns) gave nothing back
#define LOADS 251  // it maps a libcuda: the inode of that number (other)
#define WITHIN 250 // what the thread was answered last it asked within a function (size) on a stream (other), of a pool (address)
#define LINGERED 249 // the call that began then (other, in ns) gave memory back, and took long
#define LEFT 248     // the call of a function (address) that began then (other, in ns) never returned to where it was made
#define REFUSED 2 // CUDA_ERROR_OUT_OF_MEMORY

// event is one call that was answered, as Door.parse reads it.
struct event {
	__u64 time; // ns of CLOCK_MONOTONIC when it returned; of what has no answer, when it began
	__u64 size;
	__u64 address; // given or taken back; of contexts and pools their handle
	__u64 other;   // a mapping's handle, the stream, the type of a node; of what gives memory back, when it began
	__u64 context; // current in the thread; up to ERAS: not known
	__u32 pid, tid;
	__s32 answer;
	__s32 device; // ordinal as the process counts; -1: not known; -2: none, it is the host
	__u32 function;
	__u32 took; // us from entry to return
};

struct call {
	__u64 began, size, address, other, pool;
	__u64 times; // size was multiplied by
	__u64 copy;  // of libcuda, see copy_of
	__s32 device;
};

// A process may have several copies of libcuda, each with a current context of its own in each thread.
#define COPIES 2 // of a thread that are kept: those whose context it has set last
// Of a context that was set before we came nothing is known but that it is current. One that lies below it, and is so once it is popped, is another one,
// which the era tells apart.
struct stack {
	__u64 copy;
	__u32 depth;
	__u32 era; // contexts that were popped from the lowest place
	__u64 contexts[DEPTH];
};

struct thread {
	__u32 newest;
	struct stack stacks[COPIES];
};

// What a thread was answered last that asked for memory.
struct answered {
	__u64 at, size, address;
	__u64 pool;   // that it asked; 0: none, or that is told
	__u64 mapped; // where it was mapped since; 0: it was not
	__s32 answer;
};

// A thread may be in the same function twice: a signal handler asks, too, or has left the first one by a jump.
struct call_key {
	__u64 thread;
	__u64 function;
	__u64 frame; // where its stack was
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct call_key);
	__type(value, struct call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct answered);
} answers SEC(".maps");

// The call that a thread has entered last. Containers of one image have the same file, which is another one in each of them for
// all that is told outside of the kernel: its probes are set for each of them, and all of them see the call.
struct entry {
	__u64 at, time; // address of the function
	__u64 library;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct entry);
} entries SEC(".maps");

// Processes that have called, by their number on the machine, and what has happened to them.
enum { CONTEXTS_MISSED = 1 };
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} callers SEC(".maps");

// How often a process calls a function: each look costs it some microseconds. Who calls more often than that is let go
// of, for a time that doubles whenever it comes again. The others pay for themselves.
#define SECOND 1000000000ULL
#define WINDOW (2 * SECOND)
#define MOST_PAUSE (600 * SECOND)

struct pace {
	__u64 since, until, pause;
	__u64 calls; // since then
};

struct pace_key {
	__u32 pid, function;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct pace_key);
	__type(value, struct pace);
} paces SEC(".maps");

// Read by the Go side through memory that it shares.
__u64 counts[FUNCTIONS]; // calls of each function
__u64 lost;              // events for which there was no room
__u32 contexts_missed;   // changes of contexts are not seen any more: what is kept of them is no longer true
// And written: which set of a function's probes counts, so that one takes the place of another without a gap and no call
// counts twice; how often a process may call it in a window.
__u32 live[FUNCTIONS];
__u32 libraries; // that are looked at
__u32 most[FUNCTIONS];
__u64 places[LIBRARIES][FUNCTIONS]; // of functions in their file

// The pid namespace in which pids are told; 0: that of the machine.
volatile const __u64 namespace_device = 0;
volatile const __u64 namespace_inode = 0;

// The cookie of the one probe that this copy of the programs is for, before Linux 5.15, where a probe has none; 0: it has.
volatile const __u64 only_cookie = 0;

// The first time for which a process is let go of, in ns.
volatile const __u64 first_pause = 10 * SECOND;

static __always_inline __u64 cookie_of(struct pt_regs *r) { return only_cookie ? only_cookie : bpf_get_attach_cookie(r); }

struct arguments {
	__u64 a1, a2, a3, a4, a5, a6;
};

// TAKE reads all arguments at fixed places: the verifier refuses a place that is computed.
#define KEPT(x) ({ __u64 v = (x); asm volatile("" : "+r"(v)); v; })
#define TAKE(r) {KEPT(ARG1(r)), KEPT(ARG2(r)), KEPT(ARG3(r)), KEPT(ARG4(r)), KEPT(ARG5(r)), KEPT(ARG6(r))}

static __always_inline __u64 argument(const struct arguments *a, __u64 n)
{
	switch (n) {
	case 1: return a->a1;
	case 2: return a->a2;
	case 3: return a->a3;
	case 4: return a->a4;
	case 5: return a->a5;
	case 6: return a->a6;
	}
	return 0;
}

// who is the thread as nvpeak's own namespace numbers it; 0: it is of another one.
static __always_inline __u64 who(void)
{
	if (!namespace_inode)
		return bpf_get_current_pid_tgid();
	struct bpf_pidns_info info = {};
	if (bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &info, sizeof(info)))
		return 0;
	return (__u64)info.tgid << 32 | info.pid;
}

// copy_of is where in the process the file begins that the function is of. The same file may be several libraries (see entry), so that the number of
// the library does not tell.
static __always_inline __u64 copy_of(struct pt_regs *r, __u64 cookie)
{
	return PLACE_OF(r) - places[LIBRARY(cookie) & (LIBRARIES - 1)][FUNCTION(cookie) & (FUNCTIONS - 1)];
}

static __always_inline struct stack *stack_of(struct thread *t, __u64 copy)
{
#pragma unroll
	for (int i = 0; i < COPIES; i++)
		if (t->stacks[i].copy == copy)
			return &t->stacks[i];
	return NULL;
}

static const struct thread no_thread = {};

static __always_inline void set_current(__u64 thread, __u64 copy, __u64 effect, __u64 context)
{
	struct thread *t = bpf_map_lookup_elem(&threads, &thread);
	if (!t) {
		bpf_map_update_elem(&threads, &thread, &no_thread, BPF_ANY);
		t = bpf_map_lookup_elem(&threads, &thread);
		if (!t)
			return;
	}
	struct stack *s = stack_of(t, copy);
	if (!s) {
		__u32 at = (t->newest + 1) & (COPIES - 1);
		t->newest = at;
		s = &t->stacks[at];
		*s = (struct stack){.copy = copy};
	}
	if (effect == EFFECT_PUSHES || effect == EFFECT_MAKES) {
		s->depth += 1; // beyond what is kept the lowest are forgotten: a pop leaves nothing in its place
	} else if (effect == EFFECT_POPS) {
		s->contexts[s->depth & (DEPTH - 1)] = 0;
		if (s->depth > 0)
			s->depth -= 1;
		else if (s->era < ERAS)
			s->era += 1;
		return;
	}
	s->contexts[s->depth & (DEPTH - 1)] = context;
}

// top is the context that a thread has set last and not taken back; the number of its era: not known.
static __always_inline __u64 top(__u64 thread, __u64 copy)
{
	struct thread *t = bpf_map_lookup_elem(&threads, &thread);
	struct stack *s = t ? stack_of(t, copy) : NULL;
	__u64 context = s ? s->contexts[s->depth & (DEPTH - 1)] : 0;
	return context || !s ? context : s->era;
}

// end_context takes a context that ends from the thread.
static __always_inline void end_context(__u64 thread, __u64 copy, __u64 context)
{
	if (context && top(thread, copy) == context)
		set_current(thread, copy, EFFECT_POPS, 0);
}

static __always_inline __u64 current_context(__u64 thread, __u64 copy)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u8 *caller = bpf_map_lookup_elem(&callers, &pid);
	if (contexts_missed || (caller && *caller & CONTEXTS_MISSED))
		return 0;
	return top(thread, copy);
}

// Who reads looks before it says what has happened, once a second at least. To be woken for each call costs it more than what that says: it is for what
// is urgent, and when there is much to read.
#define SIZE_IN_RING (8 + sizeof(struct event))
#define MUCH (64 * SIZE_IN_RING)

// urgent: a refusal is told at once, and who may not live long is looked at.
static __always_inline int urgent(__u64 cookie, __s32 answer)
{
	return answer == REFUSED || EFFECT(cookie) == EFFECT_BEGINS || (FUNCTION(cookie) >= LOADS && FUNCTION(cookie) != FAILED);
}

static __always_inline void tell(__u64 cookie, __u64 thread, struct call *c, __s32 answer)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	e->time = bpf_ktime_get_ns();
	e->size = c->size;
	e->address = c->address;
	e->other = c->other;
	e->context = c->pool ? c->pool : current_context(thread, c->copy);
	e->pid = thread >> 32;
	e->tid = (__u32)thread;
	e->answer = answer;
	e->device = c->device;
	e->function = FUNCTION(cookie);
	e->took = (e->time - c->began) / 1000;
	int wakes = urgent(cookie, answer) || bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) % MUCH < SIZE_IN_RING;
	bpf_ringbuf_submit(e, wakes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void note(__u8 what)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u8 *caller = bpf_map_lookup_elem(&callers, &pid);
	if (caller)
		*caller |= what;
	else
		bpf_map_update_elem(&callers, &pid, &what, BPF_ANY);
}

// too_often says whether the process is let go of, or is from now on. Without one of the calls that set contexts, all that
// is known of its others is wrong.
static __always_inline int too_often(__u64 cookie, __u64 thread, __u64 now)
{
	struct pace_key key = {thread >> 32, FUNCTION(cookie)};
	struct pace *p = bpf_map_lookup_elem(&paces, &key);
	if (!p) {
		struct pace fresh = {.since = now, .calls = 1};
		bpf_map_update_elem(&paces, &key, &fresh, BPF_ANY);
		note(0);
		return 0;
	}
	if (now < p->until)
		return 1;
	if (p->until || now > p->since + WINDOW) {
		p->since = now;
		p->until = p->calls = 0;
	}
	p->calls += 1;
	if (p->calls <= most[FUNCTION(cookie) & (FUNCTIONS - 1)])
		return 0;
	p->pause = !p->pause ? first_pause : 2 * p->pause < MOST_PAUSE ? 2 * p->pause : MOST_PAUSE;
	p->until = now + p->pause;
	if (EFFECT(cookie) >= EFFECT_MAKES && EFFECT(cookie) <= EFFECT_POPS)
		note(CONTEXTS_MISSED);
	struct call c = {.began = now, .size = p->pause, .other = FUNCTION(cookie), .device = -1};
	tell(LET_GO, thread, &c, 0);
	return 1;
}

// again says whether the probe of another library has seen this call, as far as it has not returned: who sees it next may have to wait
// for a processor meanwhile. Not all returns are looked at, so this does not hold for ever.
static __always_inline int again(struct pt_regs *r, __u64 cookie, __u64 thread, __u64 now)
{
	struct entry this = {PLACE_OF(r), now, LIBRARY(cookie)}, *last = bpf_map_lookup_elem(&entries, &thread);
	if (!last)
		bpf_map_update_elem(&entries, &thread, &this, BPF_ANY);
	else if (last->at == this.at && last->library != this.library && now - last->time < SECOND)
		return 1;
	else
		*last = this;
	return 0;
}

static __always_inline void answer_seen(__u64 thread)
{
	struct entry *last = bpf_map_lookup_elem(&entries, &thread);
	if (last)
		last->at = 0;
}

enum { ON_DEVICE = 1, ON_HOST, ON_HOST_NUMA, ON_HOST_NUMA_CURRENT }; // CUmemLocationType

// place reads where the memory is asked for, as far as the arguments say it.
static __always_inline void place(const struct arguments *r, __u64 cookie, struct call *c)
{
	__u64 at = argument(r, PLACE_ARG(cookie));
	struct {
		__s32 kind, id;
	} location;
	switch (PLACE_KIND(cookie)) {
	case PLACE_PROPERTIES: // CUmemAllocationProp.location and CUmemPoolProps.location
		at += 8; // what is there is a location
	case PLACE_LOCATION:
		if (bpf_probe_read_user(&location, sizeof(location), (void *)at))
			break;
		if (location.kind == ON_DEVICE)
			c->device = location.id;
		else if (location.kind >= ON_HOST && location.kind <= ON_HOST_NUMA_CURRENT)
			c->device = -2;
		break;
	case PLACE_POOL:
		c->pool = at;
		break;
	case PLACE_DEVICE:
		c->device = (__s32)at;
		break;
	case PLACE_NODE:
		if (!bpf_probe_read_user(&location, sizeof(location), (void *)at))
			c->other = (__u32)location.kind;
		break;
	case PLACE_STREAM:
	case PLACE_PITCH:
		c->other = at;
	}
}

#define LONG 1000000 // ns in which a call that gives memory back does so, as nearly always

static __always_inline __u64 product(__u64 a, __u64 b) { return (a | b) >> 32 ? ~0ULL : a * b; }

SEC("uprobe.multi")
int entered(struct pt_regs *r)
{
	__u64 cookie = cookie_of(r);
	if (SET(cookie) != live[FUNCTION(cookie) & (FUNCTIONS - 1)])
		return 0;
	__u64 thread = who();
	__u64 now = bpf_ktime_get_ns();
	if (!thread || (libraries > 1 && again(r, cookie, thread, now)))
		return 0;
	__sync_fetch_and_add(&counts[FUNCTION(cookie) & (FUNCTIONS - 1)], 1);
	__u64 effect = EFFECT(cookie);
	struct arguments a = TAKE(r);
	struct call c = {.began = now, .copy = copy_of(r, cookie), .device = -1};
	if (too_often(cookie, thread, c.began))
		return 0;
	c.size = SIZE_ARG(cookie) ? argument(&a, SIZE_ARG(cookie)) : 0;
	if (TIMES_ARG(cookie)) {
		c.times = argument(&a, TIMES_ARG(cookie));
		c.size = product(c.size, c.times);
	}
	c.address = argument(&a, ADDRESS_ARG(cookie));
	if (effect == EFFECT_MAPS)
		c.other = argument(&a, PLACE_ARG(cookie));
	else
		place(&a, cookie, &c);
	switch (effect) {
	// What gives memory back is told as it begins: an address is only given again after it. If it fails or takes long, that is told, too.
	case EFFECT_TAKES:
	case EFFECT_UNMAPS:
	case EFFECT_ENDS:
		c.other = c.began;
		tell(cookie, thread, &c, 0);
		if (effect == EFFECT_ENDS)
			end_context(thread, c.copy, c.address);
		break;
	case EFFECT_HIDES:
	case EFFECT_TRIMS:
	case EFFECT_CAPTURED:
	case EFFECT_BEGINS:
		if (effect == EFFECT_BEGINS)
			note(0); // also where a process with that number has called before
		tell(cookie, thread, &c, 0);
		return 0;
	}
	struct call_key key = {thread, FUNCTION(cookie), FRAME(r)};
	struct call *old = bpf_map_lookup_elem(&calls, &key);
	if (old) { // by a jump, or nobody looked at its return
		struct call left = {.began = old->began, .size = old->size, .address = FUNCTION(cookie), .other = old->began, .device = -1};
		tell(LEFT, thread, &left, 0);
	}
	bpf_map_update_elem(&calls, &key, &c, BPF_ANY);
	return 0;
}

// inner says whether the answer is that of a call within this one, which was told: functions of the library call one another. What a
// signal handler asks for meanwhile is given at another address, or is another size.
static __always_inline int inner(__u64 thread, __u64 cookie, const struct call *c, __s32 answer)
{
	struct answered this = {bpf_ktime_get_ns(), c->size, c->address, c->pool, 0, answer}, *last = bpf_map_lookup_elem(&answers, &thread);
	if (!last) {
		bpf_map_update_elem(&answers, &thread, &this, BPF_ANY);
		return 0;
	}
	int same = last->at > c->began && last->answer == answer && (answer == REFUSED ? last->size >= c->size : last->address == c->address || last->mapped == c->address);
	if (same)
		this.pool = last->pool;
	if (same && this.pool && PLACE_KIND(cookie) == PLACE_STREAM) { // it may be one that the driver has made by itself
		struct call outer = {.began = c->began, .size = FUNCTION(cookie), .address = this.pool, .other = c->other, .copy = c->copy, .device = -1};
		tell(WITHIN, thread, &outer, answer);
		this.pool = 0;
	}
	*last = this;
	return same;
}

// maps_answered notes where a piece is mapped that the thread has just been given: memory that is given there by a call around that is the same.
static __always_inline void maps_answered(__u64 thread, const struct call *c)
{
	struct answered *last = bpf_map_lookup_elem(&answers, &thread);
	if (last && last->address == c->other)
		last->mapped = c->address;
}

SEC("uretprobe.multi")
int returned(struct pt_regs *r)
{
	__u64 cookie = cookie_of(r), thread = who();
	struct call_key key = {thread, FUNCTION(cookie), FRAME_LEFT(r)};
	if (libraries > 1)
		answer_seen(thread);
	struct call *found = bpf_map_lookup_elem(&calls, &key);
	if (!thread || !found)
		return 0; // it was entered before we came
	struct call c = *found;
	bpf_map_delete_elem(&calls, &key);
	__s32 answer = ANSWER(r);
	__u64 effect = EFFECT(cookie);
	switch (effect) {
	case EFFECT_TAKES:
	case EFFECT_UNMAPS:
	case EFFECT_ENDS:
		if (answer || bpf_ktime_get_ns() - c.began > LONG)
			tell(answer ? FAILED : LINGERED, thread, &c, answer);
		return 0;
	case EFFECT_SETS: // a context that was not set leaves the one before
	case EFFECT_PUSHES:
	case EFFECT_POPS:
		if (!answer)
			set_current(thread, c.copy, effect, c.address);
		return 0;
	}
	if (PLACE_KIND(cookie) == PLACE_PITCH) {
		__u64 row = 0;
		if (answer == 0 && !bpf_probe_read_user(&row, sizeof(row), (void *)c.other) && row)
			c.size = product(row, c.times);
	}
	if (effect != EFFECT_MAPS) { // the argument says where the address is put
		__u64 given = 0;
		if (answer == 0)
			bpf_probe_read_user(&given, sizeof(given), (void *)c.address);
		c.address = given;
	}
	if (answer == 0 && effect == EFFECT_MAKES && top(thread, c.copy) != c.address) // else a call within this one has made it, and set it
		set_current(thread, c.copy, effect, c.address);
	if (effect == EFFECT_MAPS && answer == 0)
		maps_answered(thread, &c);
	if (effect == EFFECT_GIVES && inner(thread, cookie, &c, answer))
		return 0;
	tell(cookie, thread, &c, answer);
	return 0;
}

// The parts of the kernel's own that are read; where they lie, it tells itself.
struct signal_struct {
	struct {
		int counter;
	} live;
	int group_exit_code;
} __attribute__((preserve_access_index));

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct inode {
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct file {
	struct path f_path;
	struct inode *f_inode;
	long long f_pos;
} __attribute__((preserve_access_index));

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
	unsigned int next_fd;
} __attribute__((preserve_access_index));

struct task_struct {
	int exit_code;
	struct signal_struct *signal;
	struct files_struct *files;
} __attribute__((preserve_access_index));

// ended is called for each thread that ends, on the machine: most leave it at once.
SEC("raw_tp/sched_process_exit")
int ended(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u8 *caller = bpf_map_lookup_elem(&callers, &pid);
	if (!caller)
		return 0;
	struct task_struct *task = (void *)bpf_get_current_task();
	if (BPF_CORE_READ(task, signal, live.counter) > 0)
		return 0; // other threads are still there
	int status = BPF_CORE_READ(task, signal, group_exit_code);
	if (!status)
		status = BPF_CORE_READ(task, exit_code);
	bpf_map_delete_elem(&callers, &pid);
	struct call c = {.began = bpf_ktime_get_ns(), .device = -1};
	__u64 thread = who();
	if (thread)
		tell(ENDED, thread, &c, status);
	return 0;
}

// execed is called for each program that begins, on the machine. What the one before had asked for is no more.
SEC("raw_tp/sched_process_exec")
int execed(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u8 *caller = bpf_map_lookup_elem(&callers, &pid);
	if (!caller)
		return 0;
	*caller = 0; // the program may call, too, and give way to a third one
	struct call c = {.began = bpf_ktime_get_ns(), .device = -1};
	__u64 thread = who();
	bpf_map_delete_elem(&threads, &thread);
	if (thread)
		tell(EXECED, thread, &c, 0);
	return 0;
}

#define LIBCUDA "libcuda.so"
// MAP_DENYWRITE, which glibc's loader says of libraries and linkers do not say of what they link with; PROT_EXEC.
#define DENY_WRITE 0x800
#define EXECUTABLE 4
// MAP_PRIVATE | MAP_ANONYMOUS: glibc from 2.35 on reserves room first for a library whose alignment is above a page, as of nearly all on arm64, and
// has the file in fixed places of that then, for which the kernel looks for none.
#define RESERVES 0x22
#define NEAR 8

// tell_load tells of a mapping if the file is a libcuda.
static __always_inline int tell_load(struct file *file)
{
	char name[sizeof(LIBCUDA)];
	if (bpf_probe_read_kernel(name, sizeof(name), BPF_CORE_READ(file, f_path.dentry, d_name.name)))
		return 0;
	for (int i = 0; i < sizeof(LIBCUDA) - 1; i++)
		if (name[i] != LIBCUDA[i])
			return 0;
	struct call c = {.began = bpf_ktime_get_ns(), .other = BPF_CORE_READ(file, f_inode, i_ino), .device = -1};
	__u64 thread = who();
	if (thread)
		tell(LOADS, thread, &c, 0);
	return 1;
}

// mapped_file is the file of which the system call that the thread is in maps a part; NULL: it maps none.
static __always_inline struct file *mapped_file(struct task_struct *task, struct pt_regs *r)
{
	struct file *file = NULL;
	int fd = ARG5(r);
	if (fd >= 0)
		bpf_probe_read_kernel(&file, sizeof(file), task->files->fdt->fd + fd);
	return file;
}

// mapping is called whenever a lock of a process's mappings was taken, on the machine. Most are of no mmap, or of no file that is to run, and leave it at
// once. The mapping itself comes microseconds later.
SEC("raw_tp/mmap_lock_acquire_returned")
int mapping(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *r = (void *)bpf_task_pt_regs((void *)task);
	if (!ctx->args[1] || !IS_MMAP(r) || !(ARG3(r) & EXECUTABLE) || !task->files) // 1: to change them
		return 0;
	struct file *file = mapped_file(task, r);
	if (file)
		tell_load(file);
	return 0;
}

// loading does the same where to tell of that lock costs too much: it is called for each mapping that the kernel finds a place for. The first one of a library
// is such a one, unless the library asks for an address.
SEC("raw_tp/vm_unmapped_area")
int loading(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *r = (void *)bpf_task_pt_regs((void *)task);
	struct file *file = NULL;
	if (!IS_MMAP(r) || !task->files)
		return 0;
	if ((int)ARG5(r) >= 0) {
		if ((MMAP_FLAGS(r) & DENY_WRITE || ARG3(r) & EXECUTABLE) && (file = mapped_file(task, r)))
			tell_load(file);
		return 0;
	}
	if (MMAP_FLAGS(r) != RESERVES || ARG3(r))
		return 0;
	// For which file that is, is not said. What was opened last lies before the first number that is free, or near it where other threads open files, too;
	// and the loader has read its head, which who only looks into libraries need not.
	unsigned int last = task->files->next_fd, most = task->files->fdt->max_fds;
	for (int i = 0; i < 2 * NEAR; i++) {
		unsigned int at = i < NEAR ? last - 1 - i : last + i - NEAR;
		if (at >= most || bpf_probe_read_kernel(&file, sizeof(file), task->files->fdt->fd + at) || !file)
			continue;
		if (BPF_CORE_READ(file, f_pos) > 0 && tell_load(file))
			return 0;
	}
	return 0;
}

char _license[] SEC("license") = "Dual MIT/GPL";
