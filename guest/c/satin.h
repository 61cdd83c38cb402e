/* Satin for C: jobs that a swarm may run anywhere, as a WebAssembly module of the ABI satin1 (docs/modules.md).
 *
 *	SATIN_JOB(uint64_t, fib, int32_t)
 *	uint64_t fib(int32_t n) {
 *		if (n < 2) return n;
 *		fib_spawn(n - 1);              // may run elsewhere
 *		uint64_t y = fib(n - 2);       // an ordinary call
 *		return fib_get() + y;          // the newest child that was spawned and not yet got
 *	}
 *
 * A job is a pure function of one argument: plain data of fixed size without pointers. Children are got newest
 * first (NAME_get), or in order of completion (NAME_any, when all children are of one function); a job gets or
 * drops (satin_drop) all its children before it returns. Nearly all jobs run in place for some nanoseconds.
 *
 * The module describes itself by three or four functions, see SATIN_APP below. Compile with
 *
 *	clang --target=wasm32 -O2 -nostdlib -mbulk-memory -msign-ext -Wl,--no-entry,--stack-first -o app.wasm app.c
 */
#ifndef SATIN_H
#define SATIN_H

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long long uint64_t;

#define SATIN_IMPORT(name) __attribute__((import_module("satin1"), import_name(#name))) extern
#define SATIN_EXPORT(name) __attribute__((export_name("satin1_" #name)))

/* What the host does for a module. */
SATIN_IMPORT(wanted) uint32_t satin1_wanted(void);
SATIN_IMPORT(offer)
int32_t satin1_offer(uint32_t fn, const void *arg, uint32_t len, const uint32_t *path, uint32_t steps, uint32_t child);
SATIN_IMPORT(join) int64_t satin1_join(int32_t handle);
SATIN_IMPORT(result) void satin1_result(void *to);
SATIN_IMPORT(any) uint32_t satin1_any(const int32_t *handles, uint32_t n);
SATIN_IMPORT(drop) void satin1_drop(int32_t handle);
SATIN_IMPORT(fail) void satin1_fail(const char *text, uint32_t len);
SATIN_IMPORT(log) void satin1_log(const char *text, uint32_t len);

/* Bytes of a child on the stack, 24 of them the library's: at least the largest argument and result and 24 more. */
#ifndef SATIN_SLOT
#define SATIN_SLOT 64
#endif
#define SATIN_DATA (SATIN_SLOT - 24)
/* Children that may be outstanding at a time in one instance, and how deep jobs may be nested in each other. */
#ifndef SATIN_CHILDREN
#define SATIN_CHILDREN 2048
#endif
#ifndef SATIN_DEPTH
#define SATIN_DEPTH 8192
#endif

/* A child of a running job. The children of all running jobs are a stack: [0, tail) were offered to the host,
 * [tail, head) are private. */
typedef struct {
	void (*run)(void *data); /* puts the result where the argument was */
	uint32_t arg, res;       /* bytes of them */
} satin_job;

typedef struct {
	uint64_t id; /* depth of its parent, and in the low half which child of it */
	const satin_job *job;
	int32_t handle; /* from here on of those offered: what the host calls it */
	uint32_t got;   /* its result was taken, it waits for newer ones to leave the stack */
	uint32_t pad;
	_Alignas(8) uint8_t data[SATIN_DATA];
} satin_task;

static satin_task satin_tasks[SATIN_CHILDREN + 1];
static uint32_t satin_path[SATIN_DEPTH + 2]; /* which child runs at each depth */
static satin_task *satin_head = satin_tasks;
static satin_task *satin_tail = satin_tasks;
static satin_task *volatile satin_limit = satin_tasks + SATIN_CHILDREN; /* the attention word: the host writes 0 */
static uint64_t satin_cur;                                     /* the running job: depth, children so far */
static const char *satin_error_text;                           /* an error that nobody has taken */

SATIN_EXPORT(attention) volatile void *satin1_attention(void) { return &satin_limit; }

static uint32_t satin_strlen(const char *s) {
	uint32_t n = 0;
	while (s[n]) n++;
	return n;
}

/* satin_fail ends the whole run with a line that says why. */
static _Noreturn void satin_fail(const char *why) {
	satin1_fail(why, satin_strlen(why));
	__builtin_trap();
}

/* satin_error makes the running job fail with a text that must last. It goes on, and its result does not count. The
 * error fails its spawner too, and so on, unless satin_take_error is asked after the child was got. */
static void satin_error(const char *why) {
	if (!satin_error_text) satin_error_text = why;
}

static const char *satin_take_error(void) {
	const char *e = satin_error_text;
	satin_error_text = 0;
	return e;
}

static void satin_log(const char *text) { satin1_log(text, satin_strlen(text)); }

/* satin_offer_oldest makes the oldest private child the host's. */
static void satin_offer_oldest(void) {
	satin_task *t = satin_tail++;
	uint32_t depth = t->id >> 32;
	t->got = 0;
	t->handle = satin1_offer((uint32_t)t->job, t->data, t->job->arg, satin_path + 1, depth, (uint32_t)t->id);
}

