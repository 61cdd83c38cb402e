/* What every guest of satin1 must be able to do: the suite in internal/module runs it. The first argument says what,
 * the second how large. */
#define SATIN_SHARES
#define SATIN_VALUES 2048
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

/* Fails with a long text. */
#define SIXTY "that there is nothing at all takes a great many words to say,"
SATIN_JOB(uint64_t, wordy, uint32_t)
uint64_t wordy(uint32_t n) {
	fib(15);
	satin_error(SIXTY SIXTY SIXTY SIXTY SIXTY SIXTY);
	return n;
}
/* Fails with the first of two errors: a job between them deals with those of its own children only. */
SATIN_JOB(uint64_t, beside, uint32_t)
uint64_t beside(uint32_t n) {
	wordy_spawn(n);
	caught_spawn(n);
	fails_spawn(n);
	fails_get();
	caught_get();
	return wordy_get();
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

/* A constant that many jobs read: the sum of the numbers below n. */
typedef struct { satin_shared numbers; uint32_t from, to; } range;
static uint32_t numbers[1 << 13];
SATIN_JOB_SHARED(uint64_t, sum, range, 1)
uint64_t sum(range r) {
	if (r.to - r.from > 16) {
		uint32_t mid = (r.from + r.to) / 2;
		sum_spawn((range){r.numbers, r.from, mid});
		uint64_t s = sum((range){r.numbers, mid, r.to});
		return sum_get() + s;
	}
	uint64_t s = fib(18) - 2584;
	satin_read(r.numbers, numbers, sizeof numbers);
	for (uint32_t i = r.from; i < r.to; i++) s += numbers[i];
	return s;
}
SATIN_JOB(uint64_t, constant, uint32_t)
uint64_t constant(uint32_t n) {
	static uint32_t all[1 << 13];
	if (n > 1 << 13) satin_fail("too many numbers");
	for (uint32_t i = 0; i < n; i++) all[i] = i;
	return sum((range){satin_constant(all, 4 * n), 0, n});
}

/* An object: jobs read the version that they were given, whatever has been written since. */
SATIN_OBJECT(uint64_t, steps, uint32_t)
static void steps_move(uint64_t *state, const uint32_t *w) { *state = *state * 31 + *w; }
typedef struct { satin_shared at; uint32_t pad; } version;
SATIN_JOB_SHARED(uint64_t, look, version, 1)
uint64_t look(version v) { return fib(18) - 2584 + steps_read(v.at); }
SATIN_JOB(uint64_t, object, uint32_t)
uint64_t object(uint32_t n) {
	satin_shared at = steps_share(1);
	uint64_t s = 0;
	for (uint32_t i = 1; i <= n; i++) {
		at = steps_write(at, i);
		look_spawn((version){at, 0});
	}
	while (n--) s += look_get();
	return s;
}

/* A lattice: the least of what was offered. A job sees its own offers, and all that its children have given. */
SATIN_LATTICE(uint64_t, least, uint64_t)
static void least_join(uint64_t *v, const uint64_t *by) { if (*by < *v) *v = *by; }
static const char *least_valid(const uint64_t *about, const uint64_t *v) {
	return *v >= *about ? 0 : "it is less than there can be";
}
typedef struct { satin_shared best; uint32_t from, to; } offers;
static uint64_t offer_of(uint32_t i) { return 1000 + (i * 2654435761u >> 8); }
SATIN_JOB_SHARED(uint64_t, search, offers, 1)
uint64_t search(offers o) {
	if (o.to - o.from > 1) {
		uint32_t mid = (o.from + o.to) / 2;
		search_spawn((offers){o.best, o.from, mid});
		uint64_t b = search((offers){o.best, mid, o.to}), a = search_get();
		return a < b ? a : b;
	}
	uint64_t v = offer_of(o.from) + fib(8) - 21;
	least_offer(o.best, v);
	if (*least_value(o.best) > v) satin_fail("a job does not see its own offer");
	return v;
}
SATIN_JOB(uint64_t, lattice, uint32_t)
uint64_t lattice(uint32_t n) {
	satin_shared best = least_share(1000);
	if (least_value(best)) satin_fail("there is a value that nobody has offered");
	uint64_t v = search((offers){best, 0, n});
	least_offer(best, v);
	return *least_value(best);
}

/* Jobs that do not know each other share the lattice of one name: one waits for what the other one offers. */
SATIN_JOB(uint64_t, waits, uint32_t)
uint64_t waits(uint32_t n) {
	satin_shared best = least_share(1000);
	for (;;) {
		fib(6);
		const uint64_t *v = least_value(best);
		if (v && *v <= n) return *v;
	}
}
SATIN_JOB(uint64_t, offers_it, uint32_t)
uint64_t offers_it(uint32_t n) {
	least_offer(least_share(1000), n);
	return n;
}

/* A guard: jobs begin when they see what was offered before they were spawned. */
typedef struct { satin_shared best; uint32_t most; } bounded;
SATIN_JOB_GUARDED(uint64_t, within, bounded, 1)
int within_guard(bounded b) {
	const uint64_t *v = least_value(b.best);
	return v && *v <= b.most;
}
uint64_t within(bounded b) { return fib(10) - 55 + within_guard(b); }
SATIN_JOB(uint64_t, guarded, uint32_t)
uint64_t guarded(uint32_t n) {
	satin_shared best = least_share(1000);
	uint64_t s = 0;
	for (uint32_t i = 0; i < n; i++) {
		least_offer(best, 2000 - i);
		within_spawn((bounded){best, 2000 - i});
	}
	for (uint32_t i = 0; i < n; i++) s += within_get();
	return s;
}

/* An offer that cannot be is refused. */
SATIN_JOB(uint64_t, invalid, uint32_t)
uint64_t invalid(uint32_t n) {
	least_offer(least_share(1000), n);
	return 0;
}

/* A file that was given to the run is a constant: the sum of its bytes. */
typedef struct { satin_shared file; uint32_t n; } given;
SATIN_JOB_SHARED(uint64_t, file, given, 1)
uint64_t file(given g) {
	static uint8_t text[1 << 16];
	uint64_t s = 0;
	for (uint32_t n = satin_read(g.file, text, sizeof text); n--;) s += text[n];
	return s;
}

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
	WHAT(beside)
	if (satin_is(what, "file")) {
		given g = {satin_file("input"), size};
		if (g.file.i) return satin_root(file, &g);
		satin_text();
		return satin_want("--file", "input=PATH");
	}
	WHAT(waits) WHAT(offers_it) WHAT(constant) WHAT(object) WHAT(lattice) WHAT(guarded) WHAT(invalid)
	WHAT(deep) WHAT(floats) WHAT(forever) WHAT(traps)
	satin_text();
	return satin_want("WHAT", "one of the words in conform.c");
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	satin_put_u64(*(uint64_t *)satin_result_of(a));
	return satin_text();
}
