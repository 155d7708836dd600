"""emd and emd2 beside POT's, where that is present."""

import inspect
import unittest
import warnings

import numpy as np

import wpm
from tests.support import need

# Both values are sums of rounded products of the same optimal cost.
SAME = dict(rtol=1e-12, atol=1e-12)


def gaussian(n, mean, width):
    x = np.arange(n)
    h = np.exp(-((x - mean) ** 2) / (2 * width**2))
    return h / h.sum()


def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


class TestGallery(unittest.TestCase):
    """Three problems in the manner of POT's gallery."""

    def setUp(self):
        self.ot = need("ot")

    def test_1d(self):
        """Two Gaussian histograms on a line."""
        x = np.arange(100.0)[:, None]
        M = squares(x, x)
        M /= M.max()
        a, b = gaussian(100, 20, 5), gaussian(100, 60, 10)
        G = wpm.emd(a, b, M)
        np.testing.assert_allclose((G * M).sum(), (self.ot.emd(a, b, M) * M).sum(), **SAME)
        np.testing.assert_allclose(wpm.emd2(a, b, M), self.ot.emd2(a, b, M), **SAME)
        np.testing.assert_allclose([G.sum(1), G.sum(0)], [a, b], **SAME)
        tail = np.cumsum(a - b)  # the cost of |x - y| is known: the area between the distribution functions
        np.testing.assert_allclose(wpm.emd2(a, b, np.abs(x - x.T)), np.abs(tail).sum(), **SAME)

    def test_2d(self):
        """Clouds of samples, uniform weights: the plan is a permutation, and the only one."""
        rng = np.random.default_rng(0)
        xs = rng.normal(size=(50, 2)) @ np.linalg.cholesky([[1, 0.8], [0.8, 1]]).T
        xt = [4, 4] + rng.normal(size=(50, 2)) @ np.linalg.cholesky([[1, -0.8], [-0.8, 1]]).T
        M = squares(xs, xt)
        u = np.full(50, 1 / 50)
        G, log = wpm.emd(u, u, M, log=True)
        H, other = self.ot.emd(u, u, M, log=True)
        np.testing.assert_allclose(G, H, **SAME)
        np.testing.assert_allclose(log["cost"], other["cost"], **SAME)
        np.testing.assert_allclose(wpm.emd2([], [], M), self.ot.emd2([], [], M), **SAME)

    def test_many(self):
        """One histogram against many, for two costs."""
        n, x = 100, np.arange(100.0)[:, None]
        a = gaussian(n, 20, 5)
        B = np.stack([gaussian(n, m, 5 + m / 20) for m in np.linspace(20, 90, 12)], 1)
        for M in (squares(x, x), np.sqrt(squares(x, x))):
            M /= M.max()
            got = wpm.emd2(a, B, M)
            self.assertIsInstance(got, list)
            np.testing.assert_allclose(got, self.ot.emd2(a, B, M), **SAME)


