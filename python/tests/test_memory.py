"""Calls at random, with what is right and with what no function can take: they keep no memory, and none crashes."""

import json
import os
import unittest

import wpm
from tests.support import child, need

# Every public function, with arguments that are right, and half of the time odd ones among them. An answer has no NaN, and
# an error is one of wpm. It prints the calls of each function, those that were answered, and the RSS that it grew by.
PROGRAM = r'''
import gc, json, os, pickle, random, sys, tempfile, time, warnings
import numpy as np
import pandas as pd
from scipy import sparse
import wpm
import matplotlib.pyplot as plt

warnings.simplefilter("ignore")
calls, seconds, seed = (float(x) for x in sys.argv[1:])
rng, pick = np.random.default_rng(int(seed)), random.Random(int(seed))
os.chdir(tempfile.mkdtemp())
line = np.abs(np.subtract.outer(range(4), range(4))).astype(float)
design = wpm.design({"kind": "ring", "n": 5, "p": 1}, 2)
plain = design.publish()
named = wpm.design(pd.DataFrame(line, list("abcd"), list("abcd")), 2).publish()
codes = wpm.design({"kind": "grid", "rows": 6, "cols": 6, "p": 1}, 2, devices=500000).publish()
monthly = design.publish(epochs="month", first="2026-01", period=2)
projector = wpm.Projector(line, [0.1] * 4, [0.5] * 4)
odd = 0  # how likely an argument is odd, of a call


class Sub(np.ndarray):
    pass


def weird():
    return pick.choice([
        0, 1, -1, 0.5, np.nan, np.inf, -np.inf, 1e308, 5e-324, 2**63, 2**64, 10**30, "x", "1", "", "1/3", "\ud800", None, True,
        1j, np.float16(0.1), np.int8(3), np.uint64(2**63), np.array(1.0), np.array([1.0]), [], {}, (), b"x", object(), [[]],
        np.datetime64("2020-01-01"), np.longdouble(1) / 3, pd.Timestamp(0), pd.Series([], dtype=float), range(3), {1: 2}])


def other(x, *more):
    """Return x, or something odd."""
    return pick.choice([weird, *more])() if rng.random() < odd else x


def vector(n, low=0.0):
    """Return n numbers in one of many forms."""
    x = rng.random(n) + low
    x[rng.random(n) < 0.1] = 0
    x[:1] = 1
    forms = [x.copy, x.tolist, lambda: x.astype(np.float16), lambda: x.astype(">f8"), lambda: np.repeat(x, 2)[::2],
             lambda: x[::-1], lambda: x.astype(object), lambda: x.view(Sub), lambda: np.ma.masked_array(x),
             lambda: pd.Series(x), lambda: rng.integers(1, 5, n), lambda: memoryview(x), lambda: x.astype(np.longdouble),
             lambda: np.broadcast_to(0.5, (n,)), lambda: pd.array(x, dtype="Float64").to_numpy(float)]

    def broken():
        y = x.copy()
        y[pick.randrange(n)] = pick.choice([np.nan, np.inf, -np.inf, -1, 1e308, 1e-320])
        return y

    return other(pick.choice(forms)(), broken, lambda: np.zeros(n), lambda: x * 1e300, lambda: x * 1e-300, lambda: x[1:],
                 lambda: np.ma.masked_array(x, x > 0.5), lambda: x.astype(complex), lambda: x.astype(str), lambda: x[None],
                 lambda: pd.Series(x, [0] * n), lambda: pd.Series(x, range(n, 0, -1)), lambda: sparse.csr_matrix(x))


def masses(n):
    """Return n masses with the sum 1, if they are numbers."""
    x = vector(n)
    try:
        return np.asarray(x, float) / np.asarray(x, float).sum()
    except (TypeError, ValueError):
        return x


def matrix(n, m):
    x = rng.random((n, m))
    forms = [x.copy, x.tolist, lambda: np.asfortranarray(x), lambda: x.astype(np.float16), lambda: x.astype(">f4"),
             lambda: x[::-1, ::-1], lambda: x.astype(object), lambda: x.view(Sub), lambda: np.matrix(x),
             lambda: np.ma.masked_array(x), lambda: pd.DataFrame(x), lambda: rng.integers(0, 5, (n, m))]

    def broken():
        y = x.copy()
        y[pick.randrange(n), pick.randrange(m)] = pick.choice([np.nan, np.inf, -1, 1e308, 1e-320])
        return y

    return other(pick.choice(forms)(), broken, lambda: x * 1e300, lambda: x[:0], lambda: x[:, :, None], lambda: x[0],
                 lambda: np.ma.masked_array(x, x > 0.5), lambda: x.astype(complex),
                 lambda: pd.DataFrame(x, list("abcdefgh")[:n], list("hgfedcba")[:m]),
                 lambda: sparse.random(n, m, 0.7, random_state=rng), lambda: {"kind": "explicit", "C": x})


def cost(n):
    """Return distances between n places."""
    return other(pick.choice([
        {"kind": "ring", "n": n, "p": 1}, {"kind": "grid", "rows": 1, "cols": n, "p": 1}, {"kind": "points", "x": rng.random((n, 2))},
        np.abs(np.subtract.outer(range(n), range(n))), pd.DataFrame({"lat": rng.random(n), "lon": rng.random(n)})]),
        lambda: matrix(n, n + 1), lambda: {"kind": "none"}, dict, lambda: {"kind": "grid", "rows": 2**40, "cols": 2**40, "p": 1},
        lambda: {"kind": "ring", "n": 2**62, "p": 1}, lambda: {"kind": "points", "x": [[np.nan, 1]]},
        lambda: {"kind": "ring", "n": 1e6})


def column(p):
    text = ["77706d31" + p.id + f"{pick.randrange(5):02x}000000" for _ in range(pick.randrange(6))]
    records = [bytes.fromhex(t) for t in text]
    forms = [lambda: text, lambda: pd.Series(text, dtype=object), lambda: records, lambda: np.array(records, "S40"),
             lambda: b"".join(records), lambda: [*text, None, np.nan, "", "x"], lambda: np.array(text, object)]
    return other(pick.choice(forms)(), lambda: ".", lambda: "none", lambda: "a\0b", lambda: pd.DataFrame({"r": text}),
                 lambda: [*text, weird()], lambda: os.urandom(60), lambda: b"wpm1" + os.urandom(60), lambda: b"\x1f\x8b\x08")


def some(**given):
    """Return some of the settings."""
    return {name: make() for name, make in given.items() if rng.random() < 0.3}


def ints(n, low, high):
    return other(rng.integers(low, high, n), lambda: vector(n), lambda: rng.integers(-2**62, 2**62, n))


def simulated():
    p = other(pick.choice([plain, named, codes]))
    users = vector(p.shape[0]) if isinstance(p, wpm.Policy) and rng.random() < 0.5 else other(None)
    if odd == 0 and users is not None:
        users = np.asarray(users)  # without an index
    return wpm.simulate(p, users, devices=other(5, lambda: -1),
                        **some(seed=lambda: other(3), epoch=lambda: other(None)))


def months():
    p = pick.choice([plain, monthly])
    counts = {"2026-01": vector(5) if odd else rng.integers(0, 9, 5), "2026-02": rng.integers(1, 9, 5)}
    return wpm.estimate_epochs(other(counts, dict, lambda: [plain.count([])]), other(p),
                               **some(prior=lambda: vector(5, 0.1), level=lambda: other(0.5),
                                      regions=lambda: other({"w": [1, 0, 0, 0, 0]}, dict, lambda: {"w": vector(5)})))


def frame(n):
    """Return n places with labels."""
    x = pd.DataFrame({"x": rng.random(n), "y": rng.random(n)}, index=[f"a{i}" for i in range(n)])
    return other(x, lambda: x[:0], lambda: x.rename(columns={"x": "lat", "y": "lon"}), lambda: pd.concat([x, x]), lambda: x * 1e300,
                 lambda: x * np.nan, lambda: matrix(n, 2))


def pairs(n, m):
    to = other(frame(m))
    return wpm.pairs(frame(n), to, **some(only=lambda: other([("a0", "a0")]), category=lambda: other("mode=walk,bus:1"),
                                          p=lambda: other(2)))


def drawn(plot, *args):
    try:
        return len(plot(*args).figure.axes)
    finally:
        plt.close("all")


def functions():
    n, m = (int(x) for x in rng.integers(1, 7, 2))
    lo, hi = (np.full(m, 0.5 / m), np.full(m, 2 / m)) if rng.random() < 1 - odd else (vector(m), vector(m))
    eps = lambda: other(pick.choice([0.5, 2, "1/3"]))
    C = lambda: matrix(n, m)
    counted = lambda p: p.count(column(p), **some(epoch=lambda: other("2026-01"), strict=lambda: odd > 0))
    return {
        "emd": lambda: wpm.emd(masses(n), masses(m), C(), **some(
            log=lambda: True, numItermax=lambda: other(1), numThreads=lambda: other("max"), check_marginals=lambda: False,
            potentials_init=lambda: other((np.zeros(n), np.zeros(m))))),
        "emd2": lambda: wpm.emd2(masses(n), masses(m), C(), **some(
            log=lambda: True, return_matrix=lambda: True, processes=lambda: other(2), check_marginals=lambda: False)),
        "emd2 ": lambda: wpm.emd2(masses(n), np.full((m, 3), 1 / m), sparse.coo_matrix(rng.random((n, m)) + 1)),
        "solve": lambda: (lambda r: (r.plan, r.value, r.potentials, r.marginals, r.sparse_plan.data, repr(r), r.status))(
            wpm.solve(C(), masses(n), masses(m), **some(max_iter=lambda: other(5), reg=lambda: other(0), method=lambda: other(None)))),
        "solve_sample": lambda: wpm.solve_sample(matrix(n, 2), matrix(m, 2), **some(
            metric=lambda: other("euclidean"), reg=lambda: other(None))).plan,
        "transport": lambda: (lambda r: (r, r.dense(), r.plan.data))(wpm.transport(vector(n), vector(m), C())),
        "project": lambda: wpm.project(C(), vector(n), lo, hi),
        "Projector": lambda: (lambda p: (p.project(vector(n)), pickle.loads(pickle.dumps(p)).shape))(wpm.Projector(C(), lo, hi)),
        "Projector.many": lambda: projector.many(matrix(n, 4)).errors, "Projector.project": lambda: projector.project(vector(4)),
        "flow": lambda: wpm.flow(ints(4, 0, 3), ints(4, 0, 3), ints(4, -2, 9), other(pick.choice([[3, 0, -3], [0, 0, 0]])), **some(
            lower=lambda: other(0), capacity=lambda: other(ints(4, 0, 9)))),
        "entropic": lambda: wpm.entropic(C(), vector(n), lo, hi, other(0.5), **some(
            method=lambda: other("paper"), tol=lambda: other(1e-6), iterations=lambda: other(10))),
        "phi": lambda: wpm.phi(C(), lo, hi), "phi ": lambda: wpm.phi(C(), m=other(np.full(m, 1 / m)), eps=eps()),
        "base_measure": lambda: wpm.base_measure(C(), eps(), **some(
            method=lambda: other("uniform"), gap=lambda: other(0.1), steps=lambda: other(None), exclude=lambda: other([]),
            t=lambda: other(None), rule=lambda: other(None))),
        "base_measure ": lambda: wpm.base_measure(C(), eps(), objective=other("average"), input_weights=vector(n, 0.1)),
        "design": lambda: (lambda d: (d.rows, repr(d), d.publish(**some(
            mode=lambda: other("projection"), geometry=lambda: other("public"), note=lambda: other("n"), first=lambda: other(None),
            labels=lambda: other(range(n)), metadata=lambda: other({"a": "b"}), period=lambda: other(None))).verify()))(
            wpm.design(cost(n), eps(), **some(objective=lambda: other("average"), weights=lambda: vector(n, 0.1),
                                              mix=lambda: other(None), bits=lambda: other(20)))),
        "design   ": lambda: wpm.design(cost(n), eps(), other("minimax"), gap=other(0.1)).worst_case,
        "design ": lambda: pickle.loads(pickle.dumps(design)).rows,
        "design  ": lambda: wpm.design({"kind": "grid", "rows": 2, "cols": n, "p": 1}, eps(), devices=other(1000)).rows,
        "Policy": lambda: wpm.Policy(other(plain.text, lambda: plain.text[:pick.randrange(len(plain.text))], plain.text.encode,
                                           lambda: plain.text.replace("1", "2", 1))),
        "count": lambda: counted(pick.choice([plain, named, codes])).text,
        "report": lambda: (lambda p: p.report(other("77706d31" + p.id + f"{pick.randrange(4):02x}000000")))(pick.choice([plain, named, codes])),
        "Counts": lambda: wpm.Counts(other(counted(plain).text, lambda: "wpm-counts-1\n")).reports,
        "Counts+": lambda: (wpm.Counts(plain.count("file").text) + plain.count(["x"])).reports,
        "simulate": simulated,
        "estimate": lambda: wpm.estimate(other(rng.integers(0, 9, 5) + 1, lambda: vector(5), lambda: plain.count([])), other(plain), **some(
            prior=lambda: vector(5, 0.1), estimator=lambda: other(pick.choice(["em", "mle", "raw", "map"])),
            places=lambda: other(pd.DataFrame({"x": range(5)})))),
        "estimate ": lambda: wpm.estimate(other(pd.Series([3, 4], ["a", "c"]), lambda: pd.Series([3, 4], ["a", "a"])), named),
        "estimate  ": lambda: wpm.estimate(ints(n, 1, 9), C=cost(n), m=other(np.full(n, 1 / n)), eps=eps(), bits=other(None)),
        "estimate_epochs": months,
        "pairs": lambda: pairs(n + 1, m + 1), "pairs ": lambda: wpm.design(pairs(2, m + 1), eps()).rows,
        "plan": lambda: wpm.plan(cost(3), eps(), other(3), **some(prior=lambda: vector(3, 0.1), objective=lambda: other("uniform"))),
        "plot_map": lambda: drawn(wpm.plot_map, other([0.5, 0.5]), other((1, 2))),
        "plot_channel": lambda: drawn(wpm.plot_channel, other(design)),
    }


def nan(x):
    if isinstance(x, dict):
        return any(map(nan, x.values()))
    if isinstance(x, (list, tuple)):
        return any(map(nan, x))
    if hasattr(x, "to_numpy"):
        x = x.to_numpy()
    return isinstance(x, (float, np.ndarray)) and np.asarray(x).dtype.kind == "f" and bool(np.isnan(x).any())


def rss():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


with open("file", "w") as f:
    f.write("77706d31" + plain.id + "00000000\n")
names = sorted(functions())
slow = ("plan", "base_measure", "plot_map", "plot_channel", "design  ", "estimate_epochs")
made, answered, wrong = dict.fromkeys(names, 0), dict.fromkeys(names, 0), []
start, n, tenth = time.monotonic(), 0, None
while n < calls or time.monotonic() - start < seconds:
    if tenth is None and n >= calls / 10 and time.monotonic() - start >= seconds / 10:
        tenth = rss()
    n += 1
    name = pick.choices(names, [1 if x in slow else 9 for x in names])[0] if n > 5 * len(names) else names[n % len(names)]
    odd = pick.choice([0, 0, 0.1, 0.3])
    made[name] += 1
    try:
        answer = functions()[name]()
        answered[name] += 1
        if nan(answer):
            wrong.append(f"{name}: NaN: {answer!r}"[:300])
    except (wpm.Error, NotImplementedError) as e:
        if isinstance(e, wpm.InternalError):
            wrong.append(f"{name}: {e}"[:300])
        elif odd == 0 and not isinstance(e, wpm.InfeasibleError):
            wrong.append(f"{name}: right arguments: {type(e).__name__}: {e}"[:300])
    except Exception as e:
        at = e.__traceback__
        while at.tb_next:
            at = at.tb_next
        wrong.append(f"{name}: {type(e).__name__}: {e} at {at.tb_frame.f_code.co_filename}:{at.tb_lineno}"[:300])
print(json.dumps({"calls": n, "made": made, "answered": answered, "wrong": wrong, "grown": rss() - tenth}))
'''