__attribute__((noinline)) static void satin_attend(void) {
	satin_limit = satin_tasks + SATIN_CHILDREN;
	if (satin_head >= satin_limit) satin_fail("too many children at a time: compile with a larger SATIN_CHILDREN");
	for (uint32_t n = satin1_wanted(); n > 0 && satin_tail < satin_head; n--) satin_offer_oldest();
}

__attribute__((noinline)) static void satin_too_deep(void) {
	satin_fail("jobs are nested too deep: compile with a larger SATIN_DEPTH, or spawn less");
}

/* satin_enter makes a child the running job, and gives what satin_cur is to be again after it. */
static inline uint64_t satin_enter(uint64_t id) {
	uint64_t cur = satin_cur, depth = (cur >> 32) + 1;
	if (__builtin_expect(depth >= SATIN_DEPTH, 0)) satin_too_deep();
	satin_path[depth] = (uint32_t)id;
	satin_cur = depth << 32;
	return cur;
}

/* satin_settle brings an offered child to its end, so that its slot holds the result. The host may give it back
 * to be run here: on top of the stack, whatever is above it was offered too. */
__attribute__((noinline)) static satin_task *satin_settle(satin_task *t) {
	static char text[256];
	int64_t got = satin1_join(t->handle);
	uint32_t len = (uint32_t)got;
	if (got < 0) {
		uint64_t cur = satin_enter(t->id);
		t->job->run(t->data);
		satin_cur = cur;
	} else if (got >> 32) {
		if (len >= sizeof text) satin_fail("an error's text is too long");
		satin1_result(text);
		text[len] = 0;
		satin_error(text);
	} else if (len != t->job->res) {
		satin_fail("a result has the wrong size");
	} else {
		satin1_result(t->data);
	}
	return t;
}

/* satin_pop takes an offered child whose result was taken off the stack, with those below it that waited for that. */
static void satin_pop(satin_task *t) {
	t->got = 1;
	while (satin_head > satin_tasks && satin_head <= satin_tail && satin_head[-1].got &&
		satin_head[-1].id >> 32 == satin_cur >> 32)
		satin_tail = --satin_head;
}

/* satin_any_child finds the place of a child that finishes first. Private ones are run, the newest first. */
__attribute__((noinline)) static satin_task *satin_any_child(void) {
	static int32_t handles[SATIN_CHILDREN];
	uint64_t depth = satin_cur >> 32;
	satin_task *t = satin_head;
	uint32_t n = 0;
	while (t > satin_tasks && t[-1].id >> 32 == depth && n < SATIN_CHILDREN) {
		t--;
		if (!t->got) handles[n++] = t->handle;
	}
	if (n == 0) satin_fail("a job waits for a child that it does not have");
	int32_t handle = handles[satin1_any(handles, n)];
	while (t->got || t->handle != handle) t++;
	return satin_settle(t);
}

/* satin_drop gives up all children of the running job. */
static void satin_drop(void) {
	while (satin_head > satin_tasks && satin_head[-1].id >> 32 == satin_cur >> 32) {
		satin_task *t = --satin_head;
		if (t < satin_tail) {
			if (!t->got) satin1_drop(t->handle);
			satin_tail = t;
		}
	}
}

/* satin_children says whether the running job has children that were not got. */
static int satin_children(void) {
	return satin_head > satin_tasks && satin_head[-1].id >> 32 == satin_cur >> 32;
}

/* SATIN_JOB declares a job: R name(A), name_spawn(A), R name_get() and R name_any(). */
#define SATIN_JOB(R, name, A)                                                                         \
	_Static_assert(sizeof(A) <= SATIN_DATA && sizeof(R) <= SATIN_DATA, "define a larger SATIN_SLOT"); \
	R name(A arg);                                                                                    \
	static void name##_run(void *data) {                                                              \
		R res = name(*(A *)data);                                                                     \
		*(R *)data = res;                                                                             \
	}                                                                                                 \
	static const satin_job name##_job = {name##_run, sizeof(A), sizeof(R)};                           \
	static inline __attribute__((unused)) void name##_spawn(A arg) {                                  \
		satin_task *t = satin_head;                                                                   \
		*(A *)t->data = arg;                                                                          \
		t->job = &name##_job;                                                                         \
		t->id = ++satin_cur;                                                                          \
		satin_head = t + 1;                                                                           \
		if (__builtin_expect(t >= satin_limit, 0)) satin_attend();                                    \
	}                                                                                                 \
	static inline __attribute__((unused)) R name##_get(void) {                                        \
		satin_task *t = satin_head - 1;                                                               \
		if (__builtin_expect(t < satin_tail, 0)) {                                            \
			R res = *(R *)satin_settle(t)->data;                                                      \
			satin_pop(t);                                                                             \
			return res;                                                                               \
		}                                                                                             \
		satin_head = t;                                                                               \
		uint64_t cur = satin_enter(t->id);                                                            \
		R res = name(*(A *)t->data);                                                                  \
		satin_cur = cur;                                                                              \
		return res;                                                                                   \
	}                                                                                                 \
	static inline __attribute__((unused)) R name##_any(void) {                                        \
		if (satin_head > satin_tail) return name##_get();                                             \
		satin_task *t = satin_any_child();                                                            \
		R res = *(R *)t->data;                                                                        \
		satin_pop(t);                                                                                 \
		return res;                                                                                   \
	}

