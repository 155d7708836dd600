"""Transport and projections: proofs, laws, edges."""

import copy
import fractions
import pickle
import unittest
import warnings

import numpy as np

import wpm
from wpm import _input, _lib
from tests.support import child, exact, instance, need, proved

# What a certified result may leave open, of the largest cost (package mincostflow); and what the roundings of a test
# add: masses of plans are rounded once, a hundred rows and columns together to 100 * 2^-53.
GAP, ROUNDING = 1e-13, 100 * 2.0**-53


class TestProject(unittest.TestCase):
    def test_proof(self):
        """The evidence proves the bounds, in rational arithmetic."""
        rng = np.random.default_rng(1)
        for n in range(60):
            k, kv = rng.integers(1, 8, 2)
            C, mu, lo, hi = instance(rng, k, kv)
            r = wpm.project(C, mu, lo, hi)
            lower, upper = proved(C, mu, lo, hi, r)
            room = fractions.Fraction((GAP + 2 * ROUNDING) * C.max())
            self.assertLessEqual(upper - lower, room, n)
            self.assertTrue(r.lower - room <= lower <= r.upper and r.lower <= upper <= r.upper + room, (n, r))
            self.assertTrue((lo <= r.q).all() and (r.q <= hi).all(), n)
            self.assertLessEqual(abs(sum(map(fractions.Fraction, r.q.tolist())) - 1), kv * 2.0**-52)

    def test_transport(self):
        rng = np.random.default_rng(2)
        for n in range(40):
            C, a, _, b = instance(rng, *rng.integers(1, 8, 2))
            r = wpm.transport(a, b, C)
            target = exact(b)
            lower, upper = proved(C, a, target, target, r)
            room = fractions.Fraction((GAP + 4 * ROUNDING) * C.max())
            self.assertTrue(upper - lower <= room and r.lower - room <= upper and lower <= r.upper + room, (n, r))
            np.testing.assert_allclose(r.dense().sum(0), b / b.sum(), rtol=0, atol=ROUNDING)

    def test_linprog(self):
        """A second opinion, to the tolerance of HiGHS."""
        optimize = need("scipy.optimize")
        rng = np.random.default_rng(3)
        for _ in range(10):
            k, kv = rng.integers(2, 9, 2)
            C, mu, lo, hi = instance(rng, k, kv)
            mu /= mu.sum()
            rows, cols = np.kron(np.eye(k), np.ones(kv)), np.kron(np.ones(k), np.eye(kv))
            bounds = {"A_ub": np.vstack([cols, -cols]), "b_ub": np.hstack([hi, -lo])}
            lp = optimize.linprog(C.ravel(), A_eq=rows, b_eq=mu, **bounds)
            r = wpm.project(C, mu, lo, hi)
            self.assertLessEqual(abs(lp.fun - r.value), 1e-7 * k * kv * C.max())  # its feasibility is 1e-7 a constraint

    def test_plan(self):
        sparse = need("scipy.sparse")
        r = wpm.project([[0, 1, 2], [1, 0, 1]], [3, 1], [0, 0, 0.25], [1, 1, 1])
        self.assertIsInstance(r.plan, sparse.csr_matrix)
        self.assertEqual(r.plan.shape, (2, 3))
        np.testing.assert_array_equal(r.plan.toarray(), r.dense())
        np.testing.assert_allclose(r.dense().sum(1), [0.75, 0.25], rtol=0, atol=ROUNDING)

    def test_spec(self):
        """A cost as an object is that cost."""
        grid = {"kind": "grid", "rows": 2, "cols": 3, "p": 2}
        at = np.array([[(c + 0.5) / 3, (r + 0.5) / 2] for r in range(2) for c in range(3)])
        C = ((at[:, None] - at[None]) ** 2).sum(-1)
        mu, lo, hi = [1, 0, 0, 0, 0, 2], np.full(6, 0.1), np.full(6, 0.3)
        self.assertAlmostEqual(wpm.project(grid, mu, lo, hi).value, wpm.project(C, mu, lo, hi).value, delta=1e-14)
        points = {"kind": "points", "x": at, "p": 2}  # arrays inside are fine
        self.assertAlmostEqual(wpm.transport(mu, None, points).value, wpm.transport(mu, None, C).value, delta=1e-14)
        p = wpm.Projector(grid, lo, hi)
        self.assertEqual(p.shape, (6, 6))
        self.assertEqual(p.project(mu).value, wpm.project(grid, mu, lo, hi).value)


