/*
 * The sequential program of apps/nqueens, in C: the same rules, the same batches, the same order. Prints the number
 * of solutions for the n queens of its argument and the nanoseconds it took. What the algorithm does, and why it may
 * look at a part of the solutions only, is said in apps/nqueens/board.go and leaf.go.
 *
 *   gcc -O3 -o nqueens nqueens.c && ./nqueens 16
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { max_n = 27, batch_size = 128, third = 3 };

typedef struct {
	uint32_t free, left, right, choices;
} node;

typedef struct {
	int n, row, edge, second, ties;
	uint32_t free, left, right;
} board;

static const uint64_t weight[] = {0, 24, 12, 8, 6};

static int last, turn, corner;
static uint32_t sides, ends, tying;
static node rows[max_n][batch_size], turned[batch_size];

static uint64_t expand(node *in, int more, int row, int ties);

static uint64_t descend(int row, int size, int ties)
{
	node *in = rows[row];
	if (row != turn)
		return expand(in, size, row, ties);
	int front = 0, back = batch_size;
	for (int i = 0; i < size; i++) {
		node b = in[i];
		uint32_t open = b.free & sides;
		if (open == 0)
			turned[front++] = b;
		else if ((b.choices &= open) != 0 && open != sides)
			turned[--back] = b;
	}
	uint64_t sum = 0;
	if (front > 0)
		sum = expand(turned, front, row, ties);
	if (back < batch_size)
		sum += expand(turned + back, batch_size - back, row, ties + 1);
	return sum;
}

static int fill(node *restrict out, int *size, node *restrict in, int count, uint32_t open)
{
	int more = 0, filled = *size;
	for (int i = 0; i < count; i++) {
		node b = in[i];
		uint32_t queen = b.choices & -b.choices;
		b.choices ^= queen;
		in[more] = b;
		more += b.choices != 0;
		b.free ^= queen;
		b.left = (b.left | queen) << 1;
		b.right = (b.right | queen) >> 1;
		b.choices = b.free & open & ~(b.left | b.right);
		out[filled] = b;
		filled += (b.choices != 0) & ((b.free & ~(b.left << 1 | b.right >> 1)) != 0);
	}
	*size = filled;
	return more;
}

static uint64_t finish(node *in, int count, int ties)
{
	uint64_t all = 0, tied = 0;
	while (count > 0) {
		int more = 0;
		for (int i = 0; i < count; i++) {
			node b = in[i];
			uint32_t queen = b.choices & -b.choices;
			b.choices ^= queen;
			in[more] = b;
			more += b.choices != 0;
			uint32_t end = (b.free ^ queen) & ends & ~((b.left | queen) << 1 | (b.right | queen) >> 1);
			all += end != 0;
			tied += (end & tying) != 0;
		}
		count = more;
	}
	return (all - tied) * weight[ties] + (tied > 0 ? tied * weight[ties + 1] : 0);
}

static uint64_t expand(node *in, int more, int row, int ties)
{
	if (row == last - 1)
		return finish(in, more, ties);
	uint32_t open = row + 1 < corner ? ~(UINT32_C(1) << 1) : ~UINT32_C(0);
	uint64_t sum = 0;
	int size = 0;
	while (more > 0) {
		if (size + more > batch_size) {
			sum += descend(row + 1, size, ties);
			size = 0;
		}
		more = fill(rows[row + 1], &size, in, more, open);
	}
	if (size > 0)
		sum += descend(row + 1, size, ties);
	return sum;
}

static uint32_t sides_of(const board *b) { return UINT32_C(1) | UINT32_C(1) << (b->n - 1); }

static uint32_t middle_of(const board *b)
{
	uint32_t full = (UINT32_C(1) << b->n) - 1;
	return full >> b->edge & full << b->edge;
}

static uint32_t choices_of(const board *b)
{
	uint32_t free = b->free & ~(b->left | b->right);
	if (b->row == 0)
		return (UINT32_C(1) << b->n / 2) - 1;
	if (b->edge == 0)
		return b->row > 1 && b->row < b->second ? free & ~(UINT32_C(1) << 1) : free;
	if (b->row < b->edge) {
		free &= ~sides_of(b);
	} else if (b->row == b->n - 1 - b->edge) {
		uint32_t open = b->free & sides_of(b);
		if (open == sides_of(b))
			return 0;
		if (open != 0)
			free &= open;
	}
	return b->row == b->n - 1 ? free & middle_of(b) : free;
}

static uint32_t tying_of(const board *b)
{
	uint32_t columns = 0;
	if (b->row == b->edge || b->row == b->n - 1 - b->edge)
		columns = sides_of(b);
	if (b->row == b->n - 1)
		columns |= UINT32_C(1) << b->edge | UINT32_C(1) << (b->n - 1 - b->edge);
	return columns;
}

static board place(const board *b, uint32_t column)
{
	board next = *b;
	next.row++;
	next.free &= ~column;
	next.left = (b->left | column) << 1;
	next.right = (b->right | column) >> 1;
	if (b->row == 0) {
		next.edge = __builtin_ctz(column);
		next.ties = 1;
	} else if (b->edge == 0) {
		if (b->row == 1)
			next.second = __builtin_ctz(column);
	} else if (column & tying_of(b)) {
		next.ties++;
	}
	return next;
}

static uint64_t count(const board *b)
{
	uint32_t choices = choices_of(b);
	int left = b->n - b->row;
	if (left == 0)
		return weight[b->ties];
	if (left < 2 || b->row < 2 || b->row <= b->edge) {
		uint64_t sum = 0;
		for (; choices != 0; choices &= choices - 1) {
			board next = place(b, choices & -choices);
			sum += count(&next);
		}
		return sum;
	}
	if (choices == 0)
		return 0;
	last = b->n - 1;
	turn = b->n;
	sides = tying = 0;
	ends = (UINT32_C(1) << b->n) - 1;
	corner = b->second;
	if (b->edge > 0) {
		turn = b->n - 1 - b->edge;
		sides = sides_of(b);
		ends = middle_of(b);
		tying = UINT32_C(1) << b->edge | UINT32_C(1) << turn;
	}
	rows[b->row][0] = (node){b->free, b->left, b->right, choices};
	return descend(b->row, 1, b->ties);
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	if (n < 1 || n > max_n) {
		fprintf(stderr, "usage: nqueens N, with N from 1 to %d\n", max_n);
		return 2;
	}
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	board empty = {.n = n, .free = (UINT32_C(1) << n) - 1};
	uint64_t solutions = n == 1 ? 1 : count(&empty) / third;
	clock_gettime(CLOCK_MONOTONIC, &end);
	long long ns = (end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec);
	printf("%llu %lld\n", (unsigned long long)solutions, ns);
	return 0;
}
