"""POT's Sinkhorn solvers between fixed marginals, mu and the projection that wpm found.

pot_sinkhorn.py FILE METHOD TOL SECONDS   from the cost to a marginal error of TOL, in as many iterations as fit SECONDS
pot_sinkhorn.py FILE steps N      N iterations of the plain solver, with its kernel
"""

import sys
import warnings

import numpy as np
import ot

from wpmpeer import load, serve

warnings.simplefilter("ignore")
inst = load(sys.argv[1])
rows = inst["mu"] > 0
C, mu, q, reg = np.ascontiguousarray(inst["C"][rows]), inst["mu"][rows], inst["target"], inst["param"][0]
q = q / q.sum()

if sys.argv[2] == "steps":
    count = int(sys.argv[3])

    def solve():
        ot.bregman.sinkhorn_knopp(mu, q, C, reg, numItermax=count, stopThr=0)
        return {"value": 0.0}
else:
    most = int(min(200000, max(1000, float(sys.argv[4]) / (4e-9 * C.size))))  # two passes over the kernel, 4 ns a cell

    def solve():
        plan, log = ot.sinkhorn(mu, q, C, reg, method=sys.argv[2], numItermax=most, stopThr=float(sys.argv[3]), log=True)
        err = np.linalg.norm(np.r_[plan.sum(axis=0) - q, plan.sum(axis=1) - mu])  # what the solver itself looks at
        return {"value": float(err), "steps": 0, "met": bool(err <= 2 * float(sys.argv[3]))}


serve(solve, once=True)