class TestProjector(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(4)
        self.C, _, self.lo, self.hi = instance(rng, 30, 20)
        self.users = np.where(rng.random((50, 30)) < 0.2, rng.random((50, 30)), 0)
        self.users[:, 3] += 0.01
        self.projector = wpm.Projector(self.C, self.lo, self.hi)

    def test_many(self):
        """A batch has the results of single calls, bit for bit, in every form of its users."""
        sparse = need("scipy.sparse")
        want = [wpm.project(self.C, u, self.lo, self.hi) for u in self.users]
        csr = sparse.csr_matrix(self.users)
        half = np.hstack([csr.tocoo().data / 2] * 2)
        coo = sparse.coo_matrix((half, [np.hstack([x] * 2) for x in csr.nonzero()]), csr.shape)
        back = csr.copy()
        back.indices, back.data = back.indices.copy(), back.data.copy()
        for a, b in zip(back.indptr, back.indptr[1:]):  # columns of a row the other way round
            back.indices[a:b], back.data[a:b] = back.indices[a:b][::-1].copy(), back.data[a:b][::-1].copy()
        back.has_sorted_indices = back.has_canonical_format = False
        before = back.indices.copy()
        for users in (csr, csr.tocsc(), coo, back, self.users, self.users.tolist(), np.asfortranarray(self.users)):
            r = self.projector.many(users)
            np.testing.assert_array_equal(r.q, [w.q for w in want])
            np.testing.assert_array_equal(np.transpose([r.value, r.lower, r.upper]),
                                          [[w.value, w.lower, w.upper] for w in want])
            self.assertFalse(r.status.any() or r.errors)
        np.testing.assert_array_equal(back.indices, before)
        for n in (0, 7):
            one = self.projector.project(csr[n])
            np.testing.assert_array_equal(one.q, want[n].q)
            np.testing.assert_array_equal(self.projector.project(self.users[n]).q, want[n].q)

    def test_status(self):
        """A bad row is NaN with a reason, and does not touch the others."""
        users = self.users.copy()
        users[3], users[5, 2], users[8, 1], users[9, 0] = 0, np.nan, -1, np.inf
        r = self.projector.many(users)
        np.testing.assert_array_equal(np.flatnonzero(r.status), [3, 5, 8, 9])
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(r.q).all(1)), [3, 5, 8, 9])
        self.assertEqual(sorted(r.errors), [3, 5, 8, 9])
        self.assertIn("sum to 0", r.errors[3])
        good = r.status == 0
        np.testing.assert_array_equal(r.q[good], self.projector.many(self.users[good]).q)
        self.assertTrue(np.isfinite(r.q[good]).all() and np.isnan(r.value[~good]).all())
        many = self.projector.many(np.zeros((150, 30)))
        self.assertEqual((many.status.sum(), len(many.errors)), (150, 100))

    def test_edges(self):
        r = self.projector.many(np.zeros((0, 30)))
        self.assertEqual((r.q.shape, r.status.shape), ((0, 20), (0,)))
        for users in (np.zeros(30), np.zeros((2, 29)), np.zeros((1, 1, 30)), np.zeros((2, 30), complex), [["a"] * 30],
                      [[1], [1, 2]]):
            with self.assertRaises(wpm.InputError):
                self.projector.many(users)
        with self.assertRaisesRegex(wpm.InputError, r"mu\[7\] is -1.0, negative"):
            self.projector.project(np.eye(30)[3] - np.eye(30)[7])
        with self.assertRaisesRegex(wpm.InputError, "no mass"):
            self.projector.project(np.zeros(30))
        one = wpm.Projector([[2.5]], [0], [1])
        self.assertEqual((one.project([7]).value, one.many([[1], [2]]).value.tolist()), (2.5, [2.5, 2.5]))

    def test_copies(self):
        """What the projector was made of may change."""
        C, lo, hi = self.C.copy(), self.lo.copy(), self.hi.copy()
        p = wpm.Projector(C, lo, hi)
        want = p.project(self.users[0]).q
        C[:], lo[:], hi[:] = 1, 0, 1
        np.testing.assert_array_equal(p.project(self.users[0]).q, want)

    def test_malformed(self):
        """A sparse matrix whose parts do not fit, as only a mistake makes them, is an error and no crash."""
        sparse = need("scipy.sparse")
        m = sparse.csr_matrix(self.users)
        m.indices = m.indices[:-1]
        with self.assertRaises(wpm.InputError):
            self.projector.many(m)
        for at, start in ((1, 1 << 20), (1, -9), (0, 3), (50, 1 << 20), (49, 0)):  # where scipy would write elsewhere
            m = sparse.csr_matrix(self.users)
            m.indptr[at] = start
            with self.subTest(at=at, start=start), self.assertRaises(wpm.InputError):
                self.projector.many(m)
        m = sparse.csr_matrix(self.users[:1])
        m.indptr[1] = 1 << 20
        for f in (self.projector.project, lambda mu: wpm.project(self.C, mu, self.lo, self.hi)):
            with self.assertRaises(wpm.InputError):
                f(m)

    def test_spare(self):
        """A sparse matrix may have room behind its entries."""
        sparse = need("scipy.sparse")
        m = sparse.csr_matrix(self.users)
        m.indices, m.data = (np.append(x, x[:3]) for x in (m.indices, m.data))
        np.testing.assert_array_equal(self.projector.many(m).q, self.projector.many(self.users).q)
        m = sparse.csr_matrix(self.users[:1])
        m.indices, m.data = (np.append(x, x[:3]) for x in (m.indices, m.data))
        np.testing.assert_array_equal(self.projector.project(m).q, self.projector.project(self.users[0]).q)


    def test_pickle(self):
        """A copy has the same cost, box and labels, whatever has become of the caller's arrays; so it has after spawn."""
        pandas = need("pandas")
        labelled = pandas.DataFrame(self.C, columns=[f"c{j}" for j in range(self.C.shape[1])])
        spec = {"kind": "ring", "n": self.C.shape[1], "p": 2}
        for C in (self.C.copy(), labelled.copy(), spec):
            lo, hi = self.lo.copy(), self.hi.copy()
            p = wpm.Projector(C, lo, hi)
            mu = np.arange(1.0, p.shape[0] + 1)
            want = p.project(mu)
            text = pickle.dumps(p)
            lo[:], hi[:] = 0, 1
            for other in (pickle.loads(text), copy.deepcopy(p), copy.copy(p)):
                got = other.project(mu)
                np.testing.assert_array_equal(got.q, want.q)
                self.assertEqual((repr(other), type(got.q)), (f"Projector(shape={p.shape})", type(want.q)))
        r = child(f"import pickle; print(pickle.loads({pickle.dumps(p)!r}).project({mu.tolist()}).value)")
        self.assertEqual(r.stdout, f"{want.value}\n", r.stderr)

    def test_names(self):
        """Errors use the names of Python's arguments."""
        M, box = [[0.0, 1], [1, 0]], ([0, 0], [1, 1])
        p = wpm.Projector(M, *box)
        for f, text in ((lambda: wpm.emd2([-1, 2], [0.5, 0.5], M), r"a[0]"), (lambda: wpm.emd([0.5, 0.5], [-0.5, 1.5], M), r"b[0]"),
                        (lambda: wpm.transport([1, 1], [0, 0], M), "entries of b"),
                        (lambda: wpm.project(M, [1, -1], *box), "mu[1]"),
                        (lambda: wpm.project(M, [1, 1], [0, 0.6], [1, 0.5]), "lo[1] = 0.6, hi[1]"),
                        (lambda: p.project([0, 0]), "mu has no mass"), (lambda: p.project([1, -1]), "mu[1]"),
                        (lambda: wpm.entropic(M, [1, -1], *box, reg=1), "mu[1]"),
                        (lambda: wpm.design(M, 1, "average", weights=[1, -1]), "weights[1]"),
                        (lambda: wpm.base_measure(M, 1, objective="average", input_weights=[1, -1]), "input_weights[1]")):
            with self.subTest(text), self.assertRaises(wpm.InputError) as e:
                f()
            self.assertIn(text, str(e.exception))
            self.assertNotRegex(str(e.exception), "Source|Target|Weights")
        errors = p.many([[1, 0], [0, -1], [0, 0]]).errors
        self.assertIn("users[1, 1]", errors[1])
        self.assertIn("users[2]", errors[2])


