"""POT's exact solver (ot.emd) on plain transport: a run starts from the arrays in memory and ends with the plan."""

import sys

import ot

from wpmpeer import load, serve

inst = load(sys.argv[1])
cost, a, b = inst["C"], inst["mu"], inst["target"]


def solve():
    _, log = ot.emd(a, b * (a.sum() / b.sum()), cost, numItermax=10**9, log=True)
    return {"value": float(log["cost"]), "met": not log["warning"]}


serve(solve)