class TestRandom(unittest.TestCase):
    def test_random(self):
        """10^4 calls at random, and five minutes with WPM_FULL=1, grow by less than 5 MB after the first tenth."""
        if os.environ.get("WPM_CLIENTS") != "1":
            self.skipTest("takes a minute: WPM_CLIENTS=1 runs it")
        for name in ("pandas", "scipy", "matplotlib"):
            need(name)
        if not os.path.exists("/proc/self/statm"):
            self.skipTest("there is no /proc/self/statm")
        full = os.environ.get("WPM_FULL") == "1"
        seed = str(int.from_bytes(os.urandom(4), "little")) if os.environ.get("WPM_SEED") == "random" else "1"
        r = child(PROGRAM, ["10000", "300" if full else "0", seed], timeout=3000, GOMAXPROCS="2")
        self.assertEqual(r.returncode, 0, f"seed {seed}\n{r.stderr[-3000:]}")
        said = json.loads(r.stdout)
        public = {name for name in wpm.__all__ if not isinstance(getattr(wpm, name), type)} | {"Projector", "Policy", "Counts"}
        self.assertEqual(public - {name.strip() for name in said["made"]}, set())
        print(f"\n{said['calls']} calls at random: memory grew by {said['grown']} kB after the first tenth")
        self.maxDiff = None; self.assertEqual(said["wrong"], [], f"seed {seed}")
        for name, n in said["answered"].items():
            self.assertGreater(n, said["made"][name] // 5, name)
        self.assertLess(said["grown"], 5000)
