/* Maximum cliques: as many vertices as there are of a graph, all of them neighbours of each other. Graphs are those of the
 * DIMACS challenge that have a rule, by their names there, and random ones. */
#define SATIN_SLOT 96
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"clique\",\"summary\":\"find a largest clique of GRAPH\",\"args\":\"GRAPH\","
	"\"examples\":[\"johnson8-4-4\",\"hamming6-4\",\"random90-60-1\"],\"flags\":[],"
	"\"long\":\"GRAPH is hammingN-D, johnsonN-W-D, or randomN-PERCENT-SEED, of at most 128 vertices. Colours bound what can"
	" still be found: a clique has one vertex of each at most (Tomita and Seki 2003). Of the children of a job the first"
	" one is searched before the others are spawned, which begin with what it has found.\"}")

enum { MOST = 128, HAMMING = 1, JOHNSON, RANDOM, SPAWNED = 12 };

typedef struct { uint64_t w[2]; } set;
typedef struct { uint32_t family, n, a, b; } graph;
typedef struct {
	graph g;
	set clique, left; /* chosen; their common neighbours */
	uint32_t size, bound; /* of clique; only larger ones are of interest */
} part;
typedef struct { uint32_t size; set clique; } found; /* size 0: none */

static int in(const set *s, uint32_t v) { return s->w[v >> 6] >> (v & 63) & 1; }
static void add(set *s, uint32_t v) { s->w[v >> 6] |= 1ull << (v & 63); }
static void take(set *s, uint32_t v) { s->w[v >> 6] &= ~(1ull << (v & 63)); }
static int empty(const set *s) { return !(s->w[0] | s->w[1]); }
static uint32_t first(const set *s) {
	return s->w[0] ? __builtin_ctzll(s->w[0]) : 64 + __builtin_ctzll(s->w[1]);
}

/* The graph of this instance: the rows of the matrix. */
static graph built;
static set rows[MOST];
static uint32_t vertices;

static uint32_t words[MOST]; /* of a code: what each vertex stands for */