class TestInput(unittest.TestCase):
    def test_forms(self):
        """Lists, tuples, other types and orders, and strided arrays give the same answer, and stay as they are."""
        C, mu, lo, hi = instance(np.random.default_rng(5), 6, 4)
        C, mu = np.rint(C), np.rint(mu * 9)
        want = wpm.project(C, mu, lo, hi)
        wide = np.zeros((6, 8))
        wide[:, ::2] = C
        wide.flags.writeable = False
        for c in (C.tolist(), tuple(map(tuple, C)), C.astype(np.float32), C.astype(np.int8),
                  np.asfortranarray(C), wide[:, ::2],
                  C.astype(">f8"), C.astype(object), C.astype(np.longdouble)):
            for m in (mu.tolist(), mu.astype(np.uint16), mu[::-1][::-1], [int(x) for x in mu]):
                np.testing.assert_array_equal(wpm.project(c, m, lo, hi).q, want.q)

    def test_refused(self):
        ok = dict(C=[[0, 1], [1, 0]], mu=[1, 1], lo=[0, 0], hi=[1, 1])
        wpm.project(**ok)
        for name, bad, text in (
            ("C", [[0, 1]], "mu has shape"), ("C", [0, 1], "1 dimensions"),
            ("C", [[0, np.nan], [1, 0]], "C[0, 1] is nan"),
            ("C", [[0, -1], [1, 0]], "C[0, 1] is -1"), ("C", [], "dimensions"), ("C", [[], []], "empty"),
            ("C", [[0, 1], [1]], "array of numbers"), ("C", np.zeros((2, 2), complex), "complex"),
            ("C", "x", "dtype|array|dimension"),
            ("C", {"kind": "grid", "rows": 0, "cols": 2}, "rows"), ("C", {"kind": "none"}, "none"),
            ("C", {"kind": {1}}, "set"), ("C", {"kind": "\ud800"}, "surrogates"),
            ("C", np.full((2, 2), np.longdouble("1e4000")), "C[0, 0] is inf"),
            ("C", {"kind": "ring", "n": np.nan, "p": 1}, "no cost"), ("C", {1: {2}}, ""),
            ("C", [[10**400, 1], [1, 1]], "array of numbers"),
            ("mu", np.array(["1", "2"], object), "text"), ("mu", np.array([1, None], object), "mu[1] is nan"),
            ("C", np.array([["1", "2"], ["3", "4"]]), "real numbers"), ("C", np.zeros((2, 2), "M8[s]"), "real numbers"),
            ("mu", [1, np.inf], "mu[1] is inf"), ("mu", [1, -1], "-1"), ("mu", [0, 0], "sum to 0"), ("mu", [1], "shape"),
            ("mu", [[1, 1]], "2 dimensions"), ("mu", None, ""), ("mu", np.ma.array([1, 1], mask=[0, 1]), "masked"),
            ("mu", ["a", "b"], "real numbers"), ("mu", [None, 1], ""), ("mu", [1, [1]], "array of numbers"),
            ("mu", 1, "0 dim"),
            ("lo", [0.6, 0.6], "sums to more than 1"), ("lo", [1.5, 0], "lower bound above"), ("lo", [0], "shape"),
            ("hi", [0.1, 0.1], ""),
            ("hi", [1, np.nan], "hi[1]"), ("lo", [-1, 0], "-1"),
        ):
            with self.subTest(name=name, bad=bad), self.assertRaises(wpm.InputError) as e:
                wpm.project(**{**ok, name: bad})
            self.assertIsInstance(e.exception, (wpm.Error, ValueError))
            if "|" not in text:
                self.assertIn(text, str(e.exception))
        objects = need("scipy.sparse").csr_matrix([[1.0, 2.0]])
        objects.data = objects.data.astype(object)
        for call in (lambda: wpm.project(**{**ok, "mu": objects}), lambda: wpm.Projector(ok["C"], ok["lo"], ok["hi"]).many(objects)):
            with self.assertRaisesRegex(wpm.InputError, "array of object"):
                call()
        with self.assertRaises(wpm.InfeasibleError) as e:
            wpm.project(**{**ok, "lo": [0.6, 0.6]})
        self.assertIn("infeasible", str(e.exception))

    def test_numbers(self):
        """Numbers of no dimension stay so; whole numbers are those that 64 bits hold, on every processor."""
        for read in (_input.array, _input.whole):
            for x in (3, 3.0, np.array(3), np.float32(3)):
                self.assertEqual((read(x, "x", ndim=0).shape, int(read(x, "x", ndim=0))), ((), 3))
        for good in (2**63 - 1, -(2**63), np.uint64(2**63 - 1), -(2.0**63), True):
            self.assertEqual(int(_input.whole(good, "x", ndim=0)), int(good))
        for bad in (2**63, 2.0**63, np.nextafter(-(2.0**63), -np.inf), np.uint64(2**64 - 1), 0.5, np.nan, np.inf, -np.inf,
                    np.longdouble(2)**63):
            with self.subTest(bad=bad), self.assertRaisesRegex(wpm.InputError, "x is .*whole number of 64 bits"):
                _input.whole(bad, "x", ndim=0)

    def test_pandas(self):
        """An index gives labels to what comes out, and puts what goes in into order; others are refused."""
        pandas = need("pandas")
        C = pandas.DataFrame([[0, 1, 2], [3, 0, 1]], index=["x", "y"], columns=["a", "b", "c"])
        mu, lo = pandas.Series([1, 3], index=["y", "x"]), pandas.Series([0.1, 0.2, 0.3], index=["c", "b", "a"])
        hi = [0.6, 0.5, 0.4]
        want = wpm.project(C.to_numpy(), [3, 1], [0.3, 0.2, 0.1], hi)
        got = wpm.project(C, mu, lo, hi)
        np.testing.assert_array_equal(got.q.to_numpy(), want.q)
        self.assertEqual((list(got.q.index), list(got.potentials[0].index)), (["a", "b", "c"], ["x", "y"]))
        p = wpm.Projector(C, lo, hi)
        users = pandas.DataFrame([[1, 3], [1, 0]], index=["ann", "bob"], columns=["y", "x"])
        q = p.many(users).q
        np.testing.assert_array_equal(q.loc["ann"].to_numpy(), want.q)
        self.assertEqual(list(q.columns), ["a", "b", "c"])
        self.assertEqual(wpm.emd2(mu / 4, [0.5, 0.5, 0], C), wpm.emd2([0.75, 0.25], [0.5, 0.5, 0], C.to_numpy()))
        for bad in (pandas.Series([1, 3], index=["x", "z"]), pandas.Series([1, 3], index=["x", "x"]),
                    pandas.Series([1, 3, 1], index=["x", "y", "z"])):
            with self.assertRaises(wpm.InputError):
                wpm.project(C, bad, lo, hi)
        plain = wpm.project(C.to_numpy(), [3, 1], lo, hi)  # the labels of the box alone
        self.assertEqual(list(plain.q.index), ["c", "b", "a"])

    def test_unchanged(self):
        C, mu, lo, hi = given = instance(np.random.default_rng(6), 9, 9)
        copies = [x.copy() for x in given]
        wpm.project(*given)
        wpm.emd(mu / mu.sum(), lo / lo.sum(), C)
        wpm.entropic(*given, reg=0.1)
        for x, y in zip(given, copies):
            np.testing.assert_array_equal(x, y)


