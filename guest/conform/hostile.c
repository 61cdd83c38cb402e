/* What modules do to a host that trusts them. The first argument says what, the second how much. */
#define SATIN_SHARES
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"hostile\",\"summary\":\"harm\",\"args\":\"WHAT N\",\"examples\":[],\"flags\":[]}")

SATIN_JOB(uint64_t, loop, uint32_t)
uint64_t loop(uint32_t n) {
	for (volatile uint32_t i = 0;; i++)
		if (i == ~0u && n == ~0u) return i;
}

static __attribute__((noinline)) uint64_t down(volatile uint64_t *above) {
	volatile uint64_t here = *above + 1;
	return down(&here) + here;
}
SATIN_JOB(uint64_t, recurse, uint32_t)
uint64_t recurse(uint32_t n) {
	volatile uint64_t from = n;
	return down(&from);
}

/* Without using its own stack in memory. */
static __attribute__((noinline)) uint64_t twice(uint64_t n) { return twice(n + 1) + twice(n + 2); }
SATIN_JOB(uint64_t, calls, uint32_t)
uint64_t calls(uint32_t n) { return twice(n); }

SATIN_JOB(uint64_t, grow, uint32_t)
uint64_t grow(uint32_t n) {
	while (__builtin_wasm_memory_grow(0, n) != ~0ul) {}
	uint32_t end = __builtin_wasm_memory_size(0) << 16;
	*(volatile uint32_t *)(end - 4) = 1;
	return end >> 16;
}

/* Copies as much as there is, straight ahead. */
#define COPY __builtin_memcpy((void *)0x100000, (void *)0x4000000, n);
#define COPIES COPY COPY COPY COPY COPY COPY COPY COPY
SATIN_JOB(uint64_t, copy, uint32_t)
uint64_t copy(uint32_t n) {
	__builtin_wasm_memory_grow(0, 2000);
	for (;;) { COPIES COPIES COPIES COPIES }
}

SATIN_JOB(uint64_t, traps, uint32_t)
uint64_t traps(uint32_t n) { return *(volatile uint64_t *)(0xfffffff0 - n); }

SATIN_JOB(uint64_t, echo, uint32_t)
uint64_t echo(uint32_t n) { return n; }

static uint32_t no_path[1];
SATIN_JOB(uint64_t, forge, uint32_t)
uint64_t forge(uint32_t n) { return satin1_join(n); }
SATIN_JOB(uint64_t, forge_drop, uint32_t)
uint64_t forge_drop(uint32_t n) {
	satin1_drop(n);
	return 0;
}
SATIN_JOB(uint64_t, twice_joined, uint32_t)
uint64_t twice_joined(uint32_t n) {
	int32_t h = satin1_offer((uint32_t)&echo_job, &n, 4, no_path, 0, 1);
	satin1_join(h);
	return satin1_join(h);
}
SATIN_JOB(uint64_t, wait_far, uint32_t)
uint64_t wait_far(uint32_t n) { return satin1_any((int32_t *)n, 1 << 15); }
SATIN_JOB(uint64_t, wait_many, uint32_t)
uint64_t wait_many(uint32_t n) { return satin1_any((int32_t *)0, n); }

/* Offers without asking: n in all, so many at a time that the host says no. */
SATIN_JOB(uint64_t, promote, uint32_t)
uint64_t promote(uint32_t n) {
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		int32_t h = satin1_offer((uint32_t)&echo_job, &i, 4, no_path, 0, i + 1);
		int64_t got = satin1_join(h);
		if (got < 0) sum += i;
		else {
			uint64_t r;
			satin1_result(&r);
			sum += r;
		}
	}
	return sum;
}
SATIN_JOB(uint64_t, hoard, uint32_t)
uint64_t hoard(uint32_t n) {
	for (uint32_t i = 0; i < n; i++) satin1_offer((uint32_t)&echo_job, &i, 4, no_path, 0, i + 1);
	return 0;
}
SATIN_JOB(uint64_t, leave, uint32_t)
uint64_t leave(uint32_t n) {
	satin1_offer((uint32_t)&echo_job, &n, 4, no_path, 0, 1);
	return 0;
}

/* Lies about sizes. */
SATIN_JOB(uint64_t, large, uint32_t)
uint64_t large(uint32_t n) { return satin1_offer(0, (void *)n, 0x7fffffff, no_path, 0, 1); }
SATIN_JOB(uint64_t, far, uint32_t)
uint64_t far(uint32_t n) { return satin1_offer(0, (void *)(0xfffffff0 - n), 100, no_path, 0, 1); }
SATIN_JOB(uint64_t, long_path, uint32_t)
uint64_t long_path(uint32_t n) { return satin1_offer(0, &n, 4, no_path, n, 1); }
SATIN_JOB(uint64_t, offer_nothing, uint32_t)
uint64_t offer_nothing(uint32_t n) {
	int32_t h = satin1_offer(0xfffff000, &n, 4, no_path, 0, 1);
	for (volatile uint32_t i = 0; i < 100000000; i++) {}
	return satin1_join(h);
}
SATIN_JOB(uint64_t, fail_far, uint32_t)
uint64_t fail_far(uint32_t n) {
	satin1_fail((char *)0xffff0000, n);
	return 0;
}
SATIN_JOB(uint64_t, terminal, uint32_t)
uint64_t terminal(uint32_t n) {
	if (n < 99) satin_fail("red \033[31m\nand more lines\r\n\xff\xfe");
	return n;
}
static uint32_t left_behind;
SATIN_JOB(uint64_t, litter, uint32_t)
uint64_t litter(uint32_t n) {
	uint32_t found = left_behind;
	left_behind = n;
	return found;
}
SATIN_JOB(uint64_t, chatter, uint32_t)
uint64_t chatter(uint32_t n) {
	for (uint32_t i = 0; i < n; i++) satin_log("spam");
	return n;
}

