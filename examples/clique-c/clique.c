/* Maximum cliques: as many vertices as there are of a graph, all of them neighbours of each other. Graphs are files of the
 * DIMACS challenge, or those of it that have a rule, by their names there, or random ones. */
#define SATIN_SLOT 104
#define SATIN_SHARES
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"clique\",\"summary\":\"find a largest clique of GRAPH\",\"args\":\"GRAPH\","
	"\"examples\":[\"johnson8-4-4\",\"random90-60-1\",\"brock200_4 --file brock200_4=brock200_4.clq\"],\"flags\":[],"
	"\"long\":\"GRAPH is the name of a file in the DIMACS format that --file gives, or hammingN-D, johnsonN-W-D, or"
	" randomN-PERCENT-SEED; of at most 256 vertices. Colours bound what can still be found: a clique has one vertex of each"
	" at most (Tomita and Seki 2003). The largest clique that anybody has found is a lattice: jobs give up what cannot have"
	" a larger one.\"}")

enum { MOST = 256, WORDS = MOST / 64, HAMMING = 1, JOHNSON, RANDOM, SPAWNED = 16, LEVELS = 7 };

typedef struct { uint64_t w[WORDS]; } set;
typedef struct { uint32_t vertices, pad; set rows[MOST]; } graph; /* who is whose neighbour */
typedef struct { uint32_t size, pad; set clique; } found; /* size 0: none */

static int in(const set *s, uint32_t v) { return s->w[v >> 6] >> (v & 63) & 1; }
static void add(set *s, uint32_t v) { s->w[v >> 6] |= 1ull << (v & 63); }
static void take(set *s, uint32_t v) { s->w[v >> 6] &= ~(1ull << (v & 63)); }
static uint32_t count(const set *s) {
	uint32_t n = 0;
	for (int i = 0; i < WORDS; i++) n += __builtin_popcountll(s->w[i]);
	return n;
}

/* first gives the first vertex; MOST: there is none. */
static uint32_t first(const set *s) {
	for (int i = 0; i < WORDS; i++)
		if (s->w[i]) return 64 * i + __builtin_ctzll(s->w[i]);
	return MOST;
}

/* The best is about a graph and carries its clique: so an offer of another machine can be checked, and a job that was cut
 * short because of it can give it. */
SATIN_LATTICE(found, best, graph)
static void best_join(found *f, const found *by) {
	int i = 0;
	while (i < WORDS - 1 && f->clique.w[i] == by->clique.w[i]) i++;
	if (by->size > f->size || (by->size == f->size && by->clique.w[i] > f->clique.w[i])) *f = *by;
}

/* wrong says what is wrong with a clique. */
static const char *wrong(const graph *g, const found *f) {
	if (count(&f->clique) != f->size) return "it has another size";
	for (uint32_t v = 0; v < MOST; v++) {
		if (!in(&f->clique, v)) continue;
		if (v >= g->vertices) return "there is no such vertex";
		for (uint32_t u = 0; u < v; u++)
			if (in(&f->clique, u) && !in(&g->rows[v], u)) return "two of its vertices are no neighbours";
	}
	return 0;
}
static const char *best_valid(const graph *g, const found *f) { return wrong(g, f); }

typedef struct {
	satin_shared best;
	uint32_t size; /* of clique */
	set clique, left; /* chosen; their common neighbours */
} part;

/* The graph of this instance: what the lattice is about. */
static graph built;
static satin_shared of;
static void load(satin_shared best) {
	if (of.i != best.i) satin_read(best, &built, sizeof built);
	of = best;
}

/* bound is the size that is to be surpassed. */
static uint32_t bound(satin_shared best) {
	const found *f = best_value(best);
	return f ? f->size : 0;
}

/* colour puts vertices that may be in a larger clique than the best in order, those with the highest colours last. */
static uint32_t colour(const part *p, uint8_t *order, uint16_t *colours) {
	set left = p->left;
	uint32_t n = 0, most = bound(p->best);
	for (uint32_t c = 1; first(&left) < MOST; c++) {
		set class = left;
		for (uint32_t v; (v = first(&class)) < MOST;) {
			take(&class, v);
			take(&left, v);
			for (int i = 0; i < WORDS; i++) class.w[i] &= ~built.rows[v].w[i];
			if (p->size + c > most) order[n] = v, colours[n++] = c;
		}
	}
	return n;
}