class TestCompatible(unittest.TestCase):
    """Signatures, keys, types and warnings."""

    def setUp(self):
        self.ot = need("ot")

    def both(self, name, *args, **settings):
        out = []
        for module in (wpm, self.ot):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                answer = getattr(module, name)(*args, **settings)
            out.append((answer, sorted(str(w.message) for w in seen)))
        (got, warned), (want, expected) = out
        self.assertEqual(warned, expected)
        return got, want

    def same(self, got, want):
        self.assertIs(type(got), type(want))
        if isinstance(want, dict):
            self.assertEqual(list(got), list(want))
            want, got = list(want.values()), list(got.values())
        if isinstance(want, (list, tuple)):
            self.assertEqual(len(got), len(want))
            for g, w in zip(got, want):
                self.same(g, w)
        elif isinstance(want, np.ndarray):
            self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
            np.testing.assert_allclose(got, want, **SAME)
        elif isinstance(want, float):
            np.testing.assert_allclose(got, want, **SAME)
        else:
            self.assertEqual(got, want)

    def test_signatures(self):
        """POT's parameters of any version come first, in its order and with its defaults."""
        for name in ("emd", "emd2"):
            ours, theirs = (list(inspect.signature(getattr(m, name)).parameters.values()) for m in (wpm, self.ot))
            self.assertEqual(ours[:len(theirs)], theirs)
            self.assertEqual([p.name for p in ours][-2:], ["check_marginals", "potentials_init"])  # of 0.9.6

    def test_answers(self):
        """Problems with one answer: everything is the same, keys, types and warnings included."""
        M = np.array([[1.0, 4], [2, 9]])
        for a, b, m in (
            ([0.25, 0.75], [0.5, 0.5], M), (np.array([0.25, 0.75]), [0.5, 0.5], M), ([], [], M),
            ([], [0.1, 0.9], M.tolist()),
            (np.array([1, 3]), np.array([2, 2]), M), ([2.5, 1.5], [2, 2], M),
            (np.array([0.25, 0.75], np.float32), [0.5, 0.5], M),
            ([], [], M.astype(np.float32)), ([], [], M.astype(int)),
        ):
            for settings in ({}, {"log": True}, {"return_matrix": True}, {"log": True, "return_matrix": True}):
                with self.subTest(a=a, b=b, **settings):
                    got, want = self.both("emd2", a, b, m, **settings)
                    if settings:  # potentials have a choice, here by one degree of freedom that center_dual takes
                        self.potentials(got[1], want[1], a, b, m)
                    self.same(got, want)
            got, want = self.both("emd", a, b, m, log=True)
            self.potentials(got[1], want[1], a, b, m)
            self.same(got, want)

    def test_signs(self):
        """Costs may be negative, as a gradient's are."""
        rng = np.random.default_rng(8)
        x, y = rng.normal(size=(7, 3)), rng.normal(size=(9, 3))
        a, b = rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(9))
        for M, scale in ((-x @ y.T, 1), (-squares(x, y), 1), (1e6 * (x @ y.T), 1e6), (-np.ones((7, 9)), 1)):
            before = M.copy()
            for center in (True, False):
                (G, log), (H, other) = (m.emd(a, b, M, log=True, center_dual=center) for m in (wpm, self.ot))
                np.testing.assert_allclose([G.sum(1) @ np.ones(7), log["cost"]], [1, other["cost"]], rtol=1e-12,
                                           atol=1e-12 * scale)
                np.testing.assert_allclose((G * M).sum(), log["cost"], rtol=1e-12, atol=1e-12 * scale)
                u, v = log["u"], log["v"]
                self.assertTrue((u[:, None] + v <= M + 1e-12 * scale).all())
                np.testing.assert_allclose(u @ a + v @ b, log["cost"], rtol=1e-12, atol=1e-12 * scale)
            np.testing.assert_allclose(wpm.emd2(3 * a, 3 * b, M), self.ot.emd2(3 * a, 3 * b, M), rtol=1e-12,
                                       atol=1e-12 * scale)
            np.testing.assert_array_equal(M, before)
        with self.assertRaises(wpm.InputError):
            wpm.emd(a, b, -np.inf * np.ones((7, 9)))

    def test_empty(self):
        """No column of b is no answer; b without rows is uniform."""
        M = np.array([[1.0, 4], [2, 9]])
        for b in (np.zeros((2, 0)), np.zeros((0, 2)), np.zeros(0)):
            self.same(*self.both("emd2", [], b, M))

    def test_sums(self):
        """Sums that differ a little: b is scaled, in emd2 too, where POT loses or makes up mass."""
        args = [0.25, 0.75], [0.5, 0.5 + 1e-8], [[1.0, 4], [2, 9]]
        np.testing.assert_allclose(wpm.emd(*args), self.ot.emd(*args), **SAME)
        np.testing.assert_allclose(wpm.emd2(*args), (self.ot.emd(*args) * args[2]).sum(), **SAME)

    def potentials(self, got, want, a, b, M):
        """Check that potentials prove the cost, and take them out: there are many, also of a 2 x 2 problem."""
        u, v = got.pop("u"), got.pop("v")
        self.assertEqual((u.dtype, u.shape, v.shape), (want["u"].dtype, want["u"].shape, want["v"].shape))
        if u.dtype.kind != "f":
            want.pop("u"), want.pop("v")
            return
        M = np.asarray(M, float)
        a = np.full(2, 0.5) if len(a) == 0 else np.asarray(a, float)
        b = np.full(2, 0.5) if len(b) == 0 else np.asarray(b, float)
        eps = 2.0**-20 if u.dtype == np.float32 else 1e-12
        self.assertTrue((u[:, None] + v[None] <= M + eps).all())
        theirs = want.pop("u") @ a + want.pop("v") @ b
        np.testing.assert_allclose(u @ a + v @ b, theirs, rtol=eps, atol=eps)
        np.testing.assert_allclose(u @ a, v @ b, rtol=0, atol=10 * eps)

    def test_zeros(self):
        """Potentials of points without mass are feasible, too."""
        rng = np.random.default_rng(7)
        M = rng.random((6, 5))
        a, b = np.array([0, 0.5, 0, 0.25, 0.25, 0]), np.array([0.5, 0, 0, 0.5, 0])
        G, log = wpm.emd(a, b, M, log=True)
        H, other = self.ot.emd(a, b, M, log=True)
        np.testing.assert_allclose(G, H, **SAME)
        self.assertTrue((log["u"][:, None] + log["v"][None] <= M + 1e-12).all())
        np.testing.assert_allclose(log["u"] @ a, log["v"] @ b, **SAME)

    def test_refused(self):
        M = [[0.0, 1], [1, 0]]
        for a, b, m in (([0.5, 0.5], [0.5, 0.5, 0], M), ([0.5, 0.5], [0.5, 0.4], M)):
            for module in (wpm, self.ot):
                with self.assertRaises(AssertionError):
                    module.emd(a, b, m)
            with self.assertRaises(wpm.InputError):
                wpm.emd(a, b, m)
        for bad in ([np.nan, 1], [-0.5, 1.5], [np.inf, 1], [0, 0]):
            for f in (wpm.emd, wpm.emd2):
                with self.assertRaises(wpm.InputError):
                    f(bad, bad, M)
        for bad in ({"a": 1.0, "b": [1], "M": [[1]]},
                    {"a": [1], "b": [1], "M": {"kind": "ring", "n": 1, "p": 1}},
                    {"a": [1], "b": [1], "M": [1]},
                    {"a": ["x"], "b": [1], "M": [[1]]}, {"a": [1], "b": [[1.0]], "M": [[1]]},
                    {"a": [], "b": [], "M": []},
                    {"a": [[1], [1, 1]], "b": [1], "M": [[1]]}):
            with self.subTest(**bad), self.assertRaises(wpm.InputError):
                wpm.emd(**bad)
        places = need("pandas").DataFrame({"lat": [46.0, 47], "lon": [7.0, 8]})
        for f in (wpm.emd, wpm.emd2, lambda a, b, M: wpm.solve(M, a, b)):
            for cost in (places, {"kind": "ring", "n": 2, "p": 1}):
                with self.assertRaisesRegex(wpm.InputError, "M is an array here"):
                    f([0.5, 0.5], [0.5, 0.5], cost)
        for settings in ({"numThreads": 0}, {"numThreads": "two"}, {"numThreads": 1.5}, {"numItermax": "x"}, {"numItermax": None}):
            for f in (wpm.emd, wpm.emd2):
                with self.assertRaises(wpm.InputError):
                    f([], [], M, **settings)
        with self.assertRaises(wpm.InputError):
            wpm.emd2([], np.full((2, 2), 0.5), M, processes="x")
        self.assertEqual(wpm.emd2([], [], M, numThreads="max"), 0)

    def test_overflow(self):
        """What a float64 holds has an answer without NaN, and what it does not hold is an error."""
        M, h = np.array([[0.0, 1], [1, 0]]), [0.5, 0.5]
        for a, b, scale in (([0.6e308] * 2, [0.3e308, 0.9e308], 1), ([18.5] * 2, [18.5] * 2, 1e307),
                            ([6e299, 4e299], [5e299] * 2, -1e10)):
            with np.errstate(over="ignore"):
                G, log = wpm.emd(a, b, M * scale, log=True)
            u, v = log["u"], log["v"]
            self.assertTrue((u[:, None] + v <= M * scale + 1e-15 * abs(scale)).all())  # u and v are rounded once each
            np.testing.assert_allclose((u[:, None] + v)[G > 0], (M * scale)[G > 0], rtol=1e-15, atol=1e-15 * abs(scale))
            shares = np.divide(a, a[0] + a[1]) @ u, np.divide(b, a[0] + a[1]) @ v
            np.testing.assert_allclose(*shares, rtol=0, atol=1e-15 * abs(scale))
        most = [1e308, 1e308]
        for a, b, cost, text in ((most, h, M, "a sums to inf"), ([np.inf, 1], h, M, r"a\[0\] is inf"),
                                 (h, h, [[1e308, -1e308], [0, 0]], "M has entries from -1e.308 to 1e.308")):
            for f in (wpm.emd, wpm.emd2):
                with np.errstate(over="ignore"), self.assertRaisesRegex(wpm.InputError, text):
                    f(a, b, cost, check_marginals=False)

    def test_later(self):
        """What later versions take: None, potentials to start from, marginals that nobody checks, numItermax."""
        rng = np.random.default_rng(2)
        M, a, b = rng.random((9, 7)), rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(7))
        want, log = wpm.emd(a, b, M, log=True)
        got = wpm.emd(a, b, M, potentials_init=(log["u"], log["v"]))
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(wpm.emd(None, None, M), wpm.emd([], [], M))
        with self.assertRaises(AssertionError):
            wpm.emd2(a, 2 * b, M)
        np.testing.assert_allclose(wpm.emd2(a, 2 * b, M, check_marginals=False), log["cost"], **SAME)
        for bad in ((log["u"],), 3, (log["u"], log["u"]), (np.nan * log["u"], log["v"])):
            with self.assertRaises(wpm.InputError):
                wpm.emd(a, b, M, potentials_init=bad)
        for f in (wpm.emd, wpm.emd2):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                answer = f(a, b, M, numItermax=1, log=True)
                f(a, b, M)
            self.assertEqual(len(seen), 1)
            self.assertIn("numItermax", str(seen[0].message))
            self.assertEqual(seen[0].filename, __file__)
            self.assertIsNone(answer[1]["warning"])  # POT's own functions raise where there is one
        self.assertEqual(answer[0], log["cost"])  # the optimum all the same


