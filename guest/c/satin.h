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
 * What many jobs read or improve together is shared, see SATIN_JOB_SHARED, SATIN_OBJECT and SATIN_LATTICE below.
 *
 * The module describes itself by three or four functions, see the end. Compile with
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
SATIN_IMPORT(constant) void satin1_constant(const void *at, uint32_t len, void *name);
SATIN_IMPORT(object) void satin1_object(const void *at, uint32_t len, void *name);
SATIN_IMPORT(write)
void satin1_write(uint32_t method, const void *old, const void *w, uint32_t wlen, const void *next, uint32_t len, void *name);
SATIN_IMPORT(lattice) void satin1_lattice(uint32_t method, const void *about, uint32_t len, void *name);
SATIN_IMPORT(read) int64_t satin1_read(const void *name);
SATIN_IMPORT(value) int64_t satin1_value(const void *name);
SATIN_IMPORT(grow) void satin1_grow(const void *name, const void *at, uint32_t len);
SATIN_IMPORT(naming) void satin1_naming(const void *names, uint32_t n, uint32_t guarded);
SATIN_IMPORT(file) int32_t satin1_file(const char *name, uint32_t len, void *to);

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
/* Shared values that one instance may know, and bytes of its lattices' values. */
#ifndef SATIN_VALUES
#define SATIN_VALUES 256
#endif
#ifndef SATIN_VALUE_BYTES
#define SATIN_VALUE_BYTES 8192
#endif

/* A child of a running job. The children of all running jobs are a stack: [0, tail) were offered to the host,
 * [tail, head) are private. */
