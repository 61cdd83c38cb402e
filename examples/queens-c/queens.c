/* Counts the ways to place n queens that do not attack each other: every queen is a job. */
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"queens\",\"summary\":\"count the ways to place N queens\",\"args\":\"N\","
	"\"examples\":[\"12\"],\"flags\":[{\"name\":\"threshold\",\"default\":\"0\","
	"\"usage\":\"`rows` left that a job counts without spawning\"}]}")

typedef struct { uint32_t all, columns, left, right; uint32_t rows, threshold; } board;

static uint64_t count(uint32_t all, uint32_t columns, uint32_t left, uint32_t right) {
	if (columns == all) return 1;
	uint64_t n = 0;
	for (uint32_t free = all & ~(columns | left | right); free; free &= free - 1) {
		uint32_t bit = free & -free;
		n += count(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return n;
}

SATIN_JOB(uint64_t, place, board)
uint64_t place(board b) {
	if (b.columns == b.all) return 1;
	if (b.rows <= b.threshold) return count(b.all, b.columns, b.left, b.right);
	uint32_t children = 0;
	uint64_t n = 0;
	for (uint32_t free = b.all & ~(b.columns | b.left | b.right); free; free &= free - 1, children++) {
		uint32_t bit = free & -free;
		place_spawn((board){b.all, b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1, b.rows - 1, b.threshold});
	}
	while (children--) n += place_get();
	return n;
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	int64_t n, threshold;
	if (!satin_next_int(&args, 1, 20, &n)) return satin_want("N", "a whole number from 1 to 20");
	if (!satin_next_int(&args, 0, 20, &threshold)) return satin_want("--threshold", "a whole number from 0 to 20");
	board b = {(1u << n) - 1, 0, 0, 0, n, threshold};
	satin_put_u64(n);
	satin_put(" queens");
	return satin_root(place, &b);
}

static uint64_t n_of(const board *b) { return __builtin_popcount(b->all); }

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	uint64_t n = n_of(satin_arg_of(a)), found = *(uint64_t *)satin_result_of(a);
	satin_put_u64(n);
	satin_put(" queens: ");
	satin_put_u64(found);
	satin_put(" solutions");
	satin_put_bytes("", 1);
	satin_put("{\"n\":");
	satin_put_u64(n);
	satin_put(",\"solutions\":");
	satin_put_u64(found);
	satin_put("}");
	return satin_text();
}

/* OEIS A000170. */
static const uint64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512,
	95815104, 666090624, 4968057848, 39029188884};

SATIN_EXPORT(check) int64_t satin1_check(const satin_answer *a, uint32_t len) {
	if (known[n_of(satin_arg_of(a))] == *(uint64_t *)satin_result_of(a)) return satin_text();
	satin_put("OEIS A000170 has another number");
	return satin_text() | SATIN_ERROR;
}
