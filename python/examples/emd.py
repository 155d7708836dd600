"""The Earth Mover's Distance, as POT computes it, and with a proof."""

import numpy as np

import wpm

x = np.arange(100.0)
a, b = (np.exp(-((x - mean) ** 2) / (2 * width**2)) for mean, width in ((20, 5), (60, 10)))
a, b = a / a.sum(), b / b.sum()
M = (x[:, None] - x) ** 2

G = wpm.emd(a, b, M)  # ot.emd(a, b, M)
cost = wpm.emd2(a, b, M)  # ot.emd2(a, b, M)
print(f"plan {G.shape}, cost {cost:.9f}")

r = wpm.transport(a, b, M)
print(f"proved: {r.lower:.9f} <= optimum <= {r.upper:.9f}, to 1e-12: {r.upper - r.lower <= 1e-12 * r.value}")
print(f"sparse plan with {r.plan.nnz} entries of {M.size}")

# Prints:
# plan (100, 100), cost 1625.062753798
# proved: 1625.062753798 <= optimum <= 1625.062753798, to 1e-12: True
# sparse plan with 199 entries of 10000