static part with(const part *p, uint32_t v) {
	part q = *p;
	add(&q.clique, v);
	q.size++;
	for (int i = 0; i < WORDS; i++) q.left.w[i] &= built.rows[v].w[i];
	return q;
}

/* search is the sequential program. */
static void search(part *p) {
	if (first(&p->left) == MOST) {
		if (p->size > bound(p->best)) best_offer(p->best, (found){p->size, 0, p->clique});
		return;
	}
	uint8_t order[MOST];
	uint16_t colours[MOST];
	for (uint32_t n = colour(p, order, colours); n-- && p->size + colours[n] > bound(p->best);) {
		part q = with(p, order[n]);
		search(&q);
		take(&p->left, order[n]);
	}
}

/* expand gives the best that is known when all with p's clique has been searched: what was not, because it could not be
 * better than that. */
SATIN_JOB_SHARED(found, expand, part, 1)
found expand(part p) {
	load(p.best);
	uint32_t children = 0;
	found largest = {0, 0, {{0}}};
	if (count(&p.left) < SPAWNED || p.size >= LEVELS) { /* as there are fewer than 2048 children at a time */
		search(&p);
	} else {
		uint8_t order[MOST];
		uint16_t colours[MOST];
		uint32_t n = colour(&p, order, colours);
		/* those with the highest colours first: spawned last, as the newest child begins first */
		for (uint32_t i = 0; i < n; i++) {
			part q = p;
			for (uint32_t k = i + 1; k < n; k++) take(&q.left, order[k]);
			q = with(&q, order[i]);
			if (p.size + colours[i] > bound(p.best)) expand_spawn(q), children++;
		}
	}
	while (children--) {
		found f = expand_get();
		best_join(&largest, &f);
	}
	const found *known = best_value(p.best);
	if (known) best_join(&largest, known);
	return largest;
}

/* The root job: the graph is a constant, which it reads, and shares the bound. */
typedef struct { satin_shared graph; uint32_t pad; } whole;
SATIN_JOB_SHARED(found, largest, whole, 1)
found largest(whole w) {
	satin_read(w.graph, &built, sizeof built);
	part p = {best_share(built), 0, {{0}}, {{0}}};
	for (uint32_t v = 0; v < built.vertices; v++) add(&p.left, v);
	return expand(p);
}

