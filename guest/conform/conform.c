/* What every guest of satin1 must be able to do: the suite in internal/module runs it. The first argument says what,
 * the second how large. */
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"conform\",\"summary\":\"what every guest must be able to do\",\"args\":\"WHAT N\","
	"\"examples\":[\"fib 20\"],\"flags\":[]}")

/* Spawns at every level. */
SATIN_JOB(uint64_t, fib, uint32_t)
uint64_t fib(uint32_t n) {
	if (n < 2) return n;
	fib_spawn(n - 1);
	uint64_t y = fib(n - 2);
	return fib_get() + y;
}

/* The sequential program. */
static __attribute__((noinline)) uint64_t plain(uint32_t n) {
	uint64_t r = n;
	if (n >= 2) {
		r = plain(n - 1);
		r += plain(n - 2);
	}
	return r;
}
SATIN_JOB(uint64_t, sequential, uint32_t)
uint64_t sequential(uint32_t n) { return plain(n); }

/* The same of queens. */
static uint64_t count(uint32_t all, uint32_t columns, uint32_t left, uint32_t right) {
	if (columns == all) return 1;
	uint64_t n = 0;
	for (uint32_t free = all & ~(columns | left | right); free; free &= free - 1) {
		uint32_t bit = free & -free;
		n += count(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return n;
}
SATIN_JOB(uint64_t, count_of, uint32_t)
uint64_t count_of(uint32_t n) { return count((1u << n) - 1, 0, 0, 0); }

/* A group whose results are taken in order of completion. */
typedef struct { uint32_t all, columns, left, right; } board;
SATIN_JOB(uint64_t, queens, board)
uint64_t queens(board b) {
	if (b.columns == b.all) return 1;
	uint32_t children = 0;
	uint64_t n = 0;
	for (uint32_t free = b.all & ~(b.columns | b.left | b.right); free; free &= free - 1, children++) {
		uint32_t bit = free & -free;
		queens_spawn((board){b.all, b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1});
	}
	while (children--) n += queens_any();
	return n;
}
SATIN_JOB(uint64_t, queens_of, uint32_t)
uint64_t queens_of(uint32_t n) { return queens((board){(1u << n) - 1, 0, 0, 0}); }

/* An inlet that spawns more, and ends with an abort: children give what they got, found once one gives n. */
SATIN_JOB(uint64_t, echo, uint32_t)
uint64_t echo(uint32_t n) { return fib(10) - 55 + n; }
SATIN_JOB(uint64_t, first, uint32_t)
uint64_t first(uint32_t n) {
	for (uint32_t i = 0; i < 8; i++) echo_spawn(i);
	for (uint32_t more = 8;; more++) {
		uint64_t got = echo_any();
		if (got == n) break;
		if (more < 300) echo_spawn(more);
	}
	satin_drop();
	return n;
}

/* A child that would run for ever is dropped while it runs, or before. */
SATIN_JOB(uint64_t, forever, uint32_t)
uint64_t forever(uint32_t n) {
	for (volatile uint32_t i = 0;; i++)
		if (i == ~0u && n == ~0u) return i;
}
SATIN_JOB(uint64_t, aborted, uint32_t)
uint64_t aborted(uint32_t n) {
	forever_spawn(n);
	uint64_t r = fib(25) - 75025 + n;
	satin_drop();
	return r;
}

/* Errors, from how deep so ever. */
SATIN_JOB(uint64_t, fails, uint32_t)
uint64_t fails(uint32_t n) {
	if (n == 0) {
		satin_error("there is none at all");
		return 0;
	}
	fails_spawn(n - 1);
	fib(15);
	return fails_get();
}
SATIN_JOB(uint64_t, caught, uint32_t)
uint64_t caught(uint32_t n) {
	fails_spawn(n);
	fib(15);
	fails_get();
	return satin_take_error() ? n : 0;
}

SATIN_JOB(uint64_t, panics, uint32_t)
uint64_t panics(uint32_t n) {
	if (n == 0) satin_fail("this cannot go on");
	panics_spawn(n - 1);
	fib(15);
	return panics_get();
}

/* As deep as jobs go. */
SATIN_JOB(uint64_t, deep, uint32_t)
uint64_t deep(uint32_t n) {
	if (n == 0) return 0;
	deep_spawn(n - 1);
	return deep_get() + 1;
}

/* The bits of sums, products and a NaN. */
SATIN_JOB(uint64_t, floats, uint32_t)
uint64_t floats(uint32_t n) {
	union { double d; uint64_t u; } sum = {0}, nan = {0};
	for (uint32_t i = 1; i <= n; i++) sum.d += 1.0 / i * (i & 1 ? 1 : -0.9);
	volatile double zero = 0;
	nan.d = zero / zero + sum.d;
	return sum.u ^ nan.u;
}

SATIN_JOB(uint64_t, traps, uint32_t)
uint64_t traps(uint32_t n) { return *(volatile uint64_t *)(0xfffffff0 - n); }

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
	if (args >= what + len || !satin_next_int(&args, 0, 1000000000, &n)) return satin_want("N", "a whole number");
	uint32_t size = n;
	satin_put(what);
	WHAT(fib) WHAT(sequential) WHAT(count_of) WHAT(queens_of) WHAT(first) WHAT(aborted) WHAT(fails) WHAT(caught) WHAT(panics)
	WHAT(deep) WHAT(floats) WHAT(forever) WHAT(traps)
	satin_text();
	return satin_want("WHAT", "one of the words in conform.c");
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	satin_put_u64(*(uint64_t *)satin_result_of(a));
	return satin_text();
}
