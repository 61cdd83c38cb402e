/* Adaptive integration of 4 / (1 + x * x) from 0 to 1, which is pi: every halving of an interval is a job. The sum is
 * made in the order of the tree, so it is equal to the bit wherever the jobs ran. */
#define SATIN_SLOT 96
#include "satin.h"

SATIN_DESCRIBE("{\"abi\":1,\"name\":\"integrate\",\"summary\":\"integrate 4/(1+x^2) from 0 to 1 by adaptive Simpson"
	" rules\",\"args\":\"DIGITS\",\"examples\":[\"9\"],\"flags\":[]}")

typedef struct { double from, to, at_from, at_middle, at_to, whole, error; } interval;

static double f(double x) { return 4 / (1 + x * x); }

static double simpson(double from, double to, double a, double b, double c) { return (to - from) / 6 * (a + 4 * b + c); }

SATIN_JOB(double, halve, interval)
double halve(interval i) {
	double middle = (i.from + i.to) / 2;
	double l = f((i.from + middle) / 2), r = f((middle + i.to) / 2);
	double left = simpson(i.from, middle, i.at_from, l, i.at_middle);
	double right = simpson(middle, i.to, i.at_middle, r, i.at_to);
	double more = left + right - i.whole;
	if (__builtin_fabs(more) <= 15 * i.error) return left + right + more / 15;
	halve_spawn((interval){middle, i.to, i.at_middle, r, i.at_to, right, i.error / 2});
	double sum = halve((interval){i.from, middle, i.at_from, l, i.at_middle, left, i.error / 2});
	return sum + halve_get();
}

SATIN_EXPORT(setup) int64_t satin1_setup(const char *args, uint32_t len) {
	int64_t digits;
	if (!satin_next_int(&args, 1, 14, &digits)) return satin_want("DIGITS", "a whole number from 1 to 14");
	interval i = {0, 1, f(0), f(0.5), f(1), simpson(0, 1, f(0), f(0.5), f(1)), 1};
	satin_put("pi to ");
	satin_put_u64(digits);
	satin_put(" digits");
	while (digits--) i.error /= 10;
	return satin_root(halve, &i);
}

SATIN_EXPORT(render) int64_t satin1_render(const satin_answer *a, uint32_t len) {
	union { double d; uint64_t u; } v = {*(const double *)satin_result_of(a)};
	uint64_t scaled = (uint64_t)((v.d - 3) * 1e14 + 0.5);
	satin_put("3.");
	for (uint64_t unit = 10000000000000; unit; unit /= 10) satin_put_u64(scaled / unit % 10);
	satin_put(", bits ");
	for (int shift = 60; shift >= 0; shift -= 4) satin_put_bytes(&"0123456789abcdef"[v.u >> shift & 15], 1);
	return satin_text();
}

SATIN_EXPORT(check) int64_t satin1_check(const satin_answer *a, uint32_t len) {
	const interval *i = satin_arg_of(a);
	if (__builtin_fabs(*(const double *)satin_result_of(a) - 3.14159265358979323846) <= 2 * i->error) return satin_text();
	satin_put("that is not pi to so many digits");
	return satin_text() | SATIN_ERROR;
}
