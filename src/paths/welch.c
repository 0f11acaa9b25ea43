/* Welch's t-test, with Student's distribution by the incomplete beta function
 * (its continued fraction, evaluated by Lentz's method). */
#include "paths/diff.h"

#include <math.h>

static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 300; m++) {
        double twice = 2.0 * m;
        double even = m * (b - m) * x / ((a + twice - 1) * (a + twice));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-14) break;
    }
    return h;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double variance(struct fp_spread s)
{
    double value = (s.squares - s.sum * s.sum / s.n) / (s.n - 1);
    /* equal values leave a rounding error instead of 0 */
    return value > 1e-12 * (s.squares / s.n) ? value : 0;
}

double fp_welch(struct fp_spread a, struct fp_spread b)
{
    if (a.n < 2 || b.n < 2) return -1;
    double difference = fabs(a.sum / a.n - b.sum / b.n);
    double va = variance(a) / a.n, vb = variance(b) / b.n;
    if (va + vb <= 0) return difference > 0 ? 1 : 0;
    double t = difference / sqrt(va + vb);
    double degrees = (va + vb) * (va + vb) / (va * va / (a.n - 1) + vb * vb / (b.n - 1));
    return 1 - incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}