typedef struct {
	void (*run)(void *data); /* puts the result where the argument was */
	uint32_t arg, res;       /* bytes of them */
	uint32_t shared;         /* handles that the argument begins with */
	int (*guard)(void *data); /* 0: it may begin at any time */
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

/* satin_error makes the running job fail with a text that must last: a line of 4 KiB at most. It goes on, and its result
 * does not count. The error fails its spawner too, and so on, unless satin_take_error is asked after the child was got:
 * that gives the first one, and its text until another child is got. */
static void satin_error(const char *why) {
	if (!satin_error_text) satin_error_text = why;
}

static const char *satin_take_error(void) {
	const char *e = satin_error_text;
	satin_error_text = 0;
	return e;
}

static void satin_log(const char *text) { satin1_log(text, satin_strlen(text)); }

/* A shared value is a handle in here, and has a name of 32 bytes outside. */
typedef struct { uint32_t i; } satin_shared; /* {0}: none */
enum { SATIN_NAME = 32 };
static struct {
	uint8_t called[SATIN_NAME];
	uint32_t looked; /* satin_looks at the last look at a lattice */
	uint8_t *value;  /* of a lattice */
	int has;         /* it is not the least */
} satin_values[SATIN_VALUES];
static uint32_t satin_known; /* of satin_values, after the first */
static uint32_t satin_looks = 1; /* grows when lattices may have grown */

static int satin_same(const uint8_t *a, const uint8_t *b, uint32_t n) {
	while (n && *a == *b) a++, b++, n--;
	return n == 0;
}

/* satin_handle gives the handle of a name. */
static satin_shared satin_handle(const uint8_t *name) {
	uint32_t i = 0;
	while (i <= satin_known && !satin_same(satin_values[i].called, name, SATIN_NAME)) i++;
	if (i > satin_known) {
		if (i == SATIN_VALUES) satin_fail("too many shared values: compile with a larger SATIN_VALUES");
		__builtin_memcpy(satin_values[i].called, name, SATIN_NAME);
		satin_known = i;
	}
	return (satin_shared){i};
}

/* satin_pack makes of an argument what leaves: names for its handles. It says their number, and tells the host. */
static uint8_t satin_packed[SATIN_NAME * (SATIN_DATA / 4) + SATIN_DATA];
static uint32_t satin_pack(const satin_job *job, const void *data) {
	const satin_shared *h = data;
	uint32_t n = 0;
	for (uint32_t i = 0; i < job->shared; i++)
		if (h[i].i) __builtin_memcpy(satin_packed + SATIN_NAME * n++, satin_values[h[i].i].called, SATIN_NAME);
	satin1_naming(satin_packed, n, job->guard != 0);
	for (uint32_t i = 0; i < job->shared; i++)
		__builtin_memcpy(satin_packed + SATIN_NAME * i, satin_values[h[i].i].called, SATIN_NAME);
	uint32_t rest = job->arg - 4 * job->shared;
	__builtin_memcpy(satin_packed + SATIN_NAME * job->shared, (const uint8_t *)data + 4 * job->shared, rest);
	return SATIN_NAME * job->shared + rest;
}

/* satin_unpack is the other way. */
static void satin_unpack(const satin_job *job, const void *packed, uint32_t len, void *data) {
	const uint8_t *p = packed;
	uint32_t rest = job->arg - 4 * job->shared;
	if (len != SATIN_NAME * job->shared + rest) satin_fail("an argument has the wrong size");
	for (uint32_t i = 0; i < job->shared; i++) ((satin_shared *)data)[i] = satin_handle(p + SATIN_NAME * i);
	__builtin_memcpy((uint8_t *)data + 4 * job->shared, p + SATIN_NAME * job->shared, rest);
}

/* satin_offer_oldest makes the oldest private child the host's. */
static void satin_offer_oldest(void) {
	satin_task *t = satin_tail++;
	const satin_job *job = t->job;
	uint32_t depth = t->id >> 32, len = job->arg;
	const void *arg = t->data;
	t->got = 0;
	if (job->shared || job->guard) len = satin_pack(job, t->data), arg = satin_packed;
	t->handle = satin1_offer((uint32_t)job, arg, len, satin_path + 1, depth, (uint32_t)t->id);
}

__attribute__((noinline)) static void satin_attend(void) {
	satin_limit = satin_tasks + SATIN_CHILDREN;
	satin_looks++;
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

/* satin_settle brings a child to its end that was offered, or runs beside one that has failed, so that its slot holds the
 * result. What that other one failed with this one is not to see. The host may give a child back to be run here: on top
 * of the stack, whatever is above it was offered too. */
__attribute__((noinline)) static satin_task *satin_settle(satin_task *t) {
	static char text[4200];
	const char *before = satin_take_error();
	int64_t got = -1;
	if (t < satin_tail) got = satin1_join(t->handle);
	else satin_head = t;
	uint32_t len = (uint32_t)got;
	if (got < 0) {
		uint64_t cur = satin_enter(t->id);
		t->job->run(t->data);
		satin_cur = cur;
	} else if (got >> 32) {
		if (len >= sizeof text) satin_fail("an error's text is too long");
		if (!before) satin1_result(text), text[len] = 0;
		satin_error(text);
	} else if (len != t->job->res) {
		satin_fail("a result has the wrong size");
	} else {
		satin1_result(t->data);
	}
	if (before) satin_error_text = before;
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
#define SATIN_JOB(R, name, A) SATIN_JOB_(R, name, A, 0, 0)

/* SATIN_JOB_SHARED is one whose argument begins with n handles of shared values (satin_shared). What it names is there
 * when it begins. */
#define SATIN_JOB_SHARED(R, name, A, n) SATIN_JOB_(R, name, A, n, 0)

/* SATIN_JOB_GUARDED has a guard, int name_guard(A), besides: where it was stolen to it begins when that is true, as its
 * lattices have grown enough. A guard looks at what the argument names and does nothing else. */
#define SATIN_JOB_GUARDED(R, name, A, n)                                                              \
	int name##_guard(A arg);                                                                          \
	static int name##_guarded(void *data) { return name##_guard(*(A *)data); }                        \
	SATIN_JOB_(R, name, A, n, name##_guarded)

#define SATIN_JOB_(R, name, A, shared, guard)                                                         \
	_Static_assert(sizeof(A) <= SATIN_DATA && sizeof(R) <= SATIN_DATA, "define a larger SATIN_SLOT"); \
	R name(A arg);                                                                                    \
	static void name##_run(void *data) {                                                              \
		R res = name(*(A *)data);                                                                     \
		*(R *)data = res;                                                                             \
	}                                                                                                 \
	static const satin_job name##_job = {name##_run, sizeof(A), sizeof(R), shared, guard};            \
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
		if (__builtin_expect(t < satin_tail || satin_error_text, 0)) {                                \
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
	satin_unpack(job, arg, len, data);
	job->run(data);
	if (satin_children()) satin_fail("a job returned before it got or dropped all its children");
	const char *e = satin_take_error();
	if (e) return satin_place(e, satin_strlen(e)) | SATIN_ERROR;
	return satin_place(data, job->res);
}

/* What jobs share
 *
 * A constant is bytes that many jobs read and none changes. satin_constant makes one; satin_read copies a constant, or
 * an object's state, and gives its length; it waits if that is not here. A value is there as long as the job that has
 * made it runs. Handles are in arguments, at their beginning, and nowhere else: not in results. */
static satin_shared satin_constant(const void *at, uint32_t len) {
	uint8_t name[SATIN_NAME];
	satin1_constant(at, len, name);
	return satin_handle(name);
}

static uint32_t satin_read(satin_shared v, void *to, uint32_t most) {
	uint32_t len = satin1_read(satin_values[v.i].called);
	if (len > most) satin_fail("what is read is larger than the place for it");
	satin1_result(to);
	return len;
}

/* satin_file gives what was given to the run as --file NAME=PATH, as a constant; {0} if nothing was. For satin1_setup,
 * satin1_render and satin1_check. */
static satin_shared satin_file(const char *name) {
	uint8_t to[SATIN_NAME];
	return satin1_file(name, satin_strlen(name), to) ? satin_handle(to) : (satin_shared){0};
}

/* How a kind of shared value changes. */
typedef struct {
	uint32_t size, about; /* bytes of a state or a value; of a write, or of what a lattice is about */
	void (*change)(void *to, const void *by);
	const char *(*valid)(const void *about, const void *value);
} satin_kind;

/* SATIN_OBJECT declares an object whose state is an S and goes from version to version by a write of a W:
 * name_share(S) gives the first version, name_write(old, W) the one after, name_read(version) the state. The program has
 * void name_move(S *state, const W *w), which may be run on any machine. Only the job that has shared an object
 * writes to it. */
#define SATIN_OBJECT(S, name, W)                                                                      \
	static void name##_move(S *state, const W *w);                                                    \
	static void name##_change(void *state, const void *w) { name##_move(state, w); }                  \
	static const satin_kind name##_kind = {sizeof(S), sizeof(W), name##_change, 0};                   \
	static inline __attribute__((unused)) satin_shared name##_share(S first) {                        \
		uint8_t to[SATIN_NAME];                                                                       \
		satin1_object(&first, sizeof first, to);                                                      \
		return satin_handle(to);                                                                      \
	}                                                                                                 \
	static inline __attribute__((unused)) S name##_read(satin_shared v) {                             \
		S state;                                                                                      \
		satin_read(v, &state, sizeof state);                                                          \
		return state;                                                                                 \
	}                                                                                                 \
	static inline __attribute__((unused)) satin_shared name##_write(satin_shared old, W w) {          \
		S state = name##_read(old);                                                                   \
		name##_move(&state, &w);                                                                      \
		uint8_t to[SATIN_NAME];                                                                       \
		satin1_write((uint32_t)&name##_kind, satin_values[old.i].called, &w, sizeof w, &state, sizeof state, to); \
		return satin_handle(to);                                                                      \
	}

/* satin_value finds the value of a lattice; 0: the least one. */
__attribute__((noinline)) static void satin_look(satin_shared l, const satin_kind *kind) {
	static uint8_t room[SATIN_VALUE_BYTES], *next = room;
	satin_values[l.i].looked = satin_looks;
	if (!satin_values[l.i].value) {
		satin_values[l.i].value = next;
		if ((next += (kind->size + 7) & ~7u) > room + sizeof room)
			satin_fail("too many values of lattices: compile with a larger SATIN_VALUE_BYTES");
	}
	int64_t len = satin1_value(satin_values[l.i].called);
	if (len <= 0) return;
	if (len != kind->size) satin_fail("the value of a lattice has the wrong size");
	satin1_result(satin_values[l.i].value);
	satin_values[l.i].has = 1;
}

static inline const void *satin_value(satin_shared l, const satin_kind *kind) {
	if (__builtin_expect(!satin_limit, 0)) satin_attend();
	if (__builtin_expect(satin_values[l.i].looked != satin_looks, 0)) satin_look(l, kind);
	return satin_values[l.i].has ? satin_values[l.i].value : 0;
}

/* satin_grow_ offers a value; with is a copy of it. */
__attribute__((noinline)) static void satin_grow_(satin_shared l, const satin_kind *kind, const void *v, void *with) {
	const uint8_t *old = satin_value(l, kind);
	if (old) kind->change(with, old);
	if (old && satin_same(old, with, kind->size)) return;
	__builtin_memcpy(satin_values[l.i].value, with, kind->size);
	satin_values[l.i].has = 1;
	satin1_grow(satin_values[l.i].called, v, kind->size);
}

/* SATIN_LATTICE declares a value that all jobs see grow, such as the best solution that was found: V is its type, A what
 * it is about. name_share(A) gives the one lattice of that name, name_value(l) the value as far as it is known here,
 * 0 for the least; name_offer(l, V) joins one in. The program has void name_join(V *v, const V *by), which is commutative,
 * associative and idempotent, and const char *name_valid(const A *about, const V *v), which says what is wrong with an
 * offer of another machine, or 0. A program must be right whatever valid offers a value has joined. */
#define SATIN_LATTICE(V, name, A)                                                                     \
	static void name##_join(V *v, const V *by);                                                       \
	static const char *name##_valid(const A *about, const V *v);                                      \
	static void name##_change(void *v, const void *by) { name##_join(v, by); }                        \
	static const char *name##_check(const void *about, const void *v) { return name##_valid(about, v); } \
	static const satin_kind name##_kind = {sizeof(V), sizeof(A), name##_change, name##_check};        \
	static inline __attribute__((unused)) satin_shared name##_share(A about) {                        \
		uint8_t to[SATIN_NAME];                                                                       \
		satin1_lattice((uint32_t)&name##_kind, &about, sizeof about, to);                             \
		return satin_handle(to);                                                                      \
	}                                                                                                 \
	static inline __attribute__((unused)) const V *name##_value(satin_shared l) {                     \
		return satin_value(l, &name##_kind);                                                          \
	}                                                                                                 \
	static inline __attribute__((unused)) void name##_offer(satin_shared l, V v) {                    \
		V with = v;                                                                                   \
		satin_grow_(l, &name##_kind, &v, &with);                                                      \
	}

/* What the host asks of a module whose jobs share what changes: define SATIN_SHARES before the header is included. It
 * passes two things: their lengths, the first, zeros up to a multiple of 8, the second. */
#ifdef SATIN_SHARES
static void *satin_first(uint32_t *both, uint32_t want) {
	if (both[0] != want) satin_fail("a shared value has the wrong size");
	return both + 2;
}
static void *satin_second(uint32_t *both, uint32_t want) {
	if (both[1] != want) satin_fail("a shared value has the wrong size");
	return (uint8_t *)(both + 2) + ((both[0] + 7) & ~7u);
}
SATIN_EXPORT(move) int64_t satin1_move(const satin_kind *k, uint32_t *both, uint32_t len) {
	void *state = satin_first(both, k->size);
	k->change(state, satin_second(both, k->about));
	return satin_place(state, k->size);
}
SATIN_EXPORT(join) int64_t satin1_join_values(const satin_kind *k, uint32_t *both, uint32_t len) {
	void *v = satin_first(both, k->size);
	k->change(v, satin_second(both, k->size));
	return satin_place(v, k->size);
}
SATIN_EXPORT(valid) int64_t satin1_valid(const satin_kind *k, uint32_t *both, uint32_t len) {
	const void *about = satin_first(both, k->about);
	const char *e = k->valid(about, satin_second(both, k->size));
	return e ? satin_place(e, satin_strlen(e)) | SATIN_ERROR : 0;
}
SATIN_EXPORT(guard) int64_t satin1_guard(const satin_job *job, const void *arg, uint32_t len) {
	static _Alignas(8) uint8_t data[SATIN_DATA];
	satin_unpack(job, arg, len, data);
	return satin_place(data, job->guard(data) ? 1 : 0);
}
#endif

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
	satin_put_bytes(satin_packed, satin_pack(job, arg));
	return satin_text();
}

/* What satin1_render and satin1_check get. */
typedef struct { uint32_t arg, result; uint8_t data[]; } satin_answer;
static inline const void *satin_arg_of(const satin_answer *a) { return a->data; }
/* satin_arg_to gives the argument of a job that has handles. */
#define satin_arg_to(a, name, to) satin_unpack(&name##_job, (a)->data, (a)->arg, to)
static inline const void *satin_result_of(const satin_answer *a) { return a->data + ((a->arg + 7) & ~7u); }
#endif