static uint64_t mix(uint64_t x) { /* splitmix64 */
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static int adjacent(const graph *g, uint32_t i, uint32_t k) {
	if (g->family != RANDOM)
		return (uint32_t)__builtin_popcount(words[i] ^ words[k]) >= (g->family == HAMMING ? g->a : g->b);
	uint32_t lo = i < k ? i : k, hi = i < k ? k : i;
	return mix(mix(g->b) ^ (lo * MOST + hi)) % 100 < g->a;
}

/* build makes the graph, unless it is there; 0 if it has no or too many vertices. */
static int build(const graph *g) {
	if (built.family == g->family && built.n == g->n && built.a == g->a && built.b == g->b) return 1;
	vertices = g->family == RANDOM ? g->n : 0;
	if (g->family != RANDOM)
		for (uint32_t x = 0; x < 1u << g->n; x++) {
			if (g->family == JOHNSON && (uint32_t)__builtin_popcount(x) != g->a) continue;
			if (vertices == MOST) return 0;
			words[vertices++] = x;
		}
	for (uint32_t i = 0; i < vertices; i++) {
		rows[i] = (set){{0, 0}};
		for (uint32_t k = 0; k < vertices; k++)
			if (i != k && adjacent(g, i, k)) add(&rows[i], k);
	}
	built = *g;
	return vertices > 0;
}

/* colour puts vertices that may be in a larger clique than bound in order, those with the highest colours last. */
static uint32_t colour(const part *p, uint8_t *order, uint8_t *colours) {
	set left = p->left;
	uint32_t n = 0;
	for (uint32_t c = 1; !empty(&left); c++) {
		set class = left;
		while (!empty(&class)) {
			uint32_t v = first(&class);
			take(&class, v);
			take(&left, v);
			class.w[0] &= ~rows[v].w[0];
			class.w[1] &= ~rows[v].w[1];
			if (p->size + c > p->bound) order[n] = v, colours[n++] = c;
		}
	}
	return n;
}

static part with(const part *p, uint32_t v) {
	part q = *p;
	add(&q.clique, v);
	q.size++;
	q.left.w[0] &= rows[v].w[0];
	q.left.w[1] &= rows[v].w[1];
	return q;
}

/* search is the sequential program. */
static void search(part *p, found *best) {
	if (empty(&p->left)) {
		if (p->size > p->bound) *best = (found){p->size, p->clique}, p->bound = p->size;
		return;
	}
	uint8_t order[MOST], colours[MOST];
	for (uint32_t n = colour(p, order, colours); n-- && p->size + colours[n] > p->bound;) {
		part q = with(p, order[n]);
		search(&q, best);
		p->bound = q.bound;
		take(&p->left, order[n]);
	}
}

SATIN_JOB(found, expand, part)
found expand(part p) {
	found best = {0, {{0, 0}}};
	if (!build(&p.g)) satin_fail("a graph that cannot be built");
	uint32_t n = __builtin_popcountll(p.left.w[0]) + __builtin_popcountll(p.left.w[1]);
	if (n < SPAWNED) {
		search(&p, &best);
		return best;
	}
	uint8_t order[MOST], colours[MOST];
	uint32_t children = 0;
	n = colour(&p, order, colours);
	for (uint32_t i = n; i--;) {
		if (p.size + colours[i] <= p.bound) break;
		part q = with(&p, order[i]);
		take(&p.left, order[i]);
		if (i + 1 < n) {
			expand_spawn(q);
			children++;
			continue;
		}
		best = expand(q);
		if (best.size > p.bound) p.bound = best.size;
	}
	while (children--) {
		found f = expand_get();
		if (f.size > best.size) best = f;
	}
	return best;
}

/* read reads a name such as johnson8-2-4. */
static int read(const char *name, graph *g) {
	static const char *const families[] = {"", "hamming", "johnson", "random"};
	static const uint32_t numbers[] = {0, 2, 3, 3};
	for (g->family = HAMMING; g->family <= RANDOM; g->family++) {
		const char *s = name, *f = families[g->family];
		while (*f && *s == *f) s++, f++;
		if (*f) continue;
		uint32_t *at[] = {&g->n, &g->a, &g->b};
		for (uint32_t i = 0; i < numbers[g->family]; i++) {
			if (i && *s++ != '-') return 0;
			if (*s < '0' || *s > '9') return 0;
			for (*at[i] = 0; *s >= '0' && *s <= '9'; s++)
				if ((*at[i] = *at[i] * 10 + (*s - '0')) > 100000) return 0;
		}
		if (*s) return 0;
		if (g->family == RANDOM) return g->n >= 1 && g->n <= MOST && g->a <= 100;
		return g->n >= 1 && g->n <= 16 && (g->family == JOHNSON || g->n <= 7) && build(g);
	}
	return 0;
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	part p = {{0, 0, 0, 0}, {{0, 0}}, {{0, 0}}, 0, 0};
	if (!read(args, &p.g))
		return satin_want("GRAPH", "hammingN-D, johnsonN-W-D or randomN-PERCENT-SEED, of 1 to 128 vertices");
	build(&p.g);
	for (uint32_t v = 0; v < vertices; v++) add(&p.left, v);
	satin_put("a largest clique of ");
	satin_put(args);
	return satin_root(expand, &p);
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	const found *f = satin_result_of(a);
	satin_put("clique of ");
	satin_put_u64(f->size);
	satin_put(":");
	for (uint32_t v = 0; v < MOST; v++)
		if (in(&f->clique, v)) {
			satin_put(" ");
			satin_put_u64(v);
		}
	satin_put_bytes("", 1);
	satin_put("{\"size\":");
	satin_put_u64(f->size);
	satin_put("}");
	return satin_text();
}

/* Sizes from the DIMACS challenge's tables, and the number of words of the Hamming code, 16. */
static const struct { graph g; uint32_t size; } known[] = {
	{{HAMMING, 6, 2, 0}, 32}, {{HAMMING, 6, 4, 0}, 4}, {{HAMMING, 7, 3, 0}, 16},
	{{JOHNSON, 8, 2, 4}, 4}, {{JOHNSON, 8, 4, 4}, 14}, {{JOHNSON, 16, 2, 4}, 8},
};

SATIN_EXPORT(check) int64_t satin1_check(const satin_answer *a, uint32_t len) {
	const found *f = satin_result_of(a);
	const graph *g = &((const part *)satin_arg_of(a))->g;
	build(g);
	uint32_t n = 0;
	for (uint32_t v = 0; v < vertices; v++) {
		if (!in(&f->clique, v)) continue;
		n++;
		for (uint32_t u = 0; u < v; u++)
			if (in(&f->clique, u) && !adjacent(g, u, v)) {
				satin_put("two of its vertices are no neighbours");
				return satin_text() | SATIN_ERROR;
			}
	}
	int right = n == f->size && n > 0;
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].g.family == g->family && known[i].g.n == g->n && known[i].g.a == g->a &&
			known[i].g.b == g->b && known[i].size != n)
			right = 0;
	if (right) return satin_text();
	satin_put("it has another size");
	return satin_text() | SATIN_ERROR;
}