class TestSparse(unittest.TestCase):
    """A missing entry is a forbidden arc."""

    def test_linprog(self):
        """The same optimum as a linear programme over the entries that there are; infeasible where it is."""
        sparse, optimize = need("scipy.sparse"), need("scipy.optimize")
        rng = np.random.default_rng(4)
        found = {True: 0, False: 0}
        for n in range(60):
            k, kv = rng.integers(1, 7, 2)
            S = sparse.random(k, kv, rng.uniform(0.2, 1), random_state=rng, format="coo")
            S.data = rng.choice([0.0, -1, 2, 5], S.nnz) if n % 2 else S.data * 10.0 ** rng.integers(-9, 9)
            a, b = rng.integers(0, 4, k) / 8, rng.integers(0, 4, kv) / 8
            if a.sum() == 0 or b.sum() == 0 or S.nnz == 0:
                continue
            b = b * a.sum() / b.sum()
            A = np.zeros((k + kv, S.nnz))
            A[S.row, np.arange(S.nnz)] = A[k + S.col, np.arange(S.nnz)] = 1
            scale = np.abs(S.data).max() or 1.0  # linprog's tolerances are absolute
            want = optimize.linprog(S.data / scale, A_eq=A, b_eq=np.concatenate([a, b]))
            found[want.success] += 1
            if not want.success:
                for f in (wpm.emd, wpm.emd2):
                    with self.assertRaises(wpm.InfeasibleError):
                        f(a, b, S)
                continue
            G, log = wpm.emd(a, b, S.tocsr(), log=True)
            self.assertTrue(sparse.issparse(G))
            self.assertTrue(set(zip(G.row, G.col)) <= set(zip(S.row, S.col)))
            np.testing.assert_allclose(log["cost"], want.fun * scale, rtol=1e-7, atol=1e-7 * scale)
            np.testing.assert_allclose(wpm.emd2(a, b, S), log["cost"], **SAME)
            full = G.toarray()
            np.testing.assert_allclose(full.sum(1), a, rtol=0, atol=1e-14)
            np.testing.assert_allclose(full.sum(0), b, rtol=0, atol=1e-14)
            u, v = log["u"], log["v"]  # they prove it on the entries that there are
            self.assertTrue((u[S.row] + v[S.col] <= S.data + 1e-9 * scale).all())
        self.assertGreater(min(found.values()), 8, found)

    def test_rounding(self):
        """Blocks whose sums differ by a rounding are feasible."""
        sparse = need("scipy.sparse")
        M = sparse.block_diag([np.ones((3, 1)), np.ones((1, 3))])
        a, b = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.6, 0.1, 0.2, 0.1])
        self.assertNotEqual(0.1 + 0.2 + 0.3, 0.6)
        np.testing.assert_allclose(wpm.emd2(a, b, M), 1, **SAME)

    def test_refused(self):
        sparse = need("scipy.sparse")
        for bad in (sparse.coo_matrix((2, 2)), sparse.coo_matrix((0, 2)),
                    sparse.coo_matrix(([np.nan], ([0], [1])), shape=(2, 2))):
            with self.assertRaises(wpm.InputError):
                wpm.emd([0.5, 0.5], [0.5, 0.5], bad)