class TestResult(unittest.TestCase):
    def test_copies(self):
        r = wpm.project([[0, 1], [1, 0]], [1, 0], [0, 0], [1, 1])
        for s in (copy.copy(r), copy.deepcopy(r), pickle.loads(pickle.dumps(r))):
            self.assertEqual((type(s), s.value, s.shape), (wpm.Plan, r.value, (2, 2)))
            np.testing.assert_array_equal(s.dense(), r.dense())

    def test_result(self):
        r = wpm.Result(a=1, b=np.zeros(99))
        self.assertEqual((r.a, r["a"], repr(r)), (1, 1, "Result(a=1, b=<ndarray of shape (99,)>)"))
        r.c = 2
        self.assertEqual(sorted(r), ["a", "b", "c"])
        self.assertIn("c", dir(r))
        with self.assertRaises(AttributeError):
            r.none


class PlainArrays(unittest.TestCase):
    """Arrays of float64 go to the library unchecked: it checks them, and answers as for any other arguments."""

    def test_same(self):
        rng = np.random.default_rng(5)
        for k, kv in ((1, 1), (1, 4), (6, 3), (40, 50), (400, 330)):  # the last have too many costs for that
            M, a, b = rng.random((k, kv)), rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(kv))
            a[0] = 0 if k > 1 else a[0]
            a /= a.sum()
            for C in (M, M - 0.5, np.zeros_like(M)):
                W = wpm.emd2(a, b, C)
                self.assertIs(type(W), float)
                lists = wpm.emd2(a.tolist(), b.tolist(), C.tolist())
                W2, log = wpm.emd2(a, b, C, return_matrix=True)
                self.assertEqual((lists, W2, wpm.emd(a, b, C, log=True)[1]["cost"]), (W, W, W))
                self.assertEqual(W, wpm.emd2(a, b, np.asfortranarray(C)))
                self.assertAlmostEqual((log["G"] * C).sum(), W, 14)

    def test_call(self):
        """The direct call and the other one give the same numbers."""
        rng = np.random.default_rng(6)
        a, b, C = rng.random(7), rng.random(9), rng.random((7, 9))
        x = _lib.transport(a, b, C, True)
        np.testing.assert_array_equal(x, _lib.call_bare("transport", "{}", C.size, 200, None, C=C, a=a, b=b))
        np.testing.assert_array_equal(_lib.transport(a, b, C, False), x[:4])

    def test_refused(self):
        """What the library refuses is told as for other arguments."""
        for f in (wpm.emd, wpm.emd2):
            for at in range(3):
                for bad, text in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "inf"), (-0.25, "-0.25")):
                    if at == 2 and bad == -0.25:
                        continue  # a cost may be negative
                    args = [np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.array([[0.0, 1], [1, 0]])]
                    args[at].flat[1] = bad
                    if bad == -0.25:
                        args[at][0] = 1.25
                    with self.subTest(f=f, at=at, bad=bad), warnings.catch_warnings(), self.assertRaises(wpm.InputError) as e:
                        warnings.simplefilter("error")
                        f(*args)
                    self.assertNotIsInstance(e.exception, wpm.MassError)
                    self.assertRegex(str(e.exception), rf"\b({'abM'[at]}\[(0, )?1\]).*{text}")
            with self.assertRaises(wpm.InputError):
                f(np.zeros(2), np.zeros(2), np.ones((2, 2)))
            for shapes in (((2,), (3,), (3, 2)), ((2, 1), (2,), (2, 2)), ((2,), (2,), (2, 2, 1)), ((2,), (2,), (4,)), ((0,), (0,), (0, 0))):
                with self.subTest(shapes=shapes), self.assertRaises(wpm.InputError):
                    f(*(np.full(s, 0.5) for s in shapes))


