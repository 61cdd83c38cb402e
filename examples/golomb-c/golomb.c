/* Optimal Golomb rulers: marks from 0 on, no two pairs of which are equally far apart, on as short a ruler as there is. */
#define SATIN_SHARES
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"golomb\",\"summary\":\"find the shortest Golomb ruler of ORDER marks\","
	"\"args\":\"ORDER\",\"examples\":[\"9\",\"11\"],\"flags\":[],"
	"\"long\":\"Searches all rulers, mark by mark, and gives up where what is missing cannot make one shorter than the"
	" best that anybody has found so far, anywhere: a lattice.\"}")

enum { MOST = 12, SPAWNED = 4, ANY = 120 };

/* A ruler that was found: of length 0, none. */
typedef struct { uint8_t length, at[MOST]; } found;

/* The best that anybody has found, with its marks: so an offer of another machine can be checked, and a search that was
 * cut short because of it can give it. */
SATIN_LATTICE(found, best, uint8_t)
static void best_join(found *f, const found *by) {
	int i = 0;
	while (i < MOST && f->length == by->length && f->at[i] == by->at[i]) i++;
	if (i < MOST && (by->length < f->length || (by->length == f->length && by->at[i] < f->at[i]))) *f = *by;
}

/* wrong says what is wrong with a ruler of so many marks. */
static const char *wrong(uint32_t order, const found *f) {
	uint8_t seen[256] = {0};
	for (uint32_t i = 0; i < order; i++)
		for (uint32_t k = 0; k < i; k++)
			if (f->at[i] <= f->at[k] || seen[f->at[i] - f->at[k]]++) return "two pairs of marks are equally far apart";
	return f->at[order - 1] == f->length ? 0 : "it has another length";
}
static const char *best_valid(const uint8_t *order, const found *f) { return wrong(*order, f); }

typedef struct {
	satin_shared best;
	uint8_t marks, order; /* how many there are, how many there will be */
	uint8_t at[MOST];
	uint64_t used[2]; /* distances */
} ruler;

/* bound is what is to be found less than. */
static uint32_t bound(const ruler *r) {
	const found *f = best_value(r->best);
	return f ? f->length : ANY;
}

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
	uint32_t after = r->order - r->marks - 1, room = after * (after + 1) / 2, less = bound(r);
	uint32_t end = less - 1 > room ? less - 1 - room : 0;
	return r->marks == 1 && end > less / 2u ? less / 2u : end;
}

/* search is the sequential program. */
static void search(const ruler *r) {
	for (uint32_t mark = r->at[r->marks - 1] + 1; mark <= last(r); mark++) {
		ruler next = *r;
		if (!put(&next, mark)) continue;
		if (next.marks < next.order) {
			search(&next);
			continue;
		}
		found f = {mark, {0}};
		int mirrored = next.at[1] > mark - next.at[next.marks - 2]; /* of a ruler and its mirror image one */
		for (uint32_t i = 0; i < next.marks; i++)
			f.at[i] = mirrored ? mark - next.at[next.marks - 1 - i] : next.at[i];
		best_offer(r->best, f);
		return;
	}
}

/* extend gives the best that is known when all beginning with r has been searched: what was not, because it could not be
 * better than that. */
SATIN_JOB_SHARED(found, extend, ruler, 1)
found extend(ruler r) {
	found least = {0, {0}};
	uint32_t children = 0;
	if (r.marks >= SPAWNED || r.marks + 2 >= r.order) {
		search(&r);
	} else {
		/* the later ones, which are less likely to have it, are spawned first and begin last */
		for (uint32_t mark = last(&r); mark > r.at[r.marks - 1]; mark--) {
			ruler next = r;
			if (!put(&next, mark)) continue;
			extend_spawn(next);
			children++;
		}
	}
	while (children--) {
		found f = extend_get();
		if (f.length && least.length) best_join(&least, &f);
		else if (f.length) least = f;
	}
	const found *known = best_value(r.best);
	if (known && least.length) best_join(&least, known);
	return known && !least.length ? *known : least;
}

/* The root job shares the bound. */
SATIN_JOB(found, optimal, uint32_t)
found optimal(uint32_t order) {
	ruler r = {best_share(order), 0, order, {0}, {0, 0}};
	put(&r, 0);
	return extend(r);
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	int64_t n;
	if (!satin_next_int(&args, 3, MOST, &n)) return satin_want("ORDER", "a whole number from 3 to 12");
	uint32_t order = n;
	satin_put("Golomb rulers of ");
	satin_put_u64(order);
	satin_put(" marks");
	return satin_root(optimal, &order);
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	const found *f = satin_result_of(a);
	uint32_t order = *(const uint32_t *)satin_arg_of(a);
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
	uint32_t order = *(const uint32_t *)satin_arg_of(a);
	const char *e = wrong(order, f);
	if (e) return satin_place(e, satin_strlen(e)) | SATIN_ERROR;
	if (f->length == shortest[order]) return satin_text();
	satin_put("OEIS A003022 has another length");
	return satin_text() | SATIN_ERROR;
}