class TestSolve(unittest.TestCase):
    """The later form of POT's problems."""

    def test_solve(self):
        rng = np.random.default_rng(3)
        x, y = rng.normal(size=(6, 2)), rng.normal(size=(8, 2))
        a = rng.dirichlet(np.ones(6))
        M = squares(x, y)
        r = wpm.solve(M, a)
        want = wpm.transport(a, None, M)
        np.testing.assert_allclose([r.value, r.value_linear], want.value, **SAME)
        np.testing.assert_allclose(r.plan, want.dense(), **SAME)
        np.testing.assert_allclose(r.sparse_plan.toarray(), r.plan, **SAME)
        np.testing.assert_allclose(r.marginal_a, a, **SAME)
        np.testing.assert_allclose(r.marginals[1], np.full(8, 1 / 8), **SAME)
        np.testing.assert_allclose(r.potential_a @ a + r.potential_b.mean(), r.value, **SAME)
        self.assertEqual((r.status, r.value_quad, r.lazy_plan, r.log["cost"]), ("Converged", None, None, r.value))
        self.assertIn("OTResult(value=", repr(r))
        sample = wpm.solve_sample(x, y, a)
        np.testing.assert_allclose(sample.value, r.value, **SAME)
        for metric in ("euclidean", "cityblock"):
            M = np.sqrt(squares(x, y)) if metric == "euclidean" else np.abs(x[:, None] - y).sum(-1)
            np.testing.assert_allclose(wpm.solve_sample(x, y, a, metric=metric).value, wpm.emd2(a, [], M), **SAME)
        np.testing.assert_allclose(wpm.solve([[1, 2], [3, 5]], [1, 3], [2, 2]).plan, [[0, 1], [2, 1]], **SAME)
        for cost in ([[0, 1], [1, 0]], np.eye(2) == 0, np.eye(2, dtype=np.int8) - 1):
            np.testing.assert_allclose(wpm.solve(cost).marginals, np.full((2, 2), 0.5), **SAME)
        pandas = need("pandas")
        for three in ([1, 1, 1], pandas.Series([1, 1, 1]), pandas.Series([True] * 3)):
            half = wpm.solve(np.ones((3, 2)), three, [1.5, 1.5]).marginals
            np.testing.assert_allclose(np.concatenate(half), [1, 1, 1, 1.5, 1.5], **SAME)

    def test_others(self):
        """What there is not is named."""
        x = np.zeros((2, 1))
        for f, given in ((wpm.solve, x @ x.T), (lambda x, **s: wpm.solve_sample(x, x, **s), x)):
            for settings in ({"reg": 0.1}, {"unbalanced": 1.0}, {"method": "gaussian"}):
                with self.assertRaisesRegex(NotImplementedError, next(iter(settings))):
                    f(given, **settings)
        with self.assertRaisesRegex(NotImplementedError, "lazy"):
            wpm.solve_sample(x, x, lazy=True)
        for result in (wpm.solve(x @ x.T),):
            for name in ("a_to_b", "b_to_a"):
                with self.assertRaises(NotImplementedError):
                    getattr(result, name)
        for bad in ((x, np.zeros((2, 3))), (x[0], x), (x * np.nan, x)):
            with self.assertRaises(wpm.InputError):
                wpm.solve_sample(*bad)
        for settings in ({"metric": "none"}, {"metric": 3}, {"metric": None}, {"reg": "x"}, {"reg": np.datetime64("2020")}):
            with self.assertRaises(wpm.InputError):
                wpm.solve_sample(x, x, **settings)
        for bad, text in ((np.ma.array([1, 1], mask=[0, 1]), "a has masked entries"), ([[1], [1, 2]], "a is not an array")):
            with self.assertRaisesRegex(wpm.InputError, text):
                wpm.solve(np.ones((2, 2)), bad, [1, 1])
        with self.assertRaisesRegex(wpm.InputError, "max_iter is 'x'"):
            wpm.solve(np.ones((2, 2)), max_iter="x")

    def test_attributes(self):
        """The result has all that POT's has."""
        ot = need("ot")
        theirs = getattr(ot.utils, "OTResult", None)
        if theirs is None:
            self.skipTest(f"POT {ot.__version__} has none")
        names = {name for name in dir(theirs) if not name.startswith("_")}
        self.assertEqual(names - set(dir(wpm.solve([[1.0]]))), set())