/* Shared values that are not there, too many, too large, or elsewhere. */
static uint8_t forged[32 * 70];
SATIN_JOB(uint64_t, read_forged, uint32_t)
uint64_t read_forged(uint32_t n) {
	forged[0] = n;
	return satin1_read(forged);
}
SATIN_JOB(uint64_t, read_far, uint32_t)
uint64_t read_far(uint32_t n) { return satin1_read((void *)(0xfffffff0 - n)); }
SATIN_JOB(uint64_t, write_forged, uint32_t)
uint64_t write_forged(uint32_t n) {
	uint8_t to[32];
	satin1_write(n, forged, &n, 4, &n, 4, to);
	return to[0];
}
SATIN_JOB(uint64_t, value_forged, uint32_t)
uint64_t value_forged(uint32_t n) {
	forged[0] = n;
	return satin1_value(forged);
}
/* A constant is looked at as if it were a lattice, and written to as if it were an object. */
SATIN_JOB(uint64_t, value_constant, uint32_t)
uint64_t value_constant(uint32_t n) {
	uint8_t name[32];
	satin1_constant(&n, 4, name);
	return satin1_value(name);
}
SATIN_JOB(uint64_t, write_constant, uint32_t)
uint64_t write_constant(uint32_t n) {
	uint8_t name[32];
	satin1_constant(&n, 4, name);
	satin1_write(0, name, &n, 4, &n, 4, name);
	return 0;
}
SATIN_JOB(uint64_t, share_far, uint32_t)
uint64_t share_far(uint32_t n) {
	satin1_constant(&n, 4, (void *)(0xfffffff0 - n));
	return 0;
}
SATIN_JOB(uint64_t, share_large, uint32_t)
uint64_t share_large(uint32_t n) {
	satin1_constant(0, n, forged);
	return 0;
}
SATIN_JOB(uint64_t, share_many, uint32_t)
uint64_t share_many(uint32_t n) {
	for (uint32_t i = 0; i < n; i++) satin1_constant(&i, 4, forged);
	return 0;
}
SATIN_JOB(uint64_t, write_many, uint32_t)
uint64_t write_many(uint32_t n) {
	uint32_t state = 0;
	satin1_object(&state, 4, forged);
	for (state = 1; state <= n; state++) satin1_write(0, forged, &state, 4, &state, 4, forged);
	return 0;
}
SATIN_JOB(uint64_t, look_many, uint32_t)
uint64_t look_many(uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		satin1_lattice(0, &i, 4, forged);
		satin1_value(forged);
	}
	return 0;
}
SATIN_JOB(uint64_t, name_many, uint32_t)
uint64_t name_many(uint32_t n) {
	satin1_naming(forged, n, 0);
	return 0;
}
/* An offer to a lattice by a method that is no function. */
SATIN_JOB(uint64_t, grow_nowhere, uint32_t)
uint64_t grow_nowhere(uint32_t n) {
	satin1_lattice(0xfffff000, &n, 4, forged);
	satin1_grow(forged, &n, 4);
	n++;
	satin1_grow(forged, &n, 4);
	return 0;
}
SATIN_JOB(uint64_t, file_in_job, uint32_t)
uint64_t file_in_job(uint32_t n) { return satin1_file("x", 1, forged) + n; }

#define WHAT(word) \
	if (satin_is(what, #word)) return satin_root(word, &size);

static int satin_is(const char *a, const char *b) {
	while (*a && *a == *b) a++, b++;
	return *a == *b;
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	const char *what = args;
	int64_t n;
	args += satin_strlen(args) + 1;
	if (args >= what + len || !satin_next_int(&args, 0, 0xffffffff, &n)) return satin_want("N", "a whole number");
	uint32_t size = n;
	satin_put(what);
	WHAT(loop) WHAT(recurse) WHAT(calls) WHAT(grow) WHAT(copy) WHAT(traps) WHAT(forge) WHAT(forge_drop)
	WHAT(twice_joined) WHAT(wait_far) WHAT(wait_many) WHAT(promote) WHAT(hoard) WHAT(leave) WHAT(large) WHAT(far)
	WHAT(long_path) WHAT(offer_nothing) WHAT(fail_far) WHAT(terminal) WHAT(chatter) WHAT(litter)
	WHAT(read_forged) WHAT(read_far) WHAT(write_forged) WHAT(value_forged) WHAT(value_constant) WHAT(write_constant)
	WHAT(share_far) WHAT(share_large) WHAT(share_many) WHAT(write_many) WHAT(look_many) WHAT(name_many)
	WHAT(grow_nowhere) WHAT(file_in_job)
	satin_text();
	if (satin_is(what, "setup_shares")) satin1_lattice(0, what, 4, forged);
	if (satin_is(what, "setup_hoards"))
		for (uint32_t i = 0; i < 10000; i++) satin1_constant(0, 1 << 10 | i, forged);
	if (satin_is(what, "setup_reads")) satin1_read(forged);
	if (satin_is(what, "setup_loop")) loop(n);
	if (satin_is(what, "setup_far")) return 0x7ffffff000001000ll;
	if (satin_is(what, "setup_large")) return satin_place(what, n);
	if (satin_is(what, "setup_garbage")) return satin_place("no zero", 7);
	if (satin_is(what, "setup_spawns")) return satin1_offer(0, what, 4, no_path, 0, 1);
	return satin_want("WHAT", "one of the words in hostile.c");
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	satin_put_u64(*(uint64_t *)satin_result_of(a));
	return satin_text();
}
