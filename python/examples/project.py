"""The projection of one distribution into a box, with its proof checked in exact arithmetic."""

from fractions import Fraction

import numpy as np

import wpm

k = 40
x = np.arange(k) / k
C = np.abs(x[:, None] - x)
mu = np.zeros(k)
mu[[3, 4, 30]] = 2, 1, 1  # a private distribution, in any unit
m, eps = np.full(k, 1 / k), 2.0
lo, hi = np.exp(-eps / 2) * m, np.exp(eps / 2) * m

r = wpm.project(C, mu, lo, hi)
print(f"cost {r.value:.9f}, q between {r.q.min():.6f} and {r.q.max():.6f}")

# Whoever doubts the lower bound needs the potentials alone: f[i] + g[j] <= C[i, j] for all i, j.
f, g = ([Fraction(v) for v in side] for side in r.potentials)
assert all(f[i] + g[j] <= Fraction(C[i, j]) for i in range(k) for j in range(k))
share = [Fraction(v) / Fraction(mu.sum()) for v in mu]
lower = sum(s * v for s, v in zip(share, f)) + sum(min(Fraction(a) * v, Fraction(b) * v) for a, b, v in zip(lo, hi, g))
print(f"nothing in the box costs less than {float(lower):.9f}")

# Prints:
# cost 0.086006264, q between 0.009197 and 0.067957
# nothing in the box costs less than 0.086006264