static uint64_t mix(uint64_t x) { /* splitmix64 */
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void join_vertices(graph *g, uint32_t i, uint32_t k) {
	add(&g->rows[i], k);
	add(&g->rows[k], i);
}

/* rule makes a graph by its family and numbers; 0 if it has no or too many vertices. */
static int rule(graph *g, uint32_t family, const uint32_t *n) {
	static uint32_t words[MOST]; /* of a code: what each vertex stands for */
	uint32_t size = n[0], far = family == HAMMING ? n[1] : n[2];
	if (size < 1 || (family == RANDOM ? size > MOST || n[1] > 100 : size > 16)) return 0;
	g->vertices = family == RANDOM ? size : 0;
	for (uint32_t x = 0; family != RANDOM && x < 1u << size; x++) {
		if (family == JOHNSON && (uint32_t)__builtin_popcount(x) != n[1]) continue;
		if (g->vertices == MOST) return 0;
		words[g->vertices++] = x;
	}
	for (uint32_t k = 0; k < g->vertices; k++)
		for (uint32_t i = 0; i < k; i++)
			if (family == RANDOM ? mix(mix(n[2]) ^ (i * 128 + k)) % 100 < n[1]
					: (uint32_t)__builtin_popcount(words[i] ^ words[k]) >= far)
				join_vertices(g, i, k);
	return g->vertices > 0;
}

/* named makes the graph of a name such as johnson8-2-4. */
static int named(graph *g, const char *name) {
	static const char *const families[] = {"", "hamming", "johnson", "random"};
	static const uint32_t numbers[] = {0, 2, 3, 3};
	for (uint32_t family = HAMMING; family <= RANDOM; family++) {
		const char *s = name, *f = families[family];
		while (*f && *s == *f) s++, f++;
		if (*f) continue;
		uint32_t n[3] = {0, 0, 0};
		for (uint32_t i = 0; i < numbers[family]; i++) {
			if (i && *s++ != '-') return 0;
			if (*s < '0' || *s > '9') return 0;
			for (; *s >= '0' && *s <= '9'; s++)
				if ((n[i] = n[i] * 10 + (*s - '0')) > 100000) return 0;
		}
		return !*s && rule(g, family, n);
	}
	return 0;
}

/* number reads one, 0 if there is none, and moves on. */
static uint32_t number(const char **s, const char *end) {
	uint32_t n = 0;
	while (*s < end && **s == ' ') ++*s;
	for (; *s < end && **s >= '0' && **s <= '9' && n <= MOST; ++*s) n = n * 10 + (**s - '0');
	return n;
}

/* parse reads a file: a line "p edge VERTICES EDGES", lines "e VERTEX VERTEX", and comments. It gives the number of the
 * line that is wrong; 0: none is. */
static uint32_t parse(graph *g, const char *s, uint32_t len) {
	const char *end = s + len;
	uint32_t line = 1;
	for (; s < end; line++) {
		char what = *s++;
		if (what == 'p') {
			while (s < end && *s != '\n' && (*s < '0' || *s > '9')) s++;
			g->vertices = number(&s, end);
			if (g->vertices < 1 || g->vertices > MOST) return line;
		} else if (what == 'e') {
			uint32_t i = number(&s, end), k = number(&s, end);
			if (i < 1 || k < 1 || i > g->vertices || k > g->vertices || i == k) return line;
			join_vertices(g, i - 1, k - 1);
		} else if (what == '\n') {
			continue;
		} else if (what != 'c' && what != '\r') {
			return line;
		}
		while (s < end && *s++ != '\n') continue;
	}
	return g->vertices ? 0 : line;
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	enum { LARGEST = 4 << 20 };
	static graph g;
	satin_shared file = satin_file(args);
	if (file.i) {
		/* beyond what all instances have */
		char *text = (char *)(__builtin_wasm_memory_grow(0, LARGEST >> 16) << 16);
		uint32_t line = parse(&g, text, satin_read(file, text, LARGEST));
		if (line) {
			satin_put("line ");
			satin_put_u64(line);
			satin_put(" of ");
			satin_put(args);
			return satin_want("", "a graph of 1 to 256 vertices in the DIMACS format");
		}
	} else if (!named(&g, args)) {
		return satin_want("GRAPH", "the name of a --file, or hammingN-D, johnsonN-W-D or randomN-PERCENT-SEED,"
			" of 1 to 256 vertices");
	}
	satin_put("a largest clique of ");
	satin_put(args);
	whole w = {satin_constant(&g, sizeof g), 0};
	return satin_root(largest, &w);
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	const found *f = satin_result_of(a);
	satin_put("clique of ");
	satin_put_u64(f->size);
	satin_put(":");
	for (uint32_t v = 0; v < MOST; v++)
		if (in(&f->clique, v)) {
			satin_put(" ");
			satin_put_u64(v + 1);
		}
	satin_put_bytes("", 1);
	satin_put("{\"size\":");
	satin_put_u64(f->size);
	satin_put("}");
	return satin_text();
}

/* The check: that it is a clique, and, of graphs that are equal to one with a rule, that it is as large as the DIMACS
 * challenge's tables say. */
static const struct { uint32_t family, n[3], size; } known[] = {
	{HAMMING, {6, 2, 0}, 32}, {HAMMING, {6, 4, 0}, 4}, {HAMMING, {7, 3, 0}, 16}, {HAMMING, {8, 2, 0}, 128},
	{HAMMING, {8, 4, 0}, 16}, {JOHNSON, {8, 2, 4}, 4}, {JOHNSON, {8, 4, 4}, 14}, {JOHNSON, {16, 2, 4}, 8},
};

SATIN_EXPORT(check) int64_t satin1_check(const satin_answer *a, uint32_t len) {
	static graph g, other;
	const found *f = satin_result_of(a);
	whole w;
	satin_arg_to(a, largest, &w);
	satin_read(w.graph, &g, sizeof g);
	const char *e = f->size ? wrong(&g, f) : "there is none";
	for (uint32_t i = 0; !e && i < sizeof known / sizeof *known; i++) {
		__builtin_memset(&other, 0, sizeof other);
		if (rule(&other, known[i].family, known[i].n) && satin_same((void *)&g, (void *)&other, sizeof g) &&
			f->size != known[i].size)
			e = "the DIMACS challenge has another size";
	}
	return e ? satin_place(e, satin_strlen(e)) | SATIN_ERROR : satin_text();
}