class UnequalMass(unittest.TestCase):
    """emd and emd2 of masses that differ are an error with both sums, never a number."""

    def refused(self, f, *args, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(wpm.MassError) as e:
                f(*args, **settings)
        self.assertIsInstance(e.exception, AssertionError)
        self.assertIsInstance(e.exception, wpm.InputError)
        return str(e.exception)

    def test_sums(self):
        M = [[0.0, 1], [1, 0]]
        for f in (wpm.emd, wpm.emd2):
            for b in ([0.5, 0.25], [0.5, 0.5 + 2e-7], [0.0, 0.0], [50.0, 50.0]):
                text = self.refused(f, [0.5, 0.5], b, M)
                self.assertIn(str(float(np.sum(b))), text)
                self.assertIn("1.0", text)
            f([0.5, 0.5], [0.5, 0.5 + 1e-7], M)  # as close as POT asks
        self.refused(wpm.emd2, [0.5, 0.5], [0.5, 0.25], M, log=True, return_matrix=True)

    def test_column(self):
        B = np.array([[0.5, 1, 0.25, 0.1], [0.5, 0, 0.25, 0.1]])
        text = self.refused(wpm.emd2, [0.5, 0.5], B, [[0.0, 1], [1, 0]])
        self.assertIn("column 2", text)
        self.assertIn("1.0 and 0.5", text)
        self.assertEqual(wpm.emd2([0.5, 0.5], B[:, :2], [[0.0, 1], [1, 0]]), [0, 0.5])