class TestFlow(unittest.TestCase):
    def test_linprog(self):
        """The cost of a linear programme, with a proof that is checked here; infeasible and unbounded as it says."""
        optimize = need("scipy.optimize")
        rng = np.random.default_rng(6)
        found = {}
        for _ in range(80):
            n, m = rng.integers(2, 6), rng.integers(1, 12)
            tail, head = rng.integers(0, n, m), rng.integers(0, n, m)
            cost, supply = rng.integers(-4, 9, m), rng.integers(-3, 4, n)
            supply[0] -= supply.sum()
            lower = rng.integers(-1, 2, m)
            capacity = np.where(rng.random(m) < 0.4, np.inf, lower + rng.integers(0, 6, m))
            r = wpm.flow(tail, head, cost, supply, lower=lower, capacity=capacity)
            A = np.zeros((n, m))
            np.add.at(A, (tail, np.arange(m)), 1)
            np.add.at(A, (head, np.arange(m)), -1)
            want = optimize.linprog(cost, A_eq=A, b_eq=supply, bounds=list(zip(lower, capacity)))
            found[r.status] = found.get(r.status, 0) + 1
            self.assertEqual(r.status, {0: "optimal", 2: "infeasible", 3: "unbounded"}[want.status])
            if r.status == "optimal":
                self.assertEqual(r.objective, round(want.fun))
                self.assertTrue(((lower <= r.flow) & (r.flow <= capacity)).all() and (A @ r.flow == supply).all())
                reduced = cost + r.potentials[tail] - r.potentials[head]
                self.assertTrue((r.flow[reduced > 0] == lower[reduced > 0]).all())
                self.assertTrue((r.flow[reduced < 0] == capacity[reduced < 0]).all())
            elif r.status == "infeasible":
                inside = np.isin(np.arange(n), r.cut)
                out, into = inside[tail] & ~inside[head], inside[head] & ~inside[tail]
                need_ = supply[inside].sum()
                self.assertTrue(need_ > capacity[out].sum() - lower[into].sum()
                                or need_ < lower[out].sum() - capacity[into].sum())
            else:
                arcs, ways = r.cycle.T
                self.assertLess(cost[arcs] @ ways, 0)
                self.assertEqual(r.objective, cost @ r.flow)
                self.assertNotIn("potentials", r)
        self.assertEqual(set(found), {"optimal", "infeasible", "unbounded"}, found)

    def test_refused(self):
        for bad in (([0], [1], [1], [1, 1]), ([0], [2], [1], [1, -1]), ([0], [1], [0.5], [1, -1]), ([0, 1], [1], [1], [1, -1]),
                    ([0], [1], [np.nan], [1, -1])):
            with self.subTest(bad=str(bad)), self.assertRaises(wpm.InputError):
                wpm.flow(*bad)
        for settings in ({"lower": 2, "capacity": 1}, {"lower": [1, 2]}, {"capacity": 0.5}, {"capacity": [[1]]},
                         {"lower": np.nan}):
            with self.subTest(**settings), self.assertRaises(wpm.InputError):
                wpm.flow([0], [1], [1], [1, -1], **settings)
        self.assertEqual(wpm.flow([0], [1], [2**40], [2**40, -(2**40)]).objective, 2**80)

    def test_bounds(self):
        """Infinity on the wrong side is no bound, and errors name Python's arguments."""
        for settings, text in (({"capacity": -np.inf}, "capacity is -inf"), ({"capacity": [-np.inf]}, r"capacity\[0\] is -inf"),
                               ({"lower": np.inf}, "lower is inf"), ({"capacity": -1}, r"lower\[0\] is 0, above capacity\[0\]"),
                               ({"capacity": 2.0**63}, r"capacity\[0\] is 9\.2"), ({"lower": -1e300}, r"lower\[0\] is -1e\+300"),
                               ({"capacity": np.uint64(2**63)}, r"capacity\[0\] is 92")):
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.flow([0], [1], [1], [1, -1], **settings)
        for ends, text in ((([5], [1]), r"tail\[0\] is 5"), (([0], [-1]), r"head\[0\] is -1")):
            with self.subTest(text), self.assertRaisesRegex(wpm.InputError, text):
                wpm.flow(*ends, [1], [1, -1])
        r = wpm.flow([0], [1], [1], [1, -1], lower=-np.inf, capacity=np.uint64(2**62))
        self.assertEqual((r.objective, r.flow.tolist()), (1, [1]))
        none = wpm.flow([], [], [], [0, 0])
        self.assertEqual((none.status, none.flow.tolist(), len(none.potentials)), ("optimal", [], 2))
