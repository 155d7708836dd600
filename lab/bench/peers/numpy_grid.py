"""Algorithm 1 on n x n cells at squared distance in numpy: the kernel is a product, so a pass is two small matrix products.

The file has mu, lo and hi. The multiplier comes by Newton's method. No logarithms: the run fails where a sum underflows.
"""

import sys

import numpy as np

from wpmpeer import cpu, serve

n, reg, goal, limit = int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
mu, lo, hi = np.fromfile(sys.argv[1]).reshape(3, n, n)
at = (np.arange(n) + 0.5) / n


def solve():
    start, K = cpu(), np.exp(-((at[:, None] - at[None, :]) ** 2) / reg)
    v, theta, steps = np.ones((n, n)), 1.0, 0
    with np.errstate(all="ignore"):
        while True:
            s = K @ (mu / (K @ v @ K)) @ K
            for _ in range(50):
                z = theta * s
                q = np.clip(z, lo, hi)
                inner = s[(z > lo) & (z < hi)].sum()
                if abs(1 - q.sum()) < 1e-14 or not inner > 0:
                    break
                theta += (1 - q.sum()) / inner
            steps, left = steps + 1, float(np.abs(q - s * v).sum())
            if left <= goal or not np.isfinite(left) or cpu() - start > limit:
                return {"value": left if np.isfinite(left) else -1, "steps": steps, "met": left <= goal}
            v = q / (theta * s)


serve(solve, once=True)
