/* Optimal Golomb rulers: marks from 0 on, no two pairs of which are equally far apart, on as short a ruler as there is. */
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"golomb\",\"summary\":\"find the shortest Golomb ruler of ORDER marks\","
	"\"args\":\"ORDER\",\"examples\":[\"9\",\"11\"],\"flags\":[],"
	"\"long\":\"Searches all rulers, mark by mark, and gives up where what is missing cannot make one shorter than the"
	" best that is known. Children whose turn comes later begin with the best that came before.\"}")

enum { MOST = 12, SPAWNED = 4, BATCH = 6 };

typedef struct {
	uint8_t marks, order, bound; /* how many there are, how many there will be, shorter than this */
	uint8_t at[MOST];
	uint64_t used[2]; /* distances */
} ruler;

/* A ruler that was found, or none: of length 0. */
typedef struct { uint8_t length, at[MOST]; } found;

/* put adds a mark; 0 if one of its distances is used. */
static int put(ruler *r, uint32_t mark) {
	uint64_t used[2] = {r->used[0], r->used[1]};
	for (uint32_t i = 0; i < r->marks; i++) {
		uint32_t d = mark - r->at[i];
		if (used[d >> 6] >> (d & 63) & 1) return 0;
		used[d >> 6] |= 1ull << (d & 63);
	}
	r->used[0] = used[0], r->used[1] = used[1];
	r->at[r->marks++] = mark;
	return 1;
}

/* last is where the next mark may be at most: those after it need 1 + 2 + ... more, or, of the first, one half. */
static uint32_t last(const ruler *r) {
	uint32_t after = r->order - r->marks - 1, room = after * (after + 1) / 2;
	uint32_t end = r->bound - 1 > room ? r->bound - 1 - room : 0;
	return r->marks == 1 && end > r->bound / 2u ? r->bound / 2u : end;
}

static void complete(const ruler *r, found *best) {
	best->length = r->at[r->marks - 1];
	for (uint32_t i = 0; i < MOST; i++) best->at[i] = i < r->marks ? r->at[i] : 0;
}

/* search is the sequential program. */
static void search(ruler *r, found *best) {
	for (uint32_t mark = r->at[r->marks - 1] + 1; mark <= last(r); mark++) {
		ruler next = *r;
		if (!put(&next, mark)) continue;
		if (next.marks == next.order) {
			complete(&next, best);
			r->bound = mark;
			return;
		}
		search(&next, best);
		r->bound = next.bound;
	}
}

SATIN_JOB(found, extend, ruler)
found extend(ruler r) {
	found best = {0, {0}};
	if (r.marks >= SPAWNED || r.marks + 2 >= r.order) {
		search(&r, &best);
		return best;
	}
	for (uint32_t mark = r.at[r.marks - 1] + 1; mark <= last(&r);) {
		uint32_t children = 0;
		for (; children < BATCH && mark <= last(&r); mark++) {
			ruler next = r;
			if (!put(&next, mark)) continue;
			extend_spawn(next);
			children++;
		}
		while (children--) {
			found f = extend_get();
			if (f.length && f.length < r.bound) best = f, r.bound = f.length;
		}
	}
	return best;
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	int64_t order;
	if (!satin_next_int(&args, 3, MOST, &order)) return satin_want("ORDER", "a whole number from 3 to 12");
	ruler r = {0, order, 120, {0}, {0, 0}};
	put(&r, 0);
	satin_put("Golomb rulers of ");
	satin_put_u64(order);
	satin_put(" marks");
	return satin_root(extend, &r);
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	const found *f = satin_result_of(a);
	uint32_t order = ((const ruler *)satin_arg_of(a))->order;
	satin_put("length ");
	satin_put_u64(f->length);
	satin_put(":");
	for (uint32_t i = 0; i < order; i++) {
		satin_put(" ");
		satin_put_u64(f->at[i]);
	}
	satin_put_bytes("", 1);
	satin_put("{\"length\":");
	satin_put_u64(f->length);
	satin_put("}");
	return satin_text();
}

/* The lengths of optimal rulers, OEIS A003022. */
static const uint8_t shortest[] = {0, 0, 1, 3, 6, 11, 17, 25, 34, 44, 55, 72, 85};

SATIN_EXPORT(check) int64_t satin1_check(const satin_answer *a, uint32_t len) {
	const found *f = satin_result_of(a);
	uint32_t order = ((const ruler *)satin_arg_of(a))->order;
	uint8_t seen[256] = {0};
	for (uint32_t i = 0; i < order; i++)
		for (uint32_t k = 0; k < i; k++)
			if (f->at[i] <= f->at[k] || seen[f->at[i] - f->at[k]]++) {
				satin_put("two pairs of marks are equally far apart");
				return satin_text() | SATIN_ERROR;
			}
	if (f->length == shortest[order] && f->at[order - 1] == f->length) return satin_text();
	satin_put("OEIS A003022 has another length");
	return satin_text() | SATIN_ERROR;
}
