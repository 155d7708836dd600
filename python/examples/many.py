"""Many users at a time: a sparse row each, on all processors."""

import numpy as np
from scipy import sparse

import wpm

rng = np.random.default_rng(1)
users, k, atoms = 1000, 400, 6
rows = np.repeat(np.arange(users), atoms)
rows[rows == 17] = 18  # user 17 has no data
mu = sparse.csr_matrix((rng.random(users * atoms), (rows, rng.integers(0, k, users * atoms))), (users, k))

city = {"kind": "grid", "rows": 20, "cols": 20, "p": 1}
base = wpm.base_measure(city, 4.0, method="uniform")
projector = wpm.Projector(city, np.exp(-2) * base.m, np.exp(2) * base.m)
r = projector.many(mu)
good = r.status == 0
print(f"{good.sum()} of {users} users, q of shape {r.q.shape}")
print(f"mean distance {r.value[good].mean():.4f}, at most {r.value[good].max():.4f}; no client's is above {base.f:.4f}")
print(f"row 17: {r.errors[17]}")

# Prints:
# 999 of 1000 users, q of shape (1000, 400)
# mean distance 0.0871, at most 0.1416; no client's is above 0.2856
# row 17: wrong mass: the 0 entries of users[17] sum to 0