/* Places in memory, as the host is told them: 63 bits of address and length, and whether it is an error. */
static int64_t satin_place(const void *at, uint32_t len) { return (int64_t)(uint32_t)at << 32 | len; }
#define SATIN_ERROR ((int64_t)(1ull << 63))

/* satin1_alloc gives room for what the host puts into memory: until the next call. */
SATIN_EXPORT(alloc) void *satin1_alloc(uint32_t len) {
	extern uint8_t __heap_base;
	uint32_t at = ((uint32_t)&__heap_base + 15) & ~15u, end = at + len;
	uint32_t have = __builtin_wasm_memory_size(0) << 16;
	if (end < at || (end > have && __builtin_wasm_memory_grow(0, (end - have + 0xffff) >> 16) == ~0ul)) return 0;
	return (void *)at;
}

/* satin1_run runs one job. */
SATIN_EXPORT(run) int64_t satin1_run(const satin_job *job, const void *arg, uint32_t len) {
	static _Alignas(8) uint8_t data[SATIN_DATA];
	if (len != job->arg) satin_fail("an argument has the wrong size");
	__builtin_memcpy(data, arg, len);
	job->run(data);
	if (satin_children()) satin_fail("a job returned before it got or dropped all its children");
	const char *e = satin_take_error();
	if (e) return satin_place(e, satin_strlen(e)) | SATIN_ERROR;
	return satin_place(data, job->res);
}

/* What a module says of itself
 *
 * SATIN_DESCRIBE(json) is what the command knows of it before it runs, see docs/modules.md.
 * satin1_setup gets the arguments, and the values of the flags in the order in which they were described, each ended
 * by a 0, and gives satin_root(...) or satin_want(...).
 * satin1_render and, if an answer can be checked, satin1_check get a job's argument and result. */
#define SATIN_DESCRIBE(json)                                                                          \
	SATIN_EXPORT(describe) int64_t satin1_describe(void) {                                            \
		static const char text[] = json;                                                              \
		return satin_place(text, sizeof text - 1);                                                    \
	}

static uint8_t satin_out[4096];
static uint32_t satin_out_len;

static void satin_put_bytes(const void *p, uint32_t n) {
	if (n > sizeof satin_out - satin_out_len) satin_fail("a text is too long");
	__builtin_memcpy(satin_out + satin_out_len, p, n);
	satin_out_len += n;
}
static void satin_put(const char *s) { satin_put_bytes(s, satin_strlen(s)); }
static void satin_put_u64(uint64_t v) {
	char b[20];
	uint32_t i = sizeof b;
	do b[--i] = '0' + v % 10;
	while (v /= 10);
	satin_put_bytes(b + i, sizeof b - i);
}

/* satin_text is all that was put. */
static int64_t satin_text(void) {
	uint32_t n = satin_out_len;
	satin_out_len = 0;
	return satin_place(satin_out, n);
}

/* satin_next_int reads the next argument as a whole number; 0 if it is none or out of range. */
static int satin_next_int(const char **args, int64_t lo, int64_t hi, int64_t *v) {
	const char *s = *args;
	*args += satin_strlen(s) + 1;
	int minus = *s == '-', digits = 0;
	for (*v = 0, s += minus; *s >= '0' && *s <= '9' && digits < 18; s++, digits++) *v = *v * 10 + (*s - '0');
	if (minus) *v = -*v;
	return digits && !*s && *v >= lo && *v <= hi;
}

/* satin_want refuses an argument: what it is, and what is allowed. The argument is the one read last. */
static int64_t satin_want(const char *what, const char *want) {
	satin_put(what);
	satin_put(": want ");
	satin_put(want);
	return satin_text() | SATIN_ERROR;
}

/* satin_root says what to run, under the title that was put. */
#define satin_root(name, arg) satin_root_(&name##_job, arg)
static int64_t satin_root_(const satin_job *job, const void *arg) {
	satin_put_bytes("", 1);
	satin_put_bytes(&job, 4);
	satin_put_bytes(arg, job->arg);
	return satin_text();
}

/* What satin1_render and satin1_check get. */
typedef struct { uint32_t arg, result; uint8_t data[]; } satin_answer;
static inline const void *satin_arg_of(const satin_answer *a) { return a->data; }
static inline const void *satin_result_of(const satin_answer *a) { return a->data + ((a->arg + 7) & ~7u); }
#endif
